/*
 * shots.mjs - pictures of a page, to look at
 *
 * usage: MODULES=build/page/node_modules node shots.mjs PAGE.html FOLDER
 */
import { mkdirSync } from 'node:fs';
import { complaints, open, settled, start } from './browser.mjs';

const [file, folder] = process.argv.slice(2);
const browser = await start();
mkdirSync(folder, { recursive: true });
for (const [name, width, scheme] of [['light', 1440, 'light'],
  ['dark', 1440, 'dark'], ['tablet', 820, 'light'], ['phone', 420, 'light'],
  ['phone-dark', 420, 'dark']]) {
  const page = await open(browser, file,
    { viewport: { width, height: 1000 }, colorScheme: scheme });
  await settled(page);
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  if (name === 'light')
    await page.pdf({ path: `${folder}/print.pdf`, format: 'A4' });
  await page.context().close();
}
await browser.close();
for (const line of complaints)
  console.log(line);
