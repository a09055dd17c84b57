// The keys: those of the terminal's screen, where the page can do the same.

/** Each key with what it does, in words and in deed. */
function keyTable({ player, run, view, chooseNext, choose, toggle, changeColours, changeTheme, help }) {
  return [
    [[" "], "space", "play, or pause", () => player.toggle()],
    [["+", "="], "+", "faster", () => player.faster(1)],
    [["-"], "-", "slower", () => player.faster(-1)],
    [["."], ".", "step to the next event", () => player.goTo(run.nextEvent())],
    [[","], ",", "step back by one event", () => player.goTo(run.eventBefore())],
    [["j"], "j", "to the next end of a job", () => player.goTo(timeAfter(run.ends, run.at))],
    [["J"], "J", "back to the end of a job before", () => player.goTo(timeBefore(run.ends, run.at))],
    [["m"], "m", "to the next mark: a fault, a lost node, a preemption", () => player.goTo(timeAfter(run.marks.at, run.at))],
    [["M"], "M", "back to the mark before", () => player.goTo(timeBefore(run.marks.at, run.at))],
    [["ArrowRight", "]"], "→ ]", "forward by a hundredth of the run", () => player.scrub(1)],
    [["ArrowLeft", "["], "← [", "back by a hundredth of the run", () => player.scrub(-1)],
    [["}"], "}", "forward by a tenth of the run", () => player.scrub(10)],
    [["{"], "{", "back by a tenth of the run", () => player.scrub(-10)],
    [["Home"], "home", "to the beginning", () => player.goTo(0)],
    [["End"], "end", "to the end", () => player.goTo(run.end)],
    [["ArrowDown"], "↓", "choose the next job", () => chooseNext(1)],
    [["ArrowUp"], "↑", "choose the job before", () => chooseNext(-1)],
    [["Escape"], "esc", "choose none", () => choose(null)],
    [["a"], "a", "also jobs that have left the system, or not", () => toggle("all-jobs")],
    [["e"], "e", "events: headlines, or also decisions", () => toggle("decisions")],
    [["C"], "C", "what the colours stand for", () => changeColours()],
    [["t"], "t", "dark or light", () => changeTheme()],
    [["?"], "?", "this list", () => help()],
  ];
}

/** Listen for the keys.  Where an element has a use of its own for a key, it keeps it. */
function listenForKeys(table) {
  const actions = new Map(table.flatMap(([keys, , , act]) => keys.map((key) => [key, act])));
  document.addEventListener("keydown", (event) => {
    const act = actions.get(event.key);
    if (!act || event.ctrlKey || event.altKey || event.metaKey || isTaken(event)) return;
    event.preventDefault();
    act();
  });
}

function isTaken({ key, target }) {
  if (element("help-page").open) return true;
  if (target instanceof HTMLSelectElement) return key !== "Escape";
  return key === " " && (target instanceof HTMLButtonElement || target.type === "checkbox");
}
