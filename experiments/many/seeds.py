"""Which seeds to run: a count from the scenario's own seed, or a range."""

import re
from collections.abc import Iterable
from numbers import Integral

from callboard.experiments.user_errors import InputError

SEEDS_MAX = 100_000
"""More runs than that are a mistake."""

SEED_GREATEST = 2**63 - 1

_RANGE = re.compile(r"([0-9]{1,19})\.\.([0-9]{1,19})")


def seeds_of(asked: int | str | Iterable[int], first: int = 1) -> tuple[int, ...]:
    """The seeds meant by a number of them (`first` is the first one), by `LO..HI` or by a list.

    InputError where it means none.
    """
    if isinstance(asked, str):
        return _parsed_seeds(asked, first)
    if isinstance(asked, Integral):
        return _checked_seeds(range(first, first + int(asked)), str(asked))
    given: object = asked  # which may be anything from a script
    seeds = tuple(given) if isinstance(given, Iterable) else None
    if seeds is None or not all(isinstance(each, Integral) for each in seeds):
        problem = "expected a number of seeds, a range as '1001..1010', or a list of numbers"
        raise InputError(f"seeds: {problem}; got {asked!r:.80}")
    return _checked_seeds(tuple(map(int, seeds)), str(asked))


def _parsed_seeds(text: str, first: int) -> tuple[int, ...]:
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return seeds_of(int(text), first)
    match = _RANGE.fullmatch(text)
    if match is None:
        problem = "expected a number of seeds, as in 10, or a range, as in 1001..1010"
        raise InputError(f"seeds: {problem}; got {text[:80]!r}")
    return _checked_seeds(range(int(match[1]), int(match[2]) + 1), text)


def _checked_seeds(seeds: range | tuple[int, ...], asked: str) -> tuple[int, ...]:
    if not seeds:
        raise InputError(f"seeds: {asked} means none; at least one is needed")
    if len(seeds) > SEEDS_MAX:
        raise InputError(f"seeds: {asked} means {len(seeds):,}; the limit is {SEEDS_MAX:,}")
    if min(seeds) < 0 or max(seeds) > SEED_GREATEST:
        raise InputError(f"seeds: each is a whole number from 0 to {SEED_GREATEST}")
    if len(set(seeds)) < len(seeds):
        raise InputError("seeds: one is there twice, and would count twice")
    return tuple(seeds)
