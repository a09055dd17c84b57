"""What a policy may decide, each decision with its reason."""

import msgspec

from callboard.scheduler.model import AttemptId, JobId, Locality, Millis, SlotKind, Stage
from callboard.scheduler.reasons import Why


class Launch(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Start a task of `job` here, within `level` of its input: the nearest, then by index."""

    job: JobId
    kind: SlotKind
    level: Locality
    why: Why


class _OfAttempt(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """A decision about an attempt."""

    attempt: AttemptId
    why: Why


class Speculate(_OfAttempt, frozen=True):
    """Start another attempt of the task of `attempt` on the offering node; the first to succeed
    does the task, the other is killed.  With `restart` the old one is killed at once.
    """

    restart: bool = False


class Kill(_OfAttempt, frozen=True):
    """Stop a running attempt and lose its work; its task runs again unless another has it."""


class Suspend(_OfAttempt, frozen=True):
    """Take a running attempt's slot; its node keeps the work, and only there can it go on."""


class Resume(_OfAttempt, frozen=True):
    """Let a suspended attempt go on in a free slot of the offering node, which holds it."""


class Switch(msgspec.Struct, frozen=True, gc=False):
    """An order now works as `now`, no longer as `was`: `waiting` tasks of this kind, the most
    loaded one, met `free` of all its `slots`.
    """

    was: str
    now: str
    kind: SlotKind
    waiting: int
    free: int
    slots: int


class SizeEstimate(msgspec.Struct, frozen=True, gc=False):
    """An order that measures sizes takes a job's stage for `size_ms` of slot time in all, and what
    is left of it for `left_ms`.
    """

    job: JobId
    stage: Stage
    size_ms: Millis
    left_ms: Millis


Decision = Launch | Speculate | Kill | Suspend | Resume
