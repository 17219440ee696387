/*
 * bundle.mjs - make dist/report.html from src/
 *
 * usage: node bundle.mjs NODE_MODULES OUTPUT-FOLDER
 *
 * The page's policy names the hashes of the one script and the one style
 * sheet: nothing else in the page can run, and nothing can be loaded.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, output] = process.argv.slice(2).map((name) => resolve(name));
const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(modules, 'x.js'))('esbuild');

const result = await build({
  entryPoints: [join(here, 'src/main.js')],
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

function outputText(suffix) {
  const file = result.outputFiles.find((f) => f.path.endsWith(suffix));
  return file.text.trim().replaceAll(/<(?=\/?(script|style|!--))/gi, '\\x3c');
}

/* The packages whose files are in the bundle. */
function packages() {
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

const script = outputText('.js');
const style = outputText('.css');
const licences = packages().map(licenceOf)
  .join(`\n\n${'-'.repeat(72)}\n\n`);
if (/<\/?script|<!--/i.test(licences))
  throw new Error('a licence would end its element');
const parts = {
  CSP: `default-src 'none'; script-src ${hash(script)}; ` +
    `style-src ${hash(style)}; img-src data:; base-uri 'none'; ` +
    `form-action 'none'`,
  STYLE: style,
  SCRIPT: script,
  LICENCES: licences,
};
const page = readFileSync(join(here, 'src/template.html'), 'utf8')
  .replaceAll(/@(CSP|STYLE|SCRIPT|LICENCES)@/g, (_, name) => parts[name]);

mkdirSync(output, { recursive: true });
writeFileSync(join(output, 'report.html'), page);
writeFileSync(join(output, 'LICENCES.txt'), `${licences}\n`);
