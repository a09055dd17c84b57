"""Repeated events as one line of the log: a rack that fails is ten crashes, and one thing to read.

Events fold that follow each other within a second, alike but for their node.  A line that stands
for several goes by the number of its first event; unfolded it is a line for each again.
"""

from collections.abc import Collection, Iterator

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.faults import NodeFault
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.replay.event_log import LogFilter, events_before, log_line
from callboard.journal.replay.frame import LogLine
from callboard.journal.replay.recording import EVENT_NUMBERS, Recording
from callboard.journal.tell.names import rack_name
from callboard.scheduler.text.quantities import count, printable

_FOLDING = {
    EVENT_NUMBERS[each]
    for each in (
        *(ev.FaultStruck, ev.MapOutputsLost, ev.JobBlacklistedNode),
        *(ev.NodeLost, ev.NodeReturned, ev.ContactLost, ev.ContactRegained),
    )
}
"""The kinds of event that may fold, by their numbers."""

_GAP_MS = 1_000
"""Events further apart than this are told apart."""


def folded_lines(
    recording: Recording, index: int, most: int, wanted: LogFilter, unfolded: Collection[int]
) -> list[LogLine]:
    """The last `most` lines among the first `index` events, the oldest first; the groups that
    begin with an event in `unfolded` have a line for each event.
    """
    found: list[LogLine] = []
    for group in _groups_of_alike_events(recording, events_before(recording, index, wanted)):
        lines = _lines_of_group(recording, group, group[-1] in unfolded)
        found += lines[: most - len(found)]
        if len(found) == most:
            break
    return found[::-1]


def _groups_of_alike_events(recording: Recording, numbers: Iterator[int]) -> Iterator[list[int]]:
    """The events in groups, of each the last first."""
    group: list[int] = []
    for number in numbers:
        if group and not _may_fold_together(recording, number, group[-1]):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _may_fold_together(recording: Recording, one: int, other: int) -> bool:
    """Whether two neighbours fold: nothing but the node tells them apart, or the job that loses
    maps avoids the node for it.
    """
    if not _FOLDING.issuperset((recording.kinds[one], recording.kinds[other])):
        return False
    if abs(recording.times[other] - recording.times[one]) > _GAP_MS:
        return False
    match recording.event(one), recording.event(other):
        case ev.FaultStruck(fault=NodeFault() as first), ev.FaultStruck(
            fault=NodeFault() as second
        ):
            return msgspec.structs.replace(first, node=second.node) == second
        case ev.MapOutputsLost() as before, ev.MapOutputsLost() as after:
            return (before.job, before.outcome) == (after.job, after.outcome)
        case ev.MapOutputsLost() as before, ev.JobBlacklistedNode() as after:
            return (before.job, before.node) == (after.job, after.node)
        case ev.JobBlacklistedNode() as before, ev.MapOutputsLost() as after:
            of_a_loss = isinstance(recording.event(before.cause), ev.MapOutputsLost)
            return of_a_loss and before.job == after.job
        case (ev.NodeLost(), ev.NodeLost()) | (ev.NodeReturned(), ev.NodeReturned()):
            return True
        case (ev.ContactLost() as before, ev.ContactLost() as after) | (
            ev.ContactRegained() as before,
            ev.ContactRegained() as after,
        ):
            return before.scheduler == after.scheduler
    return False


def _lines_of_group(recording: Recording, group: list[int], unfolded: bool) -> list[LogLine]:
    """A group's lines, the last first."""
    if unfolded:
        lines = (log_line(recording, number) for number in group)
        told = {"folded": len(group), "group": group[-1]}
        return [msgspec.structs.replace(line, **told) for line in lines]
    first = log_line(recording, group[-1])
    if len(group) == 1:
        return [first]
    text = printable(_folded_text(recording, group[::-1], first.text))
    return [msgspec.structs.replace(first, text=text, folded=len(group))]


def _folded_text(recording: Recording, group: list[int], first: str) -> str:
    """What happened, how often, and where: the first sentence stands for those like it."""
    events = [recording.event(number) for number in group]
    nodes = {recording.nodes[number] for number in group}
    lost = [event for event in events if isinstance(event, ev.MapOutputsLost)]
    if not lost:
        if isinstance(events[0], ev.NodeLost | ev.ContactLost):  # silent for how long differs
            first = first.partition(": ")[0]
        where = _racks_in_words(recording, nodes)
        of = f"of {where}" if where.startswith("rack-") else f"in {where}"
        return f"{first}, and {len(group) - 1:,} more {of}"
    job = lost[0].job
    name = recording.last_state.run.given_name(job) or job_name(job)
    maps = count(sum(len(event.attempts) for event in lost), "map")
    hosts = count(len(nodes), "node")
    blacklisted = [event for event in events if isinstance(event, ev.JobBlacklistedNode)]
    if blacklisted and blacklisted[-1].in_force:  # else they were too many, and it uses all
        hosts += f", {len(blacklisted)} shunned"
    return f"{maps} of {name} run again ({_racks_in_words(recording, nodes)}, {hosts})"


def _racks_in_words(recording: Recording, nodes: set[int]) -> str:
    """`rack-2`, or how many they are in."""
    assert recording.started is not None
    racks = {recording.started.nodes[node].rack for node in nodes}
    return rack_name(min(racks)) if len(racks) == 1 else count(len(racks), "rack")
