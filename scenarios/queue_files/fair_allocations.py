"""Pools of the order `fair`, and queues of `yarn`, out of an allocation file of a Fair Scheduler:
Hadoop 1's, of pools in slots, or YARN's, of queues in memory and cores.

What nothing here plays is noted, and left out.  Sources: the documentation of either scheduler.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from callboard.actors.yarn.yarn_params import YarnParams, YarnQueueParams
from callboard.scenarios.queue_files.queue_allocations import Field, take_property
from callboard.scenarios.queue_files.scheduler_xml import (
    left_out_properties,
    overrides_of_part,
    parsed_xml,
    refusing_values,
)
from callboard.scenarios.queue_files.yarn_allocations import YarnQueueSettings
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.text.quantities import printable
from callboard.scheduler.text.scenario_error import ScenarioError

_ROOT = "root"
_DEPTH_MAX = 50
_HADOOP1_LIMITS = ("poolMaxJobsDefault", "userMaxJobsDefault", "defaultPoolSchedulingMode")


class FairSettings(NamedTuple):
    """The pools of a file, its limits and its times for preemption, by `fair`'s and `kill`'s names;
    what of it is not played, and what may be wrong with it.
    """

    pools: dict[str, PoolParams]
    limits: dict[str, Any]
    timeouts: dict[str, float]
    unplayed: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def overrides(self) -> list[str]:
        """All as `--set` takes it."""
        of_order = overrides_of_part("fair", {"pools": self.pools, **self.limits})
        return of_order + overrides_of_part("kill", self.timeouts)

    def pools_without_queue(self, pools: Iterable[str]) -> tuple[list[str], float]:  # noqa: ARG002
        """None: a pool that the file does not name is created by itself, as in Hadoop."""
        return [], 0.0


class _Stated(NamedTuple):
    """What a file says, element by element: of the file, of pools by path, of users by name."""

    general: dict[str, str]
    pools: dict[str, dict[str, str]]
    users: dict[str, dict[str, str]]
    is_hadoop1: bool


def is_fair_file(path: Path) -> bool:
    """Whether it is the allocation file of a Fair Scheduler.  ScenarioError for what is no XML."""
    return parsed_xml(path).tag == "allocations"


def read_fair_pools(path: Path) -> FairSettings:
    """What the file says of pools; ScenarioError with the element that is wrong.

    Of YARN's queues the weights, the limits on applications and the order within are taken; what
    they hold at least and at most is not in slots.
    """
    stated = _stated_elements(path)
    dialect = _HADOOP1 if stated.is_hadoop1 else _YARN
    found = _ElementReader(path)
    general = found.read_values(stated.general, {**dialect.limits, **_TIMEOUTS, **dialect.mode})
    usual = {"mode": general.pop("mode")} if "mode" in general else {}
    pools = {
        name: found.params(PoolParams, name, usual | found.read_values(told, dialect.pool, name))
        for name, told in stated.pools.items()
    }
    users = {
        name: found.read_values(told, dialect.user, name) for name, told in stated.users.items()
    }
    limits = {key: value for key, value in general.items() if key not in _TIMES}
    if jobs := {name: told["max_jobs"] for name, told in users.items() if told}:
        limits["max_jobs_of"] = jobs
    with refusing_values(path):
        Fair.Params(pools=pools, **limits)
    timeouts = {key: value for key, value in general.items() if key in _TIMES}
    return FairSettings(pools, limits, timeouts, *found.left_out(dialect.played_elements))


def read_fair_queues(path: Path) -> YarnQueueSettings:
    """What a file of YARN's says of queues; ScenarioError with the element that is wrong, and for
    Hadoop 1's pools, which are of slots.
    """
    stated = _stated_elements(path)
    if stated.is_hadoop1:
        raise ScenarioError("pools of Hadoop 1, in slots; `--policy fair` plays them", source=path)
    found = _ElementReader(path)
    general = found.read_values(stated.general, _YARN_SCHEDULER)
    queues = {
        name: found.params(YarnQueueParams, name, found.read_values(told, _YARN_QUEUE, name))
        for name, told in stated.pools.items()
    }
    for told in stated.users.values():
        found.read_values(told, {})
    if any(
        told.get("schedulingPolicy", "").strip().lower() == "drf" for told in stated.pools.values()
    ):
        general["scheduler"] = "drf"
    general = {"scheduler": "fair", **general}
    with refusing_values(path):
        YarnParams(queues=queues, **general)
    return YarnQueueSettings(queues, general, *found.left_out({*_YARN_QUEUE, *_YARN_SCHEDULER}))


def _stated_elements(path: Path) -> _Stated:
    root = parsed_xml(path)
    stated = _Stated({}, {}, {}, _is_hadoop1(root))
    for element in root:
        if element.tag in ("pool", "queue"):
            _add_pool(stated, element, "", path)
        elif element.tag == "user":
            name = _element_name(element, path)
            stated.users.setdefault(name, {}).update(_child_texts(element))
        else:
            stated.general[element.tag] = element.text or ""
    if not stated.pools and not stated.users and not stated.general:
        raise ScenarioError("there are no pools or queues in it", source=path)
    return stated


def _is_hadoop1(root: Xml.Element) -> bool:
    """Whether it speaks of Hadoop 1's pools: YARN reads `pool` as `queue`, in its own terms."""
    tags = {element.tag for element in root}
    inside = {element.tag for pool in root.findall("pool") for element in pool}
    if "queue" in tags or inside & {"minResources", "maxResources", "maxRunningApps"}:
        return False
    return bool(tags.intersection({"pool", *_HADOOP1_LIMITS}))


def _add_pool(stated: _Stated, element: Xml.Element, above: str, path: Path) -> None:
    """The pool, and those in it; YARN's `root` is the one above all and has no name of its own."""
    name = _element_name(element, path)
    if above.count("/") > _DEPTH_MAX:
        raise ScenarioError(f"queues in queues, more than {_DEPTH_MAX} deep", source=path)
    if not stated.is_hadoop1:
        name = name.removeprefix(f"{_ROOT}.").replace(".", "/")
    is_root = name == _ROOT and not above and not stated.is_hadoop1
    inside = "" if is_root else f"{above}/{name}" if above else name
    if inside:
        stated.pools.setdefault(inside, {}).update(_child_texts(element))
    for each in element:
        if each.tag in ("pool", "queue"):
            _add_pool(stated, each, inside, path)


def _element_name(element: Xml.Element, path: Path) -> str:
    name = element.get("name", "").strip()
    if not name:
        raise ScenarioError(f"a <{element.tag}> has no name", source=path)
    return name


def _child_texts(element: Xml.Element) -> dict[str, str]:
    return {each.tag: each.text or "" for each in element if each.tag not in ("pool", "queue")}


class _ElementReader:
    """Reads the elements of a file, and keeps which of them are not played."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unplayed: dict[str, None] = {}

    def read_values(
        self, told: Mapping[str, str], fields: Mapping[str, Field], of: str = ""
    ) -> dict[str, Any]:
        """The elements that have fields, read; others are noted as not played."""
        values: dict[str, Any] = {}
        for name, text in told.items():
            key = f"{printable(of)}: {name}" if of else name
            read: dict[str, Any] = {}
            if name in fields:
                take_property(read, fields[name], key, text.strip(), self._path)
            if not read:
                self._unplayed.setdefault(name if name not in fields else key)
            values |= read
        return values

    def params(self, kind: Callable[..., Any], name: str, values: dict[str, Any]) -> Any:
        """A pool or queue of these values; ScenarioError where one is out of its range."""
        with refusing_values(self._path, f"`{printable(name[:80])}`: "):
            return kind(**values)

    def left_out(self, played: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The elements that are not played, and notes on those that may be slips of the pen."""
        plain, notes = left_out_properties(self._unplayed, played, {}, ())
        return tuple(plain), tuple(notes)


def _parsed_finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _parsed_mode(text: str) -> str:
    """Shares of what each has most of are shares where there are slots alone."""
    mode = text.lower()
    if mode not in ("fair", "fifo", "drf"):
        raise ValueError(text)
    return "fifo" if mode == "fifo" else "fair"


def _parsed_scheduler(text: str) -> str | None:
    """YARN's Fair Scheduler compares by memory, or by what each has most of; None for its third
    policy, which is not played.
    """
    if text.lower() not in ("fair", "drf", "fifo"):
        raise ValueError(text)
    return None if text.lower() == "fifo" else text.lower()


_AMOUNT = re.compile(
    r"(?P<number>\d+)(?:\.\d*)?\s*(?P<unit>mb|vcores)"
    r"|(?P<name>memory-mb|vcores)\s*=\s*(?P<amount>\d+)"
)


def _parsed_amounts(text: str) -> dict[str, int] | None:
    """`1024 mb, 2 vcores`, of which YARN cuts decimals off, or `memory-mb=1024, vcores=2`; None for
    parts of the cluster.
    """
    if "%" in text:
        return None
    found, rest = {}, text.strip().lower()
    while rest:
        told = _AMOUNT.match(rest)
        if told is None:
            raise ValueError(text)
        is_cores = "vcores" in (told["unit"], told["name"])
        found["vcores" if is_cores else "memory"] = int(told["number"] or told["amount"])
        rest = rest[told.end() :].lstrip(", ")
    return found


_WHOLE, _SECONDS = "a whole number", "a number of seconds"
_MODE: Field = ("mode", _parsed_mode, "fair or fifo")
_JOBS: Field = ("max_jobs", int, _WHOLE)
_SHARES: dict[str, Field] = {
    "weight": ("weight", _parsed_finite, "a number"),
    "minSharePreemptionTimeout": ("min_share_timeout_s", _parsed_finite, _SECONDS),
}
_TIMEOUTS: dict[str, Field] = {
    "fairSharePreemptionTimeout": ("fair_share_timeout_s", _parsed_finite, _SECONDS),
    "defaultFairSharePreemptionTimeout": ("fair_share_timeout_s", _parsed_finite, _SECONDS),
    "defaultMinSharePreemptionTimeout": ("min_share_timeout_s", _parsed_finite, _SECONDS),
}
_TIMES = {key for key, _, _ in _TIMEOUTS.values()}


class _Dialect(NamedTuple):
    """The elements of a kind of file that are played as pools: of a pool, of a user, of all."""

    pool: dict[str, Field]
    user: dict[str, Field]
    limits: dict[str, Field]
    mode: dict[str, Field]

    @property
    def played_elements(self) -> set[str]:
        return {*self.pool, *self.user, *self.limits, *self.mode, *_TIMEOUTS}


_HADOOP1 = _Dialect(
    pool={
        **_SHARES,
        "minMaps": ("min_maps", int, _WHOLE),
        "minReduces": ("min_reduces", int, _WHOLE),
        "maxMaps": ("max_maps", int, _WHOLE),
        "maxReduces": ("max_reduces", int, _WHOLE),
        "maxRunningJobs": _JOBS,
        "schedulingMode": _MODE,
    },
    user={"maxRunningJobs": _JOBS},
    limits={
        "poolMaxJobsDefault": ("max_jobs_per_pool", int, _WHOLE),
        "userMaxJobsDefault": ("max_jobs_per_user", int, _WHOLE),
    },
    mode={"defaultPoolSchedulingMode": _MODE},
)
_YARN = _Dialect(
    pool={
        **_SHARES,
        "maxRunningApps": _JOBS,
        "schedulingPolicy": _MODE,
        "schedulingMode": _MODE,
    },
    user={"maxRunningApps": _JOBS},
    limits={
        "queueMaxAppsDefault": ("max_jobs_per_pool", int, _WHOLE),
        "userMaxAppsDefault": ("max_jobs_per_user", int, _WHOLE),
    },
    mode={"defaultQueueSchedulingPolicy": _MODE, "defaultQueueSchedulingMode": _MODE},
)
_RESOURCES = "amounts as in `1024 mb, 2 vcores`"
_YARN_QUEUE: dict[str, Field] = {
    "weight": _SHARES["weight"],
    "minResources": ("min_resources", _parsed_amounts, _RESOURCES),
    "maxResources": ("max_resources", _parsed_amounts, _RESOURCES),
}
_YARN_SCHEDULER: dict[str, Field] = {
    "defaultQueueSchedulingPolicy": ("scheduler", _parsed_scheduler, "fair, fifo or drf"),
    "defaultQueueSchedulingMode": ("scheduler", _parsed_scheduler, "fair, fifo or drf"),
}
