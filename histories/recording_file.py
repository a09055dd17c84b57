"""Reads the recording in a file or a folder; the format is told by the content."""

import codecs
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.attempt_log import AttemptLog
from callboard.histories.model.import_report import Remarks
from callboard.histories.model.log_lines import LogHead, log_lines, read_log
from callboard.histories.model.outage import Outage
from callboard.histories.model.tasks_file import (
    ClusterRecording,
    begins_as_tasks,
    read_attempt_lines,
    read_recording,
)
from callboard.histories.readers.column_map import PARQUET_MAGIC, TableReader, is_table
from callboard.histories.readers.hadoop1_history import Hadoop1Reader, is_hadoop1_history
from callboard.histories.readers.history_reader import HistoryReader
from callboard.histories.readers.jhist import JhistReader, is_jhist
from callboard.histories.readers.opendc import (
    has_no_jobs,
    is_failure_trace,
    outages_of_failure_trace,
)
from callboard.histories.readers.rumen import RumenReader, is_rumen
from callboard.histories.readers.sls_files import SlsReader, is_sls
from callboard.histories.readers.sls_synth import SynthReader, is_synth
from callboard.histories.readers.swf import SwfReader, is_swf
from callboard.histories.readers.unpacked_text import (
    begins_as_array,
    breaks_off_at_start,
    first_bytes,
)
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError

_LOOKED_AT = 1000
"""So many files of a folder are looked at for one that can be read, before all of them are."""
_READABLE_SHARE = 0.1
"""Of a history of more files than that at least so many are its own."""


class Imported(NamedTuple):
    """A recording, what became of all that the files held, and how much that was; `outages` are
    what the traces of `failures` among them come to, on its nodes; `log` has every attempt, None
    where the file does not keep them; `begin_ms` is the first submission by the files' own clock.
    """

    recording: ClusterRecording
    remarks: Remarks
    jobs: int
    tasks: int
    attempts: int
    failures: tuple[Path, ...] = ()
    outages: tuple[Outage, ...] = ()
    log: AttemptLog | None = None
    begin_ms: Millis = 0


class HistoryFormat(NamedTuple):
    """A format: its name, how its files begin, what reads them, and what stands in them that is not
    looked at.
    """

    name: str
    begins: Callable[[bytes], bool]
    reader: type[HistoryReader]
    unused: str = ""


_IN_HISTORIES = "names, counters, error texts, ports, times of sorting"
FORMATS: tuple[HistoryFormat, ...] = (
    HistoryFormat("Hadoop 1 job history", is_hadoop1_history, Hadoop1Reader, _IN_HISTORIES),
    HistoryFormat("Hadoop 2 job history", is_jhist, JhistReader, _IN_HISTORIES),
    HistoryFormat(
        "Rumen trace", is_rumen, RumenReader, "names, bytes, records, use of resources, laws"
    ),
    HistoryFormat("SLS jobs", is_sls, SlsReader, "priorities, resources, execution types"),
    HistoryFormat("SLS SYNTH workload", is_synth, SynthReader),
    HistoryFormat(
        "Standard Workload Format", is_swf, SwfReader, "CPU time, memory, group, application"
    ),
    HistoryFormat("table", is_table, TableReader),
)
"""Every format that is told by its content, in the order in which they are tried."""


def format_of(path: Path) -> HistoryFormat | None:
    """The format of a file; None if it is none of them."""
    begin = first_bytes(path)
    return next((each for each in FORMATS if each.begins(begin)), None)


def is_recording(path: Path) -> bool:
    """Whether a file or a folder can be read as a recording."""
    if path.is_dir():
        some = islice(path.rglob("*"), _LOOKED_AT)
        return any(format_of(each) is not None for each in some if each.is_file())
    return begins_as_tasks(first_bytes(path, 100)) or format_of(path) is not None


def import_files(paths: Iterable[Path], columns: str = "") -> Imported:
    """The recording in files and folders of one format, with its report."""
    remarks = Remarks()
    given = list(paths)
    for folder in filter(Path.is_dir, given):
        _refuse_folder_of_no_history(folder)
    every = [each for path in given for each in (_files_in(path) if path.is_dir() else [path])]
    if given and not every:
        problem = "there is no file in this folder that can be imported"
        raise ScenarioError(problem, source=given[0])
    every = _without_unreadable(every, given, remarks)
    for folder in (path for path in given if path.is_dir()):
        left_out = sum(map(_is_left_out, filter(Path.is_file, folder.rglob("*"))))
        note = "hidden files, checksums and configurations of jobs"
        remarks.add("dropped", note, folder.name, left_out)
    failures = [path for path in every if is_failure_trace(path)]
    files = [path for path in every if path not in failures]
    if failures and not files:
        problem = "a trace of failures has no jobs; import it together with files that have"
        raise ScenarioError(problem, source=failures[0])
    form, readable = _only_format(files, columns, remarks)
    if columns and form.reader is not TableReader:
        remarks.add(
            "dropped", "--map: not used; it says what a table's columns mean, and this is no table"
        )
    maker = RecordingMaker(form.name, str(files[0]), remarks)
    reader = form.reader(maker, columns)
    with _without_garbage_collection():
        for path in readable:
            reader.read(path)
        note = f"jobs' fields that no simulation needs: {form.unused}"
        remarks.add("dropped", note, count=maker.jobs if form.unused else 0)
        recording = maker.finish()
    outages = tuple(
        outage
        for nth, path in enumerate(failures)
        for outage in outages_of_failure_trace(path, nth, recording.nodes, remarks)
    )
    sizes = maker.jobs, maker.tasks, maker.attempts
    return Imported(recording, remarks, *sizes, tuple(failures), outages, maker.log, maker.begin_ms)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """No search for garbage: millions of objects are made that hold no circles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _refuse_folder_of_no_history(folder: Path) -> None:
    """ScenarioError for a folder of very many files of which the first are of several formats, or
    nearly all of none: it is none of a history, and may be a whole disk.
    """
    some = list(islice(_files_below(folder), _LOOKED_AT + 1))
    if len(some) <= _LOOKED_AT:
        return
    found = [(path, format_of(path)) for path in some]
    formats, readable = _first_file_by_format(found), sum(form is not None for _, form in found)
    if len(formats) == 1 and readable > _LOOKED_AT * _READABLE_SHARE:
        return
    which = f"{readable:,} of the first {_LOOKED_AT:,} can be imported"
    which = _several_formats_problem(formats) if len(formats) > 1 else which
    problem = f"very many files, and not those of one history: {which}"
    raise ScenarioError(f"{problem}; name a folder of the history alone", source=folder)


def _without_unreadable(files: list[Path], given: Sequence[Path], remarks: Remarks) -> list[Path]:
    """The files without those in a folder of a kind that cannot be read here, if others can."""
    if find_spec("pyarrow") is not None:
        return files
    unread = {path for path in files if path not in given and first_bytes(path, 4) == PARQUET_MAGIC}
    others = [path for path in files if path not in unread]
    if not any(format_of(path) for path in others):
        return files
    for path in files:
        note = "files of Parquet, which need pyarrow: pip install 'callboard[parquet]'"
        remarks.add("dropped", note, path.name, path in unread)
    return others


def _first_file_by_format(
    found: Iterable[tuple[Path, HistoryFormat | None]],
) -> dict[str, Path]:
    first: dict[str, Path] = {}
    for path, form in found:
        if form is not None:
            first.setdefault(form.name, path)
    return first


def _several_formats_problem(formats: Mapping[str, Path]) -> str:
    told = ", ".join(f"{name} ({path.name})" for name, path in formats.items())
    return f"files of several formats: {told}; import each by itself"


def _only_format(
    files: Sequence[Path], columns: str, remarks: Remarks
) -> tuple[HistoryFormat, list[Path]]:
    """The format of all files that have one; the others are noted."""
    found = [(path, None if has_no_jobs(path) else format_of(path)) for path in files]
    readable = [path for path, form in found if form is not None]
    forms = [form for _, form in found if form is not None]
    if not forms:
        raise ScenarioError(_why_unknown(files, columns), source=str(files[0]) if files else "")
    if len(formats := _first_file_by_format(found)) > 1:
        raise ScenarioError(_several_formats_problem(formats), source=readable[0])
    for path, form in found:
        if form is None:
            remarks.add("dropped", "files of no known format, or without jobs", path.name)
    return forms[0], readable


def _why_unknown(files: Sequence[Path], columns: str) -> str:
    why = why_not_text(files[0]) if len(files) == 1 else ""
    if not why and columns and len(files) == 1:
        first, *_ = first_bytes(files[0]).decode("utf-8", "replace").strip().splitlines() or [""]
        head = "its first line names the columns, separated by commas, semicolons, tabs or |"
        why = f"this is no table: of one {head}; here that is {first[:60]!r}"
    return why or f"nothing here that can be imported; known are: {known_formats()}"


def why_not_text(path: Path) -> str:
    """Why a file of no known format cannot be read as text either; empty if it may be text."""
    begin = first_bytes(path)
    if not begin:
        return (
            "a gzipped file that is cut off or damaged"
            if breaks_off_at_start(path)
            else "the file is empty"
        )
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "this is text in UTF-16; save it as UTF-8"
    if begins_as_array(begin):
        return (
            "a JSON array; objects are read one after the other, as `jq -c '.[]' FILE` writes them"
        )
    if b"\0" in begin:
        return f"this is no text, nor a file of a known format; known are: {known_formats()}"
    return ""


def known_formats() -> str:
    """The names of all formats, for people."""
    return ", ".join(dict.fromkeys(each.name for each in FORMATS))


def _files_in(folder: Path) -> list[Path]:
    """The files of a folder and those below it, by name; not `_is_left_out` ones."""
    return sorted(_files_below(folder))


def _files_below(folder: Path) -> Iterator[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return (path for path in found if not _is_left_out(path))


def _is_left_out(path: Path) -> bool:
    """Whether a folder's file is hidden, a checksum or a job's configuration."""
    return path.name.startswith(".") or path.suffix in (".crc", ".xml")


_last: dict[tuple[object, ...], Imported] = {}


def load_recording(path: Path, columns: str = "") -> Imported:
    """The recording in one file or folder; the latest is kept, since a scenario is made of it first
    and its jobs then.
    """
    key = (path.absolute(), columns, _change_stamp(path))
    if key not in _last:
        _last.clear()
        _last[key] = _loaded_recording(path, columns)
    return _last[key]


def is_tasks_file(path: Path) -> bool:
    """Whether it is a file of recorded tasks, as `callboard import` writes one."""
    return path.is_file() and begins_as_tasks(first_bytes(path, 100))


def _loaded_recording(path: Path, columns: str) -> Imported:
    if not path.is_dir() and begins_as_tasks(first_bytes(path, 100)):
        recording = read_recording(path)
        tasks = sum(len(job.tasks.map_ms) + len(job.tasks.rest_ms) for job in recording.jobs)
        return Imported(recording, Remarks(), len(recording.jobs), tasks, tasks)
    return import_files([path], columns)


def load_recording_with_attempts(path: Path, columns: str = "") -> Imported:
    """The same with every attempt, which a file of recorded tasks keeps too since version 3;
    ScenarioError where it is damaged.
    """
    found = load_recording(path, columns)
    if found.log is not None or not (lines := read_attempt_lines(path)):
        return found
    try:
        head, log = read_log(lines)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, OverflowError) as error:
        problem = f"not the attempts of recorded tasks: {error}; import the history again"
        raise ScenarioError(problem, source=path) from None
    remarks = Remarks()
    for what, often in head.guessed:
        remarks.add("guessed", what, count=often)
    sizes = head.jobs, head.tasks, head.attempts
    return Imported(found.recording, remarks, *sizes, log=log, begin_ms=head.begin_ms)


def attempt_lines(imported: Imported) -> Iterator[bytes]:
    """What the file of its tasks keeps of an imported history's attempts; nothing without any."""
    if imported.log is None:
        return
    guessed = tuple((each.what, each.count) for each in imported.remarks.with_fate("guessed"))
    sizes = imported.jobs, imported.tasks, imported.attempts
    head = LogHead(imported.begin_ms, imported.log.hosts, *sizes, guessed)
    yield from log_lines(head, imported.log)


def _change_stamp(path: Path) -> tuple[object, ...]:
    """What changes when a file does, or any in a folder."""
    files = _files_in(path) if path.is_dir() else [path]
    return tuple((each.name, (stat := each.stat()).st_mtime_ns, stat.st_size) for each in files)
