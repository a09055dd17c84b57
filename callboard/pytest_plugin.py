"""Property tests in a user's own test suite: a test for each property that a policy guarantees.

    @pytest.mark.callboard("./mine.py:MyOrder")
    def test_my_order(guarantee):
        guarantee.keep()

pytest loads this file wherever Callboard is installed, so `callboard.fairness` is imported only
when a test asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from callboard.fairness.profiles import SEARCH_PROFILES

if TYPE_CHECKING:
    from callboard.fairness.property import Property

MARK = "callboard(policy, profile='quick', max_examples=None, seed=1)"
_DEFAULTS: dict[str, Any] = {"profile": "quick", "max_examples": None, "seed": 1}


class Guarantee:
    """One property that a policy guarantees."""

    def __init__(self, policy: str, prop: Property, examples: int, seed: int, to: Path) -> None:
        self.policy = policy
        self.prop = prop
        self._examples = examples
        self._seed = seed
        self._to = to

    def keep(self) -> None:
        """Fail with the smallest counterexample, if there is one."""
        from callboard.fairness.counterexample import counterexample_text
        from callboard.fairness.experiment import Experiment
        from callboard.fairness.search import find_counterexample

        policy = partial(Experiment, policy=self.policy)
        found = find_counterexample(policy, self.prop, examples=self._examples, seed=self._seed)
        if found is None:
            return
        path = self._to / f"{self.prop.name}.toml"
        text = counterexample_text(found, self.prop, self.policy, "pytest")
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{self.prop.name}: {self.prop.says}\n{found.seen}\nwritten to {path}", False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    use = "a test for each property that the policy guarantees; use the fixture `guarantee`"
    config.addinivalue_line("markers", f"{MARK}: {use}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a property.  A wrong mark is one test, which says what is wrong: the file's other
    tests are played.
    """
    if "guarantee" not in metafunc.fixturenames:
        return
    given: Sequence[Property | str]
    try:
        given = _guaranteed_properties(metafunc.definition.get_closest_marker("callboard"))
    except ValueError as error:
        given = [str(error)]
    ids = ["mark" if isinstance(each, str) else each.name for each in given]
    metafunc.parametrize("guarantee", given, ids=ids, indirect=True)


def _guaranteed_properties(mark: pytest.Mark | None) -> list[Property]:
    """The properties that the marked policy guarantees.  ValueError if the mark is none, or a word
    or a value of it is wrong.
    """
    from callboard.experiments.run.plugins import load_policy
    from callboard.fairness.catalogue import guaranteed_by

    if mark is None or not mark.args:
        raise ValueError(f"`guarantee` is for tests marked `@pytest.mark.{MARK}`")
    for word in mark.kwargs:
        if word not in _DEFAULTS:
            raise ValueError(f"the mark has no `{word}`: `@pytest.mark.{MARK}`")
    policy, asked = mark.args[0], {**_DEFAULTS, **mark.kwargs}
    if not isinstance(policy, str):
        raise ValueError(f"a policy is its spelling, as 'fair' or './mine.py:Mine'; got {policy!r}")
    if asked["profile"] not in SEARCH_PROFILES:
        names = " or ".join(SEARCH_PROFILES)
        raise ValueError(f"no profile {asked['profile']!r}; choose {names}")
    for word, least in (("max_examples", 1), ("seed", 0)):
        number = asked[word]
        if number != _DEFAULTS[word] and not (type(number) is int and number >= least):
            raise ValueError(f"`{word}` is a whole number from {least} on; got {number!r}")
    return guaranteed_by(load_policy(policy))


@pytest.fixture
def guarantee(request: pytest.FixtureRequest, tmp_path: Path) -> Guarantee:
    """One property that the marked policy guarantees."""
    if isinstance(request.param, str):
        pytest.fail(request.param, pytrace=False)
    mark = request.node.get_closest_marker("callboard")
    asked = _DEFAULTS | mark.kwargs
    examples = asked["max_examples"] or SEARCH_PROFILES[asked["profile"]]
    return Guarantee(mark.args[0], request.param, examples, asked["seed"], tmp_path)


@pytest.fixture
def promise(guarantee: Guarantee) -> Guarantee:
    """The old name of `guarantee`."""
    return guarantee
