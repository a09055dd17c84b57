"""The parameters of a YARN-like cluster, with YARN's defaults."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from callboard.scheduler.model import Millis
from callboard.scheduler.orders.capacity.queues import Percent, UserLimitPercent
from callboard.scheduler.part_params import Count, NotNegative, PartParams, Portion, Positive
from callboard.scheduler.queues.ideal_allocation import BalanceParams
from callboard.scheduler.queues.preemption_victims import VictimParams

_Seconds = Annotated[float, Meta(ge=0.001, le=86_400)]
_Amounts = dict[str, Count]

Calculator = Literal["memory", "dominant"]
"""Which resources count where amounts are compared."""

FALLBACK_QUEUE = "default"
"""The queue of jobs whose pool has none."""


class YarnQueueParams(PartParams, frozen=True, kw_only=True):
    """What a queue is due and allowed; the first seven count under `capacity`, the others under
    `fair`.
    """

    capacity: Percent | None = None
    """Its share of its parent's, in percent; unset, an equal part of what its siblings leave."""
    maximum_capacity: Percent = 100.0
    """The most of its parent's maximum that it may hold, in percent."""
    minimum_user_limit_percent: UserLimitPercent = 100
    """To how much of the queue users that compete are cut down, and no further."""
    user_limit_factor: Positive = 1.0
    """How many times the queue's capacity one user may hold."""
    priority: int = 0
    """The higher goes first among queues that hold less than they are due."""
    preemptable: bool = True
    """Whether the preemption monitor may take back what it holds above its capacity."""
    am_percent: Percent | None = None
    """The most of its maximum that application masters may hold; unset, the cluster's."""
    weight: Positive = 1.0
    """What it is due, relative to its siblings."""
    min_resources: _Amounts = msgspec.field(default_factory=dict)
    """Below so much, by name, it goes before queues that have theirs."""
    max_resources: _Amounts = msgspec.field(default_factory=dict)
    """The most that it may hold, by name."""


class YarnParams(PartParams, frozen=True, kw_only=True):
    """Who is served, and who speaks when."""

    scheduler: Literal["capacity", "fair", "drf"] = "capacity"
    """How queues and applications are ordered: by capacities (Capacity Scheduler), or by shares of
    memory (`fair`) or of what each has most of (`drf`), both of the Fair Scheduler."""
    queues: dict[str, YarnQueueParams] = msgspec.field(default_factory=dict)
    """The queues by their paths, as in `prod/etl`, in the order in which equal ones go first."""
    calculator: Calculator = "memory"
    """What amounts are compared by under `capacity`: the first resource alone (memory, if there is
    any), or the one that most is held of. Containers always fit in all resources."""
    am: _Amounts | None = None
    """What a container for an application master takes, by name; unset, what a map of its job
    takes besides its slot."""
    am_percent: Percent = 10.0
    """The most of a queue's maximum that application masters may hold; one is always allowed."""
    least: _Amounts = msgspec.field(default_factory=dict)
    """What is asked for is rounded up to multiples of so much, by name; unset, of 1."""
    node_heartbeat: _Seconds = 1.0
    """How long a node manager waits from an answer to its next heartbeat, in seconds."""
    am_heartbeat: _Seconds = 1.0
    """How often an application master asks, in seconds."""
    assignments: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """The most containers that a node is given at a heartbeat; unset, 100 under `capacity`, 1 under
    the others."""
    off_switch: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Under `capacity` a heartbeat brings nothing more after that many containers that are nowhere
    near to what they read, or read nothing."""
    node_locality_delay: Annotated[int, Meta(ge=-1)] = 40
    """Under `capacity` a map goes to another node of the rack only when that many have passed
    (at most as many as there are nodes); -1: it does not wait for its rack either."""
    node_threshold: Annotated[float, Meta(ge=-1, le=1)] = -1.0
    """Under the others, the part of all nodes that are passed over before a map goes to another
    node of the rack; with either threshold below 0 it waits for neither node nor rack."""
    rack_threshold: Annotated[float, Meta(ge=-1, le=1)] = -1.0
    """The same, after that, before it goes to another rack."""
    reduce_ramp: Portion = 0.5
    """The most of what a job may hold that it asks for reduces with while maps wait."""
    monitor: bool = False
    """Whether the preemption monitor takes containers back; under `capacity` only."""
    monitor_interval: _Seconds = 3.0
    """How often it looks, in seconds."""
    wait_before_kill: NotNegative = 15.0
    """How long an application has to give a container back by itself, in seconds."""
    portion_per_round: Portion = 0.1
    """The most of the cluster that a round takes back."""
    natural_termination: Portion = 0.2
    """The part that is taken at once of what is to be given back."""
    tolerance: NotNegative = 0.1
    """How far above its capacity a queue is left alone, as a part of it."""

    @property
    def node_heartbeat_ms(self) -> Millis:
        return round(1000 * self.node_heartbeat)

    @property
    def am_heartbeat_ms(self) -> Millis:
        return round(1000 * self.am_heartbeat)

    @property
    def balance_params(self) -> BalanceParams:
        """What the monitor goes by."""
        return BalanceParams(
            portion_per_round=self.portion_per_round,
            natural_termination=self.natural_termination,
            tolerance=self.tolerance,
        )

    @property
    def victim_params(self) -> VictimParams:
        """How it chooses."""
        return VictimParams(portion_per_round=self.portion_per_round)
