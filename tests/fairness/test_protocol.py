"""The protocol of master and nodes as a machine whose rules make things happen to it: messages are
lost, come twice and overtake each other, nodes crash and stand still, the master too.

S1 to S8 are its invariants: every event is held against them as it is told, and the books after
every superstep.  At the end all is healed, and every job must come to its end.
"""

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, reject, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.injector import Injector, ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.address import INJECTOR
from callboard.actors.kernel.kernel import ActorFailed
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.events import AnyEvent, JobFinished
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Disturb,
    PauseMaster,
    PauseNode,
    Restart,
    ResumeMaster,
    ResumeNode,
    Slow,
)
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.findings import Violation
from tests.fairness.bugs import outputs_are_not_told, reply_numbers_are_forgotten
from tests.support.world import spec_of

NODES = 2
SETTINGS = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=20,
    stateful_step_count=15,
    suppress_health_check=list(HealthCheck),
)

NODE = st.integers(0, NODES - 1)
WAY = st.builds(
    LinkConditions,
    loss=st.sampled_from([0.0, 0.3, 1.0]),
    twice=st.sampled_from([0.0, 0.7]),
    delay_ms=st.sampled_from([0, 700, 4000]),
)
JOB = st.tuples(st.integers(1, 5), st.sampled_from([2000, 20_000]), st.integers(0, 2))


class Protocol(RuleBasedStateMachine):
    """Two nodes, a few jobs, and whatever comes to pass; `whole` until something was raised."""

    whole = False

    @initialize(
        jobs=st.lists(JOB, min_size=1, max_size=3),
        expiry_ms=st.sampled_from([9000, 30_000]),
        out_of_band=st.booleans(),
    )
    def begin(self, jobs: list[tuple[int, int, int]], expiry_ms: int, out_of_band: bool) -> None:
        specs = [
            JobSpec(
                job=n,
                name=f"job-{n}",
                submit_ms=4000 * n,
                maps=maps,
                map_ms=map_ms,
                reduces=reduces,
                shuffle_ms=6000,
                reduce_ms=3000,
            )
            for n, (maps, map_ms, reduces) in enumerate(jobs)
        ]
        heartbeats = Heartbeats(phase_grid_ms=1000, expiry_ms=expiry_ms, out_of_band=out_of_band)
        cluster = Cluster(nodes=NODES, racks=1, map_slots=1, reduce_slots=1, heartbeat=heartbeats)
        # Something is always to come, so that time can pass though all stands still.
        script = [ScheduledFault(at_ms, Slow(0, 1.0)) for at_ms in range(0, 700_000, 2000)]
        spec = msgspec.structs.replace(
            spec_of(specs, cluster=cluster, script=script), policy="fair"
        )
        self.checker = Checker()
        self.ended = 0
        self.jobs = len(specs)
        run = Simulation(spec, [self.observe], onlookers=[self.checker])
        self.kernel, self.steps = run.kernel, run.supersteps()
        injector = self.kernel.actors[INJECTOR]
        assert isinstance(injector, Injector)
        self.injector = injector
        self.whole = True

    def observe(self, event: AnyEvent) -> None:
        self.ended += isinstance(event, JobFinished)

    def play(self, ms: int) -> None:
        """Let so much time pass, or the run end."""
        until_ms = self.kernel.now_ms + ms
        whole, self.whole = self.whole, False  # unless nothing is raised
        for _ in self.steps:
            if self.kernel.now_ms >= until_ms:
                break
        self.whole = whole

    def inject(self, *faults: AnyFault) -> None:
        for fault in faults:
            self.injector.inject(fault)
        self.play(2)

    @rule(ms=st.sampled_from([500, 3000, 10_000, 40_000]))
    def time_passes(self, ms: int) -> None:
        self.play(ms)

    @rule(node=NODE, up=WAY, down=WAY)
    def the_link_is_disturbed(self, node: int, up: LinkConditions, down: LinkConditions) -> None:
        self.inject(Disturb(node, up, down))

    @rule(node=NODE)
    def the_link_is_healed(self, node: int) -> None:
        self.inject(Disturb(node, HEALTHY, HEALTHY))

    @rule(node=NODE)
    def a_node_crashes(self, node: int) -> None:
        self.inject(Crash(node))

    @rule(node=NODE)
    def a_node_starts_again(self, node: int) -> None:
        self.inject(Restart(node))

    @rule(node=NODE)
    def a_node_stands_still(self, node: int) -> None:
        self.inject(PauseNode(node))

    @rule(node=NODE)
    def a_node_goes_on(self, node: int) -> None:
        self.inject(ResumeNode(node))

    @rule()
    def the_master_stands_still(self) -> None:
        self.inject(PauseMaster())

    @rule()
    def the_master_goes_on(self) -> None:
        self.inject(ResumeMaster())

    @invariant()
    def s1_to_s8_hold(self) -> None:
        """What the events say, and what the master has in its books."""
        self.checker.after_superstep()

    def teardown(self) -> None:
        """Heal all; then every job must end."""
        if not self.whole:
            return
        nodes = range(NODES)
        self.inject(ResumeMaster())
        for node in nodes:
            self.inject(Disturb(node, HEALTHY, HEALTHY), ResumeNode(node), Restart(node))
        for _ in self.steps:
            pass
        assert self.ended == self.jobs


TestProtocol = Protocol.TestCase
TestProtocol.settings = SETTINGS


class Hunt(Protocol):
    """The same, after violations alone: the master may notice a planted bug by itself first."""

    def play(self, ms: int) -> None:
        try:
            super().play(ms)
        except ActorFailed:
            reject()

    def teardown(self) -> None:
        try:
            super().teardown()
        except ActorFailed:
            reject()


@pytest.mark.parametrize(
    ("plant", "broken"), [(reply_numbers_are_forgotten, "S8"), (outputs_are_not_told, "S5")]
)
def test_the_machine_finds_what_is_wrong(
    plant: object, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forgotten reply number, and a reduce that does not hear of lost outputs.

    About one drawn story in seven hundred shows the latter; the search ends with the first, to
    which this seed comes soon.
    """
    assert callable(plant)
    plant(monkeypatch)
    more = settings(
        SETTINGS, max_examples=10_000, phases=[Phase.generate], report_multiple_bugs=False
    )
    with pytest.raises(Violation) as found:
        run_state_machine_as_test(seed(4)(Hunt), settings=more)
    assert found.value.rule == broken
