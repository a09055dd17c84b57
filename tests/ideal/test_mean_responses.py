"""Formulas of mean responses against other closed forms, released values and simulation."""

import heapq
import json
from collections.abc import Callable
from math import exp, log, pi
from typing import Any

import numpy as np
import pytest

from callboard.scheduler.ideal import simulate
from callboard.scheduler.ideal.estimated_responses import EstimatedServer
from callboard.scheduler.ideal.mean_responses import (
    FORMULAS,
    SingleServer,
    erlang_c,
    many_servers_fcfs,
)
from callboard.scheduler.ideal.panel_grid import PanelGrid
from callboard.scheduler.ideal.size_laws import (
    SizeLaw,
    bounded_pareto,
    exponential,
    hyperexponential,
    lognormal,
    uniform,
    weibull,
)
from callboard.scheduler.numba_cache import numba_is_installed
from tests.support.traces import oracle
from trials.oracles import theory

LAWS: dict[str, SizeLaw] = {
    "exponential": exponential(),
    "uniform": uniform(0, 2),
    "hyperexponential": hyperexponential(4, 1 / 1.75, 0.5),
    "weibull": weibull(0.25),
    "bounded pareto": bounded_pareto(1.5, 1e6),
    "lognormal": lognormal(1.5),
}


def test_every_released_mean_is_met() -> None:
    found = theory.cells(json.loads(oracle("theory-half-load.json").read_text("utf-8")))
    assert [each.what for each in found if not each.agrees] == []
    assert len(found) >= 30


@pytest.mark.parametrize("law", LAWS)
def test_moments_of_every_law_are_those_of_its_formula(law: str) -> None:
    second = {
        "exponential": 2,
        "uniform": 4 / 3,
        "hyperexponential": 0.25**2 + 1.75**2,
        "weibull": 40320 / 24**2,
        "lognormal": exp(1.5**2),
    }
    server = SingleServer(LAWS[law], 0.5)
    assert server.moment(0) == pytest.approx(1, abs=1e-10)
    assert server.moment(1) == pytest.approx(1, rel=1e-9)
    if law in second:
        assert server.moment(2) == pytest.approx(second[law], rel=1e-9)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9, 0.99])
def test_blind_disciplines_have_one_mean_for_exponential_sizes(load: float) -> None:
    server = SingleServer(exponential(), load)
    for name in ("FCFS", "PS", "FB"):
        assert FORMULAS[name](server) == pytest.approx(1 / (1 - load), rel=1e-8)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("load", [0.3, 0.8, 0.95])
def test_srpt_is_least_and_psjf_at_most_twice_as_much(law: str, load: float) -> None:
    """Schrage 1968; Wierman, Harchol-Balter, Osogami 2005 (PSJF is SMART)."""
    server = SingleServer(LAWS[law], load)
    means = {name: formula(server) for name, formula in FORMULAS.items()}
    assert means["SRPT"] == min(means.values())
    assert means["SRPT"] < means["PSJF"] < 2 * means["SRPT"]


def test_with_hardly_any_load_a_job_takes_its_own_time() -> None:
    server = SingleServer(weibull(0.5), 1e-9)
    for formula in FORMULAS.values():
        assert formula(server) == pytest.approx(1, abs=1e-7)


def test_uniform_sizes_under_psjf_are_those_of_a_primitive() -> None:
    """On (0, 2) with λ = ½, ρ(x) = x²/8, and E[T] = ½ ∫₀² x³/24 / (1 − x²/8)² + x / (1 − x²/8)."""
    # With u = 1 − x²/8 from 1 to ½: ∫ x³ / u² dx = 32 ∫ (1 − u) / u² du, ∫ x / u dx = 4 ∫ du / u.
    waiting = 32 / 24 * (1 - log(2))
    assert SingleServer(uniform(0, 2), 0.5).psjf() == pytest.approx(
        (waiting + 4 * log(2)) / 2, rel=1e-9
    )


def test_many_servers_wait_by_erlang() -> None:
    """M/M/1 waits with probability ρ; M/M/2 with 2ρ²/(1 + ρ)."""
    assert erlang_c(1, 0.7) == pytest.approx(0.7)
    assert erlang_c(2, 0.75) == pytest.approx(2 * 0.75**2 / 1.75)
    assert many_servers_fcfs(1, 0.5) == pytest.approx(2)
    found = theory.mean_response("M/M/2 | Exp(mean 1) | rho 0.75", "FCFS")
    assert found.value == pytest.approx(2 / (1 - 0.75**2))


@pytest.mark.parametrize("load", [0.0, 1.0, 1.5])
def test_a_load_that_is_none_is_refused(load: float) -> None:
    with pytest.raises(ValueError, match="has to be above 0 and below 1"):
        SingleServer(exponential(), load)
    with pytest.raises(ValueError, match="has to be above 0 and below 1"):
        many_servers_fcfs(2, load)
    with pytest.raises(ValueError, match="has to be above 0 and below 1"):
        theory.mean_response(f"M/D/1 | D(1) | rho {load}", "PS")


def test_a_density_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not to 1"):
        SingleServer(exponential()._replace(density=lambda x: 2 * np.exp(-x)), 0.5)


@pytest.mark.parametrize(
    ("law", "what"),
    [
        ("Zipf(2)", "no law Zipf"),
        ("Weibull", "no law Weibull"),
        ("Weibull()", "too few or too many numbers"),
    ],
)
def test_a_system_without_formula_is_said_to_be_none(law: str, what: str) -> None:
    (cell,) = theory.cells({f"M/G/1 | {law} | rho 0.5": {"FCFS": 1.0}})
    assert (cell.ours, what in cell.what) == (None, True)


@pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")
def test_an_oracle_may_ask_for_what_is_played_and_for_gittins() -> None:
    """SRPT on two servers of half the speed: 2.97091 (10⁸ jobs).  Another number differs."""
    cells = theory.cells(
        {
            "M/M/2 | Exp(mean 1) | rho 0.75": {"SRPT": 2.97091, "PS": 4.0},
            "M/M/3 | Exp(mean 1) | rho 0.75": {"SRPT": 2.97091},
            "M/G/1 | Exp(mean 1) | rho 0.5": {"Gittins": 2.0},
            "M/G/1 | Hyperexp(1.9,0.1,0.95) | rho 0.5": {"Gittins": 1.7176},
            "M/G/1 | Uniform(lo 0, hi 2) | rho 0.5": {"Gittins": 1.7176},
        }
    )
    assert [each.agrees for each in cells] == [True, False, False, True, True, False]
    assert [each.ours is None for each in cells] == [False, True, False, False, False, False]


def test_jobs_of_one_size_are_served_as_they_come() -> None:
    """M/D/1: λd²/2(1 − ρ) + d, whatever looks at sizes; PS and FB share."""
    means = {
        "FCFS": 4.5,
        "SJF": 4.5,
        "PSJF": 4.5,
        "SRPT": 4.5,
        "Gittins": 4.5,
        "PS": 6.0,
        "FB": 9.0,
    }
    cells = theory.cells({"M/G/1 | Deterministic(3) | rho 0.5": means})
    assert [(each.what, each.ours) for each in cells if not each.agrees] == []
    (cell,) = theory.cells({"M/D/1 | Det(3) | rho 0.5": {"SRPT-E(sigma 1)": 4.5}})
    assert cell.ours is None


def test_a_running_integral_is_right_between_nodes_too() -> None:
    grid = PanelGrid(0, pi, 0.4)
    running = grid.running_integral(np.sin(grid.points))
    points = np.linspace(0, pi, 101)
    assert grid.values_at(running, points) == pytest.approx(1 - np.cos(points), abs=1e-12)
    both = running + grid.remaining_integral(np.sin(grid.points))
    assert both == pytest.approx(2 * np.ones_like(both))


def test_without_errors_estimates_are_sizes() -> None:
    server = SingleServer(exponential(), 0.5)
    nearly = EstimatedServer(server, 1e-4)
    assert nearly.psjf() == pytest.approx(server.psjf(), rel=1e-6)
    assert nearly.srpt() == pytest.approx(server.srpt(), rel=1e-6)
    with pytest.raises(ValueError, match="sigma is 0"):
        EstimatedServer(server, 0)


JOBS = 200_000
BATCHES = 40


def psjf(arrivals: Any, sizes: Any, estimates: Any) -> Any:
    """Completions where the least estimate is served, preempting; a loop of its own."""
    done = np.zeros(len(sizes))
    waiting: list[tuple[float, int]] = []
    left = list(sizes)
    now = 0.0
    for job, arrival in enumerate([*arrivals, np.inf]):
        while waiting and now < arrival:
            first = waiting[0][1]
            served = min(left[first], arrival - now)
            now += served
            left[first] -= served
            if left[first] <= 0:
                done[heapq.heappop(waiting)[1]] = now
        now = arrival
        if job < len(sizes):
            heapq.heappush(waiting, (estimates[job], job))
    return done


SIMULATED: dict[str, tuple[Callable[..., Any], Callable[[EstimatedServer], float]]] = {
    "PSJF-E": (psjf, EstimatedServer.psjf),
    "SRPT-E": (lambda *rows: simulate("srpt", *rows), EstimatedServer.srpt),
}


@pytest.mark.soak
@pytest.mark.parametrize("discipline", SIMULATED)
@pytest.mark.parametrize("sigma", [0.5, 1.0])
def test_means_with_estimates_are_those_of_a_simulation(discipline: str, sigma: float) -> None:
    """Exponential sizes at a load of 0.7; 40 batches, within 4 standard errors."""
    played, formula = SIMULATED[discipline]
    rng = np.random.default_rng(23)
    arrivals = np.cumsum(rng.exponential(1 / 0.7, JOBS))
    sizes = rng.exponential(1.0, JOBS)
    estimates = sizes * np.exp(sigma * rng.standard_normal(JOBS))
    sojourns = played(arrivals, sizes, estimates) - arrivals
    batches = sojourns.reshape(BATCHES, -1).mean(axis=1)[1:]
    error = batches.std(ddof=1) / np.sqrt(len(batches))
    expected = formula(EstimatedServer(SingleServer(exponential(), 0.7), sigma))
    assert abs(batches.mean() - expected) < 4 * error
    assert error < 0.02 * expected


def test_with_heavy_tails_and_errors_psjf_beats_srpt() -> None:
    """SRPT keeps a giant that was underestimated; PSJF does not."""
    server = EstimatedServer(SingleServer(bounded_pareto(1.5, 1e6), 0.5), 1.0)
    assert server.psjf() < 1.6
    assert server.srpt() > 10
