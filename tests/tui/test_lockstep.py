"""Two runs beside each other: the same time, the same world, two policies."""

from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import FaultStruck
from callboard.actors.vocabulary.faults import Crash, SwitchPolicy
from callboard.by_hand import Plan
from callboard.journal.diff import compare
from callboard.journal.metrics import Metrics
from callboard.journal.reader import Journal
from callboard.live import Desk
from callboard.tui.frame import Frame, JobKey, Versus
from callboard.tui.source import (
    Fork,
    GoTo,
    GoToEvent,
    Interfere,
    Keep,
    Move,
    Play,
    Stay,
    Step,
    StepKind,
)
from tests.tui.support import OUTAGE, events_of, outage
from tests.tui.test_by_hand import VIEW, ask, plan, taped, to_the_end


def pair(*policies: str, journal: Path | None = None) -> list[Plan]:
    paths = [
        None if journal is None else journal.with_stem(f"{journal.stem}-{p}") for p in policies
    ]
    return [plan(policy=p, journal=path) for p, path in zip(policies, paths, strict=True)]


def versus(frame: Frame) -> Versus:
    assert frame.versus is not None
    return frame.versus


@pytest.mark.parametrize(
    "moves",
    [
        [],
        [Play(60_000.0)] * 20,
        [Step(StepKind.EVENT)] * 30 + [Step(StepKind.JOB)] * 3 + [Step(StepKind.MARK)],
        [GoTo(700_000), GoTo(0), Step(StepKind.PARTING), GoTo(None), GoToEvent(5), Stay()],
    ],
)
def test_both_are_the_runs_that_they_are_alone(moves: list[Move]) -> None:
    """Whatever is asked: both at one time, and the events and digests of the unwatched runs."""
    with Desk(pair("fair", "fifo")) as desk:
        for number, move in enumerate(moves):
            view = msgspec.structs.replace(VIEW, lead=number % 2)
            frame = ask(desk, move, view=view)
            ends = [run.tape.end_ms if run.tape.closed else 1 << 62 for run in desk.runs]
            for run, end_ms in zip(desk.runs, ends, strict=True):
                assert run.head.at_ms == min(frame.at_ms, end_ms)
            assert versus(frame).other.at_ms == frame.at_ms
        to_the_end(desk)
        assert taped(desk, 0) == list(outage())
        assert taped(desk, 1) == list(events_of(str(OUTAGE), "fifo"))


def test_who_is_over_waits_for_the_other() -> None:
    with Desk(pair("fair", "fifo")) as desk:
        frame = to_the_end(desk)
        ends = [run.tape.end_ms for run in desk.runs]
        assert ends[0] != ends[1]
        assert frame.at_ms == frame.end_ms == max(ends)
        first, second = versus(frame).figures
        assert [first.over_ms, second.over_ms] == ends
        frame = ask(desk, GoTo(min(ends) + 1))
        assert [each.over_ms is None for each in versus(frame).figures] == [
            end > min(ends) + 1 for end in ends
        ]
        assert not frame.complete or frame.at_ms < frame.end_ms


def test_figures_are_those_of_the_runs() -> None:
    """At the end: what `callboard run` says of either."""
    with Desk(pair("fair", "fifo")) as desk:
        found = versus(to_the_end(desk))
    for policy, figures in zip(("fair", "fifo"), found.figures, strict=True):
        metrics = Metrics()
        for event in events_of(str(OUTAGE), policy):
            metrics.observe(event)
        summary = metrics.summary()
        mean = summary.response_seconds.mean
        assert figures.policy == policy
        assert figures.done == summary.jobs.completed == found.common
        assert figures.response_ms == figures.common_ms == figures.inside_ms
        assert mean is not None
        assert figures.response_ms == pytest.approx(1000 * mean)
        assert figures.busy[0] == pytest.approx(summary.utilisation.map or 0, rel=1e-3)
        assert figures.busy[1] == pytest.approx(summary.utilisation.reduce or 0, rel=1e-3)


def test_jobs_of_both_in_one_row() -> None:
    with Desk(pair("fair", "fifo")) as desk:
        view = msgspec.structs.replace(VIEW, all_jobs=True)
        rows = {row.job: row for row in versus(ask(desk, GoTo(10**7), view=view)).rows}
        fair, fifo = rows[1].sides
        assert fair is not None
        assert fifo is not None
        assert rows[1].sooner_ms == fair.time_ms - fifo.time_ms < 0  # queries wait under FIFO
        view = msgspec.structs.replace(view, filter="nightly")
        assert [row.name for row in versus(ask(desk, Stay(), view=view)).rows] == ["nightly"]
        view = msgspec.structs.replace(view, filter="", jobs_key=JobKey.TIME, jobs_reverse=True)
        assert versus(ask(desk, Stay(), view=view)).rows[0].name == "nightly"
        view = msgspec.structs.replace(view, all_jobs=False)
        frame = ask(desk, GoTo(200_000), view=view)
        assert [row.job for row in versus(frame).rows] == [0, 1, 2]


def test_a_job_that_has_left_one_system_only_is_there() -> None:
    with Desk(pair("fair", "fifo")) as desk:
        frame = ask(desk, Step(StepKind.JOB), Play(1.0))
        done = [row for row in versus(frame).rows if row.sides[0] and row.sides[0].state >= 3]
        assert done
        assert done[0].sooner_ms is None
        first, second = versus(frame).figures
        assert (first.done, second.done, versus(frame).common) == (1, 0, 0)
        assert first.common_ms is None


def test_where_they_part_is_where_diff_says(tmp_path: Path) -> None:
    path = tmp_path / "two.journal"
    with Desk(pair("fair", "fifo", journal=path)) as desk:
        frame = ask(desk, Step(StepKind.PARTING))
        parting = versus(frame).parting
        assert parting is not None
        assert frame.at_ms == parting.at_ms
        to_the_end(desk)
    found = compare(tmp_path / "two-fair.journal", tmp_path / "two-fifo.journal", reasons=False)
    assert found.divergence is not None
    assert parting.at_ms == found.divergence.at_ms
    lines = found.divergence.left_line, found.divergence.right_line
    for mine, line in zip(parting.lines, lines, strict=True):
        assert line.endswith(mine)


def test_the_same_policy_never_parts() -> None:
    with Desk(pair("fair", "fair")) as desk:
        frame = ask(desk, Step(StepKind.PARTING))
        assert versus(frame).parting is None
        assert frame.complete
        assert frame.at_ms == frame.end_ms


def test_a_fork_is_the_same_world_up_to_its_moment() -> None:
    with Desk([plan()]) as desk:
        frame = ask(desk, GoTo(300_000), Fork("fifo"))
        assert frame.at_ms == 300_001
        assert [each.policy for each in versus(frame).figures] == ["fair", "fifo"]
        assert desk.runs[0].plan.done == ()  # the first goes on as it was
        before = [event for event in outage() if event.at_ms <= 300_000]
        for side in range(2):
            assert taped(desk, side)[: len(before)] == before
        to_the_end(desk)
        assert taped(desk, 0) == list(outage())
        assert FaultStruck(300_001, SwitchPolicy("fifo")) in taped(desk, 1)
        parting = versus(ask(desk, Stay())).parting
        assert parting is not None
        assert parting.at_ms > 300_001


def test_a_fork_at_the_start_is_begun_under_the_other_policy() -> None:
    with Desk([plan()]) as desk:
        ask(desk, Fork("fifo"))
        to_the_end(desk)
        assert taped(desk, 1) == list(events_of(str(OUTAGE), "fifo"))


def test_the_same_deed_strikes_both_worlds_but_a_policy_is_the_front_one_s() -> None:
    with Desk(pair("fair", "fifo")) as desk:
        ask(desk, GoTo(100_000), Interfere((Crash(5),)))
        for side in range(2):
            assert FaultStruck(100_001, Crash(5)) in taped(desk, side)
        view = msgspec.structs.replace(VIEW, lead=1)
        frame = ask(desk, Interfere((SwitchPolicy("hfsp"),)), view=view)
        assert [each.policy for each in versus(frame).figures] == ["fair", "hfsp"]
        assert frame.policy == "hfsp"
        assert frame.at_ms == 100_002


@pytest.mark.parametrize("side", [0, 1])
def test_one_of_two_can_be_kept(side: int) -> None:
    with Desk(pair("fair", "fifo")) as desk:
        frame = ask(desk, GoTo(200_000), Keep(side), Stay())
        assert frame.versus is None
        assert frame.at_ms == 200_000
        assert frame.policy == ("fair", "fifo")[side]
        assert ask(desk, Fork("hfsp")).versus is not None


def test_every_run_is_recorded(tmp_path: Path) -> None:
    """A fork by hand beside the journal of the run that it comes from."""
    path = tmp_path / "run.journal"
    with Desk([plan(journal=path)]) as desk:
        ask(desk, GoTo(100_000), Fork("fifo"), Keep(0), Fork("fifo"))
        to_the_end(desk)
        runs = [taped(desk, side) for side in range(2)]
    assert list(Journal(path)) == runs[0]
    assert list(Journal(tmp_path / "run-fork-fifo-2.journal")) == runs[1]
    assert Journal(tmp_path / "run-fork-fifo.journal").path.exists()


def test_marks_and_ends_lead_by_the_run_in_front() -> None:
    with Desk(pair("fair", "fifo")) as desk:
        ends = []
        for lead in range(2):
            view = msgspec.structs.replace(VIEW, lead=lead)
            frame = ask(desk, GoTo(0), Step(StepKind.JOB), view=view)
            ends.append(frame.at_ms)
            assert "succeeded" in frame.log[-1].text
        assert ends[0] < ends[1]
