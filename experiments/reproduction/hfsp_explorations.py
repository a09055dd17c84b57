"""What HFSP's paper does not print: lengths of maps, where bin 4 ends, stragglers, how many reduces
there are, how fast jobs age, when they come.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from callboard.experiments.reproduction.catalogue_of_artefacts import played_for, quantities_of
from callboard.experiments.reproduction.evidence import Drawn, Played
from callboard.experiments.reproduction.exploration import Exploration


def _map_length_override(seconds: int) -> str:
    """Maps so long; reduces do their share of what maps do."""
    return f"workload.sizes.map_s={seconds}"


_MEANS = Exploration(
    artefact="hfsp-fig-6",
    assumption="how long a map takes, in seconds (here: 5), and so what the load is",
    plausible="Figure 11 has most maps below 60 s; from 8 s on TEST and PROD are overloaded",
    settings={
        f"{each} s": played_for("hfsp-fig-6").changed(_map_length_override(each), slowdown=False)
        for each in (1, 2, 3, 5, 8, 16)
    },
    quantities=quantities_of("hfsp-fig-6"),
    picture="explored-hfsp-fig-6.svg",
)

_DEV_MAPS = Exploration(
    artefact="hfsp-fig-7",
    assumption="how long a map takes on DEV, in seconds (here: 5)",
    plausible="Figure 11 has most maps below 60 s; from 24 s on the cluster is overloaded",
    settings={
        f"{each} s": played_for("hfsp-fig-7").changed(_map_length_override(each))
        for each in (3, 5, 8, 12, 16, 24)
    },
    quantities=(
        *quantities_of("hfsp-fig-7", "within 80 s, HFSP", "within 80 s, Fair"),
        *quantities_of("hfsp-fig-6", "DEV, HFSP's mean over Fair's"),
    ),
    picture="explored-hfsp-fig-7.svg",
)

_MEDIANS = Exploration(
    artefact="hfsp-fig-8",
    assumption="how long a map takes on TEST, in seconds (here: 5), and how many maps the largest"
    " jobs have (here: 5,000)",
    plausible="bin 4 begins at 150 maps and has ten times the data of bin 3; with maps of 12 s and"
    " 5,000 maps the load is above 2",
    settings={
        f"{seconds} s, {maps:,}": played_for("hfsp-fig-8").changed(
            _map_length_override(seconds), f"workload.sizes.largest_maps={maps}", slowdown=False
        )
        for seconds in (5, 8, 12)
        for maps in (1000, 2000, 5000)
    },
    quantities=quantities_of("hfsp-fig-8"),
    seeds=tuple(range(11, 19)),
    picture="explored-hfsp-fig-8.svg",
)


def _dev_hfsp_beside_fair(policy: str, *more: str) -> Played:
    """DEV under a variant of HFSP, and under Fair on the same cluster."""
    hfsp, fair = played_for("hfsp-fig-7").changed(*more).cells
    meters = hfsp.meters if policy == hfsp.policy else ()
    return Played((replace(hfsp, policy=policy, meters=meters), fair))


_DEV_SLOWDOWN = Exploration(
    artefact="hfsp-fig-9",
    assumption="what holds up the jobs with DEV's greatest slowdowns, which are tiny",
    plausible="when reduces begin, what may be taken back, what is known, and how fast jobs age: in"
    " the published code at half the speed",
    settings={
        "as it is": _dev_hfsp_beside_fair("hfsp"),
        "reduces begin after all maps": _dev_hfsp_beside_fair("hfsp", "tasks.slowstart=1.0"),
        "slots are taken back": _dev_hfsp_beside_fair('hfsp+preemptive(how="suspend")'),
        "sizes are known": _dev_hfsp_beside_fair('hfsp(size="oracle")'),
        "ageing at half speed": _dev_hfsp_beside_fair("hfsp(half_speed=true)"),
    },
    quantities=quantities_of("hfsp-fig-9", "DEV, greatest slowdown, HFSP over Fair"),
)

_ARRIVALS = Exploration(
    artefact="hfsp-fig-10-arrivals",
    assumption="how often a job comes, in seconds (printed: 60)",
    plausible="down to the rate of the second burst, 35 in 576 s",
    settings={
        f"{gap_s} s": Drawn(
            "hfsp-calibrated",
            ('workload.sizes.kind="hfsp-prod"', f"workload.arrivals.mean_s={gap_s}"),
        )
        for gap_s in (60, 40, 30, 25, 20, 16)
    },
    quantities=quantities_of("hfsp-fig-10-arrivals"),
)

_REDUCES = Exploration(
    artefact="hfsp-fig-11",
    assumption="how many reduces the jobs of each bin have (here: 1, 4, 8, 10), and whether their"
    " work grows with the data (here: it does)",
    plausible="from the sample query's 20 for all to one for so much data; a reduce that takes 45 s"
    " by a log-normal factor of σ = 1, whatever its data, as in `hfsp-test`",
    settings={
        **{
            told: Drawn("hfsp-calibrated", (f"workload.sizes.reduces=[{told}]",))
            for told in ("20, 20, 20, 20", "1, 4, 8, 10", "1, 4, 16, 64", "1, 4, 20, 200")
        },
        "1, 4, 20, 200, maps alike": Drawn(
            "hfsp-calibrated",
            ("workload.sizes.reduces=[1, 4, 20, 200]", "workload.sizes.map_sigma=0.2"),
        ),
        "one for ten maps, as long for all": Drawn("hfsp-test", ()),
    },
    quantities=quantities_of("hfsp-fig-11"),
)


def _hfsp_workloads(*more: str) -> Played:
    """The three workloads under HFSP, whose tasks differ otherwise."""
    return played_for("hfsp-fig-13").changed(*more, slowdown=False)


_TASKS: Mapping[str, Played] = {
    "σ = 0.2": _hfsp_workloads(),
    "σ = 0.5": _hfsp_workloads("tasks.sigma=0.5"),
    "σ = 1": _hfsp_workloads("tasks.sigma=1.0"),
    "2 % stragglers": _hfsp_workloads("tasks.straggler_share=0.02"),
    "5 % stragglers": _hfsp_workloads("tasks.straggler_share=0.05"),
    "2 %, ten times": _hfsp_workloads("tasks.straggler_share=0.02", "tasks.straggler_factor=10"),
    "σ = 0.5, 2 %": _hfsp_workloads("tasks.sigma=0.5", "tasks.straggler_share=0.02"),
}
_TASKS_WORDS = (
    "how much a job's tasks differ (here: by a log-normal factor of σ = 0.2), and how many of them"
    " are stragglers, which take five times as long (here: none)"
)
_TASKS_RANGE = (
    "Figure 12 has task times rather stable within a job; the paper's III-A lays over-estimates to"
    " stragglers"
)

_ERRORS = (
    Exploration(
        artefact="hfsp-fig-13",
        assumption=_TASKS_WORDS,
        plausible=_TASKS_RANGE,
        settings=_TASKS,
        quantities=quantities_of("hfsp-fig-13"),
        picture="explored-hfsp-fig-13.svg",
    ),
    *(
        Exploration(
            artefact=f"hfsp-fig-{number}",
            assumption=_TASKS_WORDS,
            plausible=_TASKS_RANGE,
            settings=_TASKS,
            quantities=quantities_of(f"hfsp-fig-{number}"),
        )
        for number in (14, 15)
    ),
)

HFSP_EXPLORATIONS = (
    _MEANS,
    _DEV_MAPS,
    _MEDIANS,
    _DEV_SLOWDOWN,
    _ARRIVALS,
    _REDUCES,
    *_ERRORS,
)
