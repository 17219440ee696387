/*
 * phone.mjs - the page on a narrow screen, used with a finger
 *
 * usage: MODULES=... node phone.mjs [--look] PAGE...
 *
 * Nothing is wider than the screen, no text is cut, all charts draw, and
 * everything that can be tapped is large enough.  On the first page, a finger
 * zooms, selects and looks; --look leaves this out.
 */
import { complaints, open, settled, start } from './browser.mjs';
import { check, checkSoon, colours, summary } from './check.mjs';

const WIDTH = 420;
const TAP = 30; /* pixels */
const SCREEN = { viewport: { width: WIDTH, height: 900 },
  deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const browser = await start();

/*
 * The visible elements for which the test holds, as text.  The page's policy
 * forbids eval, so the test goes there as part of an expression.
 */
function elements(page, selector, test, argument = null) {
  const list = (all, value, isBad) => [...document.querySelectorAll(all)]
    .filter((e) => e.checkVisibility() && !e.closest('.unseen') &&
      isBad(e, value))
    .map((e) => e.outerHTML.slice(0, 90)).join('\n');
  return page.evaluate(`(${list})(${JSON.stringify(selector)},
    ${JSON.stringify(argument)}, ${test})`);
}

async function testLayout(page, file) {
  check(`${file}: the page is as wide as the screen`, await page.evaluate(() =>
    document.documentElement.scrollWidth), WIDTH);
  check(`${file}: nothing stands out`, await elements(page, 'body *',
    (e, width) => {
      const { left, right } = e.getBoundingClientRect();
      const box = e.closest('.scroll');
      return (left < -0.5 || right > width + 0.5) && (!box || box === e);
    }, WIDTH), '');
  check(`${file}: no text is cut`, await elements(page, 'body *', (e) =>
    getComputedStyle(e).overflowX === 'hidden' && !e.closest('[title]') &&
    e.scrollWidth > e.clientWidth + 1), '');
  check(`${file}: a finger hits everything`, await elements(page,
    'main button, main select, main input[type="search"], nav a',
    (e, least) => e.getBoundingClientRect().height < least, TAP), '');
  check(`${file}: charts use the width`, await elements(page,
    '.plot, .flame, .grid', (e, least) => e.clientWidth < least,
    0.8 * WIDTH), '');
  check(`${file}: names have room`, await elements(page, '.scroll tbody th',
    (e, least) => e.clientWidth < least && e.clientHeight > least, 70), '');
}

async function testCharts(page, file) {
  for (const name of ['#timeline', '#flame', '#lifetimes-grid',
    '#addresses-grid'])
    if (await page.locator(name).isVisible())
      check(`${file}: ${name} draws`,
        await colours(page, `${name} canvas`) >= 5);
}

/* Draw a finger over part of the heap over time. */
async function swipe(page, from, to) {
  const over = page.locator('#timeline .u-over');
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const session = await page.context().newCDPSession(page);
  const touch = (type, part) => session.send('Input.dispatchTouchEvent', {
    type, touchPoints: part === null ? [] : [{
      x: box.x + box.width * part, y: box.y + box.height / 2 }] });
  await touch('touchStart', from);
  for (let step = 1; step <= 8; step++)
    await touch('touchMove', from + (to - from) * step / 8);
  await touch('touchEnd', null);
  await settled(page);
}

/*
 * Tap until the test holds.  On a busy machine the browser may take a tap for a
 * long press, which does nothing.
 */
async function tap(what, locator, test, options) {
  for (let i = 0; i < 5; i++) {
    await locator.tap({ force: i > 0, ...options });
    for (let j = 0; j < 20; j++) {
      if (await test())
        return check(what, true);
      await new Promise((done) => { setTimeout(done, 50); });
    }
  }
  return check(what, false);
}

async function testFinger(page) {
  const shown = () => page.locator('#timeline').evaluate((e) =>
    Number(e.dataset.to) - Number(e.dataset.from));
  const moments = page.locator('#moments-text .tag');
  const whole = await shown();
  await swipe(page, 0.25, 0.5);
  check('a finger zooms', Math.abs(await shown() / whole - 0.25) < 0.03);
  await tap('"Show all" shows all', page.locator('#zoom-out'), async () =>
    await shown() === whole);
  const selects = page.getByRole('button', { name: 'Drag selects' });
  await tap('"Drag selects" is pressed', selects, async () =>
    await selects.getAttribute('aria-pressed') === 'true');
  await swipe(page, 0.3, 0.6);
  await checkSoon('a finger selects', async () => await moments.count() === 2);
  check('selecting does not zoom', await shown(), whole);
  await tap('a tap selects a moment', page.locator('#timeline .u-over'),
    async () => await moments.count() === 1);
}

/* A tap on a chart explains what is there, within the screen. */
async function testTaps(page) {
  for (const name of ['#lifetimes-grid', '#addresses-grid', '#flame']) {
    const canvas = page.locator(`${name} canvas`);
    await canvas.scrollIntoViewIfNeeded();
    const { width, height } = await canvas.boundingBox();
    await tap(`${name}: a tap explains`, canvas, () =>
      page.locator('.tooltip').isVisible(),
    { position: { x: width - 60, y: height - 30 } });
    const box = await page.locator('.tooltip').boundingBox();
    check(`${name}: within the screen`, box && box.x >= 0 &&
      box.x + box.width <= WIDTH);
  }
}

/* The name of a site stays in view while its figures move past. */
async function testTable(page) {
  const box = page.locator('#sites .scroll');
  await box.scrollIntoViewIfNeeded();
  check('the table can be moved', await box.evaluate((e) => {
    e.scrollLeft = e.scrollWidth;
    return e.scrollLeft > 0;
  }));
  const name = await box.locator('tbody th').first().boundingBox();
  check('names stay', name.x >= 0 && name.x + name.width < WIDTH / 2 + 10);
  const paths = box.locator('.paths');
  await tap('a tap opens a row', box.locator('button.site').first(), async () =>
    await paths.count() === 1);
  const place = await paths.boundingBox();
  check('the call paths are in view', place.x >= 0 &&
    place.x + place.width <= WIDTH);
  check('no call path is cut', await elements(page, '.paths *', (e) =>
    e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !==
      'inline'), '');
}

const files = process.argv.slice(2);
const looks = files[0] === '--look';
if (looks)
  files.shift();
for (const [i, file] of files.entries()) {
  const page = await open(browser, file, SCREEN);
  await testLayout(page, file);
  await testCharts(page, file);
  if (i === 0 && !looks) {
    await testFinger(page);
    await testTaps(page);
    await testTable(page);
    await testLayout(page, `${file} after use`);
  }
  await page.context().close();
}
await browser.close();
check('no word on the console, no request', complaints.join('\n'), '');
process.exitCode = summary() ? 1 : 0;
