"""The Standard Workload Format 2.2 of the Parallel Workloads Archive: a line a job, 18 numbers.

A job of n processors becomes n equal maps of its run time: Callboard knows no tasks that have to
start together.
"""

from array import array
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from callboard.actors.config import NODES_MAX, SLOTS_MAX, TASKS_MAX
from callboard.histories.inference.cluster_inference import StatedCluster
from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.cluster_history import HistoryAttempt, HistoryJob, HistoryTask
from callboard.histories.readers.history_reader import HistoryReader
from callboard.histories.readers.unpacked_text import ends_within_line, text_lines
from callboard.scheduler.text.scenario_error import ScenarioError

FIELDS = (
    *("job", "submit time", "wait time", "run time", "processors", "average CPU time", "memory"),
    *("requested processors", "requested time", "requested memory", "status", "user", "group"),
    *("application", "queue", "partition", "preceding job", "think time"),
)
_SECONDS_MAX = 10**11
_FAILED, _CANCELLED = 0, 5  # statuses


class SwfLine(NamedTuple):
    """The fields of one line, in seconds; -1 is unknown."""

    job: float
    submit: float
    wait: float
    run: float
    processors: float
    cpu: float
    memory: float
    wanted_processors: float
    wanted_time: float
    wanted_memory: float
    status: float
    user: float
    group: float
    application: float
    queue: float
    partition: float
    preceding: float
    think: float


def is_swf(begin: bytes) -> bool:
    """Whether a file that begins like this has such lines, after comments that begin with `;`."""
    for line in begin.decode("utf-8", "replace").splitlines():
        if line.strip() and not line.lstrip().startswith(";"):
            cells = line.split()
            return len(cells) == len(FIELDS) and all(
                _number_of_cell(cell) is not None for cell in cells
            )
    return False


class SwfReader(HistoryReader):
    """Reads logs of the Standard Workload Format."""

    def __init__(self, maker: RecordingMaker, columns: str = "") -> None:
        super().__init__(maker, columns)
        self._most = 1  # processors that any job had
        self._spans = array("q")  # the start, the end and the processors of each job
        self._knows_waits = False

    def _read_file(self, path: Path) -> None:
        header: dict[str, str] = {}
        lines = text_lines(path, self._maker.remarks)
        for line, text in lines:
            if text.lstrip().startswith(";"):
                key, colon, value = text.lstrip("; ").partition(":")
                if colon:
                    header.setdefault(key.strip(), value.strip())
            elif text.strip():
                try:
                    row = self._parsed_line(text, line)
                except ScenarioError:
                    if next(lines, None) is not None or not ends_within_line(path):
                        raise
                    note = "the last line, which is cut off by the end of the file"
                    self._maker.remarks.add_cut_off(note, path.name, line)
                else:
                    self._take_line(row, line)
        self._state_cluster(header)

    def _parsed_line(self, text: str, line: int) -> SwfLine:
        cells = text.split()
        if len(cells) != len(FIELDS):
            problem = f"expected {len(FIELDS)} fields, got {len(cells)}"
            raise ScenarioError(problem, source=self._path, line=line)
        return SwfLine(
            *(
                self._checked_number(cell, field, line)
                for cell, field in zip(cells, FIELDS, strict=True)
            )
        )

    def _checked_number(self, cell: str, field: str, line: int) -> float:
        number = _number_of_cell(cell)
        if number is None or abs(number) > _SECONDS_MAX:
            problem = f"expected a number, got {cell[:40]!r}"
            raise ScenarioError(problem, source=self._path, key=field, line=line)
        return number

    def _take_line(self, row: SwfLine, line: int) -> None:
        processors = row.processors if row.processors > 0 else row.wanted_processors
        lacking = _lacking_field(row, processors)
        if lacking:
            self._note("dropped", f"jobs without {lacking}", line)
            return
        if processors > TASKS_MAX:
            problem = f"{processors:,.0f} processors; the limit is {TASKS_MAX:,}"
            raise ScenarioError(problem, source=self._path, key="processors", line=line)
        self._most = max(self._most, round(processors))
        self._note_assumptions(row, line)
        self._note_span(row, round(processors))
        self._maker.add(self._history_job(row, round(processors), line))

    def _note_span(self, row: SwfLine, processors: int) -> None:
        """Remember when it ran: of jobs whose waits are told, if there are any."""
        told = row.wait >= 0
        if told and not self._knows_waits:
            self._knows_waits, self._spans = True, array("q")
        if told or not self._knows_waits:
            start = row.submit + max(row.wait, 0)
            self._spans.extend((round(start * 1000), round((start + row.run) * 1000), processors))

    def _note_assumptions(self, row: SwfLine, line: int) -> None:
        """What is assumed of a job, or left out."""
        wanted = "jobs whose processors are those that they asked for"
        self._note("inferred", wanted, line, row.processors <= 0)
        waited = "jobs of unknown wait: nothing tells how long they took to respond"
        self._note("guessed", waited, line, row.wait < 0)
        for status, how in ((_FAILED, "failed"), (_CANCELLED, "were cancelled")):
            ended = f"jobs that {how}: played for as long as they ran, and then done"
            self._note("inferred", ended, line, row.status == status)
        self._note("dropped", "jobs' dependencies on others before them", line, row.preceding > 0)
        equal = "jobs of n processors: n equal maps, which need not start together"
        self._note("inferred", equal, line)

    def _history_job(self, row: SwfLine, processors: int, line: int) -> HistoryJob:
        submit_ms = round(row.submit * 1000)
        start_ms = submit_ms + max(round(row.wait * 1000), 0)
        end_ms = start_ms + round(row.run * 1000)
        job = HistoryJob(f"job_{row.job:.0f}", self._path.name, line, ending="succeeded")
        job.submit_ms, job.finish_ms = submit_ms, None if row.wait < 0 else end_ms
        job.user = f"user{row.user:.0f}" if row.user >= 0 else "user"
        job.queue = f"queue{row.queue:.0f}" if row.queue >= 0 else ""
        job.requested_ms = round(row.wanted_time * 1000) if row.wanted_time > 0 else None
        for number in range(processors):
            told = row.wait >= 0
            attempt = HistoryAttempt(start_ms, end_ms, "succeeded", name="0", times_told=told)
            job.maps[number] = HistoryTask([attempt], line=line)
        return job

    def _state_cluster(self, header: dict[str, str]) -> None:
        """The cluster as the header tells it, else as large as what ran at once."""
        told_nodes = _positive_of_header(header, "MaxNodes")
        told = _positive_of_header(header, "MaxProcs") or told_nodes
        processors = max(round(told or self._most_processors_at_once()), self._most)
        nodes = min(max(round(told_nodes or processors), 1), NODES_MAX)
        slots = min(max(ceil(processors / nodes), 1), SLOTS_MAX)
        add = self._maker.remarks.add
        more = "processors: the largest job has more than the header tells"
        add("inferred", more, count=processors if told and processors > told else 0)
        words = f"{processors:,} processors as map slots"
        if told:
            self._maker.stated = StatedCluster(nodes, slots, 1, words)
        else:
            words = f"{words}: that many ran at once at most, and nothing tells how many there were"
            self._maker.stated = StatedCluster(nodes, slots, 1, words, "guessed")

    def _most_processors_at_once(self) -> int:
        """How many processors ran at once at most; what ends makes room at once."""
        starts, ends, processors = np.array(self._spans, np.int64).reshape(-1, 3).T
        order = np.lexsort((np.repeat([1, 0], len(starts)), np.concatenate((starts, ends))))
        change = np.concatenate((processors, -processors))
        return int(np.cumsum(change[order]).max(initial=0))


def _lacking_field(row: SwfLine, processors: float) -> str:
    """What a job does not tell without which it cannot be played; empty if nothing."""
    if row.submit < 0:
        return "a submit time"
    if row.run < 0:
        return "a run time"
    return "processors" if processors < 1 else ""


def _positive_of_header(header: dict[str, str], key: str) -> float | None:
    """The number that the header tells; None if it tells none, or -1, which is unknown."""
    number = _number_of_cell(header.get(key, "").partition(" ")[0])
    return number if number is not None and number > 0 else None


def _number_of_cell(cell: str) -> float | None:
    if "_" in cell or cell.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return None
    try:
        return float(cell)
    except ValueError:
        return None
