"""The reference of the fields of scenario files."""

from collections.abc import Iterator
from typing import get_args

import msgspec

from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.scenarios import timeline as tl
from callboard.scenarios.arrivals import Arrivals
from callboard.scenarios.categories import Resource
from callboard.scenarios.distributions import Distribution
from callboard.scenarios.generators import GeneratedWorkload, Sizes
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.swim_trace import SwimWorkload
from docs.making.book.markdown import page, paragraphs
from docs.making.book.struct_fields import field_rows, field_table

INTRO = """\
Every field of a scenario file, with its default and what it may be; [Scenario
files](../scenarios.md) tells how they are used, and gives examples. `_ms` fields are whole
milliseconds, `_s` fields seconds, MB are 1,000,000 bytes. A field that is *unset* has no value
unless one is said."""

TABLES: dict[str, type[msgspec.Struct]] = {
    "The top of the file": Scenario,
    "`[cluster]`": Cluster,
    "`[cluster.heartbeat]`": Heartbeats,
    "`[[cluster.group]]`": NodeGroup,
    "`[tasks]`": Tasks,
    "`[workload]` of kind `jobs`": ListedWorkload,
    "`[[workload.job]]`": ListedJob,
    "`[workload]` of kind `swim`": SwimWorkload,
    "`[workload]` of kind `recorded`": RecordedWorkload,
    "`[workload]` of kind `generated`": GeneratedWorkload,
}

OF_NODES = frozenset(tl.NodesEntry.__struct_fields__)
"""What entries on nodes have in common."""


def scenario_page() -> str:
    """`docs/reference/scenario-fields.md`."""
    tables = (_section(f"## {title}", table) for title, table in TABLES.items())
    return page("Fields of scenario files", INTRO, *tables, *_generated(), *_timeline())


def documented_structs() -> Iterator[type[msgspec.Struct]]:
    """Every Struct of the page, whose fields have to say what they mean."""
    yield from (*TABLES.values(), Resource, *get_args(tl.AnyEntry))
    yield from (*get_args(Arrivals), *get_args(Sizes), *get_args(Distribution))


def _section(title: str, struct: type[msgspec.Struct]) -> str:
    return "\n\n".join((title, paragraphs(struct.__doc__), field_table(struct)))


def _tag(struct: type[msgspec.Struct]) -> str:
    return f"### `{struct.__struct_config__.tag}`"


def _generated() -> Iterator[str]:
    yield "## `[workload.arrivals]`, by `kind`"
    yield from (_section(_tag(kind), kind) for kind in get_args(Arrivals))
    yield "## `[workload.sizes]`, by `kind`"
    shown: dict[str, str] = {}
    for kind in get_args(Sizes):
        base = kind.__mro__[1]
        own = base.__name__.startswith("_")
        rules = paragraphs(base.__doc__) if own else ""
        rest = f"{rules}\n\n{field_table(kind)}".strip()
        told = f"The rest is as for {shown[rest]}." if rest in shown else rest
        shown.setdefault(rest, _tag(kind).removeprefix("### "))
        yield "\n\n".join((_tag(kind), paragraphs(kind.__doc__), told))
    yield _section("### A type of node in `resources`", Resource)


def _timeline() -> Iterator[str]:
    yield _section("## `[[timeline]]`, by `what`: all entries", tl.TimelineEntry)
    own = field_table(tl.NodesEntry, without=frozenset(tl.TimelineEntry.__struct_fields__))
    yield f"**Entries on nodes** have these besides:\n\n{own}"
    yield from (_entry(entry) for entry in get_args(tl.AnyEntry))
    yield "## A time that is drawn, by `law`"
    yield from (_section(_tag(law), law) for law in get_args(Distribution))


def _entry(entry: type[msgspec.Struct]) -> str:
    nodes = " An entry on nodes." if issubclass(entry, tl.NodesEntry) else ""
    needed = {name.strip("`") for name, default, *_ in field_rows(entry) if default == "required"}
    common = frozenset(tl.TimelineEntry.__struct_fields__)
    if nodes:
        common = OF_NODES - (needed - {"nodes"})
    rows = [name for name, *_ in field_rows(entry) if name.strip("`") not in common]
    table = field_table(entry, without=common) if rows else "No fields of its own."
    return "\n\n".join((_tag(entry), paragraphs(entry.__doc__) + nodes, table))
