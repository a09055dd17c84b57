// The page: the run, what is chosen, who shows it, and what is done by keys and buttons.

const TEXT_MS = 120; // between two renewals of the text while the run plays

class Page {
  constructor(run) {
    this.run = run;
    this.view = new View(run);
    this.player = new Player(run, run.data.speeds, () => this.show());
    const choose = (job) => this.choose(job);
    const seek = (at) => this.player.goTo(at);
    this.head = new Head(run, this.player);
    this.result = new Result(run);
    this.maps = [new SlotMap(run, this.view, choose)];
    this.lines = new EventLines(run, this.view, seek);
    if (run.beside) this.setBeside(choose);
    this.charts = new Charts(run, seek, (at) => seek(timeAfter(run.marks.at, at)));
    this.panes = [
      new (run.beside ? PairTable : JobTable)(run, this.view, choose),
      this.lines,
      new Detail(run, this.view),
    ];
    this.address = new Address(run, this.view, this.player);
    this.shownAt = -Infinity;
  }

  /** Make room for a second run: its slots, and a choice of whose events are shown. */
  setBeside(choose) {
    const runs = [this.run, this.run.beside];
    element("app").classList.add("pair");
    element("slots-beside").hidden = element("log-choice").hidden = false;
    this.maps.push(new SlotMap(this.run.beside, this.view, choose, "-beside"));
    setText(element("slots-title"), `Slots under ${this.run.policyName}`);
    setText(element("slots-beside-title"), `Slots under ${this.run.beside.policyName}`);
    element("log-run").append(...runs.map((run, place) => new Option(run.policyName, place)));
    this.onChange("log-run", ({ value }) => (this.lines.run = runs[Number(value)]));
  }

  /** Show the present; of the text there is no need with every picture. */
  show() {
    const totals = this.run.totals();
    this.head.show(totals);
    this.result.show();
    this.charts.show(totals);
    this.maps.forEach((map) => map.draw());
    if (this.player.playing && performance.now() - this.shownAt < TEXT_MS) return;
    this.shownAt = performance.now();
    this.panes.forEach((pane) => pane.show());
    const all = element("all-jobs"); // at the end all are shown anyway
    all.disabled = this.run.over;
    all.checked = this.view.allJobs || this.run.over;
    this.address.keep();
  }

  /** Lay everything out anew: the page has another size, or other colours. */
  fit() {
    this.charts.fit();
    const tiles = slotLegend(this.run.data.words, palette());
    element("legend").replaceChildren(...tiles, ...this.view.legend());
    this.panes.forEach((pane) => pane.forget());
    this.maps.forEach((map) => map.fold());
    this.placeEvents();
    const spaces = this.maps.map((map) => map.space());
    const least = (part) => Math.min(...spaces.map((space) => space[part])); // both alike
    const space = { ...spaces[0], width: least("width"), height: least("height") };
    this.maps.forEach((map) => map.fit(space));
    this.show();
  }

  /** On a desk the events stand below the slots if there is room for both, else beside them. */
  placeEvents() {
    const app = element("app");
    const wanted = Math.max(...this.maps.map((map) => map.wanted()));
    app.classList.add("few");
    app.style.setProperty("--slots", `${wanted}px`);
    app.classList.toggle("few", this.maps.every((map) => map.isLarge()));
  }

  choose(job) {
    this.view.job = job;
    this.show();
  }

  changeColours() {
    this.view.nextColours();
    this.fit();
  }

  changeTheme() {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = theme === "dark" ? "light" : "dark";
    this.fit();
  }

  start() {
    this.fillChoices();
    const table = keyTable(this);
    listenForKeys(table);
    this.listenToButtons(table);
    fillHelp(table, this.run.data.words.marks);
    addEventListener("hashchange", () => this.address.follow(() => this.show()));
    // On a desk before the frame is drawn, not one after it; a phone resizes while one scrolls.
    addEventListener("resize", () => this.maps[0].scrolls() && this.fit());
    const watcher = new ResizeObserver(() => requestAnimationFrame(() => this.fit()));
    this.maps.forEach((map) => watcher.observe(map.room));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.fit());
    this.address.follow(() => this.fit());
  }

  fillChoices() {
    const { colours, speeds } = this.run.data;
    element("colours").append(...colours.map(({ by }, place) => new Option(by, place)));
    element("colour-choice").hidden = colours.length < 2;
    element("speed").append(...speeds.map((speed) => new Option(`×${speed}`, speed)));
    element("mark").hidden = !this.run.marks.at.length;
    element("scrub").max = this.run.end;
    this.onChange("colours", ({ value }) => (this.view.colours = Number(value)));
    this.onChange("speed", ({ value }) => (this.player.speed = Number(value)));
    this.onChange("all-jobs", ({ checked }) => (this.view.allJobs = checked));
    this.onChange("decisions", ({ checked }) => (this.view.level = HEADLINE + Number(checked)));
  }

  /** What changes a choice lays the page out anew. */
  onChange(id, act) {
    element(id).addEventListener("change", ({ target }) => {
      act(target);
      this.fit();
    });
  }

  listenToButtons(table) {
    const buttons = { play: " ", back: ",", step: ".", mark: "m", theme: "t", help: "?" };
    for (const id in buttons) {
      const [, shown, words, act] = table.find(([keys]) => keys.includes(buttons[id]));
      element(id).title = `${words} (${shown})`;
      element(id).addEventListener("click", act);
    }
    const seek = ({ target }) => this.player.goTo(Number(target.value));
    element("scrub").addEventListener("input", seek);
  }
}

const told = JSON.parse(element("run").textContent);
const played = new Run(told);
if (told.beside) played.compareWith(new Run(told.beside));
new Page(played).start();
