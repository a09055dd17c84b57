"""Computing artefacts: each run once, kept by content, and drawn from what is kept."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from callboard.experiments.many.result_store import Kept, ResultStore
from callboard.experiments.many.task_pool import OtherWorkers
from callboard.experiments.reproduction.artefact import Artefact, Paper, Quantity
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.metered_run import play_metered, read_metered
from callboard.experiments.reproduction.outcome import ReproductionVerdict
from callboard.experiments.reproduction.reproduce import (
    Asked,
    compute_missing,
    last_outcomes,
    missing_calls,
    outcome_of,
    outcomes,
)
from callboard.experiments.reproduction.run_figures import mean_of_responses_s, ratio

FAIR = Cell(name="fair", scenario="two-jobs", policy="fair", meters=("users",))
FIFO = Cell(name="fifo", scenario="two-jobs", policy="fifo", slowdown=True)
LAS = Cell(name="las", scenario="two-jobs", policy="las")


def two_jobs(*cells: Cell) -> Asked:
    share = Quantity[Runs](
        label="FIFO over Fair", value=ratio("fifo", "fair", mean_of_responses_s), printed=1.0
    )
    artefact = Artefact(
        id="small",
        paper=Paper.SLIDES,
        place="here",
        says="A small one.",
        evidence=Played(cells or (FAIR, FIFO)),
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


def test_what_was_computed_is_not_computed_again(store: ResultStore, workers: OtherWorkers) -> None:
    wanted = [two_jobs(), two_jobs()]
    assert len(missing_calls(wanted, store)) == 4  # two cells, two seeds; each once
    steps: list[int] = []
    compute_missing(wanted, store, workers, steps.append)
    assert sum(steps) == 4
    assert not missing_calls(wanted, store)
    assert len(missing_calls([two_jobs(FAIR, FIFO, LAS)], store)) == 2


def test_an_outcome_is_computed_from_what_is_kept_and_remembered(
    store: ResultStore, workers: OtherWorkers
) -> None:
    compute_missing([two_jobs()], store, workers)
    (outcome,) = outcomes([two_jobs()], store)
    assert outcome.seeds == (101, 102)
    assert {name for name, *_ in outcome.digests} == {"fair", "fifo"}
    assert last_outcomes(store) == {"small": outcome}


def test_half_of_the_runs_give_no_verdict(store: ResultStore) -> None:
    call = missing_calls([two_jobs()], store)[0]
    store.add([(call.key, Kept(call.function(*call.arguments), "", 1.0))])
    outcome = outcome_of(two_jobs(), store)
    assert outcome.verdict is ReproductionVerdict.NOT_RUN
    assert "goes on from there" in outcome.note


def test_a_run_that_failed_says_why_and_is_tried_again(
    store: ResultStore, workers: OtherWorkers
) -> None:
    wanted = [two_jobs(FAIR, Cell(name="fifo", scenario="two-jobs", policy="no-such-policy"))]
    compute_missing(wanted, store, workers)
    assert "no-such-policy" in outcome_of(wanted[0], store).note
    assert len(missing_calls(wanted, store)) == 2


def test_what_no_meter_looks_at_the_twin_may_play_with_the_same_figures() -> None:
    """`reproduce` lets it, for it is many times faster."""
    pytest.importorskip("numba")
    plain = read_metered(play_metered(FAIR.task(101)))
    fast = read_metered(play_metered(msgspec.structs.replace(FAIR, meters=()).task(101)))
    assert (plain.result.engine, fast.result.engine) == ("actors", "twin")
    assert plain.result.summary.response_seconds == fast.result.summary.response_seconds


def test_killed_attempts_are_counted_by_their_jobs() -> None:
    """Each is counted once, whoever had it killed."""
    policy = 'fair+kill(victims="job")'
    storm = Cell(name="storm", scenario="preemption-storm", policy=policy, meters=("kills",))
    run = read_metered(play_metered(storm.task(101)))
    kills = run.metered["kills"]
    assert sum(kills["killed"]) == run.result.summary.attempts.killed > 100
    assert len(set(kills["job"])) == len(kills["killed"])
