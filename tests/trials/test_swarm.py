"""The swarm: what it tries, what it does with a world that fails, what it remembers."""

from contextlib import suppress
from pathlib import Path
from socket import socketpair

import msgspec
import numpy as np
import pytest

from callboard.actors.job import Job
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import load_scenario
from tests.support.soak import one_in
from trials import processor_limit
from trials.swarm import bug_planter
from trials.swarm.__main__ import try_again
from trials.swarm.bug_hunt import Catch
from trials.swarm.bug_planter import PlantedBug, StaleBug, planted
from trials.swarm.planted_bugs import BUGS
from trials.swarm.records import SeedRecords, totals
from trials.swarm.scoreboard import BEGIN, END, with_scoreboard
from trials.swarm.seed_trial import SeedRecord, try_seed
from trials.swarm.world_reduction import reduced
from trials.swarm.world_trial import COMPARISONS, PlayedWorld, flaws, play_world
from trials.worlds.declared_values import DeclaredValues
from trials.worlds.drawn_worlds import (
    DrawnWorld,
    draw_contested_world,
    draw_world,
    struck,
)

FOUND = sorted((Path(__file__).parent / "found").glob("*.toml"))
TOO_EARLY = next(bug for bug in BUGS if bug.what == "a job takes its maps for done too early")


@pytest.mark.parametrize("seed", one_in(4, range(1, 9)))
def test_a_seed_has_no_flaw(seed: int) -> None:
    record = try_seed(seed)
    assert not record.flaws
    assert record.worlds > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", one_in(3, [20, 21, 24]))
def test_a_world_is_the_same_however_it_is_run(seed: int) -> None:
    first, *found = flaws(draw_world(seed), tuple(COMPARISONS))
    assert isinstance(first, PlayedWorld)
    assert not found


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.stem)
def test_a_world_that_failed_once_fails_no_more(file: Path) -> None:
    """Each file says what was wrong."""
    _, *found = flaws(DrawnWorld(load_scenario(file)), tuple(COMPARISONS))
    assert not found


def test_a_world_that_is_none_any_more_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule of later may refuse what an earlier version has written."""
    file = tmp_path / "world.toml"
    file.write_text("[cluster]\nnodes = -1\n", encoding="utf-8")
    assert try_again(file) == 2
    assert str(file) in capsys.readouterr().out


@pytest.mark.soak
def test_a_failing_world_is_made_smaller_and_written(tmp_path: Path) -> None:
    """A bug is planted; what the file holds fails with it, and not without."""
    with planted(TOO_EARLY):
        tried = ((seed, try_seed(seed, tmp_path).flaws) for seed in range(1, 40))
        seed, kind, file = next(
            (seed, kind, file)
            for seed, ((kind, _, file), *_) in ((seed, told) for seed, told in tried if told)
            if kind in ("S2", "S5")  # and not one that other ties brought about
        )
        assert try_again(Path(file)) == 1
    assert try_again(Path(file)) == 0
    text = Path(file).read_text(encoding="utf-8")
    assert f"# flaw: {kind}" in text
    assert f"--seed {seed}" in text
    assert len(text.splitlines()) < 40


@pytest.mark.soak
@pytest.mark.parametrize(
    ("bug", "kind"),
    [
        ("the other attempt is not stopped", "not stopped"),
        ("attempts beyond one a task are not counted down", "AssertionError"),
        ("jobs that are over stay in the books", "AssertionError"),
    ],
)
def test_what_no_rule_says_is_seen_too(bug: str, kind: str) -> None:
    """In the master's books, and in the events."""
    with planted(next(each for each in BUGS if each.what == bug)):
        flaws_found = (play_world(draw_contested_world(seed)).flaw for seed in range(80))
        assert next(flaw.kind for flaw in flaws_found if flaw is not None) == kind


def test_a_world_is_struck_at_an_instant_of_its_own() -> None:
    """And is the same up to it."""
    world = draw_world(7)
    first = play_world(world, checks=False)
    more = struck(world, first.events, DeclaredValues(np.random.default_rng(1)))
    assert more is not None
    *before, added = more.scenario.timeline
    assert tuple(before) == world.scenario.timeline
    at_ms = round(1000 * msgspec.structs.asdict(added)["at_s"])
    assert any(at_ms - event.at_ms in (-1, 0, 1, 100) for event in first.events)
    again = play_world(more, checks=False)
    early = [[e for e in run.events[1:] if e.at_ms < at_ms] for run in (first, again)]
    assert early[0] == early[1]


def test_greedy_removal_leaves_what_the_failure_needs() -> None:
    """Here: a job with 5 maps or more."""

    def fails(world: DrawnWorld) -> bool:
        jobs = world.scenario.workload
        assert isinstance(jobs, ListedWorkload)
        return any(job.maps >= 5 for job in jobs.job)

    world = next(world for seed in range(50) if fails(world := draw_world(seed)))
    smallest = reduced(world, fails)
    jobs = smallest.scenario.workload
    assert isinstance(jobs, ListedWorkload)
    assert [job.maps for job in jobs.job] == [5]
    assert (smallest.policy, smallest.scenario.timeline) == ("fifo", ())


def test_a_world_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trials.swarm.world_trial.MESSAGES_MAX", 100)
    reasons = {play_world(draw_world(seed), checks=False).reason for seed in range(12)}
    assert "too long" in reasons


def test_a_seed_that_hangs_is_a_flaw(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*_: object) -> DrawnWorld:
        while True:
            pass

    drawn = ("draw_world", "draw_contested_world", "draw_architecture_world")
    for what in (*drawn, "_guarantee", "_reference"):
        monkeypatch.setattr(f"trials.swarm.seed_trial.{what}", hangs)
    ((kind, told, _),) = try_seed(1, limit_s=0.1).flaws
    assert (kind, told) == ("Hanging", "Hanging: after 0.1 s of processor time it has not ended")


def test_what_waits_for_ever_is_left_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no processor time."""
    monkeypatch.setattr(processor_limit, "WAIT_SECONDS", 0)
    ours, theirs = socketpair()
    limit = processor_limit.processor_limit(0.01, TimeoutError())
    with ours, theirs, pytest.raises(TimeoutError), limit:
        ours.recv(1)


def test_a_limit_that_was_ignored_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is where the garbage collector was calling somebody back when the time was up."""
    monkeypatch.setattr(processor_limit, "_AGAIN_SECONDS", 0.01)

    def spin() -> None:
        for _ in range(10**8):
            pass

    def spin_on() -> None:
        with suppress(TimeoutError):
            spin()
        spin()

    with pytest.raises(TimeoutError), processor_limit.processor_limit(0.01, TimeoutError()):
        spin_on()


def test_every_bug_can_be_planted_and_is_gone_after_it() -> None:
    assert len({bug.what for bug in BUGS}) == len(BUGS) >= 60
    code = Job._are_maps_done.__code__
    for bug in BUGS:
        with planted(bug):
            assert (Job._are_maps_done.__code__ is code) == (bug is not TOO_EARLY)
    assert Job._are_maps_done.__code__ is code


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("no such text", "x", "stands 0 times"),
        ("self", "x", "times"),
        ('"""Jobs', '"""Jobs', "in no function|stands 0"),
        ("        return self._done[MAPS] == self._spec.maps", "        return\n", "other lines"),
    ],
)
def test_a_bug_whose_place_is_gone_is_told(old: str, new: str, why: str) -> None:
    with pytest.raises(StaleBug, match=why), planted(PlantedBug("it", "actors/job.py", old, new)):
        pass


def test_bugs_are_planted_in_every_room() -> None:
    rooms = {bug.room for bug in BUGS}
    assert {"actors/kernel", "actors/books", "actors/central", "actors/worker"} <= rooms
    assert {"actors/job"} <= rooms
    assert {"scheduler/orders", "scheduler/locality", "scheduler/preemption"} <= rooms
    assert "scheduler/speculation" in rooms
    assert bug_planter.ROOT.joinpath("scheduler").is_dir()


def test_results_are_kept_and_resumed(tmp_path: Path) -> None:
    records = SeedRecords(tmp_path)
    for seed in (1, 2, 4):
        records.add(SeedRecord(seed=seed, worlds=2, node_ms=31_536_000_000, seconds=3600))
    again = SeedRecords(tmp_path)
    left = again.left(1)
    assert [next(left) for _ in range(3)] == [3, 5, 6]
    found = totals(again.all())
    assert (found.seeds, found.worlds, found.node_years, found.a_day) == (3, 6, 3.0, 24.0)


def test_the_scoreboard_says_what_was_missed() -> None:
    found = totals([SeedRecord(seed=1, worlds=1, reason="complete", met=("a job fails",))])
    caught = [
        Catch("a bug", "actors/master", 7, 5, "S4", 1.0),
        Catch("another", "actors/master", 200, 100, "", 9.0),
    ]
    text = with_scoreboard(f"# A page\n\n{BEGIN}of yesterday\n{END}\nafter\n", found, caught)
    assert text.startswith("# A page")
    assert text.endswith("after\n")
    assert "of yesterday" not in text
    assert "Of 2 planted bugs 1 were caught" in text
    assert "- another (`actors/master`)" in text
    assert "| actors/master | 2 | 1 | 7 | 7 |" in text
