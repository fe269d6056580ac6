// A bench: one scene under one integrator (Cloth, Soft bodies), under one whose energy is a dial
// (Energy dial), or under two next to each other (Side by side).
import { Chart, short } from './charts.js';
import { colour } from './colours.js';
import { element, linkedValue, segmented, stepText, valueOf } from './controls.js';
import { BrioError } from 'brio-engine';
import { explosion, motionEnergy } from './explosion.js';
import { tooSlow } from './own.js';
import { buildPanel, DECAY, isContact, LEVEL, showSolver } from './panel.js';
import { contactOf, defaults, gravityVector, sceneFile, scenes } from './scenes.js';
import { stableLimit } from 'stable-limits';
import { View3D } from './view3d.js';

const CALM = 0.5;      // explicit methods take this fraction of their longest stable step
const LINEARISED = 4;  // h sqrt(k0) for forces linearised at the start, under methods without limit
const BUDGET = 22;     // ms of steps in a picture
// These keep what unfinished solves leave over, and contact feeds it: they explode under
// local/global (docs/local-global.md).
const EXPLODE = ['implicit-midpoint', 'trapezoidal', 'newmark'];
const numbers = (list) => list.split('.').map((n) => parseInt(n, 36)).filter((n) => n >= 0);
const listText = (list) => list.map((n) => n.toString(36)).join('.');
const ink = () => getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();

export class Bench {
  // mode: 'one', 'dial', 'two'
  constructor(root, engine, { mode, choices, intro, choose }, params, changed) {
    Object.assign(this, { root, engine, mode, choices, intro, choose, changed });
    this.playing = params.get('play') !== '0';
    this.hands = new Map();
    this.read(params);
    this.substeps = this.methods.map(() => 1);
    this.buildPage();
    this.offers = this.findOffers();
    buildPanel(this);
    this.start();
  }

  // ---- state and link -----------------------------------------------------------------------

  read(q) {
    this.sceneName = this.choices.includes(q.get('scene')) ? q.get('scene') : this.choices[0];
    const scene = (this.scene = scenes[this.sceneName]);
    this.p = { ...defaults(scene), solver: scene.solver, contact: 'auto' };
    for (const c of scene.controls) this.p[c.key] = linkedValue(c, q.get(c.key));
    if (scene.solvers.includes(q.get('solver'))) this.p.solver = q.get('solver');
    if (scene.small && isContact(q.get('contact'))) this.p.contact = q.get('contact');
    const standard = scene.pins ? scene.pins(this.p) : [];
    const there = (k) => k < scene.vertices?.(this.p);
    this.p.pins = q.has('pins') ? numbers(q.get('pins')).filter(there) : standard;
    this.cut = q.has('cut') ? numbers(q.get('cut')) : [];
    const method = (suffix, standard) => {
      const asked = q.get('integrator' + suffix);
      const name = this.engine.method(asked) ? asked : standard;
      const values = { ...(name === scene.integrator ? scene.values : {}) }, own = `i${suffix}.`;
      for (const [k, v] of q) if (k.startsWith(own)) values[k.slice(own.length)] = valueOf(v);
      const rate = Number(q.get('h' + suffix));
      return { name, values, h: rate > 0 && rate <= 1e5 ? 1 / rate : scene.h };
    };
    this.methods = this.mode === 'two'
      ? [method('', 'backward-euler'), method('2', 'a-search')]
      : [method('', this.mode === 'dial' ? 'a-search' : scene.integrator)];
    if (this.mode === 'dial') {
      this.methods[0] = { ...this.methods[0], name: 'a-search' };
      this.level = linkedValue(LEVEL, q.get('level'));
      this.decay = linkedValue(DECAY, q.get('decay'));
    }
    this.tool = scene.tools.includes(q.get('tool')) ? q.get('tool') : 'grab';
  }

  params() {
    const q = new URLSearchParams({ scene: this.sceneName }), scene = this.scene, p = this.p;
    for (const c of scene.controls) if (p[c.key] !== c.value) q.set(c.key, p[c.key]);
    if (p.solver !== scene.solver) q.set('solver', p.solver);
    if (p.contact !== 'auto') q.set('contact', p.contact);
    if (scene.pins && String(p.pins) !== String(scene.pins(p))) q.set('pins', listText(p.pins));
    if (this.cut.length) q.set('cut', listText(this.cut));
    this.methods.forEach((m, i) => {
      const suffix = i ? '2' : '';
      if (this.mode !== 'dial') q.set('integrator' + suffix, m.name);
      q.set('h' + suffix, Number((1 / m.h).toPrecision(9)));
      if (this.mode === 'dial') return;
      for (const [k, v] of Object.entries(m.values)) q.set(`i${suffix}.${k}`, v);
    });
    if (this.mode === 'dial') {
      if (this.level !== 1) q.set('level', this.level);
      if (this.decay) q.set('decay', this.decay);
    }
    if (this.tool !== 'grab') q.set('tool', this.tool);
    if (!this.playing) q.set('play', '0');
    return q;
  }

  // ---- the page -----------------------------------------------------------------------------

  buildPage() {
    this.stages = this.methods.map((_, i) => {
      const canvas = element('canvas', {
        tabindex: 0, role: 'img',
        'aria-label': `${this.scene.title}: drag to grab, drag next to it to turn the view, ` +
          'arrow keys turn it too',
      });
      const badge = element('div', { class: 'badge' });
      const overlay = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      overlay.setAttribute('class', 'stroke');
      overlay.append(document.createElementNS('http://www.w3.org/2000/svg', 'polyline'));
      const node = element('div', { class: 'stage' }, canvas, overlay, badge);
      return { canvas, badge, overlay, node };
    });
    this.message = element('div', { class: 'message', role: 'alert', hidden: true });
    const button = (key, text, title, onclick) =>
      element('button', { type: 'button', 'data-key': key, text, title, onclick });
    this.play = button('play', '', '', () => this.setPlaying(!this.playing));
    this.play.classList.add('primary');
    this.status = element('span', { class: 'status', 'aria-live': 'off' });
    this.toolbar = element('div',
      { class: 'toolbar', role: 'toolbar', 'aria-label': 'Simulation' }, this.play,
      button('step', 'Step', 'One step (S)', () => this.single()),
      button('reset', 'Reset', 'From the start (R)', () => this.start()),
      button('nudge', 'Nudge', 'A short pull (N)', () => this.nudge()));
    if (this.scene.tools.length > 1) {
      const names = {
        grab: ['Grab', 'Drag the cloth (G)'],
        pin: ['Pin', 'Click a vertex to pin it or to let it go (P)'],
        cut: ['Cut', 'Draw across springs to cut them (C)'],
      };
      const options = this.scene.tools
        .map((t) => ({ value: t, text: names[t][0], title: names[t][1] }));
      this.toolSwitch = segmented({ key: 'tool', label: 'Tool', value: this.tool, options },
        (t) => this.setTool(t));
      this.toolbar.append(this.toolSwitch.row);
    }
    this.toolbar.append(this.status);
    this.panel = element('aside', { class: 'panel', 'aria-label': 'Settings' });
    this.chartBox = element('div', { class: 'charts' });
    const stages = this.stages.map((s) => s.node);
    this.main = element('section', { class: 'main' },
      element('div', { class: 'stages' }, ...stages, this.message), this.toolbar, this.chartBox);
    this.root.replaceChildren(this.main, this.panel);
    this.views = this.stages.map((s) => new View3D(s.canvas));
    this.stages.forEach((s, i) => this.listen(s, i));
    if (this.views.length === 2)
      this.views.forEach((v, i) => (v.onCamera = () => {
        const other = this.views[1 - i];
        if (this.following) return;
        this.following = true;
        other.camera.position.copy(v.camera.position);
        other.controls.target.copy(v.controls.target);
        other.controls.update();
        other.draw();
        this.following = false;
      }));
    this.setTool(this.tool);
    this.setPlaying(this.playing);
    this.buildCharts();
  }

  // Energy, and next to it what the tab is about: angular momentum, alpha or momentum.
  buildCharts() {
    const series = {
      one: ['kinetic', 'elastic', 'gravity', 'total'].map((s) => ({
        label: s,
        colour: () => (s === 'total' ? ink() : colour(s)),
        width: s === 'total' ? 2.2 : 1.6,
      })),
      dial: [
        { label: 'total', colour: () => colour('a-search'), width: 2 },
        { label: 'target', colour: () => colour('target'), dash: [6, 4] },
      ],
      two: this.methods
        .map((m, i) => ({ label: `${'AB'[i]}: ${m.name}`, colour: () => this.curve(i) })),
    }[this.mode];
    const other = {
      one: {
        title: 'Momentum', unit: '',
        series: [
          { label: 'linear, kg m/s', colour: () => colour('momentum') },
          { label: 'angular, kg m²/s', colour: () => colour('angular') },
        ],
      },
      dial: {
        title: 'Alpha', unit: '',
        series: [{ label: 'fraction of the correction', colour: () => colour('alpha') }],
      },
      two: {
        title: 'Angular momentum', unit: 'kg m²/s',
        series: this.methods.map((m, i) => ({ label: 'AB'[i], colour: () => this.curve(i) })),
      },
    }[this.mode];
    const window = this.mode === 'dial' ? { window: 20 } : {};
    this.energy = new Chart(this.chartBox, { title: 'Energy', unit: 'J', ...window, series });
    this.momentum = new Chart(this.chartBox, { ...window, ...other });
  }

  // Two steps of one method need two colours.
  curve(i) {
    const [a, b] = this.methods;
    return i && b && a.name === b.name ? colour('target') : colour(this.methods[i].name);
  }

  // What can be chosen, {name: ''}, and what cannot, {name: 'why'}: the engine refuses it, or
  // vibrations of this scene grow under it. Explicit methods with a limit are no such case, since
  // their steps can be taken in parts.
  findOffers() {
    const { engine, scene } = this, offers = {};
    this.attempt(() => {
      const probe = this.make(sceneFile(scene, { ...this.p, h: 1 / 60, springs: false },
        scene.own ? scene.integrator : 'backward-euler', scene.values ?? {}));
      const fastest = Math.sqrt(probe.largestEigenvalue());
      const unfinished = contactOf(scene, this.p) === 'penalty' && this.p.solver === 'local-global';
      Object.assign(offers, probe.methods());
      probe.dispose();
      for (const { name, note } of engine.methods) {
        if (offers[name]) continue;
        const limit = stableLimit(name);
        if (EXPLODE.includes(name) && unfinished)
          offers[name] = `${name} explodes on solves that end early: take Newton as the solver.`;
        else if (limit === 0 || (note.startsWith('implicit') && scene.h * fastest > limit))
          offers[name] = `${name} lets undamped vibrations of this scene grow: see it in the ` +
            'phase plane and the stability diagram.';
      }
    });
    return offers;
  }

  // ---- worlds -------------------------------------------------------------------------------

  file(i) {
    const { name, values, h } = this.methods[i];
    return sceneFile(this.scene, { ...this.p, h, springs: this.springs }, name,
      this.mode === 'dial' ? this.dialValues() : values);
  }

  make(file) { return this.engine.world(file, { files: this.scene.files }); }

  dialValues() {
    return { gain: 1.05, ground: this.ground ?? 0, ...(this.decay ? { decay: this.decay } : {}) };
  }

  // Springs that are left, for the scene; their lengths are those of the uncut cloth.
  leftOver() {
    if (!this.scene.pins || !this.cut.length) return null;
    const uncut = { ...this.p, h: 1 / 60, pins: [] }, gone = new Set(this.cut);
    const whole = this.make(sceneFile(this.scene, uncut, 'backward-euler', {}));
    const e = whole.edges('cloth'), x = whole.positions('cloth'), rows = [];
    this.wholeEdges = e.slice();
    for (let s = 0; s < e.length / 2; s++) {
      if (gone.has(s)) continue;
      const a = 3 * e[2 * s], b = 3 * e[2 * s + 1];
      const length = Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
      rows.push(e[2 * s], e[2 * s + 1], this.p.k, length);
    }
    whole.dispose();
    return rows;
  }

  // From the start, or (keep) from where things are.
  start(keep = false) {
    const old = this.worlds || [];
    const done = this.attempt(() => {
      this.springs = this.leftOver();
      if (this.mode === 'dial') {
        this.ground = 0;
        const still = this.make(this.file(0));
        this.first = still.ledger().total;
        still.settle();
        this.ground = still.ledger().total;
        still.dispose();
      }
      const made = this.methods.map((_, i) => this.make(this.file(i)));
      if (keep) made.forEach((w, i) => w.continueFrom(old[i]));
      this.worlds = made;
    });
    if (!done) {
      this.setPlaying(false);
      return false;
    }
    this.hands.clear(); // those of the old worlds end with them
    old.forEach((w) => w.dispose());
    this.say('');
    this.substeps = this.worlds.map((_, i) => this.chooseSubsteps(i));
    this.behind = 0;
    this.pace = null;
    if (!keep) {
      this.energy.clear();
      this.momentum.clear();
    }
    const gone = this.triangleGone();
    this.views.forEach((v, i) => {
      v.show(this.worlds[i], {
        room: this.scene.room ?? null, smooth: !!this.scene.smooth, gone,
        size: this.scene.size ?? this.scene.camera.at[2] / 1.75,
        planes: this.scene.own && planesOf(this.scene.own),
      });
      if (!v.home || !keep) {
        if (v.homeOf !== this.sceneName) v.look(this.scene.camera);
        v.homeOf = this.sceneName;
      }
      v.resize();
    });
    if (this.mode === 'dial') {
      this.dial.show(this.level);
      this.aim();
    }
    this.begun = this.worlds.map((w) => motionEnergy(w.ledger()));
    this.exploded = false;
    this.dirty = true;
    this.record();
    this.label();
    this.changed();
    return true;
  }

  triangleGone() {
    if (!this.cut.length) return null;
    const e = this.wholeEdges, pairs = new Set(this.cut.map((s) => `${e[2 * s]},${e[2 * s + 1]}`));
    const lacks = (a, b) => pairs.has(`${a},${b}`) || pairs.has(`${b},${a}`);
    return (a, b, c) => lacks(a, b) || lacks(b, c) || lacks(a, c);
  }

  // An explicit method cannot take the steps of a stiff scene: it takes them in parts.
  chooseSubsteps(i) {
    const m = this.methods[i], integrator = this.engine.method(m.name);
    if (!integrator.note.startsWith('explicit') || m.name === 'pbd-verlet') return 1;
    const springs = contactOf(this.scene, this.p) === 'penalty' ? 2 : 1; // they come on top
    const limit = Math.min(stableLimit(m.name), LINEARISED) / springs;
    const fastest = Math.sqrt(this.worlds[i].largestEigenvalue());
    return Math.min(400, Math.max(1, Math.ceil((m.h * fastest) / (CALM * limit))));
  }

  aim() {
    this.worlds?.[0].setTarget(this.ground + this.level * (this.first - this.ground));
  }

  // Changes that the engine may refuse: its sentence is shown.
  attempt(change) {
    try {
      change();
      return true;
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      this.say(e.message);
      return false;
    }
  }

  say(sentence) {
    this.message.hidden = !sentence;
    this.message.textContent = sentence;
  }

  setMethod(i, name, values) {
    this.methods[i] = { ...this.methods[i], name, values };
    if (!this.worlds) return void this.again({});
    if (this.attempt(() => this.worlds[i].setMethod({ type: name, ...values }))) this.say('');
    this.substeps[i] = this.chooseSubsteps(i);
    showSolver(this);
    if (this.mode === 'two') this.rebuildCharts();
    this.label();
    this.changed();
  }

  rebuildCharts() {
    this.energy.dispose();
    this.momentum.dispose();
    this.buildCharts();
  }

  setStep(i, h) {
    this.methods[i].h = h;
    if (!this.worlds) return void this.again({});
    this.substeps[i] = this.chooseSubsteps(i);
    this.label();
    this.changed();
  }

  setControl(c, v) {
    this.p[c.key] = v;
    if (!this.worlds) return void this.again({});
    const all = (change) => this.worlds.forEach((w) => this.attempt(() => change(w)));
    if (c.gravity) all((w) => w.setGravity(gravityVector(this.p)));
    else if (c.damping) all((w) => w.setDamping(0, { [c.damping]: v }));
    else if (c.material && !this.scene.scale) {
      this.worlds.forEach((w) => this.attempt(() => w.setMaterial(undefined, { [c.material]: v })));
      this.substeps = this.worlds.map((_, i) => this.chooseSubsteps(i));
    } else {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.again({}, c.key === 'n' || c.key === 'diagonals'), 120);
    }
    this.changed();
  }

  // Starts again because the scene itself is another.
  again(change, resized = false) {
    Object.assign(this.p, change);
    if (resized && this.scene.pins) {
      this.p.pins = this.scene.pins(this.p);
      this.cut = [];
    }
    this.offers = this.findOffers();
    const refused = this.methods.map((m) => this.offers[m.name]).filter(Boolean);
    for (const m of this.methods) // another contact takes other methods
      if (this.offers[m.name]) Object.assign(m, { name: this.scene.integrator, values: {} });
    if (this.mode === 'two' && refused.length) this.rebuildCharts();
    buildPanel(this);
    if (this.start() && refused.length)
      this.say(`${refused[0].replace(/\.$/, '')}. Here is ${this.scene.integrator}.`);
  }

  toScene(name) {
    const [a, b] = this.methods;
    this.changed(new URLSearchParams({
      scene: name, ...(this.mode === 'two' ? { integrator: a.name, integrator2: b.name } : {}),
    }));
  }

  label() {
    const contact = contactOf(this.scene, this.p);
    this.stages.forEach((s, i) => {
      const m = this.methods[i], sub = this.substeps[i];
      s.badge.innerHTML = '';
      const step = `${stepText(m.h)}${sub > 1 ? ` in ${sub} parts` : ''}`;
      s.badge.append(element('i', { class: 'dot', style: `background:${this.curve(i)}` }),
        `${m.name}, ${step}${contact ? `, ${contact} contact` : ''}`);
    });
  }

  // ---- running ------------------------------------------------------------------------------

  setPlaying(on) {
    this.playing = on;
    this.play.textContent = on ? 'Pause' : 'Play';
    this.play.title = `${on ? 'Pause' : 'Play'} (space)`;
    if (this.worlds) this.changed();
  }

  // All worlds to the same time: the one that is behind goes first. False: one cannot go on.
  advance(longest) {
    const times = this.worlds.map((w) => w.time), i = times.indexOf(Math.min(...times));
    const m = this.methods[i], parts_ = this.substeps[i];
    if (times[i] > longest) return true;
    try {
      this.worlds[i].step(m.h / parts_, parts_, { limit: this.scene.limit });
      return true;
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      if (e.status === 'STOPPED') this.say(tooSlow(this.scene.name, this.worlds[i].vertices()));
      else this.trouble(i, e.message);
      this.setPlaying(false);
      return false;
    }
  }

  // Says so, once, where the motion has more energy than anything in the scene can give it.
  watch(i, ledger) {
    if (this.exploded) return;
    const m = this.methods[i], limit = stableLimit(m.name);
    const said = explosion(ledger, this.begun[i], {
      method: this.engine.method(m.name), limit,
      unfinished: this.p.solver === 'local-global' && contactOf(this.scene, this.p) !== 'ipc',
      size: this.views[i].size, step: m.h / this.substeps[i],
      fastest: () => Math.sqrt(this.worlds[i].largestEigenvalue()),
    });
    if (!said) return;
    this.exploded = true;
    this.setPlaying(false);
    this.say(`${this.worlds.length > 1 ? 'AB'[i] + ': ' : ''}${said}`);
  }

  trouble(i, why) {
    const which = this.worlds.length > 1 ? 'AB'[i] + ': ' : '';
    this.say(`${which}the step at ${short(this.worlds[i].time)} s cannot be done: ${why}. ` +
      'Reset, shorten the step or take another integrator.');
  }

  // Steps without drawing, of the world's own step.
  stepNow(count) {
    for (let n = 0; n < count; n++) {
      const goal = this.worlds[0].time + this.methods[0].h * 0.5;
      do {
        if (!this.advance(Infinity)) return n;
      } while (Math.min(...this.worlds.map((w) => w.time)) < goal);
    }
    return count;
  }

  single() {
    this.setPlaying(false);
    if (!this.worlds) return;
    this.stepNow(1);
    this.record();
    this.draw();
  }

  frame(dt) {
    if (this.playing && this.worlds) {
      const longest = Math.max(...this.methods.map((m) => m.h));
      this.behind = Math.min(this.behind + dt, Math.max(0.1, longest));
      const begin = performance.now(), from = Math.min(...this.worlds.map((w) => w.time));
      let least = from;
      const goal = from + this.behind + 1e-12 - longest;
      while (this.playing && least <= goal && performance.now() - begin < BUDGET) {
        if (!this.advance(Infinity)) break;
        least = Math.min(...this.worlds.map((w) => w.time));
      }
      const done = least - from;
      this.behind = performance.now() - begin >= BUDGET ? 0 : Math.max(0, this.behind - done);
      if (done > 0) this.record();
      this.pace = this.pace === null ? done / dt : 0.95 * this.pace + 0.05 * done / dt;
    }
    if (this.playing || this.dirty || this.hands.size) this.draw();
    this.dirty = false;
  }

  record() {
    if (!this.worlds) return;
    const l = this.worlds.map((w) => w.ledger()), t = Math.min(...l.map((r) => r.time));
    l.forEach((r, i) => this.watch(i, r));
    const size = (r, name) => Math.hypot(...r[name]);
    if (this.mode === 'two') {
      this.energy.add(t, l.map((r) => r.total));
      this.momentum.add(t, l.map((r) => size(r, 'angular')));
    } else if (this.mode === 'dial') {
      this.energy.add(t, [l[0].total, l[0].target]);
      this.momentum.add(t, [l[0].alpha]);
    } else {
      const { kinetic, elastic, attachment, contact, gravity, total } = l[0];
      this.energy.add(t, [kinetic, elastic + attachment + contact, gravity, total]);
      this.momentum.add(t, [size(l[0], 'momentum'), size(l[0], 'angular')]);
    }
    const contacts = l[0].contacts > 0 ? `, ${l[0].contacts} contacts` : '';
    const slow = this.playing && this.pace !== null && this.pace < 0.93;
    const pace = slow ? `, ${this.pace.toFixed(2)} × real time` : '';
    this.status.textContent = `t = ${t.toFixed(2)} s${pace}${contacts}`;
  }

  draw() {
    if (!this.worlds) return;
    this.worlds.forEach((w, i) => {
      const held = [...this.hands.values()].find((h) => h.world === w);
      this.views[i].update(w, held?.hand.state);
      this.views[i].draw();
    });
    const now = performance.now();
    if (!this.drawn || now - this.drawn > 90) {
      this.energy.draw();
      this.momentum.draw();
      this.drawn = now;
    }
  }

  // ---- taking part --------------------------------------------------------------------------

  setTool(tool) {
    this.tool = tool;
    this.toolSwitch?.show(tool);
    this.stages.forEach((s) => (s.canvas.dataset.tool = tool));
    if (this.worlds) this.changed();
  }

  listen(stage, i) {
    const { canvas } = stage;
    const on = (type, f) => canvas.addEventListener(type, f, { capture: true });
    const take = (e) => {
      e.stopImmediatePropagation();
      e.preventDefault();
      canvas.focus({ preventScroll: true });
      try {
        canvas.setPointerCapture(e.pointerId);
      } catch {
        // the pointer is gone already
      }
    };
    on('pointerdown', (e) => {
      if (e.button !== 0 || !this.worlds) return;
      if (this.tool === 'cut') {
        take(e);
        this.stroke = { id: e.pointerId, stage: i, points: [[e.clientX, e.clientY]] };
      } else if (this.tool === 'pin') {
        take(e);
        this.pinAt(e.clientX, e.clientY);
      } else if (this.grab(e.pointerId, i, e.clientX, e.clientY)) take(e);
    });
    on('pointermove', (e) => {
      const held = this.hands.get(e.pointerId);
      if (held) {
        e.stopImmediatePropagation();
        const to = this.views[held.stage].onPlane(e.clientX, e.clientY, held.depth);
        this.attempt(() => held.hand.drag(to));
      } else if (this.stroke?.id === e.pointerId) {
        this.stroke.points.push([e.clientX, e.clientY]);
        const box = canvas.getBoundingClientRect();
        const points = this.stroke.points.map(([x, y]) => `${x - box.left},${y - box.top}`);
        stage.overlay.firstChild.setAttribute('points', points.join(' '));
      }
    });
    const end = (e) => {
      if (this.hands.has(e.pointerId)) this.letGo(e.pointerId);
      else if (this.stroke?.id === e.pointerId) {
        const points = this.stroke.points;
        this.stroke = null;
        stage.overlay.firstChild.setAttribute('points', '');
        this.cutAlong(points);
      }
    };
    on('pointerup', end);
    on('pointercancel', end);
    canvas.addEventListener('keydown', (e) => {
      const turn = {
        ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1],
      }[e.key];
      if (!turn) return;
      e.preventDefault();
      const v = this.views[i], offset = v.camera.position.clone().sub(v.controls.target);
      offset.applyAxisAngle(v.camera.up, turn[0]);
      const r = offset.length(), up = offset.y - turn[1] * r;
      offset.y = Math.max(-0.95 * r, Math.min(0.95 * r, up));
      v.camera.position.copy(v.controls.target).add(offset);
      v.controls.update();
    });
  }

  grab(id, i, px, py) {
    const { origin, direction } = this.views[i].ray(px, py);
    const hand = this.worlds[i].grab(origin, direction);
    if (!hand) return false;
    this.hands.set(id, { world: this.worlds[i], stage: i, hand, depth: hand.hit });
    return true;
  }

  letGo(id) {
    const held = this.hands.get(id);
    this.hands.delete(id);
    if (held) this.attempt(() => held.hand.release());
    this.dirty = true;
  }

  // For keys and screen readers: a pull at what is in the middle of the picture.
  nudge() {
    if (!this.worlds) return;
    this.views.forEach((v, i) => {
      const box = v.canvas.getBoundingClientRect(), w = this.worlds[i];
      const x = w.positions(), fixed = w.fixed();
      let middle = 0, least = Infinity;
      for (let k = 0; k < fixed.length; k++) {
        const [px, py] = v.project(x, k);
        const d = Math.hypot(px - box.left - box.width / 2, py - box.top - box.height / 2);
        if (d < least && !fixed[k]) least = d, middle = k;
      }
      const [px, py] = v.project(x, middle), id = `nudge${i}`;
      if (!this.grab(id, i, px, py)) return;
      const held = this.hands.get(id);
      const to = v.onPlane(px + 0.18 * box.width, py - 0.1 * box.height, held.depth);
      this.attempt(() => held.hand.drag(to));
      setTimeout(() => this.letGo(id), 350);
    });
  }

  pinAt(px, py) {
    const w = this.worlds[0], x = w.positions();
    let nearest = -1, least = 24;
    for (let k = 0; k < w.vertices(); k++) {
      const [qx, qy] = this.views[0].project(x, k), d = Math.hypot(qx - px, qy - py);
      if (d < least) least = d, nearest = k;
    }
    if (nearest < 0) return;
    this.p.pins = this.p.pins.includes(nearest)
      ? this.p.pins.filter((k) => k !== nearest)
      : [...this.p.pins, nearest].sort((a, b) => a - b);
    this.start(true);
  }

  cutAlong(points) {
    const w = this.worlds[0], e = w.edges(), x = w.positions(), fresh = [];
    const numbersOf = this.cut.length ? this.leftSprings() : null;
    for (let s = 0; s < e.length / 2; s++) {
      const a = this.views[0].project(x, e[2 * s]), b = this.views[0].project(x, e[2 * s + 1]);
      for (let k = 0; k + 1 < points.length; k++)
        if (cross(a, b, points[k], points[k + 1])) {
          fresh.push(numbersOf ? numbersOf[s] : s);
          break;
        }
    }
    if (!fresh.length) return;
    this.cut = [...new Set([...this.cut, ...fresh])].sort((a, b) => a - b);
    this.start(true);
  }

  // Numbers in the whole cloth of the springs that are left.
  leftSprings() {
    const gone = new Set(this.cut), list = [];
    for (let s = 0; s < this.wholeEdges.length / 2; s++) if (!gone.has(s)) list.push(s);
    return list;
  }

  key(e) {
    const tool = (name) => this.scene.tools.includes(name) && this.setTool(name);
    const does = {
      ' ': () => this.setPlaying(!this.playing), r: () => this.start(), s: () => this.single(),
      n: () => this.nudge(), g: () => tool('grab'), p: () => tool('pin'), c: () => tool('cut'),
    }[e.key.toLowerCase()];
    if (!does) return false;
    does();
    return true;
  }

  resize() {
    this.dirty = true;
    this.views.forEach((v) => v.resize());
    this.energy.resize();
    this.momentum.resize();
  }

  retint() {
    this.dirty = true;
    this.views.forEach((v) => v.retint());
    this.label();
    this.energy.make();
    this.momentum.make();
  }

  dispose() {
    clearTimeout(this.waiting);
    this.views.forEach((v) => v.dispose());
    this.worlds?.forEach((w) => w.dispose());
    this.worlds = null;
    this.energy.dispose();
    this.momentum.dispose();
  }
}

// Planes among the obstacles of a scene.
const planesOf = ({ obstacles = [] }) => obstacles
  .filter((o) => o.type === 'plane')
  .map(({ point = [0, 0, 0], normal }) => ({ point, normal }));

// Whether the segments ab and cd cross.
function cross(a, b, c, d) {
  const side = (p, q, r) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}
