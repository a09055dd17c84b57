"""The error for a package that is optional and not installed."""


class MissingExtraError(Exception):
    """An optional package is needed and not installed; the message is meant for people."""
