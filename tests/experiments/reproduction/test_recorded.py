"""The outcomes that Callboard brings along, and the page made of them, are those of the table."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from callboard.experiments.reproduction.artefact import MANY_SEEDS, MORE_SEEDS, SEEDS, AnyArtefact
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS
from callboard.experiments.reproduction.outcome import (
    QuantityOutcome,
    ReproductionVerdict,
    quantity_verdict,
    whole_verdict,
)
from callboard.experiments.reproduction.recorded_explorations import recorded_explorations
from callboard.experiments.reproduction.recorded_outcomes import recorded_outcomes
from callboard.experiments.reproduction.reproduction_page import markdown_page

PAGE = Path(__file__).parents[3] / "docs" / "reproduction.md"


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda each: each.id)
def test_every_recorded_verdict_follows_from_its_figures(artefact: AnyArtefact) -> None:
    """None is written by hand: they come from what is recorded of ours, and the table's numbers."""
    outcome = recorded_outcomes()[artefact.id]
    if outcome.note:
        assert outcome.verdict is ReproductionVerdict.NOT_RUN
        return
    pairs = list(zip(artefact.quantities, outcome.quantities, strict=True))
    for quantity, found in pairs:
        assert found.label == quantity.label
        span = found.low, found.ours, found.high
        assert found.verdict is quantity_verdict(artefact, quantity, span)
    assert outcome.verdict is whole_verdict(artefact, outcome.quantities)


SETTLED = (ReproductionVerdict.MAY_BE_CHANCE, ReproductionVerdict.NOT_RUN)
"""Verdicts that promise nothing of other seeds."""


@pytest.mark.parametrize("artefact", ARTEFACTS, ids=lambda each: each.id)
def test_a_verdict_near_its_border_has_more_seeds(artefact: AnyArtefact) -> None:
    """Else fresh seeds say otherwise too often (`python -m trials.flips`)."""
    outcome = recorded_outcomes()[artefact.id]
    if outcome.verdict in SETTLED or not artefact.evidence.varies_with_seed:
        return
    near = verdict_with_wider_intervals(artefact, outcome.quantities, 1.5) is not outcome.verdict
    takes_long = artefact.seeds < SEEDS
    assert not near or takes_long or artefact.seeds in (MORE_SEEDS, MANY_SEEDS)


def verdict_with_wider_intervals(
    artefact: AnyArtefact, found: Sequence[QuantityOutcome], factor: float
) -> ReproductionVerdict:
    """What the verdict would be if all intervals were that many times as wide."""
    wide: list[QuantityOutcome] = []
    for quantity, each in zip(artefact.quantities, found, strict=True):
        if each.ours is None or each.low is None or each.high is None:
            wide.append(each)
            continue
        low, high = (each.ours + factor * (end - each.ours) for end in (each.low, each.high))
        verdict = quantity_verdict(artefact, quantity, (low, each.ours, high))
        wide.append(msgspec.structs.replace(each, low=low, high=high, verdict=verdict))
    return whole_verdict(artefact, wide)


def test_the_page_is_made_of_the_table_and_of_what_is_recorded() -> None:
    """`callboard reproduce --all --json` and `--markdown` give both."""
    found = [recorded_outcomes()[each.id] for each in ARTEFACTS]
    assert PAGE.read_text("utf-8") == markdown_page(ARTEFACTS, found, recorded_explorations())


def test_nothing_is_recorded_of_artefacts_that_are_gone() -> None:
    assert set(recorded_outcomes()) == {each.id for each in ARTEFACTS}
