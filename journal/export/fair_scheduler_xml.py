"""A policy as an allocation file of YARN's Fair Scheduler, and what that file cannot say."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from callboard.actors.yarn.yarn_params import YarnParams, YarnQueueParams
from callboard.histories.writers.write_sls import CONTAINER_MB, DEFAULT_QUEUE
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.kill import KillPreemption

_YARN_NAMES = {"memory": "memory-mb"}
"""Resources that YARN's file calls otherwise."""


class SchedulerFile(NamedTuple):
    """The file's text, and what of the policy is not in it, a sentence each."""

    text: str
    unsaid: tuple[str, ...]


def policy_allocations_xml(policy: Policy) -> SchedulerFile:
    """Say the policy as far as the Fair Scheduler knows such things."""
    root, unsaid = Xml.Element("allocations"), _unsaid_order(policy)
    params = policy.order.params if isinstance(policy.order, Fair) else Fair.Params()
    for path, pool in params.pools.items():
        _add_pool(root, path, pool, unsaid)
    mode = "fifo" if policy.order.name == "fifo" else "fair"
    if not params.pools:
        queue = Xml.SubElement(root, "queue", name=DEFAULT_QUEUE)
        _add_element(queue, "schedulingPolicy", mode)
    _add_limits(root, params)
    _add_preemption(root, policy, unsaid)
    _note_unsaid_parts(policy, unsaid)
    return SchedulerFile(xml_text(root), tuple(unsaid))


def yarn_allocations_xml(params: YarnParams) -> SchedulerFile:
    """The queues of a resource manager with the Fair Scheduler."""
    root = Xml.Element("allocations")
    for path, queue in params.queues.items():
        at = _queue_element(root, path.split("/"))
        _add_element(at, "weight", f"{queue.weight:g}")
        for name, amounts in (
            ("minResources", queue.min_resources),
            ("maxResources", queue.max_resources),
        ):
            if amounts:
                told = (f"{_YARN_NAMES.get(key, key)}={n}" for key, n in amounts.items())
                _add_element(at, name, ", ".join(told))
    _add_element(root, "defaultQueueSchedulingPolicy", params.scheduler)
    bounds = [
        f"queue {path}: capacities and limits of users"
        for path, queue in params.queues.items()
        if queue.capacity is not None
        or queue.maximum_capacity != YarnQueueParams().maximum_capacity
    ]
    return SchedulerFile(xml_text(root), ("heartbeats and limits a heartbeat", *bounds))


def xml_text(root: Xml.Element) -> str:
    """The whole file, indented."""
    Xml.indent(root)
    return f'<?xml version="1.0"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _unsaid_order(policy: Policy) -> list[str]:
    order = policy.order
    if order.name not in ("fifo", "fair"):
        return [f"the order {order.name}: YARN has none like it; the file says fair"]
    if order.name == "fifo":
        return ["FIFO's limits a heartbeat, and Hadoop 1's five priorities"]
    return ["weights by a job's priority"]


def _add_pool(root: Xml.Element, path: str, pool: PoolParams, unsaid: list[str]) -> None:
    """A queue, within those above it."""
    at = _queue_element(root, path.split("/"))
    _add_element(at, "weight", f"{pool.weight:g}")
    slots = pool.min_maps + pool.min_reduces
    if slots:
        _add_element(at, "minResources", _resources_text(slots))
        told = f"{pool.min_maps} maps and {pool.min_reduces} reduces"
        unsaid.append(f"pool {path}: at least {told}, by kind")
    _add_caps(at, path, pool, unsaid)
    if pool.max_jobs is not None:
        _add_element(at, "maxRunningApps", str(pool.max_jobs))
    if pool.min_share_timeout_s is not None:
        _add_element(at, "minSharePreemptionTimeout", f"{pool.min_share_timeout_s:g}")
    _add_element(at, "schedulingPolicy", pool.mode)


def _queue_element(root: Xml.Element, names: Iterable[str]) -> Xml.Element:
    """The queue of these names, each within the one before."""
    at = root
    for name in names:
        found = next((each for each in at.findall("queue") if each.get("name") == name), None)
        at = Xml.SubElement(at, "queue", name=name) if found is None else found
    return at


def _add_caps(at: Xml.Element, path: str, pool: PoolParams, unsaid: list[str]) -> None:
    """The most that a queue may run, where both kinds have a cap."""
    caps = {"maps": pool.max_maps, "reduces": pool.max_reduces}
    told = {kind: cap for kind, cap in caps.items() if cap is not None}
    if len(told) == len(caps):
        _add_element(at, "maxResources", _resources_text(sum(told.values())))
    if told:
        each = " and ".join(f"{cap} {kind}" for kind, cap in told.items())
        unsaid.append(f"pool {path}: at most {each}, by kind")


def _resources_text(slots: int) -> str:
    return f"{slots * CONTAINER_MB} mb, {slots} vcores"


def _add_limits(root: Xml.Element, params: Any) -> None:
    if params.max_jobs_per_pool is not None:
        _add_element(root, "queueMaxAppsDefault", str(params.max_jobs_per_pool))
    if params.max_jobs_per_user is not None:
        _add_element(root, "userMaxAppsDefault", str(params.max_jobs_per_user))
    for user, jobs in params.max_jobs_of.items():
        _add_element(Xml.SubElement(root, "user", name=user), "maxRunningApps", str(jobs))


def _add_preemption(root: Xml.Element, policy: Policy, unsaid: list[str]) -> None:
    rule = policy.preemption
    if rule.name == "no_preemption":
        return
    if not isinstance(rule, KillPreemption):
        unsaid.append(f"the preemption rule {rule.name}: YARN only kills by entitlement")
        return
    params = rule.params
    for name, seconds in (
        ("defaultMinSharePreemptionTimeout", params.min_share_timeout_s),
        ("defaultFairSharePreemptionTimeout", params.fair_share_timeout_s),
    ):
        if seconds != float("inf"):
            _add_element(root, name, f"{seconds:g}")
    unsaid.append("that preemption is on: set yarn.scheduler.fair.preemption in yarn-site.xml")


def _note_unsaid_parts(policy: Policy, unsaid: list[str]) -> None:
    if policy.locality.name == "delay":
        setting = "yarn.scheduler.fair.locality.threshold.node and .rack in yarn-site.xml"
        unsaid.append(f"the waits of delay scheduling: there are {setting}, in shares of the nodes")
    if policy.speculation.name != "no_speculation":
        unsaid.append(f"the speculation rule {policy.speculation.name}: jobs' own masters decide")


def _add_element(parent: Xml.Element, name: str, text: str) -> None:
    Xml.SubElement(parent, name).text = text
