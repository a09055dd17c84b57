"""Values drawn from declarations: any field of any Struct, by its type and the limits stated there.

A new field or parameter is drawn as soon as it is declared.  Values are small and round, so that
much falls on the same instant; now and then they are a limit itself.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import inspect

_T = TypeVar("_T")

Draw = Callable[[], Any]
"""Draws one value."""

NAMES = ("ann", "bob", "production", "production/night")
"""Users and pools, and whatever else is called something."""

_FLOATS = (0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_SECONDS = (0.0, 0.2, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 60.0)
_SHORT_SECONDS = (0.2, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0)
_MILLIS = (1, 20, 200, 500, 1000, 3000, 3333, 10_000, 60_000)
_STEPS = (0, 0, 1, 1, 2, 3, 5, 8)
_LARGEST = 100
"""Limits beyond this are not drawn: they would make long runs, and no other ones."""

_SMALLEST = 0.001
"""Just above a limit that a number has to exceed."""


class DeclaredValues:
    """Draws plain data for declared types; `own` draws the fields of these names.  Where it is
    `brisk` every time in seconds is drawn, and short: what waits for it comes in short runs too.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        own: Mapping[str, Draw] | None = None,
        *,
        brisk: bool = False,
    ) -> None:
        self.rng = rng
        self._own = own or {}
        self._brisk = brisk

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one_of(self, choices: Sequence[_T]) -> _T:
        return choices[int(self.rng.integers(len(choices)))]

    def struct(self, struct: type[msgspec.Struct], own: Mapping[str, Draw] | None = None) -> Any:
        """A Struct as plain data: what is required, and a drawn share of the rest."""
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType)
        own = {**self._own, **(own or {})}
        return DeclaredValues(self.rng, own, brisk=self._brisk)._struct(info)

    def brisk(self) -> "DeclaredValues":
        """The same, with all times short."""
        return DeclaredValues(self.rng, self._own, brisk=True)

    def _struct(self, info: inspect.StructType) -> dict[str, Any]:
        share = self.one_of((0.1, 0.4, 0.8))
        drawn = {} if info.tag_field is None else {info.tag_field: info.tag}
        for field in info.fields:
            timed = self._brisk and field.name.endswith("_s")
            if field.required or timed or self.chance(share):
                value = self.value(field.type, field.name)
                if value is not None:
                    drawn[field.encode_name] = value
        return drawn

    def value(self, type_: inspect.Type, name: str = "") -> Any:
        """A value of the type, for a field of this name."""
        if name in self._own:
            return self._own[name]()
        match type_:
            case inspect.BoolType():
                return self.chance(0.5)
            case inspect.IntType():
                return self._int(type_, name)
            case inspect.FloatType():
                return self._float(type_, name)
            case inspect.StrType():
                return self.one_of(NAMES)
            case inspect.LiteralType():
                return self.one_of(type_.values)
            case inspect.NoneType():
                return None
            case inspect.UnionType():
                return self.value(self.one_of(type_.types), name)
            case inspect.StructType():
                return self._struct(type_)
            case inspect.DictType():
                keys = [self.value(type_.key_type) for _ in range(self.one_of((0, 1, 2, 3)))]
                return {key: self.value(type_.value_type, name) for key in keys}
            case inspect.VarTupleType():
                length = self.one_of((0, 1, 2))
                return [self.value(type_.item_type) for _ in range(length)]
        raise TypeError(f"nothing is known of how to draw {type_}")

    def _int(self, type_: inspect.IntType, name: str) -> int:
        least = type_.ge if type_.ge is not None else 0
        if name.endswith("_ms"):
            return int(self.one_of(_within(_MILLIS, type_)))
        if name.startswith("max_"):
            return 1 + self.one_of(_STEPS)  # 0 would let nothing run, for ever
        return int(self.one_of(_within([least + step for step in _STEPS], type_)))

    def _float(self, type_: inspect.FloatType, name: str) -> float:
        if name.endswith("_s") and self._brisk:
            return float(self.one_of(_within(_SHORT_SECONDS, type_)))
        choices = _within(_SECONDS if name.endswith("_s") else _FLOATS, type_)
        if type_.le is None and type_.lt is None:
            choices.append(inf)
        chosen = float(self.one_of(choices))
        # A user whose limit comes to no slot waits for ever, as in Hadoop (docs/capacity.md).
        return max(chosen, 1.0) if name == "user_limit_factor" else chosen


def _within(values: Sequence[Any], type_: inspect.IntType | inspect.FloatType) -> list[Any]:
    """Those values that the limits allow, and more rarely the limits that are small: a policy that
    looks every millisecond ends most worlds before anything has happened.
    """
    more = [limit for limit in (type_.ge, type_.le) if limit is not None and limit <= _LARGEST]
    if type_.gt is not None:
        more.append(type_.gt + _SMALLEST)
    low = max(
        type_.ge if type_.ge is not None else -inf, type_.gt if type_.gt is not None else -inf
    )
    high = min(type_.le if type_.le is not None else inf, type_.lt if type_.lt is not None else inf)
    inside = [each for each in values if low <= each <= high and each != type_.gt]
    return [*inside * 4, *more]
