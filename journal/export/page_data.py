"""What a page that plays a run back has to know, of what has been collected of the run."""

import re
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Importance
from callboard.journal.export.change_log import (
    Change,
    ChangeLog,
    CountColumns,
    count_columns,
    time_differences,
)
from callboard.journal.export.page_collector import PageCollector
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
from callboard.journal.replay import signs
from callboard.journal.replay.colouring import chosen_colour_by, job_colours
from callboard.journal.replay.detail_job import response_share_lines
from callboard.journal.replay.detail_result import result_facts
from callboard.journal.replay.event_log import LogFilter
from callboard.journal.replay.frame import (
    ColourBy,
    JobStatus,
    LogLine,
    SlotState,
)
from callboard.journal.replay.lanes import mean_running
from callboard.journal.replay.log_folding import folded_lines
from callboard.journal.replay.player import SPEEDS
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.result_headline import compared_headline, run_headline
from callboard.journal.run_records import JobRecord
from callboard.journal.run_state import NO_SUBJECT
from callboard.journal.tell.names import ONE_MASTER, keeper_of_books
from callboard.journal.tell.shortening import cut_apart
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.text.quantities import printable

_COLUMNS = 360
"""How many columns the charts have."""

_READ_MOST = 1_000_000
"""How many events are read again to find out what responses went to: some seconds' work."""

_FRESH = len(SlotState)
_WAITING = {JobStatus.WAITING + 1, JobStatus.STARVED + 1}
_COLOURS = (ColourBy.JOB, ColourBy.POOL, ColourBy.USER, ColourBy.SIZE)
"""What a page can colour jobs by: what does not change as they go on."""


_LABEL_LETTERS = 11
_NUMBER = re.compile(r"(0|[1-9][0-9]{0,14})")


def page_data(collected: PageCollector) -> PageData:
    """The page's data; equal runs give equal data."""
    recording = collected.recording
    started, cluster, end_ms = recording.started, recording.last_state, recording.end_ms
    assert started is not None
    jobs = list(cluster.run.jobs.values())
    return PageData(
        name=printable(started.name),
        policies=collected.policies,
        seed=started.seed,
        end_ms=end_ms,
        speeds=[speed for speed in SPEEDS if speed is not None],
        nodes=PageNodes(
            rack=[facts.rack for facts in started.nodes],
            maps=[facts.map_slots for facts in started.nodes],
            reduces=[facts.reduce_slots for facts in started.nodes],
        ),
        jobs=_job_columns(recording, jobs),
        colours=_colour_keys(recording, [job.submission.job for job in jobs]),
        slots=_slot_columns(list(collected.slots)),
        job_rows=_job_change_columns(collected.jobs, jobs),
        node_rows=count_columns(collected.nodes),
        log=_log_columns(recording, collected.decisions),
        marks=_mark_columns(recording),
        charts=_chart_columns(recording, collected.jobs),
        result=result_facts(recording, cluster, end_ms),
        words=_page_words(recording),
        headline=None if recording.failure else run_headline(cluster),
    )


def compared_page_data(first: PageCollector, second: PageCollector) -> PageData:
    """The page's data of two runs beside each other; ValueError if they are not of one world."""
    started = [each.recording.started for each in (first, second)]
    worlds = {(told.name, told.seed, told.nodes) for told in started if told is not None}
    if len(worlds) != 1:
        raise ValueError("the two runs are of different scenarios, seeds or clusters")
    both = [page_data(first), page_data(second)]
    labels = cut_apart([each.policies[0][1] for each in both], _LABEL_LETTERS)
    one, other = map(_labelled_page, both, labels)
    recordings = first.recording, second.recording
    failed = any(recording.failure for recording in recordings)
    clusters = recordings[0].last_state, recordings[1].last_state
    headline = None if failed else compared_headline(clusters)
    return msgspec.structs.replace(one, headline=headline, beside=other)


def _labelled_page(data: PageData, label: str) -> PageData:
    return msgspec.structs.replace(data, label=label)


def _job_change_columns(changes: ChangeLog, jobs: Sequence[JobRecord]) -> CountColumns:
    places = {job.submission.job: place for place, job in enumerate(jobs)}
    columns = count_columns(changes)
    return msgspec.structs.replace(columns, of=[places[job] for job in columns.of])


def _log_columns(recording: Recording, decisions: Sequence[LogLine]) -> LogColumns:
    """Headlines, alike ones folded, and decisions."""
    wanted = LogFilter(Importance.HEADLINE)
    headlines = folded_lines(recording, len(recording), len(recording), wanted, ())
    lines = sorted([*headlines, *decisions], key=lambda line: line.index)
    pattern, numbers, patterns = sentences_as_patterns(line.text for line in lines)
    return LogColumns(
        at=time_differences(line.at_ms for line in lines),
        kind="".join(_letter_of_number(line.level + len(Importance) * line.mark) for line in lines),
        job=[NO_SUBJECT if line.job is None else line.job for line in lines],
        pattern=pattern,
        numbers=numbers,
        patterns=patterns,
    )


def sentences_as_patterns(
    texts: Iterable[str],
) -> tuple[list[int], list[int], list[tuple[str, ...]]]:
    """Sentences in little room: which pattern each has, the numbers in all, and the patterns, each
    what stands between its numbers.  A zero that leads is a number of its own.
    """
    used, numbers, patterns = list[int](), list[int](), dict[tuple[str, ...], int]()
    for text in texts:
        parts = _NUMBER.split(text)
        used.append(patterns.setdefault(tuple(parts[::2]), len(patterns)))
        numbers += map(int, parts[1::2])
    return used, numbers, list(patterns)


def _chart_columns(recording: Recording, jobs: ChangeLog) -> ChartColumns:
    end_ms = recording.end_ms
    charts = recording.history.charts(_COLUMNS, end_ms, recording.last_state, end_ms)
    return ChartColumns(
        maps=_rounded_values(charts.maps),
        reduces=_rounded_values(charts.reduces),
        jobs=_rounded_values(charts.jobs),
        waiting=_rounded_values(_mean_waiting_jobs(jobs, end_ms)),
        wasted=_rounded_values(charts.wasted),
        peaks=charts.peaks,
    )


def _mean_waiting_jobs(jobs: ChangeLog, end_ms: Millis) -> list[float]:
    """How many jobs are in the system with nothing running, on average in each column."""
    begins: list[Millis] = []
    ends: list[Millis] = []
    for change in jobs:
        before, after = change.before[0] in _WAITING, change.after[0] in _WAITING
        if before != after:
            (begins if after else ends).append(change.at_ms)
    edges = np.linspace(0, max(end_ms, 1), _COLUMNS + 1)
    means = mean_running(np.array(begins, np.int64), np.array(ends, np.int64), edges)
    return [float(each) for each in means]


def _slot_columns(changes: Sequence[Change]) -> SlotColumns:
    fresh = [change.after[0] and change.after[1] != change.before[1] for change in changes]
    taken = [change.after for change, is_fresh in zip(changes, fresh, strict=True) if is_fresh]
    return SlotColumns(
        at=time_differences(change.at_ms for change in changes),
        of=[change.subject for change in changes],
        state="".join(
            _letter_of_number(change.after[0] + (_FRESH if is_fresh else 0))
            for change, is_fresh in zip(changes, fresh, strict=True)
        ),
        job=[row[2] for row in taken],
        task=[row[3] for row in taken],
        level=[row[4] for row in taken],
    )


def _letter_of_number(number: int) -> str:
    return chr(ord("a") + number)


def _job_columns(recording: Recording, jobs: Sequence[JobRecord]) -> PageJobs:
    told = [job.submission for job in jobs]
    shares = _response_shares_by_job(recording, jobs)
    return PageJobs(
        job=[each.job for each in told],
        name=[printable(each.name) for each in told],
        user=[printable(each.user) for each in told],
        pool=[printable(job.pool) for job in jobs],
        maps=[each.maps for each in told],
        reduces=[each.reduces for each in told],
        submitted_ms=[each.at_ms for each in told],
        finished_ms=[-1 if job.finished_ms is None else job.finished_ms for job in jobs],
        shares=[shares.get(each.job, []) for each in told],
    )


def _response_shares_by_job(
    recording: Recording, jobs: Sequence[JobRecord]
) -> dict[JobId, list[str]]:
    """What responses went to, of the jobs that took longest first."""
    ended = [
        (job.finished_ms - job.submission.at_ms, job.finished_ms, job.submission.job)
        for job in jobs
        if job.finished_ms is not None
    ]
    found, read = {}, 0
    for _, finished_ms, job in sorted(ended, key=lambda each: (-each[0], each[2])):
        read += 2 * recording.index_at(finished_ms)
        if read > _READ_MOST:
            break
        found[job] = response_share_lines(recording, job)
    return found


def _colour_keys(recording: Recording, jobs: Sequence[JobId]) -> list[ColourKey]:
    """What can be coloured by; first what the screen colours the run by."""
    cluster, end_ms = recording.last_state, recording.end_ms
    usual = chosen_colour_by(ColourBy.FITTING, recording)
    several = {ColourBy.POOL: len(cluster.pools) > 1, ColourBy.USER: len(cluster.users) > 1}
    wanted = [usual, *(by for by in _COLOURS if by is not usual and several.get(by, True))]
    found = []
    for by in wanted:
        key = job_colours(cluster, end_ms, by)
        hues = "".join(str(key.hues[job]) for job in jobs)
        found.append(ColourKey(signs.COLOURED_BY[by], hues, key.legend))
    return found


def _mark_columns(recording: Recording) -> MarkColumns:
    marks = list(recording.history.marks())
    return MarkColumns(
        at=time_differences(at_ms for at_ms, _ in marks),
        kind="".join(str(int(mark)) for _, mark in marks),
    )


def _page_words(recording: Recording) -> PageWords:
    reason = recording.ended.reason if recording.ended is not None else None
    ending = signs.ENDING_WORDS.get(reason, f"the run {reason}")
    started = recording.started
    keeper = ONE_MASTER if started is None else keeper_of_books(started.policy)
    slots = (signs.SLOT_WORDS[each].replace(ONE_MASTER, keeper) for each in SlotState if each)
    return PageWords(
        states=[signs.STATE_WORDS[each] for each in JobStatus],
        slots=["empty", *slots],
        slot_signs=[signs.SLOT_SIGNS[each] for each in SlotState],
        down_sign=signs.DOWN_SIGN,
        node_signs=signs.NODE_SIGNS,
        marks=[signs.MARK_SIGNS[each] for each in ev.Mark],
        ending=printable(ending),
        keeper=keeper,
    )


def _rounded_values(values: Iterable[float]) -> list[float]:
    """To four digits after the point; 0 for what there is not."""
    return [0.0 if value != value else round(value, 4) for value in values]
