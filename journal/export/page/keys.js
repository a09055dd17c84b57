// The keys: those of the terminal's screen, where the page can do the same.

/** Each key: as a browser calls it, as people do, what it does, in words and in deed. */
function keyTable(page) {
  const { player, run, view } = page;
  const seek = (at) => player.goTo(at);
  return [
    [[" "], "space", "play, or pause", () => player.toggle()],
    [["+", "="], "+", "faster", () => player.faster(1)],
    [["-"], "-", "slower", () => player.faster(-1)],
    [["."], ".", "step to the next event", () => seek(run.nextEvent())],
    [[","], ",", "step back by one event", () => seek(run.eventBefore())],
    [["j"], "j", "to the next end of a job", () => seek(timeAfter(run.ends, run.at))],
    [["J"], "J", "back to the end of a job before", () => seek(timeBefore(run.ends, run.at))],
    [["m"], "m", "to the next mark", () => seek(timeAfter(run.marks.at, run.at))],
    [["M"], "M", "back to the mark before", () => seek(timeBefore(run.marks.at, run.at))],
    [["ArrowRight", "]"], "→ ]", "forward by a hundredth of the run", () => player.scrub(1)],
    [["ArrowLeft", "["], "← [", "back by a hundredth of the run", () => player.scrub(-1)],
    [["}"], "}", "forward by a tenth of the run", () => player.scrub(10)],
    [["{"], "{", "back by a tenth of the run", () => player.scrub(-10)],
    [["Home"], "home", "to the beginning", () => seek(0)],
    [["End"], "end", "to the end", () => seek(run.end)],
    [["ArrowDown"], "↓", "choose the next job", () => page.choose(view.neighbour(1))],
    [["ArrowUp"], "↑", "choose the job before", () => page.choose(view.neighbour(-1))],
    [["Escape"], "esc", "choose none", () => page.choose(null)],
    [["a"], "a", "also jobs that have left the system, or not", () => element("all-jobs").click()],
    [["e"], "e", "events: headlines, or also decisions", () => element("decisions").click()],
    [["C"], "C", "what the colours stand for", () => page.changeColours()],
    [["t"], "t", "dark or light", () => page.changeTheme()],
    [["?"], "?", "this list", () => element("help-page").showModal()],
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

/** The keys, and the signs that the legend has not. */
function fillHelp(table, [, preemption, returned, lost, fault]) {
  factList(element("keys"), table.map(([, shown, words]) => [shown, words]));
  factList(element("signs"), [
    [fault, "on the time axis: a fault"],
    [lost, "there: a node that the master gives up for lost"],
    [returned, "there: a node that joins again"],
    [preemption, "there: a preemption"],
    ["× ‖ ≠ ~ ⊘", "beside a node: down, paused, its link disturbed, slow, out of service"],
    ["?", "beside a node: it is up, and the master has given it up for lost"],
    ["1 2 3 …", "after a node's slots: that many suspended attempts in its memory"],
    ["N R O", "on a card: a node-local, rack-local or off-rack map"],
  ]);
}
