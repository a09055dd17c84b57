"""Writing a recorded run for other systems, with what their formats cannot say of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TextIO

from callboard.actors.architectures import made_architecture
from callboard.actors.config import Cluster
from callboard.actors.vocabulary.events import RunStarted
from callboard.actors.yarn.yarn import Yarn
from callboard.experiments.input_places import input_replicas
from callboard.experiments.whole_files import whole_file
from callboard.histories.played_history import PlayedHistory
from callboard.histories.writers.write_hadoop1 import hadoop1_lines
from callboard.histories.writers.write_sls import (
    NO_AMOUNTS,
    ContainerAmounts,
    sls_jobs,
    sls_nodes,
    what_sls_cannot_say,
)
from callboard.histories.writers.write_swf import swf_lines, what_swf_cannot_say
from callboard.journal.checks.rule import RunFacts
from callboard.journal.export.capacity_scheduler_xml import (
    Dialect,
    capacity_scheduler_xml,
    yarn_scheduler_xml,
)
from callboard.journal.export.fair_scheduler_xml import (
    SchedulerFile,
    policy_allocations_xml,
    yarn_allocations_xml,
)
from callboard.journal.export.write_batsim import write_batsim
from callboard.scenarios.scenario_file import Scenario, from_dict, make_jobs
from callboard.scheduler.registry.spelling import short_policy
from callboard.scheduler.text.quantities import count

HistoryForm = Literal["hadoop1", "swf", "batsim"]

CAPACITY_FILE, FAIR_FILE = _SCHEDULER_FILES = ("capacity-scheduler.xml", "fair-scheduler.xml")
_IN_BATSIM = "single tasks: a job is one allocation of all nodes that it used"


def write_history(
    form: HistoryForm, history: PlayedHistory, journal: Path, file: TextIO
) -> tuple[str, Sequence[str]]:
    """Write the run of a journal; what was written, in words, and what the format cannot say."""
    unsaid = _unsaid_amounts(_recorded_scenario(history.started, journal).cluster)
    if form == "batsim":
        return count(write_batsim(history, file), "job"), (_IN_BATSIM, *unsaid)
    if form == "swf":
        file.writelines(f"{line}\n" for line in swf_lines(history))
        return count(len(history.jobs), "job"), (*what_swf_cannot_say(history), *unsaid)
    replicas = input_replicas(history.started, journal)
    file.writelines(f"{line}\n" for line in hadoop1_lines(history, replicas))
    return count(len(history.jobs), "job"), unsaid


def _unsaid_amounts(cluster: Cluster) -> Sequence[str]:
    """What a file without resources lacks of a cluster that has them."""
    names = sorted({name for _, amounts in cluster.group_capacities() for name in amounts})
    if not names:
        return ()
    told = " and ".join(names)
    return (f"{told}: what nodes have and containers take (a folder for SLS, `--to sls/`, has it)",)


def scheduler_file(started: RunStarted, dialect: Dialect) -> tuple[str, SchedulerFile] | None:
    """The policy as the file of the scheduler that is like it, and what that is called; None for
    one that is none of Callboard's own.  The Fair Scheduler's is YARN's in any case.
    """
    run_facts = RunFacts(started, None)
    if run_facts.architecture == Yarn.name:
        yarn = made_architecture(started.policy, run_facts.parts)
        assert isinstance(yarn, Yarn)
        if yarn.params.scheduler == "capacity":
            return CAPACITY_FILE, yarn_scheduler_xml(yarn.params)
        return FAIR_FILE, yarn_allocations_xml(yarn.params)
    if run_facts.policy is None:
        return None
    if run_facts.policy.order.name == "capacity":
        return CAPACITY_FILE, capacity_scheduler_xml(run_facts.policy, dialect)
    return FAIR_FILE, policy_allocations_xml(run_facts.policy)


def write_scheduler_file(
    history: PlayedHistory, file: TextIO, called: str = ""
) -> tuple[str, Sequence[str]]:
    """Write the policy of a journal; what was written, in words, and what the file cannot say.
    ValueError for a policy that is none of Callboard's own, and for a file that is `called` as the
    other scheduler's is.
    """
    policy = history.started.policy
    found = scheduler_file(history.started, "hadoop1")
    if found is None:
        raise ValueError(f"the policy {policy} is not one of Callboard's own")
    name, written = found
    if called in _SCHEDULER_FILES and called != name:
        problem = f"a run under {short_policy(policy)} has no {called}: what it has is a {name}"
        raise ValueError(f"{problem}; call it so, or by a name of your own")
    file.write(written.text)
    return f"the policy, as a {name},", written.unsaid


def write_sls_folder(
    history: PlayedHistory, journal: Path, folder: Path
) -> tuple[str, Sequence[str]]:
    """Write jobs, nodes and the allocation file; what was written, and what they cannot say."""
    folder.mkdir(parents=True, exist_ok=True)
    amounts = _container_amounts(history.started, journal)
    unsaid = what_sls_cannot_say(history, amounts)
    _write_text(folder / "jobs.json", "\n".join(sls_jobs(history, amounts)))
    _write_text(folder / "nodes.json", "\n".join(sls_nodes(history, amounts)))
    found = scheduler_file(history.started, "yarn")
    if found is None:
        policy = history.started.policy
        unsaid.append(f"the policy {policy}: it is not one of Callboard's own")
    else:
        name, written = found
        _write_text(folder / name, written.text)
        unsaid += written.unsaid
    return count(len(history.jobs), "job"), unsaid


def _container_amounts(started: RunStarted, journal: Path) -> ContainerAmounts:
    """What containers take and nodes have, where the scenario says so."""
    scenario = _recorded_scenario(started, journal)
    nodes = [
        amounts for number, amounts in scenario.cluster.group_capacities() for _ in range(number)
    ]
    if not any(nodes):
        return NO_AMOUNTS
    jobs = make_jobs(scenario, journal.parent)
    return ContainerAmounts({each.job: each.demands for each in jobs}, nodes)


def _recorded_scenario(started: RunStarted, journal: Path) -> Scenario:
    return from_dict(started.scenario, journal, check_timeline=False)


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
