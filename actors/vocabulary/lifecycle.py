"""The lifecycles of attempts, jobs and nodes, as tables: every state, and every way out of it.

Each of them has two: what really becomes of it, kept by a slot, a job or a machine, and what the
master has booked, which follows by heartbeats and may be wrong for a while. A state is moved by
`step` and by nothing else; a change that is not in the table is a bug of ours. The diagrams in
`docs/lifecycles.md` are drawn from here.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

S = TypeVar("S", bound=StrEnum)
C = TypeVar("C", bound=StrEnum)


class IllegalTransition(Exception):
    """A lifecycle was asked for a change that it does not have; nothing has changed."""

    def __init__(self, state: StrEnum, change: StrEnum, subject: object) -> None:
        super().__init__(f"{subject} is {state.value!r}: no {change.value!r} from there")
        self.state = state
        self.change = change


def step(table: Mapping[tuple[S, C], S], state: S, change: C, subject: object = "it") -> S:
    """The state after a change.  Raises IllegalTransition if the table does not have it."""
    after = table.get((state, change))
    if after is None:
        raise IllegalTransition(state, change, subject)
    return after


def _transition_table(ways: Mapping[tuple[C, S], tuple[S, ...]]) -> Mapping[tuple[S, C], S]:
    """A table written by ways: (change, state after it), and the states that it leads on from."""
    return {(before, change): after for (change, after), many in ways.items() for before in many}


class AttemptState(StrEnum):
    """A map works from its start, a reduce shuffles first; either may be stuck before (rule H8)."""

    UNASSIGNED = "unassigned"
    SHUFFLING = "shuffling"
    WORKING = "working"
    AWAITING_INPUT = "awaiting input"
    MAP_STUCK = "map stuck"
    REDUCE_STUCK = "reduce stuck"
    HANGING = "hanging"
    SUSPENDED = "suspended"
    SUSPENDED_SHUFFLING = "suspended shuffling"
    SUSPENDED_HANGING = "suspended hanging"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"


class AttemptChange(StrEnum):
    """What can happen to an attempt on its slot."""

    START_MAP = "start map"
    START_REDUCE = "start reduce"
    STICK = "stick"
    MISS_INPUT = "miss input"
    FIND_INPUT = "find input"
    END_SHUFFLE = "end shuffle"
    HANG = "hang"
    SUSPEND = "suspend"
    RESUME = "resume"
    SUCCEED = "succeed"
    FAIL = "fail"
    KILL = "kill"


_A, _AC = AttemptState, AttemptChange
_BEGUN = (_A.WORKING, _A.SHUFFLING, _A.AWAITING_INPUT, _A.HANGING)
_STUCK = (_A.MAP_STUCK, _A.REDUCE_STUCK)
_HELD = (_A.SUSPENDED, _A.SUSPENDED_SHUFFLING, _A.SUSPENDED_HANGING)

ATTEMPT: Mapping[tuple[AttemptState, AttemptChange], AttemptState] = _transition_table(
    {
        (_AC.START_MAP, _A.WORKING): (_A.UNASSIGNED,),
        (_AC.START_REDUCE, _A.SHUFFLING): (_A.UNASSIGNED,),
        (_AC.STICK, _A.MAP_STUCK): (_A.WORKING,),
        (_AC.STICK, _A.REDUCE_STUCK): (_A.SHUFFLING,),
        (_AC.MISS_INPUT, _A.AWAITING_INPUT): (_A.WORKING,),
        (_AC.FIND_INPUT, _A.WORKING): (_A.AWAITING_INPUT,),
        (_AC.END_SHUFFLE, _A.WORKING): (_A.SHUFFLING,),
        (_AC.HANG, _A.HANGING): (_A.WORKING,),
        (_AC.SUSPEND, _A.SUSPENDED): (_A.WORKING, _A.AWAITING_INPUT, _A.MAP_STUCK),
        (_AC.SUSPEND, _A.SUSPENDED_SHUFFLING): (_A.SHUFFLING, _A.REDUCE_STUCK),
        (_AC.SUSPEND, _A.SUSPENDED_HANGING): (_A.HANGING,),
        (_AC.RESUME, _A.WORKING): (_A.SUSPENDED,),
        (_AC.RESUME, _A.SHUFFLING): (_A.SUSPENDED_SHUFFLING,),
        (_AC.RESUME, _A.HANGING): (_A.SUSPENDED_HANGING,),
        (_AC.SUCCEED, _A.SUCCEEDED): (_A.WORKING,),
        (_AC.FAIL, _A.FAILED): _BEGUN,
        (_AC.KILL, _A.KILLED): (*_BEGUN, *_STUCK, *_HELD),
    }
)
"""An attempt that was suspended while stuck or waiting for input tries to begin on resuming."""


class BookedState(StrEnum):
    """What the master takes an attempt for; one that expires is killed, as failed (rule H8)."""

    LAUNCHED = "launched"
    SUSPENDING = "suspending"
    SUSPENDED = "suspended"
    KILLING = "killing"
    KILLING_SUSPENDED = "killing suspended"
    EXPIRING = "expiring"
    EXPIRING_SUSPENDED = "expiring suspended"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"


class BookedChange(StrEnum):
    """What the master orders, learns or concludes: `REPORT_REDUNDANT` that it ended after another
    had done the task, `LOSE` that its node is lost, `LOSE_OUTPUT` the node with its output.
    """

    ORDER_SUSPEND = "order suspend"
    ORDER_RESUME = "order resume"
    ORDER_KILL = "order kill"
    EXPIRE = "expire"
    REPORT_SUSPENDED = "report suspended"
    REPORT_SUCCEEDED = "report succeeded"
    REPORT_FAILED = "report failed"
    REPORT_KILLED = "report killed"
    REPORT_REDUNDANT = "report redundant"
    LOSE = "lose"
    LOSE_OUTPUT = "lose output"
    FAIL_FETCHES = "fail fetches"


_B, _BC = BookedState, BookedChange
_RUNNING = (_B.LAUNCHED, _B.SUSPENDING)
_KILLING = (_B.KILLING, _B.KILLING_SUSPENDED)
_EXPIRING = (_B.EXPIRING, _B.EXPIRING_SUSPENDED)
BEING_KILLED = (*_KILLING, *_EXPIRING)
WITHOUT_SLOT = (_B.SUSPENDED, _B.KILLING_SUSPENDED, _B.EXPIRING_SUSPENDED)

BOOKED_ATTEMPT: Mapping[tuple[BookedState, BookedChange], BookedState] = _transition_table(
    {
        (_BC.ORDER_SUSPEND, _B.SUSPENDING): (_B.LAUNCHED,),
        (_BC.ORDER_RESUME, _B.LAUNCHED): (_B.SUSPENDED,),
        (_BC.ORDER_KILL, _B.KILLING): _RUNNING,
        (_BC.ORDER_KILL, _B.KILLING_SUSPENDED): (_B.SUSPENDED,),
        (_BC.EXPIRE, _B.EXPIRING): _RUNNING,
        (_BC.EXPIRE, _B.EXPIRING_SUSPENDED): (_B.SUSPENDED,),
        (_BC.REPORT_SUSPENDED, _B.SUSPENDED): (_B.SUSPENDING,),
        (_BC.REPORT_SUSPENDED, _B.KILLING_SUSPENDED): (_B.KILLING,),
        (_BC.REPORT_SUSPENDED, _B.EXPIRING_SUSPENDED): (_B.EXPIRING,),
        (_BC.REPORT_SUCCEEDED, _B.SUCCEEDED): (_B.LAUNCHED, _B.SUSPENDING, _B.KILLING),
        (_BC.REPORT_SUCCEEDED, _B.FAILED): (_B.EXPIRING,),
        (_BC.REPORT_FAILED, _B.FAILED): (_B.LAUNCHED, _B.SUSPENDING, _B.KILLING, _B.EXPIRING),
        (_BC.REPORT_KILLED, _B.KILLED): (*_RUNNING, *_KILLING),
        (_BC.REPORT_KILLED, _B.FAILED): _EXPIRING,
        (_BC.REPORT_REDUNDANT, _B.KILLED): (*_RUNNING, *BEING_KILLED),
        (_BC.LOSE, _B.KILLED): (*_RUNNING, _B.SUSPENDED, *BEING_KILLED),
        (_BC.LOSE_OUTPUT, _B.KILLED): (_B.SUCCEEDED,),
        (_BC.FAIL_FETCHES, _B.FAILED): (_B.SUCCEEDED,),
    }
)
"""A kill that comes too late changes nothing, so `killing` can still succeed."""


class JobState(StrEnum):
    """How far a job is."""

    UNSUBMITTED = "unsubmitted"
    INITIALISING = "initialising"
    PREPARING = "preparing"
    MAPPING = "mapping"
    REDUCING = "reducing"
    CLEANING = "cleaning"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"


class JobChange(StrEnum):
    """What can happen to a job; `OPEN_REDUCES` is slowstart, `RESUBMIT` a restart of the master,
    `AWAIT_INITIALISATION` and `INITIALISE` are of jobs of which that takes time, `AWAIT_SETUP`,
    `SET_UP` and `AWAIT_CLEANUP` of jobs with tasks for that.
    """

    SUBMIT = "submit"
    AWAIT_INITIALISATION = "await initialisation"
    INITIALISE = "initialise"
    AWAIT_SETUP = "await setup"
    SET_UP = "set up"
    OPEN_REDUCES = "open reduces"
    RESUBMIT = "resubmit"
    AWAIT_CLEANUP = "await cleanup"
    SUCCEED = "succeed"
    FAIL = "fail"
    KILL = "kill"


_J, _JC = JobState, JobChange
_RUNNING_JOB = (_J.MAPPING, _J.REDUCING)
_SUBMITTED = (_J.INITIALISING, _J.PREPARING, *_RUNNING_JOB, _J.CLEANING)

JOB: Mapping[tuple[JobState, JobChange], JobState] = _transition_table(
    {
        (_JC.SUBMIT, _J.MAPPING): (_J.UNSUBMITTED,),
        (_JC.AWAIT_INITIALISATION, _J.INITIALISING): (_J.MAPPING,),
        (_JC.INITIALISE, _J.MAPPING): (_J.INITIALISING,),
        (_JC.AWAIT_SETUP, _J.PREPARING): (_J.MAPPING,),
        (_JC.SET_UP, _J.MAPPING): (_J.PREPARING,),
        (_JC.AWAIT_CLEANUP, _J.CLEANING): _RUNNING_JOB,
        (_JC.OPEN_REDUCES, _J.REDUCING): (_J.MAPPING,),
        (_JC.RESUBMIT, _J.MAPPING): _SUBMITTED,
        (_JC.SUCCEED, _J.SUCCEEDED): (*_RUNNING_JOB, _J.CLEANING),
        (_JC.FAIL, _J.FAILED): _RUNNING_JOB,
        (_JC.KILL, _J.KILLED): _SUBMITTED,
    }
)
"""A job without reduces ends while it is mapping.  One that is initialised, or waits for its
setup or its cleanup, has no task that could fail it.
"""


class BookedJobState(StrEnum):
    """What a scheduler takes a job for: being set up, at its maps, at its reduces too; one that is
    ending still has attempts to be stopped.
    """

    PREPARING = "preparing"
    MAPPING = "mapping"
    REDUCING = "reducing"
    ENDING = "ending"
    GONE = "gone"


class BookedJobChange(StrEnum):
    """What a scheduler learns of a job, and when it is done with it."""

    OPEN_MAPS = "open maps"
    OPEN_REDUCES = "open reduces"
    END = "end"
    LEAVE = "leave"


_K, _KC = BookedJobState, BookedJobChange

BOOKED_JOB: Mapping[tuple[BookedJobState, BookedJobChange], BookedJobState] = {
    (_K.PREPARING, _KC.OPEN_MAPS): _K.MAPPING,
    (_K.MAPPING, _KC.OPEN_REDUCES): _K.REDUCING,
    (_K.PREPARING, _KC.END): _K.ENDING,
    (_K.MAPPING, _KC.END): _K.ENDING,
    (_K.REDUCING, _KC.END): _K.ENDING,
    (_K.ENDING, _KC.LEAVE): _K.GONE,
}


class MachineState(StrEnum):
    """Whether a machine runs."""

    UP = "up"
    PAUSED = "paused"
    DOWN = "down"


class MachineChange(StrEnum):
    """What can happen to a machine."""

    CRASH = "crash"
    RESTART = "restart"
    PAUSE = "pause"
    RESUME = "resume"


_M, _MC = MachineState, MachineChange

MACHINE: Mapping[tuple[MachineState, MachineChange], MachineState] = {
    (_M.UP, _MC.CRASH): _M.DOWN,
    (_M.UP, _MC.PAUSE): _M.PAUSED,
    (_M.PAUSED, _MC.CRASH): _M.DOWN,
    (_M.PAUSED, _MC.RESUME): _M.UP,
    (_M.DOWN, _MC.RESTART): _M.UP,
}
"""A script may ask for what is not here, as to crash what is down; then nothing happens."""


class BookedNodeState(StrEnum):
    """What the master takes a node for; out of service it gets no more tasks."""

    UNKNOWN = "unknown"
    IN_SERVICE = "in service"
    OUT_OF_SERVICE = "out of service"
    LOST = "lost"


class BookedNodeChange(StrEnum):
    """What the master learns or concludes of a node; `FORGET` is the master's own restart."""

    JOIN = "join"
    DRAIN = "drain"
    RETURN_TO_SERVICE = "return to service"
    LOSE = "lose"
    FORGET = "forget"


_N, _NC = BookedNodeState, BookedNodeChange

BOOKED_NODE: Mapping[tuple[BookedNodeState, BookedNodeChange], BookedNodeState] = {
    (_N.UNKNOWN, _NC.JOIN): _N.IN_SERVICE,
    (_N.IN_SERVICE, _NC.DRAIN): _N.OUT_OF_SERVICE,
    (_N.IN_SERVICE, _NC.LOSE): _N.LOST,
    (_N.IN_SERVICE, _NC.FORGET): _N.UNKNOWN,
    (_N.OUT_OF_SERVICE, _NC.RETURN_TO_SERVICE): _N.IN_SERVICE,
    (_N.OUT_OF_SERVICE, _NC.LOSE): _N.LOST,
    (_N.OUT_OF_SERVICE, _NC.FORGET): _N.UNKNOWN,
    (_N.LOST, _NC.JOIN): _N.IN_SERVICE,
    (_N.LOST, _NC.FORGET): _N.UNKNOWN,
}
"""A node that restarts before its silence is noticed is lost, and joins at once (rule T5)."""
