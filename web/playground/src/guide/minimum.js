// Chapter 3: one step of backward Euler as the lowest point of a curve. The potential that is drawn
// is asked of the engine point by point, and the engine's own step lands on the minimum.
import { short } from '../charts.js';
import { wordColour } from '../colours.js';
import { axes, css, fit } from '../point.js';
import { clipped, dot, mapper, polyline, words } from './draw.js';
import { Experiment } from './experiment.js';

const M = 1; // kg
const SPAN = 2.2; // m, to both sides
const SAMPLES = 221;
const LONG = 0.6; // s: the long step of the question
const WAIT = 0.9; // s of the page between two steps

const base = (h) => ({
  brio: 1,
  time: { h },
  gravity: [0, 0, 0],
  integrator: 'backward-euler',
  solver: { type: 'newton', tol: 1e-12, linear: 'ldlt' },
});
// A mass at (x, 0) on a spring to the origin; or between two posts at (0, 1) and (0, -1), on
// springs
// that are too long for the middle: it snaps to one side or the other.
const toys = {
  spring: (h) => ({
    ...base(h),
    bodies: [
      {
        name: 'mass',
        kind: 'points',
        shape: { type: 'line', length: 1, cells: 1 },
        material: { type: 'mass', vertex_mass: M },
        fix: [{ vertices: [0] }],
        attach: [{ vertices: [1], k: 40, point: [0, 0, 0] }],
      },
    ],
  }),
  snap: (h) => ({
    ...base(h),
    bodies: [
      {
        name: 'mass',
        kind: 'springs',
        material: { type: 'hooke', k: 60, vertex_mass: M },
        mesh: { positions: [0, 1, 0, 1, 0, 0, 0, -1, 0], edges: [0, 1, 1, 2] },
        springs: [
          [0, 1, 60, Math.SQRT2],
          [1, 2, 60, Math.SQRT2],
        ],
        fix: [{ vertices: [0, 2] }],
      },
    ],
  }),
};

class Minimum extends Experiment {
  static controls = [
    { key: 'h', label: 'Time step', unit: 's', value: LONG, log: true, from: 0.02, to: 2 },
    { key: 'v', label: 'Velocity at the start', unit: 'm/s', value: 3, from: -6, to: 6, step: 0.5 },
    {
      key: 'toy',
      label: 'What pulls',
      value: 'spring',
      choices: [
        { value: 'spring', text: 'A spring' },
        { value: 'snap', text: 'Two springs that snap' },
      ],
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    this.picture = this.canvas('The curve whose lowest point is the next position');
    this.start();
  }

  get h() {
    return this.values.h;
  }
  get pace() {
    return WAIT;
  }

  start() {
    this.begin();
    this.mass = this.world(toys[this.values.toy](this.h));
    const probe = this.world(toys[this.values.toy](this.h));
    this.potential = Array.from({ length: SAMPLES }, (_, i) => {
      const x = SPAN * ((2 * i) / (SAMPLES - 1) - 1);
      this.place(probe, x);
      return [x, probe.ledger().potential];
    });
    this.place(this.mass, 1, this.values.v);
    this.prepare();
    this.landed = null;
  }

  // Vertex 1 is the mass.
  place(world, x, v = 0) {
    const all = Array.from(world.positions('mass')),
      speeds = Array.from(world.velocities('mass'));
    all.splice(3, 3, x, 0, 0);
    speeds.splice(3, 3, v, 0, 0);
    world.setPositions('mass', all);
    world.setVelocities('mass', speeds);
  }

  // What the next step will minimise.
  prepare() {
    this.x = this.mass.positions()[3];
    this.guess = this.x + this.h * this.mass.velocities()[3];
    this.inertia = (x) => (M / (2 * this.h ** 2)) * (x - this.guess) ** 2;
    this.sum = this.potential.map(([x, p]) => [x, p + this.inertia(x)]);
  }

  step() {
    this.steps++;
    this.prepare();
    this.from = this.x;
    this.attempt(() => this.mass.step(this.h));
    this.landed = this.mass.positions()[3];
  }

  // The lowest point of the drawn curve: of the parabola through its lowest sample and neighbours.
  lowest() {
    let i = 1;
    for (let k = 1; k + 1 < this.sum.length; k++) if (this.sum[k][1] < this.sum[i][1]) i = k;
    const [[x0, a], [x1, b], [, c]] = this.sum.slice(i - 1, i + 2),
      d = x1 - x0;
    return x1 + (0.5 * d * (a - c)) / (a - 2 * b + c);
  }

  measure() {
    return {
      from: this.from ?? this.x,
      guess: this.guess,
      landed: this.landed,
      lowest: this.lowest(),
      Y: (this.h ** 2 * 40) / M,
    };
  }

  readout() {
    return [
      {
        colour: 'var(--t1)',
        name: 'Without forces it would go to',
        value: `${short(this.guess)} m`,
      },
      {
        colour: 'var(--t3)',
        name: this.landed === null ? 'Lowest point of the sum' : 'The engine went to',
        value: `${short(this.landed ?? this.lowest())} m`,
      },
    ];
  }

  draw() {
    const { g, w, h } = fit(this.picture),
      narrow = w < 500;
    g.clearRect(0, 0, w, h);
    const [orange, blue, ink] = ['backward-euler', 'elastic', '#6d3fb8'].map(wordColour),
      track = 84;
    const box = {
      left: narrow ? 50 : 62,
      top: 18,
      width: w - (narrow ? 62 : 84),
      height: h - 70 - track,
    };
    const now = this.landed ?? this.x,
      top = Math.max(
        60,
        1.25 * Math.max(this.at(this.sum, this.from ?? this.x), this.at(this.potential, 1.4)),
      );
    axes(
      g,
      box,
      { from: -SPAN, to: SPAN, label: 'position, m' },
      { from: 0, to: top, label: 'energy, J' },
    );
    const at = mapper(box, [-SPAN, SPAN], [0, top]),
      line = (list) => list.map(at);
    clipped(g, box, () => {
      polyline(g, line(this.sum.map(([x]) => [x, this.inertia(x)])), {
        stroke: orange,
        width: 2.5,
      });
      polyline(g, line(this.potential), { stroke: blue, width: 2.5 });
      polyline(g, line(this.sum), { stroke: ink, width: 3.5 });
    });
    const low = this.lowest(),
      goal = at([low, this.at(this.sum, low)]),
      ground = h - 34;
    polyline(g, [goal, [goal[0], ground]], { stroke: ink, width: 1.5, dash: [4, 4] });
    dot(g, goal, 7, ink);
    this.drawTrack(g, (x) => at([x, 0])[0], ground, { now, orange, ink });
    const tags = [
      ['going straight on', orange],
      [this.values.toy === 'snap' ? 'the springs' : 'the spring', blue],
      ['their sum', ink],
    ];
    tags.forEach(([text, fill], i) =>
      words(g, text, [box.left + box.width / 2, box.top + 14 + 18 * i], {
        fill,
        size: 13,
        bold: true,
        align: 'center',
      }),
    );
  }

  drawTrack(g, px, y, { now, orange, ink }) {
    polyline(
      g,
      [
        [px(-SPAN), y + 15],
        [px(SPAN), y + 15],
      ],
      { stroke: css('--grid'), width: 2 },
    );
    polyline(
      g,
      [
        [px(0), y],
        [px(now), y],
      ],
      { stroke: css('--soft'), width: 3 },
    );
    dot(g, [px(0), y], 5, css('--soft'));
    const ghost = Math.max(-SPAN, Math.min(SPAN, this.guess));
    g.setLineDash([3, 3]);
    g.strokeStyle = orange;
    g.lineWidth = 2;
    g.strokeRect(px(ghost) - 11, y - 11, 22, 22);
    g.setLineDash([]);
    if (this.guess > SPAN) words(g, '→', [px(ghost), y], { fill: orange, align: 'center' });
    g.fillStyle = this.landed === null ? css('--ink') : ink;
    g.beginPath();
    g.roundRect(px(now) - 11, y - 11, 22, 22, 4);
    g.fill();
  }

  at(list, x) {
    const i = Math.max(0, Math.min(SAMPLES - 1, Math.round(((x / SPAN + 1) * (SAMPLES - 1)) / 2)));
    return list[i][1];
  }
}

export default {
  id: 'minimum',
  tab: 'Minimum',
  title: 'What does an implicit step look for?',
  colours: ['backward-euler', 'elastic', '#6d3fb8'],
  seconds: LONG,
  intro: `<p>Backward Euler takes the force at the end of the step. But where is the end? The
    force depends on the answer. Such methods are called <em>implicit</em>, and they have to
    search.</p>
    <p>What they search for can be drawn. <b class="t1">One curve</b> is low where the mass
    would get by going straight on. <b class="t2">The other</b> is low where the spring is at
    rest. The step goes to the lowest point of <b class="t3">their sum</b>.</p>`,
  predict: {
    ask:
      'Take a huge step: 0.6 s, more than half a swing, at 3 m/s to the right. Where does ' +
      'the mass land?',
    options: {
      far: 'Far out: it overshoots and explodes',
      straight: 'Where it would go without a spring, at 2.8 m',
      start: 'About where it started, at 1 m',
      rest: 'Close to the rest position of the spring, at 0 m',
    },
    judge({ landed, guess }) {
      const near = { rest: 0, start: 1, straight: guess };
      const [answer, place] = Object.entries(near).sort(
        ([, a], [, b]) => Math.abs(a - landed) - Math.abs(b - landed),
      )[0];
      return {
        answer: Math.abs(landed - place) < 0.5 ? answer : 'far',
        says:
          `The engine went to ${short(landed)} m. Without a spring it would have gone to ` +
          `${short(guess)} m.`,
      };
    },
  },
  tasks: [
    'Press “Step” again and again. A few long steps lead to rest; nothing can explode, because ' +
      'every step goes downhill.',
    'Make the time step short. The first curve gets steep and wins: the mass goes almost ' +
      'straight on, as it should.',
    'Take the two springs that snap. The sum may now have two valleys, and the step has to ' +
      'choose one.',
  ],
  why: `<p>The <b class="t1">first curve</b> is a parabola around the place where the mass would
    get without forces. The longer the step, the flatter it is. The <b class="t2">second
    curve</b> is the energy of the spring, and no step changes it.</p>
    <p>So a short step follows the motion, and a long step follows the spring to its rest. That
    one picture explains both sides of backward Euler: it cannot explode, since there always is
    a lowest point, and it swallows motion, since long steps end at rest.</p>
    <p>Here the search is along one line. For a body of a thousand vertices the curve becomes a
    landscape of three thousand dimensions. The search is the same: go downhill until it is
    flat. brio does it by Newton’s method.</p>`,
  equation: tex`\three{x_1} = \operatorname*{arg\,min}_{x}\;
    \one{\frac{m}{2 h^2}\,\bigl(x - (x_0 + h v_0)\bigr)^2} \;+\; \two{P(x)}`,
  terms: `arg min: the ${inline`x`} at which what follows is lowest. ${inline`x_0`} and
    ${inline`v_0`} are position and velocity before the step, ${inline`h`} the time step,
    ${inline`m`} the mass, <b class="t2">P</b> the energy of the spring. Where the slope of the
    sum is zero, mass times acceleration equals force: that is Newton’s law again.`,
  manual: { notation: 'The mathematics, in one notation', design: 'The one primitive' },
  papers: ['Kharevych2006', 'Gast2015'],
  Experiment: Minimum,
};
