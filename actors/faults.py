"""What can happen to the world, as data.

A fault is a fact about one machine or one link from a moment on.  The injector makes it happen
(`actors.injector`) and the journal keeps it, so that a run can be played again exactly.
"""

from typing import TypeAlias

import msgspec

from actors.network import Way
from scheduler.model import NodeId


class Fault(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """What every fault has: the node that it strikes."""

    node: NodeId


class Crash(Fault, frozen=True):
    """The node stops dead.  What ran on it is gone, and so is what it had stored."""


class Restart(Fault, frozen=True):
    """A crashed node starts again, empty, and joins at once."""


class Pause(Fault, frozen=True):
    """The node stands still, as in a long collection of garbage: nothing is lost, all is late."""


class Resume(Fault, frozen=True):
    """A paused node goes on where it stood."""


class Slow(Fault, frozen=True):
    """Whatever runs on the node takes `factor` times as long from now on; 1 is its own speed."""

    factor: float


class Disturb(Fault, frozen=True):
    """The link between the master and the node is like this from now on; `up` is to the master."""

    up: Way
    down: Way


class Separate(Fault, frozen=True):
    """The node and these others cannot fetch from each other from now on; none ends it."""

    others: tuple[NodeId, ...]


AnyFault: TypeAlias = Crash | Restart | Pause | Resume | Slow | Disturb | Separate
"""Anything that the injector can make happen."""
