"""What is wrong is said in a message that a person can read, whatever the input was."""

import gzip
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.kernel import ActorFailed
from callboard.cli import run_command_line
from callboard.experiments import error_messages
from callboard.experiments.error_messages import failure_line, with_own_pip
from callboard.scenarios.scenario_file import find_scenario, from_dict
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.text.concise import LINE_MAX, concise
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1

MEGABYTE = "x" * 1_000_000


def scenario(**changes: object) -> dict[str, object]:
    jobs = {"kind": "jobs", "job": [{"maps": 1, "map_s": 1}]}
    return {"name": "a", "workload": jobs, **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {MEGABYTE: 1},
        {"name": MEGABYTE},
        {"cluster": {MEGABYTE: 1}},
        {"cluster": {"nodes": MEGABYTE}},
        {"policies": [MEGABYTE]},
        {"policies": [{"order": MEGABYTE, MEGABYTE: 1}]},
        {"workload": {"kind": MEGABYTE}},
        {"timeline": [{"at_s": 1, "what": MEGABYTE}]},
        {"timeline": [{"at_s": 1, "what": "crash", "nodes": MEGABYTE}]},
    ],
)
def test_a_scenario_is_not_quoted_by_the_megabyte(changes: dict[str, object]) -> None:
    with pytest.raises(ScenarioError) as caught:
        from_dict(scenario(**changes), "a.toml")
    assert all(len(line) <= LINE_MAX for line in str(caught.value).split("\n"))


def test_a_file_beside_the_package_that_begins_with_its_name_is_somebodys_own() -> None:
    """The line of `…/callboard_mine.py` was left out, as one of `…/callboard`."""
    own = f"{Path(error_messages.__file__).parents[1]}_mine.py"
    names: dict[str, Any] = {"__name__": "mine"}
    exec(compile("def order():\n    raise ValueError('no')\n", own, "exec"), names)
    with pytest.raises(ValueError, match="no") as raised:
        names["order"]()
    cause = raised.value.with_traceback(raised.tb.tb_next)  # without this test's own frame
    failed = ActorFailed(Actor(0, "master"), "a message", 0, cause)
    failed.__cause__ = cause
    assert failure_line(failed) == "ValueError: no (callboard_mine.py, line 2, in order)"


@pytest.mark.parametrize(
    "policy", [MEGABYTE, f"fair({MEGABYTE}=1)", f"fair+{MEGABYTE}", "(" * 9999]
)
def test_neither_is_a_policy(policy: str) -> None:
    with pytest.raises(PolicySpecError) as caught:
        make_policy(policy)
    assert len(str(caught.value)) <= LINE_MAX


@pytest.mark.parametrize(
    "words", [("run", "two-jobs", "--" + "x" * 99_999), ("x" * 99_999,), ("run", "x" * 99_999)]
)
def test_nor_an_argument(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = run_command_line(words)
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    assert status == 2
    assert all(len(line) <= LINE_MAX + 20 for line in capsys.readouterr().err.split("\n"))


def test_what_is_no_journal_is_told_how_to_have_one(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exam.toml").write_text(find_scenario("two-jobs").read_text())
    (tmp_path / "day.history").write_text(HADOOP1)
    (tmp_path / "hello.txt").write_text("hello")
    for name, words in (
        ("exam.toml", "`callboard run exam.toml --journal exam.journal` records one of it"),
        ("day.history", "`callboard run day.history --journal day.journal` records one of it"),
        ("hello.txt", "`callboard run SCENARIO --journal FILE` writes a journal"),
    ):
        for command in (("explain", name), ("plot", name, "ecdf", "--to", "x.svg")):
            status, _, err = callboard(*command)
            assert status == 2
            assert f"{name}: byte 0: this is not a Callboard journal; {words}\n" in err


def test_what_cannot_be_played_is_told_what_it_is_or_what_may_have_been_meant(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exam.toml").write_text(find_scenario("two-jobs").read_text())
    (tmp_path / "exam.journal").write_text("")
    (tmp_path / "hello.txt").write_text("hello\n")
    (tmp_path / "mine.py").write_text("import re\n\n\nclass Own:\n    pass\n")
    for name, words in (
        ("hello.txt", "hello.txt, line 1: not valid TOML: Expected '=' after a key"),
        ("hello.txt", "nor is it of another known format: Hadoop 1 job history, "),
        ("mine.py", "this is Python; `callboard run two-jobs --policy ./mine.py:Own` plays"),
        ("exam", "did you mean `exam.toml`?"),
        ("exma.toml", "did you mean `exam.toml`?"),
        ("exma.jurnal", "did you mean `exam.journal`?"),
        ("two-job", "did you mean `two-jobs`?"),
        ("nosuch.history", "of the library; `callboard scenarios` lists what can be played"),
        ("gone/nosuch.toml", "no such file; `callboard scenarios` lists what can be played"),
    ):
        status, _, err = callboard("run", name)
        assert (status, words in err, "[…" in err) == (2, True, False), err


def test_what_no_command_can_read_is_told_alike_by_all(callboard: Run, tmp_path: Path) -> None:
    """`run` took an empty gzip, and bytes, for text in another encoding."""
    known = "known are: Hadoop 1 job history, "
    for name, data, told in (
        ("empty.gz", gzip.compress(b""), "the file is empty"),
        ("wide.txt", "jobs\n".encode("utf-16"), "this is text in UTF-16; save it as UTF-8"),
        ("bytes.bin", bytes(range(256)), f"nor a file of a known format; {known}"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        for command in (["run"], ["backtest", "--policy", "fair"], ["calibrate"]):
            status, _, err = callboard(command[0], str(path), *command[1:])
            assert status == 2
            assert told in err, command


def test_no_policy_at_all_is_told_alike(callboard: Run) -> None:
    for asked in (("policies", ""), ("run", "two-jobs", "--policy", "")):
        assert callboard(*asked)[::2] == (
            2,
            "callboard: a policy needs at least an order, such as `fair`\n",
        )


@pytest.mark.parametrize("command", ["import", "calibrate"])
def test_a_history_that_is_not_there_is_looked_for_beside(
    callboard: Run, tmp_path: Path, command: str
) -> None:
    """`run` said what may be meant, these two did not."""
    (tmp_path / "cluster.history").write_text(HADOOP1)
    more = ("--to", str(tmp_path / "to")) if command == "import" else ()
    status, _, err = callboard(command, str(tmp_path / "clustr.history"), *more)
    assert status == 2
    assert f"no such file or folder; did you mean `{tmp_path / 'cluster.history'}`?" in err


def test_a_swim_trace_may_be_gzipped(callboard: Run, tmp_path: Path) -> None:
    """As all that is read; `import` said so, and `run` refused it."""
    path = tmp_path / "day.tsv.gz"
    packed = gzip.compress(b"job0\t0\t0\t67108864\t0\t0\n")
    path.write_bytes(packed)
    status, out, _ = callboard("run", str(path), "--policy", "fifo")
    assert (status, "1 job (1 map" in out) == (0, True)
    for damaged in (packed[:-9], packed[:2]):
        path.write_bytes(damaged)
        status, _, err = callboard("run", str(path), "--policy", "fifo")
        assert (status, "a gzipped file that is cut off or damaged" in err) == (2, True)


def test_a_history_is_told_by_what_stands_in_it_whatever_it_is_called(
    callboard: Run, tmp_path: Path
) -> None:
    """One called .tsv was read as a SWIM trace, by `run` alone."""
    path = tmp_path / "mine.tsv"
    path.write_text(HADOOP1)
    status, out, _ = callboard("run", str(path), "--policy", "fifo")
    assert status == 0
    assert "jobs completed" in out


FAILING = """
from callboard.scheduler.orders.fifo import Fifo

class Odd(BaseException):
    pass

class Mine(Fifo):
    name, summary = "mine", "fails"

    def queue(self, kind, offer, view):
        raise {error}
"""


@pytest.mark.parametrize("driver", ["trio", "direct"])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("Odd('a slip')", "Odd: a slip"),
        ("SystemExit(3)", "SystemExit: 3"),
        ("Odd('y' * 10**6)", "Odd: y"),
    ],
)
def test_an_error_in_ones_own_part_begins_with_what_is_wrong(
    callboard: Run, tmp_path: Path, driver: str, error: str, told: str
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(FAILING.format(error=error))
    status, out, err = callboard("run", "two-jobs", "--policy", f"{mine}:Mine", "--driver", driver)
    first, second, *more = err.split("\n")
    assert (status, out) == (1, "")
    assert told in first
    assert second.endswith(f"of the run, under {mine}:Mine, seed 1")
    assert [line for line in more if line.startswith("  File")] == [
        f'  File "{mine}", line 11, in queue'
    ]
    assert all(len(line) <= LINE_MAX + 20 for line in (first, second, *more))


KEYED = """
from callboard.scheduler.orders.keyed import KeyedOrder

class Mine(KeyedOrder):
    name, summary = "mine", "for tests"

    def key(self{parameters}):
        {body}

    def score(self, key):
        return 0.0
"""


MISSHAPEN = """
import msgspec

from callboard.scheduler.orders.keyed import KeyedOrder
from callboard.scheduler import policy as orders
from callboard.scheduler.policy import LocalityRule, PreemptionRule


class Params(msgspec.Struct, frozen=True):
    most: int = 1


class Order(KeyedOrder):
    name, summary = "order", "for tests"

    def key(self, job, kind):
        return (job.submitted_ms,)

    def score(self, key):
        return 0.0


class Short(Order):
    def key(self, job):
        return (1,)


class Deaf(Order):
    def observe(self, fact):
        pass


class Asking(Order):
    def __init__(self, most):
        pass


class Losing(Order):
    Params = Params


class Rule(LocalityRule):
    name, summary = "rule", "for tests"

    def refusal(self, job, level, offer, view):
        return level > 5


class Bare(orders.Order):
    name, summary = "bare", "for tests"

    def queue(self, kind, offer, view):
        return view.jobs()


class Silent(Bare):
    def queue(self, kind, offer, view):
        view.jobs()


class Taking(PreemptionRule):
    name, summary = "taking", "for tests"
    interval_ms = 5000

    def victims(self, view):
        return view.attempts()


class Keeping(Taking):
    def victims(self, view):
        pass
"""


@pytest.mark.parametrize(
    ("policy", "status", "told"),
    [
        ("{}:Short", 2, "expected `def key(self, job, kind):`, got `def key(self, job):`"),
        ("{}:Deaf", 2, "expected `def observe(self, fact, view):`, got `def observe(self, fact):`"),
        ("{}:Asking", 2, "is made by part(): expected `def __init__(self):`"),
        ("{}:Losing(most=3)", 2, "has `Params`; `def __init__(self, params=None):` keeps them"),
        ("fair+{}:Rule", 1, "the locality rule `rule` refuses a job with False: give Note("),
        ("{}:Bare", 1, "in its queue: `queue` yields a QueuedJob(job, score) for each job"),
        ("{}:Silent", 1, "the order `bare` has None in its queue"),
        ("fair+{}:Taking", 1, "as a victim: `victims` yields Kill(attempt, why), or Suspend"),
        ("fair+{}:Keeping", 1, "the rule `taking` gives None as a victim"),
        ("{}", 2, ":Order` or `{}:Short` or `{}:Deaf`"),
    ],
)
def test_what_a_part_is_made_of_is_looked_at(
    callboard: Run, tmp_path: Path, policy: str, status: int, told: str
) -> None:
    """A parameter was dropped, a journal could not be read again, frames were of our files."""
    mine = tmp_path / "mine.py"
    mine.write_text(MISSHAPEN)
    found, _, err = callboard("run", "two-jobs", "--policy", policy.replace("{}", str(mine)))
    assert found == status
    assert told.replace("{}", str(mine)) in err
    assert "Traceback" not in err


GIVES = """
from callboard.scheduler.decisions import Kill, Speculate
from callboard.scheduler.orders.keyed import KeyedOrder
from callboard.scheduler.policy import LocalityRule, PreemptionRule, SpeculationRule
from callboard.scheduler.reasons import Note, Reason, Why


class Order(KeyedOrder):
    name = summary = "gives"

    def key(self, job, kind):
        return (job.submitted_ms,)

    def score(self, key):
        return {gives}


class Kills(PreemptionRule):
    name = summary = "kills"
    interval_ms = 5000

    def victims(self, view):
        for each in view.attempts():
            yield {gives}


class Asked(Kills):
    interval_ms = property(lambda self: {gives})

    def victims(self, view):
        return iter(())


class Copies(SpeculationRule):
    name = summary = "copies"

    def speculate(self, kind, offer, view):
        for each in view.attempts():
            return {gives}


class Refuses(LocalityRule):
    name = summary = "refuses"
    times = 0

    def refusal(self, job, level, offer, view):
        return {gives} if job.job == 0 else None
"""


def test_a_score_may_be_a_locality(callboard: Run, tmp_path: Path) -> None:
    """As `job.nearest` gives it: 0, 1 or 2, it was told to be no number."""
    mine = tmp_path / "mine.py"
    key = "(job.submitted_ms, job.nearest(kind, 0))"
    mine.write_text(GIVES.format(gives="key[-1]").replace("(job.submitted_ms,)", key))
    assert callboard("run", "two-jobs", "--policy", f"{mine}:Order")[0] == 0


@pytest.mark.parametrize(
    ("policy", "gives", "told"),
    [
        ("{}:Order", "True", "scores a job with True: a score is a number"),
        ("{}:Order", "10**40", "the `score` of a reason is a number of a float's or 64 bits' size"),
        ("fifo+{}:Kills", 'Kill(each.attempt, "because")', "a reason is Why(Reason.OWN, self.name"),
        ("fifo+{}:Kills", 'Kill(each.attempt, Why("new"))', "the `reason` of a reason is Reason.O"),
        (
            "fifo+{}:Kills",
            "Kill(each.attempt, Why(Reason.OWN, 5))",
            "the `part` of a reason is self.name, not 5",
        ),
        (
            "fifo+{}:Kills",
            "Kill(each.attempt, Why(Reason.OWN, self.name, 1, beneficiary=1))",
            "the `beneficiary` of a reason is JobClaimant(job), ",
        ),
        ("fifo+{}:Kills", "Kill(each, Why(Reason.OWN))", "as a victim, which does not run: give"),
        ("fifo+{}:Kills", "Kill(9999, Why(Reason.OWN))", "gives attempt 9999 as a victim, which"),
        ("fifo+{}:Copies", "each", "`speculate` returns Speculate(attempt, why), or None"),
        ("fifo+{}:Copies", "5", "the speculation rule `copies` gives 5: `speculate` returns"),
        ("fifo+{}:Copies", "Speculate(each.attempt, 'late')", "a reason is Why(Reason.OWN, self."),
        ("fifo+{}:Asked", "None", "is asked for victims every `interval_ms`, which is None: set"),
        ("fifo+{}:Asked", "'5'", "which is '5': set it, as in `interval_ms = 15_000`"),
        ("fifo+{}:Asked", "0", "which is 0: set it"),
        ("fifo+{}:Refuses", "Note(5)", "the `skipped` of a reason is a list of refusals"),
        ("fifo+{}:Refuses", 'Note("no")', "the locality rule `refuses` refused every job"),
    ],
)
def test_what_no_journal_could_be_read_with_is_refused_as_it_is_given(
    callboard: Run, tmp_path: Path, policy: str, gives: str, told: str
) -> None:
    """It was recorded and could not be read again, or ended in a traceback, or in silence."""
    mine = tmp_path / "mine.py"
    mine.write_text(GIVES.format(gives=gives))
    asked = ("--policy", policy.replace("{}", str(mine)), "--journal", str(tmp_path / "a.journal"))
    status, _, err = callboard("run", "two-jobs", *asked)
    assert status in (1, 2)
    assert told in err
    assert "Traceback" not in err


def test_place_wants_a_jobs_number(callboard: Run, tmp_path: Path) -> None:
    """A job itself was a KeyError in the master's books."""
    mine = tmp_path / "mine.py"
    places = """
    def observe(self, fact, view):
        super().observe(fact, view)
        for job in view.jobs():
            self.place(job, fact, view)
"""
    mine.write_text(KEYED.format(parameters=", job, kind", body="return (1,)") + places)
    _, _, err = callboard("run", "two-jobs", "--policy", f"{mine}:Mine")
    assert "`place` takes a job's number, `job.job`, not " in err


def test_a_score_may_be_a_float_of_numpys(callboard: Run, tmp_path: Path) -> None:
    mine, journal = tmp_path / "mine.py", str(tmp_path / "mine.journal")
    mine.write_text("import numpy\n" + GIVES.format(gives="numpy.float64(2.5)"))
    assert callboard("run", "two-jobs", "--policy", f"{mine}:Order", "--journal", journal)[0] == 0
    assert "1st in the queue, score 2.5" in callboard("show", journal)[1]


def test_a_part_of_ones_own_is_described_as_it_is_spelled(callboard: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(MISSHAPEN)
    _, out, _ = callboard("policies", f"{mine}:Order", f"{mine}:Rule")
    assert f"callboard run --policy '{mine}:Order'" in out
    assert f"callboard run --policy 'fair+{mine}:Rule'" in out
    assert callboard("policies", f"fair+{mine}:Rule")[1].count(f"'fair+{mine}:Rule'") == 1


def test_an_observe_that_forgets_the_orders_own_is_told_of_where_the_run_is_stuck(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the counterexample is written there
    mine = tmp_path / "mine.py"
    forgetful = "\n    def observe(self, fact, view):\n        pass\n"
    mine.write_text(KEYED.format(parameters=", job, kind", body="return (1,)") + forgetful)
    status, _, err = callboard("run", "two-jobs", "--policy", f"{mine}:Mine")
    assert status == 1
    assert "the order `mine` has job 0 not in its queue" in err
    assert "calls `super().observe(fact, view)`" in err
    _, out, _ = callboard("check", f"{mine}:Mine", "--property", "finishes", "--max-examples", "1")
    assert "the order `mine` has job 0 not in its queue" in out


@pytest.mark.parametrize(
    ("guarantees", "told"),
    [
        (
            '("max_min",)',
            "`mine` guarantees `max_min`, which is no property; did you mean `max-min`?",
        ),
        ('("max-min")', "names stand in a tuple, ('max-min',)"),
    ],
)
def test_a_guarantee_that_is_no_property_is_refused(
    callboard: Run, tmp_path: Path, guarantees: str, told: str
) -> None:
    """Else it would never be tested, and nobody would know."""
    mine = tmp_path / "mine.py"
    text = KEYED.format(parameters=", job, kind", body="return (1,)")
    mine.write_text(f"{text}\n    guarantees = {guarantees}\n")
    status, out, err = callboard("check", f"{mine}:Mine", "--max-examples", "1")
    assert (status, out) == (2, "")
    assert told in err


@pytest.mark.parametrize(
    ("parameters", "body", "told"),
    [
        (", job, kind", "return (job.pending, 1)", "(pending, 1), in which `pending` lacks its"),
        (", job, kind", "job.pending(kind)", "the order `mine` compares a job by None"),
        (", job, kind", "return (float('nan'), job.job)", "(nan, 0) is no key: nothing compares"),
        (", job, kind", "return 'first'", "`key` gives a tuple, such as (job.submitted_ms,)"),
        (", job, kind", "return (job.left,)", "a policy sees of a job: job, submitted_ms, user"),
    ],
)
def test_what_is_wrong_with_a_key_is_told_in_the_words_of_its_file(
    callboard: Run, tmp_path: Path, parameters: str, body: str, told: str
) -> None:
    """Without the master's messages and Callboard's own frames, but those that called it."""
    mine = tmp_path / "mine.py"
    mine.write_text(KEYED.format(parameters=parameters, body=body))
    status, _, err = callboard("run", "two-jobs", "--policy", f"{mine}:Mine")
    assert status == 1
    assert told in err
    assert f"under {mine}:Mine, seed 1" in err
    assert not any(word in err for word in ("SubmitStage", "drivers.py", "Traceback"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rum",), ["'rum' is no command; did you mean `callboard run`?"]),
        (("explain",), ["JOURNAL", "what `callboard run --journal` has written"]),
        (("hunt", "fifo"), ["--against", "  --against: the policy that it is compared with"]),
        (("plot", "--size", "7"), ["2 to 60 inches each"]),
        (("run", "two-jobs", "--out", "x"), ["did you mean `--journal FILE`?"]),
        (("run", "two-jobs", "--twin"), ["did you mean `--engine twin`?"]),
        (("--policy", "fair", "run", "two-jobs"), ["options come after the command"]),
    ],
)
def test_a_wrong_argument_is_told_and_nothing_besides(
    words: tuple[str, ...], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run_command_line(words)
    _, _, error = capsys.readouterr().err.partition("error: ")
    assert all(each in error for each in told)
    lines = error.rstrip().split("\n")
    assert len(lines) == 1 + ("required" in error)
    assert all(line.strip(" :") for line in lines)


def test_a_long_line_keeps_both_ends() -> None:
    told = concise(f"`{MEGABYTE}` is no order; did you mean `fifo`?\nshort")
    first, second = told.split("\n")
    assert first.startswith("`xxx")
    assert first.endswith("is no order; did you mean `fifo`?")
    assert "characters …]" in first
    assert second == "short"


def test_an_extra_is_installed_for_the_python_that_lacks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the environment is not activated the shell's `pip` is that of another Python."""
    said = "figures need matplotlib: pip install 'callboard[experiments]'"
    folder = Path(sys.executable).parent
    monkeypatch.setattr(shutil, "which", lambda name: str(folder / name))
    assert with_own_pip(said) == said
    monkeypatch.setattr(shutil, "which", lambda name: f"/elsewhere/{name}")
    monkeypatch.chdir(folder.parent)
    python = f"{folder.name}/{Path(sys.executable).name}"
    own = f"figures need matplotlib: {python} -m pip install 'callboard[experiments]'"
    assert with_own_pip(said) == own
    assert with_own_pip("no such file") == "no such file"
