// Figures over the whole run, which are its time axis too: a click goes to that moment.

const SVG = "http://www.w3.org/2000/svg";
const HIGH = 100;
const NICE_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const TICK_PX = 76;
const MARK_PX = 10;

const percent = (value) => share(value, 1);
const whole = (value) => grouped(roundHalfEven(value));
const busyShare = (kind) => (totals) => totals.busy[kind] / Math.max(totals.slots[kind], 1);

/** Each has a name, one figure or two, how a value is written, and its value now with the place of
 * its peak, without which it is the sum so far; some the end of their scale, and one is there even
 * if it is zero all along. */
const CHARTS = [
  { name: "maps busy", of: ["maps"], most: 1, write: percent, now: busyShare(0), peak: 0 },
  { name: "reduces busy", of: ["reduces"], most: 1, write: percent, now: busyShare(1), peak: 1 },
  { name: "jobs in system", of: ["jobs", "waiting"], write: whole, now: (t) => t.live, peak: 2,
    always: 1 },
  { name: "wasted", of: ["wasted"], write: (value) => `${whole(value)} min` },
];

/** A chart's value at a part of the run, from 0 to 1. */
function valueAt(chart, values, part, totals) {
  if (chart.now) return chart.now(totals);
  const column = Math.min(Math.floor(part * values.length), values.length - 1);
  return values.slice(0, column + 1).reduce((sum, value) => sum + value, 0);
}

class Charts {
  constructor(run, seek, seekMark) {
    this.run = run;
    this.room = element("chart-rows");
    this.axis = element("axis");
    const tells = ({ of, always }) => always || run.data.charts[of[0]].some((value) => value > 0);
    this.rows = CHARTS.filter(tells).map((chart) => this.row(chart));
    this.room.append(...this.rows.map(({ line }) => line));
    this.room.addEventListener("pointerdown", (event) => this.drag(event, seek));
    this.room.addEventListener("pointermove", (event) => event.buttons && this.drag(event, seek));
    element("marks").addEventListener("click", (event) => {
      seekMark(this.moment(event, element("marks")) - run.end / 100);
    });
  }

  row(chart) {
    const { run } = this;
    const values = chart.of.map((name) => run.data.charts[name]);
    const other = run.beside?.data.charts[chart.of[0]] ?? [];
    const most = chart.most ?? Math.max(1e-9, ...values[0], ...other);
    const line = make("div", "chart");
    const label = make("div", "label");
    const text = make("b");
    const key = chart.of.includes("waiting") ? make("i", "", "waiting") : "";
    label.append(make("span", "", chart.name), text, run.beside ? "" : key);
    const plot = make("div", "plot");
    plot.append(area(run.beside ? values.slice(0, 1) : values, most, chart.of, run.ownEnd / run.end));
    if (run.beside) plot.append(lineOf(other, most, run.beside.ownEnd / run.end));
    line.append(label, plot);
    return { chart, line, text, values: values[0], other };
  }

  /** The moment under the pointer. */
  moment(event, plot) {
    const bounds = plot.getBoundingClientRect();
    return (this.run.end * (event.clientX - bounds.left)) / Math.max(bounds.width, 1);
  }

  drag(event, seek) {
    const plot = event.target.closest(".plot");
    if (plot) seek(this.moment(event, plot));
  }

  /** Each chart's value now, and its most. */
  show(totals) {
    const { at, end } = this.run;
    const now = end ? at / end : 0;
    this.room.style.setProperty("--now", now);
    if (this.run.beside) {
      this.showBoth(now, totals);
      return;
    }
    const { peaks } = this.run.data.charts;
    for (const { chart, text, values } of this.rows) {
      const value = chart.write(valueAt(chart, values, now, totals));
      setText(text, chart.now ? `${value}, max ${chart.write(peaks[chart.peak])}` : `${value} so far`);
    }
  }

  /** Of two runs the value of each, without its most. */
  showBoth(now, totals) {
    const { run } = this;
    const sides = [[run, totals], [run.beside, run.beside.totals()]];
    for (const { chart, text, values, other } of this.rows) {
      const told = sides.map(([side, figures], place) => {
        const part = Math.min((now * run.end) / Math.max(side.ownEnd, 1), 1);
        const value = valueAt(chart, [values, other][place], part, figures);
        return `${place ? "line: " : ""}${side.label} ${chart.write(value)}`;
      });
      setText(text, told.join(", "));
    }
  }

  /** The marks and the axis, for another width. */
  fit() {
    const width = element("ticks").clientWidth;
    const places = Math.max(1, Math.floor(width / MARK_PX));
    element("marks").replaceChildren(...this.signs(places));
    element("ticks").replaceChildren(...this.ticks(width));
  }

  /** The highest mark of each place. */
  signs(places) {
    const { at, kind } = this.run.marks;
    const highest = new Map();
    for (let i = 0; i < at.length; i++) {
      const place = Math.min(Math.floor((at[i] * places) / Math.max(this.run.end, 1)), places - 1);
      highest.set(place, Math.max(highest.get(place) ?? 0, Number(kind[i])));
    }
    return [...highest].map(([place, mark]) => {
      const sign = make("span", `mark-${mark}`, this.run.data.words.marks[mark]);
      sign.style.left = `${(100 * (place + 0.5)) / places}%`;
      return sign;
    });
  }

  ticks(width) {
    const end = Math.max(this.run.end, 1);
    const least = (end * TICK_PX) / Math.max(width, 1); // between two of them
    const day = 1000 * NICE_S.at(-1);
    const nice = NICE_S.find((seconds) => 1000 * seconds >= least);
    const step = nice ? 1000 * nice : day * Math.ceil(least / day);
    const found = [];
    for (let ms = 0; ms < end - 1.6 * least; ms += step) found.push(this.tick(ms, ms / end));
    const last = this.tick(this.run.end, 1);
    last.className = "last";
    return [...found, last];
  }

  tick(ms, part) {
    const made = make("span", "", axisTime(ms));
    made.style.left = `${100 * part}%`;
    return made;
  }
}

/** One or two figures as areas, one before the other, over `part` of the width. */
function area(values, most, names, part = 1) {
  const shapes = values.map((each) => `M0,${HIGH}${stepsOf(each, most, part)}V${HIGH}Z`);
  return drawing(values[0].length, shapes, (place) => `of-${names[place]}`);
}

/** The figure of the run beside, as a line. */
function lineOf(values, most, part) {
  const steps = stepsOf(values, most, part).replace("L", "M");
  return drawing(values.length, [steps], () => "beside");
}

function drawing(width, shapes, classOf) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("aria-hidden", "true");
  shapes.forEach((shape, place) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", shape);
    path.setAttribute("class", classOf(place));
    picture.append(path);
  });
  return picture;
}

function stepsOf(values, most, part) {
  const points = values.map((value, x) => {
    const y = (HIGH * (1 - Math.min(value / most, 1))).toFixed(1);
    return `L${(x * part).toFixed(2)},${y}H${((x + 1) * part).toFixed(2)}`;
  });
  return points.join("");
}
