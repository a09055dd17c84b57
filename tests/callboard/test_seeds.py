"""`callboard run` with several seeds: intervals, differences, precision, processes."""

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import msgspec
import numpy as np
import pytest

from callboard import playing, run_seeds
from callboard.console import PlainConsole
from callboard.experiments.many import task_pool
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.many.seeds import seeds_of
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import pack_result, unpack_result
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.experiments.user_errors import InputError, RunFailed
from callboard.playing import PlayedRows
from callboard.scheduler.model import MAPS
from tests.callboard.conftest import Run

SMALL = ("two-jobs", "--set", "tasks.sigma=0.4")
T_4 = 2.776  # Student's 97.5 % quantile with 4 degrees of freedom, from printed tables


def means(out: str, place: int = 0) -> list[float]:
    runs = json.loads(out)[place]["runs"]
    return [run["response_seconds"]["mean"] for run in runs]


class TestSeeds:
    """What a number, a range and a list of seeds mean."""

    def test_a_number_counts_from_the_scenarios_own(self) -> None:
        assert seeds_of("3") == (1, 2, 3)
        assert seeds_of(3, first=7) == (7, 8, 9)
        numpys: Any = np.int64(3)  # as those of a list may be
        assert seeds_of(numpys) == (1, 2, 3)

    def test_a_range_and_a_list_name_them(self) -> None:
        assert seeds_of("1001..1003") == (1001, 1002, 1003)
        assert seeds_of([5, 2]) == (5, 2)

    @pytest.mark.parametrize("asked", ["0", "", "x", "9..1", "1..", "-3", "1..999999999", "²"])
    def test_what_means_none_is_told(self, asked: str) -> None:
        with pytest.raises(InputError, match="seeds: "):
            seeds_of(asked)

    def test_no_seed_counts_twice(self) -> None:
        with pytest.raises(InputError, match="twice"):
            seeds_of([4, 4])


class TestIntervals:
    """The tables and the JSON."""

    def test_where_no_job_completes_there_is_no_mean_and_no_word_of_its_interval(
        self, callboard: Run
    ) -> None:
        """JSON has no NaN, which was in it; more seeds were said to help."""
        words = ("run", *SMALL, "--policy", "fifo", "--policy", "fair", "--until", "10")
        _, out, _ = callboard(*words, "--seeds", "2", "--json")
        assert "NaN" not in out
        figures = json.loads(out)[0]["figures"]
        assert figures["mean_response_seconds"]["mean"] is None
        _, out, _ = callboard(*words, "--seeds", "2")
        assert "No job has completed" in out
        assert "wide intervals" not in out
        assert "seed by seed" not in out

    def test_the_mean_has_students_interval_over_the_seeds(self, callboard: Run) -> None:
        status, out, err = callboard("run", *SMALL, "--seeds", "1001..1005", "--json")
        assert (status, err) == (0, "")
        first, second = json.loads(out)
        assert first["seeds"] == [1001, 1002, 1003, 1004, 1005]
        values = means(out)
        found = first["figures"]["mean_response_seconds"]
        assert found["mean"] == pytest.approx(fmean(values))
        assert found["half"] == pytest.approx(T_4 * stdev(values) / 5**0.5, rel=1e-3)
        pairs = [b - a for a, b in zip(values, means(out, 1), strict=True)]
        difference = second["differences"]["mean_response_seconds"]
        assert difference["difference"]["mean"] == pytest.approx(fmean(pairs))
        half = T_4 * stdev(pairs) / 5**0.5
        assert difference["difference"]["half"] == pytest.approx(half, rel=1e-3)
        assert difference["better_in"] == sum(pair < 0 for pair in pairs)

    def test_each_run_is_the_run_of_its_seed(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL, "--seeds", "2", "--seed", "8", "--json")
        digests = [run["digest"] for run in json.loads(out)[0]["runs"]]
        for seed, digest in zip((8, 9), digests, strict=True):
            _, alone, _ = callboard("run", *SMALL, "--seed", str(seed), "--json")
            assert json.loads(alone)[0]["digest"] == digest

    @pytest.mark.soak
    def test_policies_that_the_seeds_cannot_tell_from_the_best_are_named(
        self, callboard: Run
    ) -> None:
        """Else who is named first looks like the winner; `fifo` is none of them."""
        fair = ("--policy", "fair", "--policy", "fair(pool_by='user')")
        asked = ("run", "facebook-morning", "--jobs", "12", "--seeds", "3", "--policy", "fifo")
        _, out, _ = callboard(*asked, *fair)
        (told,) = [line for line in out.splitlines() if line.startswith("Under fair")]
        assert told.endswith(' Under fair(pool_by="user") it took about as long as under fair.')
        _, out, _ = callboard(*asked, "--policy", "fair")
        assert "it took about as long" not in out

    def test_the_tables_say_how_sure_they_are(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL, "--seeds", "5", "--by", "user", "--slowdown")
        assert "5 seeds (1 to 5" in out
        assert "against fifo, seed by seed" in out
        assert " of 5" in out
        assert "slowdown, mean" in out
        assert "± is half a 95 % interval" in out
        assert "Under fair a job took " in out
        assert " less than under fifo (" in out
        (mean,) = [line for line in out.splitlines() if "response time, mean  " in line][:1]
        assert mean.count("±") == 2

    @pytest.mark.parametrize("seeds", ["1", "2"])
    def test_there_is_a_table_for_each_by_that_was_asked_for(
        self, callboard: Run, seeds: str
    ) -> None:
        """The first of two was dropped without a word."""
        asked = ("--by", "user", "--by", "pool", "--by", "user")
        _, out, _ = callboard("run", *SMALL, "--seeds", seeds, *asked)
        assert (out.count(" user: jobs "), out.count(" (no pool): jobs ")) == (1, 1)
        status, out, _ = callboard("run", *SMALL, "--seeds", seeds, *asked, "--json")
        assert status == 0
        runs = [run for each in json.loads(out) for run in each["runs"]]
        assert all({"by_user", "by_pool"} < run.keys() for run in runs)

    def test_one_seed_alone_is_told_from_evidence(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL)
        assert "one seed: it cannot tell chance from policy. --seeds 10 gives" in out
        _, out, _ = callboard("run", *SMALL, "--seeds", "1")
        assert "±" not in out.split("± is half")[0]

    def test_a_wide_interval_is_warned_of(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL[:1], "--set", "tasks.sigma=2", "--seeds", "3")
        assert "wide intervals: the mean response time of fifo" in out


class TestRules:
    """`--precision` and `--best`."""

    def test_precision_adds_seeds_until_it_is_reached(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL, "--precision", "10%", "--json")
        first, second = json.loads(out)
        difference = second["differences"]["mean_response_seconds"]
        assert len(first["seeds"]) >= 10
        assert difference["relative_half"] <= 0.1

    def test_precision_that_cannot_be_reached_says_so(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL, "--precision", "1%", "--seeds", "12")
        assert "gave up" in out
        assert "12 seeds" in out

    def test_precision_of_too_few_seeds_is_not_relied_on(self, callboard: Run) -> None:
        """It gave up although the interval was as narrow as asked for."""
        policies = ("--policy", "fifo", "--policy", "fair")
        _, out, _ = callboard("run", "two-jobs", *policies, "--precision", "5%", "--seeds", "5")
        assert "after 5 seeds, too few seeds to rely on it; ± 5 % asked for" in out
        assert "gave up" not in out

    def test_what_is_asked_of_best_alone_is_refused_without_it(self, callboard: Run) -> None:
        for option in ("--error", "--indifference"):
            status, _, err = callboard("run", *SMALL, "--seeds", "2", option, "1%")
            assert (status, f"{option} says " in err, "; add --best" in err) == (2, True, True)

    def test_best_names_the_policy_and_the_error(self, callboard: Run) -> None:
        _, out, _ = callboard("run", *SMALL, "--best", "--error", "1%")
        assert "fair has the lowest mean, after" in out
        assert "this is right with a probability of at least 99 % if the best" in out

    def test_json_has_what_was_asked_for(self, callboard: Run) -> None:
        """The answer was in the table alone."""
        found = json.loads(callboard("run", *SMALL, "--best", "--json")[1])
        assert {each["policy"]: each["best"]["is_best"] for each in found}["fair"] is True
        assert sum(each["best"]["is_best"] for each in found) == 1
        assert all("fair has the lowest mean" in each["best"]["says"] for each in found)
        asked = ("--precision", "50%", "--json")
        for each in json.loads(callboard("run", *SMALL, *asked)[1]):
            assert each["precision"]["stopping"] == "done"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["--best", "--precision", "5%"], "two questions"),
            (["--best", "--policy", "fifo"], "at least two policies"),
            (["--best", "--journal", "x"], "not known yet"),
            (["--seeds", "0"], "seeds: 0 means none"),
            (["--seeds", "3", "--precision", "5%"], "seeds"),
        ],
    )
    def test_bad_questions_are_one_line(
        self, callboard: Run, arguments: list[str], complaint: str
    ) -> None:
        status, out, err = callboard("run", "two-jobs", *arguments)
        assert (status, out) == (2, "")
        assert complaint in err
        assert "Traceback" not in err


def tasks() -> Sequence[RunTask]:
    return [RunTask(load_run("two-jobs")), RunTask(load_run("two-jobs", ["seed=2"]))]


class TestProcesses:
    """Processes answer as one process does, in the order of what was asked."""

    def test_they_agree(self, monkeypatch: pytest.MonkeyPatch) -> None:
        console = PlainConsole(stderr=True)
        here = playing.play(tasks(), console, 1)
        monkeypatch.setattr(playing, "WORTH_PROCESSES", 0)
        there = playing.play(tasks(), console, 2)
        assert list(there.results) == [0, 1]
        for place in (0, 1):
            assert here.results[place].summary == there.results[place].summary

    def test_what_fails_there_is_told_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(playing, "WORTH_PROCESSES", 0)
        broken = load_run("two-jobs")
        spec = type(broken)(broken.scenario, broken.jobs, broken.script, "no-such-policy")
        with pytest.raises(RunFailed, match="no-such-policy"):
            playing.play([RunTask(spec), RunTask(broken)], PlainConsole(stderr=True), 2)

    def test_ctrl_c_begins_nothing_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(playing, "WORTH_PROCESSES", 0)
        before = signal.getsignal(signal.SIGINT)
        entering = task_pool.local_workers

        def pressed(*arguments: object) -> object:
            signal.raise_signal(signal.SIGINT)
            return entering(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(playing, "local_workers", pressed)
        assert playing.play(tasks(), PlainConsole(stderr=True), 2) == ({}, True)
        assert signal.getsignal(signal.SIGINT) is before


def test_a_result_goes_through_bytes_unchanged() -> None:
    result = run_simulation(load_run("two-jobs"), check=True)
    again = unpack_result(pack_result(result))
    assert again.as_json() == result.as_json()
    assert again.jobs.name == result.jobs.name
    assert (again.jobs.response_ms == result.jobs.response_ms).all()


def test_seeds_cut_short_are_left_out_and_the_others_keep_their_numbers(
    callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(rows: Sequence[Sequence[RunSpec]], *_: object, **__: object) -> PlayedRows:
        return PlayedRows([[None, None], [run_simulation(spec) for spec in rows[1]]], True)

    monkeypatch.setattr(run_seeds, "play_as_asked", cut_short)
    status, out, _ = callboard("run", *SMALL, "--seeds", "4..5", "--json")
    assert (status, json.loads(out)[0]["seeds"]) == (130, [5])
    assert [run["seed"] for run in json.loads(out)[0]["runs"]] == [5]


def test_tables_of_later_go_through_bytes_and_may_be_missing() -> None:
    result = run_simulation(load_run("two-jobs", ["policies=['hfsp']"]))
    again = unpack_result(pack_result(result))
    assert again.phase_sizes is not None
    assert again.phase_sizes.errors(MAPS).tolist() == [1.0]
    assert again.map_locality is not None
    assert again.map_locality.shares() == result.summary.locality
    plain = msgspec.msgpack.decode(pack_result(result))
    del plain["phase_sizes"], plain["map_locality"]
    before = unpack_result(msgspec.msgpack.encode(plain))
    assert (before.phase_sizes, before.map_locality) == (None, None)


def test_the_most_seeds_are_a_bound(callboard: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_seeds, "MOST_SEEDS", 11)
    _, out, _ = callboard("run", *SMALL, "--precision", "0.1%", "--json")
    assert len(json.loads(out)[0]["seeds"]) == 11


@pytest.mark.parametrize("seeds", [(), ("--seeds", "2")], ids=["one", "two"])
def test_figures_of_many_policies_stand_whole_in_parts_of_a_table(
    callboard: Run, seeds: tuple[str, ...]
) -> None:
    """128 ± 1… was to be read where there were eight."""
    policies = ["fifo", "fair", "hfsp", "srpt", "las", "ps", "psbs", "sjf", "sparrow", "omega"]
    asked = [word for policy in policies for word in ("--policy", policy)]
    _, out, _ = callboard("run", "two-jobs", *asked, *seeds)
    assert "…" not in out
    assert out.count("jobs completed") == 2 if seeds else 1
    assert all(policy in out for policy in policies)


SCARCE = """
name = "scarce"
[cluster]
nodes = 3
racks = 1
map_slots = 2
reduce_slots = 1
[workload]
kind = "jobs"
job = [{name = "a", count = 50, maps = 3, map_s = 4, reduces = 1, reduce_s = 2}]
"""


def test_a_count_that_is_0_in_most_seeds_is_averaged_over_all(
    callboard: Run, tmp_path: Path
) -> None:
    """Of 7, 1 and 0 failed jobs it said 4 ± 38, beside 47 ± 9 completed of 50."""
    path = tmp_path / "scarce.toml"
    path.write_text(SCARCE)
    policies = ("--policy", "fifo", "--policy", "omega(schedulers=2)")
    out = callboard("run", str(path), *policies, "--seeds", "3")[1]
    rows = {cells[0]: cells[1:] for line in out.splitlines() if (cells := line.split())}
    assert rows["failed"][0] == "0"
    assert rows["failed"][-2:] == rows["jobs"][-2:]  # the half-intervals of what adds up to 50
    assert "killed" not in rows
    assert rows["failed"][-3] == "3"
