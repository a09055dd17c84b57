"""Where runs are recorded: the names of their journals, and what must not be overwritten."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from pathlib import Path

from callboard.experiments.user_errors import InputError
from callboard.journal.format import is_journal
from callboard.scheduler.text.special_file import special_file

RunKey = tuple[str, str, int]
"""The scenario's name, the policy and the seed."""

_SLUG_MAX = 60


def journal_paths(
    asked: str | None, runs: Sequence[RunKey], played: Sequence[str | Path] = ()
) -> dict[RunKey, Path]:
    """The journal of each run; a single run has the very name that was asked for.

    InputError where the name cannot be a journal's, or something else stands there already: also a
    journal that another run writes, or one that is `played` again.
    """
    if asked is None:
        return {}
    if len(set(runs)) < len(runs):
        raise InputError("--journal: the same scenario runs twice under the same policy")
    path = file_path("--journal", asked)
    paths = {runs[0]: path} if len(runs) == 1 else _path_of_each_run(path, runs)
    for each in paths.values():
        _refuse_to_overwrite(each)
        refuse_to_replace_played(each, played)
    return paths


def refuse_to_replace_played(journal: Path, played: Sequence[str | Path]) -> None:
    """InputError if the journal to write is one of the files that are played."""
    for each in map(Path, played):
        if (
            journal.is_file()
            and "\0" not in str(each)
            and each.is_file()
            and journal.samefile(each)
        ):
            problem = "is the journal whose run is to be played again; choose another name"
            raise InputError(f"--journal: {journal} {problem}")


def file_path(option: str, asked: str) -> Path:
    """What an option names, as a path that can be a file's; else InputError."""
    if not asked:
        raise InputError(f"{option}: the name is empty; name a file")
    if "\0" in asked:
        raise InputError(f"{option}: a file's name cannot hold a NUL character")
    path = Path(asked)
    if not path.name or asked.endswith("/") or path.is_dir():
        raise InputError(f"{option} {asked}: this is a folder; name a file in it")
    if not special_file(path):
        check_folder(option, path.parent)
    return path


def is_one_of(path: Path, files: Iterable[Path]) -> bool:
    """Whether the path leads to one of the files, whatever it is called."""
    return path.exists() and any(each.exists() and path.samefile(each) for each in files)


def refuse_twice(paths: Sequence[Path]) -> None:
    """InputError where one journal is named twice: it would be compared with itself."""
    for place, path in enumerate(paths):
        for other in paths[:place]:
            if is_one_of(path, [other]):
                same = "" if path == other else f", as {other} too"
                raise InputError(f"{path}: this is named twice{same}; name each journal once")


def refuse_journal_as_history(name: str, path: Path) -> None:
    """InputError for a journal where a history is read."""
    if path.is_file() and is_journal(path):
        journal, history = shlex.quote(name), shlex.quote(str(_fresh_history_path(Path(name))))
        raise InputError(
            f"{name}: this is a journal of a run that Callboard has played:"
            f" `callboard replay {journal}` shows it, and `callboard export {journal} --to"
            f" {history}` writes the history that can be read here"
        )


def _fresh_history_path(journal: Path) -> Path:
    """A name for a journal's history, which nothing has yet: a journal may be called so itself."""

    def named(stem: str) -> Path:
        return journal.with_name(f"{stem}.history")

    return named(fresh_name(journal.stem, lambda stem: named(stem).exists()))


def check_folder(option: str, folder: Path) -> None:
    """InputError where nothing can be written into the folder, or it is neither there nor can be
    made: before the work whose results would go there.
    """
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise InputError(f"{option}: {there} is a file, and no folder; choose another name")
    if not os.access(there, os.W_OK | os.X_OK):
        what = "file can be written" if there == folder else "folder can be made"
        raise InputError(f"{option}: no {what} in {there}; choose another name")


def _path_of_each_run(path: Path, runs: Sequence[RunKey]) -> dict[RunKey, Path]:
    """A name for each of several runs: `two-fair.journal` for `two.journal`."""
    if path.exists() and not path.is_file():
        raise InputError(
            f"--journal {path}: not a file, so only one run can be recorded there, not {len(runs)};"
            " choose one with --policy"
        )
    differ = [len(set(column)) > 1 for column in zip(*runs, strict=True)]
    differ[1] = True  # the policy is always said
    names: dict[RunKey, str] = {}
    for run in runs:
        words = [str(word) for word, tells in zip(run, differ, strict=True) if tells]
        taken = set(names.values())
        names[run] = fresh_name("-".join(map(slug, words)), taken.__contains__)
    return {run: path.with_name(f"{path.stem}-{name}{path.suffix}") for run, name in names.items()}


def slug(text: str) -> str:
    """The text as part of a file's name: `fair+delay(15)` becomes `fair-delay-15`.  Of a file that
    it names the folder is left out: `/home/ann/mine.py:Mine` becomes `mine.py-Mine`.
    """
    without_folders = re.sub(r"[^\s+(,]*/(?=[^/]*\.py\b)", "", text)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", without_folders).strip("-.")[:_SLUG_MAX] or "run"


def fresh_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name, with a number after it from 2 on where it is taken."""
    numbered = chain((name,), (f"{name}-{number}" for number in count(2)))
    return next(each for each in numbered if not is_taken(each))


def _refuse_to_overwrite(path: Path) -> None:
    """InputError if a file stands there that is neither empty nor a journal."""
    if path.is_dir():
        raise InputError(f"--journal: {path} is a folder; choose another name")
    special = special_file(path)
    if special and not _is_seekable_device(path):
        raise InputError(f"--journal: {path} is {special}; a journal is written to a regular file")
    if not path.is_file():  # nothing yet, or a device such as /dev/null
        return
    if path.stat().st_size and not is_journal(path):
        raise InputError(
            f"--journal: {path} exists and is not a journal; choose another name, or remove it"
        )
    from callboard.journal.lock import is_being_written

    if is_being_written(path):
        raise InputError(f"--journal: another run is being recorded in {path}; choose another name")


def _is_seekable_device(path: Path) -> bool:
    """Whether this is a device in which a place can be found again, such as /dev/null."""
    if not path.is_char_device():
        return False
    with path.open("ab") as file:
        return file.seekable()
