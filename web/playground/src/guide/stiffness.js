// Chapter 2: the stability diagram, and one spring whose stiffness, damping and step move a point
// in it.
import { short } from '../charts.js';
import { wordColour } from '../colours.js';
import { stepText } from '../controls.js';
import { Diagram, SLACK } from '../diagram.js';
import { axes, css, fit, oscillatorScene } from '../point.js';
import { dot, mapper, polyline, words } from './draw.js';
import { Experiment, firstTrue } from './experiment.js';

const RANGE = { X: 4, Y: 6 };
const STEPS = 40; // of the motion that is drawn
const TALLEST = 3; // m: beyond that the motion has left the picture
const SLICE = 10; // ms of measuring in a picture
const H = 1 / 60;
const NAMES = {
  'forward-euler': 'Forward Euler',
  'symplectic-euler': 'Symplectic Euler',
  rk4: 'Runge–Kutta 4',
  'backward-euler': 'Backward Euler',
};

class Stiffness extends Experiment {
  static plays = false;
  static controls = [
    {
      key: 'method',
      label: 'Method',
      value: 'symplectic-euler',
      choices: Object.entries(NAMES).map(([value, text]) => ({ value, text })),
    },
    { key: 'k', label: 'Stiffness k', unit: 'N/m', value: 10000, log: true, from: 1000, to: 86400 },
    { key: 'd', label: 'Damping d', unit: 'N s/m', value: 0, from: 0, to: 240, step: 5 },
    {
      key: 'h',
      label: 'Time step h',
      value: H,
      values: [1 / 240, 1 / 120, 1 / 60],
      text: stepText,
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    this.picture = this.canvas('Stability diagram: damping to the right, stiffness upwards');
    this.diagram = new Diagram();
    this.start();
  }

  get h() {
    return this.values.h;
  }
  get point() {
    return { X: this.h * this.values.d, Y: this.h ** 2 * this.values.k };
  }

  start() {
    this.begin();
    if (this.measured !== this.values.method) {
      this.oscillator?.dispose();
      this.oscillator = this.engine.oscillator({ type: this.values.method });
      this.diagram.start(this.oscillator, RANGE);
      this.measured = this.values.method;
    }
    this.run();
  }

  // The motion from x = 1 at rest.
  run() {
    const { k, d, method } = this.values,
      world = this.world(oscillatorScene({ k, m: 1, d, h: this.h }, method, {}));
    this.path = [1];
    for (let n = 0; n < STEPS && Math.abs(this.path.at(-1)) < 1e3; n++) {
      if (!this.attempt(() => world.step(this.h))) break;
      this.path.push(world.positions()[3]);
    }
    this.radius = this.oscillator.radius(this.point.X, this.point.Y);
  }

  step() {
    this.steps++;
  }

  // The stiffest spring of mass 1 that the method takes at a step and a damping, by bisection.
  stiffest(h, d = 0) {
    let low = 1e-3 / h ** 2,
      high = 100 / h ** 2;
    for (let n = 0; n < 60; n++) {
      const k = Math.sqrt(low * high);
      if (this.oscillator.radius(h * d, h ** 2 * k) <= 1 + 1e-9) low = k;
      else high = k;
    }
    return low;
  }

  measure() {
    const { h, d } = this.values;
    return {
      ...this.point,
      radius: this.radius,
      last: Math.abs(this.path.at(-1)),
      steps: this.path.length - 1,
      stiffest: this.stiffest(h, d),
      half: this.stiffest(h / 2, d),
    };
  }

  readout() {
    const r = this.radius,
      cases = {
        [`grow ${short(r)} times per step: it explodes`]: r > 1 + SLACK,
        [`shrink to ${short(r)} per step`]: r < 1 - SLACK,
      },
      says = firstTrue(cases, 'keep their size');
    return [
      { colour: 'var(--t1)', name: 'X = h d / m', value: short(this.point.X) },
      { colour: 'var(--t2)', name: 'Y = h² k / m', value: short(this.point.Y) },
      { name: 'Vibrations', value: says },
    ];
  }

  frame() {
    if (this.diagram.work(SLICE)) this.draw();
  }

  draw() {
    const { g, w, h } = fit(this.picture),
      narrow = w < 500;
    g.clearRect(0, 0, w, h);
    const [blue, orange] = [wordColour('elastic'), wordColour('angular')];
    const box = narrow
      ? { left: 46, top: 14, width: w - 60, height: 0.56 * h - 56 }
      : { left: 60, top: 18, width: 0.56 * w - 60, height: h - 70 };
    axes(
      g,
      box,
      { from: 0, to: RANGE.X, label: 'X: damping × step' },
      { from: 0, to: RANGE.Y, label: 'Y: stiffness × step²' },
    );
    this.diagram.draw(g, box);
    const { X, Y } = this.point,
      out = X > RANGE.X || Y > RANGE.Y;
    const at = mapper(
      box,
      [0, RANGE.X],
      [0, RANGE.Y],
    )([Math.min(X, RANGE.X), Math.min(Y, RANGE.Y)]);
    polyline(g, [[box.left, at[1]], at], { stroke: blue, width: 3 });
    polyline(g, [[at[0], box.top + box.height], at], { stroke: orange, width: 3 });
    dot(g, at, 8, css('--card'), css('--ink'));
    if (out) words(g, 'outside', [at[0] + 12, at[1] + 4], { size: 12 });
    const side = narrow
      ? { left: 46, top: 0.56 * h + 24, width: w - 60, height: 0.44 * h - 66 }
      : { left: 0.56 * w + 62, top: 18, width: 0.44 * w - 84, height: h - 70 };
    axes(
      g,
      side,
      { from: 0, to: STEPS, label: 'steps' },
      { from: -TALLEST, to: TALLEST, label: 'position, m', at: side.left - 36 },
    );
    const place = mapper(side, [0, STEPS], [-TALLEST, TALLEST]);
    g.save();
    g.beginPath();
    g.rect(side.left, side.top, side.width, side.height);
    g.clip();
    const points = this.path.map((x, n) => place([n, x])),
      stroke = this.radius > 1 + SLACK ? wordColour('#c2480f') : wordColour('elastic');
    polyline(g, points, { stroke, width: 1.8 });
    points.forEach(([x, y]) => dot(g, [x, y], 3, stroke, stroke));
    g.restore();
  }

  retint() {
    this.diagram.repaint();
    this.draw();
  }

  dispose() {
    super.dispose();
    this.oscillator?.dispose();
  }
}

export default {
  id: 'stiffness',
  tab: 'Stiffness',
  title: 'How stiff is too stiff?',
  colours: ['elastic', 'angular'],
  seconds: 0,
  intro: `<p>Symplectic Euler kept our spring alive. Now make the spring stiffer, as stiff as
    the threads of a cloth. At some stiffness the motion blows up within a few steps.</p>
    <p>The obvious cure is a shorter <em>time step</em>. The question is how far it helps.</p>`,
  predict: {
    ask: 'You make the time step half as long. How much stiffer may the spring be now?',
    options: {
      same: 'No stiffer: stiffness alone decides',
      two: 'Twice as stiff',
      four: 'Four times as stiff',
      many: 'As stiff as you like',
    },
    judge({ stiffest, half }) {
      const ratio = half / stiffest,
        answer = firstTrue({ same: ratio < 1.5, two: ratio < 3, four: ratio < 6 }, 'many');
      return {
        answer,
        says:
          `At 1/60 s the stiffest spring that holds has ${short(stiffest)} N/m, at 1/120 s ` +
          `${short(half)} N/m: ${short(ratio)} times as much.`,
      };
    },
  },
  tasks: [
    'Raise the stiffness until the point leaves the calm region. The curve on the right ' +
      'changes at once from a swing to an explosion.',
    'Take forward Euler. Without damping it holds nowhere. Add damping: it holds. Add too ' +
      'much: it explodes again.',
    'Take backward Euler. The whole diagram is calm. Chapter 4 tells what that costs.',
  ],
  why: `<p>Every point of the diagram is one spring. Only two numbers matter:
    <b class="t1">X</b>, the damping times the step, and <b class="t2">Y</b>, the stiffness
    times the step <em>squared</em>. Blue: vibrations fade, or at least keep their size. Orange:
    they grow, so any tiny error becomes an explosion. The engine measured each of the 9216
    cells by taking steps there.</p>
    <p>Because of the square, half the step allows four times the stiffness. Read it the other
    way: a spring four times as stiff needs steps half as long, twice as many of them. That is
    the price of methods that only look at the start of a step, and it is why cloth and metal
    are hard for them: one stiff thread sets the step for the whole scene.</p>`,
  equation: tex`\begin{gathered}
    \one{X} = \frac{h\,d}{m} \qquad \two{Y} = \frac{h^2\,k}{m} \\[0.6em]
    \begin{aligned}
    \text{symplectic Euler:} & & 0 < \two{Y} &< 4 - 2\,\one{X} \\
    \text{forward Euler:} & & 2\,\one{X} - 4 < \two{Y} &< \one{X} \\
    \text{backward Euler:} & & 0 < \two{Y} &
    \end{aligned}
    \end{gathered}`,
  terms: `The regions in which vibrations do not grow. ${inline`h`} is the time step,
    ${inline`d`} the damping, ${inline`k`} the stiffness and ${inline`m`} the mass (1 kg here).`,
  manual: { stability: 'Stability: which steps hold' },
  papers: ['Shinya2004', 'Baraff1998'],
  Experiment: Stiffness,
};
