// What each slot did, with one window of time over all runs: [from, to] in ms.
const data = JSON.parse(document.getElementById("data").textContent);
const LABELS = 70, AXIS = 22, LEAST_MS = 1000;
const end = Math.max(...data.runs.map(run => run.end_ms), 1);
let from = 0, to = end, drag = null;

const told = document.getElementById("told");
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);
const pad = number => String(number).padStart(2, "0");

function clock(ms) {
  const s = Math.round(ms / 1000);
  return `${Math.floor(s / 3600)}:${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
}

// Rows: a slot each, tall enough to be seen, and not so many pixels that no canvas holds them.
const rowHeight = run => Math.max(2, Math.min(14, Math.floor(700 / run.rows)));

const views = data.runs.map(run => {
  const head = document.createElement("h2"), canvas = document.createElement("canvas");
  head.textContent = run.label;
  canvas.style.height = `${run.rows * rowHeight(run) + AXIS}px`;
  document.getElementById("runs").append(head, canvas);
  return { run, canvas };
});

const signs = [...data.groups];
if (data.runs.some(run => run.lost.includes(1))) signs.push(["failed, killed or lost: pale, with a line around", "none"]);
if (data.runs.some(run => run.down.length)) signs.push(["node down", "var(--raised)"]);
for (const [name, fill] of signs) {
  const item = document.createElement("li");
  item.textContent = name;
  item.style.setProperty("--of", fill);
  document.getElementById("legend").append(item);
}

function across(canvas) {
  const wide = canvas.clientWidth - LABELS;
  return ms => LABELS + wide * (ms - from) / (to - from);
}

function drawAxis(pen, run, wide, x) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  const room = (to - from) / 1000 / Math.max(wide / 90, 1);
  const step = 1000 * (steps.find(each => each >= room) || Math.ceil(room / 86400) * 86400);
  const foot = run.rows * rowHeight(run);
  pen.fillStyle = colour("--dim");
  pen.textAlign = "center";
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    pen.fillRect(x(at), 0, .5, foot + 4);
    const told = clock(at), half = pen.measureText(told).width / 2;
    pen.fillText(told, Math.min(Math.max(x(at), x(from) + half), x(to) - half), foot + 16);
  }
}

function drawNodes(pen, run) {
  const high = rowHeight(run);
  pen.textAlign = "left";
  let free = 0;
  run.first.slice(0, -1).forEach((row, node) => {
    pen.fillStyle = colour("--edge");
    pen.fillRect(0, row * high, 9999, .5);
    const y = (row + run.first[node + 1]) / 2 * high;
    if (y - 6 < free) return;
    pen.fillStyle = colour("--dim");
    pen.fillText(`node-${node}`, 0, y + 4);
    free = y + 7;
  });
}

function drawBars(pen, run, x) {
  const high = rowHeight(run), bar = Math.max(high - (high > 4 ? 1.5 : .3), 1);
  pen.fillStyle = colour("--raised");
  for (const [row, rows, began, ended] of run.down)
    pen.fillRect(x(began), row * high, x(ended) - x(began), rows * high);
  for (let at = 0; at < run.row.length; at++) {
    const began = run.began_ms[at], ended = began + run.lasted_ms[at];
    if (ended < from || began > to) continue;
    const left = x(began), wide = Math.max(x(ended) - left, .6), top = run.row[at] * high;
    pen.fillStyle = data.groups[run.group[at]][1];
    pen.globalAlpha = run.lost[at] ? .35 : 1;
    pen.fillRect(left, top, wide, bar);
    pen.globalAlpha = 1;
    if (run.lost[at] && wide > 3) {
      pen.strokeStyle = colour("--fault");
      pen.strokeRect(left + .5, top + .5, wide - 1, Math.max(bar - 1, 1));
    }
  }
}

function drawRun({ run, canvas }) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const pen = canvas.getContext("2d"), x = across(canvas);
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  drawNodes(pen, run);
  pen.save();
  pen.beginPath();
  pen.rect(LABELS, 0, canvas.clientWidth - LABELS, canvas.clientHeight);
  pen.clip();
  drawBars(pen, run, x);
  drawAxis(pen, run, canvas.clientWidth - LABELS, x);
  pen.restore();
}

let asked = 0;
function redraw() {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(() => views.forEach(drawRun));
}

function show(begin, until) {
  const length = Math.min(Math.max(until - begin, LEAST_MS), end);
  from = Math.min(Math.max(begin, 0), end - length);
  to = from + length;
  redraw();
}

function zoom(factor, at = (from + to) / 2) {
  show(at - (at - from) * factor, at + (to - at) * factor);
}

const timeAt = (canvas, x) =>
  from + (to - from) * (x - LABELS) / Math.max(canvas.clientWidth - LABELS, 1);

function attemptAt({ run, canvas }, event) {
  const box = canvas.getBoundingClientRect(), ms = timeAt(canvas, event.clientX - box.left);
  const row = Math.floor((event.clientY - box.top) / rowHeight(run));
  for (let at = run.row.length - 1; at >= 0; at--)
    if (run.row[at] === row && run.began_ms[at] <= ms && ms <= run.began_ms[at] + run.lasted_ms[at])
      return at;
  return -1;
}

function tell(run, at) {
  if (at < 0) return "\u00a0";
  const row = run.row[at], node = run.first.findIndex((_, n) => run.first[n + 1] > row);
  const began = run.began_ms[at], lasted = run.lasted_ms[at];
  const what = `${run.kind[at] ? "reduce" : "map"} ${run.task[at]} of ${run.jobs[run.job[at]]}`;
  const when = `${clock(began)} to ${clock(began + lasted)}, ${(lasted / 1000).toFixed(1)} s`;
  return `${what} on node-${node}, ${when}${run.lost[at] ? ", failed, killed or lost" : ""}`;
}

for (const view of views) {
  const { run, canvas } = view;
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const x = event.clientX - canvas.getBoundingClientRect().left;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (to - from) * Math.sign(event.deltaX || event.deltaY) / 12;
      show(from + by, to + by);
    } else zoom(event.deltaY > 0 ? 1.25 : .8, timeAt(canvas, x));
  }, { passive: false });
  canvas.addEventListener("pointerdown", event => {
    drag = { x: event.clientX, from, to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (drag) {
      const by = (drag.to - drag.from) * (drag.x - event.clientX) / (canvas.clientWidth - LABELS);
      show(drag.from + by, drag.to + by);
    } else told.textContent = tell(run, attemptAt(view, event));
  });
  for (const over of ["pointerup", "pointercancel"])
    canvas.addEventListener(over, () => { drag = null; });
  canvas.addEventListener("dblclick", () => show(0, end));
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const by = (to - from) / 8;
  const deeds = {
    "+": () => zoom(.6), "=": () => zoom(.6), "-": () => zoom(1.6), "0": () => show(0, end),
    ArrowLeft: () => show(from - by, to - by), ArrowRight: () => show(from + by, to + by),
  };
  if (!(event.key in deeds)) return;
  event.preventDefault();
  deeds[event.key]();
});
window.addEventListener("resize", redraw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
const asks = /^#t=(\d+)-(\d+)$/.exec(location.hash);
if (asks) show(1000 * asks[1], 1000 * asks[2]); else redraw();
