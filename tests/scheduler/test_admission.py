"""Which jobs may run within caps, settled change by change, against taking all of them in turn."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.orders.fair.admission import Admission, RunningJobsCap

POOLS = ("a", "a/x", "a/y", "b")
USERS = ("ann", "bob", "cyd")
CAP = st.one_of(st.none(), st.integers(0, 3))

Caps = dict[tuple[str, str], int]
Job = tuple[tuple[int, int], list[RunningJobsCap]]

STEPS = st.lists(
    st.tuples(
        st.integers(0, 11),  # the job, which leaves if it is there and does not change
        st.booleans(),
        st.integers(0, 3),
        st.sampled_from(POOLS),
        st.sampled_from(USERS),
    ),
    max_size=40,
)


@st.composite
def all_caps(draw: st.DrawFn) -> Caps:
    """Some pools and users have caps, some have none."""
    holders = [*(("pool", pool) for pool in POOLS), *(("user", user) for user in USERS)]
    return {whose: cap for whose in holders if (cap := draw(CAP)) is not None}


def caps_of(pool: str, user: str, caps: Caps) -> list[RunningJobsCap]:
    """The caps of the user, of the pool and of the pool above it."""
    holders = [("user", user), ("pool", pool), ("pool", pool.split("/")[0])]
    return [(whose, caps[whose]) for whose in dict.fromkeys(holders) if whose in caps]


def admitted(jobs: dict[int, Job]) -> set[int]:
    """FairScheduler.updateRunnability: all jobs in the order of admission, while there is room."""
    taken: Counter[tuple[str, str]] = Counter()
    found = set()
    for _, number in sorted((key, number) for number, (key, _) in jobs.items()):
        caps = jobs[number][1]
        if all(taken[whose] < cap for whose, cap in caps):
            found.add(number)
            taken.update(whose for whose, _ in caps)
    return found


@given(all_caps(), STEPS)
@settings(derandomize=True, max_examples=300)
def test_settling_a_change_comes_to_the_same_as_taking_all_jobs_in_turn(
    caps: Caps, steps: list[tuple[int, bool, int, str, str]]
) -> None:
    """The jobs told are those that change, each once; a job that is new counts as put off."""
    admission, jobs, now = Admission(), dict[int, Job](), set[int]()
    for number, changes, priority, pool, user in steps:
        if number in jobs:
            del jobs[number]
            changed = admission.leave(number)
            now = expect(changed, now - {number}, jobs)
            if not changes:
                continue
        jobs[number] = ((priority, number), caps_of(pool, user, caps))
        now = expect(admission.enter(number, *jobs[number]), now, jobs)


def expect(changed: list[int], before: set[int], jobs: dict[int, Job]) -> set[int]:
    after = admitted(jobs)
    assert sorted(changed) == sorted(before ^ after)
    return after


def test_jobs_that_only_wait_in_line_are_not_looked_at() -> None:
    """A leave lets in the next of its pool, and of them only the next: nobody else changes."""
    admission = Admission()
    for number in range(10):
        admission.enter(number, (0, number), [(("pool", "ads"), 2), (("user", "ann"), 8)])
    assert admission.leave(7) == []
    assert admission.leave(1) == [2]
    assert admission.enter(1, (0, 1), [(("pool", "ads"), 2), (("user", "ann"), 8)]) == [1, 2]
