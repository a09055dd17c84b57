"""A run as tables of numbers: what each column means.

Rows are plain numpy arrays, few and wide: numba hands each of them to every function that it does
not inline.  Nodes stand in the order in which their heartbeats arrive, jobs in that of their
submission.  `NONE` (-1) is no row; a time that is not known yet is `LATER`.
"""

from typing import Any, NamedTuple

NONE = -1
LATER = 1 << 60

MAPS_HERE, REDUCES_HERE = 0, 1
"""The kinds of slot, as columns of `sums` and offsets of the paired columns below."""

# The orders and the rules of locality.
(
    BY_FIFO,
    BY_FAIR,
    BY_SRPT,
    BY_PSJF,
    BY_LAS,
    BY_PS,
    BY_FSP_FIFO,
    BY_FSP_PS,
    BY_PSBS,
    BY_HFSP,
) = range(10)
BY_VIRTUAL_TIME = BY_FSP_FIFO
"""The first of those that go by virtual time."""
SIZE_LEARNT, SIZE_TRUE, SIZE_REQUESTED, SIZE_TRAINED = range(4)
ANY_LEVEL, WAIT_BY_TIME, WAIT_BY_COUNT = range(3)

# What an attempt is of: a job's tasks, its setup, its cleanup.
OF_TASKS, OF_SETUP, OF_CLEANUP = range(3)

# How `play_instants` answers.
GOES_ON, COMPLETE, UNTIL_REACHED, NO_ROOM, IS_STUCK, TOO_LARGE = range(6)

# `given`: what does not change.
(
    PERIOD,
    LATENCY,
    UNTIL,
    JOBS,
    NODES,
    REPLICAS,
    RACKS,
    ORDER,
    WAIT,
    NODE_WAIT,
    RACK_WAIT,
    SKIPS_MAX,
    ONE_EACH,
    STALL,
    STANDING_BITS,
    MIDDLE_BITS,
    GUESS,
    SIZE_SOURCE,
    NEEDY_SCALE,
    HAS_CAPS,
    UNIT_BITS,
    TRAINING_TASKS,
    TRAINING_SLOTS_MAX,
    TRAINING_DELAY,
    FLAPS,
    PREEMPTS,
    LOOK_EVERY,
    CHECK_EVERY,
    FAIR_TIMEOUT,
    WEIGHT_SCALE,
    INITIALISED_JOBS,
) = range(31)
GIVEN_WIDTH = 31

# `reals`: of the scenario's tables.
LEVEL_FACTOR, SIGMA, STRAGGLERS, STRAGGLING, SIZE_ERROR = 0, 3, 4, 5, 6
FIRST_SIZE, FIRST_SIZE_FACTOR = 7, 8
REAL_WIDTH = 9

# `keys`: of the streams of draws; the placement's from `PLACEMENT` on, that many tries a replica.
DURATION, STRAGGLER, ESTIMATE, PLACEMENT = range(4)
TRIES = 64

# `state`: single numbers that change.
(
    NOW,
    DUE,
    ENDED,
    LAST,
    LAUNCHED,
    JOINED,
    DECIDED,
    MAP_GIVEN,
    OVERFLOW,
    LINKS_TOP,
    ROWS_TOP,
    ROWS_FREE,
    OFFERS,
    HEARD,
    SKIPPED,
    PASSED,
    SHUFFLE_TIME,
    UNSEEN,
    JOBS_IN_LINE,
    WALK_TRAINS,
    WALK_PART,
    WALK_AT,
    NEWS,
    PRESENT,
    LOST,
    KILLED_COUNT,
    TOLD,
    LOG_TOP,
    REFUSED_TOP,
    REFUSED,
    RANK,
    ESTIMATES_TOP,
    READY_DUE,
) = range(33)
STATE_WIDTH = 33

# `sums`: numbers by kind of slot.
(
    PENDING,
    UNFINISHED,
    PADDED,
    SLOTS,
    RUNNING,
    HELD_TIME,
    ENDED_TIME,
    ENDED_COUNT,
    SEEN_SLOTS,
    SPARE,
    WEIGHTS,
    TIME_HIGH,
    TIME_LOW,
    LEVEL_HIGH,
    LEVEL_LOW,
    NEXT_HIGH,
    NEXT_LOW,
    NEXT_MS,
    MEMBERS,
    CAPS_MET,
    WAITING_LINE,
    SORTED_UNTIL,
    TRAINING_SLOTS,
    WASTED_TIME,
    LOOKS,
    CLAIMS,
) = range(26)
SUM_LENGTH = 26

# `state[WALK_PART]`: where in the queue of an order by virtual time a walk is.
AMONG_TRAINING, AMONG_LATE, AMONG_OTHERS, AT_THE_END = range(4)

# `virtual`: a row a job and kind, under orders by virtual time.
AWAY, CAPPED, SHARING = range(3)
(
    IS_PHASE,
    LATE_SINCE,
    SIDE,
    PHASE_CAP,
    PHASE_WEIGHT,
    PHASE_SPEED,
    CAP_STEP,
    WEIGHT_STEP,
    PHASE_KEY_HIGH,
    PHASE_KEY_LOW,
    LEFT_HIGH,
    LEFT_LOW,
    END_HIGH,
    END_LOW,
    IN_WAITING_LINE,
    TRAIN_KEY,
    IN_TRAINING,
    TRAINING_RUNS,
    SAMPLES,
    SAMPLES_OF_RUNNING,
    SAMPLES_SUM,
    SAMPLE_START,
    ESTIMATED,
) = range(23)
PHASE_WIDTH = 23

# `jobs`; paired columns are by kind of slot.
(
    TASKS,
    WAITING_TASKS,
    RUNNING_TASKS,
    DONE_TASKS,
    KEY,
    OWN_TIME,
    OWN_COUNT,
    SERVED,
    TRUE_SIZE,
    COUNTED_RUNNING,
    COUNTED_DEMAND,
    AGAIN,
) = range(0, 24, 2)
(
    NUMBER,
    SUBMIT,
    MAP_MS,
    SHUFFLE_MS,
    REDUCE_MS,
    SETUP_MS,
    CLEANUP_MS,
    REQUESTED,
    SLOWSTART,
    INVERSE_WEIGHT,
    STANDING,
    POOL,
    PLACE_IN_LINE,
    USER,
    RUNNABLE,
    MAPS_OPEN,
    REDUCES_OPEN,
    MAPPED,
    FETCHING,
    FINISHED,
    FIRST_LAUNCH,
    ROW,
    LINKS,
    NEXT_MAP,
    NEXT_REDUCE,
    HEARD_AT,
    LEVEL,
    WAITED,
    SKIPS,
    IS_SKIPPED,
    PASSED_IN,
    SERVED_IN,
    PLACES,
    LENGTHS,
    SKEWED,
    SKIPS_IN_ALL,
    LEVELS,
) = range(24, 61)
READY = 63
JOB_WIDTH = 64

# `pools`: the first holds all others, and all jobs where nothing else is said; paired columns are
# by kind of slot.
(QUEUED, MIN_SHARE, CAP, POOL_RUNNING, POOL_DEMAND, POOL_WISHES, POOL_KEY) = range(0, 14, 2)
(PARENT, QUEUE_START, POOL_STANDING, POOL_PACE, IN_LINE, WALKED, MAX_JOBS, JOBS_ADMITTED) = range(
    14, 22
)
POOL_EXISTS, CHILDREN = 22, 23
POOL_WIDTH = 24

# `claims`: under preemption a row a job, then a row a pool; paired columns are by kind of slot.
(
    CLAIM_LOOK,
    SHARED_LOOK,
    KNOWN_LOOK,
    SHARE_ABOVE,
    SHARE_BELOW,
    BELOW_MIN,
    BELOW_HALF,
    ABOVE_SHARE,
) = range(0, 16, 2)
MIN_TIMEOUT = 16
CLAIM_WIDTH = 17

# `nodes`; paired columns are by kind of slot.
FREE, TAKEN, HAS, BERTH, FREED = range(0, 10, 2)
NODE, RACK, NODE_TYPE, HAS_JOINED = range(10, 14)
NODE_WIDTH = 14

# `berths`: what the master has booked in a slot of a node.  `BUSY` alone is of the slot in which
# place it stands: until when an attempt is in it.  `FREED_BY` is a list for each node and kind of
# slot: the attempts whose booked ends freed slots that nothing has taken since, oldest first.
(
    OF_JOB,
    OF_KIND,
    OF_STAGE,
    OF_TASK,
    IN_SLOT,
    BEGUN,
    SHUFFLED,
    OVER,
    FETCHES_NEXT,
    OF_NODE,
    IN_LOG,
    BUSY,
    TRAINS,
    HOLDS_TRAINING,
    SAMPLE,
    HEARD_FROM,
    KILLING,
    LOG_ROW,
    FREED_BY,
    TIMES,
) = range(20)
BERTH_WIDTH = 22
NOT_KILLED, KILL_ORDERED, KILLED, KILL_IN_VAIN = range(4)

# `log`: every attempt, in the order of launch, if that is kept, and why it was launched.  Of what
# the master tells one after the other `…_TOLD` says the place.
(
    LOG_JOB,
    LOG_KIND,
    LOG_TASK,
    LOG_NODE,
    LOG_SLOT,
    LOG_LEVEL,
    LOG_LAUNCHED,
    LOG_SHUFFLED,
    LOG_ENDED,
    LOG_CLOSED,
    LOG_ATTEMPT,
    LOG_STAGE,
    LOG_NUMBER,
    LOG_LAUNCH_TOLD,
    LOG_CLOSE_TOLD,
    LOG_FREED_BY,
    LOG_MADE_WAY,
    LOG_RANK,
    LOG_PART,
    LOG_SCORE,
    LOG_SCORE_LOW,
    LOG_WAITED,
    LOG_SKIPS,
    LOG_REFUSED,
    LOG_REFUSALS,
) = range(25)
LOG_WIDTH = 25
LETS_REDUCE, ENDS_MAPS, ENDS_TASKS = 1, 2, 4
"""Bits of `LOG_MADE_WAY`: what the job could do once this end of a task was booked."""

# `refused`: the jobs that launches passed over.
(
    REFUSED_JOB,
    REFUSED_LEVEL,
    REFUSED_ALLOWED,
    REFUSED_WAITED,
    REFUSED_UNTIL,
    REFUSED_SKIPS,
) = range(6)
REFUSED_WIDTH = 6
REFUSED_MOST = 8

# `estimates`: the sizes that were measured.
(
    ESTIMATE_MS,
    ESTIMATE_TOLD,
    ESTIMATE_JOB,
    ESTIMATE_KIND,
    ESTIMATE_SIZE,
    ESTIMATE_LEFT,
    ESTIMATE_BY,
) = range(7)
ESTIMATE_WIDTH = 7

# `lists`: jobs in no order that matters, and rows that are free.
HEARD_LIST, SKIPPED_LIST, PASSED_LIST, FREE_ROWS, UNSEEN_LIST, IN_LINE_LIST = range(6)
MEMBERS_LIST, WAITING_LIST = 6, 8  # by kind of slot
PRESENT_LIST, CLAIM_LIST = 10, 11
READY_LIST = 12  # the jobs that are initialised first, by when they have been
LIST_ROWS = 13


class Tables(NamedTuple):
    """A run."""

    given: Any
    reals: Any
    keys: Any
    state: Any
    sums: Any
    jobs: Any
    factors: Any
    """By how much each job's tasks are longer on each type of node; last, its skewed ones."""
    nodes: Any
    speeds: Any
    phases: Any
    """When in a round of heartbeats each node's arrives."""
    free: Any
    """By kind of slot: a bit for each node that has a free one."""
    minima: Any
    """A tree over the nodes: when the next heartbeat arrives that tells an end."""
    berths: Any
    virtual: Any
    measures: Any
    """The size that each phase was taken for last; then how far its training tasks are."""
    pools: Any
    claims: Any
    lost: Any
    """The tasks that were killed and that no job has heard of yet: job, kind, task."""
    newest: Any
    """A heap of what runs, by launch; how much it is stands first."""
    users: Any
    """Of each user: the most running jobs, and how many are admitted."""
    queues: Any
    """By kind of slot and pool: the keys of the jobs and pools with pending tasks, sorted."""
    standings: Any
    """The job, or behind all jobs the pool, of each standing."""
    lists: Any
    racks: Any
    """Of each rack: where its nodes begin in `rack_nodes`, and how many they are."""
    rack_nodes: Any
    held: Any
    """The nodes of one block while it is being placed."""
    rows: Any
    """Of each job: the first of its blocks on each node, anywhere, and in each rack."""
    links: Any
    """Behind each block the next on its node, the next in its rack; and which maps are taken."""
    blocks: Any
    """By size, as a power of two: the first of the free pieces of `links`."""
    places: Any
    """Where the blocks of recorded jobs lie."""
    lengths: Any
    """What the tasks of recorded jobs take: each map, then each reduce's three parts."""
    skewed: Any
    """Of jobs that have some: which of their tasks are skewed, maps first."""
    log: Any
    """The attempts; no rows if they are not kept."""
    refused: Any
    """The jobs that launches in the log passed over, launch by launch."""
    estimates: Any
    """The sizes that were measured, in that order."""
