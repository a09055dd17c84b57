"""What `--vary` and `--set` say: a key and its values, the grid of several, and what is fixed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from callboard.experiments.many.sweeps.played_cell import Setting
from callboard.experiments.user_errors import InputError

POLICY = "policy"
"""In place of a dotted key: what is varied is the policy."""

_SHARE = re.compile(r"[+-]?\d+(\.\d+)?%")
_RANGE = re.compile(r"-?[\d.]+\.\.-?[\d.]+")
_OPEN, _CLOSE = "([{", ")]}"
_ENTRY = re.compile(r"\s*(?:[\w-]+|\"[^\"]*\"|'[^']*')\s*=")


def parse_variation(text: str) -> tuple[str, tuple[str, ...]]:
    """The key and the values of `KEY=V1,V2`.

    Commas inside brackets and quotes separate no values.  In a policy `{1,5,15}` stands for each of
    the three: `policy=fair+delay(node={1,5,15})` has three values.
    """
    key, equals, rest = text.partition("=")
    key = key.strip()
    values = [value for value in map(str.strip, _split_at_commas(rest)) if value]
    if not (equals and key and values):
        raise InputError(f"--vary {text[:80]}: expected KEY=VALUE,VALUE, as in cluster.nodes=20,40")
    for value in values:
        if _SHARE.fullmatch(value):
            told = f"--vary {key}={value[:40]}: expected numbers, as in cluster.nodes=80,100"
            raise InputError(f"{told}; a share of the scenario's own is for `run --nodes -20%`")
        if _RANGE.fullmatch(value):
            told = f"--vary {key}={value[:40]}: expected values with commas between, as in 10,15,20"
            raise InputError(f"{told}; a range is for --seeds, --sobol and --morris")
    if key == POLICY:
        values = [spelled for value in values for spelled in spelled_alternatives(value)]
    return key, tuple(dict.fromkeys(values))


def all_combinations(variations: Sequence[tuple[str, Sequence[str]]]) -> tuple[Setting, ...]:
    """Every combination of the values, the last key fastest; InputError for a key given twice."""
    keys = [key for key, _ in variations]
    if twice := repeated_key(keys):
        raise InputError(f"--vary {twice}: given twice; put all its values into one")
    combinations = product(*(values for _, values in variations))
    return tuple(tuple(zip(keys, values, strict=True)) for values in combinations)


def repeated_key(keys: Sequence[str]) -> str:
    """The first of the keys that stands there more than once; empty if none does."""
    return next((key for key in keys if keys.count(key) > 1), "")


def fixed_setting(overrides: Iterable[str]) -> Setting:
    """What holds in every setting, of texts as `--set` takes them: `KEY=VALUE`."""
    pairs = (text.partition("=") for text in overrides)
    return tuple((key.strip(), value.strip()) for key, _, value in pairs)


def _split_at_commas(text: str) -> Iterator[str]:
    """Commas in brackets and quotes are passed over."""
    depth, quote, part = 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (letter in _OPEN) - (letter in _CLOSE) if not quote else 0
        if letter == "," and not depth and not quote:
            yield part
            part = ""
        else:
            part += letter
    yield part


def spelled_alternatives(text: str) -> Iterable[str]:
    """A policy with each of the alternatives in its braces, the first braces slowest; tables stay
    as they are, as in `yarn(queues={prod={capacity=60}})`.
    """
    found = _split_at_first_alternatives(text)
    if found is None:
        return [text]
    head, inside, tail = found
    return [
        spelled
        for each in _split_at_commas(inside)
        for spelled in spelled_alternatives(head + each.strip() + tail)
    ]


def _split_at_first_alternatives(text: str) -> tuple[str, str, str] | None:
    """What stands before the first braces that are no table's, within them, and after them."""
    quote, opened, found = "", list[int](), list[tuple[int, int]]()
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "{":
            opened.append(place)
        elif letter == "}" and opened:
            found.append((opened.pop(), place))
    for begin, end in sorted(found):
        if not _is_inline_table(text[begin + 1 : end]):
            return text[:begin], text[begin + 1 : end], text[end + 1 :]
    return None


def _is_inline_table(inside: str) -> bool:
    """Whether it is what stands within the braces of a table: keys with values, or nothing."""
    return all(_ENTRY.match(part) for part in _split_at_commas(inside)) if inside.strip() else True
