// Makes the package of its sources and the compiled engine:  node build.mjs BUILD_DIR [pack]
// BUILD_DIR/npm/package is what is published; with `pack` also
// BUILD_DIR/npm/brio-engine-VERSION.tgz.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url)),
  root = join(here, '..', '..');
const build = resolve(process.argv[2] ?? join(root, 'build')),
  wasm = join(build, 'wasm');
const out = join(build, 'npm', 'package');

const header = readFileSync(join(root, 'include', 'brio', 'brio.h'), 'utf8');
const version = ['MAJOR', 'MINOR', 'PATCH']
  .map((part) => header.match(new RegExp(`BRIO_VERSION_${part} (\\d+)`))[1])
  .join('.');

rmSync(join(build, 'npm'), { recursive: true, force: true });
mkdirSync(join(out, 'threads'), { recursive: true });
for (const name of readdirSync(join(here, 'src'))) cpSync(join(here, 'src', name), join(out, name));
cpSync(join(here, 'examples'), join(out, 'examples'), { recursive: true });
cpSync(join(here, 'README.md'), join(out, 'README.md'));
cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
cpSync(join(wasm, 'engine.mjs'), join(out, 'engine.js'));
cpSync(join(wasm, 'engine.wasm'), join(out, 'engine.wasm'));
for (const end of ['worker.js', 'wasm'])
  cpSync(join(wasm, `engine-threads.${end}`), join(out, 'threads', `engine-threads.${end}`));
// A page imports it as a module, its workers load it as a script, Node.js as CommonJS.
const threads = readFileSync(join(wasm, 'engine-threads.js'), 'utf8');
writeFileSync(
  join(out, 'threads', 'engine-threads.js'),
  `${threads}\nglobalThis.brioThreads = brioThreads;\n`,
);
writeFileSync(join(out, 'threads', 'package.json'), '{"type": "commonjs"}\n');
writeFileSync(
  join(out, 'package.json'),
  JSON.stringify(
    {
      name: 'brio-engine',
      version,
      description:
        'brio simulates soft bodies, cloth and contact: for browsers, workers and Node.js',
      keywords: ['physics', 'simulation', 'soft body', 'cloth', 'contact', 'integrator', 'wasm'],
      license: 'MIT',
      type: 'module',
      sideEffects: false,
      types: './index.d.ts',
      exports: {
        '.': { types: './index.d.ts', node: './node.js', default: './index.js' },
        './engine.wasm': './engine.wasm',
        './threads/*': './threads/*',
        './package.json': './package.json',
      },
      engines: { node: '>=18' },
    },
    null,
    2,
  ) + '\n',
);

const size = (folder) =>
  readdirSync(folder, { withFileTypes: true }).reduce(
    (sum, e) =>
      sum + (e.isDirectory() ? size(join(folder, e.name)) : statSync(join(folder, e.name)).size),
    0,
  );
console.log(`${out}: brio-engine ${version}, ${(size(out) / 1e6).toFixed(2)} MB`);
if (process.argv[3] === 'pack') {
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', join(build, 'npm')], {
      cwd: out,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  console.log(`${join(build, 'npm', packed[0].filename)}: ${(packed[0].size / 1e6).toFixed(2)} MB`);
}
