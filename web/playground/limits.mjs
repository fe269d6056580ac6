// Measures the stable steps of all methods while the page is built: `import { stableLimit } from
// 'stable-limits'` in src asks a table. The engine needs most of a second for all of them, and the
// page needs them before it shows its first menu.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

async function table(module) {
  const { createEngine } = await import(pathToFileURL(join(module, 'node.js')));
  const engine = await createEngine({ threads: 1 });
  const rows = engine.methods.map(({ name }) => `"${name}": ${engine.stableLimit(name)}`);
  engine.dispose();
  return `const table = {${rows}}; export const stableLimit = (name) => table[name];`;
}

// `module`: the folder of the package brio-engine.
export const limits = (module) => ({
  name: 'limits',
  setup(build) {
    build.onResolve({ filter: /^stable-limits$/ }, ({ path }) => ({ path, namespace: 'limits' }));
    build.onLoad({ filter: /.*/, namespace: 'limits' }, async () => ({
      contents: await table(module),
    }));
  },
});
