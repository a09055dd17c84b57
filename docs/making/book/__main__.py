"""Write `docs/reference/` and the man page from the code: `python -m docs.making.book`."""

from collections.abc import Callable
from pathlib import Path

from docs.making.book.command_pages import commands_page, man_page
from docs.making.book.event_page import events_page
from docs.making.book.parts_page import parts_page
from docs.making.book.python_page import python_page
from docs.making.book.scenario_page import scenario_page

DOCS = Path(__file__).parents[2]

PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/scenario-fields.md": scenario_page,
    "reference/parts.md": parts_page,
    "reference/events.md": events_page,
    "reference/python.md": python_page,
    "callboard.1": man_page,
}
"""By its place in `docs/`, how each page is made."""


def main() -> None:
    for name, made in PAGES.items():
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(made(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
