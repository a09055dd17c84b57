"""Looking for scenarios in which a policy breaks a property, and for the smallest of them.

Scenarios are drawn by Hypothesis from a seed, so the same search finds the same as long as neither
this package nor Hypothesis changes, of which it also draws constants.
Properties that speak of the same family are tested in the same scenarios, each played once.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky

from callboard.fairness.experiment import Experiment
from callboard.fairness.property import Property, PropertyViolated, evaluate
from callboard.fairness.scenario_family import ScenarioFamily
from callboard.fairness.strategies import scenarios
from callboard.fairness.variants import entries_of, repeat_changes, with_entry
from callboard.scenarios.scenario_file import Scenario


class Counterexample(NamedTuple):
    """A scenario in which the property does not hold, and what was seen there."""

    scenario: Scenario
    seen: str


PolicyUnderTest = Callable[[Scenario], Experiment]
"""Puts the policy under examination into a scenario: `partial(Experiment, policy="fair")`."""

OnProgress = Callable[[str, int], None]
"""Told what is being looked for, and how many scenarios more it was looked for in."""


def ignore_progress(what: str, more: int) -> None:
    """Watch nothing."""


class Finding:
    """In how many scenarios a property was tested, in how many it said nothing, and why not or a
    counterexample, if any; and in how many of these the policy had spoilt the run, by how.
    """

    def __init__(self, prop: Property) -> None:
        self.prop = prop
        self.tested = 0
        self.said_nothing = 0
        self.not_applicable = ""
        self.spoilt = Counter[str]()
        self.counterexample: Counterexample | None = None

    def test_property_in(self, experiment: Experiment) -> None:
        """Test the property in one scenario more, unless it has been broken already."""
        if self.counterexample is not None:
            return
        outcome = evaluate(self.prop, experiment)
        self.tested += outcome.times > 0
        self.said_nothing += outcome.times == 0 and not outcome.broken
        self.not_applicable = outcome.not_applicable
        if outcome.spoilt:
            self.spoilt[outcome.not_applicable] += 1
        if outcome.broken:
            self.counterexample = Counterexample(experiment.scenario, outcome.broken)


def examine_properties(
    under_test: PolicyUnderTest,
    properties: Sequence[Property],
    *,
    examples: int,
    seed: int,
    on_progress: OnProgress = ignore_progress,
) -> list[Finding]:
    """Test the policy against each property in `examples` scenarios, and shrink what breaks it."""
    findings = [Finding(prop) for prop in properties]
    groups: defaultdict[ScenarioFamily, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.prop.family].append(finding)
    for family, group in groups.items():
        look = partial(_test_group, under_test, group, on_progress)
        for_each_drawn_scenario(family, look, examples, seed)
    for finding in findings:
        if finding.counterexample is not None:
            smallest = find_counterexample(
                under_test, finding.prop, examples=examples, seed=seed, on_progress=on_progress
            )
            finding.counterexample = smallest or finding.counterexample
    return findings


def _test_group(
    under_test: PolicyUnderTest,
    group: Sequence[Finding],
    on_progress: OnProgress,
    scenario: Scenario,
) -> None:
    experiment, first = under_test(scenario), group[0].prop.name
    for finding in group:
        finding.test_property_in(experiment)
    on_progress(f"{first} and {len(group) - 1}" if len(group) > 1 else first, len(group))


def find_counterexample(
    under_test: PolicyUnderTest,
    prop: Property,
    *,
    examples: int,
    seed: int,
    shrink: bool = True,
    on_progress: OnProgress = ignore_progress,
) -> Counterexample | None:
    """The smallest counterexample, or the first one found; None without any."""
    found: list[Counterexample] = []

    def look(scenario: Scenario) -> None:
        outcome = evaluate(prop, under_test(scenario))
        on_progress(f"the smallest without {prop.name}" if found else prop.name, 0)
        if outcome.broken:
            found.append(Counterexample(scenario, outcome.broken))
            raise PropertyViolated(prop.name)

    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    try:
        for_each_drawn_scenario(prop.family, look, examples, seed, phases)
    except (PropertyViolated, Flaky):  # flaky: a policy that does not do the same twice
        return _with_fewer_repeats(found[-1], prop, under_test) if shrink else found[-1]
    return None


def _with_fewer_repeats(
    found: Counterexample, prop: Property, under_test: PolicyUnderTest
) -> Counterexample:
    """The same with each job repeated no more often than breaks the property: a family's jobs are
    drawn once or as a whole stream, between which Hypothesis has nothing to shrink to.
    """
    for place, entry in enumerate(entries_of(found.scenario)):
        for count in range(1, entry.count):
            fewer = msgspec.structs.replace(entry, **repeat_changes(count))
            scenario = with_entry(found.scenario, place, fewer)
            if seen := evaluate(prop, under_test(scenario)).broken:
                found = Counterexample(scenario, seen)
                break
    return found


def for_each_drawn_scenario(
    family: ScenarioFamily,
    look: Callable[[Scenario], None],
    examples: int,
    seed: int,
    phases: Sequence[Phase] = (Phase.generate,),
) -> None:
    """Look at `examples` scenarios of the family; the same seed draws the same, nothing is kept."""

    @seeded(seed)
    @settings(
        max_examples=examples,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(scenario=scenarios(family))
    def draw(scenario: Scenario) -> None:
        look(scenario)

    draw()


@contextmanager
def temporary_hypothesis_home() -> Iterator[None]:
    """Have Hypothesis keep what it wants to keep somewhere else than in the working folder."""
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(Path(folder))
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
