"""What all readers of histories share: where they are in which file, and how they remark on it."""

from pathlib import Path

from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.import_report import Fate
from callboard.histories.readers.unpacked_text import Numbers


class HistoryReader:
    """Reads files of one format into a maker, one after the other.  `columns` says what those of a
    table mean; other formats need no such map.
    """

    def __init__(self, maker: RecordingMaker, columns: str = "") -> None:  # noqa: ARG002
        self._maker = maker

    def read(self, path: Path) -> None:
        """Read a file to its end; ScenarioError names line and field of what is wrong."""
        self._path = path
        self._numbers = Numbers(path, self._maker.remarks)
        self._read_file(path)

    def _read_file(self, path: Path) -> None:
        raise NotImplementedError

    def _place_of_line(self, line: int) -> str:
        return f"{self._path.name}:{line}"

    def _note(self, fate: Fate, what: str, line: int, count: int = 1) -> None:
        """Remark on what happened on a line; nothing if `count` is 0."""
        self._maker.remarks.add(fate, what, self._place_of_line(line), count)
