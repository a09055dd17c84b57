"""What has to happen *sometimes*: a catalogue of situations that tests and the swarm must meet.

A rule that is always checked says nothing about a situation that never comes.  An entry is one
line: what it is, the event at which it shows, and a test of that event and what the checker knew
before it.

Semantics after Antithesis' *sometimes assertions*.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStarted,
    FaultStruck,
    JobBlacklistedNode,
    JobChanged,
    JobFinished,
    JobResubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeBlacklisted,
    NodeLost,
    NodeReturned,
    NodeUnblacklisted,
    OrderSwitched,
    Outcome,
    RunEnded,
    SchedulingAttempted,
    SizeEstimated,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import (
    Disturb,
    Drift,
    RestartMaster,
    ResumeNode,
    SwitchPolicy,
)
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.task_book import TaskRecord
from callboard.journal.run_changes import EXPIRING
from callboard.journal.run_records import AttemptRecord, NodeRecord
from callboard.scheduler.model import REDUCES, Locality, SlotKind
from callboard.scheduler.reasons import Reason

FAILED, KILLED, SUCCEEDED = Outcome.FAILED, Outcome.KILLED, Outcome.SUCCEEDED


class Sometimes(NamedTuple):
    """One situation."""

    what: str
    shows_at: type[AnyEvent]
    test: Callable[[Any, Checker], bool]


def _attempt(event: Any, checker: Checker) -> AttemptRecord:
    return checker.run_state.attempts[event.attempt]


def _stalled(event: AttemptEnded, checker: Checker) -> Stall | None:
    told = _attempt(event, checker)
    return told.stalled.why if told.stalled is not None and told.is_stalled else None


def _task(event: AttemptLaunched, checker: Checker) -> TaskRecord:
    return checker.tasks.task(event)


def _node(event: FaultStruck, checker: Checker) -> NodeRecord:
    assert isinstance(event.fault, ResumeNode)
    return checker.run_state.nodes[event.fault.node]


def _first_map(event: AttemptLaunched) -> bool:
    return event.kind is SlotKind.MAP and not event.number


def _two_pools(event: KillOrdered | SuspendOrdered, checker: Checker) -> bool:
    """Another job's attempt, of another pool, was ordered to give way at the same check."""
    if event.why.rank < 2:
        return False
    jobs = checker.run_state.jobs
    mine = jobs[_attempt(event, checker).launch.job].submission.pool
    return any(
        (each.kill_ordered or each.suspend_ordered)
        and each.ended is None
        and jobs[each.launch.job].submission.pool != mine
        for each in checker.run_state.attempts.values()
    )


CATALOGUE: tuple[Sometimes, ...] = (
    # Nodes that fail.
    Sometimes("a node is given up", NodeLost, lambda e, _: not e.again),
    Sometimes("a node restarts before its loss is noticed", NodeLost, lambda e, _: e.again),
    Sometimes("a node that was given up joins again", NodeReturned, lambda *_: True),
    Sometimes(
        "a pause ends before anybody noticed",
        FaultStruck,
        lambda e, c: (
            isinstance(e.fault, ResumeNode)
            and (n := _node(e, c)).is_down_or_paused
            and not (n.is_down or n.is_lost)
            and e.at_ms > n.since_ms
        ),
    ),
    Sometimes(
        "messages overtake each other",
        FaultStruck,
        lambda e, _: (
            isinstance(e.fault, Disturb) and e.fault.up.reordered + e.fault.down.reordered > 0
        ),
    ),
    Sometimes(
        "a node's clock goes wrong",
        FaultStruck,
        lambda e, _: isinstance(e.fault, Drift) and e.fault.rate != 1,
    ),
    Sometimes(
        "a heartbeat comes twice",
        RunEnded,
        lambda _, c: any(rule.id == "S8" and rule.times for rule in c.rules),
    ),
    Sometimes(
        "an attempt starts on a node that is given up",
        AttemptStarted,
        lambda e, c: _attempt(e, c).closed is not None,
    ),
    Sometimes(
        "a zombie is told to begin anew",
        AttemptEnded,
        lambda e, c: (
            e.outcome is KILLED
            and (a := _attempt(e, c)).closed is not None
            and not (a.kill_ordered or c.run_state.nodes[a.launch.node].is_down)
        ),
    ),
    Sometimes(
        "a zombie's success is not heard",
        AttemptEnded,
        lambda e, c: (
            e.outcome is SUCCEEDED
            and (told := _attempt(e, c).closed) is not None
            and told.outcome is KILLED
        ),
    ),
    Sometimes(
        "the master starts again while reduces run",
        FaultStruck,
        lambda e, c: (
            isinstance(e.fault, RestartMaster)
            and any(job.phases[REDUCES].open for job in c.run_state.jobs.values())
        ),
    ),
    Sometimes("a job is submitted again", JobResubmitted, lambda *_: True),
    Sometimes(
        "the master acts on what came in its pause",
        AttemptLaunched,
        lambda e, c: e.at_ms == c.run_state.resumed_ms,
    ),
    # Tasks that run again.
    Sometimes(
        "a map runs again after its output was lost with its node",
        AttemptLaunched,
        lambda e, c: e.kind is SlotKind.MAP and (t := _task(e, c)).succeeded and t.killed > 0,
    ),
    Sometimes(
        "maps fail because nobody can fetch", MapOutputsLost, lambda e, _: e.outcome is FAILED
    ),
    Sometimes(
        "outputs are lost while the job's reduces run",
        MapOutputsLost,
        lambda e, c: c.run_state.jobs[e.job].phases[REDUCES].open > 0,
    ),
    Sometimes("an attempt fails by itself", AttemptEnded, lambda e, _: e.outcome is FAILED),
    Sometimes("a job fails", JobFinished, lambda e, _: e.outcome is FAILED),
    Sometimes("a job is killed", JobFinished, lambda e, _: e.outcome is KILLED),
    Sometimes("a job shuns a node", JobBlacklistedNode, lambda e, _: e.in_force),
    Sometimes("a job would shun too many nodes", JobBlacklistedNode, lambda e, _: not e.in_force),
    Sometimes(
        "a node is taken out of service for its faults", NodeBlacklisted, lambda e, _: e.in_force
    ),
    Sometimes("a list of bad nodes is advice only", NodeBlacklisted, lambda e, _: not e.in_force),
    Sometimes("a bad node is taken off the list", NodeUnblacklisted, lambda *_: True),
    Sometimes(
        "an attempt hangs until its timeout",
        AttemptEnded,
        lambda e, c: e.outcome is FAILED and _stalled(e, c) is Stall.HANGS,
    ),
    Sometimes(
        "a map waits in vain for its input",
        AttemptEnded,
        lambda e, c: e.outcome is FAILED and _stalled(e, c) is Stall.NO_INPUT,
    ),
    Sometimes("a map that waited finds its input", StallEnded, lambda *_: True),
    Sometimes("a launch expires", LaunchExpired, lambda *_: True),
    Sometimes(
        "an expired launch is booked as failed",
        AttemptClosed,
        lambda e, c: e.outcome is FAILED and _attempt(e, c).booked in EXPIRING,
    ),
    # Copies.
    Sometimes(
        "a copy does its task",
        AttemptClosed,
        lambda e, c: e.outcome is SUCCEEDED and _attempt(e, c).launch.original > 0,
    ),
    Sometimes(
        "a second success is booked as killed",
        AttemptClosed,
        lambda e, c: (
            e.outcome is KILLED
            and (told := _attempt(e, c).ended) is not None
            and told.outcome is SUCCEEDED
        ),
    ),
    # Preemption.
    Sometimes("one check takes from two pools", KillOrdered, _two_pools),
    Sometimes("a suspended attempt goes on", AttemptResumed, lambda *_: True),
    Sometimes(
        "a suspended attempt is killed",
        AttemptEnded,
        lambda e, c: _attempt(e, c).is_suspended and _attempt(e, c).closed is None,
    ),
    Sometimes("a job's pool or priority changes", JobChanged, lambda *_: True),
    # Orders, and waits for locality.
    Sometimes("the order changes", OrderSwitched, lambda *_: True),
    Sometimes("a size is measured", SizeEstimated, lambda *_: True),
    # Schedulers that share a cell.
    Sometimes("claims conflict", SchedulingAttempted, lambda e, _: bool(e.conflicted)),
    Sometimes(
        "some of a job's claims are committed beside others that conflict",
        SchedulingAttempted,
        lambda e, _: bool(e.conflicted and e.committed),
    ),
    Sometimes(
        "a scheduler has thought in vain",
        SchedulingAttempted,
        lambda e, _: not e.conflicted and not e.committed,
    ),
    Sometimes(
        "another policy is put in force",
        FaultStruck,
        lambda e, _: isinstance(e.fault, SwitchPolicy),
    ),
    Sometimes(
        "a late job is served first", AttemptLaunched, lambda e, _: e.why.reason is Reason.LATE
    ),
    Sometimes(
        "waiting brings a map to its input",
        AttemptLaunched,
        lambda e, _: _first_map(e) and e.level is Locality.NODE and e.why.waited_ms > 0,
    ),
    Sometimes(
        "a map has waited in vain",
        AttemptLaunched,
        lambda e, _: _first_map(e) and e.level is Locality.OFF_RACK and e.why.waited_ms > 0,
    ),
)


class Situations:
    """What of the catalogue has been met, and what has not."""

    def __init__(self) -> None:
        self._unmet: dict[type[AnyEvent], list[Sometimes]] = {}
        for each in CATALOGUE:
            self._unmet.setdefault(each.shows_at, []).append(each)

    def notice(self, event: AnyEvent, checker: Checker) -> None:
        """Strike out what this event shows; to be called before the checker observes it."""
        waiting = self._unmet.get(type(event))
        if waiting:
            with suppress(KeyError):  # nobody has heard of it, as the checker is about to say
                waiting[:] = [each for each in waiting if not each.test(event, checker)]

    def unmet(self) -> list[str]:
        """What has not been met."""
        return [each.what for each in CATALOGUE if each in self._unmet[each.shows_at]]

    def met(self) -> list[str]:
        """What has been met."""
        unmet = set(self.unmet())
        return [each.what for each in CATALOGUE if each.what not in unmet]
