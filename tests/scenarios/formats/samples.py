"""Small histories of our own making, a job each, and ways to read them."""

from pathlib import Path

from callboard.scenarios.formats.import_report import FATES, Remarks
from callboard.scenarios.formats.recording_file import Imported, import_files

HERE = Path(__file__).parent

HADOOP1 = (HERE / "hadoop1.history").read_text(encoding="utf-8")
"""Two maps with inputs on h1 and h3: one data-local, one that failed first (3 s), then ran
rack-local beside a second attempt that was killed; a reduce that waited for the last map.
"""


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
        for each in remarks.of(fate)
        if words in each.what
    ]
    assert len(found) == 1, (words, list(remarks.lines()))
    return found[0]
