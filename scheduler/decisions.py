"""What a policy may decide, each decision with its reason."""

import msgspec

from callboard.scheduler.model import AttemptId, JobId, Locality, TaskKind
from callboard.scheduler.reasons import Why


class Launch(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Start a task of `job` on the offering node, no further from its input than `level`: its
    nearest pending one, then the lowest index, as Hadoop's JobInProgress does.
    """

    job: JobId
    kind: TaskKind
    level: Locality
    why: Why


class Speculate(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Start another attempt of the task that `attempt` runs, on the offering node.

    Whichever of the two succeeds first has done the task, and the other is killed.  With
    `restart` the old one is killed at once: the task begins again here.
    """

    attempt: AttemptId
    why: Why
    restart: bool = False


class Kill(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Stop a running attempt; its work is lost, and the task will run again if nothing else runs
    it.
    """

    attempt: AttemptId
    why: Why


class Suspend(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Take a running attempt's slot; its node keeps the work, and only there can it go on."""

    attempt: AttemptId
    why: Why


class Resume(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Let a suspended attempt go on in a free slot of the offering node, which holds it."""

    attempt: AttemptId
    why: Why


class Switch(msgspec.Struct, frozen=True, gc=False):
    """An order works as `now` from here on, no longer as `was`, because `waiting` tasks of this
    kind, the one that is loaded most, met `free` of all its `slots`.
    """

    was: str
    now: str
    kind: TaskKind
    waiting: int
    free: int
    slots: int


Decision = Launch | Speculate | Kill | Suspend | Resume
