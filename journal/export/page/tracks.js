// What changes in a run, and going to any moment of it: forwards and backwards alike, a change
// at a time, so that a step costs what happens in it and not the length of the run.

/** The times, from their differences. */
function summed(differences) {
  const times = new Float64Array(differences.length);
  let at = 0;
  for (let i = 0; i < times.length; i++) times[i] = at += differences[i];
  return times;
}

/** How many of the sorted times are not after `at`. */
function countUntil(times, at) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The next of the sorted times after `at`; Infinity without one. */
const timeAfter = (times, at) => times[countUntil(times, at)] ?? Infinity;

/** The last of the sorted times before `at`; -Infinity without one. */
function timeBefore(times, at) {
  let place = countUntil(times, at);
  while (place > 0 && times[place - 1] >= at) place--;
  return place ? times[place - 1] : -Infinity;
}

/** Rows of counts, one for each subject. */
class CountTrack {
  constructor(columns, subjects) {
    this.at = summed(columns.at);
    this.of = columns.of;
    this.kind = columns.kind;
    this.kinds = columns.kinds;
    this.width = columns.kinds.length ? columns.kinds[0].length : 0;
    this.rows = new Int32Array(subjects * this.width);
    this.index = 0;
  }

  /** A number of a subject's row, as it is now. */
  get(subject, column) {
    return this.width ? this.rows[subject * this.width + column] : 0;
  }

  seek(at) {
    const target = countUntil(this.at, at);
    while (this.index < target) this.add(this.index++, 1);
    while (this.index > target) this.add(--this.index, -1);
  }

  add(index, sign) {
    const row = this.of[index] * this.width;
    const added = this.kinds[this.kind[index]];
    added.forEach((number, column) => (this.rows[row + column] += sign * number));
  }
}

const IDLE = 0;
const GHOST = 5;
const STATES = 7;
const LETTER_A = 97;

/** What is in each slot: every change knows the one before it in its slot. */
class SlotTrack {
  constructor(columns, slots) {
    const changes = columns.at.length;
    this.at = summed(columns.at);
    this.of = Int32Array.from(columns.of);
    this.state = new Uint8Array(changes);
    this.taken = new Int32Array(changes).fill(-1);
    this.before = new Int32Array(changes);
    this.job = columns.job;
    this.task = columns.task;
    this.level = columns.level;
    this.began = new Float64Array(columns.job.length);
    this.ended = new Float64Array(columns.job.length).fill(Infinity);
    this.current = new Int32Array(slots).fill(-1);
    this.index = 0;
    this.link(columns.state);
    this.current.fill(-1);
  }

  /** Find out which change is before which, and how long each attempt had its slot. */
  link(letters) {
    let fresh = 0;
    for (let i = 0; i < this.at.length; i++) {
      const code = letters.charCodeAt(i) - LETTER_A;
      const before = this.current[this.of[i]];
      const was = before < 0 ? -1 : this.taken[before];
      this.before[i] = before;
      this.state[i] = code % STATES;
      if (code >= STATES) this.began[(this.taken[i] = fresh++)] = this.at[i];
      else if (this.state[i] !== IDLE) this.taken[i] = was;
      const over = this.taken[i] !== was || this.state[i] === GHOST;
      if (was >= 0 && over) this.ended[was] = Math.min(this.ended[was], this.at[i]);
      this.current[this.of[i]] = i;
    }
  }

  seek(at) {
    const target = countUntil(this.at, at);
    for (; this.index < target; this.index++) this.current[this.of[this.index]] = this.index;
    while (this.index > target) {
      this.index--;
      this.current[this.of[this.index]] = this.before[this.index];
    }
  }

  stateOf(slot) {
    const change = this.current[slot];
    return change < 0 ? IDLE : this.state[change];
  }

  /** The number of the attempt's entry in `job`, `task`, `level`, `began` and `ended`; -1: none. */
  heldBy(slot) {
    const change = this.current[slot];
    return change < 0 ? -1 : this.taken[change];
  }
}
