"""What the screen costs: to fold events, to go anywhere, to make a frame, and to draw it.

For clusters of 600, 2,400 and 10,000 slots a morning of Facebook's is played on the cluster, and
then shown.  *Drawing* is everything from a frame to the last escape sequence of all panes, on a
terminal of 160×50 with full colours.  `--share` watches a run as fast as it goes and compares its
processor time with that of the same run unwatched; then it presses keys while a run in a process
of its own does so, and takes the time until each is answered, by the clock.  All other times are
of the processor, medians.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Callable

import msgspec

from callboard.actors.kernel.drivers import run_direct
from callboard.actors.vocabulary.events import AnyEvent
from callboard.by_hand import Plan
from callboard.live import start
from callboard.live_run import LiveRun
from callboard.plan import prepare
from callboard.play import Options, beginning, ending, make_kernel, play
from callboard.plugins import make_policy
from callboard.tui.app import CallboardApp
from callboard.tui.frame import Frame, View
from callboard.tui.head import Head
from callboard.tui.recorded import RecordedSource
from callboard.tui.source import GoTo, Move, Play, Request, Stay
from callboard.tui.tape import Tape

CLUSTERS = ((100, 4, 2), (400, 4, 2), (2000, 3, 2))
"""Nodes, and how many map and reduce slots each has."""

VIEW = View(columns=145, log_rows=9, jobs_rows=19, lane_columns=48, job=0)
_UNTIL_MS = 1_800_000
_FRAMES = 100
_KEYS = 100


def ms(act: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.process_time()
    act()
    return 1000 * (time.process_time() - began)


def recording(nodes: int, maps: int, reduces: int) -> list[AnyEvent]:
    """Half an hour on such a cluster."""
    settings = [f"cluster.nodes={nodes}", f"cluster.map_slots={maps}", "cluster.racks=20"]
    scenario, jobs, _ = prepare("facebook-morning", [*settings, f"cluster.reduce_slots={reduces}"])
    events: list[AnyEvent] = [beginning(scenario, "fair")]
    how = Options(until_ms=_UNTIL_MS)
    kernel = make_kernel(scenario, jobs, make_policy("fair"), how, events.append)
    run_direct(kernel)
    return [*events, ending(kernel)]


def filled(events: list[AnyEvent]) -> Tape:
    """A tape with the events on it."""
    tape = Tape()
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
        app.ask(GoTo(_UNTIL_MS // 2))
        for _ in range(_FRAMES):
            source.head.move(Play(500))
            frame = source.head.frame(app.view)

            def paint() -> None:
                app._waiting += 1
                app.answered(frame)  # noqa: B023
                for strip in app.screen._compositor.render_strips():
                    strip.render(app.console)

            costs.append(ms(paint))
            await pilot.pause()
    return statistics.median(costs)


def figures(nodes: int, maps: int, reduces: int) -> str:
    """One line of the table."""
    events = recording(nodes, maps, reduces)
    fold_us = 1000 * ms(lambda: filled(events)) / len(events)
    head, draws = Head(filled(events)), random.Random(1)

    def seek() -> None:
        head.move(GoTo(draws.randrange(head.tape.end_ms)))
        head.frame(VIEW)

    seeks = [ms(seek) for _ in range(_FRAMES)]
    head.move(GoTo(_UNTIL_MS // 2))
    frames = [ms(lambda: head.frame(VIEW)) for _ in range(_FRAMES)]
    size = len(msgspec.msgpack.encode(head.frame(VIEW)))
    drawing = asyncio.run(draw(events))
    slots = nodes * (maps + reduces)
    return (
        f"{slots:>8,} {len(events):>9,} {fold_us:>9.1f} {statistics.median(seeks):>9.1f}"
        f" {max(seeks):>9.1f} {statistics.median(frames):>8.1f} {size:>8,} {drawing:>8.1f}"
    )


def share() -> str:
    """How much of its speed a run keeps that is watched as fast as it goes."""
    scenario, jobs, _ = prepare("facebook-morning")
    alone = ms(lambda: play(scenario, jobs, "fair", Options(host="direct")))
    view = msgspec.structs.replace(VIEW, with_run=False)

    def watched() -> None:
        with LiveRun(Plan(scenario, jobs, "fair"), clock_s=time.process_time) as run:
            while not run.answer(Request(Play(None), view)).complete:
                pass

    with_frames = ms(watched)
    return (
        f"a whole morning: {alone / 1000:.2f} s alone, {with_frames / 1000:.2f} s watched as fast"
        f" as it goes: {alone / with_frames:.0%} of the speed"
    )


async def _answers() -> list[float]:
    """How many ms each key took to be answered while the run went as fast as it could."""
    scenario, jobs, _ = prepare("facebook-morning")
    source, loop = start(Plan(scenario, jobs, "fair")), asyncio.get_running_loop()
    draws, taken = random.Random(1), []

    def asked(move: Move, view: View) -> asyncio.Future[Frame]:
        answer: asyncio.Future[Frame] = loop.create_future()
        source.ask(Request(move, view), answer.set_result)
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
