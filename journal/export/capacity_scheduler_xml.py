"""The queues of `capacity` and of `yarn` as `capacity-scheduler.xml`, Hadoop 1's or YARN's."""

from collections.abc import Iterator
from typing import Literal
from xml.etree import ElementTree as Xml

from callboard.actors.yarn.yarn_params import YarnParams, YarnQueueParams
from callboard.actors.yarn.yarn_queues import QueueTree, YarnQueue
from callboard.journal.export.fair_scheduler_xml import SchedulerFile, xml_text
from callboard.scheduler.orders.capacity.capacity import Capacity
from callboard.scheduler.orders.capacity.queues import CapacityQueue
from callboard.scheduler.policy import Policy

Dialect = Literal["hadoop1", "yarn"]

_QUEUE = {
    "hadoop1": "mapred.capacity-scheduler.queue.{}",
    "yarn": "yarn.scheduler.capacity.root.{}",
}


def capacity_scheduler_xml(policy: Policy, dialect: Dialect) -> SchedulerFile:
    """Every queue with all that it states, its capacity spelt out; the policy's order is
    `capacity`.
    """
    order = policy.order
    assert isinstance(order, Capacity)
    root, unsaid = Xml.Element("configuration"), []
    if dialect == "yarn":
        _add_property(root, _QUEUE["yarn"].format("queues"), ",".join(order.queues))
    for queue in order.queues.values():
        for name, text in _stated_properties(queue):
            if name == "supports-priority" and dialect == "yarn":
                unsaid.append(f"queue {queue.name}: that jobs have priorities; there all do")
            else:
                _add_property(root, f"{_QUEUE[dialect].format(queue.name)}.{name}", text)
    parts = (policy.locality, policy.preemption, policy.speculation)
    unsaid += [f"the part {each.name}" for each in parts if each.name not in _SILENT]
    return SchedulerFile(xml_text(root), tuple(unsaid))


def yarn_scheduler_xml(params: YarnParams) -> SchedulerFile:
    """The queues of a resource manager with the Capacity Scheduler, at any depth."""
    tree, root = QueueTree(params.queues, open_ended=False), Xml.Element("configuration")
    for queue in tree.root.subtree():
        if queue.children:
            names = ",".join(each.path.rpartition("/")[2] for each in queue.children)
            _add_property(root, f"{_property_prefix(queue)}.queues", names)
        if queue.parent is not None:
            for name, text in _stated_properties_of_yarn(queue, queue.parent, params.am_percent):
                _add_property(root, f"{_property_prefix(queue)}.{name}", text)
    _add_property(
        root, f"{_YARN}.maximum-am-resource-percent", _percent_as_fraction(params.am_percent)
    )
    _add_property(root, f"{_YARN}.node-locality-delay", str(params.node_locality_delay))
    _add_property(root, f"{_YARN}.resource-calculator", _CALCULATORS[params.calculator])
    times = "heartbeats, limits a heartbeat and the preemption monitor, which yarn-site.xml states"
    bounds = [
        f"queue {path}: weight, least and most" for path in _queues_with_fair_settings(params)
    ]
    return SchedulerFile(xml_text(root), (times, *bounds))


_YARN = "yarn.scheduler.capacity"
_CALCULATORS = {
    "memory": "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
    "dominant": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
}


def _property_prefix(queue: YarnQueue) -> str:
    below = "" if queue.parent is None else f".{queue.path.replace('/', '.')}"
    return f"{_YARN}.root{below}"


def _stated_properties_of_yarn(
    queue: YarnQueue, parent: YarnQueue, of_all: float
) -> Iterator[tuple[str, str]]:
    params = queue.params
    yield "capacity", f"{float(100 * queue.share / parent.share) if parent.share else 0:.12g}"
    yield "maximum-capacity", f"{params.maximum_capacity:.12g}"
    if not queue.children:
        yield "minimum-user-limit-percent", str(params.minimum_user_limit_percent)
        yield "user-limit-factor", f"{params.user_limit_factor:.12g}"
    if params.priority:
        yield "priority", str(params.priority)
    if params.preemptable is not parent.params.preemptable:
        yield "disable_preemption", "false" if params.preemptable else "true"
    if params.am_percent is not None:
        yield "maximum-am-resource-percent", _percent_as_fraction(params.am_percent)
    elif parent.params.am_percent is not None:  # which the file would hand down
        yield "maximum-am-resource-percent", _percent_as_fraction(of_all)


def _percent_as_fraction(percent: float) -> str:
    return f"{percent / 100:.12g}"


def _queues_with_fair_settings(params: YarnParams) -> list[str]:
    """The queues that state what only the Fair Scheduler goes by."""
    usual = YarnQueueParams()
    names = ("weight", "min_resources", "max_resources")
    return [
        path
        for path, each in params.queues.items()
        if any(getattr(each, name) != getattr(usual, name) for name in names)
    ]


_SILENT = {"any_locality", "no_preemption", "no_speculation"}
"""Parts that do nothing."""


def _stated_properties(queue: CapacityQueue) -> list[tuple[str, str]]:
    params = queue.params
    stated = [("capacity", f"{queue.percent:.12g}")]
    if params.maximum_capacity is not None:
        stated.append(("maximum-capacity", f"{params.maximum_capacity:.12g}"))
    stated.append(("minimum-user-limit-percent", str(params.minimum_user_limit_percent)))
    stated.append(("user-limit-factor", f"{params.user_limit_factor:.12g}"))
    if params.supports_priority:
        stated.append(("supports-priority", "true"))
    return stated


def _add_property(root: Xml.Element, name: str, value: str) -> None:
    each = Xml.SubElement(root, "property")
    Xml.SubElement(each, "name").text = name
    Xml.SubElement(each, "value").text = value
