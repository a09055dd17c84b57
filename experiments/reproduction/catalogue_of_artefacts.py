"""All artefacts, and those that a name stands for."""

from collections.abc import Sequence
from typing import Any

from callboard.experiments.reproduction.architecture_figures import ARCHITECTURE_FIGURES
from callboard.experiments.reproduction.artefact import AnyArtefact, Paper, Quantity
from callboard.experiments.reproduction.evidence import Played
from callboard.experiments.reproduction.gp_figures import GP_FIGURES
from callboard.experiments.reproduction.hfsp_figures import HFSP_FIGURES
from callboard.experiments.reproduction.hybrid_figures import HYBRID_FIGURES
from callboard.experiments.reproduction.paper_file import PAPERS, PaperFile
from callboard.experiments.reproduction.report_figures import REPORT_FIGURES
from callboard.experiments.reproduction.slides_figures import SLIDES_FIGURES
from callboard.experiments.user_errors import InputError
from callboard.scheduler.text.concise import concise

HFSP = PaperFile(PAPERS / "hfsp.toml", HFSP_FIGURES)
SLIDES = PaperFile(PAPERS / "slides.toml", SLIDES_FIGURES)
REPORT = PaperFile(PAPERS / "report.toml", REPORT_FIGURES)
HYBRID = PaperFile(PAPERS / "hybrid.toml", HYBRID_FIGURES)
GP = PaperFile(PAPERS / "gp.toml", GP_FIGURES)
SPARROW = PaperFile(PAPERS / "sparrow.toml", ARCHITECTURE_FIGURES)
HAWK = PaperFile(PAPERS / "hawk.toml", ARCHITECTURE_FIGURES)
OMEGA = PaperFile(PAPERS / "omega.toml", ARCHITECTURE_FIGURES)

ARTEFACTS: tuple[AnyArtefact, ...] = tuple(
    artefact
    for paper in (HFSP, SLIDES, REPORT, HYBRID, GP, SPARROW, HAWK, OMEGA)
    for artefact in paper.artefacts()
)

_BY_ID = {each.id: each for each in ARTEFACTS}


def quantities_of(artefact: str, *labels: str) -> tuple[Quantity[Any], ...]:
    """The quantities of the artefact with this id: those with these labels, all if none is told."""
    by_label = {each.label: each for each in _BY_ID[artefact].quantities}
    return tuple(by_label[label] for label in labels or by_label)


def played_for(artefact: str) -> Played:
    """What is played for the artefact with this id."""
    evidence = _BY_ID[artefact].evidence
    assert isinstance(evidence, Played)
    return evidence


def chosen_artefacts(names: Sequence[str]) -> list[AnyArtefact]:
    """The artefacts of these papers, or with these ids, each once, in the order of the table."""
    papers = {paper.value for paper in Paper}
    for name in names:
        if name not in _BY_ID.keys() | papers:
            raise InputError(_unknown_name_message(name))
    return [each for each in ARTEFACTS if each.id in names or each.paper.value in names]


def _unknown_name_message(name: str) -> str:
    from difflib import get_close_matches

    known = [*(paper.value for paper in Paper), *(each.id for each in ARTEFACTS)]
    near = get_close_matches(name, known, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"papers are {', '.join(Paper)};"
    return f"{concise(name)}: no such paper or artefact; {hint} `callboard reproduce` lists all"
