"""Theory beside what was played: laws by name, tests of equivalence, and the command."""

import csv
import re
from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.cli import run_command_line
from callboard.experiments.ideal_study.law_option import parse_law_option
from callboard.experiments.ideal_study.law_plots import discipline_label
from callboard.experiments.ideal_study.law_systems import (
    LAW_DISCIPLINES,
    LawRun,
    LawSystem,
    ServedBy,
    exact_mean,
    mean_without_rare,
    play_law,
)
from callboard.experiments.ideal_study.law_verdicts import LawVerdict, law_lines
from callboard.experiments.many.control_variates import controlled_interval
from callboard.experiments.many.statistics import interval
from callboard.experiments.user_errors import InputError
from callboard.scheduler.ideal import exact, simulate, simulate_servers
from callboard.scheduler.ideal.mean_responses import SingleServer
from callboard.scheduler.ideal.size_laws import truncated_law
from callboard.scheduler.numba_cache import numba_is_installed
from tests.ideal.cases import EXAMPLES, Small, small_cases
from tests.support.book_pages import page_text

pytest.importorskip("scipy")

SPELLED = (
    "exponential",
    "hyperexponential(first_rate=4, second_rate=0.5714, first_portion=0.5)",
    "weibull(shape=0.5, mean=3)",
    "bounded-pareto(alpha=1.5, ratio=100)",
    "uniform(low=1, high=2)",
    "lognormal(sigma=1)",
)

SERVED = tuple(map(ServedBy, ("fifo", "ps", "las", "sjf", "psjf", "srpt")))
BY_ESTIMATE = (ServedBy("psjf", 1.0), ServedBy("srpt", 1.0))


@pytest.mark.parametrize("law", SPELLED)
def test_draws_follow_the_density(law: str) -> None:
    """Kolmogorov and Smirnov: 20,000 draws stay within 1.95 / √n of F at its quantiles (0.1 %)."""
    server = SingleServer(parse_law_option(law), 0.5)
    drawn = np.sort(server.law.draw(np.random.default_rng(5), 20_000))
    below = 1 - np.interp(drawn, server.x.ravel(), server.longer.ravel())
    steps = np.arange(1, 20_001) / 20_000
    assert np.abs(below - steps).max() < 1.95 / 20_000**0.5


def test_a_law_cut_off_draws_and_integrates_without_its_giants() -> None:
    law = truncated_law(parse_law_option("exponential"), 2.0)
    drawn = law.draw(np.random.default_rng(1), 50_000)
    mean = (1 - 3 * np.exp(-2)) / (1 - np.exp(-2))
    assert SingleServer(law, 0.5).moment(1) == pytest.approx(mean)
    assert (drawn.max() <= 2.0, drawn.mean()) == (True, pytest.approx(mean, abs=0.01))


@pytest.mark.parametrize(
    ("law", "complaint"),
    [
        ("zipf(2)", r"--law zipf\(2\): there are exponential\(mean=1\), hyper"),
        ("weibull", r"it is weibull\(shape, mean=1\), of numbers"),
        ("weibull(shape=x)", r"it is weibull\(shape, mean=1\)"),
        ("weibull(shape=-1)", r"it is weibull\(shape, mean=1\)"),
        ("uniform(low=2, high=1)", r"it is uniform\(low, high\)"),
    ],
)
def test_a_law_that_is_none_is_told_what_it_takes(law: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parse_law_option(law)


@pytest.mark.soak
@pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")
def test_every_formula_is_met_by_the_machine() -> None:
    """Six disciplines and two by estimates, within 1 % by two one-sided tests."""
    system = LawSystem("exponential", 0.3)
    served, jobs, runs = SERVED + BY_ESTIMATE, 40_000, 10
    played = [play_law(LawRun(system, served, jobs, 7, run)) for run in range(runs)]
    lines = list(law_lines(system, served, played, jobs * runs))
    assert [line.verdict for line in lines] == [LawVerdict.EQUAL] * len(served)
    wrong = [each._replace(means=tuple(1.03 * mean for mean in each.means)) for each in played]
    verdicts = {line.verdict for line in law_lines(system, served, wrong, jobs * runs)}
    assert verdicts == {LawVerdict.DIFFERS}


def by_formula(system: LawSystem, served: ServedBy) -> float:
    mean = exact_mean(system, served)
    assert mean is not None
    return mean


def test_a_mean_that_hangs_on_jobs_too_rare_is_not_judged() -> None:
    """Half of E[X²] is in jobs of which one comes in 10⁸."""
    system = LawSystem("bounded-pareto(alpha=1.5, ratio=1e6)", 0.5)
    assert (
        mean_without_rare(system, ServedBy("fifo"), 10**6)
        < by_formula(system, ServedBy("fifo")) / 3
    )
    assert mean_without_rare(system, ServedBy("srpt"), 10**6) > 0.95 * by_formula(
        system, ServedBy("srpt")
    )


def test_psjf_beats_srpt_by_estimates_under_heavy_tails_only() -> None:
    """Scully, Grosof, Mitzenmacher, "Uniform bounds for scheduling with job size estimates", ITCS
    2022: SRPT by estimates has no bounded ratio to SRPT.
    """
    heavy, light = (
        LawSystem("bounded-pareto(alpha=1.5, ratio=1000)", 0.9),
        LawSystem(SPELLED[0], 0.9),
    )
    psjf, srpt = (by_formula(heavy, each) for each in BY_ESTIMATE)
    assert psjf < 0.7 * srpt
    psjf, srpt = (by_formula(light, each) for each in BY_ESTIMATE)
    assert psjf > srpt


def test_psjf_serves_the_smallest_whole_size_and_sjf_ends_what_it_began() -> None:
    """By hand: at 3 the job of 4 has 1 left, and one of 2 comes."""
    assert simulate("psjf", [0, 3], [4, 2]).tolist() == [6, 5]
    assert simulate("srpt", [0, 3], [4, 2]).tolist() == [4, 6]
    assert simulate("sjf", [0, 1, 2], [4, 3, 2]).tolist() == [4, 9, 6]


def test_servers_take_jobs_in_their_order() -> None:
    assert simulate_servers(2, [0, 0, 1, 1], [5, 2, 1, 1]).tolist() == [5, 2, 3, 4]
    one = simulate_servers(1, [0, 1, 1.5], [3, 1, 2], path="plain")
    assert one.tolist() == simulate("fifo", [0, 1, 1.5], [3, 1, 2]).tolist()
    with pytest.raises(ValueError, match="there has to be one"):
        simulate_servers(0, [0], [1])


def scanned_srpt(servers: int, case: Small) -> list[Fraction]:
    """When each job is done, by looking at every event who have the least left."""
    left, done = list(case.sizes), [Fraction(0)] * len(case.sizes)
    now, open_ = Fraction(0), set(range(len(left)))
    while open_:
        there = sorted((j for j in open_ if case.arrivals[j] <= now), key=lambda j: (left[j], j))
        served = there[:servers]
        if served and not left[served[0]]:
            done[served[0]] = now
            open_.discard(served[0])
            continue
        ahead = [left[job] for job in served]
        ahead += [at - now for at in case.arrivals if at > now]
        for job in served:
            left[job] -= min(ahead)
        now += min(ahead)
    return done


@EXAMPLES
@given(case=small_cases(), servers=st.integers(1, 4))
def test_srpt_on_servers_serves_those_with_the_least_left(case: Small, servers: int) -> None:
    """To the last digit (quarters are exact floats), each job a server; one server's is SRPT."""
    arrivals, sizes = floats(case.arrivals), floats(case.sizes)
    done = simulate_servers(servers, arrivals, sizes, "srpt", path="plain")
    assert done.tolist() == floats(scanned_srpt(servers, case))
    if servers == 1:
        assert done.tolist() == simulate("srpt", arrivals, sizes, path="plain").tolist()


def floats(row: Sequence[Fraction]) -> list[float]:
    return [float(each) for each in row]


@pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")
def test_two_servers_under_srpt_take_what_was_released() -> None:
    """2.97091 at ρ = .75 with servers of half the speed (10⁸ jobs): equal within 1 %."""
    system, served = LawSystem("exponential", 0.75, servers=2), (ServedBy("srpt"),)
    played = [play_law(LawRun(system, served, 60_000, 11, run)) for run in range(12)]
    (line,) = law_lines(system, served, played, 12 * 60_000)
    assert line.verdict is LawVerdict.NO_FORMULA
    assert line.played.half is not None
    assert abs(2 * line.played.mean - 2.97091) + 2 * line.played.half < 0.01 * 2.97091


@EXAMPLES
@given(case=small_cases())
def test_srpt_bounded_at_zero_is_srpt(case: Small) -> None:
    """A rank below 0 and one of 0 come to the same: only the job that is served can get there, and
    no job that waits has less than an estimate of 0; of equals the one that came first is served.
    """
    least = bounded_srpt(case)
    assert exact("srpt", case.arrivals, case.sizes, case.estimates).done == least


def bounded_srpt(case: Small) -> list[Fraction]:
    """By max(estimate - service, 0), in steps of a quarter, of which all numbers are multiples."""
    left, done = list(case.sizes), [Fraction(0)] * len(case.sizes)
    now, open_ = Fraction(0), set(range(len(left)))
    while open_:
        there = [job for job in open_ if case.arrivals[job] <= now]
        if there:
            first = min(there, key=lambda j: (bounded_rank(case, j, left[j]), j))
            if not left[first]:
                done[first] = now
                open_.discard(first)
                continue
            left[first] -= Fraction(1, 4)
            if not left[first]:
                done[first] = now + Fraction(1, 4)
                open_.discard(first)
        now += Fraction(1, 4)
    return done


def bounded_rank(case: Small, job: int, left: Fraction) -> Fraction:
    return max(case.estimates[job] - (case.sizes[job] - left), Fraction(0))


@pytest.mark.parametrize("jobs", [5, 50])
def test_psjf_may_keep_any_number_of_jobs_where_srpt_keeps_one(jobs: int) -> None:
    """Its worst case: each job comes, a little smaller, when hardly anything is left of the one
    before, and then smaller ones for as long as one likes.
    """
    arrivals = [job * 0.99 for job in range(jobs)] + [0.99 * jobs + 0.5 * n for n in range(1000)]
    sizes = [1 - 1e-6 * job for job in range(jobs)] + [0.5] * 1000
    later, end = len(sizes) - 1, arrivals[-1]
    psjf, srpt = (simulate(name, arrivals, sizes) for name in ("psjf", "srpt"))
    assert (psjf[:later] > end).sum() >= jobs
    assert (srpt[:later] > end).sum() <= 1 + jobs // 50


def test_controls_make_an_interval_narrower_and_move_it_towards_the_truth() -> None:
    """With a value that is its control and a little more, what is left is the little more."""
    rng = np.random.default_rng(3)
    known, rest = rng.standard_normal(30), 0.1 * rng.standard_normal(30)
    values = list(5 + 2 * known + rest)
    plain, sharper = interval(values), controlled_interval(values, known[:, None].tolist())
    assert plain.half is not None
    assert sharper.half is not None
    assert sharper.half < plain.half / 10
    assert abs(sharper.mean - 5) < sharper.half
    assert controlled_interval(values[:3], known[:3, None].tolist()) == interval(values[:3])


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "--law exponential exponential --load 0.5 --sigma 0 1 --disciplines psjf fifo"
    asked += " --jobs 500 --runs 6"
    assert run_command_line(["ideal", *asked.split(), "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("exponential: mean response by formula, and played") == 1
    assert "PSJF-E, σ 1" in printed
    with (tmp_path / "laws.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["discipline"], row["sigma"]) for row in rows] == [
        ("psjf", "0.0"),
        ("psjf", "1.0"),
        ("fifo", "0.0"),
    ]
    assert float(rows[2]["exact"]) == pytest.approx(2.0)


@pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")
def test_what_is_not_told_says_how_many_runs_would_tell_and_is_played_on(tmp_path: Path) -> None:
    """Once, and only where that many are allowed."""
    asked = (
        "ideal --law exponential --load 0.3 --disciplines fifo --jobs 20000 --runs 5 --most-runs"
    )
    rows = {}
    for most in (6, 1000):
        assert run_command_line([*asked.split(), str(most), "--out", str(tmp_path)]) == 0
        with (tmp_path / "laws.csv").open(encoding="utf-8") as file:
            (rows[most],) = csv.DictReader(file)
    assert (rows[6]["runs"], rows[6]["verdict"]) == ("5", "not told")
    assert 6 < int(rows[6]["runs_that_tell"]) == int(rows[1000]["runs"]) < 1000
    assert (rows[1000]["verdict"], rows[1000]["runs_that_tell"]) == ("equal", "")


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_the_picture_is_drawn_over_several_loads(tmp_path: Path) -> None:
    asked = "--law exponential --load 0.3 0.5 --disciplines fifo --jobs 500 --runs 3 --format svg"
    assert run_command_line(["ideal", *asked.split(), "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["laws.csv", "response-vs-load.svg"]


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ("--law exponential --load 1.2", "--load 1.2: with --law it has to be below 1"),
        ("--law exponential --disciplines psbs", "--disciplines psbs: with --law there are fifo"),
        ("--law exponential --disciplines ps --sigma 1", "--sigma is for psjf and srpt"),
        ("--law exponential --servers 2 --disciplines ps", "with --servers there are fifo, srpt"),
        ("--law exponential --servers 2 --sigma 1", "--sigma and --servers: not both"),
        ("x.tsv --disciplines gittins", "gittins goes by the law of sizes: name it by --law"),
        ("--most-runs 50 x.tsv", "--most-runs says nothing without --law"),
        ("--law exponential --dn 3", "--dn and --law: not both"),
        ("--jobs 500 x.tsv", "--jobs says nothing without --law"),
    ],
)
def test_bad_input_is_one_line(
    asked: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["ideal", *asked.split()]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_the_page_shows_every_discipline_of_which_theory_knows_the_mean() -> None:
    """In the order of the program's table."""
    shown = re.findall(r"^ +0\.5   (\w+) ", page_text("ideal.md"), re.MULTILINE)
    told = [discipline_label(ServedBy(each)) for each in LAW_DISCIPLINES]
    assert shown[: len(told)] == told
    sentence = page_text("ideal.md").partition("`--law` knows")[2].partition(";")[0]
    assert set(LAW_DISCIPLINES) <= set(re.findall(r"`([\w-]+)`", sentence))
