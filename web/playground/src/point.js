// One vertex in the engine: the oscillator m x'' = -k x - d x' and the pendulum on a rigid rod.
export const oscillatorScene = ({ k, m, d, h, x = 1, v = 0 }, integrator, values) => ({
  brio: 1, time: { h }, gravity: [0, 0, 0], integrator: { type: integrator, ...values },
  solver: { type: 'newton', tol: 1e-12, linear: 'ldlt', max_halvings: 0 },
  damping: [{ type: 'ether-drag', k: d }],
  bodies: [{
    name: 'mass', kind: 'points', shape: { type: 'line', length: x, cells: 1 },
    material: { type: 'mass', vertex_mass: m }, velocity: { linear: [v, 0, 0] },
    fix: [{ vertices: [0] }], attach: [{ vertices: [1], k, point: [0, 0, 0] }],
  }],
});

export const pendulumScene = ({ g, m, d, h, angle }, integrator, values) => ({
  brio: 1, time: { h }, gravity: [0, -g, 0], integrator: { type: integrator, ...values },
  solver: { type: 'newton', tol: 1e-12, linear: 'ldlt' },
  damping: [{ type: 'ether-drag', k: d }],
  bodies: [{
    name: 'bob', kind: 'points', shape: { type: 'line', length: 1, cells: 1 },
    material: { type: 'mass', vertex_mass: m },
    transform: { rotate: [[0, 0, 1], angle - 90] }, fix: [{ vertices: [0] }],
  }],
  constraints: [{ type: 'rod', a: ['bob', 0], b: ['bob', 1] }],
});

// Where the point is in the phase plane.
export function oscillatorPhase(world) {
  return [world.positions()[3], world.velocities()[3]];
}
export function pendulumPhase(world) {
  const x = world.positions(), v = world.velocities();
  return [Math.atan2(x[3], -x[4]), x[3] * v[4] - x[4] * v[3]];
}

// A canvas that is as sharp as the screen.
export function fit(canvas) {
  const { clientWidth: w, clientHeight: h } = canvas.parentElement;
  const s = Math.min(2, devicePixelRatio);
  canvas.width = Math.max(1, Math.round(w * s));
  canvas.height = Math.max(1, Math.round(h * s));
  const g = canvas.getContext('2d');
  g.setTransform(s, 0, 0, s, 0, 0);
  return { g, w, h };
}

export const css = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Axes with round numbers. `place` maps values to pixels; inverted y.
export function axes(g, { left, top, width, height }, x, y) {
  const step = (lo, hi, n) => {
    const raw = (hi - lo) / n, unit = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((f) => f * unit).find((s) => s >= raw);
  };
  g.font = '12px system-ui, sans-serif';
  g.lineWidth = 1;
  const text = (v) => String(Number(v.toPrecision(6))).replace('-', '−');
  const sx = step(x.from, x.to, Math.max(4, width / 90));
  const sy = step(y.from, y.to, Math.max(2, height / 60));
  for (let v = Math.ceil(x.from / sx) * sx; v <= x.to + 1e-9 * sx; v += sx) {
    const p = left + width * (v - x.from) / (x.to - x.from);
    g.strokeStyle = css('--grid');
    g.beginPath();
    g.moveTo(p, top);
    g.lineTo(p, top + height);
    g.stroke();
    g.fillStyle = css('--soft');
    g.textAlign = 'center';
    g.textBaseline = 'top';
    g.fillText(text(v), p, top + height + 6);
  }
  for (let v = Math.ceil(y.from / sy) * sy; v <= y.to + 1e-9 * sy; v += sy) {
    const p = top + height * (1 - (v - y.from) / (y.to - y.from));
    g.strokeStyle = css('--grid');
    g.beginPath();
    g.moveTo(left, p);
    g.lineTo(left + width, p);
    g.stroke();
    g.fillStyle = css('--soft');
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    g.fillText(text(v), left - 7, p);
  }
  g.fillStyle = css('--ink');
  g.textAlign = 'center';
  g.textBaseline = 'top';
  g.fillText(x.label, left + width / 2, top + height + 24);
  g.save();
  g.translate(y.at ?? 14, top + height / 2); // where its name stands
  g.rotate(-Math.PI / 2);
  g.fillText(y.label, 0, -6);
  g.restore();
}
