"""The frame for a recording, a place in it and a view.  Nothing is changed."""

import math

import msgspec
import numpy as np

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.replay import frame as fr
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.colouring import chosen_colour_by, job_colours
from callboard.journal.replay.detail_job import job_detail
from callboard.journal.replay.detail_node import node_detail
from callboard.journal.replay.detail_result import progress_detail, result_detail
from callboard.journal.replay.detail_slot import slot_detail
from callboard.journal.replay.event_log import LogFilter
from callboard.journal.replay.job_rows import job_row, job_rows
from callboard.journal.replay.log_folding import folded_lines
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.result_headline import run_headline
from callboard.journal.replay.slot_cards import slot_cards
from callboard.journal.tell.names import ONE_MASTER, keeper_of_books
from callboard.journal.told_scenario import told_scenario
from callboard.scheduler.model import JobId, Millis, slot_kind
from callboard.scheduler.text.quantities import printable

_AGE_MAX = 255


def project(
    recording: Recording, index: int, at_ms: Millis, view: fr.View, until_ms: Millis | None = None
) -> fr.Frame:
    """The run at `at_ms`, after its first `index` events.

    `until_ms` is where the time bar ends, if not where the recording does.
    """
    cluster = recording.state_at(index)
    end_ms = recording.end_ms if until_ms is None else until_ms
    over = recording.closed and at_ms >= recording.end_ms
    view = msgspec.structs.replace(view, all_jobs=view.all_jobs or over)  # so that the table stays
    rows, top, found = job_rows(recording, cluster, at_ms, view)
    log, log_top = _log_lines_in_view(recording, index, view)
    colours = job_colours(cluster, at_ms, chosen_colour_by(view.colour_by, recording))
    started = recording.started
    return fr.Frame(
        at_ms=at_ms,
        index=index,
        end_ms=end_ms,
        complete=recording.closed,
        reason=recording.ended.reason if recording.ended else None,
        digest=recording.ended.digest if recording.ended else "",
        failure=recording.failure,
        run=_run_info(started) if started is not None and view.with_run else None,
        totals=_cluster_totals(cluster),
        states=bytes(cluster.states),
        owners=cluster.owners.tobytes(),
        ages=_attempt_ages(cluster, at_ms),
        node_status=bytes(cluster.node_status),
        lost=bytes(cluster.lost),
        suspended_by_node=bytes(cluster.suspended_by_node),
        jobs=rows,
        jobs_top=top,
        jobs_found=found,
        selected=_selected_job_row(cluster, at_ms, view),
        log=log,
        log_top=log_top,
        charts=recording.history.charts(
            view.columns, recording.end_ms, recording.last_state, end_ms
        ),
        detail=_selected_detail(recording, cluster, at_ms, view),
        policy=cluster.run.policy_to_come,
        hues=colours.hues,
        colour_by=colours.by,
        legend=colours.legend,
        slot_hues=colours.slot_hues,
        queued_by_node=_queue_lengths_by_node(cluster),
        cards=slot_cards(cluster, at_ms) if view.with_cards else [],
        headline=run_headline(cluster) if over and not recording.failure else None,
        names=_job_names(cluster) if view.with_names else None,
    )


def _job_names(cluster: ClusterState) -> dict[JobId, str]:
    return {job: printable(row.submission.name) for job, row in cluster.run.jobs.items()}


def _run_info(started: RunStarted) -> fr.RunInfo:
    policies = told_scenario(started).policies
    return fr.RunInfo(started.name, started.policy, started.seed, started.nodes, policies)


def _cluster_totals(cluster: ClusterState) -> fr.Totals:
    down, levels = fr.nodes_down(cluster.node_status), cluster.run.levels
    return fr.Totals(
        slots=(cluster.slots[0], cluster.slots[1]),
        busy=(cluster.run.busy[0], cluster.run.busy[1]),
        submitted=len(cluster.run.jobs),
        in_system=len(cluster.run.live),
        down=int(down.sum()),
        lost=sum(cluster.lost),
        unaware=int((down & (np.frombuffer(cluster.lost, np.uint8) == 0)).sum()),
        master_paused=cluster.run.paused,
        keeper=keeper_of_books(cluster.run.policy),
        local=levels[0] / launched if (launched := sum(levels)) else math.nan,
        wasted_ms=cluster.wasted_ms,
    )


def _queue_lengths_by_node(cluster: ClusterState) -> bytes:
    """What waits at each node; of a node that a master gives tasks only to free slots, nothing."""
    if keeper_of_books(cluster.run.policy) == ONE_MASTER:
        return b""
    return bytes(
        min(cluster.queue_length_at(node), 255) for node in range(len(cluster.node_status))
    )


def _attempt_ages(cluster: ClusterState, at_ms: Millis) -> bytes:
    """The age of the attempt in each slot, relative to what attempts of its job and kind usually
    take; where none has succeeded yet, to those of the other jobs in the system.
    """
    owners = np.frombuffer(cluster.owners, np.int32)
    if not len(owners):
        return b""
    usual = np.zeros((2, 1 + max(cluster.run.jobs, default=-1) + 1), np.float64)
    for job in cluster.run.live:
        row = cluster.run.jobs[job]
        for stage, phase in row.phases.items():
            usual[slot_kind(stage), job + 1] = phase.usual_ms or 0
    for line in usual:
        known = line[line > 0]
        line[line == 0] = known.mean() if len(known) else np.inf
    of_reduce = np.frombuffer(cluster.reduce_slots, np.uint8)
    took = usual[of_reduce, np.minimum(owners, usual.shape[1] - 1)]
    age = (at_ms - np.frombuffer(cluster.since, np.int64)) * fr.USUAL_AGE / took
    return np.clip(age, 0, _AGE_MAX).astype(np.uint8).tobytes()


def _log_lines_in_view(
    recording: Recording, index: int, view: fr.View
) -> tuple[list[fr.LogLine], bool]:
    """The lines in view, and whether they begin with the first there is."""
    job, node = (view.job, view.node) if view.log_of_selection else (None, None)
    wanted = LogFilter(view.log_level, job, node, view.filter, view.log_kind)
    count = view.log_rows + view.log_back
    lines = folded_lines(recording, index, count, wanted, view.log_unfolded)
    return lines[: max(len(lines) - view.log_back, 0)][-view.log_rows :], len(lines) < count


def _selected_job_row(cluster: ClusterState, at_ms: Millis, view: fr.View) -> fr.JobRow | None:
    row = cluster.run.jobs.get(view.job) if view.job is not None else None
    return None if row is None else job_row(row, at_ms)


def _selected_detail(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: fr.View
) -> fr.DetailText | None:
    if view.node is not None and view.node < len(cluster.node_status):
        detail = node_detail if view.slot is None else slot_detail
        return detail(recording, cluster, at_ms, view)
    if view.job is not None and view.job in cluster.run.jobs:
        return job_detail(recording, cluster, at_ms, view)
    if not cluster.run.jobs:
        return None
    over = recording.closed and at_ms >= recording.end_ms
    return (result_detail if over else progress_detail)(recording, cluster, at_ms)
