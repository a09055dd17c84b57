"""The distributions that intervals go by; SciPy (the extra `experiments`) has them."""

from typing import Any

from callboard.journal.missing_extra import MissingExtraError


def _stats() -> Any:
    try:
        import scipy.stats
    except ImportError:
        why = "calibrating needs SciPy: pip install 'callboard[experiments]'"
        raise MissingExtraError(why) from None
    return scipy.stats


def check_scipy() -> None:
    """MissingExtraError where there is no SciPy; to be asked before long work."""
    _stats()


def student(confidence: float, freedom: float) -> float:
    """Half the width of Student's interval, in standard errors."""
    return float(_stats().t.ppf((1 + confidence) / 2, max(freedom, 1)))


def normal(confidence: float) -> float:
    """The same of the normal distribution."""
    return float(_stats().norm.ppf((1 + confidence) / 2))


def share_limits(found: int, of: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a share."""
    beta, tail = _stats().beta, (1 - confidence) / 2
    low = 0.0 if found == 0 else float(beta.ppf(tail, found, of - found + 1))
    high = 1.0 if found == of else float(beta.ppf(1 - tail, found + 1, of - found))
    return low, high
