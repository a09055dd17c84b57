"""Queues of the order `capacity` out of a `capacity-scheduler.xml`: Hadoop 1's, or YARN's where all
queues are below root.

What a queue does not say comes from the file's defaults.  Properties that nothing here plays are
noted, and left out.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from callboard.scenarios.queue_files.scheduler_xml import (
    GOES_TO_DEFAULT,
    GOES_TO_NOBODY,
    left_out_properties,
    missing_capacity_note,
    overrides_of_part,
    refusing_values,
    scheduler_properties,
)
from callboard.scheduler.orders.capacity.capacity import Capacity, capacities_in_percent
from callboard.scheduler.orders.capacity.queues import QueueParams
from callboard.scheduler.orders.fair.fair import DEFAULT_POOL
from callboard.scheduler.text.scenario_error import ScenarioError

HADOOP1_PROPERTY = re.compile(r"mapred\.capacity-scheduler\.queue\.(?P<queue>.+)\.(?P<name>[^.]+)")
_YARN = re.compile(r"yarn\.scheduler\.capacity\.root\.(?P<queue>.+)\.(?P<name>[^.]+)")
_DEFAULT = re.compile(r"mapred\.capacity-scheduler\.default-(?P<name>[^.]+)")
_YARN_QUEUES = "yarn.scheduler.capacity.root.queues"


class QueueSettings(NamedTuple):
    """The queues of a file, and its properties that are not played; whether it names the queue
    `default`, which there is in any case; and what may be wrong with the file.
    """

    queues: dict[str, QueueParams]
    unplayed: tuple[str, ...]
    names_default: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of_stated_queues(cls, queues: dict[str, QueueParams]) -> Self:
        """The same without a file."""
        return cls(queues, (), DEFAULT_POOL in queues)

    def overrides(self) -> list[str]:
        """The queues as `--set` takes them."""
        return overrides_of_part("capacity", {"queues": self.queues})

    def pools_without_queue(self, pools: Iterable[str]) -> tuple[list[str], float]:
        """The pools of which there is no queue, and the capacity in percent of `default`, where
        their jobs go.
        """
        every = capacities_in_percent(self.queues)
        found = [each for each in pools if each not in every and (each or not self.names_default)]
        return found, every[DEFAULT_POOL]


def read_capacity_scheduler(path: Path) -> QueueSettings:
    """What the file says; ScenarioError with the property that is wrong."""
    properties, notes = scheduler_properties(path)
    listed = [each.strip() for each in properties.get(_YARN_QUEUES, "").split(",") if each.strip()]
    stated: dict[str, dict[str, Any]] = {queue: {} for queue in listed}
    unlisted: dict[str, list[str]] = {}
    defaults: dict[str, Any] = {}
    unplayed = []
    for name, text in properties.items():
        place = _queue_and_property(name)
        if name == _YARN_QUEUES:
            continue
        if place is None or place[1] not in _FIELDS:
            unplayed.append(name)
        elif listed and _YARN.fullmatch(name) and place[0] not in stated:
            unlisted.setdefault(str(place[0]), []).append(name)
        else:
            values = defaults if place[0] is None else stated.setdefault(place[0], {})
            take_property(values, _FIELDS[place[1]], name, text.strip(), path)
    if not stated:
        raise ScenarioError("there are no queues in it", source=path)
    _refuse_nested_queues(properties, path)
    names_default = DEFAULT_POOL in stated
    if defaults:
        stated.setdefault(DEFAULT_POOL, {})
    queues = _checked_queues(defaults, stated, path)
    told = left_out_properties(unplayed, _FIELDS, unlisted, listed)
    if any(map(_YARN.fullmatch, properties)):
        stated_capacities = [each.capacity for each in queues.values()]
        rest = GOES_TO_NOBODY if names_default else GOES_TO_DEFAULT
        told.notes.append(missing_capacity_note("root", stated_capacities, rest))
    every = (*notes, *filter(None, told.notes))
    return QueueSettings(queues, tuple(told.plain), names_default, every)


def _queue_and_property(name: str) -> tuple[str | None, str] | None:
    """A property's queue, None for the defaults, and what it says; None for another."""
    default = _DEFAULT.fullmatch(name)
    if default is not None:
        return None, default["name"]
    match = HADOOP1_PROPERTY.fullmatch(name) or _YARN.fullmatch(name)
    return None if match is None else (match["queue"], match["name"])


Field: TypeAlias = tuple[str, Callable[[str], Any], str]
"""What a property is called here, how it is read, and what has to stand there."""


def take_property(values: dict[str, Any], field: Field, name: str, text: str, path: Path) -> None:
    """Put a property's value among others; ScenarioError, with its `name`, for a bad one."""
    key, convert, expected = field
    try:
        value = convert(text)
    except ValueError:
        problem = f"expected {expected}, got `{text[:80]}`"
        raise ScenarioError(problem, source=path, key=name[:200]) from None
    if value is not None:
        values[key] = value


def _refuse_nested_queues(properties: Mapping[str, str], path: Path) -> None:
    for name, text in properties.items():
        if name != _YARN_QUEUES and _YARN.fullmatch(name) and name.endswith(".queues"):
            below = f"here are {text.strip()[:80]}; `--policy yarn` plays them"
            problem = f"queues below queues are not played; {below}"
            raise ScenarioError(problem, source=path, key=name[:200])


def _checked_queues(
    defaults: dict[str, Any], stated: Mapping[str, dict[str, Any]], path: Path
) -> dict[str, QueueParams]:
    queues = {}
    for name, values in stated.items():
        with refusing_values(path, f"queue `{name[:80]}`: "):
            queues[name] = QueueParams(**{**defaults, **values})
    with refusing_values(path):
        Capacity.Params(queues=queues)
    return queues


def _parsed_maximum(text: str) -> float | None:
    """-1 stands for none."""
    number = float(text)
    return None if number == -1 else number


def parsed_boolean(text: str) -> bool:
    """`true` or `false`; ValueError for anything else."""
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_PERCENT = "a number of percent; amounts of resources and weights are not played"
SHARED_QUEUE_FIELDS: dict[str, Field] = {
    "capacity": ("capacity", float, _PERCENT),
    "maximum-capacity": ("maximum_capacity", _parsed_maximum, f"{_PERCENT}, or -1 for none"),
    "minimum-user-limit-percent": (
        "minimum_user_limit_percent",
        int,
        "a whole number of percent",
    ),
    "user-limit-factor": ("user_limit_factor", float, "a number"),
}
"""What both Hadoop 1's Capacity Scheduler and YARN's say of a queue, and is played."""
_FIELDS: dict[str, Field] = {
    **SHARED_QUEUE_FIELDS,
    "supports-priority": ("supports_priority", parsed_boolean, "true or false"),
}
