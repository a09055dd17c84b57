"""A run on the screen: the arguments, the checks of the terminal, and showing it."""

import argparse

import msgspec

from callboard import web
from callboard.actors.kernel.kernel import KernelError
from callboard.arguments import number_type, parse_moment
from callboard.journal.replay.frame import Frame
from callboard.journal.replay.palette import THEMES
from callboard.journal.replay.player import USUAL_SPEED, Opening
from callboard.journal.replay.source import Source
from callboard.scenarios.tour import Tour
from callboard.tui.user_config import (
    SPEED_MAX,
    ScreenDefaults,
    UserConfig,
    load_config,
)

FROM_THE_START = Opening()


def add_screen_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of every command with a screen."""
    colours = "colours, else those of the config file (t changes them)"
    add = parser.add_argument_group("on the screen").add_argument
    add("--theme", choices=tuple(THEMES), help=colours)
    add("--play", action="store_true", help="let time pass at once, as after `space`")
    speed = f"virtual seconds in a real one, or max; {USUAL_SPEED} if not given"
    add("--speed", type=parse_speed, default=argparse.SUPPRESS, metavar="N", help=speed)
    at = "begin at this moment, as 7:30, 1:07:30, 90s or 1h30m"
    present = "for an audience: fewer panes, larger tiles, captions (P changes it)"
    add("--present", action="store_true", help=present)
    add("--at", type=parse_moment, default=0, metavar="TIME", help=at)


def config_of(options: argparse.Namespace) -> UserConfig:
    """What the user's config file says, with the theme that the command asks for."""
    config = load_config()
    return msgspec.structs.replace(config, theme=options.theme) if options.theme else config


def opening_of(options: argparse.Namespace, defaults: ScreenDefaults) -> Opening:
    """How the screen is to begin; as the config file says where the command does not."""
    usual = None if defaults.speed == "max" else float(defaults.speed)
    speed: float | None = getattr(options, "speed", usual)
    playing, presenting = options.play or defaults.play, options.present or defaults.present
    return Opening(options.at, playing, speed, presenting)


def parse_speed(text: str) -> float | None:
    """An argparse `type`: a speed, None for as fast as it goes."""
    fits = number_type(
        f"a speed above 0 and up to {SPEED_MAX:,}, or max", lambda each: 0 < each <= SPEED_MAX
    )
    return None if text == "max" else fits(text)


def show_on_screen(
    source: Source,
    config: UserConfig,
    opening: Opening = FROM_THE_START,
    *,
    follow: bool = False,
    recorded: bool = False,
    tour: Tour | None = None,
) -> int:
    """Show a run until the user leaves; the exit status.  `recorded`: it goes into a journal."""
    from callboard.tui.app import CallboardApp  # it takes a moment to load

    app = CallboardApp(
        source, theme=config.theme, recorded=recorded, tour=tour, keymap=config.keymap
    )
    app.presenting = opening.presenting
    if follow:
        app.playback.follow()
    else:
        app.playback.set_opening(opening)
    if web.is_browser_process():
        web.end_with_browser(app)
    app.run()
    if app.failure is not None:
        raise app.failure
    if failure := _failure_of(app.playback.frame):
        raise KernelError(failure)
    return app.return_code or 0


def _failure_of(frame: Frame | None) -> str:
    """What made a run fail, of two the one in front first; empty if none has."""
    if frame is None:
        return ""
    return frame.failure or (frame.comparison.other.failure if frame.comparison else "")
