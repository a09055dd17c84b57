"""Sweeps: only what is missing is played, what is there is whole, what fails is told."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
import pytest

from callboard.experiments.many import computing, content_key
from callboard.experiments.many.content_key import PLAYING, PROGRAM, READING, code_digest, task_key
from callboard.experiments.many.result_store import Kept, ResultStore, is_store
from callboard.experiments.many.run_tasks import RunTask, SoloTask
from callboard.experiments.many.sweeps import sweep
from callboard.experiments.many.sweeps.design_file import read_design
from callboard.experiments.many.sweeps.played_cell import Place, PlayedCell, Setting
from callboard.experiments.many.sweeps.sensitivity import (
    KeyRange,
    Question,
    parse_range,
    without_points,
)
from callboard.experiments.many.sweeps.sweep import (
    SweepCounts,
    outdated_places,
    read_cells,
    run_sweep,
)
from callboard.experiments.many.sweeps.sweep_plan import PlannedSweep, SweepPlan
from callboard.experiments.many.sweeps.sweep_rows import by_setting, columns_of_runs, varied_keys
from callboard.experiments.many.sweeps.variation import all_combinations, parse_variation
from callboard.experiments.many.task_pool import OtherWorkers, dask_workers
from callboard.experiments.pages.charts.chart_catalogue import read_store
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import run_simulation
from callboard.experiments.user_errors import InputError
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.histories.readers.samples import HADOOP1, written

ROOT = Path(__file__).parents[2]

GRID = all_combinations([("tasks.sigma", ("0", "0.5")), ("cluster.map_slots", ("1", "2"))])
PLAN = SweepPlan(scenarios=("two-jobs",), settings=GRID, seeds="2")


class Here(Executor):
    """Computes each task when it is handed out, and counts them; dies at the `last` one."""

    def __init__(self, last: int | None = None) -> None:
        self.tasks: list[object] = []
        self.last = last

    def submit(self, fn, /, *arguments, **named):  # type: ignore[no-untyped-def]
        if len(self.tasks) == self.last:
            raise KeyboardInterrupt
        self.tasks.append(arguments)
        future: Future[object] = Future()
        future.set_result(fn(*arguments, **named))
        return future


def play(
    plan: SweepPlan, path: Path, executor: Here | None = None, *, retry: bool = False
) -> SweepCounts:
    with ResultStore(path) as store:
        workers = OtherWorkers(executor or Here(), 1)
        return run_sweep(PlannedSweep(plan), store, workers, retry=retry)


class TestStore:
    """What is missing, and only that."""

    def test_what_is_there_is_not_played_again(self, tmp_path: Path) -> None:
        path, again = tmp_path / "s", Here()
        assert play(PLAN, path) == SweepCounts(found=0, played=16, failed=0)
        assert play(PLAN, path, again) == SweepCounts(found=16, played=0, failed=0)
        assert again.tasks == []
        more = msgspec.structs.replace(PLAN, seeds="3", policies=("fifo", "fair", "hfsp"))
        assert play(more, path) == SweepCounts(found=16, played=20, failed=0)

    def test_a_cell_has_the_figures_of_its_run(self, tmp_path: Path) -> None:
        play(PLAN, tmp_path / "s")
        with ResultStore(tmp_path / "s") as store:
            cells = read_cells(store)
        assert len(cells) == 16
        cell = cells[-1]
        overrides = [f"{key}={value}" for key, value in cell.setting]
        spec = load_run("two-jobs", [*overrides, f"seed={cell.seed}"])
        alone = run_simulation(msgspec.structs.replace(spec, policy=cell.policy))
        assert cell.result is not None
        assert cell.result.summary == alone.summary
        assert (cell.result.jobs.response_ms == alone.jobs.response_ms).all()

    def test_what_was_finished_before_a_stop_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "s"
        with pytest.raises(KeyboardInterrupt):
            play(PLAN, path, Here(last=5))
        rest = Here()
        counts = play(PLAN, path, rest)
        assert counts.found + counts.played == 16
        assert 1 <= counts.found <= 5

    def test_times_alone_are_played_once_a_world_and_stand_beside_the_jobs(
        self, tmp_path: Path
    ) -> None:
        plan = msgspec.structs.replace(PLAN, slowdown=True)
        counts = play(plan, tmp_path / "s")
        assert (counts.played, counts.alone, counts.found) == (16, 8, 0)
        again = play(plan, tmp_path / "s")
        assert (again.played, again.alone, again.found) == (0, 0, 16)
        with ResultStore(tmp_path / "s") as store:
            (first, *_) = read_cells(store)
        assert first.result is not None
        assert first.result.slowdown is not None
        assert first.result.slowdown.statistics.mean is not None

    def test_a_cell_that_cannot_be_is_told_and_does_not_stop_the_rest(self, tmp_path: Path) -> None:
        settings = all_combinations([("cluster.nodes", ("4", "1", "8"))])
        plan = msgspec.structs.replace(PLAN, settings=settings)
        assert play(plan, tmp_path / "s") == SweepCounts(found=0, played=12, failed=4)
        with ResultStore(tmp_path / "s") as store:
            failed = [cell for cell in read_cells(store) if cell.error]
        assert {cell.setting for cell in failed} == {(("cluster.nodes", "1"),)}
        assert all("only 1 node to stand in them" in cell.error for cell in failed)

    def test_a_failure_is_kept_until_it_is_tried_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_: object) -> bytes:
            raise MemoryError("no room")

        path = tmp_path / "s"
        with monkeypatch.context() as patched:
            patched.setattr(sweep, "play_task", broken)
            assert play(PLAN, path) == SweepCounts(found=0, played=16, failed=16)
        assert play(PLAN, path) == SweepCounts(found=16, played=0, failed=16)
        assert play(PLAN, path, retry=True) == SweepCounts(found=0, played=16, failed=0)

    def test_a_worker_with_other_code_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs = computing._WorkerAnswers("another", ())
        monkeypatch.setattr(computing, "perform_calls", lambda _: theirs)
        with pytest.raises(InputError, match="another version"):
            play(PLAN, tmp_path / "s")

    def test_other_files_are_left_alone(self, tmp_path: Path) -> None:
        text, foreign = tmp_path / "text", tmp_path / "foreign"
        text.write_text("precious")
        with sqlite3.connect(foreign) as db:
            db.execute("CREATE TABLE precious (x)")
        for path in (text, foreign):
            with pytest.raises(InputError, match="holds no results of Callboard"):
                ResultStore(path)
        assert not is_store(foreign)
        with pytest.raises(InputError, match="no such file"):
            ResultStore(tmp_path / "none", must_exist=True)
        with pytest.raises(InputError, match="cannot keep results there"):
            ResultStore(text / "s")
        with ResultStore(tmp_path / "new-folder" / "s"):
            assert is_store(tmp_path / "new-folder" / "s")

    def test_a_store_of_a_later_version_is_not_touched(self, tmp_path: Path) -> None:
        path = tmp_path / "s"
        ResultStore(path).__exit__()
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 99")
        with pytest.raises(InputError, match="later version"):
            ResultStore(path)

    @pytest.mark.parametrize(
        "value",
        [
            pytest.param(b"\xc1", id="no MessagePack"),
            pytest.param(msgspec.msgpack.encode(7), id="no table"),
            pytest.param(msgspec.msgpack.encode({}), id="of another version"),
            pytest.param(msgspec.msgpack.encode({"jobs": {"maps": b"xx"}}), id="damaged"),
        ],
    )
    def test_a_result_that_cannot_be_read_is_told_with_its_store(
        self, tmp_path: Path, value: bytes
    ) -> None:
        """All but the first were tracebacks in a report, and that one in `sweep`."""
        path = tmp_path / "s"
        with ResultStore(path) as store:
            place = msgspec.json.encode(Place("two-jobs", (), "fifo", 1)).decode()
            store.put_places([(place, "key")])
            store.add([("key", Kept(value, "", 0.0))])
            for read in (lambda: read_cells(store), lambda: read_store(path)):
                with pytest.raises(InputError, match=rf"^{path}: a result cannot be read \("):
                    read()

    def test_two_may_write_at_once(self, tmp_path: Path) -> None:
        with ResultStore(tmp_path / "s") as one, ResultStore(tmp_path / "s") as other:
            one.add([("a", Kept(b"1", "", 0.0))])
            other.add([("b", Kept(b"2", "", 0.0))])
            assert one.find(["a", "b"]) == other.find(["b", "a"])

    @pytest.mark.soak
    def test_killed_half_way(self, tmp_path: Path) -> None:
        """SIGKILL once some results are on disk: those are whole, and the rest is played."""
        path = tmp_path / "s"
        command = [
            *(sys.executable, "-m", "callboard", "sweep", "two-jobs", "--seeds", "1000"),
            *("--cores", "2", "--store", str(path)),
        ]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            wait_for_results(path, process)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        with ResultStore(path) as store:
            done = sum(cell.result is not None for cell in read_cells(store))
        assert 0 < done < 2000
        plan = SweepPlan(scenarios=("two-jobs",), seeds="1..3")
        counts = play(plan, path)
        assert 0 < counts.found <= 6
        assert counts.found + counts.played == 6
        assert counts.failed == 0


def wait_for_results(path: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the store has results; fail if the process ends before, or after a minute."""
    for _ in range(600):
        assert process.poll() is None, "it ended before it could be killed"
        try:
            with sqlite3.connect(path, timeout=5) as db:
                if db.execute("SELECT count(*) FROM results").fetchone()[0] > 5:
                    return
        except sqlite3.OperationalError:
            pass  # the table is not there yet
        time.sleep(0.1)
    pytest.fail("no results within a minute")


class TestKeys:
    """Equal keys have equal answers, and what changes the answer changes the key."""

    def key(self, *overrides: str, **changes: object) -> str:
        spec = load_run("two-jobs", overrides)
        return task_key(RunTask(msgspec.structs.replace(spec, **changes)))

    def test_names_and_drivers_change_nothing(self) -> None:
        assert self.key('name="other"', 'story="else"', 'policies=["fifo", "hfsp"]') == self.key()
        spec = load_run("two-jobs")
        assert task_key(RunTask(spec, driver="trio", place=7)) == task_key(RunTask(spec))

    @pytest.mark.parametrize(
        "override", ["seed=2", "tasks.sigma=0.1", "cluster.nodes=5", "workload.job.0.maps=11"]
    )
    def test_what_the_world_is_changes_it(self, override: str) -> None:
        assert self.key(override) != self.key()

    def test_what_each_task_took_changes_it(self, tmp_path: Path) -> None:
        """Of a history: the length of one map, and that one attempt of another failed."""
        texts = (
            HADOOP1,
            HADOOP1.replace('FINISH_TIME="1200000015000"', 'FINISH_TIME="1200000015500"'),
            HADOOP1.replace('TASK_STATUS="FAILED"', 'TASK_STATUS="KILLED"'),
        )
        specs = [load_run(str(written(tmp_path, text))) for text in (*texts, HADOOP1)]
        *differ, again = [task_key(RunTask(spec)) for spec in specs]
        assert len(set(differ)) == 3
        assert again == differ[0]

    def test_policy_end_and_ties_change_it(self) -> None:
        keys = {self.key(policy="fair"), self.key(until_ms=5), self.key(tie_order=1), self.key()}
        assert len(keys) == 4

    def test_times_alone_depend_on_no_policy(self) -> None:
        spec = load_run("two-jobs")
        other = msgspec.structs.replace(spec, policy="hfsp")
        assert task_key(SoloTask(spec)) == task_key(SoloTask(other))
        assert task_key(SoloTask(spec)) != task_key(RunTask(spec))

    def test_the_model_changes_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = self.key()
        monkeypatch.setattr(content_key, "model_version", lambda: "another")
        assert self.key() != before

    @pytest.mark.parametrize(
        ("file", "known", "drawn"),
        [
            ("scenarios/toml_reader.py", False, True),
            ("histories/readers/swf.py", False, True),
            ("scheduler/text/quantities.py", False, False),
            ("scheduler/orders/fifo.py", True, True),
            ("actors/books/ledger.py", True, True),
            ("experiments/pages/charts/chart_style.py", False, False),
        ],
    )
    def test_a_reader_changes_what_a_scenario_comes_to_and_no_run_whose_jobs_are_known(
        self, tmp_path: Path, file: str, known: bool, drawn: bool
    ) -> None:
        """A comment in it, here."""
        for room in PROGRAM:
            shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pyc*"))
        parts = (PLAYING, (*PLAYING, *READING))
        before = [code_digest(tmp_path, patterns) for patterns in parts]
        edited = tmp_path / file
        edited.write_text(edited.read_text() + "# One more remark.\n")
        after = [code_digest(tmp_path, patterns) for patterns in parts]
        assert [old != new for old, new in zip(before, after, strict=True)] == [known, drawn]

    def test_the_code_of_a_users_part_changes_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mine = tmp_path / "mine.py"
        source = (
            "from callboard.scheduler.orders.fifo import Fifo\n\n\nclass Mine(Fifo):\n    pass\n"
        )
        monkeypatch.chdir(tmp_path)
        mine.write_text(source)
        before = self.key(policy="./mine.py:Mine")
        mine.write_text(source + "# better now\n")
        edited = self.key(policy="./mine.py:Mine")
        assert edited != before, "also in one process: a notebook's sweep gave runs of before"
        mine.write_text(source)
        assert self.key(policy="./mine.py:Mine") == before

    def test_two_files_of_one_name_are_two(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first one's key is not made of the file that was read last."""
        source = (
            "from callboard.scheduler.orders.fifo import Fifo\n\n\nclass Mine(Fifo):\n    pass\n"
        )
        monkeypatch.chdir(tmp_path)
        for folder in ("a", "b"):
            Path(folder).mkdir()
            Path(folder, "mine.py").write_text(f"# {folder}\n{source}")
        alone = self.key(policy="./a/mine.py:Mine")
        both = self.key(policy="./a/mine.py:Mine+delay"), self.key(policy="./b/mine.py:Mine")
        assert self.key(policy="./a/mine.py:Mine") == alone
        assert len({alone, *both}) == 3


class TestPlans:
    """Grids, variations, design files."""

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("cluster.nodes=10, 20", ("10", "20")),
            ("sizes={k = 'a', n = 1},{k = 'b,c'}", ("{k = 'a', n = 1}", "{k = 'b,c'}")),
            ("policy=fifo,fair+kill(t={1,5})", ("fifo", "fair+kill(t=1)", "fair+kill(t=5)")),
            ("policy=fair+{delay(a=1,b=2),kill}", ("fair+delay(a=1,b=2)", "fair+kill")),
            ("policy={fair,yarn(queues={p={c=6}})}", ("fair", "yarn(queues={p={c=6}})")),
            ("policy=mine(name='{a,b}')", ("mine(name='{a,b}')",)),
            ("policy=yarn(queues={p={c=6},q={}})", ("yarn(queues={p={c=6},q={}})",)),
            ("policy=yarn(queues={p={c={6,4}}})",
             ("yarn(queues={p={c=6}})", "yarn(queues={p={c=4}})")),
            ("policy={fifo,fair}+delay(node=1,rack={2,3})",
             ("fifo+delay(node=1,rack=2)", "fifo+delay(node=1,rack=3)",
              "fair+delay(node=1,rack=2)", "fair+delay(node=1,rack=3)")),
            ("a=1,1", ("1",)),
        ],
    )  # fmt: skip
    def test_values_are_split_outside_of_brackets(self, text: str, values: tuple[str, ...]) -> None:
        assert parse_variation(text)[1] == values

    @pytest.mark.parametrize("text", ["", "=1", "a", "a=", "a=,"])
    def test_what_is_no_variation_is_told(self, text: str) -> None:
        with pytest.raises(InputError, match="expected KEY=VALUE"):
            parse_variation(text)

    def test_a_share_of_the_scenarios_own_is_told_to_be_none(self) -> None:
        """`run --nodes -20%` is one."""
        with pytest.raises(InputError, match=r"-20%: expected numbers.*for `run --nodes -20%`"):
            parse_variation("cluster.nodes=100,-20%")
        with pytest.raises(InputError, match="expected values with commas between"):
            parse_variation("tasks.sigma=0.5..1")

    def test_a_grid_has_every_combination_and_no_key_twice(self) -> None:
        assert len(GRID) == 4
        assert GRID[1] == (("tasks.sigma", "0"), ("cluster.map_slots", "2"))
        with pytest.raises(InputError, match="given twice"):
            all_combinations([("a", ("1",)), ("a", ("2",))])

    def test_a_bad_key_or_policy_is_told_before_anything_is_played(self) -> None:
        with pytest.raises(ScenarioError, match="nodez"):
            PlannedSweep(SweepPlan(scenarios=("two-jobs",), fixed=(("cluster.nodez", "3"),)))
        with pytest.raises(PolicySpecError):
            PlannedSweep(SweepPlan(scenarios=("two-jobs",), policies=("fare",)))

    def test_a_journal_has_one_seed_and_seeds_are_no_key(self, tmp_path: Path) -> None:
        journal = tmp_path / "r.journal"
        run_simulation(load_run("two-jobs"), journal=journal)
        assert len(PlannedSweep(SweepPlan(scenarios=(str(journal),)))) == 1
        with pytest.raises(InputError, match="a recorded run is played again as it was"):
            PlannedSweep(SweepPlan(scenarios=(str(journal),), seeds="2"))
        with pytest.raises(InputError, match="seeds are not a key to vary"):
            SweepPlan(scenarios=("two-jobs",), fixed=(("seed", "3"),))

    def test_a_key_is_varied_or_set_to_one_value_but_not_both(self, tmp_path: Path) -> None:
        """The one value was dropped without a word."""
        fixed, path = (("cluster.map_slots", "5"),), tmp_path / "d.toml"
        with pytest.raises(
            InputError, match=r"cluster\.map_slots: it is both varied and set to one"
        ):
            SweepPlan(scenarios=("two-jobs",), settings=GRID, fixed=fixed)
        path.write_text('scenarios = ["two-jobs"]\nset = { a = 5 }\n[[points]]\na = 6\n')
        with pytest.raises(InputError, match="a: it is both varied and set to one value"):
            read_design(path)

    def test_a_design_file_says_the_same(self, tmp_path: Path) -> None:
        path = tmp_path / "d.toml"
        path.write_text(
            'scenarios = ["two-jobs"]\nseeds = "5..6"\npolicies = ["fair+delay(node={1,5})"]\n'
            '[vary]\n"tasks.sigma" = [0, 0.5]\n"workload.path" = ["a.tsv"]\n'
            '[[points]]\n"cluster.nodes" = 6\n[set]\n"cluster.racks" = 2\n'
        )
        plan = read_design(path)
        assert plan.policies == ("fair+delay(node=1)", "fair+delay(node=5)")
        assert plan.fixed == (("cluster.racks", "2"),)
        assert plan.settings == (
            (("cluster.nodes", "6"),),
            (("tasks.sigma", "0"), ("workload.path", "a.tsv")),
            (("tasks.sigma", "0.5"), ("workload.path", "a.tsv")),
        )
        path.write_text('scenarios = ["two-jobs"]\nseed = 5\n')
        with pytest.raises(InputError, match=r"d\.toml.*seed"):
            read_design(path)


def test_rows_are_by_setting_and_keys_that_do_not_vary_are_left_out(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, fixed=(("cluster.nodes", "5"),))
    play(plan, tmp_path / "s")
    with ResultStore(tmp_path / "s") as store:
        cells = read_cells(store)
    groups = by_setting(cells)
    assert [dict(group.setting)["tasks.sigma"] for group in groups] == ["0", "0", "0.5", "0.5"]
    assert varied_keys(groups) == ["tasks.sigma", "cluster.map_slots"]
    assert groups[0].runs.seeds == (1, 2)
    columns = columns_of_runs(cells)
    assert len({len(column) for column in columns.values()}) == 1
    assert columns["cluster.nodes"] == [5] * 16


@pytest.mark.skipif(find_spec("SALib") is None, reason="SALib is not installed")
class TestSensitivity:
    """Questions, and what answers say: checked where the truth is known."""

    RANGES = (KeyRange("a", 0, 1, whole=False), KeyRange("b", 0, 1, whole=False))

    def test_sobol_finds_the_shares_of_a_sum(self) -> None:
        """Of 3a + b, a uniform each, a explains 9/10 of the variance and b the rest."""
        question = Question("sobol", self.RANGES, 256, "s")
        found = question.indices(question.points() @ np.array([3.0, 1.0]))
        assert [each.main for each in found] == pytest.approx([0.9, 0.1], abs=0.03)
        assert [each.total for each in found] == pytest.approx([0.9, 0.1], abs=0.03)

    def test_morris_finds_the_slopes(self) -> None:
        question = Question("morris", self.RANGES, 10, "s")
        found = question.indices(question.points() @ np.array([3.0, 1.0]))
        assert [each.main for each in found] == pytest.approx([3.0, 1.0])
        assert [each.total for each in found] == pytest.approx([0.0, 0.0], abs=1e-9)

    def test_the_points_are_settings_whole_where_the_ends_are(self) -> None:
        ranges = (parse_range("cluster.nodes=2..9"), parse_range("tasks.sigma=0..0.5"))
        settings = Question("sobol", ranges, 4, "s").settings()
        assert len(settings) == 4 * (2 + 2)
        assert all(dict(each)["cluster.nodes"] in "23456789" for each in settings)
        assert settings == Question("sobol", ranges, 4, "s").settings()

    def test_sobols_points_want_a_power_of_two(self) -> None:
        with pytest.raises(InputError, match="power of two"):
            Question("sobol", self.RANGES, 12, "s")

    def test_points_stay_where_the_same_keys_are_varied_besides(self) -> None:
        """Of a grid of 4 to 7 nodes by two intervals four of eight settings were left out of the
        figures: they were points of --morris too.
        """
        nodes = parse_range("nodes=4..7")
        question = Question("morris", (nodes, parse_range("ms=1000..5000")), 10, "s")
        ends = [(str(n), ms) for n in (4, 5, 6, 7) for ms in ("1000", "5000")]
        grid = [(("nodes", n), ("ms", ms)) for n, ms in ends]
        assert 0 < len(set(grid) & set(question.settings())) < len(grid)
        assert set(grid) <= set(self.left([*question.settings(), *grid], question))
        other = (("sigma", "0.5"),)
        assert self.left([*question.settings(), other], question) == [other]
        assert self.left(question.settings(), question) == []

    def test_points_that_nobody_would_write_are_left_out_beside_varied_ones(self) -> None:
        question = Question("sobol", (KeyRange("a", 0, 1, whole=False),), 4, "s", (("b", "x.yz"),))
        varied = (("b", "x.yz"), ("a", "0.5"))
        assert self.left([*question.settings_with_fixed(), varied], question) == [varied]

    @staticmethod
    def left(settings: Iterable[Setting], question: Question) -> list[Setting]:
        """Those of them that are not left to the answer of the question."""
        cells = [PlayedCell("s", each, "fifo", 1) for each in dict.fromkeys(settings)]
        return [cell.setting for cell in without_points(cells, [question])]

    @pytest.mark.parametrize("text", ["a", "a=1", "a=2..1", "a=x..y", "=1..2", "a=0..inf"])
    def test_what_is_no_range_is_told(self, text: str) -> None:
        with pytest.raises(InputError, match=r"KEY=LO\.\.HI"):
            parse_range(text)


@pytest.mark.soak
@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_that_loses_a_worker_plays_every_cell_once(tmp_path: Path) -> None:
    """`--on dask://HOST:PORT`: a worker is killed half-way, and all cells are there."""
    import distributed

    plan = msgspec.structs.replace(PLAN, seeds="6")
    here, there = tmp_path / "here", tmp_path / "there"
    play(plan, here)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, protocol="tcp://",
        host="127.0.0.1", dashboard_address=None,
    )  # fmt: skip
    with cluster, ResultStore(there) as store:
        address = cluster.scheduler_address.split("://")[1]
        with dask_workers(f"dask://{address}") as workers:
            known: list[int] = []

            def kill_one(more: int) -> None:
                known.append(more)
                if len(known) == 10:
                    pid = next(iter(cluster.workers.values())).process.process.pid
                    os.kill(pid, signal.SIGKILL)

            counts = run_sweep(PlannedSweep(plan), store, workers, kill_one)
        assert counts == SweepCounts(found=0, played=48, failed=0)
        with ResultStore(here) as ours:
            mine = {cell.key: digest(cell) for cell in read_cells(ours)}
        assert {cell.key: digest(cell) for cell in read_cells(store)} == mine


def digest(cell: PlayedCell) -> str | None:
    assert cell.result is not None
    return cell.result.summary.digest


def test_where_a_policy_has_changed_its_other_runs_of_before_are_outdated() -> None:
    """Two seeds of the old code and two of the new made one mean; other policies stay."""

    def at(policy: str, seed: int) -> str:
        return msgspec.json.encode(Place("night", (), policy, seed)).decode()

    before = {
        at(policy, seed): f"{policy} {seed}" for policy in ("fifo", "Mine") for seed in (1, 2)
    }
    asked = {at("fifo", 1): "fifo 1", at("Mine", 1): "Mine, mended 1"}
    assert outdated_places(before, asked) == [at("Mine", 2)]
    assert outdated_places(before, {**asked, at("Mine", 1): "Mine 1"}) == []
