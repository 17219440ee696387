/*
 * sites.js - the table of sites, which can be sorted and filtered; each row
 * opens to show its call paths
 */
import { choice, el, replace, segments, soon, svg } from './dom.js';
import { amount, exact, percent, span } from './figures.js';
import { MOMENT_MEASURES } from './data.js';
import { chooseSearch, on, state } from './state.js';

const PAGE = 50;
const PATHS = 8;

const SIZE_GROUPS = {
  site: 'Thread and size class',
  function: 'Size class',
  thread: 'Thread',
};
const GROUPS = {
  site: 'Site',
  function: 'Function',
  file: 'File',
  module: 'Module',
  thread: 'Thread',
};
/* The columns: [measure, heading]. */
const COLUMNS = [
  ['peak', 'At the peak'],
  ['end', 'At the end'],
  ['alloc', 'Allocated'],
  ['temp', 'Temporary'],
  ['moved', 'Moved'],
];

const view = { group: 'site', unit: 'bytes', sort: 'peak', down: true,
  filter: '', rows: PAGE, open: null };
let rows = [];
let panel, table, status, more, groups, clock;

function groupNames() {
  if (!state.trace.stacks)
    return SIZE_GROUPS;
  const { thread, ...others } = GROUPS;
  return state.trace.hasThreads ? { ...others, thread } : others;
}

function makeGroups() {
  if (!(view.group in groupNames()))
    view.group = 'site';
  replace(groups, choice('Group by', Object.entries(groupNames()), view.group,
    (v) => set('group', v)));
}

/* The name of a site in the selected grouping: [name, detail]. */
function naming(trace, site) {
  const frame = trace.sites.at[site];
  if (!trace.stacks && view.group !== 'function') {
    const thread = trace.frameName(trace.path(trace.sites.node[site])[0]);
    return view.group === 'thread' ? [thread, '']
      : [trace.frameName(frame), thread];
  }
  switch (view.group) {
  case 'module':
    return [trace.frameModule(frame) || '(unknown module)', ''];
  case 'file':
    return [trace.frameFile(frame) || '(unknown file)', ''];
  case 'thread':
    return [trace.threadName(trace.sites.thread[site]), ''];
  case 'function':
    return [trace.frameName(frame), trace.frameModule(frame)];
  default:
    return [trace.frameName(frame),
      trace.framePlace(frame) || trace.frameModule(frame)];
  }
}

/*
 * The columns.  A measure of moments is among them only if the reader has
 * selected moments.
 */
function columns() {
  if (!state.chosen || !state.trace.hasCurves)
    return COLUMNS;
  const name = state.moments.b === null ? 'moment' : 'growth';
  return [[name, MOMENT_MEASURES[name]], ...COLUMNS];
}

function makeRows() {
  const { trace, moments } = state;
  const values = Object.fromEntries(columns().map(([measure]) =>
    [measure, trace.values(measure, view.unit, moments)]));
  const groups = new Map();

  for (let site = 0; site < trace.siteCount; site++) {
    const [name, detail] = naming(trace, site);
    const key = `${name}\n${detail}`;
    let row = groups.get(key);
    if (!row) {
      row = { key, name, detail, sites: [], life: 0, freed: 0,
        module: trace.frameModule(trace.sites.at[site]) };
      for (const measure in values)
        row[measure] = 0;
      groups.set(key, row);
    }
    row.sites.push(site);
    for (const measure in values)
      row[measure] += values[measure][site];
    addLife(trace, row, site);
  }
  rows = [...groups.values()];
}

function addLife(trace, row, site) {
  const freed = trace.sites.allocBlocks[site] - trace.sites.endBlocks[site];
  if (trace.sites.life[site] < 0 || freed <= 0)
    return;
  row.life += trace.sites.life[site] * freed;
  row.freed += freed;
}

function meanLife(row) {
  return row.freed ? row.life / row.freed : -1;
}

/* A mean lifetime, which the clock may have been too coarse to measure. */
function lifeOf(life, trace) {
  return trace.axis === 'us' && life < (trace.meta.tick ?? 0)
    ? `< ${span(trace.meta.tick, 'us')}` : span(life, trace.axis);
}

function selected() {
  const part = view.filter.toLowerCase();
  const sign = view.down ? -1 : 1;
  const by = {
    name: (a, b) => a.name.localeCompare(b.name),
    life: (a, b) => meanLife(a) - meanLife(b),
  }[view.sort] ?? ((a, b) => a[view.sort] - b[view.sort]);
  return rows.filter((r) => `${r.name} ${r.detail} ${r.module}`.toLowerCase()
    .includes(part)).sort((a, b) => sign * by(a, b));
}

/* A small curve of the live bytes or blocks of the sites. */
function spark(trace, sites) {
  const sum = new Float64Array(trace.points.time.length);
  for (const site of sites)
    trace.curve(site, view.unit).forEach((v, i) => { sum[i] += v; });
  const high = Math.max(...sum, 1);
  const end = trace.meta.duration || 1;
  let path = 'M0 20';
  trace.points.time.forEach((t, i) => {
    path += `H${(100 * t / end).toFixed(1)}V${(20 - 18 * sum[i] / high)
      .toFixed(1)}`;
  });
  return svg('svg', { viewBox: '0 0 100 20', preserveAspectRatio: 'none',
    class: 'spark', role: 'img', 'aria-label': 'live over time' },
  svg('path', { d: `${path}H100V20Z` }));
}

function heading(key, text) {
  const active = view.sort === key;
  return el('th', { scope: 'col', class: key === 'name' ? '' : 'number',
    'aria-sort': active ? view.down ? 'descending' : 'ascending' : 'none' },
  el('button', { type: 'button', 'data-sort': key, onclick: () => {
    view.down = active ? !view.down : key !== 'name';
    view.sort = key;
    draw();
    table.querySelector(`[data-sort="${key}"]`).focus();
  } }, text, el('i', { 'aria-hidden': 'true' },
    active ? view.down ? ' \u2193' : ' \u2191' : '')));
}

function number(value, high) {
  const td = el('td', { class: 'number' },
    value ? amount(value, view.unit).replace(/ blocks?$/, '') : '\u2013');
  if (value && high)
    td.style.setProperty('--part', `${Math.max(0, 100 * value / high)}%`);
  td.title = exact(value);
  return td;
}

/* The call paths of a row, largest first. */
function paths(trace, row) {
  const measure = row.sites.length && view.sort in row &&
    !['name', 'life'].includes(view.sort) ? view.sort : 'alloc';
  const values = trace.values(measure, view.unit, state.moments);
  const sites = [...row.sites].sort((a, b) => values[b] - values[a]);
  const list = sites.slice(0, PATHS).map((site) => {
    const frames = trace.path(trace.sites.node[site]).reverse();
    return el('li', {}, el('b', {}, amount(values[site], view.unit)),
      el('ol', {}, frames.map((f) => el('li', {}, trace.frameName(f),
        el('small', {}, ` ${trace.framePlace(f) || trace.frameModule(f)}`)))));
  });
  return el('div', { class: 'paths' },
    el('button', { type: 'button', onclick: () => {
      chooseSearch(row.name);
      document.getElementById('stacks').scrollIntoView();
    } }, 'Find in the call stacks'),
    el('ul', {}, list),
    sites.length > PATHS &&
      el('p', { class: 'hint' }, `and ${sites.length - PATHS} more ` +
        (sites.length - PATHS === 1 ? 'path' : 'paths')));
}

function rowOf(trace, row, highs) {
  const open = view.open === row.key;
  const name = el('button', { type: 'button', class: 'site',
    'aria-expanded': String(open), onclick: () => {
      view.open = open ? null : row.key;
      draw();
      table.querySelector('[data-last]')?.focus();
    }, 'data-last': open || undefined },
  el('span', {}, row.name), row.detail && el('small', {}, row.detail));
  const cells = [
    el('tr', {}, el('th', { scope: 'row' }, name),
      columns().map(([m]) => number(row[m], highs[m])),
      el('td', { class: 'number' }, meanLife(row) < 0 ? '\u2013'
        : lifeOf(meanLife(row), trace)),
      trace.hasCurves && el('td', {}, spark(trace, row.sites)))];
  if (open)
    cells.push(el('tr', { class: 'detail' },
      el('td', { colspan: columns().length + 3 }, paths(trace, row))));
  return cells;
}

function draw() {
  const { trace } = state;
  const shown = selected();
  const highs = Object.fromEntries(columns().map(([m]) =>
    [m, Math.max(...rows.map((r) => r[m]), 0)]));

  replace(table,
    el('thead', {}, el('tr', {}, heading('name', groupNames()[view.group]),
      columns().map(([m, text]) => heading(m, text)),
      heading('life', 'Mean lifetime'),
      trace.hasCurves && el('th', { scope: 'col' }, 'Live over time'))),
    el('tbody', {}, shown.slice(0, view.rows)
      .map((row) => rowOf(trace, row, highs))));
  clock.textContent = trace.resolution;
  const sum = shown.reduce((s, r) => s + (r[view.sort] || 0), 0);
  const whole = rows.reduce((s, r) => s + (r[view.sort] || 0), 0);
  status.textContent = `${exact(shown.length)} of ${exact(rows.length)}` +
    (view.filter && whole ? `: ${amount(sum, view.unit)}, ` +
      percent(sum, whole) : '');
  more.hidden = shown.length <= view.rows;
}

function renew() {
  if (!columns().some(([m]) => m === view.sort) &&
    !['name', 'life'].includes(view.sort))
    view.sort = 'peak';
  makeRows();
  draw();
}

function set(name, value) {
  view[name] = value;
  view.open = null;
  renew();
}

export function sites() {
  table = el('table', { class: 'sites' });
  groups = el('span', {});
  status = el('span', { id: 'sites-status', role: 'status' });
  clock = el('p', { class: 'hint' });
  more = el('button', { type: 'button', onclick: () => {
    view.rows += 4 * PAGE;
    draw();
  } }, 'Show more');
  const filter = el('input', { type: 'search', id: 'sites-filter',
    placeholder: 'Filter by name, file or module',
    'aria-label': 'Filter sites', oninput: () => {
      view.filter = filter.value;
      view.rows = PAGE;
      soon(draw);
    } });
  panel = el('section', { class: 'panel', id: 'sites' },
    el('h2', {}, 'Sites'),
    el('div', { class: 'tools' },
      groups,
      segments('Unit', [['bytes', 'Bytes'], ['blocks', 'Blocks']], view.unit,
        (v) => set('unit', v)), filter, status),
    el('div', { class: 'scroll', tabIndex: 0, role: 'region',
      'aria-label': 'Table of sites' }, table), more, clock);
  on('trace', () => {
    makeGroups();
    renew();
  });
  on('moments', () => soon(renew));
  return panel;
}
