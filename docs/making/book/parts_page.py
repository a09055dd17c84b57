"""The reference of the parts of policies."""

import msgspec

from callboard.actors.architectures import ARCHITECTURES
from callboard.scheduler.orders.coshh.user_entitlements import UserParams
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Spelled
from callboard.scheduler.registry.parts import DEFAULT_PARTS, PART_BASES, part_kind
from callboard.scheduler.registry.shipped import PARTS
from docs.making.book.markdown import page, paragraphs
from docs.making.book.struct_fields import field_table

INTRO = """\
A policy is an order and at most one part of each other kind, as in `fair+delay(node=5)+kill`;
[Policies](../policies.md) says how it is spelled, and where each part comes from. A parameter
that is *unset* is chosen by the part, as the text says."""

ALONE = """\
## Architectures

They stand alone, where a policy stands; [Architectures](../architectures.md) says what each is."""

TABLES: dict[str, type[msgspec.Struct]] = {
    "A pool of `fair`": PoolParams,
    "A user of `coshh` and `hybrid`": UserParams,
}


def parts_page() -> str:
    """`docs/reference/parts.md`."""
    kinds = (_kind(kind) for kind in PART_BASES)
    tables = (f"### {title}\n\n{_params(table)}" for title, table in TABLES.items())
    alone = [_part(name, load()) for name, load in ARCHITECTURES.items()]
    return page(
        "Parts of policies",
        INTRO,
        *kinds,
        ALONE,
        *alone,
        "## Tables in parameters",
        *tables,
    )


def _kind(kind: str) -> str:
    parts = [_part(name, part) for name, part in PARTS.items() if part_kind(part) == kind]
    return "\n\n".join((f"## Kind: {kind}", *parts))


def _part(name: str, part: type[Spelled]) -> str:
    default = " It is the default." if part in DEFAULT_PARTS.values() else ""
    summary = f"{part.summary[:1].upper()}{part.summary[1:]}.{default}"
    params = _params(part.Params) if part.Params.__struct_fields__ else "No parameters."
    return "\n\n".join((f"### `{name}`", summary, params))


def _params(params: type[msgspec.Struct]) -> str:
    return f"{paragraphs(params.__doc__)}\n\n{field_table(params)}"
