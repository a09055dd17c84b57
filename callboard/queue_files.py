"""Queues and pools for `--allocations`: those of `capacity` and `yarn` out of a
`capacity-scheduler.xml`, those of `fair` and `yarn` out of a Fair Scheduler's allocation file; and
which pools have none.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from callboard.actors.central.central import Central
from callboard.actors.yarn.yarn import Yarn
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.user_errors import InputError
from callboard.scheduler.orders.capacity.capacity import Capacity
from callboard.scheduler.text.concise import concise
from callboard.scheduler.text.quantities import count, printable
from callboard.scheduler.text.scenario_error import ScenarioError

if TYPE_CHECKING:
    from callboard.scenarios.queue_files.fair_allocations import FairSettings
    from callboard.scenarios.queue_files.queue_allocations import QueueSettings
    from callboard.scenarios.queue_files.yarn_allocations import YarnQueueSettings

    Settings: TypeAlias = QueueSettings | YarnQueueSettings | FairSettings

_T = TypeVar("_T")


def _queues_in_file(allocations: str) -> "dict[str, Settings | ScenarioError]":
    """What the file says to each that has queues, or why it cannot have these; its readers are
    loaded when there is one.
    """
    from callboard.histories.source_path import checked_source
    from callboard.scenarios.queue_files.fair_allocations import (
        is_fair_file,
        read_fair_pools,
        read_fair_queues,
    )
    from callboard.scenarios.queue_files.queue_allocations import read_capacity_scheduler
    from callboard.scenarios.queue_files.yarn_allocations import read_yarn_queues

    path = checked_source(allocations)
    readers: dict[str, Callable[[Path], Settings]]
    if is_fair_file(path):
        readers = {"fair": read_fair_pools, "yarn": read_fair_queues}
    else:
        readers = {"capacity": read_capacity_scheduler, "yarn": read_yarn_queues}
    found: dict[str, Settings | ScenarioError] = {}
    for name, read in readers.items():
        try:
            found[name] = read(path)
        except ScenarioError as error:
            found[name] = error
    return found


def queue_overrides(allocations: str, policies: Sequence[str] | None) -> list[str]:
    """The queues as `--set` takes them; ScenarioError where nobody can have them, by that of these
    policies which was to.
    """
    found = _queues_in_file(allocations)
    read = [each for each in found.values() if not isinstance(each, ScenarioError)]
    if not read:
        errors = {name: each for name, each in found.items() if isinstance(each, ScenarioError)}
        raise next(iter(_values_for_policies(errors, policies or ())), errors["yarn"])
    return [override for each in read for override in each.overrides()]


def _values_for_policies(found: Mapping[str, _T], policies: Sequence[str]) -> list[_T]:
    """What there is of those that these policies are."""
    return [
        each
        for name, each in found.items()
        if any(re.match(rf"{name}\b", policy) for policy in policies)
    ]


def print_queue_file_notes(allocations: str, policies: Sequence[str], spec: RunSpec) -> None:
    """Say what of the file is not played, or may be wrong, and whose pools have no queue in it;
    InputError if no policy has queues, ScenarioError if one cannot have these.
    """
    found = _queues_in_file(allocations)
    asked = _values_for_policies(found, policies)
    if not asked:
        played, able = concise(", ".join(policies)), ", or ".join(found)
        have = "has" if len(policies) == 1 else "have"
        raise InputError(f"--allocations: add --policy {able}; {played} {have} no queues")
    unplayed, settings = dict[str, None](), list["Settings"]()
    for each in asked:
        if isinstance(each, ScenarioError):
            raise each
        settings.append(each)
        unplayed.update(dict.fromkeys(each.unplayed))
    if unplayed:
        told = concise(printable(", ".join(unplayed)))
        print(f"{allocations}: not played: {told}", file=sys.stderr)
    notes = [concise(note) for each in settings for note in each.notes]
    notes += [line for each in settings if (line := _missing_queue_note(each, spec))]
    notes += _ineffective_pool_notes(settings, policies, spec)
    for note in dict.fromkeys(map(printable, notes)):
        print(f"{allocations}: {note}", file=sys.stderr)


def _ineffective_pool_notes(
    settings: "Sequence[Settings]", policies: Sequence[str], spec: RunSpec
) -> Iterator[str]:
    """What of pools has no effect, since nobody preempts or no job is in one of them."""
    from callboard.scenarios.queue_files.fair_allocations import FairSettings
    from callboard.scenarios.queue_files.yarn_allocations import YarnQueueSettings

    pools = {job.pool for job in spec.jobs}
    theirs = concise(", ".join(sorted(filter(None, pools))))
    named = f"theirs are: {theirs}" if theirs else "they state none"
    for each in settings:
        if isinstance(each, FairSettings):
            times = each.timeouts or any(pool.min_share_timeout_s for pool in each.pools.values())
            if times and not any(re.match(r"fair\b.*\+kill\b", policy) for policy in policies):
                yield "its times for preemption take effect with --policy fair+kill"
            if each.pools and each.pools.keys().isdisjoint(pools):
                users = not each.pools.keys().isdisjoint(job.user for job in spec.jobs)
                do = "; --set 'parts.fair.pool_by=\"user\"' goes by users, of whom it names some"
                yield f"no job is in a pool that it names; {named}{do if users else ''}"
        elif isinstance(each, YarnQueueSettings) and each.are_passed_by(pools):
            yield f"no job is in a queue that it names; {named}"


def print_pools_without_queue(policies: Sequence[str], spec: RunSpec) -> None:
    """Say whose pools have none of the queues that policies state themselves; of a policy that
    states none, if there are several pools.
    """
    several = len({job.pool for job in spec.jobs}) > 1
    for policy in policies:
        settings = _stated_queues(policy, spec)
        line = ""
        if settings is not None and settings.queues:
            line = _missing_queue_note(settings, spec)
        elif settings is not None and several:
            line = _ONE_QUEUE
        if line:
            print(f"callboard: note: {concise(policy)}: {line}", file=sys.stderr)


_ONE_QUEUE = (
    "no queues are stated: the jobs of all pools go to `default`; --allocations takes queues from a"
    " capacity-scheduler.xml"
)


def _stated_queues(policy: str, spec: RunSpec) -> "QueueSettings | YarnQueueSettings | None":
    """The queues that a policy has by what it or the scenario says; None if it has none at all."""
    name = re.match(r"\w+", policy)
    if name is None or name[0] not in ("capacity", "yarn"):
        return None
    made = load_architecture(policy, spec.scenario.parts)
    if isinstance(made, Central):
        from callboard.scenarios.queue_files.queue_allocations import QueueSettings

        order = made.policy.order
        return (
            QueueSettings.of_stated_queues(order.params.queues)
            if isinstance(order, Capacity)
            else None
        )
    from callboard.scenarios.queue_files.yarn_allocations import YarnQueueSettings

    params = made.params if isinstance(made, Yarn) else None
    if params is None or params.scheduler != "capacity":
        return None
    return YarnQueueSettings(params.queues, {}, ())


def _missing_queue_note(settings: "Settings", spec: RunSpec) -> str:
    """Which pools of the jobs have no queue, and where their jobs go instead."""
    pools = Counter(job.pool for job in spec.jobs)
    homeless, capacity = settings.pools_without_queue(pools)
    if not homeless:
        return ""
    named = concise(", ".join(each or "jobs without a pool" for each in homeless))
    moved = sum(pools[each] for each in homeless)
    where = f"`default`, with a capacity of {capacity:g} %"
    go = "goes" if moved == 1 else "go"
    told = f"no queue for {named}: {moved} of {count(len(spec.jobs), 'job')} {go} to {where}"
    scant = "a user holds next to nothing there"
    do = "name their queues, or give `default` a capacity"
    return f"{told}; {scant}: {do}" if not capacity else told
