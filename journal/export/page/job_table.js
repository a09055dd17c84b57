// The table of jobs: those in the system, or all.

const ROWS_MOST = 200;
const CELLS_OF_JOB = {
  state: "",
  progress: "spare",
  maps: "number",
  reduces: "number spare",
  running: "number",
  time: "number",
};

class JobTable {
  constructor(run, view, choose) {
    this.run = run;
    this.view = view;
    this.choose = choose;
    this.rows = new Map();
    this.shownJob = null;
  }

  /** Look for the chosen row anew next time: the pane has another size. */
  forget() {
    this.shownJob = null;
  }

  show() {
    const places = this.view.jobPlaces();
    const shown = this.cut(places);
    arrange(element("job-rows"), shown.map((place) => this.row(this.run.jobRow(place))));
    const left = places.length - shown.length;
    const more = left ? `and ${plural(left, "job")} more` : "";
    setText(element("no-jobs"), places.length ? more : this.noJobs());
    this.scrollToChosen();
  }

  /** Bring the row of a job that has just been chosen into view. */
  scrollToChosen() {
    if (this.shownJob === this.view.job) return;
    this.shownJob = this.view.job;
    const line = this.rows.get(this.run.placeOfJob.get(this.view.job))?.line;
    const room = element("job-rows").closest(".scroll");
    if (!line) return;
    const lowest = line.offsetTop - line.offsetHeight; // below the titles
    const highest = line.offsetTop + line.offsetHeight - room.clientHeight;
    room.scrollTop = Math.max(Math.min(room.scrollTop, lowest), highest);
  }

  /** No more rows than a browser moves at once; the chosen job is among them. */
  cut(places) {
    const shown = places.slice(0, ROWS_MOST);
    const chosen = this.run.placeOfJob.get(this.view.job);
    return places.indexOf(chosen) >= ROWS_MOST ? [...shown, chosen] : shown;
  }

  noJobs() {
    if (!this.run.jobs) return "the run has no jobs";
    const submitted = this.run.jobPlaces(true).length;
    if (!submitted) return "no job has been submitted yet";
    return `no job is in the system; ${plural(submitted, "job")} submitted so far`;
  }

  /** The row of a job, made once and then only changed. */
  row(found) {
    if (!this.rows.has(found.place)) this.rows.set(found.place, this.newRow(found));
    const row = this.rows.get(found.place);
    const chosen = this.view.job === found.job;
    const hue = `hue${this.view.hue(found.job)}`;
    row.line.className = classes(hue, found.over && "over", chosen && "chosen");
    row.button.setAttribute("aria-pressed", String(chosen));
    this.fill(row, found);
    return row.line;
  }

  /** Write what may have changed. */
  fill({ cells, bars }, found) {
    cells.state.className = STATE_CLASSES[found.state] ?? "";
    for (const [name, text] of Object.entries(cellTexts(found))) setText(cells[name], text);
    showProgress(bars[0], found);
  }

  newCells() {
    const cells = {};
    for (const name in CELLS_OF_JOB) cells[name] = make("td", CELLS_OF_JOB[name]);
    return cells;
  }

  bars(cells) {
    return [progressBar(cells.progress)];
  }

  newRow({ job, name }) {
    const line = make("tr");
    const head = make("th");
    head.scope = "row";
    const button = make("button", "", `${job} ${name}`);
    button.type = "button";
    head.append(button);
    const cells = this.newCells();
    line.append(head, ...Object.values(cells));
    line.addEventListener("click", () => this.choose(this.view.job === job ? null : job));
    return { line, button, cells, bars: this.bars(cells) };
  }
}

/** A bar in a cell: the parts for what is done and what runs. */
function progressBar(cell) {
  const parts = [make("span", "done"), make("span", "running")];
  const bar = make("span", "bar");
  bar.append(...parts);
  cell.append(bar);
  return parts;
}

function showProgress([done, running], found) {
  const tasks = Math.max(found.tasks[0] + found.tasks[1], 1);
  done.style.width = `${(100 * (found.done[0] + found.done[1])) / tasks}%`;
  running.style.width = `${(100 * found.running) / tasks}%`;
}

const STATE_CLASSES = { starved: "wrong", failed: "wrong", waiting: "waits" };

function cellTexts({ state, done, tasks, running, suspended, time }) {
  const [maps, reduces] = tasks.map((count, kind) => (count ? `${done[kind]}/${count}` : "–"));
  const now = running ? `${running}${suspended ? "‖" : ""}` : "";
  return { state, maps, reduces, running: now, time: shortDuration(time) };
}
