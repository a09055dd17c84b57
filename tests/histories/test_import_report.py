"""What is said of an import."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import callboard.histories
from callboard.histories.model import import_report
from callboard.histories.model.import_report import Remark

REMARKS = [
    ("amount of a node: memory 9", "amount of a node: memory 9"),
    (
        "attempts of no length: taken for a millisecond",
        "attempt of no length: taken for a millisecond",
    ),
    (
        "attempts that end before they start: their length is not known",
        "attempt that ends before it starts: its length is not known",
    ),
    (
        (
            "attempts that were killed and whose task began anew later (preempted,"
            " lost): killed again after as long"
        ),
        (
            "attempt that was killed and whose task began anew later (preempted, lost):"
            " killed again after as long"
        ),
    ),
    ("columns that are not mapped: a, b", "column that is not mapped: a, b"),
    ("configurations of jobs", "configuration of a job"),
    (
        "containers at home on the host that they ran on: SLS does not say where inputs lie",
        "container at home on the host that it ran on: SLS does not say where inputs lie",
    ),
    (
        "deadlines and reservations of classes of jobs",
        "deadline or reservation of a class of jobs",
    ),
    ("delays of containers' requests", "delay of containers' requests"),
    ("ends of jobs before their submission", "end of a job before its submission"),
    (
        "ends of jobs that began before their submission: it cannot be how long they took",
        "end of a job that began before its submission: it cannot be how long it took",
    ),
    (
        ("ends of jobs that failed, and none of their tasks tells why, since it is not known when"),
        ("end of a job that failed, and none of its tasks tells why, since it is not known when"),
    ),
    (
        "ends of jobs that were killed, since it is not known when",
        "end of a job that was killed, since it is not known when",
    ),
    (
        'estimates of users, for policies that say size="requested"',
        'estimate of a user, for policies that say size="requested"',
    ),
    (
        "events of a kind that no simulation needs: X",
        "event of a kind that no simulation needs: X",
    ),
    (
        "events of tasks that stand before their job's",
        "event of a task that stands before its job's",
    ),
    ("failures of a share of the nodes", "failure of a share of the nodes"),
    (
        "failures of no length, or beyond what a run can hold",
        "failure of no length, or beyond what a run can hold",
    ),
    ("failures of nodes of which too few are up", "failure of nodes of which too few are up"),
    (
        "files of Parquet, which need pyarrow: pip install 'callboard[parquet]'",
        "file of Parquet, which needs pyarrow: pip install 'callboard[parquet]'",
    ),
    ("files of no known format, or without jobs", "file of no known format, or without jobs"),
    (
        "hidden files, checksums and configurations of jobs",
        "hidden file, checksum or configuration of a job",
    ),
    (
        "hosts of which no rack is told: put into one rack",
        "host of which no rack is told: put into one rack",
    ),
    ("hosts: all that the files name", "host: all that the files name"),
    (
        "jobs drawn from the file's distributions; SLS itself would draw others",
        "job drawn from the file's distributions; SLS itself would draw others",
    ),
    (
        "jobs of a job's further stages, which come when those began",
        "job of a job's further stages, which comes when those began",
    ),
    (
        "jobs of a name that was there before: renamed, as in `sort~2`",
        "job of a name that was there before: renamed, as in `sort~2`",
    ),
    (
        "jobs of n processors: n equal maps, which need not start together",
        "job of n processors: n equal maps, which need not start together",
    ),
    (
        "jobs of unknown wait: nothing tells how long they took to respond",
        "job of unknown wait: nothing tells how long it took to respond",
    ),
    (
        "jobs of which a task began before they had been initialised: until then",
        "job of which a task began before it had been initialised: until then",
    ),
    (
        "jobs of which no map tells how long it takes",
        "job of which no map tells how long it takes",
    ),
    (
        "jobs of which nothing tells when they came: with the job of the row before",
        "job of which nothing tells when it came: with the job of the row before",
    ),
    (
        "jobs out of order: sorted by their submission",
        "job out of order: sorted by its submission",
    ),
    (
        "jobs that ended with the last of their tasks",
        "job that ended with the last of its tasks",
    ),
    (
        "jobs that failed before a task had 4 times: so they do again",
        "job that failed before a task had 4 times: so it does again",
    ),
    (
        (
            "jobs that failed, and none of their tasks tells why: killed so long after"
            " their submission"
        ),
        ("job that failed, and none of its tasks tells why: killed so long after its submission"),
    ),
    (
        "jobs that failed: played for as long as they ran, and then done",
        "job that failed: played for as long as it ran, and then done",
    ),
    (
        "jobs that failed: the last of their tasks fails, and they with it",
        "job that failed: the last of its tasks fails, and the job with it",
    ),
    (
        "jobs that tell when they ended, and so how long they took to respond",
        "job that tells when it ended, and so how long it took to respond",
    ),
    ("jobs that took time to be initialised", "job that took time to be initialised"),
    (
        "jobs that were cancelled: played for as long as they ran, and then done",
        "job that was cancelled: played for as long as it ran, and then done",
    ),
    (
        "jobs that were killed: killed so long after their submission",
        "job that was killed: killed so long after its submission",
    ),
    (
        "jobs that were there before, with the same times",
        "job that was there before, with the same times",
    ),
    (
        "jobs whose end is not told: they are played to their end",
        "job whose end is not told: it is played to its end",
    ),
    (
        "jobs whose processors are those that they asked for",
        "job whose processors are those that it asked for",
    ),
    ("jobs without a time of submission", "job without a time of submission"),
    (
        "jobs without a time of submission: submitted when the first thing happens to them",
        "job without a time of submission: submitted when the first thing happens to it",
    ),
    ("jobs' dependencies on others before them", "job's dependency on another before it"),
    (
        "jobs' fields that no simulation needs: mapreduce.x",
        "job's fields that no simulation needs: mapreduce.x",
    ),
    (
        (
            "killed attempts beside another of their task (speculation): the policy"
            " played makes its own"
        ),
        (
            "killed attempt beside another of its task (speculation): the policy played"
            " makes its own"
        ),
    ),
    ("labels of a topology's nodes", "label of a topology's nodes"),
    (
        "lengths of reduces of jobs that do not tell how many they are",
        "length of the reduces of a job that does not tell how many they are",
    ),
    ("lines that begin no record of a history", "line that begins no record of a history"),
    ("lines that hold no whole event", "line that holds no whole event"),
    (
        "map slots a node instead: as many of the smallest containers as fit",
        "map slot a node instead: as many of the smallest containers as fit",
    ),
    (
        "map slots a node: no map that succeeded tells",
        "map slot a node: no map that succeeded tells",
    ),
    (
        "map slots a node: so many maps that succeeded ran at once on a host, at least",
        "map slot a node: so many maps that succeeded ran at once on a host, at least",
    ),
    (
        "maps of jobs that were killed before one of them had ended: they run until then",
        "map of a job that was killed before one of its maps had ended: it runs until then",
    ),
    (
        "maps of which no length is known: the median of their job's",
        "map of which no length is known: the median of its job's",
    ),
    (
        "maps that ran nobody knows where: taken for data-local",
        "map that ran nobody knows where: taken for data-local",
    ),
    (
        "maps that ran rack-local, by their host and those of their input",
        "map that ran rack-local, by its host and those of its input",
    ),
    (
        "maps without a place of their input: at home on every node",
        "map without a place of its input: at home on every node",
    ),
    (
        "memory and vcores of containers, for architectures that place by resources",
        "memory and vcores of containers, for architectures that place by resources",
    ),
    (
        "nodes of 2 slots a kind: 9 tasks ran at once at most",
        "node of 2 slots a kind: 9 tasks ran at once at most",
    ),
    (
        "nodes of two slots a kind: nothing tells how many",
        "node of two slots a kind: nothing tells how many",
    ),
    (
        "nodes whose memory and vcores are not stated: taken to have the commonest amounts that"
        " are stated (vcores 6)",
        "node whose memory and vcores are not stated: taken to have the commonest amounts that"
        " are stated (vcores 6)",
    ),
    ("nodes: as the file states", "node: as the file states"),
    (
        "numbers in `maps` that are not whole: rounded",
        "number in `maps` that is not whole: rounded",
    ),
    (
        "outages of single nodes, drawn by the shares of failures",
        "outage of single nodes, drawn by the shares of failures",
    ),
    ("places that are not UTF-8: read as Latin-1", "place that is not UTF-8: read as Latin-1"),
    ("priorities that Hadoop does not know", "priority that Hadoop does not know"),
    (
        "records of tasks that stand before any job",
        "record of a task that stands before any job",
    ),
    (
        "records that are cut off by the end of the file",
        "record that is cut off by the end of the file",
    ),
    (
        "reduces of jobs in which no reduce tells its length: as long as the median map",
        "reduce of a job in which no reduce tells its length: as long as the median map",
    ),
    (
        "reduces of jobs that do not tell how long one takes",
        "reduce of a job that does not tell how long one takes",
    ),
    (
        "reduces of which no length is known: the median of their job's",
        "reduce of which no length is known: the median of its job's",
    ),
    (
        "reduces that failed in their shuffle: they fail when it ends",
        "reduce that failed in its shuffle: it fails when it ends",
    ),
    (
        "reduces that waited for their job's last map: of the shuffle only what came after",
        "reduce that waited for its job's last map: of the shuffle only what came after",
    ),
    (
        "reduces whose shuffle ended before their job's last map: clocks are apart",
        "reduce whose shuffle ended before its job's last map: clocks are apart",
    ),
    (
        "reduces whose shuffle is not told: they work from their job's last map on",
        "reduce whose shuffle is not told: it works from its job's last map on",
    ),
    (
        "rows of a kind that begins with neither m nor r: taken for maps",
        "row of a kind that begins with neither m nor r: taken for maps",
    ),
    (
        "rows of another number of cells than the table has columns",
        "row of another number of cells than the table has columns",
    ),
    ("rows of what had not ended (RUNNING)", "row of what had not ended (RUNNING)"),
    (
        "rows that do not tell a number of maps: taken for one",
        "row that does not tell a number of maps: taken for one",
    ),
    (
        "rows that end before they start: their length is not known",
        "row that ends before it starts: its length is not known",
    ),
    (
        ("rows that look like steps of a job, and are jobs here (`sacct --allocations` has none)"),
        ("row that looks like a step of a job, and is a job here (`sacct --allocations` has none)"),
    ),
    ("rows without a state: taken for successes", "row without a state: taken for successes"),
    (
        "second ends of an attempt: the first is kept",
        "second end of an attempt: the first is kept",
    ),
    ("second records of an attempt", "second record of an attempt"),
    (
        "second starts of an attempt: the first is kept",
        "second start of an attempt: the first is kept",
    ),
    ("second tasks of one number", "second task of one number"),
    (
        "shuffles that end outside of their attempt: put at its start or its end",
        "shuffle that ends outside of its attempt: put at its start or its end",
    ),
    ("submit below 0", "submit below 0"),
    ("submit with a fraction or a sign: rounded", "submit with a fraction or a sign: rounded"),
    (
        "successes that were taken back: the outputs were lost, the task ran again",
        "success that was taken back: the outputs were lost, the task ran again",
    ),
    (
        "tasks of stages after the second: nothing tells when they come",
        "task of a stage after the second: nothing tells when it comes",
    ),
    (
        "tasks to set up or clean up that did not succeed, or were for an attempt",
        "task to set up or clean up that did not succeed, or was for an attempt",
    ),
    (
        "the last line, which is cut off by the end of the file",
        "the last line, which is cut off by the end of the file",
    ),
    (
        "the last object, which is cut off by the end of the file",
        "the last object, which is cut off by the end of the file",
    ),
    (
        "the rest of a packed file that is cut off or damaged",
        "the rest of a packed file that is cut off or damaged",
    ),
    (
        "times are taken for seconds: no unit is stated",
        "time is taken for seconds: no unit is stated",
    ),
    ("times in `maps` below 0: not known", "time in `maps` below 0: not known"),
    (
        "jobs without a time of submission: submitted when they began",
        "job without a time of submission: submitted when it began",
    ),
    (
        "killed attempts whose task did not succeed later (ended with their job), and reduces"
        " killed in their shuffle",
        "killed attempt whose task did not succeed later (ended with its job), or reduce killed"
        " in its shuffle",
    ),
    (
        "processors: the largest job has more than the header tells",
        "processor: the largest job has more than the header tells",
    ),
]


@pytest.mark.parametrize(("what", "once"), REMARKS)
def test_a_thing_that_happened_once_is_told_in_the_singular(what: str, once: str) -> None:
    """`1 jobs out of order` stood there, then `1 prioritie that Hadoop does not know` and
    `1 attempt that end before they start`.  These are all remarks that are made.
    """
    assert Remark(what, 1).in_words == once
    assert Remark(what, 2).in_words == what


def test_every_remark_with_a_singular_is_made_somewhere() -> None:
    """Whoever words one anew gives it a singular anew: the old one would stand there unused."""
    made = re.compile("|".join(remark_patterns()))
    assert [what for what, _ in REMARKS if not made.fullmatch(what)] == []


def remark_patterns() -> Iterator[str]:
    """A pattern for each text in the room that may be a remark; what is put into it is anything."""
    room = Path(callboard.histories.__file__).parent
    for path in set(room.rglob("*.py")) - {Path(import_report.__file__)}:
        for node in ast.walk(ast.parse(path.read_bytes())):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [each.value if isinstance(each, ast.Constant) else None for each in parts]
            told = "".join(text for text in texts if isinstance(text, str))
            if " " in told and "\n" not in told and re.search("[a-z]{4}", told):
                yield "".join(re.escape(str(text)) if text else ".+" for text in texts)
