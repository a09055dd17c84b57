"""The nouns that everyone speaks: time, ids, kinds of slot, stages, localities, priorities."""

from enum import IntEnum
from fractions import Fraction
from typing import NewType, TypeAlias

Millis: TypeAlias = int
"""Virtual time or a duration, in whole milliseconds (Hadoop's own grain)."""

JobId: TypeAlias = int
"""The job's place in its workload, from 0."""

NodeId: TypeAlias = int
"""The node's place in the cluster, from 0."""

TaskIndex: TypeAlias = int
"""The task's place among its job's maps, or among its reduces, from 0."""

AttemptId: TypeAlias = int
"""A number its scheduler gives each attempt at its launch, never reused.  The master's go from
1; each of several schedulers has a block of numbers of its own.
"""

BLOCK_BITS = 32


def attempt_block_start(scheduler: int) -> AttemptId:
    """Where the block of numbers begins of a scheduler; of the first one at 0, the master's."""
    return scheduler << BLOCK_BITS


def scheduler_of_attempt(attempt: AttemptId) -> int:
    """The scheduler in whose block the number lies; 0 is the master."""
    return attempt >> BLOCK_BITS


class SlotKind(IntEnum):
    """A class of slots: a node has a number of each, and a task takes one slot of one kind."""

    MAP = 0
    REDUCE = 1


MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE
"""Both kinds by names of their own.  Up to Python 3.11 looking a member up in its enumeration costs
as much as a call, so code that runs for every task has constants.
"""

KINDS = (MAP, REDUCE)
"""Both kinds, to be looped over in this order."""


Stage = NewType("Stage", int)
"""Which of its job's stages a task belongs to.  What a stage's tasks need done first is the job's
affair; what they take while they run is a kind of slot.
"""

MAPS, REDUCES = Stage(0), Stage(1)
"""The stages of a MapReduce job."""

STAGES = (MAPS, REDUCES)
"""Both of them, to be looped over in this order."""

SETUP, CLEANUP = Stage(1000), Stage(1001)
"""One task each that sets a job up, and cleans up after it: no policy decides on them."""


STAGE_NAMES = {MAPS: "map", REDUCES: "reduce", SETUP: "setup", CLEANUP: "cleanup"}
"""What a task of a stage is called."""


def slot_kind(stage: Stage) -> SlotKind:
    """The kind of slot that a stage's tasks take; setups and cleanups are taken for maps here, and
    the central master puts them into any slot.
    """
    return REDUCE if stage == REDUCES else MAP


def stage_on(kind: SlotKind) -> Stage:
    """The stage whose tasks take this kind of slot.  Whoever asks takes it that there is one such
    stage in a job, as in MapReduce.
    """
    return STAGES[kind]


SHUFFLE_SHARE = 1 / 3
"""A reduce's progress when its shuffle has ended (Hadoop: copy, sort and reduce, a third each)."""


class Locality(IntEnum):
    """How near to its input a map runs.  Smaller is nearer; reduces are always `OFF_RACK`."""

    NODE = 0
    RACK = 1
    OFF_RACK = 2


class Priority(IntEnum):
    """Hadoop's job priorities.  Smaller goes first (FIFO); Fair halves the weight at each step."""

    VERY_HIGH = 0
    HIGH = 1
    NORMAL = 2
    LOW = 3
    VERY_LOW = 4


PRIORITY_WEIGHTS = {priority: Fraction(2) ** (Priority.NORMAL - priority) for priority in Priority}
"""The Fair Scheduler's weights by priority, from 4 to 1/4 (getPriorityFactor)."""
