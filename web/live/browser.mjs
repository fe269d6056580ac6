// Starts Chromium with the flags that work without a display, as any user.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const chromiumPath = process.env.BRIO_CHROMIUM ?? places.find(existsSync);

// `modules`: a folder of packages with playwright-core. Exit code 77: there is no browser.
export function launch(modules) {
  let chromium;
  try {
    ({ chromium } = createRequire(join(resolve(modules ?? '.'), 'x'))('playwright-core'));
  } catch {
    console.log('SKIPPED: there is no playwright-core');
    process.exit(77);
  }
  if (!chromiumPath) {
    console.log('SKIPPED: there is no Chromium (Debian: apt-get install chromium)');
    process.exit(77);
  }
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--ignore-gpu-blocklist',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

// Waits for so many frames.
export const frames = (page, count) =>
  page.evaluate(async (wanted) => {
    const until = window.brioLive.count + wanted,
      start = performance.now();
    while (window.brioLive.count < until && performance.now() - start < 20000)
      await new Promise((done) => setTimeout(done, 20));
    return window.brioLive.count >= until;
  }, count);
