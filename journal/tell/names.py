"""How people see ids: one form each, used by every text and panel: `job-12`, `node-17`, `rack-2`,
`map 3`, `attempt-41`.
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


def scheduler_or_cell_name(scheduler: int) -> str:
    """Who loses contact with nodes: one of several schedulers, or, 0, who holds a shared cell."""
    return f"scheduler {scheduler}" if scheduler else "the cell"


def rack_name(rack: int) -> str:
    """`rack-2`."""
    return f"rack-{rack}"


def attempt_name(attempt: model.AttemptId) -> str:
    """`attempt-41`, or `attempt-3.41` of scheduler 3: where only the number is known."""
    scheduler = model.scheduler_of_attempt(attempt)
    number = attempt - model.attempt_block_start(scheduler)
    return f"attempt-{scheduler}.{number}" if scheduler else f"attempt-{number}"


def scheduler_name(attempt: model.AttemptId) -> str:
    """Who has launched an attempt: `the master`, or one of several schedulers, `scheduler 3`."""
    scheduler = model.scheduler_of_attempt(attempt)
    return f"scheduler {scheduler}" if scheduler else "the master"


def slot_kind_name(kind: model.SlotKind) -> str:
    """Of a slot: `map` or `reduce`."""
    return ("map", "reduce")[kind]


def priority_name(priority: model.Priority) -> str:
    """`very high`."""
    return priority.name.lower().replace("_", " ")


def slot_name(slot: int, map_slots: int) -> str:
    """`map 0`, `reduce 1`: a node's slots are numbered through, its `map_slots` first."""
    return f"map {slot}" if slot < map_slots else f"reduce {slot - map_slots}"


def task_name_in_job(stage: model.Stage, task: model.TaskIndex) -> str:
    """`map 3`, `reduce 0`; `setup` and `cleanup`, of which a job has no other."""
    name = model.STAGE_NAMES[stage]
    return name if stage >= model.SETUP else f"{name} {task}"


def task_name(job: model.JobId, stage: model.Stage, task: model.TaskIndex, number: int = 0) -> str:
    """`map 3 of job-12`; from a task's second attempt on `map 3 of job-12 (attempt 2)`."""
    return f"{task_name_in_job(stage, task)} of {job_name(job)}{_attempt_suffix(number)}"


def launch_name(launch: AttemptLaunched) -> str:
    """The task that is launched, with the number of the attempt."""
    return task_name(launch.job, launch.stage, launch.task, launch.number)


def _attempt_suffix(number: int) -> str:
    return f" (attempt {number + 1})" if number else ""


def class_name_in_words(kind: type, between: str = " ") -> str:
    """`switch policy` for the class `SwitchPolicy`."""
    return re.sub(r"(?<!^)(?=[A-Z])", between, kind.__name__).lower()


def parse_node(text: str) -> model.NodeId:
    """The node that `17` or `node-17` names.  Raises ValueError with a message for people."""
    match = re.fullmatch(r"(?:node-)?([0-9]{1,18})", text.strip(), re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} names no node; expected node-12 or just 12")
    return int(match[1])
