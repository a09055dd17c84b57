"""Speculation for tests: a rule that copies blindly, and the rules that ship, in a hurry."""

from collections.abc import Iterator

from callboard.scheduler.decisions import Speculate
from callboard.scheduler.facts import Closed, Fact, Launched, Rejected
from callboard.scheduler.model import AttemptId, SlotKind
from callboard.scheduler.policy import NoSpeculation, SpeculationRule
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.speculation.late import Late
from callboard.scheduler.speculation.mantri import Mantri
from callboard.scheduler.speculation.naive import Naive
from callboard.scheduler.view import ClusterView, Offer


class SpeculateNewest(SpeculationRule):
    """Copies the newest attempt that may be copied, that many in all; `restart` says how.

    It wants to while its budget lasts and anything runs; with `refused` it begins with a copy that
    the master has to refuse.
    """

    name = "copy-all"
    summary = "for tests"

    def __init__(
        self,
        copies: int = 10,
        *,
        restart: bool = False,
        urgent: bool = False,
        only: SlotKind | None = None,
        refused: bool = False,
    ) -> None:
        self.left = copies
        self._restart = restart
        self._urgent = urgent
        self._only = only
        self._refusals = refused

    def observe(self, fact: Fact, view: ClusterView) -> None:  # noqa: ARG002
        if isinstance(fact, Launched) and fact.original:
            self.left -= 1
        elif isinstance(fact, Rejected):
            self._refusals = False
        elif isinstance(fact, Closed) and fact.attempt % 7 == 0:
            self.left += 1  # so that the wish comes and goes

    def urgent(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        return self._found(kind, offer, view) if self._urgent else None

    def speculate(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        if self._urgent:
            return None
        if self._refusals:
            return Speculate(10**9, Why(Reason.OWN, self.name, 1))  # refused: nobody runs this
        return self._found(kind, offer, view)

    def has_candidates(self, kind: SlotKind, view: ClusterView) -> bool:
        return self.left > 0 and view.running(kind) > 0

    def _found(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        if self.left <= 0 or self._only not in (None, kind):
            return None
        found = list(self._suited(kind, offer, view))
        return Speculate(found[-1], Why(Reason.OWN, self.name, 1), self._restart) if found else None

    def _suited(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[AttemptId]:
        for each in view.attempts():
            open_ = each.alone and not each.killing
            if open_ and each.kind is kind and offer.node.node != each.node:
                yield each.attempt


HASTY_SPECULATIONS = (
    "no_speculation",
    "blind",
    "restart",
    "urgent",
    "naive",
    "late",
    "std",
    "mantri",
)
"""The rules that `speculating` knows by name; all but the first copy."""


def hasty_speculation(name: str) -> SpeculationRule:
    """A rule so hasty that it copies in short runs."""
    rules: dict[str, SpeculationRule] = {
        "no_speculation": NoSpeculation(),
        "blind": SpeculateNewest(refused=True),
        "restart": SpeculateNewest(3, restart=True),
        "urgent": SpeculateNewest(4, urgent=True),
        "naive": Naive(Naive.Params(gap=0.1, lag_s=2.0)),
        "late": Late(Late.Params(lag_s=1.0, slow_task=60.0, slow_node=10.0)),
        "std": Late(Late.Params(by="std", lag_s=1.0, slow_task=0.3)),
        "mantri": Mantri(Mantri.Params(delta=0.1, rho=0.0, least=1)),
    }
    return rules[name]
