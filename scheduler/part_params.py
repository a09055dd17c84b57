"""The parameters of parts: plain data, with limits that are declared in their types."""

from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from callboard.scheduler.text.key_path import dotted
from callboard.scheduler.text.strict_decoder import DecodeError, check_limits

NUMBER_MAX = 1e15
"""What stands for any finite number: declared limits cannot say that."""

Count = Annotated[int, Meta(ge=0)]
Portion = Annotated[float, Meta(ge=0, le=1)]
NotNegative = Annotated[float, Meta(ge=0, le=NUMBER_MAX)]
Positive = Annotated[float, Meta(gt=0, le=NUMBER_MAX)]
Timeout = Annotated[float, Meta(ge=0)]
"""Seconds; infinity turns it off."""


class PartParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part's parameters, with limits that hold in Python too: ValueError says what is wrong."""

    def __post_init__(self) -> None:
        for name, type_ in _field_types(type(self)):
            try:
                check_limits(getattr(self, name), type_)
            except DecodeError as error:
                raise ValueError(f"{dotted((name, *error.key))}: {error}") from None


@cache
def _field_types(params: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.type) for field in msgspec.structs.fields(params))


class NoParams(PartParams, frozen=True):
    """The parameters of a part that has none."""


class ShareParams(PartParams, frozen=True, kw_only=True):
    """What a pool or a user is due."""

    weight: Positive = 1.0
    """What it gets, relative to others; exactly the decimal that is written."""
    min_maps: Count = 0
    """Its min share of map slots."""
    min_reduces: Count = 0
    """Its min share of reduce slots."""
