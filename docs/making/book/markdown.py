"""Pieces of Markdown."""

import re
from collections.abc import Iterable, Sequence

NOTE = "This page is written from the code by `make reference`."


def page(title: str, *blocks: str) -> str:
    """A whole page: its title, where it comes from, its blocks with empty lines between."""
    return "\n\n".join((f"# {title}", *filter(None, blocks), NOTE)) + "\n"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns in which no row says anything are left out."""
    cells = [list(row) for row in rows]
    kept = [place for place in range(len(titles)) if any(row[place] for row in cells)]
    lines = [[titles[place] for place in kept], ["---"] * len(kept)]
    lines += [[_cell(row[place]) for place in kept] for row in cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(value: object) -> str:
    """As code."""
    return f"`{value}`"


def paragraphs(docstring: str | None) -> str:
    """A docstring's paragraphs, each on one line."""
    parts = re.split(r"\n\s*\n", (docstring or "").strip())
    return "\n\n".join(" ".join(part.split()) for part in parts)


def first_sentence(docstring: str | None) -> str:
    """Up to the first full stop that ends a sentence."""
    text = paragraphs(docstring).partition("\n\n")[0]
    return re.split(r"(?<=[.])\s+(?=[A-Z`])", text, maxsplit=1)[0]
