"""The reasons of decisions in words."""

from typing import assert_never

from callboard.actors.vocabulary.events import OrderSwitched
from callboard.actors.vocabulary.job_names import job_name
from callboard.journal.tell.names import LOCALITY_NAMES
from callboard.scheduler import reasons
from callboard.scheduler.reasons import Reason, Refusal, Why
from callboard.scheduler.registry.shipped import ORDERS
from callboard.scheduler.text.quantities import count, duration, ordinal

_BY_SCORE = (Reason.BY_KEY, Reason.POOL, Reason.POOL_MIN_SHARE)

_FIXED = {
    Reason.LATE: ": late",
    Reason.TINY: ": tiny",
    Reason.TRAINING: ": training",
    Reason.LONG_JOB: ", a long job with more than its share of a full cluster",
    Reason.OVER_CAPACITY: ": its queue holds more than its capacity, and others ask for theirs",
    Reason.MAPS_WAIT: ": maps of its job wait, for which there is no room",
    Reason.RESERVATION: ": the node has asked for it",
    Reason.AT_RANDOM: ": drawn from all nodes",
    Reason.SHORT_QUEUE: ": the shortest queue of those asked",
    Reason.FREE_SLOT: ": the slot that was free first",
    Reason.LEAST_WAIT: ": the node with the least wait",
    Reason.FIRST_FIT: ": the first node drawn that had room",
    Reason.TASK_DONE: "its task is done",
    Reason.BEGUN_ELSEWHERE: "begun again elsewhere",
    Reason.LAUNCH_EXPIRED: "its launch has expired",
    Reason.NODE_DRAINED: "its node is out of service",
    Reason.JOB_ENDS: "its job ends",
    Reason.JOB_SETUP: "ahead of all tasks",
    Reason.JOB_CLEANUP: "ahead of all tasks",
}
"""What follows the part's name without a detail; the master's own reasons have no such name."""

_GIVEN_FOR = {
    Reason.TRAINING_TASK: "is to train",
    Reason.OUTRANKED: "is further ahead",
    Reason.OUTRANKED_ON_NODE: "is further ahead and suspended there",
}
"""What is said of the beneficiary."""


def claimant_name(claimant: reasons.Claimant) -> str:
    """`job-12`, `pool ads/web`, `user ann`."""
    match claimant:
        case reasons.JobClaimant(job):
            return job_name(job)
        case reasons.PoolClaimant(path):
            return f"pool {path}"
        case reasons.UserClaimant(user):
            return f"user {user}"
        case _:
            assert_never(claimant)


def reason_in_words(why: Why) -> str:
    """What decided, and why: `fair in pool ann`, `kill, pool ads lacks 3 of its min share`."""
    if why.serving:
        return f"{why.part}, {why.serving}{_detail_in_words(why)}"
    return f"{why.part}{_detail_in_words(why)}"


def reason_with_score(why: Why) -> str:
    """What put the job in its place when its task was launched: the order, the score."""
    told, score = reason_in_words(why), _score_in_its_unit(why)
    return f"{told}, {score}" if score else told


def _score_in_its_unit(why: Why) -> str:
    """`12.5 slot-s left`; empty of an order that does not say what its scores are."""
    order = ORDERS.get(why.serving or why.part)
    if order is None or not order.score_format or why.reason not in _BY_SCORE:
        return ""
    return order.score_format.format(why.score)


def why_in_words(why: Why, among: str = "in the queue") -> str:
    """All of it: the reason, the place among the others, the score, and the jobs passed over."""
    told = reason_in_words(why)
    if not why.rank:
        return told
    score = f", {_score_in_its_unit(why) or f'score {why.score:g}'}" if why.score else ""
    skips = ", ".join(f"{job_name(s.job)}: {refusal_in_words(s.refusal)}" for s in why.skipped)
    passed = f"; passed over {skips}" if skips else ""
    waited = ""
    if why.skips or why.waited_ms:
        times = _times_text(why.skips)
        waited = f"; had been passed over {times}, waited {duration(why.waited_ms)}"
    return f"{told}: {ordinal(why.rank)} {among}{score}{waited}{passed}"


def refusal_in_words(refusal: Refusal) -> str:
    """Why a job was passed over, with all numbers."""
    return "".join(_refusal_parts(refusal))


def refusal_without_numbers(refusal: Refusal) -> str:
    """The same for all refusals that differ in their numbers only: `only rack-local here`."""
    return _refusal_parts(refusal)[0]


def switch_in_words(event: OrderSwitched) -> str:
    """The load that made an order change: `9 maps wait, 0 of 8 slots are free`."""
    tasks = ("maps", "reduces")[event.kind]
    return f"{event.waiting:,} {tasks} wait, {event.free:,} of {event.slots:,} slots are free"


def _times_text(number: int) -> str:
    return "once" if number == 1 else count(number, "time")


def _refusal_parts(refusal: Refusal) -> tuple[str, str]:
    """Without the numbers, and the numbers."""
    match refusal:
        case reasons.DelayByCount(level, passed, limit):
            return f"only {LOCALITY_NAMES[level]} here", f"; passed over {passed} of {limit} times"
        case reasons.DelayByTime(level, allowed, waited_ms, until_ms, skips):
            waited = f"waited {waited_ms / 1000:.3f} of {until_ms / 1000:g} s"
            places = f"only {LOCALITY_NAMES[level]} here, {LOCALITY_NAMES[allowed]} allowed"
            return places, f"; {waited}, passed over {_times_text(skips)}"
        case reasons.Note(text):
            return text, ""
        case _:
            assert_never(refusal)


def _detail_in_words(why: Why) -> str:
    """What follows the name of the part."""
    match why.detail:
        case reasons.PoolPlace():
            return _pool_place_text(why.detail)
        case reasons.ClassPlace():
            return _job_class_text(why.reason, why.detail)
        case reasons.Starving():
            return f", {_shortages_text(why.detail)}"
        case reasons.BehindAverage(progress, done, tasks):
            average = 100 * done / (1_000_000 * tasks)
            return f": {100 * progress:.0f} % done, its job on average {average:.0f} %"
        case reasons.AttemptPace():
            restart = ", restart" if why.reason is Reason.RESTART else ""
            return f"{restart}: {_attempt_pace_text(why.detail)}"
        case reasons.Note(text):
            return f": {text}"
        case None:
            return _plain_reason_text(why)
        case _:
            assert_never(why.detail)


def _plain_reason_text(why: Why) -> str:
    if why.reason is Reason.SUSPENDED_TOO_LONG:
        return f", suspended for {why.score:g} s"
    if why.reason in _GIVEN_FOR and why.beneficiary is not None:
        return f", {claimant_name(why.beneficiary)} {_GIVEN_FOR[why.reason]}"
    return _FIXED.get(why.reason, "")


def _pool_place_text(place: reasons.PoolPlace) -> str:
    if not place.needy:
        return f" in pool {place.pool}"
    whose = "" if place.needy == place.pool else f"pool {place.needy} "
    return f" in pool {place.pool}, {whose}below its min share"


def _job_class_text(reason: Reason, place: reasons.ClassPlace) -> str:
    fits = "spare" if reason is Reason.UNMATCHED_CLASS else "suits"
    node = place.node_kind or "plain nodes"
    if place.node_speed != 1:
        node += f" of speed {place.node_speed:g}"
    user = f"share of {place.user}"
    if reason is Reason.CLASS_MIN_SHARE:
        user = f"{place.user} lacks {place.lacks} of {place.min_share}"
    return f": class {place.job_class + 1} {fits} {node}, {user}"


def _shortages_text(detail: reasons.Starving) -> str:
    told = [_shortage_text(each) for each in detail.shortages]
    if detail.more:
        told.append(f"{detail.more} more")
    return ", ".join(told)


def _shortage_text(lacks: reasons.Shortage) -> str:
    return f"{claimant_name(lacks.claimant)} lacks {lacks.slots} of its {lacks.share}"


def _attempt_pace_text(pace: reasons.AttemptPace) -> str:
    """`12 % done in 80 s, some 587 s left`."""
    done, ran_ms = pace.progress, pace.ran_ms
    told = f"{100 * done:.0f} % done in {ran_ms / 1000:.0f} s"
    if done:
        told += f", some {ran_ms * (1 - done) / done / 1000:.0f} s left"
    if pace.fresh_ms is not None:
        told += f"; a fresh attempt {pace.fresh_ms / 1000:.0f} s"
    return told
