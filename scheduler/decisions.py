"""What a policy may decide, each decision with its reason."""

import msgspec

from callboard.scheduler.model import AttemptId, JobId, Locality, Millis, TaskKind


class Skip(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A job that stood further ahead and was passed over."""

    job: JobId
    reason: str


class Why(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The reason of a decision, as it goes into the journal.

    `rank` is the job's place in the order's queue, from 1; `score` is what the order compared
    (its meaning is the order's own: submit time, share over weight, virtual size).  Of a copy,
    `rank` is its place among the tasks that deserved one.  A rank of 0 says that nothing was
    ranked.  `skipped` are
    the jobs passed over before it, at most `MAX_SKIPS` of them.  A launch also says what its own
    job had put up with for locality since its last map launch: `skips` offers that passed it
    over, and `waited_ms` as the locality rule counts it.
    """

    rule: str
    rank: int = 1
    score: float = 0.0
    skipped: tuple[Skip, ...] = ()
    skips: int = 0
    waited_ms: Millis = 0


MAX_SKIPS = 8
"""The most skipped jobs that one reason names."""


class Launch(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Start a task of `job` on the offering node, no further from its input than `level`.

    Which of the job's pending tasks it is, the ledger says: the nearest first, then the lowest
    index, as Hadoop's JobInProgress does.
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
    """A change of mind worth an event: an order works as `now` from here on, no longer as `was`."""

    was: str
    now: str
    why: str


Decision = Launch | Speculate | Kill | Suspend | Resume
