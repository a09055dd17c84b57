"""Interventions in a live run as menus and forms: those that make sense at present."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from callboard.actors.architectures import architecture_name, architectures_knowing_fault
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.experiments.live.live_requests import Fork, Intervention
from callboard.experiments.run.interventions import Intervene
from callboard.journal.replay.frame import Frame, JobRow, JobStatus, NodeStatus, RunInfo
from callboard.journal.replay.source import GoTo, Step, StepKind
from callboard.journal.tell.names import node_name, priority_name, rack_name
from callboard.journal.tell.time_format import axis_time, parse_time
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.targets import nodes_named
from callboard.scheduler.model import NodeId, Priority
from callboard.scheduler.text.quantities import count, printable
from callboard.scheduler.text.scenario_error import ScenarioError

FormFields = dict[str, str]

_POLICIES = "fifo", "fair", "hfsp"
"""Policies offered beside the scenario's own."""


class NodeTarget(msgspec.Struct, frozen=True):
    """One or more nodes, and their name."""

    name: str
    nodes: tuple[NodeId, ...]


class PlayUntil(msgspec.Struct, frozen=True):
    """Play until then; `text` names the moment."""

    move: GoTo | Step
    text: str


MenuChoice = Intervention | PlayUntil | NodeTarget
"""The result of a choice; a `NodeTarget` leads to the menu of those nodes."""


class MenuForm(msgspec.Struct, frozen=True):
    """Fields with initial texts; `read` makes a choice of them, or a ValueError for the user."""

    question: str
    fields: FormFields
    read: Callable[[FormFields], MenuChoice]


class MenuItem(msgspec.Struct, frozen=True):
    """One line of a menu: its key, its title, and the intervention, form or menu it leads to."""

    key: str
    title: str
    then: "Intervention | PlayUntil | MenuForm | MenuGroup"


class MenuGroup(msgspec.Struct, frozen=True):
    """The choices for one subject (a node, a job, …) under a heading."""

    subject: str
    heading: str
    items: tuple[MenuItem, ...]


def parse_target(text: str, run: RunInfo) -> NodeTarget:
    """The nodes that `node-3`, `3`, `rack-1`, `node-1*` or `all` names; else a ValueError."""
    wanted = text.strip()
    try:
        nodes = nodes_named(f"node-{wanted}" if wanted.isdecimal() else wanted, run.nodes, 0)
    except ScenarioError:
        racks = max(facts.rack for facts in run.nodes)
        there = f"node-0 to node-{len(run.nodes) - 1}, rack-0 to rack-{racks}, node-1* and all"
        raise ValueError(f"{wanted!r} is no node here; try {there}") from None
    if len(nodes) == 1:
        return NodeTarget(node_name(nodes[0]), tuple(nodes))
    return NodeTarget(wanted, tuple(nodes))


def node_and_rack_targets(node: NodeId | None, run: RunInfo) -> list[NodeTarget]:
    """The selected node, and all nodes of its rack."""
    if node is None:
        return []
    rack = run.nodes[node].rack
    mine = tuple(facts.node for facts in run.nodes if facts.rack == rack)
    return [NodeTarget(node_name(node), (node,)), NodeTarget(rack_name(rack), mine)]


def intervention_menu(frame: Frame, run: RunInfo, targets: Sequence[NodeTarget]) -> list[MenuGroup]:
    """Interventions in nodes (the second target's keys are capitals), the job and the cluster, as
    far as the run's architecture has an answer to them.
    """
    able = _supported_fault_test(frame, run)
    groups = [_nodes_group(frame, able, each, bool(nth)) for nth, each in enumerate(targets)]
    groups += _job_group(frame.selected, able)
    groups += [MenuGroup("the cluster", "the cluster", tuple(_cluster_items(frame, run, able)))]
    return [each for each in groups if each.items]


_HasAnswer: TypeAlias = Callable[[type[faults.Fault]], bool]


def _supported_fault_test(frame: Frame, run: RunInfo) -> _HasAnswer:
    """Whether what is run, both runs if there are two, has an answer to a kind of fault."""
    policies = [run.policy]
    if frame.comparison is not None:
        policies = [each.policy for each in frame.comparison.figures]
    names = set(map(architecture_name, policies))
    return lambda fault: names <= set(architectures_knowing_fault(fault))


def can_fork(frame: Frame, run: RunInfo) -> bool:
    """Whether the policy can be another one from a moment on."""
    return _supported_fault_test(frame, run)(faults.SwitchPolicy)


def fork_menu(frame: Frame, run: RunInfo) -> MenuGroup:
    """The policies for a second run from here on."""
    return _policy_menu("A second run from here on, under", frame, run, Fork)


def _cluster_items(frame: Frame, run: RunInfo, able: _HasAnswer) -> Iterator[MenuItem]:
    yield MenuItem("n", "some of its nodes …", _node_choice_form(run))
    yield MenuItem("b", "a burst of jobs …", _BURST)
    if able(faults.SwitchPolicy):
        policies = _policy_menu("Policy from now on", frame, run, _switch_to)
        yield MenuItem("o", "another policy …", policies)
    if not able(faults.PauseMaster):
        return
    if frame.totals.master_paused:
        yield MenuItem("m", "let the master go on", Intervene((faults.ResumeMaster(),)))
        return
    yield MenuItem("m", "pause the master", Intervene((faults.PauseMaster(),)))
    for key, recover, jobs in ("y", True, "are submitted again"), ("z", False, "are lost"):
        said = f"restart the master; all jobs {jobs}"
        yield MenuItem(key, said, Intervene((faults.RestartMaster(recover),)))


def _node_choice_form(run: RunInfo) -> MenuForm:
    return MenuForm(
        "Which nodes?  node-3, rack-1, node-1*, all",
        {"nodes": ""},
        lambda fields: parse_target(fields["nodes"], run),
    )


def _policy_menu(
    heading: str, frame: Frame, run: RunInfo, intervention: Callable[[str], Intervention]
) -> MenuGroup:
    """The scenario's policies and the usual ones, except the one in force; or one typed in."""
    known = dict.fromkeys((*run.policies, run.policy, *_POLICIES))
    known.pop(frame.policy, None)
    items = [
        MenuItem(str(number), printable(policy), intervention(policy))
        for number, policy in enumerate(list(known)[:9], 1)
    ]
    question = "Which policy?  As for --policy: fair+delay(node=5,rack=5)+kill"
    typed = MenuForm(
        question,
        {"policy": frame.policy},
        lambda fields: intervention(_typed_policy(fields["policy"])),
    )
    return MenuGroup("policy", heading, (*items, MenuItem("t", "one typed in …", typed)))


def _typed_policy(text: str) -> str:
    if not text.strip():
        raise ValueError("a policy is wanted, such as fair+kill")
    return text.strip()


def _switch_to(policy: str) -> Intervene:
    return Intervene((faults.SwitchPolicy(policy),))


def _nodes_group(frame: Frame, able: _HasAnswer, target: NodeTarget, capital: bool) -> MenuGroup:
    items = tuple(_node_items(frame, able, target.nodes))
    if capital:
        items = tuple(msgspec.structs.replace(each, key=each.key.upper()) for each in items)
    return MenuGroup(target.name, _node_status_words(frame, target), items)


_STATUS_WORDS = {
    NodeStatus.DOWN: "down",
    NodeStatus.PAUSED: "paused",
    NodeStatus.SLOW: "slow",
    NodeStatus.DRAINED: "out of service",
}


def _node_status_words(frame: Frame, target: NodeTarget) -> str:
    told = []
    for flag, word in _STATUS_WORDS.items():
        number = sum(bool(frame.node_status[node] & flag) for node in target.nodes)
        if number:
            told.append(word if len(target.nodes) == 1 else f"{number} {word}")
    many = "" if len(target.nodes) == 1 else f" ({count(len(target.nodes), 'node')})"
    return f"{target.name}{many}: {', '.join(told) or 'up and well'}"


_NodeAction: TypeAlias = tuple[str, str, Callable[[NodeId], faults.AnyFault], NodeStatus, bool]
"""Key, title and fault, and for which nodes: those that have a status, or those that have not."""

_STOPPED = NodeStatus.DOWN | NodeStatus.PAUSED
_STOP_OR_START: Sequence[_NodeAction] = (
    ("k", "kill (crash): map outputs there are lost", faults.Crash, NodeStatus.DOWN, False),
    ("r", "restart, empty", faults.Restart, NodeStatus.DOWN, True),
    ("p", "pause: nothing is lost, everything is late", faults.PauseNode, _STOPPED, False),
    ("g", "let go on", faults.ResumeNode, NodeStatus.PAUSED, True),
)
_SPEED_OR_SERVICE: Sequence[_NodeAction] = (
    ("f", "back to its own speed", partial(faults.Slow, factor=1.0), NodeStatus.SLOW, True),
    ("d", "take out of service", partial(faults.Drain, out=True), NodeStatus.DRAINED, False),
    ("e", "back into service", partial(faults.Drain, out=False), NodeStatus.DRAINED, True),
)


def _node_items(frame: Frame, able: _HasAnswer, nodes: Sequence[NodeId]) -> Iterator[MenuItem]:
    yield from _applicable_items(_STOP_OR_START, frame, able, nodes)
    if able(faults.Slow):
        yield MenuItem("s", "slow down …", _slowdown_form(nodes))
    yield from _applicable_items(_SPEED_OR_SERVICE, frame, able, nodes)


def _applicable_items(
    actions: Iterable[_NodeAction], frame: Frame, able: _HasAnswer, nodes: Sequence[NodeId]
) -> Iterator[MenuItem]:
    """The actions, each on those of the nodes that it applies to."""
    for key, title, fault, status, has in actions:
        fit = [node for node in nodes if bool(frame.node_status[node] & status) is has]
        if fit and able(type(fault(fit[0]))):
            some = f", {len(fit)} of them" if len(fit) < len(nodes) else ""
            yield MenuItem(key, title + some, Intervene(tuple(map(fault, fit))))


def _slowdown_form(nodes: Sequence[NodeId]) -> MenuForm:
    def read(fields: FormFields) -> Intervention:
        factor = _typed_number(fields["times"], 0.001, 1000)
        return Intervene(tuple(faults.Slow(node, factor) for node in nodes))

    return MenuForm("How many times as long should everything take there?", {"times": "4"}, read)


def _job_group(row: JobRow | None, able: _HasAnswer) -> list[MenuGroup]:
    if row is None or row.state >= JobStatus.SUCCEEDED:
        return []
    name = job_name(row.job)
    offered: Sequence[tuple[type[faults.Fault], MenuItem]] = (
        (faults.KillJob, MenuItem("j", "kill the job", Intervene((faults.KillJob(row.job),)))),
        (faults.SetPriority, MenuItem("i", "another priority …", _priority_menu(row))),
        (faults.SetPool, MenuItem("l", "another pool …", _pool_form(row))),
    )
    items = tuple(item for fault, item in offered if able(fault))
    title = job_title(row.job, row.name)
    return [MenuGroup(name, f"{title}, {priority_name(row.priority)} priority", items)]


def _priority_menu(row: JobRow) -> MenuGroup:
    items = tuple(
        MenuItem(
            str(each + 1), priority_name(each), Intervene((faults.SetPriority(row.job, each),))
        )
        for each in Priority
        if each is not row.priority
    )
    return MenuGroup("priority", f"Priority of {job_name(row.job)} from now on", items)


def _pool_form(row: JobRow) -> MenuForm:
    def read(fields: FormFields) -> Intervention:
        return Intervene((faults.SetPool(row.job, fields["pool"].strip()),))

    return MenuForm(f"Pool of {job_name(row.job)} from now on", {"pool": row.pool}, read)


def until_menu(frame: Frame, waiting: bool) -> MenuGroup:
    """Moments to play until; `waiting` says that one has been chosen already."""
    items = [MenuItem("t", "a time …", _time_form(frame))]
    row = frame.selected
    if row is not None and row.state < JobStatus.SUCCEEDED:
        until = PlayUntil(Step(StepKind.JOB, job=row.job), f"{job_name(row.job)} ends")
        items += [MenuItem("j", f"the end of {job_title(row.job, row.name)}", until)]
    items += [
        MenuItem("e", "the next end of any job", PlayUntil(Step(StepKind.JOB), "a job ends")),
        MenuItem("f", "the next fault or intervention", PlayUntil(Step(StepKind.FAULT), "a fault")),
        MenuItem("m", "the next mark on the time bar", PlayUntil(Step(StepKind.MARK), "a mark")),
    ]
    if waiting:
        items += [MenuItem("n", "no more stop: to the end", PlayUntil(GoTo(None), ""))]
    return MenuGroup("until", "", tuple(items))


def _time_form(frame: Frame) -> MenuForm:
    def read(fields: FormFields) -> PlayUntil:
        at_ms = parse_time(fields["time"])
        if at_ms <= frame.at_ms:
            raise ValueError(f"it is {axis_time(frame.at_ms)} already; g goes back")
        return PlayUntil(GoTo(at_ms), axis_time(at_ms))

    return MenuForm("Until which time?  7:30, 1:07:30, 90s, 1h30m", {"time": ""}, read)


def _burst_intervention(fields: FormFields) -> Intervention:
    reduces = round(_typed_number(fields["reduces each"], 0, 10_000, whole=True))
    return Intervene(
        burst=ListedJob(
            name=fields["name"].strip(),
            count=round(_typed_number(fields["jobs"], 1, 10_000, whole=True)),
            maps=round(_typed_number(fields["maps each"], 1, 100_000, whole=True)),
            map_s=_typed_number(fields["seconds a map"], 0.001, 1e6),
            reduces=reduces,
            shuffle_s=_typed_number(fields["seconds a shuffle"], 0, 1e6) if reduces else 0,
            reduce_s=_typed_number(fields["seconds a reduce"], 0, 1e6) if reduces else 0,
            user=fields["user"].strip() or "user",
        )
    )


_BURST = MenuForm(
    "A burst of jobs, all at once",
    {
        "jobs": "10",
        "maps each": "8",
        "seconds a map": "20",
        "reduces each": "1",
        "seconds a shuffle": "5",
        "seconds a reduce": "10",
        "name": "burst",
        "user": "user",
    },
    _burst_intervention,
)


def _typed_number(text: str, least: float, most: float, *, whole: bool = False) -> float:
    """ValueError with a message for the user."""
    try:
        number = float(text.strip())
    except ValueError:
        number = least - 1
    if not least <= number <= most or (whole and number != int(number)):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{text!r}: expected {kind} from {least:g} to {most:,.0f}")
    return number
