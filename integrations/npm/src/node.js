// The engine for Node.js: its files are read from the folder of the package.
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import create from './engine.js';
import { start } from './api.js';

export { BrioError } from './api.js';

// What goes wrong is thrown.
const printErr = () => {};
const beside = (name) => new URL(name, import.meta.url).href;
const path = (where) => (String(where).startsWith('file:') ? fileURLToPath(where) : String(where));

export function createEngine(options) {
  const { wasm, locate = beside } = options ?? {};
  return start(
    {
      noThreads: () => '',
      cores: () => os.availableParallelism?.() ?? os.cpus().length,
      single: async () =>
        create({ printErr, wasmBinary: wasm ?? (await readFile(path(locate('engine.wasm')))) }),
      threaded: async (threads) => {
        const place = (name) => path(locate(`threads/${name}`)),
          script = place('engine-threads.js');
        const { default: made } = await import(locate('threads/engine-threads.js'));
        return made({
          threads,
          printErr,
          wasmBinary: await readFile(place('engine-threads.wasm')),
          mainScriptUrlOrBlob: script,
          locateFile: place,
        });
      },
    },
    options,
  );
}
