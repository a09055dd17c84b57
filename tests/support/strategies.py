"""Small worlds whose times are short and round, so that much falls on the same instant."""

from typing import NamedTuple

import msgspec
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Disturb,
    Drain,
    Drift,
    Flaky,
    Hang,
    KillJob,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    ResumeMaster,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
    StickLaunches,
    SwitchPolicy,
)
from callboard.fairness.strategies import LOCALITY_SPELLINGS, clusters
from callboard.scheduler.model import Millis, NodeId, Priority, SlotKind
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.preempt import HASTY_PREEMPTIONS, KillNewestParams, hasty_policy
from tests.support.speculate import HASTY_SPECULATIONS
from tests.support.world import PlayedRun, job, play

MANY_JOBS: st.SearchStrategy[list[JobSpec]] = st.lists(
    st.builds(
        job,
        st.just(0),
        submit_ms=st.integers(0, 40).map(lambda n: 500 * n),
        maps=st.integers(0, 9),
        map_ms=st.sampled_from([0, 1, 998, 1000, 3002, 7000]),
        reduces=st.integers(0, 3),
        shuffle_ms=st.sampled_from([0, 600, 3002]),
        reduce_ms=st.sampled_from([0, 500, 3002]),
        priority=st.sampled_from(Priority),
        user=st.sampled_from(["ann", "bob"]),
        factors=st.sampled_from([(), (("io", 0.25),), (("io", 3.0),)]),
    ),
    min_size=1,
    max_size=6,
)


def _numbered(drawn: list[JobSpec]) -> list[JobSpec]:
    drawn = sorted(drawn, key=lambda each: each.submit_ms)
    return [msgspec.structs.replace(each, job=number) for number, each in enumerate(drawn)]


WORKLOADS: st.SearchStrategy[list[JobSpec]] = MANY_JOBS.map(_numbered)
"""One to six jobs by submit time, numbered from 0."""

STARVING_JOBS: st.SearchStrategy[list[JobSpec]] = st.lists(
    st.builds(
        job,
        st.just(0),
        submit_ms=st.integers(0, 40).map(lambda n: 500 * n),
        maps=st.integers(1, 9),
        map_ms=st.sampled_from([7000, 20_000, 41_000]),
        reduces=st.integers(0, 2),
        reduce_ms=st.sampled_from([500, 30_000]),
        priority=st.sampled_from(Priority),
        user=st.sampled_from(["ann", "bob"]),
        factors=st.sampled_from([(), (("io", 4.0),)]),
    ),
    min_size=2,
    max_size=5,
).map(_numbered)
"""Jobs of unequal rank with tasks so long that somebody starves: for the rules of preemption."""

CLUSTERS: st.SearchStrategy[Cluster] = clusters()

HASTY_COSHH = (
    'coshh(size="oracle",users={ann = {weight = 2.5, min_maps = 2, min_reduces = 1}},'
    "classes=2,memory_s=3,change=0)"
)
"""Classes that have to be joined, work that is soon forgotten, programs solved at every turn."""

# HFSP extrapolates early, so that progress decides something; exact sizes need no learning.
SOME_ORDERS = (
    *sorted(ORDERS),
    "hfsp(t=2,delta=2.0)",
    'srpt(size="oracle")',
    HASTY_COSHH,
    "hybrid(margin=0)",
)


class DrawnWorld(NamedTuple):
    """All that a run hangs on."""

    jobs: list[JobSpec]
    cluster: Cluster
    tasks: Tasks
    policy: str
    rule: str | KillNewestParams
    speculation: str
    tie_order: int | None
    until_ms: Millis | None
    seed: int
    script: tuple[ScheduledFault, ...] = ()

    def play(self, policy: Policy | None = None) -> PlayedRun:
        """Play it, under its own policy or another."""
        return play(
            self.jobs,
            policy or hasty_policy(self.policy, self.rule, self.speculation),
            cluster=self.cluster,
            tasks=self.tasks,
            seed=self.seed,
            tie_order=self.tie_order,
            until_ms=self.until_ms,
            script=self.script,
        )


WORLDS: st.SearchStrategy[DrawnWorld] = st.builds(
    DrawnWorld,
    jobs=WORKLOADS | STARVING_JOBS,
    cluster=CLUSTERS,
    tasks=st.builds(
        Tasks,
        sigma=st.sampled_from([0.0, 0.3]),
        slowstart=st.sampled_from([0.0, 0.05, 0.8, 1.0]),
        straggler_share=st.sampled_from([0.0, 0.0, 0.3]),
        straggler_factor=st.just(3.0),
        timeout_ms=st.sampled_from([7000, 600_000]),
        input_wait_ms=st.sampled_from([0, 8000, 600_000]),
    ),
    policy=st.tuples(st.sampled_from(SOME_ORDERS), st.sampled_from(("", *LOCALITY_SPELLINGS))).map(
        "".join
    ),
    rule=st.sampled_from(HASTY_PREEMPTIONS)
    | st.builds(
        KillNewestParams,
        every_ms=st.sampled_from([100, 1000, 3002, 10_000]),
        times=st.integers(1, 12),
        kind=st.sampled_from([None, *SlotKind]),
        suspends=st.booleans(),
    ),
    speculation=st.sampled_from(["no_speculation", *HASTY_SPECULATIONS]),
    tie_order=st.sampled_from([None, 1, 2]),
    until_ms=st.none() | st.integers(0, 30_000),
    seed=st.integers(0, 9),
    script=st.just(()),
)
"""Whole small runs."""

LINK_CONDITIONS: st.SearchStrategy[LinkConditions] = st.builds(
    LinkConditions,
    cut=st.booleans(),
    loss=st.sampled_from([0.0, 0.0, 0.3]),
    twice=st.sampled_from([0.0, 0.5]),
    delay_ms=st.sampled_from([0, 0, 700, 4000]),
    reordered=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
)


OTHER_POLICIES = (
    *sorted(ORDERS),
    "fair+delay+kill",
    "hfsp+preemptive",
    "fifo+late",
    "fair+mantri",
    'fair(pool_by="pool")+kill',
)
"""Policies that may be put in force in the middle of a run."""

HEALED_MS = 60_000
"""From here on nothing happens any more, and all that did is undone."""


def _scheduled_faults(node: st.SearchStrategy[NodeId]) -> st.SearchStrategy[ScheduledFault]:
    """One thing at one time, now and then just when a heartbeat is due or under way."""
    faults: list[st.SearchStrategy[AnyFault]] = [
        st.builds(Crash, node),
        st.builds(Restart, node),
        st.builds(PauseNode, node),
        st.builds(ResumeNode, node),
        st.builds(Slow, node, st.sampled_from([0.5, 1.0, 3.0])),
        st.builds(Disturb, node, LINK_CONDITIONS, LINK_CONDITIONS),
        st.builds(Flaky, node, st.sampled_from([0.3, 0.9])),
        st.builds(Hang, node, st.sampled_from([0.3, 0.9]), st.sampled_from([None, 0.0, 0.5, 1.0])),
        st.builds(StickLaunches, node, st.sampled_from([0.5, 1.0])),
        st.builds(Drift, node, st.sampled_from([0.1, 0.5, 1.0, 1.01, 4.0])),
        st.builds(Drain, node, st.booleans()),
        st.builds(KillJob, st.integers(0, 3)),
        st.builds(SetPriority, st.integers(0, 3), st.sampled_from(Priority)),
        st.builds(SetPool, st.integers(0, 3), st.sampled_from(["", "a", "a/b"])),
        st.builds(SwitchPolicy, st.sampled_from(OTHER_POLICIES)),
        st.sampled_from([PauseMaster(), ResumeMaster()]),
        st.builds(RestartMaster, st.booleans()),
        st.builds(Partition, node, st.lists(node, max_size=3).map(tuple)),
    ]
    whole = st.sampled_from([0, 1, 2, 500, 998, 1000, 3002, 3004, 6000, 7001])
    return st.builds(ScheduledFault, whole | st.integers(0, 40_000), st.one_of(faults))


def _healing(nodes: int) -> tuple[ScheduledFault, ...]:
    """Every node up, at its own speed and within reach."""
    nodes_healed = tuple(
        ScheduledFault(HEALED_MS, fault)
        for node in range(nodes)
        for fault in (
            Restart(node),
            ResumeNode(node),
            Slow(node, 1.0),
            Disturb(node, HEALTHY, HEALTHY),
            Partition(node, ()),
            Flaky(node, 0.0),
            Hang(node, 0.0),
            StickLaunches(node, 0.0),
            Drift(node, 1.0),
            Drain(node, False),
        )
    )
    return (ScheduledFault(HEALED_MS, ResumeMaster()), *nodes_healed)


@st.composite
def _with_faults(draw: st.DrawFn) -> DrawnWorld:
    world = draw(WORLDS)
    nodes = world.cluster.node_count()
    scheduled = draw(st.lists(_scheduled_faults(st.integers(0, nodes - 1)), max_size=6))
    heartbeats = msgspec.structs.replace(
        world.cluster.heartbeat, expiry_ms=draw(st.sampled_from([3000, 9000, 30_000, 600_000]))
    )
    return world._replace(
        cluster=msgspec.structs.replace(world.cluster, heartbeat=heartbeats),
        until_ms=world.until_ms or 150_000,
        script=(*scheduled, *_healing(nodes)),
    )


WORLDS_WITH_FAULTS: st.SearchStrategy[DrawnWorld] = _with_faults()
"""Whole small runs in which things happen; some nodes are lost again and again, so all have an
end.
"""
