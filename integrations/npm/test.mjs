// The package brio-engine as its users have it: installed into an empty folder, in Node.js and in
// Chromium.
//   node test.mjs BUILD_DIR [NAME... | -NAME...]
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { findBrowser, skip } from '../../web/browser.mjs';
import { check, runCases, test } from '../../web/cases.mjs';

const here = dirname(fileURLToPath(import.meta.url)),
  root = join(here, '..', '..');
const build = resolve(process.argv[2] ?? join(root, 'build'));
const tarball = existsSync(join(build, 'npm'))
  ? readdirSync(join(build, 'npm')).find((n) => n.endsWith('.tgz'))
  : undefined;
if (!tarball) skip('the package is not made; make npm');
if (!existsSync(join(here, 'node_modules', 'typescript')))
  skip('typescript is not installed; make playground');

// ---- the installed package ----------------------------------------------------------------------

const folder = mkdtempSync(join(tmpdir(), 'brio-npm-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
execFileSync(
  'npm',
  [
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    join(build, 'npm', tarball),
  ],
  { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
);
const installed = join(folder, 'node_modules', 'brio-engine');
// What a user of the example installs next to it.
symlinkSync(join(here, 'node_modules', 'three'), join(folder, 'node_modules', 'three'));
mkdirSync(join(folder, 'node_modules', '@types'));
for (const name of ['three', 'node'])
  symlinkSync(
    join(here, 'node_modules', '@types', name),
    join(folder, 'node_modules', '@types', name),
  );

const { createEngine, BrioError } = await import(pathToFileURL(join(installed, 'node.js')));
const brio = await createEngine({ threads: 1 });

test('version_is_that_of_the_header', async () => {
  const header = readFileSync(join(root, 'include', 'brio', 'brio.h'), 'utf8');
  const [, major, minor, patch] = /MAJOR (\d+)[\s\S]*?MINOR (\d+)[\s\S]*?PATCH (\d+)/.exec(header),
    version = `${major}.${minor}.${patch}`;
  const said = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  check(
    said.version === version &&
      brio.version === version &&
      tarball === `brio-engine-${version}.tgz`,
    `${said.version}, ${brio.version}, ${tarball}`,
  );
  check(!said.dependencies, 'the package has dependencies');
});

// Rows "| name | MB | MB gzipped |" of the README against what is there: 3 % off is wrong.
test('sizes_are_those_of_the_readme', async () => {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8'),
    rows = [...readme.matchAll(/^\| `([^`]+)` \| ([\d.]+) \| ([\d.–-]+) \|/gm)];
  const bytes = (name) =>
    name.endsWith('.tgz')
      ? [statSync(join(build, 'npm', tarball)).size]
      : name === '*.js'
        ? scripts()
        : [readFileSync(join(installed, name))].map((b) => [
            b.length,
            gzipSync(b, { level: 9 }).length,
          ])[0];
  const scripts = () =>
    ['index.js', 'api.js', 'world.js', 'scene.js', 'native.js', 'errors.js', 'engine.js']
      .map((n) => readFileSync(join(installed, n)))
      .reduce(([a, z], b) => [a + b.length, z + gzipSync(b, { level: 9 }).length], [0, 0]);
  check(rows.length === 5, `the README has ${rows.length} rows of sizes`);
  for (const [, name, plain, zipped] of rows) {
    const is = bytes(name);
    for (const [k, stated] of [plain, zipped].entries()) {
      if (is[k] === undefined) continue;
      const mb = is[k] / 1e6;
      console.log(`${name}: ${mb.toFixed(3)} MB${k ? ' gzipped' : ''}, stated ${stated}`);
      check(
        Math.abs(Number(stated) - mb) <= Math.max(0.03 * mb, 0.001),
        `${name} has ${mb} MB, the README says ${stated}`,
      );
    }
  }
});

test('api_page_is_made_of_the_types', async () => {
  const made = execFileSync('node', [join(here, 'docs.mjs'), '--print'], { encoding: 'utf8' });
  check(
    made === readFileSync(join(root, 'docs', 'javascript.md'), 'utf8'),
    'docs/javascript.md differs: node integrations/npm/docs.mjs makes it',
  );
});

// The types name what there is, and nothing else.
test('types_name_every_member', async () => {
  const types = readFileSync(join(installed, 'index.d.ts'), 'utf8'),
    world = brio.world(jelly());
  const body = (name) =>
    new RegExp(`^export (?:interface|class) ${name} [^]*?^}`, 'm').exec(types)[0];
  const declared = (name) =>
    new Set([...body(name).matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]/gm)].map((m) => m[1]));
  const there = (object) =>
    new Set(
      [...Object.getOwnPropertyNames(Object.getPrototypeOf(object)), ...Object.keys(object)].filter(
        (n) => n !== 'constructor' && n[0] !== '_',
      ),
    );
  const hand = world.grabVertex('ball', 0),
    oscillator = brio.oscillator('backward-euler');
  for (const [name, object] of [
    ['Engine', brio],
    ['World', world],
    ['Hand', hand],
    ['Oscillator', oscillator],
  ]) {
    const [a, b] = [declared(name), there(object)];
    const lacks = [...b].filter((n) => !a.has(n)),
      extra = [...a].filter((n) => !b.has(n));
    check(
      !lacks.length && !extra.length,
      `${name}: the types lack ${lacks}, and have ${extra} which is not there`,
    );
  }
  oscillator.dispose();
  world.dispose();
});

const tsc = (...args) =>
  spawnSync('node', [join(here, 'node_modules', 'typescript', 'bin', 'tsc'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
test('tsc_strict_accepts_the_examples', async () => {
  cpSync(join(installed, 'examples'), join(folder, 'examples'), { recursive: true });
  // copies lie elsewhere: the worker names the module by its place
  const worker = join(folder, 'examples', 'worker', 'worker.js');
  writeFileSync(worker, readFileSync(worker, 'utf8').replace('../../index.js', 'brio-engine'));
  const options = {
    strict: true,
    noEmit: true,
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom'],
    types: ['node'],
  };
  const project = (files) =>
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files }),
    );
  project([
    'examples/three/main.js',
    'examples/worker/main.js',
    'examples/worker/worker.js',
    'examples/node/headless.mjs',
  ]);
  const good = tsc('-p', '.');
  check(good.status === 0, good.stdout);
  writeFileSync(
    join(folder, 'wrong.ts'),
    "import { createEngine } from 'brio-engine';\n" +
      'const w = (await createEngine()).world({ bodies: [] });\n' +
      "w.step('1/60');\nw.positions(1).push(2);\nw.nothing();\n" +
      "w.edit({ add: { materials: { soft: 'rubber' } } });\nexport {};\n",
  );
  project(['wrong.ts']);
  const bad = tsc('-p', '.').stdout;
  check((bad.match(/error TS/g) ?? []).length === 4, `four errors were wanted: ${bad}`);
  console.log('four files accepted; four errors found in wrong.ts');
});

test('node_example_runs', async () => {
  const ran = spawnSync('node', [join(installed, 'examples', 'node', 'headless.mjs')], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120000,
  });
  console.log(ran.stdout.trim());
  check(
    ran.status === 0 && /gem meets floor/.test(ran.stdout) && /after 1.00 s/.test(ran.stdout),
    ran.stderr || ran.stdout,
  );
});

// ---- worlds -------------------------------------------------------------------------------------

const floor = { type: 'plane', name: 'floor', normal: [0, 1, 0] };
const jelly = () => ({
  time: { h: 1 / 60 },
  contact: { type: 'ipc' },
  integrator: 'backward-euler',
  materials: { soft: { type: 'neo-hookean', E: 2e4, nu: 0.3, rho: 1000 } },
  bodies: [
    {
      name: 'ball',
      shape: { type: 'ball', radius: 0.1, cells: 1 },
      material: 'soft',
      transform: { translate: [0, 0.15, 0] },
    },
  ],
  obstacles: [floor],
});
const cloth = (n = 8) => ({
  time: { h: '1/60' },
  solver: { type: 'local-global' },
  bodies: [
    {
      name: 'cloth',
      shape: { type: 'grid', cells_x: n, cells_z: n },
      material: { type: 'hooke', k: 500, rho: 0.3 },
      fix: [{ vertices: new Uint16Array([0, n]) }],
    },
  ],
});
const same = (a, b) => a.length === b.length && a.every((v, i) => Object.is(v, b[i]));
const cube = {
  positions: new Float64Array(
    [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1].map((v) => 0.1 * v),
  ),
  triangles: new Uint32Array([
    0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3,
    5, 3, 7, 5,
  ]),
};

test('meshes_of_typed_arrays_are_those_of_files', async () => {
  const first = brio.world(jelly()),
    positions = first.positions('ball').slice(),
    tets = first.tets('ball').slice();
  // rows of an ASCII file of Gmsh, numbered from 1
  const rows = (list, width, row) =>
    [...Array(list.length / width).keys()]
      .map((k) => `${k + 1} ${row(Array.from(list.slice(width * k, width * k + width)))}`)
      .join('\n');
  const msh = [
    '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes',
    positions.length / 3,
    rows(positions, 3, (x) => x.join(' ')),
    '$EndNodes\n$Elements',
    tets.length / 4,
    rows(tets, 4, (v) => `4 0 ${v.map((k) => k + 1).join(' ')}`),
    '$EndElements\n',
  ].join('\n');
  const body = (mesh) => ({ ...jelly(), bodies: [{ name: 'ball', mesh, material: 'soft' }] });
  const arrays = brio.world(body({ positions, tets })),
    file = brio.world(body('meshes/ball.msh'), { files: { 'meshes/ball.msh': msh } });
  check(arrays.vertices('ball') === positions.length / 3, 'other vertices');
  for (const w of [first, arrays, file]) w.step(1 / 60, 20);
  check(same(arrays.positions('ball'), file.positions('ball')), 'arrays and file give other bits');
  const way = Math.max(
    ...arrays.positions('ball').map((x, i) => Math.abs(x - first.positions('ball')[i])),
  );
  console.log(
    `arrays and file: the same bits after 20 steps; off the shape ${way.toExponential(1)} m`,
  );
  check(way < 1e-6, `${way} m from the shape`);
  check(
    same(Float32Array.from(arrays.positions('ball')), arrays.draw('ball').positions),
    'draw has other positions',
  );
  const { normals, triangles } = arrays.draw('ball');
  for (const v of triangles)
    check(
      Math.abs(Math.hypot(...normals.slice(3 * v, 3 * v + 3)) - 1) < 1e-6,
      `the normal of vertex ${v} is no unit vector`,
    );
  const springs = brio.world({
    bodies: [
      {
        name: 'net',
        kind: 'springs',
        mesh: { positions: [0, 0, 0, 1, 0, 0, 2, 0, 0], edges: [0, 1, 1, 2] },
        springs: [
          [0, 1, 50, 1],
          [1, 2, 70, 0.9],
        ],
        material: { type: 'hooke', k: 1, vertex_mass: 0.1 },
      },
    ],
  });
  check(
    Math.abs(springs.ledger().elastic - 0.5 * 70 * 0.01) < 1e-12,
    `springs from numbers: ${springs.ledger().elastic} J`,
  );
  for (const w of [first, arrays, file, springs]) w.dispose();
});

test('views_are_made_anew_when_memory_grows', async () => {
  const engine = await createEngine({ threads: 1 }),
    world = engine.world(cloth()),
    before = world.positions('cloth'),
    memory = engine.memory;
  check(
    before === world.positions('cloth') &&
      world.draw('cloth').normals === world.draw('cloth').normals,
    'a view is created again without need',
  );
  const copy = before.slice(),
    large = [];
  while (engine.memory === memory) large.push(engine.world(cloth(60)));
  const after = world.positions('cloth');
  check(before.length === 0 && after !== before && same(after, copy), 'the view is not a new one');
  check(
    after.buffer.byteLength === engine.memory && world.triangles('cloth').buffer === after.buffer,
    'views of other memory',
  );
  console.log(
    `${large.length} worlds more: ${memory / 2 ** 20} -> ${engine.memory / 2 ** 20} MB; ` +
      'the old view is detached, the new one has the same numbers',
  );
  engine.dispose();
});

// Steps need memory as well, as the manual says: triangles of a first frame are copied.
test('views_may_end_in_a_step', async () => {
  const engine = await createEngine({ threads: 1 }),
    world = engine.world(cloth(96)),
    { triangles } = world.draw('cloth'),
    copy = triangles.slice(),
    { memory } = engine;
  world.step();
  check(engine.memory > memory, 'the step needs no more memory: take a larger cloth');
  check(!triangles.length && same(world.draw('cloth').triangles, copy), 'other triangles');
  const example = readFileSync(join(installed, 'examples', 'three', 'main.js'), 'utf8');
  check(/triangles\.slice\(\)/.test(example), 'the example keeps a view');
  engine.dispose();
});

// What a call is given may be a view of the memory that grows in this call.
test('views_are_given_back', async () => {
  const engine = await createEngine({ threads: 1 }),
    world = engine.world(cloth(140));
  let grown = 0;
  for (let n = 0; n < 1000 && !grown; n++) {
    const view = world.positions('cloth'),
      copy = view.slice(),
      { memory } = engine;
    world.setPositions('cloth', view);
    check(same(world.positions('cloth'), copy), 'the positions are others');
    grown += engine.memory !== memory;
    engine.world(cloth(4)); // a little less is left
  }
  check(grown, 'memory has not grown in the call');
  engine.dispose();
});

test('memory_stays_over_many_worlds', async () => {
  const engine = await createEngine({ threads: 1 }),
    cycle = () => {
      const w = engine.world(cloth(4));
      w.step();
      w.draw('cloth');
      w.dispose();
    };
  for (let n = 0; n < 20; n++) cycle();
  const memory = engine.memory;
  for (let n = 0; n < 500; n++) cycle();
  check(engine.memory === memory, `${memory} -> ${engine.memory} bytes`);
  engine.dispose();
});

test('hands_materials_methods_and_checkpoints', async () => {
  const world = brio.world(cloth()),
    vertex = 40;
  world.step(1 / 60, 10);
  const hand = world.grab({ x: 0, y: 2, z: 0 }, [0, -1, 0]);
  check(hand && hand.hit[1] < 0 && hand.state.body === 'cloth', 'the ray meets nothing');
  check(world.grab([5, 2, 0], [0, -1, 0]) === null, 'a ray next to the cloth meets something');
  hand.drag([0, 0.3, 0]);
  world.step(1 / 60, 30);
  check(world.positions('cloth')[3 * vertex + 1] > 0, 'the cloth does not follow');
  hand.release();
  check(hand.state === null, 'it still holds');
  const { elastic } = world.ledger();
  world.setMaterial('cloth', { k: 1000 });
  check(
    Math.abs(world.ledger().elastic / elastic - 2) < 1e-9 &&
      world.materialValue('cloth', 'k') === 1000 &&
      world.material('cloth') === 'hooke',
    'twice the stiffness is not twice the energy',
  );
  world.setMethod({ type: 'a-search', decay: 5 });
  check(
    world.method === 'a-search' &&
      world.methods()['a-search'] === '' &&
      /does not/.test(world.methods().rk4 + brioRefusal(world)),
    'the method is another',
  );
  world.setGravity(new Float32Array([0, 0, 0]));
  check(world.ledger().gravity === 0, 'gravity is still there');
  const saved = world.save();
  world.step(1 / 60, 5);
  const end = world.positions().slice();
  world.restore(saved);
  world.step(1 / 60, 5);
  check(same(world.positions(), end), 'a checkpoint leads elsewhere');
  const x = world.positions('cloth').map((v, i) => (i % 3 === 1 ? v + 0.5 : v));
  world.setPositions('cloth', x);
  world.setVelocities('cloth', new Float64Array(x.length));
  check(
    Math.abs(world.positions('cloth')[3 * vertex + 1] - x[3 * vertex + 1]) < 1e-15 &&
      world.ledger().kinetic === 0,
    'the state was not set',
  );
  check(
    brio.stableLimit('symplectic-euler') > 1.99 && brio.stableLimit('backward-euler') === Infinity,
    'limits of methods',
  );
  world.dispose();
});
// A sentence of a method that this world does not take.
const brioRefusal = (world) => Object.values(world.methods()).find(Boolean) ?? '';

test('bodies_obstacles_pins_and_cuts_at_run_time', async () => {
  const world = brio.world(jelly());
  world.step(1 / 60, 5);
  const x = world.positions('ball').slice(),
    books = () => {
      const l = world.ledger();
      return l.total - l.added + l.dissipated - l.remainder;
    };
  const first = books();
  check(
    world.addBody({
      name: 'crate',
      mesh: cube,
      kind: 'affine',
      material: { type: 'affine', E: 1e6, rho: 500 },
      transform: { translate: [-0.05, 0.5, -0.05] },
    }) === 'crate',
    'the body has another name',
  );
  check(
    world.addBody({
      shape: { type: 'box', size: [0.1, 0.1, 0.1], cells: [2, 2, 2] },
      material: 'soft',
      transform: { translate: [1, 0.3, 0] },
    }) === 'body0',
    'a body without a name',
  );
  check(
    world.addObstacle({
      name: 'table',
      type: 'mesh',
      mesh: cube,
      transform: { translate: [0.95, 0.01, -0.05] },
    }) === 'table',
    'the obstacle has another name',
  );
  check(
    same(world.positions('ball'), x) &&
      world.bodies.join() === 'ball,crate,body0' &&
      world.obstacles.join() === 'floor,table',
    `${world.bodies}; ${world.obstacles}`,
  );
  world.noteContacts();
  const met = new Set();
  for (let n = 0; n < 60; n++) {
    world.moveObstacle('table', { translate: [0, 0.0005 * n, 0] });
    world.step();
    for (const c of world.contacts()) met.add(`${c.a} ${c.b}`);
  }
  console.log(`met: ${[...met].join(', ')}; books ${(books() - first).toExponential(1)} J`);
  check(met.has('ball floor') && met.has('body0 table') && met.has('ball crate'), 'not all met');
  check(Math.abs(books() - first) < 1e-9, 'the books do not balance');
  check(
    Math.abs(
      Math.max(...world.drawObstacle('table').positions.filter((_, i) => i % 3 === 1)) - 0.1395,
    ) < 1e-6,
    'the table is elsewhere',
  );
  world.fix('ball', [0, 1]);
  check(world.fixed('ball')[0] === 1 && world.fixed('ball')[2] === 0, 'not fixed');
  world.unfix('ball', [0]);
  check(world.fixed('ball')[0] === 0, 'not freed');
  const refused = brio.world(jelly());
  refused.edit({
    remove: { obstacles: ['floor'] },
    add: {
      bodies: [
        {
          name: 'bar',
          shape: { type: 'bar' },
          material: 'soft',
          transform: { translate: [0, 3, 0] },
        },
      ],
      forces: [{ name: 'wind', type: 'constant', force: [1, 0, 0] }],
    },
  });
  refused.setForce('wind', 0.5);
  check(refused.obstacles[0] === '' && refused.bodies.length === 2, 'an edit of several parts');
  refused.removeBody('bar');
  check(refused.bodies[1] === '', 'the body is still there');
  const sheet = brio.world(cloth()),
    springs = sheet.edges('cloth').length;
  sheet.cut('cloth', [0.01, 0, 0], [1, 0, 0]);
  check(sheet.edges('cloth').length < springs, 'nothing was cut');
  for (const w of [world, refused, sheet]) (w.step(), w.dispose());
});

// Vectors as objects, in scenes and in edits.
test('vectors_have_x_y_and_z', async () => {
  const vector = (x, y, z) => ({ x, y, z }),
    { soft } = jelly().materials,
    scene = (v) => ({
      ...jelly(),
      materials: { ...jelly().materials, x: soft, y: soft, z: soft }, // no vector
      gravity: v(0, -5, 0),
      bodies: [{ ...jelly().bodies[0], transform: { translate: v(0, 0.3, 0) } }],
    }),
    worlds = [brio.world(scene(vector)), brio.world(scene((...list) => list))];
  for (const w of worlds) w.step(1 / 60, 3);
  worlds[0].edit({ cut: [{ body: 'ball', point: vector(0, 0.3, 0), normal: vector(1, 0, 0) }] });
  worlds[1].cut('ball', [0, 0.3, 0], [1, 0, 0]);
  for (const w of worlds) w.step();
  check(same(worlds[0].positions(), worlds[1].positions()), 'objects and lists give other bits');
  for (const w of worlds) w.dispose();
});

// Constraints and forces are read like all other keys; hinge and ball keep together.
test('constraints_and_forces_of_scenes', async () => {
  const wood = { type: 'affine', E: 1e8, rho: 600 },
    box = (name, x, more = {}) => ({
      name,
      shape: { type: 'box', size: [0.4, 0.1, 0.1] },
      kind: 'affine',
      material: wood,
      transform: { translate: [x, 0, 0] },
      ...more,
    });
  const world = brio.world({
    time: { h: 1 / 120 },
    integrator: 'backward-euler',
    bodies: [box('a', 0.2), box('b', 0.65)],
    constraints: [
      { name: 'pivot', type: 'ball', a: 'a', at: [0, 0, 0] },
      {
        name: 'joint',
        type: 'hinge',
        a: 'a',
        b: 'b',
        at: [0.425, 0, 0],
        axis: [0, 0, 1],
        lower: -40,
        upper: 40,
      },
    ],
    forces: [{ name: 'gust', type: 'constant', force: [0, 0, 1e-3] }],
  });
  let drift = 0;
  for (let n = 0; n < 60; n++) {
    world.step();
    drift = Math.max(drift, world.ledger().rods);
  }
  console.log(`largest drift ${drift.toExponential(1)} of the length in 60 steps`);
  check(
    drift < 1e-6 && world.ledger().centre[1] < -0.02,
    `the centre is at ${world.ledger().centre}: the chain does not swing, or comes apart`,
  );
  world.edit({ remove: { constraints: ['pivot'], forces: ['gust'] } });
  const y = world.ledger().momentum[1];
  world.step();
  check(
    Math.abs(world.ledger().momentum[1] - y + (9.8 / 120) * 2 * 0.4 * 0.01 * 600) < 1e-6,
    'it does not fall freely',
  );
  world.dispose();
});

// One body is where another of the same world was at the start.
test('bodies_continue_all_at_once', async () => {
  const ball = (name, x) => ({
      ...jelly().bodies[0],
      name,
      transform: { translate: [x, 0.15, 0] },
      velocity: { linear: [1, 0, 0] },
    }),
    scene = { ...jelly(), gravity: [0, 0, 0], bodies: [ball('a', 0), ball('b', 0.25)] },
    [from, to] = [brio.world(scene), brio.world({ ...scene, integrator: 'a-search' })];
  from.step(1 / 60, 15);
  to.continueFrom(from);
  check(
    same(to.positions(), from.positions()) && same(to.velocities(), from.velocities()),
    'it is elsewhere',
  );
  check(Math.abs(to.ledger().total - from.ledger().total) < 1e-9, 'it has another energy');
  to.step();
  for (const w of [from, to]) w.dispose();
});

// Positions that the world does not allow: nothing of the other one is taken.
test('continuing_where_it_cannot_changes_nothing', async () => {
  const fallen = brio.world({ ...jelly(), obstacles: [] }),
    world = brio.world(jelly());
  fallen.step(1 / 60, 30);
  world.step();
  const told = () => JSON.stringify([world.ledger(), [...world.positions()]]),
    before = told();
  const e = refusal('a ball behind the floor', () => world.continueFrom(fallen));
  check(e.status === 'STEP_REJECTED' && told() === before, `${before} -> ${told()}`);
  world.step();
  for (const w of [fallen, world]) w.dispose();
});

// The engine gives the number of a hand without a body to the next hand.
test('hands_of_removed_bodies_hold_nothing', async () => {
  const ball = jelly().bodies[0],
    other = { ...ball, name: 'other', transform: { translate: [1, 0.15, 0] } },
    world = brio.world({ ...jelly(), bodies: [ball, other] }),
    first = world.grabVertex('ball', 0);
  world.removeBody('ball');
  check(first.state === null, 'it holds a body that was removed');
  const second = world.grabPoint([1, 0.25, 0]),
    { point } = second.state;
  check(first.state === null, 'it holds what another hand holds');
  refusal('a hand without a body', () => first.drag([5, 5, 5]));
  refusal('a hand without a body', () => first.release());
  check(same(second.state.point, point), 'another hand was moved');
  second.release();
  world.dispose();
});

// Of several values all are set, or none.
test('values_that_are_refused_change_nothing', async () => {
  const net = {
      name: 'net',
      shape: { type: 'grid' },
      material: { type: 'hooke', k: 500, rho: 0.3 },
      transform: { translate: [0, 2, 0] },
    },
    damping = [{ type: 'rayleigh', alpha: 1, beta: 0.01 }],
    scene = { ...jelly(), damping, bodies: [jelly().bodies[0], net] },
    [world, other] = [brio.world(scene), brio.world(scene)];
  for (const w of [world, other]) w.step();
  refusal('a value there is not', () => world.setMaterial('ball', { E: 5e4, F: 1 }));
  refusal('a body without it', () => world.setMaterial(undefined, { E: 5e4 }));
  refusal('a negative one', () => world.setDamping(0, { alpha: 50, beta: -1 }));
  check(world.materialValue('ball', 'E') === 2e4, `E = ${world.materialValue('ball', 'E')}`);
  for (const w of [world, other]) w.step(1 / 60, 5);
  check(
    same(world.positions(), other.positions()) &&
      JSON.stringify(world.ledger()) === JSON.stringify(other.ledger()),
    'it goes on in another way',
  );
  world.setMaterial('ball', { E: 5e4, nu: 0.2 });
  check(world.materialValue('ball', 'nu') === 0.2, 'values that are fine');
  for (const w of [world, other]) w.dispose();
});

test('advance_keeps_its_budget', async () => {
  const world = brio.world(cloth(40));
  check(
    world.advance(0.01) === 0 && world.advance(0.01) === 1 && Math.abs(world.time - 1 / 60) < 1e-12,
    'the rest of a time is not kept',
  );
  const steps = world.advance(100, { budget: 5 });
  check(
    steps >= 1 && steps < 6000 && world.advance(0) === 0,
    `${steps} steps: what could not be caught up was not left out`,
  );
  let stopped = '';
  const x = world.positions().slice(),
    newton = brio.world({ ...cloth(60), solver: { type: 'newton' } });
  try {
    newton.step(1 / 60, 1, { limit: 1e-3 });
  } catch (e) {
    stopped = e.status;
  }
  check(stopped === 'STOPPED' && newton.time === 0, `a step without time: ${stopped}`);
  for (let n = 0; n < 3; n++) {
    const e = refusal('a frame without time', () => newton.advance(1, { limit: 1e-3 }));
    check(e.status === 'STOPPED' && e.steps === 0, `${e.status} after ${e.steps} steps`);
  }
  check(newton.advance(0.01) === 0, 'time in which no step could be made is caught up');
  newton.step();
  check(same(x, world.positions()), 'another world moved');
  world.dispose();
  newton.dispose();
});

// ---- misuse -------------------------------------------------------------------------------------

const refusal = (name, f) => {
  try {
    f();
  } catch (e) {
    if (e instanceof BrioError && e.message.length > 10) return e;
    throw new Error(`${name}: ${e?.stack ?? e}`);
  }
  throw new Error(`${name} was not refused`);
};

test('misuse_is_told_in_sentences', async () => {
  const world = brio.world(jelly()),
    gone = brio.world(jelly()),
    hand = world.grabVertex('ball', 0),
    foreign = (await createEngine({ threads: 1 })).world(jelly()),
    circle = { bodies: [] };
  circle.self = circle;
  const scene = (change) => () => brio.world({ ...jelly(), ...change });
  const body = (change) => scene({ bodies: [{ ...jelly().bodies[0], ...change }] });
  const mesh = (change) =>
    body({ shape: undefined, mesh: { ...cube, ...change }, kind: 'shell', material: 'silk' });
  hand.release();
  gone.dispose();
  const table = [
    ['no scene', () => brio.world(), /expected a scene/],
    ['a number', () => brio.world(3), /expected a scene/],
    ['a list', () => brio.world([]), /expected a scene/],
    ['text', () => brio.world('{"bodies":\n [}'), /line 2, column \d+: /],
    ['empty text', () => brio.world(''), /./],
    ['yaml', () => brio.world('bodies:\n  - a'), /./],
    ['no bodies', () => brio.world({}), /missing key "bodies"/],
    ['circle', () => brio.world(circle), /contains itself/],
    ['unknown key', scene({ gravty: [0, 0, 0] }), /gravty.*gravity/],
    ['NaN', scene({ gravity: [0, NaN, 0] }), /gravity\[1\]: NaN/],
    ['function', scene({ title: () => 1 }), /title: a function/],
    ['symbol', scene({ title: Symbol('x') }), /title/],
    ['bigint', scene({ brio: 1n }), /brio: 1n/],
    ['map', scene({ materials: new Map() }), /materials: expected/],
    ['material', body({ material: 'sof' }), /bodies\[0\]\.material: .*did you mean "soft"/],
    ['value', body({ material: { type: 'neo-hookean', E: -1 } }), /E/],
    ['shape', body({ shape: { type: 'bal' } }), /no shape "bal"; did you mean/],
    ['shape and mesh', body({ mesh: cube }), /not both/],
    ['no file', body({ shape: undefined, mesh: 'x.obj' }), /no file "x.obj"/],
    ['solid of a surface', body({ shape: undefined, mesh: cube, kind: 'solid' }), /./],
    ['method', scene({ integrator: 'bdf9' }), /bdf/],
    ['step', scene({ time: { h: -1 } }), /h/],
    ['contact', scene({ contact: undefined }), /contact/],
    ['positions', mesh({ positions: [0, 0] }), /mesh\.positions: 2 numbers/],
    ['no positions', mesh({ positions: [] }), /no vertices/],
    ['text in positions', mesh({ positions: ['a', 0, 0] }), /positions\[0\]/],
    ['index', mesh({ triangles: [0, 1, 8] }), /there is no vertex 8/],
    ['fraction', mesh({ triangles: [0, 1, 1.5] }), /no vertex 1.5/],
    ['negative', mesh({ triangles: [0, 1, -1] }), /no vertex -1/],
    ['corners', mesh({ triangles: [0, 1] }), /no rows of 3/],
    ['no elements', mesh({ triangles: undefined }), /neither/],
    ['mesh key', mesh({ faces: [1] }), /unknown key "faces"/],
    [
      'flat tet',
      body({
        shape: undefined,
        mesh: { positions: [0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0], tets: [0, 1, 2, 3] },
      }),
      /./,
    ],
    ['same vertex', mesh({ triangles: [0, 0, 1] }), /same vertex twice/],
    ['springs', body({ springs: [1, 2, 3] }), /springs: 3 numbers/],
    ['state', body({ state: [[1, 2]] }), /state\[0\]: expected a row of 6 numbers, found 2/],
    ['rows', body({ springs: [[0, 1, 5], [1, 1, 2, 5, 1]] }), /springs\[0\]: .*row of 4/],
    ['vector', scene({ gravity: { x: 0, y: NaN, z: 0 } }), /gravity\[1\]: NaN/],
    ['file name', () => brio.world(jelly(), { files: { '../x': '' } }), /no file name/],
    ['file content', () => brio.world(jelly(), { files: { x: 3 } }), /expected a string or bytes/],
    ['files', () => brio.world(jelly(), { files: 3 }), /files/],
    ['options', () => brio.world(jelly(), null), /options/],
    ['constraint', scene({ constraints: [{ type: 'hing', a: 'ball' }] }), /hinge/],
    ['two of a name', scene({ bodies: [jelly().bodies[0], jelly().bodies[0]] }), /two bodies/],
    [
      'intersecting',
      scene({ bodies: [jelly().bodies[0], { ...jelly().bodies[0], name: 'other' }] }),
      /./,
    ],
    ['in the floor', body({ transform: { translate: [0, 0, 0] } }), /./],
    ['no body', () => world.positions('bal'), /no body "bal"; there is "ball"/],
    ['number', () => world.positions(7), /no body 7/],
    ['half', () => world.positions(0.5), /no body 0.5/],
    ['null', () => world.positions(null), /null/],
    ['empty', () => world.positions(''), /no body/],
    ['with a 0', () => world.positions('ball\0'), /character 0/],
    ['step NaN', () => world.step(NaN), /h: .*NaN/],
    ['step 0', () => world.step(0), /./],
    ['step back', () => world.step(-1), /./],
    ['step text', () => world.step('1/60'), /"1\/60"/],
    ['step forever', () => world.step(1 / 60, Infinity), /count/],
    ['half a step', () => world.step(1 / 60, 0.5), /count/],
    ['limit', () => world.step(1 / 60, 1, { limit: -1 }), /limit/],
    ['huge step', () => world.step(1e300), /./],
    ['advance', () => world.advance(-1), /seconds/],
    ['budget', () => world.advance(1, { budget: NaN }), /budget/],
    ['grab', () => world.grab([0, 0], [0, 1, 0]), /origin: expected three/],
    ['no direction', () => world.grab([0, 0, 0], [0, 0, 0]), /./],
    ['grab k', () => world.grab([0, 1, 0], [0, -1, 0], -1), /k/],
    ['grab body', () => world.grabPoint([0, 0, 0], { body: 'x' }), /no body/],
    ['grab vertex', () => world.grabVertex('ball', 1e6), /vertex/],
    ['released', () => hand.drag([0, 0, 0]), /released/],
    ['twice', () => hand.release(), /released/],
    ['drag NaN', () => world.grabVertex('ball', 1).drag([0, NaN, 0]), /point\[1\]/],
    ['positions', () => world.setPositions('ball', [1]), /expected \d+ numbers/],
    [
      'NaN positions',
      () =>
        world.setPositions(
          'ball',
          world.positions('ball').map(() => NaN),
        ),
      /NaN/,
    ],
    ['no list', () => world.setVelocities('ball', 3), /expected \d+ numbers/],
    ['material name', () => world.setMaterial('ball', { F: 1 }), /no "F"/],
    ['material value', () => world.setMaterial('ball', { E: -5 }), /E/],
    ['mass', () => world.setMaterial('ball', { rho: 5 }), /masses/],
    ['material', () => world.setMaterial('ball', 5), /values by name/],
    ['of none', () => world.materialValue('ball', 'q'), /no value "q"/],
    ['damping', () => world.setDamping(0, { alpha: 1 }), /./],
    ['force', () => world.setForce('wind', 1), /no force "wind"/],
    ['gravity', () => world.setGravity(9.8), /three numbers/],
    ['method', () => world.setMethod('eulr'), /integrator/],
    ['does not go', () => world.setMethod('rk4'), /contact/],
    ['method value', () => world.setMethod({ type: 'a-search', decay: 'soon' }), /decay/],
    ['method number', () => world.setMethod(3), /method/],
    ['parameter', () => world.setMethod({ type: 'bdf2', x: 1 }), /x/],
    ['edit', () => world.edit({ ad: {} }), /unknown key "ad"/],
    ['edit of what', () => world.edit({ add: 3 }), /./],
    ['edit key', () => world.edit({ add: { gravity: [0, 0, 0] } }), /gravity/],
    ['edit cut', () => world.edit({ cut: 3 }), /list/],
    ['edit fix', () => world.edit({ fix: [{ body: 'ball', vertices: [1e12] }] }), /vertex/],
    ['edit body', () => world.edit({ fix: [{ body: 'bal', vertices: [1] }] }), /ball/],
    ['last body', () => world.removeBody('ball'), /./],
    ['remove', () => world.removeObstacle('flor'), /no obstacle "flor"; there is "floor"/],
    ['add in the floor', () => world.addBody({ shape: { type: 'ball' }, material: 'soft' }), /./],
    ['add in the ball', () => world.addBody({ ...jelly().bodies[0], name: 'twin' }), /./],
    ['the same name', () => world.addBody(jelly().bodies[0]), /two bodies/],
    ['nothing', () => world.addBody(), /./],
    [
      'add mesh',
      () => world.addBody({ mesh: { positions: [1] }, material: 'soft' }),
      /add\.bodies\[0\]\.mesh/,
    ],
    [
      'add surface',
      () =>
        world.addBody({
          ...jelly().bodies[0],
          name: 'z',
          surface: cube,
          transform: { translate: [0, 5, 0] },
        }),
      /surface/,
    ],
    ['move a plane', () => world.moveObstacle('floor', { translate: [0, 1, 0] }), /./],
    ['move', () => world.moveObstacle('floor', null), /expected positions/],
    ['matrix', () => world.moveObstacle('floor', { matrix: [1] }), /nine numbers/],
    ['cut', () => world.cut('ball', [0, 0, 0], [0, 0, 0]), /./],
    ['contacts', () => world.contacts(), /noteContacts/],
    ['checkpoint', () => world.restore(new Uint8Array(10)), /./],
    ['no checkpoint', () => world.restore('x'), /./],
    ['continue', () => world.continueFrom({}), /expected a world/],
    ['another', () => world.continueFrom(gone), /disposed/],
    ['of another engine', () => world.continueFrom(foreign), /another engine/],
    ['list', () => brio.list('integrator'), /integrators/],
    ['list of', () => brio.list(5), /string/],
    ['oscillator', () => brio.oscillator('x'), /./],
    ['mass', () => brio.oscillator('bdf2', -1), /mass/],
    ['matrixless', () => brio.oscillator('a-search'), /./],
    ['limit', () => brio.stableLimit('x'), /./],
    ['disposed', () => gone.step(), /disposed/],
    ['disposed views', () => gone.positions(), /disposed/],
    ['disposed names', () => gone.bodies, /disposed/],
    ['disposed time', () => gone.time, /disposed/],
    ['disposed hand', () => gone.grab([0, 0, 0], [0, 1, 0]), /disposed/],
    ['disposed edit', () => gone.edit({}), /disposed/],
    ['disposed save', () => gone.save(), /disposed/],
  ];
  for (const [name, f, pattern] of table) {
    const e = refusal(name, f);
    check(pattern.test(e.message), `${name}: "${e.message}" is not ${pattern}`);
    check(!/the engine has failed/.test(e.message), `${name}: ${e.message}`);
    check(
      !/undefined|\[object|NaN undefined/.test(e.message) && !/internal|assert/i.test(e.message),
      `${name}: ${e.message}`,
    );
  }
  gone.dispose(); // twice is fine
  // The engine computes as if nothing had been.
  const other = (await createEngine({ threads: 1 })).world(jelly()),
    fresh = brio.world(jelly());
  for (const w of [fresh, other]) w.step(1 / 60, 20);
  check(same(fresh.positions(), other.positions()), 'other bits after misuse');
  console.log(`${table.length} misuses, each refused with a sentence`);
  world.dispose();
  fresh.dispose();
});

// Every function with every kind of strange value: it returns, or throws a BrioError.
test('strange_values_never_end_the_engine', async () => {
  const strange = [
    undefined,
    null,
    NaN,
    Infinity,
    -1,
    0,
    1,
    1e9,
    2 ** 31,
    0.5,
    '',
    'ball',
    'x\0y',
    '💧',
    [],
    [1, 2, 3],
    [NaN, 0, 0],
    {},
    { x: 1, y: 2, z: 3 },
    new Float64Array(3),
    new Uint8Array(5),
    () => 1,
    Symbol('s'),
    10n,
    true,
    new Date(),
    { length: 3 },
  ];
  const skip = new Set(['constructor', 'dispose', 'advance']);
  let calls = 0,
    refused = 0;
  const attempt = (object, name, values) => {
    calls++;
    try {
      object[name](...values);
    } catch (e) {
      if (!(e instanceof BrioError))
        throw new Error(
          `${name}(${values.map((v) => `${typeof v} ${String(v)}`)}): ${e?.stack ?? e}`,
        );
      refused++;
      check(!/the engine has failed/.test(e.message), `${name}: ${e.message}`);
    }
  };
  let world = brio.world(jelly());
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(world))) {
    if (
      skip.has(name) ||
      name[0] === '_' ||
      typeof Object.getOwnPropertyDescriptor(Object.getPrototypeOf(world), name).value !==
        'function'
    )
      continue;
    for (const a of strange) {
      attempt(world, name, [a]);
      for (const b of name === 'step'
        ? strange.filter((v) => typeof v !== 'number' || !(v > 5))
        : strange)
        (attempt(world, name, ['ball', b]), attempt(world, name, [a, b]));
      for (const b of strange.slice(0, 20)) attempt(world, name, ['ball', [0, 0, 0], b]);
    }
    world.dispose();
    world = brio.world(jelly());
  }
  for (const name of ['world', 'list', 'method', 'oscillator', 'stableLimit'])
    for (const a of strange) for (const b of [undefined, ...strange]) attempt(brio, name, [a, b]);
  const hand = world.grabVertex('ball', 0);
  for (const a of strange) attempt(hand, 'drag', [a]);
  world.step();
  console.log(
    `${calls} calls, ${refused} refused; the world goes on at ${world.time.toFixed(3)} s`,
  );
  world.dispose();
});

test('too_large_is_refused_and_the_engine_goes_on', async () => {
  const engine = await createEngine({ threads: 1 }),
    world = engine.world(cloth()),
    oscillator = engine.oscillator('backward-euler'),
    box = (n) => ({
      bodies: [{ name: 'box', shape: { type: 'box', cells: [n, n, n] }, material: 'rubber' }],
    });
  for (const n of [150, 900]) {
    const e = refusal(`a box of ${n} cells`, () => engine.world(box(n)));
    console.log(`${n}³ cells: ${e.status}: ${e.message}`);
    check(
      ['ERROR_MEMORY', 'ERROR_TOO_LARGE', 'ERROR_INPUT'].includes(e.status),
      `status ${e.status}`,
    );
  }
  const positions = new Float64Array(3 * 2e5).map(() => Math.random()),
    many = [];
  const full = refusal('until memory is full', () => {
    for (;;) many.push(engine.world(cloth(200)));
  });
  console.log(`${many.length} worlds of 40,401 vertices, then ${full.status}: ${full.message}`);
  check(positions.length && many.length > 2, 'too few');
  many.forEach((w) => w.dispose());
  world.step(1 / 60, 3);
  engine.world(cloth()).step();
  check(world.positions().every(Number.isFinite), 'the first world has suffered');
  engine.dispose();
  for (const o of [oscillator, world, engine]) o.dispose(); // nothing is left to free
  check(
    /disposed/.test(refusal('a disposed engine', () => engine.world(cloth())).message) &&
      /disposed/.test(refusal('its world', () => world.step()).message),
    'a disposed engine answers',
  );
});

test('engines_that_cannot_start_say_why', async () => {
  const why = async (options) => {
    try {
      await createEngine(options);
    } catch (e) {
      if (e instanceof BrioError) return e.message;
      throw e;
    }
    throw new Error(`${JSON.stringify(options)} was not refused`);
  };
  check(
    /threads: expected/.test(await why({ threads: 0 })) &&
      /threads: expected/.test(await why({ threads: 'two' })),
    'threads',
  );
  check(
    /cannot be started/.test(await why({ threads: 1, wasm: new Uint8Array(8) })),
    'wrong bytes',
  );
  check(/cannot be started/.test(await why({ threads: 1, locate: () => '/nowhere' })), 'no file');
  check(/expected options/.test(await why(null)), 'null');
  const one = await createEngine({ threads: 1 }),
    two = await createEngine({ threads: 2 });
  check(one.threads === 1 && two.threads === 2, 'threads');
  two.dispose();
  one.dispose();
});

// ---- Chromium -----------------------------------------------------------------------------------

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};
function serveFolder(isolated) {
  const server = createServer((request, answer) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname),
      file = join(folder, path.endsWith('/') ? path + 'index.html' : path);
    if (!file.startsWith(folder) || !existsSync(file))
      return answer.writeHead(path === '/favicon.ico' ? 204 : 404).end();
    const headers = isolated
      ? {
          'Cross-Origin-Opener-Policy': 'same-origin',
          'Cross-Origin-Embedder-Policy': 'require-corp',
        }
      : {};
    answer
      .writeHead(200, {
        'Content-Type': types[extname(file)] ?? 'application/octet-stream',
        ...headers,
      })
      .end(readFileSync(file));
  });
  return new Promise((done) =>
    server.listen(0, '127.0.0.1', () =>
      done({ server, address: `http://127.0.0.1:${server.address().port}` }),
    ),
  );
}

let browser;
async function openPage(address, f) {
  const { launch, missing } = findBrowser(here);
  if (missing) return console.log(`SKIPPED: ${missing}`);
  browser ??= await launch();
  const page = await browser.newPage({ viewport: { width: 760, height: 520 } }),
    complaints = [];
  page.on('console', (m) => m.type() === 'error' && complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(e.stack));
  await page.goto(address);
  await f(page);
  check(!complaints.length, `the console says: ${complaints.join('; ')}`);
  await page.close();
}

for (const isolated of [false, true]) {
  test(`three_example_${isolated ? 'with_threads' : 'on_one_thread'}`, async () => {
    const { server, address } = await serveFolder(isolated);
    try {
      await openPage(`${address}/node_modules/brio-engine/examples/three/`, async (page) => {
        await page.waitForSelector('canvas', { timeout: 60000 });
        const picture = async () => (await page.locator('canvas').screenshot()).toString('base64');
        await page.waitForTimeout(500);
        const first = await picture();
        for (let n = 0; n < 60 && (await picture()) === first; n++) await page.waitForTimeout(250);
        check((await picture()) !== first, 'the picture stands still');
        check(
          (await page.evaluate(() => window.crossOriginIsolated)) === isolated,
          'the headers are others',
        );
        if (process.env.SHOTS)
          await page.screenshot({ path: join(process.env.SHOTS, `three-${isolated}.png`) });
        const threads = await page.evaluate(async () => {
          const { createEngine } = await import('brio-engine'),
            engine = await createEngine(),
            t = engine.threads;
          engine.dispose();
          return [t, navigator.hardwareConcurrency];
        });
        console.log(`${threads[0]} threads on ${threads[1]} cores`);
        check(threads[0] === (isolated ? Math.min(8, threads[1]) : 1), 'other threads');
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}

test('worker_example', async () => {
  const { server, address } = await serveFolder(false);
  try {
    await openPage(`${address}/node_modules/brio-engine/examples/worker/`, async (page) => {
      await page.waitForFunction(
        () => /t = (0\.[2-9]|[1-9])/.test(document.getElementById('said').textContent),
        null,
        { timeout: 60000 },
      );
      const said = await page.locator('#said').textContent();
      console.log(said);
      check(Number(/, (\d+) steps/.exec(said)[1]) >= 1, said);
      if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, 'worker.png') });
      const drawn = await page.evaluate(
        () =>
          document
            .getElementById('canvas')
            .getContext('2d')
            .getImageData(0, 0, 480, 360)
            .data.filter((v, i) => i % 4 === 3 && v > 0).length,
      );
      check(drawn > 500, `${drawn} pixels are drawn`);
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

await runCases(process.argv.slice(3), { end: () => browser?.close() });
