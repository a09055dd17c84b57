"""The timeline's `failures` by a law of chance, and its `trace` from a file."""

from contextlib import suppress
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary.faults import Crash, Restart
from callboard.experiments.run.run_loading import load_run
from callboard.scenarios import script as scripts
from callboard.scenarios.failures import recorded_outages
from callboard.scenarios.scenario_file import from_dict, make_fault_script
from callboard.scenarios.timeline import SCHEDULED_FAULTS_MAX
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.scenarios.support import error_of, raw

CLUSTER = {"nodes": 6, "racks": 2}


def failures(**more: Any) -> dict[str, Any]:
    return {"what": "failures", "mtbf_s": 1000, "mttr_s": 50, "until_s": 1_000_000, **more}


def script(entry: dict[str, Any], seed: int = 1, **cluster: Any) -> tuple[ScheduledFault, ...]:
    timeline = raw(cluster=CLUSTER | cluster, timeline=[entry], seed=seed)
    return make_fault_script(from_dict(timeline))


def times(scheduled: tuple[ScheduledFault, ...], node: int) -> tuple[list[int], list[int]]:
    """When a node crashes and when it starts again."""
    downs = [s.at_ms for s in scheduled if s.fault == Crash(node)]
    return downs, [s.at_ms for s in scheduled if s.fault == Restart(node)]


@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
def test_times_up_and_down_have_their_means(shape: float) -> None:
    """About 950 failures a node: within four standard errors of the law."""
    scheduled = script(failures(shape=shape))
    up_ms, down_ms = [], []
    for node in range(6):
        downs, ups = times(scheduled, node)
        assert len(downs) == len(ups)
        down_ms += [up - down for down, up in zip(downs, ups, strict=True)]
        up_ms += [down - up for up, down in zip([0, *ups], downs, strict=False)]
    deviation = {0.7: 1.4624, 1.0: 1.0, 3.0: 0.3634}[shape]  # of a Weibull law, over its mean
    assert abs(mean(up_ms) / 1_000_000 - 1) < 4 * deviation / len(up_ms) ** 0.5
    assert abs(mean(down_ms) / 50_000 - 1) < 4 / len(down_ms) ** 0.5


def test_a_rack_fails_as_a_whole_and_a_node_more_changes_no_other() -> None:
    by_rack = script(failures(by="rack", until_s=20_000))
    assert times(by_rack, 0) == times(by_rack, 2) == times(by_rack, 4)
    assert times(by_rack, 0) != times(by_rack, 1)
    few, more = script(failures()), script(failures(), nodes=7)
    assert times(few, 3) == times(more, 3)
    assert times(few, 3) != times(script(failures(), seed=2), 3)


def test_a_weibull_law_of_shape_one_is_the_exponential_one() -> None:
    stream = Stream(1, "test")
    assert stream.weibull(7.0, 1.0, 3, 4) == pytest.approx(stream.exponential(7.0, 3, 4))


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (failures(nodes="10%"), "have to be named"),
        (failures(mtbf_s=0.001, mttr_s=0.001), "more than 200,000 failures"),
        (failures(shape=0), "shape: expected a number"),
    ],
)
def test_bad_laws_are_refused(entry: dict[str, Any], says: str) -> None:
    error = error_of(lambda: script(entry))
    assert says in f"{error.key}: {error.problem}"


SCENARIO = """
name = "as-it-was"
[cluster]
nodes = 4
racks = 1
[workload]
kind = "jobs"
[[workload.job]]
maps = 9
map_s = 30
[[timeline]]
what = "trace"
path = "outages.csv"
at_s = 10
"""


def with_trace(folder: Path, text: str) -> str:
    (folder / "outages.csv").write_text(text, encoding="utf-8")
    (folder / "it.toml").write_text(SCENARIO, encoding="utf-8")
    return str(folder / "it.toml")


def test_a_trace_is_played_from_the_entrys_beginning(tmp_path: Path) -> None:
    path = with_trace(
        tmp_path, "# what happened\n5,node-1,down\n\n6.5, node-2 ,down\n8,node-1,up\n"
    )
    assert load_run(path).script == (
        ScheduledFault(15_000, Crash(1)),
        ScheduledFault(16_500, Crash(2)),
        ScheduledFault(18_000, Restart(1)),
    )
    assert load_run(path, faults=False).script == ()
    assert load_run(path, faults=False).scenario.timeline == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5,node-9,down\n", "line 1: there is no node 'node-9' in this cluster (node-0 to node-3)"),
        ("5,node-1,down\n5,node-1,down\n", "line 2: node-1 is down already"),
        ("5,node-1,up\n", "line 1: node-1 is up already"),
        ("5,node-1,down\n4,node-1,up\n", "line 2: times go back"),
        ("x,node-1,down\n", "line 1: expected seconds"),
        ("nan,node-1,down\n", "line 1: expected seconds"),
        ("5,node-1\n", "line 1: expected `seconds,node,down`"),
        ("5,node-1,off\n", "line 1: expected `down` or `up`"),
    ],
)
def test_a_bad_trace_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_run(with_trace(tmp_path, text))
    assert says in str(caught.value)
    assert "outages.csv" in str(caught.value)


@pytest.mark.parametrize(
    "text", ['5,node-1,"' + "a" * 200_000, '5,"node-1\n,down"\n', "5,node-1,do\0wn\n"]
)
def test_what_looks_like_quoting_is_text(tmp_path: Path, text: str) -> None:
    with pytest.raises(ScenarioError, match=r"outages.csv, line 1: expected"):
        load_run(with_trace(tmp_path, text))


CELLS = st.sampled_from(
    ["0", "5", "5.0004", "6", "nan", "1e9", "", "node-0", " node-1", "node-9", "down", "up", '"',
     "#", "\0", "\xff", "-1"]
)  # fmt: skip


@settings(derandomize=True, max_examples=200, deadline=None)
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=6))
def test_whatever_the_lines_only_a_scenario_error_comes_out(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.csv"
    path.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    with suppress(ScenarioError):
        for outage in recorded_outages(path, {"node-0": 0, "node-1": 1}):
            assert outage.end_ms is None or outage.begin_ms < outage.end_ms


def test_an_outage_of_no_time_is_none(tmp_path: Path) -> None:
    """Down and up again in one millisecond: the node is not down for ever."""
    path = with_trace(tmp_path, "5,node-1,down\n5.0002,node-1,up\n6,node-1,down\n7,node-1,up\n")
    assert [each.at_ms for each in load_run(path).script] == [16_000, 17_000]


def test_a_trace_of_too_many_outages_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage more than the limit, which is made small here."""
    assert SCHEDULED_FAULTS_MAX == 200_000
    monkeypatch.setattr(scripts, "SCHEDULED_FAULTS_MAX", 2000)
    lines = [f"{n},node-1,{'up' if n % 2 else 'down'}" for n in range(4002)]
    path = with_trace(tmp_path, "\n".join(lines[:-2]))
    assert len(load_run(path).script) == 4000
    path = with_trace(tmp_path, "\n".join(lines))
    with pytest.raises(ScenarioError, match=r"timeline\[0\].path: .* more than 2,000 faults"):
        load_run(path)


def test_a_missing_trace_is_named(tmp_path: Path) -> None:
    path = with_trace(tmp_path, "")
    (tmp_path / "outages.csv").unlink()
    with pytest.raises(ScenarioError, match=r'timeline\[0\].path: there is no trace "outages.csv"'):
        load_run(path)
