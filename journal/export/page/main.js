// The page: the run, what is chosen, and who shows it.

const TEXT_MS = 120; // between two renewals of the text while the run plays

function start() {
  const run = new Run(JSON.parse(element("run").textContent));
  const view = new View(run);
  const player = new Player(run, run.data.speeds, () => show());
  const choose = (job) => {
    view.job = job;
    showAll();
  };
  const panes = new Panes(run, player, view, choose, (at) => player.goTo(at));
  const map = new SlotMap(run, view, choose);
  const charts = new Charts(run, (at) => player.goTo(at), (at) => player.goTo(timeAfter(run.marks.at, at)));
  let shownAt = -Infinity;

  function show() {
    const totals = run.totals();
    panes.showHead(totals);
    charts.show(totals);
    map.draw();
    if (player.playing && performance.now() - shownAt < TEXT_MS) return;
    shownAt = performance.now();
    panes.showText();
    keepAddress(run, view, player);
  }

  function showAll() {
    map.forget();
    map.fit();
    show();
  }

  function fit() {
    charts.fit();
    const legend = element("legend");
    legend.replaceChildren(...slotLegend(run.data.words, palette()), ...view.legend());
    panes.forget();
    showAll();
  }

  fillChoices(run, view, player, fit, show);
  const table = keyTable({
    player, run, view, choose,
    chooseNext: (steps) => choose(view.neighbour(steps)),
    toggle: (id) => element(id).click(),
    changeColours: () => view.nextColours() && fit(),
    changeTheme: () => changeTheme(fit),
    help: () => element("help-page").showModal(),
  });
  fillHelp(table, run);
  listenForKeys(table);
  listenToButtons(table, player);
  addEventListener("hashchange", () => followAddress(run, view, player, showAll));
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(element("slot-room"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit);
  followAddress(run, view, player, fit);
}

/** What is chosen on the page. */
class View {
  constructor(run) {
    this.run = run;
    this.job = null;
    this.allJobs = false;
    this.level = HEADLINE;
    this.colours = 0;
  }

  /** The number of a job's colour. */
  hue(job) {
    return Number(this.run.data.colours[this.colours].hues[this.run.placeOfJob.get(job)]);
  }

  nextColours() {
    this.colours = (this.colours + 1) % this.run.data.colours.length;
    element("colours").value = String(this.colours);
    return this.run.data.colours.length > 1;
  }

  /** What each colour stands for, where that is not a job. */
  legend() {
    return this.run.data.colours[this.colours].legend.map((word, hue) => {
      const item = make("li", `hue${hue}`);
      item.append(make("i", "swatch"), make("span", "", word));
      return item;
    });
  }

  /** The job so many rows on in the table. */
  neighbour(steps) {
    const jobs = this.run.jobPlaces(this.allJobs || this.run.over).map((place) => this.run.data.jobs.job[place]);
    if (!jobs.length) return null;
    const at = jobs.indexOf(this.job);
    if (at < 0) return steps > 0 ? jobs[0] : jobs.at(-1);
    return jobs[Math.max(0, Math.min(at + steps, jobs.length - 1))];
  }
}

function fillChoices(run, view, player, fit, show) {
  const { colours, speeds } = run.data;
  element("colours").append(...colours.map(({ by }, place) => new Option(by, place)));
  element("colour-choice").hidden = colours.length < 2;
  element("colours").addEventListener("change", (event) => {
    view.colours = Number(event.target.value);
    fit();
  });
  element("speed").append(...speeds.map((speed) => new Option(`×${speed}`, speed)));
  element("speed").addEventListener("change", (event) => {
    player.speed = Number(event.target.value);
    show();
  });
  element("all-jobs").addEventListener("change", (event) => {
    view.allJobs = event.target.checked;
    show();
  });
  element("decisions").addEventListener("change", (event) => {
    view.level = HEADLINE + Number(event.target.checked);
    show();
  });
  element("scrub").max = run.end;
}

function listenToButtons(table, player) {
  const buttons = { play: " ", back: ",", step: ".", mark: "m", theme: "t", help: "?" };
  for (const id in buttons) {
    const [, shown, words, act] = table.find(([keys]) => keys.includes(buttons[id]));
    element(id).title = `${words} (${shown})`;
    element(id).addEventListener("click", act);
  }
  element("mark").hidden = !player.run.marks.at.length;
  element("scrub").addEventListener("input", (event) => player.goTo(Number(event.target.value)));
}

function fillHelp(table, run) {
  factList(element("keys"), table.map(([, shown, words]) => [shown, words]));
  const [, preemption, returned, lost, fault] = run.data.words.marks;
  factList(element("signs"), [
    [fault, "a fault"],
    [lost, "a node that the master gives up for lost"],
    [returned, "a node that joins again"],
    [preemption, "a preemption"],
    ["× ‖ ≠ ~ ⊘", "beside a node: down, paused, its link disturbed, slow, out of service"],
    ["?", "beside a node: it is up, and the master has given it up for lost"],
    ["12", "after a node's slots: so many suspended attempts in its memory"],
  ]);
}

function changeTheme(fit) {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  fit();
}

// The address says the moment and the job, so that it can be kept: `#t=7:30&job=3`.

function followAddress(run, view, player, showAll) {
  const told = new URLSearchParams(location.hash.slice(1));
  const job = Number(told.get("job") ?? NaN);
  view.job = run.placeOfJob.has(job) ? job : null;
  const at = parseTime(told.get("t") ?? "0");
  run.seek(Number.isFinite(at) ? at : 0);
  player.part = run.at;
  showAll();
  if (told.has("play")) player.play();
}

let keeping = 0;

function keepAddress(run, view, player) {
  clearTimeout(keeping);
  if (player.playing) return;
  keeping = setTimeout(() => {
    const job = view.job === null ? "" : `&job=${view.job}`;
    history.replaceState(null, "", `#t=${run.at / 1000}${job}`);
  }, 400);
}

start();
