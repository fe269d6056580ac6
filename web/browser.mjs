// Chromium for tests and pictures, with the flags that work without a display and as any user.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
// WebGL is drawn by the processor, and the page by the simpler code that browsers use without a
// graphics processor: through WebGL's it would take 30 ms for each frame, whatever is in it.
const args = [
  '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist', '--disable-gpu-compositing', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

// `modules`: a folder whose node_modules has playwright-core. Returns {launch}, or {missing: why}.
export function findBrowser(modules = '.') {
  let chromium;
  try {
    ({ chromium } = createRequire(join(resolve(modules), 'x'))('playwright-core'));
  } catch {
    return { missing: `there is no playwright-core in ${modules}` };
  }
  const executablePath = process.env.BRIO_CHROMIUM ?? places.find(existsSync);
  if (!executablePath) return { missing: 'there is no Chromium; apt-get install chromium' };
  return { launch: () => chromium.launch({ executablePath, args }) };
}

export function skip(why) {
  console.log(`SKIPPED: ${why}`);
  process.exit(77);
}

// Starts it, or ends the program with the code of a skipped test.
export function launch(modules) {
  const found = findBrowser(modules);
  return found.missing ? skip(found.missing) : found.launch();
}
