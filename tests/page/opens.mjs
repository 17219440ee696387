/*
 * opens.mjs - pages open without a word on the console, in light and dark
 *
 * usage: MODULES=... node opens.mjs [--limit SECONDS] PAGE...
 *
 * With a limit, prints how long each page took until it was drawn, and fails if
 * one took longer.  Opens an empty page first and prints its time, too: the
 * first page waits until the browser has started its processes.
 */
import { complaints, open, start } from './browser.mjs';

const args = process.argv.slice(2);
const limit = args[0] === '--limit' ? Number(args.splice(0, 2)[1]) : 0;
const browser = await start();

async function openEmpty() {
  const begin = performance.now();
  const page = await browser.newPage();
  await page.goto('data:text/html,');
  const seconds = (performance.now() - begin) / 1000;
  console.log(`an empty page: ${seconds.toFixed(2)} s`);
  await page.context().close();
}

if (limit)
  await openEmpty();
for (const file of args) {
  const begin = performance.now();
  const page = await open(browser, file);
  const seconds = (performance.now() - begin) / 1000;
  if (limit)
    console.log(`${file}: ${seconds.toFixed(2)} s`);
  if (limit && seconds > limit)
    complaints.push(`${file}: took longer than ${limit} s`);
  const tiles = await page.locator('.tile').count();
  if (tiles !== 6)
    complaints.push(`${file}: ${tiles} tiles`);
  await page.locator('#theme').click();
  await page.context().close();
}
await browser.close();
for (const line of complaints)
  console.log(line);
process.exitCode = complaints.length ? 1 : 0;
