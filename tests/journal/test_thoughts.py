"""What schedulers of a shared cell have thought: figures of a run, and a job's story."""

from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import SchedulingAttempted
from callboard.experiments.run.run_result import pack_result, unpack_result
from callboard.experiments.run.simulation import run_simulation
from callboard.journal.figures.thoughts import SchedulerThoughts, ThoughtSums
from callboard.journal.tell.explain import explain
from callboard.scheduler.model import MAPS
from tests.support.world import job, spec_of

USEFUL = SchedulingAttempted(900, 1, 2, MAPS, 300, 100, 4, (1, 0), (5, 5, 6, 7), ())
WASTED = SchedulingAttempted(2000, 1, 2, MAPS, 50, 80, 4, (1, 0), (5,), (6, 6))
IN_VAIN = SchedulingAttempted(4000, 3, 2, MAPS, 700, 60, 2, (1, 0), (), ())


def test_thoughts_are_useful_wasted_or_in_vain() -> None:
    """A thought with any claim in conflict is wasted, as the released simulator counts."""
    sums = ThoughtSums()
    for each in (USEFUL, WASTED, IN_VAIN):
        sums.add(each)
    [found] = sums.schedulers()
    assert found == SchedulerThoughts(
        scheduler=2,
        useful=1,
        wasted=1,
        in_vain=1,
        useful_ms=100,
        wasted_ms=80,
        in_vain_ms=60,
        claims_committed=5,
        claims_in_conflict=2,
        jobs=2,
        first_wait_ms=1000,
        whole_wait_ms=1050,
    )
    assert found.busyness(1800) == 0.1
    assert found.conflict_fraction == 1
    assert found.mean_waits_s == (0.5, 0.525)


def test_a_scheduler_that_has_placed_nothing_has_no_conflict_fraction() -> None:
    idle = SchedulerThoughts(scheduler=1)
    assert (idle.busyness(0), idle.conflict_fraction, idle.mean_waits_s) == (0, 0, (0, 0))


@pytest.fixture
def contended(tmp_path: Path) -> tuple[Path, tuple[SchedulerThoughts, ...]]:
    """Two jobs whose schedulers think at once about the only slot: its journal and its figures."""
    jobs = [job(0, map_ms=5000), job(1, map_ms=5000, submit_ms=1)]
    spec = msgspec.structs.replace(spec_of(jobs), policy="omega(schedulers=2,t_job=1)")
    one_slot = msgspec.structs.replace(spec.scenario.cluster, map_slots=1)
    scenario = msgspec.structs.replace(spec.scenario, cluster=one_slot)
    spec = msgspec.structs.replace(spec, scenario=scenario)
    path = tmp_path / "contended.journal"
    result = run_simulation(spec, journal=path)
    assert unpack_result(pack_result(result)).thoughts == result.thoughts
    return path, result.thoughts


def test_a_run_tells_the_thoughts_of_each_scheduler(
    contended: tuple[Path, tuple[SchedulerThoughts, ...]],
) -> None:
    thoughts = {each.scheduler: each for each in contended[1]}
    assert (thoughts[2].useful, thoughts[2].wasted) == (1, 0)
    assert (thoughts[1].wasted, thoughts[1].claims_in_conflict) == (1, 1)
    assert thoughts[1].in_vain > 0


def test_explain_says_on_which_node_a_job_lost_a_conflict_and_what_was_in_vain(
    contended: tuple[Path, tuple[SchedulerThoughts, ...]],
) -> None:
    told = list(explain(contended[0], 1))
    thoughts = "4 thoughts in 4.040 s, before which it waited 0.000 s in the queue"
    at = told.index(f"  Scheduler 1 placed it by {thoughts}")
    assert told[at + 1 : at + 4] == [
        "    2 thoughts found no room",
        "    1 thought ended in conflict: 1 claim, on node-0 1",
        "    the last such one at 00:00:05.039",
    ]
    assert not any("conflict" in line for line in explain(contended[0], 0))


def test_time_in_which_a_scheduler_thinks_is_told_as_thinking(
    contended: tuple[Path, tuple[SchedulerThoughts, ...]],
) -> None:
    """Not as a free slot that a rule kept, which is what lies between two thoughts."""
    parts = [line for line in explain(contended[0], 1) if line.startswith("  ") and "%" in line]
    [thought] = [line for line in parts if "its scheduler thought about where to place it" in line]
    assert thought.split()[0] == "4.040"
    free = [float(line.split()[0]) for line in parts if "a slot was free" in line]
    assert sum(free) == pytest.approx(0.031)
    shares = [float(line.split()[0]) for line in parts]
    [took] = [line for line in explain(contended[0], 1) if line.startswith("Where its response")]
    assert sum(shares) == pytest.approx(float(took.split()[4]))
