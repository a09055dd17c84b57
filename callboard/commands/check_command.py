"""Test a policy against the properties that it guarantees, each in many small scenarios drawn by
Hypothesis; print a table, and write the smallest counterexample to each broken property as a
scenario file.  Exit status 1 if a guarantee failed.

examples:
  callboard check fair
  callboard check './mine.py:MyOrder+delay' --profile thorough
  callboard check fifo --property max-min       test a property that it does not guarantee
  callboard check --replay mine-max-min.toml    test a counterexample again
  callboard check ./mine.py:Mine --watch        again at each save, while you edit
  callboard check sparrow                       an architecture: what needs no master's policy
  callboard check --list                        what properties there are

`callboard run --check` is something else: it tests one run against the rules of every run.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from callboard import search_arguments, stdio
from callboard.console import PlainConsole, ReportConsole, plain, print_list
from callboard.experiments.error_messages import describe_error
from callboard.experiments.journal_paths import check_folder, slug
from callboard.experiments.run import plugins
from callboard.experiments.run.trust import Trust, trusted_scenario
from callboard.experiments.user_errors import InputError
from callboard.fairness import counterexample, search
from callboard.fairness.catalogue import PROPERTIES, PROPERTIES_BY_NAME, guaranteed_by
from callboard.fairness.experiment import Experiment
from callboard.fairness.property import Property, evaluate, is_guaranteed_by_architecture
from callboard.fairness.scenario_family import scenario_size
from callboard.file_watch import file_saves, policy_files
from callboard.progress_line import announce_long_work, steps_progress
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import nearest

_SECONDS_A_SCENARIO = 0.01
"""For one property, on a core: 6 to 8 ms for `fifo` and `fair`, more for preemption."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("policy", nargs="?", metavar="POLICY", help="as `callboard run --policy` takes it")
    only = "only this one, as if it were guaranteed; may be repeated"
    add("--property", action="append", default=[], metavar="NAME", help=only)
    add("--all", action="store_true", help="also those that the policy does not guarantee")
    smaller = "what breaks one is made smaller by more"
    search_arguments.add_search_arguments(parser, " a property", smaller)
    watch = "test again each time that the policy's file is saved, until Ctrl-C"
    add("--watch", action="store_true", help=watch)
    again = "test a counterexample's policy, or POLICY, against its property in its scenario"
    add("--replay", type=Path, metavar="FILE", help=again)
    trust = "with --replay: run code of a Python file that FILE names as its policy"
    add("--trust", action="store_true", help=trust)
    add("--list", action="store_true", help="list the properties, and do nothing else")


def check_command(options: argparse.Namespace) -> int:
    if options.list:
        return _list_properties()
    if options.replay is not None and options.watch:
        raise InputError("--watch tests a policy as its file is saved; --replay FILE tests once")
    if options.replay is not None:
        return _replay_counterexample(options.replay, options.policy, trust=options.trust)
    if options.policy is None:
        raise InputError("name a policy, as in `callboard check fair`")
    check_folder("--to", options.to)
    return _test_on_every_save(options) if options.watch else _test_policy(options)


def _test_on_every_save(options: argparse.Namespace) -> int:
    files = policy_files(options.policy)
    try:
        for _ in file_saves(files):
            _test_and_tell_errors(options)
            print(f"watching {', '.join(map(str, files))}; Ctrl-C ends this", flush=True)
    except KeyboardInterrupt:
        print()
    return 0


def _test_and_tell_errors(options: argparse.Namespace) -> None:
    """Test the policy; what is wrong with its file, which may be half written, is told."""
    try:
        _test_policy(options)
    except Exception as error:
        message, _ = describe_error(error)
        if message is None:
            raise
        stdio.print_error(message)


def _test_policy(options: argparse.Namespace) -> int:
    policy = plugins.canonical_policy(options.policy)
    plan = _selected_properties(policy, options)
    examples = search_arguments.example_count(options)
    steps = examples * len(plan.properties)
    announce_long_work(f"{policy}: {count(steps, 'scenario')},", steps * _SECONDS_A_SCENARIO)
    progress = steps_progress(policy, steps)
    tested = partial(Experiment, policy=policy)
    with search.temporary_hypothesis_home(), progress as watch:
        findings = search.examine_properties(
            tested, plan.properties, examples=examples, seed=options.seed, on_progress=watch
        )
    written = {
        finding.prop.name: _write_counterexample(finding, policy, options)
        for finding in findings
        if finding.counterexample is not None
    }
    number = len(plan.guaranteed)
    told = "1 property" if number == 1 else f"{number} properties"
    how = "tested as if guaranteed" if options.property else "guaranteed"
    told += f" {how}, {count(examples, 'scenario')} each, seed {options.seed}"
    _print_findings(plain(policy, "bold") + plain(f"  {told}"), plan, findings, written)
    return 1 if plan.guaranteed & written.keys() else 0


class PropertySelection(NamedTuple):
    """The properties that are tested, and the names of those that must hold."""

    properties: Sequence[Property]
    guaranteed: frozenset[str]
    left_out: str = ""
    """Properties that were asked for and do not speak of such schedulers, in a line."""


def _selected_properties(policy: str, options: argparse.Namespace) -> PropertySelection:
    if plugins.is_architecture(policy):
        return _properties_of_architecture(plugins.load_architecture(policy).name, options)
    made = plugins.load_policy(policy)
    if options.property:
        named = frozenset(_known_property(name) for name in options.property)
        return PropertySelection([prop for prop in PROPERTIES if prop.name in named], named)
    guaranteed = frozenset(prop.name for prop in guaranteed_by(made))
    wanted = [prop for prop in PROPERTIES if options.all or prop.name in guaranteed]
    return PropertySelection(wanted, guaranteed)


def _properties_of_architecture(
    architecture: str, options: argparse.Namespace
) -> PropertySelection:
    """The same for an architecture without a master."""
    spoken_of = [
        prop for prop in PROPERTIES if prop.why_silent_on_architecture(architecture) is None
    ]
    if options.property:
        named = frozenset(_known_property(name) for name in options.property)
        for name in options.property:
            if why := PROPERTIES_BY_NAME[name].why_silent_on_architecture(architecture):
                raise InputError(f"--property {name}: {why}, and not of `{architecture}`")
        return PropertySelection([prop for prop in spoken_of if prop.name in named], named)
    guaranteed = frozenset(
        prop.name for prop in spoken_of if is_guaranteed_by_architecture(architecture, prop)
    )
    wanted = [prop for prop in spoken_of if options.all or prop.name in guaranteed]
    others = ", ".join(prop.name for prop in PROPERTIES if prop not in spoken_of)
    told = f"of policies of a master, and not looked at: {others}" if options.all else ""
    return PropertySelection(wanted, guaranteed, told)


def _known_property(name: str) -> str:
    if name not in PROPERTIES_BY_NAME:
        meant = nearest(name, PROPERTIES_BY_NAME)
        told = f"did you mean `{meant}`?" if meant else "`callboard check --list` has all"
        raise InputError(f"--property {name}: there is none; {told}")
    return name


def _write_counterexample(
    finding: search.Finding, policy: str, options: argparse.Namespace
) -> Path:
    assert finding.counterexample is not None
    words = ["callboard", "check", policy, "--property", finding.prop.name]
    command = search_arguments.command_to_repeat(words, options)
    text = counterexample.counterexample_text(finding.counterexample, finding.prop, policy, command)
    name = f"{slug(policy)}-{finding.prop.name}.toml"
    return search_arguments.write_scenario(text, name, options)


def _print_findings(
    heading: Text,
    plan: PropertySelection,
    findings: Sequence[search.Finding],
    written: dict[str, Path],
) -> None:
    console = ReportConsole()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("property", no_wrap=True)
    table.add_column("tested in", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for finding in findings:
        name, found = finding.prop.name, finding.counterexample
        style = ("bold red" if name in plan.guaranteed else "yellow") if found else ""
        result = plain(_remarks_cell(finding, plan), style)
        table.add_row(plain(name, style), plain(_tested_cell(finding)), result)
    console.print_line(heading)
    console.print(table)
    for finding in findings:
        if finding.counterexample is not None:
            name = finding.prop.name
            console.print_line(f"{name}: {finding.prop.says}", "bold")
            console.print_line(f"  {finding.counterexample.seen}")
            console.print_line(f"  written to {written[name]}")
    if plan.left_out:
        console.print_line(plan.left_out)
    failed = len(plan.guaranteed & written.keys())
    console.print(plain(f"{count(failed, 'guarantee') if failed else 'no guarantee'} failed"))


def _tested_cell(finding: search.Finding) -> str:
    if finding.counterexample is not None:
        return "broken"
    return f"{finding.tested:,}" if finding.tested else "–"


def _remarks_cell(finding: search.Finding, plan: PropertySelection) -> str:
    found, remarks = finding.counterexample, []
    if found is not None:
        nodes, jobs, _ = scenario_size(found.scenario)
        remarks = [f"by {count(nodes, 'node')} and {count(jobs, 'job')}"]
    elif not finding.tested:
        return f"says nothing: {finding.not_applicable or 'there was nothing to test'}"
    elif finding.said_nothing:
        silent = finding.said_nothing - finding.spoilt.total()
        remarks = [f"did not apply in {silent:,}"] if silent else []
        spoilt = finding.spoilt.items()
        remarks += [f"{why.partition(',')[0]} in {times:,}" for why, times in spoilt]
    if finding.prop.name not in plan.guaranteed:
        remarks.append("not guaranteed")
    return "; ".join(remarks)


def _replay_counterexample(path: Path, policy: str | None, *, trust: bool) -> int:
    """Test a policy against a file's property in its scenario."""
    prop, found = counterexample.read_counterexample(path)
    try:
        scenario = trusted_scenario(found, Trust(trust, () if policy is None else (policy,)))
    except ScenarioError as error:
        raise error.in_file(path) from None
    name = plugins.canonical_policy(policy or scenario.policies[0], scenario.parts)
    verdict = evaluate(prop, Experiment(scenario, name))
    if verdict.broken:
        what = f"breaks it: {verdict.broken}"
    elif verdict.times:
        what = f"keeps it here ({count(verdict.times, 'time')})"
    else:
        what = f"is not tested: {verdict.not_applicable or 'there is nothing to test'}"
    print(f"{prop.name}: {prop.says}\n{name} {what}")
    return 1 if verdict.broken else 0


def _list_properties() -> int:
    if not sys.stdout.isatty():
        print_list((prop.name, prop.says) for prop in PROPERTIES)
        return 0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("property", "says", "bound", "source"):
        table.add_column(column, no_wrap=column == "property")
    for prop in PROPERTIES:
        table.add_row(*map(plain, (prop.name, prop.says, prop.bound, prop.source)))
    PlainConsole().print(table)
    return 0
