"""Draw the pictures in `docs/screens/`: `python -m docs.making.screens`.

Each is a moment of a scenario of the library, reached by the keys that a person would press; one
plays a whole run, and one is of a page in a browser, where there is one.
"""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from callboard.actors.topology import Topology
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.export.page_collector import PageCollector
from callboard.journal.export.page_data import page_data
from callboard.journal.export.run_page import run_page
from callboard.journal.replay.palette import DARK
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import GoTo
from callboard.scenarios.library_list import library_entries
from callboard.scheduler.model import Millis
from callboard.tui.app import CallboardApp
from callboard.tui.screens.start import StartApp, StartChoice
from callboard.tui.screenshot import svg_of
from docs.making.animation import animated_run
from docs.making.browser import CHROMIUM, open_page

FOLDER = Path(__file__).parents[1] / "screens"
START = FOLDER / "start.svg"


class Picture(msgspec.Struct, frozen=True):
    """What is shown, and how large: columns and lines; `beside` is the policy of a second run."""

    name: str
    scenario: str
    policy: str
    at_ms: Millis
    keys: Sequence[str] = ()
    size: tuple[int, int] = (160, 50)
    beside: str = ""


PICTURES = (
    Picture("rack-outage", "rack-outage", "fair", 780_000, ("2", "down")),
    Picture(
        "facebook-morning", "facebook-morning", "hfsp", 3_300_000, ("c", "c", "1", "right", "right")
    ),
    Picture("jobs", "preemption-storm", "fair+kill", 3_000_000, ("2", "z"), (150, 24)),
    Picture("two-runs", "small-behind-giant", "fifo", 400_000, ("escape",), beside="hfsp"),
    Picture("sparrow", "scheduler-lost", "sparrow(schedulers=4)", 60_200, ("escape",), (130, 36)),
    Picture("eagle", "google-like", "eagle(cutoff=100)", 900_000, ("escape",), (130, 36)),
    Picture("omega", "omega-cell", "omega(service_t_job=10)", 120_000, ("escape",), (130, 36)),
    Picture("yarn", "yarn-queues", "yarn", 400_000, ("escape",), (130, 36)),
    Picture("job", "rack-outage", "fair", 510_000, ("2", "down", "down", "4", "z"), (110, 30)),
)


PAGE = "page.png"
"""A page in a browser."""


async def draw(picture: Picture) -> str:
    """The picture as SVG."""
    spec = load_run(picture.scenario)
    policies = [policy for policy in (picture.policy, picture.beside) if policy]
    with LiveServer([msgspec.structs.replace(spec, policy=each) for each in policies]) as desk:
        app = CallboardApp(desk, ticking=False)
        async with app.run_test(size=picture.size) as pilot:
            await pilot.pause()
            app.playback.ask_frame(GoTo(picture.at_ms))
            await pilot.pause()
            for key in picture.keys:
                await pilot.press(key)
                await pilot.pause()
            app.clear_notifications()
            await pilot.pause()
            return svg_of(app, app.palette.ground, f"callboard watch {picture.scenario}")


async def draw_start() -> str:
    """The first screen as SVG."""
    app = StartApp(list(library_entries()), before=StartChoice("rack-outage", ("fair", "hfsp")))
    async with app.run_test(size=(150, 40)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        return svg_of(app, DARK.ground, "callboard")


MOVING = "rack-fails.svg"
"""A run that plays in the README."""


def draw_moving() -> str:
    """The whole of a rack's outage; without motion 13 minutes in."""
    spec = msgspec.structs.replace(load_run("rack-outage"), policy="fair")
    recording = Recording()
    Simulation(spec, [recording.append]).run()
    return animated_run(
        recording,
        Topology(spec.scenario.cluster.racks),
        still_ms=780_000,
        title="A rack loses its power, and the master does not know",
        below="40 nodes in 4 racks, under Fair; a row is a node: two map slots, two reduce slots",
    )


def draw_page(path: Path) -> None:
    """The page that plays a rack's outage back, 13 minutes in."""
    events: list[AnyEvent] = []
    spec = msgspec.structs.replace(load_run("rack-outage"), policy="fair")
    Simulation(spec, [events.append]).run()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "run.html"
        data = page_data(PageCollector.of_events(events, oracle_of_journal))
        page.write_text(run_page(data), encoding="utf-8")
        flags = f"--screenshot={path}", "--window-size=1280,800", "--virtual-time-budget=2000"
        open_page(page, *flags, fragment="#t=13:00")


def main() -> None:
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}  # wherever it is drawn
    os.environ.pop("NO_COLOR", None)
    for picture in PICTURES:
        path = FOLDER / f"{picture.name}.svg"
        path.write_text(asyncio.run(draw(picture)), encoding="utf-8")
        print(path)
    START.write_text(asyncio.run(draw_start()), encoding="utf-8")
    print(START)
    (FOLDER / MOVING).write_text(draw_moving(), encoding="utf-8")
    print(FOLDER / MOVING)
    if CHROMIUM is None:
        print(f"{PAGE} stays as it is: there is no Chromium here")
    else:
        draw_page(FOLDER / PAGE)
        print(FOLDER / PAGE)


if __name__ == "__main__":
    main()
