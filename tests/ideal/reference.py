"""The disciplines once more, straight from the issue's words: one scan of all jobs an event.

Nothing is shared with `scheduler.ideal`: no heap, no lazy clock.  At every event the shares of
all jobs are worked out afresh from their states, in Fractions.  Slow, and meant to be read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

INF = float("inf")
Time = Fraction | float


@dataclass
class Job:
    number: int
    size: Fraction
    weight: Fraction
    left: Fraction
    estimate_left: Fraction
    virtual_left: Fraction
    estimate: Fraction
    started: bool = False
    late_since: int | None = None
    done: Time = INF

    @property
    def attained(self) -> Fraction:
        return self.size - self.left


def shares(discipline: str, present: list[Job]) -> dict[int, Fraction]:
    """Who is served, by which part of the machine; `present` is in order of arrival."""
    late = [job for job in present if job.late_since is not None]
    if discipline == "fifo":
        return equally(present[:1])
    if discipline == "ps":
        return equally(present)
    if discipline == "gps":
        return by_weight(present)
    if discipline == "las":
        return equally(least_attained(present))
    if discipline == "sjf":
        return equally([job for job in present if job.started] or smallest(present, "estimate"))
    if discipline == "psjf":
        return equally(smallest(present, "estimate"))
    if discipline == "srpt":
        return equally(smallest(present, "estimate_left"))
    if discipline == "srpt+ps":
        rest = [job for job in present if job.late_since is None]
        return equally(late + smallest(rest, "estimate_left"))
    if not late:
        return equally(sorted(present, key=lambda job: (virtual_finish(job), job.number))[:1])
    if discipline == "fsp+fifo":
        return equally([min(late, key=lambda job: job.late_since or 0)])
    if discipline == "fsp+las":
        return equally(least_attained(late))
    return by_weight(late)


def virtual_finish(job: Job) -> Fraction:
    return job.virtual_left / job.weight


def smallest(jobs: list[Job], what: str) -> list[Job]:
    return sorted(jobs, key=lambda job: (getattr(job, what), job.number))[:1]


def least_attained(jobs: list[Job]) -> list[Job]:
    return [job for job in jobs if job.attained == min(other.attained for other in jobs)]


def equally(jobs: list[Job]) -> dict[int, Fraction]:
    return {job.number: Fraction(1, len(jobs)) for job in jobs}


def by_weight(jobs: list[Job]) -> dict[int, Fraction]:
    total = sum(job.weight for job in jobs)
    return {job.number: job.weight / total for job in jobs}


def completions(
    discipline: str,
    arrivals: Sequence[Fraction],
    sizes: Sequence[Fraction],
    estimates: Sequence[Fraction],
    weights: Sequence[Fraction],
) -> list[Time]:
    """When each job is done; the rows must be sorted by arrival."""
    if discipline not in ("gps", "psbs"):
        weights = [Fraction(1)] * len(sizes)
    jobs = [
        Job(j, size, weight, size, estimate, estimate, estimate)
        for j, (size, estimate, weight) in enumerate(zip(sizes, estimates, weights, strict=True))
    ]
    now = Fraction(0)
    came = 0
    late = 0
    while True:
        present = [job for job in jobs[:came] if job.done == INF]
        virtual = by_weight([job for job in jobs[:came] if job.virtual_left > 0])
        served = shares(discipline, present) if present else {}
        for j in served:
            jobs[j].started = True
        finished = [job for job in present if job.number in served and job.left == 0]
        if finished:
            for job in finished:
                job.done = now
            continue
        turned = newly_late(discipline, present, served)
        if turned:
            for job in turned:
                late += 1
                job.late_since = late
            continue
        if came < len(jobs) and arrivals[came] == now:
            came += 1
            continue
        step = min(
            [
                arrivals[came] - now if came < len(jobs) else INF,
                *(jobs[j].left / rate for j, rate in served.items()),
                *(jobs[j].virtual_left / rate for j, rate in virtual.items()),
                *until_used_up(jobs, served),
                *(until_levels_meet(present, served) if discipline.endswith("las") else []),
            ]
        )
        if isinstance(step, float):
            return [job.done for job in jobs]
        for j, rate in served.items():
            jobs[j].left -= step * rate
            jobs[j].estimate_left -= step * rate
        for j, rate in virtual.items():
            jobs[j].virtual_left -= step * rate
        now += step


def newly_late(discipline: str, present: list[Job], served: dict[int, Fraction]) -> list[Job]:
    """Jobs that become late now, in the order of their virtual finish: by arrival in a tie."""
    on_time = [job for job in present if job.late_since is None]
    if discipline == "srpt+ps":
        return [job for job in on_time if job.number in served and job.estimate_left <= 0]
    if discipline.startswith("fsp") or discipline == "psbs":
        return [job for job in on_time if job.virtual_left == 0]
    return []


def until_used_up(jobs: list[Job], served: dict[int, Fraction]) -> list[Fraction]:
    return [jobs[j].estimate_left / rate for j, rate in served.items() if jobs[j].estimate_left > 0]


def until_levels_meet(present: list[Job], served: dict[int, Fraction]) -> list[Fraction]:
    """Seconds until the served have attained as much as somebody who waits."""
    if not served:
        return []
    first, rate = next(iter(served.items()))
    level = next(job.attained for job in present if job.number == first)
    return [(job.attained - level) / rate for job in present if job.attained > level]
