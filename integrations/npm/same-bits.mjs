// The engine with threads against the one without, in Node.js:  node same-bits.mjs PACKAGE_DIR
// Positions and velocities after each of 100 steps are the same bits for one, two and three
// threads.
import { LEFT_END, STEPS, engineOf, everyStep } from './steps.mjs';

const createEngine = await engineOf(process.argv[2]);

const scenes = {
  cloth: {
    time: { h: 1 / 60 },
    integrator: 'backward-euler',
    solver: { type: 'local-global', iterations: 10 },
    bodies: [
      {
        name: 'cloth',
        shape: { type: 'grid', cells_x: 49, cells_z: 49 },
        material: { type: 'hooke', k: 1000, rho: 0.2 },
        fix: [{ vertices: [0, 49] }],
      },
    ],
  },
  bar: {
    time: { h: 0.01 },
    integrator: 'bdf2',
    solver: { type: 'newton', linear: 'ldlt' },
    bodies: [
      {
        name: 'bar',
        shape: { type: 'bar', length: 1, cells: 24, across: 4 },
        material: { type: 'stable-neo-hookean', E: 1e5, nu: 0.4, rho: 1000 },
        fix: [LEFT_END],
      },
    ],
  },
};

// [step][positions, velocities]
const run = (engine, scene) =>
  everyStep(engine, scene, (world) => [world.positions().slice(), world.velocities().slice()]);
const bytes = (rows) => Buffer.concat(rows.map((row) => Buffer.from(row.buffer)));

let failed = false;
const alone = await createEngine({ threads: 1 });
for (const threads of [2, 3]) {
  const shared = await createEngine({ threads });
  for (const [name, scene] of Object.entries(scenes)) {
    const rows = run(alone, scene),
      first = rows[0],
      last = rows[2 * (STEPS - 1)];
    const way = first.reduce((most, x, i) => Math.max(most, Math.abs(x - last[i])), 0);
    const before = shared.workerChunks,
      same = bytes(run(shared, scene)).equals(bytes(rows));
    const helped = shared.workerChunks - before;
    console.log(
      `${name}, ${threads} threads: ${same ? 'the same bits' : 'other bits'} in ${STEPS} steps, ` +
        `in which vertices moved up to ${way.toFixed(3)} m; workers did ${helped} chunks`,
    );
    if (!same || !(way > 0.01) || !(helped > 0) || shared.threads !== threads) failed = true;
  }
  shared.dispose();
}
process.exit(failed ? 1 : 0);
