"""What is peculiar to architectures of several schedulers, in words for the detail: reservations
that wait at nodes, probes under way, schedulers that think, claims in conflict.
"""

from callboard.actors.vocabulary.events import SchedulingAttempted
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.tell.names import node_name
from callboard.journal.tell.sentences import nodes_shown
from callboard.journal.tell.time_format import clock_time
from callboard.scheduler.model import JobId, Millis, NodeId
from callboard.scheduler.text.quantities import clock, count, duration

_Fact = tuple[str, str]

_JOBS_SHOWN = 4
_SCHEDULERS_SHOWN = 4


def cluster_scheduling_facts(cluster: ClusterState, at_ms: Millis) -> list[_Fact]:
    """Of the whole cluster: how many reservations wait, and what each scheduler has thought."""
    facts, waiting = [], +cluster.reservations.by_node
    if waiting:
        node, most = max(waiting.items(), key=lambda each: (each[1], -each[0]))
        wait = f"{waiting.total():,} wait at {count(len(waiting), 'node')}"
        facts.append(("reservations", f"{wait}, most at {node_name(node)}: {most:,}"))
    schedulers, probing = cluster.schedulers, cluster.schedulers.probing
    if probing:
        jobs, tasks = len({each.job for each in probing}), sum(each.tasks for each in probing)
        asked = sum(len(each.nodes) for each in probing)
        of = f"{count(tasks, 'task')} of {count(jobs, 'job')}"
        facts.append(("probes", f"{asked:,} under way, for {of}"))
    for thought in schedulers.thinking(at_ms)[:_SCHEDULERS_SHOWN]:
        what = f"about {job_name(thought.job)} until {clock(thought.until_ms)}"
        facts.append(("thinks", f"scheduler {thought.scheduler} {what}"))
    thoughts = schedulers.sums.schedulers()
    for each in thoughts[:_SCHEDULERS_SHOWN]:
        number = each.useful + each.wasted + each.in_vain
        said = f"{each.busyness(at_ms):.0%} busy, {count(number, 'thought')}"
        said += f", {each.wasted:,} in conflict" if each.wasted else ""
        said += f", {each.in_vain:,} without room" if each.in_vain else ""
        last = schedulers.last_thoughts[each.scheduler]
        facts.append((f"scheduler {each.scheduler}", f"{said}; last {_thought_text(last)}"))
    if len(thoughts) > _SCHEDULERS_SHOWN:
        facts.append(("", f"and {len(thoughts) - _SCHEDULERS_SHOWN} more schedulers"))
    return facts


def _thought_text(event: SchedulingAttempted) -> str:
    return f"{duration(event.thought_ms)} about {job_name(event.job)}, {_thought_outcome(event)}"


def _thought_outcome(event: SchedulingAttempted) -> str:
    if not event.committed and not event.conflicted:
        return "no room"
    lost = f", {len(event.conflicted):,} in conflict" if event.conflicted else ""
    return f"placed {len(event.committed):,} of {event.tasks:,}{lost}"


def node_scheduling_facts(cluster: ClusterState, node: NodeId) -> list[_Fact]:
    """Of a node: whose reservations wait there, which tasks for a slot, and who asks it."""
    facts, held = [], cluster.reservations.count_by_job(node)
    if held:
        shown = ", ".join(f"{job_name(job)} {n:,}" for job, n in held.most_common(_JOBS_SHOWN))
        rest = len(held) - _JOBS_SHOWN
        more = f", and of {count(rest, 'other job')}" if rest > 0 else ""
        facts.append(("reservations", f"{held.total():,} wait for a slot: {shown}{more}"))
    if cluster.bound[node] > 0:
        facts.append(("queue", f"{count(cluster.bound[node], 'task')} given to it, not begun"))
    asking = [each for each in cluster.schedulers.probing if node in each.nodes]
    for each in asking[:_SCHEDULERS_SHOWN]:
        what = f"scheduler {each.scheduler} asks how much waits, for {job_name(each.job)}"
        facts.append(("probe", what))
    return facts


def job_scheduling_facts(cluster: ClusterState, job: JobId, at_ms: Millis) -> list[_Fact]:
    """Of a job: where its reservations wait, which nodes are asked, who thinks about it, and the
    last thought.
    """
    facts, held = [], +cluster.reservations.count_by_node(job)
    if held:
        shown = ", ".join(f"{node_name(node)} {n:,}" for node, n in held.most_common(_JOBS_SHOWN))
        more = ", …" if len(held) > _JOBS_SHOWN else ""
        wait = f"{held.total():,} wait at {count(len(held), 'node')}"
        facts.append(("reservations", f"{wait}: {shown}{more}"))
    probing = [each for each in cluster.schedulers.probing if each.job == job]
    if probing:
        asked = nodes_shown(node for each in probing for node in each.nodes)
        tasks = count(sum(each.tasks for each in probing), "task")
        facts.append(("probes", f"scheduler {probing[0].scheduler} asks {asked}, for {tasks}"))
    for thought in cluster.schedulers.thinking(at_ms):
        if thought.job == job:
            until = f"until {clock(thought.until_ms)}"
            facts.append(("thinks", f"scheduler {thought.scheduler} about it, {until}"))
    last = cluster.schedulers.job_thoughts.get(job)
    if last is not None:
        queued = f"queued for {duration(last.queued_ms)}"
        took = f"scheduler {last.scheduler} thought {duration(last.thought_ms)}, {queued}"
        facts.append(("thought", f"{clock_time(last.at_ms)} {took}: {_thought_outcome(last)}"))
    return facts
