"""What is not known of the clusters of global preemption's Tables I and Figure 1: how busy they
were, how long their tasks took, which jobs they had, how often these came.
"""

from callboard.experiments.reproduction.catalogue_of_artefacts import played_for, quantities_of
from callboard.experiments.reproduction.evidence import Drawn, Played
from callboard.experiments.reproduction.exploration import Exploration


def _quieter_morning(artefact: str, times: float) -> Played:
    """Facebook's morning with longer gaps between its jobs."""
    return played_for(artefact).changed(
        f"workload.arrivals.on_mean_s={10 * times:g}",
        f"workload.arrivals.off_mean_s={60 * times:g}",
    )


def _gap_words(times: int) -> str:
    return f"gaps {times} times as long" if times > 1 else "as it is"


_FACEBOOK = Exploration(
    artefact="gp-table-I",
    assumption="how often jobs come to the cluster on which the times were measured",
    plausible="the times are cut into tasks as if every job had 400 slots; a quarter of the load"
    " is a night",
    settings={
        _gap_words(times): _quieter_morning("gp-table-I", times) for times in (1, 2, 3, 4, 8)
    },
    quantities=quantities_of("gp-table-I"),
)

_INTERNET_COMPANY = Exploration(
    artefact="gp-table-I-b",
    assumption="how often jobs come to the Internet company's 40 nodes",
    plausible="as for Facebook's",
    settings={
        _gap_words(times): _quieter_morning("gp-table-I-b", 2.5 * times)
        for times in (1, 2, 3, 4, 8)
    },
    quantities=quantities_of("gp-table-I-b"),
)

_MICROSOFT = Exploration(
    artefact="gp-table-I-c",
    assumption="how long a map takes in a workload of Microsoft's sizes, in seconds (here: 5), with"
    " gaps between jobs as many times as long",
    plausible="up to an hour, at HFSP's load",
    settings={
        f"{5 * times} s": played_for("gp-table-I-c").changed(
            f"workload.sizes.map_s={5 * times}",
            f"workload.arrivals.mean_s={60 * times}",
            slowdown=False,
        )
        for times in (1, 3, 10, 30, 100, 300, 720)
    },
    quantities=quantities_of("gp-table-I-c"),
)

_PUBLISHED_SIZES = {
    "Facebook, Table II": ("facebook-morning", "workload.sizes.largest_maps=50000"),
    "Facebook, nine bins": ("macrobenchmark",),
    "GP, Table III": ("gp-busy",),
    "HFSP, DEV": ("hfsp-calibrated", 'workload.sizes.kind="hfsp-dev"'),
    "HFSP, TEST": ("hfsp-calibrated",),
    "HFSP, PROD": ("hfsp-calibrated", 'workload.sizes.kind="hfsp-prod"'),
}

_SIZES = Exploration(
    artefact="gp-fig-1",
    assumption="whose jobs are taken for the Internet company's",
    plausible="all published sizes that Callboard draws from",
    settings={
        told: Drawn(scenario, (*more, "workload.jobs=2000"))
        for told, (scenario, *more) in _PUBLISHED_SIZES.items()
    },
    quantities=quantities_of("gp-fig-1"),
)

_GAPS = Exploration(
    artefact="gp-gaps",
    assumption="how often a job comes by day, in seconds (here: 10)",
    plausible="from the 5 s that the paper's section IV takes for busy hours to 30 s in its own",
    settings={
        f"{gap_s} s": Drawn(
            "facebook-morning", ("workload.jobs=2000", f"workload.arrivals.on_mean_s={gap_s}")
        )
        for gap_s in (5, 10, 12, 15, 20, 30)
    },
    quantities=quantities_of("gp-gaps"),
)

FACEBOOK_EXPLORATIONS = (_FACEBOOK, _INTERNET_COMPANY, _MICROSOFT, _SIZES, _GAPS)
