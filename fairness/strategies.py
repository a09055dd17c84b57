"""Hypothesis strategies for everything that a run depends on, as the Structs of scenario files.

Times are short and round, so that much falls on the same instant; small comes first, so that
what is found shrinks to few nodes, few jobs and short times.  Every drawn scenario is valid.
Whole numbers are below 100: beyond, Hypothesis tries constants that it finds in a user's modules,
and a seed would not give the same scenarios everywhere.
"""

from functools import cache

import msgspec
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.fairness.scenario_family import WITHOUT_FAULTS, ScenarioFamily
from callboard.scenarios import timeline
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload, PriorityName
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.timeline import NodesEntry, Timeline
from callboard.scenarios.validation import slots_per_node
from callboard.scheduler.policy import MisfitError, PolicySpecError
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.registry.shipped import ORDERS

LOCALITY_SPELLINGS = ("", "+delay", "+delay(node=1,rack=0.4)", "+delay(skips=2)")
PREEMPTION_SPELLINGS = (
    "",
    "+kill(interval_s=2,min_share_timeout_s=1,fair_share_timeout_s=2)",
    "+preemptive",
)
SPECULATION_SPELLINGS = ("", "+naive", "+late", "+mantri")
PRIORITIES: tuple[PriorityName, ...] = ("normal", "high", "very_high", "low", "very_low")


@cache
def heartbeats() -> st.SearchStrategy[Heartbeats]:
    """Heartbeats of both versions of Hadoop, at many intervals, with and without its options."""
    return st.builds(
        Heartbeats,
        profile=st.sampled_from(["mr1-1.0", "mr1-1.2.1"]),
        interval_ms=st.sampled_from([None, None, 500, 1000, 3333]),
        phase_grid_ms=st.sampled_from([1, 100, 1000, 3000]),
        out_of_band=st.booleans(),
        tasks_per_heartbeat=st.sampled_from(["many", "one"]),
    )


@cache
def node_groups() -> st.SearchStrategy[tuple[NodeGroup, ...]]:
    """At most one group of nodes that differ."""
    group = st.builds(
        NodeGroup,
        nodes=st.integers(1, 2),
        map_slots=st.sampled_from([None, 0, 3]),
        reduce_slots=st.sampled_from([None, 0, 2]),
        speed=st.sampled_from([0.5, 1.0, 3.0]),
        node_type=st.sampled_from(["", "io"]),
    )
    return st.lists(group, max_size=1).map(tuple)


@cache
def clusters(
    nodes: int = 6,
    map_slots: int = 3,
    heartbeat_options: st.SearchStrategy[Heartbeats] | None = None,
    others: st.SearchStrategy[tuple[NodeGroup, ...]] | None = None,
    latencies_ms: tuple[int, ...] = (1, 1, 7, 50, 1500),
    min_slots: int = 1,
) -> st.SearchStrategy[Cluster]:
    """Clusters of up to `nodes` plain nodes with up to `map_slots` map slots each."""
    drawn = st.builds(
        Cluster,
        nodes=st.integers(1, nodes),
        racks=st.just(1) | st.just(2),
        map_slots=st.integers(min_slots, map_slots),
        reduce_slots=st.integers(1, 2),
        latency_ms=st.sampled_from(latencies_ms),
        replication=st.integers(1, 4),
        heartbeat=heartbeats() if heartbeat_options is None else heartbeat_options,
        group=node_groups() if others is None else others,
    )
    return drawn.map(lambda c: c if c.nodes > 1 else msgspec.structs.replace(c, racks=1))


@cache
def tasks(*, noise: bool = True, locality_matters: bool = True) -> st.SearchStrategy[Tasks]:
    """How long tasks take: with noise, or exactly as their jobs say."""
    return st.builds(
        Tasks,
        sigma=st.sampled_from([0.0, 0.3] if noise else [0.0]),
        slowstart=st.sampled_from([0.05, 0.0, 0.8, 1.0]),
        straggler_share=st.sampled_from([0.0, 0.0, 0.3] if noise else [0.0]),
        straggler_factor=st.just(5.0),
        rack_factor=st.just(1.25 if locality_matters else 1.0),
        off_rack_factor=st.just(2.0 if locality_matters else 1.0),
    )


@cache
def seconds() -> st.SearchStrategy[float]:
    """Whole and half seconds up to 20, which shrink to 0."""
    return st.integers(0, 40).map(lambda halves: halves / 2)


@cache
def job_entries(
    family: ScenarioFamily = WITHOUT_FAULTS, node_types: tuple[str, ...] = ()
) -> st.SearchStrategy[ListedJob]:
    """One job of a file; on nodes of these types its tasks may take longer."""
    some = family.reduces
    return st.builds(
        ListedJob,
        at_s=seconds() if family.arrivals else st.just(0.0),
        maps=st.integers(1, family.maps),
        map_s=st.sampled_from(family.lengths_s),
        reduces=st.integers(0, 2) if some else st.just(0),
        shuffle_s=st.sampled_from(family.shuffles_s) if some else st.just(0.0),
        reduce_s=st.sampled_from([0.0, 0.5, 5.0]) if some else st.just(0.0),
        user=st.sampled_from(["user", "ann", "bob"]),
        pool=st.sampled_from(family.pools or ("",)),
        priority=st.sampled_from(PRIORITIES if family.priorities else PRIORITIES[:1]),
        on=st.sampled_from([{}, *({kind: 3.0} for kind in node_types)]),
        **_repeat_fields(family),
    )


def _repeat_fields(family: ScenarioFamily) -> dict[str, st.SearchStrategy[object]]:
    """How often a job comes; nothing is drawn where that is once."""
    if family.stream_length == 1:
        return {}
    return {
        "count": st.sampled_from([1, family.stream_length]),
        "every_s": st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    }


@cache
def workloads(
    family: ScenarioFamily = WITHOUT_FAULTS, node_types: tuple[str, ...] = ()
) -> st.SearchStrategy[ListedWorkload]:
    """A few listed jobs."""
    entries = st.lists(job_entries(family, node_types), min_size=1, max_size=family.jobs)
    return st.builds(ListedWorkload, job=entries.map(tuple))


ORDER_SPELLINGS = (
    *sorted(ORDERS),
    "hfsp(t=2,delta=2)",
    'srpt(size="oracle")',
    'fair(pool_by="user")',
)


@cache
def policies() -> st.SearchStrategy[str]:
    """Spellings of policies, of any parts that go together."""
    parts = (ORDER_SPELLINGS, LOCALITY_SPELLINGS, PREEMPTION_SPELLINGS, SPECULATION_SPELLINGS)
    return st.tuples(*map(st.sampled_from, parts)).map("".join).filter(_is_valid_policy)


def _is_valid_policy(spelling: str) -> bool:
    try:
        make_policy(spelling)
    except (MisfitError, PolicySpecError):
        return False
    return True


ENTRY_SPAN_S = 12
"""Seconds that each entry of a drawn timeline has for itself, so that no two meet."""


@cache
@st.composite
def timelines(draw: st.DrawFn, nodes: int, *, only_crashes: bool = False) -> Timeline:
    """Faults of every kind that ends, one after the other, on nodes that exist."""
    number = draw(st.integers(0, 4))
    entries = _crash_entries(nodes) if only_crashes else _entries_of_any_fault(nodes)
    drawn = draw(st.lists(entries, min_size=number, max_size=number))
    offsets = (entry.at_s if isinstance(entry.at_s, int | float) else 0 for entry in drawn)
    later = (
        msgspec.structs.replace(entry, at_s=place * ENTRY_SPAN_S + offset)
        for place, (entry, offset) in enumerate(zip(drawn, offsets, strict=True))
    )
    return tuple(later)  # type: ignore[arg-type]


@cache
def _crash_entries(nodes: int) -> st.SearchStrategy[timeline.TimelineEntry]:
    return st.builds(
        timeline.CrashEntry,
        at_s=st.integers(0, 9).map(float),
        for_s=st.sampled_from([1.0, 2.5]),
        nodes=st.integers(0, nodes - 1).map(lambda n: f"node-{n}"),
    )


@cache
def _entries_of_any_fault(nodes: int) -> st.SearchStrategy[timeline.TimelineEntry]:
    """One entry; it begins within four seconds and lasts at most eight."""
    at, lasts = st.integers(0, 4).map(float), st.sampled_from([1.0, 4.0, 8.0])
    node = st.integers(0, nodes - 1).map(lambda n: f"node-{n}")

    def entry_of_kind(
        kind: type[NodesEntry], **fields: st.SearchStrategy[object]
    ) -> st.SearchStrategy[NodesEntry]:
        return st.builds(kind, at_s=at, for_s=lasts, nodes=node, **fields)

    links = entry_of_kind(
        timeline.LinkEntry,
        loss=st.sampled_from([0.1, 0.3]),
        duplicate=st.sampled_from([0.0, 0.5]),
        delay_s=st.sampled_from([0.0, 0.7, 4.0]),
        way=st.sampled_from(["both", "up", "down"]),
    )
    return st.one_of(
        entry_of_kind(timeline.PauseEntry),
        entry_of_kind(timeline.CrashEntry),
        entry_of_kind(timeline.CrashEntry),
        entry_of_kind(timeline.SlowEntry, factor=st.sampled_from([3.0, 0.5])),
        links,
        entry_of_kind(timeline.LinkEntry, cut=st.just(True)),
        entry_of_kind(timeline.FlakyEntry, failing=st.sampled_from([0.3, 0.9])),
        entry_of_kind(timeline.DrainEntry),
        entry_of_kind(timeline.SplitEntry) if nodes > 1 else st.nothing(),  # from the others
        st.builds(timeline.MasterPauseEntry, at_s=at, for_s=lasts),
        st.builds(
            timeline.MasterRestartEntry, at_s=st.integers(0, 9).map(float), recover=st.booleans()
        ),
    )


@cache
def _heartbeats_of(family: ScenarioFamily) -> st.SearchStrategy[Heartbeats]:
    if family.prompt:
        return st.just(Heartbeats(interval_ms=20, phase_grid_ms=20, out_of_band=True))
    if not family.heartbeat_options:
        return st.builds(
            Heartbeats,
            interval_ms=st.sampled_from([None, 500, 1000]),
            phase_grid_ms=st.sampled_from([3000, 1000, 1]),
            out_of_band=st.booleans(),
        )
    return heartbeats()


@cache
@st.composite
def scenarios(draw: st.DrawFn, family: ScenarioFamily = WITHOUT_FAULTS) -> Scenario:
    """A whole scenario of the family."""
    others = node_groups() if family.heterogeneous else st.just(())
    far = (1,) if family.prompt else (1, 1, 7, 50, 1500)
    options = _heartbeats_of(family)
    cluster = draw(clusters(family.nodes, family.slots, options, others, far, family.min_slots))
    nodes = cluster.node_count()
    happens = draw(timelines(nodes, only_crashes=family.only_crashes)) if family.faults else ()
    if happens:
        expiry_ms = 2 * cluster.longest_heartbeat_cycle_ms() + draw(
            st.sampled_from([0, 3000, 30_000])
        )
        heartbeat = msgspec.structs.replace(cluster.heartbeat, expiry_ms=expiry_ms)
        cluster = msgspec.structs.replace(cluster, heartbeat=heartbeat)
    kinds = tuple(sorted({group.node_type for group in cluster.group} - {""}))
    if not any(reduce_slots for _, reduce_slots in slots_per_node(cluster)):
        family = msgspec.structs.replace(family, reduces=False)
    return Scenario(
        name="drawn",
        seed=draw(st.integers(1, 9)),
        policies=("fair",),
        cluster=cluster,
        tasks=draw(tasks(noise=family.noise, locality_matters=family.locality_matters)),
        workload=draw(workloads(family, kinds)),
        timeline=happens,
    )
