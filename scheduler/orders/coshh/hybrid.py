"""The hybrid scheduler: FIFO when underloaded, Fair when balanced, COSHH when overloaded.

(Rasooli and Down, "A Hybrid Scheduling Approach for Scalable Heterogeneous Hadoop Systems", V.) The
load is

    (waiting tasks - free slots) / slots

of the kind of slot where it is largest: -1 on an idle cluster, below 0 where the paper says
underloaded, 1 when every slot is taken and as many tasks wait.  A launch does not change it.

The paper leaves thresholds and their guard to future work: `balanced_from` is 0, as it says;
`overloaded_from` is 1, "the total number of slots, and the total number of tasks waiting"; on the
way down a threshold is passed `margin` lower.  All three orders hear every fact, so that each is
ready when its turn comes.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from callboard.scheduler.decisions import Switch
from callboard.scheduler.entitlements import ClaimantKind, Entitlements
from callboard.scheduler.estimation import Oracle, SizeSource
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import KINDS, SlotKind
from callboard.scheduler.orders.coshh.coshh import Coshh
from callboard.scheduler.orders.coshh.user_entitlements import UserParams
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.part_params import NUMBER_MAX, NotNegative, PartParams
from callboard.scheduler.policy import Order, QueuedJob
from callboard.scheduler.reasons import Grounds
from callboard.scheduler.view import ClusterView, Offer


class Hybrid(Order):
    """Three orders; the load chooses between them."""

    name = "hybrid"
    summary = "fifo when underloaded, fair when balanced, coshh when overloaded"
    ages = False
    same_for_every_node = False
    switches = True
    hears_progress = False

    class Params(PartParams, frozen=True, kw_only=True):
        """The loads where Fair and COSHH begin; COSHH's parameters."""

        balanced_from: Annotated[float, Meta(ge=-1, le=NUMBER_MAX)] = 0.0
        """The load from which Fair serves."""
        overloaded_from: Annotated[float, Meta(ge=-1, le=NUMBER_MAX)] = 1.0
        """The load from which COSHH serves."""
        margin: NotNegative = 0.1
        """How far below a load has to fall to go back."""
        size: SizeSource = "online"
        """Task times are learnt (`online`) or true (`oracle`)."""
        users: dict[str, UserParams] = msgspec.field(default_factory=dict)
        """What each user is due, by name."""

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.balanced_from > self.overloaded_from:
                raise ValueError(
                    f"balanced_from must be at most overloaded_from, {self.overloaded_from:g};"
                    f" it is {self.balanced_from:g}"
                )
            self.fair_params()  # a name that can be no pool's is refused

        def fair_params(self) -> Fair.Params:
            """Fair as the paper has it: a pool for each user."""
            pools = {name: PoolParams(**asdict(user)) for name, user in self.users.items()}
            return Fair.Params(pool_by="user", pools=pools)

    def __init__(self, params: Params | None = None) -> None:
        self.params = params = params or Hybrid.Params()
        if not params.users:
            self.guarantees = ("makespan", "lone-job", "pareto")
        coshh = Coshh(Coshh.Params(size=params.size, users=params.users))
        self._orders: tuple[Fifo, Fair, Coshh] = (Fifo(), Fair(params.fair_params()), coshh)
        self.wants_oracle = coshh.wants_oracle
        margin = Fraction(repr(params.margin))
        self._up = [Fraction(repr(each)) for each in (params.balanced_from, params.overloaded_from)]
        self._down = [each - margin for each in self._up]
        self._state = 0
        self._switch: Switch | None = None

    @property
    def order(self) -> Fifo | Fair | Coshh:
        return self._orders[self._state]

    @property
    def switch(self) -> Switch | None:
        return self._switch

    def set_oracle(self, oracle: Oracle) -> None:
        for order in self._orders:
            if order.wants_oracle:
                order.set_oracle(oracle)

    def observe(self, fact: Fact, view: ClusterView) -> None:
        for order in self._orders:
            order.observe(fact, view)
        self._switch = None
        state, kind = self._order_for_load(view)
        if state != self._state:
            was, now = self.order.name, self._orders[state].name
            slots = view.slots(kind)
            free = slots - view.running(kind)
            self._switch = Switch(was, now, kind, view.pending(kind), free, slots)
            self._state = state

    def _order_for_load(self, view: ClusterView) -> tuple[int, SlotKind]:
        """The order for the present load, and the kind of slot that is loaded most."""
        load, loaded = Fraction(-1), SlotKind.MAP
        for kind in KINDS:
            slots = view.slots(kind)
            if slots:
                each = Fraction(view.pending(kind) + view.running(kind), slots) - 1
                if each > load:
                    load, loaded = each, kind
        state = self._state
        while state < len(self._up) and load >= self._up[state]:
            state += 1
        while state > 0 and load < self._down[state - 1]:
            state -= 1
        return state, loaded

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        order = self.order
        for job, score, (reason, detail, _) in order.queue(kind, offer, view):
            yield QueuedJob(job, score, Grounds(reason, detail, order.name))

    def kinds(self, offer: Offer) -> Iterable[SlotKind]:
        return self.order.kinds(offer)

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        return self.order.quota(kind, offer, view)

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:
        return self.order.entitlements(kind, view, each)
