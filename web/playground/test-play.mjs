// The free playground in Chromium, what it tells and shows: methods, explosions, joules, the
// camera,
// round bodies, swatches, the solver.
export function playTests({ test, check, openPage, openStill, params, forgive }) {
  test('eight_methods_first_all_behind', async () => {
    const page = await openStill('#tab=soft&scene=cube&n=2');
    const seen = await page.evaluate(() => ({
      first: [...document.querySelector('[data-key=integrator]').options].map((o) => o.value),
      all: window.brio.engine.methods
        .filter((m) => !['static', 'runge-kutta'].includes(m.name))
        .map((m) => m.name),
    }));
    check(seen.first.length === 8 && seen.first.includes('a-search'), `the menu has ${seen.first}`);
    await page.click('.all-methods summary');
    await page.waitForSelector('[data-choose]'); // the list is made when it is opened
    const list = await page.evaluate(() =>
      [...document.querySelectorAll('[data-choose]')].map((b) => ({
        name: b.dataset.choose,
        says: b.parentElement.textContent,
        off: b.disabled,
      })),
    );
    check(
      String(list.map((m) => m.name)) === String(seen.all),
      'the list of all methods lacks some',
    );
    const { summary } = await page.evaluate(() => window.brio.engine.method('tr-bdf2'));
    check(
      list.find((m) => m.name === 'tr-bdf2').says.includes(summary),
      'its sentence is not that of the registry',
    );
    check(
      list.some((m) => m.off && m.says.length > m.name.length + 20),
      'what cannot be chosen does not say why',
    );
    await page.click('[data-choose=tr-bdf2]');
    const now = await page.evaluate(() => ({
      method: window.brio.bench.worlds[0].method,
      menu: document.querySelector('[data-key=integrator]').value,
    }));
    check(now.method === 'tr-bdf2' && now.menu === 'tr-bdf2', JSON.stringify(now));
  });

  test('explosions_are_told_with_their_reason', async () => {
    const page = await openStill('#tab=soft&scene=cube&n=2');
    const run = (name) =>
      page.evaluate((method) => {
        const b = window.brio.bench;
        b.start();
        b.setMethod(0, method, {});
        b.setPlaying(true);
        for (let k = 0; k < 300 && !b.exploded && b.stepNow(1); k++) b.record();
        const said = b.message.hidden ? '' : b.message.textContent,
          playing = b.playing;
        b.setPlaying(false);
        return { exploded: b.exploded, said, playing };
      }, name);
    const bad = await run('bdf4'),
      good = await run('a-search');
    console.log(bad.said);
    check(
      bad.exploded &&
        !bad.playing &&
        /^Exploded at .* J.*Why: bdf4 lets vibrations grow/.test(bad.said),
      JSON.stringify(bad),
    );
    check(!good.exploded && good.playing && !good.said, JSON.stringify(good));
    await page.evaluate(() =>
      window.brio.open('tab=phase&integrators=forward-euler,backward-euler&h=15&k=100&play=0'),
    );
    const said = await page.evaluate(() => {
      window.brio.bench.stepNow(60);
      return window.brio.bench.message.textContent;
    });
    check(/^forward-euler has exploded at .* it adds energy in every step/.test(said), said);
  });

  test('the_dial_is_in_joules_above_rest', async () => {
    const page = await openStill('#tab=dial&n=2&level=0.5');
    const r = await page.evaluate(() => ({
      text: document.querySelector('[data-key=level]').getAttribute('aria-valuetext'),
      joules: 0.5 * (window.brio.bench.first - window.brio.bench.ground),
    }));
    check(
      / J above rest$/.test(r.text) && Math.abs(parseFloat(r.text) - r.joules) < 1e-3 * r.joules,
      JSON.stringify(r),
    );
  });

  test('camera_above_the_floor_and_round_bodies', async () => {
    const page = await openStill('#tab=soft&scene=balls&n=1');
    const r = await page.evaluate(() => {
      const b = window.brio.bench,
        v = b.views[0];
      v.camera.position.set(0.3, b.scene.room.floor - 0.8, 0.6);
      v.controls.update();
      const height = v.camera.position.y - b.scene.room.floor,
        flat = v.surfaces.some((m) => m.material.flatShading);
      window.brio.open('tab=soft&scene=cube&n=2&play=0');
      return {
        height,
        flat,
        cube: window.brio.bench.views[0].surfaces.every((m) => m.material.flatShading),
      };
    });
    check(r.height > 0, `the camera is ${r.height} m above the floor`);
    check(!r.flat && r.cube, 'balls have flat faces, or the cube has none');
    // The solver is shown where there is something to solve.
    const shown = (name) =>
      page.evaluate((n) => {
        window.brio.bench.setMethod(0, n, {});
        return !!document.querySelector('[data-key=solver]')?.offsetParent;
      }, name);
    check(
      (await shown('a-search')) && !(await shown('verlet')) && (await shown('bdf2')),
      'the solver is shown where it does nothing',
    );
  });

  test('swatches_stand_out_in_both_themes', async () => {
    const page = await openStill('#tab=phase');
    for (const theme of ['dark', 'light']) {
      const least = await page.evaluate((name) => {
        if (document.documentElement.dataset.theme !== name)
          document.getElementById('theme').click();
        const light = (text) => {
          const rgb = text
            .match(/[\d.]+/g)
            .slice(0, 3)
            .map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
          return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] + 0.05;
        };
        document.querySelectorAll('details').forEach((d) => (d.open = true));
        const panel = light(getComputedStyle(document.querySelector('.panel')).backgroundColor);
        const swatches = [...document.querySelectorAll('.checks .swatch')].map((s) =>
          light(getComputedStyle(s).backgroundColor),
        );
        return {
          count: swatches.length,
          ratio: Math.min(...swatches.map((s) => Math.max(s, panel) / Math.min(s, panel))),
        };
      }, theme);
      check(least.count > 20 && least.ratio >= 2.95, `${theme}: ${JSON.stringify(least)}`);
    }
  });

  // What a link says that no control has: the page starts all the same, with what the control has.
  test('links_with_garbage_open', async () => {
    const links = {
      'tab=constructor': { chapter: 'spring' },
      'chapter=toString': {},
      'tab=phase&system=constructor&k=1e9': { system: 'oscillator', k: '100' },
      'tab=stability&range=toString': { range: undefined },
      'tab=stability&Y=1e300': {},
      'chapter=spring&h=0': { h: String(1 / 240) },
      'chapter=spring&guess=constructor': { guess: undefined },
      'chapter=minimum&toy=foo': { toy: undefined },
      'chapter=realtime&iterations=-3': { iterations: '1' },
      'tab=dial&level=abc&decay=-1': { level: undefined, decay: undefined },
      'tab=soft&scene=cube&n=2.4&spin=': { n: '2', spin: undefined },
      'tab=cloth&n=8&pins=0.zzz.!': { pins: '0' },
    };
    const page = await openStill('#tab=cloth&n=8');
    for (const [link, wanted] of Object.entries(links)) {
      const said = await page.evaluate((q) => {
        window.brio.open(`${q}&play=0`);
        const { message } = window.brio.bench;
        return message && !message.hidden ? message.textContent : '';
      }, link);
      const now = await params(page);
      check(!said, `${link}: ${said}`);
      for (const [key, value] of Object.entries(wanted))
        check(now[key] === value, `${link}: ${key} is ${now[key]}`);
    }
  });

  // The engine refuses what the link asks for: the settings still work, and bring a motion.
  test('a_refused_start_can_be_mended', async () => {
    for (const link of ['integrator=pbd-verlet', 'i.alpha=foo']) {
      const page = await openStill(`#tab=soft&scene=cube&n=2&${link}`);
      const { said, steps } = await page.evaluate(() => {
        const b = window.brio.bench, words = b.message.hidden ? '' : b.message.textContent;
        document.getElementById('theme').click();
        document.getElementById('theme').click();
        for (const key of ['step', 'nudge']) document.querySelector(`[data-key=${key}]`).click();
        const menu = document.querySelector('[data-key=integrator]');
        menu.value = 'backward-euler';
        menu.dispatchEvent(new Event('change'));
        return { said: words, steps: b.worlds ? b.stepNow(2) : 0 };
      });
      check(said && steps === 2, `${link}: "${said}", then ${steps} steps`);
    }
  });

  test('without_webgl_the_page_says_so', async () => {
    const page = await openPage('#tab=phase&play=0');
    const said = await page.evaluate(() => {
      const { getContext } = HTMLCanvasElement.prototype;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        return /webgl/.test(kind) ? null : getContext.call(this, kind, ...more);
      };
      document.querySelector('#tab-cloth').click();
      const words = document.getElementById('tab').textContent;
      document.querySelector('#tab-phase').click();
      return { words, name: window.brio.bench.name };
    });
    check(/no WebGL/.test(said.words) && said.name === 'oscillator', JSON.stringify(said));
    forgive(/WebGL/); // three reports it as well
  });

  test('the_point_of_stability_follows_one_pressed_pointer', async () => {
    const page = await openStill('#tab=stability'), plane = page.locator('canvas.plane');
    await plane.scrollIntoViewIfNeeded(); // the case before may have scrolled
    const box = await plane.boundingBox();
    const point = () => page.evaluate(() => [window.brio.bench.X, window.brio.bench.Y].join());
    const at = (x, y) => page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    const before = await point();
    // its menu would take the next press, if it is slow to open
    await page.evaluate(() => addEventListener('contextmenu', (e) => e.preventDefault()));
    await at(0.3, 0.6);
    await page.mouse.down({ button: 'right' });
    await at(0.7, 0.3);
    await page.mouse.up({ button: 'right' });
    check((await point()) === before, 'the right button moves the point');
    await at(0.3, 0.6);
    await page.mouse.down();
    await page.waitForFunction(
      (was) => [window.brio.bench.X, window.brio.bench.Y].join() !== was, before);
    await at(0.55, 0.45); // the browser captures the pointer at its next event
    const kept = await page.evaluate(() => { // as the browser does for a gesture of its own
      const b = window.brio.bench;
      b.canvas.releasePointerCapture(b.dragging);
    }).then(() => at(0.6, 0.4)).then(point);
    await at(0.8, 0.2);
    check((await point()) === kept, 'the point follows a pointer that was taken away');
    await page.mouse.up();
  });

  // A start that fails leaves the world that is there, and its hands can let go.
  test('a_failed_start_keeps_no_hand', async () => {
    const page = await openStill('#tab=cloth&n=8');
    const energy = await page.evaluate(() => {
      const b = window.brio.bench, [world] = b.worlds, { pins } = b.p;
      b.nudge();
      const [id] = b.hands.keys();
      b.p.pins = [9999];
      b.start(true);
      b.p.pins = pins;
      b.letGo(id);
      world.step();
      return world.ledger().attachment;
    });
    check(energy === 0, `the hand still pulls, with ${energy} J`);
  });
}
