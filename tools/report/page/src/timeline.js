/*
 * timeline.js - the heap over time
 *
 * uPlot draws the curves and zooms.  This file adds the peak, the starts of
 * threads, the program's marks, the selected moments A and B, and the keyboard.
 */
import uPlot from 'uplot';
import { announce, choice, el, replace, segments, soon } from './dom.js';
import { amount, byteSteps, bytes, count, exactBlocks, roundBytes, span, time }
  from './figures.js';
import { lastUpTo } from './data.js';
import { chooseMoments, on, state } from './state.js';
import { axisStyle, category, color, onTheme, timeAxis } from './theme.js';
import { binLength, rates } from './rates.js';
import { stackedCurves } from './stacked.js';

const VIEWS = [
  ['bytes', 'Live bytes'],
  ['blocks', 'Live blocks'],
  ['rate', 'Allocation rate'],
  ['sites', 'Live bytes by site'],
  ['modules', 'Live bytes by module'],
];
/* The views that need the live bytes of each site. */
const STACKED = new Set(['sites', 'modules']);
const HEIGHT = 320;
const SLACK = 4; /* pixels that a finger moves before it drags */
const FLAGS = 51; /* pixels for the flags above the chart */

const hasFinger = window.matchMedia('(pointer: coarse)');

let view = 'bytes';
let drag = 'zoom';
let plot = null;
let stacked = null;
let bins = null; /* of the view 'rate': {from, to, length} */
let host, readout, legend, moments, panel, views, note;

/* The colour of a layer in a stacked view. */
function paintOf(index) {
  const { names, hasOthers } = stacked;
  return category(hasOthers && index === names.length - 1 ? 8 : index);
}

/*
 * The columns of the chart: {unit, data, series}.  The rates are those of the
 * visible range.
 */
function columns(trace, from, to) {
  const { series } = trace;
  const fill = { stroke: color('--accent'), fill: color('--accent-soft') };

  if (STACKED.has(view)) {
    stacked = stackedCurves(trace, view);
    return {
      unit: 'bytes',
      data: [[0, ...trace.points.time],
        ...stacked.sums.map((sum) => [0, ...sum])],
      series: stacked.names.map((_, i) => ({
        stroke: color('--surface'),
        width: 1,
        fill: paintOf(stacked.names.length - 1 - i),
      })),
    };
  }
  stacked = null;
  if (view === 'rate') {
    bins = { from, to, length: binLength(trace, from, to) };
    return { unit: 'rate', data: rates(trace, bins), series: [fill] };
  }
  if (view === 'blocks')
    return { unit: 'blocks', data: [series.time, series.blocks],
      series: [fill] };
  /* A span may be narrower than a pixel: only a line shows its maximum. */
  return {
    unit: 'bytes',
    data: [series.time, series.max, series.bytes],
    series: [fill, { stroke: color('--accent'), width: 1 }],
  };
}

function perUnit(axis) {
  return axis === 'us' ? '/s' : '/event';
}

function figure(value, unit, axis) {
  if (unit === 'blocks')
    return count(value);
  return roundBytes(value) + (unit === 'rate' ? perUnit(axis) : '');
}

function options(trace, unit, series) {
  const axis = axisStyle();
  const step = uPlot.paths.stepped({ align: stacked ? 1 : -1 });
  return {
    width: host.clientWidth,
    height: HEIGHT,
    padding: [FLAGS + 4, 14, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, range: visibleRange },
      y: { range: (_, low, high) => [0, high > 0 ? high * 1.06 : 1] } },
    axes: [
      timeAxis(trace.axis),
      { ...axis, size: host.clientWidth < 500 ? 66 : 78, values: (_, ticks) =>
        ticks.map((v) => figure(v, unit, trace.axis)),
      ...unit === 'blocks' ? {} : { incrs: byteSteps() } },
    ],
    series: [{}, ...series.map((s) =>
      ({ width: 1.5, paths: step, points: { show: false }, ...s }))],
    cursor: {
      drag: { x: true, y: false, setScale: true },
      points: { show: false },
      y: false,
      bind: { mousedown: beginDrag },
    },
    hooks: {
      drawClear: [drawMoments],
      draw: [drawEvents],
      setCursor: [showReadout],
      setSelect: [endSelect],
      setScale: [noteZoom],
    },
  };
}

function visibleRange(_, low, high) {
  const end = state.trace.meta.duration || 1;
  if (low === null || high === null || high <= low)
    return [0, end];
  return [Math.max(0, low), Math.min(Math.max(end, low + 1), high)];
}

/* With Shift, or in the mode 'select', dragging selects a range. */
function beginDrag(u, target, handler) {
  return (event) => {
    u.cursor.drag.setScale = drag === 'zoom' && !event.shiftKey;
    u.pressedAt = event.clientX;
    handler(event);
  };
}

function endSelect(u) {
  const { left, width } = u.select;
  if (u.cursor.drag.setScale || width < 3)
    return;
  chooseMoments(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

function clickMoment(event) {
  if (Math.abs(event.clientX - plot.pressedAt) >= 3 || event.detail > 1)
    return;
  const box = plot.over.getBoundingClientRect();
  const at = plot.posToVal(event.clientX - box.left, 'x');
  if (event.shiftKey)
    chooseMoments(state.moments.a, at);
  else
    chooseMoments(at);
}

function noteZoom(u, scale) {
  if (scale !== 'x' || u.scales.x.min === null)
    return;
  const { min, max } = u.scales.x;
  const whole = min <= 0 && max >= state.trace.meta.duration;
  host.dataset.from = Math.round(min);
  host.dataset.to = Math.round(max);
  panel.querySelector('#zoom-out').disabled = whole;
  if (view === 'rate' && (bins.from !== min || bins.to !== max))
    soon(renewRates);
}

/* After a zoom, show the rates in bins of a length that fits. */
function renewRates() {
  const { min, max } = plot.scales.x;
  if (view !== 'rate' || (bins.from === min && bins.to === max))
    return;
  plot.setData(columns(state.trace, min, max).data, false);
  plot.setScale('x', { min, max });
  showNote();
}

/*
 * uPlot follows the mouse only.  If a finger moves sideways, tell uPlot that a
 * mouse drags.  If the finger moves up or down, the browser scrolls the page
 * (touch-action in style.css).
 */
function followFinger(over) {
  let begin = null;
  let drags = false;
  const pass = (type, event, target) => target.dispatchEvent(
    new MouseEvent(type, { clientX: event.clientX, clientY: event.clientY,
      movementX: 1, bubbles: true }));
  const end = (event) => {
    if (drags)
      pass('mouseup', event, document);
    begin = null;
    drags = false;
  };

  over.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'touch' && event.isPrimary)
      begin = event;
  });
  over.addEventListener('pointermove', (event) => {
    if (event.pointerId !== begin?.pointerId)
      return;
    if (!drags && Math.abs(event.clientX - begin.clientX) < SLACK)
      return;
    if (!drags)
      pass('mousedown', begin, over);
    drags = true;
    pass('mousemove', event, over);
  });
  over.addEventListener('pointerup', end);
  over.addEventListener('pointercancel', end);
}

/* Draw the range from A to B behind the curves. */
function drawMoments(u) {
  const { a, b } = state.moments;
  const { ctx, bbox } = u;
  if (!state.chosen)
    return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const xa = u.valToPos(a, 'x', true);
  if (b !== null) {
    ctx.fillStyle = color('--select-soft');
    ctx.fillRect(xa, bbox.top, u.valToPos(b, 'x', true) - xa, bbox.height);
  }
  ctx.restore();
}

/*
 * Draw a vertical line with a label at its top.  The line ends at the height
 * 'down', or at the bottom of the chart.
 */
function flag(u, at, text, paint, row, dash, down) {
  const { ctx, bbox } = u;
  const ratio = uPlot.pxRatio;
  const x = Math.round(u.valToPos(at, 'x', true));
  if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1)
    return;
  ctx.strokeStyle = paint;
  ctx.lineWidth = ratio;
  ctx.setLineDash(dash.map((d) => d * ratio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top + (text ? row * 17 - FLAGS : 0) * ratio);
  ctx.lineTo(x, down ?? bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  if (!text)
    return;
  const shown = text.length > 28 ? `${text.slice(0, 27)}\u2026` : text;
  const width = ctx.measureText(shown).width + 10 * ratio;
  const right = x + width > bbox.left + bbox.width;
  const y = bbox.top + (row * 17 - FLAGS) * ratio;
  ctx.fillStyle = paint;
  ctx.fillRect(right ? x - width : x, y, width, 16 * ratio);
  ctx.fillStyle = color('--surface');
  ctx.fillText(shown, (right ? x - width : x) + 5 * ratio, y + 8.5 * ratio);
}

/* Draw the peak, starts of threads, marks, and the moments' lines. */
function drawEvents(u) {
  const { ctx, bbox } = u;
  const { trace } = state;
  const ratio = uPlot.pxRatio;

  ctx.save();
  ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  drawMarks(u, trace);
  drawPeak(u, trace);
  if (state.chosen) {
    flag(u, state.moments.a, 'A', color('--select'), 2, []);
    if (state.moments.b !== null)
      flag(u, state.moments.b, 'B', color('--select'), 2, []);
  }
  ctx.fillStyle = color('--birth');
  for (const start of trace.threads.start) {
    const x = u.valToPos(start, 'x', true);
    if (start < 0 || x < bbox.left - 1 || x > bbox.left + bbox.width + 1)
      continue;
    const y = bbox.top + bbox.height;
    ctx.beginPath();
    ctx.moveTo(x - 4 * ratio, y);
    ctx.lineTo(x + 4 * ratio, y);
    ctx.lineTo(x, y - 8 * ratio);
    ctx.fill();
  }
  ctx.restore();
}

/*
 * Flag the peak of what is drawn.  Where a curve shows it, the flag's line ends
 * at the curve, so that it does not hide a short peak.
 */
function drawPeak(u, trace) {
  const { peakTime, peakBytes } = trace.totals;
  if (view !== 'blocks' && view !== 'rate') {
    flag(u, peakTime, `peak ${bytes(peakBytes)}`, color('--peak'), 0, [],
      stacked ? undefined : u.valToPos(peakBytes, 'y', true));
    return;
  }
  const [times, values] = u.data;
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const at = times[values.indexOf(most)];
  if (most > 0)
    flag(u, view === 'rate' ? at - bins.length / 2 : at, `peak ${
      view === 'rate' ? bytes(most) + perUnit(trace.axis)
        : amount(most, 'blocks')}`, color('--peak'), 0, [],
    u.valToPos(most, 'y', true));
}

/* Draw the marks, with labels where there is room. */
function drawMarks(u, trace) {
  const ratio = uPlot.pxRatio;
  let free = -Infinity;
  trace.marks.time.forEach((at, i) => {
    const x = u.valToPos(at, 'x', true);
    const roomy = x > free;
    flag(u, at, roomy ? trace.text(trace.marks.text[i]) : '',
      color('--mark'), 1, [3, 3]);
    if (roomy)
      free = x + 190 * ratio;
  });
}

/*
 * What is live at the moment 'at': exact at the peak, elsewhere from the
 * series.
 */
function liveAt(trace, at) {
  const { totals } = trace;
  return at === totals.peakTime
    ? { bytes: totals.peakBytes, blocks: totals.peakBlocks }
    : trace.totalAt(at);
}

/* Show in one line what is live at the pointer or at the moment A. */
function showReadout(u) {
  const { trace } = state;
  const pointed = u.cursor.left >= 0;
  const at = pointed ? u.posToVal(u.cursor.left, 'x') : state.moments.a;
  const live = liveAt(trace, at);
  const near = pointed ? marksNear(u, trace, at) : '';

  const most = trace.mostAt(at);

  replace(readout, el('b', {}, time(at, trace.axis)),
    el('span', {}, bytes(live.bytes)),
    most > live.bytes && el('span', {}, `at most ${bytes(most)} within ${
      span(trace.series.width, trace.axis)}`),
    el('span', {}, exactBlocks(live.blocks)),
    near && el('span', { class: 'mark' }, near));
  if (stacked)
    showLegend(trace, at);
}

/* The marks, and the threads that begin, within 4 pixels of the moment 'at'. */
function marksNear(u, trace, at) {
  const slack = u.posToVal(4, 'x') - u.posToVal(0, 'x');
  const near = (t) => t >= 0 && Math.abs(t - at) <= slack;
  const texts = [];
  trace.marks.time.forEach((t, i) =>
    near(t) && texts.push(`mark: ${trace.text(trace.marks.text[i])}`));
  trace.threads.start.forEach((t, i) =>
    near(t) && texts.push(`begins: ${trace.threadName(i)}`));
  return texts.slice(0, 3).join(' \u00b7 ');
}

function showLegend(trace, at) {
  const point = Math.max(0, lastUpTo(trace.points.time, at));
  const { curves, names } = stacked;

  if (legend.childElementCount !== names.length)
    replace(legend, names.map((name, i) => {
      const key = el('i');
      key.style.background = paintOf(i);
      return el('li', {}, key, el('span', {}, name), el('b'));
    }));
  names.forEach((_, i) => {
    legend.children[i].querySelector('b').textContent =
      bytes(curves[i][point]);
  });
}

/* Show in words what is selected. */
function showMoments() {
  const { trace, moments: { a, b } } = state;
  if (!state.chosen) {
    replace(moments, el('span', { class: 'hint' }, (hasFinger.matches
      ? 'Drag to zoom, tap to select a moment. '
      : 'Drag to zoom, click to select a moment, drag with Shift to select ' +
        'a range. ') +
      'The flame graph and the sites can show what is selected.'));
    return;
  }
  const at = liveAt(trace, a);
  const parts = [el('b', { class: 'tag' }, 'A'), time(a, trace.axis),
    ` \u2013 ${bytes(at.bytes)}`];
  if (b !== null) {
    const to = trace.totalAt(b);
    const grown = to.bytes - at.bytes;
    parts.push(el('b', { class: 'tag' }, 'B'), time(b, trace.axis),
      ` \u2013 ${bytes(to.bytes)} (${grown > 0 ? '+' : ''}${bytes(grown)})`);
  }
  replace(moments, el('span', { id: 'moments-text' }, parts));
  announce(moments.textContent);
}

/* Say over which lengths the curves are taken, if they are not exact. */
function showNote() {
  const { trace } = state;
  note.textContent = view === 'rate'
    ? `Each step is the mean over ${span(bins.length, trace.axis)}.`
    : stacked
      ? 'The curves of sites and modules are sampled: a change is shown up ' +
        `to ${span(trace.points.width, trace.axis)} late.` : '';
}

function draw() {
  const { unit, data, series } = columns(state.trace, 0,
    state.trace.meta.duration || 1);
  plot?.destroy();
  replace(legend);
  legend.hidden = !stacked;
  plot = new uPlot(options(state.trace, unit, series), data, host);
  plot.over.addEventListener('click', clickMoment);
  followFinger(plot.over);
  showNote();
  showMoments();
  showReadout(plot);
}

/* Offer the views for which the trace has data. */
function showViews() {
  const shown = VIEWS.filter(([key]) => state.trace.hasCurves ||
    !STACKED.has(key));
  if (!shown.some(([key]) => key === view))
    view = 'bytes';
  replace(views, choice('Show', shown, view, (v) => { view = v; draw(); }));
}

function zoomBy(factor) {
  const { min, max } = plot.scales.x;
  const center = state.moments.a >= min && state.moments.a <= max
    ? state.moments.a : (min + max) / 2;
  const half = (max - min) * factor / 2;
  plot.setScale('x', { min: center - half, max: center + half });
}

function zoomOut() {
  plot.setScale('x', { min: 0, max: state.trace.meta.duration || 1 });
}

const KEYS = {
  '+': () => zoomBy(0.5),
  '=': () => zoomBy(0.5),
  '-': () => zoomBy(2),
  0: zoomOut,
  Escape: zoomOut,
  Home: () => chooseMoments(0),
  End: () => chooseMoments(state.trace.meta.duration),
  p: () => chooseMoments(state.trace.totals.peakTime),
};

/* Arrow keys move the moment A.  With Shift, they move the moment B. */
function key(event) {
  if (event.target !== host || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (side) {
    const { min, max } = plot.scales.x;
    const { a, b } = state.moments;
    const move = (t) => Math.min(state.trace.meta.duration,
      Math.max(0, t + side * (max - min) / 100));
    if (event.shiftKey)
      chooseMoments(a, move(b ?? a));
    else
      chooseMoments(move(a));
  } else if (KEYS[event.key]) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

export function timeline() {
  host = el('div', {
    class: 'plot', id: 'timeline', tabIndex: 0, role: 'application',
    'aria-label': 'Heap over time. Left and right arrows move the moment A, ' +
      'with Shift they select a range up to B. Plus and minus zoom, 0 shows ' +
      'all, P goes to the peak.',
    onkeydown: key,
  });
  views = el('span', {});
  readout = el('p', { class: 'readout', id: 'readout' });
  legend = el('ul', { class: 'legend' });
  moments = el('p', { class: 'moments' });
  note = el('p', { class: 'hint', id: 'heap-note' });
  panel = el('section', { class: 'panel', id: 'heap' },
    el('h2', {}, 'Heap over time'),
    el('div', { class: 'tools' },
      views,
      segments('Dragging', [['zoom', 'Drag zooms'], ['select',
        'Drag selects']], drag, (v) => { drag = v; }),
      el('button', { type: 'button', id: 'zoom-out', disabled: true,
        onclick: zoomOut }, 'Show all'),
      readout),
    host, legend, note,
    el('ul', { class: 'keys', 'aria-hidden': 'true' },
      el('li', { class: 'peak' }, 'peak'),
      el('li', { class: 'birth' }, 'a thread begins'),
      el('li', { class: 'mark' }, 'mark of the program')),
    moments);
  on('trace', () => {
    showViews();
    draw();
  });
  on('moments', () => { plot.redraw(false); showMoments(); showReadout(plot); });
  onTheme(() => plot && draw());
  new ResizeObserver(() => soon(() => plot &&
    plot.width !== host.clientWidth && host.clientWidth &&
    plot.setSize({ width: host.clientWidth, height: HEIGHT }))).observe(host);
  return panel;
}

