// Figures of the page in Chromium:  node bench.mjs BUILD_DIR
// Time of a step of cloths (local/global, ten iterations) with one thread and, as served, with all; time until the page is ready, memory over 10,000 pictures.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { launch } from './browser.mjs';
import { serve } from './serve.mjs';

const build = resolve(process.argv[2] || 'build'), file = join(build, 'playground.html');
const browser = await launch(), server = await serve(build);
const open = async (address) => {
  const opened = await (await browser.newContext({ viewport: { width: 320, height: 400 } })).newPage();
  await opened.goto(`${address}#tab=cloth&n=8&play=0`);
  await opened.waitForFunction(() => document.documentElement.dataset.ready);
  return opened;
};
const page = await open(`file://${file}`), served = await open(server.address);
console.log(`page: ${(statSync(file).size / 1e6).toFixed(2)} MB, ready after ${await page.evaluate(() => document.documentElement.dataset.ready)} ms`);
const times = (where, n) => where.evaluate((vertices) => {
  const w = window.brio.engine.world({
    integrator: 'backward-euler', solver: { type: 'local-global', iterations: 10 },
    bodies: [{ name: 'cloth', shape: { type: 'grid', cells_x: vertices - 1, cells_z: vertices - 1 }, material: { type: 'hooke', k: 1000, rho: 0.2 }, fix: [{ vertices: [0, vertices - 1] }] }],
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
  const lists = [[], []];
  for (let turn = 0; turn < 4; turn++) for (const [k, where] of [page, served].entries()) lists[k].push(...(await times(where, n)));
  for (const [k, where] of [page, served].entries()) {
    const sorted = lists[k].sort((a, b) => a - b), threads = await where.evaluate(() => document.getElementById('threads').textContent);
    console.log(`cloth of ${n} x ${n} vertices, ${threads}: a step takes ${sorted[0].toFixed(1)} ms at best, ${sorted[sorted.length >> 1].toFixed(1)} ms in the median`);
  }
}
server.stop();
const memory = () => page.evaluate(() => [window.brio.engine.memory, performance.memory?.usedJSHeapSize ?? 0]);
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
