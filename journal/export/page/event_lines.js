// The events around the present, as sentences.

const LINES_BEFORE = 40;
const LINES_AFTER = 3;

class EventLines {
  constructor(run, view, seek) {
    this.run = run;
    this.view = view;
    this.seek = seek;
    this.shown = "";
  }

  /** Write all anew next time: the pane has another size. */
  forget() {
    this.shown = "";
  }

  show() {
    const { run, view } = this;
    const { past, future } = run.log.around(run.at, LINES_BEFORE, LINES_AFTER, view.level);
    const key = [past.at(-1), ...future, view.level, view.job].join();
    if (key === this.shown) return;
    this.shown = key;
    const lines = [...past, ...future].map((index) => this.line(index));
    element("log-lines").replaceChildren(...lines);
    this.scrollToPresent(lines[past.length - 1]);
  }

  /** Show the last line of the past, and below it some of what is to come. */
  scrollToPresent(line) {
    const room = element("log-lines").parentElement;
    if (line) room.scrollTop = line.offsetTop + line.offsetHeight - 0.75 * room.clientHeight;
  }

  line(index) {
    const { log, at } = this.run;
    const when = log.at[index];
    const mine = this.view.job !== null && log.job(index) === this.view.job;
    const names = [`mark-${log.mark(index)}`, when > at && "future", mine && "mine"];
    const item = make("li", classes(...names));
    item.classList.toggle("decision", log.level(index) !== HEADLINE);
    const button = make("button", "", clockTime(when));
    button.type = "button";
    button.addEventListener("click", () => this.seek(when));
    item.append(button, make("span", "", log.text(index)));
    return item;
  }
}
