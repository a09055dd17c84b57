"""Verdicts are computed: from a printed number, a tolerance and the side that a sentence says."""

from collections.abc import Sequence
from typing import Any

import pytest

from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Artefact,
    Evidence,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.evidence import Drawn
from callboard.experiments.reproduction.outcome import (
    FORMULA_SAMPLES,
    VERDICT_MEANINGS,
    ReproductionVerdict,
    judge,
    ours_text,
    quantity_verdict,
    verdict_counts_by_class,
    whole_verdict,
    why_words,
)
from callboard.experiments.reproduction.outcome import ArtefactOutcome as Outcome
from callboard.experiments.reproduction.worked_examples import Worked

V = ReproductionVerdict


def quantity(label: str = "x", **says: Any) -> Quantity[float]:
    value = None if "pooled" in says else lambda sample: sample
    return Quantity(label=label, value=value, **says)


DRAWN = Drawn("none")


def artefact(
    *quantities: Quantity[float], why: str = "", evidence: Evidence[Any] = DRAWN
) -> AnyArtefact:
    return Artefact(
        id="fig",
        paper=Paper.HFSP,
        place="Figure 0",
        says="A sentence.",
        evidence=evidence,
        quantities=quantities,
        why=why,
    )


@pytest.mark.parametrize(
    ("says", "low", "high", "verdict"),
    [
        ({"printed": 100.0}, 76.0, 125.0, V.REPRODUCED),
        ({"printed": 100.0}, 76.0, 126.0, V.MAY_BE_CHANCE),  # the middle would do, the end not
        ({"printed": 100.0}, 126.0, 140.0, V.DIFFERS),
        ({"printed": 0.74, "below": 1.0}, 0.4, 0.6, V.DIRECTION),
        ({"printed": 0.74, "below": 1.0}, 0.65, 0.8, V.REPRODUCED),
        ({"printed": 0.9, "below": 1.0}, 1.01, 1.2, V.DIFFERS),
        ({"printed": 0.9, "below": 1.0}, 0.8, 1.2, V.MAY_BE_CHANCE),
        ({"printed": 0.6, "share": True}, 0.51, 0.69, V.REPRODUCED),
        ({"printed": 0.6, "share": True}, 0.51, 0.71, V.MAY_BE_CHANCE),
        ({"printed": 0.02, "share": True}, 0.05, 0.07, V.DIFFERS),  # 1 point, not 10
        ({"printed": 0.99, "share": True}, 0.91, 0.93, V.DIFFERS),
        ({"printed": 3.5, "exact": True}, 3.5, 3.5, V.REPRODUCED),
        ({"printed": 3.5, "exact": True}, 3.51, 3.51, V.DIFFERS),
        ({"printed": 1.2, "above": 1.0}, 1.11, 1.25, V.REPRODUCED),
        ({"printed": 1.2, "above": 1.0}, 1.02, 1.09, V.DIRECTION),  # half of the gain is missed
        ({"below": 1.0}, 0.9, 0.99, V.NO_NUMBER),
        ({"below": 1.0}, 0.9, 1.01, V.MAY_BE_CHANCE),
        ({"below": 1.0}, 1.0, 1.1, V.DIFFERS),
        ({"above": 0.9, "below": 1.1}, 0.95, 1.05, V.NO_NUMBER),
        ({"above": 0.9, "below": 1.1}, 0.8, 1.2, V.MAY_BE_CHANCE),
    ],
)
def test_the_whole_interval_is_judged(
    says: dict[str, Any], low: float, high: float, verdict: V
) -> None:
    """Two one-sided tests: within the margin, outside it, or neither is shown."""
    one = quantity(**says)
    assert quantity_verdict(artefact(one), one, (low, (low + high) / 2, high)) is verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.96, 1.04, V.REPRODUCED),
        (1.01, 1.04, V.DIFFERS),  # within a quarter, and yet not the formula
        (0.5, 2.0, V.MAY_BE_CHANCE),  # what is so wide holds anything
    ],
)
def test_a_formula_is_held_to_the_interval(low: float, high: float, verdict: V) -> None:
    one = quantity(printed=1.0, verdict_class=VerdictClass.FORMULA)
    assert quantity_verdict(artefact(one), one, (low, (low + high) / 2, high)) is verdict


def test_a_formula_that_is_missed_is_not_saved_by_a_sentence() -> None:
    both = artefact(
        quantity(printed=1.0, verdict_class=VerdictClass.FORMULA), quantity("y", above=0)
    )
    assert whole_verdict(both, judge(both, [1.1] * 10)) is V.DIFFERS


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((100.0, 0.5), V.REPRODUCED),
        ((200.0, 0.5), V.DIRECTION),  # the number is missed, the sentence holds
        ((100.0, 1.5), V.DIFFERS),
        ((200.0, 1.5), V.DIFFERS),
    ],
)
def test_an_artefact_is_as_good_as_its_quantities(values: Sequence[float], verdict: V) -> None:
    number, sentence = quantity("number", printed=100.0), quantity("sentence", below=1.0)
    pairs = zip((number, sentence), values, strict=True)
    found = [judge(artefact(q), [v] * 6)[0] for q, v in pairs]
    assert whole_verdict(artefact(number, sentence), found) is verdict


WIDE = [float(n) for n in range(1, 11)]
"""Ten values, whose interval is from 2 to 9."""


def test_what_may_be_chance_in_one_figure_may_be_in_all() -> None:
    sure, chance = quantity(below=100.0), quantity("y", below=8.0)
    both = artefact(sure, chance)
    assert whole_verdict(both, judge(both, WIDE)) is V.MAY_BE_CHANCE
    missed = artefact(quantity(printed=100.0), chance)  # a number missed, no sentence sure
    assert whole_verdict(missed, judge(missed, WIDE)) is V.DIFFERS


def test_below_six_seeds_there_is_no_verdict() -> None:
    one = artefact(quantity(printed=1.0))
    assert whole_verdict(one, judge(one, [1.0] * 5)) is V.TOO_FEW_SEEDS
    assert whole_verdict(one, judge(one, [1.0] * 6)) is V.REPRODUCED


def test_a_formula_needs_the_samples_that_the_text_says() -> None:
    one = artefact(quantity(printed=1.0, verdict_class=VerdictClass.FORMULA))
    assert f"for a formula {FORMULA_SAMPLES}:" in VERDICT_MEANINGS[V.TOO_FEW_SEEDS]
    assert whole_verdict(one, judge(one, [1.0] * (FORMULA_SAMPLES - 1))) is V.TOO_FEW_SEEDS
    assert whole_verdict(one, judge(one, [1.0] * FORMULA_SAMPLES)) is V.REPRODUCED


def test_what_no_seed_changes_needs_no_six() -> None:
    example = artefact(quantity(printed=1.0, exact=True), evidence=Worked("none"))
    assert whole_verdict(example, judge(example, [1.0])) is V.REPRODUCED


def test_sentences_alone_have_no_number_and_numbers_without_a_side_only_differ() -> None:
    sentences = artefact(quantity(below=1.0), quantity("y", above=0.0))
    assert whole_verdict(sentences, judge(sentences, [0.5] * 6)) is V.NO_NUMBER
    numbers = artefact(quantity(printed=1.0), quantity("y", printed=9.0))
    assert whole_verdict(numbers, judge(numbers, [1.0] * 6)) is V.DIFFERS


def test_ours_is_the_median_with_the_sign_tests_interval() -> None:
    """Ten values: from the second smallest to the second largest."""
    one = quantity(printed=5.0, unit=" s")
    (found,) = judge(artefact(one), WIDE)
    assert (found.low, found.ours, found.high) == (2.0, 5.5, 9.0)
    assert ours_text(one, found) == "5.50 s [2, 9]"


def test_a_mean_has_students_interval_and_a_figure_of_all_runs_the_bootstraps() -> None:
    mean, worst = quantity(printed=5.0, mean=True), quantity("worst", pooled=max, above=0)
    found, greatest = judge(artefact(mean, worst), WIDE)
    assert found.ours == 5.5
    assert found.low == pytest.approx(5.5 - 2.262 * 3.0277 / 10**0.5, abs=1e-3)
    assert (greatest.ours, greatest.high) == (10.0, 10.0)
    assert greatest.low is not None
    assert 6 < greatest.low < 9


def test_figures_are_counted_by_their_class() -> None:
    mixed = artefact(
        quantity(printed=1.0), quantity("y", printed=1.0, verdict_class=VerdictClass.FITTED)
    )
    found = judge(mixed, [1.0] * 6)
    outcome = Outcome(id="fig", verdict=V.REPRODUCED, quantities=found)
    counts = verdict_counts_by_class([mixed], {"fig": outcome})
    assert counts[VerdictClass.FITTED] == counts[VerdictClass.PREDICTED] == {V.REPRODUCED: 1}
    assert not counts[VerdictClass.WORKED]


def test_what_nobody_has_explained_says_so() -> None:
    missed = artefact(quantity(printed=1.0))
    outcome = Outcome(id="fig", verdict=V.DIFFERS)
    assert why_words(missed, outcome) == "Unexplained."
    assert why_words(artefact(why="Because."), outcome) == "Because."
    assert not why_words(missed, Outcome(id="fig", verdict=V.REPRODUCED))
