"""The law of sizes that `--law` names."""

from callboard.experiments.user_errors import InputError
from callboard.scheduler.ideal.law_names import law_named
from callboard.scheduler.ideal.size_laws import SizeLaw


def parse_law_option(text: str) -> SizeLaw:
    """The law; InputError, which says what it takes, for any that is none."""
    try:
        return law_named(text)
    except ValueError as error:
        raise InputError(f"--law {text}: {error}") from None
