"""Names that are too long for their column.  Nothing of the engine is loaded for it."""

from collections.abc import Sequence
from itertools import takewhile


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, shortened at its end."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"[: max(width, 0)]


def cut_within(text: str, width: int) -> str:
    """The text in at most `width` columns, shortened in its middle: names of jobs, and of files,
    often differ in their ends alone.

    >>> cut_within("job_200902110000_0017", 12)
    'job_…00_0017'
    """
    if len(text) <= width:
        return text
    head = max(width - 1, 0) * 2 // 5
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"[: max(width, 0)]


def cut_apart(policies: Sequence[str], width: int) -> list[str]:
    """Policies of columns side by side, each in at most `width` columns: what they begin with
    alike, a file or a name, is left out where it would take half of that and one is too long.

    >>> cut_apart(["mine.py:Mine", "mine.py:Other"], 8)
    ['…Mine', '…Other']
    >>> cut_apart(["fair", "fair(batch=one)"], 8)
    ['fair', 'fair(ba…']
    """
    if all(len(policy) <= width for policy in policies):
        return list(policies)
    columns = zip(*policies, strict=False)
    alike = "".join(signs[0] for signs in takewhile(lambda signs: len(set(signs)) == 1, columns))
    begin = 1 + max(alike.rfind(sign) for sign in "/:+(,=")
    if begin >= max(width // 2, 2):
        policies = [f"…{policy[begin:]}" for policy in policies]
    return [cut(policy, width) for policy in policies]
