// What same-bits.mjs and trajectories.mjs share: the engine of a package, and scenes run by it.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const STEPS = 100;

// Fixes the end of a bar at x = 0.
export const LEFT_END = {
  box: [
    [-1, -1, -1],
    [0, 1, 1],
  ],
};

// createEngine of the package in a folder.
export async function engineOf(dir) {
  const { createEngine } = await import(pathToFileURL(join(resolve(dir), 'node.js')));
  return createEngine;
}

// Runs a scene, and returns what `take(world)` lists after each step, in one list.
export function everyStep(engine, scene, take) {
  const rows = [],
    world = engine.world(scene);
  for (let n = 0; n < STEPS; n++) {
    world.step();
    rows.push(...take(world));
  }
  world.dispose();
  return rows;
}
