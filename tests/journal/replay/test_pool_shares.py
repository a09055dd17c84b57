"""Slots held and due by pool over time, on real runs."""

from functools import cache

import msgspec
import numpy as np
import pytest

from callboard.actors.vocabulary.events import (
    AnyEvent,
    ContactLost,
    ContactRegained,
    JobSubmitted,
)
from callboard.experiments.pages.charts.chart_run import ChartRun, chart_run
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.replay.pool_shares import ALL_JOBS, PoolShares, ShareSampler
from callboard.journal.run_state import RunState
from callboard.scheduler.model import KINDS, Priority
from tests.journal.replay.support import counts_at
from tests.journal.stories import START


@cache
def played(scenario: str, policy: str, *overrides: str) -> ChartRun:
    events: list[AnyEvent] = []
    spec = msgspec.structs.replace(load_run(scenario, overrides), policy=policy)
    Simulation(spec, [events.append]).run()
    return chart_run(events)


def shares_of(run: ChartRun) -> PoolShares:
    shares = run.slot_history.shares
    assert shares is not None
    return shares


def test_however_long_the_run_samples_are_few_and_even() -> None:
    run = played("rack-outage", "fair")
    shares = shares_of(run)
    assert run.horizon_ms > 512_000
    assert 256 < len(shares.at_ms) <= 514
    steps = np.diff(shares.at_ms[:-1])
    assert len(set(steps.tolist())) == 1
    assert shares.at_ms[-1] == run.horizon_ms


@pytest.mark.soak
@pytest.mark.parametrize(
    ("scenario", "policy"), [("rack-outage", "fair"), ("preemption-storm", "fair+suspend")]
)
def test_held_slots_are_those_of_the_attempts(scenario: str, policy: str) -> None:
    run = played(scenario, policy)
    shares, attempts = shares_of(run), run.slot_history.attempts
    busy = sum(counts_at(attempts.busy_slots(kind, run.horizon_ms), shares.at_ms) for kind in KINDS)
    # At a sample's own moment events may follow that are in the steps already.
    before = sum(
        counts_at(attempts.busy_slots(kind, run.horizon_ms), np.maximum(shares.at_ms - 1, 0))
        for kind in KINDS
    )
    held = shares.held.sum(axis=0)
    assert ((held == busy) | (held == before)).all()


@pytest.mark.soak
def test_pools_are_those_that_fair_shares_by() -> None:
    """The scenario's pools are by user, with one that has a min share of 80 slots."""
    shares = shares_of(played("preemption-storm", "fair+kill"))
    assert shares.pools == ("ann", "bob", "cid", "dan", "production")
    assert shares.due[shares.pools.index("production")].max() == pytest.approx(70)
    assert (shares.due.sum(axis=0) <= 100 + 1e-9).all()


def test_nodes_that_a_scheduler_of_several_has_given_up_have_no_slots_due() -> None:
    """Of two nodes with a map slot each; the screen's fair shares knew."""
    run = RunState()
    sampler = ShareSampler(run)
    submitted = JobSubmitted(0, 0, "ads", "ann", "", Priority.NORMAL, 9, 0)
    for event in (START, submitted, ContactLost(500, 1, 1, 100), ContactRegained(900, 1, 1)):
        sampler.take_due_samples(event)
        sampler.count_held_slots(event, run.observe(event))
        if isinstance(event, ContactLost):
            assert sampler.table().due[0, -1] == 1
    assert sampler.table().due[0, -1] == 2


def test_without_pools_and_users_all_jobs_are_one_group() -> None:
    shares = shares_of(played("two-jobs", "fifo"))
    assert shares.pools == (ALL_JOBS,)
    assert shares.held.max() == shares.due.max() == 5
