// The table of jobs of two runs: how far each is, and which was done sooner, by how much.

const SAME_MS = 50; // less than this would be written as 0.0 s

class PairTable extends JobTable {
  constructor(run, view, choose) {
    super(run, view, choose);
    const heads = [run, run.beside].flatMap((each) => {
      const time = make("th", "number");
      time.append(make("span", "unspared", `${each.label}: `), "time");
      return [make("th", "spare", each.label), time];
    });
    const last = make("th", "number", "difference");
    const line = element("job-rows").closest("table").tHead.rows[0];
    line.replaceChildren(line.cells[0], ...heads, last);
    for (const head of [...heads, last]) head.scope = "col";
  }

  newCells() {
    const cells = {};
    for (const side of ["first", "second"]) {
      cells[`${side} progress`] = make("td", "spare");
      cells[`${side} time`] = make("td", "number");
    }
    cells.difference = make("td", "number");
    return cells;
  }

  bars(cells) {
    return ["first progress", "second progress"].map((name) => progressBar(cells[name]));
  }

  fill(row, found) {
    const place = this.run.beside.placeOfJob.get(found.job);
    const other = place === undefined ? null : this.run.beside.jobRow(place);
    const sides = [found, other];
    sides.forEach((side, at) => {
      const there = side !== null && side.standing !== NOT_YET;
      if (there) showProgress(row.bars[at], side);
      setText(row.cells[`${["first", "second"][at]} time`], there ? shortDuration(side.time) : "–");
    });
    const [text, mark] = difference(found, other);
    setText(row.cells.difference, text);
    row.cells.difference.className = classes("number", mark);
  }
}

/** By how much the second run has done a job sooner, once both have ended it. */
function difference(first, second) {
  if (!second || !first.over || !second.over) return ["", ""];
  const more = second.time - first.time;
  if (Math.abs(more) < SAME_MS) return ["=", "dim"];
  const text = `${more < 0 ? "−" : "+"}${shortDuration(Math.abs(more))}`;
  return [text, more < 0 ? "sooner" : "wrong"];
}
