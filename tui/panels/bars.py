"""Bars made of characters."""

import math

EIGHTHS = " ▁▂▃▄▅▆▇█"
"""The levels of a column in a chart, empty to full."""


def block(share: float, rows: int = 1, row: int = 0) -> str:
    """The part of a bar of some rows that is in one of them; row 0 is the top."""
    if math.isnan(share):
        return " "
    eighths = math.ceil(min(share, 1) * rows * 8 - 0.25) - (rows - 1 - row) * 8
    least = 1 if share > 0 and row == rows - 1 else 0
    return EIGHTHS[min(max(eighths, least), 8)]
