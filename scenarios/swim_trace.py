"""SWIM traces (SWIMProjectUCB/SWIM on GitHub): one line a job with six columns, separated by tabs
or spaces (`SwimLine`). What is assumed of its tasks is a field of `SwimWorkload`.
"""

from functools import lru_cache
from pathlib import Path

import msgspec

from callboard.actors.job_spec import JobSpec
from callboard.scenarios import fields
from callboard.scenarios.workload_table import WorkloadTable
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.text_file import read_text

SWIM_COLUMNS = ("job id", "submit time", "gap", "input bytes", "shuffle bytes", "output bytes")
SWIM_BYTES_MAX = 10**18  # an exabyte: no job reads more, and the numbers stay 64-bit


class SwimLine(msgspec.Struct, frozen=True):
    """One line of a trace, `gap_s` after the one before; `line` is its number, from 1."""

    name: str
    submit_s: int
    gap_s: int
    input_bytes: int
    shuffle_bytes: int
    output_bytes: int
    line: int = 0


class SwimWorkload(WorkloadTable, frozen=True, kw_only=True, tag="swim"):
    """The table `[workload]` with `kind = "swim"`: a trace, and what its lines do not tell.  MB are
    1,000,000 bytes.
    """

    path: str
    """Looked up beside the scenario file, then in the working folder."""
    jobs: fields.JobCount | None = None
    """How many lines to read."""
    time_scale: fields.Factor = 1.0
    """Multiplies submit times: 0.5 doubles the load."""
    block_mb: fields.Megabytes = 128.0
    """Input of one map; for binary megabytes 134.217728."""
    reduce_mb: fields.Megabytes = 1000.0
    """The most shuffle of one reduce."""
    startup_s: fields.Seconds = 2.0
    """Starting a task (a JVM), before any byte."""
    map_mb_per_s: fields.Rate = 5.0
    """At which a map reads and works: a full block takes 27.6 s with the start, as maps of Hadoop 1
    did.
    """
    shuffle_mb_per_s: fields.Rate = 20.0
    """At which a reduce fetches."""
    reduce_mb_per_s: fields.Rate = 20.0
    """At which a reduce sorts and reduces."""
    write_mb_per_s: fields.Rate = 20.0
    """At which one task writes output: a reduce, or a map of a job without reduces."""

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:  # noqa: ARG002
        path = locate_trace(self.path, Path(base_dir))
        lines = _kept_lines(path, self.jobs, _stamp(path))
        return [swim_job(line, number, self, path) for number, line in enumerate(lines)]


def read_swim(path: str | Path, limit: int | None = None) -> tuple[SwimLine, ...]:
    """The lines of a trace, or the first `limit` of them, read strictly: six columns, whole numbers
    of at least 0, submit times that never go back, no job id twice, empty lines at the end only.
    Gaps need not fit the submit times, so that lines can be cut out. ScenarioError names file,
    line, column.
    """
    source = Path(path)
    rows = read_text(source).rstrip().split("\n")
    if rows == [""]:
        raise ScenarioError("the trace is empty", source=source)
    if len(rows) > fields.JOBS_MAX:
        raise ScenarioError(f"over {fields.JOBS_MAX:,} lines", source=source)
    lines: list[SwimLine] = []
    names: dict[str, int] = {}
    for number, row in enumerate(rows[:limit], start=1):
        line = _parsed(row, number, source)
        _check_order(line, lines, names, source)
        names[line.name] = number
        lines.append(line)
    return tuple(lines)


@lru_cache(maxsize=4)
def _kept_lines(
    path: Path,
    limit: int | None,
    stamp: tuple[int, int],  # noqa: ARG001
) -> tuple[SwimLine, ...]:
    """The lines of a trace: seeds and settings play the same ones."""
    return read_swim(path, limit)


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when the file does."""
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


def is_swim(begin: bytes) -> bool:
    """Whether a file that begins like this is a trace: a name and five whole numbers a line."""
    cells = begin.lstrip().partition(b"\n")[0].split()
    numbers = cells[1:]
    return len(cells) == len(SWIM_COLUMNS) and all(cell.isdigit() for cell in numbers)


def _parsed(row: str, number: int, source: Path) -> SwimLine:
    cells = row.split()
    if len(cells) != len(SWIM_COLUMNS):
        expected = f"expected {len(SWIM_COLUMNS)} columns ({', '.join(SWIM_COLUMNS)})"
        raise ScenarioError(f"{expected}, got {len(cells)}", source=source, line=number)
    limits = [int(fields.SECONDS_MAX)] * 2 + [SWIM_BYTES_MAX] * 3
    submit, gap, *sizes = (
        _whole_number(cell, column, limit, number, source)
        for cell, column, limit in zip(cells[1:], SWIM_COLUMNS[1:], limits, strict=True)
    )
    return SwimLine(cells[0], submit, gap, sizes[0], sizes[1], sizes[2], number)


def _whole_number(cell: str, column: str, limit: int, number: int, source: Path) -> int:
    # str.isdigit and int() both accept digits of other scripts; a trace has none.
    if not (cell.isascii() and cell.isdigit()):
        problem = f'expected a whole number of at least 0, got "{cell[:40]}"'
        raise ScenarioError(problem, source=source, key=column, line=number)
    if len(cell) > 20 or int(cell) > limit:
        problem = f"expected at most {limit:,}, got {cell[:40]}"
        raise ScenarioError(problem, source=source, key=column, line=number)
    return int(cell)


def _check_order(
    line: SwimLine, before: list[SwimLine], names: dict[str, int], source: Path
) -> None:
    if before and line.submit_s < before[-1].submit_s:
        problem = f"{line.submit_s} is before the line above ({before[-1].submit_s})"
        problem += "; sort the trace by its second column"
        raise ScenarioError(problem, source=source, key=SWIM_COLUMNS[1], line=line.line)
    if line.name in names:
        problem = f'"{line.name[:40]}" stands already on line {names[line.name]}; ids must differ'
        raise ScenarioError(problem, source=source, key=SWIM_COLUMNS[0], line=line.line)


def locate_trace(path: str, base_dir: Path, key: str = "workload.path") -> Path:
    """The trace beside the scenario file, else in the working folder; `key` is where it stands."""
    try:
        beside, here = base_dir / path, Path(path)
        found = next((place for place in (beside, here) if place.exists()), None)
    except (OSError, ValueError):  # a name too long, or with a NUL in it
        found = None
    if found is None:
        problem = f'there is no trace "{path[:200]}", beside the scenario or in the working folder'
        raise ScenarioError(problem, key=key)
    return found


def swim_job(line: SwimLine, job: int, workload: SwimWorkload, source: str | Path = "") -> JobSpec:
    """One line as a job by the rules in `SwimWorkload`; what reads nothing still has one map."""
    maps = max(1, fields.ceil_div(line.input_bytes, _bytes(workload.block_mb)))
    reduces = fields.ceil_div(line.shuffle_bytes, _bytes(workload.reduce_mb))
    if max(maps, reduces) > fields.TASKS_MAX:
        problem = f"{maps:,} maps and {reduces:,} reduces; the limit is {fields.TASKS_MAX:,}"
        problem += " (make block_mb or reduce_mb larger)"
        raise ScenarioError(problem, source=source, line=line.line)
    shuffled_mb = _shared_mb(line.shuffle_bytes, reduces)
    return JobSpec(
        job=job,
        name=line.name,
        submit_ms=fields.to_ms(line.submit_s * workload.time_scale),
        maps=maps,
        map_ms=fields.task_ms(_map_s(line, maps, workload, map_only=not reduces)),
        reduces=reduces,
        shuffle_ms=fields.to_ms(shuffled_mb / workload.shuffle_mb_per_s),
        reduce_ms=fields.to_ms(_reduce_s(line, reduces, workload)) if reduces else 0,
    )


def _map_s(line: SwimLine, maps: int, workload: SwimWorkload, *, map_only: bool) -> float:
    reading = _shared_mb(line.input_bytes, maps) / workload.map_mb_per_s
    written = line.output_bytes if map_only else 0
    return workload.startup_s + reading + _shared_mb(written, maps) / workload.write_mb_per_s


def _reduce_s(line: SwimLine, reduces: int, workload: SwimWorkload) -> float:
    reducing = _shared_mb(line.shuffle_bytes, reduces) / workload.reduce_mb_per_s
    writing = _shared_mb(line.output_bytes, reduces) / workload.write_mb_per_s
    return workload.startup_s + reducing + writing


def _shared_mb(total_bytes: int, tasks: int) -> float:
    return total_bytes / fields.MEGABYTE / tasks if tasks else 0.0


def _bytes(megabytes: float) -> int:
    return round(megabytes * fields.MEGABYTE)
