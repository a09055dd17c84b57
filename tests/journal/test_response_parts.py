"""Where a job's response went: by hand, and summing to it in whole scenarios."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import AnyEvent, JobFinished, JobResubmitted
from callboard.cli import run_command_line
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.critical_chain import ChainLink, ChainReader, Piece
from callboard.journal.tell.explain import explain
from callboard.journal.tell.response_parts import response_parts
from callboard.journal.writer import JournalWriter
from callboard.scheduler.model import MAP, REDUCE
from tests.journal.stories import STORY
from tests.support.soak import one_in


def chains(events: Iterable[AnyEvent], jobs: Iterable[int]) -> dict[int, list[Piece]]:
    readers, run_state = [ChainReader(job) for job in jobs], RunState()
    for event in events:
        run_state.observe_if_possible(event)
        for reader in readers:
            reader.observe(event, run_state)
    return {reader.job: reader.pieces() for reader in readers}


def recorded(path: Path, *words: str) -> list[AnyEvent]:
    assert run_command_line(["run", *words, "--journal", str(path)]) == 0
    return list(Journal(path))


def played(folder: Path, policy: str, cluster: str, jobs: str, rest: str = "") -> Path:
    """The journal of these jobs on a cluster under a policy, in a scenario with this rest."""
    scenario, path = folder / "played.toml", folder / "j"
    workload = f'[workload]\nkind = "jobs"\njob = [{jobs}]\n'
    text = f'name = "played"\n[cluster]\n{cluster}{workload}{rest}'
    scenario.write_text(text, encoding="utf-8")
    recorded(path, str(scenario), "--policy", policy)
    return path


def test_the_chains_of_the_story_by_hand() -> None:
    """job-0's reduce had to shuffle until its map 1, which had failed once, was booked at 3400."""
    found = chains(STORY, (0, 1))
    assert found[0] == [
        Piece(0, 200, ChainLink.WAITING, MAP),
        Piece(200, 1800, ChainLink.LOST, MAP),
        Piece(1800, 1801, ChainLink.MESSAGES, MAP),
        Piece(1801, 3301, ChainLink.REMOTE_MAP, MAP),
        Piece(3301, 3400, ChainLink.MESSAGES, MAP),
        Piece(3400, 3500, ChainLink.SHUFFLE, REDUCE),
        Piece(3500, 4301, ChainLink.REDUCE_WORK, REDUCE),
        Piece(4301, 4400, ChainLink.MESSAGES, REDUCE),
    ]
    assert found[1] == [
        Piece(1000, 1200, ChainLink.WAITING, MAP),
        Piece(1200, 1201, ChainLink.MESSAGES, MAP),
        Piece(1201, 2201, ChainLink.LOCAL_MAP, MAP),
        Piece(2201, 2300, ChainLink.MESSAGES, MAP),
    ]


def test_what_the_cluster_did_meanwhile_by_hand(tmp_path: Path) -> None:
    """job-1 waits from 1000 to 1200; both map slots are job-0's until one is booked then."""
    with JournalWriter(tmp_path / "j") as sink:
        for event in STORY:
            sink(event)
    parts = response_parts(lambda: Journal(tmp_path / "j"), 1)
    assert parts is not None
    assert sorted(parts.ms.values()) == [100, 200, 1000]
    assert parts.ms["queued: others held all the slots"] == 200
    (wait,) = parts.waits
    assert (wait.ms, wait.slots_ms, wait.jobs_ms) == (200, 400, 400)
    assert +wait.held_ms == Counter({0: 400})


@pytest.mark.parametrize(
    ("words", "links"),
    one_in(
        3,
        [
            (("two-jobs", "--policy", "fair"), {ChainLink.SHUFFLE, ChainLink.REDUCE_WORK}),
            (("small-jobs", "--jobs", "30", "--policy", "fair+delay(node=5)"), {ChainLink.DELAY}),
            (("rack-outage", "--jobs", "12", "--policy", "fair"), {ChainLink.LOST}),
            (("stragglers", "--jobs", "2", "--policy", "fair+naive"), {ChainLink.SPECULATION}),
            (("slot-hoarding", "--jobs", "6", "--policy", "fair+suspend"), set()),
            (("rolling-restarts", "--jobs", "10", "--policy", "hfsp+preemptive"), set()),
        ],
    ),
)
def test_the_parts_of_every_job_sum_to_its_response(
    tmp_path: Path, words: tuple[str, ...], links: set[ChainLink]
) -> None:
    path = tmp_path / "run.journal"
    events = recorded(path, *words)
    done = {event.job: event for event in events if isinstance(event, JobFinished)}
    seen = set()
    for job, pieces in chains(events, done).items():
        assert pieces[0].from_ms == done[job].submitted_ms
        assert pieces[-1].to_ms == done[job].at_ms
        assert all(a.to_ms == b.from_ms and a.ms > 0 for a, b in pairwise(pieces))
        seen |= {piece.link for piece in pieces}
    assert links | {ChainLink.WAITING, ChainLink.MESSAGES} <= seen
    for job in list(done)[:: max(1, len(done) // 3)]:
        parts = response_parts(partial(Journal, path), job)
        assert parts is not None
        assert parts.ms.total() == done[job].at_ms - done[job].submitted_ms
        for wait in parts.waits:
            assert 0 < wait.held_ms.total() <= wait.slots_ms
            assert wait.jobs_ms >= wait.ms


def test_what_a_restart_of_the_master_undid_is_lost_time(tmp_path: Path) -> None:
    scenario = tmp_path / "restart.toml"
    scenario.write_text(
        'name = "restart"\n[cluster]\nnodes = 2\nracks = 1\n'
        '[workload]\nkind = "jobs"\n[[workload.job]]\nmaps = 6\nmap_s = 20\n'
        '[[timeline]]\nat_s = 30\nwhat = "master-restart"\nrecover = true\n'
    )
    events = recorded(tmp_path / "j", str(scenario), "--policy", "fifo")
    (again,) = (event for event in events if isinstance(event, JobResubmitted))
    first, *_ = chains(events, (0,))[0]
    assert first == Piece(0, again.at_ms, ChainLink.LOST)


def test_the_example_in_the_docs(tmp_path: Path) -> None:
    recorded(tmp_path / "j", "two-jobs", "--policy", "fair")
    told = list(explain(tmp_path / "j", "short"))
    docs = (Path(__file__).parents[2] / "docs" / "journal.md").read_text(encoding="utf-8")
    _, _, block = docs.partition("<!-- response -->\n```text\n")
    shown = block.partition("\n```")[0].splitlines()
    assert shown == told[-len(shown) :]


def test_the_chain_so_far_by_hand() -> None:
    """At 1750 job-0's map 1 has failed and not been booked; at 2000 it runs again; at 3450 all maps
    are done, and its reduce shuffles.
    """
    so_far = {now_ms: chain_so_far(now_ms) for now_ms in (150, 1750, 2000, 3450)}
    assert so_far[150] == [Piece(0, 150, ChainLink.WAITING, MAP)]
    assert so_far[1750][-1].link is ChainLink.UNHEARD
    assert [(piece.link, piece.ms) for piece in so_far[2000]] == [
        (ChainLink.WAITING, 200),
        (ChainLink.LOST, 1600),
        (ChainLink.MESSAGES, 1),
        (ChainLink.REMOTE_MAP, 199),
    ]
    assert so_far[3450][-1].link is ChainLink.SHUFFLE


def chain_so_far(now_ms: int) -> list[Piece]:
    reader, run_state = ChainReader(0), RunState()
    for event in STORY:
        if event.at_ms <= now_ms:
            run_state.observe_if_possible(event)
            reader.observe(event, run_state)
    return reader.pieces(now_ms)


@pytest.mark.parametrize("until_s", ["20", "150", "700", "900", "1200"])
def test_the_parts_of_every_unfinished_job_sum_to_its_time_so_far(
    until_s: str, tmp_path: Path
) -> None:
    path = tmp_path / "j"
    events = recorded(path, "rack-outage", "--jobs", "12", "--policy", "fair", "--until", until_s)
    run_state = RunState()
    for event in events:
        run_state.observe_if_possible(event)
    assert run_state.live
    for job in run_state.live:
        parts = response_parts(lambda: Journal(path), job)
        assert parts is not None
        assert parts.ms.total() == run_state.now_ms - run_state.jobs[job].submission.at_ms
    told = list(explain(path, min(run_state.live)))
    assert any(" so far went, along the task that it waits for:" in line for line in told)


def test_a_job_alone_waits_for_an_offer_and_not_for_other_jobs(tmp_path: Path) -> None:
    """Under Mesos a scheduler thinks only about what it is offered, a second apart."""
    path, alone = tmp_path / "j", ("--jobs", "1", "--policy", "mesos")
    recorded(path, "google-like", *alone)
    parts = response_parts(partial(Journal, path), 0)
    assert parts is not None
    assert parts.ms["a slot was free: its scheduler waited to be offered it"] >= 1000
    assert not any("other jobs" in label for label in parts.ms)


def test_who_is_offered_nothing_while_others_are_thought_about_waits_for_these(
    tmp_path: Path,
) -> None:
    path = tmp_path / "j"
    recorded(path, "google-like", "--jobs", "40", "--policy", "mesos(t_job=2)")
    others = "a slot was free: its scheduler had other jobs to think about first"
    found = [response_parts(partial(Journal, path), job) for job in range(0, 40, 5)]
    assert sum(parts.ms[others] for parts in found if parts is not None) > 2000


def test_thoughts_about_one_offer_come_one_after_the_other(tmp_path: Path) -> None:
    """Jobs 4 and 5 are placed on one offer: each waits for the thought about the other as well."""
    path = tmp_path / "j"
    recorded(path, "google-like", "--jobs", "8", "--policy", "mesos(t_job=2)")
    words = {
        "other jobs": "a slot was free: its scheduler had other jobs to think about first",
        "own": "its scheduler thought about where to place it",
    }
    found = [response_parts(partial(Journal, path), job) for job in (4, 5)]
    fourth, fifth = (
        {name: parts.ms[label] for name, label in words.items()}
        for parts in found
        if parts is not None
    )
    assert fourth["own"] >= 2000
    assert fifth["own"] >= 2000
    assert fourth["other jobs"] >= fifth["own"]
    assert fifth["other jobs"] >= fourth["own"]
    unexplained = "a slot was free: word from its node was awaited, or a rule kept it"
    assert all(parts is not None and parts.ms[unexplained] < 10 for parts in found)


def test_a_task_for_which_no_node_has_room_waits_for_that(tmp_path: Path) -> None:
    """Slots were free, and a rule was said to keep them."""
    cluster = "nodes = 2\nracks = 1\nmap_slots = 16\ncapacity = {cpu = 4000}\n"
    path = played(tmp_path, "omega", cluster, "{maps = 32, map_s = 50, map_demand = {cpu = 1000}}")
    parts = response_parts(partial(Journal, path), 0)
    assert parts is not None
    (first, ms), *_ = parts.ms.most_common()
    assert first == "a slot was free: its scheduler had found no room for it on any node"
    assert ms > 100_000
    awaited = "a slot was free: word from its node was awaited, or a rule kept it"
    assert parts.ms[awaited] < 4000


def test_a_job_that_is_given_up_waited_for_room_and_is_said_to_be_given_up(tmp_path: Path) -> None:
    """Its reduce found none in more than a hundred thoughts, and nearly all of that was said to be
    cleaning up.
    """
    cluster = "nodes = 3\nracks = 1\nmap_slots = 2\nreduce_slots = 1\n"
    jobs = "{count = 50, maps = 3, map_s = 4, reduces = 1, reduce_s = 2}"
    path = played(tmp_path, "omega(schedulers=2)", cluster, jobs)
    parts = response_parts(partial(Journal, path), 41)
    assert parts is not None
    (first, ms), *_ = parts.ms.most_common()
    assert first == "queued: others held all the slots"
    assert ms > 100_000
    assert "the job was cleaned up" not in parts.ms
    told = "failed after 1 min 56 s: its scheduler has given it up, after 109 thoughts"
    assert any(told in line for line in explain(path, 41))


def test_a_job_that_was_killed_waited_until_then_and_no_longer(tmp_path: Path) -> None:
    """It was said to have waited until the end of the run, above a line with its own end."""
    long = '{name = "long", maps = 20, map_s = 60}'
    short = '{name = "short", at_s = 30, maps = 2, map_s = 9}'
    kill = '[[timeline]]\nwhat = "kill-job"\nat_s = 100\njob = "short"\n'
    cluster = "nodes = 2\nracks = 1\nmap_slots = 1\n"
    path = played(tmp_path, "fifo", cluster, f"{long}, {short}", kill)
    lines = list(explain(path, "short"))
    assert "It waited 1 min 10 s and was never launched" in lines
    assert any(line.endswith("killed after 1 min 10 s") for line in lines)


def test_a_job_whose_task_failed_too_often_was_not_given_up(tmp_path: Path) -> None:
    """Its other attempts are killed after it has failed."""
    recorded(tmp_path / "j", "poisoned-task", "--policy", "omega")
    lines = list(explain(tmp_path / "j", "broken"))
    assert any(line.endswith("failed after 1 min 53 s") for line in lines)


def test_who_is_reserved_at_busy_nodes_alone_waits_there_though_others_are_idle(
    tmp_path: Path,
) -> None:
    """Under Sparrow one of three short tasks is reserved at two nodes that run long ones."""
    path = tmp_path / "j"
    recorded(path, "google-like", "--policy", "sparrow", "--until", "200")
    parts = response_parts(partial(Journal, path), 12)
    assert parts is not None
    (first, ms), *_ = parts.ms.most_common()
    assert first == "a slot was free: its reservations waited in the queues of other nodes"
    assert ms > 70_000
    awaited = "a slot was free: word from its node was awaited, or a rule kept it"
    assert parts.ms[awaited] < 10


def test_where_the_time_of_a_killed_job_went_is_told_as_it_was_then(tmp_path: Path) -> None:
    """Its maps ran all the time; they are closed after it, and it was told to be by its share."""
    scenario, path = tmp_path / "killed.toml", tmp_path / "killed.journal"
    job = '[workload]\nkind = "jobs"\n[[workload.job]]\nname = "j"\nmaps = 4\nmap_s = 600\n'
    kill = '[[timeline]]\nat_s = 400\nwhat = "kill-job"\njob = "j"\n'
    text = f'name = "killed"\n[cluster]\nnodes = 2\nracks = 1\n{job}{kill}'
    scenario.write_text(text, encoding="utf-8")
    recorded(path, str(scenario), "--policy", "fifo")
    parts = response_parts(partial(Journal, path), 0)
    assert parts is not None
    assert parts.ms.total() == 400_000
    assert parts.ms["a map ran, on its data's node"] > 395_000
    told = list(explain(path, 0))
    assert "Speculation:" not in told
    kills, end = told.index("Ended early:"), told.index("00:06:40.000  killed after 6 min 40 s")
    assert end - kills - 1 == 4
