// The engine with threads against the one without, in Node.js:  node same-bits.mjs ENGINE_DIR
// Positions and velocities after each of 100 steps are the same bits for one, two and three threads.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadEngine, runScene } from './node-engine.mjs';

const STEPS = 100, dir = resolve(process.argv[2]);
const alone = await loadEngine(dir);
const shared = await createRequire(import.meta.url)(join(dir, 'playground-threads.js'))({ threads: 3, wasmBinary: readFileSync(join(dir, 'playground-threads.wasm')) });
if (shared._web_start_threads(3) !== 3) throw new Error('not all threads were started');

const scenes = {
  cloth: {
    time: { h: 1 / 60 }, integrator: 'backward-euler', solver: { type: 'local-global', iterations: 10 },
    bodies: [{ name: 'cloth', shape: { type: 'grid', cells_x: 49, cells_z: 49 }, material: { type: 'hooke', k: 1000, rho: 0.2 }, fix: [{ vertices: [0, 49] }] }],
  },
  bar: {
    time: { h: 0.01 }, integrator: 'bdf2', solver: { type: 'newton', linear: 'ldlt' },
    bodies: [{ name: 'bar', shape: { type: 'bar', length: 1, cells: 24, across: 4 }, material: { type: 'stable-neo-hookean', E: 1e5, nu: 0.4, rho: 1000 }, fix: [{ box: [[-1, -1, -1], [0, 1, 1]] }] }],
  },
};

// [step][positions, velocities]
function run(m, scene) {
  const rows = [];
  runScene(m, scene, STEPS, (n, world) => {
    const bytes = 24 * m._web_vertices(world);
    for (const from of [m._web_positions(world), m._web_velocities(world)]) rows.push(m.HEAPU8.slice(from, from + bytes));
  });
  return rows;
}

let failed = false;
for (const [name, scene] of Object.entries(scenes)) {
  const rows = run(alone, scene), first = new Float64Array(rows[0].buffer), last = new Float64Array(rows[2 * (STEPS - 1)].buffer);
  const way = first.reduce((most, x, i) => Math.max(most, Math.abs(x - last[i])), 0);
  for (const threads of [1, 2, 3]) {
    const before = shared._web_helped() >>> 0;
    shared._web_set_threads(threads);
    const same = Buffer.concat(run(shared, scene)).equals(Buffer.concat(rows)), helped = (shared._web_helped() >>> 0) - before;
    console.log(`${name}, ${threads} of 3 threads: ${same ? 'the same bits' : 'other bits'} in ${STEPS} steps, in which vertices moved up to ${way.toFixed(3)} m; workers did ${helped} chunks`);
    if (!same || !(way > 0.01) || helped > 0 !== threads > 1) failed = true;
  }
}
process.exit(failed ? 1 : 0);
