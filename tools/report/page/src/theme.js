/*
 * theme.js - light and dark, and the colours that canvases need
 *
 * style.css defines the colours, as properties; canvases read the properties.
 * Only flame.js and matrix.js have colours of their own.
 */
import { scaleLog, scaleLinear } from 'd3-scale';
import { el } from './dom.js';
import { count, exact, tickTime, timeSteps } from './figures.js';

const root = document.documentElement;
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = [];
let chosen = null; /* 'light', 'dark', or null: follow the system */
let cache = new Map();

export function isDark() {
  return root.dataset.theme === 'dark';
}

export function onTheme(listener) {
  listeners.push(listener);
}

function apply(theme) {
  if (root.dataset.theme === theme)
    return;
  root.dataset.theme = theme;
  cache = new Map();
  for (const listener of listeners)
    listener();
}

function settle() {
  apply(chosen ?? (dark.matches ? 'dark' : 'light'));
}

/* The value of a property such as '--ink'. */
export function color(name) {
  if (!cache.has(name))
    cache.set(name, getComputedStyle(root).getPropertyValue(name).trim());
  return cache.get(name);
}

/*
 * The colour of a category: the first eight have colours of their own, all
 * others are grey.
 */
export function category(index) {
  return color(index < 8 ? `--cat-${index}` : '--cat-other');
}

/* The style of a chart's axis. */
export function axisStyle() {
  return {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1, size: 4 },
    font: '12px system-ui, sans-serif',
  };
}

/* The horizontal axis of a chart, for a trace with this kind of axis. */
export function timeAxis(kind) {
  const label = (value, step, top) => kind === 'us'
    ? tickTime(value, step, top) : step >= 1000 ? count(value) : exact(value);
  return {
    ...axisStyle(),
    space: 90,
    size: 34,
    ...kind === 'us' ? { incrs: timeSteps() } : {},
    values: (_, ticks, index, space, step) =>
      ticks.map((tick) => label(tick, step, ticks.at(-1))),
  };
}

/*
 * A scale of colours for numbers from 'low' to 'high'; logarithmic by default.
 */
export function heat(low, high, linear) {
  const scale = linear ? scaleLinear() : scaleLog();
  const top = high > low ? high : low * 2 || 1;
  const middle = linear ? (low + top) / 2 : Math.sqrt(low * top);
  return scale.domain([low, middle, top]).clamp(true)
    .range([color('--heat-0'), color('--heat-1'), color('--heat-2')]);
}

/* A stable hue for a name. */
export function hue(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++)
    hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return ((hash >>> 0) % 24) * 15;
}

/* The switch in the header. */
export function themeSwitch() {
  const button = el('button', {
    type: 'button',
    class: 'icon',
    id: 'theme',
    onclick: () => {
      chosen = isDark() ? 'light' : 'dark';
      settle();
    },
  });
  const label = () => {
    const other = isDark() ? 'light' : 'dark';
    button.textContent = isDark() ? '\u2600' : '\u263d';
    button.setAttribute('aria-label', `Switch to ${other} colours`);
    button.title = `Switch to ${other} colours`;
  };
  onTheme(label);
  label();
  return button;
}

export function startTheme() {
  dark.addEventListener('change', settle);
  settle();
  /* For white paper: draw canvases again, light and with more pixels. */
  window.addEventListener('beforeprint', () => {
    root.dataset.printing = 'yes';
    root.dataset.theme = '';
    apply('light');
  });
  window.addEventListener('afterprint', () => {
    delete root.dataset.printing;
    root.dataset.theme = '';
    settle();
  });
}
