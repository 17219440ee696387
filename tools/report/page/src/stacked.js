/*
 * stacked.js - the live bytes of the largest sites or modules, stacked
 *
 * uPlot fills each curve down to 0.  To stack the curves, each is replaced by
 * the sum of itself and all earlier ones, and the largest sum is drawn first.
 */

const SHOWN = 8;

/* The name of a site in a view. */
function nameOf(trace, view, site) {
  const frame = trace.sites.at[site];
  if (view === 'modules')
    return trace.frameModule(frame) || '(unknown module)';
  return trace.frameName(frame);
}

/* Map from name to the sum of its sites' curves. */
function curvesByName(trace, view) {
  const sums = new Map();
  for (let site = 0; site < trace.siteCount; site++) {
    const name = nameOf(trace, view, site);
    const curve = trace.curve(site, 'bytes');
    const sum = sums.get(name);
    if (!sum)
      sums.set(name, Float64Array.from(curve));
    else
      curve.forEach((value, i) => { sum[i] += value; });
  }
  return sums;
}

function add(curves, length) {
  const sum = new Float64Array(length);
  for (const curve of curves)
    curve.forEach((value, i) => { sum[i] += value; });
  return sum;
}

/* {names, curves, sums, hasOthers}; sums[0] is the sum of all curves. */
export function stackedCurves(trace, view) {
  const all = [...curvesByName(trace, view)]
    .map(([name, curve]) => ({ name, curve, top: Math.max(...curve, 0) }))
    .filter((c) => c.top > 0)
    .sort((a, b) => b.top - a.top);
  const length = trace.points.time.length;
  const shown = all.slice(0, SHOWN);
  const rest = all.slice(SHOWN);

  if (rest.length)
    shown.push({
      name: `${rest.length} others`,
      curve: add(rest.map((c) => c.curve), length),
    });
  /* The first name is at the bottom. */
  const sums = [];
  for (let i = shown.length; i > 0; i--)
    sums.push([...add(shown.slice(0, i).map((c) => c.curve), length)]);
  return {
    names: shown.map((c) => c.name),
    curves: shown.map((c) => c.curve),
    sums,
    hasOthers: rest.length > 0,
  };
}
