// Chapter 5: a soft cube swings about an edge under A-search, whose energy is a dial.
import { Chart, short } from '../charts.js';
import { wordColour } from '../colours.js';
import { sceneFile, scenes } from '../scenes.js';
import { Experiment, firstTrue } from './experiment.js';
import { Stage } from './stage.js';

const H = 1 / 60;
const TURN = 1; // s: when the dial is turned in the question
const FADE = 1.5; // s: decay time of the choice "fade"
const WINDOW = 8; // s of the curve
const base = {
  spin: 10,
  n: 3,
  E: 5e4,
  damping: 0,
  gravity: 9.8,
  solver: 'newton',
  contact: 'auto',
  h: H,
};

class Energy extends Experiment {
  static controls = [
    {
      key: 'mode',
      label: 'Energy',
      value: 'dial',
      choices: [
        { value: 'dial', text: 'As the dial says' },
        { value: 'fade', text: 'Fades in 1.5 s' },
        { value: 'euler', text: 'As backward Euler likes' },
      ],
    },
    {
      key: 'level',
      label: 'The dial',
      value: 1,
      from: 0,
      to: 1.5,
      step: 0.05,
      text: (v) => `${Math.round(100 * v)} % of the start`,
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    const camera = { at: [0.02, 0.02, 0.42], to: [-0.05, -0.06, 0] };
    this.picture = new Stage(this.stage, [{ text: 'a-search', colour: 'var(--t1)' }], camera, {
      size: 0.28,
    });
    this.chart = new Chart(this.side, {
      title: 'Energy above rest',
      unit: 'J',
      window: WINDOW,
      series: [
        { label: 'total', colour: () => wordColour('a-search'), width: 2.2 },
        { label: 'target', colour: () => wordColour('target'), dash: [6, 4] },
      ],
    });
    this.start();
  }

  get h() {
    return H;
  }

  file(type, values) {
    return sceneFile(scenes.cube, base, type, values);
  }

  // What the energies are measured from: the cube that hangs still.
  start() {
    this.begin();
    const settled = this.world(this.file('backward-euler', {}));
    const first = settled.ledger().total;
    settled.settle();
    this.rest = settled.ledger().total;
    this.atStart = first - this.rest;
    const { mode } = this.values,
      control = { gain: 1.05, ground: this.rest, ...(mode === 'fade' ? { decay: FADE } : {}) };
    this.cube = this.world(
      mode === 'euler' ? this.file('backward-euler', {}) : this.file('a-search', control),
    );
    this.picture.views[0].badge.textContent = mode === 'euler' ? 'backward Euler' : 'A-search';
    this.turned = false;
    if (this.asked) this.turn(1);
    this.chart.clear();
    this.aim();
    this.picture.show([this.cube]);
    this.note();
  }

  set(key, value) {
    this.values[key] = value;
    if (key === 'level' && this.values.mode === 'dial') this.aim();
    else this.start();
  }

  aim() {
    if (this.values.mode === 'dial')
      this.cube.setTarget(this.rest + this.values.level * this.atStart);
  }

  turn(level) {
    this.values.level = level;
    this.onChange?.('level', level);
    this.aim();
  }

  // In the question the dial is turned to one half on the way.
  step() {
    if (this.asked && !this.turned && this.time >= TURN - 1e-9) {
      this.turned = true;
      this.turn(0.5);
    }
    this.steps++;
    this.attempt(() => this.cube.step(H));
    this.note();
  }

  above() {
    return this.cube.ledger().total - this.rest;
  }

  note() {
    const { target } = this.cube.ledger();
    this.chart.add(this.time, [this.above(), Number.isFinite(target) ? target - this.rest : NaN]);
  }

  measure() {
    return {
      first: this.atStart,
      now: this.above(),
      left: this.above() / this.atStart,
      time: this.time,
    };
  }

  readout() {
    const { mode, level } = this.values,
      target = this.cube.ledger().target - this.rest;
    return [
      { colour: 'var(--t1)', name: 'Energy above rest', value: `${short(this.above())} J` },
      {
        colour: 'var(--t2)',
        name: mode === 'dial' ? `Dial at ${Math.round(100 * level)}\u00a0%` : 'Target',
        value: mode === 'euler' ? 'none' : `${short(target)} J`,
      },
    ];
  }

  draw() {
    this.picture.draw([this.cube]);
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
  id: 'energy',
  tab: 'Energy',
  title: 'Can you simply set the energy?',
  colours: ['a-search', 'target', 'backward-euler'],
  seconds: 4,
  intro: `<p>Backward Euler decides by itself how much motion it swallows. Other methods keep
    too much, and explode. What if the energy were something you <em>set</em>, like the volume
    of a radio?</p>
    <p>Here is a soft cube that swings about one edge under <b class="t1">A-search</b>, with a
    dial for its energy. The dashed line is <b class="t2">the target</b>.</p>`,
  predict: {
    ask: 'One second after the start the dial is turned down to one half. What will the cube do?',
    options: {
      nothing: 'Nothing: energy is conserved, a dial cannot change it',
      stop: 'Lose more and more until it hangs still',
      half: 'Come down to half of its energy and stay there',
      wild: 'Shake wildly: the method fights the physics',
    },
    judge({ left, now, first }) {
      const cases = { half: Math.abs(left - 0.5) < 0.05, wild: left > 1.2, nothing: left > 0.8 };
      const answer = firstTrue(cases, 'stop');
      return {
        answer,
        says:
          `It began with ${short(first)} J above rest and has ${short(now)} J after four ` +
          `seconds.`,
      };
    },
  },
  tasks: [
    'Move the dial while it swings, up and down. The curve follows within a swing or so.',
    'Choose “Fades in 1.5 s”. The energy then falls by the same fraction in every second, ' +
      'whatever the time step is.',
    'Choose backward Euler and compare. Nobody set that curve.',
  ],
  why: `<p><b class="t1">A-search</b> takes the positions of backward Euler, which are safe:
    nothing explodes, nothing passes through anything. It changes only the <em>velocities</em>.
    There is one knob, <b class="t1">α</b>: at 0 it is backward Euler, at 1 it gives back what
    backward Euler swallows. In every step the method looks for the α at which the energy meets
    the <b class="t2">target</b>. That is one quadratic equation, solved by a formula.</p>
    <p>The target is yours: keep it, let it fade, or turn it by hand. “Above rest” means: above
    the energy of the cube that hangs still. That one cannot be taken away.</p>`,
  equation: tex`\begin{gathered}
    v_1 = w - \one{\alpha}\,\Delta v
    \qquad \text{with } \one{\alpha} \text{ such that} \\[0.5em]
    P(x_1) + \tfrac12\, m\, \lvert w - \one{\alpha}\, \Delta v \rvert^2 = \two{E_{\text{target}}}
    \end{gathered}`,
  terms: `${inline`w`} is the velocity of backward Euler, ${inline`\Delta v`} what it has
    swallowed: the time step times the change of the acceleration. ${inline`P(x_1)`} is the
    energy that is stored in the new positions, ${inline`m`} the mass.`,
  manual: { integrators: 'Choosing an integrator', theory: 'Energy as something you set' },
  papers: ['You2026'],
  Experiment: Energy,
};
