"""The Python calls: what a notebook gets, and what it is told."""

import re
import subprocess
import sys
import tomllib
import traceback
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import callboard
from callboard import errors
from callboard.actors.kernel.kernel import ActorFailed
from callboard.column_table import ColumnTable
from callboard.experiments.error_messages import BAD_INPUT
from callboard.experiments.user_errors import InputError
from callboard.notebook import Run, Sweep
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.text.missing_extra import MissingExtraError

NOISE = ["tasks.sigma=0.4"]


UNTYPED: Any = callboard
"""As a script without types calls it."""


def run_with(**options: Any) -> Run:
    """A run with these options."""
    return callboard.run("two-jobs", options=callboard.RunOptions(**options))


class TestRun:
    """`callboard.run` and its tables."""

    def test_a_seed_is_the_scenarios_seed(self) -> None:
        run = callboard.run("two-jobs", "fair", seed=7)
        assert run.summary.seed == 7
        assert run.summary == callboard.run("two-jobs", "fair", overrides=["seed=7"]).summary

    def test_jobs_tasks_and_events_are_columns(self) -> None:
        run = callboard.run("two-jobs", options=callboard.RunOptions(slowdown=True))
        assert run.jobs["name"].tolist() == ["long", "short"]
        assert run.jobs["response_ms"].mean() / 1000 == run.summary.response_seconds.mean
        assert (run.jobs["response_ms"] / run.jobs["solo_ms"] >= 1).all()
        assert run.tasks.rows == run.summary.attempts.launched
        assert run.tasks["held_ms"].sum() / 1000 == run.summary.slot_seconds.useful
        assert run.events["event"].tolist().count("job finished") == 2
        assert any("job-1 “short” submitted" in text for text in run.events["text"])

    def test_a_recorded_run_has_the_same(self, tmp_path: Path) -> None:
        journal = tmp_path / "r.journal"
        options = callboard.RunOptions(journal=journal)
        run = callboard.run("two-jobs", "fair", options=options)
        again = callboard.load(journal)
        assert isinstance(again, Run)
        assert again.summary == run.summary
        assert again.as_json()["wall_seconds"] is None  # nobody knows it any more
        assert "computed in" not in again._repr_html_()
        for table in ("jobs", "tasks", "events"):
            mine, theirs = getattr(run, table), getattr(again, table)
            assert list(mine) == list(theirs)
            assert all(
                np.array_equal(mine[name], theirs[name], equal_nan=mine[name].dtype == float)
                for name in mine
            )

    def test_a_journal_is_read_without_the_history_that_it_plays(self, tmp_path: Path) -> None:
        """As `show` and `report` read it; to play it again the history is asked for."""
        history = tmp_path / "old.swf"
        history.write_text("; MaxProcs: 4\n1 0 0 9 4 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1\n")
        journal = tmp_path / "r.journal"
        run = callboard.run(str(history), "fifo", options=callboard.RunOptions(journal=journal))
        history.unlink()
        again = callboard.load(journal)
        assert isinstance(again, Run)
        assert again.summary == run.summary
        assert again.events.rows == run.events.rows
        page = again.report(tmp_path / "r.html").read_text()
        assert "Slowdowns are left out, since the jobs cannot be played alone" in page
        with pytest.raises(errors.ScenarioError, match="there is no file of recorded tasks"):
            _ = again.spec

    def test_it_shows_itself(self) -> None:
        run = callboard.run("two-jobs")
        assert repr(run) == ("<two-jobs under fifo, seed 1: 2 of 2 jobs, mean response 184.1 s>")
        assert "<pre>" in run._repr_html_()
        assert "response time, mean" in run._repr_html_()


class TestCompare:
    """`callboard.compare`."""

    def test_a_notebook_shows_it_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """There Rich shows what it prints by itself, beside what the notebook asks for."""
        shown: list[object] = []
        display = types.ModuleType("IPython.display")
        display.display = shown.append  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
        found = callboard.compare("two-jobs", seeds=2, overrides=["tasks.sigma=0.5"])
        assert "seed by seed" in found._repr_html_()
        assert "response time" in callboard.run("two-jobs")._repr_html_()
        assert shown == []

    def test_it_agrees_with_single_runs(self) -> None:
        found = callboard.compare("two-jobs", ["fair", "fifo"], seeds=[4, 9], overrides=NOISE)
        assert (found.policies, found.seeds) == (("fair", "fifo"), (4, 9))
        alone = callboard.run("two-jobs", "fifo", seed=9, overrides=NOISE)
        assert found.runs["mean_response_s"][3] == alone.summary.response_seconds.mean
        mine = [found.runs["mean_response_s"][place] for place in (0, 2)]
        assert found.mean("fair").mean == pytest.approx(np.mean(mine))
        assert found.difference("fifo").better_in + found.difference("fifo").ties <= 2
        assert found.jobs.rows == 2 * 2 * 2
        assert repr(found) == "<two-jobs under fair, fifo: 2 seeds>"
        assert "seed by seed" in found._repr_html_()

    @pytest.mark.parametrize(
        "ask",
        [
            lambda: callboard.run("two-jobs", policy="fairr"),
            lambda: callboard.compare("two-jobs", ["fifo", "nowhere.py:Mine"], seeds=2),
            lambda: callboard.sweep("two-job", store="s.sqlite"),
            lambda: callboard.load("nowhere.journal"),
            lambda: callboard.run("two-jobs", ["fair", "fifo"]),  # type: ignore[arg-type]
            lambda: callboard.compare("two-jobs", [Fifo]),  # type: ignore[list-item]
            lambda: callboard.compare("two-jobs", seeds=2.5),  # type: ignore[arg-type]
        ],
    )
    def test_bad_input_has_no_traceback_of_ours(
        self, ask: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """This test, its question, and the call that it asks."""
        monkeypatch.chdir(tmp_path)
        with pytest.raises(BAD_INPUT) as caught:
            ask()
        assert len(caught.traceback) == 3
        assert caught.value.__suppress_context__

    def test_an_error_in_ones_own_policy_shows_its_own_lines(self, tmp_path: Path) -> None:
        """Not the fifty through which the master came there."""
        mine = tmp_path / "mine.py"
        mine.write_text(
            "from callboard.scheduler.orders.fifo import Fifo\n\n\nclass Mine(Fifo):\n"
            "    name, summary = 'mine', 'for tests'\n\n    def key(self, job, kind):\n"
            "        return 1 / 0\n"
        )
        with pytest.raises(ActorFailed, match="ZeroDivisionError") as caught:
            callboard.run("two-jobs", f"{mine}:Mine")
        cause = caught.value.__cause__
        assert cause is not None
        assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["key"]
        assert len(caught.traceback) == 2
        assert "ZeroDivisionError: division by zero (mine.py, line 8, in key)" in (
            caught.value.__notes__
        )

    @pytest.mark.parametrize(
        ("call", "told"),
        [
            (partial(UNTYPED.compare, engine="twni"), "engine 'twni': did you mean `twin`?"),
            (partial(UNTYPED.sweep, "two-jobs", store="x", engine=3), "engine 3: there are"),
            (partial(UNTYPED.compare, cores=0), "cores: expected a whole number from 1 on; got"),
            (partial(UNTYPED.compare, seeds=[1, "2"]), "seeds: expected a number of seeds, a"),
            (partial(UNTYPED.run, overrides=[3]), "overrides: expected texts, as in"),
            (partial(run_with, engine="foo"), "engine 'foo': there are: auto, actors, twin"),
            (partial(run_with, driver="foo"), "driver 'foo': there are: trio, direct"),
            (partial(run_with, until_ms=-3), "until_ms: expected a whole number from 0 on; got -3"),
        ],
    )
    def test_what_a_call_cannot_take_is_told(self, call: Callable[[], object], told: str) -> None:
        """A misspelt engine was taken for another one, and the others were errors from within."""
        with pytest.raises(InputError, match=re.escape(told)):
            call()

    def test_what_results_cannot_take_is_told(self, tmp_path: Path) -> None:
        one, several = callboard.run("two-jobs"), callboard.compare("two-jobs", seeds=2)
        with pytest.raises(InputError, match="plot: expected a `Run`; got a `Comparison`"):
            one.plot("ecdf", several)  # type: ignore[arg-type]
        for within_s in (-5, "x"):
            with pytest.raises(InputError, match="within_s: expected a number above 0"):
                several.report(tmp_path / "b.html", within_s=within_s)  # type: ignore[arg-type]

    def test_a_journal_may_be_named_by_a_text(self, tmp_path: Path) -> None:
        path = str(tmp_path / "x.journal")
        assert run_with(journal=path).journal == Path(path)

    def test_an_unknown_policy_is_told(self) -> None:
        found = callboard.compare("two-jobs", ["fair"], seeds=2)
        with pytest.raises(InputError, match="not among the policies compared"):
            found.mean("fifo")

    @pytest.mark.soak
    def test_a_script_need_not_ask_for_its_name(self, tmp_path: Path) -> None:
        """Processes do not run the script again that started them."""
        script = tmp_path / "mine.py"
        script.write_text(
            "import callboard, callboard.playing\n"
            "callboard.playing.WORTH_PROCESSES = 0\n"
            "print(callboard.compare('two-jobs', seeds=2, cores=2))\n"
        )
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=False, timeout=120
        )
        assert (done.stdout, done.stderr) == ("<two-jobs under fifo, fair: 2 seeds>\n", "")


class TestSweep:
    """`callboard.sweep` and `callboard.load` of a store."""

    def test_only_its_own_runs_come_back(self, tmp_path: Path) -> None:
        store = tmp_path / "s"
        with ThreadPoolExecutor(2) as executor:
            callboard.sweep("two-jobs", store=store, seeds=2, executor=executor)
            vary: dict[str, list[object]] = {"cluster.nodes": [4, 6]}
            vary["policy"] = ["fair", "fifo"]
            found = callboard.sweep("two-jobs", store=store, vary=vary, executor=executor)
        assert len(found) == 4
        assert sorted(set(found.runs["cluster.nodes"])) == [4, 6]
        assert found.failed == ()
        everything = callboard.load(store)
        assert isinstance(everything, Sweep)
        assert len(everything) == 8
        assert repr(everything) == "<8 runs in 3 settings>"
        assert everything.jobs.rows == 16
        assert "cluster.nodes" in everything._repr_html_()

    def test_what_was_varied_are_numbers_where_it_was_written_as_such(self, tmp_path: Path) -> None:
        """They were texts, of which none is 4."""
        with ThreadPoolExecutor(2) as executor:
            vary = {"cluster.nodes": [4, 10], "tasks.sigma": [0, 0.5]}
            overrides = {"workload.job.0.maps": 3}
            store = tmp_path / "s"
            found = callboard.sweep(
                "two-jobs", store=store, vary=vary, executor=executor, overrides=overrides
            )
        assert sorted(set(found.runs["cluster.nodes"])) == [4, 10]
        assert set(found.jobs["tasks.sigma"]) == {0.0, 0.5}
        assert found.jobs["maps"][0] == found.runs["workload.job.0.maps"][0] == 3

    @pytest.mark.parametrize(
        ("ask", "told"),
        [
            (lambda: callboard.sweep("two-jobs", store="s", vary=["a=4"]), "vary: expected a `Ma"),  # type: ignore[arg-type]
            (lambda: callboard.run(options={"check": True}), "options: expected a `RunOptions`"),  # type: ignore[arg-type]
        ],
    )
    def test_an_argument_of_another_kind_is_refused_in_a_line(
        self, ask: Callable[[], object], told: str
    ) -> None:
        with pytest.raises(errors.InputError, match=told):
            ask()

    def test_errors_are_caught_by_their_names(self, tmp_path: Path) -> None:
        """As the reference has them; they stood in five rooms."""
        with pytest.raises(errors.ScenarioError):
            callboard.run("two-job")
        with pytest.raises(errors.PolicySpecError):
            callboard.run("two-jobs", "fairr")
        mine = tmp_path / "mine.py"
        mine.write_text(
            "from callboard.scheduler.orders.fifo import Fifo\n\n\nclass Mine(Fifo):\n"
            "    def queue(self, *told):\n        1 / 0\n"
        )
        with pytest.raises(errors.ActorFailed):
            callboard.run("two-jobs", f"{mine}:Mine")

    def test_what_is_no_result_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_text("x")
        with pytest.raises(InputError, match="neither a journal nor a store"):
            callboard.load(path)
        with pytest.raises(InputError, match="there is no such file"):
            callboard.load(tmp_path / "none")


class TestTables:
    """Columns, and the libraries that take them."""

    TABLE = ColumnTable({"a": [1, 2], "b": [0.5, None], "c": ["<x>", None]})

    def test_missing_values_are_nan_or_none(self) -> None:
        assert self.TABLE["a"].dtype == np.int64
        assert np.isnan(self.TABLE["b"][1])
        assert self.TABLE["c"][1] is None
        assert (self.TABLE.rows, len(self.TABLE)) == (2, 3)

    def test_a_column_of_text_is_that_also_where_no_row_has_any(self) -> None:
        """NaN is not None, so that every attempt was one that had been preempted."""
        tasks = callboard.run("two-jobs").tasks
        assert tasks["preempted"].dtype == object
        assert not (tasks["preempted"] != None).any()  # noqa: E711
        assert ColumnTable({"text": []})["text"].dtype == object

    def test_a_notebook_sees_rows_and_no_markup_of_others(self) -> None:
        shown = self.TABLE._repr_html_()
        assert "&lt;x&gt;" in shown
        assert "<x>" not in shown

    @pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
    def test_pandas(self) -> None:
        frame = self.TABLE.to_pandas()
        assert frame.shape == (2, 3)
        assert frame["a"].sum() == 3

    @pytest.mark.skipif(find_spec("polars") is None, reason="polars is not installed")
    def test_polars(self) -> None:
        frame = self.TABLE.to_polars()
        assert frame.shape == (2, 3)
        assert frame["c"].to_list() == ["<x>", None]

    def test_what_is_not_installed_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtraError, match="pip install pandas"):
            self.TABLE.to_pandas()


def test_one_value_may_stand_where_several_are_taken(tmp_path: Path) -> None:
    """`compare("two-jobs", "fifo")` said “unknown policy `f`”."""
    assert callboard.compare("two-jobs", "fair", seeds=1, cores=1).policies == ("fair",)
    assert callboard.run("two-jobs", overrides="seed=7").summary.seed == 7
    with ThreadPoolExecutor(1) as executor:
        found = callboard.sweep(
            "two-jobs",
            store=tmp_path / "s.sqlite",
            policies="fifo",
            vary={"cluster.nodes": 3, "policy": "fair"},
            overrides="tasks.sigma=0.2",
            executor=executor,
        )
    assert found.runs["policy"].tolist() == ["fifo", "fair"]


def test_what_can_be_called_is_offered() -> None:
    """A notebook completes what `dir` has."""
    offered = dir(callboard)
    assert {"run", "compare", "sweep", "load", "__version__"} <= set(offered)
    assert not {"Path", "sys"} & set(offered)


def test_the_extra_of_this_page_brings_what_the_page_uses() -> None:
    """docs/experiments.md: intervals, figures, a report, a table of pandas."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    brought = tomllib.loads(text)["project"]["optional-dependencies"]["experiments"]
    names = {re.match(r"\w+", each)[0] for each in brought}  # type: ignore[index]
    assert {"scipy", "matplotlib", "jinja2", "pandas"} <= names
