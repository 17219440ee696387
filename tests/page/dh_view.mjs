/*
 * dh_view.mjs - load a DHAT file into valgrind's viewer and print its text
 *
 * usage: MODULES=... node dh_view.mjs dh_view.html FILE
 *
 * Sorts by the total bytes, and prints the text of the tree.  Fails if the
 * viewer shows an error or says something on its console.
 */
import { resolve } from 'node:path';
import { start } from './browser.mjs';

const [viewer, file] = process.argv.slice(2);
const complaints = [];
const browser = await start();
const page = await browser.newPage();
page.setDefaultTimeout(20000);
page.on('console', (m) => complaints.push(`console: ${m.text()}`));
page.on('pageerror', (e) => complaints.push(`error: ${e.message}`));
await page.goto(`file://${resolve(viewer)}`);
await page.setInputFiles('input[type=file]', file);
await page.waitForSelector('pre, .error', { state: 'attached' })
  .catch((e) => complaints.push(e.message));
for (const text of await page.locator('.error').allInnerTexts())
  complaints.push(`viewer: ${text}`);
await page.locator('select').selectOption({ label: 'Total (bytes)' });
console.log(await page.locator('body').innerText());
await browser.close();
for (const line of complaints)
  console.error(line);
process.exitCode = complaints.length ? 1 : 0;
