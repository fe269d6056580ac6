// The interactive part of report.html: charts that follow the mouse and the motion in 3D. All data
// comes from the page itself.
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  CylinderGeometry,
  DirectionalLight,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  HemisphereLight,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PCFSoftShadowMap,
  PerspectiveCamera,
  PlaneGeometry,
  Quaternion,
  Scene,
  ShadowMaterial,
  SphereGeometry,
  Vector3,
  WebGLRenderer,
  MeshBasicMaterial,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import uPlot from 'uplot';
import plotStyle from 'uplot/dist/uPlot.min.css';
import ownStyle from './report.css';

const dark = matchMedia('(prefers-color-scheme: dark)');
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes))
    key in made && key !== 'list' ? (made[key] = value) : made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// ---- what the page holds ------------------------------------------------------------------------

// A block of the page: base 64 of a zlib stream.
async function block(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')),
  ).arrayBuffer();
}

// The parts of a run with their shapes, and all frames as integers of 16 bits.
async function readMotion(motion) {
  const buffer = await block(motion.block);
  let at = 0;
  const take = (Type, count) => {
    const array = new Type(buffer, at, count);
    at += array.byteLength;
    return array;
  };
  const parts = motion.parts.map((part) => ({
    ...part,
    slotVertex: take(Int32Array, part.slots),
    triangle: take(Int32Array, 3 * part.triangles),
    edge: take(Int32Array, 2 * part.edges),
    rest: take(Float32Array, 3 * part.vertices),
    x: new Float32Array(3 * part.vertices),
  }));
  const moving = parts.filter((part) => !part.still);
  const frames = motion.times.length;
  const steps = take(Float32Array, moving.length);
  const corners = take(Float32Array, 3 * moving.length * frames);
  const width = 3 * moving.reduce((sum, part) => sum + part.vertices, 0);
  const numbers = new Uint16Array(width * frames);
  for (let k = 0; k < frames; k++) {
    const low = take(Uint8Array, width),
      high = take(Uint8Array, width),
      base = k * width;
    for (let i = 0; i < width; i++) {
      const code = low[i] | (high[i] << 8),
        rest = code & 1 ? -((code + 1) >> 1) : code >> 1; // small numbers of either sign
      const last = k > 0 ? numbers[base - width + i] : 0,
        before = k > 1 ? numbers[base - 2 * width + i] : last;
      numbers[base + i] = rest + (k > 1 ? 2 * last - before : last);
    }
  }
  let first = 0;
  moving.forEach((part, index) => {
    part.index = index;
    part.first = first;
    first += 3 * part.vertices;
  });
  for (const part of parts) part.x.set(part.rest);
  return { ...motion, parts, moving, steps, corners, numbers, width, frames };
}

// Positions of a part at frame k.
function decode(run, part, k, x) {
  const step = run.steps[part.index],
    corner = 3 * (k * run.moving.length + part.index),
    base = k * run.width + part.first;
  for (let i = 0; i < x.length; i++)
    x[i] = run.corners[corner + (i % 3)] + step * run.numbers[base + i];
}

function frameAt(times, time) {
  let low = 0,
    high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-9) low = middle;
    else high = middle - 1;
  }
  return low;
}

// ---- charts -------------------------------------------------------------------------------------

// the palette of the pictures (svg.c), each for a light and a dark page
const inks = [
  ['#0072b2', '#4db2ec'],
  ['#d55e00', '#ff9a4d'],
  ['#009e73', '#37c99d'],
  ['#e69f00', '#ffc247'],
  ['#cc79a7', '#e59cc6'],
  ['#56b4e9', '#8fd0f7'],
  ['#1d1f23', '#f1f2f4'],
];
const charts = [];
const LONGEST = 500; // ms from a picture to the next: a page that was hidden does not catch up

// The points from left to right, as uPlot needs them; wall times come in the order of the trials.
function ascending({ x, y }) {
  if (x.every((v, i) => i === 0 || x[i - 1] <= v)) return { x, y };
  const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]);
  return { x: order.map((i) => x[i]), y: order.map((i) => y[i]) };
}

// Values of all series on the union of their abscissae.
function aligned(series) {
  if (
    series.every(
      (s) =>
        s.x === series[0].x ||
        (s.x.length === series[0].x.length && s.x.every((v, i) => v === series[0].x[i])),
    )
  )
    return [series[0].x, ...series.map((s) => s.y)];
  return uPlot.join(
    series.map((s) => [s.x, s.y]),
    series.map(() => [uPlot.join.NULL_EXPAND ?? 0]),
  );
}

const short = (value) => {
  if (value == null || Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3
    ? value.toExponential(2).replace('e+', 'e')
    : String(+value.toPrecision(4));
};

// 10⁻¹²: a power of ten as it is written by hand.
const power = (exponent) =>
  `10${[...String(exponent)].map((c) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join('')}`;

// A logarithmic axis. Over two decades and more: whole decades, at most six of them with a number.
// Below: 1, 2 and 5 times the powers of ten have a number.
const logRange = (_, low, high) => {
  if (!(low > 0) || !(high > 0)) return [0.1, 10];
  if (high / low < 100) return [low / 1.25, high * 1.25];
  return [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
};
function logTicks(_, __, low, high) {
  const from = Math.floor(Math.log10(low) + 1e-9),
    to = Math.ceil(Math.log10(high) - 1e-9),
    step = Math.ceil((to - from) / 6),
    ticks = [];
  for (let e = from; e <= to; e += step)
    for (const m of to - from > 3 ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9]) ticks.push(m * 10 ** e);
  return ticks.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
}
const logLabels = (_, ticks) =>
  ticks.map((v) => {
    const e = Math.floor(Math.log10(v) + 1e-9),
      m = Math.round(v / 10 ** e),
      few = ticks.at(-1) / ticks[0] < 200;
    if (m !== 1 && !(few && (m === 2 || m === 5))) return '';
    if (e >= -3 && e <= 4) return String(+v.toPrecision(1));
    return m === 1 ? power(e) : `${m}·${power(e)}`;
  });
const logAxis = { splits: logTicks, values: logLabels, filter: (_, ticks) => ticks };

function makeChart(figure, chart, view) {
  figure.querySelector('.chart-live')?.remove();
  const holder = element('div', {
    className: 'chart-live',
    role: 'img',
    ariaLabel: `${chart.title}: ${chart.series
      .map((s) => s.name)
      .filter(Boolean)
      .join(', ')}`,
  });
  holder.append(element('div', { className: 'chart-title' }, chart.title));
  figure.prepend(holder);
  const css = getComputedStyle(document.documentElement),
    ink = css.getPropertyValue('--ink').trim(),
    line = css.getPropertyValue('--line').trim();
  const axis = {
    stroke: ink,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
    labelSize: 18,
  };
  const follows = chart.x.label?.startsWith('time');
  const options = {
    width: Math.max(holder.clientWidth - 14, 200),
    height: 250,
    cursor: { sync: { key: follows ? 'time' : chart.title }, drag: { x: true, y: false } },
    scales: {
      x: { time: false, distr: chart.x.log ? 3 : 1, ...(chart.x.log ? { range: logRange } : {}) },
      y: {
        distr: chart.y.log ? 3 : 1,
        ...(chart.y.fixed ? { range: chart.y.fixed } : chart.y.log ? { range: logRange } : {}),
      },
    },
    axes: [
      { ...axis, label: chart.x.label ?? '', ...(chart.x.log ? logAxis : {}) },
      {
        ...axis,
        label: chart.y.label ?? '',
        size: 66,
        values: (_, ticks) => ticks.map((v) => (v == null ? '' : short(v))),
        ...(chart.y.log ? logAxis : {}),
      },
    ],
    series: [
      { label: chart.x.label ?? 'x', value: (_, v) => short(v) },
      ...chart.series.map((s) => ({
        label: s.name ?? '',
        stroke: inks[s.colour % inks.length][dark.matches ? 1 : 0],
        width: 1.6,
        dash: s.dashes ? (s.dashes > 1 ? [2, 3] : [7, 4]) : undefined,
        spanGaps: true,
        points: { show: s.points, size: 6 },
        value: (_, v) => short(v),
      })),
    ],
    hooks: {
      draw: [
        (plot) => {
          if (!follows || !view?.playable) return;
          const x = plot.valToPos(view.time, 'x', true),
            { top, height, left, width } = plot.bbox;
          if (x < left || x > left + width) return;
          plot.ctx.save();
          plot.ctx.setLineDash([]);
          plot.ctx.strokeStyle = '#c9564f';
          plot.ctx.lineWidth = devicePixelRatio;
          plot.ctx.beginPath();
          plot.ctx.moveTo(x, top);
          plot.ctx.lineTo(x, top + height);
          plot.ctx.stroke();
          plot.ctx.restore();
        },
      ],
    },
  };
  // on a logarithmic axis what is not positive is a gap
  const positive = (values, log) =>
    log
      ? Array.from(values, (v) => (v > 0 ? v : null))
      : Array.from(values, (v) => (Number.isNaN(v) ? null : v));
  const series = chart.series.map((s) =>
    ascending({ x: Array.from(s.x), y: positive(s.y, chart.y.log) }),
  );
  const plot = new uPlot(options, aligned(series), holder);
  if (follows && view?.playable)
    plot.over.addEventListener(
      'click',
      () => plot.cursor.left >= 0 && view.setTime(plot.posToVal(plot.cursor.left, 'x')),
    );
  chart.plot = plot;
  chart.holder = holder;
}

async function readCharts(data) {
  if (!data.charts.length) return;
  const numbers = new Float64Array(await block('numbers'));
  for (const chart of data.charts) {
    for (const s of chart.series) {
      s.x = numbers.subarray(s.x[0], s.x[0] + s.x[1]);
      s.y = numbers.subarray(s.y[0], s.y[0] + s.y[1]);
    }
    charts.push(chart);
  }
}

function drawCharts(view) {
  charts.forEach((chart, k) => {
    chart.plot?.destroy();
    makeChart(document.querySelector(`figure[data-chart="${k}"]`), chart, view);
  });
}

// ---- the motion ---------------------------------------------------------------------------------

class MotionView {
  constructor(host, data, runs) {
    this.data = data;
    this.runs = runs;
    this.playable = true;
    this.time = 0;
    this.end = Math.max(...runs.map((run) => run.times[run.frames - 1]));
    this.colouring = 'body';
    this.stage = element('div', { className: 'stage' });
    this.canvas = element('canvas', {
      tabIndex: 0,
      ariaLabel:
        'The motion in 3D: drag to turn, scroll to come closer; space plays, arrow keys step',
      role: 'img',
    });
    this.printed = element('img', {
      className: 'stage-print',
      alt: 'The motion at the time that was shown',
    });
    this.stage.append(this.canvas);
    host.replaceChildren(this.stage, this.printed, this.makeControls());
    this.renderer = new WebGLRenderer({
      canvas: this.canvas,
      antialias: true,
      alpha: true,
      preserveDrawingBuffer: true,
    });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.renderer.autoClear = false;
    this.camera = new PerspectiveCamera(
      data.camera.angle,
      1,
      data.camera.size * 0.01,
      data.camera.size * 200,
    );
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener('change', () => this.ask());
    this.scenes = runs.map((run) => this.makeScene(run));
    this.resetView();
    new ResizeObserver(() => this.layout()).observe(this.stage);
    this.canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    this.canvas.addEventListener('webglcontextrestored', () => this.ask());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    addEventListener('beforeprint', () => (this.printed.src = this.picture()));
    this.layout();
    this.setTime(0);
  }

  // What is shown now, with its labels, for paper.
  picture() {
    this.draw();
    const sheet = element('canvas', { width: this.canvas.width, height: this.canvas.height }),
      pen = sheet.getContext('2d'),
      ratio = this.canvas.width / this.stage.clientWidth;
    pen.drawImage(this.canvas, 0, 0);
    pen.scale(ratio, ratio);
    pen.font = '14px system-ui, sans-serif';
    pen.fillStyle = '#30343a';
    for (const label of this.stage.querySelectorAll('.label'))
      pen.fillText(label.textContent, label.offsetLeft + 10, label.offsetTop + 20);
    return sheet.toDataURL();
  }

  makeControls() {
    this.playButton = element(
      'button',
      { type: 'button', className: 'play', onclick: () => this.toggle() },
      'Play',
    );
    this.slider = element('input', {
      type: 'range',
      min: 0,
      max: 1000,
      step: 'any',
      value: 0,
      ariaLabel: 'Time',
      oninput: () => this.setTime((this.slider.value / 1000) * this.end, true),
    });
    this.clock = element('output', { ariaLive: 'off' });
    this.speed = element(
      'select',
      { ariaLabel: 'Speed of playing' },
      ...[0.1, 0.25, 0.5, 1, 2].map((v) =>
        element('option', { value: v, selected: v === 1 }, `${v} ×`),
      ),
    );
    const colour = element(
      'select',
      { ariaLabel: 'What colours show', onchange: () => this.setColouring(colour.value) },
      element('option', { value: 'body' }, 'by body'),
      element('option', { value: 'speed' }, 'by speed'),
    );
    const lines = element('input', {
      type: 'checkbox',
      onchange: () => this.setLines(lines.checked),
    });
    const reset = element(
      'button',
      { type: 'button', onclick: () => this.resetView() },
      'Reset view',
    );
    return element(
      'div',
      { className: 'controls' },
      this.playButton,
      this.slider,
      this.clock,
      element('label', {}, 'Speed', this.speed),
      element('label', {}, 'Colour', colour),
      element('label', {}, lines, 'Mesh'),
      reset,
    );
  }

  makeScene(run) {
    const scene = new Scene(),
      { size, floor, grid } = this.data.camera;
    scene.add(new HemisphereLight(0xe9f2ff, 0xb5aaa0, 1.9));
    const key = new DirectionalLight(0xfff4e4, 2.7);
    key.castShadow = true;
    key.shadow.mapSize.set(2048, 2048);
    key.shadow.radius = 5;
    key.shadow.normalBias = 0.01 * size;
    scene.add(key, key.target);
    scene.userData.key = key;
    if (floor !== null) {
      const ground = new Mesh(
        new PlaneGeometry(60 * size, 60 * size),
        new ShadowMaterial({ opacity: 0.24, depthWrite: false }),
      );
      ground.rotation.x = -Math.PI / 2;
      ground.position.y = floor;
      ground.receiveShadow = true;
      scene.add(ground);
      if (grid > 0) {
        scene.add(this.makeGrid(grid, floor + 1e-3 * size, 2.5 * size));
      }
    }
    let body = 0;
    for (const part of run.parts) {
      const colour = new Color(
        part.kind === 'body'
          ? this.data.palette[body++ % this.data.palette.length]
          : part.kind === 'rods'
            ? '#6b7078'
            : this.data.obstacle,
      );
      part.base = colour;
      if (part.triangles) this.addSurface(scene, part);
      else this.addLines(scene, part);
    }
    return scene;
  }

  // Lines on the floor that fade with the distance, cell by cell: some drivers do not draw long
  // lines that reach behind the camera.
  makeGrid(step, height, reach) {
    const [x0, , z0] = this.data.camera.target.map((v) => step * Math.round(v / step)),
      count = Math.ceil(reach / step),
      points = [],
      colours = [];
    const put = (i, k) => {
      points.push(x0 + i * step, height, z0 + k * step);
      colours.push(0.42, 0.45, 0.49, 0.38 * Math.max(0, 1 - Math.hypot(i, k) / count));
    };
    for (let i = -count; i <= count; i++)
      for (let k = -count; k < count; k++) {
        (put(i, k), put(i, k + 1));
        (put(k, i), put(k + 1, i));
      }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(colours), 4));
    return new LineSegments(
      geometry,
      new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
    );
  }

  addSurface(scene, part) {
    const geometry = new BufferGeometry();
    for (const name of ['position', 'normal', 'color'])
      geometry.setAttribute(
        name,
        new BufferAttribute(new Float32Array(3 * part.slots), 3).setUsage(DynamicDrawUsage),
      );
    geometry.setIndex(new BufferAttribute(new Uint32Array(part.triangle), 1));
    const matte = part.kind === 'obstacle';
    part.mesh = new Mesh(
      geometry,
      new MeshStandardMaterial({
        vertexColors: true,
        roughness: matte ? 0.95 : 0.5,
        metalness: 0,
        side: part.closed ? FrontSide : DoubleSide,
        shadowSide: DoubleSide,
        transparent: matte,
        opacity: matte ? 0.85 : 1,
        polygonOffset: true,
        polygonOffsetFactor: 1,
        polygonOffsetUnits: 1,
      }),
    );
    part.mesh.castShadow = part.mesh.receiveShadow = true;
    part.mesh.frustumCulled = false;
    part.wire = new Mesh(
      geometry,
      new MeshBasicMaterial({ wireframe: true, color: 0x101418, transparent: true, opacity: 0.28 }),
    );
    part.wire.visible = false;
    part.wire.frustumCulled = false;
    scene.add(part.mesh, part.wire);
  }

  addLines(scene, part) {
    const material = () => new MeshStandardMaterial({ roughness: 0.5 }),
      size = this.data.camera.size;
    const radius =
      0.012 *
      size *
      Math.max(Math.min(1, 12 / Math.sqrt(part.vertices + 1)), 0.2) *
      (part.kind === 'rods' ? 0.7 : 1);
    part.radius = radius;
    part.ball = part.edges ? 1.5 * radius : 2.6 * radius;
    if (part.edges)
      part.tubes = new InstancedMesh(
        new CylinderGeometry(1, 1, 1, 8, 1, true),
        material(),
        part.edges,
      );
    if (part.kind === 'body' || !part.edges)
      part.balls = new InstancedMesh(new SphereGeometry(1, 14, 10), material(), part.vertices);
    for (const mesh of [part.tubes, part.balls]) {
      if (!mesh) continue;
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      for (let i = 0; i < mesh.count; i++) mesh.setColorAt(i, part.base);
      scene.add(mesh);
    }
  }

  updateSurface(part, colours) {
    const { position, normal, color } = part.mesh.geometry.attributes,
      p = position.array,
      n = normal.array,
      x = part.x,
      t = part.triangle;
    for (let i = 0; i < part.slots; i++) {
      const v = 3 * part.slotVertex[i];
      p[3 * i] = x[v];
      p[3 * i + 1] = x[v + 1];
      p[3 * i + 2] = x[v + 2];
    }
    n.fill(0);
    for (let k = 0; k < t.length; k += 3) {
      const a = 3 * t[k],
        b = 3 * t[k + 1],
        c = 3 * t[k + 2];
      const ux = p[b] - p[a],
        uy = p[b + 1] - p[a + 1],
        uz = p[b + 2] - p[a + 2],
        vx = p[c] - p[a],
        vy = p[c + 1] - p[a + 1],
        vz = p[c + 2] - p[a + 2];
      const nx = uy * vz - uz * vy,
        ny = uz * vx - ux * vz,
        nz = ux * vy - uy * vx;
      for (const i of [a, b, c]) {
        n[i] += nx;
        n[i + 1] += ny;
        n[i + 2] += nz;
      }
    }
    for (let i = 0; i < n.length; i += 3) {
      const length = Math.hypot(n[i], n[i + 1], n[i + 2]) || 1;
      n[i] /= length;
      n[i + 1] /= length;
      n[i + 2] /= length;
    }
    for (let i = 0; i < part.slots; i++)
      (colours ? this.scaleColour(colours[part.slotVertex[i]] / this.most) : part.base).toArray(
        color.array,
        3 * i,
      );
    for (const attribute of [position, normal, color]) attribute.needsUpdate = true;
  }

  updateLines(part, colours) {
    const matrix = new Matrix4(),
      a = new Vector3(),
      b = new Vector3(),
      up = new Vector3(0, 1, 0),
      turn = new Quaternion(),
      scale = new Vector3();
    if (part.tubes) {
      for (let e = 0; e < part.edges; e++) {
        a.fromArray(part.x, 3 * part.edge[2 * e]);
        b.fromArray(part.x, 3 * part.edge[2 * e + 1]).sub(a);
        const length = b.length();
        a.addScaledVector(b, 0.5);
        turn.setFromUnitVectors(up, b.divideScalar(length || 1));
        part.tubes.setMatrixAt(
          e,
          matrix.compose(a, turn, scale.set(part.radius, length, part.radius)),
        );
        if (colours)
          part.tubes.setColorAt(e, this.scaleColour(colours[part.edge[2 * e]] / this.most));
        else part.tubes.setColorAt(e, part.base);
      }
      part.tubes.instanceMatrix.needsUpdate = part.tubes.instanceColor.needsUpdate = true;
    }
    if (part.balls) {
      turn.identity();
      for (let v = 0; v < part.vertices; v++) {
        part.balls.setMatrixAt(
          v,
          matrix.compose(a.fromArray(part.x, 3 * v), turn, scale.setScalar(part.ball)),
        );
        part.balls.setColorAt(v, colours ? this.scaleColour(colours[v] / this.most) : part.base);
      }
      part.balls.instanceMatrix.needsUpdate = part.balls.instanceColor.needsUpdate = true;
    }
  }

  scaleColour(share) {
    const stops = (this.stops ??= this.data.scale.map((c) => new Color(c))),
      at = Math.min(Math.max(share, 0), 0.99999) * (stops.length - 1),
      k = Math.floor(at);
    return (this.mixed ??= new Color()).lerpColors(stops[k], stops[k + 1], at - k);
  }

  // Speeds of a part's vertices around frame k, from its neighbours.
  speeds(run, part, k) {
    const from = Math.max(k - 1, 0),
      to = Math.min(k + 1, run.frames - 1),
      span = run.times[to] - run.times[from];
    const a = (part.before ??= new Float32Array(part.x.length)),
      b = (part.after ??= new Float32Array(part.x.length)),
      speed = (part.speed ??= new Float32Array(part.vertices));
    decode(run, part, from, a);
    decode(run, part, to, b);
    for (let v = 0; v < part.vertices; v++)
      speed[v] =
        span > 0
          ? Math.hypot(
              b[3 * v] - a[3 * v],
              b[3 * v + 1] - a[3 * v + 1],
              b[3 * v + 2] - a[3 * v + 2],
            ) / span
          : 0;
    return speed;
  }

  setColouring(name) {
    this.colouring = name;
    this.stage.querySelector('.scale')?.remove();
    if (name === 'speed') {
      this.most ??= this.findMost();
      const bar = element('i');
      bar.style.background = `linear-gradient(to right, ${this.data.scale.join(', ')})`;
      this.stage.append(
        element(
          'div',
          { className: 'scale' },
          'speed [m/s]',
          bar,
          element('span', {}, element('b', {}, '0'), element('b', {}, short(this.most))),
        ),
      );
    }
    this.setTime(this.time);
  }

  findMost() {
    let most = 0;
    for (const run of this.runs)
      for (let k = 0; k < run.frames; k += Math.floor(run.frames / 40) + 1)
        for (const part of run.moving) {
          if (part.kind !== 'body' || !part.vertices) continue;
          const sorted = Float32Array.from(this.speeds(run, part, k)).sort();
          most = Math.max(most, sorted[sorted.length - 1 - Math.floor(sorted.length / 200)]);
        }
    return +most.toPrecision(2) || 1;
  }

  setLines(shown) {
    for (const run of this.runs)
      for (const part of run.parts)
        if (part.wire) part.wire.visible = shown && part.kind === 'body';
    this.ask();
  }

  setTime(time, byHand) {
    this.time = Math.min(Math.max(time, 0), this.end);
    for (const run of this.runs) {
      const k = frameAt(run.times, this.time),
        next = Math.min(k + 1, run.frames - 1),
        span = run.times[next] - run.times[k],
        share = span > 0 ? Math.min((this.time - run.times[k]) / span, 1) : 0;
      for (const part of run.parts) {
        if (!part.still) {
          decode(run, part, k, part.x);
          if (share > 1e-6) {
            const other = (part.between ??= new Float32Array(part.x.length));
            decode(run, part, next, other);
            for (let i = 0; i < other.length; i++) part.x[i] += share * (other[i] - part.x[i]);
          }
        } else if (part.drawn === this.colouring) continue;
        const colours =
          this.colouring === 'speed' && part.kind === 'body' && !part.still
            ? this.speeds(run, part, k)
            : null;
        if (part.mesh) this.updateSurface(part, colours);
        else this.updateLines(part, colours);
        part.drawn = this.colouring;
      }
    }
    if (!byHand) this.slider.value = (this.time / this.end) * 1000 || 0;
    const now = this.time.toFixed(this.end < 0.1 ? 4 : 2);
    this.clock.textContent = `${now} s of ${+this.end.toPrecision(4)} s`;
    this.slider.setAttribute('aria-valuetext', this.clock.textContent);
    for (const chart of charts)
      if (chart.plot && chart.x.label?.startsWith('time')) chart.plot.redraw(false);
    this.ask();
  }

  resetView() {
    this.camera.position.fromArray(this.data.camera.eye);
    this.controls.target.fromArray(this.data.camera.target);
    this.controls.update();
    this.ask();
  }

  // Panels in rows; on a narrow page below one another.
  layout() {
    const width = this.stage.clientWidth,
      count = this.runs.length;
    if (!width) return;
    const columns =
        count === 1 || width < 520 ? 1 : count === 2 || count === 4 || width < 800 ? 2 : 3,
      rows = Math.ceil(count / columns);
    const wide = Math.floor(width / columns),
      high = Math.round(
        Math.min(
          count === 1 ? Math.min(0.6 * wide, 560) : Math.min(0.85 * wide, 460),
          Math.max(innerHeight * 0.62, 240),
        ),
      );
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, rows * high, false);
    this.canvas.style.height = `${rows * high}px`;
    // a finger gets past panels that are higher than the window
    this.canvas.style.touchAction = rows * high > 0.9 * innerHeight ? 'pan-y' : 'none';
    this.panels = this.runs.map((_, k) => ({
      x: (k % columns) * wide,
      y: Math.floor(k / columns) * high,
      wide,
      high,
    }));
    this.stage.querySelectorAll('.label, .rule').forEach((old) => old.remove());
    this.runs.forEach((run, k) => {
      const p = this.panels[k],
        put = (node, left, top) => {
          node.style.left = `${left}px`;
          node.style.top = `${top}px`;
          this.stage.append(node);
          return node;
        };
      if (count > 1)
        put(
          element(
            'div',
            { className: /: (exploded|failed) at/.test(run.label) ? 'label bad' : 'label' },
            run.label,
          ),
          p.x,
          p.y,
        );
      if (p.x)
        Object.assign(put(element('div', { className: 'rule' }), p.x, p.y).style, {
          width: '1px',
          height: `${high}px`,
        });
      if (p.y)
        Object.assign(put(element('div', { className: 'rule' }), p.x, p.y).style, {
          height: '1px',
          width: `${wide}px`,
        });
    });
    this.ask();
  }

  ask() {
    if (this.asked || !this.scenes) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  draw() {
    if (!this.panels || this.renderer.getContext().isContextLost()) return;
    const { renderer, camera } = this,
      height = this.canvas.clientHeight,
      { size } = this.data.camera;
    renderer.setScissorTest(false);
    renderer.clear();
    renderer.setScissorTest(true);
    const away = new Vector3()
        .fromArray(this.data.camera.eye)
        .sub(new Vector3().fromArray(this.data.camera.target))
        .setY(0)
        .normalize(),
      left = new Vector3(away.z, 0, -away.x).negate();
    this.scenes.forEach((scene, k) => {
      const p = this.panels[k],
        { key } = scene.userData,
        low = new Vector3(Infinity, Infinity, Infinity),
        high = low.clone().negate();
      for (const part of this.runs[k].moving)
        for (let i = 0; i < part.x.length; i++) {
          const axis = i % 3,
            value = part.x[i];
          if (value < low.getComponent(axis)) low.setComponent(axis, value);
          if (value > high.getComponent(axis)) high.setComponent(axis, value);
        }
      const middle = low.clone().add(high).multiplyScalar(0.5),
        reach = Math.max(high.distanceTo(low), 0.2 * size);
      key.target.position.copy(middle);
      key.position
        .copy(middle)
        .addScaledVector(away, 0.66 * 3 * reach)
        .addScaledVector(left, 0.56 * 3 * reach)
        .add(new Vector3(0, 0.95 * 3 * reach, 0));
      Object.assign(key.shadow.camera, {
        left: -reach,
        right: reach,
        top: reach,
        bottom: -reach,
        near: 0.1 * reach,
        far: 12 * reach + 4 * size,
      });
      key.shadow.camera.updateProjectionMatrix();
      camera.aspect = p.wide / p.high;
      camera.fov = this.data.camera.angle * Math.max(1, 1.15 / camera.aspect);
      camera.updateProjectionMatrix();
      renderer.setViewport(p.x, height - p.y - p.high, p.wide, p.high);
      renderer.setScissor(p.x, height - p.y - p.high, p.wide, p.high);
      renderer.render(scene, camera);
    });
  }

  toggle() {
    this.playing = !this.playing;
    this.playButton.textContent = this.playing ? 'Pause' : 'Play';
    this.playButton.setAttribute('aria-pressed', String(this.playing));
    cancelAnimationFrame(this.next); // a second loop would double the speed
    if (!this.playing) return;
    if (this.time >= this.end * (1 - 1e-9)) this.setTime(0);
    let last = performance.now();
    const step = (now) => {
      const passed = Math.min(Math.max(now - last, 0), LONGEST) / 1000,
        next = this.time + passed * Number(this.speed.value);
      last = now;
      this.setTime(next);
      if (next >= this.end) this.toggle();
      else this.next = requestAnimationFrame(step);
    };
    this.next = requestAnimationFrame(step);
  }

  key(event) {
    const step = this.end / Math.max(this.runs[0].frames - 1, 1);
    const acts = {
      ' ': () => this.toggle(),
      ArrowRight: () => this.setTime(this.time + step),
      ArrowLeft: () => this.setTime(this.time - step),
      Home: () => this.setTime(0),
      End: () => this.setTime(this.end),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }
}

// ---- the page -----------------------------------------------------------------------------------

async function start() {
  document.head.append(element('style', {}, plotStyle + ownStyle));
  const data = JSON.parse(document.getElementById('brio-data').textContent),
    host = document.getElementById('motion');
  let view = null;
  await readCharts(data);
  if (host && data.runs.length) {
    const runs = await Promise.all(data.runs.map(readMotion));
    try {
      view = new MotionView(host, data, runs);
    } catch (error) {
      host.replaceChildren(
        element(
          'p',
          { className: 'note' },
          `The motion cannot be shown: this browser offers no WebGL (${error.message}).`,
        ),
      );
    }
  }
  document.documentElement.classList.add('live');
  drawCharts(view);
  dark.addEventListener('change', () => drawCharts(view));
  let width = innerWidth,
    waiting = 0;
  addEventListener('resize', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (innerWidth === width) return;
      width = innerWidth;
      drawCharts(view);
    }, 120);
  });
  return { data, charts, view };
}

window.brioReport = start();
window.brioReport.catch((error) => {
  const host = document.getElementById('motion');
  document.documentElement.classList.remove('live'); // the pictures are seen again
  for (const chart of document.querySelectorAll('.chart-live')) chart.remove();
  host?.replaceChildren(
    element(
      'p',
      { className: 'note' },
      `The interactive part did not start (${error.message}); the plots below are pictures.`,
    ),
  );
  console.error(error);
});
