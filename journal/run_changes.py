"""Which change of a lifecycle an event is: of an attempt in truth and in the books, a job, a node.

`journal.run_state` moves by these, and rule S3 asks them beforehand.
"""

from collections.abc import Mapping

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import lifecycle as lc
from callboard.actors.vocabulary.events import Outcome, Stall
from callboard.journal.run_records import AttemptRecord, JobRecord, NodeRecord
from callboard.scheduler.model import Millis, TaskKind

_SUSPENDING = lc.BookedState.SUSPENDING
EXPIRING = (lc.BookedState.EXPIRING, lc.BookedState.EXPIRING_SUSPENDED)

_ENDS = {
    Outcome.SUCCEEDED: lc.AttemptChange.SUCCEED,
    Outcome.FAILED: lc.AttemptChange.FAIL,
    Outcome.KILLED: lc.AttemptChange.KILL,
}
_STALLS = {
    Stall.HANGS: lc.AttemptChange.HANG,
    Stall.NO_INPUT: lc.AttemptChange.MISS_INPUT,
    Stall.NOT_BEGUN: lc.AttemptChange.STICK,
}
_STARTS = {
    TaskKind.MAP: lc.AttemptChange.START_MAP,
    TaskKind.REDUCE: lc.AttemptChange.START_REDUCE,
}
_REAL_CHANGES: Mapping[type[ev.AttemptEvent], lc.AttemptChange] = {
    ev.ShuffleEnded: lc.AttemptChange.END_SHUFFLE,
    ev.StallEnded: lc.AttemptChange.FIND_INPUT,
    ev.AttemptSuspended: lc.AttemptChange.SUSPEND,
    ev.AttemptResumed: lc.AttemptChange.RESUME,
}
_ORDERS: Mapping[type[ev.AttemptEvent], lc.BookedChange] = {
    ev.KillOrdered: lc.BookedChange.ORDER_KILL,
    ev.SuspendOrdered: lc.BookedChange.ORDER_SUSPEND,
    ev.ResumeOrdered: lc.BookedChange.ORDER_RESUME,
    ev.LaunchExpired: lc.BookedChange.EXPIRE,
}
_REPORTS = {
    Outcome.SUCCEEDED: lc.BookedChange.REPORT_SUCCEEDED,
    Outcome.FAILED: lc.BookedChange.REPORT_FAILED,
    Outcome.KILLED: lc.BookedChange.REPORT_KILLED,
}
_OUTCOMES = {lc.BookedState(outcome.value): outcome for outcome in Outcome}
_CLOSINGS: Mapping[tuple[lc.BookedState, Outcome], lc.BookedChange] = {
    (before, _OUTCOMES[after]): change
    for (before, change), after in lc.BOOKED_ATTEMPT.items()
    if after in _OUTCOMES and before not in _OUTCOMES
}
"""How an attempt can come to be booked so: events do not tell whether by a report or a loss."""

REAL_EVENTS: tuple[type[ev.AttemptEvent], ...] = (
    ev.AttemptStarted,
    ev.AttemptStalled,
    ev.AttemptEnded,
    *_REAL_CHANGES,
)
"""What really becomes of an attempt."""

BOOKED_EVENTS: tuple[type[ev.AttemptEvent], ...] = (ev.AttemptClosed, *_ORDERS)
"""What becomes of it in the master's books."""


def attempt_after(event: ev.AttemptEvent, attempt: AttemptRecord) -> lc.AttemptState:
    """The real state of an attempt after one of `REAL_EVENTS`.  Raises IllegalTransition."""
    change = _REAL_CHANGES.get(type(event))
    if change is None:
        match event:
            case ev.AttemptStarted():
                change = _STARTS[attempt.launch.kind]
            case ev.AttemptEnded():
                change = _ENDS[event.outcome]
            case ev.AttemptStalled():
                change = _STALLS[event.why]
            case _:
                raise TypeError(event)
    return lc.step(lc.ATTEMPT, attempt.state, change, attempt)


def booked_after(event: ev.AttemptEvent, attempt: AttemptRecord) -> lc.BookedState:
    """What the books say of an attempt after one of `BOOKED_EVENTS`.  Raises IllegalTransition.

    No event tells that the master hears of a suspension: it has when it orders a resumption.  The
    kill that a launch's expiry brings with it is no change of its own.
    """
    state = attempt.booked
    if isinstance(event, ev.AttemptClosed):
        change = _CLOSINGS.get((state, event.outcome))
        if change is None:
            raise lc.IllegalTransition(state, _REPORTS[event.outcome], attempt)
        return lc.step(lc.BOOKED_ATTEMPT, state, change, attempt)
    if isinstance(event, ev.KillOrdered) and state in EXPIRING and not attempt.kill_ordered:
        return state
    if isinstance(event, ev.ResumeOrdered) and state is _SUSPENDING:
        state = lc.step(lc.BOOKED_ATTEMPT, state, lc.BookedChange.REPORT_SUSPENDED, attempt)
    return lc.step(lc.BOOKED_ATTEMPT, state, _ORDERS[type(event)], attempt)


def job_after(event: ev.JobEvent, job: JobRecord | None) -> lc.JobState:
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
            change = lc.JobChange[_ENDS[event.outcome].name]
        case _:
            return state
    return lc.step(lc.JOB, state, change, job or f"job-{event.job}")


def node_after(event: ev.NodeEvent, node: NodeRecord, restarted_ms: Millis) -> lc.BookedNodeState:
    """What the books say of a node after its loss or return.  Raises IllegalTransition.

    Joining is told only of nodes that were lost: all others are taken to be in service.  A
    master that starts again (`restarted_ms`) forgets losses, and may hear of a return as it does.
    """
    if isinstance(event, ev.NodeReturned):
        if not node.is_lost and event.at_ms == restarted_ms:
            return node.booked
        return lc.step(lc.BOOKED_NODE, node.booked, lc.BookedNodeChange.JOIN, node)
    return lc.step(lc.BOOKED_NODE, node.booked, lc.BookedNodeChange.LOSE, node)


def preempts(order: ev.KillOrdered | ev.SuspendOrdered) -> bool:
    """Whether an attempt is to give way to another job: not since its own task is done, or ends."""
    return order.why.rank > 0
