"""Draws at addresses, as numbers that compile: SplitMix64 over (key, a, b), and what is made of it.

Only keys need BLAKE2b; they are made in Python, before.  `exp` and `log` are the machine's own:
whether they give what Python gives is tested before a run is played (`compiled_play`).
"""

from hashlib import blake2b
from math import exp, fabs, log, sqrt

import numpy as np
from numpy.typing import NDArray

_ROW = np.uint64(0x9E3779B97F4A7C15)
_COLUMN = np.uint64(0xD1B54A32D192ED03)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S11, _S12, _S27, _S30 = np.uint64(11), np.uint64(12), np.uint64(27), np.uint64(30)
_S31, _S33 = np.uint64(31), np.uint64(33)
_ONE = np.uint64(1)
_STEP = np.uint64(2862933555777941757)
_UNIT = float(1 << 31)


def draw_key(seed: int, purpose: str) -> int:
    """The key of a purpose's draws."""
    digest = blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def mixed(z: np.uint64) -> np.uint64:
    """SplitMix64's finaliser."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


def bits_of(key: np.uint64, a: int, b: int) -> np.uint64:
    """64 random bits at (a, b)."""
    row = mixed(key + np.uint64(a + 1) * _ROW)
    return mixed(row + np.uint64(b + 1) * _COLUMN)


def uniform_of(key: np.uint64, a: int, b: int) -> float:
    """A number in [0, 1) at (a, b)."""
    return float(bits_of(key, a, b) >> _S11) * 2.0**-53


def lognormal_of(key: np.uint64, sigma: float, a: int, b: int) -> float:
    """exp(sigma · z) at (a, b)."""
    p = (float(bits_of(key, a, b) >> _S12) + 0.5) * 2.0**-52
    return exp(sigma * normal_quantile(p))


def draw_lognormals(key: np.uint64, sigma: float, drawn: NDArray[np.float64]) -> None:
    """The numbers at (0, 0), (0, 1), … for a test of what this machine computes."""
    for b in range(len(drawn)):
        drawn[b] = lognormal_of(key, sigma, 0, b)


def bucket_of(bits: np.uint64, buckets: int) -> int:
    """Lamping and Veach's jump consistent hash."""
    bucket, following = 0, 0
    while following < buckets:
        bucket = following
        bits = bits * _STEP + _ONE
        following = int(float(bucket + 1) * (_UNIT / float((bits >> _S33) + _ONE)))
    return bucket


def normal_quantile(p: float) -> float:
    """Wichura's AS 241, operation by operation as in Python's `statistics`."""
    q = p - 0.5
    if fabs(q) <= 0.425:
        r = 0.180625 - q * q
        return horner(_CENTRAL, r) * q / horner(_CENTRAL_BELOW, r)
    r = sqrt(-log(p if q <= 0.0 else 1.0 - p))
    if r <= 5.0:
        x = horner(_MIDDLE, r - 1.6) / horner(_MIDDLE_BELOW, r - 1.6)
    else:
        x = horner(_FAR, r - 5.0) / horner(_FAR_BELOW, r - 5.0)
    return -x if q < 0.0 else x


def horner(coefficients: tuple[float, ...], r: float) -> float:
    """A polynomial, its highest power first."""
    value = coefficients[0]
    for each in range(1, len(coefficients)):
        value = value * r + coefficients[each]
    return value


_CENTRAL = (
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
)
_CENTRAL_BELOW = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
_MIDDLE = (
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
_MIDDLE_BELOW = (
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
)
_FAR = (
    2.01033439929228813265e-7,
    2.71155556874348757815e-5,
    1.24266094738807843860e-3,
    2.65321895265761230930e-2,
    2.96560571828504891230e-1,
    1.78482653991729133580e0,
    5.46378491116411436990e0,
    6.65790464350110377720e0,
)
_FAR_BELOW = (
    2.04426310338993978564e-15,
    1.42151175831644588870e-7,
    1.84631831751005468180e-5,
    7.86869131145613259100e-4,
    1.48753612908506148525e-2,
    1.36929880922735805310e-1,
    5.99832206555887937690e-1,
    1.0,
)
