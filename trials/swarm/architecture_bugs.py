"""Bugs planted into the actors that stand in the master's place: Sparrow's and Hawk's reservations,
the shared cell of Omega and Mesos, and YARN's containers and queues.
"""

from trials.swarm.bug_planter import PlantedBug

_ASKED = "actors/sparrow/asked_frontend.py"
_LATE_BINDING = "actors/sparrow/late_binding.py"
_RESERVATIONS = "actors/sparrow/reservations.py"
_NODE_QUEUES = "actors/sparrow/node_queues.py"
_SENT = "actors/sparrow/sent_reservations.py"
_SAMPLING = "actors/sparrow/sampling.py"
_GLOBAL_QUEUE = "actors/sparrow/global_queue.py"
_MIXED = "actors/hawk/mixed_queues.py"
_FRONTEND = "actors/books/frontend.py"
_BOOKINGS = "actors/books/bookings.py"
_CONTACT = "actors/contact.py"
_NODE_CONTACTS = "actors/books/node_contacts.py"
_CONTACT_DIALOGUE = "actors/worker/contact_dialogue.py"
_LONG = "actors/hawk/long_scheduler.py"
_CELL = "actors/omega/cell_state.py"
_OMEGA = "actors/omega/omega_scheduler.py"
_THINKING = "actors/omega/thinking.py"
_HOLDER = "actors/omega/cell_holder.py"
_ALLOCATOR = "actors/omega/allocator.py"
_EXECUTOR = "actors/omega/executor.py"
_FRAMEWORK = "actors/omega/framework.py"
_HELD = "actors/yarn/held_containers.py"
_MANAGER = "actors/yarn/resource_manager.py"
_QUEUES = "actors/yarn/yarn_queues.py"
_CAPACITY = "actors/yarn/capacity_serving.py"
_FAIR = "actors/yarn/fair_serving.py"
_NODE_MANAGER = "actors/yarn/node_manager.py"
_YARN_MASTER = "actors/yarn/application_master.py"

OF_RESERVATIONS = (
    PlantedBug(
        "a node that asks in vain is told nothing",
        _ASKED,
        "        if event is None:\n            no_task",
        "        if event is None and job is None:\n            no_task",
    ),
    PlantedBug(
        "a node asks for every reservation as soon as it comes",
        _NODE_QUEUES,
        "        while queue and self._free[kind]:",
        "        while queue:",
    ),
    PlantedBug(
        "a slot that was held in vain stays held",
        _RESERVATIONS,
        "        self.release(kind, cause)",
        "        self.serve(kind, cause)",
    ),
    PlantedBug(
        "taking reservations back takes those of all jobs back",
        _RESERVATIONS,
        "        for held in [each for each in self._queues[kind] if each.job_stage == of]:",
        "        for held in [each for each in self._queues[kind] if each.job_stage != of]:",
    ),
    PlantedBug(
        "what is to run again is not placed again",
        _FRONTEND,
        "        self.place_tasks(again.job, again.stage, 1, self.cause)",
        "        self.place_tasks(again.job, again.stage, 1, self.cause) if again.stage >= "
        "SETUP else None",
    ),
    PlantedBug(
        "reservations are taken back while a task is left",
        _LATE_BINDING,
        "        if event is not None and self._cancellation and not "
        "self.tasks_left(ask.job, ask.stage):",
        "        if event is not None and self._cancellation:",
    ),
    PlantedBug(
        "a question leaves as many reservations as there were",
        _SENT,
        "        self.remove(ask.job, ask.stage, ask.node)",
        "        self.remove(ask.job, ask.stage, ask.node, 0)",
    ),
    PlantedBug(
        "an end frees no slot for what waits",
        _NODE_QUEUES,
        "            self.release(self._running.pop(report.attempt).kind, report.cause)",
        "            self.serve(self._running.pop(report.attempt).kind, report.cause)",
    ),
    PlantedBug(
        "a sample is used before all nodes have answered",
        _SAMPLING,
        "        return len(self.loads) == len(self.nodes)",
        "        return len(self.loads) >= len(self.nodes) - 1",
    ),
    PlantedBug(
        "tasks go to the nodes of the places in a sample",
        _SAMPLING,
        "        return [self.nodes[order[place % len(order)]] for",
        "        return [order[place % len(order)] for",
    ),
    PlantedBug(
        "the longest queues are taken",
        _SAMPLING,
        "sorted(sorted(there), key=self.loads.__getitem__)",
        "sorted(sorted(there), key=self.loads.__getitem__, reverse=True)",
    ),
    PlantedBug(
        "a slot is free twice in the queue for all",
        _GLOBAL_QUEUE,
        "        self._free[entry.kind].append((entry.node, cause))",
        "        self._free[entry.kind] += [(entry.node, cause)] * 2",
    ),
    PlantedBug(
        "a refused probe is kept too",
        _MIXED,
        "            self._refuse(probe, kind)\n            return",
        "            self._refuse(probe, kind)\n            _ = 0",
    ),
)

OF_CELLS = (
    PlantedBug(
        "a claim takes nothing",
        _CELL,
        "        self.free[node] = minus(self.free[node], demand)",
        "        self.free[node] = minus(self.free[node], minus(demand, demand))",
    ),
    PlantedBug(
        "room is looked for in the slots alone",
        _CELL,
        "        return fits(demand, self.free[node])",
        "        return fits(demand[:2], self.free[node][:2])",
    ),
    PlantedBug(
        "conflicts are launched",
        _OMEGA,
        "CommitResult(verdict.committed, verdict.conflicted)",
        "CommitResult((*verdict.committed, *verdict.conflicted), ())",
    ),
    PlantedBug(
        "what was committed and has no task left is not given back",
        _THINKING,
        "            else:\n                self.release(node, stage.demand)",
        "            else:\n                self.first_fit",
    ),
    PlantedBug(
        "a stage that stays unplaced does not come back",
        _THINKING,
        "            self._enqueue_stage(stage, self.cause)",
        "            stage.waits = False",
    ),
    PlantedBug(
        "an end gives no room back",
        _THINKING,
        "        self.release(*self._held.pop(entry.attempt))\n        self._tell_job",
        "        self._held.pop(entry.attempt)\n        self._tell_job",
    ),
)

OF_CONTAINERS = (
    PlantedBug(
        "a container takes nothing of its node",
        _HELD,
        "        self.free = minus(self.free, container.vector)",
        "        self.free = minus(self.free, minus(container.vector, container.vector))",
    ),
    PlantedBug(
        "a container's end frees the slot alone",
        _HELD,
        "        self.free = plus(self.free, container.vector)",
        "        self.free = (*plus(self.free, container.vector)[:2], *self.free[2:])",
    ),
    PlantedBug(
        "room for containers is looked for in the slots alone",
        _HELD,
        "        return fits(vector, self.free)",
        "        return fits(vector[:2], self.free[:2])",
    ),
    PlantedBug(
        "what an application holds grows and never shrinks",
        _MANAGER,
        "        application.used = minus(application.used, container.amounts)",
        "        application.used = plus(application.used, minus(container.amounts, "
        "container.amounts))",
    ),
    PlantedBug(
        "only the leaf knows what is held in it",
        _QUEUES,
        "        self._root.changes += 1\n        for queue in self.lineage():\n         "
        "   queue.used = plus(queue.used, amounts)",
        "        self._root.changes += 1\n        for queue in [self]:\n            "
        "queue.used = plus(queue.used, amounts)",
    ),
    PlantedBug(
        "what a leaf gives back it keeps",
        _QUEUES,
        "            queue.used = minus(queue.used, amounts)",
        "            queue.used = minus(queue.used, minus(amounts, amounts))",
    ),
    PlantedBug(
        "the most that a queue may hold is not looked at",
        _CAPACITY,
        "            for each in queue.lineage()\n        ):\n            return False",
        "            for each in queue.lineage()\n        ):\n            _ = 0",
    ),
    PlantedBug(
        "only the leaf's most counts under the Fair Scheduler",
        _FAIR,
        "        return all(fits(plus(each.used, amounts), each.maximum) for each in "
        "queue.lineage())",
        "        return all(fits(plus(each.used, amounts), each.used) for each in "
        "queue.lineage() if 0)",
    ),
    PlantedBug(
        "a task begins in the container before its own",
        _YARN_MASTER,
        "        start = StartContainer(granted.container, job.launch_order(entry))",
        "        start = StartContainer(max(granted.container - 1, 1), job.launch_order(entry))",
    ),
    PlantedBug(
        "containers that are used are given back",
        _YARN_MASTER,
        "            if not self._run_in_container(granted, job):",
        "            if self._run_in_container(granted, job) or True:",
    ),
    PlantedBug(
        "a master's container is never given back",
        _NODE_MANAGER,
        "        self._news.append(ContainerNews(container, 0, ended=True, "
        "cause=self._node.cause))",
        "        self._news.append(ContainerNews(container, 0, cause=self._node.cause))",
    ),
    PlantedBug(
        "a container's end is told twice",
        _NODE_MANAGER,
        "            self._news.append(ended)",
        "            self._news += [ended, ended]",
    ),
    PlantedBug(
        "an application that is over stays in its queue",
        _MANAGER,
        "        if queue.applications.pop(told.job, None) is None:",
        "        if queue.applications.get(told.job) is None:",
    ),
)

OF_CONTACTS = (
    PlantedBug(
        "what comes twice is heard twice",
        _CONTACT,
        "        due: list[Framed] = []",
        "        due: list[Framed] = [frame] if 0 < frame.number <= self._heard else []",
    ),
    PlantedBug(
        "what comes early is heard early",
        _CONTACT,
        "        while self._heard + 1 in self._early:\n            self._heard += 1",
        "        while self._early:\n            self._heard = min(self._early)",
    ),
    PlantedBug(
        "what was lost is not said again",
        _CONTACT,
        "        if again.turn == self._turn and self._unconfirmed:",
        "        if again.turn == self._turn and not self._unconfirmed:",
    ),
    PlantedBug(
        "attempts of a node that is given up go on in the books",
        _BOOKINGS,
        "            self.close_attempt(entry, BookedChange.LOSE, cause)",
        "            _ = cause",
    ),
    PlantedBug(
        "outputs of a node that is given up are still counted on",
        _BOOKINGS,
        "        jobs |= dict.fromkeys(job.job for job in self._lose_outputs(node, cause))",
        "",
    ),
    PlantedBug(
        "reservations of a node that is given up are waited for",
        _LATE_BINDING,
        "        for job, stage in self._sent_reservations.lose_node(node):",
        "        for job, stage in ():",
    ),
    PlantedBug(
        "the answer of a node that is given up is waited for",
        _SAMPLING,
        "            sample.lose(node)",
        "            _ = node",
    ),
    PlantedBug(
        "long tasks that were placed on a node that is given up stay there",
        _LONG,
        "        for job, stage in lost:\n"
        "            self.place_remaining_tasks(job, stage, cause)",
        "        for job, stage in lost:\n            _ = job, stage",
    ),
    PlantedBug(
        "a node that has begun anew keeps its old session",
        _NODE_CONTACTS,
        "        if frame.life > contact.life:\n            self._begin_life(found, frame.life)",
        "        if frame.life > contact.life:\n            contact.life = frame.life",
    ),
    PlantedBug(
        "a slot that was held for an answer stays held when the asked one gives up",
        _RESERVATIONS,
        "            self.release_in_vain(held, slot_kind(held.reservation.stage), cause)",
        "            _ = held",
    ),
    PlantedBug(
        "what an earlier session has said is heard",
        _CONTACT_DIALOGUE,
        "        if frame.session < contact.session:\n            return",
        "        if frame.session < contact.session:\n"
        "            contact.begin_session(self._life, frame.session, 0)",
    ),
)

OF_CELL_FAULTS = (
    PlantedBug(
        "a task begins at a node that has not ended what was given up there",
        _EXECUTOR,
        "        while self._waiting and fits(self._launch_demand(self._waiting[0]), self._free):",
        "        while self._waiting:",
    ),
    PlantedBug(
        "what a scheduler had claimed that is gone stays claimed",
        _HOLDER,
        "            for _ in range(count):\n                self.cell.release(node, demand)",
        "            for _ in range(count):\n                _ = node",
    ),
    PlantedBug(
        "what a scheduler had claimed that is gone is free twice",
        _HOLDER,
        "            for _ in range(count):",
        "            for _ in range(2 * count):",
    ),
    PlantedBug(
        "a scheduler hears what its earlier life has claimed",
        _OMEGA,
        "        if verdict.life == self.life:",
        "        if verdict.life <= self.life:",
    ),
    PlantedBug(
        "a thought goes on when its scheduler has ended",
        _OMEGA,
        "        if over.life != self.life:",
        "        if over.life > self.life:",
    ),
    PlantedBug(
        "a task is launched on a node that its scheduler has given up meanwhile",
        _THINKING,
        "            can = can and node not in self.contacts.lost",
        "            can = can and node >= 0",
    ),
    PlantedBug(
        "what ran on a lost node stays claimed",
        _THINKING,
        "        self.release(*self._held.pop(entry.attempt))\n\n    # For people.",
        "        self._held.pop(entry.attempt)\n\n    # For people.",
    ),
    PlantedBug(
        "what a framework was offered that is gone stays locked",
        _ALLOCATOR,
        "            self._unlock_offer(offer)\n        self._time_next_allocation(self.cause)",
        "            _ = offer\n        self._time_next_allocation(self.cause)",
    ),
    PlantedBug(
        "a framework that is gone is still offered what is free",
        _ALLOCATOR,
        "        self._requests.pop(gone.scheduler, None)",
        "        self._requests.get(gone.scheduler, None)",
    ),
    PlantedBug(
        "a framework answers an offer that its earlier life was made",
        _FRAMEWORK,
        "        if offer.life == self.life:",
        "        if offer.life <= self.life:",
    ),
)
