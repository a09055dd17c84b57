"""What jobs are called: by name, or by number, their place in the order of submission."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice

from callboard.scheduler.model import JobId

_NUMBER = re.compile(r"(?:job-)?([0-9]{1,18})", re.ASCII)
_NAMES_SHOWN = 8  # the rest is an ellipsis


def job_name(job: JobId) -> str:
    """`job-12`: the job of number 12, and its name where it has none of its own."""
    return f"job-{job}"


def job_title(job: JobId, name: str) -> str:
    """`job-12 “scan”`; `job-12` alone of a job without a name of its own."""
    return job_name(job) if name == job_name(job) else f"{job_name(job)} “{name}”"


def find_job(text: str, names: Mapping[JobId, str]) -> JobId:
    """The job that a number or name means; LookupError, for people, if it is none or several."""
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    number = int(found[1]) if found else None
    named = [job for job, name in names.items() if name == text and job != number]
    if number is not None and number in names:
        if named:
            raise LookupError(_ambiguity_message(text, number, named, names))
        return number
    if not named:
        raise LookupError(_unknown_job_message(text, number, names))
    if len(named) > 1:
        jobs = " and ".join(map(job_name, named))
        raise LookupError(f'"{text}" is the name of {jobs}; say which by number')
    return named[0]


def _ambiguity_message(
    text: str, number: JobId, named: list[JobId], names: Mapping[JobId, str]
) -> str:
    by_number, by_name = job_title(number, names[number]), " and ".join(map(job_name, named))
    ways = " or ".join(_clear_name(job, names) for job in (number, *named))
    return f'"{text}" is {by_number} by number and {by_name} by name; say {ways}'


def _clear_name(job: JobId, names: Mapping[JobId, str]) -> str:
    """`job-12`, or `12` where another job has that for a name."""
    taken = any(name == job_name(job) and other != job for other, name in names.items())
    return str(job) if taken else job_name(job)


def _unknown_job_message(text: str, number: JobId | None, names: Mapping[JobId, str]) -> str:
    if number is not None and names:
        there = f"there are {job_name(min(names))} to {job_name(max(names))}"
        return f"there is no {job_name(number)}; {there}"
    near = get_close_matches(text, names.values(), n=1)
    there = ", ".join(
        [*islice(names.values(), _NAMES_SHOWN), *(["…"] * (len(names) > _NAMES_SHOWN))]
    )
    hint = f"did you mean `{near[0]}`?" if near else f"there are: {there or 'none yet'}"
    return f'no job is called "{text}"; {hint}'
