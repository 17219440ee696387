/* tooltip.js - a box that follows the pointer */
import { el, replace } from './dom.js';

const box = el('div', { class: 'tooltip', 'aria-hidden': 'true' });
box.hidden = true;

export function startTooltip() {
  document.body.append(box);
  window.addEventListener('scroll', hideTooltip, { passive: true });
}

/* Each line is a string or [name, value]; the first is the title. */
export function showTooltip(x, y, lines) {
  replace(box, lines.filter(Boolean).map((line, i) => Array.isArray(line)
    ? el('div', { class: 'pair' }, el('span', {}, line[0]),
      el('b', {}, line[1]))
    : el('div', { class: i ? 'more' : 'title' }, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip() {
  box.hidden = true;
}
