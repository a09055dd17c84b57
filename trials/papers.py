"""Record what `callboard reproduce` printed: `python -m trials.papers FILE…`.

The files are what `callboard reproduce … --json` printed, with `--explore` or without, of all
artefacts or of some.  They take the place of what is recorded of these, and of nothing else; then
`docs/reproduction.md` is written anew, and the pictures of its explorations are drawn.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from callboard.experiments.pages.charts.chart_style import save_chart
from callboard.experiments.reproduction.catalogue_of_artefacts import ARTEFACTS
from callboard.experiments.reproduction.catalogue_of_explorations import EXPLORATIONS
from callboard.experiments.reproduction.exploration import Explored
from callboard.experiments.reproduction.outcome import ArtefactOutcome
from callboard.experiments.reproduction.recorded_explorations import (
    RECORDED_EXPLORATIONS,
    explored_as_json,
    recorded_explorations,
)
from callboard.experiments.reproduction.recorded_outcomes import (
    RECORDED,
    outcome_as_json,
    outcome_of_json,
    recorded_outcomes,
)
from callboard.experiments.reproduction.region_chart import exploration_chart
from callboard.experiments.reproduction.reproduction_page import markdown_page

DOCS = Path(__file__).parents[1] / "docs"


def with_new_outcomes(printed: Sequence[dict[str, Any]]) -> list[ArtefactOutcome]:
    """What is recorded of the artefacts that there are, with what was printed now."""
    known = {**recorded_outcomes(), **{each["id"]: outcome_of_json(each) for each in printed}}
    return [known[each.id] for each in ARTEFACTS if each.id in known]


def with_new_explorations(printed: Sequence[dict[str, Any]]) -> list[Explored]:
    """The same of the explorations."""
    found = [msgspec.convert(each, Explored) for each in printed]
    known = {(each.artefact, each.assumption): each for each in (*recorded_explorations(), *found)}
    pairs = ((each, known.get((each.artefact, each.assumption))) for each in EXPLORATIONS)
    return [msgspec.structs.replace(old, picture=each.picture) for each, old in pairs if old]


def record(printed: Sequence[dict[str, Any]]) -> None:
    """Write what is recorded, the page and its pictures."""
    outcomes = with_new_outcomes([each for each in printed if "id" in each])
    explorations = with_new_explorations([each for each in printed if "artefact" in each])
    by_id = {each.id: each for each in ARTEFACTS}
    plain = [outcome_as_json(by_id[each.id], each) for each in outcomes]
    RECORDED.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    RECORDED_EXPLORATIONS.write_text(explored_as_json(explorations) + "\n", encoding="utf-8")
    page = markdown_page(ARTEFACTS, outcomes, explorations)
    (DOCS / "reproduction.md").write_text(page, encoding="utf-8")
    draw_pictures(explorations)


def draw_pictures(explorations: Sequence[Explored]) -> None:
    """Those of the explorations that have one."""
    asked = {(each.artefact, each.assumption): each for each in EXPLORATIONS}
    for each in explorations:
        if each.picture:
            figure = exploration_chart(asked[each.artefact, each.assumption], each)
            save_chart(figure, DOCS / "figures" / each.picture)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m trials.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="what was printed")
    files: list[Path] = parser.parse_args(arguments).files
    record([each for path in files for each in json.loads(path.read_text("utf-8"))])


if __name__ == "__main__":
    main()
