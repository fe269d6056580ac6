// A picture of a report for the documentation:
//   node shoot.mjs REPORT.html OUT.png WIDTH HEIGHT light|dark TIME [folder of node_modules]
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [report, out, width, height, colorScheme, time, modules] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules ?? '.') + '/')('playwright-core');
const browser = await chromium.launch({
  executablePath: process.env.BRIO_CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const page = await browser.newPage({
  viewport: { width: Number(width), height: Number(height) },
  colorScheme,
});
await page.goto(`file://${resolve(report)}`);
await page.waitForFunction(() => window.brioReport);
await page.evaluate(async (t) => (await window.brioReport).view.setTime(t), Number(time));
await page.waitForTimeout(500);
await page.screenshot({ path: out });
await browser.close();
