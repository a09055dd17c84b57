"""How people see ids and times: one form each, used by every text and panel.

`job-12`, `node-17`, `rack-2`, `map 3`, `attempt-41`; times as `[days]d hh:mm:ss.mmm`.
"""

import re

from callboard.actors.architecture import CENTRAL
from callboard.actors.architectures import architecture_name
from callboard.actors.vocabulary.events import AttemptLaunched
from callboard.actors.vocabulary.job_names import job_name
from callboard.scheduler import model

LOCALITY_NAMES = {
    model.Locality.NODE: "node-local",
    model.Locality.RACK: "rack-local",
    model.Locality.OFF_RACK: "off-rack",
}


def node_name(node: model.NodeId) -> str:
    """`node-17`."""
    return f"node-{node}"


ONE_MASTER = "master"


def keeper_of_books(policy: str) -> str:
    """Who believes something of nodes and attempts under a policy: the master, or where there is
    none a job's scheduler.
    """
    return ONE_MASTER if architecture_name(policy) == CENTRAL else "scheduler"


def watcher_name(scheduler: int) -> str:
    """Who loses contact with nodes: one of several schedulers, or, 0, who holds a shared cell."""
    return f"scheduler {scheduler}" if scheduler else "the cell"


def rack_name(rack: int) -> str:
    """`rack-2`."""
    return f"rack-{rack}"


def attempt_name(attempt: model.AttemptId) -> str:
    """`attempt-41`, or `attempt-3.41` of scheduler 3: where only the number is known."""
    scheduler = model.scheduler_of(attempt)
    number = attempt - model.first_attempt(scheduler)
    return f"attempt-{scheduler}.{number}" if scheduler else f"attempt-{number}"


def scheduler_name(attempt: model.AttemptId) -> str:
    """Who has launched an attempt: `the master`, or one of several schedulers, `scheduler 3`."""
    scheduler = model.scheduler_of(attempt)
    return f"scheduler {scheduler}" if scheduler else "the master"


def kind_name(kind: model.SlotKind) -> str:
    """Of a slot: `map` or `reduce`."""
    return ("map", "reduce")[kind]


def priority_name(priority: model.Priority) -> str:
    """`very high`."""
    return priority.name.lower().replace("_", " ")


def slot_name(slot: int, map_slots: int) -> str:
    """`map 0`, `reduce 1`: a node's slots are numbered through, its `map_slots` first."""
    return f"map {slot}" if slot < map_slots else f"reduce {slot - map_slots}"


def task_name(job: model.JobId, stage: model.Stage, task: model.TaskIndex, number: int = 0) -> str:
    """`map 3 of job-12`; from a task's second attempt on `map 3 of job-12 (attempt 2)`."""
    return f"{model.STAGE_NAMES[stage]} {task} of {job_name(job)}{_again(number)}"


def launch_name(launch: AttemptLaunched) -> str:
    """The task that is launched, with the number of the attempt; `setup of job-12` has no other."""
    stage = launch.stage
    if stage in (model.SETUP, model.CLEANUP):
        return f"{model.STAGE_NAMES[stage]} of {job_name(launch.job)}{_again(launch.number)}"
    return task_name(launch.job, stage, launch.task, launch.number)


def _again(number: int) -> str:
    return f" (attempt {number + 1})" if number else ""


def count(number: int, noun: str) -> str:
    """`1 map`, `40 maps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    tail = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{tail or 'th'}"


def with_sign(value: float, form: str) -> str:
    """The number in this form (`,.1f`, `.0%`) with its sign, which nothing, as written, has not."""
    text = f"{value:+{form}}"
    return text if re.search("[1-9]", text) else text[1:]


def printable(text: str) -> str:
    """`text` on one line: names come from users' files and may hold anything, even escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def clock(at_ms: model.Millis) -> str:
    """A moment: `00:01:23.450`, and from the second day on `1d 02:03:04.005`."""
    seconds, ms = divmod(at_ms, 1000)
    minutes, s = divmod(seconds, 60)
    hours, m = divmod(minutes, 60)
    days, h = divmod(hours, 24)
    return f"{f'{days}d ' if days else ''}{h:02}:{m:02}:{s:02}.{ms:03}"


def duration(ms: model.Millis) -> str:
    """A length of time: `0.450 s`, `59.999 s`, `2 min 05 s`, `3 h 07 min`, `2 d 04 h`.

    From a minute on the smaller parts are cut off, not rounded.
    """
    seconds = ms // 1000
    if seconds < 60:
        return f"{seconds}.{ms % 1000:03} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    if seconds < 86400:
        return f"{seconds // 3600} h {seconds // 60 % 60:02} min"
    return f"{seconds // 86400} d {seconds // 3600 % 24:02} h"


def compared_durations(one_ms: model.Millis, other_ms: model.Millis) -> tuple[str, str]:
    """Two lengths of time that are compared, in the same units: `1 h 31 min` and `2 h 04 min`, but
    `45.7 s` and `6,241 s`.
    """
    one, other = duration(one_ms), duration(other_ms)
    if re.sub("[^a-z]+", " ", one) == re.sub("[^a-z]+", " ", other):
        return one, other
    return _in_seconds(one_ms), _in_seconds(other_ms)


def _in_seconds(ms: model.Millis) -> str:
    """With a decimal where they are few."""
    return f"{ms / 1000:,.{0 if ms >= 100_000 else 1}f} s"


def rounded_duration(ms: float) -> str:
    """A mean, or another figure of many: `2 min 09 s` for 128.6 s, rounded as tables round it."""
    return duration(1000 * round(ms / 1000) if ms >= 60_000 else round(ms))


def class_words(kind: type, between: str = " ") -> str:
    """`switch policy` for the class `SwitchPolicy`."""
    return re.sub(r"(?<!^)(?=[A-Z])", between, kind.__name__).lower()


def parse_node(text: str) -> model.NodeId:
    """The node that `17` or `node-17` names.  Raises ValueError with a message for people."""
    match = re.fullmatch(r"(?:node-)?([0-9]{1,18})", text.strip(), re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} names no node; expected node-12 or just 12")
    return int(match[1])
