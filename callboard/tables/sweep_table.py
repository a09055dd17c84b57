"""The table of a store: a row for each scenario, setting and policy."""

from collections.abc import Callable, Sequence

from rich import box
from rich.table import Table

from callboard.console import plain
from callboard.experiments.many.seed_runs import (
    Figure,
    SeedRuns,
    mean_response_s,
    mean_slowdown,
    p95_response_s,
)
from callboard.experiments.many.sweeps.sensitivity import KeyIndex, Question
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns, varied_keys
from callboard.experiments.pages.figure_rows import write_seconds
from callboard.experiments.pages.figure_text import difference_cells, interval_text, with_half

_COLUMNS: dict[str, tuple[Figure, Callable[[float], str]]] = {
    "mean response": (mean_response_s, write_seconds),
    "p95": (p95_response_s, write_seconds),
    "slowdown": (mean_slowdown, "{:,.1f}×".format),
}
"""The figures, and how their means are written."""


def sweep_table(groups: Sequence[SettingRuns]) -> Table:
    """Means over the seeds with 95 % intervals; columns that would say the same in each row, or
    nothing, are left out.
    """
    keys, several = varied_keys(groups), len({group.scenario for group in groups}) > 1
    shown = {name: each for name, each in _COLUMNS.items() if _is_known(groups, each[0])}
    compared = any(len(group.runs.policies) > 1 for group in groups)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (*(["scenario"] if several else []), *keys, "policy"):
        table.add_column(plain(name))
    fails = any(group.failed for group in groups)
    last = ["against the first"] * compared + ["failed"] * fails
    for name in ("seeds", *shown, *last):
        table.add_column(name, justify="right", no_wrap=True)
    for group in groups:
        setting = dict(group.setting)
        for place, policy in enumerate(group.runs.policies):
            head = [group.scenario] * several + [setting.get(key, "") for key in keys] + [policy]
            figures = [
                interval_text(write, group.runs.mean(place, of)) for of, write in shown.values()
            ]
            against = [_against(group.runs, place)] * compared
            seeds = str(len(group.runs.results(place)))
            failed = [str(group.failed or "") if place == 0 else ""] * fails
            table.add_row(*map(plain, head), seeds, *figures, *against, *failed)
    return table


def _is_known(groups: Sequence[SettingRuns], figure: Figure) -> bool:
    rows = (row for group in groups for row in group.runs.figures(figure))
    return any(value is not None for row in rows for value in row)


def _against(runs: SeedRuns, place: int) -> str:
    """The paired difference of mean response to the first policy, as a share of its mean."""
    if not place:
        return ""
    return difference_cells(runs.against_first(place, mean_response_s), " s").percent or "-"


def index_table(question: Question, policy: str, found: Sequence[KeyIndex]) -> Table:
    """How much each key matters under a policy, the most first."""
    sobol = question.method == "sobol"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = ("explains alone", "with others") if sobol else ("mean effect μ*", "deviation σ")
    for name in (f"mean response, {policy}", "from", "to", *names):
        table.add_column(plain(name), justify="left" if "response" in name else "right")
    ranges = {each.key: each for each in question.ranges}
    for each in sorted(found, key=lambda index: -(index.total if sobol else index.main)):
        ends = ranges[each.key]
        main = with_half(f"{each.main:.2f}" if sobol else f"{each.main:,.1f} s", each.main_half)
        total = with_half(f"{each.total:.2f}", each.other) if sobol else f"{each.total:,.1f} s"
        table.add_row(plain(each.key), f"{ends.low:g}", f"{ends.high:g}", main, total)
    return table
