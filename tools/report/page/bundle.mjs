/*
 * bundle.mjs - make the pages of dist/ from src/
 *
 * usage: node bundle.mjs NODE_MODULES OUTPUT-FOLDER
 *
 * The content security policy of a page has the hashes of the page's one script
 * and one style sheet.  The browser therefore runs nothing else, and loads
 * nothing.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, output] = process.argv.slice(2).map((name) => resolve(name));
const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(modules, 'x.js'))('esbuild');

/* Script, file, title and command of each page. */
const PAGES = [
  ['main.js', 'report.html', 'Heap report', 'hatf report'],
  ['replay.js', 'replay.html', 'Replay', 'hatf replay'],
];

function bundle(script) {
  return build({
    entryPoints: [join(here, 'src', script)],
    absWorkingDir: here,
    nodePaths: [modules],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: 'out',
    format: 'iife',
    charset: 'ascii',
    target: ['chrome109', 'firefox115', 'safari16'],
    legalComments: 'none',
  });
}

function outputText(result, suffix) {
  const file = result.outputFiles.find((f) => f.path.endsWith(suffix));
  return file.text.trim().replaceAll(/<(?=\/?(script|style|!--))/gi, '\\x3c');
}

/* The packages whose files are in the bundle. */
function packages(result) {
  const names = new Set();
  for (const input of Object.keys(result.metafile.inputs)) {
    const found = /node_modules\/((@[^/]+\/)?[^/]+)\//.exec(input);
    if (found)
      names.add(found[1]);
  }
  return [...names].sort();
}

function licenceOf(name) {
  const folder = join(modules, name);
  const about = JSON.parse(readFileSync(join(folder, 'package.json')));
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
    .map((f) => join(folder, f)).find(existsSync);
  return `${about.name} ${about.version} (${about.license})\n\n` +
    readFileSync(file, 'utf8').trim();
}

function hash(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function licencesOf(names) {
  const licences = names.map(licenceOf).join(`\n\n${'-'.repeat(72)}\n\n`);
  if (/<\/?script|<!--/i.test(licences))
    throw new Error('a licence would end its element');
  return licences;
}

const template = readFileSync(join(here, 'src/template.html'), 'utf8');
const all = new Set();
mkdirSync(output, { recursive: true });
for (const [name, file, title, generator] of PAGES) {
  const result = await bundle(name);
  const script = outputText(result, '.js');
  const style = outputText(result, '.css');
  const parts = {
    CSP: `default-src 'none'; script-src ${hash(script)}; ` +
      `style-src ${hash(style)}; img-src data:; base-uri 'none'; ` +
      `form-action 'none'`,
    STYLE: style,
    SCRIPT: script,
    LICENCES: licencesOf(packages(result)),
    TITLE: title,
    GENERATOR: generator,
  };
  packages(result).forEach((p) => all.add(p));
  writeFileSync(join(output, file), template.replaceAll(
    /@(CSP|STYLE|SCRIPT|LICENCES|TITLE|GENERATOR)@/g, (_, key) => parts[key]));
}
writeFileSync(join(output, 'LICENCES.txt'), `${licencesOf([...all].sort())}\n`);
