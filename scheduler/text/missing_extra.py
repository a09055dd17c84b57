"""Packages that are optional, and the error where one is not installed."""

from importlib import import_module
from typing import Any


class MissingExtraError(Exception):
    """An optional package is needed and not installed; the message is meant for people."""


def imported_extra(module: str, missing: str) -> Any:
    """The module of an optional package; MissingExtraError with this message without it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(missing) from None
