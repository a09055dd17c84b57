"""What a report is made of, whatever it tells: sections of prose, facts, tables, figures, commands.

All text is plain text; the page escapes it.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec

from callboard.actors.version import __version__

Emphasis = Literal["", "best", "bad", "dim"]
"""How a cell or a verdict stands out."""


class ReportCell(msgspec.Struct, frozen=True):
    """A cell of a table."""

    text: str
    mark: Emphasis = ""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a section; the template draws each kind by its name."""

    kind: ClassVar[str] = ""


class Prose(Block, frozen=True):
    """A paragraph; `mark` makes it a warning (`bad`) or an aside (`dim`)."""

    kind: ClassVar[str] = "prose"
    text: str
    mark: Emphasis = ""


class Heading(Block, frozen=True):
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


class Verdict(Block, frozen=True):
    """A judgement in a word or two, and why."""

    kind: ClassVar[str] = "verdict"
    word: str
    text: str = ""
    mark: Emphasis = ""


class FactList(Block, frozen=True):
    """Names and what they are; a fact may have several lines."""

    kind: ClassVar[str] = "facts"
    facts: Sequence[tuple[str, Sequence[str]]]


class ReportTable(Block, frozen=True):
    """A table, for a page, a terminal or Markdown.  Its first `text_columns` hold text, the others
    figures, but for those that are `words` (counted from 0).  A cell of a row is a text or a
    `ReportCell`; a row of one cell is a heading among the rows.  A terminal without room breaks the
    lines of columns of text, but for those that are to stay `whole`.
    """

    kind: ClassVar[str] = "table"
    headings: Sequence[str]
    rows: Sequence[Sequence[ReportCell | str]]
    caption: str = ""
    text_columns: int = 1
    words: Sequence[int] = ()
    whole: Sequence[int] = ()

    def is_text(self, place: int) -> bool:
        """Whether the column at that place holds text."""
        return place < self.text_columns or place in self.words


class ReportFigure(Block, frozen=True):
    """A picture as SVG that can stand in a page (`inline_svg`); `wide` takes the whole width."""

    kind: ClassVar[str] = "figure"
    svg: str
    caption: str
    wide: bool = False


class CommandLines(Block, frozen=True):
    """Lines to be typed, or a message as it came."""

    kind: ClassVar[str] = "commands"
    lines: Sequence[str]


class ReportSection(msgspec.Struct, frozen=True):
    """A part of a document; `folded` ones are opened by the reader."""

    title: str
    blocks: Sequence[Block]
    folded: bool = False


class Document(msgspec.Struct, frozen=True):
    """A whole report; `lead` is what a reader in a hurry reads."""

    title: str
    lead: str
    sections: Sequence[ReportSection]
    colophon: str = f"Made by Callboard {__version__}, a simulator of a shared MapReduce cluster."
