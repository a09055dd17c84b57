"""What holds in every run, whatever the policy does: the rules S1 to S15 that a policy could break,
and that a run comes to its end.
"""

from callboard.fairness.experiment import Experiment
from callboard.fairness.property import (
    NotApplicable,
    Property,
    PropertyCheck,
    PropertyViolated,
    completed,
)
from callboard.fairness.scenario_family import CRASHING, WITH_FAULTS, WITHOUT_FAULTS, ScenarioFamily
from callboard.scheduler.locality import Delay
from callboard.scheduler.policy import Policy


def rule_check(number: str) -> PropertyCheck:
    """The rule S<number> of `journal.checks`, held in one run."""

    def check(experiment: Experiment) -> int:
        violation = experiment.run.violation
        if violation is None:
            return experiment.run.checked[number]
        if violation.rule != number:
            raise NotApplicable(f"the run broke {violation.rule}, and did not come to its end")
        raise PropertyViolated(f"{violation.rule}: {violation.explanation}")

    return check


def _finishes(experiment: Experiment) -> int:
    trouble = experiment.run.trouble
    if trouble is None:
        if experiment.run.ended.reason != "complete":
            raise PropertyViolated(
                f"the run had not ended after {experiment.run.ended.at_ms / 1000:,.0f} s"
            )
        return 1
    if experiment.run.violation is not None:
        raise NotApplicable("the run broke a rule")
    raise PropertyViolated(str(trouble).split("\n")[0])


def _reproducible(experiment: Experiment) -> int:
    first, second = completed(experiment.run), completed(experiment.play())
    if first.ended.digest != second.ended.digest:
        one, other = (e.digest[:8] for e in (first.ended, second.ended))
        raise PropertyViolated(f"the same scenario gave the run {one}… and then the run {other}…")
    return 1


def _delays(policy: Policy) -> str | None:
    return None if isinstance(policy.locality, Delay) else "nobody delays"


def _rule_property(
    name: str,
    number: str,
    says: str,
    formula: str,
    assumes: str = "nothing",
    source: str = "",
    family: ScenarioFamily = WITH_FAULTS,
) -> Property:
    """The rule `number` as a property; that is its source, unless there are more."""
    return Property(
        name=name,
        says=says,
        formula=formula,
        assumes=assumes,
        bound="exact",
        source=source or number,
        check=rule_check(number),
        family=family,
        universal=True,
    )


EXCLUSIVE_SLOTS = _rule_property(
    "slots",
    "S1",
    "a slot runs one attempt at a time, an attempt is in one slot",
    "attempts on a slot ≤ 1, slots of an attempt ≤ 1",
)

SUCCESSES = _rule_property(
    "successes",
    "S2",
    "a task has at most one valid success, a job that succeeded one of every task",
    "valid successes of a task ≤ 1, = 1 when its job has succeeded",
)

LIFECYCLES = _rule_property(
    "lifecycles",
    "S3",
    "attempts and jobs change from state to state only as they may",
    "allowed transitions only; an end is an end",
)

ATTEMPTS = _rule_property(
    "attempts",
    "S4",
    "a task fails four times at most, and has two attempts at a time at most",
    "failed ≤ 4; running ≤ 2; attempts ≤ 5 + killed",
)

SHUFFLES = _rule_property(
    "shuffles",
    "S5",
    "no reduce goes on without all outputs of its maps, or is launched before slowstart",
    "a shuffle ends ⇒ every map has a valid output",
    family=CRASHING,
)

COUNTS = _rule_property(
    "counts",
    "S6",
    "the master loses no task from its books, and counts none twice",
    "done + running + waiting + lost = all, for each job and kind",
)

REPEATS = _rule_property(
    "repeats",
    "S8",
    "a heartbeat that comes twice is heard once",
    "the books after it came again = the books before",
)

DEAD_NODES = _rule_property(
    "dead-nodes",
    "S12",
    "a node that is down does nothing, and one that is given up runs nothing",
    "no event of it; no attempt of it in the books; what was lost was killed",
)

FINISHES = Property(
    name="finishes",
    says="every run comes to its end: no job waits for ever, no part of the policy raises",
    formula="every submitted job ends",
    assumes="all faults end; slots of every kind that is needed",
    bound="no deadline",
    source="M10",
    check=_finishes,
    family=WITH_FAULTS,
    universal=True,
)

SLOT_TIME = _rule_property(
    "slot-time",
    "S9",
    "all slot time is accounted for",
    "useful + wasted + idle + unfinished + down = slots × run, none below 0",
)

LITTLE = _rule_property(
    "little",
    "S10",
    "the mean number of jobs in the system is their arrival rate times their mean response time",
    "∫ N(t) dt = Σ T_j",
    assumes="a run that is over; unfinished jobs count up to its end",
    source="S10; Little 1961",
)

CAUSES = _rule_property(
    "causes",
    "S7",
    "nothing has an effect before its cause",
    "delivered > sent; booked ⇒ reported; started ⇒ ordered",
)

STRICT_ORDER = _rule_property(
    "strict-order",
    "S15",
    "jobs stand in one strict order, the same each time one asks",
    "the queue is a function of facts and time; of two keys one is smaller",
    assumes="weights above 0",
    source="S15; YARN testFairShareComparatorTransitivity",
)

REPRODUCIBLE = Property(
    name="reproducible",
    says="the same scenario and seed give the same run",
    formula="digest = digest",
    assumes="nothing",
    bound="exact",
    source="S11",
    check=_reproducible,
    family=WITH_FAULTS,
    universal=True,
)

DELAY_WAIT = Property(
    name="delay-wait",
    says="nobody launches further from its input than its wait allows, nobody waits longer",
    formula="level ≤ allowed(last level, accrued wait); accrued ≥ T1 + T2 ⇒ not passed over",
    assumes="delay scheduling; first runs of maps",
    bound="exact in accrued time; in wall time one gap between decisions more",
    source="S14, F15; Zaharia et al., EuroSys 2010",
    check=rule_check("S14"),
    family=WITHOUT_FAULTS,
    misfit=_delays,
    universal=True,
)

INVARIANT_PROPERTIES = (
    FINISHES,
    REPRODUCIBLE,
    EXCLUSIVE_SLOTS,
    SUCCESSES,
    LIFECYCLES,
    ATTEMPTS,
    SHUFFLES,
    COUNTS,
    CAUSES,
    REPEATS,
    STRICT_ORDER,
    SLOT_TIME,
    LITTLE,
    DEAD_NODES,
    DELAY_WAIT,
)
