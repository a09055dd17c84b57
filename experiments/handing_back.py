"""Writing a recorded run for other systems, with what their formats cannot say of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TextIO

from callboard.experiments.input_places import input_replicas
from callboard.experiments.whole_files import whole_file
from callboard.journal.checks.rule import Setup
from callboard.journal.export.capacity_scheduler_xml import Dialect, capacity_scheduler_xml
from callboard.journal.export.fair_scheduler_xml import SchedulerFile, fair_scheduler_xml
from callboard.journal.export.played_history import PlayedHistory
from callboard.journal.export.write_batsim import write_batsim
from callboard.journal.export.write_hadoop1 import hadoop1_lines
from callboard.journal.export.write_sls import not_in_sls, sls_jobs, sls_nodes
from callboard.journal.export.write_swf import not_in_swf, swf_lines
from callboard.journal.tell.names import count
from callboard.scheduler.policy import Policy

HistoryForm = Literal["hadoop1", "swf", "batsim"]

_IN_BATSIM = "single tasks: a job is one allocation of all nodes that it used"


def write_history(
    form: HistoryForm, history: PlayedHistory, journal: Path, file: TextIO
) -> tuple[str, Sequence[str]]:
    """Write the run of a journal; what was written, in words, and what the format cannot say."""
    if form == "batsim":
        return count(write_batsim(history, file), "job"), (_IN_BATSIM,)
    if form == "swf":
        file.writelines(f"{line}\n" for line in swf_lines(history))
        return count(len(history.jobs), "job"), not_in_swf(history)
    replicas = input_replicas(history.started, journal)
    file.writelines(f"{line}\n" for line in hadoop1_lines(history, replicas))
    return count(len(history.jobs), "job"), ()


def scheduler_file(policy: Policy, dialect: Dialect) -> tuple[str, SchedulerFile]:
    """The policy as the file of the scheduler that is like it, and what that is called; the Fair
    Scheduler's is YARN's in any case.
    """
    if policy.order.name == "capacity":
        return "capacity-scheduler.xml", capacity_scheduler_xml(policy, dialect)
    return "fair-scheduler.xml", fair_scheduler_xml(policy)


def write_scheduler_file(history: PlayedHistory, file: TextIO) -> tuple[str, Sequence[str]]:
    """Write the policy of a journal; what was written, in words, and what the file cannot say.
    ValueError for a policy that is none of Callboard's own.
    """
    policy = Setup(history.started, None).policy
    if policy is None:
        raise ValueError(f"the policy {history.started.policy} is not one of Callboard's own")
    name, written = scheduler_file(policy, "hadoop1")
    file.write(written.text)
    return f"the policy, as a {name},", written.unsaid


def write_sls_folder(history: PlayedHistory, folder: Path) -> tuple[str, Sequence[str]]:
    """Write jobs, nodes and the allocation file; what was written, and what they cannot say."""
    folder.mkdir(parents=True, exist_ok=True)
    unsaid = not_in_sls(history)
    _write(folder / "jobs.json", "\n".join(sls_jobs(history)))
    _write(folder / "nodes.json", "\n".join(sls_nodes(history)))
    policy = Setup(history.started, None).policy
    if policy is None:
        unsaid.append(f"the policy {history.started.policy}: it is not one of Callboard's own")
    else:
        name, written = scheduler_file(policy, "yarn")
        _write(folder / name, written.text)
        unsaid += written.unsaid
    return count(len(history.jobs), "job"), unsaid


def _write(path: Path, text: str) -> None:
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
