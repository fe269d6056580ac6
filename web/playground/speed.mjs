// How long steps take in the page:  node speed.mjs [RUNS] PAGE.html [OTHER.html ...]
// Pages of different versions take turns in one Chromium, with one thread each. Printed is the
// minimum over the runs for 100 steps of each scene, and the ratio to the first page.
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../browser.mjs';

const SCENES = {
  'cloth of 51 x 51 vertices': 'tab=cloth&n=50',
  'one bunny': 'tab=soft&scene=bunny&n=18&count=1',
  'two bunnies': 'tab=soft&scene=bunny&n=18&count=2',
};
const STEPS = 100;
const args = process.argv.slice(2), runs = Number(args[0]) > 0 ? Number(args.shift()) : 5;
if (!args.length) args.push('build/playground.html');
const browser = await launch(dirname(fileURLToPath(import.meta.url)));

async function measure(file, scene) {
  const page = await browser.newPage({ viewport: { width: 320, height: 400 } });
  await page.goto(`file://${resolve(file)}#${scene}&play=0`);
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  const result = await page.evaluate((steps) => {
    const { bench } = window.brio;
    bench.stepNow(1);
    const begin = performance.now();
    bench.stepNow(steps);
    return performance.now() - begin;
  }, STEPS);
  await page.close();
  return result;
}

for (const [name, scene] of Object.entries(SCENES)) {
  const minimum = args.map(() => Infinity);
  for (let run = 0; run < runs; run++)
    for (const [k, file] of args.entries())
      minimum[k] = Math.min(minimum[k], await measure(file, scene));
  for (const [k, file] of args.entries())
    console.log(`${name}, ${STEPS} steps: ${minimum[k].toFixed(0)} ms ` +
      `(${(minimum[0] / minimum[k]).toFixed(2)} times as fast as the first page) ${file}`);
}
await browser.close();
