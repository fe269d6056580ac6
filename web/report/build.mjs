// Bundles report.js, three.js and uPlot into one compressed script for report.html:
//   node build.mjs OUT
import { build } from 'esbuild';
import { deflateSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';

const result = await build({
  entryPoints: [new URL('report.js', import.meta.url).pathname],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: ['chrome90', 'firefox113', 'safari16.4'],
  loader: { '.css': 'text' },
  legalComments: 'inline',
});
const stream = deflateSync(result.outputFiles[0].contents, { level: 9 });
writeFileSync(process.argv[2], stream);
console.log(`report: ${result.outputFiles[0].contents.length} bytes, ${stream.length} compressed`);
