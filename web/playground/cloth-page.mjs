// Runs the cloth of [Gentle2025] as its page does, straight out of the page:
//   node cloth-page.mjs PAGE OUT_DIR
// OUT/cloth.obj, springs.csv and scene.json set brio up the same way, in pixels with y up;
// frames.bin has the page's positions of 300 frames.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';

const FRAMES = 300;
const [page, out] = process.argv.slice(2);
const pattern = /<script>([\s\S]*?clothCanvas[\s\S]*?)<\/script>/;
const [, script] = pattern.exec(readFileSync(page, 'utf8'));

// A canvas that remembers: the page draws a disk at every particle, and a line for every spring.
let next = null, disks = [], lines = [], pen = null;
const draws = {
  arc: (x, y, r) => disks.push([x, y, r]),
  moveTo: (x, y) => (pen = [x, y]),
  lineTo: (x, y) => lines.push([pen, [x, y]]),
};
const context = new Proxy({}, { get: (_, name) => draws[name] || (() => {}), set: () => true });
const canvas = {
  width: 700, height: 350, getContext: () => context, addEventListener: () => {},
  getBoundingClientRect: () => ({ left: 0, top: 0 }),
};
vm.runInNewContext(script, {
  document: { getElementById: (id) => (id === 'clothCanvas' ? canvas : null) },
  requestAnimationFrame: (f) => (next = f), Math,
});

// The first picture is drawn after the first step; the grid before it follows from the page's
// numbers.
const W = 20, H = 15, spacing = 25, left = (canvas.width - (W - 1) * spacing) / 2, top = 50;
if (disks.length !== W * H) throw new Error(`the page has ${disks.length} particles, not ${W * H}`);
const start = Array.from({ length: W * H }, (_, i) =>
  [left + (i % W) * spacing, top + Math.floor(i / W) * spacing]);
const pins = disks.flatMap((d, i) => (d[2] === 4 ? [i] : []));
// Springs to the right and down from every particle; the lines of the first picture tell that this
// is the page's order.
const springs = start.flatMap((_, i) => [
  ...(i % W < W - 1 ? [[i, i + 1]] : []), ...(i + W < W * H ? [[i, i + W]] : []),
]);
const same = (p, d) => p[0] === d[0] && p[1] === d[1];
const drawn = ([a, b], [from, to]) => same(from, disks[a]) && same(to, disks[b]);
if (springs.length !== lines.length || !springs.every((s, k) => drawn(s, lines[k])))
  throw new Error('the springs of the page are others');

const frames = new Float64Array(FRAMES * 2 * W * H);
for (let n = 0; n < FRAMES; n++) {
  disks.forEach(([x, y], i) => frames.set([x, -y], 2 * (n * W * H + i)));
  disks = [];
  next();
}
writeFileSync(join(out, 'frames.bin'), frames);
writeFileSync(join(out, 'cloth.obj'), start.map(([x, y]) => `v ${x} ${-y} 0\n`).join('') +
  Array.from({ length: (W - 1) * (H - 1) }, (_, c) => {
    const i = (c % (W - 1)) + W * Math.floor(c / (W - 1)) + 1;
    return `f ${i} ${i + 1} ${i + W + 1}\nf ${i} ${i + W + 1} ${i + W}\n`;
  }).join(''));
const length = (a, b) => Math.hypot(start[a][0] - start[b][0], start[a][1] - start[b][1]);
writeFileSync(join(out, 'springs.csv'),
  springs.map(([a, b]) => `${a},${b},1,${length(a, b)}\n`).join(''));
writeFileSync(join(out, 'scene.json'), JSON.stringify({
  time: { h: 1 / 64 }, gravity: [0, -0.3 * 4096, 0], integrator: 'pbd-verlet',
  contact: { type: 'penalty', kappa: 1 },
  bodies: [{
    name: 'cloth', mesh: 'cloth.obj', kind: 'springs', springs: 'springs.csv',
    material: { type: 'hooke', k: 1, vertex_mass: 1 }, fix: [{ vertices: pins }],
  }],
  obstacles: [
    { type: 'plane', normal: [1, 0, 0] },
    { type: 'plane', point: [canvas.width, 0, 0], normal: [-1, 0, 0] },
    { type: 'plane', point: [0, -canvas.height, 0], normal: [0, 1, 0] },
  ],
}));
console.log(`${springs.length} springs, ${pins.length} pins, ${FRAMES} frames`);
