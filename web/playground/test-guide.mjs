// The guide in Chromium: every chapter's experiment shows what its text claims, as the engine has it;
// predictions are judged; keys and names for screen readers; axe-core finds nothing serious.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const near = (a, b, share) => Math.abs(a - b) <= share * Math.abs(b);

// One test for each chapter: claims(run, check) looks at what the engine did. run(values, seconds)
// starts the experiment with those values and returns its measurement after so many seconds.
const claims = {
  async spring(run, check) {
    const m = await run({}, 3), z = 40 / 900; // h²k/m
    check(m.steps === 90 && near(m.Y, z, 1e-12), JSON.stringify(m));
    check(near(m.energy['forward-euler'], (1 + z) ** 90, 1e-9), 'forward Euler gains another factor');
    check(near(m.energy['backward-euler'], (1 + z) ** -90, 1e-9), 'backward Euler loses another factor');
    check(near(m.reach['symplectic-euler'], 1, 0.05), `it swings ${m.reach['symplectic-euler']}`);
    const short = await run({ h: 1 / 240 }, 3);
    check(short.energy['forward-euler'] > 1.5, 'a shorter step makes forward Euler stable');
    const long = await run({ h: 1 / 10 }, 10);
    check(near(long.reach['symplectic-euler'], 1, 0.15), 'symplectic Euler drifts at a long step');
    return `energy ${m.energy['forward-euler'].toPrecision(4)}, ${m.energy['backward-euler'].toPrecision(4)}`;
  },
};

export function guideTests({ test, check, openPage, openStill, params }) {
  const open = (id) => openStill(`#chapter=${id}`);
  const runner = (page) => (values, seconds) => page.evaluate(([v, s]) => {
    const { lab } = window.brio.bench;
    Object.assign(lab.values, lab.defaults(), v);
    lab.start();
    while (lab.time < s - 1e-9) lab.step();
    return lab.measure();
  }, [values, seconds]);

  for (const [id, claim] of Object.entries(claims))
    test(`chapter_${id}_shows_what_it_claims`, async () => {
      const page = await open(id);
      console.log(await claim(runner(page), check, page));
      // Every prediction is judged, one is right, and what is said has the measured numbers.
      const judged = await page.evaluate(() => {
        const b = window.brio.bench, names = Object.keys(b.chapter.predict.options);
        return names.slice(0, 2).map((name) => {
          b.choose(name);
          b.finish();
          return { name, ...b.judged, shown: b.verdict.textContent, told: !b.after.hidden };
        });
      });
      for (const j of judged) {
        check(j.answer && j.right === (j.name === j.answer) && j.told, JSON.stringify(j));
        check(/\d/.test(j.shown) && !/NaN|undefined|Infinity/.test(j.shown), j.shown);
      }
      console.log(judged[0].says);
      check((await params(page)).guess === judged.at(-1).name, 'the link does not have the guess');
    });

  test('guide_by_keyboard', async () => {
    const page = await openPage('#chapter=spring', { viewport: { width: 1000, height: 700 } });
    const chapters = await page.evaluate(() => [...document.querySelectorAll('#tabs [role=tab]')].map((b) => b.dataset.tab));
    check(String(chapters) === String(Object.keys(claims)), `chapters ${chapters} and tests of ${Object.keys(claims)}`);
    await page.locator('input[name=guess]').first().focus();
    await page.keyboard.press('ArrowDown'); // chooses the second
    check(await page.evaluate(() => window.brio.bench.guess && window.brio.bench.playing), 'arrow keys do not choose');
    await page.waitForFunction(() => window.brio.bench.judged, null, { timeout: 20000 });
    check(await page.locator('.after').isVisible(), 'the explanation stays hidden');
    check((await page.locator('.judgement').getAttribute('role')) === 'status', 'the verdict is not told');
    await page.locator('[data-key=next]').focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => !/chapter=spring/.test(location.hash));
    await page.close();
  });

  // Both views, both themes, wide and narrow.
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const audit = (page) => page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.filter((v) => ['serious', 'critical'].includes(v.impact))
      .map((v) => `${v.id}: ${v.help} (${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | ')})`);
  });
  for (const theme of ['light', 'dark'])
    test(`accessible_in_${theme}`, async () => {
      const page = await openPage('#chapter=spring&play=0', { colorScheme: theme, viewport: { width: 1366, height: 768 } });
      await page.evaluate(axe);
      const places = [...Object.keys(claims).map((c) => `chapter=${c}&told=1`), 'tab=cloth&n=8&play=0', 'tab=dial&n=2&play=0', 'tab=phase&play=0', 'tab=stability', 'tab=own'];
      for (const place of places) {
        await page.evaluate((q) => window.brio.open(q), place);
        const found = await audit(page);
        check(!found.length, `${theme}, ${place}: ${found.join('; ')}`);
      }
      await page.close();
    });
}
