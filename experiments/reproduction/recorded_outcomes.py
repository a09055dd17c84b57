"""Outcomes as JSON, which the command prints, and those that Callboard brings along.

`recorded_outcomes.json` is what `callboard reproduce --all --json` has printed.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.outcome import (
    ArtefactOutcome,
    QuantityOutcome,
    ReproductionVerdict,
    why_words,
)

RECORDED = Path(__file__).with_name("recorded_outcomes.json")


def outcome_as_json(artefact: AnyArtefact, outcome: ArtefactOutcome) -> dict[str, object]:
    """The outcome with all that is known of its artefact, as plain data."""
    found = outcome.quantities
    return {
        "id": artefact.id,
        "paper": artefact.paper.value,
        "place": artefact.place,
        "says": artefact.says,
        "printed": {each.label: each.printed for each in artefact.quantities},
        "ours": {each.label: each.ours for each in found},
        "interval": {
            each.label: None if each.low is None else [each.low, each.high] for each in found
        },
        "verdicts": {each.label: each.verdict.value for each in found},
        "classes": {each.label: artefact.class_of(each).value for each in artefact.quantities},
        "fitted_on": artefact.fitted_on,
        "seeds": list(outcome.seeds),
        "verdict": outcome.verdict.value,
        "why": why_words(artefact, outcome),
        "command": f"callboard reproduce {artefact.id}",
        "seconds": outcome.seconds,
        "note": outcome.note,
    }


def outcome_of_json(plain: Mapping[str, Any]) -> ArtefactOutcome:
    """The outcome again."""
    return ArtefactOutcome(
        id=plain["id"],
        verdict=ReproductionVerdict(plain["verdict"]),
        quantities=tuple(_quantity_outcome(plain, label) for label in plain["ours"]),
        seeds=tuple(plain["seeds"]),
        seconds=plain["seconds"],
        note=plain["note"],
    )


def _quantity_outcome(plain: Mapping[str, Any], label: str) -> QuantityOutcome:
    low, high = plain["interval"][label] or (None, None)
    return QuantityOutcome(
        label=label,
        ours=plain["ours"][label],
        low=low,
        high=high,
        verdict=ReproductionVerdict(plain["verdicts"][label]),
    )


@cache
def recorded_outcomes() -> Mapping[str, ArtefactOutcome]:
    """The outcomes that Callboard brings along, by id."""
    plain = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else []
    return {each["id"]: outcome_of_json(each) for each in plain}
