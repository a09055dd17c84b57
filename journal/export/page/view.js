// What is chosen on the page.

class View {
  constructor(run) {
    this.run = run;
    this.job = null;
    this.allJobs = false;
    this.level = HEADLINE;
    this.colours = 0;
  }

  /** The number of a job's colour. */
  hue(job) {
    const { hues } = this.run.data.colours[this.colours];
    return Number(hues[this.run.placeOfJob.get(job)] ?? 0);
  }

  nextColours() {
    this.colours = (this.colours + 1) % this.run.data.colours.length;
    element("colours").value = String(this.colours);
  }

  /** The places of the jobs in the table: at the end of the run of all. */
  jobPlaces() {
    const all = this.allJobs || this.run.over;
    const places = this.run.jobPlaces(all);
    const { beside, placeOfJob } = this.run;
    if (!beside) return places;
    const others = beside.jobPlaces(all).map((place) => placeOfJob.get(beside.data.jobs.job[place]));
    const known = others.filter((place) => place !== undefined);
    return [...new Set([...places, ...known])].sort((a, b) => a - b);
  }

  /** The job so many rows on in the table. */
  neighbour(steps) {
    const jobs = this.jobPlaces().map((place) => this.run.data.jobs.job[place]);
    if (!jobs.length) return null;
    const at = jobs.indexOf(this.job);
    if (at < 0) return steps > 0 ? jobs[0] : jobs.at(-1);
    return jobs[Math.max(0, Math.min(at + steps, jobs.length - 1))];
  }

  /** What each colour stands for, where that is not a job. */
  legend() {
    return this.run.data.colours[this.colours].legend.map((word, hue) => {
      const item = make("li", `hue${hue}`);
      item.append(make("i", "swatch"), make("span", "", word));
      return item;
    });
  }
}
