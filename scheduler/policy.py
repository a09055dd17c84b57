"""A policy: four parts, each replaceable alone, each deciding one question.

`decide` is asked about one offer until it answers None; after each answer the master books it and
tells every part the fact, and at the end which jobs the offer passed over.  `decide` is pure in the
view and the parts' memories; only `observe` changes those.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn

import msgspec

from callboard.scheduler.decisions import (
    Kill,
    Launch,
    Resume,
    SizeEstimate,
    Speculate,
    Suspend,
    Switch,
)
from callboard.scheduler.estimation import Oracle
from callboard.scheduler.facts import Fact, Launched, OfferAnswered, Progressed
from callboard.scheduler.model import MAP, REDUCE, JobId, Locality, Millis, SlotKind
from callboard.scheduler.part_params import NoParams
from callboard.scheduler.reasons import BY_KEY, MAX_SKIPS, Grounds, Refusal, Skip, Why
from callboard.scheduler.text.concise import concise
from callboard.scheduler.view import ClusterView, JobView, Offer


class Spelled(ABC):
    """What a policy's spelling may name: it has a name, a one-line summary, and `Params` that all
    have defaults, as in `Delay(Delay.Params(node=5))`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type[msgspec.Struct]] = NoParams

    @classmethod
    def unused_params(cls, params: Any) -> Mapping[str, str]:  # noqa: ARG003
        """The parameters that mean nothing beside the others, each with the reason: who spells one
        of them is told so.
        """
        return {}


class Part(Spelled):
    """What the four parts of a policy share beside that: a memory fed by facts."""

    hears_offers: ClassVar[bool] = False
    """Whether it wants to be told of every answered offer (`OfferAnswered`)."""

    hears_progress: ClassVar[bool] = True
    """Whether it is told how far attempts are where another part wants that (`Progressed`): these
    are then nearly all facts.  A part that `wants_progress` itself is told of it anyway.
    """

    guarantees: tuple[str, ...] = ()
    """Properties in `fairness.catalogue`, by name, that `callboard check` tests."""

    wants_progress: bool = False
    """Whether heartbeats have to tell the progress of some running attempts (`Progressed`)."""

    wants_oracle: bool = False

    _oracle: Oracle | None = None

    def wants_progress_of(self, launched: Launched) -> bool:  # noqa: ARG002
        """Whether this attempt's progress has to be told; asked after its launch was told."""
        return True

    def set_oracle(self, oracle: Oracle) -> None:
        """Take the oracle, which only parts that want one are given, before the run."""
        self._oracle = oracle

    @property
    def oracle(self) -> Oracle:
        if self._oracle is None:
            raise RuntimeError(f"{self.name} goes by true sizes and was given no oracle")
        return self._oracle

    def observe(self, fact: Fact, view: ClusterView) -> None:
        """Learn a fact."""

    def bind(self, policy: "Policy") -> None:
        """Learn which parts it works with.  Raises MisfitError if it cannot work with them."""


class QueuedJob(NamedTuple):
    """A job in an order's queue, and why it stands where it stands."""

    job: JobView
    score: float
    grounds: Grounds = BY_KEY


class Order(Part):
    """Which job is next?"""

    same_for_every_node: ClassVar[bool] = True
    """Whether `queue` is the same for every node."""

    steady: ClassVar[bool] = False
    """Whether of two jobs always the same one stands first."""

    ages: ClassVar[bool] = True
    """Whether time alone may change what jobs are due, as where virtual ends come; else facts do.
    """

    switches: ClassVar[bool] = False
    """Whether it changes between several orders."""

    score_format: ClassVar[str] = ""
    """How a score is shown, as in `{:,.1f} slot-s left`; empty if it is not.  Of orders that ship:
    a journal has the number alone, and is read without anybody's own code."""

    estimates: ClassVar[bool] = False
    """Whether it measures the sizes of phases."""

    @property
    def switch(self) -> Switch | None:
        """The change that the last fact brought about; None if it brought none."""
        return None

    @property
    def last_estimate(self) -> SizeEstimate | None:
        """The size that the last fact let it measure; None if it let it measure none."""
        return None

    @abstractmethod
    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        """The jobs with pending tasks of this kind, first one first, lazily.

        The order is total: every comparison ends in the job's number.  Only facts change which jobs
        are in it, facts and time their order.  A queue that depends on `offer.node` says so
        (`same_for_every_node`); it may leave jobs out if each is in the queue of some node that may
        run a task of it (`JobView.nearest`).
        """

    def kinds(self, offer: Offer) -> Iterable[SlotKind]:  # noqa: ARG002
        return (MAP, REDUCE)

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:  # noqa: ARG002
        """How many more tasks of this kind the offer may be given."""
        return offer.free(kind)

    def may_speculate(self, job: JobId, kind: SlotKind) -> bool:  # noqa: ARG002
        return True

    def why_stuck(self, view: ClusterView) -> str:  # noqa: ARG002
        """Why a run that is stuck may be so by the order's own fault; empty where it knows none."""
        return ""


class LocalityWait(NamedTuple):
    """Since the job's last map launch: offers that passed it over, and the time waited."""

    skips: int
    waited_ms: Millis


NO_LOCALITY_WAIT = LocalityWait(0, 0)


class LocalityRule(Part):
    """May this job's task run on this node now?"""

    @abstractmethod
    def refusal(
        self, job: JobView, level: Locality, offer: Offer, view: ClusterView
    ) -> Refusal | None:
        """Why a map of `job` may not be launched at `level` from its input; None if it may."""

    def permits(self, job: JobView, level: Locality, offer: Offer, view: ClusterView) -> bool:
        """Whether `refusal` would be None; asked far more often, so override it if cheaper."""
        refusal: object = self.refusal(job, level, offer, view)
        if refusal is not None and not isinstance(refusal, Refusal):
            told = f"the locality rule `{self.name}` refuses a job with {refusal!r:.80}"
            raise PartMisbehaves(
                f'{told}: give Note("why") of callboard.scheduler.reasons, or None'
            )
        return refusal is None

    def locality_wait(self, job: JobView, view: ClusterView) -> LocalityWait:  # noqa: ARG002
        """How long the job has waited so far, for the reason of its launch."""
        return NO_LOCALITY_WAIT


class PolicySpecError(ValueError):
    """A policy that cannot be made as it is spelled; the message is meant for people."""

    def __str__(self) -> str:
        return concise(super().__str__())


class MisfitError(ValueError):
    """Parts that make no policy together; the message is meant for people."""


class PartMisbehaves(TypeError):
    """A part has given something that it must not; the message says which and what."""


class PreemptionRule(Part):
    """Which attempts must give way?"""

    interval_ms: Millis | None = None
    """How often `victims` is asked, which may move the rule's clocks; None for never."""

    @abstractmethod
    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        """The attempts to be killed or suspended now."""


class SpeculationRule(Part):
    """Which tasks get a second attempt at a time, on another node?"""

    @abstractmethod
    def speculate(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        """The attempt to launch on this node, asked when nothing is pending for it."""

    def urgent(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:  # noqa: ARG002
        """The attempt that goes before everything that is pending, asked first."""
        return None

    def has_candidates(self, kind: SlotKind, view: ClusterView) -> bool:
        """Whether `speculate` could have something for some node; else it is not asked.  By facts
        alone.
        """
        return view.running(kind) > 0


class AnyLocality(LocalityRule):
    """No rule: the nearest pending task, wherever its input is."""

    name = "any_locality"
    summary = "take the nearest pending task, wherever its input is"

    def refusal(self, job: JobView, level: Locality, offer: Offer, view: ClusterView) -> None:  # noqa: ARG002
        return None


class NoPreemption(PreemptionRule):
    """No preemption: a job waits until others' tasks end."""

    name = "no_preemption"
    summary = "preempt nobody: wait until tasks end"

    def victims(self, view: ClusterView) -> Iterator[Kill]:  # noqa: ARG002
        return iter(())


class NoSpeculation(SpeculationRule):
    """No speculation."""

    name = "no_speculation"
    summary = "never run a second copy"

    def speculate(self, kind: SlotKind, offer: Offer, view: ClusterView) -> None:  # noqa: ARG002
        return None

    def has_candidates(self, kind: SlotKind, view: ClusterView) -> bool:  # noqa: ARG002
        return False


class Policy:
    """An order, a locality rule, a preemption rule and a speculation rule at work together."""

    def __init__(
        self,
        order: Order,
        locality: LocalityRule | None = None,
        preemption: PreemptionRule | None = None,
        speculation: SpeculationRule | None = None,
    ) -> None:
        self.order = order
        self.locality = locality or AnyLocality()
        self.preemption = preemption or NoPreemption()
        self.speculation = speculation or NoSpeculation()
        self.parts: tuple[Part, ...] = (order, self.locality, self.preemption, self.speculation)
        for part in self.parts:
            part.bind(self)
        # A part without a memory need not be told anything.
        self._learners = tuple(p for p in self.parts if type(p).observe is not Part.observe)
        self._offer_learners = tuple(p for p in self._learners if p.hears_offers)
        self._progress_learners = tuple(
            part for part in self._learners if part.hears_progress or part.wants_progress
        )
        self.hears_offers = bool(self._offer_learners)
        """Whether any part wants to be told of answered offers."""
        self.speculates = type(self.speculation) is not NoSpeculation
        self._anywhere = type(self.locality) is AnyLocality
        self._followers = tuple(part for part in self.parts if part.wants_progress)
        # The jobs with pending maps, all refused by the last offer, until another fact is told.
        # Only what `decide` has found out already: it spares the queue, and changes no answer.
        self._all_refused: list[JobView] | None = None
        self._refused_ids: tuple[JobId, ...] = ()

        self._is_foreign = any(not _ships_with_callboard(part) for part in self.parts)
        if type(self.preemption) is not NoPreemption:
            _check_interval(self.preemption)

    def why_stuck(self, view: ClusterView) -> str:
        """Why a run that is stuck may be so by a part's own fault; empty where none knows any."""
        told = self.order.why_stuck(view)
        if not told and self._all_refused:
            told = (
                f"the locality rule `{self.locality.name}` refused every job that has maps pending"
                " at the last heartbeat: its `refusal` is to be None for some node in the end"
            )
        return told

    def become(self, other: "Policy") -> None:
        Policy.__init__(self, other.order, other.locality, other.preemption, other.speculation)

    def wants_progress_of(self, launched: Launched) -> bool:
        if not self._followers:
            return False
        return any(part.wants_progress_of(launched) for part in self._followers)

    @property
    def wants_oracle(self) -> bool:
        return any(part.wants_oracle for part in self.parts)

    def set_oracle(self, oracle: Oracle) -> None:
        for part in self.parts:
            if part.wants_oracle:
                part.set_oracle(oracle)

    @property
    def interval_ms(self) -> Millis | None:
        return self.preemption.interval_ms

    def observe(self, fact: Fact, view: ClusterView) -> None:
        """Tell every part a fact; answered offers and progress only those that hear of them."""
        if type(fact) is OfferAnswered:
            for part in self._offer_learners:
                part.observe(fact, view)
            return
        self._all_refused = None
        for part in self._progress_learners if type(fact) is Progressed else self._learners:
            part.observe(fact, view)

    def tells_order(self, fact: Fact) -> bool:
        """Whether `observe` tells the order of such a fact."""
        if type(fact) is OfferAnswered:
            return self.order in self._offer_learners
        return self.order in (
            self._progress_learners if type(fact) is Progressed else self._learners
        )

    def decide(
        self, offer: Offer, view: ClusterView, passed: list[JobId] | None = None
    ) -> Launch | Resume | Speculate | None:
        """The next task for this offer, or None when it gets no more.  Jobs that the locality rule
        refused on the way are added to the caller's `passed`, being too many for the reason.
        """
        speculates = self.speculates
        for kind in self.order.kinds(offer):
            pending = view.pending(kind)
            if not (pending or speculates) or not offer.free(kind):
                continue
            if self.order.quota(kind, offer, view) <= 0:
                continue
            found: Launch | Resume | Speculate | None = None
            if speculates:
                found = self.speculation.urgent(kind, offer, view)
                if found is not None and self._is_foreign:
                    found = self._checked_copy(found, kind, view)
            if found is None and pending:
                known = self._all_refused is not None
                if not (known and self._refuses_all_again(kind, offer, view, passed)):
                    found = self._first_permitted(kind, offer, view, passed)
            if found is None and speculates:
                found = self.speculation.speculate(kind, offer, view)
                if found is not None and self._is_foreign:
                    found = self._checked_copy(found, kind, view)
            if found is not None:
                if self._is_foreign:
                    _check_reason(found.why)
                return found
        return None

    def _checked_copy(self, copy: object, kind: SlotKind, view: ClusterView) -> Speculate | None:
        """What a speculation rule has answered; None where the order allows the job no more."""
        if not isinstance(copy, Speculate):
            told = f"the speculation rule `{self.speculation.name}` gives {copy!r:.80}"
            hint = "`speculate` returns Speculate(attempt, why), or None"
            raise PartMisbehaves(f"{told}: {hint}")
        entry = view.attempt(copy.attempt)
        allowed = entry is None or self.order.may_speculate(entry.job, kind)
        return copy if allowed else None

    def preempt(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        victims: Iterable[object] | None = self.preemption.victims(view)
        for victim in (None,) if victims is None else victims:
            if not isinstance(victim, Kill | Suspend):
                told = f"the rule `{self.preemption.name}` gives {victim!r:.80} as a victim"
                raise PartMisbehaves(f"{told}: `victims` yields Kill(attempt, why), or Suspend")
            if self._is_foreign:
                _check_reason(victim.why)
                self._check_victim(victim.attempt, view)
            yield victim

    def _check_victim(self, attempt: object, view: ClusterView) -> None:
        if type(attempt) is not int or view.attempt(attempt) is None:
            told = f"the rule `{self.preemption.name}` gives attempt {attempt!r:.80} as a victim"
            hint = "give the number of one of `view.attempts()`, its `.attempt`"
            raise PartMisbehaves(f"{told}, which does not run: {hint}")

    def _refuses_all_again(
        self, kind: SlotKind, offer: Offer, view: ClusterView, passed: list[JobId] | None
    ) -> bool:
        """Whether this offer would refuse every job that the last did: under delay scheduling most
        do.
        """
        if kind is REDUCE or self._all_refused is None or offer.node.suspended(kind):
            return False
        node, permits = offer.node.node, self.locality.permits
        for job in self._all_refused:
            level = job.nearest(kind, node)
            if level is None or permits(job, level, offer, view):
                return False
        if passed is not None:
            passed.extend(self._refused_ids)
        return True

    def jobs_refused_again(self, offer: Offer, view: ClusterView) -> tuple[JobId, ...] | None:
        """The jobs that `decide` would pass over for this offer, if it is certain that it would
        have nothing for it, while no reduce is pending; None if it is not.
        """
        if self._all_refused is None or self.speculates:
            return None
        if self.order.quota(MAP, offer, view) <= 0:
            return ()
        return self._refused_ids if self._refuses_all_again(MAP, offer, view, None) else None

    def _first_permitted(
        self, kind: SlotKind, offer: Offer, view: ClusterView, passed: list[JobId] | None
    ) -> Launch | Resume | None:
        """The first job that may have a task here: a suspended one, else its nearest."""
        skipped: list[tuple[JobView, Locality]] = []
        refused: list[JobView] = []
        everywhere = self.order.same_for_every_node
        node = offer.node.node
        holds = offer.node.suspended(kind) > 0
        queue: Iterable[QueuedJob] | None = self.order.queue(kind, offer, view)
        if queue is None:
            self._raise_wrong_queue_entry(queue)
        for rank, queued in enumerate(queue, start=1):
            try:
                job, score, grounds = queued
            except (TypeError, ValueError):
                self._raise_wrong_queue_entry(queued)
            if holds and (held := job.resumable(kind, node)) is not None:
                skips = self._skips_with_refusals(skipped, offer, view)
                return Resume(held, self._why_of_launch(rank, score, grounds, skips))
            level = job.nearest(kind, node)
            if level is None:  # nothing of it may run here; elsewhere it may
                everywhere = False
                continue
            if kind is REDUCE or self._anywhere:  # no rule, so no wait and nobody passed over
                return Launch(job.job, kind, level, self._why_of_launch(rank, score, grounds, ()))
            if self.locality.permits(job, level, offer, view):
                wait = self.locality.locality_wait(job, view)
                skips = self._skips_with_refusals(skipped, offer, view) if skipped else ()
                return Launch(
                    job.job, kind, level, self._why_of_launch(rank, score, grounds, skips, wait)
                )
            if passed is not None:
                passed.append(job.job)
            refused.append(job)
            if len(skipped) < MAX_SKIPS:
                skipped.append((job, level))
        if kind is MAP and everywhere:
            self._all_refused = refused
            self._refused_ids = tuple([job.job for job in refused])
        return None

    def _raise_wrong_queue_entry(self, given: object) -> NoReturn:
        told = f"the order `{self.order.name}` has {given!r:.80} in its queue"
        raise PartMisbehaves(f"{told}: `queue` yields a QueuedJob(job, score) for each job")

    def _score_as_float(self, score: object) -> float:
        """The score as a plain number, as a float of NumPy's or a `Locality`; nan, by its name, is
        none.
        """
        if isinstance(score, int | float) and not isinstance(score, bool) and score == score:
            return float(score)
        told = f"the order `{self.order.name}` scores a job with {score!r:.80}"
        raise PartMisbehaves(f"{told}: a score is a number, an int or a float")

    def _why_of_launch(
        self,
        rank: int,
        score: float,
        grounds: Grounds,
        skips: tuple[Skip, ...],
        wait: LocalityWait = NO_LOCALITY_WAIT,
    ) -> Why:
        if type(score) not in (float, int) or score != score:
            score = self._score_as_float(score)
        reason, detail, serving = grounds
        return Why(reason, self.order.name, rank, score, None, detail, serving, skips, *wait)

    def _skips_with_refusals(
        self, skipped: list[tuple[JobView, Locality]], offer: Offer, view: ClusterView
    ) -> tuple[Skip, ...]:
        """The refusals, asked for only now that there is a launch to tell them."""
        skips = []
        for job, level in skipped:
            refusal = self.locality.refusal(job, level, offer, view)
            assert refusal is not None, "permits and refusal disagree"
            skips.append(Skip(job.job, refusal))
        return tuple(skips)


def _ships_with_callboard(part: Part) -> bool:
    return type(part).__module__.startswith("callboard.")


def _check_interval(rule: PreemptionRule) -> None:
    """MisfitError for a rule that would never be asked, or again and again at one moment."""
    interval_ms: object = rule.interval_ms
    if type(interval_ms) is not int or interval_ms <= 0:
        told = f"is asked for victims every `interval_ms`, which is {interval_ms!r:.40}"
        raise MisfitError(f"the rule `{rule.name}` {told}: set it, as in `interval_ms = 15_000`")


def _check_reason(why: object) -> None:
    """PartMisbehaves where somebody's own part gives what no journal could be read with."""
    if not isinstance(why, Why):
        raise PartMisbehaves(f"a reason is Why(Reason.OWN, self.name, rank), not {why!r:.80}")
    try:
        msgspec.msgpack.decode(msgspec.msgpack.encode(why), type=Why)
    except (msgspec.ValidationError, TypeError, OverflowError) as error:
        place = re.search(r"\$\[(\d+)\]", str(error))
        field = Why.__struct_fields__[int(place[1])] if place else "score"
        told = f"the `{field}` of a reason is {_REASONS.get(field, 'of another type')}"
        raise PartMisbehaves(f"{told}, not {getattr(why, field)!r:.80}") from None


_REASONS = {
    "reason": "Reason.OWN",
    "part": "self.name",
    "rank": "a whole number, from 1 on",
    "score": "a number of a float's or 64 bits' size",
    "beneficiary": "JobClaimant(job), PoolClaimant(path) or UserClaimant(user)",
    "detail": 'a Note("in words")',
    "skipped": 'a list of refusals, such as Note("in words")',
}
"""What a part of somebody's own may give, by the field."""
