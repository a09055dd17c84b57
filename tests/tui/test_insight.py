"""What the screen says of jobs beyond counts: it must be what schedulers and slots make of it."""

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptLaunched,
    JobFinished,
    JobSubmitted,
    NodeFacts,
    NodeLost,
    RunStarted,
)
from callboard.scheduler.decisions import Why
from callboard.scheduler.model import Priority
from callboard.tui.due import Dues
from callboard.tui.frame import JobKey, View
from callboard.tui.head import Head
from callboard.tui.insight import Insight, rival, standing
from callboard.tui.source import GoTo
from callboard.tui.stage import Stage
from callboard.tui.tape import Tape
from tests.tui.support import SMALL, WIDE, Screen, drive, events_of, outage, recorded


def submitted(job: int, maps: int, pool: str = "", reduces: int = 0) -> JobSubmitted:
    return JobSubmitted(0, job, f"j{job}", "ann", pool, Priority.NORMAL, maps, reduces)


def dues(
    parts: dict[str, object], policy: str, *events: JobSubmitted | NodeLost
) -> dict[int, float]:
    """Fair shares on four nodes of two map slots and one reduce slot each."""
    nodes = tuple(NodeFacts(node, 0, 2, 1, 1.0) for node in range(4))
    started = RunStarted(0, "0", "made", policy, 1, {"parts": parts}, nodes)
    stage = Stage()
    for event in (started, *events):
        stage.observe(event)
    return Insight(started).dues(stage)


class TestFairShares:
    def test_the_smaller_demand_is_met_and_the_rest_goes_to_the_other(self) -> None:
        assert dues({}, "fifo", submitted(0, 3), submitted(1, 10)) == {0: 3, 1: 5}

    def test_reduces_are_due_from_slowstart_on(self) -> None:
        assert dues({}, "fifo", submitted(0, 1, reduces=9)) == {0: 1}

    def test_slots_of_nodes_given_up_are_nobodys(self) -> None:
        jobs = submitted(0, 3), submitted(1, 10)
        assert dues({}, "fifo", *jobs, NodeLost(1, 2, 0)) == {0: 3, 1: 3}

    def test_pools_are_those_that_the_scenario_sets_up(self) -> None:
        """Weights 3 and 1: six slots and two, whatever the policy."""
        parts: dict[str, object] = {"fair": {"pools": {"ads": {"weight": 3}, "bi": {"weight": 1}}}}
        jobs = submitted(0, 50, "ads"), submitted(1, 50, "bi")
        assert dues(parts, "fifo", *jobs) == {0: 6, 1: 2}

    @pytest.mark.parametrize("run", [("small-behind-giant", "hfsp"), ("rack-outage", "fifo")])
    def test_the_short_way_comes_to_what_the_fair_scheduler_says(
        self, run: tuple[str, str]
    ) -> None:
        """`Fair.claims`, with lost nodes, reduces that wait for slowstart, and priorities."""
        tape, seen = Tape(), 0
        for event in events_of(*run):
            tape.append(event)
        assert tape.started is not None
        found = Dues(tape.started)
        for index in range(500, len(tape), len(tape) // 40):
            stage = tape.stage_at(index)
            assert found.among_jobs(stage) == pytest.approx(found.among_pools(stage))
            seen += len(stage.jobs.live) > 1
        assert seen > 5

    def test_priorities_weigh(self) -> None:
        high = msgspec.structs.replace(submitted(0, 50), priority=Priority.HIGH)
        assert dues({}, "fifo", high, submitted(1, 50)) == pytest.approx({0: 16 / 3, 1: 8 / 3})

    def test_a_policy_of_ones_own_is_no_obstacle(self) -> None:
        assert dues({}, "./mine.py:Mine", submitted(0, 3)) == {0: 3}


@pytest.mark.parametrize("policy", ["sjf", 'sjf(size="oracle",sigma=0.7)'])
def test_the_size_that_is_expected_is_the_one_that_a_policy_goes_by(policy: str) -> None:
    """`sjf` compares jobs by nothing else, maps and reduces apart."""
    tape, compared = Tape(), 0
    for event in events_of("sticky-slots", policy):
        if isinstance(event, AttemptLaunched):
            assert tape.insight is not None
            row = tape.tip.jobs.rows[event.job]
            expected_ms = tape.insight.expected_ms(tape.tip, row) or 0
            if row.maps_ended:  # until then the policy goes by what it was told of others then
                assert event.why.score == pytest.approx(round(expected_ms) / 1000), event
                compared += 1
        tape.append(event)
    assert compared > 5


def test_the_true_size_is_what_its_tasks_took() -> None:
    """`short` has no reduces, and its maps take as long anywhere."""
    tape, short, took_ms = Tape(), set(), 0
    for event in events_of("two-jobs", "fair", "tasks.sigma=0.4"):
        tape.append(event)
        if isinstance(event, AttemptLaunched) and event.job == 1:
            short.add(event.attempt)
        if isinstance(event, AttemptEnded) and event.attempt in short:
            took_ms += event.at_ms - event.started_ms
    assert tape.insight is not None
    assert tape.insight.size_ms(tape.tip.jobs.rows[1]) == took_ms


def test_no_job_ends_before_the_least_that_it_could_take() -> None:
    tape = Tape()
    for event in outage():
        tape.append(event)
        if isinstance(event, JobFinished):
            assert tape.insight is not None
            stretch = tape.insight.stretch(tape.tip.jobs.rows[event.job], event.at_ms)
            assert stretch is not None
            assert stretch >= 1, event


def test_of_a_trace_that_is_gone_nothing_is_known() -> None:
    scenario: dict[str, object] = {
        "name": "x",
        "workload": {"kind": "swim", "path": "/nowhere/trace.tsv"},
    }
    started = RunStarted(0, "0", "x", "fair", 1, scenario, (NodeFacts(0, 0, 1, 1, 1.0),))
    stage = Stage()
    for event in (started, submitted(0, 3)):
        stage.observe(event)
    insight, row = Insight(started), stage.jobs.rows[0]
    assert (insight.size_ms(row), insight.stretch(row, 5)) == (None, None)


@pytest.mark.parametrize(
    ("rule", "whom"),
    [
        ("kill, pool ads lacks 3 of its 12", "pool ads"),
        ("preemptive, for job-7", "job-7"),
        ("global, a long job with more than its share of a full cluster", ""),
    ],
)
def test_who_preempts_is_told_by_the_reason(rule: str, whom: str) -> None:
    assert rival(Why(rule)) == whom


def test_a_score_says_what_it_is() -> None:
    assert standing(Why("fair in pool ads", 2, 0.5)) == "fair in pool ads, 0.5 running / weight"
    assert standing(Why("hfsp", 1, 32.5)) == "hfsp, 32.5 slot-s of virtual size"
    assert standing(Why("hfsp: training", 1, 60.0)) == "hfsp: training"
    assert standing(Why("Mine", 1, 4.0)) == "Mine"


@pytest.mark.parametrize(
    "key", [JobKey.DUE, JobKey.SCORE, JobKey.EXPECTED, JobKey.SIZE, JobKey.STRETCH, JobKey.GAVE_WAY]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_jobs_are_sorted_by_it_and_what_is_not_known_comes_last(key: JobKey, reverse: bool) -> None:
    tape = Tape()
    for event in events_of("two-jobs", "hfsp+preemptive"):
        tape.append(event)
    head, seen = Head(tape), 0
    names = {
        JobKey.DUE: "due",
        JobKey.SCORE: "score",
        JobKey.EXPECTED: "expected_ms",
        JobKey.SIZE: "size_ms",
        JobKey.STRETCH: "stretch",
        JobKey.GAVE_WAY: "preempted",
    }
    for part in range(1, 9):
        head.to_ms(tape.end_ms * part // 9)
        rows = head.frame(View(all_jobs=True, jobs_key=key, jobs_reverse=reverse)).jobs
        values = [getattr(row, names[key]) for row in rows]
        if key is JobKey.SCORE:
            values = [value if row.rank else None for row, value in zip(rows, values, strict=True)]
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=reverse)
        assert values[: len(known)] == known
        seen += len(known)
    assert seen


def test_the_table_shows_all_of_it_where_there_is_room() -> None:
    async def act(screen: Screen) -> None:
        screen.app.ask(GoTo(500_000))
        await screen.press("2", "z")
        head = next(line for line in screen.text().splitlines() if "name" in line)
        for title in ("fair", "score", "gave way", "size≈", "size°", "×least°", "progress"):
            assert title in head
        assert screen.view().with_dues

    drive(recorded(outage()), act, WIDE)


def test_what_nobody_sees_is_not_computed() -> None:
    """On a narrow screen the column makes way, and then no shares are asked for."""

    async def act(screen: Screen) -> None:
        screen.app.ask(GoTo(500_000))
        await screen.pilot.pause()
        shown = "fair" in screen.text().split("2 jobs")[1].splitlines()[1]
        assert screen.view().with_dues is shown

    for size in (SMALL, WIDE):
        drive(recorded(outage()), act, size)
