// The address says the moment and the job, so that it can be kept: `#t=7:30&job=3`.

const KEEP_MS = 400;

class Address {
  constructor(run, view, player) {
    this.run = run;
    this.view = view;
    this.player = player;
    this.timer = 0;
  }

  /** Go where the address says, and tell `show`. */
  follow(show) {
    const told = new URLSearchParams(location.hash.slice(1));
    const job = Number(told.get("job") ?? NaN);
    this.view.job = this.run.placeOfJob.has(job) ? job : null;
    const at = parseTime(told.get("t") ?? "0");
    this.player.moveTo(Number.isFinite(at) ? at : 0);
    show();
    if (told.has("play")) this.player.play();
  }

  /** Write down where the page is, once it stands still. */
  keep() {
    clearTimeout(this.timer);
    if (this.player.playing) return;
    this.timer = setTimeout(() => history.replaceState(null, "", this.now()), KEEP_MS);
  }

  now() {
    const job = this.view.job === null ? "" : `&job=${this.view.job}`;
    return `#t=${this.run.at / 1000}${job}`;
  }
}
