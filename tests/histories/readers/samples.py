"""Small histories of our own making, a job each, and ways to read them."""

from pathlib import Path

from callboard.histories.model.import_report import FATES, Remarks
from callboard.histories.recording_file import Imported, import_files

HERE = Path(__file__).parent

HADOOP1 = (HERE / "hadoop1.history").read_text(encoding="utf-8")
"""Two maps with inputs on h1 and h3: one data-local, one that failed first (3 s), then ran
rack-local beside a second attempt that was killed; a reduce that waited for the last map.
"""

HADOOP2 = (HERE / "hadoop2.history").read_text(encoding="utf-8")
"""The same job as Hadoop 2 tells it, without the attempt that was killed."""

SWF = """; Version: 2.2
; MaxNodes: 4
; MaxProcs: 8
  1  0  10 100  3 -1 -1  3 600 -1  1  7 -1 -1  2 -1 -1 -1
  2 50  -1  20 -1 -1 -1  2  -1 -1  1 -1 -1 -1 -1 -1  1 -1
  3 60   0  -1  2 -1 -1  2  -1 -1  0  7 -1 -1 -1 -1 -1 -1
  4 70   5  30  1 -1 -1  1  60 -1  5  8 -1 -1 -1 -1 -1 -1
"""
"""Four jobs: a plain one, one of unknown wait and processors, one that never ran, one cancelled."""

TASKS_CSV = """job;task;kind;begin;over;where
a;m1;map;1000;11000;h1
a;m2;map;1000;6000;h2
a;r1;reduce;12000;20000;h1
b;m1;MAP;3000;4000;h2
"""
"""Two jobs in a table of tasks, in milliseconds."""


def imported(path: Path, columns: str = "") -> Imported:
    """What is made of one file."""
    return import_files([path], columns)


def written(folder: Path, text: str | bytes, name: str = "history") -> Path:
    """A file with this in it."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def remark(remarks: Remarks, words: str) -> tuple[str, int, list[str]]:
    """(fate, count, first places) of the only remark with these words."""
    found = [
        (fate, each.count, each.first)
        for fate in FATES
        for each in remarks.with_fate(fate)
        if words in each.what
    ]
    assert len(found) == 1, (words, list(remarks.lines()))
    return found[0]
