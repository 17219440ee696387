/*
 * figures.mjs - how the page writes durations
 */
import { span } from '../../tools/report/page/src/figures.js';

const wanted = [
  [0, '0 s'], [1.5, '1.5 µs'], [999, '999 µs'], [1500, '1.5 ms'],
  [119e6, '119 s'], [125e6, '2 min 5 s'], [179.7e6, '3 min 0 s'],
  [7199.4e6, '119 min 59 s'], [7500e6, '2 h 5 min'], [10795e6, '3 h 0 min'],
];
for (const [us, text] of wanted) {
  const got = span(us, 'us').replaceAll('\u00a0', ' ');
  if (got !== text) {
    console.log(`${us} us: got '${got}', want '${text}'`);
    process.exitCode = 1;
  }
}
