"""`callboard ideal`: what it prints and writes, what it keeps, and what it says to bad input."""

import csv
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from importlib.util import find_spec
from pathlib import Path

import pytest

from callboard.cli import run_command_line
from callboard.experiments.ideal_study import study as studies
from callboard.experiments.ideal_study.cells import run_outcomes
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.study_runs import (
    Found,
    compute_study,
    count_known_runs,
    open_study_pool,
    study_runs,
)
from callboard.experiments.ideal_study.swim import REPORT_FILES, Trace, load_trace
from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.many.task_pool import OtherWorkers, dask_workers
from callboard.scheduler.text.scenario_error import ScenarioError

pytest.importorskip("scipy")  # for the intervals

ROOT = Path(__file__).parents[2]


def write_trace(path: Path, jobs: int = 40) -> Path:
    """A SWIM file of small and large jobs."""
    rows = [
        f"job{j}\t{7 * j + 3}\t7\t{(j * j * 37) % 1000}\t{(j * 91) % 300}\t{(j * 53) % 200 + 1}"
        for j in range(jobs)
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "small.tsv")


def run(*arguments: object) -> int:
    """The command as a user gives it."""
    return run_command_line(["ideal", *map(str, arguments)])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def study_of(trace: Trace, runs: int = 3, **more: Sequence[float]) -> Study:
    points, figures = studies.grid_points_and_figures(
        [trace.name], more.get("sigmas", [0, 0.5]), more.get("loads", [0.9]), [4.0]
    )
    return Study((trace,), "report", ("ps", "srpt", "fsp+ps"), points, figures, runs, seed=5)


class TestCommand:
    """From the arguments to the table and the files."""

    def test_table_and_files(
        self, trace_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "out"
        status = run(
            trace_file, "--sigma", 0, 0.5, "--runs", 4, "--out", out, "--cache", tmp_path / "c",
            "--disciplines", "ps", "srpt", "fsp+ps",
        )  # fmt: skip
        printed = capsys.readouterr().out
        assert status == 0
        assert "small: mean sojourn (s) at load 0.9, d/n 4" in printed
        runs = rows_of(out / "runs.csv")
        assert len(runs) == 3 + (1 + 4 + 4)
        summary = rows_of(out / "summary.csv")
        assert [(row["sigma"], row["discipline"], row["runs"]) for row in summary] == [
            ("0.0", "ps", "1"), ("0.0", "srpt", "1"), ("0.0", "fsp+ps", "1"),
            ("0.5", "ps", "1"), ("0.5", "srpt", "4"), ("0.5", "fsp+ps", "4"),
        ]  # fmt: skip
        of_srpt = [float(row["mean_s"]) for row in runs if row["discipline"] == "srpt"][1:]
        assert float(summary[4]["mean_s"]) == pytest.approx(sum(of_srpt) / 4)

    @pytest.mark.soak
    @pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
    def test_figures(self, trace_file: Path, tmp_path: Path) -> None:
        """Boxes over sigma, lines over load and over d/n; the same results give the same SVG."""
        arguments = [
            trace_file, "--sigma", 0, 0.5, "--load", 0.5, 0.9, "--dn", 1, 4,
            "--runs", 3, "--cache", tmp_path / "c", "--out",
        ]  # fmt: skip
        assert run(*arguments, tmp_path / "a") == 0
        assert run(*arguments, tmp_path / "b") == 0
        stems = {path.stem for path in (tmp_path / "a").glob("*.svg")}
        assert stems == {
            "sojourn-vs-sigma-small",
            "sojourn-vs-load-sigma-0",
            "sojourn-vs-load-sigma-0.5",
            "sojourn-vs-dn-sigma-0",
            "sojourn-vs-dn-sigma-0.5",
        }
        for stem in stems:
            svg = (tmp_path / "a" / f"{stem}.svg").read_bytes()
            assert svg == (tmp_path / "b" / f"{stem}.svg").read_bytes()
            assert (tmp_path / "a" / f"{stem}.png").read_bytes().startswith(b"\x89PNG")

    @pytest.mark.soak
    def test_a_study_says_which_trace_is_absent_and_goes_on(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`--report` with two of the three: figures 3.1, 3.3 and 3.4 to 3.7."""
        for name in ("FB09-0", "FB10"):
            write_trace(tmp_path / REPORT_FILES[name], 30)
        out = tmp_path / "out"
        status = run(tmp_path, "--report", "--runs", 1, "--out", out, "--cache", tmp_path / "c")
        assert status == 0
        assert f"FB09-1 is absent: no {REPORT_FILES['FB09-1']}" in capsys.readouterr().err
        points = {(row["load"], row["dn"], row["sigma"]) for row in rows_of(out / "summary.csv")}
        assert len(points) == 5 + 2 * 19 + 1 + 2 * 9  # sigmas; loads and ratios share (0.9, 4)
        if find_spec("matplotlib"):
            numbers = sorted(path.name[:10] for path in out.glob("*.svg"))
            assert numbers == [f"figure-3.{k}" for k in (1, 3, 4, 5, 6, 7)]

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["no.tsv"], "no.tsv: there is no such file"),
            ([], "no trace given"),
            (["--report", "nowhere.tsv"], "none of the report's three traces"),
            (["{trace}", "{trace}"], "two traces of one name"),
            (["{trace}", "--against", "las", "--disciplines", "ps"], "--against las: not among"),
            (["{trace}", "--report", "--sigma", "1"], "--sigma says nothing with it"),
            (["{trace}", "--on", "tcp://a:1"], "dask://HOST:PORT"),
            (["{trace}", "--out", "{trace}/x"], "--out"),
            (["{trace}", "--cache", "{trace}/x"], "cannot keep results there"),
            (["{trace}", "--cache", "{trace}"], "holds no results of Callboard"),
        ],
    )
    def test_bad_input_is_one_line_and_status_2(
        self,
        arguments: list[str],
        complaint: str,
        trace_file: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("CALLBOARD_TRACES", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        given = [text.format(trace=trace_file) for text in arguments]
        assert run(*given) == 2
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") <= 4
        assert "Traceback" not in said

    @pytest.mark.parametrize(
        "arguments",
        [["--sigma", "-1"], ["--sigma", "nan"], ["--load", "0"], ["--dn", "x"], ["--runs", "0"]],
    )
    def test_bad_numbers(
        self, arguments: list[str], trace_file: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as ended:
            run(trace_file, *arguments)
        assert ended.value.code == 2
        assert arguments[1] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("job0 1 1 5 5", "line 2: expected 6 columns.*got 5"),
        ("job0 1 1 5 x 5", "line 2, shuffle bytes: expected a whole number"),
        ("job0 -1 1 5 5 5", "line 2, submit time: expected a whole number"),
    ],
)
def test_bad_traces_are_named(tmp_path: Path, line: str, complaint: str) -> None:
    """File, line and column are said, and what was expected there."""
    path = tmp_path / "bad.tsv"
    path.write_text(f"job 0 0 1 1 1\n{line}\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=f"bad.tsv.*{complaint}"):
        load_trace(path)


def test_every_discipline_sees_the_same_draws(trace_file: Path) -> None:
    """Paired: cells of two disciplines, loads or ratios get one error a job and run.

    So PSBS of equal weights, which is FSP+PS by another name, has its outcomes to the bit.
    """
    study = study_of(load_trace(trace_file))
    point = study.points[1]
    answers = [
        run_outcomes(study.traces[0], study.cell(study.traces[0], name, point), range(3))
        for name in ("fsp+ps", "psbs")
    ]
    assert answers[0] == answers[1]
    assert len(set(answers[0])) == 3


def test_what_cannot_differ_is_one_cell(trace_file: Path) -> None:
    """Blind disciplines and runs without errors are computed once, not once a sigma and run."""
    assert len(study_runs(study_of(load_trace(trace_file), runs=7))) == 3 + 2 * 7


class InTurn(Executor):
    """Computes each task when it is handed out."""

    def submit(self, fn, /, *arguments, **named):  # type: ignore[no-untyped-def]
        future: Future[object] = Future()
        future.set_result(fn(*arguments, **named))
        return future


class TestCache:
    """A finished run is never computed twice."""

    def test_nothing_is_done_twice(self, trace_file: Path, tmp_path: Path) -> None:
        study = study_of(load_trace(trace_file))
        steps: list[int] = []
        with ResultStore(tmp_path / "cache") as cache, open_study_pool(1) as workers:
            found = compute_study(study, cache, workers)
            assert compute_study(study, cache, workers, steps.append) == found
            assert sum(steps) == 0
            more = study._replace(runs=study.runs + 2)
            compute_study(more, cache, workers, steps.append)
            assert sum(steps) == len(study_runs(more)) - len(study_runs(study)) > 0

    def test_what_was_finished_before_a_failure_is_kept(
        self, trace_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("callboard.experiments.ideal_study.study_runs.JOBS_AT_ONCE", 1)
        study, done = study_of(load_trace(trace_file)), list[int]()

        def stops_at_third(_: int) -> None:
            done.append(1)
            if len(done) == 3:
                raise KeyboardInterrupt

        with ResultStore(tmp_path / "cache") as cache:
            with pytest.raises(KeyboardInterrupt):
                compute_study(study, cache, OtherWorkers(InTurn(), 1), stops_at_third)
            assert count_known_runs(study, cache) == 3

    def test_other_code_has_other_results(
        self, trace_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = study_of(load_trace(trace_file))
        with ResultStore(tmp_path / "cache") as cache, open_study_pool(1) as workers:
            compute_study(study, cache, workers)
            assert count_known_runs(study, cache) == len(study_runs(study))
            monkeypatch.setattr(
                "callboard.experiments.ideal_study.study_runs.program_digest", lambda: "another"
            )
            assert count_known_runs(study, cache) == 0

    @pytest.mark.soak
    @pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
    def test_killed_half_way(self, tmp_path: Path) -> None:
        """SIGKILL once some runs are on disk; the next start has them and computes the rest."""
        path = write_trace(tmp_path / "long.tsv", 3000)
        cache = tmp_path / "cache"
        command: list[str | Path] = [
            sys.executable, "-m", "callboard", "ideal", path, "--sigma", "1", "--runs", "3000",
            "--disciplines", "srpt", "fsp+ps", "--cores", "1",
            "--out", tmp_path / "out", "--cache", cache,
        ]  # fmt: skip
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            wait_for_rows(cache, process)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        trace = load_trace(path)
        points, figures = studies.grid_points_and_figures([trace.name], [1.0], [0.9], [4.0])
        study = Study((trace,), "report", ("srpt", "fsp+ps"), points, figures, 3000, 0)
        with ResultStore(cache) as kept:
            assert 0 < count_known_runs(study, kept) < len(study_runs(study)) == 6000


def wait_for_rows(cache: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the cache has rows; fail if the process ends before, or after a minute."""
    for _ in range(600):
        assert process.poll() is None, "it ended before it could be killed"
        if cache.exists():
            try:
                with sqlite3.connect(cache, timeout=5) as db:
                    if db.execute("SELECT count(*) FROM results").fetchone()[0]:
                        return
            except sqlite3.OperationalError:
                pass  # the table is not there yet
        time.sleep(0.1)
    pytest.fail("no rows within a minute")


@pytest.mark.soak
def test_processes_and_threads_agree(
    trace_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without numba the workers are processes; the outcomes are the same."""
    study = study_of(load_trace(trace_file))
    here = run_study(study, tmp_path / "a", 1)
    monkeypatch.setattr(
        "callboard.experiments.ideal_study.study_runs.numba_is_installed", lambda: False
    )
    assert run_study(study, tmp_path / "b", 2) == here


def run_study(study: Study, path: Path, cores: int) -> Found:
    with ResultStore(path) as cache, open_study_pool(cores) as workers:
        return compute_study(study, cache, workers)


@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_finds_the_same(trace_file: Path, tmp_path: Path) -> None:
    """`--on dask://HOST:PORT`: the same outcomes to the bit, kept in the same cache."""
    import distributed

    study = study_of(load_trace(trace_file))
    here = run_study(study, tmp_path / "here", 1)
    scheduler = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://",
        host="127.0.0.1", dashboard_address=None,
    )  # fmt: skip
    with scheduler, ResultStore(tmp_path / "there") as cache:
        address = scheduler.scheduler_address.split("://")[1]
        with dask_workers(f"dask://{address}") as workers:
            assert compute_study(study, cache, workers) == here
        assert count_known_runs(study, cache) == len(study_runs(study))
