/*
 * flame.js - the flame graph and the icicle
 *
 * d3-hierarchy lays the tree out.  A canvas shows it, because a trace may have
 * more frames than a page can have elements.  The layout leaves out frames
 * narrower than a third of a pixel; zooming into their callers shows them.
 */
import { hierarchy, partition } from 'd3-hierarchy';
import { announce, choice, el, replace, segments, sizedContext, soon }
  from './dom.js';
import { amount, percent, time } from './figures.js';
import { MEASURES, MOMENT_MEASURES } from './data.js';
import { buildTree, GROUPS } from './tree.js';
import { chooseSearch, on, state } from './state.js';
import { color, hue, isDark, onTheme } from './theme.js';
import { hideTooltip, showTooltip } from './tooltip.js';

const ROW = 20;
const NARROWEST = 1 / 3;

const chosen = { measure: 'peak', unit: 'bytes', group: 'function',
  shape: 'flame', inverted: false };
let root, zoomed, focused, boxes, matches, unit;
let panel, host, canvas, note, found, crumbs, searchField;
let depth = 0; /* rows of the picture */
let toRoot = false; /* the next draw() makes the root visible */
let controls = null;

/* ------------------------------------------------------------- the tree */

function makeTree() {
  const { trace, moments } = state;
  const { measure, group, inverted } = chosen;

  unit = chosen.unit;
  note.textContent = '';
  if (group === 'thread' && trace.pairs) {
    if (!(measure in MEASURES))
      note.textContent = 'By thread, the trace has what is live at the peak ' +
        'and at the end only: this is the peak.';
    const name = measure in MEASURES ? measure : 'peak';
    return buildTree(trace, trace.pairs,
      trace.pairs[name + (unit === 'bytes' ? 'Bytes' : 'Blocks')], group,
      inverted);
  }
  if (!(measure in MEASURES))
    note.textContent = momentNote(trace, moments);
  const range = { a: moments.a, b: moments.b ?? trace.meta.duration };
  return buildTree(trace, trace.sites, trace.values(measure, unit, range),
    group, inverted);
}

function momentNote(trace, { a, b }) {
  const end = b === null ? 'the end' : time(b, trace.axis);
  return chosen.measure === 'moment' ? `A is ${time(a, trace.axis)}.`
    : `From A, ${time(a, trace.axis)}, to ${end}.`;
}

/* The frames from the root to 'node'. */
function ancestors(node) {
  const path = [];
  for (let n = node; n; n = n.parent)
    path.push(n);
  return path.reverse();
}

/*
 * Lay out 'zoomed' and its descendants.  'zoomed' and its ancestors fill the
 * width.
 */
function layOut(width) {
  const smallest = zoomed.value * NARROWEST / width;
  const tree = hierarchy(zoomed, (node) => node.children
    .filter((child) => child.value >= smallest)
    .sort((a, b) => b.value - a.value));
  tree.each((d) => { d.value = d.data.value; });
  partition()(tree);

  boxes = ancestors(zoomed).slice(0, -1)
    .map((node, row) => ({ node, x: 0, width, row, above: true }));
  tree.each((d) => {
    boxes.push({ node: d.data, x: d.x0 * width, width: (d.x1 - d.x0) * width,
      row: d.depth + zoomed.depth });
  });
  /*
   * Never reduce 'depth', so that the picture keeps its height when the reader
   * zooms.
   */
  for (const { row } of boxes)
    depth = Math.max(depth, row + 1);
}

/* ----------------------------------------------------------- the search */

/*
 * Return a test of labels.  'text' is a regular expression between slashes, or
 * otherwise a part of the label.  The test ignores case.
 */
function matcher(text) {
  const pattern = /^\/(.+)\/$/.exec(text);
  if (pattern) {
    try {
      const regexp = new RegExp(pattern[1], 'i');
      return (label) => regexp.test(label);
    } catch {
      return () => false;
    }
  }
  const part = text.toLowerCase();
  return (label) => label.toLowerCase().includes(part);
}

/*
 * Mark the frames that match the search, and show the sum of the outermost
 * ones.
 */
function search() {
  matches = null;
  found.textContent = '';
  if (!state.search)
    return;
  const test = matcher(state.search);
  matches = new Set();
  let sum = 0;
  const visit = (node, inside) => {
    const hit = node.parent && test(node.label);
    if (hit)
      matches.add(node);
    if (hit && !inside)
      sum += node.value;
    if (node.map)
      for (const child of node.map.values())
        visit(child, inside || hit);
  };
  visit(root, false);
  found.textContent = `${matches.size} ` +
    `${matches.size === 1 ? 'frame matches' : 'frames match'}: ` +
    `${amount(sum, unit)}, ` +
    percent(sum, root.value);
}

/* ---------------------------------------------------------- the picture */

function paintOf(node) {
  if (!node.parent)
    return color('--flame-root');
  const name = node.frame >= 0 && chosen.group !== 'file'
    ? state.trace.frameModule(node.frame) : node.label;
  let shade = 0; /* Functions of a module have similar colours. */
  for (let i = 0; i < node.label.length; i++)
    shade = (shade * 31 + node.label.charCodeAt(i)) % 97;
  const turned = hue(name) + shade % 13 * 5 - 30;
  return isDark() ? `hsl(${turned} 34% ${27 + shade % 9}%)`
    : `hsl(${turned} 62% ${76 + shade % 9}%)`;
}

/* The longest beginning of 'text' that fits into 'width'. */
function fit(context, text, width) {
  if (context.measureText(text).width <= width)
    return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}\u2026`).width <= width)
      low = middle;
    else
      high = middle - 1;
  }
  return low > 1 ? `${text.slice(0, low)}\u2026` : '';
}

function topOf(box) {
  return chosen.shape === 'flame' ? (depth - 1 - box.row) * ROW
    : box.row * ROW;
}

function drawBox(context, box) {
  const { node } = box;
  const top = topOf(box);
  const width = Math.max(0.4, box.width - (box.width > 3 ? 1 : 0));

  context.globalAlpha = box.above ? 0.5
    : matches && !matches.has(node) ? 0.28 : 1;
  context.fillStyle = matches?.has(node) ? color('--match') : paintOf(node);
  context.fillRect(box.x, top, width, ROW - 1);
  context.globalAlpha = matches && !matches.has(node) ? 0.6 : 1;
  if (box.width > 24) {
    context.fillStyle = matches?.has(node) ? color('--match-ink')
      : color('--flame-ink');
    context.fillText(fit(context, node.label, width - 8), box.x + 4,
      top + ROW / 2);
  }
  if (node === focused) {
    context.globalAlpha = 1;
    context.strokeStyle = color('--ink');
    context.lineWidth = 2;
    context.strokeRect(box.x + 1, top + 1, Math.max(1, width - 2), ROW - 3);
  }
}

function draw() {
  const width = host.clientWidth;
  if (!root || !width)
    return;
  layOut(width);
  const context = sizedContext(canvas, width, depth * ROW);
  context.clearRect(0, 0, width, depth * ROW);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  for (const box of boxes)
    drawBox(context, box);
  context.globalAlpha = 1;
  canvas.dataset.frames = boxes.length;
  canvas.dataset.total = root.value;
  if (toRoot)
    host.scrollTop = chosen.shape === 'flame' ? host.scrollHeight : 0;
  toRoot = false;
}

/* Deep stacks make a picture that scrolls: show the row of a frame. */
function reveal(node) {
  const box = boxes.find((b) => b.node === node);
  if (!box)
    return;
  const top = topOf(box);
  if (top < host.scrollTop)
    host.scrollTop = top;
  else if (top + ROW > host.scrollTop + host.clientHeight)
    host.scrollTop = top + ROW - host.clientHeight;
}

/*
 * Name the frame that fills the width, beside a button that zooms back to the
 * root.  Call this function only if that frame changes, and not in draw().
 * When the reader presses the button, the graph loses the focus and draw()
 * runs.  If draw() put a new button in place of the pressed one, the click
 * would have no effect.
 */
function showCrumbs() {
  const path = ancestors(zoomed);
  replace(crumbs, path.length > 1 && [
    el('button', { type: 'button', id: 'flame-reset', onclick: () =>
      zoom(root) }, 'Show all'),
    el('span', {}, `${zoomed.label}: ${amount(zoomed.value, unit)}, ` +
      percent(zoomed.value, root.value)),
  ], !root.value && el('span', { class: 'empty' }, 'Nothing to show here.'));
}

/* Make a new tree, and reset zoom and focus. */
function renew() {
  root = makeTree();
  depth = 0;
  toRoot = true;
  zoomed = root;
  focused = null;
  search();
  showCrumbs();
  soon(draw);
}

/* --------------------------------------------------- pointer and keyboard */

function boxAt(event) {
  const area = canvas.getBoundingClientRect();
  const x = event.clientX - area.left;
  const line = Math.floor((event.clientY - area.top) / ROW);
  const row = chosen.shape === 'flame' ? depth - 1 - line : line;
  return boxes.find((b) => b.row === row && x >= b.x && x < b.x + b.width);
}

/* The text about a frame. */
function describe(node) {
  const { trace } = state;
  const lines = [node.label];
  if (node.frame >= 0) {
    lines.push(trace.framePlace(node.frame));
    lines.push(trace.frameModule(node.frame));
  }
  lines.push([amount(node.value, unit), percent(node.value, root.value)]);
  if (node.own && node.map)
    lines.push(['allocated here itself', amount(node.own, unit)]);
  return lines;
}

function zoom(node) {
  zoomed = node;
  focused = node;
  showCrumbs();
  draw();
  reveal(node);
  announce(describe(node).flat().join(', '));
}

function focus(node) {
  if (!node)
    return;
  focused = node;
  draw();
  reveal(node);
  const box = boxes.find((b) => b.node === node);
  const area = canvas.getBoundingClientRect();
  if (box)
    showTooltip(area.left + Math.max(0, box.x), area.top + topOf(box) + ROW,
      describe(node));
  announce(describe(node).flat().join(', '));
}

/* The visible frame beside the focused one: left (-1) or right (1). */
function sibling(side) {
  const row = boxes.filter((b) => b.row === focused.depth)
    .sort((a, b) => a.x - b.x);
  return row[row.findIndex((b) => b.node === focused) + side]?.node;
}

function firstChild() {
  return boxes.find((b) => b.node.parent === focused)?.node;
}

function key(event) {
  if (event.target !== host || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const up = chosen.shape === 'flame' ? firstChild : () => focused.parent;
  const down = chosen.shape === 'flame' ? () => focused.parent : firstChild;
  focused ??= zoomed;
  const moves = {
    ArrowUp: () => focus(up()),
    ArrowDown: () => focus(down()),
    ArrowLeft: () => focus(sibling(-1)),
    ArrowRight: () => focus(sibling(1)),
    Enter: () => zoom(focused),
    Backspace: () => zoom(zoomed.parent ?? zoomed),
    Escape: () => { hideTooltip(); zoom(root); },
    '/': () => searchField.focus(),
  };
  if (!moves[event.key])
    return;
  moves[event.key]();
  event.preventDefault();
}

function point(event) {
  const box = boxAt(event);
  canvas.style.cursor = box ? 'pointer' : '';
  if (box)
    showTooltip(event.clientX, event.clientY, describe(box.node));
  else
    hideTooltip();
}

/*
 * Zoom to the frame of a click or a tap.  The click also moves the focus, which
 * hides the tooltip, so show the tooltip again.
 */
function press(event) {
  const box = boxAt(event);
  if (!box)
    return;
  zoom(box.node);
  showTooltip(event.clientX, event.clientY, describe(box.node));
}

/* ------------------------------------------------------------- controls */

function set(name, value) {
  chosen[name] = value;
  renew();
}

function measures() {
  return Object.entries({ ...MEASURES,
    ...state.trace.hasCurves ? MOMENT_MEASURES : {} });
}

function makeControls() {
  replace(controls,
    choice('Show', measures(), chosen.measure, (v) => set('measure', v)),
    choice('Group by', Object.entries(state.trace.stacks ? GROUPS
      : { function: 'Thread and size class' }), chosen.group,
    (v) => set('group', v)),
    segments('Unit', [['bytes', 'Bytes'], ['blocks', 'Blocks']], chosen.unit,
      (v) => set('unit', v)),
    segments('Shape', [['flame', 'Flames'], ['icicle', 'Icicle']],
      chosen.shape, (v) => {
        chosen.shape = v;
        toRoot = true;
        soon(draw);
      }),
    searchField,
    el('label', { class: 'check' }, el('input', { type: 'checkbox',
      id: 'inverted', checked: chosen.inverted,
      onchange: (e) => set('inverted', e.target.checked) }),
    state.trace.stacks ? 'allocating function first' : 'size class first'));
}

export function flame() {
  canvas = el('canvas', { 'aria-hidden': 'true', onmousemove: point,
    onmouseleave: hideTooltip,
    onclick: press });
  host = el('div', { class: 'flame', id: 'flame', tabIndex: 0,
    role: 'application', onkeydown: key, onblur: () => {
      focused = null; hideTooltip(); soon(draw);
    }, 'aria-label': 'Call stacks. Arrows move between frames, Enter zooms, ' +
      'Backspace goes back, Escape shows all, slash searches. The table of ' +
      'sites has the same figures.' }, canvas);
  searchField = el('input', { type: 'search', id: 'flame-search',
    placeholder: 'Search, or /pattern/', 'aria-label': 'Search frames',
    oninput: () => chooseSearch(searchField.value) });
  note = el('span', { class: 'hint' });
  found = el('span', { id: 'flame-found', role: 'status' });
  crumbs = el('div', { class: 'crumbs' });
  controls = el('div', { class: 'tools' });
  panel = el('section', { class: 'panel', id: 'stacks' },
    el('h2', {}, 'Who allocates'), controls,
    el('div', { class: 'tools' }, note, found, crumbs), host);
  on('trace', () => {
    if (!state.trace.stacks)
      chosen.group = 'function';
    if (!state.trace.hasCurves && !(chosen.measure in MEASURES))
      chosen.measure = 'peak';
    makeControls();
    renew();
  });
  on('moments', () => {
    if (!(chosen.measure in MEASURES))
      renew();
  });
  on('search', () => {
    searchField.value = state.search;
    search();
    soon(draw);
  });
  onTheme(() => root && draw());
  new ResizeObserver(() => soon(draw)).observe(host);
  return panel;
}
