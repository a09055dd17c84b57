"""What the shipped policies keep to, as docs/fairness.md tells it.

    python -m tests.fairness.table

holds every policy to every property, claimed or not, in the quick profile; it renews the table of
the page, and for whatever is broken the smallest counterexample in `counterexamples/`.
"""

import sys
from functools import partial
from pathlib import Path

from callboard.fairness.catalogue import PROPERTIES
from callboard.fairness.counterexample import counterexample_text
from callboard.fairness.experiment import Experiment
from callboard.fairness.profiles import SEARCH_PROFILES
from callboard.fairness.property import Property, is_guaranteed
from callboard.fairness.search import examine_properties
from callboard.scheduler.registry.parts import make_policy

POLICIES = (
    "fifo",
    "fair",
    "fair+delay",
    "fair+kill",
    "capacity",
    "hfsp",
    "psbs",
    "coshh",
    "hybrid",
    "srpt",
    "psjf",
    "sjf",
    "gittins",
    "las",
    "ps",
    "fsp+fifo",
    "fsp+ps",
)

PAGE = Path(__file__).parents[2] / "docs" / "fairness.md"
FOLDER = Path(__file__).parent / "counterexamples"


def file_of(policy: str, prop: Property) -> Path:
    """Where the counterexample is kept, if there is one."""
    return FOLDER / f"{policy.replace('+', '-')}.{prop.name}.toml"


def cell(policy: str, prop: Property) -> str:
    """What the table says: claimed, known not to hold, not claimed, or nothing to say."""
    made = make_policy(policy)
    if prop.misfit(made) is not None:
        return ""
    if is_guaranteed(made, prop):
        return "✓"
    path = file_of(policy, prop)
    return f"[✗](../{path.relative_to(PAGE.parents[1])})" if path.exists() else "?"


def table() -> str:
    """The table, by the promises and the counterexamples that there are."""
    head = ["property", *(f"`{policy}`" for policy in POLICIES)]
    rows = [head, ["---"] * len(head)]
    rows += [[prop.name, *(cell(policy, prop) for policy in POLICIES)] for prop in PROPERTIES]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def words() -> str:
    """The properties in words, as they tell of themselves."""
    head = ["property", "says", "formula", "assumes", "bound", "source"]
    rows = [head, ["---"] * len(head)]
    rows += [[p.name, p.says, p.formula, p.assumes, p.bound, p.source] for p in PROPERTIES]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def with_tables(page: str) -> str:
    """The page with the tables as they should be."""
    for what, made in (("properties", words()), ("table", table())):
        begin, end = f"<!-- {what} -->\n", f"<!-- end of {what} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{made}\n\n{end}{rest.partition(end)[2]}"
    return page


def renew(policy: str) -> list[str]:
    """Look for counterexamples, and keep them; the claims that failed."""
    made, failed = make_policy(policy), []
    for finding in examine_properties(
        partial(Experiment, policy=policy), PROPERTIES, examples=SEARCH_PROFILES["quick"], seed=1
    ):
        path = file_of(policy, finding.prop)
        path.unlink(missing_ok=True)
        if finding.counterexample is not None:
            command = f"callboard check {policy} --property {finding.prop.name} --seed 1"
            path.write_text(
                counterexample_text(finding.counterexample, finding.prop, policy, command)
            )
            failed += [finding.prop.name] if is_guaranteed(made, finding.prop) else []
    return failed


def main(policies: list[str]) -> None:
    """Renew the counterexamples and the page."""
    FOLDER.mkdir(exist_ok=True)
    for policy in policies or POLICIES:
        failed = renew(policy)
        print(f"{policy}: {', '.join(failed) if failed else 'all claims held'}", flush=True)
    if PAGE.exists():
        PAGE.write_text(with_tables(PAGE.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
