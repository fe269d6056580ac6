// The engine for pages and workers: its files lie next to this one, or where `locate` says.
import create from './engine.js';
import { start } from './api.js';

export { BrioError } from './api.js';

// What goes wrong is thrown.
const printErr = () => {};
const beside = (name) => new URL(name, import.meta.url).href;

export function createEngine(options) {
  const { wasm, locate = beside } = options ?? {};
  return start(
    {
      noThreads: () =>
        globalThis.crossOriginIsolated
          ? ''
          : 'this page may not share memory: serve it with the headers ' +
            'Cross-Origin-Opener-Policy: same-origin and ' +
            'Cross-Origin-Embedder-Policy: require-corp',
      cores: () => navigator.hardwareConcurrency || 1,
      single: () =>
        create({
          printErr,
          ...(wasm ? { wasmBinary: wasm } : { locateFile: () => locate('engine.wasm') }),
        }),
      // A classic script, since workers load it as one; as a module it leaves its function in
      // globalThis.
      threaded: async (threads) => {
        const place = (name) => new URL(locate(`threads/${name}`), location.href).href,
          script = place('engine-threads.js');
        await import(/* webpackIgnore: true */ /* @vite-ignore */ script);
        return globalThis.brioThreads({
          threads,
          printErr,
          mainScriptUrlOrBlob: script,
          locateFile: (name) => place(name),
        });
      },
    },
    options,
  );
}
