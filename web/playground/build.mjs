// Puts page, style, script and the module brio-engine into one file that opens without a server:
//   node build.mjs BUILD_DIR
// Beside it goes the engine with threads, playground-threads.*, which the page loads where it is
// served with the headers for shared memory.
import { build } from 'esbuild';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { equationStyle, equations } from './equations.mjs';
import { limits } from './limits.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] || join(here, '..', 'build'));
const module = join(out, 'npm', 'package');

const result = await build({
  entryPoints: [join(here, 'src', 'main.js')],
  bundle: true, minify: true, format: 'iife', target: 'es2022', write: false, legalComments: 'none',
  alias: { 'brio-engine': join(module, 'index.js') },
  logOverride: { 'empty-import-meta': 'silent' }, // the page says itself where the engine is
  loader: { '.css': 'text' }, plugins: [equations, limits(module)],
});
const script = result.outputFiles[0].text.replaceAll('</script', '<\\/script');
const engine = gzipSync(readFileSync(join(module, 'engine.wasm')), { level: 9 }).toString('base64');
const text = (...path) => readFileSync(join(here, ...path), 'utf8');
const style = text('node_modules', 'uplot', 'dist', 'uPlot.min.css') + text('style.css') +
  equationStyle() + text('guide.css');
const page = text('index.html')
  .replace('/*style*/', () => style)
  .replace('/*engine*/', () => engine)
  .replace('/*script*/', () => script);
const file = join(out, 'playground.html');
writeFileSync(file, page);
for (const end of ['js', 'worker.js', 'wasm'])
  copyFileSync(join(module, 'threads', `engine-threads.${end}`),
    join(out, `playground-threads.${end}`));
const mb = (length) => (length / 1e6).toFixed(2);
console.log(`${file}: ${mb(page.length)} MB (script ${mb(script.length)}, ` +
  `engine ${mb(engine.length)})`);
