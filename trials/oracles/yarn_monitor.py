"""Tests of YARN's preemption monitor (TestProportionalCapacityPreemptionPolicy).

A case has queues with what they are guaranteed (`abs`), `max`, `used`, `pending`, `reserved`; a
leaf has applications (`apps`) that share these, in containers of one size (`gran`).  `expect` says
how many containers an application is asked for; the first one is A, leaf by leaf.  The tests take
everything back at once, unless `conf` says otherwise.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

import msgspec

from callboard.scheduler.queues.amounts import MemoryCalculator
from callboard.scheduler.queues.ideal_allocation import BalanceParams, balance_queues
from callboard.scheduler.queues.preemption_victims import (
    HeldContainer,
    LeafVictims,
    VictimParams,
    select_victims,
)
from callboard.scheduler.queues.queue_tree import MonitoredQueue, QueueTreeError
from trials.oracles.comparison import Cell, Check, NotPlayed, case_as, case_cell


class Queue(msgspec.Struct, forbid_unknown_fields=True):
    """A queue of a case, in units of one resource."""

    name: str
    abs: int
    max: int
    used: int
    parent: str | None = None
    pending: int = 0
    reserved: int = 0
    apps: int = 0
    gran: int = 1
    priority: int = 0

    def monitored(self, *, preemptable: bool) -> MonitoredQueue:
        return MonitoredQueue(
            name=self.name,
            parent=self.parent,
            guaranteed=(self.abs,),
            maximum=(self.max,),
            used=(self.used,),
            pending=(self.pending,),
            reserved=(self.reserved,),
            preemptable=preemptable,
            priority=self.priority,
        )

    def containers(self, first_number: int) -> list[HeldContainer]:
        """What one of its applications holds: what is reserved for it, then what runs."""
        reserved = self._containers_of(self.reserved)
        return [
            HeldContainer(
                number=first_number + place, size=(self.gran,), is_reservation=place < reserved
            )
            for place in range(reserved + self._containers_of(self.used))
        ]

    def _containers_of(self, amount: int) -> int:
        """Into how many containers an application's part of the amount goes."""
        return -(-(amount // self.apps) // self.gran) if self.gran > 0 else 0


class Conf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a case sets of the monitor."""

    total_preemption_per_round: float = 1.0
    natural_termination_factor: float = 1.0
    max_ignored_over_capacity: float = 0.1
    observe_only: bool = False
    max_wait_before_kill: int = 0
    """Without effect, as the next: a case is one round."""
    monitoring_interval: int = 0

    def params(self) -> BalanceParams:
        return BalanceParams(
            portion_per_round=self.total_preemption_per_round,
            natural_termination=self.natural_termination_factor,
            tolerance=self.max_ignored_over_capacity,
        )


class Held(NamedTuple):
    """What an application of a queue holds."""

    queue: str
    containers: list[HeldContainer]


class Case(msgspec.Struct, forbid_unknown_fields=True):
    """One test."""

    test: str
    queues: list[Queue]
    expect: dict[str, int]
    disabled: list[str] = []
    conf: Conf = Conf()
    note: str = ""


def cells(cases: Sequence[dict[str, Any]]) -> list[Cell]:
    """A cell a case: how many of its applications are asked for what they have to be."""
    return [_cell(case) for case in cases]


def _cell(data: dict[str, Any]) -> Cell:
    asked = len(data["expect"])
    return case_cell(data["test"], asked, lambda: checks(case_as(data, Case)))


def checks(case: Case) -> Iterator[Check]:
    """What each application is asked for; NotPlayed for queues that are no tree."""
    asked = Counter[str]() if case.conf.observe_only else _asked(case)
    for name, theirs in case.expect.items():
        yield Check(f"application {name}", theirs, asked[name])


def _asked(case: Case) -> Counter[str]:
    """How many containers of each application, and of each queue, give way."""
    held = _held(case)
    owners: dict[int, tuple[str, str]] = {}
    for place, (queue, containers) in enumerate(held):
        owners.update((each.number, (queue, ascii_uppercase[place])) for each in containers)
    victims = _victims(case, held)
    return Counter(owner for each in victims for owner in owners[each.number])


def _held(case: Case) -> list[Held]:
    """The applications, leaf by leaf."""
    parents = {queue.parent for queue in case.queues}
    held: list[Held] = []
    number = 0
    for queue in case.queues:
        for _ in range(0 if queue.name in parents else queue.apps):
            containers = queue.containers(number)
            held.append(Held(queue.name, containers))
            number += len(containers)
    if len(held) > len(ascii_uppercase):
        raise NotPlayed(f"{len(held)} applications")
    return held


def _victims(case: Case, held: Sequence[Held]) -> list[HeldContainer]:
    calculator, params = MemoryCalculator(), case.conf.params()
    queues = [queue.monitored(preemptable=not _disabled(queue, case)) for queue in case.queues]
    try:
        balances = balance_queues(queues, calculator, params)
    except QueueTreeError as error:
        raise NotPlayed(str(error)) from None
    total = next(iter(balances.values())).ideal
    leaves = [
        LeafVictims(
            to_obtain=each.obtained,
            guaranteed=each.queue.guaranteed,
            applications=[containers for queue, containers in held if queue == name],
        )
        for name, each in balances.items()
    ]
    return select_victims(
        leaves, calculator, total, VictimParams(portion_per_round=params.portion_per_round)
    )


def _disabled(queue: Queue, case: Case) -> bool:
    """Whether preemption is disabled for a queue or one above it."""
    parents = {each.name: each.parent for each in case.queues}
    name: str | None = queue.name
    for _ in parents:
        if name in case.disabled:
            return True
        name = parents.get(name or "")
    return False
