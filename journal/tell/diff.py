"""What `callboard diff A B` prints: the first event at which two journals diverge.

It answers three questions.  Was the same thing run (`RunStarted`, field by field, the scenario leaf
by leaf)?  Did the same things happen (every event between)?  Was it done with the same messages
(`RunEnded`'s counts and digest)?  Two ways of sending heartbeats give the same events by different
messages; that is no divergence.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.journal.lock import is_being_written
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import clock, printable

_COUNTS = ("messages", "ties", "digest")


class Difference(msgspec.Struct, frozen=True):
    """One field that differs; None where one side lacks it."""

    field: str
    left: object
    right: object


class Divergence(msgspec.Struct, frozen=True):
    """The first place where two journals have different events.

    `index` counts the journal's events from 0 (the first is `RunStarted`); `at_ms` is the time of
    the earlier of the two.  An event is None where its journal has ended.  `before` are the last
    events that both have; the lines are these events in words.  `only_reason` says that the same
    was decided for another reason.
    """

    index: int
    at_ms: Millis
    left: ev.AnyEvent | None
    right: ev.AnyEvent | None
    before: tuple[ev.AnyEvent, ...]
    before_lines: tuple[str, ...]
    left_line: str
    right_line: str
    only_reason: bool


class JournalDiff(msgspec.Struct, frozen=True):
    """How two journals differ.  `events` is how many they share, `RunStarted` not compared.

    `broke_off` says of each whether it was read to its end, and the end of the run is missing,
    `growing` whether it is still being written;
    `reasons` whether equal decisions for different reasons counted as different.
    """

    setup: tuple[Difference, ...]
    divergence: Divergence | None
    counts: tuple[Difference, ...]
    events: int
    broke_off: tuple[bool, ...]
    growing: tuple[bool, ...]
    reasons: bool = True

    @property
    def same_events(self) -> bool:
        return self.divergence is None


def diff_journals(
    left: str | Path, right: str | Path, *, context: int = 3, reasons: bool | None = None
) -> JournalDiff:
    """Read two journals side by side up to the first difference in what happened.

    `context` is how many events before it are kept.  With `reasons` off, launches and kills may
    differ in their `why`, and measured sizes are left out: that shows where two policies first
    decide differently.  If nothing is said of reasons, they count between runs of one policy, whose
    reasons are comparable.  Memory is that of two chunks.  Errors as in `Journal`.
    """
    journals = Journal(left), Journal(right)
    held = tuple(is_being_written(each.path) for each in journals)
    if reasons is None:
        reasons = _are_of_one_policy(*journals)
    pair = _PairedReader(context, reasons=reasons)
    for a, b in zip_longest(*(journals if reasons else map(_without_estimates, journals))):
        if pair.compare_pair(a, b):
            break
    found = pair.divergence
    ended = (True, True) if found is None else (found.left is None, found.right is None)
    broke_off = tuple(e and not j.complete for e, j in zip(ended, journals, strict=True))
    growing = tuple(h and not each.complete for h, each in zip(held, journals, strict=True))
    read = tuple(pair.setup), found, tuple(pair.counts), pair.index
    return JournalDiff(*read, broke_off, growing, reasons)


def _are_of_one_policy(left: Journal, right: Journal) -> bool:
    """Whether both runs began under one policy, as far as the journals say."""
    first, second = next(iter(left), None), next(iter(right), None)
    if isinstance(first, ev.RunStarted) and isinstance(second, ev.RunStarted):
        return first.policy == second.policy
    return True


def _without_estimates(events: Iterable[ev.AnyEvent]) -> Iterator[ev.AnyEvent]:
    return (event for event in events if not isinstance(event, ev.SizeEstimated))


class _PairedReader:
    """Two journals read in step."""

    def __init__(self, context: int, *, reasons: bool) -> None:
        self.index = 0
        self.setup: list[Difference] = []
        self.counts: list[Difference] = []
        self.divergence: Divergence | None = None
        self._reasons = reasons
        self._run_state = RunState()
        self._narrator = Narrator(self._run_state)
        self._context = context
        self._before: deque[ev.AnyEvent] = deque()
        """The last events that both have; the state has not taken them in."""

    def compare_pair(self, left: ev.AnyEvent | None, right: ev.AnyEvent | None) -> bool:
        """Compare one pair; True where the journals diverge."""
        if isinstance(left, ev.RunStarted) and isinstance(right, ev.RunStarted):
            self.setup += _setup_differences(left, right)
            if self.setup:  # no line that both have
                self._run_state.observe_if_possible(left)
                self.index += 1
                return False
        elif not self._events_match(left, right):
            self.divergence = self._divergence_at(left, right)
            return True
        elif isinstance(left, ev.RunEnded) and isinstance(right, ev.RunEnded):
            self.counts += (d for d in _differing_fields(left, right) if d.field in _COUNTS)
        if left is not None:
            self._before.append(left)
        if len(self._before) > self._context:
            self._run_state.observe_if_possible(self._before.popleft())
        self.index += 1
        return False

    def _events_match(self, left: ev.AnyEvent | None, right: ev.AnyEvent | None) -> bool:
        """Whether both journals have the same there, as far as that is asked."""
        if left == right or same_event(left, right):
            return True
        if isinstance(left, ev.RunEnded) and isinstance(right, ev.RunEnded):
            return (left.at_ms, left.reason) == (right.at_ms, right.reason)
        return not self._reasons and same_decision(left, right)

    def _divergence_at(self, left: ev.AnyEvent | None, right: ev.AnyEvent | None) -> Divergence:
        return Divergence(
            index=self.index,
            at_ms=min(event.at_ms for event in (left, right) if event is not None),
            left=left,
            right=right,
            before=tuple(self._before),
            before_lines=tuple(map(self._line_of_shared, self._before)),
            left_line=self._line_or_end(left),
            right_line=self._line_or_end(right),
            only_reason=same_decision(left, right),
        )

    def _line_of_shared(self, event: ev.AnyEvent) -> str:
        line = self._narrator.line(event)
        self._run_state.observe_if_possible(event)
        return line

    def _line_or_end(self, event: ev.AnyEvent | None) -> str:
        return "(the journal has ended)" if event is None else self._narrator.line(event)


_DECISIONS = (ev.AttemptLaunched, ev.KillOrdered, ev.SuspendOrdered, ev.ResumeOrdered)


def same_event(left: ev.AnyEvent | None, right: ev.AnyEvent | None) -> bool:
    """Whether the same happened; the numbers of the causes may differ."""
    if left is None or right is None or type(left) is not type(right):
        return left is right
    return left == msgspec.structs.replace(right, cause=left.cause)


def same_decision(left: ev.AnyEvent | None, right: ev.AnyEvent | None) -> bool:
    """Whether two launches, or two kills, differ in nothing but their reason."""
    if not isinstance(left, _DECISIONS) or type(left) is not type(right):
        return False
    assert isinstance(right, _DECISIONS)
    return same_event(left, msgspec.structs.replace(right, why=left.why))


def _differing_fields(left: ev.AnyEvent, right: ev.AnyEvent) -> Iterator[Difference]:
    yield from _differing_leaves("", msgspec.structs.asdict(left), msgspec.structs.asdict(right))


def _setup_differences(left: ev.RunStarted, right: ev.RunStarted) -> list[Difference]:
    """What differs in how two runs were set up, without what their scenarios say once more."""
    found = list(_differing_fields(left, right))
    fields = {each.field for each in found}
    return [
        each for each in found if each.field.removeprefix("scenario.") not in fields - {each.field}
    ]


def _differing_leaves(prefix: str, left: object, right: object) -> Iterator[Difference]:
    """The leaves that differ in two nested tables or lists of one length, by dotted name."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) == len(right):
            for place, pair in enumerate(zip(left, right, strict=True)):
                yield from _differing_leaves(f"{prefix}.{place}", *pair)
        else:
            yield Difference(f"{prefix} (how many)".removeprefix("."), len(left), len(right))
    elif isinstance(left, msgspec.Struct) and isinstance(right, msgspec.Struct):
        yield from _differing_leaves(
            prefix, msgspec.structs.asdict(left), msgspec.structs.asdict(right)
        )
    elif isinstance(left, dict) and isinstance(right, dict):
        if left.keys() == right.keys() and list(left) != list(right):
            orders = (", ".join(map(str, each)) for each in (left, right))
            yield Difference(f"{prefix} (order)".removeprefix("."), *orders)
        for key in dict.fromkeys((*left, *right)):
            yield from _differing_leaves(f"{prefix}.{key}", left.get(key), right.get(key))
    elif left != right:
        yield Difference(prefix.removeprefix("."), left, right)


_BY_MESSAGES = {
    False: "Done by other messages:",
    True: "One was played by the twin, without messages:",
}
"""What is said of counts that differ, by whether one side has none."""


def _lacks_counts(counts: Sequence[Difference]) -> bool:
    return any(each.left is None or each.right is None for each in counts)


def diff_lines(found: JournalDiff, left: str, right: str) -> Iterator[str]:
    """`found` for people; `left` and `right` are what to call the journals."""
    yield f"A  {left}"
    yield f"B  {right}"
    yield from _difference_lines("Set up differently:", found.setup)
    point = found.divergence
    if point is None:
        apart = "" if found.reasons else ", reasons apart (--reasons compares them too)"
        yield f"The same {found.events:,} events at the same times{apart}."
        yield from _difference_lines(_BY_MESSAGES[_lacks_counts(found.counts)], found.counts)
    else:
        yield f"They part at event {point.index:,}, at {clock(point.at_ms)}:"
        yield from (f"     {line}" for line in point.before_lines)
        yield f"  A  {point.left_line}"
        yield f"  B  {point.right_line}"
        if point.only_reason:
            yield "The decision is the same, its reason is not."
    for name, broke_off, grows in zip("AB", found.broke_off, found.growing, strict=True):
        if broke_off:
            how = "is still being recorded" if grows else "was killed"
            yield f"{name} lacks the end of the run, which {how}."


def _difference_lines(title: str, differences: tuple[Difference, ...]) -> Iterator[str]:
    if differences:
        yield title
    for each in differences:
        yield f"  {printable(each.field)}: {_value_text(each.left)} | {_value_text(each.right)}"


def _value_text(value: object) -> str:
    text = printable("–" if value is None else str(value))
    return text if len(text) <= 60 else f"{text[:57]}…"
