"""Kinds of arguments that several commands take."""

import argparse
from collections.abc import Callable

SECONDS_MAX = 1_000_000_000_000
"""Thirty thousand years: the clock stays a 64-bit number."""


def whole_number(least: int, most: int | None = None, *, digits: int = 18) -> Callable[[str], int]:
    """An argparse `type`: a whole number from `least` on, up to `most`, of no more digits than so
    many.
    """
    expected = f"of at least {least}" if most is None else f"between {least} and {most}"

    def whole(text: str) -> int:
        written = text.isascii() and text.isdigit() and len(text) <= digits
        if not written or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"expected a whole number {expected}, got {text!r}")
        return int(text)

    return whole


def number(expected: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    """An argparse `type`: a number that fits, which is `expected` in words."""

    def checked(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not fits(value):  # as no comparison with nan does
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
        return value

    return checked


seconds = number(
    f"a number of seconds from 0 to {SECONDS_MAX:,}", lambda value: 0 <= value <= SECONDS_MAX
)
"""A length of virtual time."""
