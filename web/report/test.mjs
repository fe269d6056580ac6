// Opens reports in Chromium and checks what they show:
//   node test.mjs RUN COMPARISON LARGE [folder of node_modules]
// RUN is a run of a body whose first surface vertex is the probe "corner". Exit code 77: there is
// no browser.
import { createRequire } from 'node:module';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { strict as assert } from 'node:assert';
import { resolve } from 'node:path';

const [run, comparison, large, modules] = process.argv.slice(2);
const browserPath =
  process.env.BRIO_CHROMIUM ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );
let chromium;
try {
  ({ chromium } = createRequire(resolve(modules ?? '.') + '/')('playwright-core'));
} catch {
  console.log('SKIPPED: there is no playwright-core (npm ci in web/report)');
  process.exit(77);
}
if (!browserPath) {
  console.log('SKIPPED: there is no Chromium (Debian: apt-get install chromium)');
  process.exit(77);
}

const browser = await chromium.launch({
  executablePath: browserPath,
  args: [
    '--no-sandbox',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const troubles = [],
  foreign = [];

async function open(folder, size = { width: 760, height: 600 }) {
  const page = await browser.newPage({ viewport: size });
  page.on(
    'console',
    (message) =>
      ['error', 'warning'].includes(message.type()) &&
      !/GPU stall|GL Driver|software WebGL/.test(message.text()) &&
      troubles.push(message.text()),
  );
  page.on('pageerror', (error) => troubles.push(error.stack));
  page.on(
    'request',
    (request) => /^(file|blob|data):/.test(request.url()) || foreign.push(request.url()),
  );
  await page.goto(`file://${resolve(folder, 'report.html')}`);
  await page.waitForFunction(() => window.brioReport);
  await page.evaluate(async () => void (await window.brioReport));
  return page;
}

function table(file) {
  const [head, ...rows] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return Object.fromEntries(
    head.map((name, k) => [name, rows.map((row) => (row[k] === '' ? NaN : Number(row[k])))]),
  );
}

const same = (a, b) => a.length === b.length && a.every((v, i) => Object.is(v, b[i]) || v === b[i]);
const seriesOf = (page) =>
  page.evaluate(async () =>
    (await window.brioReport).charts.map((c) => ({
      title: c.title,
      drawn: c.plot.data.length,
      series: c.series.map((s) => ({
        name: s.name,
        x: Array.from(s.x, String),
        y: Array.from(s.y, String),
      })),
    })),
  );
const numbers = (words) => words.map(Number);

// ---- a run --------------------------------------------------------------------------------------

const page = await open(run);
const energy = table(`${run}/energy.csv`),
  probes = table(`${run}/probes.csv`);
const columns = {
  'Linear momentum': { x: 'px', y: 'py', z: 'pz' },
  'Angular momentum': { x: 'lx', y: 'ly', z: 'lz' },
  Energy: { attachments: 'attachment' },
  Iterations: { 'halvings of the step': 'halvings' },
  'Smallest distance': { 'smallest distance': 'min_distance' },
};
let compared = 0;
for (const chart of await seriesOf(page)) {
  assert.equal(chart.drawn, chart.series.length + 1);
  for (const s of chart.series) {
    const column = columns[chart.title]?.[s.name] ?? s.name;
    assert.ok(energy[column], `no column ${column}`);
    assert.ok(same(numbers(s.x), energy.time), `times of ${chart.title}`);
    assert.ok(
      same(numbers(s.y), energy[column]),
      `${chart.title}: ${column} is not that of energy.csv`,
    );
    compared++;
  }
}
assert.ok(compared >= 8);
console.log(`${compared} curves equal energy.csv (${energy.time.length} rows)`);

const inked = await page.evaluate(async () =>
  (await window.brioReport).charts.map((c) => {
    const canvas = c.plot.ctx.canvas,
      data = c.plot.ctx.getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
    return count;
  }),
);
assert.ok(
  inked.every((count) => count > 500),
  'an empty chart',
);

// the slider moves the body: in the data, against the probe, and in the pixels
const corner = () =>
  page.evaluate(async () =>
    Array.from((await window.brioReport).view.runs[0].parts[0].x.subarray(0, 3)),
  );
const coloured = () =>
  page.evaluate(async () => {
    // the middle of what is bluer than it is red
    const { view } = await window.brioReport;
    view.draw();
    const copy = Object.assign(document.createElement('canvas'), {
        width: view.canvas.width,
        height: view.canvas.height,
      }),
      pen = copy.getContext('2d');
    pen.drawImage(view.canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, copy.width, copy.height);
    let count = 0,
      x = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200 && data[i + 2] > data[i] + 25) {
        count++;
        x += (i / 4) % copy.width;
      }
    return { count, x: x / count / copy.width };
  });
const slide = (share) =>
  page.evaluate((value) => {
    const slider = document.querySelector('input[type=range]');
    slider.value = value * 1000;
    slider.dispatchEvent(new Event('input'));
  }, share);
await slide(0);
const first = await corner(),
  left = await coloured();
await slide(1);
const last = await corner(),
  right = await coloured(),
  n = probes.time.length - 1;
for (const [at, x] of [
  [0, first],
  [n, last],
])
  for (const [k, axis] of ['x', 'y', 'z'].entries())
    assert.ok(
      Math.abs(x[k] - probes[`corner.${axis}`][at]) < 1e-4,
      `vertex at ${at}: ${x} is not that of probes.csv`,
    );
const digits = (x) => x.toFixed(3);
console.log(
  `the corner moved from ${first.map(digits)} to ${last.map(digits)}; ` +
    `the body's middle from ${digits(left.x)} to ${digits(right.x)} of the width`,
);
assert.ok(left.count > 500 && right.count > 500, 'the body is not seen');
assert.ok(right.x > left.x + 0.1, 'the body did not move to the right');

// it plays, stops and listens to keys
await slide(0);
const play = page.locator('button.play');
await play.click();
await page.waitForFunction(async () => (await window.brioReport).view.time > 0.1, null, {
  timeout: 20000,
});
await page.evaluate(() => {
  const button = document.querySelector('button.play');
  if (button.textContent === 'Pause') button.click();
}); // it may end by itself
await slide(0);
await page.locator('canvas[tabindex]').focus();
await page.keyboard.press('ArrowRight');
const stepped = await page.evaluate(async () => (await window.brioReport).view.time);
assert.ok(stepped > 0 && stepped < 0.2);

// colours by speed have a scale; the mesh shows; a lost context comes back
await page.selectOption('select[aria-label="What colours show"]', 'speed');
assert.equal(await page.locator('.scale').count(), 1);
await page.selectOption('select[aria-label="What colours show"]', 'body');
await page.getByText('Mesh').click();
await page.evaluate(async () => {
  const { view } = await window.brioReport,
    lose = view.renderer.getContext().getExtension('WEBGL_lose_context');
  lose.loseContext();
  await new Promise((done) => setTimeout(done, 100));
  lose.restoreContext();
  await new Promise((done) => setTimeout(done, 300));
  view.setTime(view.end);
});
troubles.splice(
  0,
  troubles.length,
  ...troubles.filter((text) => !/Context (Lost|Restored)/.test(text)),
);
assert.ok((await coloured()).count > 500, 'nothing is seen after the context was lost');

// pause and play within a picture make no second loop, and a page that was hidden does not catch up
const played = await page.evaluate(async () => {
  const { view } = await window.brioReport,
    { setTime } = view;
  let calls = 0;
  view.setTime(0);
  view.speed.value = '0.1';
  view.setTime = (time) => (calls++, setTime.call(view, time));
  for (let k = 0; k < 3; k++) view.toggle();
  const PICTURES = 5;
  for (let k = 0; k < PICTURES; k++) await new Promise(requestAnimationFrame);
  view.toggle();
  delete view.setTime;
  view.setTime(0);
  const ask = window.requestAnimationFrame;
  let late;
  window.requestAnimationFrame = (f) => (late = f, 1);
  view.toggle();
  late(performance.now() + 60000);
  window.requestAnimationFrame = ask;
  const after = view.time;
  view.toggle();
  view.asked = 0;
  view.speed.value = '1';
  return { calls, after, end: view.end, touch: view.canvas.style.touchAction };
});
assert.ok(played.calls <= 6, `${played.calls} calls in 5 pictures`);
assert.ok(played.after < 0.06 && played.end > 0.1, `at ${played.after} after a minute away`);
assert.equal(played.touch, 'none');

// readable by everybody: names for controls, a narrow page, dark, print
assert.ok(
  await page.evaluate(() =>
    [...document.querySelectorAll('input, select, button, canvas[tabindex]')].every(
      (e) => e.ariaLabel || e.textContent.trim() || e.closest('label')?.textContent.trim(),
    ),
  ),
);
await page.emulateMedia({ colorScheme: 'dark' });
await page.setViewportSize({ width: 360, height: 740 });
await page.waitForTimeout(400);
assert.ok(
  (await page.evaluate(() => document.documentElement.scrollWidth)) <= 360,
  'wider than a phone',
);
await page.emulateMedia({ media: 'print', colorScheme: 'light' });
const print = await page.evaluate(() => ({
  rows: document.querySelectorAll('#ledger tbody tr').length,
  table: document.querySelector('#ledger').checkVisibility(),
  phases: document.querySelectorAll('#phases tbody tr').length,
  svg: document.querySelector('figure.chart > svg').checkVisibility(),
  live: document.querySelector('.chart-live').checkVisibility(),
}));
assert.ok(
  print.rows >= 5 && print.phases >= 5 && print.table && print.svg && !print.live,
  JSON.stringify(print),
);
await page.close();

// ---- a comparison -------------------------------------------------------------------------------

const both = await open(comparison, { width: 640, height: 480 });
const panels = await both.evaluate(async () => {
  const { view, charts } = await window.brioReport;
  view.setTime(view.end);
  const errors = charts.find((c) => c.title === 'Error at the end against the step');
  return {
    labels: [...document.querySelectorAll('.stage .label')].map((e) => e.textContent),
    charts: charts.length,
    touch: view.canvas.style.touchAction,
    apart: Math.max(
      ...view.runs[0].parts[0].x.map((v, i) => Math.abs(v - view.runs[3].parts[0].x[i])),
    ),
    series: errors?.series.map((s) => s.name),
    numbers: errors?.plot.axes.map((axis) => axis._values.filter(Boolean)),
  };
});
console.log(
  `side by side: ${panels.labels.join(' | ')}, apart by ${panels.apart.toFixed(3)} m at the end`,
);
assert.equal(panels.touch, 'pan-y', 'a finger cannot get past the panels');
assert.equal(panels.labels.length, 7); // two methods with three steps each, and the reference
console.log(
  `errors against steps: ${panels.series?.join(' | ')}; ` +
    `axes ${panels.numbers?.map((n) => n.join(' ')).join(' | ')}`,
);
assert.ok(
  panels.series[0].startsWith('backward-euler: slope ') &&
    panels.series.includes('slope 1') &&
    panels.series.includes('slope 2'),
);
assert.ok(
  panels.numbers.every((n) => n.length >= 2 && n.length <= 9 && new Set(n).size === n.length),
);
assert.ok(panels.apart > 1e-3);
// one curve whose points come from right to left, as wall times may
const drawn = await both.evaluate(async () => {
  const { charts } = await window.brioReport,
    chart = charts.find((c) => c.title.startsWith('Error at the end'));
  chart.series = [{ ...chart.series[0], x: [3, 1, 2], y: [30, 10, 20] }];
  window.brioChart = chart;
  return chart.plot.data.length;
});
assert.ok(drawn > 2);
await both.emulateMedia({ colorScheme: 'dark' });
await both.waitForFunction(() => window.brioChart.plot.data.length === 2);
assert.deepEqual(await both.evaluate(() => window.brioChart.plot.data), [
  [1, 2, 3],
  [10, 20, 30],
]);
await both.close();

// ---- a large run --------------------------------------------------------------------------------

const bytes = statSync(`${large}/report.html`).size;
const big = await open(large, { width: 420, height: 400 });
const shown = await big.evaluate(async () => {
  const { view } = await window.brioReport;
  return {
    frames: view.runs[0].frames,
    vertices: view.runs[0].parts[0].vertices,
    end: view.end,
    stride: view.runs[0].stride,
  };
});
console.log(
  `large: ${shown.vertices} vertices, ${shown.frames} frames to ${shown.end.toFixed(2)} s ` +
    `(every ${shown.stride}th), ${(bytes / 1e6).toFixed(1)} MB`,
);
assert.ok(bytes < 20e6, 'the report is too large');
assert.ok(shown.vertices >= 10000 && shown.end >= 9.9 && shown.frames * shown.stride >= 300);
await big.close();

// ---- without charts: the drawings are seen -----------------------------------------------------

const bare = await browser.newPage();
await bare.addInitScript(() => {
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    if (kind === '2d') throw new Error('no canvas');
    return getContext.call(this, kind, ...more);
  };
});
await bare.goto(`file://${resolve(run, 'report.html')}`);
await bare.waitForFunction(() => /did not start/.test(document.body.textContent));
assert.ok(
  await bare.evaluate(() =>
    [...document.querySelectorAll('figure.chart > svg')].every((e) => e.checkVisibility()),
  ),
  'neither charts nor drawings',
);
await bare.close();

assert.deepEqual(troubles, []);
assert.deepEqual(foreign, []);
await browser.close();
console.log('no errors in the console, nothing fetched');
