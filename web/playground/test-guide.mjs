// The guide in Chromium: every chapter's experiment shows what its text claims, as the engine has
// it;
// predictions are judged; keys and names for screen readers; axe-core finds nothing serious.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const near = (a, b, share) => Math.abs(a - b) <= share * Math.abs(b);

// One test for each chapter: claims(run, check) looks at what the engine did. run(values, seconds)
// starts the experiment with those values and returns its measurement after so many seconds.
const claims = {
  async spring(run, check) {
    const m = await run({}, 3),
      z = 40 / 900; // h²k/m
    check(m.steps === 90 && near(m.Y, z, 1e-12), JSON.stringify(m));
    check(
      near(m.energy['forward-euler'], (1 + z) ** 90, 1e-9),
      'forward Euler gains another factor',
    );
    check(
      near(m.energy['backward-euler'], (1 + z) ** -90, 1e-9),
      'backward Euler loses another factor',
    );
    check(near(m.reach['symplectic-euler'], 1, 0.05), `it swings ${m.reach['symplectic-euler']}`);
    const short = await run({ h: 1 / 240 }, 3);
    check(short.energy['forward-euler'] > 1.5, 'a shorter step makes forward Euler stable');
    const long = await run({ h: 1 / 10 }, 10);
    check(near(long.reach['symplectic-euler'], 1, 0.15), 'symplectic Euler drifts at a long step');
    return `energy ${m.energy['forward-euler'].toPrecision(4)}, ` +
      `${m.energy['backward-euler'].toPrecision(4)}`;
  },

  // The regions of the equation, by bisection on the engine's own steps.
  async stiffness(run, check, page) {
    const m = await run({}, 0),
      stiffest = (method, list) =>
        page.evaluate(
          ([name, xs]) => {
            const { lab } = window.brio.bench;
            Object.assign(lab.values, lab.defaults(), { method: name });
            lab.start();
            return xs.map((x) => lab.stiffest(1, x));
          },
          [method, list],
        );
    check(
      near(m.half / m.stiffest, 4, 1e-6),
      `half the step allows ${m.half / m.stiffest} times the stiffness`,
    );
    const Xs = [0.25, 1, 1.5],
      symplectic = await stiffest('symplectic-euler', Xs),
      forward = await stiffest('forward-euler', Xs);
    Xs.forEach((X, i) =>
      check(
        near(symplectic[i], 4 - 2 * X, 1e-5) && near(forward[i], X, 1e-5),
        `${X}: ${symplectic[i]}, ${forward[i]}`,
      ),
    );
    const undamped = (await run({ method: 'forward-euler', k: 1000 }, 0)).radius;
    const damped = (await run({ method: 'forward-euler', k: 1000, d: 60 }, 0)).radius;
    const over = (await run({ method: 'forward-euler', k: 1000, d: 240 }, 0)).radius;
    check(
      undamped > 1 && damped < 1 && over > 1,
      `forward Euler with damping: ${undamped}, ${damped}, ${over}`,
    );
    const calm = await run({ method: 'backward-euler', k: 86400 }, 0),
      wild = await run({ k: 15000 }, 0);
    check(
      calm.radius < 1 && wild.radius > 1 && wild.last > 100,
      'backward Euler, or a stiff spring',
    );
    return `stiffest spring ${m.stiffest.toPrecision(5)} N/m, at half the step ` +
      `${(m.half / m.stiffest).toPrecision(7)} times that`;
  },

  // The engine lands on the lowest point of the curve that is drawn.
  async minimum(run, check) {
    const m = await run({}, 0.6);
    check(near(m.landed, 2.8 / (1 + 0.36 * 40), 1e-9), `it landed at ${m.landed}`);
    check(
      Math.abs(m.landed - m.lowest) < 1e-6,
      `the curve is lowest at ${m.lowest}, it landed at ${m.landed}`,
    );
    const short = await run({ h: 0.02 }, 0.02);
    check(
      Math.abs(short.landed - short.guess) < 0.02 && Math.abs(short.landed - short.lowest) < 1e-6,
      JSON.stringify(short),
    );
    const snap = await run({ toy: 'snap', h: 0.2 }, 0.2);
    // the curve is no parabola there
    check(Math.abs(snap.landed - snap.lowest) < 1e-3, JSON.stringify(snap));
    const end = await run({}, 6);
    check(Math.abs(end.landed) < 1e-5, `after ten long steps it is at ${end.landed}`);
    return `landed at ${m.landed}, lowest point of the drawn curve at ${m.lowest}`;
  },

  async damping(run, check) {
    const m = await run({}, 2),
      Y = ((2 * Math.PI) / 30) ** 2;
    check(near(m.numerical.perStep, 1 / Math.sqrt(1 + Y), 1e-9), `per step ${m.numerical.perStep}`);
    check(
      near(m.numericalHalf.perStep, 1 / Math.sqrt(1 + Y / 4), 1e-9),
      `per half step ${m.numericalHalf.perStep}`,
    );
    // The amplitude of a damped swing wobbles by d/(2 sqrt(k m)) around its exponential.
    check(near(m.real.perStep, Math.exp(-1.3 / 60), 3e-3), `real, per step ${m.real.perStep}`);
    check(
      near(m.numericalHalf.rate / m.numerical.rate, 0.5, 0.03),
      'numerical damping is not halved',
    );
    check(near(m.realHalf.rate / m.real.rate, 1, 0.02), 'real damping depends on the step');
    const fast = await run({ f: 3 }, 2),
      none = await run({ d: 0 }, 2);
    const growth = fast.numerical.rate / m.numerical.rate;
    check(growth > 7 && growth < 9, `three times as fast: ${growth} times the damping`);
    check(
      near(fast.real.rate, m.real.rate, 0.15),
      `real damping at three swings: ${fast.real.rate} and ${m.real.rate}`,
    );
    check(near(none.real.left, 1, 1e-9), 'implicit midpoint damps');
    return `rates real ${m.real.rate.toFixed(3)}, ${m.realHalf.rate.toFixed(3)}; numerical ` +
      `${m.numerical.rate.toFixed(3)}, ${m.numericalHalf.rate.toFixed(3)}; fast ` +
        `${growth.toFixed(1)} times`;
  },

  async energy(run, check) {
    const half = await run({}, 4, true);
    check(Math.abs(half.left - 0.5) < 0.02, `half: ${half.left}`);
    const kept = await run({}, 3),
      more = await run({ level: 1.4 }, 3),
      fade = await run({ mode: 'fade' }, 2);
    check(Math.abs(kept.left - 1) < 0.02, `kept: ${kept.left}`);
    check(Math.abs(more.left - 1.4) < 0.05, `turned up: ${more.left}`);
    check(near(fade.left, Math.exp(-2 / 1.5), 0.05), `faded: ${fade.left}`);
    const euler = await run({ mode: 'euler' }, 2);
    check(euler.left < 0.8 * fade.left, `backward Euler: ${euler.left}`);
    return [half, kept, more, fade, euler].map((m) => m.left.toFixed(4)).join(', ');
  },

  async momentum(run, check) {
    const m = await run({}, 3);
    check(m.spin[0] < 0.4 && m.energy[0] < 0.2, `backward Euler has ${m.spin[0]}`);
    check(
      m.lows[1] < 0.98 && Math.abs(m.energy[1] - 1) < 1e-6,
      `energy alone: ${m.lows[1]}, ${m.energy[1]}`,
    );
    check(
      Math.abs(m.lows[2] - 1) < 1e-9 && Math.abs(m.highs[2] - 1) < 1e-9,
      `with momentum ${m.lows[2]}`,
    );
    check(Math.abs(m.energy[2] - 1) < 0.01, `its energy is ${m.energy[2]}`);
    const stiff = await run({ E: 1e5 }, 3);
    check(stiff.spin[0] < 0.6, `a stiff bar has ${stiff.spin[0]}`);
    return `spin ${m.spin.map((v) => v.toFixed(4))}, energy ` +
      `${m.energy.map((v) => v.toFixed(4))}; stiff ${stiff.spin[0].toFixed(3)}`;
  },

  async contact(run, check) {
    const m = await run({}, 16 / 120);
    check(m.through.penalty && m.pierced.penalty > 0, 'the penalty springs held');
    check(
      !m.through.barrier && m.pierced.barrier === 0 && m.back.barrier && m.nearest > 0,
      JSON.stringify(m),
    );
    const slow = await run({ speed: 3 }, 24 / 120),
      fast = await run({ speed: 40, h: 1 / 60 }, 10 / 60);
    check(
      !slow.through.penalty && !slow.through.barrier && slow.pierced.barrier === 0,
      `slow: ${JSON.stringify(slow)}`,
    );
    check(
      fast.through.penalty && !fast.through.barrier && fast.pierced.barrier === 0,
      `fast: ${JSON.stringify(fast)}`,
    );
    const short = await run({ h: 1 / 960 }, 6 / 120);
    check(
      short.through.penalty && !short.through.barrier && short.pierced.barrier === 0,
      `at 1/960 s: ${JSON.stringify(short)}`,
    );
    return `${JSON.stringify(m.pierced)}, nearest ${(1000 * m.nearest).toFixed(3)} mm; slow ` +
      `${JSON.stringify(slow.pierced)}; short ${JSON.stringify(short.pierced)}`;
  },

  async realtime(run, check, page) {
    const m = await run({}, 0.4),
      many = await run({ iterations: 300 }, 0.4);
    const soft = await run({ k: 100 }, 0.4),
      stiff = await run({ k: 5000 }, 0.4);
    check(m.share < 0.8, `ten iterations: ${m.share}`);
    check(many.share > 0.93, `300 iterations: ${many.share}`);
    check(
      soft.share > m.share + 0.1 && stiff.share < m.share - 0.1,
      `soft ${soft.share}, stiff ${stiff.share}`,
    );
    // Ten iterations hold the cloth at rest as high as all of them do.
    const moved = await page.evaluate(() => {
      const [few] = window.brio.bench.lab.runs;
      few.settle();
      const before = few.ledger().centre[1];
      few.step(1 / 60, 60);
      return Math.abs(few.ledger().centre[1] - before);
    });
    check(moved < 2e-3, `at rest it sinks or rises by ${moved} m in a second`);
    return `${[m, many, soft, stiff].map((r) => r.share.toFixed(3))} of the way; at rest it ` +
      `moves ${moved.toExponential(1)} m`;
  },
};

export function guideTests({ test, check, openPage, openStill, params }) {
  const open = (id) => openStill(`#chapter=${id}`);
  const runner =
    (page) =>
    (values, seconds, asked = false) =>
      page.evaluate(
        ([v, s, a]) => {
          const { lab } = window.brio.bench;
          Object.assign(lab.values, lab.defaults(), v);
          lab.asked = a;
          lab.start();
          while (lab.time < s - 1e-9) lab.step();
          return lab.measure();
        },
        [values, seconds, asked],
      );

  for (const [id, claim] of Object.entries(claims))
    test(`chapter_${id}_shows_what_it_claims`, async () => {
      const page = await open(id);
      console.log(await claim(runner(page), check, page));
      // Every prediction is judged, one is right, and what is said has the measured numbers.
      const judged = await page.evaluate(
        (count) => {
          const b = window.brio.bench,
            names = Object.keys(b.chapter.predict.options);
          return names.slice(0, count).map((name) => {
            b.choose(name);
            b.finish();
            return { name, ...b.judged, shown: b.verdict.textContent, told: !b.after.hidden };
          });
        },
        id === 'spring' ? 4 : 1,
      );
      for (const j of judged) {
        check(j.answer && j.right === (j.name === j.answer) && j.told, JSON.stringify(j));
        check(/\d/.test(j.shown) && !/NaN|undefined|Infinity/.test(j.shown), j.shown);
      }
      console.log(judged[0].says);
      const named = await page.evaluate(() => {
        const { chapter, engine } = window.brio.bench;
        return {
          manual: Object.keys(chapter.manual),
          unknown: chapter.papers.filter((k) => !engine.citations[k]),
        };
      });
      const lacking = named.manual.filter(
        (m) => !existsSync(new URL(`../../docs/${m}.md`, import.meta.url)),
      );
      check(
        named.manual.length && !lacking.length && !named.unknown.length,
        `no page ${lacking}, no paper ${named.unknown}`,
      );
      const formula = await page.evaluate(() => ({
        maths: document.querySelectorAll('.equation math').length,
        wide: document.documentElement.scrollWidth > innerWidth,
        coloured: new Set(
          [...document.querySelectorAll('.equation [style*="--t"]')].map(
            (e) => getComputedStyle(e).color,
          ),
        ).size,
      }));
      check(formula.maths === 1 && formula.coloured >= 1 && !formula.wide, JSON.stringify(formula));
      check((await params(page)).guess === judged.at(-1).name, 'the link does not have the guess');
    });

  test('guide_by_keyboard', async () => {
    const page = await openPage('#chapter=spring', { viewport: { width: 1000, height: 700 } });
    const chapters = await page.evaluate(() =>
      [...document.querySelectorAll('#tabs [role=tab]')].map((b) => b.dataset.tab),
    );
    check(
      String(chapters) === String(Object.keys(claims)),
      `chapters ${chapters} and tests of ${Object.keys(claims)}`,
    );
    await page.locator('input[name=guess]').first().focus();
    await page.keyboard.press('ArrowDown'); // chooses the second
    check(
      await page.evaluate(() => window.brio.bench.guess && window.brio.bench.playing),
      'arrow keys do not choose',
    );
    await page.evaluate(() => window.brio.bench.finish()); // what the clock would do
    check(await page.locator('.after').isVisible(), 'the explanation stays hidden');
    check(
      (await page.locator('.judgement').getAttribute('role')) === 'status',
      'the verdict is not told',
    );
    await page.locator('[data-key=next]').focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => !/chapter=spring/.test(location.hash));
    await page.close();
  });

  // Both views in both themes; in the dark only colours differ.
  test('accessible_in_light_and_dark', async () => {
    const page = await open('spring');
    await page.evaluate(
      readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
    );
    const audit = (theme, only) =>
      page.evaluate(
        async ([name, rules]) => {
          if (document.documentElement.dataset.theme !== name)
            document.getElementById('theme').click();
          const { violations } = await window.axe.run(document, {
            resultTypes: ['violations'],
            ...(rules ? { runOnly: rules } : {}),
          });
          return violations
            .filter((v) => ['serious', 'critical'].includes(v.impact))
            .map(
              (v) =>
                `${v.id}: ${v.help} (${v.nodes
                  .slice(0, 3)
                  .map((n) => n.html.slice(0, 120))
                  .join(' | ')})`,
            );
        },
        [theme, only],
      );
    const places = [
      ...Object.keys(claims).map((c) => `chapter=${c}&told=1`),
      'tab=cloth&n=8&play=0',
      'tab=phase&play=0',
      'tab=stability',
      'tab=own',
    ];
    for (const place of places) {
      await page.evaluate((q) => window.brio.open(q), place);
      const found = [...(await audit('dark', ['color-contrast'])), ...(await audit('light'))];
      check(!found.length, `${place}: ${found.join('; ')}`);
    }
    console.log(`${places.length} places without serious findings`);
  });
}
