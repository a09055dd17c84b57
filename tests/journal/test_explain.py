"""`callboard explain`: a job's story from the journal alone, worked by hand and from real runs."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import AnyEvent, AttemptLaunched, Event, KillOrdered
from callboard.actors.vocabulary.faults import RestartMaster
from callboard.cli import run_command_line
from callboard.journal.tell.explain import explain
from callboard.journal.writer import JournalWriter
from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.model import Priority
from callboard.scheduler.reasons import JobClaimant
from callboard.scheduler.registry.parts import make_policy
from tests.journal.stories import STORY
from tests.support.preempt import KillNewest, Scripted
from tests.support.traces import trace
from tests.support.world import IN_STEP, PlayedRun, job, play

TOLD = """\
job-1 “logs” of bob (1 map, 0 reduces), under fifo
00:00:01.000  submitted
00:00:01.200  its first task is launched, after 0.200 s
  Meanwhile nothing was launched: it waited for a free slot, or for word from its node
  maps: 1 launched for 1 task, at most 1 at once, so 1 wave or more
  locality: 1 node-local, 0 rack-local, 0 off-rack
  it stood first in the queue at 0 of these launches
00:00:02.300  succeeded after 1.300 s
Where its response of 1.300 s went, along the tasks that it waited for:
  1.000 s   77%  a map ran, on its data's node
  0.200 s   15%  queued: others held all the slots
  0.100 s    8%  messages and heartbeats, between decisions and deeds
  While a map waited it held 0.0 of 2 map slots on average, and 1.0 other jobs were in the system
    others held: job-0 “ads” 2.0
""".splitlines()


def test_its_own_setup_is_no_task_of_others(tmp_path: Path) -> None:
    """And a job that was only set up has waited for nothing else."""
    journal = tmp_path / "log.journal"
    log = str(trace("hadoop1/sample-job-tracker-logs.gz"))
    assert run_command_line(("run", log, "--policy", "fifo", "--journal", str(journal))) == 0
    assert not any("Meanwhile" in line for line in list(explain(journal, 0))[:6])
    _, *told = list(explain(journal, 1))[:6]
    assert "  Meanwhile 1 task of others went first: job-2 “job_200904211745_0004” 1" in told


def test_a_job_that_was_passed_over_did_not_wait_for_a_slot(tmp_path: Path) -> None:
    """`explain` said so, and further down that delay scheduling had passed it over."""
    journal = tmp_path / "delay.journal"
    run = ("run", "small-jobs", "--jobs", "30", "--policy", "fair+delay(node=5,rack=5)")
    assert run_command_line((*run, "--journal", str(journal))) == 0
    told = list(explain(journal, 5))
    assert "a node nearer to its input, and was passed over 14 times" in told[3]


def record(path: Path, events: Sequence[AnyEvent | Event]) -> Path:
    with JournalWriter(path) as sink:
        for event in events:
            sink(event)  # type: ignore[arg-type]
    return path


def run(path: Path, played: PlayedRun) -> Path:
    """The journal of a run of tests.support.world, which has no frame: the story's serves."""
    return record(path, [STORY[0], *played.events, STORY[-1]])


def test_the_story_by_hand(tmp_path: Path) -> None:
    assert list(explain(record(tmp_path / "j", STORY), 1)) == TOLD


def test_reduces_failures_and_a_skip_of_the_story(tmp_path: Path) -> None:
    """job-0 was named as skipped once, its map 1 ran twice, its reduce began at 1.3 s."""
    told = list(explain(record(tmp_path / "j", STORY), 0))
    assert "00:00:01.300  its first reduce is launched, 1.300 s after submission" in told
    assert "  maps: 3 launched for 2 tasks, at most 2 at once, so 2 waves or more" in told
    assert "Named as passed over in the reasons of one launch of others:" in told
    assert "  1 × no map waiting" in told


def test_who_went_first_and_in_which_numbers(tmp_path: Path) -> None:
    """Four maps of job-0 fill the node's two slots twice before job-1's turn under FIFO."""
    cluster = Cluster(nodes=1, racks=1, map_slots=2, heartbeat=Heartbeats(phase_grid_ms=3000))
    played = play([job(0, maps=4), job(1, submit_ms=100)], cluster=cluster)
    told = list(explain(run(tmp_path / "j", played), 1))
    launched = next(e.at_ms for e in played.launches() if e.job == 1)
    assert (
        f"00:00:{launched // 1000:02}.{launched % 1000:03}  its first task is launched" in told[2]
    )
    before = sum(e.job == 0 and 100 < e.at_ms < launched for e in played.launches())
    assert f"  Meanwhile {before} tasks of others went first: job-0 “j0” {before}" in told
    (held,) = [line for line in told if line.startswith("    others held: ")]
    assert held == "    others held: job-0 2.0", "its name has been told"


def test_what_a_restart_of_the_master_repeats_is_no_part_of_the_first_wait(tmp_path: Path) -> None:
    """A job is initialised and set up anew, minutes after its first task was launched."""
    ready_late = msgspec.structs.replace(
        job(0, maps=8, map_ms=30_000), initialisation_ms=2000, setup_ms=5000
    )
    restart = ScheduledFault(60_000, RestartMaster(recover=True))
    told = list(explain(run(tmp_path / "j", play([ready_late], script=[restart])), 0))
    (initialised,) = [line for line in told if line.endswith("the job was being initialised")]
    assert initialised == "  For 2.000 s of it the job was being initialised"
    (set_up,) = [line for line in told if line.endswith("the job was being set up")]
    seconds = float(set_up.removeprefix("  For ").partition(" s of it")[0])
    assert 5 <= seconds < 15, "and some heartbeats"


def test_times_passed_over_are_the_exact_count(tmp_path: Path) -> None:
    """Every heartbeat that passed the job over, counted by the policy, is in its launches."""
    cluster = Cluster(nodes=8, racks=4, map_slots=1, replication=1)
    jobs = [job(n, maps=3, map_ms=9000, submit_ms=500 * n) for n in range(6)]
    played = play(jobs, "fair+delay(node=4,rack=4)", cluster=cluster)
    path = run(tmp_path / "j", played)
    for number in range(6):
        own = [e.why for e in played.launches() if e.job == number]
        skips, waited_ms = sum(w.skips for w in own), sum(w.waited_ms for w in own)
        told = "\n".join(explain(path, number))
        assert (f"Passed over for locality {skips:,} time" in told) == (skips > 0)
        assert waited_ms == 0 or "of waiting" in told
    assert any(e.why.skips for e in played.launches())


def test_who_preempted_whom(tmp_path: Path) -> None:
    """A map of job-0 is killed for nobody in particular; job-1, next there, gets the slot."""
    policy = make_policy("fair")
    policy.preemption = KillNewest(times=2)
    cluster = Cluster(nodes=2, racks=1, map_slots=1)
    jobs = [job(0, maps=4, map_ms=60_000), job(1, maps=4, map_ms=60_000, submit_ms=5000)]
    played = play(jobs, policy, cluster=cluster)
    kill = played.all(KillOrdered)[0]
    victim = next(e for e in played.launches() if e.attempt == kill.attempt)
    path = run(tmp_path / "j", played)
    told = list(explain(path, victim.job))
    (gave,) = [line for line in told if "must give way" in line and f"map {victim.task}" in line][
        :1
    ]
    assert f"on node-{victim.node} must give way (kill-newest:" in gave
    after: list[AttemptLaunched] = [
        e for e in played.launches() if e.at_ms > kill.at_ms and e.node == victim.node
    ]
    goes = f"that job-{victim.job} had to give up goes to job-{after[0].job}"
    assert after[0].job != victim.job
    for number in (victim.job, after[0].job):
        assert goes in "\n".join(explain(path, number))


def test_who_was_suspended_for_whom(tmp_path: Path) -> None:
    """job-0's map is suspended, job-1's has its slot, and then it goes on (test_suspension.py)."""
    policy = make_policy("fifo")
    policy.preemption = Scripted((10_000, Suspend, 1))
    jobs = [
        job(0, maps=1, map_ms=30_000),
        job(1, maps=1, map_ms=10_000, submit_ms=5000, priority=Priority.VERY_HIGH),
    ]
    cluster = Cluster(nodes=1, racks=1, map_slots=1, heartbeat=IN_STEP)
    path = run(tmp_path / "j", play(jobs, policy, cluster=cluster))
    told = list(explain(path, 0))
    at = told.index("Preemption:")
    assert [line.strip() for line in told[at + 1 : at + 4]] == [
        "00:00:10.000  map 0 of job-0 on node-0 must give way and keep its work"
        " (scripted: 1st of the check's victims), 9.999 s after its launch",
        "00:00:15.011  a map slot on node-0 that job-0 had to give up goes to job-1",
        "00:00:27.020  map 0 of job-0 goes on after 15.010 s on node-0, slot 0",
    ]
    assert "  maps: 1 launched for 1 task, at most 1 at once, so 1 wave or more" in told
    assert told[at + 4] == "00:00:45.031  succeeded after 45.031 s"
    assert "  15.010 s   33%  an attempt was suspended" in told
    assert "that job-0 had to give up goes to job-1" in "\n".join(explain(path, 1))


def test_a_slot_that_goes_to_another_job_than_the_one_it_was_freed_for(tmp_path: Path) -> None:
    """job-1 stands first when the slot that was taken for job-2 falls free."""
    policy = make_policy("fifo")
    policy.preemption = Scripted((10_000, Kill, 1), beneficiary=JobClaimant(2))
    high, low = Priority.VERY_HIGH, Priority.LOW
    jobs = [
        job(0, maps=1, map_ms=30_000),
        job(1, maps=1, map_ms=10_000, submit_ms=5000, priority=high),
        job(2, maps=1, map_ms=10_000, submit_ms=5000, priority=low),
    ]
    cluster = Cluster(nodes=1, racks=1, map_slots=1, heartbeat=IN_STEP)
    path = run(tmp_path / "j", play(jobs, policy, cluster=cluster))
    goes = "a map slot on node-0 that job-0 had to give up for job-2 goes to job-1"
    for number, times in ((0, 1), (1, 1), (2, 0)):
        assert "\n".join(explain(path, number)).count(goes) == times
    policy.preemption = Scripted((10_000, Kill, 1), beneficiary=JobClaimant(1))
    path = run(tmp_path / "k", play(jobs, policy, cluster=cluster))
    assert "that job-0 had to give up goes to job-1" in "\n".join(explain(path, 1))


def test_a_cut_journal_and_a_job_that_never_ran(tmp_path: Path) -> None:
    told = list(explain(record(tmp_path / "j", STORY[:7]), 1))
    assert "It waited 0.000 s and was never launched" in told
    assert told[-2:] == [
        "00:00:01.000  the journal leaves it unfinished",
        "The journal ends here, without the end of the run.",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [("9", "there is no job-9; there are job-0 to "), ("x", 'no job is called "x"')],
)
def test_a_job_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    path = record(tmp_path / "j", STORY)
    for same in ("job-1", "1", "logs"):
        assert run_command_line(["explain", str(path), same]) == 0
        assert capsys.readouterr().out.splitlines() == TOLD
    assert run_command_line(["explain", str(path), name]) == 2
    assert said in capsys.readouterr().err


def test_reason_words_that_say_more_than_the_orders_name_are_counted(tmp_path: Path) -> None:
    """Class, sort of node and share under COSHH; nothing is added under FIFO."""
    jobs = [job(0, maps=3, user="ann"), job(1, maps=1, user="bob")]
    told = list(explain(run(tmp_path / "j", play(jobs, 'coshh(size="oracle")')), 0))
    assert "  3 × coshh: class 1 suits plain nodes, share of ann" in told
    assert not any("×" in line for line in explain(run(tmp_path / "k", play(jobs)), 0))
