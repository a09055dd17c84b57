"""A Fair Scheduler's allocation file: read by --allocations, Hadoop 1's and YARN's; what export
writes comes back; its mistakes are told.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.yarn.yarn_params import YarnParams, YarnQueueParams
from callboard.journal.export.fair_scheduler_xml import policy_allocations_xml, yarn_allocations_xml
from callboard.scenarios.queue_files.fair_allocations import (
    FairSettings,
    read_fair_pools,
    read_fair_queues,
)
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.registry.parts import SHIPPED, make_policy
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.callboard.conftest import Run
from tests.histories.readers.samples import written
from tests.support.traces import trace

pytestmark = pytest.mark.usefixtures("in_this_process")

HADOOP1 = """<allocations>
  <pool name="ads">
    <minMaps>10</minMaps><minReduces>5</minReduces><maxMaps>25</maxMaps>
    <maxRunningJobs>3</maxRunningJobs><weight>2.5</weight>
    <minSharePreemptionTimeout>300</minSharePreemptionTimeout>
  </pool>
  <pool name="night.shift"><schedulingMode>FIFO</schedulingMode></pool>
  <user name="ann"><maxRunningJobs>6</maxRunningJobs></user>
  <poolMaxJobsDefault>20</poolMaxJobsDefault>
  <userMaxJobsDefault>4</userMaxJobsDefault>
  <fairSharePreemptionTimeout>600</fairSharePreemptionTimeout>
  <defaultMinSharePreemptionTimeout>120</defaultMinSharePreemptionTimeout>
</allocations>"""
YARN = """<allocations>
  <queue name="root">
    <queue name="prod">
      <weight>3</weight><minResources>4096 mb, 4 vcores</minResources>
      <maxResources>vcores=40, memory-mb=65536</maxResources>
      <maxRunningApps>5</maxRunningApps>
      <queue name="etl"><schedulingPolicy>fifo</schedulingPolicy></queue>
    </queue>
    <queue name="adhoc"><maxResources>50.0% memory, 20% cpu</maxResources></queue>
  </queue>
  <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>
  <queuePlacementPolicy><rule name="specified"/></queuePlacementPolicy>
</allocations>"""


def test_hadoop_1s_elements_are_those_of_a_pool(tmp_path: Path) -> None:
    """Those of Hadoop 1.2.1's documentation, Fair Scheduler, Allocation File."""
    found = read_fair_pools(written(tmp_path, HADOOP1))
    ads = PoolParams(
        min_maps=10, min_reduces=5, max_maps=25, max_jobs=3, weight=2.5, min_share_timeout_s=300
    )
    assert found == FairSettings(
        {"ads": ads, "night.shift": PoolParams(mode="fifo")},
        {"max_jobs_per_pool": 20, "max_jobs_per_user": 4, "max_jobs_of": {"ann": 6}},
        {"fair_share_timeout_s": 600, "min_share_timeout_s": 120},
        (),
    )


def test_the_files_mode_is_that_of_pools_that_have_none(tmp_path: Path) -> None:
    usual = "<defaultPoolSchedulingMode>fifo</defaultPoolSchedulingMode>"
    own = '<pool name="b"><schedulingMode>fair</schedulingMode></pool>'
    text = f'<allocations><pool name="a"/>{own}{usual}</allocations>'
    pools = read_fair_pools(written(tmp_path, text)).pools
    assert {name: pool.mode for name, pool in pools.items()} == {"a": "fifo", "b": "fair"}


def test_yarns_queues_have_their_amounts_and_the_files_policy(tmp_path: Path) -> None:
    found = read_fair_queues(written(tmp_path, YARN))
    assert found.queues == {
        "prod": YarnQueueParams(
            weight=3,
            min_resources={"memory": 4096, "vcores": 4},
            max_resources={"vcores": 40, "memory": 65536},
        ),
        "prod/etl": YarnQueueParams(),
        "adhoc": YarnQueueParams(),
    }
    assert found.general == {"scheduler": "drf"}
    assert set(found.unplayed) == {
        "maxRunningApps",
        "schedulingPolicy",
        "adhoc: maxResources",
        "queuePlacementPolicy",
    }


def test_a_policy_and_decimals_that_yarn_has_are_taken_or_noted(tmp_path: Path) -> None:
    """The file was refused whole."""
    usual = "<defaultQueueSchedulingPolicy>FIFO</defaultQueueSchedulingPolicy>"
    own = "<minResources>1024.5 mb, 2 vcores</minResources>"
    text = f'<allocations><queue name="a">{own}</queue>{usual}</allocations>'
    found = read_fair_queues(written(tmp_path, text))
    assert found.queues["a"].min_resources == {"memory": 1024, "vcores": 2}
    assert found.general == {"scheduler": "fair"}
    assert found.unplayed == ("defaultQueueSchedulingPolicy",)
    mode = "<defaultQueueSchedulingMode>drf</defaultQueueSchedulingMode>"
    found = read_fair_queues(written(tmp_path, f"<allocations>{mode}{usual}</allocations>"))
    assert found.general == {"scheduler": "drf"}
    assert found.unplayed == ("defaultQueueSchedulingPolicy",)


def test_yarns_queues_are_pools_of_slots_but_for_what_they_hold(tmp_path: Path) -> None:
    found = read_fair_pools(written(tmp_path, YARN))
    assert found.pools == {
        "prod": PoolParams(weight=3, max_jobs=5),
        "prod/etl": PoolParams(mode="fifo"),
        "adhoc": PoolParams(),
    }
    assert {"minResources", "maxResources"} <= {*found.unplayed}


NAMES = st.sampled_from(["a", "b", "a/c", "prod"])
POOLS = st.dictionaries(
    NAMES,
    st.builds(
        PoolParams,
        weight=st.sampled_from([0.25, 1.0, 3.0]),
        max_jobs=st.none() | st.integers(1, 9),
        min_share_timeout_s=st.none() | st.integers(1, 90).map(float),
    ),
    min_size=1,
)


@settings(deadline=None)
@given(pools=POOLS)
def test_pools_come_back_from_the_file_that_export_writes(
    tmp_path_factory: pytest.TempPathFactory, pools: dict[str, PoolParams]
) -> None:
    """One in another was a pool whose name had a stroke in it."""
    policy = make_policy("fair", SHIPPED.with_settings({"fair": {"pools": pools}}))
    path = written(tmp_path_factory.mktemp("pools"), policy_allocations_xml(policy).text)
    found = read_fair_pools(path).pools
    assert {name: pool for name, pool in found.items() if name in pools} == pools


AMOUNTS = st.fixed_dictionaries({}, optional={n: st.integers(1, 999) for n in ("memory", "vcores")})


@settings(deadline=None)
@given(
    queues=st.dictionaries(
        NAMES,
        st.builds(
            YarnQueueParams,
            weight=st.sampled_from([0.5, 1.0, 4.0]),
            min_resources=AMOUNTS,
            max_resources=AMOUNTS,
        ),
        min_size=1,
    ),
    scheduler=st.sampled_from(["fair", "drf"]),
)
def test_queues_come_back_from_the_file_that_export_writes(
    tmp_path_factory: pytest.TempPathFactory, queues: dict[str, YarnQueueParams], scheduler: str
) -> None:
    params = YarnParams(queues=queues, scheduler=scheduler)  # type: ignore[arg-type]
    path = written(tmp_path_factory.mktemp("queues"), yarn_allocations_xml(params).text)
    found = read_fair_queues(path)
    assert {name: queue for name, queue in found.queues.items() if name in queues} == queues
    assert found.general == {"scheduler": scheduler}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('<pool name="a"><minMaps>few</minMaps></pool>', "a: minMaps.*expected a whole number"),
        ('<pool name="a"><weight>0</weight></pool>', "`a`: .*weight"),
        ("<pool><minMaps>1</minMaps></pool>", "a <pool> has no name"),
        ('<pool name="a"><weight>inf</weight></pool>', "a: weight.*expected a number, got `inf`"),
        ("", "there are no pools or queues in it"),
        ('<queue name="a">' * 9000 + "</queue>" * 9000, "queues in queues, more than 50 deep"),
        ('<pool name="a"><schedulingMode>drr</schedulingMode></pool>', "expected fair or fifo"),
    ],
)
def test_what_is_wrong_in_it_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=told):
        read_fair_pools(written(tmp_path, f"<allocations>{text}</allocations>"))


def test_pools_in_slots_are_not_played_as_queues_of_yarn(callboard: Run, tmp_path: Path) -> None:
    path = str(written(tmp_path, HADOOP1))
    status, _, err = callboard("run", "drf-example", "--policy", "yarn", "--allocations", path)
    assert status == 2
    assert "pools of Hadoop 1, in slots; `--policy fair` plays them" in err


def test_a_slip_of_the_pen_is_noted(tmp_path: Path) -> None:
    text = '<allocations><pool name="a"><minMap>4</minMap></pool></allocations>'
    found = read_fair_pools(written(tmp_path, text))
    assert found.notes == ("minMap means nothing: did you mean `minMaps`?",)


def test_what_has_no_effect_is_noted(callboard: Run, tmp_path: Path) -> None:
    path = str(written(tmp_path, HADOOP1.replace('"ads"', '"user"')))
    asked = ("run", "two-jobs", "--allocations", path, "--policy")
    _, _, err = callboard(*asked, "fair")
    assert "its times for preemption take effect with --policy fair+kill" in err
    assert "no job is in a pool that it names; they state none" in err
    assert 'pool_by="user"\' goes by users, of whom it names some' in err
    _, _, err = callboard(*asked, "fair+kill", "--set", 'parts.fair.pool_by="user"')
    assert "take effect" not in err
    status, _, err = callboard(*asked, "fifo")
    assert status == 2
    assert "--allocations: add --policy fair, or yarn; fifo has no queues" in err


@pytest.mark.parametrize("policy", ["fair", "yarn"])
def test_no_name_in_it_sends_anything_to_the_terminal(
    callboard: Run, tmp_path: Path, policy: str
) -> None:
    """A control sequence and a line break, which XML lets names have."""
    for weight in ("1", "x", "0"):
        told = f"<weight>{weight}</weight><maxResources>5%</maxResources>"
        text = f'<queue name="a&#x9b;31m&#10;b">{told}</queue>'
        path = str(written(tmp_path, f"<allocations>{text}</allocations>"))
        _, _, err = callboard("run", "two-jobs", "--policy", policy, "--allocations", path)
        assert err
        assert all(line.isprintable() for line in err.splitlines())
        assert not any(line.startswith("b") for line in err.splitlines())


def test_pools_are_played(callboard: Run, tmp_path: Path) -> None:
    """In a pool that goes by priority and submission `short` waits for `long` again."""
    pool = '<pool name="default"><schedulingMode>fifo</schedulingMode></pool>'
    path = str(written(tmp_path, f"<allocations>{pool}</allocations>"))
    asked = [("fifo",), ("fair",), ("fair", "--allocations", path)]
    runs = [callboard("run", "two-jobs", "--json", "--policy", *each)[1] for each in asked]
    fifo, fair, filed = (json.loads(run)[0]["response_seconds"]["mean"] for run in runs)
    assert fifo == filed != fair


def test_the_file_of_yarns_own_simulator_is_read() -> None:
    path = trace("sls/fair-scheduler.xml")
    assert {name: queue.weight for name, queue in read_fair_queues(path).queues.items()} == {
        "sls_queue_1": 0.25,
        "sls_queue_2": 0.25,
        "sls_queue_3": 0.5,
    }
    assert read_fair_pools(path).pools["sls_queue_1"].min_share_timeout_s == 2


def test_queues_in_which_no_job_is_are_told_under_yarn_as_under_fair(
    callboard: Run, tmp_path: Path
) -> None:
    """A misspelt name left a what-if without the queues, and nothing said so."""
    asked = ("run", "capacity-queues", "--jobs", "1", "--policy", "yarn", "--allocations")
    for name, told in (("reserch", True), ("root.research", False)):
        path = written(tmp_path, f'<allocations><queue name="{name}"/></allocations>')
        status, _, err = callboard(*asked, str(path))
        assert (status, "no job is in a queue that it names; theirs are: " in err) == (0, told)
