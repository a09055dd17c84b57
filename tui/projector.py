"""From a tape, a place on it and a view: the frame.  It changes neither."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.names import printable
from callboard.scheduler.model import Millis
from callboard.tui.beside import Beside
from callboard.tui.detail_job import job_detail
from callboard.tui.detail_node import node_detail
from callboard.tui.detail_slot import slot_detail
from callboard.tui.frame import Detail, Frame, JobKey, JobRow, Line, Run, Totals, Truth, View
from callboard.tui.stage import Stage
from callboard.tui.story import Wanted, contains, lines_before
from callboard.tui.tally import Tally
from callboard.tui.tape import Tape

_USUAL_AGE = 128
_AGE_MAX = 255
_DOWN, _DOWN_OR_ABSENT = int(Truth.DOWN), int(Truth.DOWN | Truth.ABSENT)


def project(
    tape: Tape, index: int, at_ms: Millis, view: View, until_ms: Millis | None = None
) -> Frame:
    """How the run stands at `at_ms`, after its first `index` events.

    `until_ms` is where the time bar ends, if not where the run is known to.
    """
    stage = tape.stage_at(index)
    end_ms = tape.end_ms if until_ms is None else until_ms
    rows, top, found = _job_rows(tape, stage, at_ms, view)
    log, log_top = _log(tape, index, view)
    started = tape.started
    return Frame(
        at_ms=at_ms,
        index=index,
        end_ms=end_ms,
        events=len(tape),
        complete=tape.closed,
        reason=tape.ended.reason if tape.ended else None,
        digest=tape.ended.digest if tape.ended else "",
        trouble=tape.trouble,
        run=_run(started) if started is not None and view.with_run else None,
        totals=_totals(stage),
        states=bytes(stage.states),
        owners=stage.owners.tobytes(),
        ages=_ages(stage, at_ms),
        truth=bytes(stage.truth),
        lost=bytes(stage.lost),
        held=bytes(stage.held),
        jobs=rows,
        jobs_top=top,
        jobs_found=found,
        selected=_selected(stage, at_ms, view),
        log=log,
        log_top=log_top,
        charts=tape.history.charts(view.columns, tape.end_ms, tape.tip, end_ms),
        detail=_detail(tape, stage, at_ms, view),
        policy=stage.policy,
    )


def _run(started: RunStarted) -> Run:
    named = started.scenario.get("policies")
    policies = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
    return Run(started.name, started.policy, started.seed, started.nodes, policies)


def _totals(stage: Stage) -> Totals:
    truth = np.frombuffer(stage.truth, np.uint8)
    return Totals(
        slots=(stage.slots[0], stage.slots[1]),
        busy=(stage.busy[0], stage.busy[1]),
        ghosts=stage.ghosts,
        orphans=sum(act.place >= 0 for act in stage.orphans.values()),
        suspended=stage.suspended,
        submitted=len(stage.jobs.rows),
        in_system=stage.in_system,
        nodes=len(stage.truth),
        down=int(((truth & _DOWN_OR_ABSENT) == _DOWN).sum()),
        lost=sum(stage.lost),
        wasted_ms=stage.wasted_ms,
        local=stage.levels[0],
        rack=stage.levels[1],
        maps_launched=sum(stage.levels),
        master_still=stage.master_still,
    )


def _ages(stage: Stage, at_ms: Millis) -> bytes:
    """How old what each slot holds is, beside what attempts of its job and kind usually take.

    Where none has succeeded yet, that is taken from the other jobs in the system.
    """
    jobs = stage.jobs
    owners = np.frombuffer(stage.owners, np.int32)
    if not len(owners):
        return b""
    usual = np.zeros((2, 1 + max(jobs.rows, default=-1) + 1), np.float64)
    for job in jobs.live:
        row = jobs.rows[job]
        usual[0, job + 1] = row.maps_ms / row.maps_ended if row.maps_ended else 0
        usual[1, job + 1] = row.reduces_ms / row.reduces_ended if row.reduces_ended else 0
    for line in usual:
        known = line[line > 0]
        line[line == 0] = known.mean() if len(known) else np.inf
    of_reduce = np.frombuffer(stage.reduce_slots, np.uint8)
    took = usual[of_reduce, np.minimum(owners, usual.shape[1] - 1)]
    age = (at_ms - np.frombuffer(stage.since, np.int64)) * _USUAL_AGE / took
    return np.clip(age, 0, _AGE_MAX).astype(np.uint8).tobytes()


def _log(tape: Tape, index: int, view: View) -> tuple[list[Line], bool]:
    """The lines in view, and whether they begin with the first there is."""
    job, node = (view.job, view.node) if view.log_of_selection else (None, None)
    wanted = Wanted(view.log_level, job, node, view.filter, view.log_kind)
    count = view.log_rows + view.log_back
    lines = lines_before(tape, index, count, wanted)
    return lines[: max(len(lines) - view.log_back, 0)][-view.log_rows :], len(lines) < count


def _job_rows(tape: Tape, stage: Stage, at_ms: Millis, view: View) -> tuple[list[JobRow], int, int]:
    """The rows of the table in view, where they begin, and how many there are in all."""
    tallies = stage.jobs
    wanted = tallies.rows if view.all_jobs else tallies.live
    rows = [tallies.rows[job] for job in wanted]
    if view.filter:
        rows = [row for row in rows if contains(words(row), view.filter)]
    with_dues = view.with_dues or view.jobs_key is JobKey.DUE
    beside = Beside(tape.insight, stage, at_ms, with_dues) if tape.insight is not None else None
    if view.jobs_key is not JobKey.ID or view.jobs_reverse:
        rows.sort(key=lambda row: row.told.job)
        key = beside.sort_key(view.jobs_key, view.jobs_reverse) if beside is not None else None
        rows.sort(key=key or sort_key(view.jobs_key, at_ms), reverse=view.jobs_reverse)
    top = max(min(view.jobs_top, len(rows) - view.jobs_rows), 0)
    running = running_in(stage)
    shown = rows[top : top + view.jobs_rows]
    told = [job_row(row, at_ms, running) for row in shown]
    if beside is not None:
        told = [beside.put(line, row) for line, row in zip(told, shown, strict=True)]
    return told, top, len(rows)


def _selected(stage: Stage, at_ms: Millis, view: View) -> JobRow | None:
    row = stage.jobs.rows.get(view.job) if view.job is not None else None
    return None if row is None else job_row(row, at_ms, running_in(stage))


def running_in(stage: Stage) -> int:
    """How many attempts run in all, at least 1."""
    return max(sum(stage.jobs.rows[job].attempts for job in stage.jobs.live), 1)


def words(row: Tally) -> str:
    """What a filter finds the job by."""
    told = row.told
    return f"job-{told.job} {told.name} {told.user} {told.pool}"


def job_row(row: Tally, at_ms: Millis, running: int) -> JobRow:
    """The job's line, where `running` attempts run in all."""
    told = row.told
    left = row.finished_ms if row.finished_ms is not None else at_ms
    begun = row.first_ms if row.first_ms is not None else left
    return JobRow(
        job=told.job,
        name=printable(told.name),
        user=printable(told.user),
        pool=printable(told.pool),
        state=row.state,
        tasks=(told.maps, told.reduces),
        done=(row.maps_done, row.reduces_done),
        running=(row.maps_on, row.reduces_on),
        suspended=row.suspended,
        share=(row.attempts - row.suspended) / running,
        waited_ms=begun - told.at_ms,
        time_ms=left - told.at_ms,
        priority=told.priority,
    )


def sort_key(key: JobKey, at_ms: Millis) -> Callable[[Tally], Any]:
    """What the rows are sorted by."""

    keys: dict[JobKey, Callable[[Tally], Any]] = {
        JobKey.ID: attrgetter("told.job"),
        JobKey.NAME: lambda row: row.told.name,
        JobKey.POOL: lambda row: (row.told.pool, row.told.user),
        JobKey.STATE: lambda row: row.state,
        JobKey.DONE: lambda row: (
            (row.maps_done + row.reduces_done) / max(row.told.maps + row.told.reduces, 1)
        ),
        JobKey.RUNNING: lambda row: row.attempts - row.suspended,
        JobKey.WAITING: waiting,
        JobKey.WAITED: lambda row: job_row(row, at_ms, 1).waited_ms,
        JobKey.TIME: lambda row: job_row(row, at_ms, 1).time_ms,
    }
    return keys[key]


def waiting(row: Tally) -> int:
    """How many of the job's tasks neither are done nor run."""
    told = row.told
    done, on = row.maps_done + row.reduces_done, row.maps_on + row.reduces_on
    return told.maps + told.reduces - done - on


def _detail(tape: Tape, stage: Stage, at_ms: Millis, view: View) -> Detail | None:
    if view.node is not None and view.node < len(stage.truth):
        detail = node_detail if view.slot is None else slot_detail
        return detail(tape, stage, at_ms, view)
    if view.job is not None and view.job in stage.jobs.rows:
        return job_detail(tape, stage, at_ms, view)
    return None
