// Where a method is stable: the radius of its matrix over X = h d/m and Y = h²k/m [Shinya2004],
// measured by the engine, and the motion at one point.
import { Chart, short } from './charts.js';
import { colour } from './colours.js';
import { element, integratorPicker, select, tableOf, valueOf } from './controls.js';
import { BrioError } from 'brio-engine';
import { Diagram } from './diagram.js';
import { axes, css, fit, oscillatorScene } from './point.js';

const STEPS = 60, SLICE = 14; // ms of measuring in a picture
const ranges = {
  near: { title: 'X to 4, Y to 6', X: 4, Y: 6 },
  far: { title: 'X to 20, Y to 40', X: 20, Y: 40 },
  small: { title: 'X to 1, Y to 1', X: 1, Y: 1 },
};
// Energy control has a matrix only where its alpha is fixed.
const fixedAlpha = ({ fields }) =>
  (fields.some((f) => f.name === 'alpha' && f.default === null) ? { alpha: 1 } : {});
const inside = (value, least, most) => Math.min(most, Math.max(least, value));

export class Stability {
  constructor(root, engine, params, changed) {
    Object.assign(this, { root, engine, changed });
    const asked = params.get('integrator');
    this.name = engine.method(asked) ? asked : 'symplectic-euler';
    this.values = {};
    for (const [k, v] of params) if (k.startsWith('i.')) this.values[k.slice(2)] = valueOf(v);
    this.range = Object.hasOwn(ranges, params.get('range')) ? params.get('range') : 'near';
    const place = (key, standard) => {
      const given = Number(params.get(key));
      return params.has(key) && Number.isFinite(given) ? Math.max(0, given) : standard;
    };
    this.X = place('X', 0.4);
    this.Y = Math.max(1e-6, place('Y', 2));
    this.diagram = new Diagram();
    this.build();
    this.measure();
  }

  get radius() { return this.diagram.radius; }
  get order() { return this.diagram.order; }
  get next() { return this.diagram.done ? this.order.length : this.diagram.next; }

  params() {
    const q = new URLSearchParams({ integrator: this.name, X: this.X, Y: this.Y });
    if (this.range !== 'near') q.set('range', this.range);
    for (const [k, v] of Object.entries(this.values)) q.set(`i.${k}`, v);
    return q;
  }

  build() {
    this.canvas = element('canvas', {
      class: 'plane', tabindex: 0, role: 'application',
      'aria-label': 'Stability diagram: arrow keys move the point',
    });
    this.message = element('div', { class: 'message', role: 'alert', hidden: true });
    this.charts = element('div',
      { class: 'charts', style: 'grid-template-columns: minmax(0, 1fr)' });
    this.panel = element('aside', { class: 'panel', 'aria-label': 'Settings' });
    const key = ([name, says]) =>
      element('span', {}, element('i', { style: `background:var(--${name})` }), says);
    const keys = [
      ['fades', 'vibrations decay'], ['keeps', 'they keep their size'], ['grows', 'they grow'],
    ].map(key);
    const stages = element('div', { class: 'stages' },
      element('div', { class: 'stage' }, this.canvas), this.message);
    this.root.replaceChildren(element('section', { class: 'main' }, stages,
      element('div', { class: 'toolbar legend' }, ...keys), this.charts), this.panel);
    const picker = integratorPicker({
      engine: tableOf(this.engine), offers: this.withoutMatrix(), value: this.name,
      values: this.values,
    }, (name, values) => {
      this.name = name;
      this.values = { ...values };
      this.measure();
    });
    this.facts = element('div', { 'aria-live': 'polite' });
    this.panel.replaceChildren(
      element('p', {
        class: 'lead',
        text: 'm x″ = −k x − d x′ in steps of h: all that matters is X = h d/m and Y = h² k/m. ' +
          'Drag the point.',
      }),
      picker.node,
      select({
        key: 'range', label: 'Range', value: this.range,
        options: Object.entries(ranges).map(([k, r]) => ({ value: k, text: r.title })),
      }, (v) => {
        this.range = v;
        this.measure();
      }).row,
      element('h3', { text: 'At the point' }), this.facts, picker.own);
    this.motion = new Chart(this.charts, {
      title: 'Motion from x = 1, v = 0', unit: 'm', xUnit: '', window: STEPS, cap: 20, points: true,
      series: [{ label: 'x after n steps', colour: () => colour(this.name) }],
    });
    this.listen();
  }

  listen() {
    const to = (X, Y, digits) => {
      const r = ranges[this.range];
      this.X = inside(Number(X.toPrecision(digits)), 0, r.X);
      this.Y = inside(Number(Y.toPrecision(digits)), 1e-6, r.Y);
      this.atPoint();
    };
    const move = (e) => {
      const r = ranges[this.range], b = this.canvas.getBoundingClientRect(), { box } = this;
      to(r.X * (e.clientX - b.left - box.left) / box.width,
        r.Y * (1 - (e.clientY - b.top - box.top) / box.height), 3);
    };
    this.canvas.addEventListener('pointerdown', (e) => {
      if (e.button !== 0 || this.dragging !== undefined) return;
      this.canvas.setPointerCapture(e.pointerId);
      this.dragging = e.pointerId;
      move(e);
    });
    this.canvas.addEventListener('pointermove', (e) => this.dragging === e.pointerId && move(e));
    const end = (e) => {
      if (this.dragging !== e.pointerId) return;
      this.dragging = undefined;
      this.changed();
    };
    // the last two where the browser takes the pointer away
    for (const type of ['pointerup', 'pointercancel', 'lostpointercapture'])
      this.canvas.addEventListener(type, end);
    this.canvas.addEventListener('keydown', (e) => {
      const by = {
        ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
      }[e.key];
      if (!by) return;
      e.preventDefault();
      const r = ranges[this.range];
      to(this.X + by[0] * r.X / 80, this.Y + by[1] * r.Y / 80, 4);
      this.changed();
    });
  }

  // Methods that have no matrix, with the engine's sentence.
  withoutMatrix() {
    const offers = {};
    for (const i of this.engine.methods) {
      try {
        this.engine.oscillator({ type: i.name, ...fixedAlpha(i) }).dispose();
      } catch (e) {
        if (!(e instanceof BrioError)) throw e;
        offers[i.name] = e.message;
      }
    }
    return offers;
  }

  setting() {
    return { ...fixedAlpha(this.engine.method(this.name)), ...this.values };
  }

  measure() {
    this.oscillator?.dispose();
    this.oscillator = null;
    this.message.hidden = true;
    try {
      this.oscillator = this.engine.oscillator({ type: this.name, ...this.setting() });
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      this.message.hidden = false;
      this.message.textContent = e.message;
    }
    this.diagram.start(this.oscillator, ranges[this.range]);
    this.motion.make();
    this.atPoint();
    this.changed();
  }

  atPoint() {
    if (!this.oscillator) return this.facts.replaceChildren();
    const facts = [element('p', { text: `X = ${short(this.X)}, Y = ${short(this.Y)}` })];
    try {
      const a = this.oscillator.matrix(this.Y, this.X, 1), r = a.radius;
      const says = Math.abs(r - 1) <= 1e-6 ? 'Vibrations keep their size.'
        : r < 1 ? `Vibrations shrink to ${short(r)} of their size per step.`
          : `Vibrations grow by the factor ${short(r)} per step.`;
      facts.unshift(element('p', { class: 'verdict', text: says }));
      if (a.size === 2) {
        const row = (i) => element('tr', {},
          ...[0, 1].map((j) => element('td', { text: short(a.matrix[2 * i + j]) })));
        const table = element('table',
          { class: 'matrix', 'aria-label': 'Matrix of one step for (x, v)' }, row(0), row(1));
        facts.push(element('p', { text: 'Matrix of a step for (x, v):' }), table);
      } else {
        const size = `It remembers earlier steps: a matrix of size ${a.size}.`;
        facts.push(element('p', { text: size }));
      }
      const sizes = `Determinant ${short(a.det)}, trace ${short(a.trace)}, radius ${short(r)}`;
      facts.push(element('p', { text: sizes }));
      this.reading = a;
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      facts.push(element('p', { text: e.message }));
      this.reading = null;
    }
    this.facts.replaceChildren(...facts);
    this.motion.clear();
    const system = { k: this.Y, m: 1, d: this.X, h: 1 };
    let world;
    this.motion.add(0, [1]);
    try {
      world = this.engine.world(oscillatorScene(system, this.name, this.setting()));
      for (let n = 1; n <= STEPS; n++) {
        world.step(1);
        this.motion.add(n, [world.positions()[3]]);
      }
    } catch (e) {
      if (!(e instanceof BrioError)) throw e; // the motion ends there
    }
    world?.dispose();
    this.motion.draw();
    this.draw();
  }

  frame() {
    if (this.diagram.work(SLICE)) this.draw();
  }

  draw() {
    this.area ??= fit(this.canvas);
    const { g, w, h } = this.area, r = ranges[this.range], left = w < 500 ? 46 : 62;
    const box = { left, top: 16, width: w - left - (w < 500 ? 12 : 22), height: h - 66 };
    this.box = box;
    g.clearRect(0, 0, w, h);
    axes(g, box, { from: 0, to: r.X, label: 'X = h d/m' },
      { from: 0, to: r.Y, label: 'Y = h² k/m' });
    this.diagram.draw(g, box);
    const px = box.left + box.width * Math.min(1, this.X / r.X);
    const py = box.top + box.height * (1 - Math.min(1, this.Y / r.Y));
    g.fillStyle = css('--card');
    g.strokeStyle = css('--ink');
    g.lineWidth = 2.5;
    g.beginPath();
    g.arc(px, py, 8, 0, 7);
    g.fill();
    g.stroke();
  }

  key() { return false; }

  resize() {
    this.area = fit(this.canvas);
    this.motion.resize();
    this.draw();
  }

  retint() {
    this.diagram.repaint();
    this.motion.make();
    this.draw();
  }

  dispose() {
    this.oscillator?.dispose();
    this.oscillator = null;
    this.motion.dispose();
  }
}
