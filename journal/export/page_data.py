"""What a page that plays a run back has to know, gathered from the run's events.

All is folded here, by the state that the terminal's screen goes by too; the page only adds up.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Self

import msgspec
import numpy as np

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import Importance
from callboard.actors.vocabulary.lifecycle import IllegalTransition
from callboard.journal.export.change_log import (
    Change,
    ChangeLog,
    CountColumns,
    CountRow,
    count_columns,
    differences,
)
from callboard.journal.export.consistency import check_event
from callboard.journal.export.page_columns import (
    ChartColumns,
    ColourKey,
    LogColumns,
    MarkColumns,
    PageData,
    PageJobs,
    PageNodes,
    PageWords,
    SlotColumns,
)
from callboard.journal.export.sentence_patterns import SentencePatterns
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.replay import signs
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.colouring import chosen_colours, job_colours
from callboard.journal.replay.detail_result import result_facts
from callboard.journal.replay.event_log import LogFilter
from callboard.journal.replay.frame import (
    ColourBy,
    JobStanding,
    LogLine,
    NodeStatus,
    SlotState,
    nodes_down,
)
from callboard.journal.replay.job_oracle import MakeOracle
from callboard.journal.replay.job_rows import job_standing
from callboard.journal.replay.log_folding import folded_lines
from callboard.journal.replay.player import SPEEDS
from callboard.journal.replay.recording import Recording
from callboard.journal.run_records import JobRecord
from callboard.journal.run_state import NO_SUBJECT, InconsistentEvents, RunState
from callboard.journal.tell.names import class_words, printable
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import JobId, Millis, NodeId

ATTEMPTS_MOST = 150_000
"""How many attempts a page plays back; it has some 80 bytes for each."""

SLOTS_MOST, JOBS_MOST = 50_000, 50_000
"""How many slots a page can draw in time, and how many jobs it lists."""

_COLUMNS = 360
"""How many columns the charts have."""

_FRESH = len(SlotState)
_WAITING = {JobStanding.WAITING + 1, JobStanding.STARVED + 1}
_COLOURS = (ColourBy.JOB, ColourBy.POOL, ColourBy.USER, ColourBy.SIZE)
"""What a page can colour jobs by: what does not change as they go on."""

_NODE_SIGNS = (" ", *(sign for _, sign in signs.STATUS_SIGNS), signs.LOST_SIGN)


class TooLargeForPageError(ValueError):
    """The run has more of something than a page can hold."""

    def __init__(self, what: str, most: int) -> None:
        super().__init__(
            f"it has more than {most:,} {what}, and a page holds no more; record less of the run"
            " (callboard run with --until or --jobs), or see all of it with callboard replay"
        )


class PageCollector:
    """Takes in a run's events; `PageCollector.of(events, make_oracle).data()` is the page's."""

    def __init__(self, make_oracle: MakeOracle | None = None) -> None:
        self.recording = Recording(make_oracle)
        self._checked = RunState()
        self._narrator = Narrator(self._checked)
        self._slots = ChangeLog((0, 0, 0, 0, 0))
        self._jobs = ChangeLog((0, 0, 0, 0, 0, 0))
        self._nodes = ChangeLog((0, 0, 0, 0, 0, 0))
        self._held: dict[NodeId, list[tuple[int, int]]] = {}
        self._policy: tuple[str, bool] | None = None
        self._policies: list[tuple[Millis, str, bool]] = []
        self._decisions: list[LogLine] = []
        self.attempts = 0
        """How many have been launched."""

    @classmethod
    def of(cls, events: Iterable[ev.AnyEvent], make_oracle: MakeOracle | None = None) -> Self:
        """All that the events tell.  TooLargeForPageError; ValueError, with the event's number, if
        no run can have had them, or if they do not begin with a run's start.
        """
        found = cls(make_oracle)
        for number, event in enumerate(events):
            try:
                found.observe(event)
            except (IllegalTransition, InconsistentEvents) as error:
                told = f"event {number} ({class_words(type(event))})"
                raise ValueError(f"{told} cannot have happened: {error}") from None
        if found.recording.started is None:
            raise ValueError("no run has been recorded in it yet")
        found.recording.closed = True
        return found

    def observe(self, event: ev.AnyEvent) -> None:
        """Take the next event in."""
        check_event(event, self._checked)
        self._check_size(event)
        text = self._narrator.describe(event) if event.importance is Importance.DECISION else ""
        self._checked.observe(event)
        recording = self.recording
        recording.append(event)
        job, node = recording.jobs[-1], recording.nodes[-1]
        if text:
            line = LogLine(
                len(recording) - 1, event.at_ms, text, event.importance, event.mark, job, node
            )
            self._decisions.append(line)
        self._note(event, job, node)

    def _check_size(self, event: ev.AnyEvent) -> None:
        """Numbers that a page cannot hold, before anything is made of them."""
        if isinstance(event, ev.RunStarted) is (self.recording.started is not None):
            raise InconsistentEvents("a run begins once, with its first event")
        match event:
            case ev.RunStarted():
                slots = sum(facts.map_slots + facts.reduce_slots for facts in event.nodes)
                if max(slots, len(event.nodes)) > SLOTS_MOST:
                    raise TooLargeForPageError("slots", SLOTS_MOST)
                if [facts.node for facts in event.nodes] != list(range(len(event.nodes))):
                    raise InconsistentEvents("its nodes are not numbered from 0 on")
            case ev.JobSubmitted() if max(event.job, len(self._checked.jobs)) >= JOBS_MOST:
                raise TooLargeForPageError("jobs", JOBS_MOST)
            case ev.AttemptLaunched():
                self.attempts += 1
                if self.attempts > ATTEMPTS_MOST:
                    raise TooLargeForPageError("attempts", ATTEMPTS_MOST)

    def _note(self, event: ev.AnyEvent, job: JobId, node: NodeId) -> None:
        """Note what may have changed: of its job, of its node; of all nodes if a master that has
        started again may have forgotten which it had given up.
        """
        cluster, at_ms = self.recording.last_state, event.at_ms
        row = cluster.run.jobs.get(job)
        if row is not None:
            self._jobs.note(at_ms, job, _counts(row))
        if 0 <= node < len(cluster.node_status):
            self._note_slots(cluster, at_ms, node)
            self._nodes.note(at_ms, node, _node_row(cluster, node))
        self._note_policy(cluster, at_ms)
        if isinstance(event, ev.FaultStruck) and isinstance(event.fault, faults.MasterFault):
            for each in range(len(cluster.node_status)):
                self._nodes.note(at_ms, each, _node_row(cluster, each))

    def _note_slots(self, cluster: ClusterState, at_ms: Millis, node: NodeId) -> None:
        """Note the node's slots that have another state or another attempt than before."""
        first, end = cluster.first[node], cluster.first[node + 1]
        held = [*zip(cluster.states[first:end], cluster.holders[first:end], strict=True)]
        before = self._held.get(node)
        if held == before:
            return
        self._held[node] = held
        for number, slot in enumerate(held):
            if before is None or slot != before[number]:
                self._slots.note(at_ms, first + number, _slot_row(cluster, first + number))

    def _note_policy(self, cluster: ClusterState, at_ms: Millis) -> None:
        now = cluster.run.policy, cluster.run.paused
        if now != self._policy:
            self._policy = now
            self._policies.append((at_ms, printable(now[0]), now[1]))

    # What comes of it.

    def data(self) -> PageData:
        recording = self.recording
        started, cluster, end_ms = recording.started, recording.last_state, recording.end_ms
        assert started is not None
        jobs = list(cluster.run.jobs.values())
        return PageData(
            name=printable(started.name),
            policies=self._policies,
            seed=started.seed,
            end_ms=end_ms,
            speeds=[speed for speed in SPEEDS if speed is not None],
            nodes=PageNodes(
                rack=[facts.rack for facts in started.nodes],
                maps=[facts.map_slots for facts in started.nodes],
                reduces=[facts.reduce_slots for facts in started.nodes],
            ),
            jobs=_job_columns(jobs),
            colours=_colours(cluster, end_ms, [job.submission.job for job in jobs]),
            slots=_slot_columns(list(self._slots)),
            job_rows=self._job_rows(jobs),
            node_rows=count_columns(self._nodes),
            log=self._log(),
            marks=_marks(recording),
            charts=self._charts(),
            result=result_facts(recording, cluster, end_ms),
            words=_words(recording),
        )

    def _job_rows(self, jobs: Sequence[JobRecord]) -> CountColumns:
        places = {job.submission.job: place for place, job in enumerate(jobs)}
        columns = count_columns(self._jobs)
        return msgspec.structs.replace(columns, of=[places[job] for job in columns.of])

    def _log(self) -> LogColumns:
        """Headlines, alike ones folded, and decisions."""
        recording = self.recording
        wanted = LogFilter(Importance.HEADLINE)
        headlines = folded_lines(recording, len(recording), len(recording), wanted, ())
        lines = sorted([*headlines, *self._decisions], key=lambda line: line.index)
        patterns, numbers = SentencePatterns(), list[int]()
        used = []
        for line in lines:
            pattern, found = patterns.take_apart(line.text)
            used.append(pattern)
            numbers += found
        return LogColumns(
            at=differences(line.at_ms for line in lines),
            kind="".join(_letter(line.level + len(Importance) * line.mark) for line in lines),
            job=[NO_SUBJECT if line.job is None else line.job for line in lines],
            pattern=used,
            numbers=numbers,
            patterns=patterns.patterns,
        )

    def _charts(self) -> ChartColumns:
        recording = self.recording
        charts = recording.history.charts(
            _COLUMNS, recording.end_ms, recording.last_state, recording.end_ms
        )
        return ChartColumns(
            maps=_rounded(charts.maps),
            reduces=_rounded(charts.reduces),
            jobs=_rounded(charts.jobs),
            waiting=_rounded(_means(self._waiting(), _COLUMNS)),
            wasted=_rounded(charts.wasted),
        )

    def _waiting(self) -> Steps:
        """How many jobs are in the system with nothing running, over time."""
        begins: list[Millis] = []
        ends: list[Millis] = []
        for change in self._jobs:
            before, after = change.before[0] in _WAITING, change.after[0] in _WAITING
            if before != after:
                (begins if after else ends).append(change.at_ms)
        return steps(np.array(begins, np.int64), np.array(ends, np.int64), self.recording.end_ms)


def _counts(row: JobRecord) -> CountRow:
    maps, reduces = row.phases
    running = maps.running, reduces.running
    return job_standing(row) + 1, maps.done, reduces.done, *running, row.suspended


def _node_row(cluster: ClusterState, node: NodeId) -> CountRow:
    look = _node_look(cluster.node_status[node], cluster.lost[node])
    return *look, cluster.suspended_by_node[node]


@cache
def _node_look(status: int, lost: int) -> CountRow:
    """Its sign, whether the master is wrong about it, whether it counts as down, is given up, is
    off.
    """
    sign, wrong = signs.node_sign(status, lost)
    down = bool(nodes_down(bytes([status]))[0])
    return _NODE_SIGNS.index(sign), int(wrong), int(down), lost, int(bool(status & NodeStatus.DOWN))


def _slot_row(cluster: ClusterState, place: int) -> CountRow:
    """The state, and the attempt with its job, task and locality."""
    state = cluster.states[place]
    attempt = cluster.run.attempts.get(cluster.holders[place])
    if state == SlotState.IDLE or attempt is None:
        return 0, 0, 0, 0, 0
    launch = attempt.launch
    level = _NO_LEVEL if launch.kind else int(launch.level)
    return state, launch.attempt, launch.job, launch.task, level


_NO_LEVEL = 3


def _slot_columns(changes: Sequence[Change]) -> SlotColumns:
    fresh = [change.after[0] and change.after[1] != change.before[1] for change in changes]
    taken = [change.after for change, is_fresh in zip(changes, fresh, strict=True) if is_fresh]
    return SlotColumns(
        at=differences(change.at_ms for change in changes),
        of=[change.subject for change in changes],
        state="".join(
            _letter(change.after[0] + (_FRESH if is_fresh else 0))
            for change, is_fresh in zip(changes, fresh, strict=True)
        ),
        job=[row[2] for row in taken],
        task=[row[3] for row in taken],
        level=[row[4] for row in taken],
    )


def _letter(number: int) -> str:
    return chr(ord("a") + number)


def _job_columns(jobs: Sequence[JobRecord]) -> PageJobs:
    told = [job.submission for job in jobs]
    return PageJobs(
        job=[each.job for each in told],
        name=[printable(each.name) for each in told],
        user=[printable(each.user) for each in told],
        pool=[printable(job.pool) for job in jobs],
        maps=[each.maps for each in told],
        reduces=[each.reduces for each in told],
        submitted_ms=[each.at_ms for each in told],
        finished_ms=[-1 if job.finished_ms is None else job.finished_ms for job in jobs],
    )


def _colours(cluster: ClusterState, end_ms: Millis, jobs: Sequence[JobId]) -> list[ColourKey]:
    """What can be coloured by; first what the screen would colour the whole run by."""
    usual = chosen_colours(ColourBy.FITTING, cluster)
    several = {ColourBy.POOL: len(cluster.pools) > 1, ColourBy.USER: len(cluster.users) > 1}
    wanted = [usual, *(by for by in _COLOURS if by is not usual and several.get(by, True))]
    found = []
    for by in wanted:
        key = job_colours(cluster, end_ms, by)
        hues = "".join(str(key.hues[job]) for job in jobs)
        found.append(ColourKey(signs.COLOURED_BY[by], hues, key.legend))
    return found


def _marks(recording: Recording) -> MarkColumns:
    marks = list(recording.history.marks())
    return MarkColumns(
        at=differences(at_ms for at_ms, _ in marks),
        kind="".join(str(int(mark)) for _, mark in marks),
    )


def _words(recording: Recording) -> PageWords:
    reason = recording.ended.reason if recording.ended is not None else None
    ending = signs.ENDING_WORDS.get(reason, f"the run {reason}")
    return PageWords(
        states=[signs.STATE_WORDS[each] for each in JobStanding],
        slots=["empty", *(signs.SLOT_WORDS[each] for each in SlotState if each)],
        slot_signs=[signs.SLOT_SIGNS[each] for each in SlotState],
        down_sign=signs.DOWN_SIGN,
        node_signs=_NODE_SIGNS,
        marks=[signs.MARK_SIGNS[each] for each in ev.Mark],
        ending=printable(ending),
    )


def _means(counts: Steps, columns: int) -> list[float]:
    """The mean of the steps in each of as many equal parts of the run."""
    widths = np.diff(counts.times, append=counts.until_ms)
    area = np.concatenate((np.zeros(1), np.cumsum(counts.counts * widths)))
    edges = np.linspace(0, max(counts.until_ms, 1), columns + 1)
    known = np.append(counts.times, counts.until_ms).astype(np.float64)
    return [float(each) for each in np.diff(np.interp(edges, known, area)) / np.diff(edges)]


def _rounded(values: Iterable[float]) -> list[float]:
    """To four digits after the point; 0 for what there is not."""
    return [0.0 if value != value else round(value, 4) for value in values]
