// The playground in Chromium, from the file system and from servers:  node test.mjs BUILD_DIR [NAME... | -NAME...]
// Cases whose name has one of the NAMEs in it are run, or all but those whose name has one.
// Cases are told as cmocka tells them, so that the closing summary counts them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { guideTests } from './test-guide.mjs';
import { playTests } from './test-play.mjs';
import { serve } from './serve.mjs';

const build = resolve(process.argv[2] || 'build'), file = join(build, 'playground.html');
let browser, chromiumPath;
try {
  ({ launch: browser, chromiumPath } = await import('./browser.mjs'));
} catch (e) {
  console.log(`SKIPPED: ${e.code === 'ERR_MODULE_NOT_FOUND' ? 'playwright-core is not installed; make playground' : e.message}`);
  process.exit(77);
}
if (!existsSync(file) || !chromiumPath) {
  console.log(`SKIPPED: ${existsSync(file) ? 'there is no Chromium; apt-get install chromium' : `${file} is not built; make playground`}`);
  process.exit(77);
}

const cases = [];
const test = (name, run) => cases.push({ name, run });
const check = (condition, sentence) => {
  if (!condition) throw new Error(sentence);
};
const names = process.argv.slice(3), only = names.filter((n) => n[0] !== '-'), without = names.filter((n) => n[0] === '-').map((n) => n.slice(1));
const chosen = (name) => (!only.length || only.some((o) => name.includes(o))) && !without.some((o) => name.includes(o));

const running = await browser();
let complaints = [];

async function openPage(hash = '', options = {}, address = `file://${file}`) {
  const page = await running.newPage({ viewport: { width: 560, height: 520 }, ...options });
  page.on('console', (m) => m.type() === 'error' && complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(e.stack));
  await page.goto(address + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60000 });
  return page;
}
// A page that stands still: what happens is what the test does. One serves all, since starting the engine and WebGL anew takes its time.
let shared;
async function openStill(hash) {
  if (!shared) shared = await openPage(hash + '&play=0');
  else await shared.evaluate((q) => window.brio.open(q), hash.slice(1) + '&play=0');
  return shared;
}
const centre = (page) => page.evaluate(() => {
  const b = window.brio.bench, w = b.worlds[0], x = w.positions(), box = b.views[0].canvas.getBoundingClientRect();
  let best = 0, least = Infinity;
  for (let k = 0; k < w.vertices(); k++) {
    const p = b.views[0].project(x, k), d = Math.hypot(p[0] - box.left - box.width / 2, p[1] - box.top - box.height / 2);
    if (d < least) least = d, best = k;
  }
  return { vertex: best, at: b.views[0].project(x, best), x: Array.from(x.slice(3 * best, 3 * best + 3)) };
});
const pixels = async (page) => (await page.locator('.stage canvas').first().screenshot()).toString('base64');
const params = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));

test('page_loads_from_the_file_system', async () => {
  const size = statSync(file).size, page = await openPage('#tab=cloth');
  const ready = await page.evaluate(() => Number(document.documentElement.dataset.ready));
  console.log(`page ${(size / 1e6).toFixed(2)} MB, ready after ${ready} ms`);
  check(size < 2.5e6, `the page has ${size} bytes`);
  for (const tab of ['soft', 'dial', 'phase', 'stability', 'two', 'cloth']) {
    await page.click(`#tab-${tab}`);
    await page.waitForTimeout(150);
    check((await params(page)).tab === tab, `the link does not say tab ${tab}`);
    check(await page.locator('.panel').isVisible(), `tab ${tab} has no panel`);
  }
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('input,select,button,canvas')].filter((e) => !(e.labels?.length || e.closest('[aria-label]:not(.toolbar):not(.panel)') || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 80)));
  check(unnamed.length === 0, `${unnamed} controls have no name for screen readers`);
  await page.close();
});

test('dragging_a_vertex_moves_the_cloth', async () => {
  const page = await openStill('#tab=cloth&n=16');
  const before = await centre(page), picture = await pixels(page);
  await page.mouse.move(...before.at);
  await page.mouse.down();
  await page.mouse.move(before.at[0] + 120, before.at[1] - 40, { steps: 4 });
  await page.evaluate(() => {
    window.brio.bench.stepNow(40);
    window.brio.bench.draw();
  });
  const after = await page.evaluate((v) => ({ x: Array.from(window.brio.bench.worlds[0].positions().slice(3 * v, 3 * v + 3)), hands: window.brio.bench.hands.size }), before.vertex);
  const moved = Math.hypot(...after.x.map((c, i) => c - before.x[i])), sideways = after.x[0] - before.x[0];
  check(after.hands === 1, 'no hand holds the cloth');
  console.log(`the vertex went ${moved.toFixed(3)} m, ${sideways.toFixed(3)} m of it to the right`);
  check(sideways > 0.05, `the vertex went ${sideways} m to the right`);
  check((await pixels(page)) !== picture, 'the picture is the same');
  await page.mouse.up();
  check(await page.evaluate(() => window.brio.bench.hands.size === 0), 'the hand was not let go');
});

test('touch_grabs_too', async () => {
  const page = await openPage('#tab=cloth&n=10&play=0', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const c = await centre(page), session = await page.context().newCDPSession(page);
  const touch = (type, x, y) => session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  await touch('touchStart', ...c.at);
  await touch('touchMove', c.at[0] + 50, c.at[1]);
  check(await page.evaluate(() => window.brio.bench.hands.size === 1), 'the finger holds nothing');
  await touch('touchEnd');
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the phone');
  await page.close();
});

// Every scene under every integrator that is offered for it: 300 steps, ten pictures.
// They halve the long steps of a page again and again: a tenth of the steps has to do.
const SLOW = ['average-vector-field', 'relaxation', 'partitioned'];
for (const [scene, hash] of Object.entries({ cloth: 'tab=cloth&n=8', cube: 'tab=soft&scene=cube&n=2', bar: 'tab=soft&scene=bar&n=8', balls: 'tab=soft&scene=balls&n=1', balls_on_springs: 'tab=soft&scene=balls&n=1&contact=penalty', dice: 'tab=soft&scene=dice&n=1', bunny: 'tab=soft&scene=bunny&n=8&contact=penalty' }))
  test(`${scene}_under_every_integrator`, async () => {
    const page = await openStill('#' + hash);
    const steps = 300;
    const result = await page.evaluate(({ part, slow }) => {
      const b = window.brio.bench, table = {};
      for (const { name } of b.engine.methods) {
        if (b.offers[name] || ['static', 'runge-kutta'].includes(name)) continue;
        b.start();
        b.setMethod(0, name, {});
        const asked = slow.includes(name) ? part : 10 * part;
        let done = 0;
        for (let k = 0; part * k < asked && done === part * k; k++) {
          done += b.stepNow(part);
          b.draw();
        }
        const w = b.worlds[0];
        table[name] = { done, asked, finite: w.positions().every(Number.isFinite) && w.velocities().every(Number.isFinite) && Number.isFinite(w.ledger().total), said: b.message.textContent };
      }
      return table;
    }, { part: steps / 10, slow: SLOW });
    const names = Object.keys(result), stopped = names.filter((n) => result[n].done < result[n].asked);
    console.log(`${names.length} integrators, ${stopped.length} stopped with a sentence${stopped.length ? ': ' + stopped.map((n) => `${n} after ${result[n].done} (${result[n].said})`).join('; ') : ''}`);
    for (const n of names) {
      check(result[n].finite, `${n}: a value is not finite`);
      check(result[n].done === result[n].asked, `${n} stopped after ${result[n].done} steps: ${result[n].said}`);
    }
  });

test('switching_integrators_keeps_the_motion', async () => {
  const page = await openStill('#tab=cloth&n=10');
  await page.evaluate(() => window.brio.bench.stepNow(20));
  const state = () => page.evaluate(() => [...window.brio.bench.worlds[0].positions(), ...window.brio.bench.worlds[0].velocities(), window.brio.bench.worlds[0].time]);
  const before = await state();
  await page.selectOption('[data-key=integrator]', 'backward-euler');
  check(JSON.stringify(before) === JSON.stringify(await state()), 'the state has changed');
  check((await page.locator('.badge').first().textContent()).includes('backward-euler'), 'the badge names another integrator');
  const summary = await page.evaluate(() => window.brio.engine.method('backward-euler').summary);
  check(summary.length > 20 && (await page.locator('.about').first().textContent()).includes(summary), 'the sentence is not that of the registry');
  check((await params(page)).integrator === 'backward-euler', 'the link names another integrator');
  await page.evaluate(() => window.brio.bench.stepNow(60));
  check((await page.evaluate(() => window.brio.bench.worlds[0].ledger().alpha)) !== 1, 'alpha is still there');
});

test('sliders_do_what_they_say', async () => {
  for (const hash of ['tab=cloth&n=8', 'tab=soft&scene=cube&n=2', 'tab=soft&scene=dice&n=1']) {
    const page = await openStill('#' + hash);
    const keys = await page.evaluate(() => window.brio.bench.scene.controls.map((c) => c.key));
    for (const key of keys) {
      const slider = page.locator(`input[data-key="${key}"]`), before = await page.evaluate((k) => window.brio.bench.p[k], key);
      await slider.evaluate((e) => {
        e.value = Number(e.value) > 700 ? 300 : 850;
        e.dispatchEvent(new Event('input', { bubbles: true }));
      });
      await page.waitForTimeout(200);
      const now = await page.evaluate((k) => ({ value: window.brio.bench.p[k], scene: window.brio.bench.file(0), text: document.querySelector(`input[data-key="${k}"]`).getAttribute('aria-valuetext') }), key);
      check(now.value !== before, `${key} is still ${before}`);
      check(Number((await params(page))[key]) === now.value, `the link does not say ${key} = ${now.value}`);
      check(now.text.length > 0, `${key} has no text for screen readers`);
      await page.evaluate(() => window.brio.bench.setPlaying(false));
    }
    check(await page.evaluate(() => window.brio.bench.message.hidden), await page.locator('.message').textContent());
  }
  // In the engine, not only in the page.
  const page = await openStill('#tab=cloth&n=8&damping=0');
  const energies = await page.evaluate(() => {
    const b = window.brio.bench, w = b.worlds[0], set = (key, v) => b.setControl(b.scene.controls.find((c) => c.key === key), v);
    b.stepNow(30);
    const e = w.ledger();
    set('k', 2 * b.p.k);
    const stiff = w.ledger().elastic;
    set('gravity', 0);
    return { elastic: e.elastic, stiff, gravity: w.ledger().gravity, balance: Math.abs(w.ledger().added - (w.ledger().total - e.total)) / Math.abs(e.total) };
  });
  check(Math.abs(energies.stiff / energies.elastic - 2) < 1e-9, `twice the stiffness makes ${energies.elastic} J to ${energies.stiff} J`);
  check(energies.gravity === 0, 'gravity is still there');
  check(energies.balance < 1e-9, 'the jump of the energy is not booked');
});

test('reset_and_shared_links', async () => {
  const page = await openStill('#tab=cloth&n=8');
  const start = await page.evaluate(() => Array.from(window.brio.bench.worlds[0].positions()));
  await page.evaluate(() => window.brio.bench.stepNow(25));
  await page.click('[data-key=reset]');
  const state = await page.evaluate(() => ({ x: Array.from(window.brio.bench.worlds[0].positions()), t: window.brio.bench.worlds[0].time }));
  check(state.t === 0 && JSON.stringify(state.x) === JSON.stringify(start), 'reset does not lead to the start');
  await page.evaluate(() => {
    const b = window.brio.bench;
    b.setPlaying(false);
    b.setControl(b.scene.controls[0], 1234);
    b.setMethod(0, 'bdf2', {});
    b.setStep(0, 1 / 120);
    b.p.pins = [0, 8, 40];
    b.cut = [1, 2, 3, 50];
    b.start();
    b.stepNow(30);
  });
  const link = await page.evaluate(() => location.hash), other = await openPage(link);
  await other.evaluate(() => {
    window.brio.bench.start();
    window.brio.bench.stepNow(30);
  });
  const positions = (p) => p.evaluate(() => JSON.stringify(Array.from(window.brio.bench.worlds[0].positions())));
  check((await positions(page)) === (await positions(other)), `${link} shows another motion`);
  console.log(`the same bits after 30 steps from ${link}`);
  await other.close();
  await page.evaluate(() => (location.hash = '#tab=phase&system=pendulum'));
  await page.waitForFunction(() => window.brio.bench.name === 'pendulum');
});

test('pins_and_cuts', async () => {
  const page = await openStill('#tab=cloth&n=8&tool=pin');
  await page.evaluate(() => window.brio.bench.stepNow(30));
  const c = await centre(page), energy = await page.evaluate(() => window.brio.bench.worlds[0].ledger().total);
  await page.mouse.click(...c.at);
  const pinned = await page.evaluate((v) => ({ pins: window.brio.bench.p.pins, held: window.brio.bench.worlds[0].fixed()[v], x: Array.from(window.brio.bench.worlds[0].positions().slice(3 * v, 3 * v + 3)), total: window.brio.bench.worlds[0].ledger().total }), c.vertex);
  check(pinned.pins.includes(c.vertex) && pinned.held === 1, 'a click does not pin');
  check(JSON.stringify(pinned.x) === JSON.stringify(c.x), 'the pinned vertex has jumped');
  await page.evaluate(() => window.brio.bench.stepNow(20));
  const still = await page.evaluate((v) => Array.from(window.brio.bench.worlds[0].positions().slice(3 * v, 3 * v + 3)), c.vertex);
  check(JSON.stringify(still) === JSON.stringify(c.x), 'the pinned vertex moves');
  const again = await centre(page);
  await page.mouse.click(...(await page.evaluate((v) => window.brio.bench.views[0].project(window.brio.bench.worlds[0].positions(), v), c.vertex)));
  check(await page.evaluate((v) => !window.brio.bench.p.pins.includes(v), c.vertex), 'a second click does not let go');
  check(again && Number.isFinite(energy), 'no energy');
  await page.keyboard.press('c');
  const springs = await page.evaluate(() => window.brio.bench.worlds[0].edges().length / 2), box = await page.locator('.stage canvas').first().boundingBox();
  await page.mouse.move(box.x + 5, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 5, box.y + box.height / 2 + 3, { steps: 5 });
  await page.mouse.up();
  const left = await page.evaluate(() => window.brio.bench.worlds[0].edges().length / 2);
  console.log(`${springs} springs, ${springs - left} cut`);
  check(left < springs, 'nothing was cut');
  // What falls bounces: the way counts, not the last instant.
  const lows = await page.evaluate(() => Array.from({ length: 12 }, () => {
    window.brio.bench.stepNow(5);
    return Math.min(...window.brio.bench.worlds[0].positions().filter((_, i) => i % 3 === 1));
  }));
  console.log(`lowest vertex every 5 steps: ${lows.map((y) => y.toFixed(3)).join(' ')}`);
  check(Math.min(...lows) < -0.55, `what was cut off does not fall: the lowest vertex is at ${lows.at(-1)} m`);
});

// A cloth without pins, cut through the middle and blown to a side, under implicit, explicit and position based methods.
test('the_room_keeps_the_cloth', async () => {
  for (const integrator of ['a-search', 'backward-euler', 'symplectic-euler', 'pbd-verlet']) {
    const page = await openStill(`#tab=cloth&n=8&tilt=50&pins=&integrator=${integrator}`);
    const r = await page.evaluate(() => {
      const b = window.brio.bench, w = () => b.worlds[0], box = b.views[0].canvas.getBoundingClientRect(), { x: side, z: depth, floor } = b.scene.room;
      b.stepNow(10);
      b.cutAlong([[box.left, box.top + box.height / 2], [box.right, box.top + box.height / 2]]);
      const done = b.stepNow(240), x = Array.from(w().positions()), shown = x.length / 3;
      let behind = 0, outside = 0;
      for (let v = 0; v < shown; v++) {
        behind = Math.max(behind, Math.abs(x[3 * v]) - side, Math.abs(x[3 * v + 2]) - depth, floor - x[3 * v + 1]);
        const [px, py] = b.views[0].project(x, v);
        outside += px < box.left || px > box.right || py < box.top || py > box.bottom;
      }
      return { done, behind, outside, cut: b.cut.length, low: Math.min(...x.filter((_, i) => i % 3 === 1)) - floor };
    });
    console.log(`${integrator}: ${r.cut} springs cut, ${(1000 * r.behind).toFixed(1)} mm behind a plane at most, ${(1000 * r.low).toFixed(1)} mm from the floor at least, ${r.outside} vertices out of the picture`);
    check(r.done === 240 && r.cut > 0, 'it stopped');
    check(r.behind < 0.02, `${integrator}: the cloth is ${r.behind} m behind a plane`);
    check(r.low < 0.05, `${integrator}: the cloth hangs ${r.low} m above the floor`);
    check(r.outside === 0, `${integrator}: ${r.outside} vertices are out of the picture`);
  }
});

test('contact_goes_by_size', async () => {
  for (const [scene, small, large] of [['bunny', 8, 15], ['balls', 2, 3], ['dice', 1, 3]]) {
    const page = await openStill(`#tab=soft&scene=${scene}&n=${small}`);
    const state = () => page.evaluate(() => {
      const f = window.brio.bench.file(0);
      return { contact: f.contact, solver: f.solver.type, said: document.querySelector('[data-key=contact-in-use]').textContent, badge: document.querySelector('.badge').textContent, verlet: window.brio.bench.offers.verlet };
    });
    const ipc = await state();
    check(ipc.contact.type === 'ipc' && ipc.solver === 'newton' && /In use: ipc/.test(ipc.said) && /ipc contact/.test(ipc.badge) && ipc.verlet, `${scene}: ${JSON.stringify(ipc)}`);
    await page.evaluate((n) => window.brio.open(`tab=soft&scene=${location.hash.match(/scene=(\w+)/)[1]}&n=${n}&play=0`), large);
    const springs = await state();
    check(springs.contact.type === 'penalty' && springs.contact.self > 0 && springs.solver === 'local-global' && /In use: penalty/.test(springs.said) && /penalty contact/.test(springs.badge) && !springs.verlet, `${scene}: ${JSON.stringify(springs)}`);
    await page.selectOption('[data-key=contact]', 'ipc');
    check((await state()).contact.type === 'ipc' && (await params(page)).contact === 'ipc', `${scene}: the menu does not choose`);
  }
  // A method that goes with springs only gives way when the size asks for barriers.
  const page = await openStill('#tab=soft&scene=balls&n=3&integrator=verlet');
  const r = await page.evaluate(() => {
    const b = window.brio.bench, before = b.methods[0].name;
    b.again({ n: 1 });
    return { before, after: b.methods[0].name, said: b.message.textContent, done: b.stepNow(20) };
  });
  check(r.before === 'verlet' && r.after === 'a-search' && /does not go with contact: ipc/.test(r.said) && r.done === 20, JSON.stringify(r));
});

// Springs between vertices: what falls on another lies on it or beside it, not in it.
test('large_bunnies_push_each_other', async () => {
  const page = await openStill('#tab=soft&scene=bunny&n=15&count=2&integrator=backward-euler');
  const r = await page.evaluate(() => {
    const b = window.brio.bench, w = b.worlds[0], first = w.ledger().total, middle = (body) => {
      const x = w.positions(), from = w.firstVertex(body), to = from + w.vertices(body), sum = [0, 0, 0];
      for (let v = from; v < to; v++) for (let k = 0; k < 3; k++) sum[k] += x[3 * v + k] / (to - from);
      return sum;
    };
    const done = b.stepNow(60), [a, c] = [middle(0), middle(1)];
    return { done, first, last: w.ledger().total, apart: Math.hypot(...a.map((v, k) => v - c[k])), low: Math.min(...w.positions().filter((_, i) => i % 3 === 1)) };
  });
  console.log(`middles ${r.apart.toFixed(3)} m apart, lowest vertex ${(1000 * r.low).toFixed(1)} mm, energy ${r.first.toFixed(2)} -> ${r.last.toFixed(2)} J`);
  check(r.done === 60 && r.apart > 0.08, `the middles are only ${r.apart} m apart`);
  check(r.low > -0.01 && r.last < r.first, 'it sinks into the floor, or energy was made');
});

test('shown_energy_is_the_engines', async () => {
  for (const hash of ['tab=cloth&n=8', 'tab=soft&scene=cube&n=2', 'tab=dial&n=2', 'tab=two&n=2']) {
    const page = await openStill('#' + hash);
    const { shown, engine } = await page.evaluate(() => {
      const b = window.brio.bench;
      b.stepNow(17);
      b.record();
      b.drawn = 0;
      b.draw();
      const i = b.energy.series.findIndex((s) => s.label === 'total');
      return { shown: [b.energy.data[i < 0 ? 1 : i + 1].at(-1), b.energy.outputs[i < 0 ? 0 : i].textContent], engine: b.worlds[0].ledger().total };
    });
    check(shown[0] === engine, `${hash}: the curve ends at ${shown[0]}, the engine says ${engine}`);
    check(Math.abs(Number(shown[1].replaceAll('−', '-')) - engine) <= 6e-4 * Math.abs(engine), `${hash}: shown ${shown[1]}, the engine says ${engine}`);
  }
});

test('energy_follows_the_dial', async () => {
  const page = await openStill('#tab=dial&n=2');
  const r = await page.evaluate(() => {
    const b = window.brio.bench, w = b.worlds[0], share = () => (w.ledger().total - b.ground) / (b.first - b.ground);
    b.stepNow(60);
    const one = share();
    b.level = 0.5;
    b.aim();
    b.stepNow(240);
    return { one, half: share() };
  });
  console.log(`energy above rest: ${r.one.toFixed(3)} of the first, then ${r.half.toFixed(3)}`);
  check(Math.abs(r.one - 1) < 0.02 && Math.abs(r.half - 0.5) < 0.03, 'the energy is elsewhere');
});

test('two_worlds_keep_step', async () => {
  const page = await openStill('#tab=two&n=2&integrator=backward-euler&h=60&integrator2=a-search&h2=120');
  const r = await page.evaluate(() => {
    window.brio.bench.stepNow(40);
    return window.brio.bench.worlds.map((w) => ({ t: w.time, e: w.ledger().total }));
  });
  check(Math.abs(r[0].t - r[1].t) <= 1 / 60 + 1e-9, `times ${r[0].t} and ${r[1].t}`);
  check(r[0].e < r[1].e, 'backward Euler has more energy than a-search');
});

test('phase_plane_and_stability_are_measured', async () => {
  const page = await openStill('#tab=phase&integrators=forward-euler,backward-euler,implicit-midpoint');
  const e = await page.evaluate(() => {
    const b = window.brio.bench, first = b.worlds.map((r) => r.world.ledger().total);
    b.stepNow(100);
    return b.worlds.map((r, i) => r.world.ledger().total / first[i]);
  });
  console.log(`energies after 100 steps: ${e.map((v) => v.toPrecision(4)).join(', ')} of the first`);
  const z = 10 / 900; // h²k/m: forward Euler gains and backward Euler loses the factor 1 + z a step
  check(Math.abs(e[0] / (1 + z) ** 100 - 1) < 1e-9 && Math.abs(e[1] * (1 + z) ** 100 - 1) < 1e-9 && Math.abs(e[2] - 1) < 1e-9, 'they differ from theory');
  await page.evaluate(() => window.brio.open('tab=stability&integrator=symplectic-euler&X=0&Y=1'));
  const r = await page.evaluate(() => window.brio.bench.reading);
  check(Math.abs(r.det - 1) < 1e-12 && Math.abs(r.trace - 1) < 1e-12, `symplectic Euler: det ${r.det}, trace ${r.trace}`);
  await page.locator('.plane').focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
  check(Number((await params(page)).X) > 0.1, 'arrow keys do not move the point');
  await page.waitForFunction(() => window.brio.bench.next >= window.brio.bench.order.length, null, { timeout: 120000 });
  const stable = await page.evaluate(() => window.brio.bench.radius.filter((r) => r <= 1 + 1e-7).length / window.brio.bench.radius.length);
  check(Math.abs(stable - 4 / 24) < 0.01, `the triangle of symplectic Euler, Y < 4 - 2 X, takes ${stable} of the diagram instead of 1/6`);
});

test('survives_resize_hiding_and_a_lost_context', async () => {
  const page = await openPage('#tab=cloth&n=12');
  for (const [width, height] of [[390, 844], [1920, 1080], [700, 500]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(120);
    const box = await page.locator('.stage canvas').first().boundingBox();
    check(box.width > 100 && box.width <= width && box.height > 80, `canvas of ${box.width} x ${box.height} in ${width} x ${height}`);
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `clipped at ${width}`);
  }
  const other = await running.newPage();
  await other.bringToFront();
  await other.waitForTimeout(400);
  await page.bringToFront();
  await other.close();
  const before = await page.evaluate(() => {
    const gl = window.brio.bench.views[0].renderer.getContext(), e = gl.getExtension('WEBGL_lose_context');
    e.loseContext();
    setTimeout(() => e.restoreContext(), 200);
    return window.brio.bench.worlds[0].time;
  });
  await page.waitForTimeout(900);
  const after = await page.evaluate(() => ({ t: window.brio.bench.worlds[0].time, lost: window.brio.bench.views[0].renderer.getContext().isContextLost() }));
  check(!after.lost, 'the context is still lost');
  check(after.t > before, 'time stands still');
  await page.evaluate(() => window.brio.bench.setPlaying(false));
  const picture = await pixels(page);
  await page.evaluate(() => {
    window.brio.bench.stepNow(30);
    window.brio.bench.draw();
  });
  check((await pixels(page)) !== picture, 'nothing is drawn any more');
  complaints = complaints.filter((c) => !/context/i.test(c)); // three reports the loss that was asked for
  await page.close();
});

test('engine_errors_are_sentences', async () => {
  const page = await openStill('#tab=soft&scene=dice&n=1');
  const said = await page.evaluate(() => {
    const b = window.brio.bench;
    b.setMethod(0, 'verlet', {});
    return b.message.hidden ? '' : b.message.textContent;
  });
  check(/does not go with contact: ipc.*use one of/.test(said), `said: "${said}"`);
});

// Files dropped on the page: scenes with the files that they name, meshes alone, and what cannot be opened.
test('own_scenes_and_meshes_by_drop', async () => {
  const page = await openPage('#tab=own&play=0');
  check(/Drop files anywhere/.test(await page.locator('.zone').textContent()), 'there is no place to drop');
  const drop = async (files) => {
    await page.evaluate((list) => {
      const data = new DataTransfer();
      for (const [name, text] of Object.entries(list)) data.items.add(new File([text], name));
      window.brio.dropped = window.brio.bench;
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    }, files);
    await page.waitForFunction(() => window.brio.bench && window.brio.bench !== window.brio.dropped, null, { timeout: 60000 });
    return page.evaluate(() => {
      const b = window.brio.bench;
      b.setPlaying?.(false);
      return { said: b.message.hidden ? '' : b.message.textContent, bodies: b.worlds?.[0].bodies, file: b.file?.(0) };
    });
  };
  const faces = [[1, 3, 2], [2, 3, 4], [5, 6, 7], [6, 8, 7], [1, 2, 5], [2, 6, 5], [3, 7, 4], [4, 7, 8], [1, 5, 3], [3, 5, 7], [2, 4, 6], [4, 8, 6]];
  const obj = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => `v ${k & 1} ${(k >> 1) & 1} ${k >> 2}`).concat(faces.map((f) => `f ${f.join(' ')}`)).join('\n') + '\n';
  const wood = '{type: affine, E: 1e8, rho: 600}';
  const door = `# a crate on a hinge
time: {h: 1/120}
integrator: {type: bdf2}
contact: {type: ipc}
bodies:
  - {name: post, shape: {type: box, size: [0.1, 1, 0.1]}, kind: affine, material: ${wood}, fix: [{box: [[-9, -9, -9], [9, 9, 9]]}], transform: {translate: [-0.1, 1, 0]}}
  - {name: crate, mesh: ../meshes/crate.obj, kind: affine, material: ${wood}, transform: {scale: 0.4, translate: [0.1, 1, -0.2]}}
obstacles:
  - {type: plane, normal: [0, 1, 0]}
constraints:
  - {type: hinge, a: crate, b: post, at: [0, 1.2, 0], axis: [0, 0, 1]}
`;
  const own = await drop({ 'door.yaml': door, 'crate.obj': obj });
  check(!own.said && String(own.bodies) === 'post,crate' && own.file.integrator.type === 'bdf2' && Math.abs(own.file.time.h - 1 / 120) < 1e-15, JSON.stringify(own));
  const low = await page.evaluate(() => {
    const b = window.brio.bench, w = b.worlds[0], y = () => Math.min(...w.positions('crate').filter((_, i) => i % 3 === 1)), from = y();
    return { done: b.stepNow(30), fell: from - y(), drift: w.ledger().rods };
  });
  console.log(`door.yaml with crate.obj: 30 steps, the crate turned down by ${low.fell.toFixed(3)} m, drift ${low.drift.toExponential(1)}`);
  check(low.done === 30 && low.fell > 0.05 && low.drift < 1e-6, JSON.stringify(low));
  const mesh = await drop({ 'cube.obj': obj });
  check(!mesh.said && mesh.bodies[0] === 'cube' && mesh.file.bodies[0].cage > 0, JSON.stringify(mesh));
  const sheet = await drop({ 'sheet.obj': 'v 0 0 0\nv 9 0 0\nv 0 0 9\nv 9 0 9\nf 1 3 2\nf 2 3 4\n' });
  check(!sheet.said && sheet.file.bodies[0].kind === 'shell' && (await page.evaluate(() => window.brio.bench.stepNow(20))) === 20, JSON.stringify(sheet));
  const large = (n) => `bodies: [{shape: {type: box, cells: [${n}, ${n}, ${n}]}, material: rubber}]\n`;
  for (const [files, pattern] of [
    [{ 'big.yaml': large(32) }, /big\.yaml is too large for a page: it has 35,937 vertices.*brio live big\.yaml/],
    [{ 'huge.yaml': large(110) }, /huge\.yaml is too large for a page: .*GB.*brio live huge\.yaml/], [{ 'vast.yaml': large(300) }, /vast\.yaml is too large for a page: .*coarser mesh\.$/],
    [{ 'door.yaml': door }, /no file.*Drop it together with the scene/], [{ 'bad.yaml': 'bodies: [{\n' }, /bad\.yaml: line \d+/],
    [{ 'wrong.yaml': door.replace('bdf2', 'bdf22'), 'crate.obj': obj }, /did you mean "bdf2"/], [{ 'notes.txt': 'x' }, /neither a scene .* nor a mesh/], [{ 'broken.obj': 'v 0 0\n' }, /broken\.obj:1/],
  ]) {
    const { said } = await drop(files);
    check(pattern.test(said), `${Object.keys(files)}: "${said}"`);
  }
  await page.evaluate(() => window.brio.open('tab=cloth&n=8&play=0'));
  check((await page.evaluate(() => window.brio.bench.stepNow(5))) === 5, 'the other tabs do not go on');
  await page.close();
});

// Where each vertex of a cloth and of a soft body is after 100 steps.
const ends = (page) => page.evaluate(() => [
  { integrator: 'backward-euler', solver: { type: 'local-global', iterations: 10 },
    bodies: [{ name: 'cloth', shape: { type: 'grid', cells_x: 49, cells_z: 49 }, material: { type: 'hooke', k: 1000, rho: 0.2 }, fix: [{ vertices: [0, 49] }] }] },
  { integrator: 'a-search', solver: { type: 'newton' }, gravity: [0, 0, 0],
    bodies: [{ name: 'cube', shape: { type: 'box', size: [0.1, 0.1, 0.1], cells: [6, 6, 6] }, material: { type: 'corotated', E: 5e4, nu: 0.3, rho: 1000 }, velocity: { angular: [0, 0, 10] } }] },
].map((scene) => {
  const w = window.brio.engine.world(scene);
  w.step(1 / 60, 100);
  const x = Array.from(w.positions());
  w.dispose();
  return x;
}));
const threads = (page) => page.evaluate(() => ({ isolated: window.crossOriginIsolated, engine: window.brio.engine.threads, shown: document.getElementById('threads').textContent }));

test('served_page_has_threads_and_the_same_bits', async () => {
  const server = await serve(build);
  try {
    const one = await openPage('#tab=cloth&n=8&play=0'), many = await openPage('?threads=3#tab=cloth&n=8&play=0', {}, server.address);
    const alone = await threads(one), shared = await threads(many);
    check(!alone.isolated && alone.engine === 1 && alone.shown === '1 thread', `from the file system: ${JSON.stringify(alone)}`);
    check(shared.isolated && shared.engine === 3 && shared.shown === '3 threads', `served: ${JSON.stringify(shared)}`);
    const [x, y] = [await ends(one), await ends(many)];
    x.forEach((list, k) => {
      const other = list.filter((v, i) => !Object.is(v, y[k][i])).length;
      console.log(`${['cloth', 'soft body'][k]}: ${other} of ${list.length} coordinates differ after 100 steps`);
      check(list.length > 1000 && list.length === y[k].length && other === 0, 'other bits with threads');
    });
    await many.evaluate(() => window.brio.open('tab=cloth&n=40'));
    await many.waitForFunction(() => window.brio.bench.worlds[0].time > 0.1, null, { timeout: 60000 }); // it plays
    await one.close();
    await many.close();
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
    const page = await openPage('#tab=cloth&n=8&play=0', {}, `http://127.0.0.1:${server.address().port}/`), said = await threads(page);
    check(!said.isolated && said.engine === 1 && said.shown === '1 thread', JSON.stringify(said));
    await page.close();
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

playTests({ test, check, openStill });
guideTests({ test, check, openPage, openStill, params });

let failed = 0;
for (const { name, run } of cases) {
  if (!chosen(name)) continue;
  const begin = performance.now();
  console.log(`[ RUN      ] ${name}`);
  complaints = [];
  try {
    await run();
    check(complaints.length === 0, `the console says: ${complaints.join('; ')}`);
    console.log(`[       OK ] ${name} ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  } catch (e) {
    failed++;
    console.log(`${e.message}\n[  FAILED  ] ${name}`);
  }
  for (const context of running.contexts()) if (context !== shared?.context()) await context.close();
}
await running.close();
process.exit(failed ? 1 : 0);
