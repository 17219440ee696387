/*
 * grid.js - a chart of coloured cells, for the histogram and the address map
 *
 * A chart is an object with these members:
 *
 *   columns, rows          numbers of columns and rows; row 0 is at the bottom
 *   cell(column, row)      returns a colour, or null
 *   describe(column, row)  returns the lines of the tooltip
 *   columnLabels(width)    returns an array of {at, text}; 'width' is the width
 *                          of all cells together, in pixels; 'at' is a
 *                          position, in cells from the left
 *   rowLabels              an array of {at, text}; 'at' is a position, in cells
 *                          from the bottom
 *   rowHeight              pixels
 *   left                   pixels for the labels of rows; less if the chart is
 *                          narrow
 *   gap                    pixels between cells
 *   separators             rows below which there is a line
 */
import { announce, el, sizedContext, soon } from './dom.js';
import { color, onTheme } from './theme.js';
import { hideTooltip, showTooltip } from './tooltip.js';

const BOTTOM = 22;
const NARROWEST = 78; /* pixels for the labels of rows */

export function grid(id, label) {
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const host = el('div', { class: 'grid', id, tabIndex: 0,
    role: 'application', 'aria-label': `${label} Arrows move between cells.` },
  canvas);
  let chart = null;
  let cursor = null;
  let width = 0;
  let left = 0;

  const cellWidth = () => (width - left) / chart.columns;

  function drawCells(context) {
    const w = cellWidth();
    const h = chart.rowHeight;
    let cells = 0;
    for (let c = 0; c < chart.columns; c++)
      for (let r = 0; r < chart.rows; r++) {
        const paint = chart.cell(c, r);
        if (!paint)
          continue;
        cells++;
        context.fillStyle = paint;
        /* Use whole pixels, so that cells without gaps show no seams. */
        const x = Math.round(left + c * w);
        const next = Math.round(left + (c + 1) * w);
        context.fillRect(x, (chart.rows - 1 - r) * h,
          next - x - (w > 5 ? chart.gap : 0), h - (h > 5 ? chart.gap : 0));
      }
    canvas.dataset.cells = cells;
  }

  function drawLabels(context) {
    const w = cellWidth();
    const h = chart.rowHeight;
    const base = chart.rows * h;
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = color('--muted');
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const { at, text } of chart.rowLabels)
      context.fillText(text, left - 8, base - at * h, left - 10);
    for (const { at, text } of chart.columnLabels(width - left)) {
      const x = left + at * w;
      context.textAlign = x < left + 30 ? 'left'
        : x > width - 30 ? 'right' : 'center';
      context.fillText(text, x, base + BOTTOM / 2 + 2);
    }
    context.strokeStyle = color('--line');
    context.lineWidth = 1;
    for (const row of chart.separators ?? []) {
      context.beginPath();
      context.moveTo(0, base - row * h);
      context.lineTo(width, base - row * h);
      context.stroke();
    }
  }

  function draw() {
    width = host.clientWidth;
    if (!chart || !width)
      return;
    left = Math.min(chart.left, Math.max(NARROWEST, width / 4));
    const height = chart.rows * chart.rowHeight + BOTTOM;
    const context = sizedContext(canvas, width, height);
    context.clearRect(0, 0, width, height);
    context.fillStyle = color('--field');
    context.fillRect(left, 0, width - left,
      chart.rows * chart.rowHeight);
    drawCells(context);
    drawLabels(context);
    if (cursor) {
      context.strokeStyle = color('--ink');
      context.lineWidth = 2;
      context.strokeRect(left + cursor.column * cellWidth(),
        (chart.rows - 1 - cursor.row) * chart.rowHeight,
        Math.max(3, cellWidth()), Math.max(3, chart.rowHeight));
    }
  }

  function at(event) {
    const area = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - area.left - left) /
      cellWidth());
    const row = chart.rows - 1 -
      Math.floor((event.clientY - area.top) / chart.rowHeight);
    return column >= 0 && column < chart.columns && row >= 0 &&
      row < chart.rows ? { column, row } : null;
  }

  function point(event) {
    const cell = chart && at(event);
    const lines = cell && chart.describe(cell.column, cell.row);
    if (lines)
      showTooltip(event.clientX, event.clientY, lines);
    else
      hideTooltip();
  }

  function move(columns, rows) {
    cursor ??= { column: 0, row: chart.rows - 1 };
    cursor = {
      column: Math.min(chart.columns - 1, Math.max(0,
        cursor.column + columns)),
      row: Math.min(chart.rows - 1, Math.max(0, cursor.row + rows)),
    };
    draw();
    const lines = chart.describe(cursor.column, cursor.row) ?? ['nothing'];
    const area = canvas.getBoundingClientRect();
    showTooltip(area.left + left + cursor.column * cellWidth(),
      area.top + (chart.rows - cursor.row) * chart.rowHeight, lines);
    announce(lines.flat().join(', '));
  }

  host.addEventListener('keydown', (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
      ArrowDown: [0, -1], Home: [-1e9, 0], End: [1e9, 0],
      PageUp: [0, 8], PageDown: [0, -8] };
    const step = steps[event.key];
    if (!step || !chart)
      return;
    move(...step);
    event.preventDefault();
  });
  host.addEventListener('blur', () => {
    cursor = null;
    hideTooltip();
    soon(draw);
  });
  canvas.addEventListener('mousemove', point);
  canvas.addEventListener('mouseleave', hideTooltip);
  /* A tap moves the focus, which hides the tooltip.  point() shows it again. */
  canvas.addEventListener('click', point);
  new ResizeObserver(() => soon(draw)).observe(host);

  return {
    host,
    show(next) {
      chart = next;
      cursor = null;
      draw();
    },
  };
}
