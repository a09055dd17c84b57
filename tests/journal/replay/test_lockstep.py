"""Two runs beside each other: the same time, the same world, two policies."""

from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import FaultStruck
from callboard.actors.vocabulary.faults import Crash, SwitchPolicy
from callboard.experiments.live.live_requests import Fork, Keep
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.figures.metrics import Metrics
from callboard.journal.reader import Journal
from callboard.journal.replay.frame import Frame, JobSortKey, RunComparison
from callboard.journal.replay.source import (
    GoTo,
    GoToEvent,
    Move,
    Play,
    Stay,
    Step,
    StepKind,
)
from callboard.journal.tell.diff import diff_journals
from tests.journal.replay.support import OUTAGE, events_of, outage
from tests.tui.test_interventions import VIEW, ask, plan, taped, to_the_end


def pair(*policies: str) -> list[RunSpec]:
    return [plan(policy=policy) for policy in policies]


def versus(frame: Frame) -> RunComparison:
    assert frame.comparison is not None
    return frame.comparison


@pytest.mark.parametrize(
    "moves",
    [
        [],
        [Play(60_000.0)] * 20,
        [Step(StepKind.EVENT)] * 30 + [Step(StepKind.JOB)] * 3 + [Step(StepKind.MARK)],
        [GoTo(700_000), GoTo(0), Step(StepKind.DIVERGENCE), GoTo(None), GoToEvent(5), Stay()],
    ],
)
def test_both_are_the_runs_that_they_are_alone(moves: list[Move]) -> None:
    """Whatever is asked: both at one time, and the events and digests of the unwatched runs."""
    with LiveServer(pair("fair", "fifo")) as server:
        for number, move in enumerate(moves):
            view = msgspec.structs.replace(VIEW, lead=number % 2)
            frame = ask(server, move, view=view)
            ends = [
                run.recording.end_ms if run.recording.closed else 1 << 62 for run in server.runs
            ]
            for run, end_ms in zip(server.runs, ends, strict=True):
                assert run.cursor.at_ms == min(frame.at_ms, end_ms)
            assert versus(frame).other.at_ms == frame.at_ms
        to_the_end(server)
        assert taped(server, 0) == list(outage())
        assert taped(server, 1) == list(events_of(str(OUTAGE), "fifo"))


def test_who_is_over_waits_for_the_other() -> None:
    with LiveServer(pair("fair", "fifo")) as server:
        frame = to_the_end(server)
        ends = [run.recording.end_ms for run in server.runs]
        assert ends[0] != ends[1]
        assert frame.at_ms == frame.end_ms == max(ends)
        first, second = versus(frame).figures
        assert [first.run_ended_ms, second.run_ended_ms] == ends
        frame = ask(server, GoTo(min(ends) + 1))
        assert [each.run_ended_ms is None for each in versus(frame).figures] == [
            end > min(ends) + 1 for end in ends
        ]
        assert not frame.complete or frame.at_ms < frame.end_ms


def test_figures_are_those_of_the_runs() -> None:
    """At the end: what `callboard run` says of either."""
    with LiveServer(pair("fair", "fifo")) as server:
        found = versus(to_the_end(server))
    for policy, figures in zip(("fair", "fifo"), found.figures, strict=True):
        metrics = Metrics()
        for event in events_of(str(OUTAGE), policy):
            metrics.observe(event)
        summary = metrics.summary()
        mean = summary.response_seconds.mean
        assert figures.policy == policy
        assert figures.done == summary.jobs.completed
        assert figures.response_ms == figures.common_ms == figures.in_system_ms
        assert mean is not None
        assert figures.response_ms == pytest.approx(1000 * mean)
        assert figures.busy[0] == pytest.approx(summary.utilisation.map or 0, rel=1e-3)
        assert figures.busy[1] == pytest.approx(summary.utilisation.reduce or 0, rel=1e-3)


def test_jobs_of_both_in_one_row() -> None:
    with LiveServer(pair("fair", "fifo")) as server:
        view = msgspec.structs.replace(VIEW, all_jobs=True)
        rows = {row.job: row for row in versus(ask(server, GoTo(10**7), view=view)).rows}
        fair, fifo = rows[1].sides
        assert fair is not None
        assert fifo is not None
        assert rows[1].sooner_ms == fair.time_ms - fifo.time_ms < 0  # queries wait under FIFO
        view = msgspec.structs.replace(view, filter="nightly")
        assert [row.name for row in versus(ask(server, Stay(), view=view)).rows] == ["nightly"]
        view = msgspec.structs.replace(view, filter="", jobs_key=JobSortKey.TIME, jobs_reverse=True)
        assert versus(ask(server, Stay(), view=view)).rows[0].name == "nightly"
        view = msgspec.structs.replace(view, all_jobs=False)
        frame = ask(server, GoTo(200_000), view=view)
        assert [row.job for row in versus(frame).rows] == [0, 1, 2]


def test_a_job_that_has_left_one_system_only_is_there() -> None:
    with LiveServer(pair("fair", "fifo")) as server:
        frame = ask(server, Step(StepKind.JOB), Play(1.0))
        done = [row for row in versus(frame).rows if row.sides[0] and row.sides[0].state >= 3]
        assert done
        assert done[0].sooner_ms is None
        first, second = versus(frame).figures
        assert (first.done, second.done) == (1, 0)
        assert first.common_ms is None


def test_where_they_part_is_where_diff_says(tmp_path: Path) -> None:
    paths = tmp_path / "two-fair.journal", tmp_path / "two-fifo.journal"
    with LiveServer(pair("fair", "fifo"), paths) as server:
        frame = ask(server, Step(StepKind.DIVERGENCE))
        divergence = versus(frame).divergence
        assert divergence is not None
        assert frame.at_ms == divergence.at_ms
        to_the_end(server)
    found = diff_journals(*paths, reasons=False)
    assert found.divergence is not None
    assert divergence.at_ms == found.divergence.at_ms
    lines = found.divergence.left_line, found.divergence.right_line
    for mine, line in zip(divergence.lines, lines, strict=True):
        assert line.endswith(mine)


def test_the_same_policy_never_parts() -> None:
    with LiveServer(pair("fair", "fair")) as server:
        frame = ask(server, Step(StepKind.DIVERGENCE))
        assert versus(frame).divergence is None
        assert frame.complete
        assert frame.at_ms == frame.end_ms


def test_a_fork_is_the_same_world_up_to_its_moment() -> None:
    with LiveServer([plan()]) as server:
        frame = ask(server, GoTo(300_000), Fork("fifo"))
        assert frame.at_ms == 300_001
        assert [each.policy for each in versus(frame).figures] == ["fair", "fifo"]
        assert server.runs[0].spec.interventions == ()  # the first goes on as it was
        before = [event for event in outage() if event.at_ms <= 300_000]
        for side in range(2):
            assert taped(server, side)[: len(before)] == before
        to_the_end(server)
        assert taped(server, 0) == list(outage())
        assert FaultStruck(300_001, SwitchPolicy("fifo")) in taped(server, 1)
        divergence = versus(ask(server, Stay())).divergence
        assert divergence is not None
        assert divergence.at_ms > 300_001


def test_a_fork_at_the_start_is_begun_under_the_other_policy() -> None:
    with LiveServer([plan()]) as server:
        ask(server, Fork("fifo"))
        to_the_end(server)
        assert taped(server, 1) == list(events_of(str(OUTAGE), "fifo"))


def test_an_intervention_reaches_both_runs_but_a_policy_the_front_one_alone() -> None:
    with LiveServer(pair("fair", "fifo")) as server:
        ask(server, GoTo(100_000), Intervene((Crash(5),)))
        for side in range(2):
            assert FaultStruck(100_001, Crash(5)) in taped(server, side)
        view = msgspec.structs.replace(VIEW, lead=1)
        frame = ask(server, Intervene((SwitchPolicy("hfsp"),)), view=view)
        assert [each.policy for each in versus(frame).figures] == ["fair", "hfsp"]
        assert frame.policy == "hfsp"
        assert frame.at_ms == 100_002


@pytest.mark.parametrize("side", [0, 1])
def test_one_of_two_can_be_kept(side: int) -> None:
    with LiveServer(pair("fair", "fifo")) as server:
        frame = ask(server, GoTo(200_000), Keep(side), Stay())
        assert frame.comparison is None
        assert frame.at_ms == 200_000
        assert frame.policy == ("fair", "fifo")[side]
        assert ask(server, Fork("hfsp")).comparison is not None


def test_every_run_is_recorded(tmp_path: Path) -> None:
    """A fork by hand beside the journal of the run that it comes from."""
    path = tmp_path / "run.journal"
    with LiveServer([plan()], [path]) as server:
        ask(server, GoTo(100_000), Fork("fifo"), Keep(0), Fork("fifo"))
        to_the_end(server)
        runs = [taped(server, side) for side in range(2)]
    assert list(Journal(path)) == runs[0]
    assert list(Journal(tmp_path / "run-fork-fifo-2.journal")) == runs[1]
    assert Journal(tmp_path / "run-fork-fifo.journal").path.exists()


def test_marks_and_ends_lead_by_the_run_in_front() -> None:
    with LiveServer(pair("fair", "fifo")) as server:
        ends = []
        for lead in range(2):
            view = msgspec.structs.replace(VIEW, lead=lead)
            frame = ask(server, GoTo(0), Step(StepKind.JOB), view=view)
            ends.append(frame.at_ms)
            assert "succeeded" in frame.log[-1].text
        assert ends[0] < ends[1]
