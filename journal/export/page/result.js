// The result of a run that is over, or of two: the figure that counts, and what it means.

class Result {
  constructor(run) {
    this.run = run;
    const [figure, sentences] = run.data.headline ?? ["", []];
    setText(element("result-figure"), figure.replace("-", "−"));
    const lines = sentences.map((sentence) => make("p", "", sentence));
    element("result-sentences").replaceChildren(...lines);
  }

  show() {
    const { over } = this.run;
    element("app").classList.toggle("over", over);
    element("result").hidden = !(over && this.run.data.headline);
  }
}
