"""Colours: how far apart people with each kind of colour blindness see them."""

import itertools

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from rich._palettes import STANDARD_PALETTE
from rich.color import Color

from callboard.actors.vocabulary.events import JobSubmitted
from callboard.experiments.live.live_server import LiveServer
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import HUES, View
from callboard.journal.replay.palette import (
    DARK,
    DARK_16,
    LIGHT,
    LIGHT_16,
    MONO,
    SHADES,
    THEMES,
    Palette,
)
from callboard.journal.replay.signs import SLOT_SIGNS
from callboard.journal.replay.source import GoTo, Request
from tests.journal.replay.support import events_of
from tests.journal.replay.test_lockstep import pair

Vector = NDArray[np.float64]

SEEN_BY = {
    "all": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
"""Machado, Oliveira and Fernandes (2009), for colours without one kind of cone."""


def linear(colour: str) -> Vector:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.asarray(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))


def oklab(light: Vector) -> Vector:
    """Ottosson's OKLab (2020), in which distances are those that one sees."""
    cones = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                      [0.2119034982, 0.6806995451, 0.1073969566],
                      [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    lab = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                    [1.9779984951, -2.4285922050, 0.4505937099],
                    [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip
    return np.asarray(lab @ np.cbrt(cones @ np.clip(light, 0, 1)))


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of luminances."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    light, dark = sorted((float(linear(c) @ weights) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


FULL = [name for name, palette in THEMES.items() if palette not in (DARK_16, LIGHT_16)]
"""The themes whose colours are their own; what 16 colours look like the terminal decides."""


@pytest.mark.parametrize(
    ("name", "apart"), [("dark", 0.16), ("light", 0.12), ("high-contrast", 0.14)]
)
@pytest.mark.parametrize("eye", SEEN_BY)
def test_jobs_are_told_apart(name: str, apart: float, eye: str) -> None:
    matrix = np.array(SEEN_BY[eye])
    seen = [oklab(matrix @ linear(colour)) for colour in THEMES[name].jobs]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))
    assert nearest >= apart


@pytest.mark.parametrize("name", FULL)
def test_everything_can_be_read(name: str) -> None:
    """On the ground and on the chosen row; slots of young attempts as well.  Only the lines around
    panes and the half blocks of empty slots, which say nothing, are fainter.
    """
    palette = THEMES[name]
    signs = [palette.faint, palette.fault, palette.good, palette.warning, palette.accent]
    signs += [palette.shade(c, at) for c in (*palette.jobs, palette.fault) for at in range(SHADES)]
    for colour, ground in itertools.product(signs, (palette.ground, palette.raised)):
        assert contrast(colour, ground) >= 3, (colour, ground)
    for ground in (palette.ground, palette.raised):
        assert contrast(palette.text, ground) >= 7
        assert contrast(palette.dim, ground) >= 4.4


def test_high_contrast_is_higher() -> None:
    """WCAG's level AAA for all text and all signs on the ground."""
    palette = THEMES["high-contrast"]
    signs = [palette.text, palette.dim, palette.faint, palette.fault, palette.good, palette.warning]
    assert min(contrast(colour, palette.ground) for colour in signs) >= 7
    assert min(contrast(colour, palette.ground) for colour in palette.jobs) >= 5


@pytest.mark.parametrize("palette", [DARK_16, LIGHT_16], ids=["dark", "light"])
def test_sixteen_colours_can_be_read_where_a_terminal_has_the_usual_ones(palette: Palette) -> None:
    told = [palette.text, palette.dim, palette.faint, palette.fault, palette.good, *palette.jobs]
    assert min(contrast(colour, palette.ground) for colour in told) >= 3


def test_mono_has_greys_only() -> None:
    told = [text for text in msgspec.structs.astuple(MONO) if isinstance(text, str)]
    for colour in (*told, *MONO.jobs):
        assert len({colour[1:3], colour[3:5], colour[5:7]}) == 1


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=["dark", "light"])
def test_an_attempt_gets_brighter_with_age(palette: Palette) -> None:
    for colour in palette.jobs:
        shades = [contrast(palette.shade(colour, at), palette.ground) for at in range(SHADES)]
        assert shades == sorted(shades)
        assert palette.shade(colour, SHADES - 1).lower() == colour.lower()


@pytest.mark.parametrize("palette", THEMES.values(), ids=THEMES)
def test_there_are_as_many_colours_as_jobs_are_given(palette: Palette) -> None:
    assert len(set(palette.jobs)) == HUES


@pytest.mark.parametrize("palette", [DARK_16, LIGHT_16], ids=["dark", "light"])
def test_sixteen_colours_are_taken_as_they_are(palette: Palette) -> None:
    """Rich's standard palette has each of them, and nothing is mixed from two."""
    known = {Color.from_triplet(STANDARD_PALETTE[at]).name for at in range(16)}
    told = [text for text in msgspec.structs.astuple(palette) if isinstance(text, str)]
    assert {*told, *palette.jobs} <= known
    assert len(set(palette.jobs)) == len(palette.jobs)
    assert palette.ground not in palette.jobs
    assert palette.shade(palette.jobs[0], 0) == palette.jobs[0]


def test_every_state_has_a_glyph_of_its_own() -> None:
    assert len(set(SLOT_SIGNS.values())) == len(SLOT_SIGNS)


def test_of_few_jobs_no_two_look_alike() -> None:
    """Whatever their numbers: an arriving job gets the colour that the fewest others have."""
    events = events_of("small-behind-giant", "hfsp")
    cluster, shared = ClusterState(), 0
    for event in events:
        cluster.observe(event)
        hues = [cluster.hues[job] for job in cluster.run.live]
        if isinstance(event, JobSubmitted) and len(hues) <= HUES:
            assert hues.count(hues[-1]) == 1, event
            shared += 1
    assert shared


def test_a_job_keeps_its_colour_and_has_it_in_both_runs() -> None:
    with LiveServer(pair("fifo", "fair")) as server:
        early = server.answer_request(Request(GoTo(300_000), View()))
        late = server.answer_request(Request(GoTo(900_000), View()))
    assert early.hues
    assert late.hues[: len(early.hues)] == early.hues
    assert late.comparison is not None
    assert late.comparison.other.hues == late.hues
