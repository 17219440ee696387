/*
 * state.js - what the reader has selected, and the listeners for changes of it
 *
 * trace: the trace that the page shows.  moments: a and b are times on the axis
 * of this trace; b is null if only one moment is selected.  chosen: true after
 * the reader has selected moments.  search: the text that the flame graph
 * highlights.
 */

const listeners = new Map();

export const state = {
  traces: [],
  trace: null,
  moments: { a: 0, b: null },
  search: '',
};

/* Call 'listener' after each change of 'topic': trace, moments, search. */
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
