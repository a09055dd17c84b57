"""`callboard ideal`: the simulator report's experiment on the ideal machine."""

from callboard.ideal.command import add_parser, main

__all__ = ["add_parser", "main"]
