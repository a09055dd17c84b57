"""How a run goes: what has come of it so far, and at its end what to do next."""

import numpy as np

from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.job_names import job_title
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import DetailText
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.scheduler_facts import cluster_scheduling_facts
from callboard.journal.run_records import JobRecord
from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import count, duration, printable

_Fact = tuple[str, str]

_NEXT = (
    ("next", "2, a: choose a job, and read here of it"),
    ("", "space plays it again; J goes back to the end of the last job"),
    ("", "f at an earlier time (g): from there on under another policy"),
)

_JUST_NOW_MS = 1000

_CHOOSE = ("more", "click a job or a slot, or press 2 and then ↓")


def progress_detail(recording: Recording, cluster: ClusterState, at_ms: Millis) -> DetailText:
    """A run that goes on in figures: response times so far, use, and who has nothing."""
    done = [job for job in cluster.run.jobs.values() if job.outcome is Outcome.SUCCEEDED]
    so_far = f"{len(done):,} succeeded, {len(cluster.run.live):,} in the system"
    facts = [
        ("jobs", so_far),
        *_response_time_facts(recording, done, at_ms),
        *_utilisation_facts(cluster, at_ms),
    ]
    facts += [*_starving_facts(cluster, at_ms), *_wasted_facts(cluster, " so far,")]
    facts += [*cluster_scheduling_facts(cluster, at_ms), _CHOOSE]
    return DetailText("how it goes", facts, [], 0, at_ms)


def _starving_facts(cluster: ClusterState, at_ms: Millis) -> list[_Fact]:
    """Jobs in the system without a slot, and the one that has waited longest for its first.  One
    that has just been submitted is passed over.
    """
    run = cluster.run
    live = [run.jobs[job] for job in run.live]
    without = [job for job in live if job.open_attempts <= job.suspended]
    if not without:
        return [("without slot", "no job")] if live else []
    first = min(without, key=lambda job: job.submission.at_ms)
    told = first.submission
    if at_ms - told.at_ms < _JUST_NOW_MS:
        return []
    title = job_title(told.job, printable(told.name))
    waits = duration(at_ms - told.at_ms)
    long = f"has waited {waits} for its first"
    if first.first_launch_ms is not None:
        long = f"submitted {waits} ago"
    return [("without slot", f"{count(len(without), 'job')}; {title} {long}")]


def _wasted_facts(cluster: ClusterState, so_far: str = "") -> list[_Fact]:
    wasted_ms = cluster.wasted_ms
    told = f"{duration(wasted_ms)}{so_far} in work that was lost"
    return [("wasted", told)] if wasted_ms else []


def result_detail(recording: Recording, cluster: ClusterState, at_ms: Millis) -> DetailText:
    """The result, and what to do next."""
    facts = [
        *_figure_facts(recording, cluster, at_ms),
        *_NEXT,
        *_waste_and_digest_facts(recording, cluster),
    ]
    if recording.failure:
        lines = [printable(line.strip()) for line in recording.failure.splitlines()]
        keys = ("the run failed", *[""] * (len(lines) - 1))
        return DetailText("the run failed", [*zip(keys, lines, strict=True), *facts], [], 0, at_ms)
    return DetailText("the result", facts, [], 0, at_ms)


def result_facts(recording: Recording, cluster: ClusterState, at_ms: Millis) -> list[_Fact]:
    """The run in figures; how the response times spread, and who waited longest."""
    return [*_figure_facts(recording, cluster, at_ms), *_waste_and_digest_facts(recording, cluster)]


def _figure_facts(recording: Recording, cluster: ClusterState, at_ms: Millis) -> list[_Fact]:
    jobs = list(cluster.run.jobs.values())
    done = [job for job in jobs if job.outcome is Outcome.SUCCEEDED]
    facts = [
        ("jobs", _succeeded_text(jobs)),
        *_response_time_facts(recording, done, at_ms),
        *_longest_wait_facts(jobs),
    ]
    return [*facts, *_utilisation_facts(cluster, at_ms)]


def _waste_and_digest_facts(recording: Recording, cluster: ClusterState) -> list[_Fact]:
    digest = [("digest", recording.ended.digest)] if recording.ended is not None else []
    return [*_wasted_facts(cluster), *digest]


def _succeeded_text(jobs: list[JobRecord]) -> str:
    done = sum(job.outcome is Outcome.SUCCEEDED for job in jobs)
    return f"{done:,} of {len(jobs):,} succeeded"


def _response_time_facts(recording: Recording, done: list[JobRecord], at_ms: Millis) -> list[_Fact]:
    """Of the jobs that succeeded: response times, and slowdowns where the least time is known."""
    if not done:
        return []
    took = [job.end_or(at_ms) - job.submission.at_ms for job in done]
    mean, p95 = (duration(float(each)) for each in (np.mean(took), np.percentile(took, 95)))
    facts = [("response", f"mean {mean}, p95 {p95}")]
    insight = recording.insight
    known = [insight.slowdown(job, at_ms) for job in done] if insight is not None else []
    slow = [each for each in known if each is not None]
    if slow:
        facts.append(("slowdown", f"mean {np.mean(slow):.1f}, most {max(slow):.1f}"))
    return facts


def _utilisation_facts(cluster: ClusterState, at_ms: Millis) -> list[_Fact]:
    """How much of the slot time was used, and how many maps began beside their input."""
    maps, reduces = (
        f"{area / max(slots * at_ms, 1):.0%}"
        for area, slots in zip(cluster.busy_and_jobs_ms(at_ms)[:2], cluster.slots, strict=True)
    )
    levels = cluster.run.levels
    local = f"; {levels[0] / sum(levels):.0%} local" if any(levels) else ""
    return [("busy", f"maps {maps}, reduces {reduces}{local}")]


def _longest_wait_facts(jobs: list[JobRecord]) -> list[_Fact]:
    """Who waited longest for its first task, and how many never got one."""
    never = sum(job.first_launch_ms is None for job in jobs)
    facts = [("starved", f"{count(never, 'job')} never got a slot")] if never else []
    waits = {
        job.submission.job: job.first_launch_ms - job.submission.at_ms
        for job in jobs
        if job.first_launch_ms is not None
    }
    if waits:
        longest = max(waits, key=lambda job: waits[job])
        row = next(job for job in jobs if job.submission.job == longest)
        title = job_title(longest, printable(row.submission.name))
        text = f"{duration(waits[longest])} for a slot: {title}"
        facts.append(("waited most", text))
    return facts
