"""Hypothesis strategies: any events at all, and event streams as a real run could give."""

from hypothesis import strategies as st

from actors.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
    JobFinished,
    JobSubmitted,
    KillOrdered,
    NodeFacts,
    Outcome,
    RunEnded,
    RunStarted,
    ShuffleEnded,
)
from scheduler.decisions import Skip, Why
from scheduler.model import Locality, Priority, TaskKind

EVENT_TYPES: tuple[type[AnyEvent], ...] = AnyEvent.__args__

_whole = st.integers(0, 2**40)
_small = st.integers(0, 300)
_text = st.text(max_size=12)
_real = st.floats(allow_nan=False, width=64)
_outcome = st.sampled_from(Outcome)
_skip = st.builds(Skip, _small, _text)
_why = st.builds(Why, _text, _small, _real, st.lists(_skip, max_size=3).map(tuple))
_node = st.builds(NodeFacts, _small, _small, _small, _small, _real)
_plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | _real | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_scenario = st.dictionaries(_text, _plain, max_size=3)
_nodes = st.lists(_node, max_size=3).map(tuple)
_kind = st.sampled_from(TaskKind)
_level = st.sampled_from(Locality)
_priority = st.sampled_from(Priority)

_FIELDS: dict[type[AnyEvent], tuple[st.SearchStrategy[object], ...]] = {
    RunStarted: (_text, _text, _text, _whole, _scenario, _nodes),
    JobSubmitted: (_small, _text, _text, _text, _priority, _small, _small),
    AttemptLaunched: (_whole, _small, _kind, _small, _small, _small, _level, _why),
    AttemptStarted: (_whole, _small, _small),
    ShuffleEnded: (_whole,),
    AttemptEnded: (_whole, _outcome, _whole),
    AttemptClosed: (_whole, _outcome),
    KillOrdered: (_whole, _why),
    JobFinished: (_small, _outcome, _whole),
    RunEnded: (_text, _whole, _whole, _text),
}

# Every type of event is looked up, so that a new one without its fields here fails the tests.
any_event: st.SearchStrategy[AnyEvent] = st.one_of(
    *(st.builds(kind, _whole, *_FIELDS[kind]) for kind in EVENT_TYPES)
)
