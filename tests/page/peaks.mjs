/* SPDX-License-Identifier: MIT */
/*
 * peaks.mjs - the heap over time shows a short peak, and rates and labels that
 * make sense
 *
 * usage: MODULES=... node peaks.mjs SPIKE.html     (kind 'spike' of sample.py)
 */
import { complaints, open, settled, start } from './browser.mjs';
import { check, checkSoon, summary } from './check.mjs';

const browser = await start();

/* The texts that the chart writes while 'act' makes it draw. */
async function textsOf(page, act) {
  await page.evaluate(() => {
    const { prototype } = CanvasRenderingContext2D;
    window.plainFillText ??= prototype.fillText;
    window.texts = [];
    prototype.fillText = function fillText(text, ...place) {
      if (this.canvas.closest('#timeline'))
        window.texts.push(text.replace(/[\u00a0\u202f]/g, ' '));
      window.plainFillText.call(this, text, ...place);
    };
  });
  await act();
  await settled(page);
  return page.evaluate(() => window.texts);
}

const show = (page, view) => () => page.locator('#heap')
  .getByLabel('Show', { exact: true }).selectOption(view);

/* How many pixels half way up the chart have the colour of the curve. */
function curvePixels(page) {
  return page.locator('#timeline canvas').evaluate((canvas) => {
    const probe = document.createElement('canvas')
      .getContext('2d', { willReadFrequently: true });
    probe.fillStyle = getComputedStyle(document.documentElement)
      .getPropertyValue('--accent').trim();
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    probe.canvas.width = canvas.width;
    probe.drawImage(canvas, 0, -Math.round(canvas.height * 0.6));
    const { data } = probe.getImageData(0, 0, canvas.width, 1);
    let pixels = 0;
    for (let i = 0; i < data.length; i += 4)
      pixels += Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) +
        Math.abs(data[i + 2] - b) < 90 && data[i + 3] > 128;
    return pixels;
  });
}

async function zoomTo(page, from, to) {
  const over = page.locator('#timeline .u-over');
  const box = await over.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * (from + to) / 2, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
}

/* A label such as '4.8 GiB/s' as bytes per second. */
function rateOf(text) {
  const [, number, unit] = /^([\d.]+) (\w*)B\/s$/.exec(text) ?? [];
  return number ? number * 1024 ** 'KMGT'.indexOf(unit[0] ?? '') * 1024 : 0;
}

/* Labels of the horizontal axis. */
const times = (texts) => texts.filter((t) => /^[\d.]+ (s|ms|µs)$/.test(t));

for (const colorScheme of ['light', 'dark']) {
  const page = await open(browser, process.argv[2], { colorScheme });
  await page.locator('#timeline').scrollIntoViewIfNeeded();
  check(`${colorScheme}: a short peak has a line`,
    await curvePixels(page) > 0);
  let texts = await textsOf(page, () => zoomTo(page, 0.395, 0.401));
  check(`${colorScheme}: zoomed, too`, await curvePixels(page) > 0);
  check('zoomed: no label stands twice',
    new Set(times(texts)).size, times(texts).length);
  await page.locator('#zoom-out').click();

  texts = await textsOf(page, show(page, 'rate'));
  const most = Math.max(...texts.map(rateOf));
  check('a rate is a mean over some time', most > 2 ** 27 && most < 2 ** 30);
  const note = page.locator('#heap-note');
  const whole = await note.textContent();
  check('and the chart says over which', /mean over \d+/.test(whole));
  await zoomTo(page, 0.39, 0.41);
  await checkSoon('zoomed: over a shorter one', async () =>
    await note.textContent() !== whole);

  texts = await textsOf(page, show(page, 'blocks'));
  check('the peak of blocks has a flag',
    texts.some((t) => /^peak [\d.]+ ?k? blocks$/.test(t)));
  check('and the peak of bytes has none',
    texts.some((t) => /^peak .*iB$/.test(t)), false);
  await show(page, 'sites')();
  check('sampled curves say so', /sampled/.test(await note.textContent()));
  await page.context().close();
}
await browser.close();
check('no word on the console', complaints.join('\n'), '');
process.exitCode = summary() ? 1 : 0;
