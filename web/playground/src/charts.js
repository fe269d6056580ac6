// Curves over time (uPlot) in the colours of the theme.
import uPlot from 'uplot';

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Numbers as they are read: a minus, not a hyphen.
const minus = (text) => text.replaceAll('-', '−');

export const short = (v) => {
  if (v === null || v === undefined || Number.isNaN(v)) return '–';
  if (v === 0) return '0';
  const a = Math.abs(v);
  if (a >= 1e5 || a < 1e-3) return minus(v.toExponential(2).replace('e+', 'e'));
  return minus(String(Number(v.toPrecision(4))));
};

// A value with its unit; pascals with the usual prefixes.
export const quantity = (v, unit = '') => {
  if (unit === 'Pa' && Math.abs(v) >= 1e6) return `${short(v / 1e6)} MPa`;
  if (unit === 'Pa' && Math.abs(v) >= 1e3) return `${short(v / 1e3)} kPa`;
  return `${short(v)}${unit && ' ' + unit}`;
};

export class Chart {
  // series: [{label, colour, dash}]; a colour may be a function, asked again for each theme
  constructor(parent, {
    title, unit, series, xUnit = 's', window = 10, cap = Infinity, points = false,
  }) {
    this.parent = parent;
    this.window = window;
    this.cap = cap;
    this.points = points;
    this.series = series;
    this.title = title;
    this.unit = unit;
    this.xUnit = xUnit;
    this.figure = document.createElement('figure');
    this.figure.className = 'chart';
    this.caption = document.createElement('figcaption');
    this.holder = document.createElement('div');
    this.holder.className = 'plot';
    this.figure.append(this.caption, this.holder);
    parent.append(this.figure);
    const keys = series
      .map((s) => `<span class="key"><i></i>${s.label} <output></output></span>`);
    this.caption.innerHTML = `<b>${title}${unit ? `, ${unit}` : ''}</b>${keys.join('')}`;
    this.outputs = [...this.caption.querySelectorAll('output')];
    this.figure.setAttribute('role', 'img');
    this.figure.setAttribute('aria-label', `${title} over time`);
    this.clear();
    this.make();
  }

  make() {
    this.plot?.destroy();
    const colours = this.series
      .map((s) => (typeof s.colour === 'function' ? s.colour() : s.colour));
    this.caption.querySelectorAll('i').forEach((i, k) => (i.style.background = colours[k]));
    const line = { stroke: css('--grid'), width: 1 };
    const axis = {
      stroke: css('--soft'), grid: line, ticks: { ...line, size: 4 },
      font: '11px system-ui, sans-serif',
    };
    const time = (t) => `${short(t)}${this.xUnit && ' ' + this.xUnit}`;
    const whole = this.points ? { incrs: [1, 2, 5, 10, 20, 50, 100] } : {};
    this.plot = new uPlot({
      ...this.size(),
      legend: { show: false }, cursor: { show: false },
      scales: {
        x: { time: false },
        y: { range: (_, lo, hi) => (lo === null ? [0, 1] : pad(lo, hi)) },
      },
      axes: [
        { ...axis, size: 26, space: 60, ...whole, values: (_, v) => v.map(time) },
        { ...axis, size: 56, space: 26, values: (_, v) => v.map(short) },
      ],
      series: [{}, ...this.series.map((s, k) => ({
        label: s.label, stroke: colours[k], width: s.width || 1.6, dash: s.dash,
        points: { show: this.points, size: 4 }, spanGaps: false,
      }))],
    }, this.data, this.holder);
  }

  clear() {
    this.data = [[], ...this.series.map(() => [])];
    this.plot?.setData(this.data);
  }

  add(t, values) {
    if (this.data[0].length && t <= this.data[0].at(-1)) return;
    this.data[0].push(t);
    const shown = (v) => (Number.isFinite(v) && Math.abs(v) <= this.cap ? v : null);
    values.forEach((v, i) => this.data[i + 1].push(shown(v)));
    while (this.data[0].length > 4000 || this.data[0][0] < t - this.window)
      this.data.forEach((d) => d.shift());
  }

  draw() {
    this.plot.setData(this.data);
    this.outputs.forEach((o, i) => (o.textContent = short(this.data[i + 1].at(-1))));
  }

  size() {
    const { clientWidth, clientHeight } = this.holder;
    return { width: Math.max(80, clientWidth), height: Math.max(60, clientHeight) };
  }

  resize() {
    this.plot.setSize(this.size());
  }

  dispose() {
    this.plot.destroy();
    this.figure.remove();
  }
}

function pad(lo, hi) {
  const least = 0.1 * Math.max(Math.abs(lo), Math.abs(hi), 1e-12); // no magnified round-off
  const extra = Math.max(0, least - (hi - lo)) / 2;
  const margin = 0.06 * (hi - lo) + extra;
  return [lo - margin, hi + margin];
}
