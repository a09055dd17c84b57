"""Verdicts are computed: from a printed number, a tolerance and the side that a sentence says."""

from collections.abc import Sequence
from typing import Any

import pytest

from callboard.experiments.reproduction.artefact import AnyArtefact, Artefact, Paper, Quantity
from callboard.experiments.reproduction.outcome import ArtefactOutcome as Outcome
from callboard.experiments.reproduction.outcome import (
    ReproductionVerdict,
    judge,
    ours_text,
    quantity_verdict,
    verdict_text,
    whole_verdict,
    why_words,
)
from callboard.experiments.reproduction.worked_examples import Worked

V = ReproductionVerdict


def quantity(label: str = "x", **says: Any) -> Quantity[float]:
    return Quantity(label=label, value=lambda sample: sample, **says)


def artefact(*quantities: Quantity[float], why: str = "") -> AnyArtefact:
    return Artefact(
        id="fig",
        paper=Paper.HFSP,
        place="Figure 0",
        says="A sentence.",
        evidence=Worked("none"),
        quantities=quantities,
        why=why,
    )


@pytest.mark.parametrize(
    ("says", "ours", "verdict"),
    [
        ({"printed": 100.0}, 125.0, V.REPRODUCED),
        ({"printed": 100.0}, 126.0, V.DIFFERS),
        ({"printed": 0.74, "below": 1.0}, 0.5, V.DIRECTION),
        ({"printed": 0.9, "below": 1.0}, 1.01, V.DIFFERS),
        ({"printed": 0.6, "share": True}, 0.51, V.REPRODUCED),
        ({"printed": 0.6, "share": True}, 0.49, V.DIFFERS),
        ({"printed": 3.5, "exact": True}, 3.51, V.REPRODUCED),
        ({"printed": 3.5, "exact": True}, 3.6, V.DIFFERS),
        ({"printed": 1.2, "above": 1.0}, 1.11, V.REPRODUCED),
        ({"printed": 1.2, "above": 1.0}, 1.09, V.DIRECTION),  # half of the printed gain is missed
        ({"below": 1.0}, 0.99, V.NO_NUMBER),
        ({"below": 1.0}, 1.0, V.DIFFERS),
        ({"above": 0.9, "below": 1.1}, 1.0, V.NO_NUMBER),
        ({"above": 1.0}, None, V.NOT_RUN),
    ],
)
def test_a_quantity(says: dict[str, Any], ours: float | None, verdict: V) -> None:
    assert quantity_verdict(quantity(**says), ours) is verdict


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
    found = [judge(artefact(q), [v])[0] for q, v in zip((number, sentence), values, strict=True)]
    assert whole_verdict(artefact(number, sentence), found) is verdict


def test_sentences_alone_have_no_number_and_numbers_without_a_side_only_differ() -> None:
    sentences = artefact(quantity(below=1.0), quantity("y", above=0.0))
    assert whole_verdict(sentences, judge(sentences, [0.5])) is V.NO_NUMBER
    numbers = artefact(quantity(printed=1.0), quantity("y", printed=9.0))
    assert whole_verdict(numbers, judge(numbers, [1.0])) is V.DIFFERS


def test_ours_is_the_median_with_the_sign_tests_interval() -> None:
    """Ten values: from the second smallest to the second largest."""
    one = quantity(printed=5.0, unit=" s")
    (found,) = judge(artefact(one), [float(n) for n in range(1, 11)])
    assert (found.low, found.ours, found.high) == (2.0, 5.5, 9.0)
    assert ours_text(one, found) == "5.50 s [2, 9]"


def test_an_interval_that_reaches_beyond_the_side_may_be_chance() -> None:
    one = quantity(below=8.0)
    (wide,) = judge(artefact(one), [float(n) for n in range(1, 11)])  # from 2 to 9
    assert verdict_text(one, wide) == "no number printed, may be chance"
    (narrow,) = judge(artefact(one), [5.0] * 10)
    assert verdict_text(one, narrow) == "no number printed"


def test_what_nobody_has_explained_says_so() -> None:
    missed = artefact(quantity(printed=1.0))
    outcome = Outcome(id="fig", verdict=V.DIFFERS)
    assert why_words(missed, outcome) == "Unexplained."
    assert why_words(artefact(why="Because."), outcome) == "Because."
    assert not why_words(missed, Outcome(id="fig", verdict=V.REPRODUCED))
