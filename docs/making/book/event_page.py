"""The reference of the journal's events."""

from callboard.actors.vocabulary.events import AnyEvent, Importance
from callboard.journal.tell.show import EVENT_KINDS
from docs.making.book.markdown import code, page, paragraphs

INTRO = """\
Every event begins with `at_ms`, whole virtual milliseconds from the run's start, and ends in
`cause`, the number of the event that brought it about (-1: none did).
[The recorded run](../journal.md) tells what a journal is; `callboard show --kind` takes these
names."""

LEVELS = {
    Importance.HEADLINE: "a headline",
    Importance.DECISION: "a decision",
    Importance.DETAIL: "a detail",
}


def events_page() -> str:
    """`docs/reference/events.md`."""
    sections = (_section(kind, event) for kind, event in EVENT_KINDS.items())
    return page("Events", INTRO, *sections)


def _section(kind: str, event: type[AnyEvent]) -> str:
    fields = ", ".join(map(code, event.__struct_fields__[1:-1])) or "none of its own"
    says = paragraphs(event.__doc__)
    return f"## `{kind}`\n\n{says}\n\nFields: {fields}. On the screen {LEVELS[event.importance]}."
