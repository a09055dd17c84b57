"""The entry point: `callboard` and `python -m callboard`.

It imports next to nothing, so that Ctrl-C is answered even while the program still loads.
"""

import signal
import sys
from types import FrameType

INTERRUPTED = 130
_MOMENT_S = 0.05


def main() -> int:
    """Run the command line; the exit status."""
    # A job in the background of a script is told by its shell to ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_and_ignore_repeats)
        sys.unraisablehook = _repeat_swallowed_interrupt
    try:
        from callboard.cli import run_command_line as command_line

        return command_line()
    except KeyboardInterrupt:
        return INTERRUPTED


def _interrupt_and_ignore_repeats(_number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, and let no further Ctrl-C disturb the way out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _repeat_swallowed_interrupt(ignored: "sys.UnraisableHookArgs") -> None:
    """Where Python ignores what was raised, as in a callback of the garbage collector, Ctrl-C is
    answered a moment later.
    """
    if not issubclass(ignored.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    from _thread import interrupt_main
    from threading import Timer

    signal.signal(signal.SIGINT, _interrupt_and_ignore_repeats)
    again = Timer(_MOMENT_S, interrupt_main)
    again.daemon = True
    again.start()


if __name__ == "__main__":
    sys.exit(main())
