"""A run's page in a browser: at every moment it says what the journal says, and nothing goes wrong.

One browser is started for all of it.  The pages stand in frames as wide as a phone, and the names
of one run are hostile.
"""

import asyncio
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bench.page import with_script
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts, RunEnded
from callboard.actors.vocabulary.job_names import job_title
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.journal.export.page_collector import PageCollector
from callboard.journal.export.page_data import compared_page_data, page_data
from callboard.journal.export.run_page import run_page
from callboard.journal.replay.frame import Frame, SlotState, View
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.signs import STATE_WORDS
from callboard.journal.replay.source import Step, StepKind
from callboard.journal.tell.time_format import short_duration
from callboard.scheduler.text.quantities import clock
from docs.making.browser import CHROMIUM, open_page
from tests.journal.replay.support import events_of, outage, recorded
from tests.journal.stories import START, STORY
from tests.journal.test_run_page import evil
from tests.support.chromium import open_tab
from tests.support.soak import one_in

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
]

PROBE = Path(__file__).with_name("page_probe.js").read_text(encoding="utf-8")
KEYS = (".", "m", "j", "ArrowRight", "}", "ArrowDown", "Escape", "M", "End", "Home")

PHONE = """<!DOCTYPE html><pre id="probe"></pre>{frames}<script>
const seen = {{}};
onmessage = ({{ data }}) => {{
  seen[data.page] = data.seen;
  document.getElementById("probe").textContent = JSON.stringify(seen);
}};
</script>
"""
"""A browser's own window cannot be as narrow; what the pages in it say is written down here."""

FRAME = (
    '<iframe src="{name}.html" style="position: fixed; left: 0; top: 0;'
    ' width: 360px; height: 740px; border: 0"></iframe>'
)
"""All at one place: a browser slows the clock of a frame that is out of sight."""

ONE_SLOT = msgspec.structs.replace(START, nodes=(NodeFacts(0, 0, 1, 0, 1.0),))
ODD: dict[str, tuple[AnyEvent, ...]] = {
    "no jobs": (START, RunEnded(1000, "complete", 0, 0, "d1ge57")),
    "no nodes": (msgspec.structs.replace(START, nodes=()),),
    "one slot": (ONE_SLOT, *STORY[1:4]),
    "cut off": STORY[:-9],
    "still": STORY,
}
"""The last is looked at by somebody who wants no motion."""


@pytest.fixture(scope="module")
def source() -> RecordedSource:
    return recorded([*map(evil, outage())])


def moments(source: RecordedSource) -> list[int]:
    """The start, before and after the rack fails, while nobody knows, and the end."""
    end_ms = source.recording.end_ms
    faults = [at_ms for at_ms, _ in source.recording.history.marks()]
    around = (faults[0] - 1, faults[0], faults[0] + 60_000, faults[-1])
    return sorted({0, *around, end_ms // 2, end_ms})


@pytest.fixture(scope="module")
def pages(source: RecordedSource, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the probe has seen in each page."""
    folder = tmp_path_factory.mktemp("page")
    recording = source.recording
    events = tuple(recording.event(number) for number in range(len(recording)))
    for name, told in {"run": events, **ODD}.items():
        page = run_page(page_data(PageCollector.of_events(told, oracle_of_journal)))
        at = moments(source) if name == "run" else [0, told[-1].at_ms]
        (folder / f"{name}.html").write_text(probed(page, name, at), encoding="utf-8")
    frames = "".join(FRAME.format(name=name) for name in ("run", *ODD))
    phone = folder / "phone.html"
    phone.write_text(PHONE.format(frames=frames), encoding="utf-8")
    dom = open_page(phone, "--dump-dom", "--virtual-time-budget=200000")
    found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(found[1]))
    return seen


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of `two-jobs` under FIFO and under Fair."""
    runs = [
        PageCollector.of_events(events_of("two-jobs", each), oracle_of_journal)
        for each in ("fifo", "fair")
    ]
    page = tmp_path_factory.mktemp("pair") / "pair.html"
    page.write_text(run_page(compared_page_data(*runs)), encoding="utf-8")
    return page


_MAPS = "['', '-beside'].map((id) => document.getElementById('slot-map' + id))" \
    ".map((map) => [map.width, map.height])"  # fmt: skip
_JOBS = "[...document.querySelectorAll('#job-rows tr')].map((row) => row.innerText)"


@pytest.mark.parametrize("width", [390, 1280])
def test_two_runs_stand_beside_each_other(pair: Path, width: int) -> None:
    """205 s and 163 s under FIFO, 214 s and 43 s under Fair; `short` is done two minutes sooner."""

    async def look() -> None:
        async with open_tab(pair.resolve().as_uri() + "#t=1:20", width, 680) as tab:
            await tab.until("document.getElementById('time').textContent === '00:01:20.000'")
            assert "under fifo and under fair" in await tab.evaluate("document.body.innerText")
            left, right = await tab.evaluate(_MAPS)
            assert left == right  # alike, though the left pane has the legend as well
            assert left[0] > 100
            assert len(await tab.evaluate(_JOBS)) == 2  # short has left Fair's run, not FIFO's
            await tab.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}))")
            await tab.until("document.getElementById('status').textContent.includes('over')")
            box = "document.getElementById('all-jobs')"  # all are shown at the end
            assert await tab.evaluate(f"{box}.checked && {box}.disabled")
            long, short = await tab.evaluate(_JOBS)
            assert short.split()[-1] == "−2m00s"
            assert long.split()[-1].startswith("+")
            told = await tab.evaluate("document.getElementById('result').innerText")
            assert told.startswith("−30%")
            assert "Under fair a job took 2 min 09 s on average, 30% less" in told
            wide = "document.documentElement.scrollWidth - innerWidth"
            assert await tab.evaluate(wide) <= 0

    asyncio.run(look())


@pytest.fixture(scope="module")
def one(source: RecordedSource, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the run with hostile names."""
    page = tmp_path_factory.mktemp("one") / "run.html"
    events = tuple(source.recording.event(number) for number in range(len(source.recording)))
    page.write_text(
        run_page(page_data(PageCollector.of_events(events, oracle_of_journal))), "utf-8"
    )
    return page


def test_a_card_shows_whether_its_reduce_shuffles(pair: Path) -> None:
    """By the legend's signs: the picture is another when the shuffle ends, at 3:13.546 under Fair,
    though the card's words and bar are the same.
    """
    picture = "document.getElementById('slot-map-beside').toDataURL()"

    async def look() -> None:
        async with open_tab(pair.resolve().as_uri() + "#t=3:13.5", 1280, 900) as tab:
            clock = "document.getElementById('time').textContent"
            await tab.until(f"{clock} === '00:03:13.500'")
            before = await tab.evaluate(picture)
            await tab.evaluate("location.hash = '#t=3:13.6'")
            await tab.until(f"{clock} === '00:03:13.600'")
            assert await tab.evaluate(picture) != before

    asyncio.run(look())


def test_a_page_fits_its_window(one: Path) -> None:
    """On a desk the events stand below few slots, so that the jobs have a column for themselves;
    on a phone the buttons have one line.
    """
    buttons = "[...document.querySelectorAll('#buttons button')]"
    lines = f"new Set({buttons}.map((each) => each.offsetTop)).size"
    below = "document.getElementById('log').offsetTop > document.getElementById('legend').offsetTop"
    tall = "document.documentElement.scrollHeight <= innerHeight"

    async def look() -> None:
        async with open_tab(one.resolve().as_uri(), 1920, 1080) as tab:
            await tab.until(f"{below} && {tall}")
            await tab.resize(1280, 720)
            await tab.until(f"!({below}) && {tall}")
            await tab.resize(390, 844)
            await tab.until(f"innerWidth === 390 && {lines} === 1")

    asyncio.run(look())


def test_a_desk_that_resizes_never_cuts_slots_off(pair: Path) -> None:
    """Not even for one frame: what takes a picture of the page may take that one."""
    fits = (
        "[...document.querySelectorAll('.slot-room')]"
        ".every((room) => room.scrollWidth <= room.clientWidth)"
    )
    narrower = "app.style.width = '1130px'; dispatchEvent(new Event('resize'))"

    async def look() -> None:
        async with open_tab(pair.resolve().as_uri(), 1280, 900) as tab:
            await tab.until(f"{fits} && document.getElementById('time').textContent !== ''")
            assert await tab.evaluate(f"{{ {narrower}; {fits} }}")

    asyncio.run(look())


@pytest.mark.parametrize("kind", ["one", "pair"])
def test_a_job_chosen_at_the_end_leads_to_the_result(
    request: pytest.FixtureRequest, kind: str
) -> None:
    """The chosen job stood where the result is looked for, without a word."""
    page: Path = request.getfixturevalue(kind)

    async def look() -> None:
        async with open_tab(page.resolve().as_uri() + "#t=999:00:00&job=1", 1280, 720) as tab:
            facts = "document.getElementById('facts').innerText"
            told = await tab.until(f"{facts}.includes('choose the job again, or esc') && {facts}")
            assert told.split()[:2] == ["the", "result"]
            assert told.count("the result") == 1
            await tab.evaluate("document.querySelector('#job-rows tr.chosen').click()")
            await tab.until("document.getElementById('detail-title').innerText === 'The result'")

    asyncio.run(look())


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720)])
def test_the_end_of_a_run_is_large_and_in_sight(one: Path, width: int, height: int) -> None:
    """As on the screen; on a phone it was far below the slots and the jobs."""
    result = "document.getElementById('result')"

    async def look() -> None:
        async with open_tab(one.resolve().as_uri() + "#t=0:10", width, height) as tab:
            await tab.until("document.getElementById('time').textContent === '00:00:10.000'")
            assert await tab.evaluate(f"{result}.hidden")
            await tab.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}))")
            await tab.until(f"!{result}.hidden")
            assert "A job took" in await tab.evaluate(f"{result}.innerText")
            assert await tab.evaluate(f"{result}.getBoundingClientRect().bottom < innerHeight")
            sizes = "['result-figure', 'time'].map((id) => document.getElementById(id))"
            figure, time = await tab.evaluate(f"{sizes}.map((each) => each.offsetHeight)")
            assert figure > 1.5 * time

    asyncio.run(look())


def test_what_a_response_went_to_is_in_sight(one: Path) -> None:
    """It stood below all else, and so beneath the edge of its small pane."""

    async def look() -> None:
        async with open_tab(one.resolve().as_uri() + "#t=999:00:00&job=1", 1280, 1000) as tab:
            names = "[...document.querySelectorAll('#facts dt')]"
            went = f"{names}.find((each) => each.innerText === 'it went to')"
            await tab.until(f"{went} !== undefined")
            told = f"{went}.nextElementSibling"
            box = f"{told}.getBoundingClientRect()"
            seen = f"document.elementFromPoint({box}.left + 5, {box}.bottom - 5)"
            assert await tab.evaluate(f"{seen} === {told}")

    asyncio.run(look())


@pytest.fixture(scope="module")
def seen(pages: dict[str, Any]) -> dict[str, Any]:
    return dict(pages["run"])


def probed(page: str, name: str, at: Sequence[int]) -> str:
    """The page with the probe in it, which its policy allows, to visit these, also going back."""
    told = {"PAGE": name, "MOMENTS": [*at[::2], *at[1::2][::-1]], "KEYS": KEYS}
    lines = [f"const {name} = {json.dumps(value)};\n" for name, value in told.items()]
    return with_script(page, f"{''.join(lines)}{PROBE}")


def frame_at(source: RecordedSource, at_ms: int) -> Frame:
    source.cursor.go_to_ms(at_ms)
    return source.cursor.frame(View(jobs_rows=500, log_rows=40, with_cards=True))


@pytest.mark.parametrize("name", one_in(4, ["run", *ODD]))
def test_nothing_goes_wrong(pages: dict[str, Any], name: str) -> None:
    seen = pages[name]
    assert seen["errors"] == []
    assert seen["asked"] == seen["images"] == seen["unnamed"] == 0
    assert seen["scripts"] == 3  # the probe's, the data, the page's own
    assert seen["width"] == 360
    assert seen["wide"] <= 0


def test_figures_and_racks(seen: dict[str, Any], source: RecordedSource) -> None:
    for at_ms in moments(source):
        shown, frame = seen["moments"][str(at_ms)], frame_at(source, at_ms)
        totals = frame.totals
        assert shown["time"] == clock(at_ms)
        assert shown["title"].startswith("</script><script>alert(1)")
        assert f"{totals.in_system} of {totals.submitted} job" in shown["figures"]
        maps, reduces = (b / s for b, s in zip(totals.busy, totals.slots, strict=True))
        assert f"maps {maps:.0%} reduces {reduces:.0%}" in shown["figures"]
        trouble = f"{totals.down} down, {totals.lost} given up"
        assert (trouble in shown["figures"]) is bool(totals.down or totals.lost)
        busy = [int(text.partition(": ")[2].partition("/")[0]) for text in shown["racks"]]
        assert sum(busy) == sum(totals.busy)
        unaware = re.findall(r"master unaware of (\d+)", " ".join(shown["racks"]))
        assert sum(map(int, unaware)) == totals.unaware


def test_jobs(seen: dict[str, Any], source: RecordedSource) -> None:
    for at_ms in moments(source)[:-1]:
        shown, frame = seen["moments"][str(at_ms)], frame_at(source, at_ms)
        assert [cells[1:] for cells in shown["jobs"]] == [
            [
                STATE_WORDS[row.state],
                *(f"{row.done[k]}/{row.tasks[k]}" if row.tasks[k] else "–" for k in (0, 1)),
                f"{sum(row.running)}{'‖' if row.suspended else ''}" if sum(row.running) else "",
                short_duration(row.time_ms),
            ]
            for row in frame.jobs
        ]
        assert [cells[0].partition(" ")[0] for cells in shown["jobs"]] == [
            str(row.job) for row in frame.jobs
        ]


def test_slots(seen: dict[str, Any], source: RecordedSource) -> None:
    """Every slot says what is in it, and there are no others."""
    started = source.recording.started
    assert started is not None
    places = [
        (facts.node, number, facts.map_slots)
        for facts in started.nodes
        for number in range(facts.map_slots + facts.reduce_slots)
    ]
    for at_ms in moments(source):
        frame = frame_at(source, at_ms)
        owners = np.frombuffer(frame.owners, np.int32)
        expected = set()
        for (node, number, maps), card, owner in zip(places, frame.cards, owners, strict=True):
            kind, place = ("map", number) if number < maps else ("reduce", number - maps)
            what = "empty" if card is None else f"{kind} {card.task} of {title(source, owner - 1)}"
            expected.add(f"node-{node}, slot {kind} {place}: {what}")
        shown = seen["moments"][str(at_ms)]["slots"]
        assert {cut(text) for text in shown} == expected
        over = sum("over, master unaware" in text for text in shown)
        assert over == frame.states.count(SlotState.GHOST)


def title(source: RecordedSource, job: int) -> str:
    name = source.recording.last_state.run.given_name(job).replace("\u2028", "\\u2028")
    return job_title(job, name)


def cut(text: str) -> str:
    """Without the locality, the state and the time."""
    return re.sub(r", (the node is down|(\S+-(local|rack), )?([a-z, ]+, )?since \S+)$", "", text)


def test_the_log_ends_with_the_present(seen: dict[str, Any], source: RecordedSource) -> None:
    for at_ms in moments(source):
        lines = [line.text for line in frame_at(source, at_ms).log]
        assert seen["moments"][str(at_ms)]["log"][-len(lines) :] == lines


def test_the_end_is_the_screens_result(seen: dict[str, Any], source: RecordedSource) -> None:
    end_ms = source.recording.end_ms
    detail = frame_at(source, end_ms).detail
    assert detail is not None
    title, names, facts = seen["moments"][str(end_ms)]["detail"]
    assert title == "The result"
    figures = [fact for fact in detail.facts if fact[0] not in ("next", "")]
    assert [*zip(names, facts, strict=True)] == figures
    assert {"jobs", "response", "busy", "wasted"} <= {*names}


def test_before_the_end_it_says_how_it_goes(seen: dict[str, Any], source: RecordedSource) -> None:
    """Means and percentiles are computed in the browser; the screen has them from NumPy."""
    for at_ms in moments(source)[:-1]:
        detail = frame_at(source, at_ms).detail
        title, names, facts = seen["moments"][str(at_ms)]["detail"]
        assert title == "How it goes"
        if detail is not None:
            told = dict(zip(names, facts, strict=True))
            screen = dict(detail.facts)
            assert told["jobs"] == screen["jobs"]
            assert told.get("response") == screen.get("response")


def test_keys(seen: dict[str, Any], source: RecordedSource) -> None:
    """One after the other, from the start; they lead where those of the screen do."""
    cursor, end_ms, found = source.cursor, source.recording.end_ms, {}
    cursor.go_to_ms(0)
    times = sorted({*source.recording.times, end_ms})
    steps = {"m": Step(StepKind.MARK), "j": Step(StepKind.JOB), "M": Step(StepKind.MARK, back=True)}
    for key in KEYS:
        match key:
            case ".":
                cursor.go_to_ms(next(at_ms for at_ms in times if at_ms > cursor.at_ms))
            case "ArrowRight" | "}":
                cursor.go_to_ms(cursor.at_ms + (end_ms // 100) * (1 if key == "ArrowRight" else 10))
            case "Home" | "End":
                cursor.go_to_ms(0 if key == "Home" else end_ms)
            case "m" | "j" | "M":
                cursor.move(steps[key])
        found[key] = clock(cursor.at_ms)
    assert {key: told[0] for key, told in seen["keys"].items()} == found
    assert seen["keys"]["ArrowDown"][2].startswith("job-")
    assert not seen["keys"]["Escape"][2].startswith("job-")
    assert seen["keys"]["End"][1] == "the run is complete"


def test_it_plays_and_pauses(seen: dict[str, Any]) -> None:
    assert re.fullmatch(r"playing ×\d+", seen["playing"])
    time, status = seen["played"]
    assert time > clock(0)
    assert status == "paused"


def test_who_wants_no_motion_sees_few_pictures(pages: dict[str, Any]) -> None:
    assert pages["run"]["pictures"] > 10
    assert 1 < pages["still"]["pictures"] <= 3


def test_odd_runs(pages: dict[str, Any]) -> None:
    """Each is shown as far as it goes."""
    last = {name: pages[name]["moments"][str(told[-1].at_ms)] for name, told in ODD.items()}
    assert last["no jobs"]["noJobs"] == last["no nodes"]["noJobs"] == "the run has no jobs"
    assert last["no jobs"]["status"] == "the run is complete"
    assert last["no nodes"]["slots"] == last["no nodes"]["racks"] == []
    assert last["one slot"]["racks"] == ["rack-0: 1/1 busy"]
    assert last["cut off"]["status"] == "the journal is cut off here"
    assert last["cut off"]["detail"][0] == "The result"
