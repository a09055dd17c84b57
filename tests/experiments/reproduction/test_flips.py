"""Verdicts on the seeds that judge beside those on fresh ones, counted by verdict."""

from pathlib import Path

import pytest

from callboard.experiments.reproduction.catalogue_of_artefacts import chosen_artefacts
from callboard.experiments.reproduction.outcome import ReproductionVerdict
from trials.flips import VerdictPair, flip_lines, fresh_asked, main

V = ReproductionVerdict


def test_flips_are_counted_by_verdict_and_those_that_were_warned_of_apart() -> None:
    pairs = [
        VerdictPair("a", V.REPRODUCED, V.REPRODUCED),
        VerdictPair("b", V.REPRODUCED, V.DIFFERS),
        VerdictPair("c", V.REPRODUCED, V.MAY_BE_CHANCE),
        VerdictPair("d", V.MAY_BE_CHANCE, V.DIFFERS),
    ]
    assert list(flip_lines("figures", pairs)) == [
        "figures: 4 verdicts, 3 flip (75%), 1 of them unwarned",
        "  reproduced            3    1 the same  1 may be chance, 1 differs",
        "  may be chance         1    0 the same  1 differs",
    ]


def test_fresh_seeds_are_as_many_as_judge_or_those_that_are_told() -> None:
    (figure,) = chosen_artefacts(["gp-fig-3-busy"])
    assert fresh_asked(figure, "1001").seeds == tuple(range(1001, 1007))
    assert fresh_asked(figure, "7..16").seeds == tuple(range(7, 17))


def test_artefacts_are_played_on_both_and_what_no_seed_changes_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("hfsp-fig-2", "hfsp-fig-10-arrivals", "gp-largest-jobs")
    main([*names, "--cores", "1", "--cache", str(tmp_path / "kept.sqlite")])
    printed = capsys.readouterr().out
    assert "artefacts: 2 verdicts, 0 flip (0%), 0 of them unwarned" in printed
    assert "single figures: 3 verdicts" in printed
