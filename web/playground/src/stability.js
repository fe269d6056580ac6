// Where a method is stable: the radius of its matrix over X = h d/m and Y = h²k/m [Shinya2004], measured by the engine, and the motion at one point.
import { Chart, short } from './charts.js';
import { colour } from './colours.js';
import { element, integratorPicker, select, tableOf } from './controls.js';
import { BrioError } from 'brio-engine';
import { axes, css, fit, oscillatorScene } from './point.js';

const STEPS = 60, CELLS = 96, SLACK = 1e-7, SLICE = 14; // ms of measuring in a picture
const ranges = { near: { title: 'X to 4, Y to 6', X: 4, Y: 6 }, far: { title: 'X to 20, Y to 40', X: 20, Y: 40 }, small: { title: 'X to 1, Y to 1', X: 1, Y: 1 } };

export class Stability {
  constructor(root, engine, params, changed) {
    Object.assign(this, { root, engine, changed });
    this.name = engine.method(params.get('integrator')) ? params.get('integrator') : 'symplectic-euler';
    this.values = {};
    for (const [k, v] of params) if (k.startsWith('i.')) this.values[k.slice(2)] = v === 'true' ? true : v === 'false' ? false : Number.isNaN(Number(v)) ? v : Number(v);
    this.range = ranges[params.get('range')] ? params.get('range') : 'near';
    const place = (key, standard) => (params.has(key) && Number.isFinite(Number(params.get(key))) ? Math.max(0, Number(params.get(key))) : standard);
    this.X = place('X', 0.4);
    this.Y = Math.max(1e-6, place('Y', 2));
    this.build();
    this.measure();
  }

  params() {
    const q = new URLSearchParams({ integrator: this.name, X: this.X, Y: this.Y });
    if (this.range !== 'near') q.set('range', this.range);
    for (const [k, v] of Object.entries(this.values)) q.set(`i.${k}`, v);
    return q;
  }

  build() {
    this.canvas = element('canvas', { class: 'plane', tabindex: 0, role: 'application', 'aria-label': 'Stability diagram: arrow keys move the point' });
    this.message = element('div', { class: 'message', role: 'alert', hidden: true });
    this.charts = element('div', { class: 'charts', style: 'grid-template-columns: minmax(0, 1fr)' });
    this.panel = element('aside', { class: 'panel', 'aria-label': 'Settings' });
    const legend = element('div', { class: 'toolbar legend' }, ...[['--fades', 'vibrations decay'], ['--keeps', 'they keep their size'], ['--grows', 'they grow']].map(([c, t]) => element('span', {}, element('i', { style: `background:var(${c})` }), t)));
    this.root.replaceChildren(element('section', { class: 'main' }, element('div', { class: 'stages' }, element('div', { class: 'stage' }, this.canvas), this.message), legend, this.charts), this.panel);
    const picker = integratorPicker({ engine: tableOf(this.engine), offers: this.withoutMatrix(), value: this.name, values: this.values }, (name, values) => {
      this.name = name;
      this.values = { ...values };
      this.measure();
    });
    this.facts = element('div', { 'aria-live': 'polite' });
    this.panel.replaceChildren(
      element('p', { class: 'lead', text: 'm x″ = −k x − d x′ in steps of h: all that matters is X = h d/m and Y = h² k/m. Drag the point.' }),
      picker.node,
      select({ key: 'range', label: 'Range', value: this.range, options: Object.entries(ranges).map(([k, r]) => ({ value: k, text: r.title })) }, (v) => {
        this.range = v;
        this.measure();
      }).row,
      element('h3', { text: 'At the point' }), this.facts, picker.own);
    this.motion = new Chart(this.charts, { title: 'Motion from x = 1, v = 0', unit: 'm', xUnit: '', window: STEPS, cap: 20, points: true, series: [{ label: 'x after n steps', colour: colour(this.name) }] });
    const move = (e) => {
      const r = ranges[this.range], b = this.canvas.getBoundingClientRect();
      this.X = Math.min(r.X, Math.max(0, Number((r.X * (e.clientX - b.left - this.box.left) / this.box.width).toPrecision(3))));
      this.Y = Math.min(r.Y, Math.max(1e-6, Number((r.Y * (1 - (e.clientY - b.top - this.box.top) / this.box.height)).toPrecision(3))));
      this.atPoint();
    };
    this.canvas.addEventListener('pointerdown', (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      this.dragging = true;
      move(e);
    });
    this.canvas.addEventListener('pointermove', (e) => this.dragging && move(e));
    this.canvas.addEventListener('pointerup', () => {
      this.dragging = false;
      this.changed();
    });
    this.canvas.addEventListener('keydown', (e) => {
      const r = ranges[this.range], by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
      if (!by) return;
      e.preventDefault();
      this.X = Number(Math.min(r.X, Math.max(0, this.X + by[0] * r.X / 80)).toPrecision(4));
      this.Y = Number(Math.min(r.Y, Math.max(1e-6, this.Y + by[1] * r.Y / 80)).toPrecision(4));
      this.atPoint();
      this.changed();
    });
  }

  // Methods that have no matrix, with the engine's sentence.
  withoutMatrix() {
    const offers = {};
    for (const i of this.engine.methods) {
      try {
        this.engine.oscillator({ type: i.name, ...(i.fields.some((f) => f.name === 'alpha' && f.default === null) ? { alpha: 1 } : {}) }).dispose();
      } catch (e) {
        if (!(e instanceof BrioError)) throw e;
        offers[i.name] = e.message;
      }
    }
    return offers;
  }

  // Energy control has a matrix only where its alpha is fixed.
  setting() {
    const field = this.engine.method(this.name).fields.find((f) => f.name === 'alpha');
    return field && field.default === null ? { alpha: 1, ...this.values } : this.values;
  }

  measure() {
    this.oscillator?.dispose();
    this.oscillator = null;
    this.radius = new Float32Array(CELLS * CELLS).fill(NaN);
    this.order = Array.from({ length: CELLS * CELLS }, (_, i) => i).sort((a, b) => coarse(a) - coarse(b));
    this.next = 0;
    this.repaint();
    this.message.hidden = true;
    try {
      this.oscillator = this.engine.oscillator({ type: this.name, ...this.setting() });
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      this.message.hidden = false;
      this.message.textContent = e.message;
    }
    this.motion.series[0].colour = colour(this.name);
    this.motion.make();
    this.atPoint();
    this.changed();
  }

  atPoint() {
    if (!this.oscillator) return this.facts.replaceChildren();
    const facts = [element('p', { text: `X = ${short(this.X)}, Y = ${short(this.Y)}` })];
    try {
      const a = this.oscillator.matrix(this.Y, this.X, 1), r = a.radius;
      const says = Math.abs(r - 1) <= 1e-6 ? 'Vibrations keep their size.' : r < 1 ? `Vibrations shrink by ${short(r)} a step.` : `Vibrations grow by ${short(r)} a step.`;
      facts.unshift(element('p', { class: 'verdict', text: says }));
      if (a.size === 2) {
        const table = element('table', { class: 'matrix', 'aria-label': 'Matrix of one step for (x, v)' });
        for (let i = 0; i < 2; i++) table.append(element('tr', {}, ...[0, 1].map((j) => element('td', { text: short(a.matrix[2 * i + j]) }))));
        facts.push(element('p', { text: 'Matrix of a step for (x, v):' }), table);
      } else facts.push(element('p', { text: `It remembers earlier steps: a matrix of size ${a.size}.` }));
      facts.push(element('p', { text: `Determinant ${short(a.det)}, trace ${short(a.trace)}, radius ${short(r)}` }));
      this.reading = a;
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      facts.push(element('p', { text: e.message }));
      this.reading = null;
    }
    this.facts.replaceChildren(...facts);
    this.motion.clear();
    const world = this.engine.world(oscillatorScene({ k: this.Y, m: 1, d: this.X, h: 1 }, this.name, this.setting()));
    this.motion.add(0, [1]);
    try {
      for (let n = 1; n <= STEPS; n++) {
        world.step(1);
        this.motion.add(n, [world.positions()[3]]);
      }
    } catch (e) {
      if (!(e instanceof BrioError)) throw e; // the motion ends there
    }
    world.dispose();
    this.motion.draw();
    this.draw();
  }

  frame() {
    if (!this.oscillator || this.next >= this.order.length) return;
    const r = ranges[this.range], begin = performance.now();
    while (this.next < this.order.length && performance.now() - begin < SLICE) {
      const c = this.order[this.next++], i = c % CELLS, j = Math.floor(c / CELLS);
      this.radius[c] = this.oscillator.radius(r.X * (i + 0.5) / CELLS, r.Y * (j + 0.5) / CELLS);
      this.paint(c);
    }
    this.draw();
  }

  // One pixel a cell; a cell of the coarse picture, which comes first, stands for its neighbours until they are measured.
  paint(c) {
    const i = c % CELLS, j = Math.floor(c / CELLS), size = (i | j) & 3 ? 1 : 4;
    this.picture ??= Object.assign(document.createElement('canvas'), { width: CELLS, height: CELLS });
    const g = this.picture.getContext('2d');
    g.fillStyle = shade(this.radius[c], document.documentElement.dataset.theme === 'dark');
    g.fillRect(i, CELLS - j - size, size, size);
  }

  repaint() {
    this.picture?.getContext('2d').clearRect(0, 0, CELLS, CELLS);
    for (let k = 0; k < this.next; k++) this.paint(this.order[k]);
  }

  draw() {
    const { g, w, h } = this.area || (this.area = fit(this.canvas)), narrow = w < 500, r = ranges[this.range];
    const box = (this.box = { left: narrow ? 46 : 62, top: 16, width: w - (narrow ? 58 : 84), height: h - 66 });
    g.clearRect(0, 0, w, h);
    axes(g, box, { from: 0, to: r.X, label: 'X = h d/m' }, { from: 0, to: r.Y, label: 'Y = h² k/m' });
    g.imageSmoothingEnabled = false;
    if (this.picture) g.drawImage(this.picture, box.left, box.top, box.width, box.height);
    const px = box.left + box.width * Math.min(1, this.X / r.X), py = box.top + box.height * (1 - Math.min(1, this.Y / r.Y));
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
    this.repaint();
    this.motion.make();
    this.draw();
  }

  dispose() {
    this.oscillator?.dispose();
    this.oscillator = null;
    this.motion.dispose();
  }
}

// Every fourth cell of every fourth row first.
function coarse(c) {
  const i = c % CELLS, j = Math.floor(c / CELLS);
  return ((i | j) & 3 ? 1e6 : 0) + c;
}

// Blue: decays, the more the darker; grey: keeps its size; orange: grows.
function shade(radius, dark) {
  if (!Number.isFinite(radius)) return dark ? '#6e3312' : '#d9803f';
  if (Math.abs(radius - 1) <= SLACK) return dark ? '#3f5360' : '#dfe7d6';
  const t = radius < 1 ? Math.min(1, -Math.log(radius) / 2) : Math.min(1, Math.log(radius) / 3);
  if (radius < 1) return dark ? `hsl(207 55% ${38 - 20 * t}%)` : `hsl(207 65% ${86 - 38 * t}%)`;
  return dark ? `hsl(24 55% ${42 - 16 * t}%)` : `hsl(28 88% ${88 - 26 * t}%)`;
}
