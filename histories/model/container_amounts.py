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
    nodes: Sequence[Amounts], demands: Iterable[Demands], slots: tuple[int, int], remarks: Remarks
) -> Amounts:
    """What every node has: what most nodes of those that are told have, and of what is told of none
    as much as fills its slots with the largest containers; nothing where no container takes any.
    """
    stated = _usual_amounts(nodes, remarks)
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
    """How many of the smallest containers fit on most nodes; 0 where files do not tell."""
    usual = dict(_most_usual(nodes))
    asked = [dict(each) for each in demands if each]
    least = {name: min(each.get(name, 0) for each in asked) for name in usual} if asked else {}
    fits = [usual[name] // amount for name, amount in least.items() if amount > 0]
    return min(fits, default=0)


def _most_usual(nodes: Sequence[Amounts]) -> Amounts:
    if not nodes:
        return ()
    return max(Counter(nodes).items(), key=lambda each: (each[1], each[0]))[0]


def _usual_amounts(nodes: Sequence[Amounts], remarks: Remarks) -> Amounts:
    if not nodes:
        return ()
    usual = _most_usual(nodes)
    stated = ", ".join(f"{name} {amount:,}" for name, amount in usual)
    note = f"nodes with other memory or vcores than most have ({stated}): taken for these"
    remarks.add("guessed", note, count=len(nodes) - nodes.count(usual))
    return usual
