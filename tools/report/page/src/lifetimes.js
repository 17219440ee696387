/* lifetimes.js - the heat map of sizes and lifetimes */
import { el, replace, segments } from './dom.js';
import { amount, bytes, count, exact, percent, roundBytes, span } from './figures.js';
import { grid } from './grid.js';
import { on, state } from './state.js';
import { color, heat, onTheme } from './theme.js';

const LAST_LABEL = 104; /* pixels to keep free for the last label */

let unit = 'blocks';
let map, legend, panel, hint;

/*
 * Map from "COLUMN ROW" to a cell.  A row is a size, and a column is a
 * lifetime; the last column has the blocks that are live at the end.
 */
function cellsOf({ sizeLife }) {
  const cells = new Map();
  const columns = sizeLife.life.length + 1;
  for (let i = 0; i + 3 < sizeLife.cells.length; i += 4) {
    const [size, life, blocks, nbytes] = sizeLife.cells.slice(i, i + 4);
    cells.set(`${life < 0 ? columns - 1 : life} ${size}`,
      { blocks, bytes: nbytes });
  }
  return cells;
}

/* The smallest and the largest number; twice 0 if there is none. */
function extent(numbers) {
  return numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 0];
}

function showLegend(low, high, paint) {
  const steps = [0, 0.25, 0.5, 0.75, 1].map((f) => {
    const box = el('i');
    box.style.background = paint(low * (high / low) ** f);
    return box;
  });
  replace(legend, el('span', {}, amount(low, unit)), steps,
    el('span', {}, amount(high, unit)));
}

function labelEvery(count, most, make) {
  const step = Math.ceil(count / most);
  const labels = [];
  for (let i = 0; i < count; i += step)
    labels.push({ at: i + 0.5, text: make(i) });
  return labels;
}

function draw() {
  const { trace } = state;
  panel.hidden = !trace.sizeLife;
  if (!trace.sizeLife)
    return;
  const { size, life } = trace.sizeLife;
  const all = cellsOf(trace);
  const keys = [...all.keys()].map((k) => k.split(' ').map(Number));
  const [bottom, top] = extent(keys.map((k) => k[1]));
  const [left, right] = extent(keys.map((k) => k[0])
    .filter((c) => c < life.length));
  /* An empty column separates the last column, which has the live blocks. */
  const lives = right - left + 1;
  const source = (c) => c < lives ? c + left : c > lives ? life.length : -1;
  const get = (c, r) => all.get(`${source(c)} ${r + bottom}`);
  const values = [...all.values()].map((v) => v[unit]).filter((v) => v > 0);
  const [low, high] = extent(values);
  const paint = heat(low, high);
  const whole = values.reduce((sum, v) => sum + v, 0);

  const columnLabels = (width) => {
    const labels = labelEvery(lives, width < 520 ? 4 : 9, (i) =>
      trace.axis === 'us' ? span(life[i + left], 'us')
        : count(life[i + left]));
    while (labels.length > 1 &&
      labels.at(-1).at * width / (lives + 2) > width - LAST_LABEL)
      labels.pop();
    labels.push({ at: lives + 1.5, text: 'live at end' });
    return labels;
  };
  map.show({
    columns: lives + 2,
    rows: top - bottom + 1,
    cell: (c, r) => {
      if (source(c) < 0)
        return color('--surface');
      const value = get(c, r)?.[unit];
      return value > 0 ? paint(value) : null;
    },
    describe: (c, r) => {
      const cell = get(c, r);
      return cell && [
        `${sizeRange(size, r + bottom)}, ` + (c > lives ? 'live at the end'
          : `freed within ${span(life[c + left], trace.axis)}`),
        ['blocks', exact(cell.blocks)], ['bytes', bytes(cell.bytes)],
        ['part', percent(cell[unit], whole)]];
    },
    columnLabels,
    rowLabels: labelEvery(top - bottom + 1, 12, (i) =>
      `\u2264 ${roundBytes(size[i + bottom])}`),
    rowHeight: 18,
    left: 78,
    gap: 1,
  });
  if (values.length)
    showLegend(low, high, paint);
  else
    replace(legend);
  hint.textContent = 'Up: size of a block. Right: ' +
    (trace.axis === 'us' ? 'time' : 'events') +
    ' from its allocation to its free. Each step doubles. ' +
    trace.resolution;
}

function sizeRange(size, bin) {
  const from = bin ? size[bin - 1] + 1 : 0;
  return from >= size[bin] ? bytes(size[bin])
    : `${bytes(from)} to ${bytes(size[bin])}`;
}

export function lifetimes() {
  map = grid('lifetimes-grid', 'Sizes and lifetimes of blocks.');
  legend = el('div', { class: 'scale' });
  hint = el('p', { class: 'hint' });
  panel = el('section', { class: 'panel', id: 'lifetimes' },
    el('h2', {}, 'Size and lifetime'),
    el('div', { class: 'tools' },
      segments('Unit', [['blocks', 'Blocks'], ['bytes', 'Bytes']], unit,
        (v) => { unit = v; draw(); }), legend),
    map.host,
    hint);
  on('trace', draw);
  onTheme(() => state.trace && draw());
  return panel;
}
