"""What one can do to the world of a live run, to whom, and what that comes to.

An act is offered only where it makes sense as things stand: a node that is down can be started and
not killed.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Drain,
    KillJob,
    Pause,
    PauseMaster,
    Restart,
    RestartMaster,
    Resume,
    ResumeMaster,
    SetPool,
    SetPriority,
    Slow,
    SwitchPolicy,
)
from callboard.journal.names import count, job_name, node_name, printable, rack_name
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scenarios.targets import nodes_named
from callboard.scheduler.model import NodeId, Priority
from callboard.tui.frame import Frame, JobRow, JobState, Run, Truth
from callboard.tui.source import Deed, Fork, GoTo, Interfere, Step, StepKind
from callboard.tui.words import axis, parse_time

Fields = dict[str, str]

_POLICIES = "fifo", "fair", "hfsp"
"""Those that are offered beside the scenario's own."""


class Target(msgspec.Struct, frozen=True):
    """Nodes that somebody has named, and what they are called."""

    name: str
    nodes: tuple[NodeId, ...]


class Until(msgspec.Struct, frozen=True):
    """Let time go until then; `text` says when that is."""

    move: GoTo | Step
    text: str


Wish = Deed | Until | Target
"""What can come of a choice; nodes that are named are to be done something to."""


class Form(msgspec.Struct, frozen=True):
    """What must be typed in first: fields, with what stands in them to begin with.

    `read` makes a wish of them, or raises ValueError with a message for people.
    """

    question: str
    fields: Fields
    read: Callable[[Fields], Wish]


class Act(msgspec.Struct, frozen=True):
    """One thing to do: its key in the menu, what it is called, and what is done, typed in, or
    chosen next.
    """

    key: str
    title: str
    then: "Deed | Until | Form | Group"


class Group(msgspec.Struct, frozen=True):
    """What can be done to one thing, or chosen from, under a heading."""

    whom: str
    heading: str
    acts: tuple[Act, ...]


def target_of(text: str, run: Run) -> Target:
    """The nodes that `node-3`, `3`, `rack-1`, `node-1*` or `all` names; else a ValueError."""
    wanted = text.strip()
    try:
        nodes = nodes_named(f"node-{wanted}" if wanted.isdecimal() else wanted, run.nodes, 0)
    except ScenarioError:
        racks = max(facts.rack for facts in run.nodes)
        there = f"node-0 to node-{len(run.nodes) - 1}, rack-0 to rack-{racks}, node-1* and all"
        raise ValueError(f"{wanted!r} is no node here; there are {there}") from None
    if len(nodes) == 1:
        return Target(node_name(nodes[0]), tuple(nodes))
    return Target(wanted, tuple(nodes))


def targets_of(node: NodeId | None, run: Run) -> list[Target]:
    """The selected node, and all nodes of its rack."""
    if node is None:
        return []
    rack = run.nodes[node].rack
    mine = tuple(facts.node for facts in run.nodes if facts.rack == rack)
    return [Target(node_name(node), (node,)), Target(rack_name(rack), mine)]


def acts_on(frame: Frame, run: Run, targets: Sequence[Target]) -> list[Group]:
    """All that can be done now: to these nodes, to the selected job, to the cluster as a whole.

    The first target's keys are small letters, the second's the same as capitals.
    """
    groups = [_nodes_group(frame, each, bool(nth)) for nth, each in enumerate(targets)]
    groups += _job_group(frame.selected)
    return [*groups, Group("the cluster", "the cluster", tuple(_on_cluster(frame, run)))]


def fork_group(frame: Frame, run: Run) -> Group:
    """Under which other policy a second run goes on from here."""
    return _policies("Beside this run another, from here on under", frame, run, Fork)


def _on_cluster(frame: Frame, run: Run) -> Iterator[Act]:
    yield Act("n", "to some of its nodes …", _nodes_form(run))
    yield Act("b", "a burst of jobs …", _BURST)
    yield Act("o", "another policy …", _policies("From now on under", frame, run, switch_to))
    if frame.totals.master_still:
        yield Act("m", "let the master go on", Interfere((ResumeMaster(),)))
        return
    yield Act("m", "pause the master", Interfere((PauseMaster(),)))
    for key, recover, jobs in ("y", True, "are submitted again"), ("z", False, "are lost"):
        said = f"restart the master; all jobs {jobs}"
        yield Act(key, said, Interfere((RestartMaster(recover),)))


def _nodes_form(run: Run) -> Form:
    return Form(
        "To which nodes?  node-3, rack-1, node-1*, all",
        {"nodes": ""},
        lambda fields: target_of(fields["nodes"], run),
    )


def _policies(heading: str, frame: Frame, run: Run, deed: Callable[[str], Deed]) -> Group:
    """The scenario's policies and the usual ones, but for the one in force; or one typed in."""
    known = dict.fromkeys((*run.policies, run.policy, *_POLICIES))
    known.pop(frame.policy, None)
    acts = [
        Act(str(number), printable(policy), deed(policy))
        for number, policy in enumerate(list(known)[:9], 1)
    ]
    question = "Which policy?  As for --policy: fair+delay(node=5,rack=5)+kill"
    typed = Form(question, {"policy": frame.policy}, lambda fields: deed(_policy(fields["policy"])))
    return Group("policy", heading, (*acts, Act("t", "one typed in …", typed)))


def _policy(text: str) -> str:
    if not text.strip():
        raise ValueError("a policy is wanted, such as fair+kill")
    return text.strip()


def switch_to(policy: str) -> Interfere:
    """Put a policy in force."""
    return Interfere((SwitchPolicy(policy),))


def _nodes_group(frame: Frame, target: Target, capital: bool) -> Group:
    acts = tuple(_on_nodes(frame, target.nodes))
    if capital:
        acts = tuple(msgspec.structs.replace(each, key=each.key.upper()) for each in acts)
    return Group(target.name, _standing(frame, target), acts)


def _standing(frame: Frame, target: Target) -> str:
    """The nodes and how they are."""
    words = {
        Truth.DOWN: "down",
        Truth.PAUSED: "standing still",
        Truth.SLOW: "slow",
        Truth.DRAINED: "out of service",
    }
    told = []
    for flag, word in words.items():
        number = sum(bool(frame.truth[node] & flag) for node in target.nodes)
        if number:
            told.append(word if len(target.nodes) == 1 else f"{number} {word}")
    many = "" if len(target.nodes) == 1 else f" ({count(len(target.nodes), 'node')})"
    return f"{target.name}{many}: {', '.join(told) or 'up and well'}"


def _on_nodes(frame: Frame, nodes: Sequence[NodeId]) -> Iterator[Act]:
    """What can be done to these nodes, each time to those of them to which it can be done."""
    truth = {node: Truth(frame.truth[node]) for node in nodes}

    def act(
        key: str, title: str, fault: Callable[[NodeId], AnyFault], can: Callable[[Truth], bool]
    ) -> Iterator[Act]:
        struck = [node for node in nodes if can(truth[node])]
        if struck:
            some = f", {len(struck)} of them" if len(struck) < len(nodes) else ""
            yield Act(key, title + some, Interfere(tuple(fault(node) for node in struck)))

    down, still = Truth.DOWN, Truth.PAUSED
    yield from act("k", "kill (crash): what is stored there is gone", Crash, lambda t: not t & down)
    yield from act("r", "start again, empty", Restart, lambda t: bool(t & down))
    yield from act(
        "p", "pause: nothing is lost, all is late", Pause, lambda t: not t & (down | still)
    )
    yield from act("g", "let go on", Resume, lambda t: bool(t & still))
    yield Act("s", "slow down …", _slow(nodes))
    yield from act("f", "own speed again", lambda n: Slow(n, 1.0), lambda t: bool(t & Truth.SLOW))
    yield from act(
        "d", "take out of service", lambda n: Drain(n, True), lambda t: not t & Truth.DRAINED
    )
    yield from act(
        "e", "back into service", lambda n: Drain(n, False), lambda t: bool(t & Truth.DRAINED)
    )


def _slow(nodes: Sequence[NodeId]) -> Form:
    def read(fields: Fields) -> Deed:
        factor = _number(fields["times"], 0.001, 1000)
        return Interfere(tuple(Slow(node, factor) for node in nodes))

    return Form("How many times as long shall everything take there?", {"times": "4"}, read)


def _job_group(row: JobRow | None) -> list[Group]:
    if row is None or row.state >= JobState.SUCCEEDED:
        return []
    name = job_name(row.job)
    acts = (
        Act("j", "kill the job", Interfere((KillJob(row.job),))),
        Act("i", "another priority …", _priorities(row)),
        Act("l", "another pool …", _pool_form(row)),
    )
    return [Group(name, f"{name} “{row.name}”, {_in_words(row.priority)} priority", acts)]


def _priorities(row: JobRow) -> Group:
    acts = [
        Act(str(priority + 1), _in_words(priority), Interfere((SetPriority(row.job, priority),)))
        for priority in Priority
        if priority is not row.priority
    ]
    return Group("priority", f"From now on {job_name(row.job)} has the priority", tuple(acts))


def _in_words(priority: Priority) -> str:
    return priority.name.lower().replace("_", " ")


def _pool_form(row: JobRow) -> Form:
    def read(fields: Fields) -> Deed:
        return Interfere((SetPool(row.job, fields["pool"].strip()),))

    return Form(f"In which pool is {job_name(row.job)} from now on?", {"pool": row.pool}, read)


def until_group(frame: Frame, waiting: bool) -> Group:
    """Where time can be let go until; `waiting` says that it is to stop somewhere already."""
    acts = [Act("t", "a time …", _time_form(frame))]
    row = frame.selected
    if row is not None and row.state < JobState.SUCCEEDED:
        name = job_name(row.job)
        step = Step(StepKind.JOB, job=row.job)
        acts += [Act("j", f"the end of {name} “{row.name}”", Until(step, f"{name} ends"))]
    acts += [
        Act("e", "the next end of any job", Until(Step(StepKind.JOB), "a job ends")),
        Act("f", "the next fault, or thing done by hand", Until(Step(StepKind.FAULT), "a fault")),
        Act("m", "the next mark on the time bar", Until(Step(StepKind.MARK), "a mark")),
    ]
    if waiting:
        acts += [Act("n", "no longer: on and on", Until(GoTo(None), ""))]
    return Group("until", "Let time go until", tuple(acts))


def _time_form(frame: Frame) -> Form:
    def read(fields: Fields) -> Until:
        at_ms = parse_time(fields["time"])
        if at_ms <= frame.at_ms:
            raise ValueError(f"it is {axis(frame.at_ms)} already; g goes back in time")
        return Until(GoTo(at_ms), axis(at_ms))

    return Form("Until which time?  7:30, 1:07:30, 90s, 1h30m", {"time": ""}, read)


def _burst(fields: Fields) -> Deed:
    """The jobs of a burst, all of the same size."""
    reduces = round(_number(fields["reduces each"], 0, 10_000, whole=True))
    return Interfere(
        burst=ListedJob(
            name=fields["name"].strip(),
            count=round(_number(fields["jobs"], 1, 10_000, whole=True)),
            maps=round(_number(fields["maps each"], 1, 100_000, whole=True)),
            map_s=_number(fields["seconds a map"], 0.001, 1e6),
            reduces=reduces,
            shuffle_s=_number(fields["seconds a shuffle"], 0, 1e6) if reduces else 0,
            reduce_s=_number(fields["seconds a reduce"], 0, 1e6) if reduces else 0,
            user=fields["user"].strip() or "user",
        )
    )


_BURST = Form(
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
    _burst,
)


def _number(text: str, least: float, most: float, *, whole: bool = False) -> float:
    """A number that was typed in; ValueError with a message for people."""
    try:
        number = float(text.strip())
    except ValueError:
        number = least - 1
    if not least <= number <= most or (whole and number != int(number)):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{text!r}: expected {kind} from {least:g} to {most:,.0f}")
    return number
