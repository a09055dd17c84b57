"""What goes wrong in a way that the user can mend."""


class IdealError(Exception):
    """A message for the user: one line, no traceback."""
