"""Bad input, and the exit statuses of the command line."""

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


class InputError(Exception):
    """Bad input that is no scenario's and no policy's, but an option's, an argument's or a file's;
    the message is meant for people.
    """


class RunFailed(Exception):
    """A run failed in another process, whose message and exit status these are."""

    def __init__(self, message: str, status: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.status = status
