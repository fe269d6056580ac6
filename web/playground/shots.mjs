// Pictures of tabs:
//   [SIZES='1280x800 390x844'] [THEMES='light dark'] [FOLD=1] node shots.mjs PAGE OUT_DIR [VIEW...]
// On a phone the whole page, or (FOLD) what is seen first. Chapters of the guide are shown with a
// prediction made and judged; on a wide screen their second half is a picture of its own.
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '../browser.mjs';

const [page_, out, ...wanted] = process.argv.slice(2);
const chapters = [
  'spring', 'stiffness', 'minimum', 'damping', 'energy', 'momentum', 'contact', 'realtime',
];
const views = {
  cloth: 'tab=cloth', cut: 'tab=cloth&pins=0.o', bunny: 'tab=soft&scene=bunny',
  bunnies: 'tab=soft&scene=bunny&n=15&count=2', cube: 'tab=soft&scene=cube',
  bar: 'tab=soft&scene=bar', balls: 'tab=soft&scene=balls', dice: 'tab=soft&scene=dice',
  ...Object.fromEntries(chapters.map((c) => [`chapter-${c}`, `chapter=${c}`])),
  dial: 'tab=dial', phase: 'tab=phase', pendulum: 'tab=phase&system=pendulum',
  stability: 'tab=stability', two: 'tab=two', own: 'tab=own',
};
const sizes = (process.env.SIZES || '1280x800').split(' ');
const themes = (process.env.THEMES || 'light').split(' ');
const wait = Number(process.env.WAIT || 900);
mkdirSync(out, { recursive: true });
const browser = await launch(dirname(fileURLToPath(import.meta.url)));

// The experiment has been made, or a second has gone by.
function act() {
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
}

async function shoot(name, hash, size, colorScheme) {
  const [width, height] = size.split('x').map(Number), hasTouch = width < 500;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, hasTouch });
  page.on('console', (m) =>
    ['error', 'warning'].includes(m.type()) && console.log(name, m.text().slice(0, 300)));
  page.on('pageerror', (e) => console.log(name, 'error', e.stack));
  await page.goto(`file://${resolve(page_)}#${hash}`);
  const until = (what) => page.waitForFunction(what, null, { timeout: 120000 });
  await until(() => document.documentElement.dataset.ready);
  await page.evaluate(act);
  await until(() => {
    const { order, next } = window.brio.bench;
    return !order || next >= order.length;
  });
  await page.waitForTimeout(wait);
  const file = `${out}/${name}-${size}-${colorScheme}`;
  await page.screenshot({ path: `${file}.png`, fullPage: width < 500 && !process.env.FOLD });
  if (width >= 500 && hash.startsWith('chapter')) {
    await page.evaluate(() => document.getElementById('tab').scrollTo(0, 1e6));
    await page.waitForTimeout(200);
    await page.screenshot({ path: `${file}-2.png` });
  }
  const said = await page.evaluate(() => {
    const text = (place) => document.querySelector(place)?.textContent;
    const { ready } = document.documentElement.dataset;
    return `ready ${ready} ms, ${text('.status')}, ${text('.message')}`;
  });
  console.log(name, size, colorScheme, said);
  await page.close();
}

for (const [name, hash] of Object.entries(views))
  if (!wanted.length || wanted.includes(name))
    for (const size of sizes) for (const theme of themes) await shoot(name, hash, size, theme);
await browser.close();
