"""Names that are too long for their column.  Nothing of the engine is loaded for it."""


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
