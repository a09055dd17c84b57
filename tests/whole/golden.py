"""What the library's scenarios come to under FIFO, Fair and HFSP, or their own architectures: the
file `golden.json`.

A change of behaviour is to be seen.  Where it is meant, renew the file and say why in the commit:

    python -m tests.whole.golden [SCENARIO ...]

`events` is a digest of everything that happened; `messages` the kernel's own, of how it was
brought about (other messages may well bring the same about).  The figures are there for people, so
that a difference in the file tells something.
"""

import json
import sys
from pathlib import Path
from typing import TypeAlias

from callboard.scenarios import scenario_file
from tests.support.library import ran

FILE = Path(__file__).parent / "golden.json"
POLICIES = ("fifo", "fair", "hfsp")
LONG = ("gp-busy", "hfsp-calibrated", "macrobenchmark")
"""Scenarios of many seconds, which have Fair alone."""
OTHERS = {
    "cell-losses": ("omega(schedulers=2)", "mesos(schedulers=2)"),
    "omega-cell": ("monolithic", "mesos", "omega"),
    "probed-nodes-lost": ("sparrow(schedulers=4)", "eagle(cutoff=8,schedulers=4)"),
    "scheduler-lost": ("sparrow(schedulers=4)",),
    "sparrow-100ms": ("sparrow",),
    "drf-example": ('yarn(scheduler="drf",am={memory=0})',),
    "yarn-queues": ("yarn", "yarn(monitor=true,natural_termination=1)"),
}
"""Scenarios of other architectures, which have those."""

Run: TypeAlias = dict[str, str | float]
Golden: TypeAlias = dict[str, dict[str, Run]]


def played(scenario: str, policy: str) -> Run:
    """One run, as it stands in the file."""
    run = ran(scenario, policy)
    summary = run.result.summary
    return {
        "events": run.digest,
        "messages": summary.digest or "",
        "mean_s": round(summary.response_seconds.mean or 0.0, 1),
        "end_s": round(summary.virtual_seconds, 1),
        "attempts": summary.attempts.launched,
        "wasted_s": round(summary.slot_seconds.wasted),
    }


def stored() -> Golden:
    """The file."""
    golden: Golden = json.loads(FILE.read_text(encoding="utf-8"))
    return golden


def names() -> list[str]:
    """All scenarios of the library."""
    return [name for name, _, _ in scenario_file.library_scenarios()]


def policies_of(name: str) -> tuple[str, ...]:
    """Under which policies a scenario is in the file."""
    return ("fair",) if name in LONG else OTHERS.get(name, POLICIES)


def write(golden: Golden) -> None:
    """A line a run, so that a difference can be read."""
    blocks = []
    for name in sorted(golden):
        runs = ",\n".join(f"  {json.dumps(p)}: {json.dumps(r)}" for p, r in golden[name].items())
        blocks.append(f"{json.dumps(name)}: {{\n{runs}\n}}")
    FILE.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def main(chosen: list[str]) -> None:
    """Play the chosen scenarios, or all, and write what they come to."""
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        raise SystemExit(f"no scenario of the library: {', '.join(unknown)}")
    before = stored() if FILE.exists() else {}
    golden = {name: runs for name, runs in before.items() if name in names()}
    for name in chosen or names():
        golden[name] = {policy: played(name, policy) for policy in policies_of(name)}
        print(f"{name}: {'the same' if golden[name] == before.get(name) else 'changed'}")
    write(golden)


if __name__ == "__main__":
    main(sys.argv[1:])
