"""Arguments that several commands take, and their types."""

import argparse
from collections.abc import Callable
from pathlib import Path

from callboard.journal.tell.time_format import parse_time
from callboard.scheduler.model import Millis


class OneFile(argparse.Action):
    """An option that names the file to write: given twice it would leave one of them out."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("_files_given", set())
        if self.dest in given:
            parser.error(f"argument {option_string}: given twice; one file is written")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def add_journal_argument(parser: argparse.ArgumentParser, remark: str = "") -> None:
    """The journal that a command reads."""
    written = "what `callboard run --journal` has written, or is still writing"
    parser.add_argument("journal", type=Path, metavar="JOURNAL", help=written + remark)


def whole_number_type(
    least: int, most: int | None = None, *, digits: int = 18, why: str = ""
) -> Callable[[str], int]:
    """An argparse `type`: a whole number from `least` to `most`, of at most that many digits; `why`
    it must not be less.
    """
    expected = f"of at least {least}" if most is None else f"between {least} and {most}"

    def whole(text: str) -> int:
        written = text.isascii() and text.isdigit() and len(text) <= digits
        if not written or int(text) < least or (most is not None and int(text) > most):
            told = f"expected a whole number {expected}, got {text!r}"
            is_less = written and int(text) < least
            raise argparse.ArgumentTypeError(f"{told}: {why}" if why and is_less else told)
        return int(text)

    return whole


def number_type(expected: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    """An argparse `type`: a number for which `fits` holds; `expected` says so in words."""

    def checked(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not fits(value):  # as no comparison with nan does
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
        return value

    return checked


def parse_share(text: str) -> float:
    """An argparse `type`: a share between 0 and 1, as in `5%` or `0.05`."""
    digits, percent = text.removesuffix("%").rstrip(), text.endswith("%")
    value = number_type("a share, as in 5% or 0.05", lambda value: value == value)(digits)
    value = value / 100 if percent else value
    if not percent and 1 <= value < 100:
        problem = f"expected a share, as in {digits}% or {value / 100:g}, got {text!r}"
        raise argparse.ArgumentTypeError(problem)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 100 %, got {text!r}")
    return value


def parse_moment(text: str) -> Millis:
    """An argparse `type`: a moment of a run."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
