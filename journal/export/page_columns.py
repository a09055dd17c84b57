"""What stands in a page that plays a run back: its changes as columns of numbers, and its words.

Columns named `at` have times in ms after the one before.
"""

import msgspec

from callboard.journal.export.change_log import CountColumns
from callboard.journal.replay.frame import ResultHeadline
from callboard.scheduler.model import JobId, Millis


class SlotColumns(msgspec.Struct, frozen=True):
    """Changes of slots.  `of` is the slot, counted over all nodes, a node's map slots first.

    A letter of `state` is a `SlotState` from `a` on, and as many letters later if another attempt
    has taken the slot; of these `job`, `task` (-1 of a setup, -2 of a cleanup) and `level` (3 of
    what is no map) have an entry each.
    """

    at: list[Millis]
    of: list[int]
    state: str
    job: list[int]
    task: list[int]
    level: list[int]


class LogColumns(msgspec.Struct, frozen=True):
    """The events of the log.  `kind` is a letter: the importance, and 3 times the mark; `pattern`
    is one of `patterns`, between whose parts come as many of `numbers`; `job` is -1 for none.
    """

    at: list[Millis]
    kind: str
    job: list[int]
    pattern: list[int]
    numbers: list[int]
    patterns: list[tuple[str, ...]]


class MarkColumns(msgspec.Struct, frozen=True):
    """The marks on the time axis; a digit of `kind` each."""

    at: list[Millis]
    kind: str


class ChartColumns(msgspec.Struct, frozen=True):
    """The charts: shares of busy slots, jobs in the system and those that nothing runs of, and
    minutes of slot time wasted, on average in each part of the run; the `peaks` of the first three
    at any time.
    """

    maps: list[float]
    reduces: list[float]
    jobs: list[float]
    waiting: list[float]
    wasted: list[float]
    peaks: tuple[float, float, float]


class PageNodes(msgspec.Struct, frozen=True):
    """The nodes as the run began."""

    rack: list[int]
    maps: list[int]
    reduces: list[int]


class PageJobs(msgspec.Struct, frozen=True):
    """The jobs, in the order of their submission; `finished_ms` is -1 of those that never did.
    `shares` has, in words, what the response of each went to; none where that would take too long
    to find out.
    """

    job: list[JobId]
    name: list[str]
    user: list[str]
    pool: list[str]
    maps: list[int]
    reduces: list[int]
    submitted_ms: list[Millis]
    finished_ms: list[Millis]
    shares: list[list[str]]


class ColourKey(msgspec.Struct, frozen=True):
    """What the colours can stand for, in words; the colour of each of the jobs, a digit each."""

    by: str
    hues: str
    legend: tuple[str, ...]


class PageWords(msgspec.Struct, frozen=True):
    """Signs and words that the page has from the screen."""

    states: list[str]
    slots: list[str]
    slot_signs: list[str]
    down_sign: str
    node_signs: tuple[str, ...]
    marks: list[str]
    ending: str
    keeper: str


class PageData(msgspec.Struct, frozen=True):
    """A run for a page; `beside` it another of the same world, if two are compared.  `headline`
    is what came of it, or which of the two is better and by how much.  Either run is called by its
    `label` where there is little room for two.

    Rows of `job_rows` are the standing + 1 (0 before the submission), maps and reduces done, maps
    and reduces running, attempts suspended, by the place in `jobs`; those of `node_rows` the sign,
    whether the master is wrong about it, whether it counts as down, whether it is given up, whether
    its machine is off, how many suspended attempts it keeps.
    """

    name: str
    policies: list[tuple[Millis, str, bool]]
    """From when on each policy was in force, and whether the master stood still."""
    seed: int
    end_ms: Millis
    speeds: list[float]
    nodes: PageNodes
    jobs: PageJobs
    colours: list[ColourKey]
    slots: SlotColumns
    job_rows: CountColumns
    node_rows: CountColumns
    log: LogColumns
    marks: MarkColumns
    charts: ChartColumns
    result: list[tuple[str, str]]
    words: PageWords
    label: str = ""
    headline: ResultHeadline | None = None
    beside: "PageData | None" = None
