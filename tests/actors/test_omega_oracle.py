"""Omega and the monolithic scheduler against the simulator that Omega's authors released."""

import json
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from callboard.actors.omega.cell_messages import QueueAgain
from callboard.actors.omega.shared_cell import SharedCell
from callboard.actors.omega.think_params import MonolithicParams, OmegaParams
from callboard.scheduler.model import MAPS
from tests.support.traces import oracle
from trials.oracles import omega as oracle_of_omega
from trials.oracles.comparison import Cell as Compared
from trials.oracles.java_random import JavaRandom
from trials.oracles.mesos import Agenda, Due
from trials.oracles.omega import CellFigures, OracleJob


def cells_of(arch: str, t_job: float, **mode: str) -> list[Compared]:
    """The figures of one cell of the oracle beside ours."""
    path = oracle("omega-50-machines.jsonl")
    cases = [json.loads(line) for line in path.read_text().splitlines()]
    wanted = {"arch": arch, "t_job": t_job, **mode}
    [case] = [case for case in cases if wanted.items() <= case.items()]
    return oracle_of_omega.cells_of_case(
        case, oracle_of_omega.read_jobs(path.with_name("omega-jobs.txt"))
    )


def test_omega_wastes_waits_and_ends_as_the_released_simulator() -> None:
    """With Java's draws, to a millionth; `python -m trials.oracles` plays all cells."""
    found = cells_of("omega", 60, conflict="resource-fit", transaction="incremental")
    assert len(found) == 21
    assert all(each.ours == pytest.approx(each.theirs, abs=2e-6) for each in found)


def test_the_monolithic_scheduler_waits_and_ends_as_the_released_simulator() -> None:
    found = cells_of("monolithic", 60)
    assert all(each.ours == pytest.approx(each.theirs, abs=2e-6) for each in found)


def test_mesos_waits_and_ends_as_the_released_simulator_with_its_defects() -> None:
    """And with its agenda, which decides in which order jobs come back at one instant."""
    found = cells_of("mesos", 60)
    assert len(found) == 15
    assert all(each.ours == pytest.approx(each.theirs, abs=2e-6) for each in found)


def test_the_agenda_lets_out_what_is_due_at_once_as_scalas_heap_does() -> None:
    """Four jobs and the start, all at 0; the first job's thought is put in when it is out."""
    agenda = Agenda()
    for number in (1, 2, 3, 4):
        agenda.push(Due(0, QueueAgain(number, MAPS)))
    agenda.push(Due(0))
    first = agenda.pop(0)
    agenda.push(Due(2000))
    out = [first, *(agenda.pop(0) for _ in range(4))]
    assert [each.again and each.again.job for each in out] == [1, None, 2, 4, 3]
    assert agenda.last_ms == 2000


def test_javas_generator_is_replayed() -> None:
    """`new Random(0)`: nextInt of 100, which is no power of two, and of 64, which is one."""
    hundred, power = JavaRandom(0), JavaRandom(0)
    assert [hundred.next_int(100) for _ in range(5)] == [60, 48, 29, 47, 15]
    assert [power.next_int(64) for _ in range(5)] == [46, 53, 15, 38, 40]


def printed(jobs: Sequence[OracleJob], architecture: str, machines: int, cpus: int) -> CellFigures:
    """A test of the released simulator: think times of a second a job and one a task."""
    second = oracle_of_omega.SCALE / 1000
    made: SharedCell
    if architecture == "monolithic":
        params = MonolithicParams(t_job=second, t_task=second, retry=second)
        made = oracle_of_omega.ReplayedMonolithic(params)
    else:
        sequence = OmegaParams(t_job=second, t_task=second, conflicts="sequence")
        made = oracle_of_omega.ReplayedOmega(replace(sequence, commit="all-or-nothing"))
    return oracle_of_omega.play(made, jobs, machines, cpus=cpus, memory=2 * cpus)


def test_four_jobs_at_once_the_last_ends_at_17() -> None:
    """Its test MonolithicSimulatorTest; the jobs of i tasks of i seconds all come at 0, and its
    heap lets them in as 1, 2, 4, 3.
    """
    jobs = [OracleJob(0, i, i, "unif", 1, 1) for i in (1, 2, 4, 3)]
    assert printed(jobs, "monolithic", 1, 10).end_s == 17


def test_four_jobs_wait_for_0_1_3_and_6_seconds() -> None:
    """Its test testStats."""
    jobs = [OracleJob(i, i, i, "unif", 1, 1) for i in (1, 2, 3, 4)]
    found = printed(jobs, "monolithic", 1, 10)
    assert [found.first_wait[number] for number in range(4)] == [0, 1, 3, 6]
    assert found.wait(range(4))[0] == (0 + 1 + 3 + 6) / 4


def test_forty_jobs_under_one_omega_scheduler_end_at_121() -> None:
    """Its test omegaSimulatorRunWithSingleSchedulerTest."""
    jobs = [OracleJob(i, 1, i, "unif", 1, 1) for i in range(1, 41)]
    assert printed(jobs, "omega", 1000, 1).end_s == 121
