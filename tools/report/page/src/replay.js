/*
 * replay.js - the page of 'hatf replay --html'
 *
 * The data block is the object of 'hatf replay --json', with the members
 * 'history' and 'history_rss', which hatf-replay(1) describes.
 */
import 'uplot/dist/uPlot.min.css';
import './style.css';
import uPlot from 'uplot';
import { visible } from './data.js';
import { announce, el, licences, replace, segments, soon } from './dom.js';
import { bytes, byteSteps, count, exact, percent, roundBytes, time }
  from './figures.js';
import { tile } from './overview.js';
import { axisStyle, category, color, onTheme, startTheme, themeSwitch }
  from './theme.js';

const VIEWS = [
  ['rss', 'Resident memory'],
  ['beyond', 'Beyond the live bytes'],
];
const HEIGHT = 360;

/*
 * The columns of the table: [title, member of an allocator in the data block,
 * function that formats the value].
 */
const MEASURES = [
  ['Time', 'wall', (ns) => time(ns / 1000, 'us')],
  ['CPU', 'cpu', (ns) => time(ns / 1000, 'us')],
  ['Peak RSS', 'peak_rss', bytes],
  ['End RSS', 'end_rss', bytes],
  ['Page faults', 'faults', exact],
];
const PERCENTILES = [['50 %', 'p50'], ['90 %', 'p90'], ['99 %', 'p99'],
  ['99.9 %', 'p99_9'], ['99.99 %', 'p99_99'], ['Most', 'max']];

/*
 * More columns if threads hand over blocks to one another.  The figures are
 * sums over all threads.
 */
const THREAD_MEASURES = [
  ['In calls', 'busy', (ns) => time(ns / 1000, 'us')],
  ['In waits', 'wait', (ns) => time(ns / 1000, 'us')],
];

let replay, allocators;
let view = 'rss';
let plot = null;
let host, legend, readout, zoomOut;

/* ----------------------------------------------------------------- figures */

/*
 * The values as numbers.  In the data block, integers from 2^63 on are strings.
 */
function numbers(values) {
  return values.map(Number);
}

function column(allocator, index) {
  const live = replay.history.live_bytes;
  return {
    name: visible(allocator.allocator),
    index,
    measures: allocator,
    rss: allocator.history_rss.map(Number),
    beyond: allocator.history_rss.map((n, i) => Math.max(0, n - live[i])),
  };
}

function read(text) {
  replay = JSON.parse(text);
  replay.history.live_bytes = numbers(replay.history.live_bytes);
  allocators = replay.allocators.map((a, i) => a.error ? null : column(a, i))
    .filter((a) => a !== null);
}

/* The median; null for a time that is too short to measure. */
function median(allocator, member) {
  const { median: value } = allocator.measures[member];
  return value === null ? null : Number(value);
}

/* Half of the range of the runs, as a fraction of the median. */
function spread(allocator, member) {
  const { min, max } = allocator.measures[member];
  return (max - min) / 2 / (median(allocator, member) || 1);
}

/* The best allocator for a measure, and those that equal it. */
function best(member) {
  return replay.best[member].map(visible);
}

/* --------------------------------------------------------------- the charts */

/* The curves of the view.  In the view 'rss', the live bytes come first. */
function curves() {
  const own = allocators.map((a) =>
    ({ name: a.name, values: a[view], paint: () => category(a.index) }));
  if (view !== 'rss')
    return own;
  return [{ name: 'live bytes', values: replay.history.live_bytes,
    paint: () => color('--ink'), fill: () => color('--accent-soft') }, ...own];
}

/* The number of calls at the last sample. */
function lastCall() {
  return replay.history.calls.at(-1) ?? 1;
}

function options(shown) {
  const axis = axisStyle();
  const end = lastCall();
  return {
    width: host.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) =>
        high > low ? [Math.max(0, low), Math.min(end, high)] : [0, end] },
      y: { range: (_, low, high) => [0, high > 0 ? high * 1.06 : 1] },
    },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map(count), space: 90, size: 34 },
      { ...axis, size: 78, incrs: byteSteps(),
        values: (_, ticks) => ticks.map(roundBytes) },
    ],
    series: [{}, ...shown.map((c) => ({ stroke: c.paint(), fill: c.fill?.(),
      width: 1.75, points: { show: false } }))],
    cursor: { y: false, points: { show: false },
      drag: { x: true, y: false, setScale: true } },
    hooks: {
      setCursor: [(u) => showFigures(u.cursor.idx)],
      setScale: [(u, scale) => {
        if (scale === 'x')
          zoomOut.disabled = u.scales.x.min <= 0 && u.scales.x.max >= end;
      }],
    },
  };
}

/*
 * Show the figures of a sample.  Without an index, show those of the sample
 * with most live bytes.
 */
function showFigures(index) {
  const { history } = replay;
  const live = history.live_bytes;
  const at = index > 0 ? index - 1
    : live.indexOf(live.reduce((a, b) => Math.max(a, b), 0));
  const shown = curves();

  if (at < 0)
    return;
  replace(readout, el('b', {}, `after ${exact(history.calls[at])} calls`));
  replace(legend, shown.map((c) => {
    const key = el('i');
    key.style.background = c.paint();
    return el('li', {}, key, el('span', {}, c.name),
      el('b', {}, bytes(c.values[at])));
  }));
}

function draw() {
  const shown = curves();
  const data = [[0, ...replay.history.calls],
    ...shown.map((c) => [0, ...c.values])];
  plot?.destroy();
  plot = new uPlot(options(shown), data, host);
  showFigures(0);
}

function showAll() {
  plot.setScale('x', { min: 0, max: lastCall() });
}

function zoomBy(factor) {
  const { min, max } = plot.scales.x;
  const center = (min + max) / 2;
  const half = (max - min) * factor / 2;
  plot.setScale('x', { min: center - half, max: center + half });
}

/* Move the cursor, for the arrow keys. */
function moveBy(step) {
  const { idx, left } = plot.cursor;
  const length = replay.history.calls.length;
  const next = Math.min(length, Math.max(1, (left < 0 ? 0 : idx) + step));
  plot.setCursor({ left: plot.valToPos(replay.history.calls[next - 1], 'x'),
    top: 0 });
  announce(`${readout.textContent}: ${[...legend.children]
    .map((li) => li.textContent).join(', ')}`);
}

const KEYS = {
  '+': () => zoomBy(0.5),
  '=': () => zoomBy(0.5),
  '-': () => zoomBy(2),
  0: showAll,
  Escape: showAll,
  ArrowLeft: () => moveBy(-1),
  ArrowRight: () => moveBy(1),
};

function key(event) {
  if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey)
    return;
  KEYS[event.key]();
  event.preventDefault();
}

function chart() {
  host = el('div', { class: 'plot', id: 'memory', tabIndex: 0,
    role: 'application', onkeydown: key,
    'aria-label': 'Memory of all allocators over the calls of the replay. ' +
      'Left and right arrows read the figures, plus and minus zoom, 0 shows ' +
      'all.' });
  legend = el('ul', { class: 'legend' });
  readout = el('p', { class: 'readout' });
  zoomOut = el('button', { type: 'button', id: 'zoom-out', disabled: true,
    onclick: showAll }, 'Show all');
  onTheme(() => plot && draw());
  new ResizeObserver(() => soon(() => {
    if (plot && host.clientWidth && plot.width !== host.clientWidth)
      plot.setSize({ width: host.clientWidth, height: HEIGHT });
  })).observe(host);
  return el('section', { class: 'panel', id: 'heap' },
    el('h2', {}, 'Memory over time'),
    el('div', { class: 'tools' },
      segments('Show', VIEWS, view, (v) => { view = v; draw(); }),
      zoomOut, readout),
    host, legend,
    el('p', { class: 'hint' }, 'The horizontal axis counts the calls of the ' +
      'trace. Resident memory is without that of the replay itself.'));
}

/* --------------------------------------------------------------- the tables */

function nameCell(allocator) {
  const square = el('i', { class: 'key', 'data-index': allocator.index });
  square.style.background = category(allocator.index);
  return el('th', { scope: 'row' }, square, allocator.name);
}

/* The figure of a measure, and its ratio to the first allocator's. */
function measureCell(allocator, member, figure) {
  const value = median(allocator, member);
  if (value === null)
    return el('td', { class: 'number' }, 'too short');
  const base = allocators[0].index === 0 ? median(allocators[0], member) : 0;
  const ratio = base ? `\u00d7\u202f${(value / base).toFixed(2)}` : '';
  const range = replay.repeat > 1
    ? ` \u00b1\u202f${percent(spread(allocator, member), 1)}` : '';
  return el('td', { class: 'number' },
    replay.best[member] && best(member).includes(allocator.name)
      ? el('b', {}, figure(value)) : figure(value),
    el('small', {}, ratio + range));
}

/*
 * The replay's own cost, which 'hatf replay' has subtracted from a measure.
 * For the time 'wall', the cost is the time of the busiest thread without
 * waits.
 */
function own(member) {
  const { driver } = replay;
  return Number(driver[member === 'wall' ? 'busiest' : member].median);
}

/* "1 block", "2 blocks" */
function blocks(n) {
  return `${exact(n)} ${Number(n) === 1 ? 'block' : 'blocks'}`;
}

/* The peak RSS for each live byte, or a dash. */
function liveCell(allocator) {
  const ratio = allocator.measures.peak_rss_per_live_byte;
  return el('td', { class: 'number' }, ratio === null ? '\u2013'
    : `\u00d7\u202f${ratio.toFixed(ratio < 1000 ? 2 : 0)}`);
}

/* The measures of the table. */
function measures() {
  return replay.handovers > 0 ? [...MEASURES, ...THREAD_MEASURES] : MEASURES;
}

/* Why an allocator has no figures, or why its figures are too good. */
function failure(allocator) {
  if (allocator.error)
    return ` failed: ${visible(allocator.error)}`;
  return Number(allocator.failed) > 0
    ? `: failed calls: ${exact(allocator.failed)}` : '';
}

function failures() {
  return replay.allocators.filter(failure).map((a) =>
    el('p', { class: 'hint' }, el('b', {}, visible(a.allocator)), failure(a)));
}

/* What was replayed, if it was not the whole, unchanged trace. */
function remarks() {
  return [
    replay.what_if && `Changed: ${visible(replay.what_if.changes)}`,
    !replay.complete && 'The trace is incomplete.',
    Number(replay.begin_blocks) > 0 && 'A part of the trace: begins with ' +
      `${bytes(Number(replay.begin_bytes))} in ` +
      `${blocks(replay.begin_blocks)}, which are not measured.`,
  ].filter((text) => text).map((text) => el('p', { class: 'hint' }, text));
}

/* What "too short" means, and what the user can do. */
function shortTimes() {
  const isShort = allocators.some((a) =>
    measures().some(([, member]) => median(a, member) === null));
  return isShort ? [el('p', { class: 'hint' }, 'Too short: the cost of ' +
    'the replay itself varies by as much. Replay a longer trace, or time ' +
    'single calls with --latency.')] : [];
}

function table() {
  return el('section', { class: 'panel', id: 'table' },
    el('h2', {}, 'Allocators'),
    el('div', { class: 'scroll', tabIndex: 0, role: 'region',
      'aria-label': 'Time and memory of all allocators' },
    el('table', { class: 'allocators' },
      el('caption', {}, `Medians of ${exact(replay.repeat)} ` +
        `${replay.repeat === 1 ? 'run' : 'runs'}, the ratio to the first ` +
        'allocator, and half of the range of the runs. Bold: the best, and ' +
        'those that equal it within the spread. \u00d7 live: the peak RSS ' +
        'divided by the largest number of live bytes of the trace.'),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Allocator'),
        measures().flatMap(([title, member]) =>
          [title, ...(member === 'peak_rss' ? ['\u00d7 live'] : [])])
          .map((title) =>
            el('th', { scope: 'col', class: 'number' }, title)))),
      el('tbody', {}, allocators.map((a) => el('tr', {}, nameCell(a),
        measures().flatMap(([, member, figure]) =>
          [measureCell(a, member, figure),
            ...(member === 'peak_rss' ? [liveCell(a)] : [])])))))),
    ...failures(), ...shortTimes(),
    el('p', { class: 'hint' }, 'Subtracted as the replay\u2019s own: ' +
      MEASURES.slice(0, 3).map(([title, member, figure]) =>
        `${title} ${figure(own(member))}`).join(', ')));
}

/* Percentiles for each kind of call that was timed. */
function latencies() {
  const kinds = Object.keys(replay.driver.latency_ns)
    .filter((kind) => Number(replay.driver.latency_ns[kind].calls) > 0);
  if (!kinds.length)
    return null;
  const row = (title, a, kind) => el('tr', {}, title,
    PERCENTILES.map(([, member]) => el('td', { class: 'number' },
      exact(a.latency_ns[kind][member]))));
  return el('section', { class: 'panel', id: 'latencies' },
    el('h2', {}, 'How long calls take, in ns'),
    el('div', { class: 'scroll', tabIndex: 0, role: 'region',
      'aria-label': 'Latencies of all allocators' },
    el('table', { class: 'allocators' },
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, ''),
        PERCENTILES.map(([title]) =>
          el('th', { scope: 'col', class: 'number' }, title)))),
      kinds.map((kind) => el('tbody', {},
        el('tr', { class: 'kind' }, el('th', { scope: 'rowgroup',
          colspan: PERCENTILES.length + 1 }, kind)),
        row(el('th', { scope: 'row' }, '(none)'), replay.driver, kind),
        allocators.map((a) => row(nameCell(a), a.measures, kind)))))));
}

/* ----------------------------------------------------------------- the page */

function others(names) {
  return names.length > 1 ? `equal: ${names.slice(1).join(', ')}` : '';
}

function overview() {
  const { threads } = replay;
  const fastest = allocators.some((a) => median(a, 'wall') !== null)
    ? best('wall') : ['too short'];
  const smallest = best('peak_rss');
  return el('section', { id: 'overview', 'aria-label': 'Overview' },
    el('p', { class: 'command' }, el('code', {}, visible(replay.file))),
    ...remarks(),
    el('div', { class: 'tiles' },
      tile('Calls', count(replay.calls), `${exact(threads)} ` +
        (threads === 1 ? 'thread' : 'threads')),
      tile('Peak', bytes(Number(replay.peak_bytes)),
        `live in ${blocks(replay.peak_blocks)}`),
      tile('Live at the end', bytes(Number(replay.end_bytes)),
        `in ${blocks(replay.end_blocks)}`),
      tile('Hand-overs', count(replay.handovers), 'between threads'),
      tile('Least time', fastest[0], others(fastest)),
      tile('Least peak RSS', smallest[0], others(smallest))));
}

/* Paint the squares in the tables in the colours of the theme. */
function paintKeys(main) {
  main.querySelectorAll('tbody .key').forEach((square) => {
    square.style.background = category(Number(square.dataset.index));
  });
}

function build() {
  read(document.getElementById('data').textContent);
  startTheme();
  document.title = `${visible(replay.file)} \u2013 replay`;
  const main = el('main', {}, overview(), chart(), table(), latencies());
  document.body.append(el('header', {}, el('h1', {}, 'Replay'), el('nav', {}),
    themeSwitch()), main, licences());
  onTheme(() => paintKeys(main));
  draw();
  document.body.dataset.ready = 'yes';
}

try {
  build();
} catch (error) {
  document.body.append(el('p', { class: 'failure', role: 'alert' },
    `This page cannot be shown. ${error.message}`));
  throw error;
}
