"""A journal that the twin writes is the actors', event by event, in every field and in order."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.run import twin_play
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.simulation import Sink, run_simulation
from callboard.experiments.run.twin_play import run_by_twin
from callboard.journal.figures.metrics import Metrics
from callboard.journal.reader import Journal
from callboard.twin import twin_run
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.play_loop import play_instants
from callboard.twin.twin_run import TwinRun
from tests.support.twin_journals import disagreement_of_journals
from tests.support.twin_worlds import INITIALISED_FROM, draw_twin_world
from tests.support.world import job, spec_of

STUCK = 24_705
"""The seed of a world in which pools wait for each other for ever."""


@pytest.mark.parametrize("first", range(0, 48, 12))
def test_drawn_worlds_are_recorded_as_the_actors_record_them(first: int) -> None:
    """Written whole, or in many parts."""
    compared = 0
    for seed in range(first, first + 12):
        try:
            found = disagreement_of_journals(draw_twin_world(seed), instants=8 ** (seed % 5))
        except CannotPlay:
            continue
        assert found is None, f"world {seed}"
        compared += 1
    assert compared > 8


def test_jobs_that_are_initialised_first_are_recorded_so_too() -> None:
    compared = 0
    for seed in range(INITIALISED_FROM, INITIALISED_FROM + 8):
        with suppress(CannotPlay):
            found = disagreement_of_journals(draw_twin_world(seed), instants=8 ** (seed % 5))
            assert found is None, f"world {seed}"
            compared += 1
    assert compared > 4


@pytest.mark.parametrize("seed", [48, 973])
def test_what_drawn_worlds_have_found(seed: int) -> None:
    """In one a phase is measured just before an offer that passes everybody over; in the other a
    reduce and a map on one node that take no time end at one instant, the reduce first.
    """
    assert disagreement_of_journals(draw_twin_world(seed)) is None


def test_the_end_says_that_no_messages_were_measured(tmp_path: Path) -> None:
    """The digest has another name than that of messages, is one of the run, and so do the figures
    of the journal say.
    """
    ends = []
    for name, seed in (("one", 5), ("same", 5), ("other", 4)):
        result = run_by_twin(draw_twin_world(seed), play=play_instants, journal=tmp_path / name)
        journal = Journal(tmp_path / name)
        *_, end = journal
        assert isinstance(end, RunEnded)
        assert journal.complete
        assert (end.messages, end.ties) == (None, None)
        assert end.digest.startswith("events-")
        ends.append(end.digest)
        told = msgspec.structs.replace(Metrics.of(journal).summary(), digest=None)
        assert told == result.summary
    assert ends[0] == ends[1] != ends[2]


def test_a_task_that_is_to_be_recorded_may_be_the_twins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose rules are to be checked is the actors'."""
    monkeypatch.setattr(twin_play, "compiled_loop", lambda: play_instants)
    path = tmp_path / "run.journal"
    result = RunTask(draw_twin_world(1), journal=path, engine="auto").run()
    assert result.engine == "twin"
    assert isinstance(list(Journal(path))[-1], RunEnded)
    result = RunTask(draw_twin_world(1), check=True, engine="auto").run()
    assert (result.engine, result.checks != ()) == ("actors", True)
    assert "checked" in result.why_actors


def test_what_the_twin_gives_up_the_actors_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may find out only on the way that its numbers are too large."""
    monkeypatch.setattr(twin_run, "INSTANTS_A_CALL", 10)
    monkeypatch.setattr(twin_play, "compiled_loop", lambda: play_instants)
    go_on = TwinRun.play_some_instants

    def go_on_once(run: TwinRun) -> None:
        if run.launched_attempt_count:
            raise CannotPlay("its numbers are too large")
        go_on(run)

    monkeypatch.setattr(TwinRun, "play_some_instants", go_on_once)
    path, heard = tmp_path / "run.journal", list[list[AnyEvent]]()

    def listen() -> Sink:
        heard.append([])
        return heard[-1].append

    result = RunTask(spec_of([job(0, maps=90)]), journal=path, engine="auto").run(listen=listen)
    *events, end = Journal(path)
    assert (result.engine, result.why_actors) == ("actors", "its numbers are too large")
    assert isinstance(end, RunEnded)
    assert end.messages is not None
    given_up, whole = heard
    assert whole == [*events, end]
    assert given_up == events[: len(given_up)] != []


def test_who_listens_to_the_twin_hears_what_the_actors_tell() -> None:
    heard = list[list[AnyEvent]]()
    for run in (partial(run_by_twin, play=play_instants), run_simulation):
        heard.append([])
        run(draw_twin_world(1), sink=heard[-1].append)
    twin, actors = heard
    assert twin[:-1] == actors[:-1]
    last, end = twin[-1], actors[-1]
    assert isinstance(last, RunEnded)
    assert isinstance(end, RunEnded)
    assert (last.at_ms, last.reason) == (end.at_ms, end.reason)


def test_what_it_cannot_tell_is_refused_before_the_file_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    spec = msgspec.structs.replace(spec_of([job(0)]), policy="fair+kill")
    with pytest.raises(CannotPlay, match="which job attempts are killed for"):
        run_by_twin(spec, play=play_instants, journal=path)
    assert not path.exists()


def test_an_interrupted_run_has_the_journal_up_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(twin_run, "INSTANTS_A_CALL", 2)

    class Impatient(RunWatcher):
        def on_twin_progress(self, run: TwinRun) -> None:
            if run.ended_job_count:
                run.interrupt()

    path, jobs = tmp_path / "run.journal", [job(n, submit_ms=10_000_000 * n) for n in range(3)]
    result = run_by_twin(spec_of(jobs), Impatient(), play_instants, path)
    events = list(Journal(path))
    assert isinstance(events[-1], RunEnded)
    assert events[-1].reason == "interrupted"
    assert Metrics.of(events).summary().attempts == result.summary.attempts
