"""Nodes that fail by a law of chance, or as they once did: the timeline's `failures`, `trace`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scenarios.fields import SECONDS_MAX, to_ms
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scenarios.toml_reader import read_text
from callboard.scheduler.model import Millis, NodeId


class Outage(NamedTuple):
    """A node is down from `begin_ms` on, until `end_ms` or for ever."""

    node: NodeId
    begin_ms: Millis
    end_ms: Millis | None


class FailureModel(NamedTuple):
    """How long nodes are up, with a Weibull law of this mean and shape, and how long down, with an
    exponential one; all in seconds.  With `racks` a rack fails as a whole.
    """

    up_s: float
    shape: float
    down_s: float
    racks: bool


def drawn_outages(
    model: FailureModel,
    nodes: Sequence[NodeFacts],
    begin_ms: Millis,
    until_ms: Millis,
    seed: int,
    place: int,
) -> Iterator[Outage]:
    """The outages that begin before `until_ms`, by node or rack.

    Each node's are drawn at its own number, so that a node more leaves the others' as they were.
    """
    ups = Stream(seed, f"timeline/{place}/up")
    downs = Stream(seed, f"timeline/{place}/down")
    struck: dict[int, list[NodeId]] = {}
    for facts in nodes:
        struck.setdefault(facts.rack if model.racks else facts.node, []).append(facts.node)
    for who, together in sorted(struck.items()):
        at_ms, nth = begin_ms, 0
        while True:
            at_ms += max(1, to_ms(min(ups.weibull(model.up_s, model.shape, who, nth), SECONDS_MAX)))
            if at_ms >= until_ms:
                break
            end_ms = at_ms + max(
                1, to_ms(min(downs.exponential(model.down_s, who, nth), SECONDS_MAX))
            )
            for node in together:
                yield Outage(node, at_ms, end_ms)
            at_ms, nth = end_ms, nth + 1


def recorded_outages(path: Path, nodes: Mapping[str, NodeId]) -> Iterator[Outage]:
    """The outages in a file of lines `seconds,node,down` and `seconds,node,up`, in their order.

    Empty lines and those that begin with # are left out, and so are outages of less than half a
    millisecond.  ScenarioError names line and flaw.
    """
    down: dict[NodeId, Millis] = {}
    last_ms = 0
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        row = line.split(",")
        if not line.strip() or line.startswith("#"):
            continue
        at_ms, node, goes_down = _line(row, nodes, path, number)
        if at_ms < last_ms:
            _refuse("times go back", path, number)
        last_ms = at_ms
        if goes_down == (node in down):
            state = "down" if goes_down else "up"
            _refuse(f"{row[1].strip()} is {state} already", path, number)
        if goes_down:
            down[node] = at_ms
        else:
            begin_ms = down.pop(node)
            if begin_ms < at_ms:
                yield Outage(node, begin_ms, at_ms)
    for node, begin_ms in down.items():
        yield Outage(node, begin_ms, None)


def _line(
    row: list[str], nodes: Mapping[str, NodeId], path: Path, number: int
) -> tuple[Millis, NodeId, bool]:
    """One line: when, who, whether it goes down."""
    if len(row) != 3:
        _refuse(
            f"expected `seconds,node,down` or `seconds,node,up`, got {len(row)} fields",
            path,
            number,
        )
    when, name, what = (field.strip() for field in row)
    try:
        seconds = float(when)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= SECONDS_MAX:
        _refuse(f"expected seconds from 0 to {SECONDS_MAX:,.0f}, got {when[:40]!r}", path, number)
    if name not in nodes:
        there = f"node-0 to node-{len(nodes) - 1}"
        _refuse(f"there is no node {name[:40]!r} in this cluster ({there})", path, number)
    if what not in ("down", "up"):
        _refuse(f"expected `down` or `up`, got {what[:40]!r}", path, number)
    return to_ms(seconds), nodes[name], what == "down"


def _refuse(problem: str, path: Path, number: int) -> None:
    raise ScenarioError(problem, source=path, line=number)
