"""The queues of YARN's Capacity Scheduler out of a `capacity-scheduler.xml`, at any depth; or
Hadoop 1's, all below root.

What a queue does not say of its preemption and of its masters, the queue above it does, or the
file.  Properties that nothing here plays are noted, and left out.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from callboard.actors.yarn.yarn_params import FALLBACK_QUEUE, YarnParams, YarnQueueParams
from callboard.actors.yarn.yarn_queues import QueueTree
from callboard.scenarios.queue_files.queue_allocations import (
    HADOOP1_PROPERTY,
    SHARED_QUEUE_FIELDS,
    Field,
    parsed_boolean,
    take_property,
)
from callboard.scenarios.queue_files.scheduler_xml import (
    GOES_TO_DEFAULT,
    GOES_TO_NOBODY,
    left_out_properties,
    missing_capacity_note,
    overrides_of_part,
    refusing_values,
    scheduler_properties,
)
from callboard.scheduler.text.scenario_error import ScenarioError

_FILE = re.compile(r"yarn\.scheduler\.capacity\.(?P<name>[^.]+)")
_QUEUE = re.compile(r"yarn\.scheduler\.capacity\.root(?:\.(?P<queue>.+))?\.(?P<name>[^.]+)")
_ROOT = ""


class YarnQueueSettings(NamedTuple):
    """The queues of a file, what it says of all, and its properties that are not played; and what
    may be wrong with it.
    """

    queues: dict[str, YarnQueueParams]
    general: dict[str, Any]
    unplayed: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def overrides(self) -> list[str]:
        """All as `--set` takes it."""
        return overrides_of_part("yarn", {"queues": self.queues, **self.general})

    def are_passed_by(self, pools: Iterable[str]) -> bool:
        """Whether the Fair Scheduler makes all of these pools queues of their own, so that those
        that are stated have no job.
        """
        if not self.queues or self.general.get("scheduler", "capacity") == "capacity":
            return False
        tree = QueueTree(self.queues, open_ended=True)
        return not any(tree.leaf(each).path in self.queues for each in pools)

    def pools_without_queue(self, pools: Iterable[str]) -> tuple[list[str], float]:
        """The pools of which there is no queue, and the capacity in percent of `default`, where
        their jobs go.
        """
        if self.general.get("scheduler", "capacity") != "capacity":
            return [], 0.0  # the Fair Scheduler makes a queue for each
        tree = QueueTree(self.queues, open_ended=False)
        fallback, is_stated = tree.leaf(FALLBACK_QUEUE), FALLBACK_QUEUE in self.queues
        found = [
            each
            for each in pools
            if each != FALLBACK_QUEUE and tree.leaf(each) is fallback and (each or not is_stated)
        ]
        return found, float(100 * fallback.share)


def read_yarn_queues(path: Path) -> YarnQueueSettings:
    """What the file says; ScenarioError with the property that is wrong."""
    stated: dict[str, dict[str, Any]] = {}
    general: dict[str, Any] = {}
    unplayed, listed = [], set[str]()
    unlisted: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    properties, notes = scheduler_properties(path)
    for name, text in properties.items():
        of_file, of_queue = (
            _FILE.fullmatch(name),
            _QUEUE.fullmatch(name) or HADOOP1_PROPERTY.fullmatch(name),
        )
        if of_file is not None and of_file["name"] in _GENERAL:
            take_property(general, _GENERAL[of_file["name"]], name, text.strip(), path)
        elif of_queue is None or of_queue["name"] not in {*_FIELDS, "queues"}:
            unplayed.append(name)
        elif of_queue["name"] == "queues":
            for each in filter(None, map(str.strip, text.split(","))):
                queue = _path_of_child(of_queue["queue"], each)
                listed.add(queue)
                stated.setdefault(queue, {})
        else:
            queue = _queue_path(of_queue["queue"])
            values = stated.setdefault(queue, {})
            named.setdefault(queue, []).append(name)
            take_property(values, _FIELDS[of_queue["name"]], name, text.strip(), path)
    of_root = stated.pop(_ROOT, {})
    if listed:  # YARN goes by these, and knows nothing of a queue that is in no list
        known = {
            queue for queue in stated if listed.issuperset((*_paths_of_ancestors(queue), queue))
        }
        unlisted = {queue: names for queue, names in named.items() if queue not in {*known, _ROOT}}
        stated = {queue: values for queue, values in stated.items() if queue in known}
    if not stated:
        raise ScenarioError("there are no queues in it", source=path)
    queues = {}
    for name in stated:
        with refusing_values(path, f"queue `{name[:80]}`: "):
            queues[name] = YarnQueueParams(**_with_inherited_values(name, stated, of_root))
    with refusing_values(path):
        YarnParams(queues=queues, **general)
        tree = QueueTree(queues, open_ended=False)
    plain, slips = left_out_properties(unplayed, {*_FIELDS, *_GENERAL}, unlisted, list(stated))
    shares = _missing_capacity_notes(tree, queues) if any(map(_QUEUE.fullmatch, properties)) else ()
    return YarnQueueSettings(queues, general, tuple(plain), (*notes, *slips, *shares))


def _missing_capacity_notes(tree: QueueTree, stated: Collection[str]) -> Iterator[str]:
    """Below which queues the capacities leave something over."""
    for parent in filter(lambda each: each.children and each.share, tree.root.subtree()):
        named = [each for each in parent.children if each.children or each.path in stated]
        rest = GOES_TO_NOBODY if len(named) == len(parent.children) else GOES_TO_DEFAULT
        if told := missing_capacity_note(
            parent.path, (each.params.capacity for each in named), rest
        ):
            yield told


def _queue_path(queue: str | None) -> str:
    return _ROOT if queue is None else queue.replace(".", "/")


def _path_of_child(queue: str | None, child: str) -> str:
    return child if queue is None else f"{_queue_path(queue)}/{child}"


def _with_inherited_values(
    name: str, stated: Mapping[str, dict[str, Any]], of_root: dict[str, Any]
) -> dict[str, Any]:
    """What is stated of a queue, and what those above it say of all below them."""
    above = [of_root, *(stated.get(each, {}) for each in _paths_of_ancestors(name))]
    handed = {key: values[key] for values in above for key in _HANDED_DOWN if key in values}
    return {**handed, **stated[name]}


def _paths_of_ancestors(name: str) -> Iterable[str]:
    """The paths of the queues above one, from the root on."""
    parts = name.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _share_as_percent(text: str) -> float:
    """A part of 1, in percent."""
    part = float(text)
    if not 0 <= part <= 1:
        raise ValueError(text)
    return round(100 * part, 9)


def _calculator_name(text: str) -> str:
    return "dominant" if text.endswith("DominantResourceCalculator") else "memory"


_FIELDS: dict[str, Field] = {
    **SHARED_QUEUE_FIELDS,
    "priority": ("priority", int, "a whole number"),
    "disable_preemption": ("preemptable", lambda text: not parsed_boolean(text), "true or false"),
    "maximum-am-resource-percent": ("am_percent", _share_as_percent, "a part of 1"),
}
_GENERAL: dict[str, Field] = {
    "maximum-am-resource-percent": ("am_percent", _share_as_percent, "a part of 1"),
    "node-locality-delay": ("node_locality_delay", int, "a whole number"),
    "resource-calculator": ("calculator", _calculator_name, "the name of a class"),
}
_HANDED_DOWN = ("preemptable", "am_percent")
