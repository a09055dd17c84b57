"""A recorded run in other programs' forms: what they may rely on, and that nothing is lost."""

import csv
import importlib.util
import io
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AnyEvent,
    FaultStruck,
    JobSubmitted,
    KillOrdered,
    NodeLost,
    SuspendOrdered,
)
from callboard.journal.export.export_data import ExportData
from callboard.journal.export.rows import ROW_KINDS, TEXT_COLUMNS, RowKind, attempts_or_jobs_table
from callboard.journal.export.table_files import check_parquet, write_csv, write_parquet
from callboard.journal.export.trace import trace_lines
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.tables import FAILED
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import KINDS, SlotKind
from callboard.scheduler.text.missing_extra import MissingExtraError
from tests.journal.replay.support import events_of, outage, with_setups
from tests.journal.replay.test_cluster_state import SUSPENDING
from tests.journal.stories import MAP, REDUCE, STORY
from tests.support.soak import one_in

RUNS: dict[str, Callable[[], Sequence[AnyEvent]]] = {
    "a rack fails": outage,
    "suspended, and resumed elsewhere": lambda: events_of(*SUSPENDING),
    "killed for others": lambda: events_of("sticky-slots", "fair+kill"),
    "copies": lambda: events_of("stragglers", "fair+late"),
    "cut off": lambda: outage()[:1500],
}
"""Runs with all that can happen to an attempt."""


@cache
def traced(name: str) -> list[dict[str, Any]]:
    return trace(RUNS[name]())


def trace(events: Sequence[AnyEvent]) -> list[dict[str, Any]]:
    content = json.loads("".join(trace_lines(ExportData.of_events(events))))
    assert content["displayTimeUnit"] == "ms"
    found: list[dict[str, Any]] = content["traceEvents"]
    return found


def slices(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of attempts, without the shuffles in them."""
    return [each for each in found if each["ph"] == "X" and each["cat"] != "shuffle"]


def test_the_table_of_attempts() -> None:
    attempts = ExportData.of_events(STORY).attempts()
    assert attempts.attempt.tolist() == [1, 2, 3, 4, 5]
    assert attempts.number.tolist() == [0, 0, 0, 0, 1]
    assert attempts.closed_ms.tolist() == [1200, 1800, 2300, 4400, 3400]
    assert attempts.closed[1] == FAILED
    assert attempts.shuffled_ms.tolist() == [NEVER, NEVER, NEVER, 3500, NEVER]


def test_busy_slots_as_steps() -> None:
    attempts = ExportData.of_events(STORY).attempts()
    maps = attempts.busy_slots(MAP, 4400)
    assert maps.times.tolist() == [0, 101, 201, 1101, 1201, 1701, 1801, 2201, 3301]
    assert maps.counts.tolist() == [0, 1, 2, 1, 2, 1, 2, 1, 0]
    reduces = attempts.busy_slots(REDUCE, 4400)
    assert reduces.times.tolist() == [0, 1301, 4301]
    assert reduces.counts.tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", one_in(3, RUNS))
class TestTrace:
    def test_it_keeps_the_rules_of_the_format(self, name: str) -> None:
        """Trace Event Format: what each phase must have, and times sorted."""
        found = traced(name)
        timed = [each for each in found if each["ph"] != "M"]
        assert found[: len(found) - len(timed)] == [each for each in found if each["ph"] == "M"]
        assert [each["ts"] for each in timed] == sorted(each["ts"] for each in timed)
        for each in found:
            assert isinstance(each["pid"], int)
            assert isinstance(each["name"], str)
            match each["ph"]:
                case "X":
                    assert isinstance(each["tid"], int)
                    assert type(each["ts"]) is type(each["dur"]) is int
                    assert each["ts"] >= 0
                    assert each["dur"] >= 0
                case "i":
                    assert each["s"] in ("g", "p", "t")
                    assert isinstance(each["tid"], int)
                case "C":
                    assert all(value >= 0 for value in each["args"].values())
                case "M":
                    assert each["name"].partition("_")[0] in ("process", "thread")
                case _:
                    pytest.fail(f"a phase that is not used: {each}")

    def test_every_track_has_one_name_and_one_number(self, name: str) -> None:
        """Numbers of threads are unique, since Perfetto takes them so, and none is 0."""
        found = traced(name)
        named = [
            (each["pid"], each["tid"])
            for each in found
            if each["ph"] == "M" and each["name"] == "thread_name"
        ]
        tids = [tid for _, tid in named]
        pids = {each["pid"] for each in found if each["name"] == "process_name"}
        assert len(set(tids)) == len(tids)
        assert not pids & set(tids)
        assert 0 not in {*tids, *pids}
        used = {(each["pid"], each["tid"]) for each in found if each["ph"] in ("X", "i")}
        assert used <= set(named)
        assert {each["pid"] for each in found} <= pids

    def test_no_two_attempts_overlap_on_a_track(self, name: str) -> None:
        """Slices of one track are apart from each other, and a shuffle is inside its attempt."""
        found = traced(name)
        tracks = defaultdict(list)
        for each in found:
            if each["ph"] == "X":
                tracks[each["tid"]].append(each)
        assert tracks
        for mine in tracks.values():
            end = inside = 0
            for each in mine:
                if each["cat"] == "shuffle":
                    assert inside == each["ts"]
                    assert each["ts"] + each["dur"] <= end
                else:
                    assert each["ts"] >= end
                    inside, end = each["ts"], each["ts"] + each["dur"]

    def test_slices_are_the_slots_held_time(self, name: str) -> None:
        """Nothing is lost and nothing twice: S9's busy time, kind by kind."""
        metrics, found = Metrics.of(RUNS[name]()), slices(traced(name))
        for kind in KINDS:
            word = ("map", "reduce")[kind]
            held = sum(each["dur"] for each in found if each["cat"].startswith(word))
            assert held == 1000 * metrics.slot_time(kind).busy

    def test_preemptions_lie_on_their_victims_and_faults_are_there(self, name: str) -> None:
        events, found = RUNS[name](), traced(name)
        instants = [each for each in found if each["ph"] == "i"]
        orders = [
            event
            for event in events
            if isinstance(event, KillOrdered | SuspendOrdered)
            and not event.why.reason.is_the_masters
        ]
        taken = [each for each in instants if each["name"].startswith("preempted")]
        assert len(taken) == len(orders)
        begun = [(each["tid"], each["args"]["attempt"]) for each in slices(found)]
        for order, each in zip(orders, taken, strict=True):
            assert each["ts"] == 1000 * order.at_ms
            assert (each["tid"], order.attempt) in begun
        struck = sum(isinstance(event, FaultStruck | NodeLost) for event in events)
        told = sum("crash" in e["name"] or "restart" in e["name"] or "lost" in e["name"]
                   for e in instants)  # fmt: skip
        assert told == struck

    def test_counters_end_where_the_run_does(self, name: str) -> None:
        metrics, found = Metrics.of(RUNS[name]()), traced(name)
        jobs = [each for each in found if each["name"] == "jobs in the system"]
        steps = metrics.jobs_in_system()
        assert [each["ts"] for each in jobs] == [1000 * at for at in steps.times.tolist()]
        assert [each["args"]["jobs"] for each in jobs] == steps.counts.tolist()
        if name != "cut off":
            last = {
                each["name"]: list(each["args"].values()) for each in found if each["ph"] == "C"
            }
            words = ("jobs in the system", "busy map slots", "busy reduce slots")
            assert last == {word: [0] for word in words}


def test_nodes_stand_rack_by_rack() -> None:
    found = trace(outage())
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    order = {e["pid"]: e["args"]["sort_index"] for e in found if e["name"] == "process_sort_index"}
    racks = [names[pid].partition(" ")[0] for pid in sorted(order, key=order.__getitem__)][1:]
    assert racks == sorted(racks)
    assert set(racks) == {"rack-0", "rack-1", "rack-2", "rack-3"}


def test_a_slice_says_whose_it_is() -> None:
    found = {each["args"]["attempt"]: each for each in slices(trace(STORY))}
    assert found[2]["name"] == "ads map 1"
    assert found[2]["args"] == {
        "job": "job-0", "task": 1, "attempt": 2, "number": 1, "launched_ms": 200,
        "outcome": "failed", "booked": "failed", "locality": "off-rack"}  # fmt: skip
    assert (found[4]["ts"], found[4]["dur"]) == (1_301_000, 3_000_000)


class TestTables:
    def test_the_run_by_hand(self) -> None:
        """The table in `stories.py`, as CSV."""
        file = io.StringIO()
        assert write_csv(attempts_or_jobs_table(ExportData.of_events(STORY), "attempts"), file) == 5
        rows = list(csv.DictReader(io.StringIO(file.getvalue())))
        keys = ("attempt", "job_name", "kind", "task", "node", "launched_ms", "started_ms",
                "ended_ms", "ended", "booked_ms", "held_ms", "shuffled_ms")  # fmt: skip
        assert [tuple(row[key] for key in keys) for row in rows] == [
            ("1", "ads", "map", "0", "0", "100", "101", "1101", "succeeded", "1200", "1000", ""),
            ("2", "ads", "map", "1", "1", "200", "201", "1701", "failed", "1800", "1500", ""),
            ("3", "logs", "map", "0", "0", "1200", "1201", "2201", "succeeded", "2300", "1000", ""),
            ("4", "ads", "reduce", "0", "1", "1300", "1301", "4301", "succeeded", "4400", "3000",
             "3500"),
            ("5", "ads", "map", "1", "1", "1800", "1801", "3301", "succeeded", "3400", "1500", ""),
        ]  # fmt: skip
        jobs = attempts_or_jobs_table(ExportData.of_events(STORY), "jobs")
        assert jobs["response_ms"] == [4400, 1300]
        assert jobs["attempts"] == [4, 1]
        assert jobs["failed"] == [1, 0]

    @pytest.mark.parametrize("name", RUNS)
    @pytest.mark.parametrize("rows", ROW_KINDS)
    def test_columns_are_of_one_length_and_kind(self, name: str, rows: RowKind) -> None:
        recording = ExportData.of_events(RUNS[name]())
        columns = attempts_or_jobs_table(recording, rows)
        lengths = {"attempts": len(recording.attempts().attempt)}
        lengths["jobs"] = len(recording.metrics.jobs().job)
        for column, values in columns.items():
            assert len(values) == lengths[rows], column
            kind = str if column in TEXT_COLUMNS else int
            assert all(value is None or type(value) is kind for value in values), column

    def test_held_time_is_the_metrics(self) -> None:
        for events in (each() for each in RUNS.values()):
            columns = attempts_or_jobs_table(ExportData.of_events(events), "attempts")
            metrics = Metrics.of(events)
            for kind in SlotKind:
                held = [ms for ms, of in zip(columns["held_ms"], columns["kind"], strict=True)
                        if of == ("map", "reduce")[kind]]  # fmt: skip
                assert sum(int(ms or 0) for ms in held) == metrics.slot_time(kind).busy

    def test_setups_and_cleanups_have_no_locality(self) -> None:
        """They read nothing: they were told, and counted, as off-rack maps, each `map 0`."""
        data = ExportData.of_events(with_setups())
        told = attempts_or_jobs_table(data, "attempts")["locality"]
        assert told == [None, *["node-local"] * 3, None] * 2
        jobs = attempts_or_jobs_table(data, "jobs")
        counted = (jobs[f"{level}_maps"] for level in ("node_local", "rack_local", "off_rack"))
        assert [*counted] == [[3, 3], [0, 0], [0, 0]]
        traced = slices(trace(with_setups()))
        assert sum("locality" in each["args"] for each in traced) == 6
        assert [each["name"] for each in traced if each["name"].startswith("j0 ")] == [
            *("j0 setup", "j0 map 0", "j0 map 1", "j0 map 2", "j0 cleanup")
        ]

    def test_a_name_with_anything_in_it_stays_one_cell(self) -> None:
        file = io.StringIO()
        write_csv({"name": ['a,"b"\nc', None, ""], "n": [1, None, 3]}, file)
        rows = list(csv.reader(io.StringIO(file.getvalue())))
        assert rows == [["name", "n"], ['a,"b"\\nc', "1"], ["", ""], ["", "3"]]


class TestParquet:
    def test_without_pyarrow_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("pyarrow", "pyarrow.parquet"):
            monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=r"pip install \"callboard\[parquet\]\""):
            check_parquet()

    @pytest.mark.skipif(
        importlib.util.find_spec("pyarrow") is None,
        reason="pyarrow, the extra `parquet`, is not installed",
    )
    @pytest.mark.parametrize("rows", ROW_KINDS)
    def test_what_is_written_comes_back(self, rows: RowKind, tmp_path: Path) -> None:
        import pyarrow.parquet

        check_parquet()
        columns = attempts_or_jobs_table(ExportData.of_events(outage()[:1500]), rows)
        path = tmp_path / "run.parquet"
        count = write_parquet(columns, path, {"policy": "fair"})
        table = pyarrow.parquet.read_table(path)
        assert table.to_pydict() == columns
        assert count == table.num_rows
        assert table.schema.metadata[b"policy"] == b"fair"


def test_the_docs_name_every_column() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    for rows in ROW_KINDS:
        section = docs.partition(f"### `--rows {rows}`")[2].partition("###")[0]
        named = {name for line in section.splitlines() for name in re.findall(r"`(\w+)`", line)}
        assert attempts_or_jobs_table(ExportData.of_events(STORY), rows).keys() <= named


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("plain name, with a comma", "plain name, with a comma"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", "\\t=1"),
        ("\r=1", "\\r=1"),
        ("\x1b[2J", "\\x1b[2J"),
        ("two\nlines", "two\\nlines"),
        ("é=1", "é=1"),
        ("", ""),
    ],
)
def test_names_in_csv_are_inert(name: str, cell: str) -> None:
    """Neither a terminal nor a spreadsheet acts upon them."""
    story = [msgspec.structs.replace(e, name=name) if type(e) is JobSubmitted else e for e in STORY]
    written = io.StringIO()
    write_csv(attempts_or_jobs_table(ExportData.of_events(story), "jobs"), written)
    rows = list(csv.reader(io.StringIO(written.getvalue())))
    assert {row[rows[0].index("name")] for row in rows[1:]} == {cell}
    assert all(c == "\n" or c.isprintable() for c in written.getvalue())


def test_text_in_csv_is_inert_in_every_column() -> None:
    """Sweeps have columns of their own, whose names are keys that somebody has set."""
    written = io.StringIO()
    write_csv({"scenario": ["=1", "a"], "=key": ["@x", "\x1b[2J"], "error": [None, "+1"]}, written)
    assert written.getvalue() == "scenario,'=key,error\n'=1,'@x,\na,\\x1b[2J,'+1\n"


def test_numbers_in_csv_stay_numbers() -> None:
    written = io.StringIO()
    write_csv({"attempt": [-1, 2], "name": ["-1", None]}, written)
    assert written.getvalue() == "attempt,name\n-1,'-1\n2,\n"
