"""Progress of running attempts reaches the master by heartbeats, and only where it is wanted."""

from typing import Literal

import pytest

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.messages import AttemptProgress
from callboard.actors.worker.clock import Clock
from callboard.actors.worker.progress import ProgressClock
from callboard.scheduler.facts import Fact, Launched, Progressed
from callboard.scheduler.model import Millis, SlotKind
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.policy import Policy
from callboard.scheduler.view import ClusterView
from tests.support.world import IN_STEP, job, play

SENDS: tuple[Literal["all", "needed"], ...] = ("all", "needed")


class Listener(Fifo):
    """FIFO that wants to know how far the first attempt is, and writes down what it hears."""

    wants_progress = True
    followed = 1

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[int, Progressed]] = []
        self.believed: list[float] = []

    def wants_progress_of(self, launched: Launched) -> bool:
        return launched.attempt == self.followed

    def observe(self, fact: Fact, view: ClusterView) -> None:
        super().observe(fact, view)
        if isinstance(fact, Progressed):
            self.heard.append((view.now_ms, fact))
            self.believed += [a.progress for a in view.attempts() if a.attempt == fact.attempt]


def listen(only: JobSpec, send: Literal["needed", "all"] = "needed") -> Listener:
    order = Listener()
    heartbeats = Heartbeats(phase_grid_ms=3000, send=send)
    cluster = Cluster(nodes=1, racks=1, heartbeat=heartbeats)
    play([only], Policy(order), cluster=cluster)
    return order


@pytest.mark.parametrize("send", ["needed", "all"])
def test_a_maps_progress_by_hand(send: Literal["needed", "all"]) -> None:
    """Launched at 1, started at 2, 10 s long; the heartbeats of 3002, 6004 and 9006 say how far it
    is, at the master 1 ms later.  The other map, not followed, is never spoken of.
    """
    order = listen(job(0, maps=2, map_ms=10_000), send)
    told = [(at, fact.attempt, fact.ran_ms, fact.progress) for at, fact in order.heard]
    assert told == [
        (3003, 1, 3000, 0.3),
        (6005, 1, 6002, 0.6002),
        (9007, 1, 9004, 0.9004),
    ]
    assert order.believed == [0.3, 0.6002, 0.9004]


def test_a_reduces_progress_is_a_third_when_its_shuffle_has_ended() -> None:
    """No maps, so the reduce is attempt 1: launched at 1, started at 2; it hears at 4 that all
    outputs are there, shuffles 4 s for the last one until 4004, then works for 6 s.
    """
    order = listen(job(0, maps=0, reduces=1, shuffle_ms=4000, reduce_ms=6000))
    told = [(at, fact.ran_ms, fact.shuffled_ms) for at, fact in order.heard]
    assert told == [(3003, 3000, 3000), (6005, 6002, 4002), (9007, 9004, 4002)]
    shares = [fact.progress for _, fact in order.heard]
    assert shares == pytest.approx([0, 1 / 3 + 2000 / 9000, 1 / 3 + 5002 / 9000])
    assert all(fact.kind is SlotKind.REDUCE for _, fact in order.heard)


@pytest.mark.parametrize("tie_order", [None, *range(12)])
def test_a_followed_launch_that_meets_the_end_of_an_elided_heartbeat_changes_none(
    tie_order: int | None,
) -> None:
    """Latency 7, out-of-band heartbeats.  The heartbeat elided at 3014 would have its reply at
    3028, and that reply brings a followed launch; the first map ends at 3020, so that its heartbeat
    has to go out at 3028 too.  In whichever order the node hears of both, the journal is as if all
    were sent.
    """
    journals = []
    for send in SENDS:
        order = Listener()
        order.followed = 2
        heartbeats = Heartbeats(phase_grid_ms=3000, out_of_band=True, send=send)
        cluster = Cluster(nodes=1, racks=1, latency_ms=7, heartbeat=heartbeats)
        jobs = [job(0, map_ms=3006), job(1, map_ms=9000, submit_ms=1000)]
        run = play(jobs, Policy(order), cluster=cluster, tie_order=tie_order)
        journals.append((run.events, order.heard))
    assert journals[0] == journals[1]


@pytest.mark.parametrize("policy", ["fifo", "fair", "psbs", "hfsp"])
def test_no_heartbeat_tells_progress_unless_it_is_wanted(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[AttemptProgress] = []
    progress = ProgressClock.progress

    def made(self: ProgressClock, now_ms: Millis, clock: Clock) -> AttemptProgress:
        told.append(progress(self, now_ms, clock))
        return told[-1]

    monkeypatch.setattr(ProgressClock, "progress", made)
    play(
        [job(0, maps=8, map_ms=9000)], policy, cluster=Cluster(nodes=1, racks=1, heartbeat=IN_STEP)
    )
    assert bool(told) == (policy == "hfsp")


def test_hfsp_learns_from_progress_alone() -> None:
    """Two maps of 200 s in training, Δ = 60 s: the heartbeat of 60040, the first after 60 s of
    running, arrives at 60041 and ends the training, long before a task has ended, with s̃ = 200 s.
    """
    cluster = Cluster(nodes=1, racks=1, heartbeat=IN_STEP)
    sizes = {}
    for until_ms in (60_040, 60_041):
        order = Hfsp(Hfsp.Params(t=2))
        play([job(0, maps=6, map_ms=200_000)], Policy(order), cluster=cluster, until_ms=until_ms)
        sizes[until_ms] = order.clusters[SlotKind.MAP].size_ms(0, until_ms)
    assert sizes[60_040] == 0.0  # two slots took 30 s to age away s0
    done = 60_038 / 200_000
    assert sizes[60_041] == pytest.approx(200_000 * (4 + 2 * (1 - done)), abs=10)
