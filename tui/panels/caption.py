"""The strip above the keys: the present step of a tour, or, for an audience, what happened last."""

from textual.content import Content
from textual.widgets import Static


class Caption(Static):
    """A few lines of text under a line with a title.  It is there only if it says something."""

    can_focus = False

    def show_text(self, text: str, title: str) -> None:
        """Show a text; empty for none."""
        self.set_class(bool(text), "shown")
        self.border_title = title
        self.update(Content(text))
