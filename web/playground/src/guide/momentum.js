// Chapter 6: a soft bar spins in empty space under three methods.
import { Chart } from '../charts.js';
import { wordColour } from '../colours.js';
import { Experiment, firstTrue } from './experiment.js';
import { Stage } from './stage.js';

const H = 1 / 30;
const SPIN = 10; // rad/s
const RUNS = [
  { name: 'backward Euler', integrator: { type: 'backward-euler' }, colour: 'backward-euler' },
  {
    name: 'A-search, energy only',
    integrator: { type: 'a-search', momentum: false },
    colour: 'a-search',
  },
  {
    name: 'A-search with momentum',
    integrator: { type: 'a-search', momentum: true },
    colour: 'implicit-midpoint',
  },
];
const percent = (v, digits = 0) => `${(100 * v).toFixed(digits)}\u00a0%`;

class Momentum extends Experiment {
  static controls = [
    { key: 'E', label: 'Stiffness', unit: 'Pa', value: 1e4, log: true, from: 5e3, to: 2e5 },
  ];

  constructor(engine, host) {
    super(engine, host);
    const names = RUNS.map(({ name }, i) => ({ text: name, colour: `var(--t${i + 1})` }));
    this.picture = new Stage(
      this.stage,
      names,
      { at: [0, 0.2, 0.78], to: [0, 0, 0] },
      { size: 0.5 },
    );
    this.chart = new Chart(this.side, {
      title: 'Angular momentum',
      unit: '% of the start',
      window: 8,
      series: RUNS.map(({ name, colour }) => ({
        label: name,
        colour: () => wordColour(colour),
        width: 2,
      })),
    });
    this.start();
  }

  get h() {
    return H;
  }

  start() {
    this.begin();
    this.runs = RUNS.map(({ integrator }) =>
      this.world({
        brio: 1,
        time: { h: H },
        gravity: [0, 0, 0],
        integrator,
        solver: { type: 'newton', tol: 1e-6, linear: 'ldlt' },
        bodies: [
          {
            name: 'bar',
            shape: { type: 'box', size: [0.4, 0.1, 0.1], cells: [8, 2, 2] },
            material: { type: 'corotated', E: this.values.E, nu: 0.3, rho: 1000 },
            velocity: { angular: [0, 0, SPIN], about: [0, 0, 0] },
          },
        ],
      }),
    );
    this.first = this.runs.map((w) => w.ledger());
    this.lows = [1, 1, 1];
    this.highs = [1, 1, 1];
    this.chart.clear();
    this.picture.show(this.runs);
    this.note();
  }

  step() {
    this.steps++;
    this.runs.forEach((w) => this.attempt(() => w.step(H)));
    this.note();
  }

  spin(i) {
    return this.runs[i].ledger().angular[2] / this.first[i].angular[2];
  }

  note() {
    const spins = RUNS.map((_, i) => this.spin(i));
    this.lows = this.lows.map((v, i) => Math.min(v, spins[i]));
    this.highs = this.highs.map((v, i) => Math.max(v, spins[i]));
    this.chart.add(
      this.time,
      spins.map((v) => 100 * v),
    );
  }

  measure() {
    return {
      spin: RUNS.map((_, i) => this.spin(i)),
      lows: this.lows,
      highs: this.highs,
      energy: this.runs.map((w, i) => w.ledger().total / this.first[i].total),
    };
  }

  readout() {
    const m = this.measure();
    return RUNS.map(({ name }, i) => ({
      colour: `var(--t${i + 1})`,
      name,
      value: `spin ${percent(m.spin[i], 1)}, energy ${percent(m.energy[i])}`,
    }));
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
  id: 'momentum',
  tab: 'Momentum',
  title: 'Who stops a body that nothing touches?',
  colours: RUNS.map((r) => r.colour),
  seconds: 3,
  intro: `<p>A soft bar turns in empty space, one and a half times a second. There is no air, no
    floor, no friction. Its spin, the <em>angular momentum</em>, cannot change: there is nothing
    to give it to.</p>
    <p>Three methods compute it. <b class="t1">Backward Euler</b> you know.
    <b class="t2">A-search</b> keeps the energy, as in the last chapter. The
    <b class="t3">third</b> is A-search again, and it watches the spin, too.</p>`,
  predict: {
    ask: 'After three seconds, which of them still has the spin of the start, exactly?',
    options: {
      all: 'All three: nothing touches the bar',
      energy: 'Both that keep the energy',
      momentum: 'Only the one that watches the spin',
      none: 'None of them',
    },
    judge({ lows, highs, spin }) {
      const keeps = lows.map((low, i) => low > 1 - 1e-9 && highs[i] < 1 + 1e-9);
      const answer = firstTrue({ all: keeps[0], energy: keeps[1], momentum: keeps[2] }, 'none');
      const range = `${percent(lows[1], 1)} and ${percent(highs[1], 1)}`;
      return {
        answer,
        says:
          `Spin: backward Euler has ${percent(spin[0])} left; with energy alone it was ` +
          `between ${range}; with momentum ${percent(spin[2], 1)}.`,
      };
    },
  },
  tasks: [
    'Make the bar stiffer. Backward Euler loses its spin all the same: that does not come from ' +
      'the material.',
    'Turn a picture with the mouse, and look at how the bars bend. The spin of the second is ' +
      'traded against this ringing.',
    'Watch the numbers of the third bar: it keeps both.',
  ],
  why: `<p>A point that goes straight on for a step leaves its circle. The springs of the bar
    pull it back, but they pull from the <em>end</em> of the step, where they point in a
    slightly different direction. <b class="t1">Backward Euler</b> loses a little spin each
    time, and a lot in a second. Spinning things slow down in its world as if they were in
    honey.</p>
    <p><b class="t2">Energy alone</b> does not cure it. A bar can ring instead of turning and
    have the same energy: spin becomes ringing and ringing becomes spin.</p>
    <p>So the <b class="t3">third method</b> first computes which spin the forces of the step
    allow (none from outside: the same as before) and adds the rotation that is missing. The
    energy is met as before. Both are kept, to the last digits of the computer’s numbers.</p>`,
  equation: tex`\three{L} = \sum_i m_i\; x_i \times v_i
    \qquad \three{L_1 = L_0}
    \quad\text{and}\quad \two{E_1 = E_{\text{target}}}`,
  terms: `<b class="t3">L</b> is the angular momentum: over all points, the mass times the
    position crossed with the velocity. <b class="t2">E</b> is the energy. To keep one of them
    says nothing about the other.`,
  manual: { results: 'Momenta in the results', integrators: 'Something that spins' },
  papers: ['You2026', 'Kharevych2006'],
  Experiment: Momentum,
};
