// Pictures of the page:  [SIZES='1366x768 390x844'] [THEMES='light dark'] [WAIT=ms]
//   node shots.mjs ADDRESS OUT_DIR MODULES [name]
import { mkdirSync } from 'node:fs';
import { launch } from './browser.mjs';

const [address, out, modules, name = 'live'] = process.argv.slice(2);
const sizes = (process.env.SIZES ?? '1366x768 390x844').split(' ');
const themes = (process.env.THEMES ?? 'light dark').split(' ');
mkdirSync(out, { recursive: true });
const browser = await launch(modules);
for (const size of sizes)
  for (const colorScheme of themes) {
    const [width, height] = size.split('x').map(Number);
    const page = await browser.newPage({
      viewport: { width, height },
      colorScheme,
      hasTouch: width < 500,
    });
    page.on(
      'console',
      (m) => ['error', 'warning'].includes(m.type()) && console.log(m.text().slice(0, 300)),
    );
    page.on('pageerror', (e) => console.log('error', e.stack));
    await page.goto(address);
    await page.waitForFunction(() => window.brioLive?.count > 3, null, { timeout: 60000 });
    await page.waitForTimeout(Number(process.env.WAIT ?? 1500));
    await page.screenshot({
      path: `${out}/${name}-${size}-${colorScheme}.png`,
      fullPage: width < 500,
    });
    console.log(
      size,
      colorScheme,
      await page.evaluate(() => document.querySelector('.status').textContent),
    );
    await page.close();
  }
await browser.close();
