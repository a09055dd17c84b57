"""The first line of the screen, which says where the run stands, and the last, with the keys."""

from collections.abc import Iterable, Iterator

from callboard.journal.replay.frame import Frame, RunInfo, Totals, master_unaware
from callboard.journal.replay.player import Player
from callboard.journal.tell.names import clock, printable
from callboard.tui.keymap import COMMANDS, COMPARING, INTERVENING
from callboard.tui.palette import style
from callboard.tui.panels.pane import Pane, Span

_REASONS = {
    "complete": "complete",
    "until": "ended at its time limit",
    "interrupted": "was interrupted",
}


class StatusLine(Pane, can_focus=False):
    """Time and speed on the left, the cluster in figures on the right."""

    def __init__(self, player: Player, *, id: str) -> None:
        super().__init__(id=id)
        self.player = player
        self.run: RunInfo | None = None
        self._note = ""

    def say(self, note: str) -> None:
        """What goes on behind, if it is worth a word."""
        self._note = note
        self.refresh()

    def line(self, frame: Frame, _y: int) -> Iterable[Span]:
        palette, player = self.palette, self.player
        ground = palette.raised
        over = frame.complete and frame.at_ms >= frame.end_ms
        sign, colour = ("▶", palette.good) if player.playing else ("‖", palette.warning)
        if over:
            sign, colour = "■", palette.accent
        left: list[Span] = [
            (f" {sign} ", style(colour, ground, bold=True)),
            (clock(frame.at_ms), style(palette.text, ground, bold=True)),
            (f" {player.speed_text}", style(palette.dim, ground)),
            (f" until {player.until_text}" if player.until_text else "", style(colour, ground)),
            ("  ", style(palette.dim, ground)),
        ]
        run = self.run
        if run is not None:
            left.append((printable(run.name), style(palette.text, ground, bold=True)))
            left.append((f" under {_policies(frame)}", style(palette.text, ground)))
        if frame.totals.master_still:
            left.append(("  the master stands still", style(palette.fault, ground, bold=True)))
        ending = self._note or (self._ending(frame) if over else "")
        if ending:
            left.append((f"  {ending}", style(palette.accent, ground)))
        right = list(self._figures(frame))
        spare = self.content_size.width - sum(len(text) for text, _ in (*left, *right))
        while spare < 1 and len(right) > 1:
            spare += len(right.pop(0)[0])
        yield from left
        yield " " * max(spare, 0), style(palette.text, ground)
        if spare >= 0:
            yield from right

    def _ending(self, frame: Frame) -> str:
        trouble = frame.failure or (frame.comparison.other.failure if frame.comparison else "")
        if trouble:
            return "the run failed: " + printable(trouble.partition("\n")[0])
        if frame.comparison is not None:
            return "both runs are over"
        if frame.reason is None:
            return "the journal is cut off here"
        return f"the run {_REASONS.get(frame.reason, frame.reason)}".replace("run c", "run is c")

    def _figures(self, frame: Frame) -> Iterator[Span]:
        palette, totals = self.palette, frame.totals
        ground = palette.raised
        usual = style(palette.dim, ground)
        if run := self.run:
            yield f"seed {run.seed}  ", usual
        if frame.comparison is None:
            yield f"{totals.in_system} of {totals.submitted} jobs inside  ", usual
            yield f"{_busy(totals)}  ", usual
        wrong = sum(
            master_unaware(truth, lost)
            for truth, lost in zip(frame.node_status, frame.lost, strict=True)
        )
        if totals.down or totals.lost:
            said = f"{totals.down} down, {totals.lost} given up "
            yield said, style(palette.fault if wrong else palette.dim, ground, bold=bool(wrong))


def _busy(totals: Totals) -> str:
    maps, reduces = (
        f"{on / max(all_, 1):.0%}" for on, all_ in zip(totals.busy, totals.slots, strict=True)
    )
    return f"maps {maps} reduces {reduces}"


def _policies(frame: Frame) -> str:
    """The policy in force, or both."""
    if frame.comparison is None:
        return printable(frame.policy)
    return " and ".join(printable(each.policy) for each in frame.comparison.figures)


class KeysLine(Pane, can_focus=False):
    """The keys that matter most, as many as there is room for; each can be clicked.

    `live` says whether anything can be done to the run.
    """

    def __init__(self, *, id: str, live: bool = False) -> None:
        super().__init__(id=id)
        self.live = live

    def line(self, frame: Frame, _y: int) -> Iterable[Span]:
        palette = self.palette
        for shown, word in self._kept(frame.comparison is not None):
            yield f" {shown}", style(palette.accent, palette.ground, bold=True)
            yield f" {word} ", style(palette.dim, palette.ground)

    def _kept(self, paired: bool) -> list[tuple[str, str]]:
        of_use = {COMPARING: paired, INTERVENING: self.live}
        ranked = [
            each for each in COMMANDS if each.rank is not None and of_use.get(each.group, True)
        ]
        width = self.content_size.width
        while ranked and sum(len(_keys(e.shown)) + len(e.word) + 3 for e in ranked) > width:
            ranked.remove(max(ranked, key=lambda each: each.rank or 0))
        return [(_keys(each.shown), each.word) for each in ranked]


def _keys(shown: str) -> str:
    """The key, with its opposite where both belong together."""
    return {"-": "-+", "[": "[ ]", ".": ", .", "m": "m M", "j": "j J"}.get(shown, shown)
