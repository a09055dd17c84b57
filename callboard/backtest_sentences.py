"""How far predictions of a history may be off: its back-test, to stand beside a what-if or a sweep
of them.
"""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from callboard.console import PlainConsole
from callboard.experiments.backtest.backtest import JobErrors, job_errors
from callboard.experiments.backtest.recorded_history import RESPONSE_TOLD_BY
from callboard.experiments.many.computing import Call, compute_missing
from callboard.experiments.many.content_key import task_key
from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.many.run_tasks import RunTask, play_task, worthy_engine
from callboard.experiments.many.sweeps.sweep_plan import (
    COLUMNS,
    SweptHistory,
    settings_kept_for_history,
)
from callboard.experiments.many.task_pool import Workers
from callboard.experiments.pages.charts.cell_table import policy_labels
from callboard.experiments.pages.report.run_commands import backtest_command_line
from callboard.experiments.run.run_hints import any_by_heartbeats
from callboard.experiments.run.run_result import ACTORS, RunResult, unpack_result
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import GIVEN_UP
from callboard.experiments.user_errors import RunFailed
from callboard.histories.model.tasks_file import RecordedJob
from callboard.playing import play
from callboard.queue_files import queue_overrides
from callboard.run_arguments import PlannedWorld
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.timeline import Timeline
from callboard.tables.backtest_table import TENFOLD, error_percent_text

_NO_TIMES = (
    f"No back-test: no job of the history tells how long it took to respond. {RESPONSE_TOLD_BY}."
)

REPLAYED_TASKS_MAX = 200_000
"""A history of more tasks is not played again only to say how far it is off."""

REPLAYED_MESSAGES_MAX = 400_000
"""Nor one whose nodes are likely to exchange more messages with the master, some ten seconds."""

MESSAGES_A_TASK = 5
"""The messages that a task needs at most where nodes with nothing to say are silent."""


class _BacktestedPolicy(NamedTuple):
    """How far the jobs of the unchanged history are off what was recorded, under a policy."""

    policy: str
    errors: JobErrors

    @property
    def median(self) -> float:
        return self.errors.error_percentile(50) or 0.0


def backtest_sentence(
    world: PlannedWorld, options: argparse.Namespace, played: Sequence[RunResult]
) -> str:
    """How far the policy that comes nearest to what was recorded is off on the unchanged history,
    which is played for that where the runs `played` have changed it; empty for what is no history.
    """
    workload, base_dir = world.spec.scenario.workload, world.source.base_dir
    if not isinstance(workload, RecordedWorkload) or base_dir is None:
        return ""
    jobs = workload.recording(base_dir).jobs
    if not any(job.response_ms for job in jobs):
        return _NO_TIMES
    unchanged, timeline = _unchanged_history(world), world.spec.scenario.timeline
    if world.spec.until_ms is None and unchanged.scenario == world.spec.scenario:
        return _error_sentence(jobs, played, unchanged, timeline)
    long = [each for each in world.policies if _takes_long(each, unchanged, world, played)]
    tested = [each for each in world.policies if each not in long]
    tasks = _backtest_run_tasks(unchanged, tested)
    try:
        results, interrupted = play(tasks, PlainConsole(stderr=True), options.cores)
    except RunFailed as error:
        return f"No back-test: the unchanged history cannot be played: {error}"
    if interrupted:
        return f"The back-test was stopped. {_backtest_hint(world, tested)}"
    given_up = [each for each in results.values() if each.summary.reason == GIVEN_UP]
    found = [each for each in results.values() if each.summary.reason != GIVEN_UP]
    long += [each.summary.policy for each in given_up]
    told = [_error_sentence(jobs, found, unchanged, timeline)] if found else []
    if long:
        names = " and ".join(policy_labels(long))
        told.append(f"Under {names} the unchanged history takes long.")
        told.append(_backtest_hint(world, long))
    return " ".join(told)


def swept_backtest_sentence(history: SweptHistory, store: ResultStore, workers: Workers) -> str:
    """The same for a history whose settings are swept, after what is to be known of its files.
    Where the sweep itself has not played it unchanged it is played, and kept in the store like any
    run.
    """
    recording = history.workload.recording(history.base_dir)
    told = _swept_error_sentence(history, recording.jobs, store, workers)
    return f"Note: {recording.cut}. {told}" if recording.cut else told


def _swept_error_sentence(
    history: SweptHistory, jobs: Sequence[RecordedJob], store: ResultStore, workers: Workers
) -> str:
    if not any(job.response_ms for job in jobs):
        return _NO_TIMES
    if sum(task.spec.task_count for task in history.unchanged) > REPLAYED_TASKS_MAX:
        policies = [task.spec.policy for task in history.unchanged]
        return _HINT + backtest_command_line(history.name, policies, history.stated)
    calls = [Call(task_key(task), play_task, (task,)) for task in history.unchanged]
    kept = [each.kept for each in compute_missing(calls, store, workers)]
    values = [each.value for each in kept if each is not None and each.value is not None]
    with store.unreadable_content_told():
        played = [unpack_result(value) for value in values]
    if not played:
        return "No back-test: the unchanged history could not be played."
    return _error_sentence(jobs, played, history.unchanged[0].spec, history.timeline)


def _takes_long(
    policy: str, unchanged: RunSpec, world: PlannedWorld, played: Sequence[RunResult]
) -> bool:
    """Whether the unchanged history has too many tasks to be played for this, or its nodes would
    exchange too many messages: for a heartbeat, or a node, as many as in the run of this policy,
    but for those that tasks need on any nodes.
    """
    if unchanged.task_count * len(world.policies) > REPLAYED_TASKS_MAX:
        return True
    here, there = world.spec.scenario.cluster, unchanged.scenario.cluster
    mine = (each for each in played if each.summary.policy == policy and each.engine == ACTORS)
    messages = sum(each.summary.messages or 0 for each in mine)
    of_tasks = min(messages, MESSAGES_A_TASK * unchanged.task_count)
    nodes = there.node_count() / here.node_count()
    if any_by_heartbeats([policy], world.spec.scenario.parts):
        nodes /= there.period_ms() / here.period_ms()
    return of_tasks + (messages - of_tasks) * nodes > REPLAYED_MESSAGES_MAX


def _backtest_run_tasks(unchanged: RunSpec, policies: Sequence[str]) -> list[RunTask]:
    specs = [msgspec.structs.replace(unchanged, policy=each) for each in policies]
    engine = worthy_engine("auto", sum(spec.task_count for spec in specs))
    most = REPLAYED_MESSAGES_MAX
    return [RunTask(spec, engine=engine, title="back-test: ", messages_most=most) for spec in specs]


_HINT = "How far it is off: "


def _backtest_hint(world: PlannedWorld, policies: Sequence[str]) -> str:
    """How to learn how far predictions are off under these policies, the scheduler set as here."""
    options = world.options
    stated = [] if options.allocations is None else ["--allocations", options.allocations]
    for each in settings_kept_for_history(world.overrides, world.source):
        key, _, value = each.partition("=")
        stated += ["--map", value] if key == COLUMNS else ["--set", each]
    return _HINT + backtest_command_line(options.scenarios[0], policies, stated)


def _unchanged_history(world: PlannedWorld) -> RunSpec:
    """The history as it was recorded, with all its jobs, and with the same settings of the
    scheduler.
    """
    file, policies = world.options.allocations, world.options.policy
    queues = [] if file is None else queue_overrides(file, policies)
    return world.source.unscripted_run(
        [*queues, *settings_kept_for_history(world.overrides, world.source)]
    )


def _error_sentence(
    jobs: Sequence[RecordedJob],
    played: Sequence[RunResult],
    unchanged: RunSpec,
    timeline: Timeline,
) -> str:
    tested = (
        _BacktestedPolicy(each.summary.policy, JobErrors(job_errors(jobs, each))) for each in played
    )
    found = [each for each in tested if each.errors.jobs]
    if not found:
        return "Back-test: no job of the history can be compared."
    place = min(range(len(found)), key=lambda place: found[place].median)
    nearest, name = found[place], policy_labels([each.policy for each in found])[place]
    which = ", the nearest of these," if len(found) > 1 else ""
    settings = " with the scheduler set as here" if unchanged.scenario.parts else ""
    how = f"played once{settings}{_outage_and_script_words(unchanged.scenario.timeline, timeline)}"
    told = f"Back-test: on the unchanged history, {how}, {name}{which}"
    return f"{told} {_error_words(nearest.errors.mean_response_error or 0.0, nearest.median)}"


def _outage_and_script_words(recorded: Timeline, timeline: Timeline) -> str:
    """What happens to the unchanged history, and what of a timeline does not."""
    outages = " and with its recorded outages" if recorded else ""
    return f"{outages}{'' if recorded == timeline else ' and without what is scripted'}"


def _error_words(mean: float, median: float) -> str:
    """How far the mean and the median job are off, and what that means for a difference."""
    told = (
        f"is {error_percent_text(mean, signed=True)} off in the mean response time, and half of the"
    )
    if max(mean, median) <= TENFOLD:
        return (
            f"{told} jobs are within {median:.1%}. A difference no larger than that says nothing."
        )
    share = error_percent_text(median)
    jobs = f"{share} off" if median > TENFOLD else f"within {share}"
    return f"{told} jobs are {jobs}. What is predicted for this history says nothing."
