// The settings of a running simulation. Every change is an order; what the engine says is shown.
import {
  element,
  integratorPicker,
  select,
  slider,
  stepSelect,
} from '../playground/src/controls.js';

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2];

export class Panel {
  // order(what, fields): carries a change to the engine
  constructor(node, scene, settings, order) {
    Object.assign(this, { node, scene, settings, order });
    this.registry = {
      registry: scene,
      integrator: (name) => scene.integrators.find((i) => i.name === name),
    };
    this.build();
  }

  // Other settings, from this browser or another.
  update(settings) {
    const before = this.settings;
    this.settings = settings;
    const key = (s) => JSON.stringify([s.integrator, s.h, s.speed]);
    const busy = this.node.contains(document.activeElement);
    if (key(before) !== key(settings) && before.integrator !== settings.integrator) this.build();
    else if (key(before) !== key(settings) && !busy) this.build();
    else for (const show of this.shown) show(settings);
  }

  build() {
    const { scene, settings } = this,
      focus = document.activeElement?.dataset?.key;
    this.shown = [];
    const picker = integratorPicker(
      {
        engine: this.registry,
        offers: scene.offers,
        value: settings.integrator,
        values: this.values(),
      },
      (name, values) => this.setIntegrator(name, values),
    );
    this.node.replaceChildren(
      ...(this.about() ? [element('p', { class: 'lead', text: this.about() })] : []),
      picker.node,
      stepSelect('h', settings.h, (h) => this.order('h', { value: h })).row,
      this.speed(),
      ...this.materials(),
      ...this.damping(),
      ...this.world(),
      picker.own,
      keys(),
    );
    if (focus) this.node.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  }

  about() {
    const { bodies, vertices, solver, threads } = this.scene;
    const count = bodies.length === 1 ? '1 body' : `${bodies.length} bodies`;
    return (
      `${count}, ${vertices.toLocaleString('en')} vertices. Solver ${solver}, ` +
      `${threads === 1 ? '1 thread' : `${threads} threads`}.`
    );
  }

  // Of the integrator, those that controls can show.
  values() {
    const simple = Object.entries(this.settings.values)
      .map(([name, v]) => [name, Array.isArray(v) && v.length === 1 ? v[0] : v])
      .filter(([, v]) => v !== null && !Array.isArray(v));
    return Object.fromEntries(simple);
  }

  setIntegrator(name, values) {
    const given = { ...values };
    if (name === this.settings.integrator)
      for (const field of this.registry.integrator(name).fields)
        if (field.type === 'list of numbers' && given[field.name] === undefined)
          given[field.name] = [];
    this.order('integrator', { name, values: given });
  }

  speed() {
    const value = String(this.settings.speed);
    const known = SPEEDS.map(String).includes(value) || value === '0' ? [] : [Number(value)];
    return select(
      {
        key: 'speed',
        label: 'Speed',
        value,
        options: [...SPEEDS, ...known]
          .map((v) => ({ value: String(v), text: v === 1 ? 'real time' : `${v} × real time` }))
          .concat({ value: '0', text: 'as fast as it goes' }),
        about: 'Simulated seconds in a second, where the machine is fast enough.',
      },
      (v) => this.order('speed', { value: Number(v) }),
    ).row;
  }

  // A control for a number that the engine takes; `get` finds it in the settings.
  number(field, key, get, change) {
    const value = get(this.settings),
      unit = field.unit ?? '',
      about = field.summary;
    const least = field.least ?? -Infinity,
      most = field.most ?? Infinity;
    let control;
    if (Number.isFinite(least) && Number.isFinite(most) && most - least <= 1000)
      control = slider(
        { key, label: field.name, unit, from: least, to: most, value, about },
        change,
      );
    else if (value > 0)
      control = slider(
        {
          key,
          label: field.name,
          unit,
          from: Math.max(least, value / 1000),
          to: Math.min(most, value * 1000),
          log: true,
          value,
          about,
        },
        change,
      );
    else control = numberInput({ key, label: field.name, unit, value, about }, change);
    this.shown.push((settings) => {
      if (document.activeElement !== control.input) control.show(get(settings));
    });
    return control.row;
  }

  // Of one body, or of all where they are of one material (body -1).
  materials() {
    const { bodies, materials } = this.scene,
      alike = bodies.length > 1 && bodies.every((one) => one.material === bodies[0].material);
    if (!bodies.length) return [];
    this.body ??= alike ? -1 : 0;
    if (this.body >= bodies.length || (this.body < 0 && !alike)) this.body = 0;
    const shown = Math.max(this.body, 0),
      body = bodies[shown],
      which = this.body < 0 ? {} : { body: this.body };
    const known = materials.find((m) => m.name === body.material);
    const fields = (known?.fields ?? []).filter((f) => body.live.includes(f.name));
    const rows = [element('h3', { text: 'Material' }), this.bodyChoice(bodies, alike)];
    for (const f of fields)
      rows.push(
        this.number(
          f,
          `m.${f.name}`,
          (s) => s.bodies[shown][f.name],
          (v) => this.order('material', { ...which, name: f.name, value: v }),
        ),
      );
    if (!fields.length)
      rows.push(
        element('p', {
          class: 'about',
          text: 'Nothing of this material can be changed while it runs.',
        }),
      );
    return rows;
  }

  bodyChoice(bodies, alike) {
    if (bodies.length === 1)
      return element('p', { class: 'lead', text: `${bodies[0].name}: ${bodies[0].material}` });
    const options = bodies.map((one, i) => ({
      value: String(i),
      text: `${one.name} (${one.material})`,
    }));
    if (alike) options.unshift({ value: '-1', text: `all bodies (${bodies[0].material})` });
    return select({ key: 'body', label: 'Body', value: String(this.body), options }, (v) => {
      this.body = Number(v);
      this.build();
    }).row;
  }

  damping() {
    const rows = [element('h3', { text: 'Damping' })];
    this.scene.models.forEach((name, i) => {
      const fields = this.scene.damping
        .find((d) => d.name === name)
        .fields.filter((f) => f.type.startsWith('number'));
      rows.push(element('p', { class: 'lead', text: name }));
      for (const f of fields)
        rows.push(
          this.number(
            f,
            `d${i}.${f.name}`,
            (s) => s.damping[i][f.name],
            (v) => this.order('damping', { model: i, name: f.name, value: v }),
          ),
        );
    });
    if (!this.scene.models.length)
      rows.push(
        element('p', {
          class: 'about',
          text: 'The scene has no damping model. Give it one of strength 0 to change it here.',
        }),
      );
    return rows;
  }

  // Gravity along its direction, and factors of forces.
  world() {
    const size = (g) => Math.hypot(...g),
      first = this.settings.gravity;
    this.down ??= size(first) > 0 ? first.map((v) => v / size(first)) : [0, -1, 0];
    const along = (s) => s.gravity.reduce((sum, v, r) => sum + v * this.down[r], 0);
    const gravity = {
      name: 'Gravity',
      unit: 'm/s²',
      least: -30,
      most: 30,
      summary: 'Along its direction in the scene.',
    };
    const rows = [
      element('h3', { text: 'World' }),
      this.number(gravity, 'gravity', along, (v) =>
        this.order('gravity', { value: this.down.map((d) => d * v) }),
      ),
    ];
    this.scene.forces.forEach((name, i) =>
      rows.push(
        this.number(
          {
            name: `Force ${name}`,
            unit: '×',
            least: -3,
            most: 3,
            summary: 'A factor of the force of the scene.',
          },
          `f${i}`,
          (s) => s.forces[i],
          (v) => this.order('force', { force: i, value: v }),
        ),
      ),
    );
    return rows;
  }
}

function numberInput({ key, label, unit, value, about }, change) {
  const id = `number-${key}`;
  const input = element('input', { type: 'number', id, step: 'any', 'data-key': key });
  input.value = value;
  input.addEventListener('change', () => input.value !== '' && change(Number(input.value)));
  const row = element(
    'div',
    { class: 'row number', title: about },
    element('label', { for: id, text: label }),
    input,
    element('span', { text: unit }),
  );
  return { row, input, show: (v) => (input.value = v) };
}

function keys() {
  const list = [
    ['space', 'play, pause'],
    ['S', 'one step'],
    ['R', 'restart'],
    ['N', 'nudge'],
    ['V', 'view as at first'],
    ['arrows', 'turn the view'],
  ];
  return element(
    'p',
    { class: 'keys' },
    ...list.flatMap(([key, does]) => [element('kbd', { text: key }), ` ${does}  `]),
  );
}
