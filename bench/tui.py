"""What the screen costs: to fold events, to go anywhere, to make a frame, and to draw it.

For clusters of 600, 2,400 and 10,000 slots a morning of Facebook's is played on the cluster, and
then shown.  *Drawing* is everything from a frame to the last escape sequence of all panes, on a
terminal of 160×50 with full colours.  `--share` watches a run as fast as it goes and compares its
processor time with that of the same run unwatched, in pairs one after the other; then it presses
keys while a run in a process of its own does so, and takes the time until each is answered, by the
clock.  All other times are of the processor, medians.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.live.live_run import LiveRun
from callboard.experiments.live.live_server import start_runs
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import (
    Simulation,
    run_simulation,
)
from callboard.journal.replay.cursor import Cursor
from callboard.journal.replay.frame import Frame, View
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.source import GoTo, Move, Play, Request, Stay
from callboard.tui.app import CallboardApp

CLUSTERS = ((100, 4, 2), (400, 4, 2), (2000, 3, 2))
"""Nodes, and how many map and reduce slots each has."""

VIEW = View(columns=145, log_rows=9, jobs_rows=19, lane_columns=48, job=0)
_UNTIL_MS = 1_800_000
_FRAMES = 100
_KEYS = 100
_PAIRS = 5


def ms(act: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.process_time()
    act()
    return 1000 * (time.process_time() - began)


def recording(nodes: int, maps: int, reduces: int) -> list[AnyEvent]:
    """Half an hour on such a cluster."""
    settings = [f"cluster.nodes={nodes}", f"cluster.map_slots={maps}", "cluster.racks=20"]
    spec = fair_morning([*settings, f"cluster.reduce_slots={reduces}"])
    events: list[AnyEvent] = []
    Simulation(replace(spec, until_ms=_UNTIL_MS), [events.append]).run()
    return events


def fair_morning(settings: Sequence[str] = ()) -> RunSpec:
    """The morning of the library under Fair."""
    return replace(load_run("facebook-morning", settings), policy="fair")


def filled(events: list[AnyEvent]) -> Recording:
    """A tape with the events on it."""
    tape = Recording()
    for event in events:
        tape.append(event)
    return tape


async def draw(events: list[AnyEvent]) -> float:
    """The median time in ms from a frame to what goes to the terminal."""
    source = RecordedSource(iter(events))
    source.read_on()
    app = CallboardApp(source, ticking=False)
    costs = []
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause()
        app.playback.ask_frame(GoTo(_UNTIL_MS // 2))
        for _ in range(_FRAMES):
            source.cursor.move(Play(500))
            frame = source.cursor.frame(app.view)

            def paint() -> None:
                app.playback.requests += 1
                app.playback.take_frame(frame)  # noqa: B023
                for strip in app.screen._compositor.render_strips():
                    strip.render(app.console)

            costs.append(ms(paint))
            await pilot.pause()
    return statistics.median(costs)


def figures(nodes: int, maps: int, reduces: int) -> str:
    """One line of the table."""
    events = recording(nodes, maps, reduces)
    fold_us = 1000 * ms(lambda: filled(events)) / len(events)
    cursor, draws = Cursor(filled(events)), random.Random(1)

    def seek() -> None:
        cursor.move(GoTo(draws.randrange(cursor.recording.end_ms)))
        cursor.frame(VIEW)

    seeks = [ms(seek) for _ in range(_FRAMES)]
    cursor.move(GoTo(_UNTIL_MS // 2))
    frames = [ms(lambda: cursor.frame(VIEW)) for _ in range(_FRAMES)]
    size = len(msgspec.msgpack.encode(cursor.frame(VIEW)))
    drawing = asyncio.run(draw(events))
    slots = nodes * (maps + reduces)
    return (
        f"{slots:>8,} {len(events):>9,} {fold_us:>9.1f} {statistics.median(seeks):>9.1f}"
        f" {max(seeks):>9.1f} {statistics.median(frames):>8.1f} {size:>8,} {drawing:>8.1f}"
    )


def share() -> str:
    """How much of its speed a run keeps that is watched as fast as it goes."""
    view = replace(VIEW, with_run=False)

    def watched() -> None:
        with LiveRun(fair_morning(), clock_s=time.process_time) as run:
            while not run.answer_request(Request(Play(None), view)).complete:
                pass

    def alone() -> None:
        run_simulation(fair_morning(), driver="direct")

    shares = []
    for pair in range(_PAIRS):  # which of the two comes first alternates
        first, second = (alone, watched) if pair % 2 else (watched, alone)
        taken = {act: ms(act) for act in (first, second)}
        shares.append(taken[alone] / taken[watched])
    each = ", ".join(f"{share:.0%}" for share in shares)
    return (
        f"a whole morning watched as fast as it goes keeps {statistics.median(shares):.0%} of its"
        f" speed (median of {_PAIRS} pairs: {each})"
    )


async def _answers() -> list[float]:
    """How many ms each key took to be answered while the run went as fast as it could."""
    source, loop = start_runs([fair_morning()]), asyncio.get_running_loop()
    draws, taken = random.Random(1), []

    def asked(move: Move, view: View) -> asyncio.Future[Frame]:
        answer: asyncio.Future[Frame] = loop.create_future()
        source.ask_frame(Request(move, view), answer.set_result)
        return answer

    try:
        await asked(Stay(), VIEW)
        for _ in range(_KEYS):
            playing = asked(Play(None), VIEW)
            await asyncio.sleep(draws.uniform(0.01, 0.07))
            began = time.perf_counter()
            await asked(Stay(), VIEW)
            taken.append(1000 * (time.perf_counter() - began))
            if (await playing).complete:
                break
    finally:
        source.close()
    return taken


def latency() -> str:
    """How soon a run in its own process answers a key, while it goes as fast as it can."""
    taken = sorted(asyncio.run(_answers()))
    median, p95 = statistics.median(taken), taken[len(taken) * 95 // 100]
    said = f"{len(taken)} keys while it goes as fast as it can"
    return f"{said}: answered within {median:.1f} ms (median), {p95:.1f} ms (95 %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--share", action="store_true", help="also the share of speed kept, and keys"
    )
    options = parser.parse_args()
    print("   slots    events  fold, µs  seek, ms   longest  frame, ms    bytes  draw, ms")
    for cluster in CLUSTERS:
        print(figures(*cluster))
    if options.share:
        print(share())
        print(latency())


if __name__ == "__main__":
    main()
