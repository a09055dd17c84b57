"""Reading text files: every way in which that can go wrong, said in a sentence."""

import gzip
import zlib
from io import BytesIO
from pathlib import Path

from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.special_file import special_file

FILE_BYTES_MAX = 256_000_000
GZIP_MAGIC = b"\x1f\x8b"
GZIP_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a packed file raises that is cut off or damaged."""


def read_text(path: Path) -> str:
    """The file's text, unpacked if it is gzipped; ScenarioError where there is none to be had."""
    special = special_file(path)
    if special:
        raise ScenarioError(f"this is {special}; name a regular file", source=path)
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if data.startswith(GZIP_MAGIC):
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(FILE_BYTES_MAX + 1)
    except GZIP_DAMAGE:
        raise ScenarioError("a gzipped file that is cut off or damaged", source=path) from None
    except FileNotFoundError:
        raise ScenarioError("there is no such file", source=path) from None
    except IsADirectoryError:
        raise ScenarioError("this is a folder; name a file in it", source=path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"cannot be read: {reason}", source=path) from None
    if len(data) > FILE_BYTES_MAX:
        raise ScenarioError(f"larger than {FILE_BYTES_MAX // 1_000_000} MB", source=path)
    return _decode_utf8(data, path)


def _decode_utf8(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            "not a text file in UTF-8; save it in that encoding", source=path, line=line
        ) from None
