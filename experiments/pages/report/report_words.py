"""What a report says in sentences: its title, its lead, and what was asked."""

from collections.abc import Iterator, Sequence
from math import isnan

from callboard.experiments.many.seed_runs import SeedRuns, mean_response_s
from callboard.experiments.many.statistics import PairedComparison
from callboard.experiments.many.sweeps.key_steps import single_key_steps
from callboard.experiments.many.sweeps.played_cell import PlayedCell
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns, varied_keys
from callboard.experiments.pages.charts.cell_table import policy_labels
from callboard.experiments.pages.charts.key_words import setting_words
from callboard.experiments.pages.figure_rows import write_seconds
from callboard.experiments.pages.figure_text import (
    difference_cells,
    interval_text,
    skewed_words,
)
from callboard.experiments.pages.report.world_facts import WorldFacts, workload_words
from callboard.experiments.run.run_result import RunResult
from callboard.journal.figures.job_groups import completed_among
from callboard.journal.figures.summary import Summary
from callboard.scheduler.text.quantities import count, percent_text


def report_title(cells: Sequence[PlayedCell]) -> str:
    """The scenarios and the policies."""
    scenarios = list(dict.fromkeys(cell.scenario for cell in cells))
    policies = policy_labels(list(dict.fromkeys(cell.policy for cell in cells)))
    shown = policies if len(policies) <= 4 else [f"{len(policies)} policies"]
    return f"{', '.join(scenarios[:3])}{', …' * (len(scenarios) > 3)}: {', '.join(shown)}"


def lead_of(groups: Sequence[SettingRuns]) -> str:
    """What was found, and by how much: under which policy jobs took least on average, how much less
    than under the first one, or the next best, and how sure that is; of a sweep, in how many
    settings.
    """
    if len(groups) > 1:
        return _lead_of_sweep(groups)
    return found_sentence(groups[0].runs)


def sentences_on_cut_runs(cells: Sequence[PlayedCell]) -> list[str]:
    """Which runs ended before all was done, and how far they had come; of more than a few, how many
    did.
    """
    runs = [(cell.policy, cell.result.summary) for cell in cells if cell.result is not None]
    cut = [(policy, run) for policy, run in runs if run.reason in _CUT_SHORT]
    if len(cut) > _TOLD_APART:
        told = f"{len(cut):,} of {count(len(runs), 'run')} ended before all their jobs were done"
        return [f"{told}: means are of the others."]
    return [
        _progress_sentence(run, f" under {policy}" if len(cells) > 1 else "") for policy, run in cut
    ]


def _progress_sentence(run: Summary, of: str) -> str:
    done = f"{run.jobs.completed:,} of {count(run.jobs.submitted, 'submitted job')} had completed"
    return f"{_CUT_SHORT[run.reason].format(of)}: {done}."


_TOLD_APART = 4
"""So many runs are told of in a sentence each."""

_CUT_SHORT = {
    None: "The journal ends before the run{} did",
    "interrupted": "The run{} was left before its end",
    "until": "The run{} was stopped at its time limit",
}
"""How a run ended that did not come to its end, for people."""


def found_sentence(runs: SeedRuns, *, is_drawn: bool = True) -> str:
    """Under which of the policies a job took least on average, and how sure that is.  What is not
    drawn is one run with every seed.
    """
    one_run = not is_drawn or runs.are_seeds_copies
    return _finding_with_remark(
        runs.without_copies(), ONE_RUN_REMARK if one_run else ONE_SEED_REMARK
    )


def _finding_with_remark(runs: SeedRuns, remark: str) -> str:
    """The same, with a remark for runs of one seed."""
    means = [runs.mean(place, mean_response_s) for place in range(len(runs.policies))]
    known = sorted((m.mean, place) for place, m in enumerate(means) if not isnan(m.mean))
    if not known:
        return "No job has completed, so there are no response times."
    names, best = policy_labels(runs.policies), known[0][1]
    told = f"Under {names[best]} a job took {interval_text(write_seconds, means[best])} on average"
    if len(known) == 1:
        seeds = f"These are {len(runs.seeds)} seeds." if len(runs.seeds) > 1 else remark
        unlike = _unlike_jobs_words(runs, names)
        return " ".join([f"{told}.", *[unlike] * bool(unlike), seeds])
    first, *rest = sorted(place for _, place in known[1:])
    less = _less_time_words(runs, names, best, first)
    single = runs.against(best, first, mean_response_s).difference.half is None
    others = _sentences_on_others(runs, names, best, rest)
    unlike = _unlike_jobs_words(runs, names)
    return " ".join([f"{told}, {less}", *others, *[unlike] * bool(unlike), *[remark] * single])


def _unlike_jobs_words(runs: SeedRuns, names: Sequence[str]) -> str:
    """Of how many jobs there is no response time, where that is not the same under all policies: a
    mean without the jobs that failed says little beside one with them.  A run that was cut off
    lacks those too that had not been submitted by then, where others of its seed have them.
    """
    missing, submitted, alike = [0] * len(names), [0] * len(names), True
    for row in runs.rows:
        played = {place: result.jobs for place, result in enumerate(row) if result is not None}
        every = {job for jobs in played.values() for job in jobs.job.tolist()}
        done = {
            place: frozenset(jobs.job[completed_among(jobs, jobs.job)].tolist())
            for place, jobs in played.items()
        }
        for place, completed in done.items():
            submitted[place] += len(every)
            missing[place] += len(every - completed)
        alike = alike and len({*done.values()}) < 2
    if alike:
        return ""
    told = [
        f"{lost:,} of {of:,} under {name}"
        for name, lost, of in zip(names, missing, submitted, strict=True)
        if lost
    ]
    return f"These are not the same jobs: {_names_in_words(told)} did not complete."


def skewed_remark(runs: SeedRuns) -> str:
    """Which mean response times, or differences of them to the first policy's, are of too few seeds
    for how skewed they are; empty for none.
    """
    names = policy_labels(runs.policies)
    means = {name: runs.mean(place, mean_response_s) for place, name in enumerate(names)}
    for place, name in enumerate(names[1:], 1):
        found = runs.against_first(place, mean_response_s)
        means[f"{name} − {names[0]}"] = found.difference
    return skewed_words(means)


ONE_SEED_REMARK = "This is one seed: it cannot tell chance from policy."
ONE_RUN_REMARK = "Nothing is drawn here: all seeds are one run."


def _less_time_words(runs: SeedRuns, names: Sequence[str], best: int, other: int) -> str:
    mine, theirs = (runs.mean(place, mean_response_s) for place in (best, other))
    less = 1 - mine.mean / theirs.mean if theirs.mean else 0.0
    share = f"{percent_text(less)} less" if less >= _LEVEL_SHARE else "about as long as"
    than = f"than under {names[other]}" if less >= _LEVEL_SHARE else f"under {names[other]}"
    told = f"{share} {than} ({interval_text(write_seconds, theirs)})"
    found = runs.against(best, other, mean_response_s)
    if found.difference.half is None:
        return f"{told}."
    if found.ties == found.difference.runs:
        return f"{told}. They are equal in each of the {found.ties} seeds."
    cells = difference_cells(found, " s")
    seeds = f"Seed by seed the difference is {cells.difference}, less in {cells.better_in} seeds"
    sure = "" if found.difference.excludes_zero else ", which may be chance"
    return f"{told}. {seeds}{sure}."


def _sentences_on_others(
    runs: SeedRuns, names: Sequence[str], best: int, others: Sequence[int]
) -> Iterator[str]:
    """Under which of these it took about as long as under the best, and which took longer but by
    what may be chance.
    """
    level = [place for place in others if _is_about_as_fast(runs, best, place)]
    if level:
        under = _names_in_words([names[place] for place in level])
        yield f"Under {under} it took about as long as under {names[best]}."
    open_ = [
        place for place in others if place not in level and _is_within_chance(runs, best, place)
    ]
    if open_:
        against = _names_in_words([names[place] for place in open_])
        yield f"Against {against} these seeds cannot tell a difference."


def _is_about_as_fast(runs: SeedRuns, best: int, other: int) -> bool:
    """Whether jobs took about as long under both on average, or as long as it is written."""
    mine, theirs = (runs.mean(place, mean_response_s).mean for place in (best, other))
    near = theirs - mine < _LEVEL_SHARE * theirs
    return near or write_seconds(mine) == write_seconds(theirs)


def _is_within_chance(runs: SeedRuns, best: int, other: int) -> bool:
    """Whether the seeds cannot tell the two apart."""
    found = runs.against(best, other, mean_response_s).difference
    return found.half is not None and not found.excludes_zero


def _names_in_words(names: Sequence[str]) -> str:
    """`fifo, fair and hfsp`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _lead_of_sweep(groups: Sequence[SettingRuns]) -> str:
    """How much less, or more, a job took under each policy than under the first, and in how many
    settings beyond chance; how many have not been compared, where a sweep was stopped.
    """
    lines: list[str] = []
    policies = list(dict.fromkeys(p for group in groups for p in group.runs.policies))
    first, *labels = policy_labels(policies)
    for policy, name in zip(policies[1:], labels, strict=True):
        found = [
            group.runs.against_policy(policy, policies[0], mean_response_s)
            for group in groups
            if policy in group.runs.policies and len(group.runs.policies) > 1
        ]
        if found:
            lines.append(_sentence_over_settings(found, name, first))
    told = [group for group in groups if _number_of_telling_seeds(group.runs)]
    if lines:
        return " ".join([*lines, *([f"{_seeds_words(told)}."] if told else [])])
    if not told:
        return "No run has come to its end."
    more = _more_settings_words(len(groups) - len(told), "no run that has come to its end")
    settings = f"{count(len(told), 'setting')}, {_seeds_words(told)}"
    return f"{_lead_by_key(groups) or _lead_between_settings(groups)}{settings}{more}."


def _number_of_telling_seeds(runs: SeedRuns) -> int:
    """How many seeds tell something: with a run under the first policy and under another, if there
    are several.
    """
    return sum(row[0] is not None and (len(row) < 2 or any(row[1:])) for row in runs.rows)


def _more_settings_words(settings: int, what: str) -> str:
    """`; 4 more have not been compared`; empty for none."""
    return f"; {settings} more {'has' if settings == 1 else 'have'} {what}" if settings else ""


def _lead_by_key(groups: Sequence[SettingRuns]) -> str:
    """What each key has done by itself to the mean response time of the first setting: at the value
    at which it did most.  Empty unless all settings are of one scenario and policy, and several
    keys were varied one at a time from the first.
    """
    first, policy = groups[0], groups[0].runs.policies[0]
    if len({(group.scenario, group.runs.policies[0]) for group in groups}) > 1:
        return ""
    keys = varied_keys(groups)
    most: dict[str, tuple[float, str]] = {}
    for step in single_key_steps(groups):
        found = step.difference(policy, mean_response_s)
        share = found.relative
        if share is not None and abs(share) >= most.get(step.key, (0.0, ""))[0]:
            value = setting_words(((step.key, step.value),), keys)
            most[step.key] = (
                abs(share),
                f"with {value} {_share_words(share)}{_chance_remark(found)}",
            )
    if len(most) < 2:
        return ""
    mean = interval_text(write_seconds, first.runs.mean(0, mean_response_s))
    begun = f"With {setting_words(first.setting, keys)} a job took {mean} on average"
    return f"{begun}; one key at a time, {', '.join(told for _, told in most.values())}. "


def _share_words(share: float) -> str:
    """`20% more`."""
    if abs(share) < _LEVEL_SHARE:
        return "about as long"
    return f"{percent_text(abs(share))} {_MORE[share > 0]}"


def _chance_remark(found: PairedComparison) -> str:
    """What is said behind a difference that the seeds do not make sure of."""
    is_open = found.difference.half is not None and not found.difference.excludes_zero
    return " (which may be chance)" if is_open else ""


def _lead_between_settings(groups: Sequence[SettingRuns]) -> str:
    """What the second setting did to the mean response time of the first; of more settings the one
    in which a job took least, and the one in which most.  Jobs of different scenarios are different
    jobs: none took less than another.
    """
    found = [
        (mean, name)
        for group, name in zip(groups, _setting_phrases(groups), strict=True)
        if not isnan((mean := group.runs.mean(0, mean_response_s)).mean)
    ]
    if len(found) < 2:
        return ""
    if len(found) > 2:
        found.sort(key=lambda each: each[0].mean)
    (one, of_one), (other, of_other) = found[0], found[-1]
    told_one, told_other = (interval_text(write_seconds, mean) for mean in (one, other))
    begun = f"{of_other[:1].upper()}{of_other[1:]} a job took {told_other} on average"
    if len({group.scenario for group in groups}) > 1:
        return f"{begun}, {of_one} {told_one}. "
    base = f"{of_one} ({told_one})"
    share = other.mean / one.mean - 1 if one.mean else 0.0
    if abs(share) < _LEVEL_SHARE:
        return f"{begun}, about as long as {base}. "
    return f"{begun}, {percent_text(abs(share))} {_MORE[share > 0]} than {base}. "


_MORE = ("less", "more")

_LEVEL_SHARE = 0.005
"""A difference of less, as a share, is none in words: it would be told as 0 %."""


def _setting_phrases(groups: Sequence[SettingRuns]) -> Iterator[str]:
    """What tells each setting from the others: `in plan with nodes = 40 under fair`."""
    keys = varied_keys(groups)
    scenarios = len({group.scenario for group in groups}) > 1
    policies = len({group.runs.policies[0] for group in groups}) > 1
    for group in groups:
        setting = setting_words(group.setting, keys)
        parts = [f"in {group.scenario}"] * scenarios + [f"with {setting}"] * bool(setting)
        parts += [f"under {policy_labels(group.runs.policies)[0]}"] * policies
        yield " ".join(parts)


def _sentence_over_settings(found: Sequence[PairedComparison], name: str, first: str) -> str:
    """`Under hfsp a job took 25 to 30% less on average than under fifo, in each of 2 settings.`  Of
    those in which one of the two has no run it says how many there are.
    """
    compared = [each for each in found if each.difference.runs]
    if not compared:
        anywhere = f" in any of {len(found)} settings" if len(found) > 1 else ""
        return f"{name} has not been compared with {first}{anywhere}."
    more = _more_settings_words(len(found) - len(compared), "not been compared")
    return f"{_faster_or_slower_sentence(compared, name, first)}{more}."


def _faster_or_slower_sentence(found: Sequence[PairedComparison], name: str, first: str) -> str:
    """The same over settings in which both have a run."""
    single = all(each.difference.half is None for each in found)  # which the remark behind it says
    sure = [each for each in found if single or each.difference.excludes_zero]
    less = [-each.relative for each in sure if each.relative is not None and each.relative < 0]
    more = [each.relative for each in sure if each.relative is not None and each.relative > 0]
    settings, than = len(found), f"on average than under {first}"
    for shares, word in ((less, "less"), (more, "more")):
        if len(shares) == settings:
            each = f"in {'each of ' * (settings > 1)}{count(settings, 'setting')}"
            return f"Under {name} a job took {_percent_range(shares)} {word} {than}, {each}"
    if not less and not more:
        as_long = f"as long {than.replace('than', 'as')}"
        return f"Under {name} a job took {as_long}, as far as these seeds can tell"
    parts: list[str] = []
    of = f" than {first} in {{}} of {count(settings, 'setting')}"
    for shares, word in ((less, "faster"), (more, "slower")):
        if shares:
            where = f" in {len(shares)}" if parts else of.format(len(shares))
            parts.append(f"{word}{where}, by {_percent_range(shares)}")
    if open_ := settings - len(less) - len(more):
        others = "the other one" if open_ == 1 else f"the other {open_}"
        parts.append(f"in {others} the difference may be chance")
    return f"On average {name} was {'; '.join(parts)}"


def _percent_range(shares: Sequence[float]) -> str:
    """`25 to 30%`, `under 1%`, `up to 3%`."""
    low, high = percent_text(min(shares)), percent_text(max(shares))
    if low == high:
        return high
    return f"up to {high}" if low == "under 1%" else f"{low.removesuffix('%')} to {high}"


def _seeds_words(groups: Sequence[SettingRuns]) -> str:
    seeds = sorted({_number_of_telling_seeds(group.runs) for group in groups})
    if all(group.runs.are_seeds_copies for group in groups):
        return "all seeds of a setting are one run, since nothing is drawn"
    if seeds == [1]:
        return "1 seed each, which cannot tell chance from policy"
    if len(seeds) == 1:
        return f"{count(seeds[0], 'seed')} each"
    return f"{seeds[0]} to {seeds[-1]} seeds each"


def seed_copies_note(groups: Sequence[SettingRuns]) -> str:
    """In how many settings the seeds are copies of one run, and have no ±; empty for none."""
    copies = sum(group.runs.are_seeds_copies for group in groups)
    played = sum(bool(group.runs.rows) for group in groups)
    if not copies:
        return ""
    where = "" if copies == played else f" in {copies} of {count(played, 'setting')}"
    return f"nothing is drawn{where or ' here'}: all seeds are one run, which has no ±"


def world_sentence(
    world: WorldFacts, results: Sequence[RunResult], *, several: bool = False
) -> str:
    """The cluster, the workload and what goes wrong, in a sentence; of `several` settings the first
    is told of.
    """
    cluster = f"the cluster has {world.cluster}" if world.cluster else ""
    told = "; ".join(filter(None, (cluster, workload_words(results))))
    if not told:
        return ""
    begun = f"In the first setting {told}" if several else f"{told[0].upper()}{told[1:]}"
    faults = f"; what goes wrong is scripted: {world.faults}" if world.faults else ""
    return f"{begun}{faults}."


def number_ranges(numbers: Sequence[int]) -> str:
    """`1 to 10`, or the numbers themselves."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


def runs_words(groups: Sequence[SettingRuns]) -> str:
    """How many runs there are, how many failed and how many have not been played."""
    played = sum(
        result is not None for group in groups for row in group.runs.rows for result in row
    )
    failed, missing = sum(g.failure_count for g in groups), sum(g.missing for g in groups)
    told = count(played, "run")
    copies = sum(len(row) for g in groups if g.runs.are_seeds_copies for row in g.runs.rows[1:])
    told += f", of which {copies} are copies of others" if copies else ""
    told += f", {failed} more failed" if failed else ""
    return told + (f", {missing} more have not been played" if missing else "")
