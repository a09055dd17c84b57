// The run at one moment: everything that is shown is asked of here.

const [NOT_YET, WAITING, , STARVED, SUCCEEDED] = [0, 1, 2, 3, 4]; // standings + 1
const JOB = { standing: 0, maps: 1, reduces: 2, runningMaps: 3, runningReduces: 4, suspended: 5 };
const NODE = { sign: 0, wrong: 1, down: 2, lost: 3, off: 4, suspended: 5 };
const HEADLINE = 0;

class Run {
  constructor(data) {
    this.data = data;
    this.end = this.ownEnd = data.end_ms;
    this.at = 0;
    this.beside = null; // the run that it is compared with
    this.jobs = data.jobs.job.length;
    this.placeOfJob = new Map(data.jobs.job.map((job, place) => [job, place]));
    this.layNodesOut(data.nodes);
    this.slotTrack = new SlotTrack(data.slots, this.slots);
    this.jobTrack = new CountTrack(data.job_rows, this.jobs);
    this.nodeTrack = new CountTrack(data.node_rows, this.nodes);
    this.log = new EventLog(data.log);
    this.marks = { at: summed(data.marks.at), kind: data.marks.kind };
    this.ends = this.jobEnds();
    this.seek(0);
  }

  /** Set another run beside this one: from now on both are at the same moment. */
  compareWith(other) {
    this.beside = other;
    this.end = other.end = Math.max(this.end, other.end);
    this.ends = Float64Array.from([...this.ends, ...other.ends]).sort();
  }

  /** The policy that the run began with. */
  get policyName() {
    return this.data.policies[0][1];
  }

  /** The same in few letters, of two runs. */
  get label() {
    return this.data.label;
  }

  layNodesOut({ rack, maps, reduces }) {
    this.nodes = rack.length;
    this.first = [0];
    for (let node = 0; node < this.nodes; node++) {
      this.first.push(this.first[node] + maps[node] + reduces[node]);
    }
    this.slots = this.first[this.nodes];
    this.nodeOf = new Int32Array(this.slots);
    this.isReduce = new Uint8Array(this.slots);
    for (let node = 0; node < this.nodes; node++) {
      this.nodeOf.fill(node, this.first[node], this.first[node + 1]);
      this.isReduce.fill(1, this.first[node] + maps[node], this.first[node + 1]);
    }
    this.racks = [...new Set(rack)].sort((a, b) => a - b);
    this.nodesOfRack = new Map(this.racks.map((each) => [each, []]));
    rack.forEach((each, node) => this.nodesOfRack.get(each).push(node));
  }

  jobEnds() {
    return Float64Array.from(this.data.jobs.finished_ms.filter((ms) => ms >= 0)).sort();
  }

  seek(at) {
    this.at = Math.min(Math.max(Math.floor(at), 0), this.end);
    for (const track of [this.slotTrack, this.jobTrack, this.nodeTrack]) track.seek(this.at);
    this.beside?.seek(this.at);
  }

  get over() {
    return this.at >= this.end;
  }

  /** The policy in force, and whether the master stands still. */
  get policy() {
    const known = this.data.policies.filter(([since]) => since <= this.at);
    return known.length ? known[known.length - 1] : this.data.policies[0];
  }

  /** Whether an attempt runs in the slot. */
  isBusy(slot) {
    const state = this.slotTrack.stateOf(slot);
    return state !== IDLE && state !== GHOST;
  }

  /** The cluster in figures; pairs are of maps and reduces. */
  totals() {
    const nodes = { down: 0, lost: 0, unaware: 0 };
    const found = { slots: [0, 0], busy: [0, 0], submitted: 0, live: 0, ...nodes };
    for (let slot = 0; slot < this.slots; slot++) {
      found.slots[this.isReduce[slot]]++;
      if (this.isBusy(slot)) found.busy[this.isReduce[slot]]++;
    }
    for (let node = 0; node < this.nodes; node++) this.addNode(found, node);
    for (let place = 0; place < this.jobs; place++) {
      const standing = this.jobTrack.get(place, JOB.standing);
      if (standing !== NOT_YET) found.submitted++;
      if (standing >= WAITING && standing < SUCCEEDED) found.live++;
    }
    return found;
  }

  addNode(found, node) {
    const down = this.nodeTrack.get(node, NODE.down);
    const lost = this.nodeTrack.get(node, NODE.lost);
    found.down += down;
    found.lost += lost;
    found.unaware += down && !lost ? 1 : 0;
  }

  rackTotals(rack) {
    const found = { busy: 0, slots: 0, down: 0, lost: 0, unaware: 0 };
    for (const node of this.nodesOfRack.get(rack)) {
      this.addNode(found, node);
      for (let slot = this.first[node]; slot < this.first[node + 1]; slot++) {
        found.slots++;
        if (this.isBusy(slot)) found.busy++;
      }
    }
    return found;
  }

  /** The places of the jobs that are submitted, or of those in the system alone. */
  jobPlaces(all) {
    const found = [];
    for (let place = 0; place < this.jobs; place++) {
      const standing = this.jobTrack.get(place, JOB.standing);
      if (standing !== NOT_YET && (all || standing < SUCCEEDED)) found.push(place);
    }
    return found;
  }

  /** Whether a job is in the system and nothing of it runs. */
  isWaiting(place) {
    return [WAITING, STARVED].includes(this.jobTrack.get(place, JOB.standing));
  }

  /** A job's row of the table. */
  jobRow(place) {
    const { jobs, words } = this.data;
    const get = (column) => this.jobTrack.get(place, column);
    const standing = get(JOB.standing);
    const done = [get(JOB.maps), get(JOB.reduces)];
    const running = get(JOB.runningMaps) + get(JOB.runningReduces);
    const tasks = [jobs.maps[place], jobs.reduces[place]];
    const left = standing >= SUCCEEDED ? jobs.finished_ms[place] : this.at;
    return {
      place, job: jobs.job[place], name: jobs.name[place], standing, done, tasks, running,
      state: standing === NOT_YET ? "not submitted yet" : words.states[standing - 1],
      suspended: get(JOB.suspended), over: standing >= SUCCEEDED,
      time: left - jobs.submitted_ms[place],
      waiting: tasks[0] + tasks[1] - done[0] - done[1] - running,
    };
  }

  /** The slots in which attempts of the job run, by node. */
  slotsOfJob(job) {
    const held = new Map();
    for (let slot = 0; slot < this.slots; slot++) {
      const entry = this.slotTrack.heldBy(slot);
      if (entry < 0 || this.slotTrack.job[entry] !== job || !this.isBusy(slot)) continue;
      held.set(this.nodeOf[slot], (held.get(this.nodeOf[slot]) ?? 0) + 1);
    }
    return held;
  }

  /** The times that the jobs took that have succeeded so far, the shortest first. */
  responses() {
    const { submitted_ms, finished_ms } = this.data.jobs;
    const found = [];
    for (let place = 0; place < this.jobs; place++) {
      if (this.jobTrack.get(place, JOB.standing) !== SUCCEEDED) continue;
      found.push(finished_ms[place] - submitted_ms[place]);
    }
    return found.sort((a, b) => a - b);
  }

  /** What is in a slot, in words. */
  slotText(slot) {
    const { maps } = this.data.nodes;
    const { slots } = this.data.words;
    const node = this.nodeOf[slot];
    const number = slot - this.first[node];
    const name = number < maps[node] ? `map ${number}` : `reduce ${number - maps[node]}`;
    const entry = this.slotTrack.heldBy(slot);
    const where = `node-${node}, slot ${name}:`;
    const off = this.nodeTrack.get(node, NODE.off) ? ", the node is down" : "";
    if (entry < 0) return `${where} ${slots[IDLE]}${off}`;
    const { job, task, level, began } = this.slotTrack;
    const place = this.placeOfJob.get(job[entry]);
    const kind = this.isReduce[slot] ? "reduce" : "map";
    const taskName = { [-1]: "setup", [-2]: "cleanup" }[task[entry]] ?? `${kind} ${task[entry]}`;
    const what = `${taskName} of ${jobTitle(job[entry], this.data.jobs.name[place])}`;
    const near = ["node-local", "rack-local", "off-rack"][level[entry]];
    const state = this.slotTrack.stateOf(slot);
    const how = slots[state] === kind ? "" : slots[state];
    const told = [what, near, how, `since ${clockTime(began[entry])}`];
    return `${where} ${told.filter(Boolean).join(", ")}`;
  }

  /** The next moment at which anything happens. */
  nextEvent() {
    const tracks = [this.slotTrack.at, this.jobTrack.at, this.nodeTrack.at, this.log.at];
    const other = this.beside?.nextEvent() ?? Infinity;
    return Math.min(other, ...tracks.map((times) => timeAfter(times, this.at)));
  }

  eventBefore() {
    const tracks = [this.slotTrack.at, this.jobTrack.at, this.nodeTrack.at, this.log.at];
    const other = this.beside?.eventBefore() ?? -Infinity;
    return Math.max(other, ...tracks.map((times) => timeBefore(times, this.at)));
  }
}

/** The events in words; each sentence is a pattern and its numbers. */
class EventLog {
  constructor(columns) {
    this.at = summed(columns.at);
    this.columns = columns;
    this.firstNumber = new Int32Array(this.at.length);
    let numbers = 0;
    for (let i = 0; i < this.at.length; i++) {
      this.firstNumber[i] = numbers;
      numbers += columns.patterns[columns.pattern[i]].length - 1;
    }
  }

  level(index) {
    return (this.columns.kind.charCodeAt(index) - LETTER_A) % 3;
  }

  mark(index) {
    return Math.floor((this.columns.kind.charCodeAt(index) - LETTER_A) / 3);
  }

  job(index) {
    return this.columns.job[index];
  }

  text(index) {
    const parts = this.columns.patterns[this.columns.pattern[index]];
    const first = this.firstNumber[index];
    return parts.map((part, i) => (i ? this.columns.numbers[first + i - 1] : "") + part).join("");
  }

  /** The numbers of the lines around a moment: the last before it, and the first after it. */
  around(at, before, after, level) {
    const here = countUntil(this.at, at);
    const wanted = (i) => this.level(i) <= level;
    const past = [];
    for (let i = here - 1; i >= 0 && past.length < before; i--) if (wanted(i)) past.push(i);
    const future = [];
    for (let i = here; i < this.at.length && future.length < after; i++) {
      if (wanted(i)) future.push(i);
    }
    return { past: past.reverse(), future };
  }
}
