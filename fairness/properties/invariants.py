"""What holds in every run: that it ends, and the rules that a policy, or an architecture's
schedulers, could break.
"""

from callboard.actors.architecture import CENTRAL
from callboard.actors.architectures import ARCHITECTURES
from callboard.fairness.applicability import misfit_unless_part_is
from callboard.fairness.experiment import Experiment
from callboard.fairness.figures import require_completed
from callboard.fairness.property import (
    Property,
    PropertyCheck,
    PropertyViolated,
    RunSpoilt,
    Statement,
)
from callboard.fairness.scenario_family import CRASHING, WITH_FAULTS, ScenarioFamily
from callboard.journal.checks.checker import RULES
from callboard.scheduler.locality import Delay


@Statement(
    says="every run comes to its end: no job waits for ever, no part of the policy raises",
    formula="every submitted job ends",
    assumes="all faults end; slots of every kind that is needed",
    bound="no deadline",
    source="M10",
    family=WITH_FAULTS,
    universal=True,
    architectures=None,
)
def finishes(experiment: Experiment) -> int:
    run = experiment.run
    if run.violation is not None:
        raise RunSpoilt.by_rule(run.violation.rule)
    if run.why_unfinished:
        raise PropertyViolated(run.why_unfinished)
    return 1


@Statement(
    says="the same scenario and seed give the same run",
    formula="digest = digest",
    source="S11",
    family=WITH_FAULTS,
    universal=True,
    architectures=None,
)
def reproducible(experiment: Experiment) -> int:
    runs = require_completed(experiment.run), require_completed(experiment.play())
    first, second = (run.end_event.digest for run in runs)
    if first != second:
        raise PropertyViolated(
            f"the same scenario gave the run {first[:8]}… and then the run {second[:8]}…"
        )
    return 1


_RULES = {rule.id: rule for rule in RULES}

OWN_RULES = [rule.id for rule in RULES if not rule.holds_for(CENTRAL)]


def rule_check(number: str) -> PropertyCheck:
    """The rule S<number> of `journal.checks`, tested in one run."""

    def check(experiment: Experiment) -> int:
        violation = experiment.run.violation
        if violation is None:
            return experiment.run.checked[number]
        if violation.rule != number:
            raise RunSpoilt.by_rule(violation.rule)
        raise PropertyViolated(f"{violation.rule}: {violation.explanation}")

    return check


def _property_of_rule(
    name: str,
    number: str,
    says: str,
    formula: str,
    assumes: str = "nothing",
    source: str = "",
    family: ScenarioFamily = WITH_FAULTS,
) -> Property:
    """The rule `number` as a property; that is its source too, with what `source` adds."""
    statement = Statement(
        says=says,
        formula=formula,
        assumes=assumes,
        source=number + source,
        family=family,
        universal=True,
        architectures=_RULES[number].architectures,
    )
    return statement.as_property(name, rule_check(number))


slots = _property_of_rule(
    "slots",
    "S1",
    "a slot runs one attempt at a time, an attempt is in one slot",
    "attempts on a slot ≤ 1, slots of an attempt ≤ 1",
)
successes = _property_of_rule(
    "successes",
    "S2",
    "a task has at most one valid success, a job that succeeded one of every task",
    "valid successes of a task ≤ 1, = 1 when its job has succeeded",
)
lifecycles = _property_of_rule(
    "lifecycles",
    "S3",
    "attempts and jobs change from state to state only as they may",
    "allowed transitions only; an end is an end",
)
attempts = _property_of_rule(
    "attempts",
    "S4",
    "a task fails four times at most, and has two attempts at a time at most",
    "failed ≤ 4; running ≤ 2; attempts ≤ 5 + killed",
)
shuffles = _property_of_rule(
    "shuffles",
    "S5",
    "no reduce goes on without all outputs of its maps, or is launched before slowstart",
    "a shuffle ends ⇒ every map has a valid output",
    family=CRASHING,
)
counts = _property_of_rule(
    "counts",
    "S6",
    "the master loses no task from its books, and counts none twice",
    "done + running + waiting + lost = all, for each job and kind",
)
causes = _property_of_rule(
    "causes",
    "S7",
    "nothing has an effect before its cause",
    "delivered > sent; booked ⇒ reported; started ⇒ ordered",
)
repeats = _property_of_rule(
    "repeats",
    "S8",
    "a heartbeat that comes twice is heard once",
    "the books after it came again = the books before",
)
strict_order = _property_of_rule(
    "strict-order",
    "S15",
    "jobs stand in one strict order, the same each time it is asked for",
    "the queue is a function of facts and time; of two keys one is smaller; a job stands by its key"
    " of now",
    assumes="weights above 0",
    source="; YARN testFairShareComparatorTransitivity",
)
slot_time = _property_of_rule(
    "slot-time",
    "S9",
    "all slot time is accounted for",
    "useful + wasted + idle + unfinished + down = slots × run, none below 0",
)
little = _property_of_rule(
    "little",
    "S10",
    "the mean number of jobs in the system is their arrival rate times their mean response time",
    "∫ N(t) dt = Σ T_j",
    assumes="a run that is over; unfinished jobs count up to its end",
    source="; Little 1961",
)
dead_nodes = _property_of_rule(
    "dead-nodes",
    "S12",
    "a node that is down does nothing, and one that is given up runs nothing",
    "no event of it; no attempt of it in the books; what was lost was killed",
)


@Statement(
    says="what an architecture's schedulers promise of reservations, claims and containers holds",
    formula="P1 to P6; O1 to O3; Y1 to Y3",
    assumes="schedulers that have such",
    source="P1, O1, Y1 and those behind them",
    family=WITH_FAULTS,
    universal=True,
    misfit=lambda _policy: "a master makes no reservations, claims or containers",
    architectures=tuple(
        name for name in ARCHITECTURES if any(_RULES[rule].holds_for(name) for rule in OWN_RULES)
    ),
)
def own_rules(experiment: Experiment) -> int:
    violation = experiment.run.violation
    if violation is None:
        return sum(experiment.run.checked.get(rule, 0) for rule in OWN_RULES)
    if violation.rule not in OWN_RULES:
        raise RunSpoilt.by_rule(violation.rule)
    raise PropertyViolated(f"{violation.rule}: {violation.explanation}")


delay_wait = Statement(
    says="no job launches further from its input than its wait allows, and none waits longer",
    formula="level ≤ allowed(last level, accrued wait); accrued ≥ T1 + T2 ⇒ not passed over",
    assumes="delay scheduling; first runs of maps",
    bound="exact in accrued time; in wall time one gap between decisions more",
    source="S14, F15; Zaharia et al., EuroSys 2010",
    misfit=misfit_unless_part_is("locality", Delay, "it does not delay"),
    universal=True,
).as_property("delay-wait", rule_check("S14"))
