/* compare.js - several traces side by side */
import uPlot from 'uplot';
import { choice, el, replace, segments, soon } from './dom.js';
import { bytes, byteSteps, count, exact, percent, roundBytes, signed, span }
  from './figures.js';
import { MEASURES } from './data.js';
import { state } from './state.js';
import { axisStyle, category, onTheme, timeAxis } from './theme.js';

const ROWS = 20;
let measure = 'peak';
let unit = 'bytes';
let host, plot, table;

/*
 * The rows of the table of totals: [text, function that returns the value of a
 * trace, function that formats the value].
 */
const TOTALS = [
  ['Peak', (t) => t.totals.peakBytes, bytes],
  ['Blocks at the peak', (t) => t.totals.peakBlocks, exact],
  ['Live at the end', (t) => t.totals.endBytes, bytes],
  ['Blocks at the end', (t) => t.totals.endBlocks, exact],
  ['Allocated', (t) => t.totals.allocBytes, bytes],
  ['Allocations', (t) => t.totals.allocBlocks, exact],
  ['Temporary blocks', (t) => t.totals.tempBlocks, exact],
  ['Moved by realloc', (t) => t.totals.movedBytes, bytes],
  ['Threads', (t) => t.totals.threads, exact],
];

/* A cell with the difference from the first trace. */
function difference(value, base, figure) {
  const d = value - base;
  const change = !d ? 'same' : signed(figure(d), d);
  return el('td', { class: `number ${d > 0 ? 'up' : d < 0 ? 'down' : ''}` },
    change, el('small', {}, proportion(value, base)));
}

/* The change from 'base' to 'value': +12 %, x 3.4, new or gone. */
function proportion(value, base) {
  if (value === base)
    return '';
  if (!base)
    return 'new';
  if (!value)
    return 'gone';
  if (value > 3 * base)
    return `\u00d7\u202f${count(Math.max(3, value / base))}`;
  return signed(percent(Math.abs(value - base), base), value - base)
    .replace(/^(?!\+)/, '\u2212');
}

/*
 * The headings of the columns: the name of each trace and, except for the first
 * trace, "change".
 */
function headings(traces) {
  return traces.map((t, i) => {
    const key = el('i', { class: 'key' });
    key.style.background = category(i);
    return [el('th', { scope: 'col', class: 'number' }, key, t.name),
      i > 0 && el('th', { scope: 'col', class: 'number' }, 'change')];
  });
}

/* The cells of a row: the values, and how they differ from the first one. */
function cells(values, figure) {
  return values.map((value, i) => [
    el('td', { class: 'number' }, figure(value)),
    i > 0 && difference(value, values[0], figure)]);
}

function totals(traces) {
  const duration = ['Duration', (t) => t.meta.duration,
    (v) => span(v, traces[0].axis)];
  return el('table', { class: 'totals' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, ''),
      headings(traces))),
    el('tbody', {}, [...TOTALS, duration].map(([text, value, figure]) =>
      el('tr', {}, el('th', { scope: 'row' }, text),
        cells(traces.map(value), figure)))));
}

/* Name and file of a frame, without the folders of the file. */
function shortKey(trace, frame) {
  const file = trace.frameFile(frame).replace(/^.*\//, '');
  return `${trace.frameName(frame)}\n${file}`;
}

/*
 * Two builds of a program can lie in different folders, so two sites are the
 * same if their short keys are equal.  The exception: a trace has the same
 * short key for files in several folders.  Return these keys, so that the
 * caller tells their sites apart by the whole paths.
 */
function ambiguousKeys(traces) {
  const found = new Set();
  for (const trace of traces) {
    const files = new Map();
    for (const frame of trace.sites.at) {
      const key = shortKey(trace, frame);
      const file = trace.frameFile(frame);
      if ((files.get(key) ?? file) !== file)
        found.add(key);
      files.set(key, file);
    }
  }
  return found;
}

/* The sites whose values differ between traces, the largest change first. */
function sitesByName(traces) {
  const rows = new Map();
  const ambiguous = ambiguousKeys(traces);
  traces.forEach((trace, i) => {
    const values = trace.values(measure, unit, null);
    for (let site = 0; site < trace.siteCount; site++) {
      const frame = trace.sites.at[site];
      const file = trace.frameFile(frame);
      const name = trace.frameName(frame);
      const short = shortKey(trace, frame);
      const key = ambiguous.has(short) ? `${name}\n${file}` : short;
      const row = rows.get(key) ??
        { name, file, values: traces.map(() => 0) };
      row.values[i] += values[site];
      rows.set(key, row);
    }
  });
  const change = (row) => Math.max(...row.values.map((v) =>
    Math.abs(v - row.values[0])));
  return [...rows.values()].filter((r) => change(r) > 0)
    .sort((a, b) => change(b) - change(a));
}

function drawTable() {
  const { traces } = state;
  const figure = unit === 'bytes' ? bytes : count;
  const rows = sitesByName(traces);
  replace(table,
    el('caption', {}, `Sites that differ most, ${rows.length} in all`),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Site'),
      headings(traces))),
    el('tbody', {}, rows.slice(0, ROWS).map((row) => el('tr', {},
      el('th', { scope: 'row' }, row.name, el('small', {}, row.file)),
      cells(row.values, figure)))));
}

/*
 * Draw the most live bytes of each span of all heaps; each trace begins at time
 * 0.
 */
function drawPlot() {
  const { traces } = state;
  const axis = axisStyle();
  const data = uPlot.join(traces.map((t) =>
    [t.series.time, t.series.max]));
  plot?.destroy();
  plot = new uPlot({
    width: host.clientWidth,
    height: 220,
    legend: { show: false },
    scales: { x: { time: false },
      y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
    axes: [timeAxis(traces[0].axis),
    { ...axis, size: 78, incrs: byteSteps(),
      values: (_, v) => v.map(roundBytes) }],
    series: [{}, ...traces.map((t, i) => ({ stroke: category(i), width: 1.75,
      spanGaps: true, points: { show: false },
      paths: uPlot.paths.stepped({ align: -1 }) }))],
    cursor: { y: false, points: { show: false } },
  }, data, host);
}

export function comparison() {
  if (state.traces.length < 2)
    return null;
  host = el('div', { class: 'plot', role: 'img',
    'aria-label': 'Live bytes of all traces over time' });
  table = el('table', { class: 'differences' });
  const panel = el('section', { class: 'panel', id: 'compare' },
    el('h2', {}, 'Comparison'),
    el('div', { class: 'scroll', tabIndex: 0, role: 'region',
      'aria-label': 'Totals of all traces' }, totals(state.traces)),
    host,
    el('div', { class: 'tools' },
      choice('Sites', Object.entries(MEASURES), measure, (v) => {
        measure = v;
        drawTable();
      }),
      segments('Unit', [['bytes', 'Bytes'], ['blocks', 'Blocks']], unit,
        (v) => { unit = v; drawTable(); })),
    el('div', { class: 'scroll', tabIndex: 0, role: 'region',
      'aria-label': 'Sites that differ' }, table));
  drawTable();
  onTheme(() => {
    panel.querySelectorAll('.key').forEach((key, i) => {
      key.style.background = category(i);
    });
    drawPlot();
  });
  new ResizeObserver(() => soon(() => {
    if (host.clientWidth && plot?.width !== host.clientWidth)
      drawPlot();
  })).observe(host);
  return panel;
}
