// Whether time passes, and how fast.

const STEP_MS = 500; // between two pictures, for who wants no motion

class Player {
  constructor(run, speeds, show) {
    this.run = run;
    this.speeds = speeds;
    this.show = show;
    this.playing = false;
    this.part = 0;
    this.speed = this.fittingSpeed();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** The speed at which the whole run takes a minute and a half or less. */
  fittingSpeed() {
    return this.speeds.find((speed) => speed * 90_000 >= this.run.end) ?? this.speeds.at(-1);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.run.over) this.run.seek(0);
    this.playing = true;
    this.last = undefined;
    this.part = this.run.at;
    this.ask();
    this.show();
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.asked);
    this.show();
  }

  /** Ask for the next picture. */
  ask() {
    this.asked = requestAnimationFrame((now) => this.frame(now));
  }

  /** Let the time pass since the last picture. */
  frame(now) {
    const passed = now - (this.last ?? now);
    if (!this.still.matches || passed >= STEP_MS || this.last === undefined) {
      this.last = now;
      this.part += passed * this.speed;
      this.run.seek(this.part);
      if (this.run.over) this.playing = false;
      this.show();
    }
    if (this.playing) this.ask();
  }

  /** Be at a moment. */
  moveTo(at) {
    this.run.seek(at);
    this.part = this.run.at;
  }

  /** Go to a moment, and show it; what is none changes nothing. */
  goTo(at) {
    if (!Number.isFinite(at)) return;
    this.moveTo(at);
    this.show();
  }

  /** Go on by hundredths of the run, or back. */
  scrub(hundredths) {
    this.goTo(this.run.at + hundredths * Math.max(Math.floor(this.run.end / 100), 1));
  }

  faster(steps) {
    const at = this.speeds.indexOf(this.speed) + steps;
    this.speed = this.speeds[Math.max(0, Math.min(at, this.speeds.length - 1))];
    this.show();
  }
}
