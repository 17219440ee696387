/* matrix.js - which thread frees the blocks of which other thread */
import { el, replace, segments } from './dom.js';
import { amount, exact, bytes } from './figures.js';
import { on, state } from './state.js';
import { heat, isDark, onTheme } from './theme.js';

const SHOWN = 20;
const LIVE = -1;
const REST = -2;

let unit = 'bytes';
let panel, table;

/*
 * The threads with most bytes or blocks, largest first.  All others share a row
 * and a column.
 */
function largest({ matrix, threads }) {
  const sums = threads.id.map(() => 0);
  matrix.from.forEach((from, i) => {
    sums[from] += matrix[unit][i];
    if (matrix.to[i] >= 0 && matrix.to[i] !== from)
      sums[matrix.to[i]] += matrix[unit][i];
  });
  const order = sums.map((_, i) => i).sort((a, b) => sums[b] - sums[a]);
  return order.slice(0, order.length > SHOWN ? SHOWN - 1 : SHOWN);
}

function cellsOf({ matrix }, shown) {
  const cells = new Map();
  const known = new Set(shown);
  const fold = (t) => t === LIVE || known.has(t) ? t : REST;
  matrix.from.forEach((from, i) => {
    const key = `${fold(from)} ${fold(matrix.to[i])}`;
    const cell = cells.get(key) ?? { bytes: 0, blocks: 0 };
    cell.bytes += matrix.bytes[i];
    cell.blocks += matrix.blocks[i];
    cells.set(key, cell);
  });
  return cells;
}

function cellOf(cell, paint, names, high) {
  if (!cell || !cell[unit])
    return el('td', {});
  const td = el('td', { title: `allocated by ${names[0]}, ${names[1]}: ` +
    `${bytes(cell.bytes)}, ${exact(cell.blocks)} blocks` },
  amount(cell[unit], unit).replace(/ blocks?$/, ''));
  td.style.background = paint(cell[unit]);
  const strong = Math.log(cell[unit] + 1) / Math.log(high + 1) > 0.72;
  td.style.color = strong ? isDark() ? '#10141c' : '#fff' : '';
  return td;
}

/* A narrow heading: the name of the thread, and below it the thread's id. */
function headingOf(trace, thread, name) {
  const id = trace.threads.id[thread];
  if (thread < 0 || !trace.text(trace.threads.name[thread]) || id < 0)
    return el('span', { title: name }, name);
  return [el('span', { title: name }, trace.text(trace.threads.name[thread])),
    el('small', {}, String(id))];
}

function draw() {
  const { trace } = state;
  panel.hidden = !trace.matrix?.from.length;
  if (panel.hidden)
    return;
  const shown = largest(trace);
  const rest = trace.threads.id.length > shown.length;
  const rows = rest ? [...shown, REST] : shown;
  const columns = [...rows, LIVE];
  const cells = cellsOf(trace, shown);
  const high = Math.max(...[...cells.values()].map((c) => c[unit]), 1);
  const paint = heat(Math.max(1, high / 1e6), high);
  const name = (t) => t === LIVE ? 'still live' : t === REST
    ? `${trace.threads.id.length - shown.length} others` : trace.threadName(t);

  replace(table,
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, ''),
      columns.map((t) => el('th', { scope: 'col', class: 'turned' },
        headingOf(trace, t, name(t)))))),
    el('tbody', {}, rows.map((from) => el('tr', {},
      el('th', { scope: 'row', title: name(from) }, name(from)),
      columns.map((to) => cellOf(cells.get(`${from} ${to}`), paint,
        [name(from), to === LIVE ? 'still live' : `freed by ${name(to)}`],
        high))))));
}

export function matrix() {
  table = el('table', { class: 'matrix',
    'aria-describedby': 'matrix-meaning' });
  panel = el('section', { class: 'panel', id: 'threads' },
    el('h2', {}, 'Threads: allocated here, freed there'),
    el('div', { class: 'tools' },
      segments('Unit', [['bytes', 'Bytes'], ['blocks', 'Blocks']], unit,
        (v) => { unit = v; draw(); }),
      el('span', { class: 'hint', id: 'matrix-meaning' }, 'Rows: the thread ' +
        'that allocated. Columns: the thread that freed.')),
    el('div', { class: 'scroll', tabIndex: 0, role: 'region',
      'aria-label': 'Matrix of threads' }, table));
  on('trace', draw);
  onTheme(() => state.trace && draw());
  return panel;
}
