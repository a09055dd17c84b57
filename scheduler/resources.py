"""Vectors of resources: what a node has and what a task takes, in whole amounts by dimension.

The dimensions of a cluster are its two kinds of slot and what else its nodes name, as `cpu` and
`memory`, in units that its users agree on: thousandths of a core, megabytes.  Slots are the special
case: a task that names nothing takes one slot, and slots are all that nodes without names have.
"""

from collections.abc import Iterable, Mapping
from operator import add, le, sub
from typing import TypeAlias

import msgspec

from callboard.scheduler.model import KINDS, SlotKind

Vector: TypeAlias = tuple[int, ...]
"""An amount for each dimension, in their order."""

SLOTS = tuple(f"{kind.name.lower()} slots" for kind in KINDS)
"""The dimensions that every cluster has, by kind."""


class Dimensions(msgspec.Struct, frozen=True):
    """What the amounts of vectors are of: slots, then the named resources."""

    named: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of all dimensions, in their order."""
        return SLOTS + self.named

    def of_node(self, slots: tuple[int, int], amounts: Mapping[str, int]) -> Vector:
        """What a node has; of what it does not name it has nothing."""
        return slots + tuple(amounts.get(name, 0) for name in self.named)

    def of_task(self, kind: SlotKind, amounts: Mapping[str, int]) -> Vector:
        """What a task takes while it runs in a slot of this kind."""
        slots = tuple(int(kind is each) for each in KINDS)
        return slots + tuple(amounts.get(name, 0) for name in self.named)


def plus(a: Vector, b: Vector) -> Vector:
    """The sum, dimension by dimension."""
    return tuple(map(add, a, b))


def minus(a: Vector, b: Vector) -> Vector:
    """The difference, dimension by dimension."""
    return tuple(map(sub, a, b))


def fits(demand: Vector, free: Vector) -> bool:
    """Whether no dimension of what is free is short of the demand."""
    return all(map(le, demand, free))


def total(vectors: Iterable[Vector]) -> Vector:
    """The sum of all, of which there is at least one."""
    return tuple(map(sum, zip(*vectors, strict=True)))
