"""What became of everything in a file that was imported: read, inferred, guessed or dropped."""

import re
from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

Fate = Literal["read", "inferred", "guessed", "dropped"]
FATES: tuple[Fate, ...] = get_args(Fate)
PLACES_SHOWN = 3  # the first lines of each remark


class Remark(msgspec.Struct):
    """One thing that happened `count` times, and where it did at first (`file:line`)."""

    what: str
    count: int = 0
    first: list[str] = msgspec.field(default_factory=list)

    @property
    def in_words(self) -> str:
        """What happened, as people say it of so many: of one `1 job out of order`."""
        return _in_singular(self.what) if self.count == 1 else self.what

    @property
    def places_in_words(self) -> str:
        """Its first places in brackets, for people; empty where none is known."""
        if not self.first:
            return ""
        more = ", ..." if self.count > len(self.first) == PLACES_SHOWN else ""
        return f" ({', '.join(self.first)}{more})"


def _in_singular(what: str) -> str:
    """A remark that begins with a plural, of one thing; any other as it is."""
    for several, one in _SINGULARS.items():
        if what.startswith(several):
            return f"{one}{what[len(several) :]}"
    noun = _FIRST_PLURAL.match(what)
    if noun is None:
        return what
    rest = what[noun.end() :]
    verb = _VERB.match(rest)
    if verb is not None:
        rest = f"{verb[1]} that {_OF_ONE[verb[2]]}{rest[verb.end() :]}"
    owner = rest if rest.startswith(" of ") else re.sub(r"\btheir\b", "its", rest)
    return f"{noun[1]}{owner}"


_SINGULARS = {
    "attempts that end before they start: their": "attempt that ends before it starts: its",
    "configurations of jobs": "configuration of a job",
    "containers at home on the host that they": "container at home on the host that it",
    "deadlines and reservations of classes of jobs": "deadline or reservation of a class of jobs",
    "ends of jobs before their": "end of a job before its",
    "ends of jobs that began before their submission: it cannot be how long they": (
        "end of a job that began before its submission: it cannot be how long it"
    ),
    "ends of jobs that failed, and none of their": "end of a job that failed, and none of its",
    "ends of jobs that were": "end of a job that was",
    "estimates of users": "estimate of a user",
    "events of tasks that stand before their": "event of a task that stands before its",
    "files of Parquet, which need": "file of Parquet, which needs",
    "hidden files, checksums and configurations of jobs": (
        "hidden file, checksum or configuration of a job"
    ),
    "jobs of a job's further stages, which come": "job of a job's further stages, which comes",
    "jobs of unknown wait: nothing tells how long they": (
        "job of unknown wait: nothing tells how long it"
    ),
    "jobs of which a task began before they": "job of which a task began before it",
    "jobs of which nothing tells when they": "job of which nothing tells when it",
    "jobs that failed before a task had 4 times: so they do": (
        "job that failed before a task had 4 times: so it does"
    ),
    "jobs that failed: played for as long as they": "job that failed: played for as long as it",
    "jobs that failed: the last of their tasks fails, and they": (
        "job that failed: the last of its tasks fails, and the job"
    ),
    "jobs that tell when they ended, and so how long they": (
        "job that tells when it ended, and so how long it"
    ),
    "jobs that were cancelled: played for as long as they": (
        "job that was cancelled: played for as long as it"
    ),
    "jobs whose end is not told: they are played to their": (
        "job whose end is not told: it is played to its"
    ),
    "jobs whose processors are those that they": "job whose processors are those that it",
    "jobs without a time of submission: submitted when they": (
        "job without a time of submission: submitted when it"
    ),
    "jobs without a time of submission: submitted when the first thing happens to them": (
        "job without a time of submission: submitted when the first thing happens to it"
    ),
    "jobs' dependencies on others before them": "job's dependency on another before it",
    "jobs' fields": "job's fields",
    "killed attempts whose task did not succeed later (ended with their job), and reduces killed in"
    " their": (
        "killed attempt whose task did not succeed later (ended with its job), or reduce killed in"
        " its"
    ),
    "lengths of reduces of jobs that do": "length of the reduces of a job that does",
    "maps of jobs that were killed before one of them had ended: they run": (
        "map of a job that was killed before one of its maps had ended: it runs"
    ),
    "maps of which no length is known: the median of their": (
        "map of which no length is known: the median of its"
    ),
    "priorities": "priority",
    "records of tasks that stand": "record of a task that stands",
    "reduces of jobs in which": "reduce of a job in which",
    "reduces of jobs that do": "reduce of a job that does",
    "reduces of which no length is known: the median of their": (
        "reduce of which no length is known: the median of its"
    ),
    "reduces that failed in their shuffle: they fail": (
        "reduce that failed in its shuffle: it fails"
    ),
    "reduces whose shuffle is not told: they work from their": (
        "reduce whose shuffle is not told: it works from its"
    ),
    "rows that end before they start: their": "row that ends before it starts: its",
    "rows that look like steps of a job, and are jobs here": (
        "row that looks like a step of a job, and is a job here"
    ),
    "shuffles that end outside of their": "shuffle that ends outside of its",
    "successes that were taken back": "success that was taken back",
    "tasks of stages after the second: nothing tells when they come": (
        "task of a stage after the second: nothing tells when it comes"
    ),
    "tasks to set up or clean up that did not succeed, or were": (
        "task to set up or clean up that did not succeed, or was"
    ),
    "times are": "time is",
}
"""The beginnings of remarks whose singular is another than the rule for the rest gives, and it."""
_OF_ONE = {
    "are": "is",
    "begin": "begins",
    "do": "does",
    "have": "has",
    "hold": "holds",
    "tell": "tells",
    "were": "was",
}
_FIRST_PLURAL = re.compile(
    r"((?:(?!(?:a|an|and|at|by|in|of|that|to|with|without) )[a-z]+ )*?[a-z]+?)s\b(?!')"
)
_VERB = re.compile(rf"((?: in `[^`]*`)?) that ({'|'.join(_OF_ONE)})\b")


class Remarks:
    """All remarks on one import, by fate, in the order in which each was first made."""

    def __init__(self) -> None:
        self._made: dict[Fate, dict[str, Remark]] = {fate: {} for fate in FATES}
        self._cut: dict[str, int] = {}

    def add(self, fate: Fate, what: str, place: str = "", count: int = 1) -> None:
        """Count it; `place` is where it stands, if that can be told.  Nothing, if `count` is 0."""
        if not count:
            return
        remark = self._made[fate].setdefault(what, Remark(what))
        remark.count += count
        if place and place not in remark.first and len(remark.first) < PLACES_SHOWN:
            remark.first.append(place)

    def add_cut_off(self, what: str, file: str, line: int) -> None:
        """Drop `what`, which is in the last line of a file that is cut off there, or after it."""
        self.add("dropped", what, f"{file}:{line}")
        self.mark_cut(file, line)

    def mark_cut(self, file: str, line: int) -> None:
        """Remember that a file is cut off there; what was lost by it is remarked on already."""
        self._cut.setdefault(file, line)

    @property
    def cut_files_in_words(self) -> str:
        """Which files are cut off, and where, for people; empty if none is."""
        if not self._cut:
            return ""
        (file, line), *others = self._cut.items()
        more = f", as {len(others):,} of the other files are" if others else ""
        return f"{file} is cut off at line {line:,}{more}; what came after is missing"

    def with_fate(self, fate: Fate) -> tuple[Remark, ...]:
        """The remarks of one fate."""
        return tuple(self._made[fate].values())

    def lines(self) -> Iterator[str]:
        """The remarks for people, fate by fate."""
        for fate in FATES:
            for nth, remark in enumerate(self.with_fate(fate)):
                head = f"{fate}:" if nth == 0 else ""
                yield f"{head:<10}{remark.count:>11,}  {remark.in_words}{remark.places_in_words}"
