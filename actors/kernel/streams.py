"""Addressed randomness: a draw has an address, not a place in a queue.

A stream belongs to a seed and a purpose, each of its draws to a pair of integers, usually (job,
task). The value depends on nothing else: not on what was drawn before, on the policy, or on the
size of the cluster. So two policies see the same task lengths (common random numbers).

The generator is SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014) over the address, keyed
by BLAKE2b of seed and purpose: whole-number arithmetic, so the bits are equal everywhere.
"""

from hashlib import blake2b
from math import exp, gamma, log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_ROW = 0x9E3779B97F4A7C15
_COLUMN = 0xD1B54A32D192ED03
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_COLUMN_64, _MIX_1_64, _MIX_2_64 = np.uint64(_COLUMN), np.uint64(_MIX_1), np.uint64(_MIX_2)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_TO_UNIT = 2.0**-53
_NORMAL = NormalDist()


def _mixed_bits(z: int) -> int:
    """SplitMix64's finaliser: every input bit reaches every output bit."""
    z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
    return z ^ (z >> 31)


class Stream:
    """The draws of one purpose under one seed."""

    __slots__ = ("_key",)

    def __init__(self, seed: int, purpose: str) -> None:
        digest = blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
        self._key = int.from_bytes(digest, "little")

    def bits(self, a: int = 0, b: int = 0) -> int:
        """64 random bits at (a, b); both at least 0."""
        row = _mixed_bits((self._key + (a + 1) * _ROW) & _MASK)
        return _mixed_bits((row + (b + 1) * _COLUMN) & _MASK)

    def uniform(self, a: int = 0, b: int = 0) -> float:
        """A number in [0, 1) at (a, b)."""
        return (self.bits(a, b) >> 11) * _TO_UNIT

    def below(self, n: int, a: int = 0, b: int = 0) -> int:
        """A whole number in 0 .. n-1 at (a, b); n at least 1 and far below 2**64."""
        return (self.bits(a, b) * n) >> 64

    def normal(self, a: int = 0, b: int = 0) -> float:
        # 52 bits and a half: the halves of 53 bits would round up to 1, which has no quantile.
        return _NORMAL.inv_cdf(((self.bits(a, b) >> 12) + 0.5) * 2.0**-52)

    def lognormal(self, sigma: float, a: int = 0, b: int = 0) -> float:
        """exp(sigma · z) at (a, b): median 1, and exactly 1 when sigma is 0."""
        return exp(sigma * self.normal(a, b)) if sigma else 1.0

    def exponential(self, mean: float, a: int = 0, b: int = 0) -> float:
        return -mean * log(1.0 - self.uniform(a, b))

    def weibull(self, mean: float, shape: float, a: int = 0, b: int = 0) -> float:
        """A Weibull number of the given mean at (a, b); exponential with shape 1."""
        scale = mean / gamma(1 + 1 / shape)
        return float(scale * (-log(1.0 - self.uniform(a, b))) ** (1 / shape))

    def bits_row(self, a: int, n: int) -> NDArray[np.uint64]:
        """The 64 bits at (a, 0) .. (a, n-1), as `bits` gives them."""
        return self.bits_at(a, np.arange(n, dtype=np.uint64))

    def bits_at(self, a: int, b: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The 64 bits at (a, b) for each of many b, as `bits` gives them."""
        row = _mixed_bits((self._key + (a + 1) * _ROW) & _MASK)
        z = b * _COLUMN_64
        z += np.uint64((row + _COLUMN) & _MASK)
        z ^= z >> _SHIFT_30
        z *= _MIX_1_64
        z ^= z >> _SHIFT_27
        z *= _MIX_2_64
        z ^= z >> _SHIFT_31
        return z
