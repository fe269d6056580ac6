// A world: a scene that runs. All physics is the engine's; here are names, views into its memory
// and lifetimes.
import {
  BrioError,
  isList,
  number,
  refuse,
  said,
  settings,
  string,
  vector,
  whole,
} from './errors.js';
import { checkFiles, plain, prepare } from './scene.js';

const CHANGES = ['begins', 'stays', 'ends'];
// Infinity: without a limit.
const milliseconds = (value, what) => (value === Infinity ? value : number(value, what));
// The engine has read it: what it takes and JSON.parse does not has no materials to offer.
const parsed = (text) => {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
};
const camel = (name) => name.replace(/_(\w)/g, (_, c) => c.toUpperCase());

// A hand that holds a body.
export class Hand {
  #world;
  #number;

  constructor(world, number_, hit) {
    this.#world = world;
    this.#number = number_;
    this.hit = hit;
  }

  get state() {
    const at = this.#number < 0 ? 0 : this.#world._native('_web_hand', this.#number);
    if (!at) return null;
    const row = this.#world._doubles(at, 8);
    return {
      point: Array.from(row.slice(0, 3)),
      grip: Array.from(row.slice(3, 6)),
      k: row[6],
      body: this.#world.bodies[row[7]],
    };
  }

  drag(point) {
    const place = vector(point, 'point');
    this.#insist();
    this.#world._insist('_web_drag', this.#number, this.#world._few(place));
  }

  release() {
    this.#insist();
    const hand = this.#number;
    this.#number = -1;
    this.#world._insist('_web_release', hand);
  }

  #insist() {
    if (this.#number < 0) refuse('this hand was released and holds nothing');
  }

  // For World.
  _end() {
    this.#number = -1;
  }
}

export class World {
  #native;
  #at;
  #left;
  #materials;
  #bodies = [];
  #obstacles = [];
  #views = new Map();
  #hands = [];
  #ledgerNames;
  #behind = 0;
  #last = 0;

  // `left` is called when the world is disposed.
  constructor(native, scene, options, left = () => {}) {
    const { files = {} } = settings(options, 'options, {files}');
    this.#native = native;
    this.#left = left;
    const text = typeof scene === 'string';
    const made = text ? { files: checkFiles(files) } : prepare(scene, files);
    const json = text ? scene : JSON.stringify(made.scene);
    if (json.includes('\0')) refuse('the text of a scene must not contain the character 0');
    try {
      this.#at = native.withFiles(made.files, () =>
        native.withTexts([json], (s) => native.need('_web_create', s)),
      );
    } catch (e) {
      if (text && e.line && !e.file) e.message = `line ${e.line}, column ${e.column}: ${e.message}`;
      throw e;
    }
    this.#materials = (text ? parsed(scene) : made.scene).materials ?? {};
    this.#ledgerNames = native.text(native.call('_web_ledger_names')).trim().split(' ');
    this.#list();
  }

  get #world() {
    this.#native.check();
    if (!this.#at) throw new BrioError('this world was disposed of; create another one');
    return this.#at;
  }

  // For Hand.
  _native(name, ...values) {
    return this.#native.call(name, this.#world, ...values);
  }
  _insist(name, ...values) {
    this.#native.insist(name, this.#world, ...values);
  }
  _few(values) {
    return this.#native.few(values);
  }
  _doubles(at, count) {
    return this.#native.doubles(at, count);
  }
  get _address() {
    return this.#world;
  }

  #list() {
    const names = (count, name) =>
      Array.from({ length: this._native(count) }, (_, i) =>
        this.#native.text(this._native(name, i)),
      );
    this.#bodies = names('_web_bodies', '_web_body_name');
    this.#obstacles = names('_web_obstacles', '_web_obstacle_name');
    this.#views.clear();
  }

  dispose() {
    if (!this.#at) return;
    const at = this.#at;
    this.#at = 0;
    this.#views.clear();
    this.#left(this);
    if (!this.#native.ended) this.#native.call('_web_free', at);
  }

  get disposed() {
    return !this.#at;
  }

  // ---- time -------------------------------------------------------------------------------

  get time() {
    return this._native('_web_time');
  }
  get h() {
    return this._native('_web_h');
  }

  step(h = this.h, count = 1, options = undefined) {
    const at = this.#world,
      { limit = 0 } = settings(options, 'options, {limit}');
    number(h, 'h');
    whole(count, 'count');
    if (milliseconds(limit, 'limit') < 0) refuse(`${limit} ms are less than none`, 'limit');
    if (count === 0) return 0;
    const done = this.#native.call('_web_step', at, h, count, limit === Infinity ? 0 : limit);
    if (done < count) throw this.#native.reason({ steps: done });
    return done;
  }

  advance(seconds, options = undefined) {
    const { h = this.h, budget = Infinity, limit = 0 } = settings(options, 'options, {budget}');
    if (number(seconds, 'seconds') < 0)
      refuse(`expected a time of 0 or more, found ${seconds}`, 'seconds');
    if (!(number(h, 'h') > 0)) refuse(`expected a step above 0, found ${h}`, 'h');
    if (milliseconds(budget, 'budget') < 0) refuse(`${budget} ms are less than none`, 'budget');
    const begin = performance.now();
    let steps = 0,
      now = begin;
    this.#behind += seconds;
    while (this.#behind >= h * (1 - 1e-9)) {
      if (steps > 0 && now - begin + this.#last > budget) {
        this.#behind = 0; // what cannot be caught up is left out
        break;
      }
      try {
        this.step(h, 1, { limit });
      } catch (e) {
        this.#behind = 0; // a world that cannot go on has nothing to catch up with
        if (e instanceof BrioError) e.steps = steps;
        throw e;
      }
      this.#behind = Math.max(0, this.#behind - h);
      const after = performance.now();
      this.#last = after - now;
      now = after;
      steps++;
    }
    return steps;
  }

  settle() {
    this._insist('_web_settle');
  }

  // ---- bodies and obstacles ---------------------------------------------------------------

  get bodies() {
    return this.#world && [...this.#bodies];
  }
  get obstacles() {
    return this.#world && [...this.#obstacles];
  }

  #find(names, ref, obstacle) {
    const at = this.#world,
      what = obstacle ? 'obstacle' : 'body';
    if (typeof ref === 'number') {
      if (!Number.isInteger(ref) || !names[ref]) refuse(`there is no ${what} ${ref}`);
      return ref;
    }
    if (typeof ref !== 'string')
      refuse(
        `expected the name or the number of ${obstacle ? 'an' : 'a'} ${what}, found ${said(ref)}`,
      );
    const found = ref ? names.indexOf(ref) : -1;
    if (found >= 0) return found;
    if (
      this.#native.withTexts([ref], (n) =>
        this.#native.call('_web_find', at, n, obstacle ? 1 : 0),
      ) < 0
    )
      throw this.#native.reason();
    return found;
  }
  #body(ref) {
    return this.#find(this.#bodies, ref, false);
  }
  #obstacle(ref) {
    return this.#find(this.#obstacles, ref, true);
  }

  // The same object as long as it shows the same memory.
  #view(key, Type, at, length) {
    const old = this.#views.get(key),
      { buffer } = this.#native;
    if (old && old.buffer === buffer && old.byteOffset === at && old.length === length) return old;
    const view = new Type(buffer, length ? at : 0, length);
    this.#views.set(key, view);
    return view;
  }

  #starts() {
    return new Int32Array(
      this.#native.buffer,
      this.#native.need('_web_body_starts', this.#world),
      this.#bodies.length + 1,
    );
  }

  vertices(body) {
    if (body === undefined) return this._native('_web_vertices');
    const b = this.#body(body),
      starts = this.#starts();
    return starts[b + 1] - starts[b];
  }

  get allVertices() {
    return this._native('_web_all_vertices');
  }

  firstVertex(body) {
    return this.#starts()[this.#body(body)];
  }

  #points(call, body, key) {
    const b = body === undefined ? -1 : this.#body(body),
      at = this.#native.need(call, this.#world);
    if (b < 0) return this.#view(key, Float64Array, at, 3 * this.allVertices);
    const starts = this.#starts();
    return this.#view(key + b, Float64Array, at + 24 * starts[b], 3 * (starts[b + 1] - starts[b]));
  }
  positions(body) {
    return this.#points('_web_positions', body, 'x');
  }
  velocities(body) {
    return this.#points('_web_velocities', body, 'v');
  }

  setPositions(body, x) {
    this.#set('_web_set_positions', body, x, 'positions');
  }
  setVelocities(body, v) {
    this.#set('_web_set_velocities', body, v, 'velocities');
  }
  #set(call, body, values, what) {
    const b = this.#body(body);
    this.#threes(values, this.vertices(b), what);
    this.#native.withNumbers(values, (at) => this._insist(call, b, at));
  }
  #threes(values, vertices, what) {
    if (!isList(values) || values.length !== 3 * vertices)
      refuse(
        `expected ${3 * vertices} numbers, three for each vertex, found ` +
          (isList(values) ? values.length : said(values)),
        what,
      );
    for (let k = 0; k < values.length; k++) number(values[k], `${what}[${k}]`);
  }

  #indices(what, key, ref, width) {
    const count = this.#native.few([0]),
      at = this._native('_web_list', what, ref, count),
      found = this.#native.integer(count);
    if (found < 0) throw this.#native.reason();
    return this.#view(`${key}${ref}`, Uint32Array, at, width * found);
  }
  triangles(body) {
    return this.#indices(0, 'triangle', body === undefined ? -1 : this.#body(body), 3);
  }
  edges(body) {
    return this.#indices(1, 'edge', body === undefined ? -1 : this.#body(body), 2);
  }
  tets(body) {
    return this.#indices(2, 'tet', this.#body(body), 4);
  }
  get bodyTriangles() {
    return this._native('_web_body_triangles');
  }

  fixed(body) {
    const at = this.#native.need('_web_fixed', this.#world);
    if (body === undefined) return this.#view('fixed', Uint8Array, at, this.vertices());
    const b = this.#body(body),
      starts = this.#starts();
    return this.#view(`fixed${b}`, Uint8Array, at + starts[b], starts[b + 1] - starts[b]);
  }

  draw(body) {
    const b = this.#body(body),
      more = this.#native.few([0]),
      at = this.#native.need('_web_draw', this.#world, b, more),
      normals = this.#native.integer(more),
      length = 3 * this.#native.integer(more + 4);
    return {
      positions: this.#view(`drawn${b}`, Float32Array, at, length),
      normals: this.#view(`normal${b}`, Float32Array, normals, length),
      triangles: this.#indices(4, 'shown', b, 3),
    };
  }

  drawObstacle(obstacle) {
    const o = this.#obstacle(obstacle),
      first = this._native('_web_obstacle_start', o),
      count = this._native('_web_obstacle_vertices', o);
    const at = this.#native.need('_web_positions', this.#world);
    return {
      positions: this.#view(`obstacle${o}`, Float64Array, at + 24 * first, 3 * count),
      triangles: this.#indices(3, 'of', o, 3),
    };
  }

  // ---- energies ---------------------------------------------------------------------------

  ledger() {
    const row = this.#native.doubles(
        this.#native.need('_web_ledger', this.#world),
        this.#ledgerNames.length,
      ),
      ledger = {};
    this.#ledgerNames.forEach((name, i) => {
      const [, of, k] = /^(\w+)\[(\d)\]$/.exec(name) ?? [];
      if (of) (ledger[of] ??= [])[k] = row[i];
      else ledger[camel(name)] = row[i];
    });
    return ledger;
  }

  bodyEnergy(body) {
    return this._native('_web_body_energy', this.#body(body));
  }

  noteContacts(most = 256) {
    this.#noted = whole(most, 'most', 0, 1e6);
    this._insist('_web_note_contacts', most);
  }
  #noted = 0;

  contacts() {
    const WIDTH = 12,
      room = this.#noted;
    this.#world;
    if (!room) refuse('contacts are not noted: call noteContacts() before the step');
    return this.#native.withNumbers(new Float64Array(WIDTH * room), (at) => {
      const count = this._native('_web_contacts', at, room);
      if (count < 0) throw this.#native.reason();
      const rows = this.#native.doubles(at, WIDTH * count),
        list = (from) => Array.from(rows.slice(from, from + 3));
      return Array.from({ length: count }, (_, i) => {
        const r = WIDTH * i,
          b = rows[r + 1];
        return {
          a: this.#bodies[rows[r]],
          b: b >= 0 ? this.#bodies[b] : this.#obstacles[-1 - b],
          obstacle: b < 0,
          change: CHANGES[rows[r + 2]],
          contacts: rows[r + 3],
          impulse: list(r + 4),
          pressing: rows[r + 7],
          place: list(r + 8),
          distance: rows[r + 11],
        };
      });
    });
  }

  // ---- taking part ------------------------------------------------------------------------

  grab(origin, direction, k = NaN) {
    this.#world;
    const ray = this.#native.few([...vector(origin, 'origin'), ...vector(direction, 'direction')]);
    const hand = this._native('_web_grab_ray', ray, this.#firm(k), ray + 48);
    if (hand === -2) throw this.#native.reason();
    return hand < 0 ? null : this.#hand(hand, this.#native.doubles(ray + 48, 3));
  }

  // A hand whose body was removed holds nothing, and the next one has its number.
  #hand(hand, hit) {
    this.#hands[hand]?._end();
    return (this.#hands[hand] = new Hand(this, hand, Array.from(hit)));
  }

  grabPoint(point, options = undefined) {
    const { body, k = NaN } = settings(options, 'options, {body, k}'),
      b = body === undefined ? -1 : this.#body(body);
    return this.#hold(b, -1, vector(point, 'point'), k);
  }

  grabVertex(body, vertex, k = NaN) {
    const b = this.#body(body);
    return this.#hold(b, whole(vertex, 'vertex', 0, this.vertices(b) - 1), [0, 0, 0], k);
  }

  #firm(k) {
    if (!Number.isNaN(k) && !(number(k, 'k') > 0))
      refuse(`expected a stiffness above 0, found ${k}`, 'k');
    return k;
  }

  #hold(body, vertex, point, k) {
    const hand = this._native('_web_grab', body, vertex, this.#native.few(point), this.#firm(k));
    if (hand === -2) throw this.#native.reason();
    const row = this.#native.doubles(this._native('_web_hand', hand), 8);
    return this.#hand(hand, row.subarray(3, 6));
  }

  setGravity(gravity) {
    const g = vector(gravity, 'gravity');
    this._insist('_web_set_gravity', this.#native.few(g));
  }

  material(body) {
    return this.#native.text(this._native('_web_material', this.#body(body)));
  }

  materialValue(body, name) {
    const b = this.#body(body);
    return this.#native.withTexts([string(name, 'name')], (n) => {
      const value = this._native('_web_material_value', b, n);
      if (Number.isNaN(value)) refuse(`the material ${this.material(b)} has no value "${name}"`);
      return value;
    });
  }

  setMaterial(body, values) {
    const list =
      body === undefined
        ? this.#bodies.flatMap((name, b) => (name ? [b] : []))
        : [this.#body(body)];
    const kept = this.#native.need('_web_keep', this.#world);
    try {
      this.#assign(values, (n, value) =>
        list.forEach((b) => this._insist('_web_set_material', b, n, value)),
      );
    } catch (e) {
      this._native('_web_take_back', kept);
      throw e;
    } finally {
      this.#native.call('_web_drop', kept);
    }
  }

  setDamping(model, values) {
    this.#world;
    whole(model, 'model');
    const old = {};
    try {
      this.#assign(values, (n, value, name) => {
        const before = this._native('_web_damping_value', model, n);
        this._insist('_web_set_damping', model, n, value);
        old[name] = before;
      });
    } catch (e) {
      this.#assign(old, (n, value) => this._insist('_web_set_damping', model, n, value));
      throw e;
    }
  }

  #assign(values, set) {
    if (values === null || typeof values !== 'object' || isList(values))
      refuse(`expected values by name, {E: 1e5}, found ${said(values)}`);
    for (const [name, value] of Object.entries(values)) number(value, name);
    for (const [name, value] of Object.entries(values))
      this.#native.withTexts([name], (n) => set(n, value, name));
  }

  setForce(name, factor) {
    number(factor, 'factor');
    this.#native.withTexts([string(name, 'name')], (n) =>
      this._insist('_web_set_force', n, factor),
    );
  }

  get method() {
    return this.#native.text(this._native('_web_integrator'));
  }
  setMethod(method) {
    this.#world;
    this.#native.withTexts([methodText(method)], (s) => this._insist('_web_set_integrator', s));
  }
  methods() {
    return JSON.parse(this.#native.needText('_web_offers', this.#world));
  }

  largestEigenvalue() {
    const value = this._native('_web_stiffness');
    if (Number.isNaN(value)) throw this.#native.reason();
    return value;
  }

  setTarget(energy) {
    this._native('_web_set_target', number(energy, 'energy'));
  }

  // ---- editing ----------------------------------------------------------------------------

  edit(changes, options = undefined) {
    this.#world;
    const { add, remove, cut, fix, unfix, ...unknown } = settings(changes, 'changes, {add}'),
      { files = {} } = settings(options, 'options, {files}');
    if (Object.keys(unknown).length)
      refuse(
        `unknown key "${Object.keys(unknown)[0]}"; an edit has add, remove, cut, fix and unfix`,
      );
    const part =
      add === undefined ? { files: checkFiles(files) } : prepare(this.#named(add), files, 'add.');
    const lists = plain({ remove, cut, fix, unfix });
    const json = JSON.stringify({
      ...lists,
      ...(part.scene
        ? { add: { ...part.scene, materials: { ...this.#materials, ...part.scene.materials } } }
        : {}),
    });
    this.#native.withFiles(part.files, () =>
      this.#native.withTexts([json], (s) => this._insist('_web_edit', s)),
    );
    this.#list();
  }

  // Bodies without a name take the first number that is free.
  #named(add) {
    if (!Array.isArray(add?.bodies)) return add;
    const taken = new Set([...this.#bodies, ...add.bodies.map((b) => b?.name)]);
    return {
      ...add,
      bodies: add.bodies.map((body) => {
        if (body === null || typeof body !== 'object' || body.name !== undefined) return body;
        let k = 0;
        while (taken.has(`body${k}`)) k++;
        taken.add(`body${k}`);
        return { ...body, name: `body${k}` };
      }),
    };
  }

  addBody(body, options) {
    const before = new Set(this.#bodies);
    this.edit({ add: { bodies: [body] } }, options);
    return this.#bodies.find((name) => name && !before.has(name));
  }
  addObstacle(obstacle, options) {
    const before = new Set(this.#obstacles);
    this.edit({ add: { obstacles: [obstacle] } }, options);
    return this.#obstacles.find((name) => name && !before.has(name));
  }
  removeBody(body) {
    this.edit({ remove: { bodies: [this.#bodies[this.#body(body)]] } });
  }
  removeObstacle(obstacle) {
    this.edit({ remove: { obstacles: [this.#obstacles[this.#obstacle(obstacle)]] } });
  }
  fix(body, vertices) {
    this.edit({ fix: [{ body: this.#bodies[this.#body(body)], vertices }] });
  }
  unfix(body, vertices) {
    this.edit({ unfix: [{ body: this.#bodies[this.#body(body)], vertices }] });
  }
  cut(body, point, normal) {
    this.edit({
      cut: [
        {
          body: this.#bodies[this.#body(body)],
          point: [...vector(point, 'point')],
          normal: [...vector(normal, 'normal')],
        },
      ],
    });
  }

  moveObstacle(obstacle, to) {
    const o = this.#obstacle(obstacle);
    if (isList(to)) {
      this.#threes(to, this._native('_web_obstacle_vertices', o), 'positions');
      this.#native.withNumbers(to, (at) => this._insist('_web_move_obstacle_to', o, at));
    } else {
      if (to === null || typeof to !== 'object')
        refuse(`expected positions, or {matrix, translate}, found ${said(to)}`);
      const { matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1], translate = [0, 0, 0] } = to;
      if (!isList(matrix) || matrix.length !== 9)
        refuse(
          `expected nine numbers, row by row, found ` +
            (isList(matrix) ? matrix.length : said(matrix)),
          'matrix',
        );
      const place = [...matrix, ...vector(translate, 'translate')];
      place.forEach((v, k) => number(v, `matrix[${k}]`));
      this._insist('_web_move_obstacle', o, this.#native.few(place));
    }
    this.#views.clear();
  }

  continueFrom(world) {
    if (!(world instanceof World)) refuse(`expected a world, found ${said(world)}`);
    if (world.#native !== this.#native) refuse('that world is one of another engine');
    this._insist('_web_continue', world._address);
  }

  // ---- checkpoints ------------------------------------------------------------------------

  save() {
    return this.#native.withFiles({}, () =>
      this.#native.withTexts(['checkpoint'], (name) => {
        this._insist('_web_save', name);
        return this.#native.readFile('checkpoint').slice();
      }),
    );
  }

  restore(checkpoint) {
    this.#world;
    const files = checkFiles({ checkpoint });
    this.#native.withFiles(files, () =>
      this.#native.withTexts(['checkpoint'], (name) => this._insist('_web_restore', name)),
    );
    this.#list();
  }
}

// "a-search", or {type: "a-search", decay: 2}, as a scene has it.
export const methodText = (method) => {
  if (
    typeof method !== 'string' &&
    (method === null || typeof method !== 'object' || isList(method))
  )
    refuse(`expected the name of a method, or {type, ...}, found ${said(method)}`);
  return `integrator=${JSON.stringify(plain(method, 'integrator'))}`;
};
