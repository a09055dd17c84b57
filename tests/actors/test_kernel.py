"""The kernel's two rules: the order is its own, and nobody sees another's work of a round."""

from collections.abc import Callable

import msgspec
import pytest

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.drivers import run_direct, run_on_trio
from callboard.actors.kernel.kernel import (
    ROUNDS_MAX,
    STALL_TIMEOUT_MS,
    ActorFailed,
    Kernel,
    KernelError,
    Stalled,
)
from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.actors.vocabulary.events import Event, ShuffleEnded

HOSTS = [run_direct, run_on_trio]
Host = Callable[[Kernel], None]


class Say(Message, frozen=True):
    word: str


class Probe(Actor):
    """Records what it hears as (time, round, word) and answers by a script."""

    def __init__(self, address: int, script: Callable[["Probe", Say], None] | None = None) -> None:
        super().__init__(address, f"probe {address}")
        self.heard: list[tuple[int, int, str]] = []
        self.script = script

    def receive(self, message: msgspec.Struct) -> None:
        assert isinstance(message, Say)
        assert isinstance(self._kernel, Kernel)
        self.heard.append((self.now_ms, self._kernel.round, message.word))
        if self.script is not None:
            self.script(self, message)

    def words(self) -> list[str]:
        return [word for _, _, word in self.heard]


def ender(address: int = 99) -> Probe:
    """An actor that ends the run when it hears anything."""
    return Probe(address, lambda probe, _: probe.end_run("complete"))


def started(kernel: Kernel, *probes: Probe, end_ms: int = 100) -> None:
    for probe in probes:
        kernel.admit_actor(probe)
    last = ender()
    kernel.admit_actor(last)
    last.timer(Say("end"), end_ms, NO_CAUSE)


@pytest.mark.parametrize("host", HOSTS)
def test_one_instant_is_delivered_in_the_order_of_sender_and_count(host: Host) -> None:
    kernel = Kernel()
    first, second, ear = Probe(1), Probe(2), Probe(3)
    started(kernel, first, second, ear)
    second.send(3, Say("2a"), NO_CAUSE, 5)
    first.send(3, Say("1a"), NO_CAUSE, 5)
    second.send(3, Say("2b"), NO_CAUSE, 5)
    first.send(3, Say("1b"), NO_CAUSE, 5)
    host(kernel)
    assert ear.words() == ["1a", "1b", "2a", "2b"]


@pytest.mark.parametrize("host", HOSTS)
def test_an_answer_without_delay_comes_in_the_next_round(host: Host) -> None:
    """All of (5, 0) is delivered before any of (5, 1), whatever the senders' numbers."""
    kernel = Kernel()
    quick = Probe(1, lambda probe, _: probe.send(3, Say("answer"), NO_CAUSE))
    slow, ear = Probe(2), Probe(3)
    started(kernel, quick, slow, ear)
    slow.send(1, Say("ask"), NO_CAUSE, 5)
    slow.send(3, Say("direct"), NO_CAUSE, 5)
    host(kernel)
    assert ear.heard == [(5, 0, "direct"), (5, 1, "answer")]


def test_mail_to_the_same_actor_from_different_senders_is_a_tie() -> None:
    kernel = Kernel()
    first, second, ear = Probe(1), Probe(2), Probe(3)
    started(kernel, first, second, ear)
    first.send(3, Say("1"), NO_CAUSE, 5)
    first.send(3, Say("1 again"), NO_CAUSE, 5)
    second.send(3, Say("2"), NO_CAUSE, 5)
    second.send(3, Say("2, later"), NO_CAUSE, 6)
    run_direct(kernel)
    assert kernel.ties == 1


def test_tie_order_permutes_senders_and_never_one_senders_own_mail() -> None:
    def run(tie_order: int | None) -> tuple[list[str], str]:
        kernel, ear = Kernel(tie_order=tie_order), Probe(50)
        senders = [Probe(address) for address in range(1, 7)]
        started(kernel, *senders, ear)
        for sender in senders:
            sender.send(50, Say(f"{sender.address}a"), NO_CAUSE, 5)
            sender.send(50, Say(f"{sender.address}b"), NO_CAUSE, 5)
        run_direct(kernel)
        return ear.words(), kernel.digest()

    plain, permuted = run(None), run(1)
    assert permuted == run(1)
    assert sorted(permuted[0]) == sorted(plain[0])
    assert permuted != plain
    for words in (plain[0], permuted[0]):
        for a, b in zip(words[::2], words[1::2], strict=True):
            assert (a[:-1], a[-1], b[-1]) == (b[:-1], "a", "b")


def test_a_timer_behind_a_peer_comes_right_after_the_peers_own_mail() -> None:
    kernel = Kernel()
    one, two, ear = Probe(1), Probe(2), Probe(3)
    started(kernel, one, two, ear)
    ear.timer_behind(1, Say("behind 1"), 5, NO_CAUSE)
    two.send(3, Say("2"), NO_CAUSE, 5)
    one.send(3, Say("1"), NO_CAUSE, 5)
    run_direct(kernel)
    assert ear.words() == ["1", "behind 1", "2"]


@pytest.mark.parametrize("host", HOSTS)
def test_notes_reach_the_sink_in_the_order_of_their_senders(host: Host) -> None:
    events: list[Event] = []
    kernel = Kernel(sink=events.append)

    def tell(teller: Probe, _: Say) -> None:
        teller.note(ShuffleEnded(teller.now_ms, teller.address))

    tellers = [Probe(address, tell) for address in (3, 1, 2)]
    started(kernel, *tellers)
    for teller in tellers:
        teller.timer(Say("now"), 5, NO_CAUSE)
    host(kernel)
    assert [event.attempt for event in events if isinstance(event, ShuffleEnded)] == [1, 2, 3]


def test_the_digest_names_every_message_and_its_order() -> None:
    def digest(*words: str) -> str:
        kernel, ear = Kernel(), Probe(3)
        started(kernel, ear)
        for word in words:
            ear.timer(Say(word), 5, NO_CAUSE)
        run_direct(kernel)
        return kernel.digest()

    assert digest("a", "b") == digest("a", "b")
    assert len({digest("a", "b"), digest("b", "a"), digest("a"), digest("ab")}) == 4


def test_reading_the_digest_on_the_way_changes_nothing() -> None:
    def run(*, peek: bool) -> str:
        kernel = Kernel()
        ear = Probe(3, (lambda *_: _peek(kernel)) if peek else None)
        started(kernel, ear)
        for at in range(1, 60):
            ear.timer(Say(str(at)), at, NO_CAUSE)
            ear.timer(Say("twin"), at, NO_CAUSE)
        run_direct(kernel)
        return kernel.digest()

    assert run(peek=True) == run(peek=False)


@pytest.mark.parametrize("host", HOSTS)
def test_an_exception_names_the_actor_the_message_and_the_time(host: Host) -> None:
    def fail(_probe: Probe, _message: Say) -> None:
        raise ZeroDivisionError("on purpose")

    kernel = Kernel()
    bad = Probe(7, fail)
    started(kernel, bad)
    bad.timer(Say("go"), 42, NO_CAUSE)
    told = r"probe 7 failed at 42 ms: ZeroDivisionError: on purpose\n  on Say\("
    with pytest.raises(ActorFailed, match=told) as caught:
        host(kernel)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("host", HOSTS)
def test_a_run_with_nothing_left_to_happen_says_who_waits_for_what(host: Host) -> None:
    class Waiter(Probe):
        def waiting_reason(self) -> str:
            return "probe 1 waits for Godot"

    kernel = Kernel()
    kernel.admit_actor(Waiter(1))
    with pytest.raises(Stalled, match="waits for Godot"):
        host(kernel)


@pytest.mark.parametrize("host", HOSTS)
def test_two_actors_that_answer_each_other_for_ever_are_stopped(host: Host) -> None:
    kernel = Kernel()
    one = Probe(1, lambda p, m: p.send(2, m, NO_CAUSE))
    two = Probe(2, lambda p, m: p.send(1, m, NO_CAUSE))
    started(kernel, one, two)
    one.timer(Say("ping"), 5, NO_CAUSE)
    with pytest.raises(KernelError, match=f"{ROUNDS_MAX} rounds at 5 ms"):
        host(kernel)


def test_mail_that_goes_round_while_nothing_is_done_is_stuck_in_the_end() -> None:
    """Full heartbeats never run out, so an empty queue cannot be the only sign of a stall."""
    kernel = Kernel()
    ticker = Probe(1, lambda p, m: p.timer(m, 3_600_000, NO_CAUSE))
    started(kernel, ticker, end_ms=10**12)
    ticker.timer(Say("tick"), 1, NO_CAUSE)
    with pytest.raises(Stalled, match="nothing but heartbeats for 2 hours") as caught:
        run_direct(kernel)
    assert caught.value.at_ms <= STALL_TIMEOUT_MS


@pytest.mark.parametrize("host", HOSTS)
def test_until_plays_its_own_instant_and_no_later_one(host: Host) -> None:
    kernel, ear = Kernel(until_ms=7), Probe(3)
    started(kernel, ear)
    for at in (6, 7, 8):
        ear.timer(Say(str(at)), at, NO_CAUSE)
    host(kernel)
    assert (ear.words(), kernel.now_ms, kernel.reason) == (["6", "7"], 7, "until")


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_sent_to_one_who_has_left_is_a_dead_letter(host: Host) -> None:
    kernel = Kernel()
    leaver = Probe(1, lambda p, _: p.retire())
    other = Probe(2)
    started(kernel, leaver, other)
    other.send(1, Say("leave"), NO_CAUSE, 5)
    other.send(1, Say("dropped with the rest of the mail"), NO_CAUSE, 5)
    other.send(1, Say("too late"), NO_CAUSE, 6)
    host(kernel)
    assert (leaver.words(), kernel.dead_letters) == (["leave"], 1)


@pytest.mark.parametrize("host", HOSTS)
def test_an_actor_brought_in_on_the_way_takes_part(host: Host) -> None:
    child = Probe(5)

    def bear(probe: Probe, _message: Say) -> None:
        probe.spawn(child)
        probe.send(5, Say("welcome"), NO_CAUSE)

    kernel, parent = Kernel(), Probe(1, bear)
    started(kernel, parent)
    parent.timer(Say("now"), 5, NO_CAUSE)
    host(kernel)
    assert child.heard == [(5, 1, "welcome")]


def _peek(kernel: Kernel) -> None:
    kernel.digest()


def test_the_same_mail_at_another_time_is_another_run() -> None:
    def digest(at: int) -> str:
        kernel, ear = Kernel(), Probe(3)
        started(kernel, ear)
        ear.timer(Say("a"), at, NO_CAUSE)
        run_direct(kernel)
        return kernel.digest()

    assert digest(5) != digest(6)


@pytest.mark.parametrize("host", HOSTS)
def test_the_first_actor_to_fail_ends_its_superstep(host: Host) -> None:
    """Both hosts name the same culprit, and nobody acts after it."""

    def fail(probe: Probe, _message: Say) -> None:
        raise ValueError(probe.name)

    kernel = Kernel()
    bad, worse, late = Probe(1, fail), Probe(2, fail), Probe(3)
    started(kernel, bad, worse, late)
    for probe in (bad, worse, late):
        probe.timer(Say("go"), 5, NO_CAUSE)
    with pytest.raises(ActorFailed, match="probe 1 failed"):
        host(kernel)
    assert late.heard == []


def test_patience_lasts_while_anybody_is_at_work() -> None:
    class Worker(Probe):
        def at_work(self) -> bool:
            return True

    kernel = Kernel()
    kernel.stall_timeout_ms = 10
    started(kernel, Worker(1), end_ms=1000)
    run_direct(kernel)
    assert kernel.reason == "complete"


def pacer(at_ms: int, others_ms: int, *, runs_on: bool) -> tuple[Probe, Kernel]:
    """An actor with a timer behind 5 at each of five instants, `at_ms` apart, and another at work
    at `others_ms`: it takes the timers as having come where it can, and waits for them elsewhere.
    """

    def pace(probe: Probe, say: Say) -> None:
        step = int(say.word)
        while step < 5:
            step += 1
            timer, due_ms = Say(str(step)), probe.now_ms + at_ms
            if not (runs_on and probe.run_on(5, timer, due_ms)):
                probe.timer_behind(5, timer, due_ms, NO_CAUSE)
                return
            probe.heard.append((probe.now_ms, 0, timer.word))

    kernel, probe = Kernel(until_ms=45), Probe(2, pace)
    started(kernel, probe, other := Probe(5))
    probe.timer(Say("0"), 1, NO_CAUSE)
    other.timer(Say("another"), others_ms, NO_CAUSE)
    return probe, kernel


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("others_ms", [1, 10, 11, 12, 30, 31, 44, 45])
def test_running_on_to_a_timer_changes_nothing(host: Host, others_ms: int) -> None:
    """The instants are 11, 21, 31 and 41; what another does then or before comes in its place, and
    51 is past the end.
    """
    runs = [pacer(10, others_ms, runs_on=runs_on) for runs_on in (False, True)]
    for _, kernel in runs:
        host(kernel)
    (waited, plain), (ran_on, quick) = runs
    assert ran_on.heard == waited.heard
    assert [at_ms for at_ms, _, _ in waited.heard] == [1, 11, 21, 31, 41]
    assert quick.digest() == plain.digest()
    assert quick.messages == plain.messages
    assert quick.now_ms == plain.now_ms == 45


def test_nobody_runs_on_past_what_can_happen_before() -> None:
    """Something sent for now, an event to be told, another actor's mail, the end of the run."""
    said: list[tuple[str, bool]] = []

    def tries(probe: Probe, say: Say) -> None:
        match say.word:
            case "sends":
                probe.send(5, Say("at once"), NO_CAUSE)
            case "tells":
                probe.note(ShuffleEnded(probe.now_ms, 1))
        late_ms = 1000 if say.word == "ends" else 1
        said.append((say.word, probe.run_on(5, Say("on"), probe.now_ms + late_ms)))

    kernel, probe, other = Kernel(until_ms=100), Probe(2, tries), Probe(5)
    started(kernel, probe, other)
    for at_ms, word in enumerate(("may", "sends", "tells", "shares", "meets", "ends"), start=1):
        probe.timer(Say(word), 10 * at_ms, NO_CAUSE)
    other.timer(Say("too"), 40, NO_CAUSE)
    other.timer(Say("too"), 51, NO_CAUSE)
    run_direct(kernel)
    assert [word for word, ran_on in said if ran_on] == ["may"]
    assert len(said) == 6
