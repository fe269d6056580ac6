// Curves over time (uPlot) in the colours of the theme.
import uPlot from 'uplot';

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const short = (v) => {
  if (v === null || v === undefined || Number.isNaN(v)) return '–';
  if (v === 0) return '0';
  const a = Math.abs(v);
  if (a >= 1e5 || a < 1e-3) return v.toExponential(2).replace('e+', 'e').replace('-', '−').replace('e-', 'e−');
  return String(Number(v.toPrecision(4))).replace('-', '−');
};

export class Chart {
  // series: [{label, colour, dash}]
  constructor(parent, { title, unit, series, xUnit = 's', window = 10 }) {
    this.parent = parent;
    this.window = window;
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
    this.caption.innerHTML = `<b>${title}${unit ? `, ${unit}` : ''}</b>` + series.map((s) => `<span class="key"><i style="background:${s.colour}"></i>${s.label} <output></output></span>`).join('');
    this.outputs = [...this.caption.querySelectorAll('output')];
    this.figure.setAttribute('role', 'img');
    this.figure.setAttribute('aria-label', `${title} over time`);
    this.clear();
    this.make();
  }

  make() {
    this.plot?.destroy();
    const axis = { stroke: css('--soft'), grid: { stroke: css('--grid'), width: 1 }, ticks: { stroke: css('--grid'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' };
    this.plot = new uPlot({
      width: Math.max(80, this.holder.clientWidth), height: Math.max(60, this.holder.clientHeight),
      legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false }, y: { range: (_, lo, hi) => (lo === null ? [0, 1] : pad(lo, hi)) } },
      axes: [{ ...axis, size: 26, space: 60, values: (_, v) => v.map((t) => `${short(t)}${this.xUnit && ' ' + this.xUnit}`) }, { ...axis, size: 56, space: 26, values: (_, v) => v.map(short) }],
      series: [{}, ...this.series.map((s) => ({ label: s.label, stroke: s.colour, width: s.width || 1.6, dash: s.dash, points: { show: false }, spanGaps: false }))],
    }, this.data, this.holder);
  }

  clear() {
    this.data = [[], ...this.series.map(() => [])];
    this.plot?.setData(this.data);
  }

  add(t, values) {
    if (this.data[0].length && t <= this.data[0].at(-1)) return;
    this.data[0].push(t);
    values.forEach((v, i) => this.data[i + 1].push(Number.isFinite(v) ? v : null));
    while (this.data[0].length > 4000 || this.data[0][0] < t - this.window) this.data.forEach((d) => d.shift());
  }

  draw() {
    this.plot.setData(this.data);
    this.outputs.forEach((o, i) => (o.textContent = short(this.data[i + 1].at(-1))));
  }

  resize() {
    this.plot.setSize({ width: Math.max(80, this.holder.clientWidth), height: Math.max(60, this.holder.clientHeight) });
  }

  dispose() {
    this.plot.destroy();
    this.figure.remove();
  }
}

function pad(lo, hi) {
  const margin = 0.06 * (hi - lo) || Math.max(1e-12, 0.1 * Math.abs(hi));
  return [lo - margin, hi + margin];
}
