"""Two runs at one moment, compared: figures, jobs, and where they first diverge."""

from collections.abc import Collection

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.journal.replay import frame as fr
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.event_log import sentence_at
from callboard.journal.replay.job_rows import job_row, rows_in_view, rows_passing_filter, sort_key
from callboard.journal.replay.recording import EVENT_NUMBERS, Recording
from callboard.journal.replay.result_headline import response_times
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.diff import same_decision, same_event
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.text.quantities import printable

StatePair = tuple[ClusterState, ClusterState]

_FAULT = EVENT_NUMBERS[ev.FaultStruck]
_ESTIMATE = EVENT_NUMBERS[ev.SizeEstimated]
_ENDED = EVENT_NUMBERS[ev.RunEnded]


def compare_figures(
    recordings: tuple[Recording, Recording], clusters: StatePair, at_ms: Millis
) -> tuple[fr.RunFigures, fr.RunFigures]:
    """Both runs in figures."""
    one, other = (response_times(cluster) for cluster in clusters)
    common = one.keys() & other.keys()
    return (
        _run_figures(recordings[0], clusters[0], one, common, at_ms),
        _run_figures(recordings[1], clusters[1], other, common, at_ms),
    )


def _run_figures(
    recording: Recording,
    cluster: ClusterState,
    responses: dict[JobId, Millis],
    common: set[JobId],
    at_ms: Millis,
) -> fr.RunFigures:
    over = recording.closed and at_ms >= recording.end_ms
    upto_ms = recording.end_ms if over else at_ms
    *busy_ms, jobs_ms = cluster.busy_and_jobs_ms(upto_ms)
    maps, reduces = (ms / max(n * upto_ms, 1) for ms, n in zip(busy_ms, cluster.slots, strict=True))
    return fr.RunFigures(
        policy=cluster.run.policy_to_come,
        done=len(responses),
        response_ms=_mean_or_none(responses.values()),
        common_ms=_mean_or_none([responses[job] for job in common]),
        in_system_ms=jobs_ms / len(cluster.run.jobs) if cluster.run.jobs else None,
        busy=(maps, reduces),
        wasted=cluster.wasted_ms / max(sum(cluster.slots) * upto_ms, 1),
        run_ended_ms=recording.end_ms if over else None,
        failure=recording.failure if over else "",
    )


def _mean_or_none(values: Collection[Millis]) -> float | None:
    return sum(values) / len(values) if values else None


def compare_jobs(
    clusters: StatePair, at_ms: Millis, view: fr.View
) -> tuple[list[fr.ComparedJob], int, int]:
    """The rows of the table of jobs in view, where they begin, and how many there are in all.

    A job is listed as long as it is in the system in either run.
    """
    runs = clusters[0].run, clusters[1].run
    wanted = [run.jobs if view.all_jobs else run.live for run in runs]
    front, other = runs[view.lead].jobs, runs[1 - view.lead].jobs
    jobs = sorted(wanted[0].keys() | wanted[1].keys())
    rows = rows_passing_filter([front.get(job) or other[job] for job in jobs], view)
    key = view.jobs_key if view.jobs_key in fr.COMPARISON_SORT_KEYS else fr.JobSortKey.ID
    rows.sort(key=sort_key(key, at_ms), reverse=view.jobs_reverse)
    shown, top = rows_in_view(rows, view)
    compared = [
        _compared_job(row, [run.jobs.get(row.submission.job) for run in runs], at_ms)
        for row in shown
    ]
    return compared, top, len(rows)


def _compared_job(row: JobRecord, sides: list[JobRecord | None], at_ms: Millis) -> fr.ComparedJob:
    first, second = (None if side is None else job_row(side, at_ms) for side in sides)
    ends = [None if side is None else side.finished_ms for side in sides]
    sooner = None if ends[0] is None or ends[1] is None else ends[0] - ends[1]
    return fr.ComparedJob(
        row.submission.job, printable(row.submission.name), (first, second), sooner
    )


class DivergenceSearch:
    """Looks for the first event at which two recordings diverge, as far as both are known.

    The runs' first events, switches of policy from outside and measured sizes are left out: runs
    are compared because their policies differ, and by what these do.
    """

    def __init__(self, recordings: tuple[Recording, Recording]) -> None:
        self.recordings = recordings
        self.found: fr.DivergencePoint | None = None
        self._places = [1, 1]

    def search(self) -> fr.DivergencePoint | None:
        """Compare the events since the last search; the divergence, if it has been found."""
        recordings, places = self.recordings, self._places
        while self.found is None:
            for side, recording in enumerate(recordings):
                while places[side] < len(recording) and self._is_left_out(side):
                    places[side] += 1
                if places[side] == len(recording):
                    return None
            if not self._next_events_match():
                self.found = self._divergence_point()
            self._places = places = [place + 1 for place in places]
        return self.found

    def _is_left_out(self, side: int) -> bool:
        recording, place = self.recordings[side], self._places[side]
        if recording.kinds[place] == _ESTIMATE:
            return True
        if recording.kinds[place] != _FAULT:
            return False
        event = recording.event(place)
        return isinstance(event, ev.FaultStruck) and isinstance(event.fault, SwitchPolicy)

    def _next_events(self) -> tuple[ev.AnyEvent, ev.AnyEvent]:
        (a, b), (i, j) = self.recordings, self._places
        return a.event(i), b.event(j)

    def _next_events_match(self) -> bool:
        """Whether the next events are the same, or the same decision for another reason."""
        (a, b), (i, j) = self.recordings, self._places
        if a.kinds[i] != b.kinds[j] or a.times[i] != b.times[j]:
            return False
        if a.kinds[i] == _ENDED or a.event_bytes(i) == b.event_bytes(j):
            return True
        return same_event(*self._next_events()) or same_decision(*self._next_events())

    def _divergence_point(self) -> fr.DivergencePoint:
        (a, b), (i, j), (first, second) = self.recordings, self._places, self._next_events()
        lines = sentence_at(a, i, first), sentence_at(b, j, second)
        return fr.DivergencePoint(min(a.times[i], b.times[j]), lines)
