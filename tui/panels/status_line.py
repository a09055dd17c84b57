"""The first line of the screen with the state of the run, and the last with the keys."""

from collections.abc import Iterable, Iterator

from callboard.journal.replay.frame import Frame, Totals
from callboard.journal.replay.signs import ENDING_WORDS
from callboard.journal.tell.time_format import axis_time
from callboard.scheduler.text.quantities import clock, printable
from callboard.tui.keymap import COMPARING, INTERVENING, Command, Keymap
from callboard.tui.panels.comparison_figures import failure_words, verdict
from callboard.tui.panels.pane import Pane, Span
from callboard.tui.playback import Playback
from callboard.tui.theme import style


class StatusLine(Pane, can_focus=False):
    """Time and speed on the left, the cluster in figures on the right."""

    def __init__(self, playback: Playback, first_steps: Keymap | None = None, *, id: str) -> None:
        """With the keys of `first_steps` it says what to do first, until `remove_hint`."""
        super().__init__(id=id)
        self._playback = playback
        self._note = ""
        self._hints: tuple[str, ...] = ()
        if first_steps is not None:
            play, keys = first_steps.key_in_force("space"), first_steps.key_in_force("?")
            self._hints = (f" {play} to play · {keys} for the keys ", f" {play} to play ")
        at_ms = playback.opening_move.at_ms
        self.before_frames = f" starting, going to {axis_time(at_ms)} …" if at_ms else " starting …"

    def remove_hint(self) -> None:
        """The first key takes it away."""
        if self._hints:
            self._hints = ()
            self.refresh()

    def show_note(self, note: str) -> None:
        self._note = note
        self.refresh()

    def line(self, frame: Frame, _y: int) -> Iterable[Span]:
        ground = self.palette.raised
        left, right = list(self._run_spans(frame)), list(self._figure_spans(frame))
        left += self._hint_spans(self.content_size.width - sum(len(text) for text, _ in left))
        spare = self.content_size.width - sum(len(text) for text, _ in (*left, *right))
        while spare < 2 and len(right) > 1:
            spare += len(right.pop(0)[0])
        if spare < 0 and _OF_TWO in left[-1][0]:  # who is ahead says more, and ■ that it is over
            spare += len(left.pop()[0])
        if spare < 1:  # without a blank two words run together
            spare += sum(len(text) for text, _ in right)
            right = []
        yield from left
        yield " " * max(spare, 0), style(self.palette.text, ground)
        yield from right

    def _run_spans(self, frame: Frame) -> Iterator[Span]:
        """The time, the speed, the scenario and its policy, and a note."""
        palette, player, ground = self.palette, self._playback.player, self.palette.raised
        sign, colour = ("▶", palette.good) if player.playing else ("‖", palette.warning)
        if frame.over:
            sign, colour = "■", palette.accent
        yield f" {sign} ", style(colour, ground, bold=True)
        yield clock(frame.at_ms), style(palette.text, ground, bold=True)
        yield f" {self._playback.speed_text}", style(palette.dim, ground)
        yield f" until {player.until_text}" if player.until_text else "", style(colour, ground)
        yield "  ", style(palette.dim, ground)
        if (run := self._playback.run) is not None:
            yield printable(run.name), style(palette.text, ground, bold=True)
            yield f" under {_policies_text(frame)}", style(palette.text, ground)
        if frame.totals.master_paused:
            yield "  the master is paused", style(palette.fault, ground, bold=True)
        failed = _failure_text(frame)
        ended = failed or (_ending_words(frame) if frame.over else "")
        note = self._note or self._playback.under_way_text or ended
        yield (
            f"  {note}" if note else "",
            style(palette.fault if failed else palette.accent, ground),
        )

    def _hint_spans(self, room: int) -> Iterator[Span]:
        """What to do first, as far as there is room for it, while nothing else is being done."""
        fitting = [each for each in self._hints if len(each) + 2 <= room]
        if fitting and not (self._note or self._playback.under_way_text):
            yield "  ", style(self.palette.text, self.palette.raised)
            yield fitting[0], style(self.palette.ground, self.palette.accent, bold=True)

    def _figure_spans(self, frame: Frame) -> Iterator[Span]:
        palette, totals = self.palette, frame.totals
        dim = style(palette.dim, palette.raised)
        if (run := self._playback.run) is not None:
            yield f"seed {run.seed}  ", dim
        if frame.comparison is not None and not _failure_text(frame):
            ink = style(palette.accent, palette.raised, bold=True)
            yield f"{printable(verdict(frame.comparison.figures))}  ", ink
        else:
            yield f"{totals.in_system} of {totals.submitted} jobs in the system  ", dim
            yield f"{_busy_shares_text(totals)}  ", dim
        if totals.down or totals.lost:
            wrong = style(palette.fault, palette.raised, bold=True)
            text = f"{totals.down} down, {totals.lost} given up "
            yield text, wrong if totals.unaware else dim


_OF_TWO = "both runs are over"


def _failure_text(frame: Frame) -> str:
    """That a run has failed by now, and why; empty if none has."""
    if frame.comparison is not None:
        return failure_words(frame.comparison.figures)
    failed = frame.failure and frame.over
    return f"the run failed: {printable(frame.failure.splitlines()[0])}" if failed else ""


def _ending_words(frame: Frame) -> str:
    if frame.comparison is not None:
        return _OF_TWO
    return ENDING_WORDS.get(frame.reason, f"the run {frame.reason}")


def _busy_shares_text(totals: Totals) -> str:
    maps, reduces = (
        f"{busy / max(slots, 1):.0%}" for busy, slots in zip(totals.busy, totals.slots, strict=True)
    )
    return f"maps {maps} reduces {reduces}"


def _policies_text(frame: Frame) -> str:
    if frame.comparison is None:
        return printable(frame.policy)
    return " and ".join(printable(each.policy) for each in frame.comparison.figures)


class KeysLine(Pane, can_focus=False):
    """The most important keys that there is room for; of a `live` run those that intervene, too."""

    def __init__(self, keymap: Keymap, *, id: str, live: bool = False) -> None:
        super().__init__(id=id)
        self.live = live
        self._keymap = keymap

    def line(self, frame: Frame, _y: int) -> Iterable[Span]:
        palette = self.palette
        for shown, word in self._keys_that_fit(frame.comparison is not None):
            yield f" {shown}", style(palette.accent, palette.ground, bold=True)
            yield f" {word} ", style(palette.dim, palette.ground)

    def _keys_that_fit(self, paired: bool) -> list[tuple[str, str]]:
        of_use = {COMPARING: paired, INTERVENING: self.live}
        ranked = [
            (each.rank, self._key_with_opposite(each), each.word)
            for group, commands in self._keymap.groups.items()
            for each in commands
            if each.rank is not None and of_use.get(group, True)
        ]
        width = self.content_size.width
        while ranked and sum(len(keys) + len(word) + 3 for _, keys, word in ranked) > width:
            ranked.remove(max(ranked, key=lambda each: each[0]))
        return [(keys, word) for _, keys, word in ranked]

    def _key_with_opposite(self, command: Command) -> str:
        shown = _WITH_OPPOSITE.get(self._keymap.usual[command.name])
        if shown is None:
            return command.key
        return "".join(self._keymap.key_in_force(each) for each in shown)


_WITH_OPPOSITE = {"1": "1–5", "-": "-+", "[": "[ ]", ".": ", .", "m": "m M", "j": "j J"}
