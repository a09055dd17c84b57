"""What a report of runs says, and what it keeps to itself."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

import callboard
from callboard.actors.vocabulary.events import AnyEvent, JobSubmitted, RunEnded, RunStarted
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.cli import run_command_line
from callboard.experiments.many.seed_runs import SeedRuns, mean_response_s
from callboard.experiments.many.sweeps.key_steps import single_key_steps
from callboard.experiments.many.sweeps.played_cell import PlayedCell
from callboard.experiments.many.sweeps.sweep_plan import SweepPlan
from callboard.experiments.many.sweeps.sweep_rows import by_setting
from callboard.experiments.pages.charts.chart_catalogue import StoredSweep, read_chart_runs
from callboard.experiments.pages.charts.run_labels import run_settings
from callboard.experiments.pages.figure_rows import group_rows
from callboard.experiments.pages.report import study_report as reports
from callboard.experiments.pages.report.document import (
    Block,
    Document,
    ReportCell,
    ReportFigure,
    ReportTable,
)
from callboard.experiments.pages.report.page import render_page
from callboard.experiments.pages.report.report_source import (
    ReportSource,
    source_of_journals,
    source_of_store,
    source_of_sweep,
    sweep_command_lines,
)
from callboard.experiments.pages.report.report_words import found_sentence
from callboard.experiments.pages.report.study_report import runs_of_first_seed, study_report
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from tests.callboard.test_run_hints import SWITCHED
from tests.experiments.charts.support import record, under
from tests.experiments.charts.test_store_charts import SIGMA, cells, of_sigma, result
from tests.experiments.report.html import ReadPage
from tests.experiments.test_sweep import play
from tests.journal.stories import STORY, cut_at


@pytest.fixture
def figures() -> None:
    """Asked for by tests that look at figures, or at what these are drawn of."""


@pytest.fixture(autouse=True)
def _without_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures cost most of a report's time; the others leave them out."""
    if "figures" not in request.fixturenames:
        monkeypatch.setattr(reports, "_figure_section", lambda _: iter(()))


def section(document: Document, title: str) -> Sequence[Block]:
    (found,) = (each.blocks for each in document.sections if each.title == title)
    return found


def table_of(document: Document, title: str) -> dict[str, list[str]]:
    """The first table of a section: its rows by their label."""
    table = next(each for each in section(document, title) if isinstance(each, ReportTable))
    texts = [[c.text if isinstance(c, ReportCell) else c for c in row] for row in table.rows]
    return {row[0].strip(): row[1:] for row in texts}


def marks_of(document: Document, title: str, label: str) -> list[str]:
    table = next(each for each in section(document, title) if isinstance(each, ReportTable))
    (row,) = (row for row in table.rows if row[0] == label)
    return [cell.mark for cell in row[1:] if isinstance(cell, ReportCell)]


def said(document: Document) -> str:
    """All text of the page."""
    page = ReadPage(render_page(document))
    return "\n".join(text for texts in page.texts.values() for text in texts)


def journals(folder: Path, *policies: str, events: Sequence[AnyEvent] = STORY) -> list[Path]:
    return [record(folder / f"{name}.journal", under(name, events)) for name in policies]


@pytest.mark.usefixtures("figures")
def test_of_journals_it_has_all_parts(tmp_path: Path) -> None:
    source = source_of_journals(journals(tmp_path, "fifo", "fair"), within_s=2)
    document = study_report(source)
    assert document.title == "tiny: fifo, fair"
    assert [each.title for each in document.sections] == [
        "What was asked",
        "Results",
        "Figures",
        "By pool",
        "By user",
        "What failed",
        "What it cost",
        "How to run it again",
        "Digests of 2 runs",
    ]
    results = table_of(document, "Results")
    assert results["response time, mean"] == ["2.9 s", "2.9 s"]  # (4.4 + 1.3) / 2
    assert results["jobs done within 2 s"] == ["50.0%", "50.0%"]
    assert table_of(document, "By user")["bob: jobs"] == ["1", "1"]
    assert table_of(document, "What it cost")["messages"] == ["321", "321"]
    assert "ties among them" in table_of(document, "What it cost")
    text = said(document)
    assert "d1ge57" in text
    assert (
        "Ties are messages that reach one actor at the same moment from different senders" in text
    )
    assert f"callboard run {tmp_path / 'fifo.journal'}" in text
    assert "Slowdowns are left out" in text  # the story's scenario cannot be played


@pytest.mark.soak
def test_of_a_history_it_says_how_to_learn_how_far_it_is_off(tmp_path: Path) -> None:
    start = STORY[0]
    assert isinstance(start, RunStarted)
    history = {**start.scenario, "workload": {"kind": "recorded", "path": "mine.tasks.gz"}}
    told = (msgspec.structs.replace(start, scenario=history), *STORY[1:])
    (drawn,), (recorded,) = (
        journals(tmp_path, name, events=each) for name, each in (("fifo", STORY), ("fair", told))
    )
    words = "callboard backtest HISTORY --policy"
    assert words not in study_report(source_of_journals([drawn])).lead
    assert words in study_report(source_of_journals([recorded])).lead


def test_over_seeds_it_gives_intervals_and_what_is_sure() -> None:
    document = study_report(ReportSource(cells=list(cells(()))))
    results = table_of(document, "Results")
    assert results["response time, mean"] == ["102 ± 2 s", "52.0 ± 2.5 s"]
    assert marks_of(document, "Results", "response time, mean") == ["", "best"]
    found = "Under fair a job took 52.0 ± 2.5 s on average, 49% less than under fifo (102 ± 2 s)"
    assert document.lead.startswith(found)
    assert "less in 3 of 3 seeds" in document.lead
    assert "−50 s" in said(document)


def test_one_seed_is_said_to_be_one() -> None:
    document = study_report(ReportSource(cells=list(cells((), seeds=[1]))))
    assert "it cannot tell chance from policy" in document.lead
    assert "±" not in said(document).replace("± half", "")
    assert document.lead.startswith("Under fair a job took ")
    assert "best" not in marks_of(document, "Results", "response time, mean")
    assert "bold" not in said(document)


def test_runs_whose_policy_changes_are_not_compared_by_what_they_began_under(
    tmp_path: Path,
) -> None:
    """It said "Under fifo a job took 136 s on average, about as long as under fair": both were
    fair from the twentieth second on.
    """
    scenario = tmp_path / "switched.toml"
    scenario.write_text(SWITCHED, encoding="utf-8")
    begun = [tmp_path / f"{policy}.journal" for policy in ("fifo", "hfsp")]
    for path in begun:
        asked = ["run", str(scenario), "--policy", path.stem, "--journal", str(path)]
        assert run_command_line(asked) == 0
    lead = study_report(source_of_journals(begun)).lead
    assert lead == (
        "The scenario's own timeline changes the policy: fair from 00:00:20 on."
        " Columns are named by what each run begins under."
    )
    assert "a job took" in study_report(source_of_journals(begun[:1])).lead


def test_a_policy_that_was_changed_by_hand_is_told(tmp_path: Path) -> None:
    """The page was one of a run under fair, from its beginning to its end."""

    def changed(began: str, became: str, at_ms: int) -> Path:
        events: list[AnyEvent] = []
        spec = load_run("two-jobs").with_intervention(at_ms, Intervene((SwitchPolicy(became),)))
        Simulation(msgspec.structs.replace(spec, policy=began), [events.append]).run()
        return record(tmp_path / f"{began}.journal", events)

    journals = [changed("fair", "hfsp", 40_000), changed("fifo", "las", 60_000)]
    named = "Columns are named by what each run begins under."
    lead = study_report(source_of_journals(journals[:1])).lead
    told = f"The policy was changed by hand: hfsp from 00:00:40 on. {named}"
    assert lead.startswith(f"{told}\nUnder fair a job took")
    assert study_report(source_of_journals(journals)).lead == (
        "The policy was changed by hand: of fair to hfsp from 00:00:40 on;"
        f" of fifo to las from 00:01:00 on. {named}"
    )


def test_policies_under_which_it_took_as_long_are_named_of_one_seed_too() -> None:
    """Of 104 s under fair and under hfsp the sentence named hfsp alone; behind fifo's 129 s "it
    took about as long" did not say as what.
    """
    seconds = {"fifo": 129.0, "fair": 104.4, "hfsp": 103.7, "las": 118.0}
    one = [PlayedCell("toy", (), policy, 1, result(s)) for policy, s in seconds.items()]
    assert study_report(ReportSource(cells=one)).lead == (
        "Under hfsp a job took 104 s on average, 20% less than under fifo (129 s)."
        " Under fair it took about as long as under hfsp."
        " This is one seed: it cannot tell chance from policy."
    )


def test_means_of_other_jobs_are_told_to_be_such() -> None:
    """A policy under which jobs fail looked the better for it, in the sentence and by user."""
    changed = ("two-jobs", "fair")
    whole, cut = (
        callboard.run(*changed, options=callboard.RunOptions(until_ms=until_ms)).result
        for until_ms in (None, 150_000)
    )
    runs = [PlayedCell("toy", (), name, 1, each) for name, each in (("a", whole), ("b", cut))]
    none = callboard.run(*changed, options=callboard.RunOptions(until_ms=40_000)).result
    one = [PlayedCell("toy", (), name, 1, each) for name, each in (("a", whole), ("c", none))]
    told = " These are not the same jobs: 2 of 2 under c did not complete."
    assert told in study_report(ReportSource(cells=one)).lead
    told = " These are not the same jobs: 1 of 2 under b did not complete."
    assert told in study_report(ReportSource(cells=runs)).lead
    assert "not the same" not in study_report(ReportSource(cells=runs[:1])).lead
    lost = next(row for row in group_rows([whole, cut], "user") if "not completed" in row.label)
    assert (lost.of(whole), lost.of(cut)) == (0, 1)


def test_jobs_that_a_run_was_cut_off_before_are_missing_in_its_mean(tmp_path: Path) -> None:
    """All that had been submitted was done, so that the sentence had nobody to name, and failed."""
    apart = tmp_path / "apart.toml"
    apart.write_text('name = "apart"\n[workload]\nkind = "jobs"\n' + "".join(
        f"[[workload.job]]\nat_s = {at_s}\nmaps = 1\nmap_s = 1\n" for at_s in (0, 1000)
    ))  # fmt: skip
    whole, cut = (
        callboard.run(apart, options=callboard.RunOptions(until_ms=until_ms)).result
        for until_ms in (None, 500_000)
    )
    runs = SeedRuns("apart", ("fifo", "fair"), (1,), ((whole, cut),))
    told = " These are not the same jobs: 1 of 2 under fair did not complete."
    assert told in found_sentence(runs)


def test_what_is_equal_in_all_seeds_is_no_chance() -> None:
    """It said "less in 0 of 2, equal in 2 seeds, which may be chance", and called both `fair`."""
    runs = SeedRuns("toy", ("fair", "fair"), (1, 2), ((result(90.0),) * 2, (result(100.0),) * 2))
    assert found_sentence(runs) == (
        "Under fair #1 a job took 95.0 ± 63.5 s on average, about as long as under fair #2"
        " (95.0 ± 63.5 s). They are equal in each of the 2 seeds."
    )


def test_a_large_difference_that_may_be_chance_is_no_likeness() -> None:
    """It said of 1,538 ± 2,398 s that this was about as long as 554 ± 813 s."""
    seconds = {"las": (990, 900), "fifo": (900, 4000), "fair": (500, 600), "hfsp": (501, 601)}
    two = [
        PlayedCell("toy", (), policy, seed, result(float(each[seed - 1])))
        for policy, each in seconds.items()
        for seed in (1, 2)
    ]
    lead = study_report(ReportSource(cells=two)).lead
    assert lead.startswith("Under fair a job took 550 ")
    assert lead.endswith(
        " Under hfsp it took about as long as under fair."
        " Against fifo these seeds cannot tell a difference."
    )


def test_settings_are_rows_of_one_table() -> None:
    document = study_report(ReportSource(cells=list(cells(*of_sigma("0.5", "1.0")))))
    table, _ = (each for each in section(document, "Results") if isinstance(each, ReportTable))
    assert table.headings[:3] == ("noise of task lengths σ", "policy", "seeds")
    assert [row[0] for row in table.rows] == ["0.5", "0.5", "1.0", "1.0"]
    found = (
        "Under fair a job took 45 to 49% less on average than under fifo, in each of 2 settings."
    )
    assert document.lead == f"{found} 3 seeds each."
    folded = [each.title for each in document.sections if each.folded]
    assert folded[:2] == ["sigma = 0.5", "sigma = 1.0"]


def test_what_failed_is_told_with_its_message() -> None:
    every = list(cells(()))
    failure = "Traceback\n  ...\nKernelError: no progress"
    broken = [msgspec.structs.replace(every[0], result=None, error=failure), *every[1:]]
    document = study_report(ReportSource(cells=broken))
    assert table_of(document, "What failed") == {"toy": ["fifo", "1", "KernelError: no progress"]}
    assert "5 runs, 1 more failed" in said(document)
    whole = study_report(ReportSource(cells=every))
    assert "Nothing: every run came to its end" in said(whole)


def test_where_all_failed_there_is_still_a_report() -> None:
    broken = [PlayedCell("toy", (), "fifo", seed, error="stuck") for seed in (1, 2)]
    document = study_report(ReportSource(cells=broken))
    assert "No run has come to its end" in said(document)
    assert "stuck" in said(document)


@pytest.mark.soak
@pytest.mark.usefixtures("figures")
def test_a_run_that_was_cut_off_is_told_as_far_as_it_goes(tmp_path: Path) -> None:
    source = source_of_journals(journals(tmp_path, "fifo", events=STORY[:-4]))
    text = said(study_report(source))
    assert f"{tmp_path / 'fifo.journal'}: the run is not complete" in text
    assert "cut off" in text
    stopped = study_report(source_of_journals(journals(tmp_path, "fair", events=cut_at(3000))))
    assert table_of(stopped, "What failed") == {
        "tiny": ["fair", "7", "at its limit", "2", "0", "0", "1"]
    }


def test_of_a_run_that_was_cut_off_it_takes_no_jobs_to_come_for_none(tmp_path: Path) -> None:
    """Of the first half of a journal it said `the workload is 4 jobs` where the scenario has 13,
    and what it cost was a table with a head and no row.
    """
    first = next(at for at, each in enumerate(STORY) if isinstance(each, JobSubmitted))
    cut = journals(tmp_path, "fifo", events=STORY[: first + 1])
    document = study_report(source_of_journals(cut))
    assert "As far as the run goes, the workload is 1 job, " in said(document)
    assert "Not known: messages are counted when a run ends" in said(document)
    assert not [each for each in section(document, "What it cost") if isinstance(each, ReportTable)]
    both = source_of_journals([*cut, *journals(tmp_path, "fair")])
    assert "The workload is 2 jobs of 2 users" in said(study_report(both))


def test_of_several_runs_that_were_cut_off_the_workload_is_that_of_the_first(
    tmp_path: Path,
) -> None:
    """Of two settings it said "as far as the run goes", as if there were one run."""
    both = journals(tmp_path, "fifo", "fair", events=cut_at(1000))
    document = study_report(source_of_journals(both))
    assert "As far as the first run goes, the workload is 1 job, " in said(document)


@pytest.mark.usefixtures("figures")
def test_names_in_a_journal_are_never_taken_for_html(tmp_path: Path) -> None:
    evil = "<script src=//evil.example>"
    events = [
        msgspec.structs.replace(event, name=evil, user=evil, pool=f"{evil}{event.job}")
        if isinstance(event, JobSubmitted)
        else event
        for event in STORY
    ]
    path = record(tmp_path / "<b>.journal", events)
    html = render_page(study_report(source_of_journals([path])))
    page = ReadPage(html)
    assert f"{evil}0: jobs" in page.said("td")
    assert not page.outside
    assert "<script" not in html


@pytest.mark.usefixtures("figures")
def test_slots_are_drawn_of_the_first_seed_whose_runs_are_named_by_policy(tmp_path: Path) -> None:
    seeds = [
        record(
            tmp_path / f"{policy}-{seed}.journal",
            [
                msgspec.structs.replace(event, seed=seed)
                if isinstance(event, RunStarted)
                else msgspec.structs.replace(event, digest=f"{policy}{seed}")
                if isinstance(event, RunEnded)
                else event
                for event in under(policy)
            ],
        )
        for seed in (3, 4)
        for policy in ("fifo", "fair")
    ]
    document = study_report(source_of_journals(seeds))
    figures = [each for each in section(document, "Figures") if isinstance(each, ReportFigure)]
    captions = [each.caption for each in figures]
    assert "Mean response time, with 95 % intervals over the seeds" in captions
    assert "What the slots did, seed 3" in captions
    assert [run.label for run in runs_of_first_seed(read_chart_runs(seeds))] == ["fifo", "fair"]


def test_the_same_policy_twice_has_two_columns(tmp_path: Path) -> None:
    paths = [*journals(tmp_path, "fair"), record(tmp_path / "b.journal", under("fair"))]
    document = study_report(source_of_journals(paths))
    assert document.title == "tiny: fair, fair #2"


@pytest.mark.soak
@pytest.mark.usefixtures("figures")
def test_journals_of_unlike_clusters_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    """Not as `fair` and `fair #2` on one cluster: what-ifs are made so, with --nodes or --set."""
    paths = [tmp_path / f"{nodes}.journal" for nodes in (4, 2)]
    for nodes, path in zip((4, 2), paths, strict=True):
        callboard.run(
            "two-jobs",
            "fair",
            overrides=[f"cluster.nodes={nodes}"],
            options=callboard.RunOptions(journal=path),
        )
    source = source_of_journals(paths)
    assert [cell.setting for cell in source.cells] == [
        (("cluster.nodes", "4"),),
        (("cluster.nodes", "2"),),
    ]
    assert [run.label for run in source.drawn] == ["fair, nodes = 4", "fair, nodes = 2"]
    document = study_report(source)
    assert document.lead.startswith("With nodes = 2 a job took ")
    assert "In the first setting the cluster has 4 nodes" in said(document)


def test_journals_whose_nodes_send_heartbeats_at_other_intervals_are_told_so(
    tmp_path: Path,
) -> None:
    """As `run --nodes` says it: rule H1."""
    paths = {nodes: tmp_path / f"{nodes}.journal" for nodes in (4, 5, 400)}
    for nodes, path in paths.items():
        callboard.run(
            "two-jobs",
            "fifo",
            overrides=[f"cluster.nodes={nodes}"],
            options=callboard.RunOptions(journal=path),
        )
    unlike = [*source_of_journals([paths[4], paths[400]]).notes]
    assert unlike == [
        "A heartbeat comes every 3 s on 4 nodes, 4 s on 400 nodes (Hadoop's rule): what differs may"
        " come of that, and not of the nodes. --set cluster.heartbeat.interval_ms=3000 holds it"
        " fixed."
    ]
    assert not source_of_journals([paths[4], paths[5]]).notes


def test_queues_of_one_policy_set_it_apart_from_no_other(tmp_path: Path) -> None:
    """`--allocations` is refused with `fair`, whose runs have no such parts; the two are compared
    all the same.
    """
    paths = [tmp_path / f"{policy}.journal" for policy in ("fair", "capacity")]
    queues = "parts.capacity.queues={default={capacity=100}}"
    for path, overrides in zip(paths, ([], [queues]), strict=True):
        options = callboard.RunOptions(journal=path)
        callboard.run("two-jobs", path.stem, overrides=overrides, options=options)
    assert run_settings(read_chart_runs(paths)) == [(), ()]


def test_long_lists_that_differ_are_told_by_how_much_they_hold(tmp_path: Path) -> None:
    entries = ({"what": "crash", "nodes": ["node-0"], "at_s": 1.5, "for_s": 0.25}, None)
    paths = []
    for place, entry in enumerate(entries):
        started, *rest = under("fair")
        assert isinstance(started, RunStarted)
        scenario = {**started.scenario, "timeline": [entry] if entry else []}
        events = [msgspec.structs.replace(started, scenario=scenario), *rest]
        paths.append(record(tmp_path / f"{place}.journal", events))
    found = run_settings(read_chart_runs(paths))
    assert found == [(("timeline", "1 entry"),), (("timeline", "none"),)]


def test_the_cluster_of_a_scenario_of_ones_own_is_told_while_its_file_is_what_was_played(
    tmp_path: Path,
) -> None:
    path, store = tmp_path / "q.toml", tmp_path / "s.sqlite"
    text = 'name = "mine"\n[workload]\nkind = "jobs"\n[[workload.job]]\nmaps = 1\nmap_s = 1\n'
    path.write_text(text)
    callboard.sweep(path, store=store, policies="fifo", vary={"cluster.nodes": [7, 9]})
    assert "In the first setting the cluster has 7 nodes" in said(
        study_report(source_of_store(store))
    )
    path.write_text(text.replace("map_s = 1", "map_s = 2"))
    assert "the cluster has" not in said(study_report(source_of_store(store)))


def test_the_cluster_is_told_of_a_sweep_of_a_journal_too(tmp_path: Path) -> None:
    """It said that its runs were not those of the journal: with their seed set it could not be."""
    journal, store = tmp_path / "recorded.journal", tmp_path / "s.sqlite"
    asked = ["run", "two-jobs", "--policy", "fifo", "--until", "5s", "--journal", str(journal)]
    assert run_command_line(asked) == 0
    play(SweepPlan(scenarios=(str(journal),)), store)
    source = source_of_store(store)
    assert not source.notes
    assert "The cluster has 4 nodes" in said(study_report(source))


@pytest.mark.usefixtures("figures")
def test_of_a_sweep_it_says_plainly_in_how_many_settings_which_was_faster() -> None:
    """Fair took half as long as FIFO; in the third setting there is one seed, in the last it took
    as long as FIFO had, and FIFO as long as it.
    """
    settings = of_sigma("0.5", "1.0", "1.5", "2.0")
    played = list(cells(*settings[:3])) + [
        msgspec.structs.replace(each, policy={"fair": "fifo", "fifo": "fair"}[each.policy])
        for each in cells(*settings[3:])
    ]
    kept = [each for each in played if each.setting != settings[2] or each.seed == 1]
    kept.sort(key=lambda each: (settings.index(each.setting), each.policy != "fifo"))
    lead = study_report(ReportSource(cells=kept)).lead
    words = (
        "On average fair was faster than fifo in 2 of 4 settings, by 45 to 49%; slower in 1, by "
    )
    assert lead.startswith(words), lead
    assert "; in the other one the difference may be chance. " in lead


def test_of_a_sweep_the_lead_compares_with_the_first_policy_alone() -> None:
    """In the second scenario fair was compared with hfsp, and the lead spoke of fifo."""
    first = list(cells(()))
    renamed = {"fifo": "hfsp", "fair": "fair"}
    second = [
        msgspec.structs.replace(each, scenario="other", policy=renamed[each.policy])
        for each in first
    ]
    assert study_report(ReportSource(cells=[*first, *second])).lead == (
        "Under fair a job took 49% less on average than under fifo, in 1 setting;"
        " 1 more has not been compared."
        " hfsp has not been compared with fifo. 3 seeds each."
    )


def stopped_sweep(every: Sequence[PlayedCell], played: int) -> ReportSource:
    """A sweep that was stopped when so many of its runs had been played."""
    rest = [msgspec.structs.replace(each, result=None) for each in every[played:]]
    return ReportSource(cells=[*every[:played], *rest])


def test_of_a_sweep_that_was_stopped_it_judges_what_was_played() -> None:
    """Of settings that nobody had played the difference might be chance, there were `0 to 3 seeds`
    each, and every run came to its end.
    """
    source = stopped_sweep(list(cells(*of_sigma("0.5", "1.0", "1.5", "2.0"))), 15)
    document = study_report(source)
    assert source.played_count == 15
    assert document.lead == (
        "Under fair a job took 45 to 49% less on average than under fifo, in each of 2 settings;"
        " 2 more have not been compared. 3 seeds each."
    )
    assert "every run that was played came to its end" in said(document)


@pytest.mark.parametrize(
    ("policies", "played", "lead"),
    [
        (["fifo", "fair"], 0, "fair has not been compared with fifo in any of 2 settings."),
        (["fifo", "fair"], 3, "fair has not been compared with fifo in any of 2 settings."),
        (["fifo"], 0, "No run has come to its end."),
        (["fifo"], 3, "1 setting, 3 seeds each; 1 more has no run that has come to its end."),
    ],
)
def test_of_a_sweep_that_was_stopped_before_any_comparison_it_says_so(
    policies: Sequence[str], played: int, lead: str
) -> None:
    every = [each for each in cells(*of_sigma("0.5", "1.0")) if each.policy in policies]
    assert study_report(stopped_sweep(every, played)).lead == lead


def test_of_one_seed_a_setting_the_lead_says_what_it_gave_and_what_it_cannot_tell() -> None:
    """It said that two policies were alike where its table told of 45 % less."""
    kept = [each for each in cells(*of_sigma("0.5", "1.0")) if each.seed == 1]
    lead = study_report(ReportSource(cells=kept)).lead
    words = (
        r"Under fair a job took \d+ to \d+% less on average than under fifo, in each of 2 settings"
    )
    assert re.match(words, lead), lead
    assert lead.endswith(" 1 seed each, which cannot tell chance from policy.")


def test_of_settings_under_one_policy_it_says_what_they_did() -> None:
    """Their column of differences from another policy was empty."""
    settings = of_sigma("0.5", "1.0", "1.5")
    played = [each for each in cells(*settings) if each.policy == "fifo"]
    for several, words in (
        (2, "With noise of task lengths σ = 1.0 a job took 112 ± 2 s on average, 10% more"),
        (3, "With noise of task lengths σ = 1.5 a job took 122 ± 2 s on average, 20% more"),
    ):
        some = [each for each in played if each.setting in settings[:several]]
        document = study_report(ReportSource(cells=some))
        assert document.lead.startswith(f"{words} than with noise of task lengths σ = 0.5 "), (
            document.lead
        )
        table, _ = (each for each in section(document, "Results") if isinstance(each, ReportTable))
        assert "against the first" not in table.headings
        assert all(len(row) == len(table.headings) for row in table.rows)


NODES = "cluster.nodes"

GRID = [((SIGMA, sigma), (NODES, nodes)) for sigma in ("0.5", "1.0") for nodes in ("20", "40")]
"""Each takes 10 s longer than the one before (`cells`)."""


def test_of_two_keys_under_one_policy_it_says_what_each_did_by_itself() -> None:
    """It compared the two extremes, in which both keys were others."""
    played = [each for each in cells(*GRID) if each.policy == "fifo"]
    document = study_report(ReportSource(cells=played))
    assert document.lead == (
        "With noise of task lengths σ = 0.5, nodes = 20 a job took 102 ± 2 s on average;"
        " one key at a time, with nodes = 40 10% more, with noise of task lengths σ = 1.0 20% more."
        " 4 settings, 3 seeds each."
    )


def test_settings_are_compared_with_the_first_a_key_at_a_time() -> None:
    """Seed by seed, under each policy; the setting in which both keys are others is left out."""
    document = study_report(ReportSource(cells=list(cells(*GRID))))
    _, table = (each for each in section(document, "Results") if isinstance(each, ReportTable))
    texts = [[c.text if isinstance(c, ReportCell) else c for c in row] for row in table.rows]
    assert texts == [
        ["nodes", "20", "40", "fifo", "+10 s", "+10%", "0 of 3", ""],
        ["nodes", "20", "40", "fair", "+10.0 s", "+19%", "0 of 3", ""],
        ["noise of task lengths σ", "0.5", "1.0", "fifo", "+20 s", "+20%", "0 of 3", ""],
        ["noise of task lengths σ", "0.5", "1.0", "fair", "+20.0 s", "+38%", "0 of 3", ""],
    ]


def test_what_a_setting_did_may_be_chance() -> None:
    """Two settings whose seeds lie the other way round."""
    one, other = of_sigma("0.5", "1.0")
    played = [each for each in cells(one) if each.policy == "fifo"]
    turned = zip(played, reversed(played), strict=True)
    crossed = [
        msgspec.structs.replace(here, setting=other, result=there.result) for here, there in turned
    ]
    lead = study_report(ReportSource(cells=[*played, *crossed])).lead
    assert "about as long as with noise of task lengths σ = 0.5" in lead


def test_what_a_key_did_by_itself_may_be_chance() -> None:
    """Its three seeds lie widely; the other key's do not."""
    played = [each for each in cells(*GRID) if each.policy == "fifo"]
    wide = [
        msgspec.structs.replace(each, result=result(mean))
        if each.setting == GRID[1] and (mean := {1: 60.0, 2: 130.0, 3: 170.0}[each.seed])
        else each
        for each in played
    ]
    lead = study_report(ReportSource(cells=wide)).lead
    assert "with nodes = 40 18% more (which may be chance)" in lead
    assert "with noise of task lengths σ = 1.0 20% more." in lead


def test_a_setting_in_which_nothing_is_drawn_stands_for_every_seed() -> None:
    """It was compared with the first seed of the other alone, and told as sure."""
    one, other = of_sigma("0.5", "1.0")
    played = [each for each in cells(one, other) if each.policy == "fifo"]
    fixed = [
        msgspec.structs.replace(each, result=result(184.0)) if each.setting == one else each
        for each in played
    ]
    (step,) = single_key_steps(by_setting(fixed))
    found = step.difference("fifo", mean_response_s)
    assert found.difference.runs == 3
    assert found.difference.mean == pytest.approx(112 - 184)


def test_jobs_of_two_scenarios_are_not_compared() -> None:
    """None took less than another: they are different jobs.  Each has one cluster."""
    own = [each for each in cells(()) if each.policy == "fifo"]
    other = [msgspec.structs.replace(each, scenario="other") for each in own]
    document = study_report(ReportSource(cells=own + other))
    assert document.lead == (
        f"In other a job took 102 ± 2 s on average, in {own[0].scenario} 102 ± 2 s."
        " 2 settings, 3 seeds each."
    )
    assert "In the first setting" not in said(document)


@pytest.mark.soak
def test_of_a_journal_that_is_cut_off_the_lead_says_so_at_once(tmp_path: Path) -> None:
    whole = journals(tmp_path, "fifo")
    (cut,) = journals(tmp_path, "fair", events=STORY[:-1])
    assert "ends before" not in study_report(source_of_journals(whole)).lead
    lead = study_report(source_of_journals([cut])).lead
    assert re.match(r"The journal ends before the run did: \d of \d submitted jobs? had", lead), (
        lead
    )


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("interrupted", "The run under fair was left before its end: "),
        ("until", "The run under fair was stopped at its time limit: "),
    ],
)
def test_of_a_run_that_did_not_come_to_its_end_the_lead_says_so_at_once(
    reason: str, told: str
) -> None:
    """Seven of thirteen jobs were not done, and the lead was a mean of the others."""
    cut = [
        msgspec.structs.replace(
            each,
            result=msgspec.structs.replace(
                each.result, summary=msgspec.structs.replace(each.result.summary, reason=reason)
            ),
        )
        for each in cells(())
        if each.policy == "fair" and each.result is not None
    ]
    fifo = [each for each in cells(()) if each.policy == "fifo"]
    lead = study_report(ReportSource(cells=[*fifo, *cut])).lead
    assert lead.startswith(told)
    assert lead.count("had completed") == len(cut)
    many = study_report(ReportSource(cells=[*fifo, *cut, *cut])).lead
    assert many.startswith(f"{2 * len(cut)} of {3 * len(cut)} runs ended before all")


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ([()], "--store s"),
        (of_sigma("0", "1"), "--vary tasks.sigma=0,1 --store s"),
        ([(("cluster.nodes", "4"), *each) for each in of_sigma("0", "1")],
         "--set cluster.nodes=4 --vary tasks.sigma=0,1 --store s"),
    ],
)  # fmt: skip
def test_the_commands_that_fill_a_store(
    settings: Sequence[tuple[tuple[str, str], ...]], options: str
) -> None:
    (line,) = sweep_command_lines(list(cells(*settings)), "s")
    assert line == f"callboard sweep toy --policy fifo --policy fair --seeds 1..3 {options}"


def test_the_commands_that_fill_a_store_have_the_options_of_its_runs(tmp_path: Path) -> None:
    """Without them they played other runs in the places of these."""
    store = tmp_path / "s.sqlite"
    plan = SweepPlan(scenarios=("two-jobs",), policies=("hfsp",))
    play(msgspec.structs.replace(plan, policies=("fifo",), until_ms=5_000), store)
    play(msgspec.structs.replace(plan, policies=("fair",), faults=False), store)
    play(plan, store)
    source = source_of_store(store)
    begun, end = "callboard sweep two-jobs --policy", f"--store {store}"
    assert list(source.again[:3]) == [
        f"{begun} fifo --seeds 1..1 --until 5 {end}",
        f"{begun} fair --seeds 1..1 --no-faults {end}",
        f"{begun} hfsp --seeds 1..1 {end}",
    ]
    assert not source.notes
    with closing(sqlite3.connect(store)) as kept, kept:
        kept.execute("DROP TABLE options")  # as earlier versions have written it
    (note,) = source_of_store(store).notes
    assert "has kept these runs, and not whether --until or --no-faults was given" in note
    play(msgspec.structs.replace(plan, policies=("fair",), faults=False), store)
    (note,) = source_of_store(store).notes
    assert "has kept 2 runs of these, and not whether" in note


def test_a_time_asked_about_is_written_in_full() -> None:
    """The command said `--slo 1.23457e+06`, which is another time."""
    source = source_of_sweep(StoredSweep(list(cells(()))), 1_234_567.5, Path("s"))
    assert source.again[-1] == "callboard report s --slo 1234567.5 --to report.html"
    assert "jobs done within 1,234,567.5 s" in said(study_report(source))


def test_points_that_are_no_grid_have_a_command_each() -> None:
    points = [(("a.x", "1"), ("a.y", "1")), (("a.x", "2"), ("a.y", "2"))]
    lines = sweep_command_lines(list(cells(*points)), "my store")
    assert [line.rpartition("1..3 ")[2] for line in lines] == [
        "--set a.x=1 --set a.y=1 --store 'my store'",
        "--set a.x=2 --set a.y=2 --store 'my store'",
    ]


def test_a_store_of_several_sweeps_has_the_commands_of_each() -> None:
    """All policies were named with all settings, and the commands played runs that never were."""
    first = list(cells(*of_sigma("0", "1")))
    nodes = [(("cluster.nodes", each),) for each in ("2", "3")]
    second = [cell for cell in cells(*nodes) if cell.policy == "fair" and cell.seed != 2]
    assert sweep_command_lines([*first, *second], "s") == [
        "callboard sweep toy --policy fifo --policy fair --seeds 1..3 --vary tasks.sigma=0,1"
        " --store s",
        "callboard sweep toy --policy fair --seeds 1..1 --vary cluster.nodes=2,3 --store s",
        "callboard sweep toy --policy fair --seeds 3..3 --vary cluster.nodes=2,3 --store s",
    ]


@pytest.mark.soak
@pytest.mark.usefixtures("figures")
def test_equal_runs_give_an_equal_page(tmp_path: Path) -> None:
    pages = [
        render_page(study_report(source_of_journals(journals(tmp_path, "fifo")))) for _ in range(2)
    ]
    assert pages[0] == pages[1]


def test_times_alone_come_with_the_jobs() -> None:
    some = list(cells((), seeds=[1]))
    alone = [
        msgspec.structs.replace(
            cell, result=msgspec.structs.replace(cell.result, solo_ms=np.array([2200, 1300]))
        )
        for cell in some
        if cell.result is not None
    ]
    document = study_report(ReportSource(cells=alone))
    assert table_of(document, "Results")["slowdown, mean"] == ["1.5×", "1.5×"]
