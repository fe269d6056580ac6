// Pictures of tabs:  [SIZES='1280x800 390x844'] [THEMES='light dark'] [FOLD=1] node shots.mjs PAGE OUT_DIR [view ...]
// On a phone the whole page, or (FOLD) what is seen first. Chapters of the guide are shown with a
// prediction made and judged; on a wide screen their second half is a picture of its own.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { launch } from './browser.mjs';

const [page_, out, ...wanted] = process.argv.slice(2);
const views = {
  cloth: 'tab=cloth', cut: 'tab=cloth&pins=0.o', bunny: 'tab=soft&scene=bunny', bunnies: 'tab=soft&scene=bunny&n=15&count=2', cube: 'tab=soft&scene=cube', bar: 'tab=soft&scene=bar', balls: 'tab=soft&scene=balls', dice: 'tab=soft&scene=dice',
  ...Object.fromEntries(['spring', 'stiffness', 'minimum', 'damping', 'energy', 'momentum', 'contact', 'realtime'].map((c) => [`chapter-${c}`, `chapter=${c}`])),
  dial: 'tab=dial', phase: 'tab=phase', pendulum: 'tab=phase&system=pendulum', stability: 'tab=stability', two: 'tab=two',
};
const sizes = process.env.SIZES ? process.env.SIZES.split(' ') : ['1280x800'], themes = (process.env.THEMES || 'light').split(' ');
mkdirSync(out, { recursive: true });
const browser = await launch();
for (const [name, hash] of Object.entries(views)) {
  if (wanted.length && !wanted.includes(name)) continue;
  for (const size of sizes)
    for (const theme of themes) {
      const [width, height] = size.split('x').map(Number);
      const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme, deviceScaleFactor: 1, hasTouch: width < 500 });
      page.on('console', (m) => ['error', 'warning'].includes(m.type()) && console.log(name, m.text().slice(0, 300)));
      page.on('pageerror', (e) => console.log(name, 'error', e.stack));
      await page.goto(`file://${resolve(page_)}#${hash}`);
      await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 90000 });
      await page.evaluate(() => {
        const b = window.brio.bench;
        if (b.chapter) {
          b.choose(Object.keys(b.chapter.predict.options)[1]);
          b.finish();
          b.play(false);
        }
        for (let i = 0; i < 60 && b.stepNow; i++) {
          b.stepNow(1);
          b.record();
        }
      });
      await page.waitForFunction(() => !window.brio.bench.order || window.brio.bench.next >= window.brio.bench.order.length, null, { timeout: 120000 });
      await page.waitForTimeout(Number(process.env.WAIT || 900));
      await page.screenshot({ path: `${out}/${name}-${size}-${theme}.png`, fullPage: width < 500 && !process.env.FOLD });
      if (width >= 500 && hash.startsWith('chapter')) {
        await page.evaluate(() => document.getElementById('tab').scrollTo(0, 1e6));
        await page.waitForTimeout(200);
        await page.screenshot({ path: `${out}/${name}-${size}-${theme}-2.png` });
      }
      console.log(name, size, theme, await page.evaluate(() => `ready ${document.documentElement.dataset.ready} ms, ${document.querySelector('.status')?.textContent}, ${document.querySelector('.message')?.textContent}`));
      await page.close();
    }
}
await browser.close();
