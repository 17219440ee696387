/*
 * dom.js - make elements
 *
 * Text of a trace reaches the page only through text nodes and attributes that
 * are not code: nothing in src/ uses innerHTML or its relatives.
 */

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false)
      continue;
    if (name.startsWith('on'))
      node.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'tabIndex')
      node[name] = value;
    else
      node.setAttribute(name, value === true ? '' : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      node.append(child);
}

/* An element; strings among the children become text nodes. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/* A labelled <select>; choices: [value, text] pairs. */
export function choice(label, choices, value, onchange) {
  const attributes = { 'aria-label': label,
    onchange: () => onchange(select.value) };
  const select = el('select', attributes,
    choices.map(([key, text]) => el('option', { value: key }, text)));
  select.value = value;
  return el('label', { class: 'field' }, el('span', {}, label), select);
}

/* A group of buttons, exactly one of which is pressed. */
export function segments(label, choices, value, onchange) {
  const buttons = choices.map(([key, text]) => el('button', {
    type: 'button',
    'data-value': key,
    'aria-pressed': String(key === value),
    onclick: () => {
      for (const b of buttons)
        b.setAttribute('aria-pressed', String(b.dataset.value === key));
      onchange(key);
    },
  }, text));
  return el('div', { class: 'segments', role: 'group', 'aria-label': label },
    buttons);
}

let frame = 0;
const waiting = new Set();

/* Call f once before the next frame, even if soon(f) is called repeatedly. */
export function soon(f) {
  waiting.add(f);
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    const calls = [...waiting];
    waiting.clear();
    for (const call of calls)
      call();
  });
}

/* Say something to a screen reader. */
export function announce(text) {
  document.getElementById('announce').textContent = text;
}

/* Prepare a canvas of this size in CSS pixels; return its context. */
export function sizedContext(canvas, width, height) {
  const ratio = Math.max(window.devicePixelRatio || 1,
    document.documentElement.dataset.printing ? 3 : 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/* The licences of the bundled libraries, at the end of the page. */
export function licences() {
  const text = document.getElementById('licences').textContent;
  return el('footer', {}, el('details', {},
    el('summary', {}, 'Licences of the libraries in this page'),
    el('pre', {}, text.trim())));
}
