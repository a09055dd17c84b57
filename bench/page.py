"""How large the page of a run is, and how fast it follows: `python -m bench.page`.

A morning of Facebook's is exported, or the journal that is named; Chromium opens the page and goes
to a hundred moments, on in time, back, and to and fro.  A step is everything but the painting of
pixels: the state of all slots and jobs, the drawing of what has changed, the text.
"""

import argparse
import base64
import hashlib
import re
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.export.page_collector import PageCollector
from callboard.journal.export.page_data import page_data
from callboard.journal.export.run_page import run_page
from callboard.journal.reader import Journal
from docs.making.browser import CHROMIUM, open_page

_PROBE = """
addEventListener("load", () => {
  const loaded = performance.now();
  const slider = document.getElementById("scrub");
  const times = [];
  const go = (part) => {
    const began = performance.now();
    slider.value = slider.max * part;
    slider.dispatchEvent(new Event("input"));
    times.push(performance.now() - began);
  };
  for (let i = 0; i < 100; i++) go(i / 100);
  for (let i = 0; i < 100; i++) go(1 - i / 100);
  for (let i = 0; i < 100; i++) go(((i * 37) % 100) / 100);
  times.sort((a, b) => a - b);
  const told = [loaded, times[150], times[285]].map((ms) => ms.toFixed(1));
  const written = document.createElement("pre");
  written.id = "probe";
  written.textContent = told;
  document.body.append(written);
});
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("journal", nargs="?", type=Path, help="else a morning of Facebook's")
    named = parser.parse_args().journal
    events: Iterable[AnyEvent] = morning() if named is None else Journal(named)
    began = time.process_time()
    collected = PageCollector.of_events(events, oracle_of_journal)
    page = run_page(page_data(collected))
    took, size = time.process_time() - began, len(page.encode())
    each = size / max(collected.attempts, 1)
    print(f"{collected.attempts:,} attempts: {size / 1e6:.1f} MB, {each:.0f} bytes each")
    print(f"made in {took:.1f} s")
    if CHROMIUM is not None:
        loaded, middle, most = steps(page)
        print(f"in Chromium ready after {loaded} ms")
        print(f"a step to any moment {middle} ms, 95 of 100 within {most} ms")


def morning() -> list[AnyEvent]:
    events: list[AnyEvent] = []
    spec = msgspec.structs.replace(load_run("facebook-morning"), policy="fair")
    Simulation(spec, [events.append]).run()
    return events


def steps(page: str) -> list[str]:
    """In ms: until the page was there, the median of its steps, and their 95th percentile."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.html"
        path.write_text(with_script(page, _PROBE), encoding="utf-8")
        found = re.search(r'<pre id="probe">(.*?)</pre>', open_page(path, "--dump-dom"))
    assert found is not None
    return found[1].split(",")


def with_script(page: str, script: str) -> str:
    """The page with a further script before its own, which its policy allows."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    return allowed.replace("</title>", f"</title><script>{script}</script>", 1)


if __name__ == "__main__":
    main()
