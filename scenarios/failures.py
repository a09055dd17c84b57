"""Nodes that fail by chance, or as they once did: the timeline's `failures` and `trace`."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from callboard.actors.config import SECONDS_MAX
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary.events import NodeFacts
from callboard.histories.model.outage import Outage
from callboard.scenarios.distributions import Exponential, Weibull, duration_ms
from callboard.scenarios.fields import to_ms
from callboard.scenarios.timeline import FailuresEntry
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.text_file import read_text


def drawn_outages(
    entry: FailuresEntry, nodes: Sequence[NodeFacts], begin_ms: Millis, seed: int, place: int
) -> Iterator[Outage]:
    """The outages that begin before `until_ms`, by node or rack, each drawn at its own number."""
    until_ms, racks = to_ms(entry.until_s), entry.by == "rack"
    up, down = Weibull(entry.mtbf_s, entry.shape), Exponential(entry.mttr_s)
    ups = Stream(seed, f"timeline/{place}/up")
    downs = Stream(seed, f"timeline/{place}/down")
    groups: dict[int, list[NodeId]] = {}
    for facts in nodes:
        groups.setdefault(facts.rack if racks else facts.node, []).append(facts.node)
    for group, together in sorted(groups.items()):
        at_ms, nth = begin_ms, 0
        while True:
            at_ms += duration_ms(up, ups, group, nth)
            if at_ms >= until_ms:
                break
            end_ms = at_ms + duration_ms(down, downs, group, nth)
            for node in together:
                yield Outage(node, at_ms, end_ms)
            at_ms, nth = end_ms, nth + 1


def recorded_outages(path: Path, nodes: Mapping[str, NodeId]) -> Iterator[Outage]:
    """The outages in a file of lines `seconds,node,down` and `seconds,node,up`, in their order.
    Empty lines, those that begin with # and outages of less than half a millisecond are left out.
    ScenarioError names line and flaw.
    """
    down: dict[NodeId, Millis] = {}
    last_ms = 0
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        row = line.split(",")
        if not line.strip() or line.startswith("#"):
            continue
        at_ms, node, goes_down = _parsed_line(row, nodes, path, number)
        if at_ms < last_ms:
            _refuse_line("times go back", path, number)
        last_ms = at_ms
        if goes_down == (node in down):
            state = "down" if goes_down else "up"
            _refuse_line(f"{row[1].strip()} is {state} already", path, number)
        if goes_down:
            down[node] = at_ms
        else:
            begin_ms = down.pop(node)
            if begin_ms < at_ms:
                yield Outage(node, begin_ms, at_ms)
    for node, begin_ms in down.items():
        yield Outage(node, begin_ms, None)


def outage_lines(outages: Collection[Outage]) -> Iterator[str]:
    """The lines of a file that `recorded_outages` reads as these outages."""
    changes = [(each.begin_ms, "down", each.node) for each in outages]
    changes += [(each.end_ms, "up", each.node) for each in outages if each.end_ms is not None]
    for at_ms, what, node in sorted(changes, key=lambda change: (change[0], change[1] == "down")):
        yield f"{at_ms / 1000:.3f},node-{node},{what}\n"


def _parsed_line(
    row: list[str], nodes: Mapping[str, NodeId], path: Path, number: int
) -> tuple[Millis, NodeId, bool]:
    if len(row) != 3:
        expected = "expected `seconds,node,down` or `seconds,node,up`"
        _refuse_line(f"{expected}, got {len(row)} fields", path, number)
    when, name, what = (field.strip() for field in row)
    try:
        seconds = float(when)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= SECONDS_MAX:
        _refuse_line(
            f"expected seconds from 0 to {SECONDS_MAX:,.0f}, got {when[:40]!r}", path, number
        )
    if name not in nodes:
        there = f"node-0 to node-{len(nodes) - 1}"
        _refuse_line(f"there is no node {name[:40]!r} in this cluster ({there})", path, number)
    if what not in ("down", "up"):
        _refuse_line(f"expected `down` or `up`, got {what[:40]!r}", path, number)
    return to_ms(seconds), nodes[name], what == "down"


def _refuse_line(problem: str, path: Path, number: int) -> None:
    raise ScenarioError(problem, source=path, line=number)
