"""The twin plays as the actors do: attempt by attempt, to the millisecond."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.faults import Crash
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.run import twin_play
from callboard.experiments.run.run_result import RunResult, pack_result, unpack_result
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.simulation import run_simulation
from callboard.experiments.run.twin_play import run_by_twin, twin_of
from callboard.experiments.user_errors import InputError
from callboard.scheduler.numba_cache import numba_is_installed
from callboard.twin import twin_run
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.play_loop import play_instants
from callboard.twin.twin_run import TwinRun
from tests.support.soak import one_in
from tests.support.twin_worlds import (
    INITIALISED_FROM,
    disagreement_of_engines,
    draw_twin_world,
    schedulers_of,
    world_of,
)
from tests.support.world import job, spec_of

ROOT = Path(__file__).parents[2]
needs_numba = pytest.mark.skipif(not numba_is_installed(), reason="numba is not installed")


@pytest.mark.parametrize("first", one_in(3, [INITIALISED_FROM, *range(0, 120, 40)]))
def test_the_plain_loop_plays_drawn_worlds_as_the_actors_do(first: int) -> None:
    for seed in range(first, first + (40 if first < INITIALISED_FROM else 12)):
        assert disagreement_of_engines(draw_twin_world(seed)) is None, f"world {seed}"


@pytest.mark.soak
@needs_numba
def test_the_compiled_loop_plays_them_so_too() -> None:
    """In a process that compiles, or finds compiled what was before."""
    play = """
from callboard.twin.compiled_play import COMPILED_PLAY, draws_agree
from tests.support.twin_worlds import disagreement_of_engines, draw_twin_world
assert draws_agree()
found = [disagreement_of_engines(draw_twin_world(seed), COMPILED_PLAY) for seed in range(120, 200)]
print([each for each in found if each is not None])
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", play],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("first", range(200, 240, 20))
def test_every_figure_is_the_actors(first: int) -> None:
    """But for what it has none of: messages, and the time that a master takes to decide."""
    for seed in range(first, first + 20):
        world = draw_twin_world(seed)
        twin, actors = (
            run_by_twin(world, play=play_instants),
            run_simulation(world, driver="direct"),
        )
        unknown = {"digest": None, "messages": None, "ties": None}
        assert twin.summary == msgspec.structs.replace(actors.summary, **unknown), f"world {seed}"
        assert packed_tables(twin) == packed_tables(actors), f"world {seed}"


def test_a_setup_that_holds_a_reduce_slot_is_no_shuffle() -> None:
    """A map of job 0 holds the one map slot when the run is cut in the middle of job 1's setup."""
    jobs = [job(0, map_ms=60_000), msgspec.structs.replace(job(1, submit_ms=8000), setup_ms=60_000)]
    cut = msgspec.structs.replace(spec(jobs, ONE_EACH), until_ms=20_000)
    twin = run_by_twin(cut, play=play_instants)
    assert twin.summary.slot_ms.reduce.unfinished > 0
    assert twin.summary.shuffle_wait_seconds == 0


def packed_tables(result: RunResult) -> list[object]:
    tables = (result.jobs, result.map_locality, result.phase_sizes)
    return [
        [(name, np.array(column).tolist()) for name, column in vars(table).items()]
        for table in tables
        if table is not None
    ]


ONE_EACH = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=1)


def spec(jobs: list[JobSpec], cluster: Cluster | None = None, policy: str = "fifo") -> RunSpec:
    return msgspec.structs.replace(
        spec_of(jobs, cluster=cluster or Cluster(nodes=2, racks=1)), policy=policy
    )


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (spec([job(0)], policy="fair+suspend"), "`suspend`"),
        (spec([job(0)], policy="hfsp+preemptive"), "`preemptive`"),
        (spec([job(0)], policy="srpt+kill"), "under `fair` only, not under `srpt`"),
        (spec([job(0)], policy='fair+kill(victims="job")'), "victims"),
        (spec([job(0)], policy="fair+kill(most_per_check=2)"), "most_per_check"),
        (spec([job(0)], policy="fifo+late"), "speculate"),
        (spec([job(0)], policy="coshh"), "`coshh`"),
        (spec([job(0)], policy="sparrow"), "central master"),
        (spec([job(0)], Cluster(nodes=2, latency_ms=0)), "latency_ms"),
        (spec([job(0)], Cluster(heartbeat=Heartbeats(thinking_ms=1))), "the master thinks"),
        (spec([job(0, poisoned=((0,), ()))]), "fail"),
        (spec_of([job(0)], script=[ScheduledFault(5, Crash(0))]), "things happen"),
    ],
)
def test_what_it_has_no_rules_for_it_refuses_before_anything_runs(world: RunSpec, why: str) -> None:
    with pytest.raises(CannotPlay, match=why):
        TwinRun(world_of(world), schedulers_of(world).policy)


@pytest.mark.soak
def test_a_run_that_is_stuck_is_left_to_the_actors() -> None:
    """They can tell who waits for what: here a map for the node with its input, which has no slot
    for it and never will.
    """
    cluster = Cluster(
        nodes=0,
        racks=3,
        replication=1,
        group=(NodeGroup(nodes=1, map_slots=1), NodeGroup(nodes=2, map_slots=0)),
    )
    jobs = [job(number) for number in range(9)]
    run = twin_of(spec(jobs, cluster, "fifo+delay(node=1000000)"), play_instants)
    with pytest.raises(CannotPlay, match="nothing can happen"):
        run.play()
    assert (
        disagreement_of_engines(draw_twin_world(24_705)) is None
    )  # pools that wait for each other


def test_room_is_made_for_a_job_of_many_maps() -> None:
    """More than the tables have at first, and for more jobs than they have rows."""
    few = spec([job(n, maps=2, map_ms=500, submit_ms=n // 80) for n in range(90)])
    assert disagreement_of_engines(few) is None
    large = spec([job(0, maps=5000, map_ms=100)], Cluster(nodes=40, map_slots=20))
    assert disagreement_of_engines(large) is None


@pytest.mark.parametrize("nodes", [3, 4, 5])
def test_a_nearly_full_cluster_is_padded(nodes: int) -> None:
    """Under `fifo`, from four nodes on, where there are a hundred tasks: one task a heartbeat."""
    jobs = [
        job(number, maps=60, map_ms=7000 + 900 * number, submit_ms=4000 * number, reduces=9)
        for number in range(5)
    ]
    cluster = Cluster(nodes=nodes, map_slots=6, reduce_slots=3)
    world = spec_of(jobs, cluster=cluster, tasks=Tasks(sigma=0.5))
    assert disagreement_of_engines(world) is None


def test_no_jobs_are_over_at_once() -> None:
    run = TwinRun(world_of(spec([])), schedulers_of(spec([])).policy)
    run.play()
    assert (run.reason, run.now_ms) == ("complete", 0)


def test_numbers_too_large_for_one_key_are_left_to_the_actors() -> None:
    huge = [job(number, maps=90_000, map_ms=86_400_000) for number in range(2)]
    tasks = Tasks(straggler_share=1.0, straggler_factor=1000.0)
    cluster = Cluster(nodes=1, speed=0.001)
    world = msgspec.structs.replace(spec_of(huge, tasks=tasks, cluster=cluster), policy="srpt")
    run = twin_of(world, play_instants)
    with pytest.raises(CannotPlay, match="too large"):
        run.play()


@pytest.mark.parametrize(
    ("policy", "pools"),
    [
        ("fair", [{"weight": weight} for weight in (0.1234567, 0.7654321, 1.3333333, 2.7182819)]),
        ("fair", [{"min_maps": 4_000_000_000}]),
        ("fair", [{"max_maps": 10**20}]),
        (f"fair(max_jobs_per_user={10**20})", []),
        ("fair+kill(min_share_timeout_s=1e17)", []),
        (f"hfsp(t={10**20})", []),
        (f"hfsp(T={10**20})", []),
    ],
)
def test_numbers_too_large_for_a_column_are_left_to_the_actors(
    policy: str, pools: list[dict[str, float]]
) -> None:
    """Among them weights with many decimals, whose least common multiple is what counts."""
    parts = {"fair": {"pools": {f"pool{n}": pool for n, pool in enumerate(pools)}}}
    world = spec([job(0)], policy=policy)
    scenario = msgspec.structs.replace(world.scenario, parts=parts)
    with pytest.raises(CannotPlay, match="too large"):
        twin_of(msgspec.structs.replace(world, scenario=scenario), play_instants)


def test_a_run_is_interrupted_between_two_instants(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been played is told."""
    monkeypatch.setattr(twin_run, "INSTANTS_A_CALL", 10)

    class Impatient(RunWatcher):
        def on_twin_progress(self, run: TwinRun) -> None:
            if run.ended_job_count:
                run.interrupt()

    jobs = [job(number, maps=50, submit_ms=10_000_000 * number) for number in range(3)]
    result = run_by_twin(spec(jobs), Impatient(), play_instants)
    assert result.interrupted
    assert 0 < result.summary.jobs.completed < 3


def test_a_task_says_who_has_played_it() -> None:
    """`auto` leaves to the actors what the twin cannot play, and says why."""
    pytest.importorskip("numba")
    world = draw_twin_world(1)
    assert RunTask(world, engine="auto").run().engine == "twin"
    refused = msgspec.structs.replace(world, policy="fair+suspend")
    result = RunTask(refused, engine="auto").run()
    assert (result.engine, result.why_actors) == ("actors", "it does not know `suspend`")
    with pytest.raises(InputError, match=r"cannot play fair\+suspend: it does not know `suspend`"):
        RunTask(refused, engine="twin").run()
    assert RunTask(world).run().engine == "actors"


def test_a_result_that_is_kept_says_who_has_played_it() -> None:
    result = run_by_twin(draw_twin_world(1), play=play_instants)
    assert unpack_result(pack_result(result)).engine == "twin"


def test_without_numba_the_actors_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin_play, "numba_is_installed", lambda: False)
    result = RunTask(draw_twin_world(1), engine="auto").run()
    assert result.engine == "actors"
    assert "callboard[twin]" in result.why_actors
