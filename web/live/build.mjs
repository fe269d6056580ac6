// Puts page, style and script into one file and compresses it as the server sends it:
//   node build.mjs OUT MODULES        (MODULES: the node_modules of web/report)
import { createRequire } from 'node:module';
import { deflateSync } from 'node:zlib';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2],
  modules = resolve(process.argv[3]);
const { build } = createRequire(join(modules, 'x'))('esbuild');

const result = await build({
  entryPoints: [join(here, 'live.js')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2022',
  nodePaths: [modules],
  // the playground's files would find their own copies next to them
  alias: { three: join(modules, 'three'), uplot: join(modules, 'uplot') },
  legalComments: 'none',
});
const script = result.outputFiles[0].text.replaceAll('</script', '<\\/script');
const styles = [
  join(modules, 'uplot', 'dist', 'uPlot.min.css'),
  join(here, '..', 'playground', 'style.css'),
  join(here, 'live.css'),
];
const page = readFileSync(join(here, 'index.html'), 'utf8')
  .replace('/*style*/', () => styles.map((file) => readFileSync(file, 'utf8')).join(''))
  .replace('/*script*/', () => script);
const stream = deflateSync(page, { level: 9 });
writeFileSync(out, stream);
console.log(`live: ${page.length} bytes, ${stream.length} compressed`);
