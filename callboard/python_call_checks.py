"""What Python calls are given, looked at before anything runs; InputError where it is wrong."""

from collections.abc import Collection, Iterable
from numbers import Integral, Real

from callboard.experiments.user_errors import InputError
from callboard.scheduler.text.strict_decoder import suggestion


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """It is one of these words."""
    if value not in choices:
        raise InputError(f"{name} {value!r:.80}: {suggestion(str(value), choices)}")


def check_whole(name: str, value: object, least: int) -> None:
    """It is a whole number from `least` on, or None."""
    if value is not None and not (isinstance(value, Integral) and int(value) >= least):
        raise InputError(f"{name}: expected a whole number from {least} on; got {value!r:.80}")


def check_positive(name: str, value: object) -> None:
    """It is a number above 0, or None."""
    if value is not None and not (isinstance(value, Real) and float(value) > 0):
        raise InputError(f"{name}: expected a number above 0; got {value!r:.80}")


def check_texts(name: str, values: Iterable[object], example: str) -> None:
    """Each is a text, as in the example."""
    for value in values:
        if not isinstance(value, str):
            raise InputError(f"{name}: expected texts, as in {example!r}; got {value!r:.80}")


def check_instances(name: str, values: Iterable[object], kind: type) -> None:
    """Each is of this class."""
    for value in values:
        if not isinstance(value, kind):
            got = type(value).__name__
            raise InputError(f"{name}: expected a `{kind.__name__}`; got a `{got}`")
