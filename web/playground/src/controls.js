// Sliders, menus and the sentences next to them, made from the engine's tables.
import { quantity, short } from './charts.js';
import { tint } from './colours.js';

let made = 0;
export const element = (tag, attributes = {}, ...children) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (k === 'text') e.textContent = v;
    else if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children);
  return e;
};

const STEPS = 1000;

// A slider from `from` to `to`, evenly or by factors, or over the `values` of a list.
// `text`: how a value is written.
export function slider(options, change) {
  const { key, label, unit = '', log, values, value, about, text } = options;
  let { from, to, step } = options;
  const id = `control-${key}-${made++}`;
  if (values) [from, to, step] = [0, values.length - 1, 1];
  const part = (v) =>
    (log ? Math.log(v / from) / Math.log(to / from) : (v - from) / (to - from));
  const toPlace = (v) => Math.round(STEPS * part(values ? values.indexOf(v) : v));
  const toValue = (place) => (values ? values[valueAt(place)] : valueAt(place));
  const valueAt = (place) => {
    if (log) return Number((from * (to / from) ** (place / STEPS)).toPrecision(3));
    const v = from + (to - from) * place / STEPS;
    if (!step) return Number(v.toPrecision(3));
    return Number((from + step * Math.round((v - from) / step)).toPrecision(10));
  };
  const input = element('input', { type: 'range', id, min: 0, max: STEPS, 'data-key': key });
  const output = element('output', { for: id });
  const written = text ?? ((v) => quantity(v, unit));
  const show = (v) => {
    const words = written(v);
    input.value = toPlace(v);
    output.textContent = words;
    input.setAttribute('aria-valuetext', words);
  };
  if (step && !log) input.step = STEPS * step / (to - from);
  else input.step = STEPS / 200;
  input.addEventListener('input', () => {
    const v = toValue(Number(input.value));
    output.textContent = written(v);
    input.setAttribute('aria-valuetext', output.textContent);
    change(v);
  });
  show(value);
  const row = element('div', { class: 'row', title: about },
    element('label', { for: id, text: label }), output, input);
  return { row, show, input };
}

export function select({ key, label, options, value, about }, change) {
  const id = `control-${key}-${made++}`;
  const input = element('select', { id, 'data-key': key });
  for (const { value: name, text, disabled, title } of options)
    input.append(element('option', { value: name, text, disabled, title }));
  input.value = value;
  input.addEventListener('change', () => change(input.value));
  const row = element('div', { class: 'row choice', title: about },
    element('label', { for: id, text: label }), input);
  return { row, input, show: (v) => (input.value = v) };
}

export function toggle({ key, label, value, about }, change) {
  const id = `control-${key}-${made++}`;
  const input = element('input', { type: 'checkbox', id, 'data-key': key });
  input.checked = value;
  input.addEventListener('change', () => change(input.checked));
  const row = element('div', { class: 'row check', title: about }, input,
    element('label', { for: id, text: label }));
  return { row, input };
}

// The value of a control in a link: the nearest that its slider or its choices have. Without one in
// the link, or with one that says nothing, it is that of the control.
export function linkedValue({ from, to, step, values, choices, value }, text) {
  if (choices) return choices.some((c) => c.value === text) ? text : value;
  const v = text?.trim() ? Number(text) : NaN;
  if (!Number.isFinite(v)) return value;
  if (values) return values.reduce((a, b) => (Math.abs(b - v) < Math.abs(a - v) ? b : a));
  const inside = Math.min(to, Math.max(from, v));
  return step === 1 ? Math.round(inside) : inside; // what is counted
}

// The value of a parameter in a link: a word, true or false, a number.
export function valueOf(text) {
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
}

// The time step: the usual ones.
const STEPS_OF_TIME = [15, 30, 60, 120, 240, 480];
// Steps per second: an integer, up to round-off, or not.
const rateOf = (h) => {
  const rate = 1 / h, whole = Math.round(rate);
  return Math.abs(rate - whole) < 1e-6 * rate ? whole : rate;
};
export const stepText = (h) =>
  (Number.isInteger(rateOf(h)) ? `1/${rateOf(h)} s` : `${short(h)} s`);
export const stepSelect = (key, h, change, label = 'Time step') => {
  const rates = [...new Set([...STEPS_OF_TIME, rateOf(h)])].sort((a, b) => a - b);
  return select({
    key, label, value: String(rateOf(h)), about: 'Simulated time of one step.',
    options: rates.map((r) => ({ value: String(r), text: stepText(1 / r) })),
  }, (v) => change(1 / Number(v)));
};

// The engine's methods and citations as a picker takes them.
export const tableOf = (engine) => ({
  registry: { integrators: engine.methods, citations: engine.citations },
  integrator: (name) => engine.method(name),
});

// The methods that people need first; the others are behind "all methods".
export const FIRST = [
  'a-search', 'backward-euler', 'bdf2', 'implicit-midpoint', 'symplectic-euler', 'verlet', 'rk4',
  'forward-euler',
];
const NO_MOTION = ['static', 'runge-kutta']; // no method to choose: equilibria, and a family

// Every method with its sentence, to choose from; what cannot be chosen says why.
function allMethods(methods, offers, choose) {
  const box = element('details', { class: 'all-methods', 'data-key': 'all' },
    element('summary', { text: `All ${methods.length} methods` }));
  const swatch = (name) =>
    element('i', { class: 'swatch', style: `background:${tint(name)}`, 'aria-hidden': 'true' });
  const entry = ({ name, summary }) => element('li', {},
    element('button', {
      type: 'button', 'data-choose': name, disabled: !!offers?.[name], onclick: () => choose(name),
    }, swatch(name), element('b', { text: name })),
    element('p', { text: offers?.[name] || summary }));
  box.addEventListener('toggle', () => {
    if (box.children.length === 1) box.append(element('ul', {}, ...methods.map(entry)));
  });
  return box;
}

// The menu of integrators with the sentence, the traits and the citation of the chosen one; below
// it, the integrator's own parameters.
export function integratorPicker(options_, change) {
  const { key = 'integrator', label = 'Integrator', engine, offers, value } = options_;
  const { fields = true, leave = [] } = options_;
  let { values } = options_;
  const methods = engine.registry.integrators.filter((i) => !NO_MOTION.includes(i.name));
  const option = ({ name, summary }) => ({
    value: name, text: name, disabled: !!offers?.[name], title: offers?.[name] || summary,
  });
  const options = [...new Set([...FIRST, value])]
    .map((name) => engine.integrator(name)).filter(Boolean).map(option);
  const about = element('div', { class: 'about', 'aria-live': 'polite' });
  const own = element('div', { class: 'fields' });
  const choose = (v) => {
    values = {};
    tell(v);
    change(v, values);
  };
  const menu = select({ key, label, options, value }, choose);
  const all = allMethods(methods, offers, (name) => {
    if (![...menu.input.options].some((o) => o.value === name))
      menu.input.append(element('option', { value: name, text: name }));
    menu.input.value = name;
    choose(name);
  });
  const dot = element('i', { class: 'dot', 'aria-hidden': 'true' });
  menu.row.querySelector('label').prepend(dot);
  function tell(name) {
    const i = engine.integrator(name), citation = engine.registry.citations[i.citation];
    dot.style.background = tint(name);
    about.replaceChildren(element('p', { text: i.summary }),
      element('p', { class: 'note', text: i.note }));
    if (citation)
      about.append(element('details', {}, element('summary', { text: `[${i.citation}]` }),
        element('p', { text: citation })));
    own.replaceChildren();
    if (!fields) return;
    for (const f of i.fields) {
      const control = leave.includes(f.name) ? null : fieldControl(f, values[f.name], (v) => {
        if (v === null) delete values[f.name];
        else values[f.name] = v;
        change(name, values);
      });
      if (control) own.append(control.row);
    }
    if (own.children.length)
      own.replaceChildren(element('details', {},
        element('summary', { text: `Parameters of ${name}` }), ...own.children));
  }
  tell(value);
  const node = element('div', { class: 'picker' }, menu.row, about, all);
  return { node, own, input: menu.input };
}

// A control for one row of a field table; null for what a page cannot offer sensibly (tables of
// numbers).
function fieldControl(f, value, change) {
  const at = value ?? f.default;
  const common = { key: `i.${f.name}`, label: f.name, about: f.summary };
  if (f.type === 'true or false')
    return toggle({ ...common, value: at === true || at === 1 }, change);
  if (f.type === 'choice') {
    const options = f.words.map((w) => ({ value: w, text: w }));
    return select({ ...common, options, value: value ?? f.words[f.default] }, change);
  }
  const closed = f.least !== null && f.most !== null && f.most - f.least <= 1000;
  if ((f.type === 'number' || f.type === 'integer') && closed && f.default !== null) {
    const step = f.type === 'integer' ? 1 : undefined;
    return slider({ ...common, unit: f.unit, from: f.least, to: f.most, step, value: at }, change);
  }
  if (f.type === 'list of numbers' && f.unit === 's')
    return slider({
      ...common, label: `${f.name} (0: none)`, unit: f.unit, from: 0, to: 30, step: 0.5,
      value: value ?? 0,
    }, (v) => change(v === 0 ? null : v));
  return null;
}

export function segmented({ key, label, options, value }, change) {
  const group = element('div',
    { class: 'segmented', role: 'radiogroup', 'aria-label': label, 'data-key': key });
  const show = (v) => [...group.children]
    .forEach((b) => b.setAttribute('aria-checked', String(b.value === v)));
  for (const o of options)
    group.append(element('button', {
      type: 'button', role: 'radio', value: o.value, text: o.text, title: o.title, onclick: () => {
        show(o.value);
        change(o.value);
      },
    }));
  show(value);
  return { row: group, show };
}
