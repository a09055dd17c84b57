"""Small workloads whose times are short and round, so that much falls on the same instant."""

import msgspec
from hypothesis import strategies as st

from actors.jobs import JobSpec
from scheduler.model import Priority
from tests.support.world import job

MANY_JOBS: st.SearchStrategy[list[JobSpec]] = st.lists(
    st.builds(
        job,
        st.just(0),
        submit_ms=st.integers(0, 40).map(lambda n: 500 * n),
        maps=st.integers(1, 9),
        map_ms=st.sampled_from([0, 1, 998, 1000, 3002, 7000]),
        reduces=st.integers(0, 3),
        shuffle_ms=st.sampled_from([0, 600, 3002]),
        reduce_ms=st.sampled_from([0, 500, 3002]),
    ),
    min_size=1,
    max_size=6,
)


def _numbered(drawn: list[JobSpec]) -> list[JobSpec]:
    drawn = sorted(drawn, key=lambda each: each.submit_ms)
    return [msgspec.structs.replace(each, job=number) for number, each in enumerate(drawn)]


WORKLOADS: st.SearchStrategy[list[JobSpec]] = MANY_JOBS.map(_numbered)
"""One to six jobs by submit time, numbered from 0."""

HUNGRY: st.SearchStrategy[list[JobSpec]] = st.lists(
    st.builds(
        job,
        st.just(0),
        submit_ms=st.integers(0, 40).map(lambda n: 500 * n),
        maps=st.integers(1, 9),
        map_ms=st.sampled_from([7000, 20_000, 41_000]),
        reduces=st.integers(0, 2),
        reduce_ms=st.sampled_from([500, 30_000]),
        priority=st.sampled_from(Priority),
    ),
    min_size=2,
    max_size=5,
).map(_numbered)
"""Jobs of unequal rank with tasks so long that somebody starves: for the rules of preemption."""
