// Chapter 1: one spring under three methods, and its orbits in the phase plane.
import { wordColour } from '../colours.js';
import { stepText } from '../controls.js';
import { axes, css, fit, oscillatorPhase, oscillatorScene } from '../point.js';
import { clipped, coil, dot, mapper, polyline, words } from './draw.js';
import { Experiment, firstTrue } from './experiment.js';

const K = 40; // N/m
const M = 1; // kg: one swing takes a second
const PERIOD = (2 * Math.PI) / Math.sqrt(K / M);
const METHODS = ['forward-euler', 'backward-euler', 'symplectic-euler'];
const NAMES = ['forward Euler', 'backward Euler', 'symplectic Euler'];
const percent = (v) => `${Math.round(100 * v)}\u00a0%`;
const EXPLODED = 1e6; // energies beyond that many times the first are not followed

class Spring extends Experiment {
  static controls = [
    {
      key: 'h',
      label: 'Time step',
      value: 1 / 30,
      values: [1 / 240, 1 / 120, 1 / 60, 1 / 30, 1 / 20, 1 / 10],
      text: stepText,
    },
  ];

  constructor(engine, host) {
    super(engine, host);
    this.picture = this.canvas('Three masses on springs, and their orbits in the phase plane');
    this.start();
  }

  get h() {
    return this.values.h;
  }

  start() {
    this.begin();
    this.runs = METHODS.map((name) => {
      const world = this.world(oscillatorScene({ k: K, m: M, d: 0, h: this.h }, name, {}));
      return {
        name,
        world,
        first: world.ledger().total,
        trail: [oscillatorPhase(world)],
        alive: true,
      };
    });
  }

  step() {
    this.steps++;
    for (const r of this.runs) {
      if (!r.alive) continue;
      r.alive = this.attempt(() => r.world.step(this.h)) && this.energy(r) < EXPLODED;
      r.trail.push(oscillatorPhase(r.world));
      if (r.trail.length > 1200) r.trail.shift();
    }
  }

  energy(r) {
    return r.world.ledger().total / r.first;
  }

  // How far the mass goes in the last swing, in parts of the first.
  reach(r) {
    const last = Math.ceil(PERIOD / this.h);
    return Math.max(...r.trail.slice(-last).map(([x]) => Math.abs(x)));
  }

  measure() {
    const of = (what) => Object.fromEntries(this.runs.map((r, i) => [METHODS[i], what(r)]));
    return {
      steps: this.steps,
      Y: (this.h ** 2 * K) / M,
      energy: of((r) => this.energy(r)),
      reach: of((r) => this.reach(r)),
    };
  }

  readout() {
    return this.runs.map((r, i) => ({
      colour: `var(--t${i + 1})`,
      name: NAMES[i],
      value: r.alive ? `swings ${percent(this.reach(r))} as far` : 'gone: exploded',
    }));
  }

  draw() {
    const { g, w, h } = fit(this.picture),
      narrow = w < 500,
      rows = 3 * 40 + 16;
    g.clearRect(0, 0, w, h);
    const colours = METHODS.map(wordColour);
    const middle = w / 2,
      metre = Math.min(w / 5, 130),
      wall = Math.max(14, middle - 2 * metre);
    polyline(
      g,
      [
        [wall, 12],
        [wall, rows - 4],
      ],
      { stroke: css('--soft'), width: 4 },
    );
    polyline(
      g,
      [
        [middle, 12],
        [middle, rows - 4],
      ],
      { stroke: css('--grid'), width: 1.5, dash: [4, 4] },
    );
    this.runs.forEach((r, i) => {
      const y = 32 + 40 * i,
        x = middle + metre * Math.max(-1.9, Math.min((w - 20 - middle) / metre, r.trail.at(-1)[0]));
      coil(g, wall, x - 13, y, css('--soft'));
      g.fillStyle = colours[i];
      g.beginPath();
      g.roundRect(x - 13, y - 13, 26, 26, 5);
      g.fill();
    });
    const box = {
      left: narrow ? 50 : 62,
      top: rows + 12,
      width: w - (narrow ? 62 : 84),
      height: h - rows - 62,
    };
    const X = 2.4,
      V = X * Math.sqrt(K / M),
      at = mapper(box, [-X, X], [-V, V]);
    axes(
      g,
      box,
      { from: -X, to: X, label: 'position, m' },
      { from: -V, to: V, label: 'velocity, m/s' },
    );
    clipped(g, box, () => {
      const turn = Array.from({ length: 121 }, (_, i) => (i * Math.PI) / 60);
      const circle = turn.map((a) => at([Math.cos(a), Math.sqrt(K / M) * Math.sin(a)]));
      polyline(g, circle, { stroke: css('--soft'), width: 5, alpha: 0.35 });
      this.runs.forEach((r, i) => {
        polyline(g, r.trail.map(at), { stroke: colours[i], width: 1.8 });
        dot(g, at(r.trail.at(-1)), 6, colours[i]);
      });
    });
    // on a phone the label of the axis needs the room below
    const below = narrow ? 14 : box.height + 30;
    words(g, 'grey: the true motion', [box.left + box.width, box.top + below], {
      fill: css('--soft'),
      size: 12,
      align: 'right',
    });
  }
}

export default {
  id: 'spring',
  tab: 'Spring',
  title: 'Why do simulations die, or explode?',
  colours: METHODS,
  seconds: 3,
  intro: `<p>A mass slides on ice, held by a spring. Nothing rubs, nothing brakes. Real physics
    would let it swing forever.</p>
    <p>A computer cannot follow it at every instant. It jumps from one picture to the next, here
    30 times a second. Each jump is a <em>time step</em>. There are several honest ways to take
    it. Three of them start side by side: <b class="t1">forward Euler</b>,
    <b class="t2">backward Euler</b> and <b class="t3">symplectic Euler</b>.</p>`,
  predict: {
    ask: 'After three swings, which mass still swings as far as at the start?',
    options: {
      all: 'All three: it is the same spring',
      forward: 'Only forward Euler',
      backward: 'Only backward Euler',
      symplectic: 'Only symplectic Euler',
    },
    judge({ reach }) {
      const keeps = METHODS.filter((name) => Math.abs(reach[name] - 1) < 0.15);
      const answer = keeps.length === 3 ? 'all' : keeps.join().split('-')[0];
      const says = METHODS.map((name, i) => `${NAMES[i]} ${percent(reach[name])}`).join(', ');
      return { answer, says: `Swing after three seconds: ${says} of the first.` };
    },
  },
  tasks: [
    'Make the time step four times shorter. The spirals get tighter. They do not go away.',
    'Make it longer. Symplectic Euler draws a leaning egg, but the egg stays closed.',
    'Press “Step” and watch single jumps: each one goes along a straight line.',
  ],
  why: `<p>The lower picture is the <em>phase plane</em>: position to the right, velocity
    upwards. The true motion goes round the grey oval forever. Distance from the centre is
    energy.</p>
    <p><b class="t1">Forward Euler</b> asks for the force at the <em>start</em> of a step and
    follows it in a straight line. On a curve, a straight line leads outside. So every step ends
    on a larger oval: the motion <em>explodes</em>.</p>
    <p><b class="t2">Backward Euler</b> takes the force at the <em>end</em> of the step. Run
    backwards in time it is forward Euler, so it spirals inwards: the motion <em>dies</em>. That
    loss is no friction. Nothing in the scene asked for it.</p>
    <p><b class="t3">Symplectic Euler</b> takes the old position for the velocity and then the
    <em>new</em> velocity for the position. What it wins on one side of the oval it loses on the
    other.</p>`,
  equation: tex`\begin{aligned}
    v_1 &= v_0 - h\,\tfrac{k}{m}\,\one{x_0} & x_1 &= x_0 + h\,\one{v_0} \\
    v_1 &= v_0 - h\,\tfrac{k}{m}\,\two{x_1} & x_1 &= x_0 + h\,\two{v_1} \\
    v_1 &= v_0 - h\,\tfrac{k}{m}\,\three{x_0} & x_1 &= x_0 + h\,\three{v_1} \\[1.2em]
    \one{E_1} &\one{= (1 + h^2 \tfrac{k}{m})\,E_0} & \two{E_1} &\two{= E_0 / (1 + h^2 \tfrac{k}{m})}
    \end{aligned}`,
  terms: `Old values have a 0, new ones a 1. ${inline`h`} is the time step, ${inline`k`} the
    stiffness, ${inline`m`} the mass, ${inline`E`} the energy. The three rows differ only in
    which ${inline`x`} and ${inline`v`} they take on the right: both old
    (<b class="t1">forward</b>), both new (<b class="t2">backward</b>), or one of each
    (<b class="t3">symplectic</b>). The last line is exact: forward Euler multiplies the energy
    in every step by what backward Euler divides it by.`,
  manual: { integrators: 'Choosing an integrator', theory: 'Theory, by paper' },
  papers: ['Gentle2025', 'Hairer2006'],
  Experiment: Spring,
};
