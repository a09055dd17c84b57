"""Kinds of arguments that several commands take."""

import argparse
from collections.abc import Callable


def whole_number(least: int, *, digits: int = 18) -> Callable[[str], int]:
    """An argparse `type`: a whole number from `least` on, of no more digits than so many."""

    def whole(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= digits and int(text) >= least):
            raise argparse.ArgumentTypeError(
                f"expected a whole number of at least {least}, got {text!r}"
            )
        return int(text)

    return whole
