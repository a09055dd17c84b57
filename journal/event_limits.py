"""Numbers and starts that no run has: what a journal holds need not have been written by one.

Nobody who reads a journal has to fear a job whose number asks for gigabytes of memory.
"""

from collections.abc import Sequence
from typing import get_args

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults

NUMBER_LIMIT = 1 << 50
"""Of every number: so that times fit into 64 bits in microseconds too."""

JOBS_LIMIT = 4_000_000
"""Of the numbers of jobs: four times as many as a scenario may have."""

SLOTS_LIMIT = 1_000_000
"""Of all nodes together, five times what a scenario may have; of nodes as well."""

_TIMES_AND_COUNTS = (
    "at_ms",
    "attempt",
    "maps",
    "number",
    "original",
    "reduces",
    "started_ms",
    "submitted_ms",
    "suspended_ms",
    "task",
)
_LIMITS = dict.fromkeys(_TIMES_AND_COUNTS, NUMBER_LIMIT) | {"job": JOBS_LIMIT, "node": SLOTS_LIMIT}


class InconsistentEvents(ValueError):
    """An event speaks of what no event has told of, or begins what has begun already."""


def check_numbers(event: ev.AnyEvent | faults.Fault) -> None:
    """InconsistentEvents for an event with a number that no run gives to anything, and for a run
    that starts under no policy.
    """
    for name, limit in _FIELDS.get(type(event), ()):
        number = getattr(event, name)
        if not 0 <= number < limit:
            raise InconsistentEvents(f"{name} is {number}")
    if isinstance(event, ev.RunStarted):
        _check_run_start(event)
    elif isinstance(event, ev.FaultStruck):
        check_numbers(event.fault)


def _check_run_start(event: ev.RunStarted) -> None:
    if not event.policy.strip():
        raise InconsistentEvents("its start names no policy")
    _check_node_facts(event.nodes)


def _check_node_facts(nodes: Sequence[ev.NodeFacts]) -> None:
    for facts in nodes:
        least = min(facts.node, facts.rack, facts.map_slots, facts.reduce_slots)
        if least < 0 or max(facts.node, facts.rack) >= SLOTS_LIMIT:
            raise InconsistentEvents(f"one of its nodes is {facts}")
    if len({facts.node for facts in nodes}) < len(nodes):
        raise InconsistentEvents("two nodes have the same number")
    slots = sum(facts.map_slots + facts.reduce_slots for facts in nodes)
    if slots > SLOTS_LIMIT:
        raise InconsistentEvents(f"{slots:,} slots; the limit is {SLOTS_LIMIT:,}")


def _limited_fields_of(struct: type[msgspec.Struct]) -> tuple[tuple[str, int], ...]:
    return tuple((name, _LIMITS[name]) for name in struct.__struct_fields__ if name in _LIMITS)


_FIELDS = {
    struct: _limited_fields_of(struct) for struct in (*ev.EVENT_TYPES, *get_args(faults.AnyFault))
}
"""What is looked at of each event: a table, since this is done for each that is read."""
