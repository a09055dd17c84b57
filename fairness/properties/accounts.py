"""What holds in every run, whatever the policy does: the rules S1 to S15 that a policy could break,
and that a run comes to its end.
"""

from actors.events import RunEnded
from fairness.property import Broken, Check, Property, SaysNothing, whole
from fairness.trial import Trial
from fairness.worlds import ANY, TROUBLED
from scheduler.locality import Delay
from scheduler.policy import Policy
from scheduler.preemption.kill import AboveShares


def _rule(number: str) -> Check:
    """The rule S<number> of `journal.checks`, held in one run."""

    def check(trial: Trial) -> int:
        violation = trial.run.violation
        if violation is None:
            return sum(type(event) is RunEnded for event in trial.run.events)
        if violation.rule != number:
            raise SaysNothing(f"the run broke {violation.rule}, and did not come to its end")
        raise Broken(f"{violation.rule}: {violation.explanation}")

    return check


def _finishes(trial: Trial) -> int:
    trouble = trial.run.trouble
    if trouble is None:
        if trial.run.ended.reason != "complete":
            raise Broken(f"the run had not ended after {trial.run.ended.at_ms / 1000:,.0f} s")
        return 1
    if trial.run.violation is not None:
        raise SaysNothing("the run broke a rule")
    raise Broken(str(trouble).split("\n")[0])


def _reproducible(trial: Trial) -> int:
    first, second = whole(trial.run), whole(trial.play())
    if first.ended.digest != second.ended.digest:
        one, other = (e.digest[:8] for e in (first.ended, second.ended))
        raise Broken(f"the same scenario gave the run {one}… and then the run {other}…")
    return 1


def _delays(policy: Policy) -> str | None:
    return None if isinstance(policy.locality, Delay) else "nobody delays"


def _preempts(policy: Policy) -> str | None:
    by_claims = isinstance(policy.preemption, AboveShares)
    return None if by_claims else "nobody is preempted by claims"


def _events(name: str, number: str, says: str, formula: str, assumes: str, source: str) -> Property:
    return Property(
        name=name,
        says=says,
        formula=formula,
        assumes=assumes,
        bound="exact",
        source=source,
        check=_rule(number),
        worlds=TROUBLED,
        universal=True,
    )


FINISHES = Property(
    name="finishes",
    says="every run comes to its end: no job waits for ever, no part of the policy raises",
    formula="every submitted job ends",
    assumes="all faults end; slots of every kind that is needed",
    bound="no deadline",
    source="semantics §4.3, liveness",
    check=_finishes,
    worlds=TROUBLED,
    universal=True,
)

SLOT_TIME = _events(
    "slot-time",
    "S9",
    "all slot time is accounted for",
    "useful + wasted + idle + unfinished + down = slots × run, none below 0",
    "nothing",
    "S9",
)

LITTLE = _events(
    "little",
    "S10",
    "the mean number of jobs in the system is their arrival rate times their mean response time",
    "∫ N(t) dt = Σ T_j",
    "a run that is over; unfinished jobs count up to its end",
    "S10; Little 1961",
)

CAUSES = _events(
    "causes",
    "S7",
    "nothing has an effect before its cause",
    "delivered > sent; booked ⇒ reported; started ⇒ ordered",
    "nothing",
    "S7",
)

STRICT_ORDER = _events(
    "strict-order",
    "S15",
    "jobs stand in one strict order, the same each time one asks",
    "the queue is a function of facts and time; of two keys one is smaller",
    "weights above 0",
    "S15; YARN testFairShareComparatorTransitivity",
)

REPRODUCIBLE = Property(
    name="reproducible",
    says="the same scenario and seed give the same run",
    formula="digest = digest",
    assumes="nothing",
    bound="exact",
    source="S11",
    check=_reproducible,
    worlds=TROUBLED,
    universal=True,
)

DELAY_WAIT = Property(
    name="delay-wait",
    says="nobody launches further from its input than its wait allows, nobody waits longer",
    formula="level ≤ allowed(last level, accrued wait); accrued ≥ T1 + T2 ⇒ not passed over",
    assumes="delay scheduling; first runs of maps",
    bound="exact in accrued time; in wall time one gap between decisions more",
    source="S14, F15; Zaharia et al., EuroSys 2010",
    check=_rule("S14"),
    worlds=ANY,
    misfit=_delays,
    universal=True,
)

BOUNDED_PREEMPTION = Property(
    name="bounded-preemption",
    says="no more is preempted than is lacking, and nobody is left below its share rounded down",
    formula="victims ≤ Σ deficits; after a check each victim runs ≥ ⌊share⌋",
    assumes="preemption by claims (`kill`, `suspend`)",
    bound="exact",
    source="S13; FT testFairSharePreemptionFromMultiplePools",
    check=_rule("S13"),
    worlds=ANY,
    misfit=_preempts,
    universal=True,
)

PROPERTIES = (
    FINISHES,
    REPRODUCIBLE,
    CAUSES,
    STRICT_ORDER,
    SLOT_TIME,
    LITTLE,
    DELAY_WAIT,
    BOUNDED_PREEMPTION,
)
