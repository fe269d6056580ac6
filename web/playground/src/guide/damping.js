// Chapter 4: damping that the scene has, and damping that only the method has: a spring at a step
// and at half of it.
import { short } from '../charts.js';
import { wordColour } from '../colours.js';
import { stepText } from '../controls.js';
import { axes, css, fit, oscillatorPhase, oscillatorScene } from '../point.js';
import { clipped, mapper, polyline, words } from './draw.js';
import { Experiment, firstTrue } from './experiment.js';

const M = 1; // kg
const SECONDS = 2;
// Top: what the scene asks for, by a method that adds nothing of its own. Bottom: nothing asked
// for.
const PANELS = [
  {
    key: 'real',
    title: 'real damping, implicit midpoint',
    method: 'implicit-midpoint',
    damped: true,
  },
  {
    key: 'numerical',
    title: 'no damping at all, backward Euler',
    method: 'backward-euler',
    damped: false,
  },
];
const COLOURS = ['implicit-midpoint', 'backward-euler'];
const percent = (v) => `${Math.round(100 * v)}\u00a0%`;

class Damping extends Experiment {
  static controls = [
    {
      key: 'h',
      label: 'Time step',
      value: 1 / 30,
      values: [1 / 240, 1 / 120, 1 / 60, 1 / 30, 1 / 20],
      text: stepText,
    },
    { key: 'f', label: 'Swings per second', unit: 'Hz', value: 1, from: 0.5, to: 3, step: 0.25 },
    {
      key: 'd',
      label: 'Damping of the scene',
      unit: 'N s/m',
      value: 1.3,
      from: 0,
      to: 4,
      step: 0.1,
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    this.picture = this.canvas('Two swings over time, each at a time step and at half of it');
    this.start();
  }

  get h() {
    return this.values.h;
  }

  start() {
    this.begin();
    this.k = M * (2 * Math.PI * this.values.f) ** 2;
    this.runs = PANELS.flatMap((panel) =>
      [1, 2].map((parts) => {
        const h = this.h / parts,
          d = panel.damped ? this.values.d : 0;
        const world = this.world(oscillatorScene({ k: this.k, m: M, d, h }, panel.method, {}));
        return { panel, parts, h, world, curve: [[0, 1]], first: this.amplitude(world) };
      }),
    );
  }

  // Of the swing that the state is part of: k A² = k x² + m v².
  amplitude(world) {
    const [x, v] = oscillatorPhase(world);
    return Math.sqrt(x * x + (M / this.k) * v * v);
  }

  step() {
    this.steps++;
    for (const r of this.runs)
      for (let n = 0; n < r.parts; n++) {
        r.world.step(r.h);
        r.curve.push([r.world.time, r.world.positions()[3]]);
      }
  }

  // What is left of a run, and the rate at which it goes, 1/s.
  measure() {
    const of = (r) => {
      const left = this.amplitude(r.world) / r.first;
      return {
        left,
        rate: r.world.time > 0 ? -Math.log(left) / r.world.time : 0,
        perStep: left ** (1 / (this.steps * r.parts || 1)),
      };
    };
    const [real, realHalf, numerical, numericalHalf] = this.runs.map(of);
    return { time: this.time, real, realHalf, numerical, numericalHalf };
  }

  readout() {
    const m = this.measure(),
      row = (name, colour, a, b) => ({
        colour,
        name,
        value: `${percent(a.left)} left, ${percent(b.left)} at half the step`,
      });
    return [
      row('Real', 'var(--t1)', m.real, m.realHalf),
      row('Numerical', 'var(--t2)', m.numerical, m.numericalHalf),
    ];
  }

  draw() {
    const { g, w, h } = fit(this.picture),
      narrow = w < 500,
      colours = COLOURS.map(wordColour);
    g.clearRect(0, 0, w, h);
    const span = Math.max(SECONDS, this.time);
    PANELS.forEach((panel, i) => {
      const height = (h - 128) / 2;
      const box = {
        left: narrow ? 46 : 60,
        top: 32 + i * (height + 50),
        width: w - (narrow ? 60 : 84),
        height,
      };
      axes(
        g,
        box,
        { from: 0, to: span, label: i ? 'time, s' : '' },
        { from: -1.1, to: 1.1, label: 'x, m' },
      );
      const at = mapper(box, [0, span], [-1.1, 1.1]);
      clipped(g, box, () => {
        for (const r of this.runs) {
          if (r.panel !== panel) continue;
          const look = {
            stroke: colours[i],
            width: r.parts === 1 ? 2.8 : 1.8,
            dash: r.parts === 1 ? [] : [5, 4],
          };
          polyline(g, r.curve.map(at), look);
        }
      });
      words(g, panel.title, [box.left, box.top - 12], { fill: colours[i], size: 13, bold: true });
    });
    const text = narrow
      ? 'dashed: half the step'
      : `full line: ${stepText(this.h)}; dashed: half of it`;
    const place = [w - 22, narrow ? h / 2 - 46 : 18];
    words(g, text, place, { fill: css('--soft'), size: 12, align: 'right' });
  }
}

export default {
  id: 'damping',
  tab: 'Damping',
  title: 'Is that damping real?',
  colours: COLOURS,
  seconds: SECONDS,
  intro: `<p>Two swings fade. The <b class="t1">upper one</b> has a real brake: its scene asks
    for damping, as syrup would give it. The <b class="t2">lower one</b> has no brake at all. It
    is solved by backward Euler, and fades all the same. This is called <em>numerical
    damping</em>.</p>
    <p>On the screen they look alike. There is a simple test to tell them apart: do the same
    again with half the time step.</p>`,
  predict: {
    ask: 'Half the time step: what happens to the two dampings?',
    options: {
      neither: 'Both stay as they are',
      both: 'Both become about half as strong',
      numerical: 'The numerical one becomes half as strong, the real one stays',
      real: 'The real one becomes half as strong, the numerical one stays',
    },
    judge({ real, realHalf, numerical, numericalHalf }) {
      const half = (a, b) => Math.abs(b.rate / a.rate - 0.5) < 0.1,
        same = (a, b) => Math.abs(b.rate / a.rate - 1) < 0.1;
      const halved = { real: half(real, realHalf), numerical: half(numerical, numericalHalf) };
      const cases = {
        both: halved.real && halved.numerical,
        real: halved.real && same(numerical, numericalHalf),
        numerical: halved.numerical && same(real, realHalf),
      };
      const answer = firstTrue(cases, 'neither');
      const change = (a, b) => `from ${short(a.rate)} to ${short(b.rate)} per second`;
      return {
        answer,
        says:
          `Measured rates: real ${change(real, realHalf)}, numerical ` +
          `${change(numerical, numericalHalf)}.`,
      };
    },
  },
  tasks: [
    'Let the spring swing three times a second. The real damping hardly changes. The numerical ' +
      'one grows about eightfold: it kills fast motion first.',
    'Set the damping of the scene to zero. Implicit midpoint then swings forever.',
    'Find a time step at which backward Euler looks right. Then change how often it swings: the ' +
      'setting is wrong again.',
  ],
  why: `<p><b class="t1">Real damping</b> belongs to the scene. It has a size in newtons per
    metre per second, and what it takes in a second does not depend on how the second is
    divided.</p>
    <p><b class="t2">Numerical damping</b> belongs to the step. Each step of backward Euler
    swallows a part of the swing, and the part grows with the square of the step. Half the step:
    a quarter per step, twice as many steps, half as much per second.</p>
    <p>That is why a film of a jelly looks limp in the preview and lively in the final render,
    with the same settings. And it is why fast, small vibrations vanish first: they are the ones
    for which the step is long. Sometimes that is welcome. It should be a decision, not an
    accident.</p>`,
  equation: tex`\text{real: } \one{e^{-h d / 2m}} \qquad\qquad
    \text{numerical: } \two{\frac{1}{\sqrt{1 + h^2 k / m}}}`,
  terms: `The part of the swing that is left after one step. ${inline`h`} is the time step,
    ${inline`d`} the damping of the scene, ${inline`k`} the stiffness, ${inline`m`} the mass. In
    the first, ${inline`h`} only counts time. In the second, there is no ${inline`d`} at all.`,
  manual: { stability: 'The damping that methods add', integrators: 'Choosing an integrator' },
  papers: ['You2026', 'Dinev2018'],
  Experiment: Damping,
};
