"""What came of a run that is over, or of two: the figure that counts, and sentences that say of it
what a person would.
"""

from collections.abc import Collection, Iterator, Mapping

from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.job_names import job_title
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import ResultHeadline
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.time_format import short_duration
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.text.quantities import (
    count,
    duration,
    percent_text,
    printable,
    with_sign,
)

_SAME_MS = 50
"""Less than this would be written as 0.0 s, and is no difference."""


def response_times(cluster: ClusterState) -> dict[JobId, Millis]:
    """The response time of each job that has succeeded."""
    return {
        job: row.finished_ms - row.submission.at_ms
        for job, row in cluster.run.jobs.items()
        if row.outcome is Outcome.SUCCEEDED and row.finished_ms is not None
    }


def run_headline(cluster: ClusterState) -> ResultHeadline | None:
    """Of one run: its mean response time; None if no job has succeeded."""
    took, jobs = response_times(cluster), cluster.run.jobs
    if not took:
        return None
    mean = sum(took.values()) / len(took)
    longest = max(took, key=took.__getitem__)
    policy = printable(cluster.run.policy)
    sentences = [f"A job took {duration(mean)} on average under {policy}."]
    if len(took) > 1:
        said = f"The longest was {_title_of_job(jobs, longest)}, {duration(took[longest])}."
        sentences.append(said)
    sentences += _left_out_sentences(jobs, took)
    if cluster.wasted_ms:
        sentences.append(
            f"{duration(cluster.wasted_ms)} of slot time went into work that was lost."
        )
    return ResultHeadline(short_duration(mean), sentences)


def _left_out_sentences(jobs: Mapping[JobId, JobRecord], took: Collection[JobId]) -> Iterator[str]:
    """What jobs are not in the mean, and why."""
    undone = sum(row.finished_ms is None for row in jobs.values())
    if failed := len(jobs) - len(took) - undone:
        yield f"{count(failed, 'job')} of {len(jobs):,} did not succeed."
    if undone:
        were = "was" if undone == 1 else "were"
        yield (
            f"{undone:,} of {count(len(jobs), 'job')} {were} not done when the run was cut off: the"
            " mean is of the others."
        )


def compared_headline(clusters: tuple[ClusterState, ClusterState]) -> ResultHeadline | None:
    """Of two runs: how much less, or more, the second's mean response time is, over the jobs that
    have succeeded in both; None if none has.
    """
    first, second = map(response_times, clusters)
    both = first.keys() & second.keys()
    if not both:
        return None
    means = [sum(took[job] for job in both) / len(both) for took in (first, second)]
    policies = [printable(cluster.run.policy) for cluster in clusters]
    share = (means[1] - means[0]) / means[0] if means[0] else 0.0
    better = int(share <= 0)
    told = [duration(mean) for mean in means]
    percent = percent_text(abs(means[1] - means[0]) / max(means[1 - better], 1))
    sentence = (
        f"Under {policies[better]} a job took {told[better]} on average, {percent} less than"
        f" under {policies[1 - better]} ({told[1 - better]})."
    )
    if percent in {"0%", "under 1%"}:
        sentence = sentence.replace(f"{percent} less than", "about as long as")
    if told[0] == told[1]:
        sentence = f"A job took {told[0]} on average under {policies[0]} and {policies[1]} alike."
    gains = [first[job] - second[job] for job in both]
    every = clusters[0].run.jobs.keys() | clusters[1].run.jobs.keys()
    if rest := len(every) - len(both):
        left = f"{rest:,} of {count(len(every), 'job')} {'is' if rest == 1 else 'are'} left out,"
        it = "it" if rest == 1 else "they"
        sentence = f"{sentence} {left} as {it} did not succeed in both runs."
    chance = "One seed: `callboard run` with `--seeds 10` tells whether that is chance."
    sentences = [sentence, *_sooner_and_later_sentences(gains, policies[1]), chance]
    return ResultHeadline(with_sign(share, ".0%"), sentences)


def _sooner_and_later_sentences(gains: Collection[Millis], policy: str) -> list[str]:
    """How many jobs were done sooner under the second policy, and how many later."""
    sooner = sum(gain >= _SAME_MS for gain in gains)
    later = sum(gain <= -_SAME_MS for gain in gains)
    if not sooner and not later:
        return []
    jobs = count(len(gains), "job")
    were = "was" if sooner == 1 else "were"
    return [f"{sooner:,} of {jobs} {were} done sooner under {policy}, {later:,} later."]


def _title_of_job(jobs: Mapping[JobId, JobRecord], job: JobId) -> str:
    return job_title(job, printable(jobs[job].submission.name))
