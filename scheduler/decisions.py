"""What a policy may decide, each decision with its reason."""

import msgspec

from callboard.scheduler.model import AttemptId, JobId, Locality, TaskKind
from callboard.scheduler.reasons import Why


class Launch(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Start a task of `job` here, within `level` of its input: the nearest, then by index."""

    job: JobId
    kind: TaskKind
    level: Locality
    why: Why


class Speculate(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Start another attempt of the task of `attempt` on the offering node; the first to succeed
    does the task, the other is killed.  With `restart` the old one is killed at once.
    """

    attempt: AttemptId
    why: Why
    restart: bool = False


class Kill(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Stop a running attempt and lose its work; its task runs again unless another has it."""

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
    """An order now works as `now`, no longer as `was`: `waiting` tasks of this kind, the most
    loaded one, met `free` of all its `slots`.
    """

    was: str
    now: str
    kind: TaskKind
    waiting: int
    free: int
    slots: int


Decision = Launch | Speculate | Kill | Suspend | Resume
