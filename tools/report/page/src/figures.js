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

/* A number of small units, 60 of which are a large one; rounded down. */
function pair(number, large, small) {
  const rest = String(Math.floor(number % 60)).padStart(2, '0');
  return `${Math.floor(number / 60)}\u00a0${large} ${rest}\u00a0${small}`;
}

/*
 * A duration in microseconds.  From a minute on, it is rounded down and looks
 * like a duration in the text of 'hatf report'.
 */
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
  if (s < 60)
    return `${+s.toPrecision(s < 10 ? 3 : 4)}\u00a0s`;
  return s < 3600 ? pair(s, 'min', 's') : pair(s / 60, 'h', 'min');
}

/* The units of an axis of times: [name, microseconds]. */
const TIME_UNITS = [['\u00b5s', 1], ['ms', 1e3], ['s', 1e6], ['min', 6e7],
  ['h', 3.6e9]];

/* The decimals that make multiples of 'step' differ. */
function decimals(step) {
  return Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}

/*
 * A time on an axis in microseconds, whose labels are 'step' apart and at most
 * 'top'.  All labels of such an axis have the same unit and the same decimals.
 */
export function tickTime(us, step, top) {
  const unit = TIME_UNITS.findLastIndex(([, size]) => size <= top);
  const [name, size] = TIME_UNITS[Math.max(0, unit)];

  if (size < 6e7 || step % size === 0)
    return `${(us / size).toFixed(decimals(step / size))}\u00a0${name}`;
  if (step % (size / 60) === 0)
    return pair(Math.round(us * 60 / size), name, TIME_UNITS[unit - 1][0]);
  /* The reader has zoomed into a long trace. */
  return `${(us / 1e6).toFixed(decimals(step / 1e6))}\u00a0s`;
}

/* Steps for an axis of times in microseconds. */
export function timeSteps() {
  const steps = [];
  for (let power = 1e-3; power < 1e7; power *= 10)
    steps.push(power, 2 * power, 5 * power);
  return [...steps.filter((s) => s < 1.5e7).map((s) => +s.toPrecision(1)),
    ...[20, 30, 60, 120, 300, 600, 1200, 1800].map((s) => s * 1e6),
    ...[1, 2, 3, 6, 12, 24, 48, 96, 240, 480, 960, 2400, 4800, 9600, 24000,
      96000, 960000].map((h) => h * 3.6e9)];
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

/* A number of blocks, to the last one. */
export function exactBlocks(number) {
  return `${exact(number)} ${number === 1 ? 'block' : 'blocks'}`;
}

/* Steps for an axis of bytes: powers of two. */
export function byteSteps() {
  const steps = [];
  for (let power = 1; power < 2 ** 50; power *= 1024)
    for (const s of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
      steps.push(power * s);
  return steps;
}
