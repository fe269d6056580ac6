// Counts the edges of one body's surface that go through triangles of another's, by orientation
// tests
// in double precision: nothing is closer than round-off in what the guide shows.
const det = (a, b, c, d) => {
  const u = [0, 1, 2].map((k) => b[k] - a[k]),
    v = [0, 1, 2].map((k) => c[k] - a[k]),
    w = [0, 1, 2].map((k) => d[k] - a[k]);
  return (
    u[0] * (v[1] * w[2] - v[2] * w[1]) -
    u[1] * (v[0] * w[2] - v[2] * w[0]) +
    u[2] * (v[0] * w[1] - v[1] * w[0])
  );
};

export function crosses([p, q], [a, b, c]) {
  if (det(a, b, c, p) * det(a, b, c, q) >= 0) return false; // both ends on one side
  const s = [det(p, q, a, b), det(p, q, b, c), det(p, q, c, a)];
  return s.every((v) => v > 0) || s.every((v) => v < 0);
}

const points = (world, body) => {
  const x = world.positions(body);
  return (v) => [x[3 * v], x[3 * v + 1], x[3 * v + 2]];
};
const threes = (list) =>
  Array.from({ length: list.length / 3 }, (_, t) => Array.from(list.slice(3 * t, 3 * t + 3)));

function edges(triangles) {
  const seen = new Map();
  for (const t of triangles)
    for (let k = 0; k < 3; k++) {
      const pair = [t[k], t[(k + 1) % 3]].sort((a, b) => a - b);
      seen.set(pair.join(), pair);
    }
  return [...seen.values()];
}

const span = (list, k) => [Math.min(...list.map((p) => p[k])), Math.max(...list.map((p) => p[k]))];
const boxed = (list) => ({ list, box: [0, 1, 2].map((k) => span(list, k)) });
const meet = (a, b) => a.box.every(([low, high], k) => low <= b.box[k][1] && b.box[k][0] <= high);

function oneWay(world, of, through) {
  const at = points(world, of),
    other = points(world, through);
  const walls = threes(world.triangles(through)).map((t) => boxed(t.map(other)));
  const lines = edges(threes(world.triangles(of))).map((e) => boxed(e.map(at)));
  return lines.filter((e) => walls.some((t) => meet(e, t) && crosses(e.list, t.list))).length;
}

export const piercings = (world, a, b) => oneWay(world, a, b) + oneWay(world, b, a);
