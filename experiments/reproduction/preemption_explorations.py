"""What global preemption's paper leaves open: how much production takes by force, when long jobs
are cut and which are long, how long a pool waits before it takes.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.catalogue_of_artefacts import GP, played_for
from callboard.experiments.reproduction.evidence import Played, Runs
from callboard.experiments.reproduction.exploration import Exploration
from callboard.experiments.reproduction.gp_figures import long_job_kills
from callboard.experiments.reproduction.sample_figure import SampleFigure, figure_of

_WHERE = "66th"
_ONE_GROUP = f"the long job {_WHERE}"
_DUE = (320, 120, 40)
_NEVER_LONG_S = 100_000
_LONG_S = 200
_SEEDS = tuple(range(1, 7))

_BUSY_WORLDS = played_for("gp-fig-3-by-job")


def _global_policy(cuts: str, long_s: int = _LONG_S) -> str:
    """Global preemption with a rule for cutting long jobs."""
    how = f'cuts="{cuts}"' if cuts != "off" else f"long_s={_NEVER_LONG_S}"
    long = f", long_s={long_s}" if long_s != _LONG_S else ""
    return f"fair+delay+global(interval_s=20, {how}{long})"


def _rival_beside_global(other: str, policy: str, *more: str) -> Played:
    """Another rule, and global preemption, in busy hours with the long job at the 66th place."""
    rival = _BUSY_WORLDS.only(f"{other}, {_WHERE}").changed(*more)
    if other == "Hadoop":
        rival = rival.changed(meters=())  # the twin plays it
    ours = _BUSY_WORLDS.only(f"global, {_WHERE}").changed(*more, policy=policy)
    return Played((*rival.cells, *ours.cells))


def _global_measures_over(other: str) -> tuple[Quantity[Any], ...]:
    """Figure 3's measures under global preemption over those under another rule."""
    groups = [{"where": _WHERE}]
    found = GP.quantities_named("figure_3", one="global", other=other, groups=groups)
    return tuple(
        replace(each, label=each.label.replace("average over the groups", _ONE_GROUP))
        for each in found
    )


def _killed_under(rule: str) -> SampleFigure:
    """How many of the long job's attempts a rule kills."""
    return figure_of(f"{rule}, {_WHERE}", long_job_kills, int(_WHERE[:-2]))


def _min_share_override(slots: int) -> str:
    """Production is due that many of the 400 map slots."""
    return f"parts.fair.pools.production.min_maps={slots}"


def _settings_by_due_and_cuts(other: str) -> Mapping[str, Played]:
    """What production is due, by when long jobs are cut."""
    return {
        f"{slots} due, cut {cuts}": _rival_beside_global(
            other, _global_policy(cuts), _min_share_override(slots)
        )
        for slots in _DUE
        for cuts in ("always", "starving", "off")
    }


def _by_long_threshold(other: str) -> Mapping[str, Played]:
    """Long is what has run for a shorter or for a longer time."""
    return {
        f"{slots} due, cut always, long from {long_s} s": _rival_beside_global(
            other, _global_policy("always", long_s), _min_share_override(slots)
        )
        for slots in (320, 40)
        for long_s in (100, 800)
    }


def _by_min_share_timeout(other: str) -> Mapping[str, Played]:
    """Pools wait longer for their min share before they take it."""
    return {
        f"after {wait_s} s": _rival_beside_global(
            other, _global_policy("always"), *_timeout_overrides(wait_s)
        )
        for wait_s in (20, 60, 300)
    }


def _timeout_overrides(wait_s: int) -> tuple[str, ...]:
    pools = ("production", "others")
    return tuple(f"parts.fair.pools.{pool}.min_share_timeout_s={wait_s}" for pool in pools)


_DUE_WORDS = (
    "how many of the 400 map slots production is due by force (printed: 320), when global"
    " preemption cuts long jobs, and from when on a job is long (here: 200 s)"
)
_DUE_RANGE = (
    "down to a tenth, which the short tasks can give alone; the cut whenever the cluster is busy,"
    " only where somebody starves, or never, as the paper saw one in all its experiments; short"
    " jobs end by 200 to 400 s at Facebook"
)

_KILLED_LONG = Exploration(
    artefact="gp-killed-long",
    assumption=_DUE_WORDS,
    plausible=_DUE_RANGE,
    settings={**_settings_by_due_and_cuts("job by job"), **_by_long_threshold("job by job")},
    quantities=(
        Quantity[Runs](
            label="the long job's killed tasks, global over job by job",
            value=_killed_under("global") / _killed_under("job by job"),
            below=0.5,
        ),
    ),
    seeds=_SEEDS,
    picture="explored-gp-killed-long.svg",
)

_BY_JOB = Exploration(
    artefact="gp-fig-3-by-job",
    assumption=f"{_DUE_WORDS}, against preemption job by job",
    plausible=_DUE_RANGE,
    settings=_settings_by_due_and_cuts("job by job"),
    quantities=_global_measures_over("job by job"),
    seeds=_SEEDS,
)

_BUSY = Exploration(
    artefact="gp-fig-3-busy",
    assumption="how long a pool waits for its min share before it takes it (here: 20 s)",
    plausible="one check, as the paper's short interval suggests, to Hadoop's manual's minutes",
    settings=_by_min_share_timeout("Hadoop"),
    quantities=_global_measures_over("Hadoop"),
    seeds=_SEEDS,
)

_BUSY_DUE = Exploration(
    artefact="gp-fig-3-busy",
    assumption="how many of the 400 map slots production is due by force (printed: 320), and when"
    " global preemption cuts long jobs, against Hadoop's rule",
    plausible="down to a tenth; always, where somebody starves, or never",
    settings=_settings_by_due_and_cuts("Hadoop"),
    quantities=_global_measures_over("Hadoop"),
    seeds=_SEEDS,
    picture="explored-gp-fig-3-busy.svg",
)

PREEMPTION_EXPLORATIONS = (_BUSY, _BUSY_DUE, _BY_JOB, _KILLED_LONG)
