"""HFSP's claims beside its figures: FIFO, and dominance over PS."""

from callboard.experiments.reproduction.artefact import (
    AnyArtefact,
    Artefact,
    Paper,
    Quantity,
    VerdictClass,
)
from callboard.experiments.reproduction.evidence import Played
from callboard.experiments.reproduction.hfsp_artefacts import WORKLOADS, workload_cell
from callboard.experiments.reproduction.run_figures import mean_of_responses_s, ratio
from callboard.experiments.reproduction.worked_examples import SeededExample

_RIVALS = ("fair", "hfsp")
_BESIDE_FIFO = Played(
    tuple(workload_cell(kind, policy) for kind in WORKLOADS for policy in ("fifo", *_RIVALS))
)

HFSP_CLAIMS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="hfsp-fifo",
        paper=Paper.HFSP,
        place="IV",
        says="FIFO is drastically outperformed by all other schedulers (here: by a factor of 2 at"
        " least, in the mean).",
        evidence=_BESIDE_FIFO,
        quantities=tuple(
            Quantity(
                label=f"{kind.upper()}, FIFO's mean over {name}'s",
                value=ratio(f"{kind} fifo", f"{kind} {policy}", mean_of_responses_s),
                above=2,
            )
            for kind in WORKLOADS
            for policy, name in (("fair", "Fair"), ("hfsp", "HFSP"))
        ),
    ),
    Artefact(
        id="hfsp-dominance",
        paper=Paper.HFSP,
        place="II, III-B",
        says="If sizes are known no job ends later under FSP than under PS (on the ideal machine).",
        verdict_class=VerdictClass.FORMULA,
        evidence=SeededExample("dominance"),
        quantities=(
            Quantity(
                label="jobs that end later under FSP than under PS",
                value=lambda found: found["later"],
                printed=0,
            ),
            Quantity(
                label="mean response time, FSP over PS",
                value=lambda found: found["FSP over PS"],
                below=1,
            ),
        ),
    ),
)
