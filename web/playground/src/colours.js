// One colour for each integrator, the same in every tab. The ones that are compared most are the
// colours of Okabe and Ito; the others walk round the hues. On every theme a colour is as light or
// as dark as its contrast with the page asks for.
const chosen = {
  'a-search': '#1a80c4',
  'backward-euler': '#d55e00',
  'implicit-midpoint': '#009e73',
  bdf2: '#cc79a7',
  bdf3: '#8f5fa8',
  bdf4: '#5c3d8a',
  'forward-euler': '#c2185b',
  'symplectic-euler': '#7b61c9',
  verlet: '#56a4d9',
  rk4: '#b8860b',
  trapezoidal: '#2a9d8f',
  'pbd-verlet': '#8c6d46',
  blend: '#3c7a3c',
  'a-1': '#4b8bbe',
  variational: '#6a994e',
  theta: '#a05195',
  newmark: '#f08c2e',
};

export const parts = {
  kinetic: '#e69f00',
  elastic: '#0072b2',
  gravity: '#009e73',
  total: '#888',
  target: '#cc3d6e',
  momentum: '#7b61c9',
  angular: '#d55e00',
  alpha: '#56a4d9',
};
export const bodies = ['#4f86c6', '#e08e45', '#5aa469', '#b56576', '#8d79c4'];

const LINE = 3; // contrast of lines and swatches with the page
const TEXT = 4.5; // and of text [WCAG 2.1, 1.4.11 and 1.4.3]
const pages = { light: '#f6f7f9', dark: '#1a2028' }; // the harder one of page and card

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

function luminance(rgb) {
  const [r, g, b] = rgb
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
  const [x, y] = [luminance(channels(a)), luminance(channels(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const hexOf = (rgb) => '#' + rgb.map((c) => Math.round(c).toString(16).padStart(2, '0')).join('');

// The colour, mixed with white or black until it stands out from the page of a theme.
export function readable(hex, theme, least) {
  const to = theme === 'dark' ? 255 : 0;
  for (let share = 0; ; share += 0.04) {
    const mixed = hexOf(channels(hex).map((c) => c + (to - c) * Math.min(1, share)));
    if (share >= 1 || contrast(mixed, pages[theme]) >= least) return mixed;
  }
}

const themeNow = () => (document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');

// Hue in degrees; middling saturation and lightness.
function ofHue(hue) {
  const channel = (n) => {
    const k = (n + hue / 30) % 12;
    return 255 * (0.48 - 0.26 * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return hexOf([channel(0), channel(8), channel(4)]);
}

function own(name) {
  if (chosen[name]) return chosen[name];
  if (parts[name]) return parts[name].length === 7 ? parts[name] : '#888888';
  let hash = 7;
  for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  return ofHue(hash % 360);
}

// Of an integrator, or of a part of the energy: for lines and swatches.
export const colour = (name) => readable(own(name), themeNow(), LINE);
// For style sheets: it follows the theme where the page has called `tintPage`.
export const tint = (name) => `var(--m-${name}, ${colour(name)})`;
export function tintPage(names) {
  for (const name of names) document.documentElement.style.setProperty(`--m-${name}`, colour(name));
}
// The same where it is the colour of words as well.
export const wordColour = (name) => readable(name[0] === '#' ? name : own(name), themeNow(), TEXT);
