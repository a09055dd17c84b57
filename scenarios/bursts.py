"""The jobs of a timeline's bursts, which come beside the workload's."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from callboard.actors.config import JOBS_MAX
from callboard.actors.job_spec import JobSpec
from callboard.scenarios.listed_jobs import with_number
from callboard.scenarios.targets import refuse_entry
from callboard.scenarios.timeline import BurstEntry, Timeline, entries_with_starts
from callboard.scheduler.model import Millis


def burst_jobs(timeline: Timeline, seed: int, others: Sequence[JobSpec]) -> list[JobSpec]:
    """The jobs that come in bursts, with ids that follow those of all others.

    ScenarioError where there are too many, or two of one name.
    """
    specs: list[JobSpec] = []
    names = {job.name for job in others}
    for place, entry, began_ms in entries_with_starts(timeline, seed):
        if not isinstance(entry, BurstEntry):
            continue
        if entry.times * entry.job.count > JOBS_MAX:
            refuse_entry(f"more than {JOBS_MAX:,} jobs", place, "times")
        if len(others) + len(specs) + entry.times * entry.job.count > JOBS_MAX:
            refuse_entry(f"more than {JOBS_MAX:,} jobs with those before it", place, "times")
        entry.job.check(f"timeline[{place}].job")
        for late_ms, unnumbered in _jobs_of_burst(entry, place, began_ms, seed):
            spec = with_number(unnumbered, len(others) + len(specs))
            if spec.name in names:
                what = f'a second job is called "{spec.name}"; names must differ'
                refuse_entry(what, place, "job.name")
            names.add(spec.name)
            specs.append(replace(spec, submit_ms=spec.submit_ms + late_ms))
    return specs


def _jobs_of_burst(
    entry: BurstEntry, place: int, began_ms: Millis, seed: int
) -> Iterator[tuple[Millis, JobSpec]]:
    """The jobs of one entry with the time from which their own counts; repetitions have names."""
    for repeat, at_ms in entry.instants(began_ms, place, seed):
        name = entry.job.name
        if name and entry.times > 1:
            name = f"{name}-{repeat + 1}"
        for spec in replace(entry.job, name=name).unnumbered_jobs():
            yield at_ms, spec


def burst_node_types(timeline: Timeline) -> Iterator[tuple[str, str]]:
    """(node type, key) of all that a burst's job says of any."""
    for place, entry in enumerate(timeline):
        if isinstance(entry, BurstEntry):
            yield from entry.job.node_types("timeline", place, "job")
