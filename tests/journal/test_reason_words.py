"""Reasons are data; here are the words for each of them."""

from typing import get_args

import msgspec
import pytest

from callboard.actors.vocabulary.events import OrderSwitched
from callboard.journal.tell.reason_words import (
    reason_in_words,
    reason_with_score,
    refusal_in_words,
    refusal_without_numbers,
    switch_in_words,
    why_in_words,
)
from callboard.scheduler.model import Locality, SlotKind
from callboard.scheduler.reasons import (
    AttemptPace,
    BehindAverage,
    ClassPlace,
    DelayByCount,
    DelayByTime,
    Detail,
    JobClaimant,
    Note,
    PoolClaimant,
    PoolPlace,
    Reason,
    Refusal,
    ShareKind,
    Shortage,
    Skip,
    Starving,
    UserClaimant,
    Why,
)

PACE = AttemptPace(80_000, 0.12)
SLOW = AttemptPace(80_000, 0.12, 30_000)
LACKING = Starving(
    (
        Shortage(PoolClaimant("ads/web"), 3, ShareKind.MIN),
        Shortage(UserClaimant("ann"), 1, ShareKind.FAIR),
        Shortage(JobClaimant(7), 2, ShareKind.FAIR),
    ),
    2,
)
JOB = JobClaimant(3)

WORDS: list[tuple[Why, str]] = [
    (
        Why(Reason.OVER_CAPACITY, "monitor"),
        "monitor: its queue holds more than its capacity, and others ask for theirs",
    ),
    (Why(Reason.MAPS_WAIT, "yarn"), "yarn: maps of its job wait, for which there is no room"),
    (Why(Reason.BY_KEY, "fifo"), "fifo"),
    (Why(Reason.BY_KEY, "hybrid", serving="fifo"), "hybrid, fifo"),
    (Why(Reason.POOL, "fair", detail=PoolPlace("ads/web")), "fair in pool ads/web"),
    (
        Why(Reason.POOL_MIN_SHARE, "fair", detail=PoolPlace("ads/web", "ads/web")),
        "fair in pool ads/web, below its min share",
    ),
    (
        Why(Reason.POOL_MIN_SHARE, "hybrid", detail=PoolPlace("ads/web", "ads"), serving="fair"),
        "hybrid, fair in pool ads/web, pool ads below its min share",
    ),
    (Why(Reason.LATE, "psbs"), "psbs: late"),
    (Why(Reason.TINY, "hfsp"), "hfsp: tiny"),
    (Why(Reason.TRAINING, "hfsp"), "hfsp: training"),
    (
        Why(Reason.CLASS_MIN_SHARE, "coshh", detail=ClassPlace(1, "io", 1.0, "ann", 1, 3)),
        "coshh: class 2 suits io, ann lacks 1 of 3",
    ),
    (
        Why(Reason.CLASS_SHARE, "coshh", detail=ClassPlace(0, "", 0.5, "bob")),
        "coshh: class 1 suits plain nodes of speed 0.5, share of bob",
    ),
    (
        Why(Reason.UNMATCHED_CLASS, "coshh", detail=ClassPlace(0, "io", 2.0, "bob")),
        "coshh: class 1 spare io of speed 2, share of bob",
    ),
    (
        Why(Reason.STARVATION, "kill", detail=LACKING),
        "kill, pool ads/web lacks 3 of its min share, user ann lacks 1 of its fair share,"
        " job-7 lacks 2 of its fair share, 2 more",
    ),
    (
        Why(Reason.LONG_JOB, "global"),
        "global, a long job with more than its share of a full cluster",
    ),
    (Why(Reason.SUSPENDED_TOO_LONG, "suspend", 1, 30.5), "suspend, suspended for 30.5 s"),
    (
        Why(Reason.TRAINING_TASK, "preemptive", beneficiary=JOB),
        "preemptive, job-3 is to train",
    ),
    (Why(Reason.OUTRANKED, "preemptive", beneficiary=JOB), "preemptive, job-3 is further ahead"),
    (
        Why(Reason.OUTRANKED_ON_NODE, "preemptive", beneficiary=JOB),
        "preemptive, job-3 is further ahead and suspended there",
    ),
    (Why(Reason.RESERVATION, "sparrow"), "sparrow: the node has asked for it"),
    (
        Why(Reason.BEHIND_AVERAGE, "naive", detail=BehindAverage(0.12, 1_500_000, 4)),
        "naive: 12 % done, its job on average 38 %",
    ),
    (
        Why(Reason.LONGEST_LEFT, "late", detail=PACE),
        "late: 12 % done in 80 s, some 587 s left",
    ),
    (
        Why(Reason.LONGEST_LEFT, "late", detail=AttemptPace(80_000, 0.0)),
        "late: 0 % done in 80 s",
    ),
    (
        Why(Reason.DUPLICATE, "mantri", detail=SLOW),
        "mantri: 12 % done in 80 s, some 587 s left; a fresh attempt 30 s",
    ),
    (
        Why(Reason.DUPLICATE_SAVES_WORK, "mantri", detail=SLOW),
        "mantri: 12 % done in 80 s, some 587 s left; a fresh attempt 30 s",
    ),
    (
        Why(Reason.RESTART, "mantri", detail=SLOW),
        "mantri, restart: 12 % done in 80 s, some 587 s left; a fresh attempt 30 s",
    ),
    (Why(Reason.AT_RANDOM, "sparrow"), "sparrow: drawn from all nodes"),
    (Why(Reason.SHORT_QUEUE, "sparrow"), "sparrow: the shortest queue of those asked"),
    (Why(Reason.FREE_SLOT, "sparrow"), "sparrow: the slot that was free first"),
    (Why(Reason.LEAST_WAIT, "hawk"), "hawk: the node with the least wait"),
    (Why(Reason.FIRST_FIT, "omega"), "omega: the first node drawn that had room"),
    (Why(Reason.TASK_DONE), "its task is done"),
    (Why(Reason.BEGUN_ELSEWHERE), "begun again elsewhere"),
    (Why(Reason.LAUNCH_EXPIRED), "its launch has expired"),
    (Why(Reason.NODE_DRAINED), "its node is out of service"),
    (Why(Reason.JOB_ENDS), "its job ends"),
    (Why(Reason.JOB_SETUP), "ahead of all tasks"),
    (Why(Reason.JOB_CLEANUP), "ahead of all tasks"),
    (Why(Reason.OWN, "mine"), "mine"),
    (Why(Reason.OWN, "mine", detail=Note("it is Monday")), "mine: it is Monday"),
]

TIMED = DelayByTime(Locality.RACK, Locality.NODE, 1200, 5000, 1)
REFUSALS: list[tuple[Refusal, str, str]] = [
    (
        TIMED,
        "only rack-local here, node-local allowed",
        "only rack-local here, node-local allowed; waited 1.200 of 5 s, passed over once",
    ),
    (
        DelayByCount(Locality.OFF_RACK, 3, 10),
        "only off-rack here",
        "only off-rack here; passed over 3 of 10 times",
    ),
    (Note("not local"), "not local", "not local"),
]


@pytest.mark.parametrize(("why", "words"), WORDS)
def test_a_reason_in_words(why: Why, words: str) -> None:
    assert reason_in_words(why) == words
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(why), type=Why) == why


def test_every_reason_and_every_form_of_detail_has_words() -> None:
    assert {why.reason for why, _ in WORDS} == set(Reason)
    assert {type(why.detail) for why, _ in WORDS} == {*get_args(Detail), type(None)}
    assert {type(refusal) for refusal, _, _ in REFUSALS} == set(get_args(Refusal))


def test_only_the_masters_reasons_are_of_no_part() -> None:
    for why, _ in WORDS:
        assert why.reason.is_the_masters == (not why.part)


@pytest.mark.parametrize(("refusal", "alike", "words"), REFUSALS)
def test_a_refusal_in_words_and_without_its_numbers(
    refusal: Refusal, alike: str, words: str
) -> None:
    assert (refusal_without_numbers(refusal), refusal_in_words(refusal)) == (alike, words)


def test_all_of_a_launchs_reason_in_words() -> None:
    why = Why(Reason.BY_KEY, "fair", 2, 0.5, skipped=(Skip(0, TIMED),), skips=1, waited_ms=5100)
    assert why_in_words(why) == (
        "fair: 2nd in the queue, 0.5 running / weight; had been passed over once, waited 5.100 s;"
        " passed over job-0: only rack-local here, node-local allowed; waited 1.200 of 5 s,"
        " passed over once"
    )
    assert why_in_words(Why(Reason.BY_KEY, "late", 1), "of the stragglers") == (
        "late: 1st of the stragglers"
    )
    assert why_in_words(Why(Reason.OWN, "mine")) == "mine"


def test_a_switch_in_words() -> None:
    switched = OrderSwitched(9, "coshh", "fair", SlotKind.REDUCE, 1200, 0, 10)
    assert switch_in_words(switched) == "1,200 reduces wait, 0 of 10 slots are free"


def test_a_score_says_what_it_is() -> None:
    pool = Why(Reason.POOL, "fair", 2, 0.5, detail=PoolPlace("ads"))
    assert reason_with_score(pool) == "fair in pool ads, 0.5 running / weight"
    by_size = Why(Reason.BY_KEY, "hfsp", 1, 32.5)
    assert reason_with_score(by_size) == "hfsp, 32.5 slot-s of virtual size"
    assert reason_with_score(Why(Reason.TRAINING, "hfsp", 1, 60.0)) == "hfsp: training"
    assert reason_with_score(Why(Reason.BY_KEY, "Mine", 1, 4.0)) == "Mine"
    served = Why(Reason.BY_KEY, "hybrid", 1, 0.5, serving="fair")
    assert reason_with_score(served) == "hybrid, fair, 0.5 running / weight"
    assert why_in_words(served) == "hybrid, fair: 1st in the queue, 0.5 running / weight"
