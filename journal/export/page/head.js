// The first line: what is played, when it is, and the cluster in figures.

class Head {
  constructor(run, player) {
    this.run = run;
    this.player = player;
    setText(element("scenario"), run.data.name);
  }

  show(totals) {
    const { run, player } = this;
    const [, policy, paused] = run.policy;
    const other = run.beside ? ` and under ${run.beside.policy[1]}` : "";
    setText(element("policy"), `under ${policy}${other}`);
    setText(element("time"), clock(run.at));
    setText(element("status"), this.status());
    setText(element("totals"), this.told(totals).join(" · "));
    setText(element("trouble"), troubles(totals, paused).join(" · "));
    setText(element("play"), player.playing ? "‖ pause" : "▶ play");
    element("scrub").value = run.at;
    element("scrub").setAttribute("aria-valuetext", clockTime(run.at));
    element("speed").value = String(player.speed);
  }

  status() {
    const { run, player } = this;
    if (player.playing) return `playing ×${player.speed}`;
    if (!run.over) return "paused";
    return run.beside ? "both runs are over" : run.data.words.ending;
  }

  /** The run in figures; of two, how many jobs each still has. */
  told(totals) {
    const { run } = this;
    if (!run.beside) return this.figures(totals);
    const system = (each, { live }) => `${each.label}: ${plural(live, "job")} in the system`;
    return [`seed ${run.data.seed}`, system(run, totals), system(run.beside, run.beside.totals())];
  }

  figures({ live, submitted, busy, slots }) {
    const [maps, reduces] = busy.map((count, kind) => share(count, slots[kind]));
    const system = `${live} of ${plural(submitted, "job")} in the system`;
    return [`seed ${this.run.data.seed}`, system, `maps ${maps} reduces ${reduces}`];
  }
}

/** What is wrong with the cluster. */
function troubles({ down, lost }, paused) {
  const nodes = down || lost ? [`${down} down, ${lost} given up`] : [];
  return paused ? [...nodes, "the master is paused"] : nodes;
}
