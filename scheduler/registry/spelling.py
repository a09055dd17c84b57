"""How a policy is spelled: `fair`, `fair+delay(node=5,rack=5)+kill`, `./mine.py:MyOrder+delay`.

First an order, then at most one each of a locality, a preemption and a speculation part in any
order; what is not named is the default part of its kind.  Names may hold a `+` themselves
(`fsp+ps`): the longest known name wins.  The one canonical spelling is: order, locality,
preemption, speculation, with parts and parameters that say nothing new left out.  An architecture
whose schedulers decide by themselves stands alone: `sparrow(probes=2)`.

    spec   = part { "+" part }
    part   = name [ "(" parameters ")" ]
    name   = a known name | a path that ends in `.py`, ":", a name in that file

The catalogue (`scheduler.registry.parts`) knows what the names mean; nothing is loaded here.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from callboard.scheduler.policy import PolicySpecError

FILE_PART = re.compile(r"(?P<path>[^():]+\.py):(?P<name>[A-Za-z_]\w*)")
"""A part in a user's file."""

ARCHITECTURE = "architecture"
"""The kind of what stands alone."""

PART_KINDS = ("order", "locality", "preemption", "speculation")
"""The kinds of part, in the order in which a canonical spelling has them."""

_PLAIN = re.compile(r"[^\s+()]+")
_STRING_OR_BRACKET = re.compile(r""""(?:\\.?|[^"\\])*"?|'[^']*'?|[\[\](){}]""", re.DOTALL)


class SpelledPart(NamedTuple):
    """One part as it was spelled: its name, and the text between its brackets."""

    name: str
    params: str = ""

    @property
    def from_file(self) -> bool:
        return FILE_PART.fullmatch(self.name) is not None


def split_spelling(text: str, known: Collection[str]) -> list[SpelledPart]:
    """The spelled parts in their order; PolicySpecError where the spelling is broken, not for names
    outside `known`, those that may hold a `+`.
    """
    pieces: list[SpelledPart] = []
    at = 0
    while True:
        piece, at = _part_at(text, _past_blanks(text, at), known)
        pieces.append(piece)
        if at == len(text):
            return pieces
        if text[at] != "+":
            raise PolicySpecError(f"`{text}`: expected `+` before `{text[at:]}`")
        at += 1


def short_policy(policy: str, params_max: int = 40) -> str:
    """The spelling for a heading: `fair(…)+kill` where a part has longer parameters than that."""
    try:
        pieces = split_spelling(policy, ())
    except PolicySpecError:  # a name that only an installed package can explain
        return policy
    shown = [(p.name, p.params if len(p.params) <= params_max else "…") for p in pieces]
    return "+".join(f"{name}({params})" if params else name for name, params in shown)


def without_common_params(policy: str, others: Collection[str], params_max: int) -> str:
    """The spelling, in which of longer parameters than that only those are left that not all of
    these others have in that place; they have the same parts.
    """
    pieces = split_spelling(policy, ())
    theirs = [split_spelling(each, ()) for each in others]
    shown = []
    for place, piece in enumerate(pieces):
        params = piece.params
        if len(params) > params_max:
            common = [set(_split_params(each[place].params)) for each in theirs]
            own = [
                each for each in _split_params(params) if not all(each in some for some in common)
            ]
            params = ",".join([*own, *["…"] * (len(own) < len(_split_params(params)))])
        shown.append(f"{piece.name}({params})" if params else piece.name)
    return "+".join(shown)


def _split_params(params: str) -> list[str]:
    """Parameters one by one; a comma in a string or in brackets parts none."""
    found, depth, at = [""], 0, 0
    for token in [*_STRING_OR_BRACKET.finditer(params), None]:
        between = params[at : len(params) if token is None else token.start()]
        first, *more = between.split(",") if not depth else [between]
        found[-1] += first
        found += more
        if token is not None:
            depth += (token[0] in "([{") - (token[0] in ")]}")
            found[-1] += token[0]
            at = token.end()
    return [each.strip() for each in found]


def _part_at(text: str, at: int, known: Collection[str]) -> tuple[SpelledPart, int]:
    """The part that begins at `at`, and where the next `+` or the end is."""
    name = _part_name_at(text, at, known)
    if not name and not text.strip():
        raise PolicySpecError("a policy needs at least an order, such as `fair`")
    if not name:
        raise PolicySpecError(f"`{text}`: expected a part's name{_where_words(text, at)}")
    at = _past_blanks(text, at + len(name))
    if at == len(text) or text[at] != "(":
        return SpelledPart(name), at
    end = _closing_bracket(text, at)
    return SpelledPart(name, text[at + 1 : end].strip()), _past_blanks(text, end + 1)


def _part_name_at(text: str, at: int, known: Collection[str]) -> str:
    """The longest known name that stands there whole; else a part in a file; else any word."""
    fitting = [
        name for name in known if text.startswith(name, at) and _name_ends_at(text, at + len(name))
    ]
    if fitting:
        return max(fitting, key=len)
    from_file = FILE_PART.match(text, at)
    if from_file:
        return from_file[0]
    plain = _PLAIN.match(text, at)
    return plain[0] if plain else ""


def _name_ends_at(text: str, at: int) -> bool:
    return at == len(text) or text[at] in "+(" or text[at].isspace()


def _closing_bracket(text: str, opening: int) -> int:
    """Where the bracket at `opening` is closed; brackets in strings do not count."""
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, opening):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if not depth:
            if token[0] == ")":
                return token.start()
            break
    raise PolicySpecError(f"`{text}`: the bracket after `{text[:opening]}` is never closed")


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _where_words(text: str, at: int) -> str:
    if at == len(text):
        return f" after `{text}`" if text else ""
    return f" before `{text[at:]}`"
