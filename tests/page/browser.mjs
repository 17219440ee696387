/*
 * browser.mjs - a headless Chromium for the tests of the page
 *
 * Playwright comes from the folder MODULES, the browser from the system.  A
 * page that asks for anything but its own file, or that says something on its
 * console, is remembered in 'complaints'.
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const { MODULES, CHROMIUM = '/usr/bin/chromium' } = process.env;
const { chromium } = createRequire(join(resolve(MODULES), 'x.js'))(
  'playwright-core');

export const complaints = [];

export function start() {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export async function open(browser, file, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  page.on('console', (m) => complaints.push(`console: ${m.text()}`));
  page.on('pageerror', (e) => complaints.push(`error: ${e.message}`));
  page.on('dialog', (d) => {
    complaints.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  const url = `file://${resolve(file)}`;
  page.on('request', (r) => {
    if (r.url().split('#')[0] !== url && r.url() !== 'data:,')
      complaints.push(`request: ${r.url().slice(0, 200)}`);
  });
  await page.goto(url);
  await page.waitForSelector('body[data-ready]', { state: 'attached' });
  await settled(page);
  return page;
}

/* All that was put off to the next frame has happened. */
export function settled(page) {
  return page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() =>
      setTimeout(done, 0)))));
}
