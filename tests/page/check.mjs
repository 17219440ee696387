/*
 * check.mjs - what the tests of the page ask: that something is so
 */
import { settled } from './browser.mjs';

let passed = 0;
let failed = 0;

export function check(what, got, wanted = true) {
  if (got === wanted) {
    passed++;
    return;
  }
  failed++;
  console.log(`FAIL: ${what}: got ${JSON.stringify(got)}, ` +
    `wanted ${JSON.stringify(wanted)}`);
}

/* Wait until the test holds; a slow machine may need some frames. */
export async function checkSoon(what, test) {
  for (let i = 0; i < 100; i++) {
    if (await test())
      return check(what, true);
    await new Promise((done) => { setTimeout(done, 50); });
  }
  return check(what, false);
}

export function summary() {
  console.log(`${passed} checks passed, ${failed} failed`);
  return failed;
}

/* How many different colours a canvas shows. */
export async function colours(page, selector) {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  await settled(page);
  return page.locator(selector).first().evaluate((canvas) => {
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3])
        seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
  });
}

/* The data block, as the test reads it. */
export function dataOf(page) {
  return page.locator('#data').evaluate((e) => JSON.parse(e.textContent));
}

/* What a site has live at point number 'index', by DATA.md. */
export function liveAt(triples, index, offset) {
  const values = [];
  let value = 0;
  for (let i = 0; i < triples.length; i += 3) {
    for (let skip = triples[i]; skip > 0; skip--)
      values.push(value);
    value += triples[i + offset];
    values.push(value);
  }
  return index < values.length ? values[index] : value;
}

/* The sum of a list. */
export function sum(list) {
  return list.reduce((total, value) => total + value, 0);
}
