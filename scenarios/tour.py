"""A tour: a scenario that tells itself on the screen, step by step.  It is a file of its own: in
`tours/` for a scenario of the library, `NAME.tour.toml` beside any other scenario file.
"""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from callboard.scenarios.fields import Seconds
from callboard.scenarios.library_list import LIBRARY, TOURS, tour_names
from callboard.scenarios.toml_reader import line_of_key, parse_toml
from callboard.scheduler.model import JobId, Millis, NodeId
from callboard.scheduler.text.key_path import dotted
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import DecodeError, decode_strictly
from callboard.scheduler.text.text_file import read_text

Words = Annotated[str, Meta(min_length=1, max_length=300)]
Index = Annotated[int, Meta(ge=0)]
PaneName = Literal["", "slots", "jobs", "log", "detail", "charts", "figures"]


class TourStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said at a moment of the run, and what to look at meanwhile.

    `at_s` is the moment, None for that of the step before.  `key` is one that the text asks for,
    as people read it; pressing it goes on to the next step.  `space` does so in every step: it
    plays until the next one's moment, or to the run's end where the text asks for it and the next
    one has no moment.  `pane` gets the focus; `job` or `node` is selected.  What follows says what
    must be so then: texts that are on the screen, how many nodes are down that the master counts
    on, and how many it has given up, how many jobs are in the system.
    """

    text: Words
    at_s: Seconds | None = None
    key: str = ""
    pane: PaneName = ""
    job: Index | None = None
    node: Index | None = None
    shows: tuple[str, ...] = ()
    unaware: Index | None = None
    given_up: Index | None = None
    in_system: Index | None = None

    @property
    def at_ms(self) -> Millis | None:
        return None if self.at_s is None else round(1000 * self.at_s)

    @property
    def selection(self) -> tuple[JobId | None, NodeId | None]:
        return self.job, self.node


class Tour(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The policies to play the scenario under, one or two; the steps; a question for a class."""

    policies: Annotated[tuple[str, ...], Meta(min_length=1, max_length=2)]
    steps: Annotated[tuple[TourStep, ...], Meta(min_length=1)] = msgspec.field(name="step")
    question: Words
    answer: Words


def check_tour_steps(tour: Tour, jobs: int, nodes: int) -> None:
    """ScenarioError if a step selects a job or a node that is not among that many."""
    for place, step in enumerate(tour.steps, start=1):
        for what, number, there in (("job", step.job, jobs), ("node", step.node, nodes)):
            if number is not None and number >= there:
                told = f"there is no {what} {number}: the last is {there - 1}"
                raise ScenarioError(f"step {place} of the tour: {told}")


def find_tour(scenario: Path) -> Path:
    """The tour of the scenario in that file; ScenarioError, naming those there are, for none."""
    own = scenario.parent.resolve() == LIBRARY.resolve()
    path = TOURS / scenario.name if own else scenario.with_suffix(".tour.toml")
    if path.is_file():
        return path
    there = f"; of the library {', '.join(tour_names())} have one"
    beside = "" if own else f": there is no {path.name} beside it"
    raise ScenarioError(f"this scenario has no tour{beside}{there}", source=scenario.stem)


def load_tour(path: Path) -> Tour:
    """The tour in a file; ScenarioError with the line of what is wrong with it."""
    text = read_text(path)
    try:
        return decode_strictly(parse_toml(text, path), Tour, "the tour")
    except DecodeError as error:
        line = line_of_key(text, error.key) or line_of_key(text, error.key[:-1])
        key = dotted(error.key)
        raise ScenarioError(str(error), source=path, key=key, line=line) from None
