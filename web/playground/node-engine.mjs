// The engine for browsers in Node.js, without a page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export async function loadEngine(dir) {
  const { default: create } = await import(pathToFileURL(join(dir, 'engine.mjs')));
  return create({ wasmBinary: readFileSync(join(dir, 'engine.wasm')) });
}

// Steps of a scene under an engine; after the n-th, each(n, world).
export function runScene(m, scene, steps, each) {
  const text = JSON.stringify(scene), size = m.lengthBytesUTF8(text) + 1, at = m._malloc(size);
  m.stringToUTF8(text, at, size);
  const world = m._web_create(at);
  m._free(at);
  if (!world) throw new Error(m.UTF8ToString(m._web_reason()));
  for (let n = 0; n < steps; n++) {
    if (m._web_step(world, scene.time.h, 1) !== 1) throw new Error(`step ${n}: ${m.UTF8ToString(m._web_reason())}`);
    each(n, world);
  }
  m._web_free(world);
}
