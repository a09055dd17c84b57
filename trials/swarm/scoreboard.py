"""The scoreboard in docs/reliability.md, written from what is kept: `python -m trials.swarm
--scoreboard`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from trials.situations import CATALOGUE
from trials.swarm.bug_hunt import Catch
from trials.swarm.records import Totals

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- scoreboard -->\n", "<!-- end of scoreboard -->\n"


def with_scoreboard(page: str, found: Totals, caught: Sequence[Catch]) -> str:
    """The page's text with a new scoreboard between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [*_worlds(found), "", *_bugs(caught)]
    return f"{before}{BEGIN}\n{chr(10).join(lines)}\n\n{END}{after}"


def _worlds(found: Totals) -> Iterator[str]:
    met = [each.what for each in CATALOGUE if found.met[each.what]]
    unmet = [each.what for each in CATALOGUE if not found.met[each.what]]
    yield "| worlds | |"
    yield "|---|---|"
    yield f"| worlds played, seeds tried | {found.worlds:,}, {found.seeds:,} |"
    yield f"| events in them | {found.events:,} |"
    yield f"| simulated | {found.node_years:.3g} node-years |"
    yield f"| processor time | {found.core_hours:.2f} hours |"
    yield f"| in a day a core simulates | {found.a_day:.3g} node-years |"
    yield f"| runs ended | {_counted(found.reasons)} |"
    yield f"| flaws | {_counted(found.flaws) or 'none'} |"
    yield f"| situations of the catalogue that were met | {len(met)} of {len(CATALOGUE)} |"
    yield f"| never met | {'; '.join(unmet) or 'none'} |"
    yield ""
    yield f"Compared and tested: {_counted(found.checked)}."


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common())


def _bugs(caught: Sequence[Catch]) -> Iterator[str]:
    found = [each for each in caught if each.kind]
    missed = [each for each in caught if not each.kind]
    most = max(each.seeds for each in caught)
    yield (
        f"Of {len(caught)} planted bugs {len(found)} were caught within {most} seeds, after"
        f" {median(each.worlds for each in found):g} worlds in the median and"
        f" {max(each.worlds for each in found):,} at worst"
        f" ({median(each.seconds for each in found):.1f} s and"
        f" {max(each.seconds for each in found):.0f} s of processor time)."
        if found
        else "No bug was caught."
    )
    yield ""
    yield "| planted in | bugs | caught | worlds, median | worst |"
    yield "|---|---|---|---|---|"
    for room in dict.fromkeys(each.room for each in caught):
        yield _row(room, [each for each in caught if each.room == room])
    if missed:
        yield ""
        yield "Missed:"
        yield ""
        yield from (f"- {each.what} (`{each.room}`)" for each in missed)
    yield ""
    yield "| bug | caught by | worlds |"
    yield "|---|---|---|"
    for each in caught:
        yield f"| {each.what} | {each.kind or '–'} | {each.worlds if each.kind else '–'} |"


def _row(room: str, caught: Sequence[Catch]) -> str:
    worlds = [each.worlds for each in caught if each.kind]
    figures = f"{median(worlds):g} | {max(worlds)}" if worlds else "– | –"
    return f"| {room} | {len(caught)} | {len(worlds)} | {figures} |"


def write_scoreboard(found: Totals, caught: Sequence[Catch]) -> None:
    """Write it into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_scoreboard(page, found, caught), encoding="utf-8")
