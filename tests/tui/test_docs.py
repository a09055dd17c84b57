"""`docs/watch.md` says what is so."""

from pathlib import Path

from tests.tui.support import events_of
from tui.commands import COMMANDS
from tui.palette import DOWN, GLYPHS, LOST, MARKS, TRUTHS
from tui.story import Wanted, lines_before
from tui.tape import Tape

DOCS = (Path(__file__).parents[2] / "docs" / "watch.md").read_text(encoding="utf-8")


def test_every_key_is_there() -> None:
    """On failure: paste the table."""
    table = "\n".join(f"| `{each.shown}` | {each.help} |" for each in COMMANDS)
    assert table in DOCS, table


def test_every_sign_is_there() -> None:
    signs = [*GLYPHS.values(), DOWN, LOST, *(glyph for _, glyph in TRUTHS), *MARKS.values()]
    for sign in signs:
        assert f"`{sign}`" in DOCS or sign == " ", sign


def test_the_walk_is_true() -> None:
    """What the walk through rack-outage promises at which time."""
    tape = Tape()
    for event in events_of("rack-outage", "fair"):
        tape.append(event)
    lines = lines_before(tape, len(tape), 10_000, Wanted())
    crash = next(line for line in lines if "crashes" in line.text)
    assert crash.at_ms == 390_000
    again = [line for line in lines if "must run again" in line.text and line.at_ms < 800_000]
    assert {line.at_ms // 1000 for line in again} == {773}
    assert sum(int(line.text.split()[0]) for line in again) == 101
    lost = next(line for line in lines if "up for lost" in line.text)
    assert lost.at_ms == 1_000_000
