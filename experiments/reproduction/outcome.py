"""Verdicts: computed from what the paper prints and what ours came to."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import isfinite
from typing import Any

import msgspec

from callboard.experiments.reproduction.artefact import AnyArtefact, Quantity
from callboard.experiments.statistics import median_interval


class ReproductionVerdict(StrEnum):
    """How ours stands to the paper; `NO_NUMBER` is a sentence that holds."""

    REPRODUCED = "reproduced"
    NO_NUMBER = "no number printed"
    DIRECTION = "direction"
    DIFFERS = "differs"
    NOT_RUN = "not run"


_V = ReproductionVerdict

VERDICT_MEANINGS = {
    _V.REPRODUCED: "every printed number is met within the tolerance, every sentence holds",
    _V.NO_NUMBER: "no number is printed, and what the paper says in words holds",
    _V.DIRECTION: "on the same side as the paper, by another amount",
    _V.DIFFERS: "on the other side, or a printed number that has no side is missed",
    _V.NOT_RUN: "what it needs is not at hand",
}


class QuantityOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A quantity: our median over the samples and its 95 % interval, None where there is none."""

    label: str
    ours: float | None
    low: float | None
    high: float | None
    verdict: ReproductionVerdict


class ArtefactOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An artefact as it came out; `seconds` is the processor time of what was computed for it."""

    id: str
    verdict: ReproductionVerdict
    quantities: tuple[QuantityOutcome, ...] = ()
    seeds: tuple[int, ...] = ()
    seconds: float = 0.0
    note: str = ""
    """What was not at hand, or what failed."""
    digests: tuple[tuple[str, int, str], ...] = ()


def judge(artefact: AnyArtefact, samples: Sequence[Any]) -> tuple[QuantityOutcome, ...]:
    """Every quantity of an artefact from its samples."""
    return tuple(_judged(quantity, samples) for quantity in artefact.quantities)


def whole_verdict(artefact: AnyArtefact, found: Sequence[QuantityOutcome]) -> ReproductionVerdict:
    """The verdict of an artefact from its quantities'."""
    verdicts = {each.verdict for each in found}
    if not verdicts or _V.NOT_RUN in verdicts:
        return _V.NOT_RUN
    if verdicts == {_V.NO_NUMBER}:
        return _V.NO_NUMBER
    if verdicts <= {_V.NO_NUMBER, _V.REPRODUCED}:
        return _V.REPRODUCED
    pairs = zip(artefact.quantities, found, strict=True)
    sided = [each.verdict for quantity, each in pairs if quantity.has_side]
    return _V.DIRECTION if sided and _V.DIFFERS not in sided else _V.DIFFERS


def _judged(quantity: Quantity[Any], samples: Sequence[Any]) -> QuantityOutcome:
    low, ours, high = _ours(quantity, samples)
    verdict = quantity_verdict(quantity, ours)
    return QuantityOutcome(label=quantity.label, ours=ours, low=low, high=high, verdict=verdict)


def _ours(
    quantity: Quantity[Any], samples: Sequence[Any]
) -> tuple[float | None, float | None, float | None]:
    if quantity.pooled is not None:
        value = quantity.pooled(samples)
        return None, value if value is not None and isfinite(value) else None, None
    assert quantity.value is not None
    found = median_interval([quantity.value(each) for each in samples])
    return found.low, found.median if isfinite(found.median) else None, found.high


def quantity_verdict(quantity: Quantity[Any], ours: float | None) -> ReproductionVerdict:
    """The verdict of one quantity."""
    if ours is None:
        return _V.NOT_RUN
    if not quantity.on_its_side(ours):
        return _V.DIFFERS
    if quantity.printed is not None and abs(ours - quantity.printed) <= quantity.allowed:
        return _V.REPRODUCED
    if not quantity.has_side:
        return _V.DIFFERS
    return _V.NO_NUMBER if quantity.printed is None else _V.DIRECTION


def side_words(quantity: Quantity[Any]) -> str:
    """Where a sentence of the paper puts the quantity, as in `below 1`."""
    words = []
    if quantity.above is not None:
        words.append(f"above {number_text(quantity.above, share=quantity.share)}")
    if quantity.below is not None:
        words.append(f"below {number_text(quantity.below, share=quantity.share)}")
    return ", ".join(words)


def number_text(value: float | None, unit: str = "", *, share: bool = False) -> str:
    """A figure as people read it: three digits at least, no exponent."""
    if value is None:
        return "-"
    if share:
        return f"{100 * value:.0f}%"
    size = abs(value)
    decimals = 0 if size >= 100 or value == round(value) else 1 if size >= 10 else 2
    return f"{value:,.{decimals}f}{unit}"


def why_words(artefact: AnyArtefact, outcome: ArtefactOutcome) -> str:
    """Why an artefact is not reproduced; empty where it is, or a sentence holds."""
    if outcome.verdict is _V.NOT_RUN:
        return outcome.note
    if outcome.verdict in (_V.REPRODUCED, _V.NO_NUMBER):
        return ""
    return artefact.why or "Unexplained."


def ours_text(quantity: Quantity[Any], found: QuantityOutcome) -> str:
    """Our median and its interval, as in `0.57 [0.45, 0.66]`."""
    median = number_text(found.ours, quantity.unit, share=quantity.share)
    if found.low is None or found.low == found.high:
        return median
    low, high = (number_text(end, share=quantity.share) for end in (found.low, found.high))
    return f"{median} [{low}, {high}]"


def verdict_text(quantity: Quantity[Any], found: QuantityOutcome) -> str:
    """The verdict, and whether chance may have put ours on the paper's side."""
    ends = [end for end in (found.low, found.high) if end is not None]
    holds = quantity.has_side and found.verdict is not _V.DIFFERS
    sure = all(map(quantity.on_its_side, ends))
    return f"{found.verdict}, may be chance" if holds and not sure else str(found.verdict)


def paper_text(quantity: Quantity[Any]) -> str:
    """What the paper says of a quantity: its number, or the side of its sentence."""
    if quantity.printed is None:
        return side_words(quantity)
    return number_text(quantity.printed, quantity.unit, share=quantity.share)


def tally_words(outcomes: Sequence[ArtefactOutcome]) -> str:
    """How many artefacts have each verdict."""
    counts = Counter(each.verdict for each in outcomes)
    told = [f"{counts[verdict]} {verdict}" for verdict in _V if counts[verdict]]
    return f"{len(outcomes)} artefacts: {', '.join(told)}"
