// How long the page takes until it can be used:  node start.mjs [RUNS] PAGE.html [OTHER.html ...]
// Each run starts Chromium and opens each place of the page twice: first while the browser itself
// still starts, then again, as from a browser that is open already. Pages take turns, so that what
// else the machine does meets all alike. Printed are the milliseconds until the page is ready
// (minimum, median), and how long the processors worked for it meanwhile: in its main thread, and
// in the process that draws (minimum).
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../browser.mjs';

const PLACES = ['', '#tab=cloth', '#tab=soft', '#chapter=contact'];
const args = process.argv.slice(2), runs = Number(args[0]) > 0 ? Number(args.shift()) : 5;
if (!args.length) args.push('build/playground.html');
const here = dirname(fileURLToPath(import.meta.url));
const viewport = { width: 1366, height: 768 };

async function drawing(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.find((p) => p.type === 'GPU')?.cpuTime ?? 0;
}

async function open(browser, file, place) {
  const context = await browser.newContext({ viewport }), page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await drawing(browser);
  await page.goto(`file://${resolve(file)}${place}`);
  const ready = () => document.documentElement.dataset.ready;
  await page.waitForFunction(ready, null, { timeout: 60000 });
  const { metrics } = await session.send('Performance.getMetrics');
  const busy = metrics.find((m) => m.name === 'TaskDuration').value;
  const drawn = (await drawing(browser)) - before;
  const wall = Number(await page.evaluate(ready));
  await context.close();
  return { wall, busy, drawn };
}

const results = new Map();
for (let run = 0; run < runs; run++)
  for (const place of PLACES)
    for (const file of args) {
      const browser = await launch(here);
      for (const which of ['first', 'again']) {
        const key = [place || '(start)', file, which].join('\t');
        if (!results.has(key)) results.set(key, []);
        results.get(key).push(await open(browser, file, place));
      }
      await browser.close();
    }
for (const [key, list] of results) {
  const [place, file, which] = key.split('\t');
  const wall = list.map((r) => r.wall).sort((a, b) => a - b);
  const least = (what) => (1000 * Math.min(...list.map((r) => r[what]))).toFixed(0);
  console.log(`${place} ${file} ${which}: ready after ${wall[0]} ms (median ` +
    `${wall[wall.length >> 1]}), main thread ${least('busy')} ms, drawing ${least('drawn')} ms`);
}
