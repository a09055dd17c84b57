"""Computing what a store has not: the one pipeline of sweeps, reproductions and the ideal study.

What is wanted are calls, each under a key that names all that its answer depends on.  Those whose
answers the store has are found there, whichever command computed them; the others are handed to
workers, and each answer is on disk before the next one is looked at.
"""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from typing import Any, NamedTuple

from callboard.experiments.error_messages import describe_error
from callboard.experiments.many.content_key import model_version, program_version
from callboard.experiments.many.result_store import Kept, ResultStore, key_of
from callboard.experiments.many.task_pool import (
    Interrupted,
    Lost,
    Workers,
    answers_by_workers,
    current_board,
)
from callboard.experiments.user_errors import InputError

LOOKED_UP_AT_ONCE = 64
"""How many keys are asked of the store at once."""


class Call(NamedTuple):
    """A function with what it is given, and the key that its answer, as bytes, is kept under.

    Calls whose `weight` is less than 1 are handed out several at a time, until they weigh 1
    together; one of weight 0 takes less time than handing it out, and is done at once, here.
    """

    key: str
    function: Callable[..., bytes]
    arguments: tuple[Any, ...]
    weight: float = 1.0


def call_raising_error(error: Exception, *content: object) -> Call:
    """In place of a call that cannot be made of this content: one that fails with the error."""
    key = key_of("impossible", model_version(), *content, str(error))
    return Call(key, _raise_input_error, (str(error),), weight=0.0)


def _raise_input_error(error: str) -> bytes:
    raise InputError(error)


class Answered(NamedTuple):
    """A call with what is kept of it.  If it was not `computed` now it was found; None if the same
    is being computed for an earlier call.
    """

    call: Call
    kept: Kept | None
    computed: bool


class _WorkerAnswers(NamedTuple):
    """What a worker says of some calls, None of those it did not do, and which program it is."""

    program: str
    kept: tuple[Kept | None, ...]


def compute_missing(
    calls: Iterable[Call],
    store: ResultStore,
    workers: Workers,
    *,
    retry: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Answered]:
    """Each call with its answer, which is computed if the store has none, or with `retry` if it
    has a failure.  A function that raises has failed, and why is kept in its answer's place.  Once
    it has `stopped` nothing more is begun.
    """
    found: list[Answered] = []
    wanted = _calls_to_hand_out(calls, store, found, retry=retry)
    for some, told in answers_by_workers(
        workers, perform_calls, takewhile(lambda _: not stopped(), wanted)
    ):
        yield from _take_found(found)
        kept = _answers_to_keep(some, told)
        store.add((call.key, each) for call, each in kept)
        yield from (Answered(call, each, computed=True) for call, each in kept)
    yield from _take_found(found)


def missing_calls(calls: Iterable[Call], store: ResultStore) -> list[Call]:
    """Those that the store has no answer to, each once."""
    by_key = {call.key: call for call in calls}
    known = store.find(by_key)
    return [call for key, call in by_key.items() if key not in known or known[key].value is None]


def perform_calls(calls: tuple[Call, ...]) -> _WorkerAnswers:
    """What a worker does."""
    return _WorkerAnswers(program_version(), tuple(map(perform_call, calls)))


def perform_call(call: Call) -> Kept | None:
    """What the call comes to, as it is kept; None if nothing more is to be computed."""
    shared = current_board()
    if shared is not None and shared.stop.value:
        return None
    began = time.process_time()
    try:
        value = call.function(*call.arguments)
    except Interrupted:
        return None
    except Exception as error:
        message, _ = describe_error(error)
        why = traceback.format_exc() if message is None else message
        return Kept(None, why, time.process_time() - began)
    return Kept(value, "", time.process_time() - began)


def _calls_to_hand_out(
    calls: Iterable[Call], store: ResultStore, found: list[Answered], *, retry: bool
) -> Iterator[tuple[Call, ...]]:
    """What is to be handed out; what is not goes to `found`."""
    seen: set[str] = set()
    together: list[Call] = []
    for some in _batches_of_calls(calls):
        known = store.find(call.key for call in some)
        for call in some:
            kept = known.get(call.key)
            if call.key in seen or (kept is not None and not (retry and kept.value is None)):
                found.append(Answered(call, kept, computed=False))
                continue
            seen.add(call.key)
            if not call.weight:
                found.extend(_perform_here(call, store))
                continue
            together.append(call)
            if sum(each.weight for each in together) >= 1:
                yield tuple(together)
                together.clear()
    if together:
        yield tuple(together)


def _batches_of_calls(calls: Iterable[Call]) -> Iterator[list[Call]]:
    left = iter(calls)
    while some := list(islice(left, LOOKED_UP_AT_ONCE)):
        yield some


def _perform_here(call: Call, store: ResultStore) -> Iterator[Answered]:
    kept = perform_call(call)
    if kept is not None:
        store.add([(call.key, kept)])
        yield Answered(call, kept, computed=True)


def _take_found(found: list[Answered]) -> Iterator[Answered]:
    """What was found since this was asked last."""
    yield from found
    found.clear()


def _answers_to_keep(
    calls: tuple[Call, ...], told: _WorkerAnswers | Lost
) -> list[tuple[Call, Kept]]:
    """What is to be kept of a worker's answers."""
    if isinstance(told, Lost):
        return [(call, Kept(None, told.why, 0.0)) for call in calls]
    if told.program != program_version():
        raise InputError("a worker has another version of Callboard or NumPy than this one")
    return [(call, kept) for call, kept in zip(calls, told.kept, strict=True) if kept is not None]
