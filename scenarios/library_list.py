"""The library as a list: names, groups, stories.  It loads nothing of the engine, so that a screen
can show it at once; `scenarios.scenario_file` reads the scenarios themselves.
"""

import tomllib
from collections.abc import Iterator
from itertools import groupby, takewhile
from pathlib import Path

import msgspec

DEFAULT_SCENARIO = "facebook-morning"  # of the library, where none is named
LIBRARY = Path(__file__).parent / "library"
TOURS = Path(__file__).parent / "tours"


def library_names() -> list[str]:
    """The names of its scenarios."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


LIBRARY_GROUPS = {
    "to begin with": (
        "facebook-morning", "two-jobs", "small-behind-giant", "rack-outage", "master-pause",
    ),
    "sharing": (
        "calm-morning", "arrival-burst", "slot-hoarding", "estimation-error", "heterogeneous",
        "capacity-queues", "yarn-queues", "drf-example",
    ),
    "locality and stragglers": ("sticky-slots", "small-jobs", "stragglers", "half-slow",
                                "one-slow-disk"),
    "preemption": ("preemption-storm", "ping-pong"),
    "many schedulers": (
        "sparrow-100ms", "scheduler-lost", "probed-nodes-lost", "google-like", "omega-cell",
        "cell-losses",
    ),
    "faults": (
        "flapping-node", "rolling-restarts", "partition-and-heal", "lossy-links", "poisoned-task",
        "elastic-night",
    ),
    "as papers have them": (
        "macrobenchmark", "hfsp-test", "hfsp-calibrated", "gp-busy", "hybrid-example",
        "hybrid-facebook", "hybrid-yahoo", "hybrid-resources",
    ),
}  # fmt: skip
"""Every scenario of the library under the subject that it is about."""


class LibraryEntry(msgspec.Struct, frozen=True):
    """A scenario of the library: its one-line story, the description in its file, its policies, its
    seed, and whether a tour tells it.
    """

    name: str
    group: str
    story: str
    about: str
    policies: tuple[str, ...]
    seed: int
    has_tour: bool


def tour_names() -> list[str]:
    """The scenarios of the library that have a tour."""
    return sorted(path.stem for path in TOURS.glob("*.toml"))


def library_entries() -> Iterator[LibraryEntry]:
    """The scenarios of the library, group by group."""
    toured = tour_names()
    for group, names in LIBRARY_GROUPS.items():
        for name in names:
            text = (LIBRARY / f"{name}.toml").read_text(encoding="utf-8")
            raw, about = tomllib.loads(text), scenario_description(text)
            policies, seed = tuple(raw["policies"]), raw.get("seed", 1)
            yield LibraryEntry(name, group, raw["story"], about, policies, seed, name in toured)


def scenario_description(text: str) -> str:
    """The paragraphs at the top of a scenario's file, but for indented lines of shell; what a colon
    there led to them ends with a full stop.
    """
    comments = takewhile(lambda line: line.startswith("#"), text.splitlines())
    lines = [line.removeprefix("#").removeprefix(" ") for line in comments]
    blocks = groupby(lines, lambda line: line != "" and not line.startswith(" "))
    paragraphs: list[str] = []
    for prose, block in blocks:
        text = " ".join(block)
        if prose:
            paragraphs.append(text)
        elif text.strip() and paragraphs and paragraphs[-1].endswith(":"):
            paragraphs[-1] = f"{paragraphs[-1][:-1]}."
    return "\n\n".join(paragraphs)
