"""Percentages in parameters: `short=17%` means `short=0.17`."""

import re
from decimal import Decimal

_PERCENT = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'[^']*')"""  # a string, which stays as it is
    r"""|(?<![\w.+-])(\d{1,18}(?:\.\d{1,18})?)%"""
)


def without_percents(text: str) -> str:
    """The same parameters with each percentage as the decimal that it means."""
    return _PERCENT.sub(lambda found: found[1] or _decimal_of_percent(found[2]), text)


def _decimal_of_percent(percent: str) -> str:
    """Exactly a hundredth, never in exponents, with a point as TOML's floats have."""
    hundredth = f"{Decimal(percent).scaleb(-2):f}"
    return hundredth if "." in hundredth else f"{hundredth}.0"
