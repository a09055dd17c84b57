// One slot, drawn: a tile in its job's colour, and how far its attempt is.  Whatever a colour says
// a shape says too, where there is room for one.

const MAP = 1;
const SHUFFLE = 2;
const REDUCE = 3;
const COPY = 4;
const ORPHAN = 6;
const ROOM_FOR_SHAPE = 7;
const ROOM_FOR_BAR = 14;
const ROOM_FOR_TEXT = 60;
const CARD_SHAPE = 0.45; // of a card's height

/** Draw a slot into its box.  A look has the state, whether its node is off, the colour, how much
 * of its time is over (1 if unknown), and the words of a card. */
function drawCell(pen, box, look, colours) {
  if (look.state === IDLE) drawEmpty(pen, box, look, colours);
  else if (look.state === GHOST || look.state === ORPHAN) drawHollow(pen, box, look, colours);
  else drawTile(pen, box, look, colours);
}

function drawEmpty(pen, box, look, colours) {
  if (look.off) {
    drawCross(pen, box, colours.gone);
    return;
  }
  if (box.w < ROOM_FOR_SHAPE) {
    pen.fillStyle = colours.raised;
    pen.fillRect(box.x, box.y, box.w, box.h);
    return;
  }
  outline(pen, box, colours.edge, 1);
}

function drawHollow(pen, box, look, colours) {
  const colour = look.state === ORPHAN ? colours.fault : look.colour;
  outline(pen, box, colour, box.w < ROOM_FOR_SHAPE ? 1 : 1.5);
  if (box.w < ROOM_FOR_SHAPE) return;
  pen.fillStyle = colour;
  if (box.w >= ROOM_FOR_TEXT) writeCard(pen, box, look, colour);
  else if (look.state === ORPHAN) writeMiddle(pen, box, "!");
}

function drawTile(pen, box, look, colours) {
  pen.fillStyle = look.colour;
  roundBox(pen, box.x, box.y, box.w, box.h, Math.min(box.h / 6, 4));
  pen.fill();
  if (box.w >= ROOM_FOR_TEXT) writeCard(pen, box, look, colours.ground);
  const shaped = box.w >= ROOM_FOR_TEXT ? cornerOf(box) : box;
  if (box.w >= ROOM_FOR_SHAPE) drawShape(pen, shaped, look.state, colours.ground);
  if (box.w >= ROOM_FOR_BAR && look.over < 1) drawBar(pen, box, look.over, colours.ground);
}

/** How far its attempt is, along the lower edge. */
function drawBar(pen, box, over, colour) {
  const height = Math.max(Math.round(box.h / 12), 2);
  const edge = Math.max(Math.round(box.h / 9), 2);
  const width = box.w - 2 * edge;
  pen.fillStyle = colour;
  pen.globalAlpha = 0.3;
  pen.fillRect(box.x + edge, box.y + box.h - edge - height + 1, width, height);
  pen.globalAlpha = 1;
  pen.fillRect(box.x + edge, box.y + box.h - edge - height + 1, width * over, height);
}

/** Where a card has room for a shape: behind its second line. */
function cornerOf({ x, y, w, h }) {
  const side = CARD_SHAPE * h;
  return { x: x + w - side - 0.12 * h, y: y + 0.62 * h - side / 2, w: side, h: side };
}

/** What tells kinds of attempts apart; a map is a plain tile. */
function drawShape(pen, box, state, colour) {
  const size = Math.min(box.w, box.h) * 0.3;
  const x = box.x + box.w / 2;
  const y = box.y + box.h / 2;
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = Math.max(1, size / 3);
  pen.beginPath();
  const foot = y + 0.8 * size;
  if (state === COPY) polygon(pen, [x, y - size], [x + size, foot], [x - size, foot]);
  else polygon(pen, [x, y - size], [x + size, y], [x, y + size], [x - size, y]);
  if (state === SHUFFLE) pen.stroke();
  else if (state === REDUCE || state === COPY) pen.fill();
}

function polygon(pen, ...points) {
  points.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
}

/** The words of a card: whose it is, and which task. */
function writeCard(pen, box, look, colour) {
  const size = Math.round(box.h * 0.28);
  const left = box.x + box.h * 0.18;
  const room = box.w - box.h * 0.36;
  pen.fillStyle = colour;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.font = `600 ${size}px system-ui, sans-serif`;
  pen.fillText(look.words[0], left, box.y + box.h * 0.28, room);
  pen.font = `${size}px system-ui, sans-serif`;
  pen.fillText(look.words[1], left, box.y + box.h * 0.62, room - CARD_SHAPE * box.h);
}

function writeMiddle(pen, box, text) {
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `700 ${Math.round(box.h * 0.75)}px system-ui, sans-serif`;
  pen.fillText(text, box.x + box.w / 2, box.y + box.h / 2 + 1);
}

function drawCross(pen, box, colour) {
  const size = Math.max(Math.min(box.w, box.h) * 0.28, 1.2);
  const x = box.x + box.w / 2;
  const y = box.y + box.h / 2;
  pen.strokeStyle = colour;
  pen.lineWidth = Math.min(box.w / 6 + 0.5, 1.75);
  pen.beginPath();
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x + size, y - size);
  pen.lineTo(x - size, y + size);
  pen.stroke();
}

function outline(pen, box, colour, width) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  const inset = width / 2;
  roundBox(pen, box.x + inset, box.y + inset, box.w - width, box.h - width, Math.min(box.h / 6, 4));
  pen.stroke();
}

function roundBox(pen, x, y, w, h, radius) {
  pen.beginPath();
  pen.roundRect(x, y, w, h, radius);
}
