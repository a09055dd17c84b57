"""Why something was decided, as data: an enum, the claimant that is to benefit, and numbers; put
into words by `journal.tell.reason_words`.
"""

from enum import StrEnum
from typing import NamedTuple

import msgspec

from callboard.scheduler.model import JobId, Locality, Millis


class Reason(StrEnum):
    """Why a task is launched or resumed, or an attempt gives way; `Detail` has the numbers."""

    # Places in an order's queue.
    BY_KEY = "by-key"  # by nothing but the score
    POOL = "pool"
    POOL_MIN_SHARE = "pool-min-share"
    LATE = "late"  # the phase has ended in virtual time
    TINY = "tiny"  # the phase is too small to be measured
    TRAINING = "training"  # a training task of the phase
    CLASS_MIN_SHARE = "class-min-share"
    CLASS_SHARE = "class-share"
    UNMATCHED_CLASS = "unmatched-class"
    # Victims of preemption.
    STARVATION = "starvation"
    LONG_JOB = "long-job"  # a long job above its share, in a full cluster
    SUSPENDED_TOO_LONG = "suspended-too-long"  # the score is for how many seconds
    TRAINING_TASK = "training-task"  # the beneficiary has a training task to launch
    OUTRANKED = "outranked"  # the beneficiary is further ahead
    OUTRANKED_ON_NODE = "outranked-on-node"  # and has a suspended attempt on the victim's node
    OVER_CAPACITY = "over-capacity"  # its queue holds more than it is due, and others ask for it
    MAPS_WAIT = "maps-wait"  # for which there is no room, of the same job
    # Speculative attempts.
    BEHIND_AVERAGE = "behind-average"
    LONGEST_LEFT = "longest-left"
    DUPLICATE = "duplicate"  # a fresh attempt would be done sooner, and slots are free
    DUPLICATE_SAVES_WORK = "duplicate-saves-work"  # two attempts would take less slot time
    RESTART = "restart"
    # Without a queue.
    RESERVATION = "reservation"  # the node asked for a task of the job
    AT_RANDOM = "at-random"  # drawn from all nodes
    SHORT_QUEUE = "short-queue"  # of the nodes that were asked
    FREE_SLOT = "free-slot"  # that has been free for longest
    LEAST_WAIT = "least-wait"  # of all nodes, by the estimates of what was placed there
    FIRST_FIT = "first-fit"  # the first node drawn that had room
    # The master's own.
    TASK_DONE = "task-done"
    BEGUN_ELSEWHERE = "begun-elsewhere"
    LAUNCH_EXPIRED = "launch-expired"
    NODE_DRAINED = "node-drained"
    JOB_ENDS = "job-ends"
    JOB_SETUP = "job-setup"  # before the job's tasks, ahead of what policies launch
    JOB_CLEANUP = "job-cleanup"  # after them
    # A part's that does not ship; it may say more in a `Note`.
    OWN = "own"

    @property
    def is_the_masters(self) -> bool:
        """Whether the master acts by its own rules, which is no matter of policy."""
        return self in _THE_MASTERS

    @property
    def may_wait_at_node(self) -> bool:
        """Whether the task may have to wait for a slot at the node that it is sent to."""
        return self in (Reason.AT_RANDOM, Reason.SHORT_QUEUE)


_THE_MASTERS = frozenset(
    {
        Reason.TASK_DONE,
        Reason.BEGUN_ELSEWHERE,
        Reason.LAUNCH_EXPIRED,
        Reason.NODE_DRAINED,
        Reason.JOB_ENDS,
        Reason.JOB_SETUP,
        Reason.JOB_CLEANUP,
    }
)


class _Data(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Part of a reason."""


class _Tagged(_Data, frozen=True, tag=True):
    """One of several forms."""


class JobClaimant(_Tagged, frozen=True):
    """A single job."""

    job: JobId


class PoolClaimant(_Tagged, frozen=True):
    """A pool, by its path, with all jobs in it."""

    path: str


class UserClaimant(_Tagged, frozen=True):
    """A user with all their jobs."""

    user: str


Claimant = JobClaimant | PoolClaimant | UserClaimant


class ShareKind(StrEnum):
    """Of which of its shares a claimant lacks slots."""

    MIN = "min share"
    FAIR = "fair share"


class Note(_Tagged, frozen=True):
    """A few words of a part that does not ship."""

    text: str


class PoolPlace(_Tagged, frozen=True):
    """Of POOL and POOL_MIN_SHARE: paths of the job's pool and of the topmost needy one above."""

    pool: str
    needy: str = ""


class ClassPlace(_Tagged, frozen=True):
    """Of CLASS_MIN_SHARE, CLASS_SHARE and UNMATCHED_CLASS: the job's class (from 0), the node's
    type, the job's user; of the first how many slots of their min share the user lacks.
    """

    job_class: int
    node_kind: str
    node_speed: float
    user: str
    lacks: int = 0
    min_share: int = 0


class Shortage(_Data, frozen=True):
    """A claimant that has starved for too long, and how many slots of its share it lacks."""

    claimant: Claimant
    slots: int
    share: ShareKind


class Starving(_Tagged, frozen=True):
    """Of STARVATION: the first claimants that starve, and how many more there are."""

    shortages: tuple[Shortage, ...]
    more: int = 0


class BehindAverage(_Tagged, frozen=True):
    """Of BEHIND_AVERAGE: progress of the attempt (0 to 1), and of its job's `tasks` of the kind."""

    progress: float
    done_millionths: int
    tasks: int


class AttemptPace(_Tagged, frozen=True):
    """Of other speculative attempts: how far the original is, and a fresh one's likely time."""

    ran_ms: Millis
    progress: float
    fresh_ms: Millis | None = None


Detail = Note | PoolPlace | ClassPlace | Starving | BehindAverage | AttemptPace


class Grounds(NamedTuple):
    """What a part says of a job or an attempt that it puts forward; `serving` names the order at
    work in an order of several.
    """

    reason: Reason = Reason.BY_KEY
    detail: Detail | None = None
    serving: str = ""


BY_KEY = Grounds()
"""Those of a job that stands where its key puts it."""


class DelayByCount(_Tagged, frozen=True):
    """The nearest map is at `level`; passed over in `count` of the `limit` offers to wait for."""

    level: Locality
    count: int
    limit: int


class DelayByTime(_Tagged, frozen=True):
    """The job's nearest map here is at `level`, and no further than `allowed` may be launched: it
    has waited for `waited_ms` of `until_ms`, and was passed over in `skips` offers meanwhile.
    """

    level: Locality
    allowed: Locality
    waited_ms: Millis
    until_ms: Millis
    skips: int


Refusal = DelayByCount | DelayByTime | Note
"""Why a locality rule did not let a job have a task; a `Note` is of a rule that does not ship."""


class Skip(_Data, frozen=True):
    """A job that stood further ahead and was passed over."""

    job: JobId
    refusal: Refusal


MAX_SKIPS = 8
"""The most skipped jobs that one reason names."""


class Why(_Data, frozen=True):
    """The reason of a decision, as it goes into the journal.

    `part` is the name of the part that decided.  `rank` is the job's place in the order's queue,
    from 1 (0 where nothing is ranked); `score` is what the order compared (its meaning is the
    order's own: submit time, share over weight, virtual size).  Of a speculative attempt, `rank`
    is its place among the tasks that deserved one; of a victim, among the check's victims.

    `beneficiary` is the claimant for which an attempt has to give way.  `serving` is as in
    `Grounds`.  `skipped` are the jobs passed over before it, at most `MAX_SKIPS` of them.  A
    launch also says what its own job had put up with for locality since its last map launch:
    `skips` offers that passed it over, and `waited_ms` as the locality rule counts it.
    """

    reason: Reason
    part: str = ""
    rank: int = 0
    score: float = 0.0
    beneficiary: Claimant | None = None
    detail: Detail | None = None
    serving: str = ""
    skipped: tuple[Skip, ...] = ()
    skips: int = 0
    waited_ms: Millis = 0
