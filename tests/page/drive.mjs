/*
 * drive.mjs - use the page as a reader does, and look at what it shows
 *
 * usage: MODULES=... node drive.mjs FOLDER     (with one.html, two.html, ...)
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { complaints, open, settled, start } from './browser.mjs';
import { check, checkSoon, colours, dataOf, liveAt, sum, summary }
  from './check.mjs';

const folder = process.argv[2];
const file = (name) => join(folder, `${name}.html`);
const browser = await start();

const total = (page) => page.locator('#flame canvas')
  .getAttribute('data-total').then(Number);
const frames = (page) => page.locator('#flame canvas')
  .getAttribute('data-frames').then(Number);
const focusOn = (page, selector) => page.locator(selector).focus();

/* The choice with this label in a section. */
function select(page, section, label) {
  return page.locator(section).getByLabel(label, { exact: true });
}

function button(page, section, name) {
  return page.locator(section).getByRole('button', { name, exact: true });
}

/* Drag over part of the chart, in fractions of its width. */
async function drag(page, from, to, key) {
  const over = page.locator('#timeline .u-over');
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const y = box.y + box.height / 2;
  if (key)
    await page.keyboard.down(key);
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * (from + to) / 2, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await page.mouse.up();
  if (key)
    await page.keyboard.up(key);
  await settled(page);
}

async function shownRange(page) {
  const { from, to } = await page.locator('#timeline')
    .evaluate((e) => ({ ...e.dataset }));
  return [Number(from), Number(to)];
}

/* Each chart has something in it, in this theme. */
async function testCharts(page, theme) {
  for (const [name, least] of [['#timeline canvas', 8], ['#flame canvas', 8],
    ['#lifetimes-grid canvas', 8], ['#addresses-grid canvas', 8]])
    check(`${theme}: ${name} draws`, await colours(page, name) >= least);
  check(`${theme}: the matrix has cells`,
    await page.locator('.matrix td:not(:empty)').count() > 10);
  check(`${theme}: the table has rows`,
    await page.locator('table.sites tbody tr').count() > 10);
  check(`${theme}: rows have curves`,
    await page.locator('table.sites .spark path').count() > 10);
  check(`${theme}: health has lines`,
    await page.locator('.health li').count(), 3);
}

/* All views of the heap over time draw. */
async function testViews(page) {
  for (const view of ['blocks', 'rate', 'sites', 'modules', 'bytes']) {
    await select(page, '#heap', 'Show').selectOption(view);
    check(`view ${view} draws`,
      await colours(page, '#timeline canvas') >= 8);
  }
  await select(page, '#heap', 'Show').selectOption('sites');
  check('a stacked view has a legend',
    await page.locator('.legend li').count(), 9);
  await select(page, '#heap', 'Show').selectOption('bytes');
}

async function testZoom(page, data) {
  const { duration } = data.traces[0].meta;
  await drag(page, 0.25, 0.5);
  const [from, to] = await shownRange(page);
  check('dragging zooms', Math.abs(from - duration / 4) < duration / 50 &&
    Math.abs(to - duration / 2) < duration / 50);
  await page.locator('#zoom-out').click();
  await settled(page);
  check('"Show all" shows all', String(await shownRange(page)),
    `0,${duration}`);
  check('then it is disabled', await page.locator('#zoom-out').isDisabled());
}

/* A range is selected, and the flame graph shows the growth in it. */
async function testRange(page, data) {
  const trace = data.traces[0];
  await drag(page, 0.2, 0.6, 'Shift');
  const text = await page.locator('#moments-text').textContent();
  check('a range has A and B', /A8\.\d+.*B25\.\d+/.test(text));
  check('selecting does not zoom', String(await shownRange(page)),
    `0,${trace.meta.duration}`);
  await select(page, '#stacks', 'Show').selectOption('growth');
  await settled(page);
  const points = trace.points.time;
  const at = (t) => points.filter((p) => p <= t).length - 1;
  const [a, b] = [0.2, 0.6].map((f) => at(f * trace.meta.duration));
  const grown = sum(trace.sites.live.map((live) =>
    Math.max(0, liveAt(live, b, 1) - liveAt(live, a, 1))));
  check('the growth between A and B', await total(page), grown);
  check('the sites have a column for it', await page.locator(
    '[data-sort="growth"]').count(), 1);
  await button(page, '#heap', 'Drag selects').click();
  await drag(page, 0.1, 0.3);
  check('"Drag selects" selects',
    /A4\.\d+.*B12\.\d+/.test(await page.locator('#moments-text')
      .textContent()));
  await button(page, '#heap', 'Drag zooms').click();
}

async function testMoment(page, data) {
  const trace = data.traces[0];
  const over = page.locator('#timeline .u-over');
  const box = await over.boundingBox();
  await over.click({ position: { x: box.width * 0.505, y: 60 } });
  await select(page, '#stacks', 'Show').selectOption('moment');
  await settled(page);
  const index = trace.points.time
    .filter((p) => p <= 0.505 * trace.meta.duration).length - 1;
  check('live at the moment A', await total(page),
    sum(trace.sites.live.map((live) => liveAt(live, index, 1))));
}

/* Each measure and unit has the trace's total; each grouping too. */
async function testFlame(page, data) {
  const { totals } = data.traces[0];
  for (const unit of ['Blocks', 'Bytes']) {
    await button(page, '#stacks', unit).click();
    for (const measure of ['alloc', 'temp', 'moved', 'end', 'peak']) {
      await select(page, '#stacks', 'Show').selectOption(measure);
      await settled(page);
      check(`${measure} in ${unit}`, await total(page),
        totals[measure + unit]);
    }
  }
  const counts = new Set();
  for (const group of ['line', 'file', 'module', 'thread', 'function']) {
    await select(page, '#stacks', 'Group by').selectOption(group);
    await settled(page);
    check(`by ${group}: the total`, await total(page), totals.peakBytes);
    counts.add(await frames(page));
  }
  check('groupings differ', counts.size >= 4);
  await testThreads(page, data);
  await page.locator('#inverted').check();
  await settled(page);
  check('inverted: the total', await total(page), totals.peakBytes);
  await page.locator('#inverted').uncheck();
  await button(page, '#stacks', 'Icicle').click();
  check('the icicle draws', await colours(page, '#flame canvas') >= 8);
  await button(page, '#stacks', 'Flames').click();
}

/* Below each thread, its functions: those of the table 'pairs'. */
async function testThreads(page, { traces: [{ pairs, threads, strings }] }) {
  const found = page.locator('#flame-found');
  await select(page, '#stacks', 'Group by').selectOption('thread');
  for (const name of ['acceptor', 'indexer']) {
    const thread = threads.name.findIndex((s) => strings[s] === name);
    const share = sum(pairs.peakBytes.filter((_, row) =>
      pairs.thread[row] === thread)) / sum(pairs.peakBytes);
    await page.locator('#flame-search').fill(name);
    await checkSoon(`${name} has its share`, async () => Math.abs(parseFloat(
      /([\d.]+)\s%$/.exec(await found.textContent())?.[1] ?? 'NaN') -
      100 * share) < 1);
  }
  await page.locator('#flame-search').fill('tokenizer::next');
  await checkSoon('threads have functions', async () =>
    /^[1-9]\d* frames match/.test(await found.textContent()));
  await page.locator('#flame-search').fill('');
  await select(page, '#stacks', 'Group by').selectOption('function');
}

async function testSearch(page) {
  const found = page.locator('#flame-found');
  await page.locator('#flame-search').fill('tokenizer::next');
  await checkSoon('search finds', async () =>
    /^[1-9]\d* frames match/.test(await found.textContent()));
  await page.locator('#flame-search').fill('/^Cache::(grow|insert)/');
  await checkSoon('search by pattern finds', async () =>
    /^[1-9]\d* frames match/.test(await found.textContent()));
  await page.locator('#flame-search').fill('/((/');
  await checkSoon('a wrong pattern finds nothing', async () =>
    (await found.textContent()).startsWith('0 frames'));
  await page.locator('#flame-search').fill('');
  await checkSoon('no search, no result', async () =>
    await found.textContent() === '');
}

/* Click on a frame: it fills the width; go back. */
async function testFlameZoom(page) {
  const canvas = page.locator('#flame canvas');
  const box = await canvas.boundingBox();
  const crumbs = page.locator('#stacks .crumbs');
  await canvas.click({ position: { x: 20, y: box.height - 50 } });
  check('a click zooms', await crumbs.locator('span').count(), 1);
  await canvas.hover({ position: { x: 20, y: box.height - 50 } });
  await checkSoon('a tooltip appears', () =>
    page.locator('.tooltip').isVisible());
  /* The click takes the focus from the graph, and lasts some frames. */
  await focusOn(page, '#flame');
  await page.locator('#flame-reset').click({ delay: 200 });
  await settled(page);
  check('"Show all" goes back', await crumbs.locator('span').count(), 0);
}

async function column(page, index) {
  return page.locator(`table.sites tbody tr td:nth-of-type(${index})`)
    .evaluateAll((cells) => cells.map((c) =>
      Number(c.title.replace(/[^\d]/g, ''))));
}

async function testTable(page) {
  const heading = page.locator('[data-sort="alloc"]');
  const place = await page.locator('table.sites thead th').evaluateAll((all) =>
    all.findIndex((th) => th.querySelector('[data-sort="alloc"]')));
  const isSorted = (list, sign) => list.every((v, i) =>
    !i || sign * (v - list[i - 1]) >= 0);
  await page.locator('[data-sort="name"]').click();
  check('names sort up first', await page.locator('th:has([data-sort="name"])')
    .getAttribute('aria-sort'), 'ascending');
  const names = await page.locator('button.site > span').allTextContents();
  check('names are in order', names.length > 1 && names.every((name, i) =>
    !i || names[i - 1].localeCompare(name) <= 0));
  await heading.click();
  check('sorts down', isSorted(await column(page, place), -1));
  await heading.click();
  check('sorts up', isSorted(await column(page, place), 1));
  check('says so', await page.locator('th:has([data-sort="alloc"])')
    .getAttribute('aria-sort'), 'ascending');
  const rows = page.locator('table.sites tbody tr');
  const all = await rows.count();
  await page.locator('#sites-filter').fill('sqlite');
  await checkSoon('filters', async () => {
    const left = await rows.count();
    return left > 0 && left < all;
  });
  await rows.first().getByRole('button').click();
  check('a row opens to its paths',
    await page.locator('.paths ol li').count() > 2);
  await page.locator('.paths > button').click();
  check('a site is found in the stacks',
    (await page.locator('#flame-search').inputValue()).length > 0);
  await page.locator('#flame-search').fill('');
  await page.locator('#sites-filter').fill('');
  for (const group of ['function', 'file', 'module', 'thread', 'site']) {
    await select(page, '#sites', 'Group by').selectOption(group);
    check(`table by ${group}`, await rows.count() > 2);
  }
}

/* Without a mouse. */
async function testKeyboard(page, data) {
  const { duration } = data.traces[0].meta;
  const moments = page.locator('#moments-text');
  await focusOn(page, '#timeline');
  await page.keyboard.press('p');
  const peak = await moments.textContent();
  check('P selects the peak', peak.includes('79.3'));
  await page.keyboard.press('ArrowLeft');
  check('an arrow moves A', await moments.textContent() !== peak);
  await page.keyboard.press('Shift+ArrowRight');
  check('Shift and an arrow select', /A.*B/.test(await moments.textContent()));
  await page.keyboard.press('+');
  await settled(page);
  const [from, to] = await shownRange(page);
  check('plus zooms', to - from < 0.6 * duration);
  await page.keyboard.press('0');
  await settled(page);
  check('0 shows all', String(await shownRange(page)), `0,${duration}`);

  const spoken = page.locator('#announce');
  await focusOn(page, '#flame');
  await page.keyboard.press('ArrowUp');
  await settled(page);
  check('the flame graph speaks', (await spoken.textContent())
    .startsWith('main'));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  check('Enter zooms', await page.locator('#flame-reset').count(), 1);
  await page.keyboard.press('Escape');
  check('Escape shows all', await page.locator('#flame-reset').count(), 0);
  await page.keyboard.press('/');
  check('slash goes to the search', await page.evaluate(() =>
    document.activeElement.id), 'flame-search');
  for (const name of ['#lifetimes-grid', '#addresses-grid']) {
    await focusOn(page, name);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    check(`${name}: a cell is spoken of`,
      (await spoken.textContent()).length > 8);
  }
  await focusOn(page, '[data-sort="end"]');
  await page.keyboard.press('Enter');
  check('a heading sorts by keyboard', await page.evaluate(() =>
    document.activeElement.dataset.sort), 'end');
}

/* Everything that can be used has a name. */
async function testNames(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll(
    'button, input, select, [tabindex="0"], [role], svg')].filter((e) =>
    !e.closest('[aria-hidden]') && !(e.getAttribute('aria-label') ||
      e.textContent.trim() || e.closest('label')?.textContent.trim() ||
      e.getAttribute('role') === 'status'))
    .map((e) => e.outerHTML.slice(0, 80)));
  check('everything has a name', nameless.join(), '');
}

async function testTheme(page) {
  const ground = () => page.evaluate(() =>
    getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.locator('#theme').click();
  const dark = await ground();
  check('the switch makes it dark', light !== dark);
  await testCharts(page, 'dark');
  await page.locator('#theme').click();
  check('and light again', await ground(), light);
  await page.emulateMedia({ colorScheme: 'dark' });
  check('a choice is kept', await ground(), light);
}

/* Names with markup and script are text. */
async function testNasty(page) {
  check('title', await page.title(), 'shopd.hatf.gz \u2013 heap report');
  check('no script of a name ran',
    await page.evaluate(() => window.pwned === undefined));
  check('no element of a name', await page.locator('img, b b').count(), 0);
  check('scripts', await page.locator('script').count(), 3);
  check('a name is text', await page.getByText(
    '</script><img src=x onerror="window.pwned=1">').count() > 0);
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
    return window.ran !== undefined;
  });
  check('the policy lets no other script run', ran, false);
  check('the policy complains about it', complaints.pop()?.includes(
    'Content Security Policy'));
}

async function testOne() {
  const page = await open(browser, file('one'));
  const data = await dataOf(page);
  await testCharts(page, 'light');
  await testViews(page);
  await testZoom(page, data);
  await testRange(page, data);
  await testMoment(page, data);
  await testFlame(page, data);
  await testSearch(page);
  await testFlameZoom(page);
  await testTable(page);
  await testKeyboard(page, data);
  await testNames(page);
  await testTheme(page);
  await testNasty(page);
  await page.context().close();
  const dark = await open(browser, file('one'), { colorScheme: 'dark' });
  check('dark as the system is', await dark.evaluate(() =>
    document.documentElement.dataset.theme), 'dark');
  await dark.context().close();
}

async function testTwo() {
  const page = await open(browser, file('two'));
  check('totals side by side', await page.locator('.totals tbody tr').count(),
    10);
  check('sites that differ',
    await page.locator('.differences tbody tr').count(), 20);
  const names = await page.locator('.differences tbody th').evaluateAll(
    (rows) => rows.map((row) => row.innerText.replace(/\n.*\//, ' ')));
  check('a site is the same in another folder', new Set(names).size,
    names.length);
  check('both curves', await colours(page, '#compare canvas') >= 5);
  await page.getByRole('group', { name: 'Trace' })
    .getByRole('button', { name: 'after.hatf.gz' }).click();
  await settled(page);
  const data = await dataOf(page);
  check('the switch shows the other trace', await total(page),
    data.traces[1].totals.peakBytes);
  await page.context().close();
}

/* Traces that lack something. */
async function testOthers() {
  const plain = await open(browser, file('plain'));
  check('without stacks: says how to get them', await plain.getByText(
    'hatf record -g on').count(), 1);
  check('without stacks: sites', await plain.locator('table.sites tbody tr')
    .count() > 10);
  await plain.context().close();
  const empty = await open(browser, file('empty'));
  check('without events: it opens', await empty.locator('.tile').count(), 6);
  check('without events: nothing in the map',
    await empty.locator('#addresses').isVisible(), false);
  await empty.context().close();
}

/* A deep stack does not make the page long: the flame graph scrolls. */
async function testDeep() {
  const page = await open(browser, file('deep'));
  const look = () => page.locator('#flame').evaluate((e) => ({
    screen: e.clientHeight <= innerHeight,
    deep: e.scrollHeight > 2 * e.clientHeight,
    top: e.scrollTop,
    bottom: e.scrollHeight - e.clientHeight - e.scrollTop,
  }));
  const first = await look();
  check('deep: the graph is no higher than the screen', first.screen);
  check('deep: it scrolls', first.deep);
  check('deep: it begins at the root', first.bottom <= 1);
  await focusOn(page, '#flame');
  for (let i = 0; i < 60; i++)
    await page.keyboard.press('ArrowUp');
  check('deep: the keyboard scrolls', (await look()).bottom > 100);
  await page.getByRole('button', { name: 'Icicle' }).click();
  await settled(page);
  check('deep: the icicle begins at the root', (await look()).top, 0);
  await page.context().close();
}

async function testLarge() {
  check('large: below 5 MB', statSync(file('large')).size < 5e6);
  /* tests/bench/report.sh measures how long this takes. */
  const page = await open(browser, file('large'));
  check('large: it opens', await page.locator('.tile').count(), 6);
  await page.context().close();
}

await testOne();
await testTwo();
await testOthers();
await testDeep();
await testLarge();
await browser.close();
check('no word on the console, no request', complaints.join('\n'), '');
process.exitCode = summary() ? 1 : 0;
