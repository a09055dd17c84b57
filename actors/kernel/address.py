"""Where messages go: every actor's address, a number, since these order the messages of a
superstep.  The ranges are wide apart so that one more node or slot changes no other address.
"""

from typing import Final

from callboard.scheduler.model import AttemptId, JobId, NodeId, scheduler_of_attempt

CLIENT: Final = 1
INJECTOR: Final = 3

SLOTS_PER_NODE_MAX: Final = 512

_SCHEDULER = 1 << 12
_NODE = 1 << 16
_SLOT = 1 << 24
_JOB = 1 << 40


def scheduler_address(scheduler: int) -> int:
    """The address of the actor of one of several schedulers, counted from 0."""
    return _SCHEDULER + scheduler


def launching_scheduler_address(attempt: AttemptId) -> int:
    """The address of the scheduler that has launched the attempt."""
    return scheduler_address(scheduler_of_attempt(attempt))


def node_address(node: NodeId) -> int:
    """The address of a node's actor."""
    return _NODE + node


def slot_address(node: NodeId, slot: int) -> int:
    """`slot` counts maps first, then reduces."""
    return _SLOT + node * SLOTS_PER_NODE_MAX + slot


def job_address(job: JobId) -> int:
    """The address of a job's actor."""
    return _JOB + job
