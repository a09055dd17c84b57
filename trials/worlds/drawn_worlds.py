"""Hostile worlds drawn from a seed: every kind of fault and parameter, every part of a policy.

Every drawn world is a valid scenario file.  What a timeline begins it mostly ends too, and where it
does not enough nodes are left, so that every run comes to its end.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import msgspec
import numpy as np

from callboard.actors.architectures import made_architecture
from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import AnyEvent
from callboard.scenarios import timeline as tl
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import Scenario, from_dict, make_fault_script, make_jobs
from callboard.scenarios.targets import drawn_count
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError
from trials.worlds.declared_values import NAMES, DeclaredValues, Draw
from trials.worlds.drawn_policies import draw_architecture, draw_policy

ENTRY_TYPES: tuple[type[tl.TimelineEntry], ...] = tuple(
    entry for entry in get_args(tl.AnyEntry) if entry not in (tl.TraceEntry, tl.SchedulerCrashEntry)
)
"""Every kind of entry but `trace`, which needs a file and gives what `crash` gives, and what
happens to one scheduler of several.
"""

ENTRIES_OF_THE_MASTER: tuple[type[tl.TimelineEntry], ...] = (
    tl.KillJobEntry,
    tl.MasterPauseEntry,
    tl.MasterRestartEntry,
    tl.PolicyEntry,
)
"""What changes the master's mind at once, while messages are on their way to it."""

ENTRIES_WITHOUT_MASTER: tuple[type[tl.TimelineEntry], ...] = (
    *ENTRY_TYPES,
    *[tl.SchedulerCrashEntry] * 8,
    *(tl.CrashEntry, tl.LinkEntry, tl.PauseEntry) * 3,
)
"""What is drawn for other architectures; most have an answer to few of these."""

_TOLD_TO_OTHERS = (
    ev.AttemptClosed,
    ev.AttemptEnded,
    ev.JobSubmitted,
    ev.MapOutputsLost,
    ev.NodeLost,
    ev.OrderEvent,
)
"""Events of which the master and others tell each other."""

RESOURCES = ("memory", "vcores")
"""What nodes may have named amounts of, in worlds without the master."""

NODE_TYPES = ("", "cpu", "io")
SPAN_S = 60
"""Seconds in which jobs come and faults begin."""

_LOST_FOR_EVER = {"loss": 0.1, "delay_s": 0.5}
"""The most that a link may lose, and delay messages, for ever."""

_TRIES = 100


class DrawnWorld(msgspec.Struct, frozen=True):
    """A scenario under its only policy, and the seed that permutes simultaneous messages."""

    scenario: Scenario
    tie_order: int | None = None

    @property
    def policy(self) -> str:
        return self.scenario.policies[0]


def draw_world(seed: int) -> DrawnWorld:
    """The world of this seed."""
    values = DeclaredValues(np.random.default_rng(seed))
    return _draw_world(values, lambda: _draw_scenario(values))


def draw_contested_world(seed: int) -> DrawnWorld:
    """One in which nothing breaks: a wide job fills a small cluster, others come soon, and the
    policy takes slots from one for another.
    """
    values = DeclaredValues(np.random.default_rng([seed, 3]))

    def draw() -> Scenario:
        policy = draw_policy(values, brisk=0.9, preempts=True)
        return _draw_peace(values, policy, crowded=True)[0]

    return _draw_world(values, draw)


def draw_architecture_world(seed: int) -> DrawnWorld:
    """One without the master: by any other architecture, its nodes often with named resources, and
    with what its actors have an answer to.
    """
    values = DeclaredValues(np.random.default_rng([seed, 4]))

    def draw() -> Scenario:
        resources = values.one_of(((), RESOURCES[:1], RESOURCES, RESOURCES))
        policy = draw_architecture(values, resources)
        crowded = values.chance(0.5)
        scenario, there = _draw_peace(values, policy, crowded=crowded, resources=resources)
        for _ in range(values.one_of((0, 0, 1, 2, 4))):
            entry = _draw_entry(values, scenario, there, types=ENTRIES_WITHOUT_MASTER)
            if entry is not None and entry["what"] in ("hang", "scheduler-crash"):
                entry.setdefault(
                    "for_s", 4.0
                )  # or jobs that wait for each other's room hang in turn
            more = None if entry is None else _with_entry(scenario, entry)
            scenario = more if more is not None and _has_answers(more) else scenario
        if not _has_answers(scenario):
            raise ScenarioError("its jobs are none for this architecture")
        return scenario

    return _draw_world(values, draw)


def _has_answers(scenario: Scenario) -> bool:
    """Whether the architecture can play its jobs, and all that happens."""
    made, jobs = made_architecture(scenario.policies[0], {}), make_jobs(scenario)
    assert made is not None
    try:
        made.check(jobs, make_fault_script(scenario, jobs))
    except PolicySpecError:
        return False
    return True


def _draw_world(values: DeclaredValues, draw: Callable[[], Scenario]) -> DrawnWorld:
    for _ in range(_TRIES):
        try:
            scenario = draw()
        except ScenarioError:
            continue
        return DrawnWorld(scenario, values.one_of((None, None, 1, 2)))
    raise AssertionError("no scenario could be made of what was drawn")


def struck(
    world: DrawnWorld, events: Sequence[AnyEvent], values: DeclaredValues
) -> DrawnWorld | None:
    """The world with something more that happens, mostly at an instant at which something did: what
    comes at one instant meets there only.  Of rare events there are as many as of others.  None if
    nothing that was drawn can be.
    """
    by_type: dict[type[AnyEvent], list[AnyEvent]] = {}
    for event in events:
        by_type.setdefault(type(event), []).append(event)
    scenario = world.scenario
    there = sorted({scenario.cluster.node_type, *(g.node_type for g in scenario.cluster.group)})
    for _ in range(_TRIES):
        races = values.chance(0.6)
        types = ENTRIES_OF_THE_MASTER if races else ENTRY_TYPES
        told = [each for each in by_type if not races or issubclass(each, _TOLD_TO_OTHERS)]
        at_ms = values.one_of(by_type[values.one_of(told or [*by_type])]).at_ms
        at_s = max(at_ms + values.one_of((0, 0, 0, 0, 1, -1, 100)), 0) / 1000
        entry = _draw_entry(values, scenario, there, at_s, types=types)
        if entry is not None and "for_s" in entry and values.chance(0.3):
            entry["at_s"] = max(at_s - entry["for_s"], 0.0)  # so that it ends then
        more = None if entry is None else _with_entry(scenario, entry)
        if more is not None:
            return msgspec.structs.replace(world, scenario=more)
    return None


def _draw_scenario(values: DeclaredValues) -> Scenario:
    crowded = values.chance(0.5)
    policy = draw_policy(values, brisk=0.9 if crowded else 0.3)
    scenario, there = _draw_peace(values, policy, crowded=crowded)
    for _ in range(values.one_of((0, 1, 2, 3, 5, 8))):
        entry = _draw_entry(values, scenario, there)
        if entry is not None:
            scenario = _with_entry(scenario, entry) or scenario
    return scenario


def _draw_peace(
    values: DeclaredValues, policy: str, *, crowded: bool, resources: Sequence[str] = ()
) -> tuple[Scenario, list[str]]:
    """A scenario in which nothing happens but its jobs, and the types of its nodes."""
    cluster = _draw_cluster(values, crowded=crowded)
    if resources:
        cluster["capacity"] = {each: values.one_of((16, 20)) for each in resources}
        cluster |= {"map_slots": values.one_of((2, 8)), "reduce_slots": values.one_of((2, 6))}
        for group in cluster.get("group", ()):
            for own in ("capacity", "map_slots", "reduce_slots"):
                group.pop(own, None)
    there = sorted({cluster.get("node_type", ""), *_types_of_groups(cluster)})
    seed, tasks = int(values.rng.integers(1000)), _draw_tasks(values)
    jobs = _draw_jobs(values, there, crowded=crowded)
    for job in jobs:
        if resources:
            _draw_demands(values, job, resources, policy)
    plain = {
        "name": "drawn",
        "seed": seed,
        "policies": [policy],
        "cluster": cluster,
        "tasks": tasks,
        "workload": {
            "kind": "jobs",
            "job": jobs,
        },
    }
    scenario = from_dict(plain)
    make_jobs(scenario)
    return scenario, there


def _draw_demands(
    values: DeclaredValues, job: dict[str, Any], resources: Sequence[str], policy: str
) -> None:
    """What its tasks take.  Where nobody makes room for maps reduces take nothing: they would hold
    what their own maps wait for.
    """
    of_reduces = (1, 2) if policy.startswith("yarn") else (0,)
    job["map_demand"] = {each: values.one_of((1, 1, 2, 4)) for each in resources}
    job["reduce_demand"] = {each: values.one_of(of_reduces) for each in resources}


def _draw_cluster(values: DeclaredValues, *, crowded: bool) -> dict[str, Any]:
    """Some nodes; in a crowded world they are few, and have few slots."""
    nodes = (1, 2, 2, 3, 3) if crowded else (1, 1, 2, 2, 3, 4, 6)
    slots: dict[str, Draw] = {
        "map_slots": lambda: values.one_of((1, 2, 2, 3, 3)),
        "reduce_slots": lambda: values.one_of((1, 2)),
    }
    heartbeat = values.struct(
        Heartbeats,
        {
            "interval_ms": lambda: values.one_of((None, 200, 500, 1000, 3000, 3333)),
            "expiry_ms": lambda: 0,
        },
    )
    own: dict[str, Draw] = {
        "heartbeat": lambda: heartbeat,
        "latency_ms": lambda: values.one_of((0, 1, 1, 1, 7, 50, 1500)),
        "nodes": lambda: values.one_of(nodes),
        "racks": lambda: values.one_of((1, 1, 2, 3)),
        "rack_sizes": lambda: None,
        "node_type": lambda: values.one_of(NODE_TYPES),
        "speed": lambda: values.one_of((0.5, 1.0, 1.0, 3.0)),
        "group": lambda: [
            values.struct(NodeGroup, own) for _ in range(values.one_of((0, 0, 0, 1, 2)))
        ],
        **(slots if crowded else {}),
    }
    cluster: dict[str, Any] = values.struct(Cluster, own)
    cluster = {"nodes": own["nodes"](), "racks": own["racks"](), **cluster, "heartbeat": heartbeat}
    if values.chance(0.4):
        cluster["replication"] = 1  # three replicas lie on every node of so few
    shortest_ms = (
        2
        * msgspec.convert(
            {**cluster, "heartbeat": {**heartbeat, "expiry_ms": 3}}, Cluster
        ).longest_heartbeat_cycle_ms()
    )
    heartbeat["expiry_ms"] = shortest_ms + values.one_of((0, 1, 3000, 30_000, 600_000))
    return cluster


def _types_of_groups(cluster: dict[str, Any]) -> set[str]:
    return {group.get("node_type", "") for group in cluster.get("group", ())}


def _draw_tasks(values: DeclaredValues) -> dict[str, Any]:
    drawn: dict[str, Any] = values.struct(
        Tasks,
        {
            "sigma": lambda: values.one_of((0.0, 0.0, 0.3, 1.0)),
            "rack_factor": lambda: values.one_of((1.0, 1.25, 3.0)),
            "off_rack_factor": lambda: values.one_of((1.0, 2.0, 5.0)),
        },
    )
    return drawn


def _draw_jobs(
    values: DeclaredValues, node_types: Sequence[str], *, crowded: bool
) -> list[dict[str, Any]]:
    """Some jobs; in a crowded world more, of longer tasks, which come within a few seconds."""
    if not crowded:
        return [_draw_job(values, node_types) for _ in range(values.one_of((1, 2, 2, 3, 4, 6)))]
    first: dict[str, Draw] = {
        "maps": lambda: 10,
        "map_s": lambda: values.one_of((5.0, 20.0, 60.0)),
        "at_s": lambda: 0.0,
        "count": lambda: values.one_of((1, 2, 2, 4)),
    }
    others: dict[str, Draw] = {
        "maps": lambda: values.one_of((1, 3, 5, 5, 10)),  # half a share of one is no slot
        "map_s": lambda: values.one_of((1.0, 5.0, 5.0, 20.0)),
        "at_s": lambda: 0.5 * int(values.rng.integers(20)),
    }
    number = values.one_of((1, 2, 3, 4))
    return [_draw_job(values, node_types, own) for own in (first, *[others] * number)]


def _draw_job(
    values: DeclaredValues, node_types: Sequence[str], own_draws: Mapping[str, Draw] | None = None
) -> dict[str, Any]:
    own_draws = own_draws or {}
    sizes = {
        "maps": own_draws.get("maps", lambda: values.one_of((1, 1, 2, 3, 5, 10)))(),
        "reduces": values.one_of((0, 0, 1, 2, 4)),
    }

    def numbers(kind: str) -> list[int]:
        return [int(n) for n in values.rng.integers(sizes[kind], size=2)] if sizes[kind] else []

    own: dict[str, Draw] = {
        "map_s": lambda: values.one_of((0.001, 0.5, 1.0, 5.0, 20.0, 60.0)),
        "at_s": lambda: values.one_of((0.0, 0.5 * int(values.rng.integers(2 * SPAN_S)))),
        "count": lambda: values.one_of((1, 1, 1, 2, 5)),
        "name": lambda: None,
        "only_on": lambda: (),  # nearly all refuse it, and such nodes may all be lost for ever
        "on": lambda: {each: values.one_of((0.25, 1.0, 4.0)) for each in node_types},
        **{kind: partial(sizes.get, kind) for kind in sizes},
        **{
            f"{ailment}_{kind}": partial(numbers, kind)
            for ailment in ("poisoned", "hanging", "skewed")
            for kind in sizes
        },
        **own_draws,
    }
    for _ in range(_TRIES):
        drawn: dict[str, Any] = values.struct(ListedJob, own)
        for ailment in ("poisoned", "hanging") if values.chance(0.8) else ():
            for kind in sizes:
                drawn.pop(f"{ailment}_{kind}", None)
        drawn |= {"reduces": sizes["reduces"], **{name: own[name]() for name in own_draws}}
        try:
            msgspec.convert(drawn, ListedJob).check("job")
        except (ScenarioError, msgspec.ValidationError):
            continue
        return drawn
    return {"maps": sizes["maps"], "map_s": 1.0}


def _draw_entry(
    values: DeclaredValues,
    scenario: Scenario,
    node_types: Sequence[str],
    at_s: float | None = None,
    types: Sequence[type[tl.TimelineEntry]] = ENTRY_TYPES,
) -> dict[str, Any] | None:
    """An entry of one of these types, at this time if one is given; None if the drawn one can not
    be.
    """
    entry = values.one_of(types)
    expiry_s = min(scenario.cluster.heartbeat.expiry_ms / 1000, SPAN_S)
    lasts = values.one_of((0.5, 1.0, 4.0, 12.0, 40.0, 2.5 * expiry_s))
    own: dict[str, Draw] = {
        "at_s": lambda: 0.5 * int(values.rng.integers(2 * SPAN_S)) if at_s is None else at_s,
        "after_s": lambda: None,
        "every_s": lambda: values.one_of((5.0, 20.0)),
        "times": lambda: values.one_of((1, 1, 2, 4)),
        "for_s": lambda: None if values.chance(0.15) else lasts,
        "nodes": lambda: _draw_target(
            values, scenario, named=entry in (tl.AddEntry, tl.FailuresEntry)
        ),
        "others": lambda: _draw_target(values, scenario, named=True),
        "scheduler": lambda: values.one_of((1, 2, 3)),
        "mtbf_s": lambda: values.one_of((10.0, 60.0)),
        "mttr_s": lambda: values.one_of((1.0, 20.0)),
        "until_s": lambda: float(SPAN_S),
        "factor": lambda: values.one_of((0.5, 3.0, 20.0)),
        "delay_s": lambda: values.one_of((0.0, 0.5, expiry_s, 2 * expiry_s)),
        "job": lambda: (
            _draw_job(values, node_types)
            if entry is tl.BurstEntry
            else values.one_of(("0", "job-1", "job-*"))
        ),
        "policy": lambda: draw_policy(values),
        "pool": lambda: values.one_of(NAMES),
    }
    for _ in range(3):
        drawn: dict[str, Any] = values.struct(entry, own)
        drawn = {"at_s": own["at_s"](), **drawn}
        if values.chance(0.85) and "for_s" in entry.__struct_fields__ and entry is not tl.AddEntry:
            drawn["for_s"] = lasts
        if entry is tl.LinkEntry and drawn.get("for_s") is None:
            drawn |= _gentle(drawn, scenario.cluster.heartbeat.thinking_ms > 0)
        if _with_entry(scenario, drawn) is not None:
            return drawn
    return None


def _gentle(link: Mapping[str, Any], thinking: bool) -> dict[str, Any]:
    """What a link may do for ever: where more is lost, no node is there for as long as a task.  A
    master that is `thinking` would hear of nodes later than they expire where it has to think about
    each heartbeat twice: what is overtaken comes together with its repetition.
    """
    lost = {name: min(link.get(name, 0.0), most) for name, most in _LOST_FOR_EVER.items()}
    return lost | (dict.fromkeys(("duplicate", "reorder"), 0.0) if thinking else {})


def _draw_target(values: DeclaredValues, scenario: Scenario, *, named: bool) -> str:
    nodes = scenario.cluster.node_count()
    node = f"node-{int(values.rng.integers(nodes))}"
    racks = scenario.cluster.topology().racks
    rack = f"rack-{int(values.rng.integers(racks))}"
    target = values.one_of((node, node, node, rack, "node-*", "all", "50%", "1 any"))
    return node if named and drawn_count(target, nodes) is not None else target


def _with_entry(scenario: Scenario, entry: dict[str, Any]) -> Scenario | None:
    """The scenario with one thing more that happens; None if that can not be."""
    try:
        more = msgspec.convert(entry, tl.AnyEntry)
        longer = msgspec.structs.replace(scenario, timeline=(*scenario.timeline, more))
        return _checked(longer)
    except (ScenarioError, msgspec.ValidationError):
        return None


def _checked(scenario: Scenario) -> Scenario:
    checked = from_dict(msgspec.to_builtins(scenario), check_timeline=False)
    make_fault_script(checked, make_jobs(checked))
    return checked
