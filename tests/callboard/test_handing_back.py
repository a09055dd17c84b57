"""What `callboard export` writes for other systems comes back as the same run."""

import csv
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from msgspec import convert

from callboard.actors.vocabulary.events import AttemptLaunched, JobSubmitted
from callboard.actors.yarn.yarn_params import YarnQueueParams
from callboard.cli import run_command_line
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.histories.recording_file import import_files
from callboard.journal.export.fair_scheduler_xml import policy_allocations_xml
from callboard.journal.writer import JournalWriter
from callboard.scenarios.queue_files.yarn_allocations import read_yarn_queues
from callboard.scheduler.registry.parts import SHIPPED, make_policy
from tests.histories.readers.samples import HADOOP1, written
from tests.support.traces import trace

WORLD = """
name = "world"
seed = 7
policies = ["fair"]

[cluster]
nodes = 12
racks = 3
map_slots = 2
reduce_slots = 1

[tasks]
sigma = 0.4
straggler_share = 0.05
straggler_factor = 3.0

[workload]
kind = "jobs"
job = [
  { name = "long", at_s = 4, maps = 60, map_s = 30, reduces = 4, shuffle_s = 12, reduce_s = 20 },
  { name = "short", count = 8, every_s = 20.0, at_s = 5.0, maps = 6, map_s = 9.0 },
  { name = "wide", count = 3, every_s = 50.0, at_s = 31.0, maps = 25, map_s = 12.0, user = "ann" },
  { name = "late", at_s = 90.0, maps = 9, map_s = 5.0, reduces = 2, shuffle_s = 3.0 },
]
"""
"""Jobs of several sizes, the first once all nodes have joined; they all hold some input."""

Launch = tuple[int, int, int, int, int, int]


def launches(events: list[object]) -> list[Launch]:
    """(time since the first submission, job, kind, task, number, node) of every launch."""
    begin_ms = next(each.at_ms for each in events if isinstance(each, JobSubmitted))
    return [
        (each.at_ms - begin_ms, each.job, int(each.kind), each.task, each.number, each.node)
        for each in events
        if isinstance(each, AttemptLaunched)
    ]


def recorded(folder: Path, name: str, *overrides: str) -> tuple[Path, list[Launch]]:
    """A run of a scenario, as a journal, and its launches."""
    events: list[object] = []
    path = folder / f"{Path(name).stem}.journal"
    spec = load_run(name, overrides)
    with JournalWriter(path) as sink:
        Simulation(spec, [sink, events.append]).run()
    return path, launches(events)


@pytest.fixture
def world(tmp_path: Path) -> str:
    path = tmp_path / "world.toml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)


def exported(journal: Path, to: str) -> Path:
    path = journal.with_name(to)
    assert run_command_line(["export", str(journal), "--to", str(path)]) == 0
    return path


@pytest.mark.parametrize("racks", [1, 3])
def test_a_history_of_hadoop_1_comes_back_as_the_same_launches(
    world: str, tmp_path: Path, racks: int
) -> None:
    journal, before = recorded(tmp_path, world, f"cluster.racks={racks}")
    history = exported(journal, "world.history")
    _, after = recorded(tmp_path, str(history), "seed=7", 'policies=["fair"]')
    assert len(before) > 100
    assert after == before


def test_a_job_that_comes_while_nodes_join_finds_another_cluster_than_it_found(
    world: str, tmp_path: Path
) -> None:
    """A history is played on a cluster that is whole when the first job comes: small-jobs, whose
    first came at 0, was 11 % off under its own policy, and the page promised the same launches.
    """
    for at_s, is_same in ((0, False), (3.1, True)):
        first = (f"workload.job.0.at_s={at_s}", "workload.job.0.maps=3")
        journal, before = recorded(tmp_path, world, *first)
        history = exported(journal, f"from-{at_s}.history")
        _, after = recorded(tmp_path, str(history), "seed=7", 'policies=["fair"]')
        assert (after == before) == is_same


@pytest.mark.parametrize("ending", ["FAILED", "KILLED"])
def test_setups_failures_and_kills_come_back_too(tmp_path: Path, ending: str) -> None:
    """The first history has a setup, and an attempt that failed or was killed."""
    text = HADOOP1.replace('TASK_STATUS="FAILED"', f'TASK_STATUS="{ending}"')
    first = written(tmp_path, text, "first.history")
    journal, before = recorded(tmp_path, str(first))
    _, after = recorded(tmp_path, str(exported(journal, "second.history")))
    assert after == before
    assert len(before) == 5


def test_what_sls_cannot_say_of_one_task_is_told_in_the_singular(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`further attempts of 1 tasks`, it said."""
    journal, _ = recorded(tmp_path, str(written(tmp_path, HADOOP1, "first.history")))
    asked = ["export", str(journal), "--format", "sls", "--to", str(tmp_path / "sls")]
    assert run_command_line(asked) == 0
    assert "it cannot say further attempts of 1 task: only" in capsys.readouterr().err


def test_a_shared_trace_with_setups_and_cleanups_comes_back(tmp_path: Path) -> None:
    """59 jobs on 40 nodes, whose inputs are placed anew."""
    source = str(trace("rumen/folder-input-trace.json.gz"))
    given = ("cluster.nodes=40", 'policies=["fair"]', "workload.begin_s=20")
    journal, before = recorded(tmp_path, source, *given)
    _, after = recorded(tmp_path, str(exported(journal, "again.history")), 'policies=["fair"]')
    assert len(before) == 1108 + 2 * 59
    assert after == before


@pytest.mark.parametrize("to", ["again.history", "again.swf"])
def test_a_killed_job_whose_maps_had_not_ended_comes_back(
    world: str, tmp_path: Path, to: str
) -> None:
    """It had attempts without an end, or a run time of -1, and could not be imported again."""
    one = '[workload]\nkind = "jobs"\njob = [{ name = "j", maps = 4, map_s = 600.0 }]\n'
    kill = '[[timeline]]\nat_s = 400\nwhat = "kill-job"\njob = "j"\n'
    text = f'name = "killed"\npolicies = ["fifo"]\n[cluster]\nnodes = 2\nracks = 1\n{one}{kill}'
    Path(world).write_text(text, encoding="utf-8")
    journal, before = recorded(tmp_path, world)
    _, after = recorded(tmp_path, str(exported(journal, to)))
    assert len(before) == len(after) == 4
    if to == "again.history":
        assert after == before
    else:
        assert " 399.306 4 " in (tmp_path / to).read_text(encoding="utf-8")


PLAIN = """
name = "plain"
policies = ["fifo"]

[cluster]
nodes = 6
racks = 1
map_slots = 2
reduce_slots = 1
replication = 6

[workload]
kind = "jobs"
job = [
  { name = "long", maps = 12, map_s = 41.0 },
  { name = "short", count = 5, every_s = 20.0, at_s = 5.0, maps = 6, map_s = 9.0 },
]
"""
"""Equal maps that are at home on every node, and no reduces: all of this SWF and SLS can say."""


@pytest.fixture
def plain(tmp_path: Path) -> tuple[Path, list[Launch]]:
    path = tmp_path / "plain.toml"
    path.write_text(PLAIN, encoding="utf-8")
    return recorded(tmp_path, str(path))


def test_a_log_of_swf_comes_back_as_the_same_launches(
    plain: tuple[Path, list[Launch]], tmp_path: Path
) -> None:
    journal, before = plain
    log = exported(journal, "again.swf")
    _, after = recorded(tmp_path, str(log))
    assert after == before != []


def test_a_folder_of_sls_comes_back_as_the_same_launches(
    plain: tuple[Path, list[Launch]], tmp_path: Path
) -> None:
    journal, before = plain
    folder = tmp_path / "sls"
    assert run_command_line(["export", str(journal), "--format", "sls", "--to", str(folder)]) == 0
    _, after = recorded(tmp_path, str(folder), "workload.path=" + str(folder))
    assert after == before != []


@pytest.mark.soak
def test_containers_and_nodes_of_sls_have_what_they_took_and_had(tmp_path: Path) -> None:
    """And the queues come back from the file beside them."""
    journal, folder = tmp_path / "yarn.journal", tmp_path / "sls"
    asked = ["run", "yarn-queues", "--policy", "yarn", "--journal", str(journal)]
    assert run_command_line(asked) == 0
    assert run_command_line(["export", str(journal), "--format", "sls", "--to", str(folder)]) == 0
    played = load_run(str(journal))
    files = [folder / "jobs.json", folder / "nodes.json"]
    found = import_files(files).recording
    assert [each.demands for each in found.jobs] == [
        (each.demands[0], each.demands[1] if each.reduces else ()) for each in played.jobs
    ]
    assert dict(found.capacity) == played.scenario.cluster.capacity
    queues = read_yarn_queues(folder / "capacity-scheduler.xml").queues
    stated = convert(played.scenario.parts["yarn"]["queues"], dict[str, YarnQueueParams])
    assert {path: queues[path] for path in stated} == stated


def test_a_schedulers_file_is_not_called_as_the_other_ones(
    plain: tuple[Path, list[Launch]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An allocation file stood in `capacity-scheduler.xml`, which no resource manager reads."""
    journal, _ = plain
    path = tmp_path / "capacity-scheduler.xml"
    assert run_command_line(["export", str(journal), "--to", str(path)]) == 2
    assert (
        f"{journal}: a run under fifo has no capacity-scheduler.xml: what it has is a"
        " fair-scheduler.xml; call it so, or by a name of your own" in capsys.readouterr().err
    )
    assert not path.exists()
    for name in ("fair-scheduler.xml", "mine.xml"):
        assert run_command_line(["export", str(journal), "--to", str(tmp_path / name)]) == 0


def test_the_table_of_batsim_has_every_job_and_can_be_imported(
    plain: tuple[Path, list[Launch]], tmp_path: Path
) -> None:
    journal, before = plain
    path = tmp_path / "jobs.csv"
    asked = ["export", str(journal), "--format", "batsim", "--to", str(path)]
    assert run_command_line(asked) == 0
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["profile"] for row in rows][:2] == ["long", "short-1"]
    assert {row["allocated_resources"] for row in rows[:1]} == {"0-5"}
    for row in rows:
        starts = [at_ms for at_ms, job, *_ in before if job == int(row["job_id"])]
        wait = (min(starts) + 1) / 1000 - float(row["submission_time"])  # a message's way later
        assert float(row["waiting_time"]) == pytest.approx(wait)
        assert row["final_state"] == "COMPLETED_SUCCESSFULLY"
    columns = "job=job_id,submit=submission_time,maps=requested_number_of_resources"
    columns += ",map_time=execution_time,unit=s"
    assert len(import_files([path], columns).recording.jobs) == 6


def test_what_a_format_cannot_say_is_listed(
    world: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, _ = recorded(tmp_path, world)
    exported(journal, "world.swf")
    assert "it cannot say 6 reduces" in capsys.readouterr().err
    folder = str(tmp_path / "sls")
    assert run_command_line(["export", str(journal), "--format", "sls", "--to", folder]) == 0
    told = capsys.readouterr().err
    assert "it cannot say where inputs lie" in told
    assert "it cannot say weights by a job's priority" in told


@pytest.mark.parametrize("file", ["a.history", "a.swf"])
def test_memory_is_not_said_by_a_history_of_slots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str
) -> None:
    """YARN's jobs came back 40 % off, and the list of what is not said was empty."""
    journal = recorded(tmp_path, "drf-example")[0]
    assert run_command_line(["export", str(journal), "--to", str(tmp_path / file)]) == 0
    assert "it cannot say memory and vcores: what nodes have" in capsys.readouterr().err


@pytest.mark.soak
def test_slots_beside_memory_are_not_said_by_sls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nodes of two slots came back with sixteen, and the list of what is not said had none."""
    few = ("cluster.map_slots=2", "cluster.reduce_slots=2", 'policies=["yarn"]')
    journal, folder = recorded(tmp_path, "yarn-queues", *few)[0], tmp_path / "sls"
    assert run_command_line(["export", str(journal), "--format", "sls", "--to", str(folder)]) == 0
    told = "it cannot say slots: a node has room for all containers that its memory and vcores"
    assert told in capsys.readouterr().err
    assert import_files([folder / "jobs.json", folder / "nodes.json"]).recording.map_slots == 16


def allocations(spelling: str, **settings: dict[str, object]) -> tuple[Xml.Element, str]:
    """The allocation file of a policy, and what it cannot say."""
    made = policy_allocations_xml(make_policy(spelling, SHIPPED.with_settings(settings)))
    return Xml.fromstring(made.text), "\n".join(made.unsaid)


def test_pools_become_queues_with_all_that_a_queue_can_say() -> None:
    prod = {"weight": 3, "min_maps": 4, "min_reduces": 2, "max_jobs": 5, "mode": "fifo"}
    pools = {"prod": prod, "ads": {"max_maps": 10}}
    root, unsaid = allocations("fair+kill", fair={"pools": pools, "max_jobs_per_user": 7})
    queues = {queue.get("name"): queue for queue in root.findall("queue")}
    assert queues.keys() == {"prod", "ads"}
    assert {each.tag: each.text for each in queues["prod"]} == {
        "weight": "3",
        "minResources": "6144 mb, 6 vcores",
        "maxRunningApps": "5",
        "schedulingPolicy": "fifo",
    }
    assert root.findtext("userMaxAppsDefault") == "7"
    assert root.findtext("defaultFairSharePreemptionTimeout") == "60"
    assert "pool ads: at most 10 maps" in unsaid
    assert "yarn.scheduler.fair.preemption" in unsaid


def test_an_order_that_yarn_has_not_is_said_to_be_none_of_its() -> None:
    root, unsaid = allocations("hfsp+delay(node=5)+late")
    assert root.findtext("queue/schedulingPolicy") == "fair"
    assert "the order hfsp: YARN has none like it" in unsaid
    assert "locality.threshold.node" in unsaid
    assert "the speculation rule late" in unsaid


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "sls", "--to", "-"), "SLS takes a folder"),
        (("--to", "x.history", "--rows", "jobs"), "has no rows"),
        (("--to", "x.what"), "cannot tell the format"),
    ],
)
def test_what_cannot_be_exported_so_is_told(
    plain: tuple[Path, list[Launch]],
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    assert run_command_line(["export", str(plain[0]), *arguments]) == 2
    assert words in capsys.readouterr().err
