"""The properties of a `capacity-scheduler.xml`, before anybody takes them for queues; and what to
know of names in it that mean nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as Xml

from callboard.histories.readers.unpacked_text import open_unpacked
from callboard.scheduler.text.concise import concise
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import suggestion
from callboard.scheduler.text.toml_text import plain_value, toml_value

BYTES_MAX = 10_000_000
"""A larger file is none that anybody has written for a scheduler."""

_ENDS_EARLY = (3, 5)
"""Expat's numbers for a text that is over before an element, or a tag, is."""

_ROUNDING_PERCENT = 0.05

_MISSPELT = 0.85
"""How like another a name is at least that is taken for a slip of the pen: `capcity` and
`max-capacity` are, and none of the properties that YARN has besides.
"""

_NO_QUEUES = frozenset(
    {
        "accessible-node-labels",
        "auto-queue-creation-v2",
        "intra-queue-preemption",
        "leaf-queue-template",
    }
)
"""What stands in a property's name behind a queue's, and is none below it."""


class SchedulerProperties(NamedTuple):
    """Every property of a file and its value, and what is to be noted of those given twice."""

    values: dict[str, str]
    notes: tuple[str, ...]


def scheduler_properties(path: Path) -> SchedulerProperties:
    """What the file says: of a property that stands there twice the last counts, as in Hadoop.
    ScenarioError for another file.
    """
    root = parsed_xml(path)
    if root.tag != "configuration":
        problem = f"expected <configuration>, got <{concise(root.tag)}>"
        raise ScenarioError(problem, source=path)
    stated = ((each.findtext("name"), each.findtext("value")) for each in root.iter("property"))
    pairs = [(name.strip(), value or "") for name, value in stated if name and name.strip()]
    return SchedulerProperties(dict(pairs), tuple(_notes_on_repeated_properties(pairs)))


def _unpacked_text(path: Path) -> bytes:
    with open_unpacked(path) as file:
        text = file.read(BYTES_MAX + 1)
        if file.breaks_off:
            raise ScenarioError("a gzipped file that is cut off or damaged", source=path)
    if len(text) > BYTES_MAX:
        raise ScenarioError(f"expected at most {BYTES_MAX:,} bytes", source=path)
    if not text.strip():
        raise ScenarioError("the file is empty", source=path)
    return text


def parsed_xml(path: Path) -> Xml.Element:
    """The root of a file, which may be gzipped.  ScenarioError for what is no XML."""
    text = _unpacked_text(path)
    try:
        return Xml.fromstring(text)
    except Xml.ParseError as error:
        still = _open_elements(text) if error.code in _ENDS_EARLY else []
        problem = f"it ends before <{still[-1]}> is closed" if still else f"this is no XML: {error}"
        raise ScenarioError(concise(problem), source=path) from None
    except (ValueError, LookupError) as error:
        raise ScenarioError(concise(f"this is no XML: {error}"), source=path) from None


def _open_elements(text: bytes) -> list[str]:
    """Which elements are open at a text's end, the innermost last."""
    found = _OpenElements()
    Xml.XMLParser(target=found).feed(text)
    return found.names


class _OpenElements:
    """What a parser tells of elements that begin and end."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        self.names.append(tag)

    def end(self, _tag: str) -> None:
        self.names.pop()


@contextmanager
def refusing_values(path: Path, of: str = "") -> Iterator[None]:
    """ScenarioError where a queue, or what there is of all, is made of values that it cannot have;
    `of` says which.
    """
    try:
        yield
    except ValueError as error:
        raise ScenarioError(f"{of}{error}", source=path) from None


def overrides_of_part(part: str, stated: Mapping[str, object]) -> list[str]:
    """What is stated of a policy's part, as `--set` takes it."""
    values = ((name, toml_value(plain_value(value))) for name, value in stated.items())
    return [f"parts.{part}.{name}={value}" for name, value in values]


def _notes_on_repeated_properties(pairs: Collection[tuple[str, str]]) -> Iterator[str]:
    """Properties that have several values, which their order decides."""
    different = Counter(name for name, _ in {(name, value.strip()) for name, value in pairs})
    for name in dict(pairs):
        if different[name] > 1:
            values = ", then ".join(f"`{value.strip()[:80]}`" for n, value in pairs if n == name)
            yield f"{name} stands there more than once, as {values}: the last counts"


class LeftOut(NamedTuple):
    """Properties that are not played: those of which that is known, and notes on the others, which
    may be slips of the pen.
    """

    plain: list[str]
    notes: list[str]


def left_out_properties(
    unplayed: Iterable[str],
    played: Collection[str],
    unlisted: Mapping[str, Sequence[str]],
    listed: Collection[str],
) -> LeftOut:
    """What becomes of properties of another name than those `played`, and of those that speak of
    queues, by path, that are not `listed` as queues.
    """
    found = LeftOut([], [])
    for name in unplayed:
        meant = _meant_property(name, played)
        if meant:
            found.notes.append(f"{name} means nothing: did you mean `{meant}`?")
        else:
            found.plain.append(name)
    for queue, names in unlisted.items():
        if _NO_QUEUES.intersection(names[0].split(".")):
            found.plain.extend(names)
        else:
            told = f"no `queues` names `{queue}`, so that nothing comes of {', '.join(names)}"
            found.notes.append(f"{told}: {suggestion(queue, listed)}")
    return found


def _meant_property(name: str, played: Collection[str]) -> str:
    """What is meant by a property whose last part is nearly that of one that is `played`; empty
    where it is that very word, and only its place is one of which nothing is played.
    """
    *place, last = name.split(".")
    if last in played or _NO_QUEUES.intersection(place):
        return ""
    return next(iter(get_close_matches(last, played, n=1, cutoff=_MISSPELT)), "")


def missing_capacity_note(parent: str, capacities: Iterable[float | None], rest: str) -> str:
    """That what the queues below one state is less than all of it, and what comes of the `rest`;
    empty where one that states nothing has that, or there is as little as YARN takes for rounding.
    """
    stated = list(capacities)
    percent = sum(each for each in stated if each is not None)
    if None in stated or 100 - percent <= _ROUNDING_PERCENT:
        return ""
    told = f"the capacities below `{parent}` add up to {percent:g} %"
    return f"{told}, with which YARN does not start; here the other {100 - percent:g} % {rest}"


GOES_TO_DEFAULT = "go to `default`, which the file does not name"
GOES_TO_NOBODY = "are nobody's due, and go to whoever asks"
