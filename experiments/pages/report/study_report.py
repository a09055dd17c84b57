"""The report of runs: of journals, of a comparison over seeds, of a sweep's store."""

import platform
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np

from callboard.actors.version import __version__
from callboard.experiments.many.seed_runs import mean_response_s
from callboard.experiments.many.sweeps.played_cell import PlayedCell
from callboard.experiments.many.sweeps.sensitivity import (
    Question,
    indices_by_policy,
    without_points,
)
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns, by_setting
from callboard.experiments.pages.charts.cell_table import CellTable, policy_labels, setting_label
from callboard.experiments.pages.charts.chart_catalogue import RUN_CHARTS, sensitivity_chart
from callboard.experiments.pages.charts.chart_run import ChartRun, NothingToDraw
from callboard.experiments.pages.charts.chart_style import COLUMN_INCHES
from callboard.experiments.pages.charts.job_charts import ecdf_chart, slowdown_chart
from callboard.experiments.pages.charts.pooled_runs import pooled_runs
from callboard.experiments.pages.charts.run_labels import labelled_runs
from callboard.experiments.pages.charts.store_charts import differences_chart, intervals_chart
from callboard.experiments.pages.figure_rows import (
    COST_ROWS,
    GROUP_KEYS,
    OUTCOME_ROWS,
    SLOWDOWN_WORDS,
    TIES_LABEL,
    TableRow,
    done_within_row,
    group_rows,
)
from callboard.experiments.pages.report.document import (
    Block,
    CommandLines,
    Document,
    FactList,
    Prose,
    ReportCell,
    ReportFigure,
    ReportSection,
    ReportTable,
)
from callboard.experiments.pages.report.inline_svg import inline_svg
from callboard.experiments.pages.report.report_source import ReportSource
from callboard.experiments.pages.report.report_words import (
    ONE_RUN_REMARK,
    ONE_SEED_REMARK,
    lead_of,
    number_ranges,
    report_title,
    runs_words,
    seed_copies_note,
    sentences_on_cut_runs,
    skewed_remark,
    world_sentence,
)
from callboard.experiments.pages.report.result_tables import (
    figure_table,
    key_step_table,
    overview_table,
    paired_difference_table,
)
from callboard.experiments.pages.report.world_facts import WorldFacts, rough_duration
from callboard.scheduler.text.missing_extra import MissingExtraError
from callboard.scheduler.text.quantities import as_sentence, count

_SETTINGS_MAX = 12
"""Settings with tables of their own; of more there is the overview alone."""

_OVERVIEW_MAX = 60
"""Settings in the overview."""

_GROUPS_MAX = 30
"""Pools or users in a table; a table of more would be read by nobody."""

_ROWS_MAX = 200
_DRAWN_MAX = 4
"""Runs whose slots are drawn."""


def study_report(source: ReportSource) -> Document:
    """The whole report.  MissingExtraError without SciPy or matplotlib."""
    groups = by_setting(source.cells)
    sections = [
        ReportSection("What was asked", list(_question_blocks(source, groups))),
        ReportSection("Results", list(_result_blocks(source, groups))),
        *_glossary_section(source),
        *_figure_section(source),
        *_group_sections(source, groups),
        *_setting_sections(source, groups),
        ReportSection("What failed", list(_failure_tables(source))),
        ReportSection("What it cost", _cost_blocks(source, groups)),
        ReportSection("How to run it again", list(_reproduction_blocks(source))),
        *_digest_section(source),
    ]
    return Document(
        title=report_title(source.cells),
        lead="\n".join(
            [*sentences_on_cut_runs(source.cells), *_lead_sentences(source, groups), *source.errors]
        ),
        sections=sections,
    )


def _lead_sentences(source: ReportSource, groups: Sequence[SettingRuns]) -> Iterator[str]:
    """What was found; where a timeline changes the policy that is told, and runs are not compared
    by the policies that they began under.
    """
    notes = {name: world.switches for name, world in source.worlds.items() if world.switches}
    for name, note in notes.items():
        yield f"{name}: {note}." if len(source.worlds) > 1 else as_sentence(note)
    compared = [g for g in groups if g.scenario not in notes or len(g.runs.policies) < 2]
    if compared:
        yield lead_of(compared)


# What was asked.


def _question_blocks(source: ReportSource, groups: Sequence[SettingRuns]) -> Iterator[Block]:
    for note in source.notes:
        yield Prose(text=note, mark="bad")
    table = CellTable(source.cells)
    scenarios = list(dict.fromkeys(cell.scenario for cell in source.cells))
    for scenario in scenarios:
        mine = [cell.result for cell in source.cells if cell.scenario == scenario]
        results = [each for each in mine if each is not None]
        world = source.worlds.get(scenario, WorldFacts())
        settings = sum(group.scenario == scenario for group in groups)
        sentence = world_sentence(world, results, several=settings > 1)
        name = f"{scenario}:" if len(scenarios) > 1 else ""
        yield Prose(text=" ".join(filter(None, (name, world.story, sentence))))
    policies = list(dict.fromkeys(cell.policy for cell in source.cells))
    seeds = sorted({cell.seed for cell in source.cells})
    facts = [("policies", policies), ("seeds", [number_ranges(seeds)])]
    facts += [(key, [", ".join(values)]) for key, values in table.varied.items()]
    fixed = dict(source.cells[0].setting) if source.cells else {}
    held = [f"{key} = {value}" for key, value in fixed.items() if key not in table.varied]
    if held:
        facts.append(("held at", held))
    facts.append(("runs", [runs_words(groups)]))
    if source.within_s:
        facts.append(("time asked about", [f"{source.within_s:,.15g} s"]))
    yield FactList(facts=facts)


# Results.


def _result_blocks(source: ReportSource, groups: Sequence[SettingRuns]) -> Iterator[Block]:
    if len(groups) > 1:
        shown = [group.without_copies() for group in groups[:_OVERVIEW_MAX]]
        yield overview_table(shown, source.within_s)
        more = len(groups) - _OVERVIEW_MAX
        if more > 0:
            text = f"{count(more, 'more setting')} are in the store: callboard sweep --show"
            yield Prose(text=f"{text} lists them.", mark="dim")
        if steps := key_step_table(groups[:_OVERVIEW_MAX]):
            yield steps
        yield Prose(text=_INTERVALS, mark="dim")
        if told := seed_copies_note(groups):
            yield Prose(text=as_sentence(told), mark="dim")
        return
    yield from _setting_blocks(groups[0], source.within_s)


def _glossary_section(source: ReportSource) -> Iterator[ReportSection]:
    """What the rows of slowdowns mean, where there are any."""
    if any(each.slowdown is not None for each in source.run_results):
        facts = [(word, [meaning]) for word, meaning in SLOWDOWN_WORDS.items()]
        yield ReportSection("What these words mean", [FactList(facts=facts)], folded=True)


_INTERVALS = (
    "Figures are means over the seeds ± half a 95 % interval. Differences are taken seed by seed;"
    " bold ones are beyond chance."
)


def _outcome_rows(within_s: float | None) -> list[TableRow]:
    """The rows of outcomes; the share done in time is told after the response times."""
    rows = list(OUTCOME_ROWS)
    if within_s:
        after = next(at for at, row in enumerate(rows) if row.label.startswith("slowdown"))
        rows.insert(after, done_within_row(within_s))
    return rows


def _setting_blocks(group: SettingRuns, within_s: float | None) -> Iterator[Block]:
    """The figures of one setting, and how policies differ."""
    runs = group.runs.without_copies()
    if not runs.seeds:
        yield Prose(text="No run has come to its end.", mark="bad")
        return
    yield figure_table(runs, _outcome_rows(within_s))
    if len(runs.seeds) < 2:
        one = group.runs.are_seeds_copies
        yield Prose(text=ONE_RUN_REMARK if one else ONE_SEED_REMARK, mark="dim")
        return
    yield Prose(text=_INTERVALS, mark="dim")
    if len(runs.policies) > 1:
        yield paired_difference_table(runs)
    labels = policy_labels(runs.policies)
    wide = ", ".join(labels[place] for place in runs.roughly_known_policies(mean_response_s))
    if wide:
        text = f"The mean response time is known only roughly for {wide}: more seeds"
        yield Prose(text=f"{text} would narrow the intervals.", mark="bad")
    if skewed := skewed_remark(runs):
        yield Prose(text=as_sentence(skewed), mark="bad")


# Figures.


def _figure_section(source: ReportSource) -> Iterator[ReportSection]:
    blocks = [*_sweep_figures(source), *_journal_figures(source)]
    if blocks:
        yield ReportSection("Figures", blocks)


def _sweep_figures(source: ReportSource) -> Iterator[Block]:
    table = CellTable(source.cells)
    if len(table.seeds) > 1 or len(table.settings) > 1:
        varied = without_points(source.cells, source.questions)
        means = "Mean response time, with 95 % intervals over the seeds"
        yield from _drawn_figure("intervals", means, intervals_chart, varied)
        told = "Differences of mean response time, seed by seed"
        yield from _drawn_figure("differences", told, differences_chart, varied)
    for place, question in enumerate(source.questions):
        yield from _tornado_figures(f"tornado{place}", question, source)
    if len(table.settings) == 1:
        yield from _pooled_figures(source)


def _tornado_figures(name: str, question: Question, source: ReportSource) -> Iterator[Block]:
    """What a question has come to, a figure a policy."""
    try:
        answers = indices_by_policy(question, source.cells)
    except MissingExtraError as error:
        yield Prose(text=f"What was asked of the keys is left out: {error}", mark="dim")
        return
    for place, (policy, found) in enumerate(answers.items()):
        figure = sensitivity_chart(question, policy, found)
        caption = f"How much each key moves the mean response time under {policy}"
        yield _report_figure(f"{name}-{place}", caption, figure)


def _pooled_figures(source: ReportSource) -> Iterator[Block]:
    """The jobs of all seeds together."""
    try:
        runs = pooled_runs(source.cells)
    except NothingToDraw:
        return
    told = "Share of the jobs done within a time"
    yield from _drawn_figure("ecdf", told, ecdf_chart, runs)
    if all(run.solo_ms is not None for run in runs):
        told = "Slowdown against running alone: median, 5th to 95th percentile"
        yield from _drawn_figure("slowdown", told, slowdown_chart, runs)


_JOURNAL_CAPTIONS = {
    "jobs": "Jobs in the system",
    "utilisation": "Slots held",
    "locality": "How near to their data maps were launched",
    "shares": "Slots held, and slots due by fair sharing",
    "gantt": "What the slots did",
}


def _journal_figures(source: ReportSource) -> Iterator[Block]:
    """What only journals tell, of the first seed."""
    runs, seeds = runs_of_first_seed(source.drawn), {run.summary.seed for run in source.drawn}
    of_seed = f", seed {runs[0].summary.seed}" if len(seeds) > 1 else ""
    if runs:
        for name, caption in _JOURNAL_CAPTIONS.items():
            yield from _drawn_figure(name, caption + of_seed, RUN_CHARTS[name].draw, runs)


def runs_of_first_seed(runs: Sequence[ChartRun]) -> list[ChartRun]:
    """Those of the first run's seed, as many as can be drawn, with labels of their own."""
    mine = [run for run in runs if run.summary.seed == runs[0].summary.seed]
    return labelled_runs(mine[:_DRAWN_MAX])


def _drawn_figure(name: str, caption: str, draw: Any, data: Sequence[object]) -> Iterator[Block]:
    """Unless there is nothing to draw."""
    try:
        figure = draw(data)
    except NothingToDraw:
        return
    yield _report_figure(name, caption, figure)


def _report_figure(name: str, caption: str, figure: Any) -> ReportFigure:
    wide = figure.get_figwidth() > COLUMN_INCHES
    return ReportFigure(svg=inline_svg(figure, name), caption=caption, wide=wide)


# Pools, users, settings.


def _group_sections(source: ReportSource, groups: Sequence[SettingRuns]) -> Iterator[ReportSection]:
    if len(groups) == 1:
        for title, blocks in _group_blocks(groups[0], source):
            yield ReportSection(title, blocks)


def _group_blocks(
    group: SettingRuns, source: ReportSource
) -> Iterator[tuple[str, Sequence[Block]]]:
    """A table by pool and one by user, where there are several."""
    results = [each for row in group.runs.rows for each in row if each is not None]
    for by in GROUP_KEYS:
        names = {name for each in results for name in getattr(each.jobs, by)}
        if 1 < len(names) <= _GROUPS_MAX:
            rows = group_rows(results, by, source.within_s)
            yield f"By {by}", [figure_table(group.runs.without_copies(), rows)]
        elif len(names) > _GROUPS_MAX:
            text = f"There are {len(names):,} {by}s, too many for a table."
            yield f"By {by}", [Prose(text=text, mark="dim")]


def _setting_sections(
    source: ReportSource, groups: Sequence[SettingRuns]
) -> Iterator[ReportSection]:
    """All figures of each setting, folded."""
    table = CellTable(source.cells)
    if 1 < len(groups) <= _SETTINGS_MAX:
        for group, setting in zip(groups, table.settings, strict=True):
            blocks = list(_setting_blocks(group, source.within_s))
            blocks += [b for _, each in _group_blocks(group, source) for b in each]
            yield ReportSection(setting_label(setting, table.varied), blocks, folded=True)


# What failed, what it cost, how to do it again.


def _failure_tables(source: ReportSource) -> Iterator[Block]:
    failed = [cell for cell in source.cells if cell.error]
    if failed:
        rows = [
            [_setting_words(cell), cell.policy, str(cell.seed), cell.error_in_short]
            for cell in failed[:_ROWS_MAX]
        ]
        headings = ("run", "policy", "seed", "why")
        text = f"{count(len(failed), 'run')} failed"
        yield ReportTable(headings=headings, rows=rows, text_columns=4, caption=text)
    jobs = list(_rows_of_incomplete_runs(source))
    if jobs:
        yield ReportTable(
            headings=("run", "policy", "seed", "ended", "jobs", "failed", "killed", "unfinished"),
            rows=jobs[:_ROWS_MAX],
            text_columns=4,
            caption="Runs that ended early, or in which not every job has completed",
        )
    if not failed and not jobs:
        runs = "run" if source.played_count == len(source.cells) else "run that was played"
        yield Prose(text=f"Nothing: every {runs} came to its end, and every job completed.")


def _rows_of_incomplete_runs(source: ReportSource) -> Iterator[list[ReportCell | str]]:
    for cell in source.cells:
        if cell.result is not None:
            jobs, reason = cell.result.summary.jobs, cell.result.summary.reason
            if jobs.completed < jobs.submitted or reason != "complete":
                numbers = (jobs.submitted, jobs.failed, jobs.killed, jobs.unfinished)
                texts = [f"{number:,}" for number in numbers]
                ended = _ENDINGS.get(reason or "", reason or "")
                yield [_setting_words(cell), cell.policy, str(cell.seed), ended, *texts]


_ENDINGS = {
    "": "cut off",
    "complete": "by itself",
    "until": "at its limit",
    "interrupted": "left before its end",
    "livelock": "its preemption went round",
}
"""How a run ended, by the reason that it gave."""


def _setting_words(cell: PlayedCell) -> str:
    values = " ".join(f"{key}={value}" for key, value in cell.setting)
    return f"{cell.scenario} {values}".strip()


def _cost_blocks(source: ReportSource, groups: Sequence[SettingRuns]) -> list[Block]:
    """What is known of it, or that nothing is."""
    known = [*_processor_time_sentence(source), *_cost_figures(source, groups)]
    return known or [Prose(text=_COST_UNKNOWN, mark="dim")]


_COST_UNKNOWN = (
    "Not known: messages are counted when a run ends, and a run that the twin has played has none."
)


def _processor_time_sentence(source: ReportSource) -> Iterator[Block]:
    spent = [each.processor_seconds for each in source.run_results]
    if spent and not any(map(isnan, spent)):
        told = f"{count(len(spent), 'run')} took {rough_duration(1000 * sum(spent))}"
        yield Prose(text=f"{told} of processor time in all.")


def _cost_figures(source: ReportSource, groups: Sequence[SettingRuns]) -> Iterator[Block]:
    """A table of one setting; of several the messages in all."""
    if len(groups) == 1 and groups[0].runs.seeds:
        table = figure_table(groups[0].runs, COST_ROWS)
        yield from [table] if table.rows else []
        if any(row[0] == TIES_LABEL for row in table.rows):
            yield Prose(text=_TIES, mark="dim")
        return
    messages = [each.summary.messages for each in source.run_results]
    known = [each for each in messages if each is not None]
    among = f", in {len(known)} of the runs" if len(known) < len(messages) else ""
    if known:
        yield Prose(text=f"The actors exchanged {sum(known):,} messages{among}.")


_TIES = (
    "Ties are messages that reach one actor at the same moment from different senders: which of"
    " them comes first is the kernel's choice, and run --tie-order makes another one."
)


def _reproduction_blocks(source: ReportSource) -> Iterator[Block]:
    if source.again:
        yield CommandLines(lines=source.again)
    told = "Equal scenario, policy and seed give an equal run on any machine: its digest says so."
    yield Prose(text=told)
    facts = [
        ("Callboard", [__version__]),
        ("Python", [platform.python_version()]),
        ("NumPy", [np.__version__]),
    ]
    if source.recorded_by:
        facts.insert(0, ("recorded by Callboard", list(source.recorded_by)))
    yield FactList(facts=facts)


def _digest_section(source: ReportSource) -> Iterator[ReportSection]:
    rows = [
        [_setting_words(cell), cell.policy, str(cell.seed), cell.result.summary.digest or "-"]
        for cell in source.cells
        if cell.result is not None
    ]
    if rows:
        more = f"; {len(rows) - _ROWS_MAX:,} more are in the store" * (len(rows) > _ROWS_MAX)
        headings = ("run", "policy", "seed", "digest")
        table = ReportTable(headings=headings, rows=rows[:_ROWS_MAX], text_columns=4)
        yield ReportSection(f"Digests of {count(len(rows), 'run')}{more}", [table], folded=True)
