// Figures of the page in Chromium:  node bench.mjs BUILD_DIR
// Time of a step of cloths (local/global, ten iterations), time until the page is ready, memory over 10,000 pictures.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { launch } from './browser.mjs';

const file = join(resolve(process.argv[2] || 'build'), 'playground.html');
const browser = await launch(), page = await browser.newPage({ viewport: { width: 320, height: 400 } });
await page.goto(`file://${file}#tab=cloth&n=8&play=0`);
await page.waitForFunction(() => document.documentElement.dataset.ready);
console.log(`page: ${(statSync(file).size / 1e6).toFixed(2)} MB, ready after ${await page.evaluate(() => document.documentElement.dataset.ready)} ms`);
for (const n of [50, 100]) {
  const times = await page.evaluate((vertices) => {
    const w = new window.brio.engine.World({
      integrator: 'backward-euler', solver: { type: 'local-global', iterations: 10 },
      bodies: [{ name: 'cloth', shape: { type: 'grid', cells_x: vertices - 1, cells_z: vertices - 1 }, material: { type: 'hooke', k: 1000, rho: 0.2 }, fix: [{ vertices: [0, vertices - 1] }] }],
    });
    const list = [];
    for (let k = 0; k < 150; k++) {
      const begin = performance.now();
      w.step(1 / 60);
      list.push(performance.now() - begin);
    }
    w.free();
    return list.slice(50).sort((a, b) => a - b);
  }, n);
  console.log(`cloth of ${n} x ${n} vertices: a step takes ${times[0].toFixed(1)} ms at best, ${times[50].toFixed(1)} ms in the median`);
}
const memory = () => page.evaluate(() => [window.brio.engine.memory(), performance.memory?.usedJSHeapSize ?? 0]);
const frames = (count) => page.evaluate((c) => {
  for (let k = 0; k < c; k++) {
    window.brio.bench.stepNow(1);
    window.brio.bench.record();
    window.brio.bench.energy.draw();
    window.brio.bench.views[0].update(window.brio.bench.worlds[0]);
    if (k % 10 === 0) window.brio.bench.views[0].draw();
  }
}, count);
await frames(1000);
const before = await memory();
for (let k = 0; k < 10; k++) await frames(1000);
const after = await memory();
console.log(`10,000 frames: engine ${before[0] / 2 ** 20} -> ${after[0] / 2 ** 20} MB, JavaScript ${(before[1] / 2 ** 20).toFixed(1)} -> ${(after[1] / 2 ** 20).toFixed(1)} MB`);
await browser.close();
