"""What the screen says of jobs beyond counts: it must be what schedulers and slots make of it."""

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptLaunched,
    JobFinished,
    JobSubmitted,
    KillOrdered,
    NodeFacts,
    NodeLost,
    Outcome,
    RunStarted,
)
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.solo_runs import solo_times
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slowdown import slowdowns
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.detail_result import result_facts
from callboard.journal.replay.fair_share import FairShares
from callboard.journal.replay.frame import JobRow, JobSortKey, JobStatus, View
from callboard.journal.replay.insight import Insight
from callboard.journal.replay.job_rows import InsightColumns
from callboard.journal.replay.recording import Recording
from callboard.scheduler.model import MAPS, Locality, Priority, SlotKind
from callboard.scheduler.reasons import (
    Claimant,
    JobClaimant,
    PoolClaimant,
    Reason,
    UserClaimant,
    Why,
)
from tests.journal.replay.support import OUTAGE, events_of, outage


def submitted(job: int, maps: int, pool: str = "", reduces: int = 0) -> JobSubmitted:
    return JobSubmitted(0, job, f"j{job}", "ann", pool, Priority.NORMAL, maps, reduces)


def dues(
    parts: dict[str, object], policy: str, *events: JobSubmitted | NodeLost
) -> dict[int, float]:
    """Fair shares on four nodes of two map slots and one reduce slot each."""
    nodes = tuple(NodeFacts(node, 0, 2, 1, 1.0) for node in range(4))
    started = RunStarted(0, "0", "made", policy, 1, {"parts": parts}, nodes)
    cluster = ClusterState()
    for event in (started, *events):
        cluster.observe(event)
    return Insight(started).fair_shares(cluster)


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
        recording, seen = Recording(oracle_of_journal), 0
        for event in events_of(*run):
            recording.append(event)
        assert recording.started is not None
        found = FairShares(recording.started)
        for index in range(500, len(recording), len(recording) // 40):
            cluster = recording.state_at(index)
            assert found.among_jobs(cluster) == pytest.approx(found.among_pools(cluster))
            seen += len(cluster.run.live) > 1
        assert seen > 5

    def test_priorities_weigh(self) -> None:
        high = msgspec.structs.replace(submitted(0, 50), priority=Priority.HIGH)
        assert dues({}, "fifo", high, submitted(1, 50)) == pytest.approx({0: 16 / 3, 1: 8 / 3})

    def test_a_policy_of_ones_own_is_no_obstacle(self) -> None:
        assert dues({}, "./mine.py:Mine", submitted(0, 3)) == {0: 3}


@pytest.mark.parametrize("policy", ["psjf", 'psjf(size="oracle",sigma=0.7)'])
def test_the_size_that_is_expected_is_the_one_that_a_policy_goes_by(policy: str) -> None:
    """`psjf` compares jobs by nothing else, maps and reduces apart."""
    recording, compared = Recording(oracle_of_journal), 0
    for event in events_of("sticky-slots", policy):
        if isinstance(event, AttemptLaunched):
            assert recording.insight is not None
            row = recording.last_state.run.jobs[event.job]
            expected_ms = recording.insight.expected_size_ms(recording.last_state, row) or 0
            # Until then the policy goes by what it was told of others then.
            if row.phases[MAPS].succeeded:
                assert event.why.score == pytest.approx(round(expected_ms) / 1000), event
                compared += 1
        recording.append(event)
    assert compared > 5


def test_the_true_size_is_what_its_tasks_took() -> None:
    """`short` has no reduces, and its maps take as long anywhere."""
    recording, short, took_ms = Recording(oracle_of_journal), set(), 0
    for event in events_of("two-jobs", "fair", "tasks.sigma=0.4"):
        recording.append(event)
        if isinstance(event, AttemptLaunched) and event.job == 1:
            short.add(event.attempt)
        if isinstance(event, AttemptEnded) and event.attempt in short:
            took_ms += event.at_ms - event.started_ms
    assert recording.insight is not None
    assert recording.insight.size_ms(recording.last_state.run.jobs[1]) == took_ms


def test_no_job_ends_before_the_least_that_it_could_take() -> None:
    recording = Recording(oracle_of_journal)
    for event in outage():
        recording.append(event)
        if isinstance(event, JobFinished):
            assert recording.insight is not None
            slowdown = recording.insight.slowdown(
                recording.last_state.run.jobs[event.job], event.at_ms
            )
            assert slowdown is not None
            assert slowdown >= 1, event


def test_of_a_job_that_has_not_ended_the_slowdown_is_the_least_that_it_can_come_to() -> None:
    """At least 1, as the glossary has it, and never more than it comes to; of a job that has failed
    there is none.
    """
    recording = Recording(oracle_of_journal)
    for event in outage():
        recording.append(event)
    insight = recording.insight
    assert insight is not None
    for row in recording.last_state.run.jobs.values():
        first_ms, finished = row.submission.at_ms, row.finished
        assert finished is not None
        result = insight.slowdown(row, recording.end_ms)
        row.finished = None
        rising = [insight.slowdown(row, at) for at in (first_ms, first_ms + 1, finished.at_ms)]
        assert rising == [1, 1, result]
        row.finished = msgspec.structs.replace(finished, outcome=Outcome.FAILED)
        assert insight.slowdown(row, recording.end_ms) is None


def test_slowdown_is_what_run_tells() -> None:
    """One word, one number: of each job, on the screen and in `run --slowdown`."""
    recording, spec = Recording(oracle_of_journal), load_run(str(OUTAGE))
    for event in outage():
        recording.append(event)
    assert recording.insight is not None
    told = slowdowns(Metrics.of(outage()).jobs(), solo_times(spec))
    jobs = recording.last_state.run.jobs
    shown = [recording.insight.slowdown(jobs[job], 0) for job in told.job.tolist()]
    assert shown == pytest.approx(told.slowdown.tolist())
    facts = dict(result_facts(recording, recording.last_state, recording.end_ms))
    assert told.statistics.mean is not None
    assert facts["slowdown"].startswith(f"mean {told.statistics.mean:.1f}, most ")


def test_of_a_trace_that_is_gone_nothing_is_known() -> None:
    scenario: dict[str, object] = {
        "name": "x",
        "workload": {"kind": "swim", "path": "/nowhere/trace.tsv"},
    }
    started = RunStarted(0, "0", "x", "fair", 1, scenario, (NodeFacts(0, 0, 1, 1, 1.0),))
    cluster = ClusterState()
    for event in (started, submitted(0, 3)):
        cluster.observe(event)
    insight, row = Insight(started, oracle_of_journal), cluster.run.jobs[0]
    assert (insight.size_ms(row), insight.slowdown(row, 5)) == (None, None)


@pytest.mark.parametrize(
    ("reason", "claimant", "by"),
    [
        (Reason.STARVATION, PoolClaimant("ads"), "pool ads"),
        (Reason.STARVATION, UserClaimant("ann"), "user ann"),
        (Reason.OUTRANKED, JobClaimant(7), "job-7"),
        (Reason.LONG_JOB, None, ""),
    ],
)
def test_who_preempts_is_told_by_the_reason(
    reason: Reason, claimant: Claimant | None, by: str
) -> None:
    started = RunStarted(0, "0", "x", "fair", 1, {}, (NodeFacts(0, 0, 1, 1, 1.0),))
    cluster, why = ClusterState(), Why(reason, "kill", 1, 1.0, claimant)
    launched = AttemptLaunched(
        6, 1, 0, SlotKind.MAP, 0, 0, 0, Locality.NODE, Why(Reason.BY_KEY, "fair", 1)
    )
    for event in (started, submitted(0, 3), launched, KillOrdered(9, 1, why)):
        cluster.observe(event)
    columns = InsightColumns(Insight(started), cluster, 10, with_fair_shares=False)
    line = JobRow(0, "x", "", "", JobStatus.RUNNING, (3, 0), (0, 0), (1, 0), 0, 6, 10)
    assert columns.with_insight(line, cluster.run.jobs[0]).by == by


@pytest.mark.parametrize(
    "key",
    [
        JobSortKey.FAIR_SHARE,
        JobSortKey.SCORE,
        JobSortKey.EXPECTED,
        JobSortKey.SIZE,
        JobSortKey.SLOWDOWN,
        JobSortKey.PREEMPTIONS,
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_jobs_are_sorted_by_it_and_what_is_not_known_comes_last(
    key: JobSortKey, reverse: bool
) -> None:
    recording = Recording(oracle_of_journal)
    for event in events_of("two-jobs", "hfsp+preemptive"):
        recording.append(event)
    cursor, seen = Cursor(recording), 0
    names = {
        JobSortKey.FAIR_SHARE: "fair_share",
        JobSortKey.SCORE: "score",
        JobSortKey.EXPECTED: "expected_ms",
        JobSortKey.SIZE: "size_ms",
        JobSortKey.SLOWDOWN: "slowdown",
        JobSortKey.PREEMPTIONS: "preempted",
    }
    for part in range(1, 9):
        cursor.go_to_ms(recording.end_ms * part // 9)
        rows = cursor.frame(View(all_jobs=True, jobs_key=key, jobs_reverse=reverse)).jobs
        values = [getattr(row, names[key]) for row in rows]
        if key is JobSortKey.SCORE:
            values = [value if row.rank else None for row, value in zip(rows, values, strict=True)]
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=reverse)
        assert values[: len(known)] == known
        seen += len(known)
    assert seen
