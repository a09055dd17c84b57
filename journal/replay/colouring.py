"""What the colours of jobs mean: the job itself, or a class that it belongs to.

Classes come in at most `HUES` colours.  What a user picks is kept; otherwise the jobs of a run of
at most `FEW_JOBS` are coloured one by one, those of a larger one by pool; by user where there is
but one pool, and by size where there is but one user, too.  That is known as the run begins, so no
colour changes its meaning in the middle, unless a burst by hand makes a small run a larger one.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence

import msgspec

from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import HUES, ColourBy
from callboard.journal.replay.recording import Recording
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.names import LOCALITY_NAMES
from callboard.scheduler.model import MAPS, Millis
from callboard.scheduler.text.quantities import printable

FEW_JOBS = 20
"""As many jobs as have colours of their own."""

_MINUTE_MS = 60_000
_AGES = (1, 5, 15, 60, 240)
_SIZES = (10, 50, 200, 1_000, 5_000)
_RANKS = (2, 3, 6, 11)
_UNSERVED = len(_RANKS) + 1
_NO_MAP = len(LOCALITY_NAMES)

_LEGENDS = {
    ColourBy.LOCALITY: (*LOCALITY_NAMES.values(), "no map"),
    ColourBy.AGE: ("<1min", "<5min", "<15min", "<1h", "<4h", "older"),
    ColourBy.QUEUE: ("1st", "2nd", "3rd–5th", "6th–10th", "behind", "never served"),
    ColourBy.SIZE: ("<10 tasks", "<50", "<200", "<1,000", "<5,000", "more"),
}


class Colouring(msgspec.Struct, frozen=True):
    """What jobs are coloured by, the colour of each, and what each colour stands for.  Where the
    slots of one job differ, `slot_hues` has their colours.
    """

    by: ColourBy
    hues: bytes
    legend: tuple[str, ...] = ()
    slot_hues: bytes = b""


def chosen_colour_by(wanted: ColourBy, recording: Recording) -> ColourBy:
    """What jobs are coloured by: what the user wants, else what fits the run."""
    if wanted is not ColourBy.FITTING:
        return wanted
    groups = recording.pools_and_users_at_first
    if len(groups) <= FEW_JOBS:
        return ColourBy.JOB
    pools, users = (len(set(each)) for each in zip(*groups, strict=True))
    if pools > 1:
        return ColourBy.POOL
    return ColourBy.USER if users > 1 else ColourBy.SIZE


def job_colours(cluster: ClusterState, at_ms: Millis, by: ColourBy) -> Colouring:
    """The colours of all jobs at a moment; `by` is not `FITTING`."""
    if by is ColourBy.JOB:
        return Colouring(by, bytes(cluster.hues))
    if by in (ColourBy.POOL, ColourBy.USER):
        groups = cluster.pools if by is ColourBy.POOL else cluster.users
        hues = cluster.pool_hues if by is ColourBy.POOL else cluster.user_hues
        return Colouring(by, bytes(hues), _group_names_by_hue(list(groups)))
    hues = bytearray(len(cluster.hues))
    class_of = _CLASSES[by]
    for job, row in cluster.run.jobs.items():
        hues[job] = class_of(row, at_ms)
    slots = _slot_localities(cluster) if by is ColourBy.LOCALITY else b""
    return Colouring(by, bytes(hues), _LEGENDS[by], slots)


def _group_names_by_hue(groups: Sequence[str]) -> tuple[str, ...]:
    """What each colour stands for; several groups share one where there are too many."""
    return tuple(
        ", ".join(printable(each) or "none" for each in groups[hue::HUES])
        for hue in range(min(len(groups), HUES))
    )


def _age_class(row: JobRecord, at_ms: Millis) -> int:
    return bisect_right(_AGES, (row.end_or(at_ms) - row.submission.at_ms) / _MINUTE_MS)


def _size_class(row: JobRecord, _at_ms: Millis) -> int:
    return bisect_right(_SIZES, row.submission.maps + row.submission.reduces)


def _queue_place_class(row: JobRecord, _at_ms: Millis) -> int:
    """Its place when a task of it was launched last, as the policy's reason has it."""
    rank = row.last_launch.why.rank if row.last_launch is not None else 0
    return bisect_right(_RANKS, rank) if rank else _UNSERVED


def _locality_class(row: JobRecord, _at_ms: Millis) -> int:
    """Where most of its maps were launched."""
    return max(range(_NO_MAP), key=row.levels.__getitem__) if sum(row.levels) else _NO_MAP


_CLASSES: dict[ColourBy, Callable[[JobRecord, Millis], int]] = {
    ColourBy.LOCALITY: _locality_class,
    ColourBy.AGE: _age_class,
    ColourBy.QUEUE: _queue_place_class,
    ColourBy.SIZE: _size_class,
}


def _slot_localities(cluster: ClusterState) -> bytes:
    """For each slot the locality of the map in it."""
    hues = bytearray([_NO_MAP]) * len(cluster.states)
    for place in range(len(hues)):
        attempt = cluster.attempt_in(place)
        if attempt is not None and attempt.launch.stage == MAPS:
            hues[place] = attempt.launch.level
    return bytes(hues)
