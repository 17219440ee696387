/* SPDX-License-Identifier: MIT */
/*
 * says.mjs - a page shows these texts, with any kind of blank
 *
 * usage: MODULES=... node says.mjs PAGE TEXT...
 */
import { complaints, open, start } from './browser.mjs';

const [file, ...texts] = process.argv.slice(2);
const browser = await start();
const page = await open(browser, file);
const shown = (await page.locator('body').innerText())
  .replace(/[\u00a0\u202f]/g, ' ');
for (const text of texts)
  if (!shown.includes(text))
    complaints.push(`${file}: does not show '${text}'`);
await browser.close();
for (const line of complaints)
  console.log(line);
process.exitCode = complaints.length ? 1 : 0;
