// Scenes of the playground: what they are called, what can be changed, and the scene itself in the
// language of scene files.
//
// `build(p)` makes the scene from the values of `controls` (and p.pins, p.contact). A control of
// kind `material`, `damping` or `gravity` acts while the scene runs; the others start it again.
// Units and explanations come from the engine's field tables; ranges here are the part of the
// allowed ones that is worth a slider.
//
// Scenes with `small(p)` have contact between bodies by size: `ipc` under Newton's method where
// that keeps up with the picture, springs between vertices under local/global where it does not.
// `room` is where planes keep a scene in the picture.

const box = (name, shape, material, more) => ({ name, shape, material, ...more });
const floor = (y = 0) => [{ type: 'plane', name: 'floor', point: [0, y, 0], normal: [0, 1, 0] }];
// `edge`: about the length of the surface's edges, which decides how far springs between vertices
// reach and how stiff they are: as stiff as what they push, since those that come into reach
// within a step of local/global make energy.
const contact = (p, edge, more = {}) => {
  if (p.contact !== 'penalty') return { type: 'ipc', ...more };
  const kappa = Number((p.E * edge).toPrecision(3));
  return { type: 'penalty', self: edge, kappa, dhat: 1e-3, ...more };
};
// n, n - 2, ..., least.
const evenDown = (n, least) =>
  Array.from({ length: (n - least) / 2 + 1 }, (_, i) => n - 2 * i);
// Where springs let anything happen, elements must be able to turn inside out and back.
const soft = (p) => (p.contact === 'penalty' ? 'corotated' : 'neo-hookean');
const walls = ({ x, z, floor: y }) => [
  ...floor(y),
  ...[
    ['left', [-x, 0, 0], [1, 0, 0]], ['right', [x, 0, 0], [-1, 0, 0]],
    ['back', [0, 0, -z], [0, 0, 1]], ['front', [0, 0, z], [0, 0, -1]],
  ].map(([name, point, normal]) => ({ type: 'plane', name, point, normal })),
];

const damping = (value, to = 5) => ({
  key: 'damping', label: 'Damping', damping: 'alpha', model: 'rayleigh', from: 0, to, value,
});
const gravity = {
  key: 'gravity', label: 'External force', gravity: true, unit: 'N/kg', from: 0, to: 20, step: 0.1,
  value: 9.8, about: 'Force per mass: the acceleration of free fall.',
};
const tilt = {
  key: 'tilt', label: 'Its direction', gravity: true, unit: '°', from: -90, to: 90, step: 1,
  value: 0, about: 'How far the force leans to the side.',
};
const young = (value, from, to) => ({
  key: 'E', label: 'Stiffness', material: 'E', of: 'neo-hookean', log: true, from, to, value,
});
const dampingModel = (p) => [{ type: 'rayleigh', alpha: p.damping, beta: 0 }];

export const gravityVector = (p) => {
  const a = (p.tilt || 0) * Math.PI / 180;
  return [p.gravity * Math.sin(a), -p.gravity * Math.cos(a), 0];
};

const localGlobal = { type: 'local-global', iterations: 10 };
const newton = { type: 'newton', tol: 1e-3, max_iterations: 60, linear: 'ldlt' };
const solver = (p) => (p.solver === 'local-global' && p.contact !== 'ipc' ? localGlobal : newton);

// What contact between bodies is by now; undefined for scenes that have no choice.
export const contactOf = (scene, p) => {
  if (!scene.small) return undefined;
  if (p.contact !== 'auto') return p.contact;
  return scene.small(p) ? 'ipc' : 'penalty';
};

export const scenes = {
  cloth: {
    title: 'Hanging cloth',
    about: 'A cloth of springs hangs from pins in a room. Grab it anywhere; set and remove pins, ' +
      'cut it: floor and walls keep what falls.',
    tools: ['grab', 'pin', 'cut'],
    integrator: 'a-search', h: 1 / 60, solver: 'local-global', solvers: ['local-global', 'newton'],
    camera: { at: [0.4, 0.2, 2.3], to: [0, -0.09, 0] },
    room: { x: 0.75, z: 0.5, floor: -0.6, top: 0.55 },
    controls: [
      {
        key: 'k', label: 'Stiffness', material: 'k', of: 'hooke', log: true, from: 20, to: 5000,
        value: 500,
      },
      damping(0.5), gravity, tilt,
      {
        key: 'n', label: 'Spacing', values: evenDown(50, 8), value: 24,
        text: (n) => `${(1000 / n).toFixed(0)} mm`,
        about: 'From a vertex to the next: the edge of 1 m over the number of cells.',
      },
      {
        key: 'diagonals', label: 'Springs', values: [0, 1], value: 1,
        text: (v) => (v ? 'with shear and bending' : 'structural only'),
        about: 'Structural springs join neighbours; others resist shear and bending.',
      },
    ],
    pins: (p) => [0, p.n / 2, p.n],
    vertices: (p) => (p.n + 1) ** 2,
    build: (p) => ({
      bodies: [box('cloth',
        {
          type: 'grid', width: 1, depth: 0.8, cells_x: p.n, cells_z: p.n,
          ...(p.diagonals ? {} : { shear: false, bend: false }),
        },
        { type: 'hooke', k: p.k, rho: 0.3 },
        {
          transform: { rotate: [[1, 0, 0], 62], translate: [0, 0.1, 0] },
          ...(p.springs ? { springs: p.springs } : {}),
          fix: p.pins.length ? [{ vertices: p.pins }] : [],
        })],
      contact: { type: 'penalty', kappa: 100, dhat: 5e-3, mu: 0.4 },
      obstacles: walls(scenes.cloth.room),
    }),
  },
  cube: {
    title: 'Spinning cube',
    about: 'A soft cube turns about a fixed edge [You2026, Fig. 8].',
    tools: ['grab'],
    integrator: 'a-search', h: 1 / 60, solver: 'newton', solvers: ['newton', 'local-global'],
    camera: { at: [0.1, 0.08, 0.5], to: [-0.05, -0.055, 0] },
    controls: [
      { ...young(5e4, 1e4, 1e6), of: 'corotated' }, damping(0), { ...gravity },
      {
        key: 'spin', label: 'Spin', unit: 'rad/s', from: 0, to: 30, step: 1, value: 15,
        about: 'How fast it turns at first.',
      },
      {
        key: 'n', label: 'Resolution', unit: 'cells', from: 2, to: 8, step: 1, value: 5,
        about: 'Cells along each edge of the cube.',
      },
    ],
    build: (p) => ({
      bodies: [box('cube', { type: 'box', size: [0.1, 0.1, 0.1], cells: [p.n, p.n, p.n] },
        { type: 'corotated', E: p.E, nu: 0.3, rho: 1000 },
        {
          velocity: { angular: [0, 0, p.spin], about: [-0.05, -0.05, 0] },
          fix: [{ box: [[-0.051, -0.051, -1], [-0.049, -0.049, 1]] }],
        })],
    }),
  },
  bar: {
    title: 'Twisted bar',
    about: 'A bar, wound up and let go: clamped at its left end, it unwinds and keeps turning.',
    tools: ['grab'],
    integrator: 'a-search', h: 1 / 120, solver: 'newton', solvers: ['newton', 'local-global'],
    camera: { at: [0.5, 0.35, 1.25], to: [0.4, -0.05, 0] },
    controls: [
      young(1e5, 3e4, 2e6), damping(0), { ...gravity, value: 0 },
      {
        key: 'twist', label: 'Twist', unit: '°', from: 0, to: 720, step: 15, value: 180,
        about: 'Turn of the free end at first.',
      },
      {
        key: 'n', label: 'Resolution', unit: 'cells', from: 8, to: 30, step: 2, value: 16,
        about: 'Cells along the bar.',
      },
    ],
    build: (p) => ({
      bodies: [box('bar',
        { type: 'bar', length: 0.8, height: 0.14, width: 0.14, cells: p.n, across: 3 },
        { type: 'stable-neo-hookean', E: p.E, nu: 0.4, rho: 1000 },
        { deform: { twist: p.twist }, fix: [{ box: [[-1, -1, -1], [0.001, 1, 1]] }] })],
    }),
  },
  bunny: {
    title: 'Jelly bunny', smooth: true,
    about: 'Bunnies of jelly fall on the floor, and on each other. Pull one by the ears.',
    tools: ['grab'],
    integrator: 'a-search', h: 1 / 60, solver: 'local-global', solvers: ['local-global', 'newton'],
    camera: { at: [0.1, 0.25, 0.68], to: [0, 0.12, 0] },
    room: { x: 0.3, z: 0.22, floor: 0, top: 0.03 },
    small: (p) => p.n <= 8 && p.count <= 2,
    controls: [
      { ...young(6e4, 2e4, 4e5), of: 'corotated' }, damping(1), gravity,
      {
        key: 'count', label: 'Bunnies', unit: '', from: 1, to: 3, step: 1, value: 1,
        about: 'How many fall.',
      },
      {
        key: 'n', label: 'Resolution', unit: 'cells', values: [8, 15, 16, 18, 20], value: 15,
        about: 'Cells along the height of a bunny; 8 are too coarse for ears.',
      },
    ],
    build: (p) => ({
      contact: contact(p, 0.2 / p.n, { mu: 0.3 }),
      bodies: Array.from({ length: p.count }, (_, i) => box(`bunny${i}`,
        { type: 'figure', of: 'bunny', size: 0.2, cells: p.n },
        { type: 'corotated', E: p.E, nu: 0.3, rho: 1000 },
        {
          transform: {
            rotate: [[0, 1, 0], -25 + 130 * i], translate: [0.01 * i, 0.04 + 0.22 * i, 0],
          },
        })),
      obstacles: walls(scenes.bunny.room),
    }),
  },
  balls: {
    title: 'Bouncing balls', smooth: true,
    about: 'Three balls of growing stiffness fall from 40 cm [You2026, Fig. 10]. Under backward ' +
      'Euler they stay down; with energy control they keep bouncing.',
    tools: ['grab'],
    integrator: 'a-search', h: 1 / 120, solver: 'local-global', solvers: ['local-global', 'newton'],
    camera: { at: [0.1, 0.42, 1.2], to: [0, 0.22, 0] },
    room: { x: 0.4, z: 0.25, floor: 0, top: 0.04 },
    small: (p) => p.n <= 2,
    controls: [
      young(5e4, 3e4, 1e6), damping(0), gravity,
      {
        key: 'n', label: 'Resolution', unit: 'layers', from: 1, to: 5, step: 1, value: 2,
        about: 'Layers of tets from the centre to the surface.',
      },
    ],
    build: (p) => ({
      contact: contact(p, 0.05 / p.n),
      bodies: [1, 4, 16].map((factor, i) => box(`ball${i}`,
        { type: 'ball', radius: 0.05, cells: p.n },
        { type: soft(p), E: p.E * factor, nu: 0.3, rho: 1000 },
        { transform: { translate: [0.2 * (i - 1), 0.45, 0] } })),
      obstacles: walls(scenes.balls.room),
    }),
    scale: [1, 4, 16],
  },
  dice: {
    title: 'Dice with friction',
    about: 'Three soft dice roll over the floor. With friction they stop, without it they slide ' +
      'to the wall [You2026, Fig. 12].',
    tools: ['grab'],
    integrator: 'a-search', h: 1 / 120, solver: 'local-global', solvers: ['local-global', 'newton'],
    camera: { at: [0.12, 0.42, 1.0], to: [0, 0.12, 0] },
    room: { x: 0.5, z: 0.3, floor: 0, top: 0.04 },
    small: (p) => p.n <= 2,
    controls: [
      young(3e5, 1e5, 2e6), damping(0.5), { ...gravity },
      {
        key: 'mu', label: 'Friction', unit: '', from: 0, to: 1, step: 0.05, value: 0.3,
        about: 'Coefficient of friction of the dice and the floor.',
      },
      {
        key: 'n', label: 'Resolution', unit: 'layers', from: 1, to: 4, step: 1, value: 2,
        about: 'Layers of cells from the centre to the faces.',
      },
    ],
    build: (p) => ({
      contact: contact(p, 0.05 / p.n, { mu: p.mu }),
      bodies: [[[1, 2, 1], 25], [[2, 1, 3], 40], [[1, 0, 2], 28]].map((rotate, i) => box(`die${i}`,
        { type: 'die', size: 0.1, radius: 0.015, cells: p.n },
        { type: soft(p), E: p.E, nu: 0.3, rho: 1000 },
        {
          transform: { rotate, translate: [0.02 * i - 0.02, 0.14 + 0.16 * i, 0.03 * i - 0.03] },
          velocity: { linear: [0.5, 0, 0], angular: [0, 0, -4], about: [0, 0.2, 0] },
        })),
      obstacles: walls(scenes.dice.room),
    }),
  },
};

export const defaults = (scene) => Object.fromEntries(scene.controls.map((c) => [c.key, c.value]));

// The whole scene file: what `build` leaves open is the same for all.
export function sceneFile(scene, values, integrator, parameters) {
  if (scene.own) {
    const time = { ...scene.own.time, h: values.h };
    return { ...scene.own, time, integrator: { type: integrator, ...parameters } };
  }
  const p = { ...values, contact: contactOf(scene, values) };
  return {
    brio: 1, title: scene.title, time: { h: p.h },
    gravity: gravityVector(p), damping: dampingModel(p),
    integrator: { type: integrator, ...parameters },
    solver: solver(p),
    ...scene.build(p),
  };
}
