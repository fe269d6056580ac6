// The benches in Chromium: hands, pins, cuts, sliders, links, contact by size, energies, and the
// diagrams of the phase plane and of stability.

// The vertex in the middle of the picture: its number, its pixel, its place.
const centre = (page) => page.evaluate(() => {
  const b = window.brio.bench, w = b.worlds[0], view = b.views[0], x = w.positions();
  const box = view.canvas.getBoundingClientRect();
  let best = 0, least = Infinity;
  for (let k = 0; k < w.vertices(); k++) {
    const [px, py] = view.project(x, k);
    const d = Math.hypot(px - box.left - box.width / 2, py - box.top - box.height / 2);
    if (d < least) [least, best] = [d, k];
  }
  const place = Array.from(x.slice(3 * best, 3 * best + 3));
  return { vertex: best, at: view.project(x, best), x: place };
});
const placeOf = (page, vertex) => page.evaluate((v) =>
  Array.from(window.brio.bench.worlds[0].positions().slice(3 * v, 3 * v + 3)), vertex);
const stepNow = (page, count) => page.evaluate((n) => window.brio.bench.stepNow(n), count);
const pixels = async (page) =>
  (await page.locator('.stage canvas').first().screenshot()).toString('base64');
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function handTests({ test, check, openPage, openStill }) {
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
    const after = await placeOf(page, before.vertex);
    const moved = Math.hypot(...after.map((c, i) => c - before.x[i]));
    const sideways = after[0] - before.x[0], hands = () => window.brio.bench.hands.size;
    check((await page.evaluate(hands)) === 1, 'no hand holds the cloth');
    console.log(`the vertex went ${moved.toFixed(3)} m, ${sideways.toFixed(3)} m to the right`);
    check(sideways > 0.05, `the vertex went ${sideways} m to the right`);
    check((await pixels(page)) !== picture, 'the picture is the same');
    await page.mouse.up();
    check((await page.evaluate(hands)) === 0, 'the hand was not let go');
  });

  test('touch_grabs_too', async () => {
    const page = await openPage('#tab=cloth&n=10&play=0',
      { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const c = await centre(page), session = await page.context().newCDPSession(page);
    const touch = (type, ...points) => session.send('Input.dispatchTouchEvent',
      { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
    await touch('touchStart', c.at);
    await touch('touchMove', [c.at[0] + 50, c.at[1]]);
    check(await page.evaluate(() => window.brio.bench.hands.size === 1),
      'the finger holds nothing');
    await touch('touchEnd');
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      'the page is wider than the phone');
  });

  test('pins_and_cuts', async () => {
    const page = await openStill('#tab=cloth&n=8&tool=pin');
    await stepNow(page, 30);
    const c = await centre(page);
    await page.mouse.click(...c.at);
    const pinned = await page.evaluate((v) => {
      const { p, worlds: [w] } = window.brio.bench;
      return { pins: p.pins, fixed: w.fixed()[v], total: w.ledger().total };
    }, c.vertex);
    check(pinned.pins.includes(c.vertex) && pinned.fixed === 1, 'a click does not pin');
    check(Number.isFinite(pinned.total), 'no energy');
    check(same(await placeOf(page, c.vertex), c.x), 'the pinned vertex has jumped');
    await stepNow(page, 20);
    check(same(await placeOf(page, c.vertex), c.x), 'the pinned vertex moves');
    await page.mouse.click(...(await page.evaluate((v) => {
      const { views, worlds: [w] } = window.brio.bench;
      return views[0].project(w.positions(), v);
    }, c.vertex)));
    check(await page.evaluate((v) => !window.brio.bench.p.pins.includes(v), c.vertex),
      'a second click does not let go');
    await page.keyboard.press('c');
    const count = () => page.evaluate(() => window.brio.bench.worlds[0].edges().length / 2);
    const springs = await count(), box = await page.locator('.stage canvas').first().boundingBox();
    await page.mouse.move(box.x + 5, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 5, box.y + box.height / 2 + 3, { steps: 5 });
    await page.mouse.up();
    const left = await count();
    console.log(`${springs} springs, ${springs - left} cut`);
    check(left < springs, 'nothing was cut');
    // What falls bounces: the way counts, not the last instant.
    const lows = await page.evaluate(() => Array.from({ length: 12 }, () => {
      window.brio.bench.stepNow(5);
      return Math.min(...window.brio.bench.worlds[0].positions().filter((_, i) => i % 3 === 1));
    }));
    console.log(`lowest vertex every 5 steps: ${lows.map((y) => y.toFixed(3)).join(' ')}`);
    check(Math.min(...lows) < -0.55,
      `what was cut off does not fall: the lowest vertex is at ${lows.at(-1)} m`);
  });

  // A cloth without pins, cut through the middle and blown to a side, under implicit, explicit and
  // position based methods.
  test('the_room_keeps_the_cloth', async () => {
    for (const integrator of ['a-search', 'backward-euler', 'symplectic-euler', 'pbd-verlet']) {
      const page = await openStill(`#tab=cloth&n=8&tilt=50&pins=&integrator=${integrator}`);
      const r = await page.evaluate(() => {
        const b = window.brio.bench, box = b.views[0].canvas.getBoundingClientRect();
        const { x: side, z: depth, floor } = b.scene.room, middle = box.top + box.height / 2;
        b.stepNow(10);
        b.cutAlong([[box.left, middle], [box.right, middle]]);
        const done = b.stepNow(240), x = Array.from(b.worlds[0].positions());
        let behind = 0, outside = 0, low = Infinity;
        for (let v = 0; v < x.length / 3; v++) {
          const [X, Y, Z] = x.slice(3 * v, 3 * v + 3), [px, py] = b.views[0].project(x, v);
          behind = Math.max(behind, Math.abs(X) - side, Math.abs(Z) - depth, floor - Y);
          outside += px < box.left || px > box.right || py < box.top || py > box.bottom;
          low = Math.min(low, Y - floor);
        }
        return { done, behind, outside, cut: b.cut.length, low };
      });
      const mm = (v) => `${(1000 * v).toFixed(1)} mm`;
      console.log(`${integrator}: ${r.cut} springs cut, ${mm(r.behind)} behind a plane at most, ` +
        `${mm(r.low)} from the floor at least, ` +
        `${r.outside} vertices out of the picture`);
      check(r.done === 240 && r.cut > 0, 'it stopped');
      check(r.behind < 0.02, `${integrator}: the cloth is ${r.behind} m behind a plane`);
      check(r.low < 0.05, `${integrator}: the cloth hangs ${r.low} m above the floor`);
      check(r.outside === 0, `${integrator}: ${r.outside} vertices are out of the picture`);
    }
  });
}

function settingTests({ test, check, openPage, openStill, params }) {
  test('switching_integrators_keeps_the_motion', async () => {
    const page = await openStill('#tab=cloth&n=10');
    await stepNow(page, 20);
    const state = () => page.evaluate(() => {
      const [w] = window.brio.bench.worlds;
      return [...w.positions(), ...w.velocities(), w.time];
    });
    const before = await state();
    await page.selectOption('[data-key=integrator]', 'backward-euler');
    check(same(before, await state()), 'the state has changed');
    const text = (place) => page.locator(place).first().textContent();
    check((await text('.badge')).includes('backward-euler'), 'the badge names another integrator');
    const { summary } = await page.evaluate(() => window.brio.engine.method('backward-euler'));
    check(summary.length > 20 && (await text('.about')).includes(summary),
      'the sentence is not that of the registry');
    check((await params(page)).integrator === 'backward-euler',
      'the link names another integrator');
    await stepNow(page, 60);
    check((await page.evaluate(() => window.brio.bench.worlds[0].ledger().alpha)) !== 1,
      'alpha is still there');
  });

  test('sliders_do_what_they_say', async () => {
    for (const hash of ['tab=cloth&n=8', 'tab=soft&scene=cube&n=2', 'tab=soft&scene=dice&n=1']) {
      const page = await openStill('#' + hash);
      const keys = await page.evaluate(() => window.brio.bench.scene.controls.map((c) => c.key));
      for (const key of keys) {
        const valueNow = () => page.evaluate((k) => window.brio.bench.p[k], key);
        const slider = page.locator(`input[data-key="${key}"]`), before = await valueNow();
        await slider.evaluate((e) => {
          e.value = Number(e.value) > 700 ? 300 : 850;
          e.dispatchEvent(new Event('input', { bubbles: true }));
        });
        const now = await valueNow();
        check(now !== before, `${key} is still ${before}`);
        check(Number((await params(page))[key]) === now, `the link does not say ${key} = ${now}`);
        check((await slider.getAttribute('aria-valuetext')).length > 0,
          `${key} has no text for screen readers`);
      }
      await page.waitForTimeout(200); // then a scene that must start again has done so
      const [said, n] = await page.evaluate(() => {
        const b = window.brio.bench;
        return [b.message.hidden ? '' : b.message.textContent, b.worlds[0].vertices()];
      });
      check(!said && n > 0, said);
    }
    // In the engine, not only in the page.
    const page = await openStill('#tab=cloth&n=8&damping=0');
    const energies = await page.evaluate(() => {
      const b = window.brio.bench, w = b.worlds[0];
      const set = (key, v) => b.setControl(b.scene.controls.find((c) => c.key === key), v);
      b.stepNow(30);
      const e = w.ledger();
      set('k', 2 * b.p.k);
      const stiff = w.ledger().elastic;
      set('gravity', 0);
      const { gravity, added, total } = w.ledger();
      const balance = Math.abs(added - (total - e.total)) / Math.abs(e.total);
      return { elastic: e.elastic, stiff, gravity, balance };
    });
    check(Math.abs(energies.stiff / energies.elastic - 2) < 1e-9,
      `twice the stiffness makes ${energies.elastic} J to ${energies.stiff} J`);
    check(energies.gravity === 0, 'gravity is still there');
    check(energies.balance < 1e-9, 'the jump of the energy is not booked');
  });

  test('reset_and_shared_links', async () => {
    const page = await openStill('#tab=cloth&n=8');
    const positions = (p) =>
      p.evaluate(() => JSON.stringify(Array.from(window.brio.bench.worlds[0].positions())));
    const start = await positions(page);
    await stepNow(page, 25);
    await page.click('[data-key=reset]');
    check((await page.evaluate(() => window.brio.bench.worlds[0].time)) === 0 &&
      (await positions(page)) === start, 'reset does not lead to the start');
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
    check((await positions(page)) === (await positions(other)), `${link} shows another motion`);
    console.log(`the same bits after 30 steps from ${link}`);
    await page.evaluate(() => (location.hash = '#tab=phase&system=pendulum'));
    await page.waitForFunction(() => window.brio.bench.name === 'pendulum');
  });

  test('engine_errors_are_sentences', async () => {
    const page = await openStill('#tab=soft&scene=dice&n=1');
    const said = await page.evaluate(() => {
      const b = window.brio.bench;
      b.setMethod(0, 'verlet', {});
      return b.message.hidden ? '' : b.message.textContent;
    });
    check(/does not support contact: ipc.*use one of/.test(said), `said: "${said}"`);
  });
}

function contactTests({ test, check, openStill, params }) {
  const sizes = [['bunny', 8, 15], ['balls', 2, 3], ['dice', 1, 3]];
  test('contact_goes_by_size', async () => {
    for (const [scene, small, large] of sizes) {
      const page = await openStill(`#tab=soft&scene=${scene}&n=${small}`);
      const state = () => page.evaluate(() => {
        const b = window.brio.bench, { contact, solver } = b.file(0);
        const text = (place) => document.querySelector(place).textContent;
        return {
          contact, solver: solver.type, verlet: b.offers.verlet,
          said: text('[data-key=contact-in-use]'), badge: text('.badge'),
        };
      });
      const expect = (is, type, solver) => check(
        is.contact.type === type && is.solver === solver && is.said.includes(`In use: ${type}`) &&
          is.badge.includes(`${type} contact`), `${scene}: ${JSON.stringify(is)}`);
      const ipc = await state();
      expect(ipc, 'ipc', 'newton');
      check(ipc.verlet, `${scene}: verlet is offered with barriers`);
      await page.evaluate((q) => window.brio.open(q), `tab=soft&scene=${scene}&n=${large}&play=0`);
      const springs = await state();
      expect(springs, 'penalty', 'local-global');
      check(springs.contact.self > 0 && !springs.verlet, `${scene}: ${JSON.stringify(springs)}`);
      await page.selectOption('[data-key=contact]', 'ipc');
      check((await state()).contact.type === 'ipc' && (await params(page)).contact === 'ipc',
        `${scene}: the menu does not choose`);
    }
    // A method that supports springs only gives way when the size asks for barriers.
    const page = await openStill('#tab=soft&scene=balls&n=3&integrator=verlet');
    const r = await page.evaluate(() => {
      const b = window.brio.bench, before = b.methods[0].name;
      b.again({ n: 1 });
      const said = b.message.textContent;
      return { before, after: b.methods[0].name, said, done: b.stepNow(20) };
    });
    check(r.before === 'verlet' && r.after === 'a-search' && r.done === 20 &&
      /does not support contact: ipc/.test(r.said), JSON.stringify(r));
  });

  // Springs between vertices: what falls on another lies on it or next to it, not in it.
  test('large_bunnies_push_each_other', async () => {
    const page = await openStill('#tab=soft&scene=bunny&n=15&count=2&integrator=backward-euler');
    const r = await page.evaluate(() => {
      const b = window.brio.bench, w = b.worlds[0], first = w.ledger().total;
      const middle = (body) => {
        const x = w.positions(), from = w.firstVertex(body), count = w.vertices(body);
        const sum = [0, 0, 0];
        for (let v = from; v < from + count; v++)
          for (let k = 0; k < 3; k++) sum[k] += x[3 * v + k] / count;
        return sum;
      };
      const done = b.stepNow(60), [a, c] = [middle(0), middle(1)];
      const apart = Math.hypot(...a.map((v, k) => v - c[k]));
      const low = Math.min(...w.positions().filter((_, i) => i % 3 === 1));
      return { done, first, last: w.ledger().total, apart, low };
    });
    console.log(`middles ${r.apart.toFixed(3)} m apart, lowest vertex ` +
      `${(1000 * r.low).toFixed(1)} mm, energy ${r.first.toFixed(2)} -> ${r.last.toFixed(2)} J`);
    check(r.done === 60 && r.apart > 0.08, `the middles are only ${r.apart} m apart`);
    check(r.low > -0.01 && r.last < r.first, 'it sinks into the floor, or energy was made');
  });
}

function energyTests({ test, check, openStill, params }) {
  test('shown_energy_is_the_engines', async () => {
    const places = ['tab=cloth&n=8', 'tab=soft&scene=cube&n=2', 'tab=dial&n=2', 'tab=two&n=2'];
    for (const hash of places) {
      const page = await openStill('#' + hash);
      const { curve, words, engine } = await page.evaluate(() => {
        const b = window.brio.bench;
        b.stepNow(17);
        b.record();
        b.drawn = 0;
        b.draw();
        const { series, data, outputs } = b.energy;
        const i = Math.max(0, series.findIndex((s) => s.label === 'total'));
        return {
          curve: data[i + 1].at(-1), words: outputs[i].textContent,
          engine: b.worlds[0].ledger().total,
        };
      });
      check(curve === engine, `${hash}: the curve ends at ${curve}, the engine says ${engine}`);
      check(Math.abs(Number(words.replaceAll('−', '-')) - engine) <= 6e-4 * Math.abs(engine),
        `${hash}: shown ${words}, the engine says ${engine}`);
    }
  });

  test('energy_follows_the_dial', async () => {
    const page = await openStill('#tab=dial&n=2');
    const r = await page.evaluate(() => {
      const b = window.brio.bench, w = b.worlds[0];
      const share = () => (w.ledger().total - b.ground) / (b.first - b.ground);
      b.stepNow(60);
      const one = share();
      b.level = 0.5;
      b.aim();
      b.stepNow(240);
      return { one, half: share() };
    });
    console.log(`above rest: ${r.one.toFixed(3)} of the first energy, then ${r.half.toFixed(3)}`);
    check(Math.abs(r.one - 1) < 0.02 && Math.abs(r.half - 0.5) < 0.03, 'the energy is elsewhere');
  });

  test('two_worlds_keep_step', async () => {
    const methods = 'integrator=backward-euler&h=60&integrator2=a-search&h2=120';
    const page = await openStill(`#tab=two&n=2&${methods}`);
    const r = await page.evaluate(() => {
      window.brio.bench.stepNow(40);
      return window.brio.bench.worlds.map((w) => ({ t: w.time, e: w.ledger().total }));
    });
    check(Math.abs(r[0].t - r[1].t) <= 1 / 60 + 1e-9, `times ${r[0].t} and ${r[1].t}`);
    check(r[0].e < r[1].e, 'backward Euler has more energy than a-search');
  });

  test('phase_plane_and_stability_are_measured', async () => {
    const page = await openStill(
      '#tab=phase&integrators=forward-euler,backward-euler,implicit-midpoint');
    const e = await page.evaluate(() => {
      const b = window.brio.bench, first = b.worlds.map((r) => r.world.ledger().total);
      b.stepNow(100);
      return b.worlds.map((r, i) => r.world.ledger().total / first[i]);
    });
    console.log(`energies after 100 steps: ${e.map((v) => v.toPrecision(4))} of the first`);
    // With z = h²k/m forward Euler gains and backward Euler loses the factor 1 + z per step.
    const factor = (1 + 10 / 900) ** 100, one = (v) => Math.abs(v - 1) < 1e-9;
    check(one(e[0] / factor) && one(e[1] * factor) && one(e[2]), 'they differ from theory');
    const place = 'tab=stability&integrator=symplectic-euler&X=0&Y=1';
    await page.evaluate((q) => window.brio.open(q), place);
    const r = await page.evaluate(() => window.brio.bench.reading);
    check(Math.abs(r.det - 1) < 1e-12 && Math.abs(r.trace - 1) < 1e-12,
      `symplectic Euler: det ${r.det}, trace ${r.trace}`);
    await page.locator('.plane').focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
    check(Number((await params(page)).X) > 0.1, 'arrow keys do not move the point');
    const measured = () => window.brio.bench.next >= window.brio.bench.order.length;
    await page.waitForFunction(measured, null, { timeout: 120000 });
    const stable = await page.evaluate(() => {
      const { radius } = window.brio.bench;
      return radius.filter((v) => v <= 1 + 1e-7).length / radius.length;
    });
    check(Math.abs(stable - 4 / 24) < 0.01,
      `the triangle of symplectic Euler, Y < 4 - 2 X, takes ${stable} of the diagram, not 1/6`);
  });
}

export function benchTests(given) {
  handTests(given);
  settingTests(given);
  contactTests(given);
  energyTests(given);
}
