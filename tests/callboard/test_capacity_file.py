"""`capacity-scheduler.xml`: read by --allocations, written by export, and its mistakes told."""

import gzip
import json
from pathlib import Path

import pytest

from callboard.actors.yarn.yarn_params import YarnParams, YarnQueueParams
from callboard.cli import run_command_line
from callboard.experiments.run.run_loading import load_run
from callboard.journal.export.capacity_scheduler_xml import (
    Dialect,
    capacity_scheduler_xml,
    yarn_scheduler_xml,
)
from callboard.scenarios.queue_files.queue_allocations import QueueSettings, read_capacity_scheduler
from callboard.scenarios.queue_files.yarn_allocations import read_yarn_queues
from callboard.scheduler.orders.capacity.queues import QueueParams
from callboard.scheduler.registry.parts import SHIPPED, make_policy
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.callboard.conftest import Run

pytestmark = pytest.mark.usefixtures("in_this_process")

MINE = "mapred.capacity-scheduler.queue."
YARNS = "yarn.scheduler.capacity.root."


def xml(properties: dict[str, str]) -> str:
    stated = (
        f"<property><name>{name}</name><value>{value}</value></property>"
        for name, value in properties.items()
    )
    return f"<configuration>{''.join(stated)}</configuration>"


def read(tmp_path: Path, text: str) -> QueueSettings:
    path = tmp_path / "capacity-scheduler.xml"
    path.write_text(text, encoding="utf-8")
    return read_capacity_scheduler(path)


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    """It ended in Python's own EOFError."""
    path = tmp_path / "capacity-scheduler.xml.gz"
    path.write_bytes(gzip.compress(xml({f"{MINE}default.capacity": "100"}).encode())[:-8])
    with pytest.raises(ScenarioError, match=r"xml\.gz: a gzipped file that is cut off or damaged"):
        read_capacity_scheduler(path)


def test_hadoop_1s_properties_are_those_of_a_queue(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        xml(
            {
                "mapred.capacity-scheduler.default-minimum-user-limit-percent": "30",
                "mapred.capacity-scheduler.maximum-system-jobs": "3000",
                f"{MINE}ads.eu.capacity": "60",
                f"{MINE}ads.eu.maximum-capacity": "80.5",
                f"{MINE}ads.eu.supports-priority": "True",
                f"{MINE}default.capacity": " 40 ",
                f"{MINE}default.maximum-capacity": "-1",
                f"{MINE}default.minimum-user-limit-percent": "25",
                f"{MINE}default.user-limit-factor": "2",
                f"{MINE}default.maximum-initialized-active-tasks": "200000",
            }
        ),
    )
    assert found.queues == {
        "ads.eu": QueueParams(
            capacity=60,
            maximum_capacity=80.5,
            minimum_user_limit_percent=30,
            supports_priority=True,
        ),
        "default": QueueParams(capacity=40, minimum_user_limit_percent=25, user_limit_factor=2),
    }
    assert found.unplayed == (
        "mapred.capacity-scheduler.maximum-system-jobs",
        f"{MINE}default.maximum-initialized-active-tasks",
    )


def test_the_defaults_of_a_file_are_those_of_the_queue_that_it_does_not_name_too(
    tmp_path: Path,
) -> None:
    """There is a `default` in any case, and it had the values of a file that says nothing."""
    stated = {
        "mapred.capacity-scheduler.default-user-limit-factor": "2",
        f"{MINE}prod.capacity": "60",
    }
    found = read(tmp_path, xml(stated))
    assert found.queues == {
        "prod": QueueParams(capacity=60, user_limit_factor=2),
        "default": QueueParams(user_limit_factor=2),
    }
    assert found.pools_without_queue(["", "ads"]) == (["", "ads"], 40.0)
    assert read(tmp_path, xml({f"{MINE}prod.capacity": "60"})).queues.keys() == {"prod"}


def test_yarns_queues_below_the_root_are_read_too(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        xml(
            {
                f"{YARNS}queues": "a, b",
                f"{YARNS}b.capacity": "70",
                f"{YARNS}a.capacity": "30",
                f"{YARNS}a.user-limit-factor": "1.5",
            }
        ),
    )
    assert list(found.queues.items()) == [
        ("a", QueueParams(capacity=30, user_limit_factor=1.5)),
        ("b", QueueParams(capacity=70)),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<configuration", "this is no XML"),
        ("<configuration><property>", "it ends before <property> is closed"),
        ("<configuration>\n<property/>\n", "it ends before <configuration> is closed"),
        ("<configuration><property><name>a</na", "it ends before <name> is closed"),
        ("", "the file is empty"),
        ("<allocations/>", "expected <configuration>, got <allocations>"),
        ("<queues/>", "expected <configuration>"),
        (xml({"fs.default.name": "x"}), "there are no queues in it"),
        (xml({f"{MINE}a.capacity": "half"}), "queue.a.capacity: expected a number of percent"),
        (
            xml({f"{MINE}a.capacity": "120"}),
            "queue `a`: capacity: expected a number of at most",
        ),
        (
            xml({f"{MINE}a.minimum-user-limit-percent": "12.5"}),
            "a.minimum-user-limit-percent: expected a whole number of percent, got `12.5`",
        ),
        (xml({f"{MINE}a.user-limit-factor": "nan"}), "user_limit_factor: expected a"),
        (xml({f"{MINE}a.capacity": "nan"}), "capacity: expected a number"),
        (xml({f"{MINE}a.supports-priority": "yes"}), "expected true or false, got `yes`"),
        (xml({f"{MINE}a.capacity": "60", f"{MINE}b.capacity": "60"}), "add up to 120 %"),
        (
            xml({f"{MINE}a.capacity": "60", f"{MINE}a.maximum-capacity": "50"}),
            "queue `a` has a maximum_capacity of 50 %",
        ),
        (
            xml({f"{YARNS}queues": "a", f"{YARNS}a.queues": "b,c", f"{YARNS}a.capacity": "100"}),
            "queues below queues are not played; here are b,c; `--policy yarn` plays them",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path, text)
    assert problem in str(caught.value)
    assert "capacity-scheduler.xml" in str(caught.value)


@pytest.mark.parametrize("dialect", ["hadoop1", "yarn"])
def test_what_is_written_is_read_as_the_same_queues(tmp_path: Path, dialect: Dialect) -> None:
    queues = "{ads={capacity=33.3,maximum_capacity=50,user_limit_factor=0.5},b={}}"
    written = capacity_scheduler_xml(make_policy(f"capacity(queues={queues})", SHIPPED), dialect)
    assert written.unsaid == ()
    found = read(tmp_path, written.text).queues
    assert found["ads"] == QueueParams(capacity=33.3, maximum_capacity=50, user_limit_factor=0.5)
    assert found["b"] == found["default"] == QueueParams(capacity=33.35)


def test_what_a_file_cannot_say_is_told() -> None:
    policy = make_policy("capacity(queues={a={supports_priority=true}})+delay+late", SHIPPED)
    assert capacity_scheduler_xml(policy, "hadoop1").unsaid == ("the part delay", "the part late")
    assert "queue a: that jobs have priorities" in capacity_scheduler_xml(policy, "yarn").unsaid[0]


A_FILE = xml(
    {
        f"{MINE}default.capacity": "50",
        f"{MINE}other.capacity": "50",
        f"{MINE}other.maximum-initialized-active-tasks-per-user": "9",
    }
)


def test_a_run_takes_the_queues_of_a_file_and_hands_them_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, journal = tmp_path / "mine.xml", tmp_path / "two.journal"
    path.write_text(A_FILE, encoding="utf-8")
    asked = ["run", "two-jobs", "--policy", "capacity", "--allocations", str(path)]
    assert run_command_line([*asked, "--journal", str(journal)]) == 0
    assert "not played: " in capsys.readouterr().err
    queues = load_run(str(journal)).scenario.parts["capacity"]["queues"]
    assert {name: each["capacity"] for name, each in queues.items()} == {"default": 50, "other": 50}
    assert run_command_line(["export", str(journal), "--to", str(tmp_path / "back.xml")]) == 0
    assert "as a capacity-scheduler.xml" in capsys.readouterr().out
    back = read_capacity_scheduler(tmp_path / "back.xml").queues
    assert back == read_capacity_scheduler(path).queues
    assert run_command_line(["export", str(journal), "--format", "sls", "--to", str(tmp_path)]) == 0
    assert (tmp_path / "capacity-scheduler.xml").is_file()
    assert not (tmp_path / "fair-scheduler.xml").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--policy", "fair", "--allocations", "FILE"],
            "add --policy capacity, or yarn; fair has no q",
        ),
        (["--policy", "capacity", "--allocations", "nowhere.xml"], "there is no such file"),
    ],
)
def test_a_file_that_nothing_plays_is_refused(
    arguments: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.xml"
    path.write_text(A_FILE, encoding="utf-8")
    given = [str(path) if each == "FILE" else each for each in arguments]
    assert run_command_line(["run", "two-jobs", *given]) == 2
    assert problem in capsys.readouterr().err


# YARN's queues, at any depth.

NESTED = {
    f"{YARNS}queues": "prod,adhoc",
    f"{YARNS}prod.queues": "etl, serving",
    f"{YARNS}prod.capacity": "60",
    f"{YARNS}prod.disable_preemption": "true",
    f"{YARNS}prod.etl.capacity": "70",
    f"{YARNS}prod.etl.maximum-am-resource-percent": "0.25",
    f"{YARNS}prod.serving.capacity": "30",
    f"{YARNS}prod.serving.disable_preemption": "false",
    f"{YARNS}adhoc.capacity": "40",
    f"{YARNS}adhoc.maximum-capacity": "80",
    f"{YARNS}adhoc.minimum-user-limit-percent": "50",
    f"{YARNS}adhoc.user-limit-factor": "3",
    f"{YARNS}adhoc.priority": "2",
    f"{YARNS}adhoc.acl_submit_applications": "*",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.2",
    "yarn.scheduler.capacity.node-locality-delay": "3",
    "yarn.scheduler.capacity.resource-calculator": "org.apache.x.DominantResourceCalculator",
}


def yarn_file(tmp_path: Path, properties: dict[str, str]) -> Path:
    path = tmp_path / "capacity-scheduler.xml"
    path.write_text(xml(properties), encoding="utf-8")
    return path


def test_queues_below_queues_are_yarns(tmp_path: Path) -> None:
    """What a queue does not say of its preemption the one above it does."""
    found = read_yarn_queues(yarn_file(tmp_path, NESTED))
    assert found.queues == {
        "prod": YarnQueueParams(capacity=60, preemptable=False),
        "adhoc": YarnQueueParams(
            capacity=40,
            maximum_capacity=80,
            minimum_user_limit_percent=50,
            user_limit_factor=3,
            priority=2,
        ),
        "prod/etl": YarnQueueParams(capacity=70, preemptable=False, am_percent=25),
        "prod/serving": YarnQueueParams(capacity=30),
    }
    assert found.general == {"am_percent": 20, "node_locality_delay": 3, "calculator": "dominant"}
    assert found.unplayed == (f"{YARNS}adhoc.acl_submit_applications",)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({f"{YARNS}adhoc.capacity": "50"}, "the capacities of the queues below `root` add up to"),
        ({f"{YARNS}adhoc.capacity": "[memory=9]"}, "amounts of resources and weights are not"),
        ({f"{YARNS}adhoc.maximum-capacity": "30"}, "queue `adhoc` may hold 30 %, less than"),
        ({f"{YARNS}adhoc.user-limit-factor": "-1"}, "queue `adhoc`: user_limit_factor: expected"),
        ({f"{YARNS}prod.disable_preemption": "no"}, "disable_preemption: expected true or false"),
        (
            {"yarn.scheduler.capacity.maximum-am-resource-percent": "30"},
            "maximum-am-resource-percent: expected a part of 1, got `30`",
        ),
    ],
)
def test_what_is_wrong_with_yarns_queues_is_told(
    tmp_path: Path, changes: dict[str, str], problem: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_yarn_queues(yarn_file(tmp_path, NESTED | changes))
    assert problem in str(caught.value)


def test_what_is_written_of_yarn_is_read_as_the_same(tmp_path: Path) -> None:
    """With all capacities spelt out."""
    found = read_yarn_queues(yarn_file(tmp_path, NESTED))
    params = YarnParams(queues=found.queues, **found.general)
    path = tmp_path / "back.xml"
    path.write_text(yarn_scheduler_xml(params).text, encoding="utf-8")
    back = read_yarn_queues(path)
    assert back.general == found.general
    assert {name: back.queues[name] for name in found.queues} == found.queues
    assert back.queues["default"].capacity == 0


def test_a_run_takes_yarns_queues_and_hadoop_1s_order_refuses_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, journal = yarn_file(tmp_path, NESTED), tmp_path / "two.journal"
    asked = ["run", "two-jobs", "--allocations", str(path)]
    policy = ["--policy", "yarn", "--journal", str(journal)]
    assert run_command_line([*asked, *policy, "--set", 'workload.job.0.pool="etl"']) == 0
    assert "not played: yarn.scheduler.capacity.root.adhoc.acl" in capsys.readouterr().err
    assert load_run(str(journal)).scenario.parts["yarn"]["node_locality_delay"] == 3
    assert run_command_line(["export", str(journal), "--to", str(tmp_path / "back.xml")]) == 0
    assert "as a capacity-scheduler.xml" in capsys.readouterr().out
    assert read_yarn_queues(tmp_path / "back.xml").queues["prod/etl"].capacity == 70
    assert run_command_line([*asked, "--policy", "capacity"]) == 2
    assert "queues below queues are not played" in capsys.readouterr().err


DEEP = {
    f"{YARNS}queues": "prod,default",
    f"{YARNS}prod.queues": "etl,serving",
    f"{YARNS}prod.capacity": "80",
    f"{YARNS}default.capacity": "20",
    f"{YARNS}prod.etl.capacity": "70",
    f"{YARNS}prod.serving.capacity": "30",
}


def test_what_is_wrong_below_a_queue_is_told_by_who_was_to_have_the_queues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it was, queues below queues were said not to be played, as they are under `yarn`."""
    path = tmp_path / "capacity-scheduler.xml"
    asked = ("run", "yarn-queues", "--allocations", str(path), "--policy")
    for change, told in (
        ({f"{YARNS}prod.etl.capacity": "80"}, "add up to 110 %"),
        ({f"{YARNS}prod.priority": "high"}, "priority"),
    ):
        path.write_text(xml(DEEP | change), encoding="utf-8")
        assert run_command_line([*asked, "yarn"]) == 2
        assert told in capsys.readouterr().err
        assert run_command_line([*asked, "capacity"]) == 2
        assert "queues below queues are not played" in capsys.readouterr().err


def test_a_queue_that_no_list_names_is_none(tmp_path: Path) -> None:
    """A misspelt path was another queue of the same last name, and moved the jobs of the first."""
    path = tmp_path / "capacity-scheduler.xml"
    misspelt = f"{YARNS}prd.etl.capacity"
    path.write_text(xml(DEEP | {misspelt: "50"}), encoding="utf-8")
    found = read_yarn_queues(path)
    assert list(found.queues) == ["prod", "default", "prod/etl", "prod/serving"]
    assert found.unplayed == ()
    (note,) = found.notes
    assert "names `prd/etl`" in note
    assert misspelt in note
    assert "did you mean `prod/etl`?" in note
    flat = {f"{YARNS}queues": "etl", f"{YARNS}etl.capacity": "100", f"{YARNS}elt.capacity": "9"}
    assert list(read(tmp_path, xml(flat)).queues) == ["etl"]
    assert "did you mean `etl`?" in read(tmp_path, xml(flat)).notes[0]


OTHERS = {
    f"{YARNS}prod.maximum-applications": "9",
    f"{YARNS}prod.default-application-priority": "1",
    f"{YARNS}prod.etl.accessible-node-labels.gpu.capacity": "100",
    f"{YARNS}prod.etl.intra-queue-preemption.disable_preemption": "true",
    "yarn.scheduler.capacity.node-locality-additional-delay": "-1",
    "yarn.scheduler.capacity.maximum-applications": "100",
    "yarn.scheduler.capacity.user-limit-factor": "2",
}


def test_a_slip_of_the_pen_is_told_apart_from_what_is_not_played(tmp_path: Path) -> None:
    """`capcity` stood among ACLs, as if it were merely not built."""
    slip = f"{YARNS}prod.etl.capcity"
    found = read_yarn_queues(yarn_file(tmp_path, DEEP | OTHERS | {slip: "70"}))
    assert sorted(found.unplayed) == sorted(OTHERS)
    assert found.notes == (f"{slip} means nothing: did you mean `capacity`?",)


def test_a_property_that_is_not_played_of_the_root_is_no_slip_of_the_pen(tmp_path: Path) -> None:
    """`root.capacity means nothing: did you mean `capacity`?` was said of what is well written."""
    flat = {f"{YARNS}queues": "etl", f"{YARNS}etl.capacity": "100"}
    root = {f"{YARNS}{each}": "100" for each in ("capacity", "user-limit-factor")}
    found = read(tmp_path, xml(flat | root))
    assert sorted(found.unplayed) == sorted(root)
    assert found.notes == ()


def test_a_property_that_has_two_values_is_told(tmp_path: Path) -> None:
    """The last counts, as in Hadoop; the same twice is one."""
    name = f"{YARNS}default.user-limit-factor"
    first, again = xml(DEEP | {name: "2"}), xml(DEEP | {name: "3"})
    path = tmp_path / "capacity-scheduler.xml"
    both = first.removesuffix("</configuration>") + again.removeprefix("<configuration>")
    path.write_text(both, encoding="utf-8")
    found = read_yarn_queues(path)
    told = f"{name} stands there more than once, as `2`, then `3`: the last counts"
    assert found.notes == (told,)
    assert found.queues["default"].user_limit_factor == 3


SHORT = {
    **DEEP,
    f"{YARNS}prod.capacity": "60",
    f"{YARNS}prod.etl.capacity": "50",
}


def test_capacities_that_leave_some_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were played without a word; YARN's resource manager does not start with them."""
    path = yarn_file(tmp_path, SHORT)
    asked = ["run", "two-jobs", "--allocations", str(path), "--policy", "yarn"]
    assert run_command_line(asked) == 0
    err = capsys.readouterr().err
    ends = ", with which YARN does not start; here the other 20 % are nobody's due"
    assert f"{path}: the capacities below `root` add up to 80 %{ends}" in err
    assert f"{path}: the capacities below `prod` add up to 80 %{ends}" in err
    flat = {f"{YARNS}queues": "a,b", f"{YARNS}a.capacity": "30", f"{YARNS}b.capacity": "50"}
    (note,) = read(tmp_path, xml(flat)).notes
    assert note.endswith("the other 20 % go to `default`, which the file does not name")
    assert read_yarn_queues(path).notes == (note,)
    thirds = {f"{YARNS}queues": "a,b,c"} | {f"{YARNS}{each}.capacity": "33.33" for each in "abc"}
    assert read_yarn_queues(yarn_file(tmp_path, thirds)).notes == ()


def test_hadoop_1_leaves_open_what_no_queue_is_due(tmp_path: Path) -> None:
    assert read(tmp_path, xml({f"{MINE}default.capacity": "60"})).notes == ()


SLS = {
    f"{YARNS}queues": "one,two",
    f"{YARNS}one.capacity": "25",
    f"{YARNS}two.capacity": "75",
}
NO_HOME = "no queue for adhoc, jobs without a pool, etl, serving: 24 of 24 jobs go to `default`"


@pytest.mark.soak
def test_pools_without_a_queue_are_told_and_what_keeps_their_jobs_waiting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was said before, and 40 applications of 24 jobs in the end, a line for each twice."""
    path = tmp_path / "capacity-scheduler.xml"
    path.write_text(xml(SLS), encoding="utf-8")
    asked = ("run", "yarn-queues", "--allocations", str(path), "--policy", "yarn")
    assert run_command_line(asked) == 1
    first, second, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{path}: {NO_HOME}, with a capacity of 0 %; a user holds next to ")
    assert second == (
        "callboard: the run is stuck at 02:12:04.835: nothing but heartbeats for 2 hours"
    )
    assert "  resource manager: 24 applications ask for containers (" in lines[1]
    assert "8: their users may hold no more of queue `default`, with a capacity of 0 %" in lines[1]
    assert "16: application masters may hold no more of queue `default` (am_percent)" in lines[1]
    assert not [line for line in lines if line.startswith("  application master")]
    assert lines[-1] == "  and 5 more"


@pytest.mark.parametrize(
    ("policy", "queues", "told"),
    [
        ("yarn", {"etl": "40", "adhoc": "30", "serving": "20", "default": "10"}, ""),
        ("yarn", {"etl": "40", "adhoc": "30", "serving": "20"}, "no queue for jobs without a pool"),
        ("yarn", {"etl": "40", "adhoc": "30", "default": "30"}, "no queue for serving: "),
        ("capacity", {"etl": "40", "adhoc": "30", "default": "30"}, "no queue for serving: "),
        ("capacity", {"etl": "40", "adhoc": "30", "serving": "30"}, "no queue for jobs without a"),
        ("capacity", {"etl": "40", "adhoc": "30", "serving": "20", "default": "10"}, ""),
    ],
)
def test_jobs_that_fall_to_the_default_queue_are_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    policy: str,
    queues: dict[str, str],
    told: str,
) -> None:
    path = tmp_path / "capacity-scheduler.xml"
    properties = {f"{YARNS}{name}.capacity": percent for name, percent in queues.items()}
    path.write_text(xml({f"{YARNS}queues": ",".join(queues), **properties}), encoding="utf-8")
    asked = ("run", "yarn-queues", "--allocations", str(path), "--until", "1s", "--policy", policy)
    assert run_command_line(asked) == 0
    err = capsys.readouterr().err
    assert ("no queue for" in err) is bool(told)
    assert told in err


@pytest.mark.parametrize("pool", ["root.prod.etl", "prod.etl", "prod/etl", "etl"])
def test_a_queue_is_found_by_the_names_that_yarn_has_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pool: str
) -> None:
    """A resource manager's history says `root.prod.etl`; its jobs waited in `default` for ever."""
    path, world = tmp_path / "capacity-scheduler.xml", tmp_path / "one.toml"
    shares = {"dev": "40", "prod": "60", "prod.etl": "100"}
    properties = {f"{YARNS}{name}.capacity": percent for name, percent in shares.items()}
    below = {f"{YARNS}queues": "dev,prod", f"{YARNS}prod.queues": "etl"}
    path.write_text(xml({**below, **properties}), encoding="utf-8")
    job = f'job = [{{ name = "one", maps = 2, map_s = 5, pool = "{pool}" }}]'
    world.write_text(f'name = "one"\n[workload]\nkind = "jobs"\n{job}\n', encoding="utf-8")
    assert (
        run_command_line(("run", str(world), "--allocations", str(path), "--policy", "yarn")) == 0
    )
    assert "no queue for" not in capsys.readouterr().err


@pytest.mark.soak
def test_a_queue_that_holds_all_that_it_may_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Of nothing a container cannot be had, however long one waits."""
    queues = 'yarn(scheduler="fair",queues={etl={max_resources={memory=1}}})'
    assert run_command_line(("run", "yarn-queues", "--policy", queues)) == 1
    assert "queue `etl`, or one above it, holds all that it may" in capsys.readouterr().err


def test_a_sweep_takes_the_queues_of_a_file(callboard: Run, tmp_path: Path) -> None:
    """So that other queues can be tried on fewer nodes; what is no file of queues is told first."""
    path, store = tmp_path / "capacity-scheduler.xml", str(tmp_path / "s.sqlite")
    path.write_text(xml({f"{MINE}default.capacity": "100"}), encoding="utf-8")
    asked = ("sweep", "two-jobs", "--vary", "cluster.nodes=2,4", "--store", store)
    queues = ("--allocations", str(path))
    status, out, _ = callboard(*asked, "--policy", "capacity", *queues, "--json")
    assert status == 0
    settings = [run["setting"] for run in json.loads(out)]
    assert [setting["cluster.nodes"] for setting in settings] == [2, 4]
    assert all("capacity = 100" in setting["parts.capacity.queues"] for setting in settings)
    assert (
        "--policy capacity, or yarn; fair has no queues"
        in callboard(*asked, "--policy", "fair", *queues)[2]
    )


@pytest.mark.parametrize("policy", ["capacity", "yarn"])
def test_of_several_pools_without_queues_it_is_said_that_they_share_one(
    callboard: Run, policy: str
) -> None:
    """Without a word it said 1,273 s of what takes 280 s with the queues' file."""
    told = "no queues are stated: the jobs of all pools go to `default`; --allocations takes"
    asked = ("run", "preemption-storm", "--jobs", "8", "--until", "1:00", "--policy")
    assert f"{policy}: {told}" in callboard(*asked, policy)[2]
    assert told not in callboard(*asked, "fair")[2]
    assert told not in callboard("run", "two-jobs", "--policy", policy)[2]
