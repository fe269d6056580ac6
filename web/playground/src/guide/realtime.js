// Chapter 8: a cloth that falls, solved by a few iterations and to the end.
import { Chart } from '../charts.js';
import { wordColour } from '../colours.js';
import { Experiment, firstTrue } from './experiment.js';
import { Stage } from './stage.js';

const H = 1 / 60;
const N = 12; // cells along an edge
const SECONDS = 0.4;
const SLOWLY = 3;
const COLOURS = ['backward-euler', 'a-search'];
const percent = (v) => `${Math.round(100 * v)}\u00a0%`;

const scene = (solver, k) => ({
  brio: 1,
  time: { h: H },
  integrator: 'backward-euler',
  solver,
  bodies: [
    {
      name: 'cloth',
      shape: { type: 'grid', width: 1, depth: 1, cells_x: N, cells_z: N },
      material: { type: 'hooke', k, rho: 0.3 },
      fix: [{ vertices: [0, N] }],
    },
  ],
});

class RealTime extends Experiment {
  static controls = [
    {
      key: 'iterations',
      label: 'Iterations per step',
      value: 10,
      values: [1, 3, 10, 30, 100, 300],
      text: (v) => String(v),
    },
    {
      key: 'k',
      label: 'Stiffness of the threads',
      unit: 'N/m',
      value: 1000,
      log: true,
      from: 100,
      to: 5000,
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    const names = [
      { text: '10 iterations', colour: 'var(--t1)' },
      { text: 'solved to the end', colour: 'var(--t2)' },
    ];
    this.picture = new Stage(
      this.stage,
      names,
      { at: [0.9, 0.55, 2.3], to: [0, -0.4, 0] },
      { size: 1 },
    );
    this.chart = new Chart(this.side, {
      title: 'How far the cloth has fallen',
      unit: 'm',
      window: 3,
      series: [
        { label: 'few iterations', colour: () => wordColour(COLOURS[0]), width: 2 },
        { label: 'solved', colour: () => wordColour(COLOURS[1]), width: 2 },
      ],
    });
    this.start();
  }

  get h() {
    return H;
  }
  get pace() {
    return SLOWLY * H;
  }

  start() {
    this.begin();
    const { iterations, k } = this.values;
    this.runs = [
      { type: 'local-global', iterations },
      { type: 'newton', tol: 1e-4, linear: 'ldlt' },
    ].map((s) => this.world(scene(s, k)));
    this.height = this.runs.map((w) => w.ledger().centre[1]);
    this.spent = [0, 0];
    const plural = iterations === 1 ? '' : 's';
    this.picture.views[0].badge.textContent = `${iterations} iteration${plural}`;
    this.chart.clear();
    this.picture.show(this.runs);
    this.note();
  }

  step() {
    this.steps++;
    this.runs.forEach((w, i) => {
      const begin = performance.now();
      this.attempt(() => w.step(H));
      this.spent[i] += performance.now() - begin;
    });
    this.note();
  }

  // How far the centre of mass has come down, m.
  fallen(i) {
    return this.height[i] - this.runs[i].ledger().centre[1];
  }

  note() {
    this.chart.add(this.time, [this.fallen(0), this.fallen(1)]);
  }

  measure() {
    const l = this.runs.map((w) => w.ledger());
    return {
      fallen: [this.fallen(0), this.fallen(1)],
      kinetic: l.map((r) => r.kinetic),
      elastic: l.map((r) => r.elastic),
      share: this.fallen(0) / this.fallen(1),
      milliseconds: this.spent.map((s) => s / Math.max(1, this.steps)),
    };
  }

  readout() {
    const m = this.measure(),
      row = (i, name) => ({
        colour: `var(--t${i + 1})`,
        name,
        value: `fallen ${m.fallen[i].toFixed(2)} m; ${m.milliseconds[i].toFixed(1)} ms per step`,
      });
    return [row(0, 'Few iterations'), row(1, 'Solved')];
  }

  draw() {
    this.picture.draw(this.runs);
    const now = performance.now();
    if (now - (this.drawn ?? 0) < 90) return;
    this.drawn = now;
    this.chart.draw();
  }

  resize() {
    this.picture.resize();
    this.chart.resize();
  }

  retint() {
    this.picture.retint();
    this.chart.make();
  }

  dispose() {
    super.dispose();
    this.picture.dispose();
    this.chart.dispose();
  }
}

export default {
  id: 'realtime',
  tab: 'Real time',
  title: 'What do ten iterations leave out?',
  colours: COLOURS,
  seconds: SECONDS,
  intro: `<p>A game has a sixtieth of a second for each step, and physics gets a few
    milliseconds of it. There is no time to search until the lowest point is found. So real-time
    engines stop the search after a fixed number of <em>iterations</em>, often ten.</p>
    <p>Here a cloth that lies flat is let go at all but two corners. <b class="t1">On the
    left</b> the engine takes ten iterations per step, <b class="t2">on the right</b> as many as
    it needs.</p>`,
  predict: {
    ask: 'How will the cloth on the left fall?',
    options: {
      same: 'The same: ten are plenty',
      fast: 'Faster, and it overshoots',
      slow: 'More slowly, as if through honey',
      wild: 'It explodes',
    },
    judge({ share, fallen }) {
      const answer = firstTrue(
        { wild: !(share < 2), fast: share > 1.1, slow: share < 0.9 },
        'same',
      );
      const [a, b] = fallen.map((v) => `${(100 * v).toFixed(0)} cm`);
      return {
        answer,
        says:
          `After 0.4 s its middle has come down by ${a}, on the right by ${b}: ` +
          `${percent(share)} of the way.`,
      };
    },
  },
  tasks: [
    'Raise the iterations to 100, then 300. The left cloth catches up, and the milliseconds grow.',
    'Make the threads softer: ten iterations are better now. Stiffer: far worse. What is stiff ' +
      'needs more iterations.',
    'Let it run on. The left cloth comes to rest sooner, and it hangs as deep as it should: ' +
      'what is lost is motion, not the shape at rest.',
  ],
  why: `<p>Each iteration has two halves. <em>Local</em>: every thread says, on its own, how it
    would like to lie at its proper length. <em>Global</em>: one linear system, the same in
    every step, brings all wishes together. It never fails, and it costs the same each time.</p>
    <p>But a thread can only wish for the direction in which it points <em>now</em>. To turn it
    takes several rounds, and a stiff thread gives way little in each. Stop early, and part of
    the turn is missing. In the next step it is missing again. The cloth falls as if something
    held it.</p>
    <p>Nobody sees an error: it looks like a heavier, lazier cloth. If you tune its material by
    eye, you tune the number of iterations.</p>`,
  equation: tex`\begin{gathered}
    (M + h^2 L)\; \one{x^{(j+1)}} = M\,(x_0 + h v_0) + h^2 J\, p(\one{x^{(j)}}) \\[0.6em]
    \one{x^{(0)},\; x^{(1)},\; \dots,\; x^{(10)}} \;\longrightarrow\; \cdots \;\longrightarrow\;
    \two{x^{(\infty)}}
    \end{gathered}`,
  terms: `${inline`p(x)`} are the wishes of the threads, ${inline`L`} and ${inline`J`} add them
    up, ${inline`M`} are the masses, ${inline`h`} is the time step. The bracket on the left is
    the same in every step: it is prepared once. <b class="t1">Ten rounds</b> give
    ${inline`x^{(10)}`}; <b class="t2">the solution</b> is where the sequence leads to.`,
  manual: { 'local-global': 'Local/global solves: a fixed cost per frame' },
  papers: ['Liu2013', 'Bouaziz2014'],
  Experiment: RealTime,
};
