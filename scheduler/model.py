"""The nouns that everyone speaks: time, ids, kinds of task, levels of locality, priorities."""

from enum import IntEnum
from fractions import Fraction
from typing import TypeAlias

Millis: TypeAlias = int
"""Virtual time or a duration, in whole milliseconds (Hadoop's own grain)."""

JobId: TypeAlias = int
"""The job's place in its workload, from 0."""

NodeId: TypeAlias = int
"""The node's place in the cluster, from 0."""

TaskIndex: TypeAlias = int
"""The task's place among its job's maps, or among its reduces, from 0."""

AttemptId: TypeAlias = int
"""A number the master gives each attempt when it is launched, from 1, never reused."""


class TaskKind(IntEnum):
    """Which of a job's two phases a task belongs to, and which kind of slot it takes."""

    MAP = 0
    REDUCE = 1


MAP, REDUCE = TaskKind.MAP, TaskKind.REDUCE
"""Both kinds by names of their own.  Up to Python 3.11 looking a member up in its enumeration costs
as much as a call, so code that runs for every task has constants.
"""

KINDS = (MAP, REDUCE)
"""Both kinds, to be looped over in this order."""


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
