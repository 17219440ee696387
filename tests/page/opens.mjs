/*
 * opens.mjs - pages open without a word on the console, in light and dark
 *
 * usage: MODULES=... node opens.mjs PAGE...
 */
import { complaints, open, start } from './browser.mjs';

const browser = await start();
for (const file of process.argv.slice(2)) {
  const page = await open(browser, file);
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
