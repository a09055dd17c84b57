"""A property: what is claimed, under which assumptions, up to which bound, and a check of it."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import msgspec

from callboard.fairness.trial import Run, Trial
from callboard.fairness.worlds import ANY, Worlds
from callboard.scheduler.claims import Claims
from callboard.scheduler.policy import Policy

Check = Callable[[Trial], int]
"""How often there was something to hold the policy against; raises Broken."""


class Broken(Exception):
    """The property does not hold; the message says what was seen, for people."""


class SaysNothing(Exception):
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
    check: Check
    worlds: Worlds = ANY
    misfit: Callable[[Policy], str | None] = lambda _policy: None
    universal: bool = False

    def hold(self, trial: Trial) -> int:
        """Hold the trial's policy to it.  Raises Broken, or SaysNothing where it does not apply."""
        why = self.misfit(trial.make()) or self.worlds.objection(trial.scenario)
        if why is not None:
            raise SaysNothing(why)
        return self.check(trial)


class Verdict(NamedTuple):
    """What became of a property in one scenario: `broken` says what was seen, if it was."""

    times: int
    broken: str = ""
    silent: str = ""


def judge(prop: Property, trial: Trial) -> Verdict:
    """Hold the trial's policy to the property."""
    try:
        return Verdict(prop.hold(trial))
    except Broken as broken:
        return Verdict(1, broken=str(broken))
    except SaysNothing as why:
        return Verdict(0, silent=str(why))


def moment(ms: float | Fraction) -> str:
    """A moment or a length of time as it stands in what was seen: `1,234.567 s`."""
    return f"{float(ms) / 1000:,.3f} s"


def whole(run: Run) -> Run:
    """The run, if it came to its end; else nothing more can be said of it."""
    if run.trouble is not None:
        raise SaysNothing("the run did not come to its end")
    return run


def claims(policy: Policy, prop: Property) -> bool:
    """Whether the property is claimed for the policy: by one of its parts, or for every policy of
    which it speaks.
    """
    if any(prop.name in part.promises for part in policy.parts):
        return True
    return prop.universal and prop.misfit(policy) is None


def claimless(policy: Policy) -> str | None:
    """Why nothing can be said of shares; None if it can."""
    if isinstance(policy.order, Claims):
        return None
    return f"`{policy.order.name}` does not say what anybody is due"


def undisturbed(policy: Policy) -> str | None:
    """Why the order alone does not decide who gets a slot; None if it does."""
    return unpreempted(policy) or unwaiting(policy)


def unwaiting(policy: Policy) -> str | None:
    """Why jobs may be passed over; None if they may not."""
    if policy.locality.name != "anywhere":
        return f"jobs may be passed over by `{policy.locality.name}`"
    return None


def unpreempted(policy: Policy) -> str | None:
    """Why slots may be taken or given away otherwise; None if they may not."""
    if policy.preemption.interval_ms is not None:
        return f"slots may be taken by `{policy.preemption.name}`"
    if policy.speculates:
        return f"slots may go to copies by `{policy.speculation.name}`"
    return None
