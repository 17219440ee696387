/*
 * rates.js - the allocation rate, in bins of equal length
 *
 * The spans of the series may be as short as a microsecond, and one block in
 * such a span would be terabytes per second.  So the rates are means over bins
 * that depend on the visible range only.
 */

const BINS = 200;

/* The length of bins in the range: 1, 2 or 5 times a power of ten. */
export function binLength(trace, from, to) {
  const least = Math.max((to - from) / BINS, trace.series.width,
    trace.meta.tick ?? 0);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((n) => n * power >= least) * power;
}

/*
 * Bytes allocated per second, or per event: [times, rates].  A span that
 * reaches into several bins counts in proportion.
 */
export function rates(trace, { from, to, length }) {
  const { time, allocBytes } = trace.series;
  const first = Math.floor(from / length);
  const count = Math.max(1, Math.ceil(to / length) - first);
  const sums = new Float64Array(count);
  const perSecond = (trace.axis === 'us' ? 1e6 : 1) / length;

  for (let i = 1; i < time.length; i++) {
    const width = time[i] - time[i - 1];
    const last = Math.ceil(time[i] / length) - 1 - first;
    let bin = Math.max(0, Math.floor(time[i - 1] / length) - first);
    for (; allocBytes[i] > 0 && bin <= last && bin < count; bin++) {
      const low = Math.max(time[i - 1], (first + bin) * length);
      const high = Math.min(time[i], (first + bin + 1) * length);
      sums[bin] += width > 0 ? allocBytes[i] * (high - low) / width
        : allocBytes[i];
    }
  }
  const times = [...sums].map((_, bin) => (first + bin + 1) * length);
  return [[first * length, ...times],
    [0, ...[...sums].map((sum) => sum * perSecond)]];
}
