"""The quantiles that intervals go by; SciPy (the extra `experiments`) has them."""

from typing import Any

from callboard.scheduler.text.missing_extra import MissingExtraError


def _special() -> Any:
    try:
        import scipy.special
    except ImportError:
        why = "calibrating needs SciPy: pip install 'callboard[experiments]'"
        raise MissingExtraError(why) from None
    return scipy.special


def check_scipy() -> None:
    """MissingExtraError where there is no SciPy; to be asked before long work."""
    _special()


def student(confidence: float, freedom: float) -> float:
    """Half the width of Student's interval, in standard errors."""
    return float(_special().stdtrit(max(freedom, 1), (1 + confidence) / 2))


def normal(confidence: float) -> float:
    """The same of the normal distribution."""
    return float(_special().ndtri((1 + confidence) / 2))


def share_limits(found: int, of: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a share."""
    inverse, tail = _special().betaincinv, (1 - confidence) / 2
    low = 0.0 if found == 0 else float(inverse(found, of - found + 1, tail))
    high = 1.0 if found == of else float(inverse(found + 1, of - found, 1 - tail))
    return low, high
