"""Which keys matter: Sobol indices and Morris' elementary effects of the mean response time.

SALib draws the points and analyses the answers; the points are settings of a sweep like others.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.many.sweeps.variation import POLICY, repeated_key
from callboard.experiments.run.run_loading import RunSource
from callboard.experiments.user_errors import InputError
from callboard.scheduler.text.missing_extra import MissingExtraError, imported_extra
from callboard.scheduler.text.scenario_error import ScenarioError

Method = Literal["sobol", "morris"]


class KeyRange(msgspec.Struct, frozen=True):
    """A key and between what it is varied: at `whole` numbers only, or anywhere."""

    key: str
    low: float
    high: float
    whole: bool

    def with_fractions_if_allowed(self, takes: Callable[[str], bool]) -> Self:
        """The same, drawn anywhere if the scenario `takes` a number that is not whole, told as
        `--set` takes it.
        """
        return msgspec.structs.replace(
            self, whole=self.whole and not takes(f"{self.key}={self.low + 0.5}")
        )


class Question(msgspec.Struct, frozen=True):
    """What was asked: the method, the ranges, and as how many base points it was drawn.

    `fixed` is what holds in all settings; `seed` is that of the points.
    """

    method: Method
    ranges: tuple[KeyRange, ...]
    samples: int
    scenario: str
    fixed: Setting = ()
    seed: int = 1

    def __post_init__(self) -> None:
        if self.method == "sobol" and self.samples & (self.samples - 1):
            raise InputError(f"--samples {self.samples}: Sobol's points want a power of two")

    @property
    def name(self) -> str:
        """What the question is called in a store."""
        return msgspec.json.encode(self, order="deterministic").decode()

    def settings(self) -> tuple[Setting, ...]:
        """The setting of each point, in the order in which the analysis wants them."""
        return tuple(self._setting(row) for row in self.points())

    def settings_with_fixed(self) -> tuple[Setting, ...]:
        """The same with what holds in all settings, as cells have it."""
        return tuple((*self.fixed, *setting) for setting in self.settings())

    def points(self) -> NDArray[np.float64]:
        """A row a point, a column a key."""
        problem = self._problem()
        if self.method == "sobol":
            sampled = _salib("sample.sobol").sample(
                problem, self.samples, calc_second_order=False, seed=self.seed
            )
        else:
            sampled = _salib("sample.morris").sample(problem, self.samples, seed=self.seed)
        return np.asarray(sampled, np.float64)

    def indices(self, answers: NDArray[np.float64]) -> tuple["KeyIndex", ...]:
        """What the answers at the points, in their order, say of each key."""
        problem, how = self._problem(), {"seed": self.seed, "print_to_console": False}
        if self.method == "sobol":
            found = _salib("analyze.sobol").analyze(
                problem, answers, calc_second_order=False, **how
            )
            columns = found["S1"], found["S1_conf"], found["ST"], found["ST_conf"]
        else:
            found = _salib("analyze.morris").analyze(problem, self.points(), answers, **how)
            columns = found["mu_star"], found["mu_star_conf"], found["sigma"], found["mu"]
        rows = np.array([np.asarray(column, np.float64) for column in columns]).T
        return tuple(
            KeyIndex(each.key, *map(float, row))
            for each, row in zip(self.ranges, rows, strict=True)
        )

    def _problem(self) -> dict[str, Any]:
        return {
            "num_vars": len(self.ranges),
            "names": [each.key for each in self.ranges],
            "bounds": [[each.low, each.high] for each in self.ranges],
        }

    def _setting(self, row: NDArray[np.float64]) -> Setting:
        return tuple(
            (each.key, str(round(float(x))) if each.whole else repr(float(x)))
            for each, x in zip(self.ranges, row, strict=True)
        )


_BASE_POINTS: dict[Method, int] = {"sobol": 64, "morris": 10}
"""How many base points are drawn unless told."""


def asked_method(
    sobol: object,
    morris: object,
    samples: int | None,
    varied: Iterable[str],
    scenarios: Collection[object],
) -> Method | None:
    """The method of which ranges are given, None for none; InputError for what cannot stand
    beside: the other, keys that are `varied`, more scenarios than one; or `samples` without it.
    """
    if not (sobol or morris):
        if samples:
            raise InputError("samples are of Sobol's or Morris' method; seeds say how many runs")
        return None
    if sobol and morris:
        raise InputError("Sobol's and Morris' are two methods: choose one")
    if any(key != POLICY for key in varied):
        raise InputError("beside Sobol's or Morris' ranges only `policy` can be varied")
    if len(set(scenarios)) > 1:
        raise InputError("Sobol's and Morris' methods take one scenario at a time")
    return "sobol" if sobol else "morris"


def question_about(
    source: RunSource,
    method: Method,
    ranges: Sequence[KeyRange],
    samples: int | None = None,
    fixed: Setting = (),
) -> Question:
    """What is asked of a scenario: a key whose ends are whole numbers is drawn between them too if
    the scenario takes what is none.  InputError for a key that is given twice.
    """

    def takes(override: str) -> bool:
        try:
            source.run([*(f"{key}={value}" for key, value in fixed), override])
        except ScenarioError:
            return False
        return True

    if twice := repeated_key([each.key for each in ranges]):
        raise InputError(f"{twice}: its ends are given twice; give them once")
    between = tuple(each.with_fractions_if_allowed(takes) for each in ranges)
    return Question(method, between, samples or _BASE_POINTS[method], "", fixed)


def keep_question(question: Question, scenario: str, store: ResultStore) -> Question:
    """Note in the store what was asked, of a scenario of that name; the question with it."""
    named = msgspec.structs.replace(question, scenario=scenario)
    store.put_question(named.name, msgspec.json.encode(named))
    return named


def questions_of(store: ResultStore) -> list[Question]:
    """What was asked of a store's runs, in this order; `reproduce` keeps its outcomes there too,
    under names of its own.  InputError for questions that cannot be read.
    """
    asked = store.questions().items()
    with store.unreadable_content_told():
        return [msgspec.json.decode(each, type=Question) for name, each in asked if name[0] == "{"]


class KeyIndex(msgspec.Struct, frozen=True):
    """How much a key matters.

    By Sobol: `main` is the share of the answers' variance that the key explains alone, `total`
    with all others, each with half its 95 % interval.  By Morris: `main` is μ*, the mean size of an
    elementary effect over the range, with half its interval; `total` is σ, their deviation (from
    interaction or curvature), and `other` is μ.
    """

    key: str
    main: float
    main_half: float
    total: float
    other: float

    def figures_by_name(self, method: Method) -> dict[str, float]:
        """The figures as the method's literature calls them, with `half` a 95 % interval."""
        names: tuple[str, ...] = ("mu_star_s", "mu_star_half_s", "sigma_s", "mu_s")
        if method == "sobol":
            names = ("first_order", "first_order_half", "total_order", "total_order_half")
        return dict(zip(names, (self.main, self.main_half, self.total, self.other), strict=True))


_VAGUE = 0.25
"""A share of the variance that is known to no better than this is hardly known."""


def few_points_note(question: Question, found: Sequence[KeyIndex]) -> str:
    """That Sobol's shares are not known well by so few points; empty if they are."""
    widest = max(max(each.main_half, each.other) for each in found)
    if question.method != "sobol" or not widest > _VAGUE:
        return ""
    return (
        f"sobol: {question.samples} base points are too few: shares are known to no better than"
        f" ± {widest:.2f}; --samples {4 * question.samples} tells more"
    )


def parse_range(text: str) -> KeyRange:
    """The key and ends of `KEY=LO..HI`, whole if both are written so; InputError for anything
    else.
    """
    key, _, ends = text.partition("=")
    low, dots, high = ends.partition("..")
    try:
        bounds = float(low), float(high)
    except ValueError:
        bounds = (0.0, 0.0)
    if not (key.strip() and dots and bounds[0] < bounds[1] and np.isfinite(bounds).all()):
        problem = "expected KEY=LO..HI with LO below HI, as in tasks.sigma=0..1"
        raise InputError(f"{text[:80]}: {problem}")
    whole = all(end.strip().lstrip("-").isdigit() for end in (low, high))
    return KeyRange(key.strip(), *bounds, whole)


def answers_at(
    settings: Sequence[Setting],
    cells: Sequence[PlayedCell],
    figure: Callable[[PlayedCell], float | None],
) -> NDArray[np.float64] | None:
    """The figure at each setting, its mean over the seeds; None if it is not there for all."""
    values: dict[Setting, list[float]] = {}
    for cell in cells:
        value = figure(cell)
        if value is not None:
            values.setdefault(cell.setting, []).append(value)
    if any(setting not in values for setting in settings):
        return None
    return np.array([np.mean(values[setting]) for setting in settings])


def indices_by_policy(
    question: Question, cells: Sequence[PlayedCell]
) -> dict[str, tuple[KeyIndex, ...]]:
    """What the question has come to for the mean response time, by policy; policies of which not
    all runs are there are left out.
    """
    mine = [cell for cell in cells if cell.scenario == question.scenario]
    settings, found = question.settings_with_fixed(), {}
    for policy in dict.fromkeys(cell.policy for cell in mine):
        of_policy = [cell for cell in mine if cell.policy == policy]
        answers = answers_at(settings, of_policy, _mean_response)
        if answers is not None:
            found[policy] = question.indices(answers)
    return found


def index_rows(
    questions: Sequence[Question], cells: Sequence[PlayedCell]
) -> list[dict[str, object]]:
    """The answers to the questions as plain data: a row for each policy and key."""
    return [
        {
            "scenario": question.scenario,
            "method": question.method,
            "policy": policy,
            "key": each.key,
            "low": each.low,
            "high": each.high,
            **index.figures_by_name(question.method),
        }
        for question in questions
        for policy, found in indices_by_policy(question, cells).items()
        for each, index in zip(question.ranges, found, strict=True)
    ]


def without_points(
    cells: Sequence[PlayedCell], questions: Sequence[Question]
) -> Sequence[PlayedCell]:
    """The runs but for those at the points of a question, which lie anywhere: together they answer
    it, and none tells anything by itself.  A store does not know which of them were varied too:
    where the same keys are varied besides, points stay that a user could have written.
    """
    points = [(each, at) for each in questions for at in _point_settings(each)]
    places = {(question.scenario, at) for question, at in points}
    others = [cell for cell in cells if (cell.scenario, cell.setting) not in places]
    varied = {(cell.scenario, _keys_of_setting(cell.setting)) for cell in others}
    left_out = places - {
        (question.scenario, at)
        for question, at in points
        if (question.scenario, _keys_of_setting(at)) in varied
        and _could_be_typed(at[len(question.fixed) :])
    }
    return [cell for cell in cells if (cell.scenario, cell.setting) not in left_out]


def _point_settings(question: Question) -> tuple[Setting, ...]:
    """None where SALib, which has drawn them, is not installed: then nobody can tell."""
    with suppress(MissingExtraError):
        return question.settings_with_fixed()
    return ()


def _keys_of_setting(setting: Setting) -> tuple[str, ...]:
    return tuple(key for key, _ in setting)


_DIGITS_MAX = 8
"""A user writes 0.25; a point drawn between two numbers is 0.1554653…"""


def _could_be_typed(setting: Setting) -> bool:
    """Whether a user could have asked for these values: whole numbers, and short ones."""
    return all("." not in value or len(value) <= _DIGITS_MAX for _, value in setting)


def _mean_response(cell: PlayedCell) -> float | None:
    return None if cell.result is None else cell.result.summary.response_seconds.mean


def _salib(module: str) -> Any:
    missing = "sensitivity needs SALib: pip install 'callboard[sensitivity]'"
    return imported_extra(f"SALib.{module}", missing)
