"""A paper's file: what its entries come to, what is refused in it, and that nothing is there for
nothing.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from callboard.experiments.reproduction import catalogue_of_explorations
from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.evidence import Drawn, Played
from callboard.experiments.reproduction.paper_file import PAPERS, PaperFile, PaperFileError
from callboard.experiments.reproduction.paper_language import (
    chart_vocabulary,
    run_figure_vocabulary,
    sample_figure_vocabulary,
)
from callboard.experiments.reproduction.run_figures import SizeBin

TEXT = '''
[policies]
by-need = "fair+delay"

[bins]
small = {least = 1, most = 9}

[texts]
reason = """It is cold
outside."""

[grids]
rules = {rule = ["fifo", "by-need"]}
few = {jobs = [1, 2], word = ["one", "two"]}
many = {jobs = 9, word = "nine"}

[drawn.pair]
scenario = "two-jobs"

[[played.world]]
for = ["counts", "rules"]
name = "{rule}, {jobs}"
scenario = "two-jobs"
policy = "{rule}"
overrides = ["workload.job=[{name=\\"x\\",count={jobs}}]", "{more}"]
slowdown = true

[[quantities.gain]]
label = "gain of {told}"
ours = "mean(speed('{told}, {jobs}') / speed('fifo, {jobs}') for jobs in few)"
printed = "1 + 1 / 4"
above = 1

[[artefact]]
id = "gp-drawn"
place = "Table 1"
says = "There are {1, 2} jobs."
why = "{reason}"
verdict_class = "input"
evidence = "pair"
[[artefact.quantities]]
for = ["few"]
label = "jobs of {word}"
ours = "jobs_of(bin('small'), jobs)"
printed = "10 ** jobs"
share = true

[[artefact]]
id = "gp-played"
place = "Figure 1"
says = "It gains."
seeds = 6
evidence = "world(counts=few + many, more='')"
draw = "bars(height=speed)"
quantities = "gain(told='by-need')"

[[artefact]]
for = [[{jobs = 7, word = "seven"}, {jobs = 8, word = "eight"}]]
id = "gp-{word}"
place = "Figure 2"
says = "All {word} are fast."
evidence = "world(counts=few, more='seed={jobs}')"
draw = "bars(cells=['fifo, 1'], height=speed)"
[[artefact.quantities]]
label = "time lost"
ours = "1 - speed('fifo, 1', 2) - speed('fifo, 2')"
below = 0.5
[[artefact.quantities]]
label = "fastest of all"
pooled = "fastest(least=1)"
above = 0
'''


def speed(run: float, times: float = 1) -> float:
    return run * times


def jobs_of(found: float, which: SizeBin, jobs: int) -> float:
    return found + which.most + jobs


def fastest(samples: list[Mapping[str, float]], least: float) -> float:
    return max(least, *(value for each in samples for value in each.values()))


def bars(samples: Any, cells: list[str], height: Any) -> tuple[Any, ...]:
    return samples, cells, height


WORDS = {
    **run_figure_vocabulary(speed),
    **sample_figure_vocabulary(jobs_of, fastest),
    **chart_vocabulary(bars),
}


def read(folder: Path, text: str = TEXT) -> list[AnyArtefact]:
    path = folder / "gp.toml"
    path.write_text(text, "utf-8")
    return PaperFile(path, WORDS).artefacts()


def test_a_grid_makes_a_cell_of_each_row_with_each_row(tmp_path: Path) -> None:
    played = read(tmp_path)[1].evidence
    assert isinstance(played, Played)
    names = ["fifo, 1", "by-need, 1", "fifo, 2", "by-need, 2", "fifo, 9", "by-need, 9"]
    assert played.cell_names == names
    assert {cell.policy for cell in played.cells} == {"fifo", "fair+delay"}
    assert played.cells[2].overrides == ('workload.job=[{name="x",count=2}]',)
    assert all(cell.slowdown for cell in played.cells)


def test_an_artefact_of_several_rows_is_several(tmp_path: Path) -> None:
    *_, seven, eight = read(tmp_path)
    assert (seven.id, eight.says) == ("gp-seven", "All eight are fast.")
    assert isinstance(eight.evidence, Played)
    assert eight.evidence.cells[0].overrides[1] == "seed=8"


def test_texts_are_put_on_one_line_and_braces_without_a_name_are_left(tmp_path: Path) -> None:
    drawn = read(tmp_path)[0]
    assert (drawn.why, drawn.says) == ("It is cold outside.", "There are {1, 2} jobs.")
    assert drawn.evidence == Drawn("two-jobs")


def test_figures_are_computed_of_samples(tmp_path: Path) -> None:
    drawn, played, several, _ = read(tmp_path)
    assert [each.label for each in drawn.quantities] == ["jobs of one", "jobs of two"]
    assert [each.value(0.5) for each in drawn.quantities if each.value] == [10.5, 11.5]
    assert [each.printed for each in drawn.quantities] == [10, 100]
    (gain,) = played.quantities
    assert (gain.label, gain.printed, gain.above) == ("gain of by-need", 1.25, 1)
    runs = {"fifo, 1": 2.0, "by-need, 1": 3.0, "fifo, 2": 4.0, "by-need, 2": 8.0}
    assert gain.value is not None
    assert gain.value(runs) == 1.75
    assert gain.value({**runs, "fifo, 2": 0.0}) is None
    lost, best = several.quantities
    assert lost.value is not None
    assert best.pooled is not None
    assert lost.value({"fifo, 1": 0.1, "fifo, 2": 0.2}) == pytest.approx(0.6)
    assert best.pooled([runs, {"fifo, 1": 9.0}]) == 9


def test_a_chart_is_of_all_cells_of_the_evidence_unless_it_says_of_which(tmp_path: Path) -> None:
    _, played, several, _ = read(tmp_path)
    assert played.draw is not None
    assert several.draw is not None
    assert played.draw([]) == ([], played.evidence.cell_names, speed)
    assert several.draw([]) == ([], ["fifo, 1"], speed)


REFUSED = [
    (
        "speed('fifo, 2')",
        "speed('fofi, 2')",
        "gp-seven, time lost: no cell fofi, 2; there are fifo",
    ),
    ("speed('fifo, 2')", "sped('fifo, 2')", "gp-seven: time lost: nothing is called sped; did you"),
    ("speed('fifo, 2')", "speed()", "gp-seven: time lost: .*: missing a required argument"),
    ("jobs_of(bin('small'), jobs)", "jobs_of(jobs)", "jobs of {word}: .*missing a required arg"),
    ("speed('fifo, 2')", "speed(2)", "gp-seven: time lost: .* name of a cell first, got 2"),
    ("speed('fifo, 2')", "speed('fifo, 2').cells", "time lost: .*only names, numbers, texts"),
    ("speed('fifo, 2')", "[]", "gp-seven: time lost: .*expected a figure or a number, got"),
    ("speed('fifo, 2')", "(", "gp-seven: time lost: .*this is no expression"),
    ("speed('fifo, 1', 2) - speed('fifo, 2')", "1", "time lost: 1 - 1: expected a figure, got 0"),
    ("'{told}, {jobs}'", "'{tolt}, {jobs}'", "gp-played: gain of .*: nothing is called tolt"),
    ("for jobs in few", "for jobs in fwe", "nothing is called fwe; did you mean `few`"),
    ("for jobs in few", "for job in few", "no column job in few; did you mean `jobs`"),
    ("for jobs in few", "for jobs in told", "told: expected a grid, got 'by-need'"),
    ('for = ["few"]', 'for = ["fwe"]', "gp-drawn: jobs of {word}: nothing is called fwe"),
    ('"1 + 1 / 4"', '"reason"', "gain of .*: reason: expected a number, got 'It is cold outside.'"),
    ('"1 + 1 / 4"', "true", "gain of {told}, printed: expected a whole number or a number .*true"),
    ('"1 + 1 / 4"', '"1 / 0"', "gain of .*: 1 / 0: division by zero"),
    ("above = 1\n", "abvoe = 1\n", "gain of {told}, abvoe: unknown field .*did you mean `above`"),
    ("below = 0.5", "belov = 0.5", "artefact, gp-{word}, quantities, time lost: .*field `belov`"),
    ("seeds = 6", "seed = 6", "artefact, gp-played, seed: unknown field .*did you mean `seeds`"),
    ("slowdown = true", "slow = true", "played, world, .*, slow: unknown field"),
    ('"pair"', '"pare"', "gp-drawn: nothing is called pare; did you mean `pair`"),
    ('"pair"', '"world"', "gp-drawn: world is to be called, as in `world"),
    ('"pair"', "\"speed('a')\"", "gp-drawn: speed.*: expected evidence, got a figure"),
    ("counts=few +", "count=few +", "gp-played: nothing is called counts; did you mean `count`"),
    ('"gain(told', '"gein(told', "gp-played: nothing is called gein; did you mean `gain`"),
    ("bars(height", "bras(height", "gp-played: nothing is called bras; did you mean `bars`"),
    ("bars(height", "bars(hight", "gp-played: .*got an unexpected keyword argument 'hight'"),
    ("bars(height=speed", "bars(", "gp-played: missing a required argument: 'height'"),
    ("bin('small')", "bin('smal')", "gp-drawn: jobs of {word}: no bin smal; did you mean `small`"),
    ('"two-jobs"\n\n', '"two-job"\n\n', "gp-drawn: no scenario two-job; did you mean `two-jobs`"),
    ('"two-jobs"\npolicy', '"two-job"\npolicy', "gp-played: no scenario two-job"),
    ("jobs = [1, 2], word", "jobs = [1], word", "columns of unequal length: jobs, word"),
    ('pooled = "fastest(least=1)"\n', "", "fastest of all: it has either `ours` or `pooled`"),
]


@pytest.mark.parametrize(("there", "instead", "told"), REFUSED, ids=lambda each: each[:30])
def test_what_is_wrong_is_refused_as_the_file_is_read(
    there: str, instead: str, told: str, tmp_path: Path
) -> None:
    """The line says in which file, artefact and quantity, and what there is instead."""
    assert there in TEXT
    with pytest.raises(PaperFileError, match=f"^gp.toml.*{told}"):
        read(tmp_path, TEXT.replace(there, instead))


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*.toml")), ids=lambda each: each.stem)
def test_nothing_in_a_papers_file_is_there_for_nothing(path: Path) -> None:
    """Each world, grid and text is named once more than where it is made, or by an exploration."""
    text = path.read_text("utf-8")
    explorations = Path(catalogue_of_explorations.__file__).parent.glob("*_explorations.py")
    python = "".join(each.read_text("utf-8") for each in explorations)
    tables = ("bins", "drawn", "grids", "played", "policies", "quantities", "texts")
    made = [name for table in tables for name in tomllib.loads(text).get(table, {})]
    for name in made:
        used = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)(?!\"? = )", text + python)
        assert used, f"nobody uses {name}"
