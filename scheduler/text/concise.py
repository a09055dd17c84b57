"""Messages that quote no more of an input than a person reads."""

LINE_MAX = 600
"""Characters of a line, beyond which its middle is left out."""

_KEPT = 200


def concise(message: str) -> str:
    """The message with each of its lines cut in the middle if it is very long: a reason may stand
    before what it quotes, or after.
    """
    if len(message) <= LINE_MAX:
        return message
    return "\n".join(map(_cut_middle, message.split("\n")))


def _cut_middle(line: str) -> str:
    left_out = len(line) - 2 * _KEPT
    if len(line) <= LINE_MAX:
        return line
    return f"{line[:_KEPT]} [… {left_out:,} characters …] {line[-_KEPT:]}"
