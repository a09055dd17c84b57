"""What containers took besides a slot, and nodes had: memory in MB and virtual cores, as files of
YARN's state them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from callboard.actors.config import AMOUNT_MAX
from callboard.actors.job_spec import Amounts
from callboard.histories.model.import_report import Remarks

MEMORY, VCORES = "memory", "vcores"
"""What scenarios call them: `capacity = {memory = 8192, vcores = 8}`."""

Demands = tuple[Amounts, Amounts]
"""What each map takes, and each reduce."""

NO_DEMANDS: Demands = ((), ())


def container_amounts(memory: float | None, vcores: float | None) -> Amounts:
    """What is stated, in whole amounts; nothing where it is not above 0, as Rumen writes what it
    does not know.
    """
    stated = ((MEMORY, memory), (VCORES, vcores))
    known = ((name, round(amount)) for name, amount in stated if amount is not None)
    return tuple((name, min(amount, AMOUNT_MAX)) for name, amount in known if amount > 0)


def greatest_amounts(each: Iterable[Amounts]) -> Amounts:
    """Of each resource what the largest takes: a job's containers of one kind are equal here."""
    most: dict[str, int] = {}
    for amounts in each:
        for name, amount in amounts:
            most[name] = max(most.get(name, 0), amount)
    return tuple(sorted(most.items()))


def inferred_capacity(
    stated_of_nodes: Sequence[Amounts],
    nodes: int,
    demands: Iterable[Demands],
    slots: tuple[int, int],
    remarks: Remarks,
) -> Amounts:
    """What every one of the nodes has: what is stated of most, and of what is stated of none as
    much as fills its slots with the largest containers; nothing where no container takes any.
    """
    stated = _usual_amounts(stated_of_nodes, nodes, remarks)
    of_maps, of_reduces = (greatest_amounts(each) for each in zip(*demands, strict=True))
    filled: dict[str, int] = dict(stated)
    for name in sorted({name for name, _ in (*of_maps, *of_reduces)} - filled.keys()):
        largest = dict(of_maps).get(name, 0), dict(of_reduces).get(name, 0)
        amount = sum(one * number for one, number in zip(largest, slots, strict=True))
        filled[name] = min(max(amount, *largest), AMOUNT_MAX)
        told = f"{name} {filled[name]:,}, what the largest containers take in its slots"
        remarks.add("guessed", f"amount of a node: {told}")
    return tuple(sorted(filled.items()))


def slots_for(nodes: Sequence[Amounts], demands: Sequence[Amounts]) -> int:
    """How many of the smallest containers fit on a node as most are; 0 where files do not tell."""
    usual = dict(_commonest_node_amounts(nodes))
    asked = [dict(each) for each in demands if each]
    least = {name: min(each.get(name, 0) for each in asked) for name in usual} if asked else {}
    fits = [usual[name] // amount for name, amount in least.items() if amount > 0]
    return min(fits, default=0)


def _commonest_node_amounts(nodes: Sequence[Amounts]) -> Amounts:
    if not nodes:
        return ()
    found = Counter(nodes)  # of equals the smallest: what is asked is answered on the safe side
    most = max(found.values())
    return min(amounts for amounts, number in found.items() if number == most)


def _usual_amounts(stated: Sequence[Amounts], nodes: int, remarks: Remarks) -> Amounts:
    if not stated:
        return ()
    usual = _commonest_node_amounts(stated)
    words = ", ".join(f"{name} {amount:,}" for name, amount in usual)
    for kind, number in (
        ("with other memory or vcores", len(stated) - stated.count(usual)),
        ("whose memory and vcores are not stated", nodes - len(stated)),
    ):
        note = f"nodes {kind}: taken to have the commonest amounts that are stated ({words})"
        remarks.add("guessed", note, count=max(number, 0))
    return usual
