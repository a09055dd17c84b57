"""Computing what artefacts need and is not kept yet, and their outcomes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import msgspec

from callboard.experiments.error_messages import describe_error
from callboard.experiments.many.result_store import Kept, ResultStore
from callboard.experiments.many.task_pool import Lost, Workers, answers, board
from callboard.experiments.reproduction.artefact import AnyArtefact, Call
from callboard.experiments.reproduction.metered_run import Interrupted
from callboard.experiments.reproduction.outcome import (
    ArtefactOutcome,
    ReproductionVerdict,
    judge,
    whole_verdict,
)
from callboard.experiments.user_errors import InputError

JUDGING_SEEDS = 101
"""The first of the seeds that judge: no parameter was ever chosen by looking at them."""


class Asked(NamedTuple):
    """An artefact with the seeds that it is to be played with."""

    artefact: AnyArtefact
    seeds: tuple[int, ...]


def asked(artefact: AnyArtefact, seeds: Sequence[int] | int | None, *, quick: bool) -> Asked:
    """The artefact with these seeds, or so many of those that judge; its own number unless told."""
    if seeds is None:
        seeds = artefact.quick if quick else artefact.seeds
    if isinstance(seeds, int):
        seeds = range(JUDGING_SEEDS, JUDGING_SEEDS + seeds)
    return Asked(artefact, tuple(seeds))


class CallAnswer(NamedTuple):
    """What a call came to: its bytes, or why there are none, and its processor seconds."""

    value: bytes | None
    error: str
    seconds: float


def do_call(call: Call) -> CallAnswer | None:
    """What a worker does; None once nothing more is to be begun."""
    shared = board()
    if shared is not None and shared.stop.value:
        return None
    began = time.process_time()
    try:
        value = call.function(*call.arguments)
    except Interrupted:
        return None
    except Exception as error:
        message, _ = describe_error(error)
        return CallAnswer(None, message or repr(error), time.process_time() - began)
    return CallAnswer(value, "", time.process_time() - began)


def compute_missing(
    wanted: Sequence[Asked],
    store: ResultStore,
    workers: Workers,
    progress: Callable[[int], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Compute what the store has not; each answer is on disk before the next is looked at."""
    calls = missing_calls(wanted, store)
    for call, answer in answers(workers, do_call, takewhile(lambda _: not stopped(), calls)):
        if isinstance(answer, Lost):
            raise InputError(f"some runs could not be computed: {answer.why}")
        if answer is not None:
            store.add([(call.key, Kept(*answer))])
            progress(1)


def compute_small(wanted: Sequence[Asked], store: ResultStore) -> int:
    """Compute what is missing and small, here; how many calls are left."""
    missing = missing_calls(wanted, store)
    small = [call for call in missing if call.small]
    done = [(call.key, Kept(*answer)) for call in small if (answer := do_call(call)) is not None]
    store.add(done)
    return len(missing) - len(small)


def missing_calls(wanted: Sequence[Asked], store: ResultStore) -> list[Call]:
    """The calls whose answers the store has not, each once, in the order of the artefacts."""
    calls = {call.key: call for each in wanted for call in _calls(each)}
    known = store.find(calls)
    return [call for key, call in calls.items() if key not in known or known[key].value is None]


def _calls(each: Asked) -> Sequence[Call]:
    evidence = each.artefact.evidence
    return [] if evidence.absent() else evidence.calls(each.seeds)


def outcomes(wanted: Sequence[Asked], store: ResultStore) -> Iterator[ArtefactOutcome]:
    """The outcome of each artefact for which the store has everything."""
    for each in wanted:
        outcome = outcome_of(each, store)
        store.put_question(_OUTCOME + each.artefact.id, msgspec.json.encode(outcome))
        yield outcome


_OUTCOME = "reproduced "


def outcome_of(each: Asked, store: ResultStore) -> ArtefactOutcome:
    """The outcome of one artefact, from what the store has."""
    artefact, (found, note) = each.artefact, _found(each, store)
    if note:
        not_run = ReproductionVerdict.NOT_RUN
        return ArtefactOutcome(id=artefact.id, verdict=not_run, seeds=each.seeds, note=note)
    samples = _samples_of(each, found)
    quantities = judge(artefact, samples)
    return ArtefactOutcome(
        id=artefact.id,
        verdict=whole_verdict(artefact, quantities),
        quantities=quantities,
        seeds=tuple(artefact.evidence.used(each.seeds)),
        seconds=round(sum(kept.seconds for kept in found.values()), 1),
        digests=tuple(artefact.evidence.digests(samples)),
    )


def found_samples(each: Asked, store: ResultStore) -> Sequence[object]:
    """The artefact's samples from the store; none where something is missing."""
    found, note = _found(each, store)
    return [] if note else _samples_of(each, found)


def _samples_of(each: Asked, found: Mapping[str, Kept]) -> Sequence[object]:
    values = {key: kept.value for key, kept in found.items() if kept.value is not None}
    samples: Sequence[object] = each.artefact.evidence.samples(each.seeds, values)
    return samples


def _found(each: Asked, store: ResultStore) -> tuple[Mapping[str, Kept], str]:
    """What the store has of the artefact, and why that is not all; empty if it is."""
    absent = each.artefact.evidence.absent()
    if absent:
        return {}, absent
    keys = [call.key for call in _calls(each)]
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
