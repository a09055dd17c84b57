"""The bytes, lines and numbers of files that may be gzipped, cut off, or not what they seem."""

import codecs
import gzip
import math
import re
from collections.abc import Iterator
from io import DEFAULT_BUFFER_SIZE, SEEK_SET, BufferedReader, FileIO, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any

from callboard.histories.model.import_report import Remarks
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.text_file import GZIP_DAMAGE, GZIP_MAGIC

TIME_MAX_MS = 10**16
"""Later than the year 300,000."""


class Unpacked(BufferedReader):
    """A file's bytes, unpacked if it is gzipped.  Where a packed file is cut off or damaged they
    end, as those of a plain one that is cut off do, and it `breaks_off`.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            gzipped = file.read(2) == GZIP_MAGIC
        self._packed = _Packed(path) if gzipped else None
        super().__init__(self._packed or FileIO(path))

    @property
    def breaks_off(self) -> bool:
        """Whether it is a packed file, of which no more can be read."""
        return self._packed is not None and self._packed.broken


class _Packed(RawIOBase):
    """Gives what there is before it fails, which `GzipFile.read` does not; little at a time, since
    of the piece in which it fails nothing is had.
    """

    def __init__(self, path: Path) -> None:
        self._file = gzip.GzipFile(path, "rb")
        self.broken = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self.broken &= whence != SEEK_SET  # from another place it is read anew
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        if self.broken:
            return 0
        try:
            found = self._file.read1(min(len(buffer), DEFAULT_BUFFER_SIZE))
        except GZIP_DAMAGE:
            self.broken = True
            return 0
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_unpacked(path: Path) -> Unpacked:
    """The file's bytes without the mark that some editors write before UTF-8; ScenarioError where
    it cannot be opened.
    """
    try:
        return _past_byte_order_mark(Unpacked(path))
    except FileNotFoundError:
        raise ScenarioError("there is no such file", source=path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"cannot be read: {reason}", source=path) from None


def _past_byte_order_mark(file: Unpacked) -> Unpacked:
    begin = file.read(len(codecs.BOM_UTF8))
    if begin and begin != codecs.BOM_UTF8:  # where nothing can be read, `breaks_off` says why
        file.seek(0)
    return file


def first_bytes(path: Path, most: int = 65_536) -> bytes:
    """The file's first bytes, as far as they can be read."""
    with open_unpacked(path) as file:
        return file.read(most)


def breaks_off_at_start(path: Path) -> bool:
    """Whether a packed file breaks off, or is damaged, before its first byte."""
    with open_unpacked(path) as file:
        return not file.read(1) and file.breaks_off


def text_lines(path: Path, remarks: Remarks) -> Iterator[tuple[int, str]]:
    """(number from 1, line without its end); what is no UTF-8 in it is read as Latin-1, which is
    noted.  Where a packed file breaks off, so do its lines, and that is noted.
    """
    number = 0
    packed = open_unpacked(path)
    with TextIOWrapper(packed, "utf-8", "surrogateescape", newline="\n") as file:
        for number, text in enumerate(file, start=1):
            if text.isascii() or (told := with_latin1(text)) == text:
                yield number, text.rstrip("\r\n")
            else:
                remarks.add("inferred", NOT_UTF8, f"{path.name}:{number}")
                yield number, told.rstrip("\r\n")
        if packed.breaks_off:
            remarks.add_cut_off(REST_IS_LOST, path.name, number)


REST_IS_LOST = "the rest of a packed file that is cut off or damaged"
NOT_UTF8 = "places that are not UTF-8: read as Latin-1"
_ESCAPED = re.compile("[\udc80-\udcff]")


def with_latin1(text: str) -> str:
    """The text with each byte that was escaped, being no UTF-8, as Latin-1 has it."""
    return _ESCAPED.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), text)


def begins_as_array(begin: bytes) -> bool:
    """Whether a file that begins like this is a JSON array of objects."""
    return re.match(rb"\s*\[\s*\{", begin) is not None


def ends_within_line(path: Path) -> bool:
    """Whether the file ends where its last line does not, as one does that is cut off."""
    last = b"\n"
    with open_unpacked(path) as file:
        while chunk := file.read(1 << 20):
            last = chunk[-1:]
        return last != b"\n" or file.breaks_off


class Numbers:
    """Reads numbers strictly: an error names file, line and field; oddities are noted."""

    def __init__(self, path: Path, remarks: Remarks) -> None:
        self._path = path
        self._remarks = remarks

    def non_negative(
        self, value: object, field: str, line: int, unit: str = " of milliseconds"
    ) -> int | None:
        """A moment or a length; None where there is none, or it is below 0."""
        if value is None or value == "":
            return None
        if isinstance(value, str) and value.isdigit() and value.isascii() and len(value) < 16:
            return int(value)
        number = self._whole_number(value, field, line)
        if number is None or number > TIME_MAX_MS:
            problem = f"expected a whole number{unit}, got {str(value)[:40]!r}"
            raise ScenarioError(problem, source=self._path, key=field, line=line)
        if number < 0:
            if number != -1:  # the usual word for unknown
                self._remarks.add("dropped", f"{field} below 0", f"{self._path.name}:{line}")
            return None
        return number

    def count(self, value: object, field: str, line: int) -> int | None:
        """A number of things or of megabytes; None where there is none, or it is below 0."""
        return self.non_negative(value, field, line, unit="")

    def _whole_number(self, value: object, field: str, line: int) -> int | None:
        """The nearest whole number; None of what is none."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if not isinstance(value, str | float):
            return None
        text = str(value)
        plain = text.removeprefix("-")
        if plain.isascii() and plain.isdigit() and len(plain) < 30 and text != "-0":
            return int(text)
        return self._rounded_number(text, field, line)

    def _rounded_number(self, text: str, field: str, line: int) -> int | None:
        try:
            number = float(text)
        except ValueError:
            return None
        if not math.isfinite(number) or "_" in text:
            return None
        if not number.is_integer() or math.copysign(1, number) < 0 == number:
            note = f"{field} with a fraction or a sign: rounded"
            self._remarks.add("inferred", note, f"{self._path.name}:{line}")
        return round(number)
