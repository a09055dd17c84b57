"""Dominant Resource Fairness, task by task: who launches how many tasks of a fixed demand.

Ghodsi and others, Dominant Resource Fairness (NSDI 2011), algorithm 1: the user of least dominant
share, over their weight, launches a task; of equal ones the one that stands first.  Where it does
not fit, either everything stops, as in the paper, or the next user is served, as YARN and Mesos do.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from callboard.scheduler.queues.amounts import nothing, shares
from callboard.scheduler.resources import Vector, fits, minus

WhenNoFit = Literal["stop", "skip"]


class ServedUsers(NamedTuple):
    """What users have launched when nobody launches more."""

    tasks: tuple[int, ...]
    launches: tuple[int, ...]
    """Whose task was launched, one after the other, by place."""
    free: Vector


def serve_by_dominant_share(
    total: Vector,
    demands: Sequence[Vector],
    when_no_fit: WhenNoFit = "skip",
    weights: Sequence[Fraction] | None = None,
) -> ServedUsers:
    """Fill a machine by endless tasks of these demands.  ValueError for a task that takes nothing,
    or amounts of another length.
    """
    _check_demands(total, demands)
    taken = [dominant_share(total, demand) for demand in demands]
    parts = weights or [Fraction(1)] * len(demands)
    steps = [share / part for share, part in zip(taken, parts, strict=True)]
    tasks = [0] * len(demands)
    launches: list[int] = []
    serving, free = list(range(len(demands))), total
    while serving:
        user = min(serving, key=lambda n: (tasks[n] * steps[n], n))
        if fits(demands[user], free):
            free = minus(free, demands[user])
            tasks[user] += 1
            launches.append(user)
        elif when_no_fit == "skip":
            serving.remove(user)
        else:
            break
    return ServedUsers(tuple(tasks), tuple(launches), free)


def dominant_share(total: Vector, amounts: Vector) -> Fraction:
    """The largest share of a resource; of one that there is none of, nobody has any."""
    return max(shares(total, amounts), default=Fraction(0))


def _check_demands(total: Vector, demands: Sequence[Vector]) -> None:
    for demand in demands:
        if len(demand) != len(total):
            raise ValueError(f"{len(demand)} amounts are demanded, {len(total)} are there")
        if min(demand) < 0 or demand == nothing(demand):
            raise ValueError(f"a task of {demand}: it has to take something")
