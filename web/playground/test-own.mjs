// The page in Chromium with files of the user, and from servers with and without the headers for
// threads.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { serve } from './serve.mjs';

const faces = [
  [1, 3, 2], [2, 3, 4], [5, 6, 7], [6, 8, 7], [1, 2, 5], [2, 6, 5],
  [3, 7, 4], [4, 7, 8], [1, 5, 3], [3, 5, 7], [2, 4, 6], [4, 8, 6],
];
const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => `v ${k & 1} ${(k >> 1) & 1} ${k >> 2}\n`);
const obj = [...corners, ...faces.map((f) => `f ${f.join(' ')}\n`)].join('');
const door = `# a crate on a hinge
time: {h: 1/120}
integrator: {type: bdf2}
contact: {type: ipc}
bodies:
  - name: post
    shape: {type: box, size: [0.1, 1, 0.1]}
    kind: affine
    material: {type: affine, E: 1e8, rho: 600}
    fix: [{box: [[-9, -9, -9], [9, 9, 9]]}]
    transform: {translate: [-0.1, 1, 0]}
  - name: crate
    mesh: ../meshes/crate.obj
    kind: affine
    material: {type: affine, E: 1e8, rho: 600}
    transform: {scale: 0.4, translate: [0.1, 1, -0.2]}
obstacles:
  - {type: plane, normal: [0, 1, 0]}
constraints:
  - {type: hinge, a: crate, b: post, at: [0, 1.2, 0], axis: [0, 0, 1]}
`;
const large = (n) =>
  `bodies: [{shape: {type: box, cells: [${n}, ${n}, ${n}]}, material: rubber}]\n`;
const refusals = [
  [{ 'big.yaml': large(32) },
    /big\.yaml is too large for a page: it has 35,937 vertices.*brio live big\.yaml/],
  [{ 'huge.yaml': large(110) }, /huge\.yaml is too large for a page: .*GB.*brio live huge\.yaml/],
  [{ 'vast.yaml': large(300) }, /vast\.yaml is too large for a page: .*coarser mesh\.$/],
  [{ 'door.yaml': door }, /no file.*Drop it together with the scene/],
  [{ 'bad.yaml': 'bodies: [{\n' }, /bad\.yaml: line \d+/],
  [{ 'two.yaml': `${large(1)}---\n${large(1)}` }, /two\.yaml: .*single document/],
  [{ 'wrong.yaml': door.replace('bdf2', 'bdf22'), 'crate.obj': obj }, /did you mean "bdf2"/],
  [{ 'notes.txt': 'x' }, /neither a scene .* nor a mesh/],
  [{ 'broken.obj': 'v 0 0\n' }, /broken\.obj:1/],
];

// Drops files on the page; what it says, and what it made of them.
async function drop(page, files) {
  await page.evaluate((list) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(list)) data.items.add(new File([text], name));
    window.brio.dropped = window.brio.bench;
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
  }, files);
  const taken = () => window.brio.bench && window.brio.bench !== window.brio.dropped;
  await page.waitForFunction(taken, null, { timeout: 60000 });
  return page.evaluate(() => {
    const b = window.brio.bench, said = b.message.hidden ? '' : b.message.textContent;
    b.setPlaying?.(false);
    return { said, bodies: b.worlds?.[0].bodies, file: b.file?.(0) };
  });
}

// Scenes with the files that they name, meshes alone, and what cannot be opened.
export function ownTests({ test, check, openStill }) {
  test('own_scenes_and_meshes_by_drop', async () => {
    const page = await openStill('#tab=own');
    check(/Drop files anywhere/.test(await page.locator('.zone').textContent()),
      'there is no place to drop');
    const own = await drop(page, { 'door.yaml': door, 'crate.obj': obj });
    check(!own.said && String(own.bodies) === 'post,crate' && own.file.integrator.type === 'bdf2' &&
      Math.abs(own.file.time.h - 1 / 120) < 1e-15, JSON.stringify(own));
    const low = await page.evaluate(() => {
      const b = window.brio.bench, w = b.worlds[0];
      const y = () => Math.min(...w.positions('crate').filter((_, i) => i % 3 === 1)), from = y();
      return { done: b.stepNow(30), fell: from - y(), drift: w.ledger().rods };
    });
    console.log(`door.yaml with crate.obj: 30 steps, the crate turned down by ` +
      `${low.fell.toFixed(3)} m, drift ${low.drift.toExponential(1)}`);
    check(low.done === 30 && low.fell > 0.05 && low.drift < 1e-6, JSON.stringify(low));
    const mesh = await drop(page, { 'cube.obj': obj });
    check(!mesh.said && mesh.bodies[0] === 'cube' && mesh.file.bodies[0].cage > 0,
      JSON.stringify(mesh));
    const square = 'v 0 0 0\nv 9 0 0\nv 0 0 9\nv 9 0 9\nf 1 3 2\nf 2 3 4\n';
    const sheet = await drop(page, { 'sheet.obj': square });
    check(!sheet.said && sheet.file.bodies[0].kind === 'shell' &&
      (await page.evaluate(() => window.brio.bench.stepNow(20))) === 20, JSON.stringify(sheet));
    for (const [files, pattern] of refusals) {
      const { said } = await drop(page, files);
      check(pattern.test(said), `${Object.keys(files)}: "${said}"`);
    }
    await page.evaluate(() => window.brio.open('tab=cloth&n=8&play=0'));
    check((await page.evaluate(() => window.brio.bench.stepNow(5))) === 5,
      'the other tabs do not go on');
  });
}

// What the list of `drop` cannot have: a folder, and files chosen next to an open scene.
export function chooseTests({ test, check, openStill, params }) {
  test('a_folder_is_refused_and_other_files_are_chosen', async () => {
    const page = await openStill('#tab=cloth&n=8');
    const folder = await page.evaluate(async () => {
      const file = new File([''], 'scenes'), data = new DataTransfer();
      File.prototype.arrayBuffer = () => Promise.reject(new DOMException('no', 'NotFoundError'));
      data.items.add(file);
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
      const said = () => document.querySelector('.message')?.textContent;
      for (let k = 0; k < 50 && !/folder/.test(said()); k++)
        await new Promise((done) => setTimeout(done, 50));
      delete File.prototype.arrayBuffer; // that of Blob is back
      return said();
    });
    check(/scenes cannot be read.*folder/.test(folder), `"${folder}"`);
    await drop(page, { 'cube.obj': obj });
    const choose = (name, text) => page.setInputFiles('#own-files',
      { name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await choose('other.obj', obj);
    const opened = (name) => window.brio.bench.worlds?.[0].bodies[0] === name;
    await page.waitForFunction(opened, 'other', { timeout: 20000 });
  });

  // A step longer than the pictures are apart is taken all the same, and is told as it is.
  test('long_and_odd_steps_run_and_are_told', async () => {
    const page = await openStill('#tab=own');
    for (const [h, told] of [[0.25, '1/4 s'], [0.03, '0.03 s'], [2, '2 s']]) {
      const scene = `time: {h: ${h}}\n${large(1)}`;
      await drop(page, { 'slow.yaml': scene });
      const { time, text } = await page.evaluate((step) => {
        const b = window.brio.bench;
        b.setPlaying(true);
        for (let k = 0; k < 12 * step + 1; k++) b.frame(0.1);
        b.setPlaying(false);
        const menu = document.querySelector('[data-key=h]');
        return { time: b.worlds[0].time, text: menu.selectedOptions[0].textContent };
      }, h);
      check(time >= h, `${h} s: the time is ${time}`);
      check(text === told, `${h} s is told as ${text}`);
      const rate = Number((await params(page)).h);
      check(Math.abs(rate * h - 1) < 1e-6, `${h} s is ${rate} in the link`);
    }
    const phase = await openStill('#tab=phase&h=5');
    const time = await phase.evaluate(() => {
      const b = window.brio.bench;
      b.setPlaying(true);
      for (let k = 0; k < 4; k++) b.frame(0.1);
      b.setPlaying(false);
      return b.worlds[0].world.time;
    });
    check(time > 0, 'the phase plane stands still');
  });
}

// Where each vertex of a cloth and of a soft body is after so many steps: enough for every vertex
// to have moved in contact with what other threads computed.
const STEPS = 20;
const ends = (page) => page.evaluate((steps) => [
  {
    integrator: 'backward-euler', solver: { type: 'local-global', iterations: 10 },
    bodies: [{
      name: 'cloth', shape: { type: 'grid', cells_x: 49, cells_z: 49 },
      material: { type: 'hooke', k: 1000, rho: 0.2 }, fix: [{ vertices: [0, 49] }],
    }],
  },
  {
    integrator: 'a-search', solver: { type: 'newton' }, gravity: [0, 0, 0],
    bodies: [{
      name: 'cube', shape: { type: 'box', size: [0.1, 0.1, 0.1], cells: [6, 6, 6] },
      material: { type: 'corotated', E: 5e4, nu: 0.3, rho: 1000 },
      velocity: { angular: [0, 0, 10] },
    }],
  },
].map((scene) => {
  const w = window.brio.engine.world(scene);
  w.step(1 / 60, steps);
  const x = Array.from(w.positions());
  w.dispose();
  return x;
}), STEPS);
const threads = (page) => page.evaluate(() => ({
  isolated: window.crossOriginIsolated, engine: window.brio.engine.threads,
  shown: document.getElementById('threads').textContent,
}));

export function serverTests({ test, check, openPage, openStill, build, file }) {
  const alone = ({ isolated, engine, shown }) =>
    !isolated && engine === 1 && shown === '1 thread';
  test('served_page_has_threads_and_the_same_bits', async () => {
    const server = await serve(build);
    try {
      const one = await openStill('#tab=cloth&n=8');
      const many = await openPage('?threads=3#tab=cloth&n=8&play=0', {}, server.address);
      const single = await threads(one), shared = await threads(many);
      check(alone(single), `from the file system: ${JSON.stringify(single)}`);
      check(shared.isolated && shared.engine === 3 && shared.shown === '3 threads',
        `served: ${JSON.stringify(shared)}`);
      const [x, y] = [await ends(one), await ends(many)];
      x.forEach((list, k) => {
        const other = list.filter((v, i) => !Object.is(v, y[k][i])).length;
        console.log(`${['cloth', 'soft body'][k]}: ${other} of ${list.length} coordinates differ ` +
          `after ${STEPS} steps`);
        check(list.length > 1000 && list.length === y[k].length && other === 0,
          'other bits with threads');
      });
      await many.evaluate(() => window.brio.open('tab=cloth&n=40'));
      const plays = () => window.brio.bench.worlds[0].time > 0.1;
      await many.waitForFunction(plays, null, { timeout: 60000 });
    } finally {
      server.stop();
    }
  });

  test('served_without_the_headers_it_has_one_thread', async () => {
    const server = createServer((request, answer) => {
      answer.setHeader('Content-Type', 'text/html; charset=utf-8');
      answer.end(readFileSync(file));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = `http://127.0.0.1:${server.address().port}/`;
      const said = await threads(await openPage('#tab=cloth&n=8&play=0', {}, address));
      check(alone(said), JSON.stringify(said));
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}
