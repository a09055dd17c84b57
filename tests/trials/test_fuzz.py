"""Damaged inputs are taken or refused in one message; `python -m trials.fuzz` tries more."""

from pathlib import Path

import pytest

from tests.support.soak import one_in
from trials import fuzz
from trials.fuzz import Fuzzer, FuzzResult, try_command

KINDS = ("scenario", "trace", "journal", "policy", "command line")


@pytest.mark.parametrize("kind", one_in(4, KINDS))
def test_damaged_inputs_are_answered(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused late hangs on the machine: that is for the script."""
    (tmp_path / "inputs").mkdir()
    monkeypatch.chdir(tmp_path / "inputs")
    fuzzer, answered = Fuzzer(tmp_path / "inputs"), set()
    for seed in range(KINDS.index(kind), 500, len(KINDS)):
        drawn, line = fuzzer.arguments(seed)
        assert drawn == kind
        result = try_command(line)
        assert not result.is_flaw or result.outcome == "refused late", (seed, line, result)
        answered.add(result.outcome)
    assert {"taken", "refused"} <= answered


@pytest.mark.parametrize(
    ("does", "outcome"),
    [
        (lambda: 1 // 0, "raised"),
        (lambda: 3, "exit status 3"),
        (lambda: 2, "refused without a word"),
        (lambda: 0, "taken"),
    ],
)
def test_what_is_wrong_is_named(
    does: object, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "run_command_line", lambda _: does())  # type: ignore[operator]
    result = try_command([])
    assert result.outcome == outcome
    assert result.is_flaw == (outcome != "taken")


def test_a_refusal_is_short() -> None:
    assert FuzzResult("refused at length", 0.1).is_flaw
    assert not FuzzResult("left", 60.0).is_flaw
