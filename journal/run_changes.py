"""Which change of a lifecycle an event is: for attempts, really and in the books, jobs and nodes.

`journal.run_state` moves by these, and rule S3 checks them before.
"""

from collections.abc import Mapping

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import lifecycle as lc
from callboard.actors.vocabulary.events import Outcome, Stall
from callboard.journal.run_records import AttemptRecord, JobRecord, NodeRecord
from callboard.scheduler.model import MAPS, REDUCES, STAGES, Millis
from callboard.scheduler.reasons import Reason

EXPIRING = (lc.BookedState.EXPIRING, lc.BookedState.EXPIRING_SUSPENDED)

_Change = lc.AttemptChange
_REAL: Mapping[tuple[type[ev.AttemptEvent], object], lc.AttemptChange] = {
    (ev.AttemptStarted, MAPS): _Change.START_MAP,
    (ev.AttemptStarted, REDUCES): _Change.START_REDUCE,
    (ev.AttemptStalled, Stall.HANGS): _Change.HANG,
    (ev.AttemptStalled, Stall.NO_INPUT): _Change.MISS_INPUT,
    (ev.AttemptStalled, Stall.NOT_BEGUN): _Change.STICK,
    (ev.AttemptEnded, Outcome.SUCCEEDED): _Change.SUCCEED,
    (ev.AttemptEnded, Outcome.FAILED): _Change.FAIL,
    (ev.AttemptEnded, Outcome.KILLED): _Change.KILL,
    (ev.ShuffleEnded, None): _Change.END_SHUFFLE,
    (ev.StallEnded, None): _Change.FIND_INPUT,
    (ev.AttemptSuspended, None): _Change.SUSPEND,
    (ev.AttemptResumed, None): _Change.RESUME,
}
_States = Mapping[lc.AttemptState, lc.AttemptState]
_AFTER: Mapping[tuple[type[ev.AttemptEvent], object], _States] = {
    which: {before: after for (before, change), after in lc.ATTEMPT.items() if change is mine}
    for which, mine in _REAL.items()
}
"""The same with the lifecycle's own table: by event the state before it, and the one after it."""
_ORDERS: Mapping[type[ev.AttemptEvent], lc.BookedChange] = {
    ev.KillOrdered: lc.BookedChange.ORDER_KILL,
    ev.SuspendOrdered: lc.BookedChange.ORDER_SUSPEND,
    ev.ResumeOrdered: lc.BookedChange.ORDER_RESUME,
    ev.LaunchExpired: lc.BookedChange.EXPIRE,
}
_REPORTS = {outcome: lc.BookedChange[f"REPORT_{outcome.name}"] for outcome in Outcome}
_OUTCOMES = {lc.BookedState(outcome.value): outcome for outcome in Outcome}
_CLOSINGS: Mapping[tuple[lc.BookedState, Outcome], lc.BookedChange] = {
    (before, _OUTCOMES[after]): change
    for (before, change), after in lc.BOOKED_ATTEMPT.items()
    if after in _OUTCOMES and before not in _OUTCOMES
}
"""By which change an attempt can be closed: events do not tell whether by a report or a loss."""

AFTER_START = {stage: _AFTER[ev.AttemptStarted, stage] for stage in STAGES}
AFTER_SHUFFLE = _AFTER[ev.ShuffleEnded, None]
AFTER_END = {outcome: _AFTER[ev.AttemptEnded, outcome] for outcome in Outcome}
AFTER_CLOSING = {
    outcome: {
        before: lc.BOOKED_ATTEMPT[before, change]
        for (before, other), change in _CLOSINGS.items()
        if other is outcome
    }
    for outcome in Outcome
}
"""The states after the most frequent events by those before them: what is not there is illegal."""

REAL_EVENTS = tuple(dict.fromkeys(kind for kind, _ in _REAL))
"""What really becomes of an attempt."""

BOOKED_EVENTS: tuple[type[ev.AttemptEvent], ...] = (ev.AttemptClosed, *_ORDERS)
"""What becomes of it in the master's books."""


def attempt_state_after(event: ev.AttemptEvent, attempt: AttemptRecord) -> lc.AttemptState:
    """The real state of an attempt after one of `REAL_EVENTS`.  Raises IllegalTransition."""
    which: object = None
    match event:
        case ev.AttemptStarted():
            which = MAPS if attempt.unseen else attempt.launch.stage
        case ev.AttemptEnded():
            which = event.outcome
        case ev.AttemptStalled():
            which = event.why
    return lc.step(lc.ATTEMPT, attempt.state, _REAL[type(event), which], attempt)


def booked_state_after(event: ev.AttemptEvent, attempt: AttemptRecord) -> lc.BookedState:
    """What the books say of an attempt after one of `BOOKED_EVENTS`.  Raises IllegalTransition.

    No event tells when the master hears of a suspension: it has by the time it orders to resume.
    The kill that comes with a launch's expiry is no change of its own, nor is the second where a
    container is reclaimed and its job's master does not know, or has ordered its end itself.
    """
    state = attempt.booked
    if isinstance(event, ev.AttemptClosed):
        change = _CLOSINGS.get((state, event.outcome))
        if change is None:
            raise lc.IllegalTransition(state, _REPORTS[event.outcome], attempt)
        return lc.step(lc.BOOKED_ATTEMPT, state, change, attempt)
    if isinstance(event, ev.KillOrdered) and state in EXPIRING and not attempt.kill_ordered:
        return state
    second = isinstance(event, ev.KillOrdered) and attempt.reclaimed is not is_reclaim(event)
    if second and state is lc.BookedState.KILLING:
        return state
    if isinstance(event, ev.ResumeOrdered) and state is lc.BookedState.SUSPENDING:
        state = lc.step(lc.BOOKED_ATTEMPT, state, lc.BookedChange.REPORT_SUSPENDED, attempt)
    return lc.step(lc.BOOKED_ATTEMPT, state, _ORDERS[type(event)], attempt)


def is_reclaim(event: ev.AttemptEvent) -> bool:
    """Whether YARN's resource manager takes a container back."""
    return isinstance(event, ev.KillOrdered) and event.why.reason is Reason.OVER_CAPACITY


def job_state_after(event: ev.JobEvent, job: JobRecord | None) -> lc.JobState:
    """The state of a job after its submission, resubmission or end.  Raises IllegalTransition.

    No event tells when slowstart lets its reduces begin, so it is `mapping` until it ends.
    """
    state = lc.JobState.UNSUBMITTED if job is None else job.state
    match event:
        case ev.JobSubmitted():
            change = lc.JobChange.SUBMIT
        case ev.JobResubmitted():
            change = lc.JobChange.RESUBMIT
        case ev.JobFinished():
            change = lc.JobChange[_REAL[ev.AttemptEnded, event.outcome].name]
        case _:
            return state
    return lc.step(lc.JOB, state, change, job or f"job-{event.job}")


def node_state_after(
    event: ev.NodeEvent, node: NodeRecord, restarted_ms: Millis
) -> lc.BookedNodeState:
    """What the books say of a node after its loss or return.  Raises IllegalTransition.

    Only lost nodes have an event when they join: all others are taken to be in service.  A master
    that restarts (at `restarted_ms`) forgets losses, and may hear of a return at that instant.
    """
    if isinstance(event, ev.NodeReturned):
        if not node.is_lost and event.at_ms == restarted_ms:
            return node.booked
        return lc.step(lc.BOOKED_NODE, node.booked, lc.BookedNodeChange.JOIN, node)
    return lc.step(lc.BOOKED_NODE, node.booked, lc.BookedNodeChange.LOSE, node)
