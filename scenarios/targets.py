"""Which nodes a timeline's entry means: `node-3`, `node-1*`, `rack-2`, `all`, `10%`, `3 any`."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from math import ceil
from typing import NoReturn

from callboard.actors.vocabulary.events import NodeFacts
from callboard.scenarios.timeline import AddEntry, FailuresEntry, names_as_tuple
from callboard.scheduler.model import NodeId
from callboard.scheduler.text.scenario_error import ScenarioError


def nodes_of_entry(
    entry: AddEntry | FailuresEntry, nodes: Sequence[NodeFacts], place: int
) -> list[NodeId]:
    """The nodes of an entry in which they have to be named."""
    targets = names_as_tuple(entry.nodes)
    if any(drawn_count(target, len(nodes)) is not None for target in targets):
        refuse_entry("these nodes have to be named, not drawn", place, "nodes")
    return sorted({node for target in targets for node in nodes_named(target, nodes, place)})


def drawn_count(target: str, nodes: int) -> int | None:
    """How many nodes a drawn target means; None for one that names them."""
    if match := re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?) ?%", target):
        return min(nodes, ceil(nodes * float(match[1]) / 100))
    if match := re.fullmatch(r"(\d{1,6}) any", target):
        return min(nodes, int(match[1]))
    return None


def nodes_named(target: str, nodes: Sequence[NodeFacts], place: int) -> list[NodeId]:
    """The nodes that a name, a rack or a pattern means."""
    if target == "all":
        return [facts.node for facts in nodes]
    if target.startswith("rack-"):
        found = [facts.node for facts in nodes if fnmatchcase(f"rack-{facts.rack}", target)]
        there = f"rack-0 to rack-{max(facts.rack for facts in nodes)}"
    else:
        found = [facts.node for facts in nodes if fnmatchcase(f"node-{facts.node}", target)]
        there = f"node-0 to node-{len(nodes) - 1}"
    if not found:
        ways = "a name, a pattern such as `node-1*`, `rack-2`, `all`, `10%` or `3 any`"
        refuse_entry(
            f'"{target}" is no node of this cluster; expected {ways} ({there})', place, "nodes"
        )
    return found


def refuse_entry(problem: str, place: int, field: str) -> NoReturn:
    """Say what is wrong with a field of the entry at `place`."""
    raise ScenarioError(problem, key=f"timeline[{place}].{field}")
