// How times and shares are written: as on the terminal's screen.

/** To the nearest whole number, of two the even one: as Python rounds. */
function roundHalfEven(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}

const two = (number) => String(number).padStart(2, "0");

/** A moment to the nearest second: `00:07:30`, and from the second day on `1d 02:03:04`. */
function clockTime(ms) {
  return clockOf(roundHalfEven(ms / 1000));
}

function clockOf(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const time = [hours, Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  return days ? `${days}d ${time}` : time;
}

/** A moment to the millisecond: `00:07:30.250`. */
const clock = (ms) => `${clockOf(Math.floor(ms / 1000))}.${String(ms % 1000).padStart(3, "0")}`;

/** A moment on the axis, to the nearest second: `0:07:30`. */
function axisTime(ms) {
  const seconds = roundHalfEven(ms / 1000);
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** A length of time, rounded to the last unit that is told: `0.4s`, `59s`, `2m05s`, `3h07m`. */
function shortDuration(ms) {
  const [tenths, seconds, minutes, hours] = inUnits(ms, 100);
  if (tenths < 100) return `${Math.floor(tenths / 10)}.${tenths % 10}s`;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

/** The same at length: `59.999 s`, `2 min 05 s`, `3 h 07 min`, `2 d 04 h`. */
function duration(ms) {
  const [whole, seconds, minutes, hours] = inUnits(ms, 1);
  if (whole < 60_000) return `${Math.floor(whole / 1000)}.${String(whole % 1000).padStart(3, "0")} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

/** A length of time in its smallest unit of so many ms, in seconds, minutes, and hours. */
const inUnits = (ms, least) => [least, 1000, 60_000, 3_600_000].map((unit) => roundHalfEven(ms / unit));

/** The moment that `90`, `7:30` or `1:07:30` names, in ms; NaN for what is none. */
function parseTime(text) {
  const parts = text.split(":").map((part) => (/^\d+(\.\d+)?$/.test(part) ? Number(part) : NaN));
  return Math.round(1000 * parts.reduce((total, part) => 60 * total + part, 0));
}

/** A part of a whole; no part of nothing is 0%. */
const share = (part, whole) => `${roundHalfEven(100 * (part / Math.max(whole, 1)))}%`;
const grouped = (number) => number.toLocaleString("en-GB");
const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** A job as sentences name it: `job-12 “ads”`. */
const jobTitle = (number, name) => (name ? `job-${number} “${name}”` : `job-${number}`);
