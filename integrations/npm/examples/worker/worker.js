// Steps within a fixed budget: at most 8 ms of each frame of 1/60 s, whatever the machine is busy
// with. Import maps do not reach workers, so the module is named by its place.
import { createEngine } from '../../index.js';

const BUDGET = 8,
  FRAME = 1 / 60;
const world = (await createEngine({ threads: 1 })).world({
  time: { h: 1 / 120 },
  integrator: 'a-search',
  solver: { type: 'local-global', iterations: 8 },
  bodies: [
    {
      name: 'cloth',
      shape: { type: 'grid', width: 1, depth: 0.8, cells_x: 20, cells_z: 16 },
      material: { type: 'hooke', k: 500, rho: 0.3 },
      transform: { rotate: [[1, 0, 0], 90] },
      fix: [{ vertices: [0, 20] }],
    },
  ],
});
const edges = world.edges('cloth').slice();
const { postMessage } =
  /** @type {{ postMessage(data: unknown, transfer: Transferable[]): void }} */ (globalThis);

function frame() {
  const begin = performance.now(),
    steps = world.advance(FRAME, { budget: BUDGET }),
    busy = performance.now() - begin;
  const positions = world.positions('cloth').slice(); // a copy, which goes to the page
  postMessage({ positions, edges, steps, time: world.time, busy }, [positions.buffer]);
}
onmessage = frame;
frame();
