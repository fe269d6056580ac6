// The compiled engine behind a few functions: calls that may fail, texts, arrays, files. Nothing
// here knows what a world is.
import { BrioError, refuse } from './errors.js';

export class Native {
  #m;
  #ended = '';
  #scratch = 0;

  constructor(module) {
    this.#m = module;
    this.#scratch = module._malloc(64 * 8);
    if (!this.#scratch) throw new BrioError('out of memory', { status: 'ERROR_MEMORY' });
  }

  get buffer() {
    return (this.#m.wasmMemory ?? this.#m.HEAPU8).buffer;
  }

  get ended() {
    return this.#ended !== '';
  }

  end(why) {
    this.#ended ||= why;
  }

  check() {
    if (this.#ended) throw new BrioError(this.#ended);
  }

  // A function of the engine. A trap in it cannot be undone: the engine is then ended, and says so
  // from now on.
  call(name, ...values) {
    this.check();
    try {
      return this.#m[name](...values);
    } catch (cause) {
      if (cause instanceof TypeError) throw new BrioError(cause.message, { cause }); // no number
      this.end(
        `the engine has failed (${cause?.message ?? cause}) and cannot go on; create another one`,
      );
      throw new BrioError(this.#ended, { status: 'ERROR_UNSUPPORTED', cause });
    }
  }

  text(at) {
    return at ? this.#m.UTF8ToString(at) : '';
  }

  // Why the last call was rejected.
  reason(more = {}) {
    const tell = (name) => this.text(this.call(name));
    const path = tell('_web_path'),
      named = tell('_web_file'),
      line = this.call('_web_line'),
      column = this.call('_web_column');
    const file = named === 'scene' || named.startsWith('--') ? '' : named;
    const place = file
      ? file + (line ? `:${line}` : '') + (line && column ? `:${column}` : '')
      : path;
    const sentence = tell('_web_reason');
    return Object.assign(
      new BrioError(place ? `${place}: ${sentence}` : sentence, {
        status: tell('_web_status'),
        path,
        file,
        line,
        column,
      }),
      more,
    );
  }

  // For calls that return 0 if all is well.
  insist(name, ...values) {
    if (this.call(name, ...values) !== 0) throw this.reason();
  }

  // For calls that return something else than 0 if all is well.
  need(name, ...values) {
    const result = this.call(name, ...values);
    if (!result) throw this.reason();
    return result;
  }

  needText(name, ...values) {
    return this.text(this.need(name, ...values));
  }

  allocate(bytes) {
    const at = this.call('_malloc', bytes);
    if (!at)
      throw new BrioError(`out of memory: the engine cannot have ${bytes} bytes more`, {
        status: 'ERROR_MEMORY',
      });
    return at;
  }

  // Calls f with texts as C strings.
  withTexts(texts, f) {
    const places = [];
    try {
      for (const t of texts) {
        if (t.includes('\0')) refuse('a text must not contain the character 0');
        const size = this.#m.lengthBytesUTF8(t) + 1,
          at = this.allocate(size);
        places.push(at);
        this.#m.stringToUTF8(t, at, size);
      }
      return f(...places);
    } finally {
      for (const at of places) this.#m._free(at);
    }
  }

  // Calls f with a copy of numbers as doubles. They may be a view of this memory, which is detached
  // if memory grows.
  withNumbers(values, f) {
    const own = values.buffer === this.buffer ? values.slice() : values,
      at = this.allocate(8 * own.length + 8);
    try {
      new Float64Array(this.buffer, at, own.length).set(own);
      return f(at);
    } finally {
      this.#m._free(at);
    }
  }

  // Up to 64 doubles that hold until the next call of this.
  few(values) {
    new Float64Array(this.buffer, this.#scratch, 64).set(values);
    return this.#scratch;
  }

  doubles(at, count) {
    return new Float64Array(this.buffer, at, count);
  }
  integer(at) {
    return new Int32Array(this.buffer, at, 1)[0]; // addresses too: memory ends at 2 GB
  }

  // Calls f in a folder that holds these files and nothing else.
  withFiles(files, f) {
    const { FS } = this.#m,
      folder = '/scene';
    this.check();
    const remove = (path) => {
      for (const name of FS.readdir(path)) {
        if (name === '.' || name === '..') continue;
        const inside = `${path}/${name}`;
        if (FS.isDir(FS.stat(inside).mode)) remove(inside);
        else FS.unlink(inside);
      }
      FS.rmdir(path);
    };
    try {
      FS.mkdir(folder);
      for (const [name, content] of Object.entries(files)) {
        const parts = name.split('/').slice(0, -1);
        parts.forEach((_, k) => {
          const path = `${folder}/${parts.slice(0, k + 1).join('/')}`;
          if (!FS.analyzePath(path).exists) FS.mkdir(path);
        });
        FS.writeFile(`${folder}/${name}`, content);
      }
      FS.chdir(folder);
      return f();
    } catch (e) {
      if (e instanceof BrioError) throw e;
      throw new BrioError(`the files of the scene cannot be kept in memory: ${e.message ?? e}`, {
        status: 'ERROR_MEMORY',
        cause: e,
      });
    } finally {
      FS.chdir('/');
      if (FS.analyzePath(folder).exists) remove(folder);
    }
  }

  readFile(name) {
    return this.#m.FS.readFile(name);
  }

  startThreads(threads) {
    return this.call('_web_start_threads', threads);
  }
  get chunks() {
    return this.#m._web_helped ? this.call('_web_helped') >>> 0 : 0;
  }

  // Workers of Node.js do not keep the program alive.
  forgetWorkers() {
    for (const w of this.#workers()) w.unref?.();
  }
  endWorkers() {
    for (const w of this.#workers()) w.terminate();
  }
  #workers() {
    const p = this.#m.PThread;
    return p ? [...p.runningWorkers, ...p.unusedWorkers] : [];
  }
}
