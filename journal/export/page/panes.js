// The panes of text: the head, the table of jobs, the events, the detail.

const LINES_BEFORE = 40;
const LINES_AFTER = 3;
const ROWS_MOST = 200;
const NODES_MOST = 12;
const CLASSES = { state: "", progress: "spare", maps: "number", reduces: "number spare", running: "number", time: "number" };

class Panes {
  constructor(run, player, view, choose, seek) {
    Object.assign(this, { run, player, view, choose, seek });
    this.rows = new Map();
    this.shownLog = "";
    this.nothing = element("no-jobs");
    setText(element("scenario"), run.data.name);
  }

  /** Write all anew next time: the panes have another size. */
  forget() {
    this.shownLog = "";
  }

  /** What changes with every picture. */
  showHead(totals) {
    const { run, player } = this;
    const [, policy, paused] = run.policy;
    setText(element("policy"), `under ${policy}`);
    setText(element("time"), clock(run.at));
    setText(element("status"), this.status());
    const busy = `maps ${share(totals.busy[0], totals.slots[0])} reduces ${share(totals.busy[1], totals.slots[1])}`;
    const told = [`seed ${run.data.seed}`, `${totals.live} of ${plural(totals.submitted, "job")} in the system`, busy];
    const trouble = totals.down || totals.lost ? [`${totals.down} down, ${totals.lost} given up`] : [];
    if (paused) trouble.push("the master is paused");
    setText(element("totals"), told.join(" · "));
    setText(element("trouble"), trouble.join(" · "));
    setText(element("play"), player.playing ? "‖ pause" : "▶ play");
    const slider = element("scrub");
    slider.value = run.at;
    slider.setAttribute("aria-valuetext", clockTime(run.at));
    element("speed").value = String(player.speed);
  }

  status() {
    const { run, player } = this;
    if (player.playing) return `playing ×${player.speed}`;
    return run.over ? run.data.words.ending : "paused";
  }

  /** What changes with the events. */
  showText() {
    this.showJobs();
    this.showLog();
    this.showDetail();
  }

  // The jobs.

  showJobs() {
    const places = this.run.jobPlaces(this.view.allJobs || this.run.over);
    const chosen = this.run.placeOfJob.get(this.view.job ?? -1);
    const shown = places.length > ROWS_MOST ? this.cut(places, chosen) : places;
    const rows = shown.map((place) => this.row(this.run.jobRow(place)));
    arrange(element("job-rows"), rows);
    const left = places.length - shown.length;
    setText(this.nothing, left ? `and ${plural(left, "job")} more` : places.length ? "" : this.noJobs());
  }

  cut(places, chosen) {
    const shown = places.slice(0, ROWS_MOST);
    if (chosen !== undefined && places.includes(chosen) && !shown.includes(chosen)) shown.push(chosen);
    return shown;
  }

  noJobs() {
    if (!this.run.jobs) return "the run has no jobs";
    const submitted = this.run.jobPlaces(true).length;
    if (!submitted) return "no job has been submitted yet";
    return `no job is in the system; ${plural(submitted, "job")} submitted so far`;
  }

  /** The row of a job, made once and then only changed. */
  row(found) {
    const row = this.rows.get(found.place) ?? this.newRow(found);
    this.rows.set(found.place, row);
    const { line, cells, parts } = row;
    const hue = this.view.hue(found.job);
    line.className = [`hue${hue}`, found.over ? "over" : "", this.view.job === found.job ? "chosen" : ""].join(" ");
    row.button.setAttribute("aria-pressed", String(this.view.job === found.job));
    const wrong = found.state === "starved" || found.state === "failed";
    cells.state.className = wrong ? "wrong" : found.state === "waiting" ? "waits" : "";
    const tasks = (kind) => (found.tasks[kind] ? `${found.done[kind]}/${found.tasks[kind]}` : "–");
    const running = found.running ? `${found.running}${found.suspended ? "‖" : ""}` : "";
    const texts = { state: found.state, maps: tasks(0), reduces: tasks(1), running, time: shortDuration(found.time) };
    for (const name in texts) setText(cells[name], texts[name]);
    const whole = Math.max(found.tasks[0] + found.tasks[1], 1);
    parts[0].style.width = `${(100 * (found.done[0] + found.done[1])) / whole}%`;
    parts[1].style.width = `${(100 * found.running) / whole}%`;
    return line;
  }

  newRow(found) {
    const line = make("tr");
    line.dataset.job = found.job;
    const head = make("th");
    head.scope = "row";
    const button = make("button", "", `${found.job} ${found.name}`);
    button.type = "button";
    head.append(button);
    const cells = {};
    line.append(head);
    for (const name of ["state", "progress", "maps", "reduces", "running", "time"]) {
      cells[name] = make("td", CLASSES[name]);
      line.append(cells[name]);
    }
    const bar = make("span", "bar");
    const parts = [make("span", "done"), make("span", "running")];
    bar.append(...parts);
    cells.progress.append(bar);
    line.addEventListener("click", () => this.choose(this.view.job === found.job ? null : found.job));
    return { line, button, cells, parts };
  }

  // The events.

  showLog() {
    const { run, view } = this;
    const { past, future } = run.log.around(run.at, LINES_BEFORE, LINES_AFTER, view.level, null);
    const key = `${past.at(-1)} ${future.join()} ${view.level} ${view.job}`;
    if (key === this.shownLog) return;
    this.shownLog = key;
    const lines = [...past.map((i) => this.line(i, "")), ...future.map((i) => this.line(i, "future"))];
    element("log-lines").replaceChildren(...lines);
    this.scrollToPresent(lines[past.length - 1]);
  }

  /** Show the last line of the past, and below it some of what is to come. */
  scrollToPresent(line) {
    const room = element("log-lines").parentElement;
    if (line) room.scrollTop = line.offsetTop + line.offsetHeight - 0.75 * room.clientHeight;
  }

  line(index, when) {
    const { log } = this.run;
    const at = log.at[index];
    const mine = this.view.job !== null && log.job(index) === this.view.job ? "mine" : "";
    const item = make("li", `${when} mark-${log.mark(index)} ${log.level(index) ? "decision" : ""} ${mine}`);
    const button = make("button", "", clockTime(at));
    button.type = "button";
    button.addEventListener("click", () => this.seek(at));
    item.append(button, make("span", "", log.text(index)));
    return item;
  }

  // The detail.

  showDetail() {
    const place = this.run.placeOfJob.get(this.view.job ?? -1);
    const [title, facts] = place !== undefined ? this.jobDetail(place) : this.runDetail();
    const key = JSON.stringify([title, facts]);
    if (key === this.shownDetail) return;
    this.shownDetail = key;
    setText(element("detail-title"), title);
    factList(element("facts"), facts);
  }

  runDetail() {
    const { run } = this;
    if (run.over) return ["The result", run.data.result];
    const took = run.responses();
    const live = run.jobPlaces(false);
    const facts = [["jobs", `${grouped(took.length)} succeeded, ${grouped(live.length)} in the system`]];
    if (took.length) facts.push(["response", `mean ${duration(mean(took))}, p95 ${duration(quantile(took, 0.95))}`]);
    if (live.length) facts.push(["without slot", this.withoutSlot(live)]);
    facts.push(["more", "choose a job, in the table or by its slots"]);
    return ["How it goes", facts];
  }

  /** Who in the system has nothing running, and the one that came first. */
  withoutSlot(live) {
    const without = live.filter((place) => [WAITING, STARVED].includes(this.run.jobTrack.get(place, JOB.standing)));
    if (!without.length) return "no job";
    const { job, name, submitted_ms } = this.run.data.jobs;
    const first = without.reduce((one, other) => (submitted_ms[other] < submitted_ms[one] ? other : one));
    const since = duration(this.run.at - submitted_ms[first]);
    return `${plural(without.length, "job")}; ${jobTitle(job[first], name[first])}, submitted ${since} ago`;
  }

  jobDetail(place) {
    const { jobs } = this.run.data;
    const row = this.run.jobRow(place);
    const facts = [["state", row.state]];
    if (row.standing === NOT_YET) return [jobTitle(row.job, row.name), [...facts, ["submitted", `at ${clockTime(jobs.submitted_ms[place])}`]]];
    const by = [jobs.user[place] ? `by ${jobs.user[place]}` : "", jobs.pool[place] ? `in pool ${jobs.pool[place]}` : ""];
    facts.push(["submitted", ["at", clockTime(jobs.submitted_ms[place]), ...by].filter(Boolean).join(" ")]);
    facts.push(["done", `${row.done[0]} of ${plural(row.tasks[0], "map")}, ${row.done[1]} of ${plural(row.tasks[1], "reduce")}`]);
    facts.push(["tasks", `${row.running} running, ${row.waiting} waiting, ${plural(row.suspended, "attempt")} suspended`]);
    facts.push([row.over ? "response" : "so far", duration(row.time)]);
    facts.push(["slots", this.slotsHeld(row.job)]);
    return [jobTitle(row.job, row.name), facts];
  }

  slotsHeld(job) {
    const held = [...this.run.slotsOfJob(job)];
    const all = held.reduce((total, [, count]) => total + count, 0);
    if (!all) return "none";
    const listed = held.slice(0, NODES_MOST).map(([node, count]) => (count > 1 ? `node-${node} (${count})` : `node-${node}`));
    const more = held.length > NODES_MOST ? ` and ${held.length - NODES_MOST} more nodes` : "";
    return `${all}: on ${listed.join(", ")}${more}`;
  }
}

const mean = (sorted) => roundHalfEven(sorted.reduce((total, each) => total + each, 0) / sorted.length);

/** A quantile between two of the sorted numbers, as NumPy has it. */
function quantile(sorted, part) {
  const place = part * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, sorted.length - 1);
  return roundHalfEven(sorted[low] + (place - low) * (sorted[high] - sorted[low]));
}

function roundHalfEven(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}
