// The playground in Chromium, from the file system and from servers:
//   node test.mjs BUILD_DIR [NAME... | -NAME...]
// Cases whose name has one of the NAMEs in it are run, or all but those whose name has one.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { skip } from '../browser.mjs';
import { check, runCases, test } from '../cases.mjs';
import { tools } from './page.mjs';
import { benchTests } from './test-bench.mjs';
import { guideTests } from './test-guide.mjs';
import { chooseTests, ownTests, serverTests } from './test-own.mjs';
import { playTests } from './test-play.mjs';
import { sceneTests } from './test-scenes.mjs';

const build = resolve(process.argv[2] || 'build'), file = join(build, 'playground.html');
if (!existsSync(file)) skip(`${file} is not built; make playground`);
const page_ = await tools(file), { openPage, openStill, newPage, params, forgive } = page_;

test('page_loads_from_the_file_system', async () => {
  const size = statSync(file).size, page = await openPage('#tab=cloth');
  const ready = await page.evaluate(() => Number(document.documentElement.dataset.ready));
  console.log(`page ${(size / 1e6).toFixed(2)} MB, ready after ${ready} ms`);
  check(size < 2.5e6, `the page has ${size} bytes`);
  for (const tab of ['soft', 'dial', 'phase', 'stability', 'two', 'cloth']) {
    await page.click(`#tab-${tab}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    check((await params(page)).tab === tab, `the link does not say tab ${tab}`);
    check(await page.locator('.panel').isVisible(), `tab ${tab} has no panel`);
  }
  const unnamed = await page.evaluate(() => {
    const named = (e) => e.labels?.length || e.textContent.trim() ||
      e.closest('[aria-label]:not(.toolbar):not(.panel)');
    return [...document.querySelectorAll('input,select,button,canvas')]
      .filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 80));
  });
  check(unnamed.length === 0, `${unnamed} controls have no name for screen readers`);
});

// Those that were measured when the page was built, against the engine of the page.
test('stable_steps_are_those_of_the_engine', async () => {
  const page = await openPage();
  const other = await page.evaluate(() => {
    const { engine, stableLimit } = window.brio;
    return engine.methods.map((m) => m.name)
      .filter((name) => stableLimit(name) !== engine.stableLimit(name));
  });
  check(other.length === 0, `the stable steps of ${other} differ`);
});

test('survives_resize_hiding_and_a_lost_context', async () => {
  const page = await openPage('#tab=cloth&n=12');
  for (const [width, height] of [[390, 844], [1920, 1080], [700, 500]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(120);
    const box = await page.locator('.stage canvas').first().boundingBox();
    check(box.width > 100 && box.width <= width && box.height > 80,
      `canvas of ${box.width} x ${box.height} in ${width} x ${height}`);
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      `clipped at ${width}`);
  }
  const other = await newPage();
  await other.bringToFront();
  await other.waitForTimeout(400);
  await page.bringToFront();
  await other.close();
  const before = await page.evaluate(() => {
    const gl = window.brio.bench.views[0].renderer.getContext();
    const e = gl.getExtension('WEBGL_lose_context');
    e.loseContext();
    setTimeout(() => e.restoreContext(), 200);
    return window.brio.bench.worlds[0].time;
  });
  await page.waitForTimeout(900);
  const after = await page.evaluate(() => {
    const { worlds, views } = window.brio.bench;
    return { t: worlds[0].time, lost: views[0].renderer.getContext().isContextLost() };
  });
  check(!after.lost, 'the context is still lost');
  check(after.t > before, 'time stands still');
  await page.evaluate(() => window.brio.bench.setPlaying(false));
  const pixels = async () =>
    (await page.locator('.stage canvas').first().screenshot()).toString('base64');
  const picture = await pixels();
  await page.evaluate(() => {
    window.brio.bench.stepNow(30);
    window.brio.bench.draw();
  });
  check((await pixels()) !== picture, 'nothing is drawn any more');
  forgive(/context/i); // three reports the loss that was asked for
});

const given = { ...page_, test, check };
benchTests(given);
sceneTests(given);
ownTests(given);
chooseTests(given);
serverTests({ ...given, build, file });
playTests(given);
guideTests(given);
await runCases(process.argv.slice(3), page_.around);
