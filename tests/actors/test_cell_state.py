"""The state of a cell: claims, conflicts, commits (O1, O2; EuroSys 2013, §3.4)."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from callboard.actors.omega.cell_state import CellState, Claim, Conflicts, Transaction
from callboard.actors.omega.first_fit import CandidateDraws, FirstFit
from callboard.scheduler.resources import Vector, plus

DEMANDS = [(1, 0), (2, 0)]


def scratch(nodes: int = 3, room: int = 3) -> CellState:
    return CellState([(room, 0)] * nodes)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[CellState, list[Claim], Vector]:
    """A cell in which others have claimed and released since a copy was made, and claims on it."""
    live, held, node = scratch(), Counter[int](), st.integers(0, 2)
    moves = draw(st.lists(st.tuples(node, st.booleans()), max_size=9))
    looked, demand = draw(st.integers(0, len(moves))), draw(st.sampled_from(DEMANDS))
    copy = live.copy()
    for place, (at, takes) in enumerate(moves):
        if place == looked:
            copy = live.copy()
        if takes and live.has_room(at, DEMANDS[0]):
            live.claim(at, DEMANDS[0])
            held[at] += 1
        elif not takes and held[at]:
            live.release(at, DEMANDS[0])
            held[at] -= 1
    chosen = draw(st.lists(node, max_size=6))
    return live, [copy.claim(at, demand) for at in chosen if copy.has_room(at, demand)], demand


@given(
    worlds(),
    st.sampled_from(["fit", "sequence"]),
    st.sampled_from(["incremental", "all-or-nothing"]),
)
def test_a_commit_never_claims_more_than_there_is_and_nothing_for_a_conflict(
    world: tuple[CellState, list[Claim], Vector], conflicts: Conflicts, transaction: Transaction
) -> None:
    """O1 and O2; what is claimed and what is free are all there was."""
    live, claims, demand = world
    before = list(live.free)
    verdict = live.commit(claims, demand, conflicts, transaction)
    assert min(min(free) for free in live.free) >= 0
    taken = Counter(verdict.committed)
    for node, free in enumerate(live.free):
        assert plus(free, (demand[0] * taken[node], 0)) == before[node]
    if transaction == "all-or-nothing":
        assert not (verdict.committed and verdict.conflicted)
    else:
        assert len(verdict.committed) + len(verdict.conflicted) == len(claims)


@given(worlds())
def test_every_fit_conflict_is_a_sequence_conflict_on_the_same_state(
    world: tuple[CellState, list[Claim], Vector],
) -> None:
    live, claims, demand = world
    for claim in claims:
        if live.is_conflicting(claim, demand, "fit"):
            assert live.is_conflicting(claim, demand, "sequence")


def test_a_claim_of_others_is_a_sequence_conflict_even_where_there_is_room() -> None:
    live = scratch()
    copy = live.copy()
    claim = copy.claim(1, (1, 0))
    live.claim(1, (1, 0))
    assert not live.is_conflicting(claim, (1, 0), "fit")
    assert live.is_conflicting(claim, (1, 0), "sequence")
    assert live.commit([claim], (1, 0), "fit", "incremental").committed == (1,)


def test_all_or_nothing_takes_back_what_it_has_claimed_and_leaves_the_numbers_raised() -> None:
    """As the released simulator: 1 cell of 24 tells the difference."""
    live = scratch(nodes=2, room=1)
    copy = live.copy()
    claims = [copy.claim(0, (1, 0)), copy.claim(1, (1, 0))]
    live.claim(1, (1, 0))
    verdict = live.commit(claims, (1, 0), "fit", "all-or-nothing")
    assert verdict == ((), (1, 0))
    assert live.free == [(1, 0), (0, 0)]
    assert live.numbers == [1, 1]


def test_a_copy_is_brought_up_to_date_by_what_has_changed_since() -> None:
    live = scratch()
    copy = live.copy()
    live.claim(0, (1, 0))
    seen = len(live.changes)
    live.claim(2, (2, 0))
    live.release(2, (1, 0))
    assert [node for node, _, _ in live.changed_since(seen)] == [2]
    copy.update(live.changed_since(0))
    assert (copy.free, copy.numbers) == (live.free, live.numbers)


def test_first_fit_fills_nodes_and_looks_at_none_twice_that_has_no_room() -> None:
    live = scratch(nodes=5, room=2)
    fit = FirstFit(1, 5, CandidateDraws(1))
    claims = fit.claim_nodes(live, (1, 0), 99, job=0)
    assert Counter(node for node, _ in claims) == dict.fromkeys(range(5), 2)
    assert fit.claim_nodes(live, (1, 0), 1, job=1) == []
