// Where each slot is drawn: rack by rack, node by node, in the largest cells for which there is
// room; in a cluster too large for any the smallest, and the pane scrolls.

const CARD_NODES = 12;
const HEAD = 22;
const CARDS = [180, 145, 112].map((w) => ({ w, h: Math.round(w * 0.39), gap: 6 }));
const CELLS = [30, 26, 21, 17, 14, 11, 9, 7, 6, 5].map((side) => {
  const gap = side > 9 ? 3 : side > 5 ? 2 : 1;
  return { w: side, h: side, gap };
});

/** The layout for a pane of this size: a box for each slot, the places of nodes and racks. */
function layOutSlots(run, width, height) {
  const sizes = run.nodes <= CARD_NODES ? [...CARDS, ...CELLS] : CELLS;
  const slotsOf = (end, node) => end - (run.first[node - 1] ?? 0);
  const most = run.first.map(slotsOf).reduce((a, b) => Math.max(a, b), 1);
  let found;
  for (const size of sizes) {
    const grid = nodeGrid(run, size, width, most);
    if (grid.across < most && size !== sizes.at(-1)) continue; // a node is to be one row
    found = placeAll(run, size, grid, width);
    if (found.height <= height) break;
  }
  return found;
}

/** How a node is laid out: its label, so many slots side by side, in so many rows. */
function nodeGrid(run, size, width, most) {
  const digits = String(Math.max(run.nodes - 1, 0)).length;
  const tail = tailOf(size);
  const label = size.w >= 9 ? 7.5 * digits + 18 : 9;
  const room = Math.floor((width - label - tail) / (size.w + size.gap));
  const across = Math.max(1, Math.min(most, room));
  const rows = Math.ceil(most / across);
  return { label, across, rows, width: label + across * (size.w + size.gap) + tail };
}

/** Room for the number of suspended attempts, and a gap between maps and reduces. */
const tailOf = (size) => (size.w >= ROOM_FOR_SHAPE ? 14 : 6);

function placeAll(run, size, grid, width) {
  const layout = { size, label: grid.label, width, slots: [], nodes: [], racks: [] };
  const most = Math.max(1, Math.floor((width + tailOf(size)) / grid.width));
  const rowHeight = grid.rows * (size.h + size.gap) + (size.h >= 9 ? 3 : 1);
  let y = 0;
  for (const rack of run.racks) {
    layout.racks.push({ rack, y });
    y += HEAD;
    const nodes = run.nodesOfRack.get(rack);
    const rows = Math.ceil(nodes.length / most);
    const across = Math.ceil(nodes.length / rows); // no row much shorter than the others
    nodes.forEach((node, place) => {
      const x = (place % across) * grid.width;
      placeNode(run, layout, node, grid, x, y + Math.floor(place / across) * rowHeight);
    });
    y += rows * rowHeight + (size.h >= 9 ? 8 : 4);
  }
  layout.height = y;
  return layout;
}

function placeNode(run, layout, node, grid, x, y) {
  const { size } = layout;
  const slots = run.first[node + 1] - run.first[node];
  const apart = size.w < 60 ? Math.min(size.gap + 1, 4) : 0; // between maps and reduces
  for (let slot = 0; slot < slots; slot++) {
    const place = run.first[node] + slot;
    const left = x + grid.label + (slot % grid.across) * (size.w + size.gap);
    const top = y + Math.floor(slot / grid.across) * (size.h + size.gap);
    const shift = run.isReduce[place] && grid.rows === 1 ? apart : 0;
    layout.slots[place] = { x: left + shift, y: top, w: size.w, h: size.h };
  }
  const end = x + grid.label + Math.min(slots, grid.across) * (size.w + size.gap) + apart;
  layout.nodes[node] = { x, y, end };
}

/** The slot at a place; -1 for none. */
function slotAt(layout, x, y) {
  const gap = layout.size.gap;
  const within = (at, from, length) => at >= from && at < from + length + gap;
  return layout.slots.findIndex((box) => within(x, box.x, box.w) && within(y, box.y, box.h));
}
