// The engine: worlds, the lists of what there is to choose from, and the measure of methods.
// index.js and node.js say how its files are found.
import { BrioError, number, refuse, said, settings, string } from './errors.js';
import { Native } from './native.js';
import { World, methodText } from './world.js';

export { BrioError } from './errors.js';

const MOST_THREADS = 8,
  PATIENCE = 10000;

class Oscillator {
  #native;
  #at;

  constructor(native, method, mass) {
    if (!(number(mass, 'mass') > 0)) refuse(`expected a mass above 0, found ${mass}`, 'mass');
    this.#native = native;
    this.#at = native.withTexts([methodText(method)], (s) =>
      native.need('_web_oscillator', s, mass),
    );
  }
  get #oscillator() {
    if (!this.#at) throw new BrioError('this oscillator was disposed of; create another one');
    return this.#at;
  }
  dispose() {
    if (this.#at && !this.#native.ended) this.#native.call('_web_oscillator_free', this.#at);
    this.#at = 0;
  }
  radius(X, Y) {
    return this.#native.call('_web_radius', this.#oscillator, number(X, 'X'), number(Y, 'Y'));
  }
  limit() {
    return this.#native.call('_web_oscillator_limit', this.#oscillator);
  }
  matrix(k, d, h) {
    return JSON.parse(
      this.#native.needText(
        '_web_amplification',
        this.#oscillator,
        number(k, 'k'),
        number(d, 'd'),
        number(h, 'h'),
      ),
    );
  }
}

export class Engine {
  #native;
  #worlds = new Set();
  #lists = new Map();
  #limits = new Map();

  constructor(native, threads) {
    this.#native = native;
    this.threads = threads;
    this.version = native.text(native.call('_web_version'));
  }

  world(scene, options = undefined) {
    this.#native.check();
    const world = new World(this.#native, scene, options, (w) => this.#worlds.delete(w));
    this.#worlds.add(world);
    return world;
  }

  list(family) {
    if (!this.#lists.has(string(family, 'family')))
      this.#lists.set(
        family,
        JSON.parse(
          this.#native.withTexts([family], (n) => this.#native.needText('_web_family', n)),
        ),
      );
    return this.#lists.get(family);
  }

  get methods() {
    return this.list('integrators');
  }
  method(name) {
    return this.methods.find((i) => i.name === name);
  }
  get citations() {
    if (!this.#lists.has(''))
      this.#lists.set('', JSON.parse(this.#native.needText('_web_citations')));
    return this.#lists.get('');
  }

  oscillator(method, mass = 1) {
    this.#native.check();
    return new Oscillator(this.#native, method, mass);
  }

  stableLimit(name) {
    string(name, 'name');
    if (!this.#limits.has(name)) {
      // a name that there is not is rejected there
      if (!this.method(name)) this.oscillator(name);
      let limit = Infinity;
      try {
        const o = this.oscillator(name);
        limit = o.limit();
        o.dispose();
      } catch (e) {
        if (!(e instanceof BrioError)) throw e; // methods without a matrix have no such limit
        this.#native.check();
      }
      this.#limits.set(name, limit);
    }
    return this.#limits.get(name);
  }

  get memory() {
    return this.#native.buffer.byteLength;
  }
  get workerChunks() {
    return this.#native.chunks;
  }

  dispose() {
    for (const world of [...this.#worlds]) world.dispose();
    this.#native.end('this engine was disposed of; create another one');
    this.#native.endWorkers();
  }
}

// How many threads: what is asked for, as far as memory can be shared.
function wantedThreads(threads, platform) {
  if (threads !== 'auto' && !(Number.isInteger(threads) && threads >= 1 && threads <= 64))
    refuse(`expected "auto" or a number from 1 to 64, found ${said(threads)}`, 'threads');
  if (threads === 1) return 1;
  const why = platform.noThreads();
  if (why && threads !== 'auto')
    throw new BrioError(`threads: ${why}`, { status: 'ERROR_UNSUPPORTED' });
  if (why) return 1;
  return threads === 'auto' ? Math.min(MOST_THREADS, platform.cores()) : threads;
}

async function startThreads(platform, threads) {
  const late = new Promise((_, reject) =>
    setTimeout(
      reject,
      PATIENCE,
      new Error(`the workers did not start within ${PATIENCE / 1000} s`),
    ).unref?.(),
  );
  const made = platform.threaded(threads).then((module) => {
    const native = new Native(module),
      started = native.startThreads(threads);
    native.forgetWorkers();
    return new Engine(native, started);
  });
  return Promise.race([made, late]);
}

export async function start(platform, options = undefined) {
  const { threads = 'auto' } = settings(options, 'options, {threads, wasm, locate}'),
    wanted = wantedThreads(threads, platform);
  try {
    if (wanted > 1) {
      try {
        return await startThreads(platform, wanted);
      } catch (e) {
        if (threads !== 'auto') throw e;
      }
    }
    return new Engine(new Native(await platform.single()), 1);
  } catch (cause) {
    if (cause instanceof BrioError) throw cause;
    throw new BrioError(
      `the engine cannot be started: ${cause?.message ?? cause}; ` +
        'it needs WebAssembly with SIMD and the files of the package',
      { status: 'ERROR_UNSUPPORTED', cause },
    );
  }
}
