/* main.js - put the page together */
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { el, licences, segments } from './dom.js';
import { readData } from './data.js';
import { chooseTrace, state } from './state.js';
import { startTheme, themeSwitch } from './theme.js';
import { startTooltip } from './tooltip.js';
import { timeline } from './timeline.js';
import { flame } from './flame.js';
import { sites } from './sites.js';
import { lifetimes } from './lifetimes.js';
import { matrix } from './matrix.js';
import { addresses } from './addresses.js';
import { health, overview } from './overview.js';
import { comparison } from './compare.js';

const SECTIONS = [
  ['compare', 'Comparison'],
  ['heap', 'Heap'],
  ['stacks', 'Call stacks'],
  ['sites', 'Sites'],
  ['lifetimes', 'Lifetimes'],
  ['threads', 'Threads'],
  ['addresses', 'Addresses'],
  ['health', 'Health'],
];

function header() {
  const { traces } = state;
  return el('header', {},
    el('h1', {}, 'Heap report'),
    traces.length > 1 && segments('Trace',
      traces.map((t, i) => [String(i), t.name]), '0',
      (value) => chooseTrace(Number(value))),
    el('nav', { 'aria-label': 'Sections' }),
    themeSwitch());
}

/* Make links to the sections that this report has. */
function fillNavigation() {
  const links = SECTIONS.filter(([id]) => {
    const section = document.getElementById(id);
    return section && !section.hidden;
  }).map(([id, text]) => el('a', { href: `#${id}` }, text));
  document.querySelector('nav').replaceChildren(...links);
}

function build() {
  state.traces = readData(document.getElementById('data').textContent);
  startTheme();
  document.body.append(header());
  document.body.append(el('main', {}, overview(), comparison(), timeline(),
    flame(), sites(), lifetimes(),
    matrix(), addresses(), health()), licences());
  startTooltip();
  chooseTrace(0);
  fillNavigation();
  document.body.dataset.ready = 'yes';
}

try {
  build();
} catch (error) {
  document.body.append(el('p', { class: 'failure', role: 'alert' },
    `This report cannot be shown. ${error.message}`));
  throw error;
}
