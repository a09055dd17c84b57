"""`docs/watch.md` says what is so."""

import asyncio
from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import FaultStruck
from callboard.actors.vocabulary.faults import PauseNode
from callboard.experiments.live.live_requests import Fork
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.run.interventions import Intervene
from callboard.journal.replay.event_log import LogFilter
from callboard.journal.replay.frame import JobStatus
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.signs import (
    DOWN_SIGN,
    LOST_SIGN,
    MARK_SIGNS,
    SLOT_SIGNS,
    STATUS_SIGNS,
)
from callboard.journal.replay.source import GoTo, Step, StepKind
from callboard.tui.keymap import COMMANDS
from callboard.tui.panels.timebar import DIVERGENCE_SIGN
from docs.making.screens import FOLDER, MOVING, PAGE, PICTURES, START, draw
from tests.journal.replay.support import events_of, lines_before
from tests.tui.test_interventions import ask, plan, taped

DOCS = (Path(__file__).parents[2] / "docs" / "watch.md").read_text(encoding="utf-8")


def test_every_key_is_there() -> None:
    """On failure: paste the table."""
    table = "\n".join(f"| `{each.key}` | {each.name} | {each.help} |" for each in COMMANDS)
    assert table in DOCS, table


def test_every_sign_is_there() -> None:
    signs = [
        *SLOT_SIGNS.values(),
        DOWN_SIGN,
        LOST_SIGN,
        DIVERGENCE_SIGN,
        *(glyph for _, glyph in STATUS_SIGNS),
        *MARK_SIGNS.values(),
    ]
    for sign in signs:
        assert f"`{sign}`" in DOCS or sign == " ", sign


def test_the_walk_is_true() -> None:
    """What the walk through rack-outage promises at which time."""
    recording = Recording()
    for event in events_of("rack-outage", "fair"):
        recording.append(event)
    lines = lines_before(recording, len(recording), 10_000, LogFilter())
    crash = next(line for line in lines if "crashes" in line.text)
    assert crash.at_ms == 390_000
    again = [line for line in lines if "must run again" in line.text and line.at_ms < 800_000]
    assert {line.at_ms // 1000 for line in again} == {773}
    assert sum(int(line.text.split()[0]) for line in again) == 101
    lost = next(line for line in lines if "up for lost" in line.text)
    assert lost.at_ms == 1_000_000


@pytest.mark.soak
def test_the_walk_by_hand_is_true() -> None:
    """What the walk through small-behind-giant promises."""
    with LiveServer([plan("small-behind-giant", "fifo")]) as server:
        frame = ask(server, GoTo(240_000))
        rows = frame.jobs
        assert [row.name for row in rows if row.state is not JobStatus.WAITING] == ["giant-1"]
        assert len(rows) > 3
        frame = ask(server, Fork("hfsp"), Step(StepKind.DIVERGENCE))
        assert frame.comparison is not None
        assert frame.comparison.divergence is not None
        assert round(frame.at_ms / 1000, 1) == 240.2
        assert "of job-0 launched" in frame.comparison.divergence.lines[0]
        assert "of job-1 launched" in frame.comparison.divergence.lines[1]
        assert "hfsp: training" in frame.comparison.divergence.lines[1]
        frame = ask(server, GoTo(600_000))
        assert frame.comparison is not None
        assert [each.done for each in frame.comparison.figures] == [0, 7]
        ask(server, Intervene(tuple(PauseNode(node) for node in range(0, 20, 2))))
        for side in range(2):
            injected = [event for event in taped(server, side) if isinstance(event, FaultStruck)]
            assert len(injected) == 10 + side


def test_every_picture_is_drawn_by_the_command() -> None:
    """docs/screens/ has what `python -m docs.making.screens` draws, and each is shown somewhere."""
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    shown = "".join(page.read_text(encoding="utf-8") for page in pages)
    drawn = {f"{picture.name}.svg" for picture in PICTURES} | {MOVING, PAGE, START.name}
    assert {path.name for path in FOLDER.iterdir()} == drawn
    for name in drawn:
        assert f"screens/{name}" in shown, name


def test_a_picture_needs_nothing_from_elsewhere() -> None:
    (job,) = (picture for picture in PICTURES if picture.name == "job")
    text = asyncio.run(draw(job))
    assert "query-5" in text
    assert "░" in text  # two of its maps came to nothing, as the caption says
    assert "http" not in text.replace("http://www.w3.org", "").replace("https://www.textualize", "")
    assert "url(" not in text.replace("url(#", "")
