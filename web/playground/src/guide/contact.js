// Chapter 7: a fast ball and a thin cloth, under penalty springs and under a barrier.
import { short } from '../charts.js';
import { wordColour } from '../colours.js';
import { stepText } from '../controls.js';
import { axes, fit } from '../point.js';
import { clipped, mapper, polyline, words } from './draw.js';
import { Experiment, firstTrue } from './experiment.js';
import { piercings } from './pierce.js';
import { Stage } from './stage.js';

const N = 10; // cells of the cloth along an edge
const RADIUS = 0.06; // m, of the ball
const STEPS = 8; // until the question is judged
const SLOWLY = 0.22; // s of the page for each step
const LAWS = [
  {
    key: 'penalty',
    name: 'penalty springs',
    contact: { type: 'penalty', self: 0.05, dhat: 5e-3, kappa: 2e3 },
  },
  { key: 'barrier', name: 'barrier', contact: { type: 'ipc', dhat: 2e-3 } },
];
const COLOURS = ['backward-euler', 'a-search'];

const rim = Array.from({ length: (N + 1) ** 2 }, (_, v) => v).filter(
  (v) => [0, N].includes(v % (N + 1)) || [0, N].includes(Math.floor(v / (N + 1))),
);

const scene = (contact, { speed, h }) => ({
  brio: 1,
  time: { h },
  gravity: [0, 0, 0],
  integrator: 'backward-euler',
  contact,
  solver: { type: 'newton', tol: 1e-3, linear: 'ldlt', max_iterations: 100 },
  bodies: [
    {
      name: 'cloth',
      shape: { type: 'grid', width: 0.5, depth: 0.5, cells_x: N, cells_z: N },
      material: { type: 'hooke', k: 400, rho: 0.3 },
      transform: { rotate: [[0, 0, 1], 90] },
      fix: [{ vertices: rim }],
    },
    {
      name: 'ball',
      shape: { type: 'ball', radius: RADIUS, cells: 2 },
      material: { type: 'neo-hookean', E: 1e5, nu: 0.3, rho: 300 },
      transform: { translate: [-0.2, 0, 0] },
      velocity: { linear: [speed, 0, 0] },
    },
  ],
});

class Contact extends Experiment {
  static controls = [
    { key: 'speed', label: 'Speed of the ball', unit: 'm/s', value: 20, from: 1, to: 40, step: 1 },
    {
      key: 'h',
      label: 'Time step',
      value: 1 / 120,
      values: [1 / 960, 1 / 480, 1 / 240, 1 / 120, 1 / 60],
      text: stepText,
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    const names = LAWS.map(({ name }, i) => ({ text: name, colour: `var(--t${i + 1})` }));
    this.picture = new Stage(
      this.stage,
      names,
      { at: [-0.28, 0.3, 1.02], to: [0.03, 0, 0] },
      { size: 0.5, smooth: true },
    );
    const plot = document.createElement('div');
    plot.className = 'small-plot';
    this.side.append(plot);
    this.curves = this.canvas('Energy of both laws over the distance', plot);
    this.start();
  }

  get h() {
    return this.values.h;
  }
  get pace() {
    return SLOWLY * this.h * 120;
  }

  start() {
    this.begin();
    this.runs = LAWS.map(({ contact }) => this.world(scene(contact, this.values)));
    this.pierced = LAWS.map(() => 0);
    this.nearest = Infinity;
    this.picture.show(this.runs);
  }

  step() {
    this.steps++;
    this.runs.forEach((w, i) => {
      this.attempt(() => w.step(this.h));
      this.pierced[i] = Math.max(this.pierced[i], piercings(w, 'ball', 'cloth'));
    });
    const { minDistance } = this.runs[1].ledger();
    if (minDistance > 0) this.nearest = Math.min(this.nearest, minDistance);
  }

  // Where the middle of the ball is, m; the cloth hangs at 0.
  middle(w) {
    const x = w.positions('ball');
    let sum = 0;
    for (let k = 0; k < x.length; k += 3) sum += x[k];
    return sum / (x.length / 3);
  }

  measure() {
    const of = (f) => Object.fromEntries(LAWS.map(({ key }, i) => [key, f(this.runs[i], i)]));
    return {
      middle: of((w) => this.middle(w)),
      pierced: of((_, i) => this.pierced[i]),
      nearest: this.nearest,
      perStep: this.values.speed * this.h,
      through: of((w) => this.middle(w) > 0.3),
      back: of((w) => this.middle(w) < 0 && w.time > 0),
    };
  }

  readout() {
    const rows = this.runs.map((w, i) => ({
      colour: `var(--t${i + 1})`,
      name: LAWS[i].name,
      value:
        `ball at ${short(Number((100 * this.middle(w)).toFixed(0)))} cm, ` +
        `${this.pierced[i]} edges passed through the cloth`,
    }));
    return [
      ...rows,
      {
        name: 'The ball flies per step',
        value: `${short(100 * this.values.speed * this.h)} cm; it is 12 cm thick`,
      },
    ];
  }

  draw() {
    this.picture.draw(this.runs);
    this.drawLaws();
  }

  // Energy over distance, both in parts of their reach.
  drawLaws() {
    const { g, w, h } = fit(this.curves),
      colours = COLOURS.map(wordColour);
    g.clearRect(0, 0, w, h);
    const box = { left: 46, top: 12, width: w - 60, height: h - 56 };
    axes(
      g,
      box,
      { from: -0.4, to: 1.2, label: 'distance, in parts of the reach' },
      { from: 0, to: 1.5, label: 'energy' },
    );
    const at = mapper(box, [-0.4, 1.2], [0, 1.5]),
      line = (f, from) =>
        Array.from({ length: 200 }, (_, k) => from + ((1.2 - from) * k) / 199).map((d) =>
          at([d, f(d)]),
        );
    clipped(g, box, () => {
      polyline(
        g,
        line((d) => (d < 1 ? 0.5 * (1 - d) ** 2 : 0), -0.4),
        { stroke: colours[0], width: 2.5 },
      );
      polyline(
        g,
        line((d) => (d < 1 ? -((d - 1) ** 2) * Math.log(d) : 0), 1e-4),
        { stroke: colours[1], width: 2.5 },
      );
      polyline(g, [at([0, 0]), at([0, 1.5])], { stroke: colours[1], width: 1.2, dash: [3, 4] });
    });
    words(g, 'inside each other', [at([-0.38, 1.4])[0], box.top + 12], { size: 12 });
  }

  resize() {
    this.picture.resize();
    this.drawLaws();
  }

  retint() {
    this.picture.retint();
    this.draw();
  }

  dispose() {
    super.dispose();
    this.picture.dispose();
  }
}

export default {
  id: 'contact',
  tab: 'Contact',
  title: 'Why do things fall through each other?',
  colours: COLOURS,
  seconds: STEPS / 120,
  intro: `<p>A ball flies at a cloth at 20 m/s. A step takes 1/120 s, and the ball moves 17 cm
    in it: more than its own thickness. In one picture it is in front of the cloth, in the next
    one it would be behind.</p>
    <p>The simulation has to push back. <b class="t1">Penalty springs</b> push what has come too
    close. A <b class="t2">barrier</b> has an energy that becomes infinite where two surfaces
    touch. You see both in slow motion.</p>`,
  predict: {
    ask: 'Which of them stops the ball?',
    options: {
      both: 'Both: pushing is pushing',
      penalty: 'Only the penalty springs',
      barrier: 'Only the barrier',
      none: 'Neither, at this speed',
    },
    judge({ through, pierced }) {
      const holds = {
        penalty: !through.penalty && !pierced.penalty,
        barrier: !through.barrier && !pierced.barrier,
      };
      const answer = firstTrue({ both: holds.penalty && holds.barrier, ...holds }, 'none');
      const told = (key) =>
        firstTrue({ 'let the ball through': through[key], 'was pierced': pierced[key] }, 'held');
      return {
        answer,
        says:
          `The penalty springs: ${told('penalty')}; at worst ${pierced.penalty} edges of ` +
          `the ball were through the cloth. The barrier: ${told('barrier')}; ` +
          `${pierced.barrier} edges.`,
      };
    },
  },
  tasks: [
    'Slow the ball down to 3 m/s. Now the penalty springs hold, too.',
    'Keep 20 m/s and make the time step eight times shorter. The springs still give way: what ' +
      'they can hold is limited, however well you look.',
    'Take 40 m/s and the longest step. The barrier still holds.',
  ],
  why: `<p>A <b class="t1">penalty spring</b> works like any spring: it has an energy where
    things overlap, and that energy is <em>finite</em>. A body that is fast enough can pay for
    it, and then it is through. On the other side the spring pushes it further.</p>
    <p>The <b class="t2">barrier</b> rises without end as the distance goes to zero. No speed
    can pay an infinite energy. The search of chapter 3 then stays on its side of the wall, with
    one precaution: before each move of the search the engine computes the first instant at
    which anything on the way would touch, and stops short of it. So at <em>no</em> instant is
    there an intersection.</p>
    <p>The price is time: the search takes more iterations while things touch.</p>`,
  equation: tex`\begin{aligned}
    \one{E_{\text{penalty}}(d)} &\one{= \tfrac12\,\kappa\,(\hat d - d)^2} \\
    \two{E_{\text{barrier}}(d)} &\two{= -\kappa\,(d - \hat d)^2 \,\ln\frac{d}{\hat d}}
    \end{aligned}`,
  terms: `Both act for ${inline`d < \hat d`} only. ${inline`d`} is the distance,
    ${inline`\hat d`} the reach within which contact acts, ${inline`\kappa`} (kappa) how hard it
    pushes. At ${inline`d = 0`} the first is a number, the second is infinite.`,
  manual: { contact: 'Contact', guarantees: 'What is guaranteed' },
  papers: ['Li2020'],
  Experiment: Contact,
};
