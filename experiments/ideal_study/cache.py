"""Outcomes kept on disk as they come in, so that a kill loses only what was being computed."""

import os
from pathlib import Path

import msgspec

from callboard.experiments.ideal_study.cells import (
    RunOutcome,
    StudyCell,
    WorkerAnswer,
    program_digest,
)
from callboard.experiments.many.result_store import Kept, ResultStore, key_of
from callboard.experiments.user_errors import InputError


def default_path() -> Path:
    """`callboard/results.sqlite` in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`)."""
    folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "callboard" / "results.sqlite"


def find_outcomes(store: ResultStore, cell: StudyCell, runs: range) -> dict[int, RunOutcome]:
    """Those outcomes of the present program that are known, by run."""
    keys = {_key(cell, run): run for run in runs}
    return {
        keys[key]: msgspec.msgpack.decode(kept.value or b"", type=RunOutcome)
        for key, kept in store.find(keys).items()
    }


def add_outcomes(store: ResultStore, answer: WorkerAnswer) -> None:
    """Keep an answer on disk; `InputError` if a worker's code, which made it, is not ours."""
    if answer.program != program_digest():
        raise InputError("a worker runs another version of Callboard or NumPy than this one")
    rows = zip(answer.runs, answer.outcomes, strict=True)
    store.add(
        (_key(answer.cell, run), Kept(msgspec.msgpack.encode(outcome), "", 0.0))
        for run, outcome in rows
    )


def _key(cell: StudyCell, run: int) -> str:
    """A seed may be larger than MessagePack's integers."""
    return key_of("ideal", program_digest(), *cell[:-1], str(cell.seed), run)
