"""Playing a run by the twin, and the run's figures out of its tables."""

import contextlib
import time
from math import nan
from pathlib import Path

import numpy as np

from callboard.actors.vocabulary.events import RunEnded
from callboard.actors.world import World
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.run_result import TWIN, RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.simulation import Sink, start_of, stopping_on_ctrl_c
from callboard.experiments.run.stopwatch import SchedulingCost
from callboard.journal.figures.map_locality import MapLocality
from callboard.journal.figures.run_account import RunAccount, RunNames, summary_of
from callboard.journal.figures.size_estimates import PhaseSizes
from callboard.journal.figures.slot_time import SlotTime
from callboard.journal.figures.summary import AttemptCounts, SpeculationCounts
from callboard.journal.figures.tables import SUCCEEDED, Ints, JobColumns
from callboard.journal.run_records import NEVER
from callboard.journal.writer import JournalWriter
from callboard.scheduler.model import MAP, REDUCE
from callboard.scheduler.numba_cache import numba_is_installed
from callboard.twin import columns as c
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.told_events import ToldEvents
from callboard.twin.twin_run import PlayLoop, TwinRun


def compiled_loop() -> PlayLoop:
    """The compiled loop; CannotPlay where it is not there, or computes other things than Python."""
    if not numba_is_installed():
        raise CannotPlay("numba is not installed: pip install 'callboard[twin]'")
    from callboard.twin.compiled_play import COMPILED_PLAY, draws_agree

    if not draws_agree():
        raise CannotPlay("compiled code draws other numbers here than Python does")
    return COMPILED_PLAY


def _loop_for(spec: RunSpec) -> PlayLoop:
    """The compiled loop; CannotPlay, first for what the twin has no rules for: nothing that is
    installed helps there.
    """
    try:
        return compiled_loop()
    except CannotPlay as missing:
        twin_of(spec, _placeholder_loop)
        raise missing from None


def _placeholder_loop(*_: object) -> int:
    raise AssertionError("this loop is never called")


def twin_of(spec: RunSpec, play: PlayLoop, *, keep_log: bool = False) -> TwinRun:
    """The run before its first instant; CannotPlay where the twin has no rules for it."""
    spec = spec.with_interventions_applied()
    if spec.tie_order is not None:
        raise CannotPlay("simultaneous messages are to be permuted")
    scenario = spec.scenario
    world = World(scenario.cluster, scenario.tasks, spec.jobs, scenario.seed, spec.script)
    architecture = load_architecture(spec.policy, scenario.parts)
    return TwinRun(world, architecture.policy, spec.until_ms, keep_log=keep_log, play=play)


def run_by_twin(
    spec: RunSpec,
    watcher: RunWatcher | None = None,
    play: PlayLoop | None = None,
    journal: Path | None = None,
    sink: Sink | None = None,
) -> RunResult:
    """Play a run by the twin: the same jobs, attempts and times as the actors', and no messages.
    `journal` is where it is recorded, event by event as they would tell it, and `sink` gets every
    event; the last has no digest there.

    Ctrl-C ends it with what has been played.  CannotPlay where only the actors can play it, mostly
    with nothing done; PolicySpecError and ScenarioError as `Simulation` raises them, OSError for
    the journal.
    """
    run = twin_of(spec, play or _loop_for(spec), keep_log=bool(journal or sink))
    told = ToldEvents(run) if journal or sink else None
    run.compile_loop()
    began, began_processor = time.perf_counter(), time.process_time()
    with contextlib.ExitStack() as stack:
        recorded = None
        if journal is not None:
            recorded = stack.enter_context(JournalWriter(journal, hashed=True))
            recorded(start_of(spec.with_interventions_applied()))
        if sink is not None:
            sink(start_of(spec.with_interventions_applied()))
        is_asked = stack.enter_context(stopping_on_ctrl_c(run.interrupt))
        while run.reason is None:
            run.play_some_instants()
            if watcher is not None:
                watcher.on_twin_progress(run)
            events = [] if told is None else told.take_events()
            if recorded is not None:
                recorded.record(events)
            if sink is not None:
                for event in events:
                    sink(event)
        if recorded is not None:
            recorded(_run_ended_event(run, f"events-{recorded.digest()}"))
        if sink is not None:
            sink(_run_ended_event(run))
    if is_asked() and run.reason != "interrupted":
        raise KeyboardInterrupt  # it came when the run was over, and is for what comes after
    wall_seconds = time.perf_counter() - began
    processor_seconds = time.process_time() - began_processor
    account = account_of_run(run)
    named = RunNames(spec.scenario.name, spec.policy, spec.scenario.seed, reason=run.reason)
    return RunResult(
        summary=summary_of(named, account),
        jobs=account.jobs,
        scheduling=SchedulingCost(nan, 0, 0, None),
        wall_seconds=wall_seconds,
        processor_seconds=processor_seconds,
        phase_sizes=_phase_size_estimates(run),
        map_locality=_map_locality(run),
        engine=TWIN,
    )


def _run_ended_event(run: TwinRun, digest: str = "") -> RunEnded:
    """The last event of what the twin has played."""
    return RunEnded(run.now_ms, run.reason or "interrupted", None, None, digest)


# Figures.


def account_of_run(run: TwinRun) -> RunAccount:
    """What the run comes to so far."""
    w, locality = run.tables, _map_locality(run)
    open_ = w.berths[w.berths[:, c.OF_JOB] != c.NONE]
    slots = _slot_time(run, open_, MAP), _slot_time(run, open_, REDUCE)
    of_tasks = open_[:, c.OF_STAGE] == c.OF_TASKS
    reduces = open_[of_tasks & (open_[:, c.OF_KIND] == c.REDUCES_HERE)]
    shuffled_ms = np.minimum(reduces[:, c.SHUFFLED], reduces[:, c.OVER])
    waiting_ms = _total_held_so_far_ms(reduces[:, c.BEGUN], shuffled_ms, run.now_ms)
    killed = int(w.state[c.KILLED_COUNT])
    succeeded = run.launched_attempt_count - len(open_) - killed
    levels = (locality.node, locality.rack, locality.off_rack)
    return RunAccount(
        until_ms=run.now_ms,
        jobs=_job_columns(run),
        slots=slots,
        attempts=AttemptCounts(run.launched_attempt_count, succeeded, 0, killed, len(open_)),
        speculation=SpeculationCounts(0, 0),
        levels=[int(level.sum()) for level in levels],
        shuffle_wait_ms=int(w.state[c.SHUFFLE_TIME]) + waiting_ms,
    )


def _slot_time(run: TwinRun, open_: Ints, kind: int) -> SlotTime:
    """Where the time of the slots of a kind went; no node is ever down."""
    own, sums = open_[open_[:, c.OF_KIND] == kind], run.tables.sums
    held_ms = _total_held_so_far_ms(own[:, c.BEGUN], own[:, c.OVER], run.now_ms)
    dead = own[(own[:, c.KILLING] == c.KILLED) & (own[:, c.OVER] <= run.now_ms)]
    dead_ms = _total_held_so_far_ms(dead[:, c.BEGUN], dead[:, c.OVER], run.now_ms)
    useful_ms, wasted_ms = int(sums[c.HELD_TIME, kind]), int(sums[c.WASTED_TIME, kind]) + dead_ms
    total_ms = int(run.tables.nodes[:, c.HAS + kind].sum()) * run.now_ms
    return SlotTime(
        useful=useful_ms,
        wasted=wasted_ms,
        idle=total_ms - useful_ms - wasted_ms - (held_ms - dead_ms),
        unfinished=held_ms - dead_ms,
        total=total_ms,
    )


def _total_held_so_far_ms(begun_ms: Ints, over_ms: Ints, now_ms: int) -> int:
    """How long all these have lasted by now, of which some have not begun."""
    return int(np.maximum(np.minimum(over_ms, now_ms) - begun_ms, 0).sum())


def _rows_of_submitted_jobs(run: TwinRun) -> Ints:
    """The rows of the jobs that have been submitted, by number."""
    rows: Ints = run.tables.jobs[: int(run.tables.state[c.DUE])]
    return rows[np.argsort(rows[:, c.NUMBER], kind="stable")]


def _map_locality(run: TwinRun) -> MapLocality:
    rows = _rows_of_submitted_jobs(run)
    return MapLocality(rows[:, c.NUMBER].copy(), *rows[:, c.LEVELS : c.LEVELS + 3].T.copy())


def _phase_size_estimates(run: TwinRun) -> PhaseSizes:
    """What HFSP's training took phases for whose tasks have all ended, and what they came to."""
    jobs, virtual = run.tables.jobs, run.tables.virtual
    if not len(virtual):
        return PhaseSizes(*np.zeros((4, 0), np.int64))
    ended = jobs[:, c.DONE_TASKS : c.DONE_TASKS + 2] == jobs[:, c.TASKS : c.TASKS + 2]
    real_ms = jobs[:, c.OWN_TIME : c.OWN_TIME + 2]
    estimated_ms = virtual[:, c.ESTIMATED].reshape(-1, 2)
    rows, kinds = np.nonzero(ended & (real_ms > 0) & (estimated_ms != c.NONE))
    found = (jobs[rows, c.NUMBER], kinds, estimated_ms[rows, kinds], real_ms[rows, kinds])
    order = np.lexsort((kinds, found[0]))
    return PhaseSizes(*(np.asarray(each)[order] for each in found))


def _job_columns(run: TwinRun) -> JobColumns:
    rows = _rows_of_submitted_jobs(run)
    specs = {spec.job: spec for spec in run.world.jobs}
    told = [specs[number] for number in rows[:, c.NUMBER].tolist()]
    submitted_ms, finished_ms = rows[:, c.SUBMIT].copy(), rows[:, c.FINISHED].copy()
    first_ms, ended = rows[:, c.FIRST_LAUNCH].copy(), finished_ms != c.NONE
    return JobColumns(
        job=rows[:, c.NUMBER].copy(),
        name=tuple(each.name for each in told),
        user=tuple(each.user for each in told),
        pool=tuple(each.pool for each in told),
        submitted_ms=submitted_ms,
        maps=rows[:, c.TASKS].copy(),
        reduces=rows[:, c.TASKS + 1].copy(),
        finished_ms=np.where(ended, finished_ms, NEVER),
        outcome=np.where(ended, SUCCEEDED, NEVER),
        stated_ms=np.where(ended, submitted_ms, NEVER),
        response_ms=np.where(ended, finished_ms - submitted_ms, NEVER),
        first_launch_ms=np.where(first_ms == c.NONE, NEVER, first_ms),
        waiting_ms=np.where(first_ms == c.NONE, NEVER, first_ms - submitted_ms),
    )
