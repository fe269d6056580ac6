// Node.js without a picture: a mesh of typed arrays falls on a floor, and the ledger tells where
// the energy went.
import { createEngine } from 'brio-engine';

const brio = await createEngine();
console.log(`brio ${brio.version}, ${brio.threads} threads, ${brio.methods.length} methods`);

// An octahedron of four tets around its axis.
const world = brio.world({
  time: { h: 1 / 120 },
  integrator: 'backward-euler',
  contact: { type: 'ipc' },
  bodies: [
    {
      name: 'gem',
      material: { type: 'neo-hookean', E: 5e4, nu: 0.3, rho: 1000 },
      transform: { translate: [0, 0.5, 0] },
      mesh: {
        positions: new Float64Array([
          0, -0.1, 0, 0, 0.1, 0, 0.1, 0, 0, 0, 0, 0.1, -0.1, 0, 0, 0, 0, -0.1,
        ]),
        tets: new Uint32Array([0, 1, 2, 5, 0, 1, 3, 2, 0, 1, 4, 3, 0, 1, 5, 4]),
      },
    },
  ],
  obstacles: [{ type: 'plane', name: 'floor', normal: [0, 1, 0] }],
});
world.noteContacts();
const first = world.ledger().total;
for (let n = 0; n < 120; n++) {
  world.step();
  for (const c of world.contacts())
    if (c.change === 'begins')
      console.log(
        `t = ${world.time.toFixed(3)} s: ${c.a} meets ${c.b} with ${c.pressing.toFixed(3)} N s`,
      );
}
const { total, remainder, centre } = world.ledger();
console.log(
  `after ${world.time.toFixed(2)} s: centre at ${centre[1].toFixed(3)} m, ` +
    `energy ${first.toFixed(2)} -> ${total.toFixed(2)} J, ` +
    `of which the method took ${(-remainder).toFixed(2)} J`,
);
world.dispose();
brio.dispose();
