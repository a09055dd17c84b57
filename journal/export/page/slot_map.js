// The slot map: only what has changed since the last picture is drawn again.

const PARTS = 20; // in how many steps a bar grows
const SCROLLBAR = 16;
const PANE_EDGES = 55; // its heading and what is between its parts
const NAME_MOST = 24; // letters of a name on a card

class SlotMap {
  /** `which` ends the names of its elements: there may be two maps. */
  constructor(run, view, choose, which = "") {
    this.run = run;
    this.view = view;
    this.canvas = element(`slot-map${which}`);
    this.pen = this.canvas.getContext("2d");
    this.room = element(`slot-room${which}`);
    this.heightPart = which || run.beside ? 0.35 : 0.6; // of a phone
    this.text = element(`slot-text${which}`);
    this.pointed = -1;
    this.racks = run.racks.map(() => make("li"));
    element(`racks${which}`).append(...this.racks);
    this.canvas.addEventListener("pointermove", (event) => this.point(this.under(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("click", (event) => this.click(this.under(event), choose));
  }

  /** Whether the room has its own height, and scrolls; on a phone the page does. */
  scrolls() {
    return getComputedStyle(this.room).overflowY === "auto";
  }

  /** Take no room until the next layout: a scrollbar of the last one would be measured, too. */
  fold() {
    this.top = this.room.scrollTop;
    if (this.scrolls()) this.canvas.style.width = this.canvas.style.height = "0";
  }

  /** The height of the pane with all slots in their largest cells. */
  wanted() {
    const { height } = layOutSlots(this.run, this.room.clientWidth, Infinity);
    return height + this.text.offsetHeight + element("legend").offsetHeight + PANE_EDGES;
  }

  /** Whether the cells are large in the room that there is. */
  isLarge() {
    const { size } = layOutSlots(this.run, this.room.clientWidth, this.room.clientHeight);
    return size.w >= (this.run.nodes <= CARD_NODES ? CARDS : CELLS)[1].w;
  }

  /** The room for the slots: that of the pane, or a part of a phone's height. */
  space() {
    const scrolls = this.scrolls();
    const height = scrolls ? this.room.clientHeight : innerHeight * this.heightPart;
    return { width: this.room.clientWidth, height, scrolls };
  }

  /** Lay out anew, for another room or other colours. */
  fit({ width, height, scrolls }) {
    this.layout = layOutSlots(this.run, width, height);
    if (scrolls && this.layout.height > height) {
      this.layout = layOutSlots(this.run, width - SCROLLBAR, height);
    }
    this.colours = palette();
    const scale = Math.min(devicePixelRatio || 1, 30_000 / Math.max(this.layout.height, 1));
    this.canvas.width = Math.round(this.layout.width * scale);
    this.canvas.height = Math.round(this.layout.height * scale);
    this.canvas.style.width = `${this.layout.width}px`;
    this.canvas.style.height = `${this.layout.height}px`;
    this.room.scrollTop = this.top;
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.forget();
    this.draw();
  }

  /** Draw all anew next time. */
  forget() {
    this.drawnSlots = new Int32Array(this.run.slots).fill(-1);
    this.drawnEntries = new Int32Array(this.run.slots);
    this.drawnNodes = new Int32Array(this.run.nodes).fill(-1);
    this.drawnHeads = [];
  }

  draw() {
    for (let slot = 0; slot < this.run.slots; slot++) this.drawSlot(slot);
    for (let node = 0; node < this.run.nodes; node++) this.drawNode(node);
    this.layout.racks.forEach(({ rack, y }, place) => this.drawHead(rack, y, place));
    if (this.pointed >= 0) setText(this.text, this.run.slotText(this.pointed));
  }

  drawSlot(slot) {
    const { slotTrack, nodeTrack, nodeOf } = this.run;
    const state = slotTrack.stateOf(slot);
    const entry = slotTrack.heldBy(slot);
    const off = nodeTrack.get(nodeOf[slot], NODE.off);
    const parts = state === IDLE ? 0 : this.partsOver(entry);
    const job = entry < 0 ? -1 : slotTrack.job[entry];
    const quiet = this.view.job !== null && job !== this.view.job ? 1 : 0;
    const hue = entry < 0 ? 0 : this.view.hue(job);
    const code = (((state * 2 + off) * 2 + quiet) * 6 + hue) * (PARTS + 1) + parts;
    if (this.drawnSlots[slot] === code && this.drawnEntries[slot] === entry) return;
    this.drawnSlots[slot] = code;
    this.drawnEntries[slot] = entry;
    const box = this.layout.slots[slot];
    this.wipe(box.x - 1, box.y - 1, box.w + 2, box.h + 2);
    const colour = quiet ? this.colours.faint : this.colours.jobs[hue];
    const look = { state, off, colour, over: parts / PARTS, words: this.words(slot, entry) };
    drawCell(this.pen, box, look, this.colours);
  }

  /** How many of its steps a slot's attempt has done; all where nobody knows when it ends. */
  partsOver(entry) {
    const { began, ended } = this.run.slotTrack;
    if (this.layout.size.w < ROOM_FOR_BAR || !Number.isFinite(ended[entry])) return PARTS;
    const spent = (this.run.at - began[entry]) / Math.max(ended[entry] - began[entry], 1);
    return Math.min(Math.floor(spent * PARTS), PARTS);
  }

  /** What a card says. */
  words(slot, entry) {
    if (this.layout.size.w < ROOM_FOR_TEXT || entry < 0) return ["", ""];
    const { job, task, level } = this.run.slotTrack;
    const name = this.run.data.jobs.name[this.run.placeOfJob.get(job[entry])];
    const kind = this.run.isReduce[slot] ? "reduce" : "map";
    const near = ["N", "R", "O", ""][level[entry]];
    return [`${job[entry]} ${name.slice(0, NAME_MOST)}`, `${kind} ${task[entry]} ${near}`.trim()];
  }

  /** A node's number, its sign, and how many suspended attempts it keeps. */
  drawNode(node) {
    const get = (column) => this.run.nodeTrack.get(node, column);
    const code = (get(NODE.sign) * 2 + get(NODE.wrong)) * 256 + get(NODE.suspended);
    if (this.drawnNodes[node] === code) return;
    this.drawnNodes[node] = code;
    const { x, y, end } = this.layout.nodes[node];
    const { label, size } = this.layout;
    const sign = this.run.data.words.node_signs[get(NODE.sign)].trim();
    this.wipe(x, y - 1, label - 2, size.h + 2);
    this.wipe(end, y - 1, tailOf(size) - 4, size.h + 2);
    this.pen.textBaseline = "middle";
    this.pen.textAlign = "right";
    this.pen.font = `${get(NODE.wrong) ? 700 : 400} 12px system-ui, sans-serif`;
    const { fault, text, dim } = this.colours;
    this.pen.fillStyle = get(NODE.wrong) ? fault : sign ? text : dim;
    const number = size.w >= 9 ? String(node) : "";
    this.pen.fillText(number, x + label - 16, y + size.h / 2 + 0.5);
    this.pen.fillText(sign, x + label - 4, y + size.h / 2 + 0.5);
    this.drawSuspended(get(NODE.suspended), end, y, size);
  }

  drawSuspended(count, x, y, size) {
    if (!count || size.w < ROOM_FOR_SHAPE) return;
    this.pen.textAlign = "left";
    this.pen.font = "700 10px system-ui, sans-serif";
    this.pen.fillStyle = this.colours.warning;
    this.pen.fillText(String(count), x, y + Math.min(size.h / 2, 8));
  }

  /** A rack in figures, over its nodes. */
  drawHead(rack, y, place) {
    const found = this.run.rackTotals(rack);
    const troubles = [
      found.down ? `${found.down} down` : "",
      found.lost ? `${found.lost} given up` : "",
      found.unaware ? `${this.run.data.words.keeper} unaware of ${found.unaware}` : "",
    ].filter(Boolean);
    const busy = `${found.busy}/${found.slots} busy`;
    const text = [busy, ...troubles].join(", ");
    if (this.drawnHeads[place] === text) return;
    this.drawnHeads[place] = text;
    setText(this.racks[place], `rack-${rack}: ${text}`);
    this.wipe(0, y, this.layout.width, HEAD - 2);
    this.writeHead(`rack-${rack}`, text, y, found.unaware > 0);
  }

  writeHead(name, text, y, wrong) {
    const { pen, colours } = this;
    pen.textBaseline = "middle";
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillStyle = colours.dim;
    pen.fillText(name, 0, y + 9);
    const left = pen.measureText(name).width + 10;
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = wrong ? colours.fault : colours.dim;
    pen.fillText(text, left, y + 9);
    const rule = left + pen.measureText(text).width + 10;
    pen.fillStyle = colours.edge;
    pen.fillRect(rule, y + 9, Math.max(this.layout.width - rule, 0), 1);
  }

  wipe(x, y, w, h) {
    this.pen.clearRect(x, y, w, h);
  }

  // Pointing.

  under(event) {
    const bounds = this.canvas.getBoundingClientRect();
    return slotAt(this.layout, event.clientX - bounds.left, event.clientY - bounds.top);
  }

  point(slot) {
    this.pointed = slot;
    setText(this.text, slot < 0 ? "" : this.run.slotText(slot));
  }

  click(slot, choose) {
    this.point(slot);
    const entry = slot < 0 ? -1 : this.run.slotTrack.heldBy(slot);
    choose(entry < 0 ? null : this.run.slotTrack.job[entry]);
  }
}

/** What the tiles mean, with a tile before each word. */
function slotLegend(words, colours) {
  const states = [MAP, SHUFFLE, REDUCE, COPY, GHOST, ORPHAN, IDLE];
  return states.map((state) => {
    const item = make("li");
    const canvas = make("canvas");
    canvas.width = canvas.height = 28;
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    const look = { state, off: state === IDLE, colour: colours.dim, over: 1, words: ["", ""] };
    drawCell(pen, { x: 0, y: 0, w: 14, h: 14 }, look, colours);
    item.append(canvas, make("span", "", state === IDLE ? "node down" : words.slots[state]));
    return item;
  });
}
