// Elements of the page.  Text is only ever set as text: names are a stranger's.

const element = (id) => document.getElementById(id);

/** A new element with a class and a text. */
function make(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Put these children, in this order, into the parent, moving as few as can be. */
function arrange(parent, children) {
  children.forEach((child, place) => {
    const there = parent.children[place] ?? null;
    if (there !== child) parent.insertBefore(child, there);
  });
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

/** The names of classes that there are. */
const classes = (...names) => names.filter(Boolean).join(" ");

/** Facts as a list of names and what they are. */
function factList(target, facts) {
  target.replaceChildren();
  for (const [name, text] of facts) target.append(make("dt", "", name), make("dd", "", text));
}

/** The colours in force, by name. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ground", "raised", "text", "dim", "faint", "edge", "fault", "gone", "warning"];
  const found = Object.fromEntries(names.map((name) => [name, colour(name)]));
  found.jobs = [0, 1, 2, 3, 4, 5].map((hue) => colour(`job${hue}`));
  return found;
}
