"""What holds in every run, whatever the policy does: the rules S1 to S15 that a policy could break,
and that a run comes to its end.
"""

from callboard.fairness.property import Broken, Check, Property, SaysNothing, whole
from callboard.fairness.trial import Trial
from callboard.fairness.worlds import ANY, TROUBLED, WRECKED, Worlds
from callboard.scheduler.locality import Delay
from callboard.scheduler.policy import Policy


def rule(number: str) -> Check:
    """The rule S<number> of `journal.checks`, held in one run."""

    def check(trial: Trial) -> int:
        violation = trial.run.violation
        if violation is None:
            return trial.run.checked[number]
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


def _events(
    name: str,
    number: str,
    says: str,
    formula: str,
    assumes: str = "nothing",
    source: str = "",
    worlds: Worlds = TROUBLED,
) -> Property:
    """The rule `number` as a property; that is its source, unless there are more."""
    return Property(
        name=name,
        says=says,
        formula=formula,
        assumes=assumes,
        bound="exact",
        source=source or number,
        check=rule(number),
        worlds=worlds,
        universal=True,
    )


SLOTS = _events(
    "slots",
    "S1",
    "a slot runs one attempt at a time, an attempt is in one slot",
    "attempts on a slot ≤ 1, slots of an attempt ≤ 1",
)

SUCCESSES = _events(
    "successes",
    "S2",
    "a task has at most one valid success, a job that succeeded one of every task",
    "valid successes of a task ≤ 1, = 1 when its job has succeeded",
)

LIFECYCLES = _events(
    "lifecycles",
    "S3",
    "attempts and jobs change from state to state only as they may",
    "allowed transitions only; an end is an end",
)

ATTEMPTS = _events(
    "attempts",
    "S4",
    "a task fails four times at most, and has two attempts at a time at most",
    "failed ≤ 4; running ≤ 2; attempts ≤ 5 + killed",
)

SHUFFLES = _events(
    "shuffles",
    "S5",
    "no reduce goes on without all outputs of its maps, or is launched before slowstart",
    "a shuffle ends ⇒ every map has a valid output",
    worlds=WRECKED,
)

COUNTS = _events(
    "counts",
    "S6",
    "the master loses no task from its books, and counts none twice",
    "done + running + waiting + lost = all, for each job and kind",
)

REPEATS = _events(
    "repeats",
    "S8",
    "a heartbeat that comes twice is heard once",
    "the books after it came again = the books before",
)

DEAD_NODES = _events(
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
)

LITTLE = _events(
    "little",
    "S10",
    "the mean number of jobs in the system is their arrival rate times their mean response time",
    "∫ N(t) dt = Σ T_j",
    assumes="a run that is over; unfinished jobs count up to its end",
    source="S10; Little 1961",
)

CAUSES = _events(
    "causes",
    "S7",
    "nothing has an effect before its cause",
    "delivered > sent; booked ⇒ reported; started ⇒ ordered",
)

STRICT_ORDER = _events(
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
    check=rule("S14"),
    worlds=ANY,
    misfit=_delays,
    universal=True,
)

PROPERTIES = (
    FINISHES,
    REPRODUCIBLE,
    SLOTS,
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
