"""What the detail pane says of the selected job, and its timeline."""

from callboard.journal.names import clock, count, duration, job_name, printable
from callboard.scheduler.model import Millis
from callboard.tui.frame import Detail, JobState, Lane, View
from callboard.tui.insight import Insight, standing
from callboard.tui.lanes import Chosen, of_job, profile, task_lanes, tasks_begun
from callboard.tui.stage import Stage
from callboard.tui.tally import Tally
from callboard.tui.tape import Tape

_STATES = {
    JobState.WAITING: "waits for its first slot",
    JobState.RUNNING: "running",
    JobState.STARVED: "begun, but nothing of it runs",
    JobState.SUCCEEDED: "succeeded",
    JobState.FAILED: "failed",
    JobState.KILLED: "killed",
}


def job_detail(tape: Tape, stage: Stage, at_ms: Millis, view: View) -> Detail:
    """A job: how far it is, why it waits, where it ran; then a lane for each of its tasks, or,
    where there is not room for that, how many of its attempts ran when.
    """
    assert view.job is not None
    row = stage.jobs.rows[view.job]
    told = row.told
    until_ms = row.finished_ms if row.finished_ms is not None else at_ms
    facts = [("state", _job_state(row))]
    facts += [("maps", _progress(row.maps_done, told.maps, row.maps_on))]
    if told.reduces:
        facts += [("reduces", _progress(row.reduces_done, told.reduces, row.reduces_on))]
    if row.finished_ms is None:
        facts += _waiting(stage, row)
    if row.preempted or row.suspended:
        facts += [("gave way", _preemptions(row))]
    if tape.insight is not None:
        facts += _sizes(tape.insight, stage, row, at_ms)
    facts += [("response", _response(row, until_ms)), ("waited", _waited(row, until_ms))]
    facts += [("submitted", _submission(row))]
    if sum(row.levels):
        near, rack, far = (f"{level / sum(row.levels):.0%}" for level in row.levels)
        facts += [("maps ran", f"{near} node-local, {rack} rack-local, {far} off-rack")]
    if row.wasted_ms:
        facts += [("lost", f"{duration(row.wasted_ms)} of slot time, in attempts that did not do")]
    window = (told.at_ms, max(until_ms, told.at_ms + 1))
    lanes: list[Lane] = []
    if view.lane_columns:
        chosen = Chosen(tape.stints, of_job(tape.stints, view.job), at_ms)
        few = told.maps + told.reduces <= view.lane_rows and tasks_begun(chosen) > 0
        if few:
            lanes = task_lanes(chosen, window, view.lane_columns)
        else:
            lanes = profile(chosen, view.job, window, view.lane_columns)
    title = f"{job_name(told.job)} “{printable(told.name)}”"
    return Detail(title, facts, lanes, *window)


def _preemptions(row: Tally) -> str:
    """How often the job gave way, and for whom last."""
    said = f"{count(row.preempted, 'time')}, {row.suspended} suspended now"
    if row.taken is None:
        return said
    when_ms, why = row.taken
    return f"{said}; last {clock(when_ms)[:-4]}: {why.rule}"


def _job_state(row: Tally) -> str:
    if row.state is JobState.RUNNING and row.suspended:
        return f"running, {count(row.suspended, 'attempt')} suspended"
    return _STATES[row.state]


def _waiting(stage: Stage, row: Tally) -> list[tuple[str, str]]:
    """Why the job's tasks wait, as far as the master's decisions tell."""
    told, said = row.told, []
    if row.skip is not None:
        when_ms, why, rival = row.skip
        said += [("passed over", f"{clock(when_ms)[:-4]} for {job_name(rival)}: {why}")]
    left = told.maps + told.reduces - row.maps_done - row.reduces_done
    if left > row.maps_on + row.reduces_on and stage.jobs.latest is not None:
        when_ms, first, place = stage.jobs.latest
        if first != told.job:
            ahead = f"{clock(when_ms)[:-4]} {job_name(first)} was served last"
            said += [("ahead", f"{ahead}, {standing(place)}")]
    if row.launch is not None:
        when_ms, own = row.launch
        patience = f", after {duration(own.waited_ms)} for locality" if own.waited_ms else ""
        said += [("served", f"{clock(when_ms)[:-4]}, {standing(own)}{patience}")]
    return said


def _sizes(insight: Insight, stage: Stage, row: Tally, at_ms: Millis) -> list[tuple[str, str]]:
    """What it is due, how large it seems and is; ° marks what only the audience knows."""
    said = []
    due = insight.dues(stage).get(row.told.job)
    if due:
        said += [("fair share", f"{count(row.attempts - row.suspended, 'slot')}, due {due:.3g}")]
    expected_ms, size_ms = insight.expected_ms(stage, row), insight.size_ms(row)
    if expected_ms is not None:
        said += [("size≈", f"{duration(round(expected_ms))} of slot time is expected")]
    if size_ms is not None:
        said += [("size°", f"{duration(size_ms)} of slot time in truth")]
    stretch = insight.stretch(row, at_ms)
    if stretch is not None:
        so_far = "" if row.finished_ms is not None else " so far"
        said += [("×least°", f"{stretch:.1f} times the least that it could take{so_far}")]
    return said


def _submission(row: Tally) -> str:
    told = row.told
    by = f" by {printable(told.user)}" if told.user else ""
    pool = f", pool {printable(told.pool)}" if told.pool else ""
    priority = told.priority.name.lower().replace("_", " ")
    return f"{clock(told.at_ms)[:-4]}{by}{pool}, {priority} priority"


def _progress(done: int, tasks: int, on: int) -> str:
    return f"{done:,} of {tasks:,} done, {on:,} on, {tasks - done - on:,} waiting"


def _waited(row: Tally, until_ms: Millis) -> str:
    if row.first_ms is None:
        return f"{duration(until_ms - row.told.at_ms)}, and nothing launched yet"
    return f"{duration(row.first_ms - row.told.at_ms)} for its first launch"


def _response(row: Tally, until_ms: Millis) -> str:
    so_far = "" if row.finished_ms is not None else " so far"
    return f"{duration(until_ms - row.told.at_ms)}{so_far}"
