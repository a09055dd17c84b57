"""Explorations: what a paper does not print is swept, to see where its printed number comes out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Evidence,
    Quantity,
    refuse_unknown_cells,
)
from callboard.experiments.reproduction.outcome import (
    HOLDS,
    ArtefactOutcome,
    QuantityOutcome,
    ReproductionVerdict,
    paper_text,
)
from callboard.experiments.reproduction.reproduce import Asked, outcome_of


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """An assumption of ours that the paper does not print, and what is played instead of it.

    `plausible` says why the settings end where they do.  `settings` has the evidence of each by its
    label, in order; the artefact's own verdict stays what it is.
    """

    artefact: str
    assumption: str
    plausible: str
    settings: Mapping[str, Evidence[Any]]
    quantities: tuple[Quantity[Any], ...]
    seeds: tuple[int, ...] = tuple(range(1, 9))
    """Not those that judge; eight, which the interval of a formula needs."""
    picture: str = ""
    """The file in docs/figures in which it is drawn; empty if the page tells it in words alone."""

    def __post_init__(self) -> None:
        for name, evidence in self.settings.items():
            refuse_unknown_cells(f"{self.artefact} explored, {name}", evidence, self.quantities)


class Explored(msgspec.Struct, frozen=True, kw_only=True):
    """What an exploration came to: the figures at each setting, and what is said of them."""

    artefact: str
    assumption: str
    plausible: str
    seeds: tuple[int, ...]
    settings: tuple[str, ...]
    rows: tuple[tuple[QuantityOutcome, ...], ...]
    """A row a setting, a figure a quantity."""
    findings: tuple[str, ...]
    """A sentence a quantity, and one for all of them together."""
    picture: str = ""


def asked_per_setting(
    exploration: Exploration, artefact: AnyArtefact, seeds: Sequence[int]
) -> list[Asked]:
    """What is to be computed, setting by setting."""
    replaced = (
        msgspec.structs.replace(artefact, evidence=evidence, quantities=exploration.quantities)
        for evidence in exploration.settings.values()
    )
    return [Asked(each, tuple(seeds)) for each in replaced]


def explored(
    exploration: Exploration, artefact: AnyArtefact, seeds: Sequence[int], store: ResultStore
) -> Explored:
    """What the exploration came to, from what the store has."""
    found = [outcome_of(each, store) for each in asked_per_setting(exploration, artefact, seeds)]
    names = tuple(exploration.settings)
    return Explored(
        artefact=artefact.id,
        assumption=exploration.assumption,
        plausible=exploration.plausible,
        seeds=tuple(seeds),
        settings=names,
        rows=tuple(each.quantities for each in found),
        findings=tuple(_finding_sentences(exploration.quantities, names, found)),
        picture=exploration.picture,
    )


def _finding_sentences(
    quantities: Sequence[Quantity[Any]], names: Sequence[str], found: Sequence[ArtefactOutcome]
) -> Iterator[str]:
    if any(not each.quantities for each in found):
        yield "not all of it has been played: the same command goes on from there"
        return
    sure_of_all, perhaps_of_all = set(names), set(names)
    for place, quantity in enumerate(quantities):
        verdicts = [each.quantities[place].verdict for each in found]
        pairs = list(zip(names, verdicts, strict=True))
        sure = [name for name, verdict in pairs if verdict in HOLDS]
        perhaps = [name for name, v in pairs if v is ReproductionVerdict.MAY_BE_CHANCE]
        sure_of_all &= set(sure)
        perhaps_of_all &= {*sure, *perhaps}
        yield f"{quantity.label}, {paper_text(quantity)}: {region_words(names, sure, perhaps)}"
    if len(quantities) > 1:
        yield f"all together: {region_words(names, sure_of_all, perhaps_of_all - sure_of_all)}"


def region_words(names: Sequence[str], sure: Collection[str], perhaps: Collection[str]) -> str:
    """Where a printed number comes out, neighbours as a range."""
    told = []
    if sure:
        told.append(f"comes out at {', '.join(_ranges_of_settings(names, sure))}")
    if perhaps:
        told.append(f"may at {', '.join(_ranges_of_settings(names, perhaps))}")
    return "; ".join(told) or f"none of the {len(names)} settings gives it"


def _ranges_of_settings(names: Sequence[str], chosen: Collection[str]) -> Iterator[str]:
    """Neighbouring settings as `first to last`."""
    run: list[str] = []
    for name in (*names, None):
        if name is not None and name in chosen:
            run.append(name)
        elif run:
            yield run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"
            run = []
