"""The parts that ship, by name, and how policies are made of them.  Further ones come from packages
and users' files (`experiments.plugins`).
"""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias

import msgspec

from callboard.scheduler import policy
from callboard.scheduler.policy import Part, PolicySpecError, Spelled
from callboard.scheduler.registry import parameters
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import (
    ARCHITECTURE,
    PART_KINDS,
    SpelledPart,
    split_spelling,
)
from callboard.scheduler.text.strict_decoder import suggestion

PART_BASES: Mapping[str, type[Part]] = {
    "order": policy.Order,
    "locality": policy.LocalityRule,
    "preemption": policy.PreemptionRule,
    "speculation": policy.SpeculationRule,
}
"""The kinds of part and the class that each derives from."""

DEFAULT_PARTS: Mapping[str, type[Part]] = {
    "locality": policy.AnyLocality,
    "preemption": policy.NoPreemption,
    "speculation": policy.NoSpeculation,
}
"""What stands in for a part that is not named."""

OLD_NAMES = {"anywhere": "any_locality", "wait": "no_preemption", "no-copies": "no_speculation"}
"""What parts were called before; they are still understood."""

PartSettings: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Parameters by the name of their part: what they are wherever a spelling does not say."""


class Catalogue:
    """What names mean: `parts`, `more` (loaded when asked for) and `FILE.py:NAME` by `from_file`;
    `settings` stand in for the parts' own defaults.  `meant_by` says in words what a name may mean
    that nothing has, or nothing.
    """

    def __init__(
        self,
        parts: Mapping[str, type[Spelled]],
        more: Mapping[str, Callable[[], type[Spelled]]] | None = None,
        from_file: Callable[[str], type[Spelled]] | None = None,
        settings: PartSettings | None = None,
        meant_by: Callable[[str], str] = lambda _name: "",
    ) -> None:
        self._parts = parts
        self._more = {} if more is None else dict(more)
        self._from_file = from_file
        self._settings = {self.current_name(name): each for name, each in (settings or {}).items()}
        self._meant_by = meant_by

    def with_settings(self, settings: PartSettings) -> "Catalogue":
        """The same names, with these settings.  PolicySpecError if one could never be used."""
        given = Catalogue(self._parts, self._more, self._from_file, settings, self._meant_by)
        for name in settings:
            given.part_spec(SpelledPart(name))
        return given

    def names(self) -> list[str]:
        return list(dict.fromkeys([*self._parts, *self._more]))

    def current_name(self, name: str) -> str:
        """What a part is called today, if `name` is what it was called before."""
        known = name in self._parts or name in self._more
        return name if known else OLD_NAMES.get(name, name)

    def part(self, piece: SpelledPart, what: str = "policy part") -> type[Spelled]:
        name = self.current_name(piece.name)
        if name in self._parts:
            return self._parts[name]
        if piece.name in self._more:
            return self._more[piece.name]()
        if (piece.from_file or piece.name.endswith(".py")) and self._from_file is not None:
            return self._from_file(piece.name)
        listed = [name for name in piece.name.split(",") if name]
        if len(listed) > 1 and set(listed) <= set(self.names()):
            several = " ".join(f"--policy {name}" for name in listed)
            raise PolicySpecError(f"`{piece.name}` is not one policy; write `{several}`")
        if told := self._meant_by(piece.name):
            raise PolicySpecError(f"unknown {what} `{piece.name}`: {told}")
        near = get_close_matches(piece.name.lower(), self.names(), n=1)
        if not near and self._from_file is not None and may_be_class(piece.name):
            own = f"a class of your own is written with its file, as in `./mine.py:{piece.name}`"
            raise PolicySpecError(f"unknown {what} `{piece.name}`: {own}")
        meant = f"; did you mean `{near[0]}`?" if near else "."
        known = ", ".join(f"`{each}`" for each in self.names())
        raise PolicySpecError(f"unknown {what} `{piece.name}`{meant}  Known: {known}.")

    def part_spec(self, piece: SpelledPart, what: str = "policy part") -> "PartSpec":
        part, name = self.part(piece, what), self.current_name(piece.name)
        usual = self._settings.get(name, {})
        said = parameters.read_params(piece.params, name) if piece.params else {}
        params = parameters.decode_params({**usual, **said}, part.Params, name)
        for unused, why in part.unused_params(params).items():
            if unused in said:
                raise PolicySpecError(f"`{name}({piece.params})`: `{unused}` does nothing, {why}")
        return PartSpec(name, part, params, parameters.decode_params(usual, part.Params, name))


def may_be_class(name: str) -> bool:
    """Whether it is written as classes are."""
    return name.isidentifier() and name[0].isupper()


SHIPPED = Catalogue(PARTS)
"""The parts that ship."""


class PartSpec(NamedTuple):
    """A chosen part: its name, its class, its parameters, and these if nothing is said."""

    name: str
    part: type[Spelled]
    params: msgspec.Struct
    defaults: msgspec.Struct

    def make(self) -> Spelled:
        make: Callable[..., Spelled] = self.part
        return make(self.params) if self.part.Params.__struct_fields__ else make()


PolicySpec = Mapping[str, PartSpec]
"""A policy's choices by kind of part: `order` and perhaps others, or an architecture alone."""


def parse_policy(text: str, catalogue: Catalogue = SHIPPED) -> PolicySpec:
    """What a spelling means.  PolicySpecError where it means nothing."""
    chosen: dict[str, PartSpec] = {}
    for piece in split_spelling(text, catalogue.names()):
        choice = catalogue.part_spec(piece, "policy part" if chosen else "policy")
        slot = part_kind(choice.part)
        assert slot is not None
        if ARCHITECTURE in (slot, *chosen) and chosen:
            raise PolicySpecError(f"`{text}`: {_why_not_beside(choice, chosen)}")
        if not chosen and slot not in ("order", ARCHITECTURE):
            raise PolicySpecError(f"`{text}`: `{piece.name}` is a {slot} part; an order goes first")
        if slot in chosen:
            both = f"`{chosen[slot].name}` and `{piece.name}`"
            raise PolicySpecError(f"`{text}`: {both} are both {slot} parts; there can be one")
        chosen[slot] = choice
    return chosen


def _why_not_beside(choice: PartSpec, chosen: PolicySpec) -> str:
    """Why an architecture and what else is named do not go together."""
    kinds = {part_kind(each.part): each.name for each in (*chosen.values(), choice)}
    alone = kinds.pop(ARCHITECTURE, choice.name)
    why = "is an architecture, whose schedulers decide by themselves"
    others = [f"{_WITH_ARTICLE[kind]} `{name}`" for kind, name in kinds.items() if kind]
    if not others:
        return f"`{alone}` {why}; it stands alone"
    return f"`{alone}` {why}; it stands alone, without {' and '.join(others)}"


_WITH_ARTICLE = {
    "order": "the order",
    "locality": "the locality rule",
    "preemption": "the preemption rule",
    "speculation": "the speculation rule",
}


def spell_policy(spec: PolicySpec) -> str:
    """The canonical spelling: parts in the order of `PART_KINDS`, defaults left out."""
    return "+".join(
        choice.name + parameters.spell_params(choice.params, choice.defaults)
        for slot in (ARCHITECTURE, *PART_KINDS)
        if (choice := spec.get(slot)) is not None and choice.part is not DEFAULT_PARTS.get(slot)
    )


def compose_policy(spec: PolicySpec, text: str = "") -> policy.Policy:
    """A fresh policy of the chosen parts; PolicySpecError if they do not fit together, or are none
    of a policy.
    """
    if ARCHITECTURE in spec:
        problem = "is an architecture, not a policy of the central master, which is wanted here"
        raise PolicySpecError(f"`{spell_policy(spec)}` {problem}")
    made: dict[str, Any] = {slot: choice.make() for slot, choice in spec.items()}
    try:
        return policy.Policy(**made)
    except policy.MisfitError as error:
        raise PolicySpecError(f"`{text or spell_policy(spec)}`: {error}") from None


def make_policy(text: str, catalogue: Catalogue = SHIPPED) -> policy.Policy:
    """A fresh policy from its spelling; `PolicySpecError` for unknown names (with the one probably
    meant), wrong parameters, and combinations that make no sense.
    """
    return compose_policy(parse_policy(text, catalogue), text)


def spelling_of_table(table: Mapping[str, object]) -> str:
    """A policy written as a table, as one line.  PolicySpecError names the field at fault.

    Every field, `order` first of all, is a part's spelling or a table with its `name` and
    parameters: `{order = {name = "hfsp", t = 5}, preemption = "kill"}`.  Known names must stand in
    the field of their kind; unknown ones, a package's or a file's, are left for later.  So is the
    one in `architecture`, which stands alone.
    """
    kinds = (ARCHITECTURE, *PART_KINDS)
    for field in table:
        if field not in kinds:
            hint = suggestion(field, PART_KINDS)
            raise PolicySpecError(f"unknown field `{field}` in a policy; {hint}")
    if not table.keys() & {ARCHITECTURE, "order"}:
        raise PolicySpecError("a policy needs an `order`")
    fields = [(slot, table[slot]) for slot in kinds if slot in table]
    return "+".join(_spelling_of_field(slot, value) for slot, value in fields)


def _spelling_of_field(slot: str, value: object) -> str:
    params: dict[str, Any] = {}
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        name: str = value["name"]
        params = {key: each for key, each in value.items() if key != "name"}
    elif isinstance(value, str):
        name = value
    else:
        raise PolicySpecError(f"`{slot}`: expected a part's name or a table with its `name`")
    piece, *more = split_spelling(name, PARTS)
    if more:
        raise PolicySpecError(f'`{slot} = "{name}"` names {1 + len(more)} parts, not one')
    if value is not name and piece != SpelledPart(name):
        raise PolicySpecError(f'`{slot}`: expected one part\'s bare name, got "{name}"')
    if SHIPPED.current_name(piece.name) in PARTS:
        really = part_kind(SHIPPED.part(piece))
        if really != slot:
            raise PolicySpecError(f"`{slot}`: `{piece.name}` is a {really} part")
    return name.strip() + parameters.spell_table(params)


def part_kind(part: type[Spelled]) -> str | None:
    """The kind of a part's class; None if it is of none."""
    if not issubclass(part, Part):
        return ARCHITECTURE
    return next((slot for slot, base in PART_BASES.items() if issubclass(part, base)), None)


def checked_part(found: object, where: str) -> type[Spelled]:
    """`found` if it is the class of a part that could be made, or of an architecture;
    PolicySpecError says what lacks.
    """
    bases = ", ".join([*(base.__name__ for base in PART_BASES.values()), "Architecture"])
    if not isinstance(found, type) or not issubclass(found, Spelled) or part_kind(found) is None:
        raise PolicySpecError(f"{where} is not a part: expected a class derived from {bases}")
    if inspect.isabstract(found):
        lines = ", ".join(
            f"`{_def_line(found, name)}`" for name in sorted(found.__abstractmethods__)
        )
        raise PolicySpecError(f"{where} must implement {lines}")
    for word in ("name", "summary"):
        if not isinstance(getattr(found, word, None), str):
            raise PolicySpecError(f"{where} has no `{word}`: a line of text that `policies` prints")
    _check_params(found, where)
    _check_signatures(found, where)
    return found


def _def_line(part: type[Spelled], name: str) -> str:
    return f"def {name}({', '.join(inspect.signature(getattr(part, name)).parameters)}):"


def _check_signatures(part: type[Spelled], where: str) -> None:
    """Each method can be called as it is where it is declared, and `__init__` with the parameters
    that there are.
    """
    takes = bool(part.Params.__struct_fields__)
    if part.__init__ is object.__init__ and takes:
        raise PolicySpecError(f"{where} has `Params`; {_INIT} keeps them")
    called = "part(params)" if takes else "part()"
    if not _takes_arguments(part.__init__, 1 + takes):
        hint = _INIT if takes else "`def __init__(self):`"
        raise PolicySpecError(f"{where} is made by {called}: expected {hint}")
    for name, own in inspect.getmembers(part, inspect.isfunction):
        declared = [vars(base)[name] for base in part.__mro__ if name in vars(base)]
        if name == "__init__" or not all(map(inspect.isfunction, declared)):
            continue
        ours = [each for each in declared if each.__module__.startswith("callboard.")]
        wanted = list(inspect.signature(ours[-1]).parameters) if ours else []
        if wanted and not _takes_arguments(own, len(wanted)):
            line = f"def {name}({', '.join(wanted)}):"
            raise PolicySpecError(f"{where}: expected `{line}`, got `{_def_line(part, name)}`")


_INIT = "`def __init__(self, params=None):`"


def _takes_arguments(function: Callable[..., object], arguments: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    return True


def _check_params(part: type[Spelled], where: str) -> None:
    params: object = part.Params
    if not (isinstance(params, type) and issubclass(params, msgspec.Struct)):
        raise PolicySpecError(f"{where}: `Params` is not a msgspec.Struct")
    for field in msgspec.structs.fields(part.Params):
        if field.required:
            raise PolicySpecError(f"{where}: parameter `{field.name}` has no default")
