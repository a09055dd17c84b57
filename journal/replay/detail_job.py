"""The selected job in words, and its timeline."""

from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.journal.replay import lanes
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import DetailText, JobStatus, Lane, View
from callboard.journal.replay.insight import Insight
from callboard.journal.replay.job_rows import job_status, waiting_tasks
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.scheduler_facts import job_scheduling_facts
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.names import priority_name
from callboard.journal.tell.reason_words import reason_in_words, reason_with_score, refusal_in_words
from callboard.journal.tell.response_parts import ResponseParts
from callboard.journal.tell.time_format import clock_time
from callboard.scheduler.model import MAPS, REDUCES, JobId, Millis, Stage
from callboard.scheduler.text.quantities import count, duration, percent_cell, printable

_STATES = {
    JobStatus.WAITING: "waiting for its first slot",
    JobStatus.STARVED: "starved: begun, but none of its tasks is running",
}

_PARTS_SHOWN = 3
"""How many parts of a response are told."""


def job_detail(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: View
) -> DetailText:
    """A job: its progress, why it waits, where it ran; then a lane for each of its tasks, or,
    where there is no room for that, how many of its attempts ran when.
    """
    assert view.job is not None
    row = cluster.run.jobs[view.job]
    submission, over = row.submission, row.finished_ms is not None
    until_ms = row.end_or(at_ms)
    spent = f"{duration(until_ms - submission.at_ms)}{'' if over else ' so far'}"
    facts = [("state", _state_text(row)), ("response", spent)]
    facts += _response_share_facts(recording, cluster, row, at_ms, view)
    facts += [("maps", _progress_text(row, MAPS))]
    if submission.reduces:
        facts += [("reduces", _progress_text(row, REDUCES))]
    if not over:
        facts += _waiting_facts(cluster, row)
        facts += job_scheduling_facts(cluster, submission.job, at_ms)
    if row.preempted or row.suspended:
        facts += [("preempted", _preemption_text(row))]
    if recording.insight is not None:
        facts += _share_and_size_facts(recording.insight, cluster, row, at_ms)
    facts += [("waited", _first_wait_text(row, until_ms))]
    facts += [("submitted", _submission_text(row)), *_slot_time_facts(row)]
    window = (submission.at_ms, max(until_ms, submission.at_ms + 1))
    shown = _job_lanes(recording, row, at_ms, view, window) if view.lane_columns else []
    title = job_title(submission.job, printable(submission.name))
    return DetailText(title, facts, shown, *window)


def _response_share_facts(
    recording: Recording, cluster: ClusterState, row: JobRecord, at_ms: Millis, view: View
) -> list[tuple[str, str]]:
    """Where its response went; of a job that goes on, where its time went so far, once the view
    stands still.
    """
    job = row.submission.job
    if row.finished_ms is not None:
        said, lines = "it went to", response_share_lines(recording, job)
    elif view.at_rest:
        said, lines = "went to", _share_lines(recording.parts_so_far(job, cluster.run.index, at_ms))
    else:
        return []
    return list(zip((said, "", ""), lines, strict=False))


def response_share_lines(recording: Recording, job: JobId) -> list[str]:
    """What a job's response went to, the greatest parts first, as `callboard explain` has them;
    none while it is not over.
    """
    return _share_lines(recording.response_parts(job))


def _share_lines(parts: ResponseParts | None) -> list[str]:
    if parts is None:
        return []
    whole_ms = max(parts.ms.total(), 1)
    told = [(ms / whole_ms, label) for label, ms in parts.ms.most_common(_PARTS_SHOWN)]
    return [f"{percent_cell(share)}  {label}" for share, label in told if share >= 0.005]


def _job_lanes(
    recording: Recording, row: JobRecord, at_ms: Millis, view: View, window: lanes.Window
) -> list[Lane]:
    submission = row.submission
    chosen = lanes.occupancies_of_job(recording.occupancies, submission.job, at_ms)
    fits = submission.maps + submission.reduces <= view.lane_rows
    tasks = lanes.task_lanes(chosen, window, view.lane_columns) if fits else []
    return tasks or lanes.running_profile(chosen, submission.job, window, view.lane_columns)


def _slot_time_facts(row: JobRecord) -> list[tuple[str, str]]:
    """Where its maps ran, and the slot time that was wasted."""
    facts = []
    if sum(row.levels):
        near, rack, far = (f"{level / sum(row.levels):.0%}" for level in row.levels)
        facts += [("maps ran", f"{near} node-local, {rack} rack-local, {far} off-rack")]
    if row.wasted_ms:
        text = f"{duration(row.wasted_ms)} of slot time, in attempts that did not succeed"
        facts += [("wasted", text)]
    return facts


def _preemption_text(row: JobRecord) -> str:
    said = f"{count(row.preempted, 'time')}, {row.suspended} suspended now"
    if row.last_preemption is None:
        return said
    last = row.last_preemption
    return f"{said}; last {clock_time(last.at_ms)}: {reason_in_words(last.why)}"


def _state_text(row: JobRecord) -> str:
    status = job_status(row)
    if status is JobStatus.RUNNING and row.suspended:
        return f"running, {count(row.suspended, 'attempt')} suspended"
    return _STATES.get(status, status.name.lower())


def _waiting_facts(cluster: ClusterState, row: JobRecord) -> list[tuple[str, str]]:
    """Why the job's tasks wait, as the master's decisions tell."""
    said, job = [], row.submission.job
    if job in cluster.skips:
        rival, refusal = cluster.skips[job]
        passed = f"{clock_time(rival.at_ms)} for {job_name(rival.job)}"
        said += [("passed over", f"{passed}: {refusal_in_words(refusal)}")]
    last = cluster.run.last_launch
    if waiting_tasks(row) and last is not None and last.job != job:
        ahead = f"{clock_time(last.at_ms)} {job_name(last.job)} was served last"
        said += [("ahead", f"{ahead}, {reason_with_score(last.why)}")]
    if row.last_launch is not None:
        own, at = row.last_launch.why, clock_time(row.last_launch.at_ms)
        patience = f", after {duration(own.waited_ms)} for locality" if own.waited_ms else ""
        said += [("served", f"{at}, {reason_with_score(own)}{patience}")]
    return said


def _share_and_size_facts(
    insight: Insight, cluster: ClusterState, row: JobRecord, at_ms: Millis
) -> list[tuple[str, str]]:
    """Its fair share, its expected and its true size, which the scheduler cannot know."""
    said = []
    fair_share = insight.fair_shares(cluster).get(row.submission.job)
    if fair_share:
        said += [
            (
                "fair share",
                f"{count(row.open_attempts - row.suspended, 'slot')}, due {fair_share:.3g}",
            )
        ]
    expected_ms, size_ms = insight.expected_size_ms(cluster, row), insight.size_ms(row)
    if expected_ms is not None:
        said += [("expected", f"{duration(expected_ms)} of slot time")]
    if size_ms is not None:
        said += [("true size", f"{duration(size_ms)} of slot time; no scheduler knows")]
    slowdown = insight.slowdown(row, at_ms)
    if slowdown is not None:
        least = "" if row.finished_ms is not None else "at least "
        said += [("slowdown", f"{least}{slowdown:.1f} times as long as alone")]
    return said


def _submission_text(row: JobRecord) -> str:
    submission = row.submission
    by = f" by {printable(submission.user)}" if submission.user else ""
    pool = f", pool {printable(row.pool)}" if row.pool else ""
    return f"{clock_time(submission.at_ms)}{by}{pool}, {priority_name(row.priority)} priority"


def _progress_text(row: JobRecord, stage: Stage) -> str:
    tasks, done, running = row.total(stage), row.phases[stage].done, row.phases[stage].running
    waiting = tasks - done - running
    return f"{done:,} of {tasks:,} done, {running:,} running, {waiting:,} waiting"


def _first_wait_text(row: JobRecord, until_ms: Millis) -> str:
    if row.first_launch_ms is None:
        return f"{duration(until_ms - row.submission.at_ms)}, and nothing launched yet"
    return f"{duration(row.first_launch_ms - row.submission.at_ms)} for its first launch"
