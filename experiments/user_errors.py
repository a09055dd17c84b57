"""Bad input, and the exit statuses of the command line."""

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2


class InputError(Exception):
    """Bad input that only the command line can see; the message is meant for people."""
