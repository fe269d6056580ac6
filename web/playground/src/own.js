// The user's own scene or mesh: files that were dropped on the page or chosen become an entry of
// the scenes, which a bench runs. What is too large for a page is told, with the command that runs
// it in the native engine.
import { load } from 'js-yaml';
import { BrioError } from 'brio-engine';
import { element } from './controls.js';
import { scenes } from './scenes.js';

const SCENE = /\.(ya?ml|json)$/i, MESH = /\.(msh|mesh|node|ele|obj|off|ply|stl|vtk|vtu)$/i;
const BYTES = 200e6;      // of all files
const VERTICES = 30000;   // more are not begun in a page
const LIMIT = 3000;       // ms of a step
const SIZE = 0.3;         // m: a mesh alone is brought to this size
const CAGE = 10;          // cells along the longest side of a surface that is filled

export class OwnError extends Error {}

const inNumbers = (n) => n.toLocaleString('en-US');
const live = (name) =>
  `\u201cbrio live ${name}\u201d runs it in the native engine and shows it in the browser.`;
// What needs more memory than a machine has is not offered to it.
const GIGABYTES = 64;
export const tooLarge = (name, why) => {
  const need = Number(/needs about ([\d.e+]+) GB/.exec(why)?.[1] ?? 0);
  const told = `${name} is too large for a page: ${why.replace(/[.;]?$/, '.')}`;
  return need > GIGABYTES ? told : `${told} ${live(name)}`;
};
export const tooSlow = (name, vertices) =>
  `${name} has ${inNumbers(vertices)} vertices: a step takes more than ${LIMIT / 1000} s in a ` +
  `page. ${live(name)}`;

async function read(files) {
  const bytes = files.reduce((sum, f) => sum + f.size, 0), contents = {};
  if (bytes > BYTES)
    throw new OwnError(tooLarge(files[0].name, `the files have ${Math.round(bytes / 1e6)} MB`));
  for (const f of files) {
    const buffer = await f.arrayBuffer().catch(() => {
      throw new OwnError(`${f.name} cannot be read. A folder? Drop the files that are in it.`);
    });
    contents[f.name] = new Uint8Array(buffer);
  }
  return contents;
}

// Names of files in a scene become those that were dropped, whatever their folder.
function nearby(value, names) {
  if (typeof value === 'string') {
    const base = value.split(/[\\/]/).pop();
    return names.includes(base) ? base : value;
  }
  if (Array.isArray(value)) return value.map((v) => nearby(v, names));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, nearby(v, names)]));
}

function parse(name, text) {
  try {
    return /\.json$/i.test(name) ? JSON.parse(text) : load(text);
  } catch (e) {
    const line = e.mark ? `line ${e.mark.line + 1}: ` : '';
    throw new OwnError(`${name}: ${line}${e.reason ?? e.message}`);
  }
}

// A world that is made to look at it, and freed.
function probe(engine, scene, files, look) {
  const world = engine.world(scene, { files });
  try {
    return look(world);
  } finally {
    world.dispose();
  }
}

const box = (x) => {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  x.forEach((v, i) => {
    low[i % 3] = Math.min(low[i % 3], v);
    high[i % 3] = Math.max(high[i % 3], v);
  });
  return { low, high, size: Math.max(...high.map((h, k) => h - low[k])) || 1 };
};

// A mesh alone falls on a floor: tets as flesh, a closed surface on a cage, any other as cotton.
function around(engine, name, files) {
  const kinds = [
    { material: 'flesh' },
    { kind: 'solid', material: 'flesh', cage: CAGE },
    { kind: 'shell', material: 'cotton' },
  ];
  const refused = [];
  for (const kind of kinds) {
    try {
      const body = { name: name.replace(/\.\w+$/, ''), mesh: name, ...kind };
      const extent = (w) => box(w.positions(0));
      const { low, high, size } = probe(engine, { bodies: [body] }, files, extent);
      const scale = SIZE / size, place = (k) => -scale * (low[k] + high[k]) / 2;
      const translate = [place(0), SIZE / 4 - scale * low[1], place(2)];
      return {
        title: name, time: { h: '1/60' }, integrator: 'a-search', quality: 'preview',
        contact: { type: 'ipc', mu: 0.3 },
        bodies: [{ ...body, transform: { scale, translate } }],
        obstacles: [{ type: 'plane', name: 'floor', normal: [0, 1, 0] }],
      };
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      if (/TOO_LARGE|MEMORY/.test(e.status)) throw new OwnError(tooLarge(name, e.message));
      refused.push(e.message);
    }
  }
  throw new OwnError(refused[0]);
}

const asked = (scene) => {
  const { integrator = 'backward-euler' } = scene, h = scene.time?.h ?? '1/30';
  const { type, ...values } = typeof integrator === 'string' ? { type: integrator } : integrator;
  const [over, under = 1] = String(h).split('/').map(Number);
  return { integrator: type, values, h: over / under };
};

// The files as the entry `own` of the scenes. Throws an OwnError where that cannot be.
export async function openFiles(engine, list) {
  const contents = await read([...list]), names = Object.keys(contents);
  const name = names.find((n) => SCENE.test(n)) ?? names.find((n) => MESH.test(n));
  if (!name)
    throw new OwnError(`${names[0]} is neither a scene (.yaml, .json) nor a mesh ` +
      '(.obj, .msh, .ply, .stl, ...).');
  const scene = SCENE.test(name)
    ? nearby(parse(name, new TextDecoder().decode(contents[name])), names)
    : around(engine, name, contents);
  let seen;
  try {
    seen = probe(engine, scene, contents, (w) =>
      ({ vertices: w.vertices(), ...box(w.positions().slice(0, 3 * w.vertices())) }));
  } catch (e) {
    if (!(e instanceof BrioError)) throw e;
    if (/TOO_LARGE|MEMORY/.test(e.status)) throw new OwnError(tooLarge(name, e.message));
    const lacks = /there is no file/.test(e.message);
    throw new OwnError(e.message + (lacks ? '. Drop it together with the scene.' : ''));
  }
  const { vertices, low, high, size } = seen;
  if (vertices > VERTICES)
    throw new OwnError(tooLarge(name, `it has ${inNumbers(vertices)} vertices, and ` +
      `${inNumbers(VERTICES)} are what a page keeps up with`));
  const middle = low.map((v, k) => (v + high[k]) / 2);
  scenes.own = {
    title: scene.title || name, tools: ['grab'], controls: [],
    about: `${name}: ${inNumbers(vertices)} vertices. Drop or choose other files to open them.`,
    ...asked(scene), solver: 'newton', solvers: ['newton'],
    camera: { at: middle.map((v, k) => v + [0.55, 0.4, 1.25][k] * size), to: middle },
    own: scene, files: contents, name, size, limit: LIMIT,
  };
}

// For keyboards and phones, which cannot drop.
export function fileInput(choose) {
  const input = element('input',
    { type: 'file', multiple: true, id: 'own-files', 'aria-label': 'A scene or a mesh' });
  input.addEventListener('change', () => choose(input.files));
  return input;
}

// What is shown before there is anything.
export class DropZone {
  constructor(root, said, choose, q) {
    this.play = q.get('play');
    const input = fileInput(choose);
    this.message = element('div', { class: 'message', role: 'alert', hidden: !said, text: said });
    root.replaceChildren(element('section', { class: 'zone' },
      element('h2', { text: 'Your own scene or mesh' }),
      element('p', {
        text: 'Drop files anywhere on this page: a scene (.yaml, .json) with the files that it ' +
          'names, or a mesh alone, which then falls on a floor. They stay on this machine.',
      }),
      input, this.message), element('aside', { class: 'panel', hidden: true }));
  }
  params() { return new URLSearchParams(this.play === null ? {} : { play: this.play }); }
  key() { return false; }
  frame() {}
  resize() {}
  retint() {}
  dispose() {}
}
