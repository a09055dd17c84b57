"""The bugs that are planted to see how soon the swarm catches them."""

from trials.swarm.architecture_bugs import (
    OF_CELL_FAULTS,
    OF_CELLS,
    OF_CONTACTS,
    OF_CONTAINERS,
    OF_RESERVATIONS,
)
from trials.swarm.bug_planter import PlantedBug

_KERNEL = "actors/kernel/kernel.py"
_DRIVERS = "actors/kernel/drivers.py"
_BOOKINGS = "actors/books/bookings.py"
_JOB_TASKS = "actors/books/job_tasks.py"
_LEDGER = "actors/books/ledger.py"
_TASKS = "actors/books/pending_tasks.py"
_MASTER = "actors/central/master.py"
_HEARTBEATS = "actors/central/heartbeats.py"
_SCHEDULE = "actors/central/heartbeat_schedule.py"
_IDLE = "actors/central/idle_nodes.py"
_MEMBERSHIP = "actors/central/membership.py"
_PREEMPTOR = "actors/central/preemptor.py"
_JOB = "actors/job.py"
_SLOT = "actors/worker/slot.py"
_NODE = "actors/worker/node.py"
_DELAY = "scheduler/locality.py"
_POLICY = "scheduler/policy.py"
_FIFO = "scheduler/orders/fifo.py"
_FAIR = "scheduler/orders/fair/fair.py"
_POOLS = "scheduler/orders/fair/pools.py"
_FILLING = "scheduler/orders/fair/water_filling.py"
_SINGLE = "scheduler/orders/size_based/single_server.py"
_VIRTUAL = "scheduler/orders/size_based/virtual_time.py"
_AGEING = "scheduler/orders/size_based/ageing.py"
_HFSP = "scheduler/orders/size_based/hfsp.py"
_COSHH = "scheduler/orders/coshh/coshh.py"
_KILL = "scheduler/preemption/kill.py"
_STARVATION = "scheduler/preemption/starvation.py"
_VICTIMS = "scheduler/preemption/victims.py"
_LIMITS = "scheduler/preemption/suspend_limits.py"
_RANK = "scheduler/preemption/rank_based.py"
_GLOBAL = "scheduler/preemption/global_preemption.py"
_STRAGGLERS = "scheduler/speculation/stragglers.py"
_LATE = "scheduler/speculation/late.py"
_NAIVE = "scheduler/speculation/naive.py"
_MANTRI = "scheduler/speculation/mantri.py"

BUGS: tuple[PlantedBug, ...] = (
    # The kernel and its drivers.
    PlantedBug(
        "messages of a superstep stay unsorted",
        _KERNEL,
        "            batch.sort()  # by sender and count, which no two share",
        "            batch.reverse()",
    ),
    PlantedBug(
        "actors are run in no order",
        _KERNEL,
        "            due.sort(key=_address)",
        "            due.sort(key=_address, reverse=self.messages % 2 == 1)",
    ),
    PlantedBug(
        "what comes behind a peer comes before it",
        _KERNEL,
        "        self.post(peer, _BEHIND + count, to, message, at - self.now_ms, cause)",
        "        self.post(peer, -count, to, message, at - self.now_ms, cause)",
    ),
    PlantedBug(
        "the clock runs on past what happens first",
        _KERNEL,
        "        if self._instants and self._instants[0] <= at:",
        "        if self._instants and self._instants[0] < at - 2000:",
    ),
    PlantedBug(
        "progress is not noted",
        _KERNEL,
        "            self.progress_ms = max(self.progress_ms, self.now_ms)",
        "            self.progress_ms = self.progress_ms",
    ),
    PlantedBug(
        "the Trio driver forgets to empty a mailbox",
        _DRIVERS,
        "                    receive(message)\n                mailbox.clear()",
        "                    receive(message)\n                mailbox[1:] = []",
    ),
    PlantedBug(
        "Trio's actors leave the cause of the last message standing",
        _DRIVERS,
        "for _, _, _, message, actor.cause in mailbox:\n                    receive",
        "for _, _, _, message, _ in mailbox:\n                    receive",
    ),
    # The master and its books.
    PlantedBug(
        "reply numbers are forgotten",
        _HEARTBEATS,
        "        if heartbeat.response == talk.reply.response:",
        "        if heartbeat.response <= talk.reply.response:",
    ),
    PlantedBug(
        "the number of a reply stays the same",
        _HEARTBEATS,
        "        number = talk.reply.response + 1",
        "        number = max(talk.reply.response, 1)",
    ),
    PlantedBug(
        "nobody notes when a node was heard of",
        _HEARTBEATS,
        "            talk.heard_ms = self._ledger.now_ms\n            return False",
        "            talk.heard_ms = max(talk.heard_ms, 0)\n            return False",
    ),
    PlantedBug(
        "a second success of a task counts",
        _BOOKINGS,
        "            change = _REPORT_REDUNDANT if entry.beaten else _REPORTS[report.outcome]",
        "            change = _REPORTS[report.outcome]",
    ),
    PlantedBug(
        "the loser of two attempts runs again",
        _BOOKINGS,
        "        alone = sibling is None and not entry.beaten",
        "        alone = sibling is None",
    ),
    PlantedBug(
        "the other attempt is not stopped",
        _BOOKINGS,
        "        if succeeded and sibling is not None:",
        "        if failed and sibling is not None:",
    ),
    PlantedBug(
        "jobs that are over stay in the books",
        _BOOKINGS,
        "(job, entry.node, closed)\n        self.leave_if_over(job, closed)",
        "(job, entry.node, closed)\n        self._ledger",
    ),
    PlantedBug(
        "a job that ends keeps its attempts",
        _PREEMPTOR,
        "            self.kill_if_running(entry, Reason.JOB_ENDS, cause)",
        "            self.kill_if_running(None, Reason.JOB_ENDS, cause)",
    ),
    PlantedBug(
        "a node that restarts keeps its attempts in the books",
        _MEMBERSHIP,
        "        if talk is not None:  # it restarted before its silence was noticed (rule T5)",
        "        if talk is not None and talk.heard_ms < 0:",
    ),
    PlantedBug(
        "reduces open for a job of an earlier master",
        _MASTER,
        "        elif self.ledger.has_job(order.job):  # else it was lost with an earlier master",
        "        elif order.job >= 0:",
    ),
    PlantedBug(
        "a task of a job that has left runs again",
        _MASTER,
        "        if job is None:\n            return\n        if again.stage",
        "        if again.job < 0:\n            return\n        if again.stage",
    ),
    PlantedBug(
        "the index of idle nodes takes reduce slots for map slots",
        _HEARTBEATS,
        "        able = (maps > 0, reduces > 0, member.could_resume())",
        "        able = (reduces > 0, reduces > 0, member.could_resume())",
    ),
    PlantedBug(
        "launches never expire",
        _MEMBERSHIP,
        "            if entry is None or entry.killing:\n                del not_begun[attempt]",
        "            if entry is None or entry.node >= 0:\n                del not_begun[attempt]",
    ),
    PlantedBug(
        "launches expire after two expiries",
        _MEMBERSHIP,
        "            elif now_ms - entry.launched_ms > self._expiry_ms:",
        "            elif now_ms - entry.launched_ms > 2 * self._expiry_ms:",
    ),
    PlantedBug(
        "the expiry checker wakes once",
        _MEMBERSHIP,
        "                del not_begun[attempt]\n        self.await_expiry_check()",
        "                del not_begun[attempt]\n        self._heartbeats",
    ),
    PlantedBug(
        "a lost task stays lost",
        _JOB_TASKS,
        "        self.lost[stage] -= 1",
        "        self.lost[stage] -= 0",
    ),
    PlantedBug(
        "attempts beyond one a task are not counted down",
        _LEDGER,
        "            entry.spare[attempt.stage] -= 1",
        "            entry.spare[attempt.stage] -= 0",
    ),
    PlantedBug(
        "nobody notes that an attempt is beaten",
        _LEDGER,
        "            sibling.beaten = True",
        "            sibling.beaten = False",
    ),
    PlantedBug(
        "the copy of a doomed task gets one of its own",
        _LEDGER,
        "            sibling.doomed = doomed",
        "            sibling.doomed = False",
    ),
    PlantedBug(
        "lost outputs still count as finished",
        _JOB_TASKS,
        "        self._finished[MAPS] -= len(outputs)",
        "        self._finished[MAPS] -= 0",
    ),
    PlantedBug(
        "a job that has ended keeps outputs",
        _JOB_TASKS,
        "if stage == MAPS and self._total[REDUCES] and self.state is not BookedJobState.ENDING:",
        "if stage == MAPS and self._total[REDUCES]:",
    ),
    PlantedBug(
        "suspended attempts still take a slot in the books",
        _LEDGER,
        "suspended_ms = self.now_ms\n        self._count_running(attempt, -1)",
        "suspended_ms = self.now_ms\n        self._count_running(attempt, 0)",
    ),
    PlantedBug(
        "a job blacklists any number of nodes",
        _JOB_TASKS,
        "        return few and all(",
        "        return bool(few) | all(",
    ),
    PlantedBug(
        "a task that failed everywhere runs nowhere",
        _TASKS,
        "        return all(host in failed_on for host in self._hosts())",
        "        return not self._hosts()",
    ),
    # Jobs.
    PlantedBug(
        "a job takes its maps for done too early",
        _JOB,
        "        return self._done[MAPS] == self._spec.maps",
        "        return self._done[MAPS] >= self._spec.maps - 1",
    ),
    PlantedBug(
        "a job counts outputs that are lost",
        _JOB,
        "        self._done[MAPS] -= len(lost.tasks)",
        "        self._done[MAPS] -= 0",
    ),
    PlantedBug(
        "reduces are not told again when outputs are there again",
        _JOB,
        "        self._fetching += self._let_go",
        "        self._fetching += []",
    ),
    PlantedBug(
        "slowstart is rounded down",
        _JOB,
        "        self._slowstart_maps = ceil(slowstart * spec.maps)",
        "        self._slowstart_maps = int(slowstart * spec.maps)",
    ),
    PlantedBug(
        "a task may fail five times",
        _JOB_TASKS,
        "        return self._failures.get((stage, task), 0) >= self._max_attempts",
        "        return self._failures.get((stage, task), 0) > self._max_attempts",
    ),
    PlantedBug(
        "a job that is submitted again remembers what was done",
        _JOB,
        "        self._forget_progress()\n        resubmitted",
        "        self._hosts\n        resubmitted",
    ),
    # Nodes, slots, links, heartbeats that are left out.
    PlantedBug(
        "a slot believes timers of an earlier phase",
        _SLOT,
        "        if attempt is None or over.timed != self._timed:",
        "        if attempt is None:",
    ),
    PlantedBug(
        "a shuffle ends without waiting for hosts",
        _SLOT,
        "        if copier.awaited:\n            attempt.phase = None",
        "        if len(copier.awaited) > 99:\n            attempt.phase = None",
    ),
    PlantedBug(
        "a shuffle is not stopped when an output is gone",
        _SLOT,
        "            self._timed += 1\n            copier.awaited.clear()",
        "            self._timed += 0\n            copier.awaited.clear()",
    ),
    PlantedBug(
        "what a paused attempt had left to do is forgotten",
        _SLOT,
        "            attempt.put_off, attempt.phase = attempt.left_of_phase(self.now_ms), None",
        "            attempt.put_off, attempt.phase = attempt.put_off, None",
    ),
    PlantedBug(
        "two attempts are given one slot",
        _NODE,
        "        slot = heapq.heappop(self._free[launch.kind])",
        "        slot = self._free[launch.kind][0]",
    ),
    PlantedBug(
        "a node obeys a reply twice",
        _HEARTBEATS,
        "        if reply.life != self._life or reply.response <= self._response:",
        "        if reply.life != self._life or reply.response < self._response:",
    ),
    PlantedBug(
        "a node begins anew twice",
        _HEARTBEATS,
        "        if order.life == self._life:",
        "        if order.life <= self._life:",
    ),
    PlantedBug(
        "what ran in an earlier life is reported",
        _NODE,
        "        self._orphans.update(self._held)",
        "        self._orphans.update(())",
    ),
    PlantedBug(
        "reports are told again",
        _HEARTBEATS,
        "        self._reports.clear()\n        self._joined = True",
        "        self._reports.copy()\n        self._joined = True",
    ),
    PlantedBug(
        "a node does not plan the heartbeat that has something to tell",
        _HEARTBEATS,
        "        if not schedule.elides or reports or self._node.tracks:",
        "        if not schedule.elides or self._node.tracks:",
    ),
    PlantedBug(
        "heartbeats come a millisecond late",
        _SCHEDULE,
        "        self.next_ms = now_ms + wait_ms",
        "        self.next_ms = now_ms + wait_ms + 1",
    ),
    PlantedBug(
        "an elided heartbeat is not brought forward",
        _SCHEDULE,
        "        return NextHeartbeat(now_ms if self._out_of_band else self.next_ms)",
        "        return NextHeartbeat(self.next_ms)",
    ),
    PlantedBug(
        "the grid of elided heartbeats slips by one",
        _SCHEDULE,
        "        missed = (now_ms - self.next_ms) // self._period_ms + 1",
        "        missed = (now_ms - self.next_ms) // self._period_ms + 2",
    ),
    PlantedBug(
        "a heartbeat out of band does not wait for a reply that is left out",
        _SCHEDULE,
        "        if self._out_of_band and now_ms < reply_ms:",
        "        if self._out_of_band and now_ms > reply_ms:",
    ),
    PlantedBug(
        "replies that are left out are not counted",
        _HEARTBEATS,
        "        response = self._response = max(self._response, self._elided_response)",
        "        response = self._response",
    ),
    PlantedBug(
        "idle nodes of the same instant are found again",
        _IDLE,
        "            place = bisect_left(able, (phase_now + 1, 0)) % len(able)",
        "            place = bisect_left(able, (phase_now, 0)) % len(able)",
    ),
    PlantedBug(
        "rack-local maps take as long as off-rack ones",
        "actors/config.py",
        "        return (1.0, self.rack_factor, self.off_rack_factor)[level]",
        "        return (1.0, self.off_rack_factor, self.off_rack_factor)[level]",
    ),
    # Orders.
    PlantedBug(
        "FIFO serves the last first",
        _FIFO,
        "        return (job.priority, job.submitted_ms)",
        "        return (job.priority, -job.submitted_ms)",
    ),
    PlantedBug(
        "FIFO gives many reduces a heartbeat",
        _FIFO,
        "        if most > 1 and (kind is REDUCE or self._nearly_full(kind, offer, view, given)):",
        "        if most > 1 and self._nearly_full(kind, offer, view, given):",
    ),
    PlantedBug(
        "FIFO gives many off-rack maps a heartbeat",
        _FIFO,
        "        if kind is MAP and offer.given_off_rack:",
        "        if kind is MAP and offer.given_off_rack > 1:",
    ),
    PlantedBug(
        "Fair fills reduce slots first",
        _FAIR,
        "        if offer.node.running(REDUCE) < offer.node.running(MAP):",
        "        if offer.node.running(REDUCE) <= offer.node.running(MAP):",
    ),
    PlantedBug(
        "Fair rounds a node's share down",
        _FAIR,
        "        cap = min(-(-self.root.demand[kind] * slots // view.slots(kind)), slots)",
        "        cap = min(self.root.demand[kind] * slots // view.slots(kind), slots)",
    ),
    PlantedBug(
        "Fair forgets weights",
        _POOLS,
        "        return (1, running * self.inverse_weight, self.tie)",
        "        return (1, running, self.tie)",
    ),
    PlantedBug(
        "Fair serves the needy last",
        _POOLS,
        "            return (0, Fraction(running, due), self.tie)",
        "            return (2, Fraction(running, due), self.tie)",
    ),
    PlantedBug(
        "shares stop at a corner",
        _FILLING,
        "    return level + (wanted - total) / slope if total < wanted else Fraction(level)",
        "    return Fraction(level)",
    ),
    PlantedBug(
        "SRPT serves the longest first",
        _SINGLE,
        "        return (self.sizes.left_ms(job, stage_on(kind)), job.submitted_ms)",
        "        return (-self.sizes.left_ms(job, stage_on(kind)), job.submitted_ms)",
    ),
    PlantedBug(
        "SJF goes by what is left",
        _SINGLE,
        "        return (self.sizes.size_ms(job, stage_on(kind)), job.submitted_ms)",
        "        return (self.sizes.size_ms(job, stage_on(kind)) * -1, job.submitted_ms)",
    ),
    PlantedBug(
        "LAS does not count what runs",
        _SINGLE,
        "        return (own.total if own else 0) + going",
        "        return (own.total if own else 0) - going",
    ),
    PlantedBug(
        "virtual time goes at half speed",
        _AGEING,
        "        self._unit = int(UNITS_PER_MS * pace)",
        "        self._unit = int(UNITS_PER_MS * pace) // 2",
    ),
    PlantedBug(
        "capped classes give slots back",
        _AGEING,
        "            self._spare -= jobs * rate_class.cap",
        "            self._spare += jobs * rate_class.cap",
    ),
    PlantedBug(
        "the virtual cluster keeps its size",
        _VIRTUAL,
        "            self.clusters[kind].resize(view.slots(kind), view.now_ms)",
        "            self.clusters[kind].resize(1, view.now_ms)",
    ),
    PlantedBug(
        "a job stays late when it turns out to be larger",
        _VIRTUAL,
        "        if served:\n            phase.late_ms = None",
        "        if served:\n            phase.late_ms = phase.late_ms",
    ),
    PlantedBug(
        "HFSP takes all priorities for normal",
        _HFSP,
        '        if self.params.priority == "off":',
        '        if self.params.priority != "off":',
    ),
    PlantedBug(
        "COSHH forgets classes when a job's change",
        _COSHH,
        "                self._add_pending(kind, cohort, job.pending)",
        "                self._add_pending(kind, cohort, 0)",
    ),
    PlantedBug(
        "COSHH leaves jobs alone that may run on no suggested node",
        _COSHH,
        "                if not any(_may_run_on(found, kind, node) for node in nodes):",
        "                if not any(True for node in self._slots_of):",
    ),
    # Locality.
    PlantedBug(
        "a wait goes on after a launch",
        _DELAY,
        "        state.level, state.waited_ms, state.skips = level, 0, 0",
        "        state.level, state.skips = level, 0",
    ),
    PlantedBug(
        "off-rack is allowed after the first wait",
        _DELAY,
        "        if waited_ms >= node_ms + rack_ms:",
        "        if waited_ms >= node_ms:",
    ),
    PlantedBug(
        "a job is passed over twice as often",
        _DELAY,
        "            return _OFF_RACK if state.count >= self.params.skips else _NODE",
        "            return _OFF_RACK if state.count >= 2 * self.params.skips + 1 else _NODE",
    ),
    PlantedBug(
        "jobs that have left were passed over",
        _DELAY,
        "                self._jobs.pop(job, None)\n                self._skipped.pop(job, None)",
        "                self._jobs.pop(job, None)\n                self._skipped.get(job, None)",
    ),
    PlantedBug(
        "who was refused once is refused for ever",
        _POLICY,
        "        self._all_refused = None\n        for part in self._progress_learners",
        "        self._refused_ids\n        for part in self._progress_learners",
    ),
    # Preemption.
    PlantedBug(
        "attempts that give way already are taken again",
        _KILL,
        "        wanted = sum(deficit.slots for deficit in deficits) - leaving",
        "        wanted = sum(deficit.slots for deficit in deficits) + leaving",
    ),
    PlantedBug(
        "a victim may fall below its share",
        _KILL,
        "            if above > 0 and kept and self._limits.allows_victim(attempt):",
        "            if above >= 0 and kept and self._limits.allows_victim(attempt):",
    ),
    PlantedBug(
        "a check takes one more than it may",
        _KILL,
        "            wanted = min(wanted, self._most)",
        "            wanted = min(wanted, self._most + 1)",
    ),
    PlantedBug(
        "the oldest give way",
        _VICTIMS,
        "    alive = [a for a in reversed(attempts) if not (a.killing or a.suspending)]",
        "    alive = [a for a in attempts if not (a.killing or a.suspending)]",
    ),
    PlantedBug(
        "shares of victims are halved",
        _VICTIMS,
        "            claim.claimant: running[claim.claimant] - floor(claim.share) for",
        "            claim.claimant: running[claim.claimant] - floor(claim.share / 2) for",
    ),
    PlantedBug(
        "the min share is not waited for",
        _STARVATION,
        "        if now_ms - self._below_min[kind].get(claimant, now_ms) > 1000 * min_s:",
        "        if now_ms - self._below_min[kind].get(claimant, now_ms) >= 0:",
    ),
    PlantedBug(
        "the fair share is not waited for",
        _STARVATION,
        "get(claimant, now_ms) > 1000 * self._fair_timeout_s:",
        "get(claimant, now_ms) >= 0:",
    ),
    PlantedBug(
        "the fair share is waited for twice as long",
        _STARVATION,
        "get(claimant, now_ms) > 1000 * self._fair_timeout_s:",
        "get(claimant, now_ms) > 2500 * self._fair_timeout_s:",
    ),
    PlantedBug(
        "what is held too long is killed again and again",
        _LIMITS,
        "            if since_ms is None or attempt.killing:",
        "            if since_ms is None:",
    ),
    PlantedBug(
        "a job takes slots from itself",
        _RANK,
        "        return self.place[attempt.job] > place and allows(attempt)",
        "        return self.place[attempt.job] >= place and allows(attempt)",
    ),
    PlantedBug(
        "slots are taken where the task may not run",
        _RANK,
        "        return self._view.job(job).nearest(self._kind, node) is not None",
        "        return self._view.job(job) is not None",
    ),
    PlantedBug(
        "a rule kills what is killed already",
        _GLOBAL,
        "                cut.append(decisions.Kill(attempt.attempt, why))",
        "                cut += [decisions.Kill(attempt.attempt, why)] * 2",
    ),
    # Speculation.
    PlantedBug(
        "a speculative attempt goes to the same node",
        _STRAGGLERS,
        "if attempt is None or attempt.killing or not attempt.alone or attempt.node == node:",
        "if attempt is None or attempt.killing or not attempt.alone:",
    ),
    PlantedBug(
        "a third attempt of a task is asked for",
        _STRAGGLERS,
        "if attempt is None or attempt.killing or not attempt.alone or attempt.node == node:",
        "if attempt is None or attempt.killing or attempt.node == node:",
    ),
    PlantedBug(
        "pairs of attempts are forgotten in part",
        _STRAGGLERS,
        "                self._speculative_pair[fact.original] = fact.attempt",
        "                self._speculative_pair[fact.original] = fact.original",
    ),
    PlantedBug(
        "LATE does not wait for an attempt to run",
        _LATE,
        "            old = [each for each in attempts if each.launched_ms <= since_ms]",
        "            old = [each for each in attempts if each.launched_ms >= 0]",
    ),
    PlantedBug(
        "Mantri forgets at which level an attempt runs",
        _MANTRI,
        "            self._levels.pop(fact.attempt, None)",
        "            self._levels.clear()",
    ),
    *OF_RESERVATIONS,
    *OF_CELLS,
    *OF_CONTACTS,
    *OF_CELL_FAULTS,
    *OF_CONTAINERS,
)
"""What is planted, by where it is; each is one line or two.

Five were exchanged, since nobody could see them: an expired launch that stays in the master's list
is dropped at the next look, being killed; a job has nothing to launch when it leaves, and so stands
in no virtual queue; what HFSP keeps of the training of a job that has left is never asked for; a
timer of a paused slot comes after the pause, when it is believed no more; and attempts that LATE
judges though they are being killed are left alone when a slot is offered.
"""
