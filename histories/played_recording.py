"""A run as a history that has been read: what a reader makes of the file of one, without one."""

from collections.abc import Callable

from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.import_report import Remarks
from callboard.histories.played_history import PlayedHistory
from callboard.histories.recording_file import Imported
from callboard.histories.writers.write_hadoop1 import Replicas
from callboard.scheduler.model import JobId

_FORM = "run of Callboard"


def played_recording(
    played: PlayedHistory,
    replicas: Replicas,
    shuffle_bytes: Callable[[JobId], int] | None = None,
) -> Imported:
    """The history of a run, once what no event tells stands in it: where the inputs of maps lay,
    and, where that is known, `shuffle_bytes`, what each reduce of a job fetches.  ScenarioError if
    no job has run.
    """
    maker = RecordingMaker(_FORM, _FORM, Remarks(), played.hosts)
    for number, job in played.jobs.items():
        held = replicas(number, job.task_counts[0])
        for place, task in job.maps.items():
            task.input_hosts = tuple(dict.fromkeys(map(played.host_number, held[place])))
        for attempt in (each for task in job.reduces.values() for each in task.attempts):
            if shuffle_bytes is not None and attempt.shuffled_ms is not None:
                attempt.shuffled_bytes = shuffle_bytes(number)
        maker.add(job)
    recording = maker.finish()
    sizes = (maker.jobs, maker.tasks, maker.attempts)
    return Imported(recording, maker.remarks, *sizes, log=maker.log, begin_ms=maker.begin_ms)
