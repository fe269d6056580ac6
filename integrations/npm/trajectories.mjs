// Runs scenes under the package brio-engine, in Node.js:  node trajectories.mjs PACKAGE_DIR OUT_DIR
// For each: OUT/NAME.json, the scene, and OUT/NAME.bin, positions of all vertices after every one
// of 100 steps. tests/test_wasm.c runs the same natively.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEFT_END, engineOf, everyStep } from './steps.mjs';

const [dir, out] = process.argv.slice(2);
const createEngine = await engineOf(dir);
const engine = await createEngine({ threads: 1 });

const solver = { type: 'newton', linear: 'ldlt', tol: 1e-14 };
const scenes = {
  cloth: {
    time: { h: 0.01 },
    integrator: 'backward-euler',
    solver,
    bodies: [
      {
        name: 'cloth',
        shape: { type: 'grid', cells_x: 6, cells_z: 6 },
        material: { type: 'hooke', k: 100, rho: 0.2 },
        fix: [{ vertices: [0, 6] }],
      },
    ],
  },
  beam: {
    time: { h: 0.005 },
    integrator: 'implicit-midpoint',
    solver,
    bodies: [
      {
        name: 'beam',
        shape: { type: 'bar', length: 0.5, cells: 6, across: 2 },
        material: { type: 'neo-hookean', E: 1e6, nu: 0.3, rho: 1000 },
        fix: [LEFT_END],
      },
    ],
  },
  cube: {
    time: { h: 1 / 60 },
    integrator: 'a-search',
    solver,
    bodies: [
      {
        name: 'cube',
        shape: { type: 'box', size: [0.1, 0.1, 0.1], cells: [3, 3, 3] },
        material: { type: 'corotated', E: 5e4, nu: 0.3, rho: 1000 },
        velocity: { angular: [0, 0, 10] },
      },
    ],
    gravity: [0, 0, 0],
  },
  ball: {
    time: { h: 1 / 240 },
    integrator: 'bdf2',
    solver,
    contact: { type: 'ipc', dhat: 1e-3, kappa: 1e5 },
    bodies: [
      {
        name: 'ball',
        shape: { type: 'ball', radius: 0.05, cells: 2 },
        material: { type: 'stable-neo-hookean', E: 1e5, nu: 0.3, rho: 1000 },
        transform: { translate: [0, 0.1, 0] },
      },
    ],
    obstacles: [{ type: 'plane', normal: [0, 1, 0] }],
  },
  chain: {
    time: { h: 0.005 },
    integrator: 'variational',
    solver,
    bodies: [
      {
        name: 'chain',
        shape: { type: 'line', length: 1, cells: 2 },
        kind: 'points',
        material: { type: 'mass', vertex_mass: 0.2 },
        fix: [{ vertices: [0] }],
      },
    ],
    constraints: [
      { type: 'rod', a: ['chain', 0], b: ['chain', 1] },
      { type: 'rod', a: ['chain', 1], b: ['chain', 2] },
    ],
  },
  joint: {
    time: { h: 0.005 },
    integrator: 'backward-euler',
    solver,
    bodies: [
      {
        name: 'link',
        shape: { type: 'box', size: [0.4, 0.1, 0.1] },
        kind: 'affine',
        material: { type: 'affine', E: 1e8, rho: 600 },
      },
    ],
    constraints: [{ type: 'ball', a: 'link', at: [-0.2, 0, 0] }],
  },
};

for (const [name, scene] of Object.entries(scenes)) {
  const rows = everyStep(engine, scene, (world) => [
    Buffer.from(world.positions().slice(0, 3 * world.vertices()).buffer),
  ]);
  writeFileSync(join(out, `${name}.json`), JSON.stringify(scene));
  writeFileSync(join(out, `${name}.bin`), Buffer.concat(rows));
}
console.log(Object.keys(scenes).join(' '));
