// The phase plane: an oscillator or a pendulum under several integrators at once, each run by the
// engine.
import { Chart, short } from './charts.js';
import { colour, tint } from './colours.js';
import { FIRST, element, linkedValue, select, slider, stepSelect } from './controls.js';
import { BrioError } from 'brio-engine';
import {
  axes, css, fit, oscillatorPhase, oscillatorScene, pendulumPhase, pendulumScene,
} from './point.js';
import { stableLimit } from 'stable-limits';

const MOST = 8;
const EXPLODED = 1e6; // times the energy of the start
const swatch = (name) => element('i', { class: 'swatch', style: `background:${tint(name)}` });
const systems = {
  oscillator: {
    title: 'Oscillator',
    about: 'A mass on a spring, m x″ = −k x − d x′. Every method draws its own orbit; the grey ' +
      'curve is the energy of the start.',
    controls: [
      { key: 'k', label: 'Stiffness k', unit: 'N/m', from: 1, to: 100, log: true, value: 10 },
      { key: 'm', label: 'Mass m', unit: 'kg', from: 0.1, to: 10, log: true, value: 1 },
      { key: 'd', label: 'Damping d', unit: 'N s/m', from: 0, to: 2, step: 0.05, value: 0 },
      { key: 'v', label: 'First velocity', unit: 'm/s', from: -4, to: 4, step: 0.1, value: 0 },
    ],
    chosen: ['forward-euler', 'backward-euler', 'symplectic-euler', 'implicit-midpoint'],
    h: 1 / 30, scene: oscillatorScene, phase: oscillatorPhase, labels: ['x, m', 'v, m/s'],
    span: (p) => {
      const w = Math.sqrt(p.k / p.m), a = Math.hypot(1, p.v / w);
      return [1.7 * a, 1.7 * a * w];
    },
    level: (p) => {
      const w = Math.sqrt(p.k / p.m), a = Math.hypot(1, p.v / w);
      return Array.from({ length: 121 }, (_, i) => i * Math.PI / 60)
        .map((t) => [a * Math.cos(t), a * w * Math.sin(t)]);
    },
  },
  pendulum: {
    title: 'Pendulum',
    about: 'A mass on a rigid rod of 1 m. Methods that take rods can be chosen; the grey curve ' +
      'is the energy of the start.',
    controls: [
      { key: 'g', label: 'Gravity g', unit: 'm/s²', from: 1, to: 25, step: 0.1, value: 9.8 },
      { key: 'm', label: 'Mass m', unit: 'kg', from: 0.1, to: 10, log: true, value: 1 },
      { key: 'd', label: 'Damping d', unit: 'N s/m', from: 0, to: 2, step: 0.05, value: 0 },
      { key: 'angle', label: 'First angle', unit: '°', from: 5, to: 175, step: 5, value: 120 },
    ],
    chosen: ['backward-euler', 'bdf2', 'variational'],
    h: 1 / 30, scene: pendulumScene, phase: pendulumPhase,
    labels: ['angle, rad', 'angular velocity, rad/s'],
    span: (p) => [3.4, 1.25 * Math.sqrt(2 * p.g * (1 - Math.cos(p.angle * Math.PI / 180))) + 0.1],
    level: (p) => {
      const a = p.angle * Math.PI / 180, top = Array.from({ length: 81 }, (_, i) => {
        const t = a * Math.cos(i * Math.PI / 80);
        return [t, Math.sqrt(Math.max(0, 2 * p.g * (Math.cos(t) - Math.cos(a))))];
      });
      return [...top, ...top.map(([t, w]) => [t, -w]).reverse()];
    },
  },
};

export class Phase {
  constructor(root, engine, params, changed) {
    Object.assign(this, { root, engine, changed, playing: params.get('play') !== '0', behind: 0 });
    this.name = Object.hasOwn(systems, params.get('system')) ? params.get('system') : 'oscillator';
    this.system = systems[this.name];
    const asked = (c) => [c.key, linkedValue(c, params.get(c.key))];
    this.p = Object.fromEntries(this.system.controls.map(asked));
    const rate = Number(params.get('h'));
    this.p.h = rate >= 1 && rate <= 1e5 ? 1 / rate : this.system.h;
    this.chosen = params.has('integrators')
      ? params.get('integrators').split(',').filter((n) => engine.method(n)).slice(0, MOST)
      : [...this.system.chosen];
    this.build();
    this.start();
  }

  params() {
    const q = new URLSearchParams({
      system: this.name, integrators: this.chosen.join(','), h: Math.round(1 / this.p.h),
    });
    for (const { key, value } of this.system.controls)
      if (this.p[key] !== value) q.set(key, this.p[key]);
    if (!this.playing) q.set('play', '0');
    return q;
  }

  build() {
    this.canvas = element('canvas', { class: 'plane', role: 'img', tabindex: 0 });
    this.message = element('div', { class: 'message', role: 'alert', hidden: true });
    const button = (key, text, onclick) =>
      element('button', { type: 'button', 'data-key': key, text, onclick });
    this.play = button('play', '', () => this.setPlaying(!this.playing));
    this.play.classList.add('primary');
    this.status = element('span', { class: 'status' });
    const toolbar = element('div',
      { class: 'toolbar', role: 'toolbar', 'aria-label': 'Simulation' }, this.play,
      button('step', 'Step', () => this.single()),
      button('reset', 'Reset', () => this.start()), this.status);
    this.charts = element('div',
      { class: 'charts', style: 'grid-template-columns: minmax(0, 1fr)' });
    this.panel = element('aside', { class: 'panel', 'aria-label': 'Settings' });
    const stages = element('div', { class: 'stages' },
      element('div', { class: 'stage' }, this.canvas), this.message);
    this.root.replaceChildren(
      element('section', { class: 'main' }, stages, toolbar, this.charts), this.panel);
    this.setPlaying(this.playing);
    this.buildPanel();
  }

  // One row for each method: those that people need first, the others behind "all methods".
  methodChecks(offers) {
    const checks = element('div', { role: 'group', 'aria-label': 'Integrators' });
    const first = element('div', { class: 'checks' }), rest = element('div', { class: 'checks' });
    const seen = new Set([...FIRST, ...this.chosen]);
    const choose = (name, on) => {
      const others = this.chosen.filter((n) => n !== name);
      this.chosen = on ? [...others, name].slice(-MOST) : others;
      for (const c of checks.querySelectorAll('input'))
        c.checked = this.chosen.includes(c.dataset.method);
      this.start();
    };
    for (const { name, summary, citation } of this.engine.methods) {
      if (['static', 'runge-kutta', 'pbd-verlet'].includes(name)) continue;
      const id = `method-${name}`, disabled = !!offers[name];
      const input = element('input', { type: 'checkbox', id, 'data-method': name, disabled });
      input.checked = this.chosen.includes(name);
      input.addEventListener('change', () => choose(name, input.checked));
      const title = offers[name] || `${summary} [${citation}]`;
      (seen.has(name) ? first : rest).append(element('div', { class: 'row check', title }, input,
        element('label', { for: id }, swatch(name), name)));
    }
    checks.append(first, element('details', { class: 'all-methods', 'data-key': 'all' },
      element('summary', { text: 'All methods' }), rest));
    return checks;
  }

  buildPanel() {
    const { engine, system, p } = this;
    const probe = engine.world(system.scene(p, 'backward-euler', {})), offers = probe.methods();
    probe.dispose();
    const checks = this.methodChecks(offers);
    this.sentences = element('div', { class: 'about' });
    this.panel.replaceChildren(
      select({
        key: 'system', label: 'System', value: this.name,
        options: Object.entries(systems).map(([k, s]) => ({ value: k, text: s.title })),
      }, (v) => this.changed(new URLSearchParams({ system: v }))).row,
      element('p', { class: 'lead', text: system.about }),
      stepSelect('h', p.h, (h) => {
        p.h = h;
        this.start();
      }).row,
      ...system.controls.map((c) => slider({ ...c, value: p[c.key] }, (v) => {
        p[c.key] = v;
        this.start();
      }).row),
      element('h3', { text: `Integrators, up to ${MOST}` }), checks, this.sentences);
  }

  start() {
    this.worlds?.forEach((r) => r.world.dispose());
    this.say('');
    this.worlds = [];
    for (const name of this.chosen) {
      try {
        const world = this.engine.world(this.system.scene(this.p, name, {}));
        this.worlds.push({ name, world, trail: [this.system.phase(world)], running: true });
      } catch (e) {
        if (!(e instanceof BrioError)) throw e;
        this.say(e.message);
      }
    }
    this.first = this.worlds[0]?.world.ledger().total ?? 1;
    const scale = this.name === 'pendulum' ? 2 * this.p.g * this.p.m : Math.abs(this.first);
    this.energy?.dispose();
    this.energy = new Chart(this.charts, {
      title: 'Energy', unit: 'J', window: 15, cap: 3 * scale,
      series: this.worlds.map((r) => ({ label: r.name, colour: () => colour(r.name) })),
    });
    this.sentences.replaceChildren(...this.worlds.map((r) => {
      const i = this.engine.method(r.name);
      return element('p', { title: this.engine.citations[i.citation] }, swatch(r.name),
        element('b', { text: `${r.name}: ` }), `${i.summary} [${i.citation}]`);
    }));
    this.record();
    this.changed();
    this.resize();
  }

  say(sentence) {
    this.message.hidden = !sentence;
    this.message.textContent = sentence;
  }

  setPlaying(on) {
    this.playing = on;
    this.play.textContent = on ? 'Pause' : 'Play';
    if (this.worlds) this.changed();
  }

  stepNow(count) {
    for (let n = 0; n < count; n++)
      for (const r of this.worlds) {
        if (!r.running) continue;
        try {
          r.world.step(this.p.h);
        } catch (e) {
          if (!(e instanceof BrioError)) throw e;
          r.running = false;
          this.say(`${r.name} stops at ${short(r.world.time)} s: ${e.message}`);
          continue;
        }
        r.trail.push(this.system.phase(r.world));
        if (r.world.ledger().total > EXPLODED * Math.max(1e-9, Math.abs(this.first)))
          this.exploded(r);
        if (r.trail.length > 1500) r.trail.shift();
      }
    return count;
  }

  exploded(r) {
    r.running = false;
    const limit = stableLimit(r.name);
    const why = limit > 0
      ? `its step is longer than ${short(limit)} over the frequency, where its stability ends`
      : 'it adds energy in every step, however short';
    this.say(`${r.name} has exploded at ${short(r.world.time)} s: ${why}. ` +
      'Shorten the step or take another method.');
  }

  single() {
    this.setPlaying(false);
    this.stepNow(1);
    this.record();
    this.draw();
  }

  record() {
    const t = Math.max(0, ...this.worlds.map((r) => r.world.time));
    this.energy.add(t, this.worlds.map((r) => (r.running ? r.world.ledger().total : NaN)));
    this.status.textContent = `t = ${t.toFixed(2)} s`;
  }

  frame(dt) {
    if (this.playing && this.worlds.some((r) => r.running)) {
      this.behind = Math.min(this.behind + dt, Math.max(0.1, this.p.h));
      const steps = Math.floor(this.behind / this.p.h);
      this.behind -= steps * this.p.h;
      for (let n = 0; n < steps; n++) {
        this.stepNow(1);
        this.record();
      }
      this.draw();
    }
  }

  draw() {
    const { g, w, h } = this.area, left = w < 500 ? 52 : 62;
    const box = { left, top: 16, width: w - left - (w < 500 ? 12 : 22), height: h - 66 };
    const [X, Y] = this.system.span(this.p);
    const place = ([x, y]) => [
      box.left + box.width * (x + X) / (2 * X), box.top + box.height * (1 - (y + Y) / (2 * Y)),
    ];
    g.clearRect(0, 0, w, h);
    const [across, up] = this.system.labels;
    axes(g, box, { from: -X, to: X, label: across }, { from: -Y, to: Y, label: up });
    g.save();
    g.beginPath();
    g.rect(box.left, box.top, box.width, box.height);
    g.clip();
    const line = (points, stroke, width, jump) => {
      g.strokeStyle = stroke;
      g.lineWidth = width;
      g.beginPath();
      points.forEach((q, i) => {
        const [px, py] = place(q);
        if (i && !(jump && Math.abs(q[0] - points[i - 1][0]) > jump)) g.lineTo(px, py);
        else g.moveTo(px, py);
      });
      g.stroke();
    };
    g.lineJoin = 'round';
    line(this.system.level(this.p), css('--soft'), 1);
    for (const r of this.worlds) {
      line(r.trail, colour(r.name), 1.6, this.name === 'pendulum' ? 3 : 0);
      const [px, py] = place(r.trail.at(-1));
      g.fillStyle = colour(r.name);
      g.beginPath();
      g.arc(px, py, 5.5, 0, 7);
      g.fill();
    }
    g.restore();
    const now = performance.now();
    if (!this.drawn || now - this.drawn > 90) {
      this.energy.draw();
      const names = this.worlds.map((r) => r.name).join(', ');
      this.canvas.setAttribute('aria-label', `Phase plane of ${names}`);
      this.drawn = now;
    }
  }

  key(e) {
    const does = {
      ' ': () => this.setPlaying(!this.playing), r: () => this.start(), s: () => this.single(),
    }[e.key.toLowerCase()];
    does?.();
    return !!does;
  }

  resize() {
    this.area = fit(this.canvas);
    this.energy.resize();
    this.draw();
  }

  retint() {
    this.energy.make();
    this.draw();
  }

  dispose() {
    this.worlds.forEach((r) => r.world.dispose());
    this.worlds = [];
    this.energy.dispose();
  }
}
