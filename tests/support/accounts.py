"""What must add up in every drawn run, besides the rules."""

from callboard.actors.config import Cluster, node_facts
from callboard.actors.vocabulary.events import RunEnded, RunStarted
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.summary import Summary
from tests.support.preempt import NON_KILLING_RULES
from tests.support.strategies import DrawnWorld
from tests.support.world import PlayedRun


def check_calm_accounts(world: DrawnWorld, run: PlayedRun) -> None:
    """Of a run in which nothing fails (S9): no slot is down, nothing is wasted without a reason,
    and a whole run has done every job.
    """
    whole = world.until_ms is None
    copying = world.speculation != "no_speculation"
    summary = summary_of_run(run, world.cluster)
    for account in (summary.slot_ms.map, summary.slot_ms.reduce):
        assert not account.down
        assert not (whole and account.unfinished and not copying)
    assert (summary.slot_ms.all.wasted > 0) <= (world.rule not in NON_KILLING_RULES or copying)
    assert summary.speculation.won <= summary.speculation.speculative_attempts
    assert copying or not summary.speculation.speculative_attempts
    assert not whole or summary.jobs.completed == len(world.jobs)


def check_accounts(world: DrawnWorld, run: PlayedRun) -> None:
    """Of any run: every job that came is accounted for."""
    jobs = summary_of_run(run, world.cluster).jobs
    assert jobs.submitted == jobs.completed + jobs.failed + jobs.killed + jobs.unfinished


def summary_of_run(run: PlayedRun, cluster: Cluster) -> Summary:
    """Of the run's events between a header and an end, as a journal has them."""
    kernel, nodes = run.kernel, node_facts(cluster)
    first = RunStarted(0, "0", "test", "test", 1, {}, nodes)
    last = RunEnded(kernel.now_ms, "complete", kernel.messages, kernel.ties, kernel.digest())
    return Metrics.of([first, *run.events, last]).summary()
