"""The papers as data: a TOML file a paper, in `papers/`, with what it says and prints and what of
ours is held to it.

Its tables are the structs here, and nothing else may stand in them.  A quantity is ours and the
paper's, in an expression and in numbers:

    [[artefact.quantities]]
    for = [{maps = [10, 100], share = [0.37, 0.84]}]
    label = "{maps} maps, node-local"
    ours = "local_share('fifo', 'node', maps)"
    printed = "share"
    share = true

`for` makes several of one entry: the columns of each of its tables go side by side, and each row of
one table goes with each row of the next.  In any text braces hold an expression; where a number,
evidence, a chart or a figure of ours is wanted, a text is one (`paper_language`).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from callboard.experiments.reproduction import artefact_charts
from callboard.experiments.reproduction import run_figures as figures
from callboard.experiments.reproduction.artefact import (
    SEEDS,
    AnyArtefact,
    Artefact,
    Evidence,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.evidence import Cell, Drawn, Played, TraceFile
from callboard.experiments.reproduction.paper_language import (
    ExpressionNames,
    GridRow,
    Vocabulary,
    chart_vocabulary,
    run_figure_vocabulary,
    sample_figure_vocabulary,
)
from callboard.experiments.reproduction.run_figures import SizeBin
from callboard.experiments.reproduction.sample_figure import (
    SampleFigure,
    example_number,
    mean_of,
    total_of,
)
from callboard.experiments.reproduction.worked_examples import Worked
from callboard.scenarios.library_list import library_names
from callboard.scenarios.toml_reader import parse_toml
from callboard.scheduler.text.strict_decoder import DecodeError, decode_strictly, suggestion
from callboard.scheduler.text.text_file import read_text

PAPERS = Path(__file__).with_name("papers")

_COMMON: Vocabulary = {
    **run_figure_vocabulary(
        figures.done_within,
        figures.greatest_slowdown,
        figures.local_share,
        figures.mean_in_system,
        figures.mean_of_responses_s,
        figures.median_response_s,
        figures.median_slowdown,
        figures.meter_value,
        figures.most_in_system,
        figures.node_local_of,
        figures.wasted_slot_s,
    ),
    **sample_figure_vocabulary(example_number),
    **chart_vocabulary(
        artefact_charts.jobs_in_system,
        artefact_charts.response_ecdfs,
        artefact_charts.slowdown_ecdfs,
        artefact_charts.slowdown_ecdfs_of_cells,
        artefact_charts.strip_chart,
    ),
    "drawn": Drawn,
    "mean": mean_of,
    "total": total_of,
    "trace": TraceFile,
    "worked": Worked,
}
"""What every paper's expressions may call."""

GridColumns = dict[str, Any]
"""The columns of a table: lists of one length, or a value that is the same in each row."""

Axes = tuple[str | GridColumns | tuple[GridColumns, ...], ...]
"""Tables of which each row goes with each row of the next; a list of tables is one, their rows one
after the other, and a text names one of `[grids]`, or several as in `io + mixed`.
"""

ValueT = TypeVar("ValueT")


class PaperFileError(ValueError):
    """What is wrong with a paper's file; the message says where."""


class _CellEntry(Cell, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cells of a world that is played, whose policy may be the name of one of `[policies]`.
    Overrides and meters that come to no text are left out.  With `once` no seed changes the world.
    """

    once: bool = False
    each: Axes = msgspec.field(default=(), name="for")


class _QuantityEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Quantities: `Quantity`, whose `value` is `ours`."""

    label: str
    ours: str = ""
    pooled: str = ""
    unit: str = ""
    printed: int | float | str | None = None
    below: int | float | str | None = None
    above: int | float | str | None = None
    share: bool = False
    exact: bool = False
    mean: bool = False
    verdict_class: VerdictClass | None = None
    each: Axes = msgspec.field(default=(), name="for")


class _ArtefactEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Artefacts: `Artefact`.  In `evidence`, an expression, a world of `[[played]]` is called with
    the names that are open in it, as in `busy(groups=io)`, and one of `[drawn]` is named.
    `quantities` may call a list of `[[quantities]]`, which several artefacts have, in the same way.
    """

    id: str
    place: str
    says: str
    evidence: str
    quantities: tuple[_QuantityEntry, ...] | str
    verdict_class: VerdictClass = VerdictClass.PREDICTED
    fitted_on: str = ""
    why: str = ""
    draw: str = ""
    seeds: int = SEEDS
    quick: int = 1
    each: Axes = msgspec.field(default=(), name="for")


class _PaperTables(msgspec.Struct, frozen=True, kw_only=True):
    """A paper's file."""

    artefact: tuple[_ArtefactEntry, ...]
    policies: dict[str, str] = {}
    bins: dict[str, SizeBin] = {}
    texts: dict[str, str] = {}
    grids: dict[str, GridColumns] = {}
    played: dict[str, tuple[_CellEntry, ...]] = {}
    drawn: dict[str, Drawn] = {}
    quantities: dict[str, tuple[_QuantityEntry, ...]] = {}


class PaperFile:
    """A paper's file, read; `vocabulary` has what its expressions may call besides what all may.
    PaperFileError where something in it is wrong.
    """

    def __init__(self, path: Path, vocabulary: Vocabulary) -> None:
        self._path = path
        raw = parse_toml(read_text(path), path)
        try:
            self._tables = decode_strictly(raw, _PaperTables, "the file")
        except DecodeError as error:
            raise PaperFileError(f"{path.name}, {_place_words(raw, error.key)}: {error}") from None
        own = {name: partial(self.played, name) for name in self._tables.played}
        lists = {name: partial(self.quantities_named, name) for name in self._tables.quantities}
        self._names = ExpressionNames(
            self._tables.drawn, {**_COMMON, **vocabulary, **own, **lists, "bin": self._bin}
        )
        with _errors_placed_at(path.name):
            grids = {name: _rows_of_columns(each) for name, each in self._tables.grids.items()}
            texts = {name: self._names.fill(each) for name, each in self._tables.texts.items()}
        self._names = self._names.with_values({**texts, **grids})

    def artefacts(self) -> list[AnyArtefact]:
        """Its artefacts, in order."""
        with _errors_placed_at(self._path.name):
            return [
                self._artefact_from_entry(entry, names)
                for entry in self._tables.artefact
                for names in _names_by_row(entry.each, self._names)
            ]

    def quantities_named(self, name: str, **values: object) -> tuple[Quantity[Any], ...]:
        """The quantities of that name in `[[quantities]]`, whose open names have these values."""
        return _quantities_from_entries(
            self._tables.quantities[name], self._names.with_values(values)
        )

    def played(self, name: str, **values: object) -> Played:
        """The world of that name in `[[played]]`, whose open names have these values."""
        entries, names = self._tables.played[name], self._names.with_values(values)
        cells = tuple(cell for entry in entries for cell in self._cells_from_entry(entry, names))
        return Played(cells, once=any(entry.once for entry in entries))

    def _artefact_from_entry(self, entry: _ArtefactEntry, names: ExpressionNames) -> AnyArtefact:
        with _errors_placed_at(names.fill(entry.id)):
            evidence = _value_of_type(entry.evidence, names, Evidence)
            _refuse_unknown_scenarios(evidence)
            quantities = (
                _value_of_type(entry.quantities, names, tuple)
                if isinstance(entry.quantities, str)
                else _quantities_from_entries(entry.quantities, names)
            )
            draw = _evaluated_chart(entry.draw, evidence, names) if entry.draw else None
        return Artefact[Any](
            id=names.fill(entry.id),
            paper=Paper(self._path.stem),
            place=names.fill(entry.place),
            says=names.fill(entry.says),
            evidence=evidence,
            quantities=quantities,
            verdict_class=entry.verdict_class,
            fitted_on=names.fill(entry.fitted_on),
            why=names.fill(entry.why),
            draw=draw,
            seeds=entry.seeds,
            quick=entry.quick,
        )

    def _cells_from_entry(self, entry: _CellEntry, outer: ExpressionNames) -> Iterator[Cell]:
        for names in _names_by_row(entry.each, outer):
            policy = names.fill(entry.policy)
            yield Cell(
                name=names.fill(entry.name),
                scenario=names.fill(entry.scenario),
                policy=self._tables.policies.get(policy, policy),
                overrides=_filled_texts(entry.overrides, names),
                meters=_filled_texts(entry.meters, names),
                slowdown=entry.slowdown,
                timed=entry.timed,
            )

    def _bin(self, name: str) -> SizeBin:
        found = self._tables.bins.get(name)
        if found is None:
            raise PaperFileError(f"no bin {name}; {suggestion(name, self._tables.bins)}")
        return msgspec.structs.replace(found, name=name)


def _names_by_row(axes: Axes, names: ExpressionNames) -> Iterator[ExpressionNames]:
    """The names with the values of each row."""
    tables = (_rows_of_axis(axis, names) for axis in axes)
    for rows in product(*tables):
        yield names.with_values({name: value for row in rows for name, value in row.items()})


def _rows_of_axis(
    axis: str | GridColumns | tuple[GridColumns, ...], names: ExpressionNames
) -> list[GridRow]:
    if isinstance(axis, str):
        return names.rows_of(axis)
    tables = (axis,) if isinstance(axis, dict) else axis
    return [row for columns in tables for row in _rows_of_columns(columns)]


def _quantities_from_entries(
    entries: tuple[_QuantityEntry, ...], outer: ExpressionNames
) -> tuple[Quantity[Any], ...]:
    made = []
    for entry in entries:
        with _errors_placed_at(entry.label):
            made += [
                _quantity_from_entry(entry, names) for names in _names_by_row(entry.each, outer)
            ]
    return tuple(made)


def _quantity_from_entry(entry: _QuantityEntry, names: ExpressionNames) -> Quantity[Any]:
    ours, pooled = (
        _value_of_type(text, names, SampleFigure) if text else None
        for text in (entry.ours, entry.pooled)
    )
    if (ours is None) == (pooled is None):
        raise PaperFileError("it has either `ours` or `pooled`")
    return Quantity[Any](
        label=names.fill(entry.label),
        value=ours,
        pooled=pooled,
        unit=entry.unit,
        printed=_evaluated_number(entry.printed, names),
        below=_evaluated_number(entry.below, names),
        above=_evaluated_number(entry.above, names),
        share=entry.share,
        exact=entry.exact,
        mean=entry.mean,
        verdict_class=entry.verdict_class,
    )


def _evaluated_number(value: float | str | None, names: ExpressionNames) -> float | None:
    if not isinstance(value, str):
        return value
    found = names.evaluate(value)
    if not isinstance(found, int | float):
        raise PaperFileError(f"{value}: expected a number, got {found!r}")
    return found


def _refuse_unknown_scenarios(evidence: Evidence[Any]) -> None:
    """PaperFileError where a world is of no scenario of the library."""
    drawn = {evidence.scenario} if isinstance(evidence, Drawn) else set[str]()
    played = evidence.cells if isinstance(evidence, Played) else ()
    for name in drawn | {cell.scenario for cell in played}:
        if name not in library_names():
            raise PaperFileError(f"no scenario {name}; {suggestion(name, library_names())}")


def _filled_texts(texts: tuple[str, ...], names: ExpressionNames) -> tuple[str, ...]:
    return tuple(filter(None, map(names.fill, texts)))


def _evaluated_chart(text: str, evidence: Evidence[Any], names: ExpressionNames) -> Any:
    """The chart, of all cells of the evidence in order unless it says of which."""
    chart = _value_of_type(text, names, partial)
    if "cells" in signature(chart.func).parameters and "cells" not in chart.keywords:
        chart = partial(chart, cells=evidence.cell_names)
    signature(chart.func).bind((), **chart.keywords)
    return chart


def _value_of_type(text: str, names: ExpressionNames, type_: type[ValueT]) -> ValueT:
    value = names.evaluate(text)
    if not isinstance(value, type_):
        there = (words for kind, words in _TYPE_WORDS.items() if isinstance(value, kind))
        got = next(there, repr(value))
        raise PaperFileError(f"{text}: expected {_TYPE_WORDS[type_]}, got {got}")
    return value


_TYPE_WORDS: Mapping[type, str] = {
    Evidence: "evidence",
    SampleFigure: "a figure",
    partial: "a chart",
    tuple: "quantities",
}


def _rows_of_columns(columns: GridColumns) -> list[GridRow]:
    lengths = {len(each) for each in columns.values() if isinstance(each, list)}
    if len(lengths) > 1:
        raise PaperFileError(f"columns of unequal length: {', '.join(columns)}")
    count = max(lengths, default=1)
    return [
        {name: each[row] if isinstance(each, list) else each for name, each in columns.items()}
        for row in range(count)
    ]


@contextmanager
def _errors_placed_at(place: str) -> Iterator[None]:
    """Let an error say where it is."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise PaperFileError(f"{place}: {error}") from None


_OWN_NAMES = ("id", "label", "name")
"""What artefacts, quantities and cells are called by."""


def _place_words(raw: Mapping[str, Any], key: tuple[str | int, ...]) -> str:
    """A key with the artefact's and the quantity's own names in place of their numbers."""
    told, value = list[object](), dict[Any, Any](raw)
    for step in key:
        value = value[step] if isinstance(step, int) else value.get(step, {})
        named = isinstance(step, int) and isinstance(value, dict)
        told.append(next(filter(None, map(value.get, _OWN_NAMES)), step) if named else step)
    return ", ".join(map(str, told))
