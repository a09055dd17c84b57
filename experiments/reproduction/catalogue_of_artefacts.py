"""All artefacts, and those that a name stands for."""

from collections.abc import Sequence

from callboard.experiments.reproduction.architecture_artefacts import ARCHITECTURE_ARTEFACTS
from callboard.experiments.reproduction.artefact import AnyArtefact, Paper
from callboard.experiments.reproduction.facebook_tables import FACEBOOK_TABLES
from callboard.experiments.reproduction.hfsp_artefacts import HFSP_ARTEFACTS
from callboard.experiments.reproduction.hfsp_claims import HFSP_CLAIMS
from callboard.experiments.reproduction.hfsp_estimates import HFSP_ESTIMATES
from callboard.experiments.reproduction.hfsp_sensitivity import HFSP_SENSITIVITY
from callboard.experiments.reproduction.hybrid_artefacts import HYBRID_ARTEFACTS
from callboard.experiments.reproduction.hybrid_facebook import HYBRID_FACEBOOK
from callboard.experiments.reproduction.ideal_artefacts import IDEAL_ARTEFACTS
from callboard.experiments.reproduction.preemption_artefacts import PREEMPTION_ARTEFACTS
from callboard.experiments.reproduction.slides_artefacts import SLIDES_ARTEFACTS
from callboard.experiments.reproduction.slides_formulas import SLIDES_FORMULAS
from callboard.experiments.reproduction.slides_sections import SLIDES_SECTIONS
from callboard.experiments.user_errors import InputError
from callboard.scheduler.text.concise import concise

ARTEFACTS: tuple[AnyArtefact, ...] = (
    *HFSP_ARTEFACTS,
    *HFSP_ESTIMATES,
    *HFSP_CLAIMS,
    *HFSP_SENSITIVITY,
    *SLIDES_ARTEFACTS,
    *SLIDES_SECTIONS,
    *SLIDES_FORMULAS,
    *IDEAL_ARTEFACTS,
    *HYBRID_ARTEFACTS,
    *HYBRID_FACEBOOK,
    *FACEBOOK_TABLES,
    *PREEMPTION_ARTEFACTS,
    *ARCHITECTURE_ARTEFACTS,
)


def chosen_artefacts(names: Sequence[str]) -> list[AnyArtefact]:
    """The artefacts of these papers, or with these ids, each once, in the order of the table."""
    by_id = {each.id for each in ARTEFACTS}
    papers = {paper.value for paper in Paper}
    for name in names:
        if name not in by_id | papers:
            raise InputError(_unknown_name_message(name))
    return [each for each in ARTEFACTS if each.id in names or each.paper.value in names]


def _unknown_name_message(name: str) -> str:
    from difflib import get_close_matches

    known = [*(paper.value for paper in Paper), *(each.id for each in ARTEFACTS)]
    near = get_close_matches(name, known, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"papers are {', '.join(Paper)};"
    return f"{concise(name)}: no such paper or artefact; {hint} `callboard reproduce` lists all"
