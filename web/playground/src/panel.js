// The settings next to a bench: its scene, its integrators and their steps, the sliders of the
// scene, contact and solver, made from the engine's tables.
import { short } from './charts.js';
import { element, integratorPicker, select, slider, stepSelect, tableOf } from './controls.js';
import { fileInput } from './own.js';
import { contactOf, scenes } from './scenes.js';

const contacts = {
  ipc: {
    text: 'ipc: nothing ever touches',
    about: 'Barriers keep all surfaces apart [Li2020], under Newton’s method: ' +
      'no two ever intersect.',
  },
  penalty: {
    text: 'penalty: springs push back',
    about: 'Springs push apart vertices that come close, and out of floor and walls what sank ' +
      'in: quick, and forbids nothing.',
  },
};
export const isContact = (name) => Object.hasOwn(contacts, name);

export const LEVEL = { key: 'level', label: 'Energy', from: 0, to: 2, step: 0.05, value: 1 };
export const DECAY = {
  key: 'decay', label: 'Decay time (0: none)', from: 0, to: 20, step: 0.5, value: 0,
};

// The energy to be reached, how fast, and what a-search is.
function dialRows(bench) {
  const { engine } = bench, method = engine.method('a-search');
  const joules = (v) =>
    (bench.first === undefined ? '' : `${short(v * (bench.first - bench.ground))} J above rest`);
  bench.dial = slider({
    ...LEVEL, text: joules, value: bench.level,
    about: 'The energy that the motion is led to, above that of the scene at rest.',
  }, (v) => {
    bench.level = v;
    bench.aim();
    bench.changed();
  });
  const field = method.fields.find((f) => f.name === 'decay');
  const decay = slider({
    ...DECAY, unit: field.unit, value: bench.decay, about: field.summary,
  }, (v) => {
    bench.decay = v;
    bench.attempt(() => bench.worlds?.[0].setMethod({ type: 'a-search', ...bench.dialValues() }));
    bench.changed();
  });
  const about = element('div', { class: 'about' }, element('p', { text: method.summary }),
    element('details', {}, element('summary', { text: `[${method.citation}]` }),
      element('p', { text: engine.citations[method.citation] })));
  const step = stepSelect('h', bench.methods[0].h, (h) => bench.setStep(0, h));
  return [bench.dial.row, decay.row, about, step.row];
}

// Integrator and step of world i; `own` are the integrator's parameters.
function methodRows(bench, i) {
  const m = bench.methods[i], two = bench.mode === 'two', suffix = i ? '2' : '';
  const box = element('div', { class: two ? 'side' : '' });
  if (two) box.append(element('h3', { text: i ? 'B: right' : 'A: left' }));
  const picker = integratorPicker({
    key: 'integrator' + suffix, engine: tableOf(bench.engine), offers: bench.offers, value: m.name,
    values: m.values, fields: !two,
  }, (name, values) => bench.setMethod(i, name, values));
  box.append(picker.node, stepSelect('h' + suffix, m.h, (h) => bench.setStep(i, h)).row);
  return { box, own: picker.own };
}

// A slider of the scene, with the unit, the range and the sentence of the field that it sets.
function sceneRow(bench, c) {
  const list = c.material ? 'materials' : c.damping ? 'damping' : null;
  const owner = list && bench.engine.list(list).find((x) => x.name === (c.of ?? c.model));
  const field = owner?.fields.find((f) => f.name === (c.material ?? c.damping));
  const range = field && {
    from: Math.max(c.from, field.least ?? c.from), to: Math.min(c.to, field.most ?? c.to),
    unit: field.unit, about: field.summary,
  };
  return slider({ ...c, ...range, value: bench.p[c.key] }, (v) => bench.setControl(c, v)).row;
}

function contactRows(bench, contact) {
  const bySize = contactOf(bench.scene, { ...bench.p, contact: 'auto' });
  const menu = select({
    key: 'contact', label: 'Contact', value: bench.p.contact,
    options: [
      { value: 'auto', text: `by size (now ${bySize})` },
      ...Object.entries(contacts).map(([value, { text }]) => ({ value, text })),
    ],
  }, (v) => bench.again({ contact: v }));
  return [menu.row, element('div', { class: 'about', 'data-key': 'contact-in-use' },
    element('p', { text: `In use: ${contact}.` }),
    element('p', { class: 'note', text: contacts[contact].about }))];
}

const solverRow = (bench) => select({
  key: 'solver', label: 'Solver', value: bench.p.solver,
  options: [
    { value: 'local-global', text: 'local/global: fixed cost' },
    { value: 'newton', text: 'Newton: to the tolerance' },
  ],
  about: 'How the implicit step is solved.',
}, (v) => bench.again({ solver: v })).row;

export function buildPanel(bench) {
  const { scene, choices, intro } = bench, contact = contactOf(scene, bench.p);
  const rows = [], last = [];
  if (choices.length > 1)
    rows.push(select({
      key: 'scene', label: 'Scene', value: bench.sceneName,
      options: choices.map((c) => ({ value: c, text: scenes[c].title })),
    }, (name) => bench.toScene(name)).row);
  rows.push(element('p', { class: 'lead', text: scene.about }));
  if (bench.choose) rows.push(fileInput(bench.choose));
  if (intro) rows.push(element('p', { class: 'lead', text: intro }));
  if (bench.mode === 'dial') rows.push(...dialRows(bench));
  else
    bench.methods.forEach((_, i) => {
      const { box, own } = methodRows(bench, i);
      rows.push(box);
      last.push(own);
    });
  if (scene.controls.length) rows.push(element('h3', { text: 'Scene' }));
  rows.push(...scene.controls.map((c) => sceneRow(bench, c)));
  if (contact) rows.push(...contactRows(bench, contact));
  bench.solverRow = scene.solvers.length > 1 && contact !== 'ipc' ? solverRow(bench) : null;
  if (bench.solverRow) rows.push(bench.solverRow);
  showSolver(bench);
  bench.panel.replaceChildren(...rows, ...last);
}

// Only implicit steps are solved, and those of linearly implicit methods by one linear system.
export function showSolver({ engine, methods, solverRow: row }) {
  const solved = ({ name }) =>
    engine.method(name).note.startsWith('implicit') && name !== 'linearly-implicit-euler';
  if (row) row.hidden = !methods.some(solved);
}
