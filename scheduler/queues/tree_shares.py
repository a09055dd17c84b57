"""Weighted fair shares in a tree: what is free is shared out among children, and so on down.

What a child does not want goes to the others beside it, and to other branches only when its whole
branch wants no more.  The worked example is story 3 of Kueue's KEP-1714: 300 free, a cohort of
weights 1, 1, 3 beside a cohort of one queue, are 30, 30, 90 and 150.
"""

from collections.abc import Iterator
from fractions import Fraction

import msgspec

from callboard.scheduler.orders.fair.water_filling import Number, compute_fair_shares


class ShareNode(msgspec.Struct, frozen=True, kw_only=True):
    """A queue, or a cohort of some."""

    name: str
    weight: Number = 1
    demand: int = 0
    """What a queue can use; a cohort can use what its children can."""
    children: tuple["ShareNode", ...] = ()

    @property
    def wanted(self) -> int:
        """What the whole branch can use."""
        return sum(child.wanted for child in self.children) if self.children else self.demand


def tree_shares(free: Number, node: ShareNode) -> Iterator[tuple[str, Fraction]]:
    """Each queue's name and share of what is free, exactly, in the order of the tree; what nobody
    can use is given to nobody.  FairShareError for weights that are not above 0.
    """
    if not node.children:
        yield node.name, min(Fraction(free), Fraction(node.demand))
        return
    shares = compute_fair_shares(
        [child.wanted for child in node.children], free, [child.weight for child in node.children]
    )
    for child, share in zip(node.children, shares, strict=True):
        yield from tree_shares(share, child)
