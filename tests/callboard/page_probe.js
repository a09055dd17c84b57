// What a test adds to a page: it uses the page as a reader would, and writes down what it sees.

const seen = { errors: [], moments: {}, keys: {} };
addEventListener("error", (event) => seen.errors.push(event.message));
addEventListener("unhandledrejection", (event) => seen.errors.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => seen.errors.push(event.violatedDirective));
console.error = console.warn = (...words) => seen.errors.push(words.join(" "));

// A browser that draws for nobody has no pictures to ask for.
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
window.cancelAnimationFrame = clearTimeout;

// One reader wants no motion.
const told = (query) => ({ matches: query.includes("reduced-motion"), addEventListener() {} });
if (PAGE === "still") window.matchMedia = told;

const text = (id) => document.getElementById(id).textContent;
const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const press = (key, target = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

/** All that the page says of the present. */
function look() {
  const rows = [...document.querySelectorAll("#job-rows tr")];
  return {
    time: text("time"),
    status: text("status"),
    noJobs: text("no-jobs"),
    title: text("scenario"),
    figures: text("figures"),
    racks: texts("#racks li"),
    jobs: rows.map((row) => [...row.children].filter((cell) => !cell.querySelector(".bar")).map((cell) => cell.textContent)),
    log: texts("#log-lines li:not(.future) span"),
    detail: [text("detail-title"), texts("#facts dt"), texts("#facts dd")],
  };
}

/** What each slot says when the pointer is on it. */
function slots() {
  const canvas = document.getElementById("slot-map");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const found = new Set();
  for (let y = 2; y < height; y += 4) {
    for (let x = 2; x < width; x += 4) {
      canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y }));
      found.add(text("slot-text"));
    }
  }
  return [...found].filter(Boolean);
}

/** Go to a moment as a link does, and wait until the page has followed. */
async function goTo(ms) {
  const hash = `#t=${ms / 1000}`;
  if (location.hash === hash) return;
  const followed = new Promise((done) => addEventListener("hashchange", done, { once: true }));
  location.hash = hash;
  await followed;
}

async function visit(moments) {
  for (const ms of moments) {
    await goTo(ms);
    seen.moments[ms] = { ...look(), slots: slots() };
  }
}

async function useKeys(keys) {
  await goTo(0);
  for (const key of keys) {
    press(key);
    seen.keys[key] = [text("time"), text("status"), text("detail-title")];
  }
}

/** Play for a second of the page's time, and pause. */
async function play() {
  press("Home");
  press(" ");
  seen.playing = text("status");
  const times = new Set();
  for (let i = 0; i < 100; i++) {
    await pause(10);
    times.add(text("time"));
  }
  press(" ");
  seen.pictures = times.size;
  seen.played = [text("time"), text("status")];
}

addEventListener("load", async () => {
  await visit(MOMENTS);
  await useKeys(KEYS);
  await play();
  seen.images = document.images.length;
  seen.scripts = document.scripts.length;
  seen.wide = document.documentElement.scrollWidth - innerWidth;
  seen.width = innerWidth;
  seen.asked = performance.getEntriesByType("resource").length;
  const unnamed = [...document.querySelectorAll("button, select, input")];
  seen.unnamed = unnamed.filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length)).length;
  parent.postMessage({ page: PAGE, seen }, "*");
});
