// Opens `brio live` in Chromium and takes part as a user does:  node test.mjs ADDRESS MODULES
// The scene has one body. Exit code 77: there is no browser to look with.
import { strict as assert } from 'node:assert';
import { frames, launch } from './browser.mjs';

const [address, modules] = process.argv.slice(2),
  { origin } = new URL(address);
const browser = await launch(modules),
  troubles = [],
  foreign = [];

async function open(url = address, viewport = { width: 1000, height: 640 }) {
  const page = await browser.newPage({ viewport, reducedMotion: 'reduce' });
  page.on(
    'console',
    (m) =>
      ['error', 'warning'].includes(m.type()) &&
      !/GPU stall|GL Driver|software WebGL/.test(m.text()) &&
      troubles.push(m.text()),
  );
  page.on('pageerror', (e) => troubles.push(e.stack));
  page.on(
    'request',
    (r) => r.url().startsWith(origin) || /^(data|blob):/.test(r.url()) || foreign.push(r.url()),
  );
  await page.goto(url);
  await page.waitForFunction(() => window.brioLive?.count > 1, null, { timeout: 60000 });
  return page;
}

// What the page has of the last frame: time, hands, and the middle of the body.
const look = (page) =>
  page.evaluate(() => {
    const { frame, shapes } = window.brioLive,
      x = frame.positions[shapes.findIndex((p) => p.kind === 'body')];
    const middle = [0, 0, 0];
    for (let k = 0; k < x.length; k++) middle[k % 3] += (3 * x[k]) / x.length;
    return {
      time: frame.ledger.time,
      hands: frame.hands.map((h) => [...h]),
      middle,
      step: frame.ledger.step,
    };
  });
const pixel = (page) =>
  page.evaluate(() => {
    const { view, frame, shapes } = window.brioLive,
      x = frame.positions[shapes.findIndex((p) => p.kind === 'body')];
    const middle = [0, 0, 0];
    for (let k = 0; k < x.length; k++) middle[k % 3] += (3 * x[k]) / x.length;
    return view.project(middle, 0);
  });
const settings = (page) => page.evaluate(() => window.brioLive.settings);
const until = (page, what, value) => page.waitForFunction(what, value, { timeout: 60000 });

// ---- a pull -------------------------------------------------------------------------

const page = await open();
const [px, py] = await pixel(page),
  before = await look(page);
await page.mouse.move(px, py);
await page.mouse.down();
await until(page, () => window.brioLive.frame.hands.length === 1);
for (let k = 1; k <= 5; k++) await page.mouse.move(px + 50 * k, py - 10 * k);
const { target, hit } = await page.evaluate(
  ([x, y]) => {
    const held = [...window.brioLive.hands.values()][0];
    return { target: window.brioLive.view.onPlane(x, y, held.hit), hit: held.hit };
  },
  [px + 250, py - 50],
);
const far = (a, b) => Math.hypot(...a.map((v, r) => v - b[r]));
// the native state: the hand is where the pointer is, the grip comes to it, the body comes along
await until(
  page,
  ({ to, start, from }) => {
    const { frame, shapes } = window.brioLive,
      h = frame.hands[0];
    if (!h || Math.hypot(h[0] - to[0], h[1] - to[1], h[2] - to[2]) > 1e-3) return false;
    const x = frame.positions[shapes.findIndex((p) => p.kind === 'body')],
      middle = [0, 0, 0];
    for (let k = 0; k < x.length; k++) middle[k % 3] += (3 * x[k]) / x.length;
    const way = to.map((v, r) => v - from[r]),
      along = way.reduce((sum, v, r) => sum + v * (middle[r] - start[r]), 0);
    const close = Math.hypot(h[3] - to[0], h[4] - to[1], h[5] - to[2]) < 0.05;
    return close && along > 0.6 * way.reduce((sum, v) => sum + v * v, 0);
  },
  { to: target, start: before.middle, from: hit },
);
const pulled = await look(page);
const came = far(pulled.middle, before.middle),
  time = pulled.time - before.time;
console.log(
  `pulled by ${far(target, hit).toFixed(3)} m, the body has come ${came.toFixed(3)} m`,
  `in ${time.toFixed(2)} s of motion`,
);
await page.mouse.up();
await until(page, () => window.brioLive.frame.hands.length === 0);

// two nudges at once, and a grab right behind a restart: no hand stays
const order = (what) => page.evaluate((name) => window.brioLive.order(name), what);
await order('pause');
await order('restart');
await until(page, () => window.brioLive.frame.ledger.step === 0 && window.brioLive.frame.shown);
await page.evaluate(() => Promise.all([window.brioLive.nudge(), window.brioLive.nudge()]));
await until(page, () => window.brioLive.hands.size === 0);
await order('step');
await until(page, () => window.brioLive.frame.ledger.step === 1);
assert.equal((await look(page)).hands.length, 0, 'a nudge lets go');
await page.evaluate(
  async ([x, y]) => {
    const live = window.brioLive;
    live.order('restart');
    if (!(await live.grab('test', live.view.ray(x, y)))) throw new Error('nothing was grabbed');
    live.letGo('test');
  },
  [px, py],
);
await order('step');
await order('step');
await until(page, () => window.brioLive.frame.ledger.step === 2 && window.brioLive.frame.shown);
assert.equal((await look(page)).hands.length, 0, 'a hand is let go after a restart');
// a frame that is not drawn yet when another scene comes: nothing of it is shown
await page.evaluate(async () => {
  const live = window.brioLive;
  live.frame = { ...live.frame, positions: [], shown: false };
  live.setScene(live.scene, live.shapes);
  live.setSettings(live.settings);
  for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
});
await order('play');
await frames(page, 5);
assert.deepEqual(troubles, [], 'frames fit their scene');

// ---- the view, keys and settings ----------------------------------------------------

const camera = () => page.evaluate(() => window.brioLive.view.camera.position.toArray());
const from = await camera();
await page.mouse.move(60, 500 - 180);
await page.mouse.down();
await page.mouse.move(160, 300, { steps: 3 });
await page.mouse.up();
assert(far(await camera(), from) > 0.01, 'a drag next to the body turns the view');
assert.equal((await look(page)).hands.length, 0);

await page.keyboard.press('Space');
await until(page, () => !window.brioLive.settings.playing);
const paused = await page.evaluate(() => window.brioLive.order('pause')); // says at which step
await page.keyboard.press('s');
await until(page, (step) => window.brioLive.frame.ledger.step > step, paused.step);
assert.equal((await look(page)).step, paused.step + 1, 'S does one step');
await page.click('[data-key=restart]');
await until(page, () => window.brioLive.frame.ledger.step === 0);
await page.keyboard.press('Tab');
await page.locator('canvas').first().focus();
await page.keyboard.press('Space');
await until(page, () => window.brioLive.settings.playing);

await page.selectOption('[data-key=integrator]', 'bdf2');
await until(page, () => window.brioLive.settings.integrator === 'bdf2');
await page.selectOption('[data-key=h]', '120');
await until(page, () => Math.abs(window.brioLive.settings.h - 1 / 120) < 1e-9);
const {
  bodies: [{ E }],
} = await settings(page);
await page.focus('[data-key="m.E"]');
await page.keyboard.press('ArrowRight');
await until(page, (old) => window.brioLive.settings.bodies[0].E > old, E);
const refused = await page.evaluate(() =>
  window.brioLive.order('material', { body: 0, name: 'rho', value: 3 }),
);
assert(!refused.ok && /masses/.test(refused.text));
assert.match(await page.locator('.message').textContent(), /masses/);

// ---- others -------------------------------------------------------------------------

const phone = await open(address, { width: 390, height: 844 });
assert.equal(
  await phone.evaluate(() => document.documentElement.scrollWidth),
  390,
  'no sideways scrolling',
);
assert.equal(
  (await settings(phone)).integrator,
  'bdf2',
  'a second browser sees what the first has set',
);
for (const p of [page, phone])
  assert.deepEqual(
    await p.evaluate(() =>
      [...document.querySelectorAll('input, select, button, .stage canvas')]
        .filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label')))
        .map((e) => e.outerHTML),
    ),
    [],
    'everything has a label',
  );
const left = await look(page);
await page.close();
await until(phone, (t) => window.brioLive.frame.ledger.time > t + 0.2, left.time);
const again = await open();
assert((await look(again)).time > left.time, 'a closed tab ends nothing');
await again.click('[data-key=record]');
await until(again, () => window.brioLive.settings.record);
await frames(again, 5);
await again.click('[data-key=record]');
await until(again, () => !window.brioLive.settings.record);
assert.match(await again.locator('.message').textContent(), /brio view [a-z]+-live-1/);

// without WebGL the page says so
const blind = await browser.newPage();
blind.on('pageerror', (e) => troubles.push(e.stack));
await blind.addInitScript(() => {
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    return /webgl/.test(kind) ? null : getContext.call(this, kind, ...more);
  };
});
await blind.goto(address);
await until(blind, () => /needs WebGL/.test(document.getElementById('page').textContent));
await frames(blind, 3);
await blind.close();

const stranger = await browser.newPage();
const answer = await stranger.goto(`${origin}/?token=${'0'.repeat(32)}`);
assert.equal(answer.status(), 403);
assert.match(await stranger.textContent('body'), /token is missing or wrong/);
const site = await browser.newPage(); // a page of another origin, with the right token
await site.goto('data:text/html,<p>another site');
assert.equal(
  await site.evaluate(
    (url) =>
      new Promise((done) => {
        const socket = new WebSocket(url);
        socket.onopen = () => done('open');
        socket.onerror = () => done('refused');
      }),
    address.replace('http', 'ws').replace('/?', '/socket?'),
  ),
  'refused',
);

assert.deepEqual(foreign, [], 'nothing is asked of anybody else');
assert.deepEqual(troubles, [], 'the console is empty');
await browser.close();
console.log('all well');
