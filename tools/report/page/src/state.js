/*
 * state.js - what the reader has chosen, and who wants to know
 *
 * trace: the one that is shown.  moments: a and b are times of its axis; b is
 * null where one moment is selected.  search: what the flame graph highlights.
 */

const listeners = new Map();

export const state = {
  traces: [],
  trace: null,
  moments: { a: 0, b: null },
  search: '',
};

/* Call 'listener' after 'topic' ('trace', 'moments', 'search') changed. */
export function on(topic, listener) {
  listeners.set(topic, [...listeners.get(topic) ?? [], listener]);
}

function tell(topic) {
  for (const listener of listeners.get(topic) ?? [])
    listener();
}

export function chooseTrace(index) {
  state.trace = state.traces[index];
  state.moments = { a: state.trace.totals.peakTime, b: null };
  state.chosen = false;
  tell('trace');
}

export function chooseMoments(a, b = null) {
  state.moments = b !== null && b < a ? { a: b, b: a } : { a, b };
  state.chosen = true;
  tell('moments');
}

export function chooseSearch(text) {
  state.search = text;
  tell('search');
}
