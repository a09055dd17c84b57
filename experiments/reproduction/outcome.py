"""Verdicts: computed from what the paper prints and what ours came to."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from math import ceil, isfinite, log2
from typing import Any, NamedTuple

import msgspec

from callboard.experiments.many.statistics import (
    CONFIDENCE,
    MEDIAN_SAMPLES,
    bootstrap_interval,
    interval,
    median_interval,
)
from callboard.experiments.reproduction.artefact import (
    CLASS_MEANINGS,
    AnyArtefact,
    Quantity,
    VerdictClass,
)

FORMULA_CONFIDENCE = 0.99
"""A formula is held to this interval: it has several points, all of which are to hold."""

FORMULA_SAMPLES = ceil(1 - log2(1 - FORMULA_CONFIDENCE))
"""The fewest samples that the sign test's interval of that confidence needs."""


class ReproductionVerdict(StrEnum):
    """How ours stands to the paper; `NO_NUMBER` is a sentence that holds."""

    REPRODUCED = "reproduced"
    NO_NUMBER = "no number printed"
    DIRECTION = "direction"
    MAY_BE_CHANCE = "may be chance"
    DIFFERS = "differs"
    TOO_FEW_SEEDS = "too few seeds"
    NOT_RUN = "not run"


_V = ReproductionVerdict

VERDICT_MEANINGS = {
    _V.REPRODUCED: "every printed number is met: ours is equivalent to it within the margin",
    _V.NO_NUMBER: "no number is printed, and what the paper says in words holds",
    _V.DIRECTION: "on the same side as the paper, by another amount",
    _V.MAY_BE_CHANCE: "the interval holds the limit that decides: other seeds may say otherwise",
    _V.DIFFERS: "on the other side, or a printed number is missed and no side is sure",
    _V.TOO_FEW_SEEDS: f"fewer than {MEDIAN_SAMPLES} samples, for a formula {FORMULA_SAMPLES}: there"
    " is no interval",
    _V.NOT_RUN: "what it needs is not at hand",
}

HOLDS = (_V.REPRODUCED, _V.NO_NUMBER)
"""The verdicts that need no reason."""


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
    return tuple(_judged_quantity(artefact, quantity, samples) for quantity in artefact.quantities)


def whole_verdict(artefact: AnyArtefact, found: Sequence[QuantityOutcome]) -> ReproductionVerdict:
    """The verdict of an artefact from its quantities': what may be chance in one, may be in all."""
    verdicts = {each.verdict for each in found}
    for worst in (_V.NOT_RUN, _V.TOO_FEW_SEEDS):
        if not verdicts or worst in verdicts:
            return worst if verdicts else _V.NOT_RUN
    decisive = _decisive_verdicts(artefact, found)
    missed = _V.DIFFERS in verdicts and (not decisive or _V.MAY_BE_CHANCE in decisive)
    if missed or _V.DIFFERS in decisive:
        return _V.DIFFERS
    if _V.MAY_BE_CHANCE in verdicts:
        return _V.MAY_BE_CHANCE
    if verdicts == {_V.NO_NUMBER}:
        return _V.NO_NUMBER
    return _V.REPRODUCED if verdicts <= set(HOLDS) else _V.DIRECTION


def _decisive_verdicts(
    artefact: AnyArtefact, found: Sequence[QuantityOutcome]
) -> set[ReproductionVerdict]:
    """The verdicts of sentences and formulas: they hold or not, whatever the numbers."""
    return {
        each.verdict
        for quantity, each in zip(artefact.quantities, found, strict=True)
        if quantity.has_side or artefact.class_of(quantity) is VerdictClass.FORMULA
    }


def _judged_quantity(
    artefact: AnyArtefact, quantity: Quantity[Any], samples: Sequence[Any]
) -> QuantityOutcome:
    low, ours, high = _our_interval(artefact, quantity, samples)
    if not artefact.evidence.varies_with_seed:
        low = high = ours
    verdict = quantity_verdict(artefact, quantity, (low, ours, high))
    return QuantityOutcome(label=quantity.label, ours=ours, low=low, high=high, verdict=verdict)


IntervalEnds = tuple[float | None, float | None, float | None]
"""The interval's lower end, ours, its upper end; None where there is none."""


def _our_interval(
    artefact: AnyArtefact, quantity: Quantity[Any], samples: Sequence[Any]
) -> IntervalEnds:
    formula = artefact.class_of(quantity) is VerdictClass.FORMULA
    confidence = FORMULA_CONFIDENCE if formula else CONFIDENCE
    if quantity.pooled is not None:
        found = bootstrap_interval(samples, quantity.pooled, confidence)
        return found.low, found.median if isfinite(found.median) else None, found.high
    assert quantity.value is not None
    values = [quantity.value(each) for each in samples]
    if quantity.mean:
        return _mean_interval_ends(values, confidence)
    found = median_interval(values, confidence)
    return found.low, found.median if isfinite(found.median) else None, found.high


def _mean_interval_ends(values: Sequence[float | None], confidence: float) -> IntervalEnds:
    found = interval(values, confidence)
    ours = found.mean if isfinite(found.mean) else None
    if found.half is None or found.runs < MEDIAN_SAMPLES:
        return None, ours, None
    return found.mean - found.half, ours, found.mean + found.half


def quantity_verdict(
    artefact: AnyArtefact, quantity: Quantity[Any], span: IntervalEnds
) -> ReproductionVerdict:
    """The verdict of one quantity: by its whole interval, not by where its middle happens to be."""
    low, ours, high = span
    if ours is None:
        return _V.NOT_RUN
    if low is None or high is None:
        return _V.TOO_FEW_SEEDS
    if _is_beyond_limit(quantity, low, high):
        return _V.DIFFERS
    if not (quantity.on_its_side(low) and quantity.on_its_side(high)):
        return _V.MAY_BE_CHANCE
    if quantity.printed is None:
        return _V.NO_NUMBER
    agreed = _agreement_verdict(artefact, quantity, low, high)
    if agreed is _V.MAY_BE_CHANCE and quantity.has_side:
        return agreed if abs(ours - quantity.printed) <= quantity.margin else _V.DIRECTION
    return _V.DIRECTION if agreed is _V.DIFFERS and quantity.has_side else agreed


def _is_beyond_limit(quantity: Quantity[Any], low: float, high: float) -> bool:
    """Whether the whole interval is on the other side of a limit."""
    below, above = quantity.below, quantity.above
    return (below is not None and low >= below) or (above is not None and high <= above)


def _agreement_verdict(
    artefact: AnyArtefact, quantity: Quantity[Any], low: float, high: float
) -> ReproductionVerdict:
    """Two one-sided tests: the interval within the margin is equivalence, outside it is none.  A
    formula has no margin: the interval holds it, and is no wider than the margin.
    """
    assert quantity.printed is not None
    least, most = quantity.printed - quantity.margin, quantity.printed + quantity.margin
    if artefact.class_of(quantity) is VerdictClass.FORMULA:
        if not low <= quantity.printed <= high:
            return _V.DIFFERS
    elif high < least or low > most:
        return _V.DIFFERS
    return _V.REPRODUCED if least <= low and high <= most else _V.MAY_BE_CHANCE


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
        percent = 100 * value
        near = 0.05 < min(percent, 100 - percent) < 0.95  # 99.5 % is not 100 %
        return f"{percent:.{1 if near else 0}f}%"
    size = abs(value)
    whole = size >= 100 or value == round(value)
    decimals = 0 if whole else 1 if size >= 10 else 2 if size >= 0.1 else 3
    return f"{value:,.{decimals}f}{unit}"


def why_words(artefact: AnyArtefact, outcome: ArtefactOutcome) -> str:
    """Why an artefact is not reproduced; empty where it is, or a sentence holds."""
    if outcome.verdict is _V.NOT_RUN:
        return outcome.note
    if outcome.verdict in (*HOLDS, _V.TOO_FEW_SEEDS):
        return ""
    if outcome.verdict is _V.MAY_BE_CHANCE:
        return artefact.why or "The interval holds the limit that decides: more seeds would tell."
    return artefact.why or "Unexplained."


def unreproduced_artefacts(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> list[AnyArtefact]:
    """Those that are not reproduced, and of them those without a reason first."""
    apart = [each for each in artefacts if why_words(each, outcomes[each.id])]
    return sorted(apart, key=lambda each: bool(each.why))


class QuantityCells(NamedTuple):
    """A quantity as tables tell it, in print and here."""

    label: str
    paper: str
    ours: str
    verdict: ReproductionVerdict
    of_class: str


def quantity_cells(artefact: AnyArtefact, outcome: ArtefactOutcome) -> Iterator[QuantityCells]:
    """The quantities of an artefact that have an outcome."""
    for quantity, found in zip(artefact.quantities, outcome.quantities, strict=False):
        texts = (quantity.label, paper_text(quantity), ours_text(quantity, found))
        yield QuantityCells(*texts, found.verdict, str(artefact.class_of(quantity)))


def ours_text(quantity: Quantity[Any], found: QuantityOutcome) -> str:
    """Our median and its interval, as in `0.57 [0.45, 0.66]`."""
    median = number_text(found.ours, quantity.unit, share=quantity.share)
    if found.low is None or found.low == found.high:
        return median
    low, high = (number_text(end, share=quantity.share) for end in (found.low, found.high))
    return f"{median} [{low}, {high}]"


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


def verdict_counts_by_class(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> dict[VerdictClass, Counter[ReproductionVerdict]]:
    """How many single figures of each class have each verdict."""
    counts: dict[VerdictClass, Counter[ReproductionVerdict]] = {
        each: Counter() for each in CLASS_MEANINGS
    }
    for artefact in artefacts:
        found = outcomes[artefact.id].quantities
        for quantity, each in zip(artefact.quantities, found, strict=False):
            counts[artefact.class_of(quantity)][each.verdict] += 1
    return counts
