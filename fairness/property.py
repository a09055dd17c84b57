"""A property: what is stated, under which assumptions, up to which bound, and a check of it."""

from collections.abc import Callable
from typing import NamedTuple, Self

import msgspec

from callboard.actors.architecture import CENTRAL
from callboard.fairness.experiment import Experiment
from callboard.fairness.scenario_family import WITHOUT_FAULTS, ScenarioFamily
from callboard.scheduler.policy import Policy, PolicySpecError

PropertyCheck = Callable[[Experiment], int]
"""How many cases there were to test the policy in; raises PropertyViolated."""


class PropertyViolated(Exception):
    """The property does not hold; the message says what was seen."""


class NotApplicable(Exception):
    """The property says nothing of this policy or scenario; the message says why."""


class RunSpoilt(NotApplicable):
    """It says nothing of this run, which the policy has brought to no end."""

    @classmethod
    def by_rule(cls, rule: str) -> Self:
        """The run broke the rule of that number."""
        return cls(f"the run broke {rule}, and did not come to its end")


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What a property states.

    `says` is its meaning in plain words, `formula` what is compared, `assumes` under which
    assumptions, `bound` how far it may be missed (`exact` for not at all), `source` where it is
    from.  `family` are the scenarios that it speaks of, `misfit` says why it does not speak of a
    policy.  A property that is `universal` is guaranteed by every policy, any other by those
    whose parts name it in their `guarantees`.  One that only plays worlds and reads what came of
    them may speak of architectures too, of all (`central` is the master's) or of those named.
    """

    says: str
    formula: str
    source: str
    assumes: str = "nothing"
    bound: str = "exact"
    family: ScenarioFamily = WITHOUT_FAULTS
    misfit: Callable[[Policy], str | None] = lambda _policy: None
    universal: bool = False
    architectures: tuple[str, ...] | None = (CENTRAL,)

    def __call__(self, check: PropertyCheck) -> "Property":
        """Decorates the check; the property has the function's name, with hyphens."""
        return self.as_property(check.__name__.replace("_", "-"), check)

    def as_property(self, name: str, check: PropertyCheck) -> "Property":
        words = {field: getattr(self, field) for field in self.__struct_fields__}
        return Property(name=name, check=check, **words)


class Property(Statement, frozen=True, kw_only=True):
    """A statement and its check."""

    name: str
    check: PropertyCheck

    def verify(self, experiment: Experiment) -> int:
        """Test the experiment's policy.  Raises PropertyViolated or NotApplicable."""
        if experiment.stands_alone:
            why = self.why_silent_on_architecture(experiment.fresh_architecture().name)
        else:
            why = self.misfit(experiment.fresh_policy())
        why = why or self.family.why_excludes(experiment.scenario)
        if why is not None:
            raise NotApplicable(why)
        try:
            return self.check(experiment)
        except PolicySpecError as refused:  # by an architecture that cannot play a variant of it
            raise NotApplicable(str(refused)) from None

    def why_silent_on_architecture(self, architecture: str) -> str | None:
        """Why it does not speak of an architecture that stands alone; None if it does."""
        if self.architectures is None or architecture in self.architectures:
            return None
        of_master = CENTRAL in self.architectures
        whose = "policies of a master" if of_master else " and ".join(self.architectures)
        return f"it speaks of {whose}"


class Evaluation(NamedTuple):
    """In one scenario: cases tested, what was seen if it is broken, or why it does not apply, which
    may be that the policy has `spoilt` the run.
    """

    times: int
    broken: str = ""
    not_applicable: str = ""
    spoilt: bool = False


def evaluate(prop: Property, experiment: Experiment) -> Evaluation:
    """Test the experiment's policy against the property."""
    try:
        return Evaluation(prop.verify(experiment))
    except PropertyViolated as broken:
        return Evaluation(1, broken=str(broken))
    except NotApplicable as why:
        return Evaluation(0, not_applicable=str(why), spoilt=isinstance(why, RunSpoilt))


def is_guaranteed(policy: Policy, prop: Property) -> bool:
    """Whether one of the policy's parts guarantees the property, or every policy does."""
    if any(prop.name in part.guarantees for part in policy.parts):
        return True
    return prop.universal and _speaks_of_architecture(CENTRAL, prop) and prop.misfit(policy) is None


def is_guaranteed_by_architecture(architecture: str, prop: Property) -> bool:
    """Whether an architecture that stands alone guarantees the property."""
    return prop.universal and _speaks_of_architecture(architecture, prop)


def _speaks_of_architecture(architecture: str, prop: Property) -> bool:
    return prop.architectures is None or architecture in prop.architectures
