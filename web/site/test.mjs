// Tests a built site:  node test.mjs SITE [folder with node_modules/playwright-core]
// The search finds twenty words in the right section. In Chromium, from the disk, a query is typed
// and its result followed.
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { strict as assert } from 'node:assert';
import { join, resolve } from 'node:path';

const [site, modules] = process.argv.slice(2).map((path) => resolve(path));
const text = (name) => readFileSync(join(site, name), 'utf8');
const find = new Function(text('site.js') + 'return find;')();
const index = new Function(text('search-index.js') + 'return brioIndex;')();

// A word, and a page that must be among the first eight sections found.
const words = {
  playground: 'playground.html',
  trampoline: 'gallery.html',
  'first ten minutes': 'start.html',
  'neo-hookean': 'materials.html',
  'a-search': 'integrators.html',
  checkpoint: 'formats.html',
  friction: 'contact.html',
  dhat: 'contact.html',
  'poisson ratio': 'notation.html',
  brio_sim_step: 'c-api.html',
  BrioLedger: 'c-api.html',
  createEngine: 'javascript.html',
  'brio.load': 'python-api.html',
  tetrahedralise: 'meshes.html',
  gltf: 'caches.html',
  blender: 'blender.html',
  rayleigh: 'notation.html',
  sdirk2: 'decoupled.html',
  'angular momentum': 'results.html',
  hinge: 'constraints.html',
  wind: 'forces.html',
  cage: 'cages.html',
  exploded: 'explosions.html',
  'strain colour': 'render.html',
};
const missed = [];
for (const [word, page] of Object.entries(words)) {
  const found = find(index, word, 8);
  if (!found.some((hit) => hit.page === page))
    missed.push(
      `${word}: ${page} is not among ${found.map((hit) => hit.page).join(', ') || 'nothing'}`,
    );
}
assert.deepEqual(missed, []);
assert.equal(find(index, 'xylophone').length, 0);
assert.equal(find(index, '').length, 0);
console.log(`${Object.keys(words).length} searches find their page among the first eight`);

const browserPath =
  process.env.BRIO_CHROMIUM ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );
if (!browserPath || !modules || !existsSync(join(modules, 'node_modules/playwright-core'))) {
  console.log('SKIPPED: the search in a browser: there is no Chromium or no playwright-core');
  process.exit(0);
}
const { chromium } = createRequire(modules + '/')('playwright-core');
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu'],
});
const troubles = [];
const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
page.on('pageerror', (error) => troubles.push(error.message));
page.on(
  'request',
  (request) =>
    request.url().startsWith('file:') ||
    request.url().startsWith('data:') ||
    troubles.push(request.url()),
);

await page.goto('file://' + join(site, 'notation.html'));
const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
assert.ok(wide <= 0, `notation.html is ${wide} pixels wider than a phone`);
const fonts = await page.evaluate(() =>
  document.fonts.ready.then((all) => [...all].filter((f) => f.status === 'loaded').length),
);
if (existsSync(join(site, 'katex'))) assert.ok(fonts >= 3, `${fonts} fonts of KaTeX were loaded`);
await page.click('.menu');
assert.ok(await page.isVisible('nav.side'));
await page.click('#search');
await page.keyboard.type('friction');
await page.waitForSelector('#found li[role=option]');
assert.ok((await page.textContent('#found')).includes('Contact'));
await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');
await page.waitForURL((url) => !url.pathname.endsWith('notation.html'));
assert.ok((await page.textContent('article')).includes('riction'));
assert.deepEqual(troubles, []);
await browser.close();
console.log(
  'Chromium, from the disk: the search leads to its page, nothing is fetched from outside',
);
