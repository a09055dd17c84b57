"""Lengths of which some have ended and others still run: the Kaplan–Meier estimator.

Those that have ended are the short ones, as long as others run: to draw from them alone would
promise too much (Kaplan, Meier, *Nonparametric estimation from incomplete observations*, 1958).
"""

from collections.abc import Sequence

import numpy as np


class CensoredLengths:
    """`ended` are whole lengths; others are known to be longer than these `running`."""

    def __init__(self, ended: Sequence[float], running: Sequence[float] = ()) -> None:
        self._ended = np.sort(np.asarray(ended, dtype=float))
        lengths, counts = np.unique(self._ended, return_counts=True)
        still = np.sort(np.asarray(running, dtype=float))
        everybody = np.sort(np.concatenate([self._ended, still]))
        at_risk = len(everybody) - np.searchsorted(everybody, lengths, side="left")
        self._lengths = lengths
        self._longer = np.cumprod(1 - counts / at_risk)
        """The share that is longer than each of the lengths."""

    def __len__(self) -> int:
        """How many have ended."""
        return len(self._ended)

    def share_longer_than(self, length: float) -> float:
        """The share of all that is longer, as far as can be told."""
        place = int(np.searchsorted(self._lengths, length, side="right"))
        return 1.0 if place == 0 else float(self._longer[place - 1])

    def draw(self, rng: np.random.Generator, beyond: float = 0.0) -> float:
        """A length that is longer than `beyond`.  Where nothing has ended that is as long, it is as
        much longer as one that has ended; ValueError if none has.
        """
        if not len(self._ended):
            raise ValueError("nothing has ended")
        share = (1 - rng.random()) * self.share_longer_than(beyond)
        place = int(np.searchsorted(-self._longer, -share, side="left"))
        if place < len(self._lengths) and self._lengths[place] > beyond:
            return float(self._lengths[place])
        last = max(beyond, float(self._lengths[-1]))
        return last + float(self._ended[rng.integers(len(self._ended))])
