"""What the panes with a list share: arrow keys, clicks and the wheel."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from callboard.tui.panels.pane import Pane

_WHEEL_ROWS = 3


class ListPane(Pane):
    """Rows in a column; one can be chosen."""

    head_lines = 0
    """The number of lines above the rows."""
    entry = 0
    """The row that the first arrow key chooses: 0 or -1."""

    @dataclass
    class Scrolled(Message):
        """Show rows further down, or up below 0."""

        pane: "ListPane"
        by: int

    def listed_numbers(self) -> list[int]:
        """The numbers of the jobs or events in the list, from the top."""
        raise NotImplementedError

    def chosen_number(self) -> int | None:
        """The number of the chosen one."""
        raise NotImplementedError

    def choose(self, at: int) -> None:
        """Choose the row at that place in the list."""
        raise NotImplementedError

    @property
    def rows_that_fit(self) -> int:
        return max(self.content_size.height - self.head_lines, 0)

    @property
    def first_row_y(self) -> int:
        """The line of the first row."""
        return self.head_lines

    def action_move_cursor(self, across: int, down: int) -> None:  # noqa: ARG002
        listed, current = self.listed_numbers(), self.chosen_number()
        if not listed or not down:
            return
        if current not in listed:
            self.choose(self.entry)
        elif 0 <= (at := listed.index(current) + down) < len(listed):
            self.choose(at)
        else:
            self.post_to_app(self.Scrolled(self, down))

    def action_page(self, pages: int) -> None:
        self.post_to_app(self.Scrolled(self, pages * self.rows_that_fit))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and 0 <= offset.y - self.first_row_y < len(self.listed_numbers()):
            self.choose(offset.y - self.first_row_y)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_to_app(self.Scrolled(self, _WHEEL_ROWS))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_to_app(self.Scrolled(self, -_WHEEL_ROWS))
