"""A run becomes a history without a file, and the same one as by its file."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.input_places import input_replicas
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.histories.model.attempt_log import UNTOLD, AttemptLog
from callboard.histories.model.tasks_file import ClusterRecording
from callboard.histories.played_recording import played_recording
from callboard.histories.recording_file import Imported, import_files
from callboard.histories.writers.write_hadoop1 import hadoop1_lines
from callboard.journal.export.run_history import played_history_of_run
from callboard.scheduler.model import JobId, Millis


@pytest.mark.parametrize("name", ["rack-outage", "stragglers", "poisoned-task"])
def test_it_is_what_is_read_of_the_file_of_the_run(name: str, tmp_path: Path) -> None:
    """Jobs that are initialised and set up, nodes that are lost with outputs, attempts that fail,
    are killed and run beside others.
    """
    spec = load_run(name)
    jobs = [
        msgspec.structs.replace(job, initialisation_ms=700 * (job.job % 3), setup_ms=job.job % 2)
        for job in spec.jobs
    ]
    events: list[AnyEvent] = []
    Simulation(msgspec.structs.replace(spec, jobs=tuple(jobs)), [events.append]).run()
    history = played_history_of_run(events)
    places = input_replicas(history.started, tmp_path)
    path = tmp_path / "run.history"
    lines = hadoop1_lines(history, places, fetched)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found, read = played_recording(history, places, fetched), import_files([path])
    assert found[2:5] == read[2:5]
    assert unnamed(found.recording) == unnamed(read.recording)
    assert any(job.initialisation_ms for job in found.recording.jobs)
    assert attempts_of(found) == attempts_of(read)


def fetched(job: JobId) -> int:
    return 1000 * (job + 1)


def unnamed(recording: ClusterRecording) -> ClusterRecording:
    """Without what jobs, hosts and the format are called."""
    jobs = tuple(msgspec.structs.replace(job, name="") for job in recording.jobs)
    return msgspec.structs.replace(recording, jobs=jobs, hosts=(), format="")


def attempts_of(imported: Imported) -> dict[str, list[int]]:
    """Every column of the attempts and the jobs, by the clock of the first submission."""
    assert isinstance(imported.log, AttemptLog)
    columns = {}
    for name, column in vars(imported.log).items():
        if isinstance(column, np.ndarray):
            begin_ms: Millis = imported.begin_ms if name.endswith("_ms") else 0
            columns[name] = np.where(column == UNTOLD, UNTOLD, column - begin_ms).tolist()
    return columns
