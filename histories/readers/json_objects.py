"""JSON objects written one after the other into one file, as Rumen and SLS do: no array, no commas.

Where one ends is found without reading the grammar twice: within an object, a brace that closes is
never followed by one that opens, but in quotes; what does not decode up to there goes on.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from callboard.histories.model.import_report import Remarks
from callboard.histories.readers.unpacked_text import (
    NOT_UTF8,
    REST_IS_LOST,
    open_unpacked,
    with_latin1,
)
from callboard.scheduler.text.scenario_error import ScenarioError

OBJECT_BYTES_MAX = 512_000_000
_CHUNK = 1 << 20
_BETWEEN = re.compile(rb"\}\s*(?=\{)")
_PLACE = re.compile(r" - at `\$\.?(.*?)`$")
_BYTE = re.compile(r" \(byte (\d+)\)$")
_T = TypeVar("_T")


class JsonObjects(Generic[_T]):
    """The objects of one file, as one type each."""

    def __init__(self, path: Path, kind: type[_T], remarks: Remarks) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(kind)
        self._remarks = remarks
        self._line = 1
        self._kept = bytearray()

    def __iter__(self) -> Iterator[tuple[int, _T]]:
        """(line on which it begins, object) of each.  ScenarioError names line and field of what
        does not fit; a file that is cut off is read as far as it goes, which is noted.
        """
        kept, from_ = self._kept, 0
        for nth, chunk in enumerate(self._chunks()):
            kept += chunk if nth else chunk.removeprefix(BOM_UTF8)
            while between := _BETWEEN.search(kept, from_):
                found = self._whole_object(bytes(kept[: between.end()]))
                from_ = between.end()
                if found is not None:
                    yield self._consume_object(found, from_)
                    from_ = 0
            tail = kept[-100:].rstrip()
            from_ = max(len(kept) - 100, 0) if tail.endswith(b"}") else len(kept)
            if len(kept) > OBJECT_BYTES_MAX:
                problem = f"an object of more than {OBJECT_BYTES_MAX // 1_000_000} MB"
                raise ScenarioError(problem, source=self._path, line=self._line)
        if kept.strip():
            yield from self._last_object()

    def _last_object(self) -> Iterator[tuple[int, _T]]:
        data = bytes(self._kept)
        try:
            yield self._consume_object(self._decoded_object(data), len(data))
        except msgspec.ValidationError as error:
            raise self._validation_error(error) from None
        except msgspec.DecodeError as error:
            if "truncated" not in str(error):
                raise self._syntax_error(error, data) from None
            note = "the last object, which is cut off by the end of the file"
            self._remarks.add_cut_off(note, self._path.name, self._line)

    def _decoded_object(self, data: bytes) -> _T:
        """The object; what is no UTF-8 in it is read as Latin-1, as in other formats."""
        try:
            return self._decoder.decode(data)
        except UnicodeDecodeError:
            self._remarks.add("inferred", NOT_UTF8, f"{self._path.name}:{self._line}")
            return self._decoder.decode(with_latin1(data.decode("utf-8", "surrogateescape")))
        except RecursionError:
            problem = "objects within objects within objects: too deep to be a history"
            raise ScenarioError(problem, source=self._path, line=self._line) from None

    def _whole_object(self, data: bytes) -> _T | None:
        """The object that the bytes hold; None if they hold no whole one."""
        try:
            return self._decoded_object(data)
        except msgspec.ValidationError as error:
            raise self._validation_error(error) from None
        except msgspec.DecodeError:
            return None

    def _consume_object(self, found: _T, end: int) -> tuple[int, _T]:
        begin = len(self._kept[:end]) - len(self._kept[:end].lstrip())
        line = self._line + self._kept.count(b"\n", 0, begin)
        self._line += self._kept.count(b"\n", 0, end)
        del self._kept[:end]
        return line, found

    def _chunks(self) -> Iterator[bytes]:
        with open_unpacked(self._path) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
            if file.breaks_off:
                self._remarks.add_cut_off(REST_IS_LOST, self._path.name, self._line)

    def _validation_error(self, error: msgspec.ValidationError) -> ScenarioError:
        message = str(error)
        place = _PLACE.search(message)
        problem = message[: place.start()] if place else message
        field = place[1] if place else ""
        return ScenarioError(problem, source=self._path, key=field, line=self._line)

    def _syntax_error(self, error: msgspec.DecodeError, data: bytes) -> ScenarioError:
        message = str(error)
        place = _BYTE.search(message)
        line = self._line + (data.count(b"\n", 0, int(place[1])) if place else 0)
        return ScenarioError(message, source=self._path, line=line)


def first_object_has(begin: bytes, *keys: str) -> bool:
    """Whether a file that begins like this holds a JSON object with one of these keys."""
    start = begin.removeprefix(BOM_UTF8).lstrip()
    return start.startswith(b"{") and any(f'"{key}"'.encode() in start for key in keys)
