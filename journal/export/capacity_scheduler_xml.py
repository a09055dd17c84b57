"""The queues of the order `capacity` as `capacity-scheduler.xml`, Hadoop 1's or YARN's."""

from typing import Literal
from xml.etree import ElementTree as Xml

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
        _add(root, _QUEUE["yarn"].format("queues"), ",".join(order.queues))
    for queue in order.queues.values():
        for name, text in _stated(queue):
            if name == "supports-priority" and dialect == "yarn":
                unsaid.append(f"queue {queue.name}: that jobs have priorities; there all do")
            else:
                _add(root, f"{_QUEUE[dialect].format(queue.name)}.{name}", text)
    parts = (policy.locality, policy.preemption, policy.speculation)
    unsaid += [f"the part {each.name}" for each in parts if each.name not in _SILENT]
    return SchedulerFile(xml_text(root), tuple(unsaid))


_SILENT = {"any_locality", "no_preemption", "no_speculation"}
"""Parts that do nothing."""


def _stated(queue: CapacityQueue) -> list[tuple[str, str]]:
    params = queue.params
    stated = [("capacity", f"{queue.percent:.12g}")]
    if params.maximum_capacity is not None:
        stated.append(("maximum-capacity", f"{params.maximum_capacity:.12g}"))
    stated.append(("minimum-user-limit-percent", str(params.minimum_user_limit_percent)))
    stated.append(("user-limit-factor", f"{params.user_limit_factor:.12g}"))
    if params.supports_priority:
        stated.append(("supports-priority", "true"))
    return stated


def _add(root: Xml.Element, name: str, value: str) -> None:
    each = Xml.SubElement(root, "property")
    Xml.SubElement(each, "name").text = name
    Xml.SubElement(each, "value").text = value
