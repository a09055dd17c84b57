// How times and shares are written: as on the terminal's screen.

/** To the nearest whole number, of two the even one: as Python rounds. */
function roundHalfEven(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}

const two = (number) => String(number).padStart(2, "0");

/** A moment to the second: `00:07:30`, and from the second day on `1d 02:03:04`. */
function clockTime(ms) {
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const time = [hours, Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  return days ? `${days}d ${time}` : time;
}

/** A moment to the millisecond: `00:07:30.250`. */
const clock = (ms) => `${clockTime(ms)}.${String(ms % 1000).padStart(3, "0")}`;

/** A moment on the axis: `0:07:30`. */
function axisTime(ms) {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** A length of time: `0.4s`, `59s`, `2m05s`, `3h07m`, `2d04h`. */
function shortDuration(ms) {
  const seconds = Math.floor(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (seconds < 10) return `${(ms % 1000 === 250 ? seconds + 0.2 : ms / 1000).toFixed(1)}s`;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${minutes}m${two(seconds % 60)}s`;
  if (seconds < 86400) return `${hours}h${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

/** A length of time: `59.999 s`, `2 min 05 s`, `3 h 07 min`, `2 d 04 h`; what is smaller is cut. */
function duration(ms) {
  const seconds = Math.floor(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (seconds < 60) return `${seconds}.${String(ms % 1000).padStart(3, "0")} s`;
  if (seconds < 3600) return `${minutes} min ${two(seconds % 60)} s`;
  if (seconds < 86400) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

/** A mean, or another figure of many: `2 min 09 s` for 128.6 s. */
function roundedDuration(ms) {
  return duration(ms >= 60_000 ? 1000 * roundHalfEven(ms / 1000) : roundHalfEven(ms));
}

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
