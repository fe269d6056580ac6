// Whether a motion has exploded: by the rule of docs/explosions.md, as far as a page knows the
// parts of
// the budget. Why, from what is known of the method.
import { short } from './charts.js';

const FAR = 100; // times what the scene can give
const TINY = 1e-9; // J

// Kinetic energy and the potential without gravity, and what the budget needs later.
export const motionEnergy = (l) => ({
  W: l.kinetic + l.potential - l.gravity,
  gravity: l.gravity,
  target: l.target,
});

// What the scene can give: its first energy, work from outside, weight released and a fall through
// its
// size, what energy control aims at.
function budget(l, begun, size) {
  const height = Math.hypot(...l.centre),
    weight = height > 1e-6 ? Math.abs(l.gravity) / height : 0;
  const aim =
    Number.isFinite(l.target) && Number.isFinite(begun.target)
      ? Math.abs(l.target - begun.target)
      : 0;
  return (
    Math.abs(begun.W) +
    Math.abs(l.added) +
    Math.max(0, begun.gravity - l.gravity) +
    weight * size +
    aim +
    TINY
  );
}

function reason({ method, limit, unfinished, step, fastest }) {
  if (method.note.startsWith('explicit')) {
    const reach = step * fastest();
    return `step times fastest vibration is ${short(reach)}, and ${method.name} is stable up ` +
      `to ${short(limit)}`;
  }
  if (limit === 0 || Number.isFinite(limit))
    return `${method.name} lets vibrations grow at this step`;
  if (unfinished) return `${method.name} keeps the errors of solves that end early`;
  return `${method.name} is stable for small vibrations only; at this step large ones gain energy`;
}

// A sentence, or '' where all is well. Under solves that end early stretch may be left that no
// energy
// has paid for: there the kinetic energy alone is judged.
export function explosion(l, begun, what) {
  const W = what.unfinished ? l.kinetic : l.kinetic + l.potential - l.gravity,
    B = budget(l, begun, what.size);
  if (W <= FAR * B) return '';
  const energy = Number.isFinite(W) ? `has ${short(W)} J` : 'has no finite energy any more';
  return (
    `Exploded at ${short(l.time)} s: the motion ${energy}, ` +
    `and nothing in the scene can give more than ${short(B)} J. ` +
    `Why: ${reason(what)}. Reset, then shorten the step or take backward-euler or a-search.`
  );
}
