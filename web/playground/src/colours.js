// One colour for each integrator, the same in every tab. The ones that are compared most are the colours of Okabe and Ito; the others walk round the hues.
const chosen = {
  'a-search': '#1a80c4', 'backward-euler': '#d55e00', 'implicit-midpoint': '#009e73', 'bdf2': '#cc79a7', 'bdf3': '#8f5fa8', 'bdf4': '#5c3d8a', 'forward-euler': '#c43c3c',
  'symplectic-euler': '#7b61c9', 'verlet': '#56a4d9', 'rk4': '#b8860b', 'trapezoidal': '#2a9d8f', 'pbd-verlet': '#8c6d46', 'blend': '#3c7a3c', 'a-1': '#4b8bbe',
  'variational': '#6a994e', 'theta': '#a05195', 'newmark': '#f08c2e',
};

export function colour(name) {
  if (chosen[name]) return chosen[name];
  let hash = 7;
  for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  return `hsl(${hash % 360} 55% 48%)`;
}

export const parts = { kinetic: '#e69f00', elastic: '#0072b2', gravity: '#009e73', total: '#888', target: '#cc3d6e', momentum: '#7b61c9', angular: '#d55e00', alpha: '#56a4d9' };
export const bodies = ['#4f86c6', '#e08e45', '#5aa469', '#b56576', '#8d79c4'];
