/* overview.js - the figures at the top, and the health of the trace */
import { el, replace } from './dom.js';
import { bytes, count, exact, exactBlocks, percent, span, time } from './figures.js';
import { chooseMoments, on, state } from './state.js';

export function tile(title, value, detail, action) {
  return el(action ? 'button' : 'div',
    action ? { type: 'button', class: 'tile', onclick: action }
      : { class: 'tile' },
    el('span', {}, title), el('b', {}, value), el('small', {}, detail));
}

function tiles(trace) {
  const { totals: t, meta } = trace;
  return [
    tile('Peak', bytes(t.peakBytes),
      `${exactBlocks(t.peakBlocks)} at ${time(t.peakTime, trace.axis)}`,
      () => chooseMoments(t.peakTime)),
    tile('Live at the end', bytes(t.endBytes),
      `${exactBlocks(t.endBlocks)}, ${percent(t.endBytes, t.peakBytes)} ` +
      'of the peak', () => chooseMoments(meta.duration)),
    tile('Allocated', bytes(t.allocBytes), exactBlocks(t.allocBlocks)),
    tile('Temporary', percent(t.tempBlocks, t.allocBlocks),
      `${exactBlocks(t.tempBlocks)}, ${bytes(t.tempBytes)}`),
    tile('Moved by realloc', bytes(t.movedBytes),
      `copied by ${exact(t.movedBlocks)} ` +
      (t.movedBlocks === 1 ? 'call' : 'calls')),
    tile('Recorded', trace.axis === 'us' ? span(meta.duration, 'us')
      : `${count(meta.events)} events`,
    `${count(meta.events)} events, ${exact(t.threads)} ` +
      (t.threads === 1 ? 'thread' : 'threads')),
  ];
}

function origin({ meta }) {
  return [meta.pid && `process ${meta.pid}`, meta.host && `on ${meta.host}`,
    meta.started && meta.started.replace('T', ' ').replace('Z', ' UTC')]
    .filter(Boolean).join(' ');
}

export function overview() {
  const command = el('code', {});
  const from = el('span', {});
  const box = el('div', { class: 'tiles' });
  on('trace', () => {
    command.textContent = state.trace.meta.command ?? state.trace.name;
    from.textContent = origin(state.trace);
    document.title = `${state.trace.name} \u2013 heap report`;
    replace(box, tiles(state.trace));
  });
  return el('section', { id: 'overview', 'aria-label': 'Overview' },
    el('p', { class: 'command' }, command, from), box);
}

const SIGNS = { ok: ['\u2713', 'fine'], note: ['i', 'note'],
  bad: ['!', 'problem'] };

/* Why a trace has no call stacks. */
function withoutStacks({ meta }) {
  return Number(meta.events) === 0
    ? el('span', {}, 'This trace has no events.')
    : el('span', {}, 'This trace has no call stacks, so a site is a thread ' +
      'and a size class. For functions and lines, record with ',
    el('code', {}, 'hatf record -g on'), '.');
}

export function health() {
  const list = el('ul', { class: 'health' });
  on('trace', () => replace(list, state.trace.health.map(({ level, text }) => {
    const [sign, word] = SIGNS[level] ?? SIGNS.note;
    return el('li', { class: level in SIGNS ? level : 'note' },
      el('b', { 'aria-label': word }, sign), el('span', {}, text));
  }), !state.trace.stacks && el('li', { class: 'note' },
    el('b', { 'aria-label': 'note' }, 'i'), withoutStacks(state.trace))));
  return el('section', { class: 'panel', id: 'health' },
    el('h2', {}, 'Health of the trace'), list);
}
