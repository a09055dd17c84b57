"""What artefacts need, and their outcomes once it has been computed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from callboard.experiments.many.computing import Call, missing_calls
from callboard.experiments.many.result_store import Kept, ResultStore
from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.outcome import (
    ArtefactOutcome,
    ReproductionVerdict,
    judge,
    whole_verdict,
)

JUDGING_SEEDS = 101
"""The first of the seeds that judge: no parameter was ever chosen by looking at them."""


class Asked(NamedTuple):
    """An artefact with the seeds that it is to be played with."""

    artefact: AnyArtefact
    seeds: tuple[int, ...]


def artefact_with_seeds(
    artefact: AnyArtefact, seeds: Sequence[int] | int | None, *, quick: bool
) -> Asked:
    """The artefact with these seeds, or that many of those that judge; unless told, its own."""
    if seeds is None:
        seeds = artefact.quick if quick else artefact.seeds
    if isinstance(seeds, int):
        seeds = range(JUDGING_SEEDS, JUDGING_SEEDS + seeds)
    return Asked(artefact, tuple(seeds))


def missing_artefact_calls(wanted: Sequence[Asked], store: ResultStore) -> list[Call]:
    """The calls whose answers the store has not, each once, in the order of the artefacts."""
    return missing_calls((call for each in wanted for call in _calls_of_artefact(each)), store)


def _calls_of_artefact(each: Asked) -> Sequence[Call]:
    evidence = each.artefact.evidence
    return [] if evidence.absent() else evidence.calls(each.seeds)


def record_outcomes(wanted: Sequence[Asked], store: ResultStore) -> Iterator[ArtefactOutcome]:
    """Each artefact's outcome, which the store keeps as its last one: NOT_RUN where it has not
    everything.
    """
    for each in wanted:
        outcome = outcome_of(each, store)
        store.put_question(_OUTCOME + each.artefact.id, msgspec.json.encode(outcome))
        yield outcome


_OUTCOME = "reproduced "


def outcome_of(each: Asked, store: ResultStore) -> ArtefactOutcome:
    """The outcome of one artefact, from what the store has."""
    artefact, (found, note) = each.artefact, _kept_answers(each, store)
    if note:
        not_run = ReproductionVerdict.NOT_RUN
        return ArtefactOutcome(id=artefact.id, verdict=not_run, seeds=each.seeds, note=note)
    samples = _samples_of(each, found)
    quantities = judge(artefact, samples)
    return ArtefactOutcome(
        id=artefact.id,
        verdict=whole_verdict(artefact, quantities),
        quantities=quantities,
        seeds=tuple(artefact.evidence.played_seeds(each.seeds)),
        seconds=round(sum(kept.seconds for kept in found.values()), 1),
        digests=tuple(artefact.evidence.digests(samples)),
    )


def found_samples(each: Asked, store: ResultStore) -> Sequence[object]:
    """The artefact's samples from the store; none where something is missing."""
    found, note = _kept_answers(each, store)
    return [] if note else _samples_of(each, found)


def _samples_of(each: Asked, found: Mapping[str, Kept]) -> Sequence[object]:
    values = {key: kept.value for key, kept in found.items() if kept.value is not None}
    samples: Sequence[object] = each.artefact.evidence.samples(each.seeds, values)
    return samples


def _kept_answers(each: Asked, store: ResultStore) -> tuple[Mapping[str, Kept], str]:
    """What the store has of the artefact, and why that is not all; empty if it is."""
    absent = each.artefact.evidence.absent()
    if absent:
        return {}, absent
    keys = [call.key for call in _calls_of_artefact(each)]
    found = store.find(keys)
    for key in keys:
        kept = found.get(key)
        if kept is None:
            return found, "interrupted: the same command goes on from there"
        if kept.value is None:
            return found, kept.error.strip().splitlines()[-1]
    return found, ""


def last_outcomes(store: ResultStore) -> dict[str, ArtefactOutcome]:
    """What each artefact came to when it was computed last, by id."""
    return {
        name.removeprefix(_OUTCOME): msgspec.json.decode(data, type=ArtefactOutcome)
        for name, data in store.questions().items()
        if name.startswith(_OUTCOME)
    }
