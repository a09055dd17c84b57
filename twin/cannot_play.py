"""Why a run is left to the actors."""


class CannotPlay(Exception):
    """The twin cannot play this; the message says why, for people."""
