"""Sentences in little room: those that differ in their numbers alone share a pattern."""

import re

_NUMBER = re.compile(r"(0|[1-9][0-9]{0,14})")


class SentencePatterns:
    """The patterns so far: each is what stands between its numbers."""

    def __init__(self) -> None:
        self._patterns: dict[tuple[str, ...], int] = {}

    @property
    def patterns(self) -> list[tuple[str, ...]]:
        return list(self._patterns)

    def take_apart(self, text: str) -> tuple[int, list[int]]:
        """The number of the sentence's pattern, and the numbers in it.

        Put together again they are the sentence: a zero that leads is a number of its own.
        """
        parts = _NUMBER.split(text)
        pattern = self._patterns.setdefault(tuple(parts[::2]), len(self._patterns))
        return pattern, [int(number) for number in parts[1::2]]
