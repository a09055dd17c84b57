// The detail: the chosen job, else how the run goes, and at its end the result.

const NODES_MOST = 12;
const TO_THE_RESULT = ["the result", "choose the job again, or esc"];

class Detail {
  constructor(run, view) {
    this.run = run;
    this.view = view;
    this.shown = "";
  }

  /** The same text does in a pane of any size. */
  forget() {}

  show() {
    const place = this.run.placeOfJob.get(this.view.job);
    const [title, facts] = this.told(place);
    const key = JSON.stringify([title, facts]);
    if (key === this.shown) return;
    this.shown = key;
    setText(element("detail-title"), title);
    factList(element("facts"), facts);
  }

  told(place) {
    if (this.run.beside) return this.ofBoth(place);
    return place === undefined ? this.ofRun() : this.ofJob(place);
  }

  /** Of two runs the same of each. */
  ofBoth(place) {
    const { run } = this;
    const job = place === undefined ? null : run.data.jobs.job[place];
    const sides = [run, run.beside].map((each) => {
      const mine = new Detail(each, this.view);
      const there = job === null ? undefined : each.placeOfJob.get(job);
      return there === undefined ? mine.ofRun() : mine.ofJob(there);
    });
    const labels = [run.label, run.beside.label];
    const facts = sides.flatMap(([, told], at) => [[`under ${labels[at]}`, ""], ...told]);
    const alone = facts.filter((fact) => fact[0] !== "more" && fact !== TO_THE_RESULT);
    return [sides[0][0], run.over && job !== null ? [TO_THE_RESULT, ...alone] : alone];
  }

  ofRun() {
    const { run } = this;
    if (run.over) return ["The result", run.data.result];
    const took = run.responses();
    const live = run.jobPlaces(false);
    const jobs = `${grouped(took.length)} succeeded, ${grouped(live.length)} in the system`;
    const facts = [["jobs", jobs]];
    if (took.length) {
      const [mean, p95] = [meanOf(took), quantileOf(took, 0.95)].map(duration);
      facts.push(["response", `mean ${mean}, p95 ${p95}`]);
    }
    if (live.length) facts.push(["without slot", this.withoutSlot(live)]);
    facts.push(["more", "choose a job, in the table or by its slots"]);
    return ["How it goes", facts];
  }

  /** Who in the system has nothing running, and the one that came first. */
  withoutSlot(live) {
    const without = live.filter((place) => this.run.isWaiting(place));
    if (!without.length) return "no job";
    const { job, name, submitted_ms: submitted } = this.run.data.jobs;
    const first = without.reduce((a, b) => (submitted[b] < submitted[a] ? b : a));
    const since = duration(this.run.at - submitted[first]);
    const title = jobTitle(job[first], name[first]);
    return `${plural(without.length, "job")}; ${title}, submitted ${since} ago`;
  }

  ofJob(place) {
    const row = this.run.jobRow(place);
    const title = jobTitle(row.job, row.name);
    const submitted = ["submitted", this.submission(place)];
    if (row.standing === NOT_YET) return [title, [["state", row.state], submitted]];
    const [maps, reduces] = row.tasks.map((count, kind) => plural(count, ["map", "reduce"][kind]));
    const suspended = `${plural(row.suspended, "attempt")} suspended`;
    const shares = row.over ? this.run.data.jobs.shares[place] : [];
    const facts = [
      ["state", row.state],
      [row.over ? "response" : "so far", duration(row.time)],
      ...shares.map((text, at) => [at ? "" : "it went to", text.trim()]),
      submitted,
      ["done", `${grouped(row.done[0])} of ${maps}, ${grouped(row.done[1])} of ${reduces}`],
      ["tasks", `${row.running} running, ${row.waiting} waiting, ${suspended}`],
      ["slots", this.slotsHeld(row.job)],
    ];
    return [title, this.run.over ? [TO_THE_RESULT, ...facts] : facts];
  }

  submission(place) {
    const { user, pool, submitted_ms: submitted } = this.run.data.jobs;
    const by = user[place] ? ` by ${user[place]}` : "";
    const into = pool[place] ? ` into pool ${pool[place]}` : "";
    return `at ${clockTime(submitted[place])}${by}${into}`;
  }

  slotsHeld(job) {
    const held = [...this.run.slotsOfJob(job)];
    if (!held.length) return "none";
    const all = held.reduce((total, [, count]) => total + count, 0);
    const named = ([node, count]) => `node-${node}${count > 1 ? ` (${count})` : ""}`;
    const left = held.length - NODES_MOST;
    const more = left > 0 ? ` and ${plural(left, "more node")}` : "";
    return `${all}: on ${held.slice(0, NODES_MOST).map(named).join(", ")}${more}`;
  }
}

const meanOf = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;

/** A quantile between two of the sorted numbers, as NumPy has it. */
function quantileOf(sorted, part) {
  const place = part * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}
