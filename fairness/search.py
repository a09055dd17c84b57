"""Looking for scenarios in which a policy breaks a property, and for the smallest of them.

Scenarios are drawn by Hypothesis from a seed and nothing else, so the same search finds the same.
Properties that speak of the same worlds are held against the same scenarios, each played once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky

from callboard.fairness.property import Broken, Property, judge
from callboard.fairness.strategies import scenarios
from callboard.fairness.trial import MakePolicy, Trial, make_shipped
from callboard.fairness.worlds import Worlds
from callboard.scenarios.spec import Scenario


class Counterexample(NamedTuple):
    """A scenario in which the property does not hold, and what was seen there."""

    scenario: Scenario
    seen: str


class Finding(NamedTuple):
    """What became of a property: how many scenarios were looked at, in how many of them there was
    something to hold the policy against, why it says nothing of the policy if it does not, and
    the smallest counterexample if there is one.
    """

    prop: Property
    looked: int
    held: int
    silent: str
    counterexample: Counterexample | None


class Suspect(NamedTuple):
    """A policy under examination: its spelling, and who makes it."""

    policy: str
    make_policy: MakePolicy = make_shipped

    def trial(self, scenario: Scenario) -> Trial:
        """The policy in a scenario."""
        return Trial(scenario, self.policy, self.make_policy)


Watch = Callable[[str, int], None]
"""Told what is being looked for, and how many scenarios more it was looked for in."""


def ignore(what: str, more: int) -> None:
    """Watch nothing."""


class Tally:
    """What is known of a property so far."""

    def __init__(self, prop: Property) -> None:
        self.prop = prop
        self.looked = self.held = 0
        self.silent = ""
        self.first: Counterexample | None = None

    def look(self, trial: Trial) -> None:
        """Hold the policy to the property in one scenario more, unless it has broken it already."""
        if self.first is not None:
            return
        verdict = judge(self.prop, trial)
        self.looked += 1
        self.held += verdict.times > 0
        self.silent = verdict.silent
        if verdict.broken:
            self.first = Counterexample(trial.scenario, verdict.broken)


def examine(
    suspect: Suspect,
    properties: Sequence[Property],
    *,
    examples: int,
    seed: int,
    watch: Watch = ignore,
) -> list[Finding]:
    """Hold the policy to each of the properties in so many scenarios, and shrink what breaks it."""
    tallies = [Tally(prop) for prop in properties]
    for worlds, group in _by_worlds(tallies).items():
        _look_at_all(suspect, worlds, group, examples, seed, watch)
    return [_finding(suspect, tally, examples, seed, watch) for tally in tallies]


def _by_worlds(tallies: Sequence[Tally]) -> dict[Worlds, list[Tally]]:
    groups: dict[Worlds, list[Tally]] = {}
    for tally in tallies:
        groups.setdefault(tally.prop.worlds, []).append(tally)
    return groups


def _look_at_all(
    suspect: Suspect,
    worlds: Worlds,
    group: Sequence[Tally],
    examples: int,
    seed: int,
    watch: Watch,
) -> None:
    what = group[0].prop.name if len(group) == 1 else f"{group[0].prop.name} and {len(group) - 1}"

    @seeded(seed)
    @effort(examples, Phase.generate)
    @given(scenario=scenarios(worlds))
    def look(scenario: Scenario) -> None:
        trial = suspect.trial(scenario)
        for tally in group:
            tally.look(trial)
        watch(what, len(group))

    look()


def _finding(suspect: Suspect, tally: Tally, examples: int, seed: int, watch: Watch) -> Finding:
    smallest = tally.first
    if tally.first is not None:
        smallest = find(suspect, tally.prop, examples=examples, seed=seed, watch=watch)
    return Finding(tally.prop, tally.looked, tally.held, tally.silent, smallest or tally.first)


def find(
    suspect: Suspect,
    prop: Property,
    *,
    examples: int,
    seed: int,
    shrink: bool = True,
    watch: Watch = ignore,
) -> Counterexample | None:
    """The smallest counterexample that a search with this seed comes to, or the first; None if it
    finds none.
    """
    found: list[Counterexample] = []

    @seeded(seed)
    @effort(examples, *((Phase.generate, Phase.shrink) if shrink else (Phase.generate,)))
    @given(scenario=scenarios(prop.worlds))
    def look(scenario: Scenario) -> None:
        verdict = judge(prop, suspect.trial(scenario))
        watch(f"the smallest without {prop.name}" if found else prop.name, 0)
        if verdict.broken:
            found.append(Counterexample(scenario, verdict.broken))
            raise Broken(prop.name)

    try:
        look()
    except (Broken, Flaky):  # flaky: a policy that does not do the same twice
        return found[-1]
    return None


def effort(examples: int, *phases: Phase) -> settings:
    """Settings by which the same seed does the same, and nothing is kept."""
    return settings(
        max_examples=examples,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def leaving_no_folder() -> Iterator[None]:
    """Have Hypothesis keep what it wants to keep somewhere else than in the working folder."""
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(Path(folder))
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
