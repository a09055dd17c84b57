"""A property: what is stated, under which assumptions, up to which bound, and a check of it."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from callboard.fairness.experiment import Experiment
from callboard.fairness.scenario_family import WITHOUT_FAULTS, ScenarioFamily
from callboard.scheduler.policy import Policy

PropertyCheck = Callable[[Experiment], int]
"""How many cases there were to test the policy in; raises PropertyViolated."""


class PropertyViolated(Exception):
    """The property does not hold; the message says what was seen."""


class NotApplicable(Exception):
    """The property says nothing of this policy or scenario; the message says why."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What a property states.

    `says` is its meaning in plain words, `formula` what is compared, `assumes` under which
    assumptions, `bound` how far it may be missed (`exact` for not at all), `source` where it is
    from.  `family` are the scenarios that it speaks of, `misfit` says why it does not speak of a
    policy.  A property that is `universal` is guaranteed by every policy, any other by those
    whose parts name it in their `guarantees`.
    """

    says: str
    formula: str
    source: str
    assumes: str = "nothing"
    bound: str = "exact"
    family: ScenarioFamily = WITHOUT_FAULTS
    misfit: Callable[[Policy], str | None] = lambda _policy: None
    universal: bool = False

    def __call__(self, check: PropertyCheck) -> "Property":
        """Decorates the check; the property has the function's name, with hyphens."""
        return self.named(check.__name__.replace("_", "-"), check)

    def named(self, name: str, check: PropertyCheck) -> "Property":
        words = {field: getattr(self, field) for field in self.__struct_fields__}
        return Property(name=name, check=check, **words)


class Property(Statement, frozen=True, kw_only=True):
    """A statement and its check."""

    name: str
    check: PropertyCheck

    def verify(self, experiment: Experiment) -> int:
        """Test the experiment's policy.  Raises PropertyViolated or NotApplicable."""
        why = self.misfit(experiment.fresh_policy()) or self.family.validate(experiment.scenario)
        if why is not None:
            raise NotApplicable(why)
        return self.check(experiment)


class Evaluation(NamedTuple):
    """In one scenario: cases tested, what was seen if it is broken, or why it does not apply."""

    times: int
    broken: str = ""
    not_applicable: str = ""


def evaluate(prop: Property, experiment: Experiment) -> Evaluation:
    """Test the experiment's policy against the property."""
    try:
        return Evaluation(prop.verify(experiment))
    except PropertyViolated as broken:
        return Evaluation(1, broken=str(broken))
    except NotApplicable as why:
        return Evaluation(0, not_applicable=str(why))


def is_guaranteed(policy: Policy, prop: Property) -> bool:
    """Whether one of the policy's parts guarantees the property, or every policy does."""
    if any(prop.name in part.guarantees for part in policy.parts):
        return True
    return prop.universal and prop.misfit(policy) is None
