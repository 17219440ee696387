/* figures.js - numbers for people */

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const METRIC = ['', 'k', 'M', 'G', 'T', 'P'];

function scaled(number, step, units, gap) {
  const sign = number < 0 ? '\u2212' : '';
  let value = Math.abs(number);
  let unit = 0;

  while (value >= step - 0.5 && unit < units.length - 1) {
    value /= step;
    unit++;
  }
  let digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  if (unit === 0)
    digits = Number.isInteger(value) ? 0 : 1;
  return sign + value.toFixed(digits) + (units[unit] ? gap + units[unit] : '');
}

export function bytes(number) {
  return scaled(number, 1024, BINARY, '\u00a0');
}

/* Bytes for the labels of an axis, without trailing zeros: 16 MiB. */
export function roundBytes(number) {
  return bytes(number).replace(/\.(\d*[1-9])?0+(?=\u00a0)/,
    (_, digits) => digits ? `.${digits}` : '');
}

/* A rounded number: 12.3 M. */
export function count(number) {
  return scaled(number, 1000, METRIC, '\u202f');
}

/* An exact number: 1 234 567. */
export function exact(number) {
  return String(Math.round(number)).replace(/^-/, '\u2212')
    .replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

export function percent(part, whole) {
  if (!whole)
    return '\u2013';
  const p = 100 * part / whole;
  if (p > 99.9 && part < whole)
    return '>99.9\u202f%';
  return p > 0 && p < 0.1 ? '<0.1\u202f%'
    : `${p.toFixed(p < 9.95 ? 1 : 0)}\u202f%`;
}

/* The text of a difference, with a plus sign if 'number' is above 0. */
export function signed(text, number) {
  return number > 0 ? `+${text}` : text;
}

/* A number of small units, 60 of which are a large one. */
function pair(number, large, small) {
  return `${Math.floor(number / 60)}\u00a0${large} ` +
    `${number % 60}\u00a0${small}`;
}

/* A duration in microseconds. */
function duration(us) {
  const s = us / 1e6;

  if (us === 0)
    return '0\u00a0s';
  if (us < 0)
    return `\u2212${duration(-us)}`;
  if (us < 1000)
    return `${us < 10 ? +us.toFixed(1) : Math.round(us)}\u00a0\u00b5s`;
  if (s < 1)
    return `${+(us / 1000).toPrecision(3)}\u00a0ms`;
  if (s < 120)
    return `${+s.toPrecision(s < 10 ? 3 : 4)}\u00a0s`;
  if (s < 7200)
    return pair(Math.round(s), 'min', 's');
  return pair(Math.round(s / 60), 'h', 'min');
}

/* A time on a trace's axis. */
export function time(number, axis) {
  return axis === 'us' ? duration(number) : `event ${exact(number)}`;
}

/* How long something lasted, on a trace's axis. */
export function span(number, axis) {
  return axis === 'us' ? duration(number) : `${count(number)} events`;
}

/* Bytes or blocks. */
export function amount(number, unit) {
  return unit === 'bytes' ? bytes(number)
    : `${count(number)} ${Math.abs(number) === 1 ? 'block' : 'blocks'}`;
}

/* Steps for an axis of bytes: powers of two. */
export function byteSteps() {
  const steps = [];
  for (let power = 1; power < 2 ** 50; power *= 1024)
    for (const s of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
      steps.push(power * s);
  return steps;
}
