/*
 * data.js - the data block (DATA.md), and the values that charts derive from it
 */

import { span } from './figures.js';

const VERSION = 1;

/* The measures of a site that the data block stores as columns. */
export const MEASURES = {
  peak: 'At the peak',
  end: 'At the end',
  alloc: 'Allocated',
  temp: 'Temporary',
  moved: 'Moved by realloc',
};

/* The measures that depend on the selected moments. */
export const MOMENT_MEASURES = {
  moment: 'At the moment A',
  growth: 'Growth from A to B',
  shrink: 'Decrease from A to B',
};

/* The index of the last element of sorted 'array' that is <= value, or -1. */
export function lastUpTo(array, value) {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

const UNSAFE = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c' +
  '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]', 'g');

/*
 * Text that is safe to show: control characters, and characters that change the
 * direction of writing, are spelt out.
 */
export function visible(text) {
  return text.replace(UNSAFE, (c) =>
    `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function visibleMeta(meta) {
  return Object.fromEntries(Object.entries(meta).map(([name, value]) =>
    [name, typeof value === 'string' ? visible(value) : value]));
}

/*
 * Return the series with more rows: one at the start of the trace, and one at
 * the end of each period without events.  Nothing changes in such a period.
 */
function fillSeries(series) {
  const names = ['time', 'bytes', 'blocks', 'max', 'allocBytes', 'allocBlocks'];
  const out = Object.fromEntries(names.map((n) => [n, [0]]));
  out.width = series.width;
  const add = (row) => names.forEach((n, i) => out[n].push(row[i]));
  let last = 0;

  series.time.forEach((time, i) => {
    const begin = (Math.ceil(time / series.width) - 1) * series.width;
    if (begin > out.time[last]) {
      add([begin, out.bytes[last], out.blocks[last], out.bytes[last], 0, 0]);
      last++;
    }
    add(names.map((n) => series[n][i]));
    last++;
  });
  return out;
}

export class Trace {
  constructor(raw, index) {
    Object.assign(this, raw);
    this.name = visible(raw.name);
    this.meta = visibleMeta(raw.meta);
    this.strings = raw.strings.map(visible);
    this.series = fillSeries(raw.series);
    this.health = raw.health.map(({ level, text }) =>
      ({ level, text: visible(text) }));
    this.index = index;
    this.siteCount = raw.sites.node.length;
    this.hasCurves = 'live' in raw.sites;
    this.sites.thread ??= raw.sites.node.map(() => -1);
    this.hasThreads = this.sites.thread.some((thread) => thread >= 0);
    this.marks ??= { time: [], text: [] };
    this.curves = new Map();
  }

  text(string) {
    return this.strings[string] ?? '';
  }

  frameName(frame) {
    if (frame < 0)
      return 'all';
    return this.text(this.frames.function[frame]) || '(unknown)';
  }

  /* FILE:LINE of a frame, or the empty string. */
  framePlace(frame) {
    const file = frame < 0 ? '' : this.text(this.frames.file[frame]);
    const line = frame < 0 ? 0 : this.frames.line[frame];
    return file && line ? `${file}:${line}` : file;
  }

  frameModule(frame) {
    return frame < 0 ? '' : this.text(this.frames.module[frame]);
  }

  frameFile(frame) {
    return frame < 0 ? '' : this.text(this.frames.file[frame]);
  }

  threadName(thread) {
    if (thread < 0)
      return '(several threads)';
    if (this.threads.id[thread] < 0)
      return this.text(this.threads.name[thread]);
    const name = this.text(this.threads.name[thread]);
    const id = this.threads.id[thread];
    return name ? `${name} (${id})` : `thread ${id}`;
  }

  /* The frames of a node's path, outermost first. */
  path(node) {
    const frames = [];
    for (let n = node; n > 0; n = this.nodes.parent[n])
      frames.push(this.nodes.frame[n]);
    return frames.reverse();
  }

  /* The live bytes or blocks of a site at each point. */
  curve(site, unit) {
    const key = site * 2 + (unit === 'blocks');
    let curve = this.curves.get(key);
    if (!curve) {
      curve = this.#decode(site, unit === 'blocks' ? 2 : 1);
      this.curves.set(key, curve);
    }
    return curve;
  }

  #decode(site, column) {
    const curve = new Float64Array(this.points.time.length);
    const live = this.sites.live?.[site] ?? [];
    let point = 0;
    let value = 0;
    for (let i = 0; i + 2 < live.length; i += 3) {
      for (let skip = live[i]; skip > 0; skip--)
        curve[point++] = value;
      value += live[i + column];
      curve[point++] = value;
    }
    curve.fill(value, point);
    return curve;
  }

  /* The live bytes or blocks of each site at the moment 'time'. */
  liveAt(time, unit) {
    const point = lastUpTo(this.points.time, time);
    const values = new Float64Array(this.siteCount);
    if (point >= 0)
      for (let s = 0; s < this.siteCount; s++)
        values[s] = this.curve(s, unit)[point];
    return values;
  }

  /* The value of each site for a measure. */
  values(measure, unit, moments) {
    if (measure in MEASURES)
      return this.sites[measure + (unit === 'bytes' ? 'Bytes' : 'Blocks')];
    const at = this.liveAt(moments.a, unit);
    if (measure === 'moment')
      return at;
    const sign = measure === 'growth' ? 1 : -1;
    return this.liveAt(moments.b, unit)
      .map((value, site) => Math.max(0, sign * (value - at[site])));
  }

  /* What is live in the whole heap at the moment 'time': {bytes, blocks}. */
  totalAt(time) {
    const row = lastUpTo(this.series.time, time);
    return row < 0 ? { bytes: 0, blocks: 0 }
      : { bytes: this.series.bytes[row], blocks: this.series.blocks[row] };
  }

  /* The most live bytes in the span that contains the moment 'time'. */
  mostAt(time) {
    const { time: ends, max } = this.series;
    return max[Math.min(lastUpTo(ends, time) + 1, max.length - 1)];
  }

  /* A sentence on how exact lifetimes are, or an empty string. */
  get resolution() {
    const { tick } = this.meta;
    return this.axis === 'us' && tick
      ? `The recorder's clock had steps of up to ${span(tick, 'us')}: a ` +
        'lifetime is exact to one step.' : '';
  }
}

/* The traces of the page's data block. */
export function readData(text) {
  const data = JSON.parse(text);
  if (data.version !== VERSION)
    throw new Error(`This page reads data of version ${VERSION}, ` +
      `not ${data.version}.`);
  if (!data.traces.length)
    throw new Error('It has no trace.');
  return data.traces.map((raw, index) => new Trace(raw, index));
}
