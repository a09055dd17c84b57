"""What is peculiar to architectures of several schedulers, in words for the detail: reservations
that wait at nodes, schedulers that think, claims in conflict.
"""

from callboard.actors.vocabulary.events import SchedulingAttempted
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.recording import Recording
from callboard.journal.tell.names import clock, count, duration, node_name
from callboard.journal.tell.time_format import clock_time
from callboard.scheduler.model import JobId, Millis, NodeId

_Fact = tuple[str, str]

_JOBS_SHOWN = 4
_SCHEDULERS_SHOWN = 4


def schedulers_so_far(recording: Recording, cluster: ClusterState, at_ms: Millis) -> list[_Fact]:
    """Of the whole cluster: how many reservations wait, and what each scheduler has thought."""
    facts, waiting = [], +cluster.reservations.by_node
    if waiting:
        node, most = max(waiting.items(), key=lambda each: (each[1], -each[0]))
        wait = f"{waiting.total():,} wait at {count(len(waiting), 'node')}"
        facts.append(("reservations", f"{wait}, most at {node_name(node)}: {most:,}"))
    thinking = recording.thinking_at(at_ms)
    for number, thought in list(thinking.items())[:_SCHEDULERS_SHOWN]:
        until = f"until {clock(thought.at_ms)}"
        facts.append(("thinks", f"scheduler {number} about {job_name(thought.job)} {until}"))
    thoughts = cluster.thoughts.schedulers()
    for each in thoughts[:_SCHEDULERS_SHOWN]:
        number = each.useful + each.wasted + each.in_vain
        said = f"{each.busyness(at_ms):.0%} busy, {count(number, 'thought')}"
        said += f", {each.wasted:,} in conflict" if each.wasted else ""
        said += f", {each.in_vain:,} without room" if each.in_vain else ""
        last = cluster.last_thoughts[each.scheduler]
        facts.append((f"scheduler {each.scheduler}", f"{said}; last {_last(last)}"))
    if len(thoughts) > _SCHEDULERS_SHOWN:
        facts.append(("", f"and {len(thoughts) - _SCHEDULERS_SHOWN} more schedulers"))
    return facts


def _last(event: SchedulingAttempted) -> str:
    return f"{duration(event.thought_ms)} about {job_name(event.job)}, {_came_of(event)}"


def _came_of(event: SchedulingAttempted) -> str:
    if not event.committed and not event.conflicted:
        return "no room"
    lost = f", {len(event.conflicted):,} in conflict" if event.conflicted else ""
    return f"placed {len(event.committed):,} of {event.tasks:,}{lost}"


def waiting_at_node(cluster: ClusterState, node: NodeId) -> list[_Fact]:
    """Of a node: whose reservations wait there, and which tasks for a slot."""
    facts, held = [], cluster.reservations.at(node)
    if held:
        shown = ", ".join(f"{job_name(job)} {n:,}" for job, n in held.most_common(_JOBS_SHOWN))
        rest = len(held) - _JOBS_SHOWN
        more = f", and of {count(rest, 'other job')}" if rest > 0 else ""
        facts.append(("reservations", f"{held.total():,} wait for a slot: {shown}{more}"))
    if cluster.bound[node] > 0:
        facts.append(("queue", f"{count(cluster.bound[node], 'task')} given to it, not begun"))
    return facts


def waiting_of_job(
    recording: Recording, cluster: ClusterState, job: JobId, at_ms: Millis
) -> list[_Fact]:
    """Of a job: where its reservations wait, who thinks about it, and the last thought."""
    facts, held = [], +cluster.reservations.of(job)
    if held:
        shown = ", ".join(f"{node_name(node)} {n:,}" for node, n in held.most_common(_JOBS_SHOWN))
        more = ", …" if len(held) > _JOBS_SHOWN else ""
        wait = f"{held.total():,} wait at {count(len(held), 'node')}"
        facts.append(("reservations", f"{wait}: {shown}{more}"))
    for number, thought in recording.thinking_at(at_ms).items():
        if thought.job == job:
            facts.append(("thinks", f"scheduler {number} about it, until {clock(thought.at_ms)}"))
    last = cluster.job_thoughts.get(job)
    if last is not None:
        queued = f"queued for {duration(last.queued_ms)}"
        took = f"scheduler {last.scheduler} thought {duration(last.thought_ms)}, {queued}"
        facts.append(("thought", f"{clock_time(last.at_ms)} {took}: {_came_of(last)}"))
    return facts
