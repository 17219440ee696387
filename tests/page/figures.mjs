/*
 * figures.mjs - how the page writes durations
 */
import { span, tickTime } from '../../tools/report/page/src/figures.js';

const wanted = [
  [0, '0 s'], [1.5, '1.5 µs'], [999, '999 µs'], [1500, '1.5 ms'],
  [59.9e6, '59.9 s'], [119e6, '1 min 59 s'], [125e6, '2 min 05 s'],
  [131.504e6, '2 min 11 s'], [179.7e6, '2 min 59 s'],
  [3599.9e6, '59 min 59 s'], [7500e6, '2 h 05 min'], [10795e6, '2 h 59 min'],
];
/* The labels of an axis: they differ, and have one style. */
const axes = [
  [[0, 5e5, 1e6], 5e5, '0.0 s, 0.5 s, 1.0 s'],
  [[1.515e6, 1.52e6, 1.525e6], 5e3, '1.515 s, 1.520 s, 1.525 s'],
  [[9.99e5, 9.992e5], 200, '999.0 ms, 999.2 ms'],
  [[0, 2, 4], 2, '0 µs, 2 µs, 4 µs'],
  [[4e7, 6e7, 8e7], 2e7, '0 min 40 s, 1 min 00 s, 1 min 20 s'],
  [[0, 6e7, 12e7], 6e7, '0 min, 1 min, 2 min'],
  [[131.4e6, 131.6e6], 2e5, '131.4 s, 131.6 s'],
  [[3e9, 3.6e9, 4.2e9], 6e8, '0 h 50 min, 1 h 00 min, 1 h 10 min'],
];

function check(what, text, want) {
  const got = text.replaceAll('\u00a0', ' ');
  if (got !== want) {
    console.log(`${what}: got '${got}', want '${want}'`);
    process.exitCode = 1;
  }
}

for (const [us, want] of wanted)
  check(`${us} us`, span(us, 'us'), want);
for (const [ticks, step, want] of axes)
  check(`axis of ${ticks}`, ticks.map((t) => tickTime(t, step, ticks.at(-1)))
    .join(', '), want);
