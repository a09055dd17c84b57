"""What the colours of jobs stand for, at a moment of a recorded run."""

from pathlib import Path

import pytest

from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.journal.replay.colouring import FEW_JOBS
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import HUES, ColourBy, Frame, SlotState, View
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import GoTo
from callboard.scheduler.model import Locality
from tests.journal.replay.support import events_of, recorded

STORM = ("preemption-storm", "fair+kill")


def frame_of(run: tuple[str, str], at_ms: int, by: ColourBy = ColourBy.FITTING) -> Frame:
    cursor: Cursor = recorded(events_of(*run)).cursor
    cursor.move(GoTo(at_ms))
    return cursor.frame(View(colour_by=by, all_jobs=True, jobs_rows=999))


def meanings(frame: Frame) -> dict[str, str]:
    """The meaning of each job's colour, by the job's name."""
    return {row.name: frame.legend[frame.hue(row.job)] for row in frame.jobs}


def test_few_jobs_have_colours_of_their_own() -> None:
    frame = frame_of(("rack-outage", "fair"), 800_000)
    assert (frame.colour_by, frame.legend) == (ColourBy.JOB, ())


@pytest.mark.soak
def test_pools_and_users_are_told_apart() -> None:
    """A job without a pool is in `default`; it was in a pool that was called as its user is."""
    for by, group in ((ColourBy.POOL, "default"), (ColourBy.USER, None)):
        frame = frame_of(STORM, 3_000_000, by)
        for row in frame.jobs:
            assert (row.pool or group or row.user) in frame.legend[frame.hue(row.job)]
        assert len(frame.legend) == len({row.pool or group or row.user for row in frame.jobs})
        assert len(frame.legend) <= HUES


def test_by_size_and_by_age() -> None:
    for row in (frame := frame_of(STORM, 3_000_000, ColourBy.SIZE)).jobs:
        assert (sum(row.tasks) < 10) == (meanings(frame)[row.name] == "<10 tasks")
    for row in (frame := frame_of(STORM, 3_000_000, ColourBy.AGE)).jobs:
        assert (row.time_ms < 60_000) == (meanings(frame)[row.name] == "<1min")


def test_by_place_in_the_queue() -> None:
    frame = frame_of(STORM, 3_000_000, ColourBy.QUEUE)
    for row in frame.jobs:
        assert (row.rank == 1) == (meanings(frame)[row.name] == "1st")
        assert (row.rank == 0) == (meanings(frame)[row.name] == "never served")


def test_by_locality_slots_of_one_job_differ() -> None:
    frame = frame_of(STORM, 3_000_000, ColourBy.LOCALITY)
    held = {
        (owner, hue)
        for owner, hue, state in zip(
            memoryview(frame.owners).cast("i"), frame.hues_of_slots(), frame.states, strict=True
        )
        if state == SlotState.MAP
    }
    assert len(held) > len({owner for owner, _ in held})
    assert {hue for _, hue in held} <= set(Locality)


@pytest.mark.parametrize(
    ("pools", "users", "by"),
    [(2, 3, ColourBy.POOL), (1, 3, ColourBy.USER), (1, 1, ColourBy.SIZE)],
)
def test_colours_of_a_larger_run_stand_for_pools_users_or_sizes_from_its_start_to_its_end(
    pools: int, users: int, by: ColourBy, tmp_path: Path
) -> None:
    jobs = "".join(
        f'[[workload.job]]\nname = "j{each}"\nat_s = {each}\nmaps = 2\nmap_s = 100\n'
        f'user = "u{each % users}"\npool = "{"p" * (each % pools)}"\n'
        for each in range(FEW_JOBS + 1)
    )
    path = tmp_path / "crowd.toml"
    path.write_text(f'name = "crowd"\n[cluster]\nnodes = 4\n[workload]\nkind = "jobs"\n{jobs}')
    events = events_of(str(path), "fair")
    recording = Recording(oracle_of_journal)
    for event in events[:2]:  # a run that has just begun: one job has come
        recording.append(event)
    cursor = Cursor(recording)
    assert cursor.frame(View()).colour_by is by
    for event in events[2:]:
        recording.append(event)
    for at_ms in (0, 1000 * FEW_JOBS, None):
        cursor.move(GoTo(at_ms))
        assert cursor.frame(View()).colour_by is by
    assert cursor.frame(View(colour_by=ColourBy.JOB)).colour_by is ColourBy.JOB
