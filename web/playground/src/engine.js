// The C engine behind plain objects. All physics is there; here are strings, heap views and lifetimes.
export class EngineError extends Error {}

// From what emscripten's `create` makes with these options; with `threads` above 1 that is playground-threads.js.
export async function startEngine(create, options, threads = 1) {
  const m = await create(options);
  const started = threads > 1 ? m._web_start_threads(threads) : 1;
  const text = (p) => (p ? m.UTF8ToString(p) : '');
  const scratch = m._malloc(64 * 8);

  // Calls f with the texts as C strings.
  function withTexts(texts, f) {
    const places = texts.map((t) => {
      const size = m.lengthBytesUTF8(t) + 1, at = m._malloc(size);
      m.stringToUTF8(t, at, size);
      return at;
    });
    try {
      return f(...places);
    } finally {
      places.forEach((p) => m._free(p));
    }
  }
  const numbers = (values) => {
    m.HEAPF64.set(values, scratch / 8);
    return scratch;
  };
  const reason = () => text(m._web_reason());
  const insist = (status) => {
    if (status !== 0) throw new EngineError(reason());
  };
  const assignments = (values) => Object.entries(values || {}).map(([k, v]) => `integrator.${k}=${typeof v === 'object' ? JSON.stringify(v) : v}`).join('\n');
  const ledgerNames = text(m._web_ledger_names()).trim().split(' ').map((n) => n.replace(/\[(\d)\]/, (_, d) => 'xyz'[d]));

  class World {
    constructor(scene) {
      this.at = withTexts([JSON.stringify(scene)], (s) => m._web_create(s));
      if (!this.at) throw new EngineError(reason());
      this.scene = scene;
    }
    free() {
      m._web_free(this.at);
      this.at = 0;
    }
    // Steps done; fewer than asked for: this.trouble has the sentence.
    step(h, count = 1) {
      const done = m._web_step(this.at, h, count);
      this.trouble = done < count ? reason() : '';
      return done;
    }
    continueFrom(other) { insist(m._web_continue(this.at, other.at)); }
    get time() { return m._web_time(this.at); }
    get vertices() { return m._web_vertices(this.at); }
    get allVertices() { return m._web_all_vertices(this.at); }
    get bodyStarts() { return view(m.HEAP32, m._web_body_starts(this.at), m._web_bodies(this.at) + 1); }
    get triangles() { return view(m.HEAP32, m._web_triangle_list(this.at), 3 * m._web_triangles(this.at)); }
    get bodyTriangles() { return m._web_body_triangles(this.at); }
    get edges() { return view(m.HEAP32, m._web_edge_list(this.at), 2 * m._web_edges(this.at)); }
    get held() { return view(m.HEAPU8, m._web_held(this.at), this.vertices); }
    get positions() {
      const at = m._web_positions(this.at);
      return view(m.HEAPF64, at, 3 * this.allVertices);
    }
    get velocities() {
      const at = m._web_velocities(this.at);
      return view(m.HEAPF64, at, 3 * this.allVertices);
    }
    get ledger() {
      const at = m._web_ledger(this.at) / 8, row = {};
      ledgerNames.forEach((name, i) => (row[name] = m.HEAPF64[at + i]));
      return row;
    }
    offers() { return JSON.parse(text(m._web_offers(this.at))); }
    stiffness() { return m._web_stiffness(this.at); }
    // -1: the ray meets nothing.
    grab(origin, direction) {
      const ray = numbers([...origin, ...direction]), hand = m._web_grab(this.at, ray, ray + 48);
      return { hand, hit: Array.from(m.HEAPF64.subarray(ray / 8 + 6, ray / 8 + 9)) };
    }
    drag(hand, point) { insist(m._web_drag(this.at, hand, numbers(point))); }
    release(hand) { insist(m._web_release(this.at, hand)); }
    hand(hand) {
      const at = m._web_hand(this.at, hand);
      return at ? Array.from(m.HEAPF64.subarray(at / 8, at / 8 + 6)) : null;
    }
    setGravity(g) { insist(m._web_set_gravity(this.at, ...g)); }
    setMaterial(name, value) { insist(withTexts([name], (n) => m._web_set_material(this.at, n, value))); }
    setDamping(model, name, value) { insist(withTexts([name], (n) => m._web_set_damping(this.at, model, n, value))); }
    setIntegrator(name, values) { insist(withTexts([name, assignments(values)], (n, s) => m._web_set_integrator(this.at, n, s))); }
    settle() { insist(m._web_settle(this.at)); }
    setTarget(energy) { m._web_set_target(this.at, energy); }
  }

  class Oscillator {
    constructor(integrator, values, mass = 1) {
      this.at = withTexts([integrator, assignments(values)], (n, s) => m._web_oscillator(n, s, mass));
      if (!this.at) throw new EngineError(reason());
    }
    free() { m._web_oscillator_free(this.at); }
    radius(X, Y) { return m._web_radius(this.at, X, Y); }
    limit() { return m._web_oscillator_limit(this.at); }
    matrix(k, d, h) {
      const at = m._web_amplification(this.at, k, d, h);
      if (!at) throw new EngineError(reason());
      return JSON.parse(text(at));
    }
  }

  const registry = JSON.parse(text(m._web_registry()));
  const limits = new Map();
  return {
    World, Oscillator, registry,
    version: text(m._web_version()),
    threads: started,
    memory: () => m.HEAPU8.length,
    integrator: (name) => registry.integrators.find((i) => i.name === name),
    // A file that scenes may name.
    writeFile: (name, content) => m.FS.writeFile('/' + name, content),
    // The largest stable h sqrt(k0) of an explicit method without damping; Infinity: implicit, or without such a limit.
    limit(name) {
      if (!limits.has(name)) {
        let limit = Infinity;
        try {
          const o = new Oscillator(name, {});
          limit = o.limit();
          o.free();
        } catch (e) {
          if (!(e instanceof EngineError)) throw e; // methods without a matrix have no such limit
        }
        limits.set(name, limit);
      }
      return limits.get(name);
    },
  };
}

const view = (heap, at, length) => heap.subarray(at / heap.BYTES_PER_ELEMENT, at / heap.BYTES_PER_ELEMENT + length);
