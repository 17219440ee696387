/* addresses.js - the address map over time */
import { el } from './dom.js';
import { bytes, percent, time } from './figures.js';
import { grid } from './grid.js';
import { on, state } from './state.js';
import { heat, onTheme } from './theme.js';

const LABEL = 18; /* pixels: the height of a label */

let map, panel, summary;

/* The rows of all regions, lowest address first. */
function rowsOf(trace) {
  return trace.addresses.regions.flatMap((region) =>
    region.rows.map((cells, i) => ({
      region, cells, first: i === 0,
      start: BigInt(`0x${region.start}`) + BigInt(region.step) * BigInt(i),
    })));
}

function shareOf(row, column) {
  return parseInt(row.cells[column] ?? '0', 36) / 35;
}

/* The data block has shares in steps of 1/35, rounded down. */
function about(share) {
  return share > 0 && share < 1 ? `about ${percent(share, 1)}`
    : percent(share, 1);
}

/* The bytes of all rows that have live bytes in a column. */
function touchedAt(rows, column) {
  return rows.reduce((sum, row) =>
    sum + (shareOf(row, column) > 0 ? row.region.step : 0), 0);
}

function labels(trace, rows, rowHeight) {
  const out = [];
  let last = -9;
  rows.forEach((row, at) => {
    if (!row.first || at - last < 3)
      return;
    last = at;
    const name = trace.text(row.region.name);
    /* Put the label above the line that begins the region. */
    out.push({ at: at + LABEL / 2 / rowHeight,
      text: name || `0x${row.region.start}` });
  });
  return out;
}

function columnLabels(trace, columns) {
  const marks = [0, 0.25, 0.5, 0.75, 1];
  const end = (f) =>
    trace.addresses.time[Math.max(Math.round(f * columns), 1) - 1];
  return marks.map((f) => ({
    at: f * columns,
    text: time(f ? end(f) : 0, trace.axis),
  }));
}

function draw() {
  const { trace } = state;
  panel.hidden = !trace.addresses?.regions.length;
  if (panel.hidden)
    return;
  const rows = rowsOf(trace);
  const columns = trace.addresses.time.length;
  const paint = heat(0, 1, true);
  const rowHeight = rows.length > 96 ? 3 : rows.length > 48 ? 5 : 9;

  map.show({
    columns,
    rows: rows.length,
    cell: (c, r) => {
      const share = shareOf(rows[r], c);
      return share > 0 ? paint(share) : null;
    },
    describe: (c, r) => {
      const row = rows[r];
      return [
        `0x${row.start.toString(16)}, ${bytes(row.region.step)}`,
        trace.text(row.region.name),
        ['time', time(trace.addresses.time[c], trace.axis)],
        ['live', about(shareOf(row, c))]];
    },
    columnLabels: () => columnLabels(trace, columns),
    rowLabels: labels(trace, rows, rowHeight),
    rowHeight,
    left: 128,
    gap: 0,
    separators: rows.flatMap((row, i) => row.first && i ? [i] : []),
  });
  const touched = touchedAt(rows, columns - 1);
  summary.textContent = touched
    ? `At the end, ${percent(trace.addresses.live, touched)} of the rows in ` +
      `use (${bytes(touched)}) is live. Pale rows are fragmented: little of ` +
      'them is live, but they cannot be given back.'
    : 'At the end, nothing is live.';
}

export function addresses() {
  map = grid('addresses-grid', 'Addresses over time.');
  summary = el('p', { class: 'hint' });
  panel = el('section', { class: 'panel', id: 'addresses' },
    el('h2', {}, 'Addresses over time'), map.host, summary);
  on('trace', draw);
  onTheme(() => state.trace && draw());
  return panel;
}
