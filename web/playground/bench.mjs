// Figures of the page in Chromium:  node bench.mjs BUILD_DIR
// Time of a step of cloths (local/global, ten iterations) with one thread and, as served, with
// all; time until the page is ready; memory over 10,000 pictures.
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../browser.mjs';
import { serve } from './serve.mjs';

const build = resolve(process.argv[2] || 'build'), file = join(build, 'playground.html');
const browser = await launch(dirname(fileURLToPath(import.meta.url)));
const server = await serve(build);
const open = async (address) => {
  const context = await browser.newContext({ viewport: { width: 320, height: 400 } });
  const opened = await context.newPage();
  await opened.goto(`${address}#tab=cloth&n=8&play=0`);
  await opened.waitForFunction(() => document.documentElement.dataset.ready);
  return opened;
};
const page = await open(`file://${file}`), served = await open(server.address);
const ready = await page.evaluate(() => document.documentElement.dataset.ready);
console.log(`page: ${(statSync(file).size / 1e6).toFixed(2)} MB, ready after ${ready} ms`);
const times = (where, n) => where.evaluate((vertices) => {
  const w = window.brio.engine.world({
    integrator: 'backward-euler', solver: { type: 'local-global', iterations: 10 },
    bodies: [{
      name: 'cloth', shape: { type: 'grid', cells_x: vertices - 1, cells_z: vertices - 1 },
      material: { type: 'hooke', k: 1000, rho: 0.2 }, fix: [{ vertices: [0, vertices - 1] }],
    }],
  });
  const list = [];
  for (let k = 0; k < 100; k++) {
    const begin = performance.now();
    w.step(1 / 60);
    list.push(performance.now() - begin);
  }
  w.dispose();
  return list.slice(50);
}, n);
// By turns, so that what else the machine does meets both alike.
for (const n of [50, 100]) {
  const lists = new Map([[page, []], [served, []]]);
  for (let turn = 0; turn < 4; turn++)
    for (const [where, list] of lists) list.push(...(await times(where, n)));
  for (const [where, list] of lists) {
    const sorted = list.sort((a, b) => a - b), ms = (v) => `${v.toFixed(1)} ms`;
    const threads = await where.evaluate(() => document.getElementById('threads').textContent);
    console.log(`cloth of ${n} x ${n} vertices, ${threads}: a step takes ${ms(sorted[0])} at ` +
      `best, ${ms(sorted[sorted.length >> 1])} in the median`);
  }
}
server.stop();
const memory = () => page.evaluate(() =>
  [window.brio.engine.memory, performance.memory?.usedJSHeapSize ?? 0].map((b) => b / 2 ** 20));
const frames = (count) => page.evaluate((c) => {
  const b = window.brio.bench;
  for (let k = 0; k < c; k++) {
    b.stepNow(1);
    b.record();
    b.energy.draw();
    b.views[0].update(b.worlds[0]);
    if (k % 10 === 0) b.views[0].draw();
  }
}, count);
await frames(1000);
const before = await memory();
for (let k = 0; k < 10; k++) await frames(1000);
const after = await memory();
console.log(`10,000 frames: engine ${before[0]} -> ${after[0]} MB, ` +
  `JavaScript ${before[1].toFixed(1)} -> ${after[1].toFixed(1)} MB`);
await browser.close();
