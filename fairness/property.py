"""A property: what is claimed, under which assumptions, up to which bound, and a check of it."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import msgspec

from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.scenario_family import WITHOUT_FAULTS, ScenarioFamily
from callboard.scheduler.entitlements import EntitlingOrder
from callboard.scheduler.policy import AnyLocality, Policy

PropertyCheck = Callable[[Experiment], int]
"""How often there was something to hold the policy against; raises Broken."""


class PropertyViolated(Exception):
    """The property does not hold; the message says what was seen, for people."""


class NotApplicable(Exception):
    """The property says nothing of this policy or scenario; the message says why."""


class Property(msgspec.Struct, frozen=True, kw_only=True):
    """One property.

    `says` is its meaning in plain words, `formula` what is compared, `assumes` under which
    assumptions, `bound` how far it may be missed (`exact` for not at all), `source` where it is
    from.  `worlds` are the scenarios of which it speaks, `misfit` says why it does not speak of a
    policy.  A property that is `universal` is claimed for every policy; the others by those
    whose parts promise them.
    """

    name: str
    says: str
    formula: str
    assumes: str
    bound: str
    source: str
    check: PropertyCheck
    family: ScenarioFamily = WITHOUT_FAULTS
    misfit: Callable[[Policy], str | None] = lambda _policy: None
    universal: bool = False

    def verify(self, experiment: Experiment) -> int:
        """Hold the trial's policy to it.  Raises Broken, or SaysNothing where it does not apply."""
        why = self.misfit(experiment.fresh_policy()) or self.family.validate(experiment.scenario)
        if why is not None:
            raise NotApplicable(why)
        return self.check(experiment)


class Evaluation(NamedTuple):
    """What became of a property in one scenario: `broken` says what was seen, if it was."""

    times: int
    broken: str = ""
    not_applicable: str = ""


def evaluate(prop: Property, experiment: Experiment) -> Evaluation:
    """Hold the trial's policy to the property."""
    try:
        return Evaluation(prop.verify(experiment))
    except PropertyViolated as broken:
        return Evaluation(1, broken=str(broken))
    except NotApplicable as why:
        return Evaluation(0, not_applicable=str(why))


def as_seconds(ms: float | Fraction) -> str:
    """A moment or a length of time as it stands in what was seen: `1,234.567 s`."""
    return f"{float(ms) / 1000:,.3f} s"


def completed(run: ObservedRun) -> ObservedRun:
    """The run, if it came to its end; else nothing more can be said of it."""
    if run.trouble is not None:
        raise NotApplicable("the run did not come to its end")
    return run


def is_guaranteed(policy: Policy, prop: Property) -> bool:
    """Whether the property is claimed for the policy: by one of its parts, or for every policy of
    which it speaks.
    """
    if any(prop.name in part.guarantees for part in policy.parts):
        return True
    return prop.universal and prop.misfit(policy) is None


def without_entitlements(policy: Policy) -> str | None:
    """Why nothing can be said of shares; None if it can."""
    if isinstance(policy.order, EntitlingOrder):
        return None
    return f"`{policy.order.name}` does not say what anybody is due"


def undisturbed(policy: Policy) -> str | None:
    """Why the order alone does not decide who gets a slot; None if it does."""
    return unpreempted(policy) or undelayed(policy)


def undelayed(policy: Policy) -> str | None:
    """Why jobs may be passed over; None if they may not."""
    if type(policy.locality) is not AnyLocality:
        return f"jobs may be passed over by `{policy.locality.name}`"
    return None


def unpreempted(policy: Policy) -> str | None:
    """Why slots may be taken or given away otherwise; None if they may not."""
    if policy.preemption.interval_ms is not None:
        return f"slots may be taken by `{policy.preemption.name}`"
    if policy.speculates:
        return f"slots may go to copies by `{policy.speculation.name}`"
    return None
