// The page in Chromium for its tests:  tools(file) -> {openPage, openStill, ...}
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../browser.mjs';
import { check } from '../cases.mjs';

export async function tools(file) {
  const running = await launch(dirname(fileURLToPath(import.meta.url)));
  let complaints = [], shared;

  async function openPage(hash = '', options = {}, address = `file://${file}`) {
    const page = await running.newPage({ viewport: { width: 560, height: 520 }, ...options });
    page.on('console', (m) => m.type() === 'error' && complaints.push(m.text()));
    page.on('pageerror', (e) => complaints.push(e.stack));
    await page.goto(address + hash);
    const ready = () => document.documentElement.dataset.ready;
    await page.waitForFunction(ready, null, { timeout: 60000 });
    return page;
  }

  // A page that stands still: what happens is what the test does. One serves all, since starting
  // the engine and WebGL again takes its time.
  async function openStill(hash) {
    if (!shared) shared = await openPage(hash + '&play=0');
    else await shared.evaluate((q) => window.brio.open(q), hash.slice(1) + '&play=0');
    return shared;
  }

  // Pages of their own end with their case.
  async function closeOthers() {
    for (const context of running.contexts())
      if (context !== shared?.context()) await context.close();
  }

  return {
    openPage,
    openStill,
    newPage: () => running.newPage(),
    params: (page) =>
      page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1)))),
    forgive: (pattern) => (complaints = complaints.filter((c) => !pattern.test(c))),
    around: {
      before: async () => {
        await closeOthers();
        complaints = [];
      },
      after: () =>
        check(complaints.length === 0, `the console says: ${complaints.join('; ')}`),
      end: () => running.close(),
    },
  };
}
