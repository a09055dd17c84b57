"""What a map's time is made of: its job's length, how near its input was, noise, and stragglers.

The model is the simulator's own: log t = (its job) + (its locality) + noise, and for a share of the
attempts + log of the stragglers' factor.  It is fitted by expectation and maximisation to the maps
of jobs that have several; intervals of noise and stragglers are by the curvature of the profile
likelihood, those of localities by least squares once stragglers are taken out.
"""

from dataclasses import dataclass, replace
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from callboard.histories.calibration.estimate import Estimate, HistoryFinding, Untold, log_interval
from callboard.histories.model.attempt_log import KILLED, SUCCEEDED, UNTOLD, AttemptLog
from callboard.histories.quantiles import normal_bound, proportion_interval, student_bound
from callboard.scheduler.model import MAP, Locality
from callboard.scheduler.text.quantities import count, only_few

_NOISE, _SHARE, _FACTOR = "noise within a job", "straggler share", "straggler factor"
_SIGMA_FIELD = "tasks.sigma"
_SHARE_FIELD, _FACTOR_FIELD = "tasks.straggler_share", "tasks.straggler_factor"
_LEVELS = (
    (Locality.RACK, "rack-local factor", "tasks.rack_factor"),
    (Locality.OFF_RACK, "off-rack factor", "tasks.off_rack_factor"),
)
_FEWEST = 30  # maps, of which anything is said
_STARTS = (log(1.6), log(3.0), log(8.0))  # of the stragglers' factor
_ROUNDS = 200
_CLEARLY = 12.0  # twice the gain in likelihood for which stragglers are believed
_FEWEST_STRAGGLERS = 3.0
_SMALLEST_FACTOR = 1.3  # a mixture of what is nearer is noise of another shape
_ROUNDED_MS = 0.5

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MapTimes:
    """The logarithms of maps' times, the place of each one's job, and whether it ran rack-local
    and off-rack (a column each); `rounded` is what half a millisecond is of the median.
    """

    log_ms: _Floats
    job: NDArray[np.int64]
    levels: _Floats
    rounded: float

    @property
    def degrees_of_freedom(self) -> int:
        """Degrees of freedom that are left of all maps."""
        left: int = len(self.job) - int(self.job.max()) - 1 - self.levels.shape[1]
        return max(left, 1)


@dataclass(frozen=True, eq=False)
class NoiseFit:
    """Noise `sigma`, the share `share` of stragglers that take `factor` (its logarithm) longer, the
    levels' effects, each map's mean, how surely each straggled, and the likelihood of it all.
    """

    sigma: float
    share: float
    factor: float
    levels: _Floats
    means: _Floats
    straggled: _Floats
    likelihood: float


def task_noise(log_: AttemptLog, confidence: float) -> list[HistoryFinding]:
    """Locality factors, noise, stragglers."""
    times = map_times(log_)
    if len(times.job) < _FEWEST:
        few = only_few(len(times.job), "map")
        why = f"{few} can be compared with others of the same job"
        names = (*(name for _, name, _ in _LEVELS), _NOISE, _SHARE, _FACTOR)
        return [Untold(name, why) for name in names]
    plain = fit_noise(times, stragglers=False)
    mixed = fit_noise(times, stragglers=True)
    gain = 2 * (mixed.likelihood - plain.likelihood)
    found = gain > _CLEARLY and mixed.share * len(times.job) >= _FEWEST_STRAGGLERS
    found = found and mixed.factor > log(_SMALLEST_FACTOR) and mixed.share < 0.5
    fit = mixed if found else plain
    levels = [_locality_factor(times, fit, place, confidence) for place in range(len(_LEVELS))]
    censored = int(((log_.ending == KILLED) & (log_.kind == MAP)).sum())
    if not found:
        return [
            *levels,
            _noise_without_stragglers(times, fit, confidence),
            *_findings_without_stragglers(times, fit, confidence),
        ]
    return [*levels, *_findings_with_stragglers(times, fit, confidence, censored)]


def map_times(log_: AttemptLog) -> MapTimes:
    """The maps that succeeded, of jobs that have several of known locality."""
    kept = log_.placed_rows(MAP) & (log_.ending == SUCCEEDED)
    no_input = np.isin(log_.job, np.unique(log_.job[log_.level != UNTOLD]), invert=True)
    kept &= (log_.level != UNTOLD) | no_input
    _, place, sizes = np.unique(log_.job[kept], return_inverse=True, return_counts=True)
    several = sizes[place] > 1
    _, place = np.unique(place[several], return_inverse=True)
    ms = (log_.end_ms - log_.begin_ms)[kept][several].astype(np.float64)
    level = log_.level[kept][several]
    columns = np.stack([(level == each).astype(np.float64) for each, _, _ in _LEVELS], axis=1)
    rounded = _ROUNDED_MS / float(np.median(ms)) if len(ms) else 0.0
    return MapTimes(np.log(ms), place.astype(np.int64), columns, rounded)


def fit_noise(times: MapTimes, *, stragglers: bool) -> NoiseFit:
    """The likeliest fit."""
    if not stragglers:
        fit = _initial_fit(times, 0.0)
        return _with_likelihood(times, _fit_with_means(times, replace(fit, share=0.0)))
    return max(
        (_likeliest_fit_from(times, each) for each in _STARTS), key=lambda fit: fit.likelihood
    )


def _initial_fit(times: MapTimes, factor: float) -> NoiseFit:
    nobody = np.zeros(len(times.job))
    fit = NoiseFit(1.0, 0.0, factor, np.zeros(len(_LEVELS)), nobody, nobody, 0.0)
    fit = _fit_with_means(times, fit)
    left = times.log_ms - fit.means
    spread = max(float(np.median(np.abs(left - np.median(left)))) * 1.4826, times.rounded)
    return replace(fit, sigma=spread, share=0.05)


def _likeliest_fit_from(times: MapTimes, factor: float) -> NoiseFit:
    fit, before = _initial_fit(times, factor), -np.inf
    for _ in range(_ROUNDS):
        fit = _fit_with_means(times, _expected_stragglers(times, fit))
        sure = float(fit.straggled.sum())
        left = times.log_ms - fit.means
        share = min(max(sure / len(left), 1e-9), 0.5)
        moved = float((fit.straggled * left).sum()) / max(sure, 1e-9)
        fit = _with_likelihood(times, replace(fit, share=share, factor=max(moved, 0.0)))
        if fit.likelihood - before < 1e-7 * len(left):
            break
        before = fit.likelihood
    return fit


def _expected_stragglers(times: MapTimes, fit: NoiseFit) -> NoiseFit:
    """How surely each map straggled."""
    left = times.log_ms - fit.means
    odds = (left**2 - (left - fit.factor) ** 2) / (2 * fit.sigma**2)
    odds += log(max(fit.share, 1e-300) / (1 - fit.share))
    return replace(fit, straggled=1 / (1 + np.exp(-np.clip(odds, -700, 700))))


def _fit_with_means(times: MapTimes, fit: NoiseFit) -> NoiseFit:
    """Jobs' means and levels' effects by least squares, stragglers brought back to the others."""
    own = times.log_ms - fit.straggled * fit.factor
    varied, moved = (
        _deviations_from_job_means(times, times.levels),
        _deviations_from_job_means(times, own[:, None])[:, 0],
    )
    levels: _Floats = np.linalg.lstsq(varied, moved, rcond=None)[0].astype(np.float64)
    rest = own - times.levels @ levels
    means = (_job_means(times, rest[:, None])[times.job])[:, 0] + times.levels @ levels
    left = times.log_ms - means
    squares = (1 - fit.straggled) * left**2 + fit.straggled * (left - fit.factor) ** 2
    sigma = max(sqrt(float(squares.sum()) / times.degrees_of_freedom), times.rounded)
    return replace(fit, levels=levels, means=means, sigma=sigma)


def _job_means(times: MapTimes, columns: _Floats) -> _Floats:
    sums = np.zeros((int(times.job.max()) + 1, columns.shape[1]))
    np.add.at(sums, times.job, columns)
    return sums / np.bincount(times.job)[:, None]


def _deviations_from_job_means(times: MapTimes, columns: _Floats) -> _Floats:
    """What of each column is not its job's mean."""
    return columns - _job_means(times, columns)[times.job]


def _with_likelihood(times: MapTimes, fit: NoiseFit) -> NoiseFit:
    left = times.log_ms - fit.means
    usual = np.log1p(-fit.share) - left**2 / (2 * fit.sigma**2)
    slow = log(max(fit.share, 1e-300)) - (left - fit.factor) ** 2 / (2 * fit.sigma**2)
    both = np.logaddexp(usual, slow) if fit.share else usual
    return replace(fit, likelihood=float(both.sum()) - len(left) * log(fit.sigma))


# Estimates.


def _locality_factor(
    times: MapTimes, fit: NoiseFit, place: int, confidence: float
) -> HistoryFinding:
    _, name, field = _LEVELS[place]
    number = int(times.levels[:, place].sum())
    varied = _deviations_from_job_means(times, times.levels)
    information = varied.T @ varied
    if number == 0 or information[place, place] < 1e-9:
        return Untold(name, "no job has such maps and data-local ones too")
    other = 1 - place
    if information[other, other] > 1e-9:
        shared = information[place, other] ** 2 / information[other, other]
    else:
        shared = 0.0
    alone = information[place, place] - shared
    if alone < 1e-9:
        return Untold(name, "it cannot be told apart from the other locality's")
    half = (
        student_bound(times.degrees_of_freedom, confidence) * fit.sigma / sqrt(alone)
        + times.rounded
    )
    value = exp(float(fit.levels[place]))
    of = f"{number:,} of {len(times.job):,} maps, within their jobs"
    return Estimate(name, field, value, *log_interval(value, half), "×", of)


def _noise_without_stragglers(times: MapTimes, fit: NoiseFit, confidence: float) -> HistoryFinding:
    of = f"{len(times.job):,} maps of {count(int(times.job.max()) + 1, 'job')}"
    if fit.sigma <= times.rounded:
        return Estimate(_NOISE, _SIGMA_FIELD, 0.0, 0.0, 3 * times.rounded, "sigma", of)
    half = normal_bound(confidence) / sqrt(2 * times.degrees_of_freedom) + times.rounded / fit.sigma
    low, high = log_interval(fit.sigma, half)
    return Estimate(_NOISE, _SIGMA_FIELD, fit.sigma, low, high, "sigma", of)


def _findings_without_stragglers(
    times: MapTimes, fit: NoiseFit, confidence: float
) -> list[HistoryFinding]:
    far = times.log_ms - fit.means > max(4 * fit.sigma, log(2.0))
    number, maps = int(far.sum()), len(times.job)
    _, high = proportion_interval(number, maps, confidence)
    of = f"none stands out of {maps:,} maps; fewer, or of a factor near 1, would not"
    share = Estimate(_SHARE, _SHARE_FIELD, 0.0, 0.0, high, "", of)
    return [share, Untold(_FACTOR, "no straggler stands out of the noise")]


def _findings_with_stragglers(
    times: MapTimes, fit: NoiseFit, confidence: float, censored: int
) -> list[HistoryFinding]:
    z, errors = normal_bound(confidence), _standard_errors(times, fit)
    of = f"{fit.straggled.sum():,.0f} of {len(times.job):,} maps"
    if censored:
        of += f"; {censored:,} that were killed are not among them"
    noise_half = z * errors[0] + times.rounded / fit.sigma
    noise = Estimate(
        _NOISE,
        _SIGMA_FIELD,
        fit.sigma,
        *log_interval(fit.sigma, noise_half),
        "sigma",
        f"{len(times.job):,} maps of {count(int(times.job.max()) + 1, 'job')}, stragglers apart",
    )
    odds = log(fit.share / (1 - fit.share))
    low, high = (1 / (1 + exp(-(odds + side * z * errors[1]))) for side in (-1, 1))
    share = Estimate(_SHARE, _SHARE_FIELD, fit.share, low, high, "", of)
    limits = log_interval(exp(fit.factor), z * errors[2] + times.rounded)
    factor = Estimate(_FACTOR, _FACTOR_FIELD, exp(fit.factor), *limits, "×", of)
    return [noise, share, factor]


def _standard_errors(times: MapTimes, fit: NoiseFit) -> _Floats:
    """Of log sigma, the share's log odds and the factor's logarithm, by the curvature."""
    best = np.array([log(fit.sigma), log(fit.share / (1 - fit.share)), fit.factor])
    sure = max(float(fit.straggled.sum()), 1.0)
    steps = (
        np.array([1 / sqrt(2 * times.degrees_of_freedom), 1 / sqrt(sure), fit.sigma / sqrt(sure)])
        / 2
    )
    curvature = np.empty((3, 3))
    for one in range(3):
        for other in range(one + 1):
            corners = [
                sides[0]
                * sides[1]
                * _profile_likelihood(times, fit, best + _corner_offset(steps, one, other, sides))
                for sides in ((1, 1), (1, -1), (-1, 1), (-1, -1))
            ]
            bent = sum(corners) / (4 * steps[one] * steps[other])
            curvature[one, other] = curvature[other, one] = -bent
    try:
        variances = np.diag(np.linalg.inv(curvature))
    except np.linalg.LinAlgError:
        variances = np.full(3, -1.0)
    least = (2 * steps) ** 2  # what they are where every straggler is known for one
    return np.sqrt(np.maximum(variances, least))


def _corner_offset(steps: _Floats, one: int, other: int, sides: tuple[int, int]) -> _Floats:
    moved = np.zeros(3)
    moved[one] += sides[0] * steps[one]
    moved[other] += sides[1] * steps[other]
    return moved


def _profile_likelihood(times: MapTimes, fit: NoiseFit, point: _Floats) -> float:
    """The likelihood at this noise and these stragglers, with the means that suit it best."""
    sigma, share = exp(point[0]), 1 / (1 + exp(-point[1]))
    here = replace(fit, sigma=sigma, share=share, factor=float(point[2]))
    for _ in range(8):
        here = replace(_fit_with_means(times, _expected_stragglers(times, here)), sigma=sigma)
    return _with_likelihood(times, here).likelihood
