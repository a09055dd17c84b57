"""What a scenario is, in words."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from callboard.actors.config import node_facts
from callboard.actors.vocabulary.events import RunStarted
from callboard.experiments.many.content_key import task_key
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.many.sweeps.played_cell import CellOptions, PlayedCell
from callboard.experiments.run.run_hints import timeline_switch_note, timeline_switches
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.run.trust import NO_CODE
from callboard.experiments.user_errors import InputError
from callboard.journal.format import JournalError, is_journal
from callboard.scenarios.scenario_file import Scenario, from_dict
from callboard.scheduler.model import Millis
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.quantities import count, duration
from callboard.scheduler.text.scenario_error import ScenarioError


class WorldFacts(msgspec.Struct, frozen=True):
    """A scenario in words; what is not known is empty.  `switches` says to which policies its
    timeline changes.
    """

    story: str = ""
    cluster: str = ""
    faults: str = ""
    policies: tuple[str, ...] = ()
    switches: str = ""
    switched_at: tuple[tuple[Millis, str], ...] = ()
    """The same as moments, each with its policy."""


def facts_of_journal(started: RunStarted) -> WorldFacts:
    """What the first event of a journal says."""
    with suppress(ScenarioError):  # one of an older version
        return facts_of_scenario(from_dict(started.scenario, check_timeline=False))
    return WorldFacts()


def facts_of_cell(cell: PlayedCell, source: str) -> WorldFacts:
    """What is found where a run's scenario was asked for: of its own name what has that name; of a
    user's own file what it says if it would still be the run that was played.
    """
    options = cell.options or CellOptions()
    asked = () if is_journal(Path(source)) else (*cell.setting, ("seed", cell.seed))
    overrides = [f"{key}={value}" for key, value in asked]
    with suppress(ScenarioError, InputError, JournalError, PolicySpecError, OSError):
        spec = load_run(source, overrides, faults=options.faults, trust=NO_CODE)
        found = (spec.scenario.name, cell.scenario)
        if source != cell.scenario:
            run = msgspec.structs.replace(spec, policy=cell.policy, until_ms=options.until_ms)
            found = (task_key(RunTask(run)), cell.key)
        if found[0] == found[1]:
            return facts_of_scenario(spec.scenario)
    return WorldFacts()


def facts_of_scenario(scenario: Scenario) -> WorldFacts:
    """What is known of one that was read."""
    return WorldFacts(
        story=scenario.story,
        cluster=_cluster_words(scenario),
        faults=_fault_words(scenario),
        policies=scenario.policies,
        switches=timeline_switch_note(scenario),
        switched_at=tuple(timeline_switches(scenario)),
    )


def _cluster_words(scenario: Scenario) -> str:
    """`100 nodes in 4 racks, with 400 map slots and 200 reduce slots`."""
    nodes = node_facts(scenario.cluster)
    maps, reduces = sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes)
    types = len({(n.node_type, n.speed) for n in nodes})
    racks = count(len({n.rack for n in nodes}), "rack")
    unlike = f" of {types} types" if types > 1 else ""
    slots = f"{count(maps, 'map slot')} and {count(reduces, 'reduce slot')}"
    return f"{count(len(nodes), 'node')}{unlike} in {racks}, with {slots}"


def _fault_words(scenario: Scenario) -> str:
    """What the timeline scripts: `crash, slow (2 entries)`."""
    found = Counter(str(type(entry).__struct_config__.tag) for entry in scenario.timeline)
    words = (f"{what} ({number} entries)" if number > 1 else what for what, number in found.items())
    return ", ".join(words)


def workload_words(results: Sequence[RunResult]) -> str:
    """The jobs of one run in words, and whether other runs have other numbers of them; of runs that
    all were cut off or stopped, those that had been submitted by then.
    """
    if not results:
        return ""
    whole = [each for each in results if each.summary.reason == "complete"]
    told = _jobs_words(whole or results)
    run = "the run" if len(results) == 1 else "the first run"
    return f"the workload is {told}" if whole else f"as far as {run} goes, the workload is {told}"


def _jobs_words(results: Sequence[RunResult]) -> str:
    jobs, counts = results[0].jobs, {len(each.jobs.job) for each in results}
    users, pools = len(set(jobs.user)), len(set(jobs.pool))
    whose = f" of {count(users, 'user')}" if users > 1 else ""
    whose += f" in {count(pools, 'pool')}" if pools > 1 else ""
    tasks = f"{count(int(jobs.maps.sum()), 'map')} and {count(int(jobs.reduces.sum()), 'reduce')}"
    span = rough_duration(int(jobs.submitted_ms.max(initial=0)))
    several = "" if len(counts) == 1 else f" (with seed {results[0].summary.seed})"
    return f"{count(len(jobs.job), 'job')}{whose}{several}, {tasks}, submitted within {span}"


def rough_duration(ms: float) -> str:
    """`0.2 s`, `45 s`, `2 h 43 min`: as exact as a reader wants it."""
    if ms < 120_000:
        return f"{ms / 1000:.1f} s" if ms < 10_000 else f"{ms / 1000:.0f} s"
    return duration(ms)
