"""What HFSP's paper does not print: lengths of maps, and how fast jobs age."""

from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.evidence import Played, Runs
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.hfsp_artefacts import LARGER, workload
from callboard.experiments.reproduction.run_figures import (
    done_within,
    greatest_slowdown,
    mean_of_responses_s,
    of,
    ratio,
)

_DEV_MAP_S = (3, 5, 8, 12, 16, 24)


def _dev(map_s: int) -> Played:
    """DEV with maps of other lengths; reduces do their share of what maps do."""
    pair = (workload("dev", policy, more=(f"workload.sizes.map_s={map_s}",)) for policy in _PAIR)
    return Played(tuple(pair))


_PAIR = ("hfsp", "fair")

_DEV_MAPS = Exploration(
    artefact="hfsp-fig-7",
    assumption="how long a map takes on DEV, in seconds (here: 5)",
    plausible="Figure 11 has most maps below 60 s; from 24 s on the cluster is overloaded",
    settings={f"{map_s} s": _dev(map_s) for map_s in _DEV_MAP_S},
    quantities=(
        *(
            Quantity[Runs](
                label=f"within 80 s, {told}",
                value=of(f"dev {policy}", done_within(80, LARGER)),
                printed=printed,
                share=True,
            )
            for policy, told, printed in (("hfsp", "HFSP", 0.6), ("fair", "Fair", 0.2))
        ),
        Quantity[Runs](
            label="DEV, HFSP's mean over Fair's",
            value=ratio("dev hfsp", "dev fair", mean_of_responses_s),
            printed=0.66,
            below=1,
        ),
    ),
)


def _dev_fairness(policy: str, *more: str) -> Played:
    """DEV under a variant of HFSP, and under Fair on the same cluster."""
    return Played((workload("dev", policy, "dev hfsp", more), workload("dev", "fair", more=more)))


_DEV_SLOWDOWN = Exploration(
    artefact="hfsp-fig-9",
    assumption="what holds up the jobs with DEV's greatest slowdowns, which are tiny",
    plausible="when reduces begin, what may be taken back, what is known, and how fast jobs age: in"
    " the published code at half the speed",
    settings={
        "as it is": _dev_fairness("hfsp"),
        "reduces begin after all maps": _dev_fairness("hfsp", "tasks.slowstart=1.0"),
        "slots are taken back": _dev_fairness('hfsp+preemptive(how="suspend")'),
        "sizes are known": _dev_fairness('hfsp(size="oracle")'),
        "ageing at half speed": _dev_fairness("hfsp(half_speed=true)"),
    },
    quantities=(
        Quantity[Runs](
            label="DEV, greatest slowdown, HFSP over Fair",
            value=ratio("dev hfsp", "dev fair", greatest_slowdown),
            below=1.25,
        ),
    ),
)

HFSP_EXPLORATIONS = (_DEV_MAPS, _DEV_SLOWDOWN)
