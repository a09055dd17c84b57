"""Computing artefacts: each run once, kept by content, and drawn from what is kept."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from callboard.experiments.many.computing import Answered, compute_missing
from callboard.experiments.many.result_store import Kept, ResultStore
from callboard.experiments.many.sweeps.sweep import run_sweep
from callboard.experiments.many.sweeps.sweep_plan import PlannedSweep, SweepPlan
from callboard.experiments.many.task_pool import OtherWorkers
from callboard.experiments.reproduction.artefact import Artefact, Paper, Quantity
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.metered_run import (
    MeteredRun,
    calls_with_engine,
    play_metered,
    play_unmetered,
)
from callboard.experiments.reproduction.outcome import ReproductionVerdict
from callboard.experiments.reproduction.reproduce import (
    Asked,
    last_outcomes,
    missing_artefact_calls,
    outcome_of,
    record_outcomes,
)
from callboard.experiments.reproduction.run_figures import mean_of_responses_s
from callboard.experiments.reproduction.sample_figure import figure_of
from callboard.experiments.run.run_result import EngineName

FAIR = Cell(name="fair", scenario="two-jobs", policy="fair", meters=("users",))
FIFO = Cell(name="fifo", scenario="two-jobs", policy="fifo", slowdown=True)
LAS = Cell(name="las", scenario="two-jobs", policy="las")


def two_jobs(*cells: Cell) -> Asked:
    cells = cells or (FAIR, FIFO)
    share = Quantity[Runs](
        label="FIFO over Fair",
        value=figure_of(cells[-1].name, mean_of_responses_s)
        / figure_of(cells[0].name, mean_of_responses_s),
        printed=1.0,
    )
    artefact = Artefact(
        id="small",
        paper=Paper.SLIDES,
        place="here",
        says="A small one.",
        evidence=Played(cells),
        quantities=(share,),
    )
    return Asked(artefact, (101, 102))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    with ResultStore(tmp_path / "kept.sqlite") as opened:
        yield opened


@pytest.fixture
def workers() -> Iterator[OtherWorkers]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as executor:
        yield OtherWorkers(executor, 1)


def computed(wanted: list[Asked], store: ResultStore, workers: OtherWorkers) -> list[Answered]:
    return list(compute_missing(missing_artefact_calls(wanted, store), store, workers, retry=True))


def played(cell: Cell, engine: EngineName = "auto") -> MeteredRun:
    """The cell's run with seed 101."""
    task = msgspec.structs.replace(cell.task(101), engine=engine)
    return task.read({call.key: call.function(*call.arguments) for call in task.calls()})


def test_what_was_computed_is_not_computed_again(store: ResultStore, workers: OtherWorkers) -> None:
    wanted = [two_jobs(), two_jobs()]
    assert (
        len(missing_artefact_calls(wanted, store)) == 6
    )  # of two seeds two runs and the jobs alone, each once
    assert len(computed(wanted, store, workers)) == 6
    assert not missing_artefact_calls(wanted, store)
    assert len(missing_artefact_calls([two_jobs(FAIR, FIFO, LAS)], store)) == 2


def test_an_outcome_is_computed_from_what_is_kept_and_remembered(
    store: ResultStore, workers: OtherWorkers
) -> None:
    computed([two_jobs()], store, workers)
    (outcome,) = record_outcomes([two_jobs()], store)
    assert outcome.seeds == (101, 102)
    assert {name for name, *_ in outcome.digests} == {"fair", "fifo"}
    assert last_outcomes(store) == {"small": outcome}


def test_half_of_the_runs_give_no_verdict(store: ResultStore) -> None:
    call = missing_artefact_calls([two_jobs()], store)[0]
    store.add([(call.key, Kept(call.function(*call.arguments), "", 1.0))])
    outcome = outcome_of(two_jobs(), store)
    assert outcome.verdict is ReproductionVerdict.NOT_RUN
    assert "goes on from there" in outcome.note


def test_a_run_that_failed_says_why_and_is_tried_again(
    store: ResultStore, workers: OtherWorkers
) -> None:
    wanted = [two_jobs(FAIR, Cell(name="fifo", scenario="two-jobs", policy="no-such-policy"))]
    computed(wanted, store, workers)
    assert "no-such-policy" in outcome_of(wanted[0], store).note
    assert len(missing_artefact_calls(wanted, store)) == 2


METERED = [
    ("two-jobs", "fair", ()),
    ("two-jobs", "fair", ("switches", "users")),
    ("small-behind-giant", "hfsp", ("training", "kills")),
]


@pytest.mark.soak
@pytest.mark.parametrize(("scenario", "policy", "meters"), METERED)
def test_whoever_plays_the_figures_and_what_meters_say_are_the_same(
    scenario: str, policy: str, meters: tuple[str, ...]
) -> None:
    """`reproduce --engine` says who does; the twin is many times faster."""
    pytest.importorskip("numba")
    cell = Cell(name="it", scenario=scenario, policy=policy, meters=meters)
    actors, twin = played(cell, "actors"), played(cell, "twin")
    assert (actors.result.engine, twin.result.engine) == ("actors", "twin")
    assert actors.result.summary.response_seconds == twin.result.summary.response_seconds
    assert set(actors.metered) == set(meters)
    assert actors.metered == twin.metered


def test_few_tasks_are_left_to_the_actors(store: ResultStore) -> None:
    """They are done before the twin is loaded; and a run is found again whoever played it."""
    missing = missing_artefact_calls([two_jobs()], store)
    engines = {}
    asked: tuple[EngineName, ...] = ("auto", "twin")
    for asked_for in asked:
        calls = calls_with_engine(missing, asked_for)
        assert [call.key for call in calls] == [call.key for call in missing]
        runs = [call for call in calls if call.function in (play_metered, play_unmetered)]
        engines[asked_for] = {call.arguments[0].engine for call in runs}
    assert engines == {"auto": {"actors"}, "twin": {"twin"}}


@pytest.mark.parametrize("meters", [FAIR.meters, ()])
def test_what_is_timed_is_played_by_the_actors_whoever_plays_the_others(
    meters: tuple[str, ...],
) -> None:
    """The twin decides in no time."""
    cell = msgspec.structs.replace(FAIR, meters=meters, timed=True)
    (call,) = calls_with_engine(cell.calls(101), "twin")
    result = cell.task(101).read({call.key: call.function(*call.arguments)}).result
    assert result.engine == "actors"
    assert result.scheduling.seconds > 0
    assert call.key != msgspec.structs.replace(cell, timed=False).calls(101)[0].key


def test_a_run_that_a_sweep_has_played_is_found(store: ResultStore, workers: OtherWorkers) -> None:
    """And the other way round: a run is kept under what decides it, whoever asked."""
    plan = SweepPlan(
        scenarios=("two-jobs",), policies=("fifo", "las"), seeds="101..102", slowdown=True
    )
    counts = run_sweep(PlannedSweep(plan), store, workers)
    assert (counts.played, counts.alone) == (4, 2)
    assert missing_artefact_calls([two_jobs(FIFO, LAS)], store) == []
    fair = msgspec.structs.replace(FAIR, meters=())
    computed([two_jobs(fair)], store, workers)
    more = msgspec.structs.replace(plan, policies=("fifo", "las", "fair"))
    assert run_sweep(PlannedSweep(more), store, workers).played == 0


@pytest.mark.soak
def test_killed_attempts_are_counted_by_their_jobs() -> None:
    """Each is counted once, whoever had it killed."""
    policy = 'fair+kill(victims="job")'
    storm = Cell(name="storm", scenario="preemption-storm", policy=policy, meters=("kills",))
    run = played(storm)
    kills = run.metered["kills"]
    assert sum(kills["killed"]) == run.result.summary.attempts.killed > 100
    assert len(set(kills["job"])) == len(kills["killed"])


def test_first_maps_are_the_most_within_150_s_of_the_submission() -> None:
    """Of a job of 15 maps ten run at once; another, at 100 s, waits for a slot until 400 s."""
    jobs = '[{name="one",maps=15,map_s=400},{name="two",at_s=100,maps=9,map_s=10}]'
    more = (f"workload.job={jobs}", "cluster.nodes=10", "cluster.map_slots=1")
    cell = Cell(
        name="it", scenario="two-jobs", policy="fifo", overrides=more, meters=("first maps",)
    )
    assert played(cell).metered["first maps"] == {"job": [0], "most": [10]}
