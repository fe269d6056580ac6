// How many frames per second arrive and are drawn, and what a frame costs:
//   [SECONDS=5] [VERTICES='1024 10000 29929'] [THREADS=2] node speed.mjs [BUILD_DIR]
//   [SECONDS=5] node speed.mjs BUILD_DIR ADDRESS        of a `brio live` that runs already
// Without an address it shows cloths of springs. First the page draws, then a connection that
// draws nothing. Processor time is that of each thread or process, divided by the frames drawn.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './browser.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const build = resolve(process.argv[2] ?? join(root, 'build')),
  seconds = Number(process.env.SECONDS ?? 5),
  sizes = (process.env.VERTICES ?? '1024 10000 29929').split(' ').map(Number);
const browser = await launch(join(build, 'web', 'report'));
const number = (value, digits = 1) => value.toFixed(digits);

// ---- processor time ---------------------------------------------------------------------------

const TICK = 10; // ms: USER_HZ is 100 on Linux

// [name, parent, ms] of a process or thread; its name may have any characters in it.
function stat(place) {
  try {
    const text = readFileSync(`/proc/${place}/stat`, 'utf8'),
      end = text.lastIndexOf(')'),
      field = text.slice(end + 2).split(' ');
    const ms = TICK * (Number(field[11]) + Number(field[12]));
    return { name: text.slice(text.indexOf('(') + 1, end), parent: Number(field[1]), ms };
  } catch {
    return null; // it has ended
  }
}

// ms by what it was spent on: threads of brio, and kinds of processes of the browser.
function spent(brio) {
  const ms = { engine: 0, server: 0, page: 0, graphics: 0 },
    pids = readdirSync('/proc').filter((p) => /^\d+$/.test(p)),
    all = new Map(pids.map((p) => [Number(p), stat(p)]));
  const ours = (pid) => pid === process.pid || (pid > 1 && ours(all.get(pid)?.parent ?? 0));
  for (const pid of all.keys()) {
    if (pid === brio || !all.get(pid) || !ours(pid)) continue;
    const kind = /--type=(\S+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))?.[1];
    if (kind?.startsWith('renderer')) ms.page += all.get(pid).ms;
    if (kind?.startsWith('gpu-process')) ms.graphics += all.get(pid).ms;
  }
  // The server has the program's first thread.
  for (const thread of brio ? readdirSync(`/proc/${brio}/task`) : [])
    ms[Number(thread) === brio ? 'server' : 'engine'] += stat(`${brio}/task/${thread}`)?.ms ?? 0;
  return ms;
}

// ---- frames -----------------------------------------------------------------------------------

// Runs in the page.
async function count([s, bare]) {
  const live = window.brioLive,
    pause = (ms) => new Promise((done) => setTimeout(done, ms));
  let arrived = 0,
    bytes = 0,
    socket;
  if (bare) {
    live.draw = () => {}; // the page itself draws nothing meanwhile
    socket = new WebSocket(live.link.socket.url);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string' || new Uint32Array(data, 0, 1)[0] !== 2) return;
      arrived++;
      bytes += data.byteLength;
      socket.send(new Uint32Array(data, 8, 1));
    };
    await pause(500);
  }
  let min = Infinity; // ms of script for a picture
  const show = live.view.showFrame;
  live.view.showFrame = function (frame) {
    const begin = performance.now();
    show.call(this, frame);
    min = Math.min(min, performance.now() - begin);
  };
  const counted = () => (bare ? arrived : live.count),
    from = counted(),
    step = live.frame.ledger.step,
    start = performance.now();
  await pause(1000 * s);
  const frames = counted() - from,
    fps = (1000 * frames) / (performance.now() - start);
  socket?.close();
  live.view.showFrame = show;
  const { pace, step_seconds: took, step: last } = live.frame.ledger;
  const { vertices } = live.scene;
  return { frames, fps, min, kB: bytes / arrived / 1000, pace, took, vertices, steps: last - step };
}

async function measure(address, brio) {
  const page = await browser.newPage({ viewport: { width: 1366, height: 768 } });
  await page.goto(address);
  await page.waitForFunction(() => window.brioLive?.count > 30, null, { timeout: 120000 });
  const before = spent(brio),
    drawn = await page.evaluate(count, [seconds, false]),
    after = spent(brio),
    arrived = await page.evaluate(count, [seconds, true]);
  await page.close();
  const each = (what) => number((after[what] - before[what]) / drawn.frames);
  console.log(`${drawn.vertices} vertices, ${number(arrived.kB, 0)} kB per frame`);
  console.log(`  ${number(arrived.fps)} frames/s arrive where nothing is drawn`);
  console.log(`  ${number(drawn.fps)} frames/s are drawn, ${number(drawn.min)} ms of script`);
  console.log(
    `  ${number(1000 * drawn.took)} ms per step, ${drawn.steps} steps, ` +
      `${number(drawn.pace, 2)} x real time`,
  );
  console.log(
    `  processor time per frame drawn: ${brio ? `engine ${each('engine')} ms, ` : ''}` +
      `${brio ? `server ${each('server')} ms, ` : ''}page ${each('page')} ms, ` +
      `graphics ${each('graphics')} ms`,
  );
}

// ---- scenes -----------------------------------------------------------------------------------

function cloth(vertices) {
  const cells = Math.round(Math.sqrt(vertices)) - 1;
  return {
    brio: 1,
    time: { h: 1 / 60 },
    integrator: 'a-search',
    solver: { type: 'local-global', iterations: 10 },
    bodies: [
      {
        name: 'cloth',
        shape: { type: 'grid', cells_x: cells, cells_z: cells },
        material: { type: 'hooke', k: 1000, rho: 0.2 },
        fix: [{ vertices: [0, cells] }],
      },
    ],
  };
}

async function showCloth(vertices) {
  const folder = mkdtempSync(join(tmpdir(), 'brio-speed-')),
    scene = join(folder, 'cloth.json');
  writeFileSync(scene, JSON.stringify(cloth(vertices)));
  const threads = process.env.THREADS ? ['--threads', process.env.THREADS] : [];
  const brio = spawn(join(build, 'brio'), ['live', scene, '--no-open', ...threads]);
  try {
    const address = await new Promise((done, fail) => {
      brio.stdout.on('data', (text) => {
        const found = /http:\S+/.exec(text);
        if (found) done(found[0]);
      });
      brio.stderr.on('data', (text) => process.stderr.write(text));
      brio.on('exit', (code) => fail(new Error(`brio live ended with ${code}`)));
    });
    await measure(address, brio.pid);
  } finally {
    brio.kill('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[3]) await measure(process.argv[3], 0);
else for (const vertices of sizes) await showCloth(vertices);
await browser.close();
