// The page of `brio live`: the simulation that runs in the program, seen and touched.
import { Chart, short } from '../playground/src/charts.js';
import { parts as colours } from '../playground/src/colours.js';
import { element } from '../playground/src/controls.js';
import { Link } from './link.js';
import { Panel } from './panel.js';
import { LiveView } from './view.js';

const page = document.getElementById('page'),
  link = document.getElementById('link');
const ink = () => getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
const ENERGIES = ['kinetic', 'elastic', 'gravity', 'total', 'target'];

class Live {
  constructor() {
    this.hands = new Map(); // by pointer
    this.count = 0;
    this.times = [];
    this.build();
    this.link = new Link({
      scene: (scene, shapes) => this.setScene(scene, shapes),
      settings: (settings) => this.setSettings(settings),
      frame: (frame) => this.setFrame(frame),
      state: (state) => this.setState(state),
    });
    requestAnimationFrame(() => this.draw());
  }

  // ---- the page -----------------------------------------------------------------------

  build() {
    const button = (key, text, title, click, kind = '') =>
      element('button', {
        type: 'button',
        class: kind,
        'data-key': key,
        text,
        title,
        onclick: click,
      });
    this.canvas = element('canvas', {
      tabindex: 0,
      role: 'img',
      'aria-label':
        'The simulation: drag a body to pull it, drag next to it or use arrow keys to turn it',
    });
    this.badge = element('div', { class: 'badge' });
    this.hint = element('div', {
      class: 'hint',
      text: 'Drag a body to pull it, drag next to it to turn',
    });
    this.words = element('p');
    this.message = element(
      'div',
      { class: 'message', role: 'alert', hidden: true },
      this.words,
      element('button', {
        type: 'button',
        'aria-label': 'Close',
        text: '×',
        onclick: () => this.say(''),
      }),
    );
    this.play = button('play', 'Pause', 'Space', () => this.togglePlay(), 'primary');
    this.recordButton = button(
      'record',
      'Record',
      'Write what happens from now on to a folder',
      () => this.toggleRecord(),
      'record',
    );
    this.status = element('span', { class: 'status', 'aria-live': 'off' });
    this.toolbar = element(
      'div',
      { class: 'toolbar', role: 'toolbar', 'aria-label': 'Simulation' },
      this.play,
      button('step', 'Step', 'One step (S)', () => this.order('step')),
      button('restart', 'Restart', 'From the start, with the settings of now (R)', () =>
        this.order('restart'),
      ),
      button('reset', 'Reset', 'From the start, with the settings of the scene', () =>
        this.order('restart', { reset: true }),
      ),
      button('nudge', 'Nudge', 'A short pull (N)', () => this.nudge()),
      this.recordButton,
      this.status,
    );
    this.chartBox = element('div', { class: 'charts' });
    this.aside = element('aside', { class: 'panel', 'aria-label': 'Settings' });
    const stage = element(
      'div',
      { class: 'stage' },
      this.canvas,
      this.badge,
      this.hint,
      this.message,
    );
    const main = element('section', { class: 'main' }, stage, this.toolbar, this.chartBox);
    this.nodes = [main, this.aside];
  }

  start() {
    page.replaceChildren(...this.nodes);
    try {
      this.view = new LiveView(this.canvas);
    } catch (error) {
      page.replaceChildren(
        element('p', {
          class: 'wait',
          role: 'alert',
          text: `The picture needs WebGL, which this browser does not offer (${error.message}).`,
        }),
      );
      this.blind = true;
      return;
    }
    this.makeEnergy(false);
    this.momentum = new Chart(this.chartBox, {
      title: 'Momentum',
      unit: '',
      series: [
        { label: 'linear, kg m/s', colour: colours.momentum },
        { label: 'angular, kg m²/s', colour: colours.angular },
      ],
    });
    this.listen();
    new ResizeObserver(() => this.resize()).observe(page);
  }

  // With a target where the integrator controls energy.
  makeEnergy(target) {
    const next = this.energy?.figure.nextSibling ?? null;
    this.energy?.dispose();
    this.target = target;
    this.energy = new Chart(this.chartBox, {
      title: 'Energy',
      unit: 'J',
      series: ENERGIES.filter((name) => target || name !== 'target').map((name) => ({
        label: name,
        colour: name === 'total' ? ink() : colours[name],
        width: name === 'total' ? 2.2 : 1.6,
        dash: name === 'target' ? [6, 4] : undefined,
      })),
    });
    this.chartBox.insertBefore(this.energy.figure, next);
  }

  setScene(scene, shapes) {
    if (!this.view && !this.blind) this.start();
    if (this.blind) return;
    this.scene = scene;
    this.shapes = shapes;
    this.fresh = true; // the next frame is the first
    if (this.frame && !this.frame.shown) {
      this.frame.shown = true; // it is of the scene before: its positions do not fit this one
      this.link.drawn(this.frame.number);
    }
    // hands of the simulation before are gone; a grab without an answer yet is of this one
    for (const [id, held] of this.hands) if (held.hand >= 0) this.hands.delete(id);
    this.energy.clear();
    this.momentum.clear();
    document.getElementById('title').textContent = scene.title || scene.file;
    document.title = `${scene.title || scene.file} · brio live`;
    this.panel = null;
  }

  setSettings(settings) {
    if (this.blind) return;
    this.settings = settings;
    if (this.panel) this.panel.update(settings);
    else
      this.panel = new Panel(this.aside, this.scene, settings, (what, fields) =>
        this.order(what, fields),
      );
    this.play.textContent = settings.playing ? 'Pause' : 'Play';
    this.play.title = `${this.play.textContent} (space)`;
    this.recordButton.textContent = settings.record ? 'Stop recording' : 'Record';
    this.recordButton.setAttribute('aria-pressed', String(!!settings.record));
    const rate = 1 / settings.h,
      step = Math.abs(rate - Math.round(rate)) < 1e-6 ? `1/${Math.round(rate)}` : short(settings.h);
    const record = settings.record ? `, recording to ${settings.record}` : '';
    this.badge.textContent = `${settings.integrator}, ${step} s${record}`;
    if (settings.trouble !== this.trouble) {
      this.trouble = settings.trouble;
      this.say(
        settings.trouble ?? '',
        settings.exploded ? 'The motion has exploded.' : 'It pauses.',
        true,
      );
    }
  }

  setState(state) {
    const lost = state !== 'connected';
    link.dataset.state = lost ? 'lost' : 'connected';
    link.textContent = { connected: 'connected', lost: 'connection lost', ended: 'ended' }[state];
    if (state === 'ended')
      this.say(
        'brio live has ended. Start it again, and open the address that it prints.',
        '',
        true,
      );
    else if (lost && this.view) this.say('The connection is lost. Trying again …', '', true);
    else if (lost && !this.blind)
      page.firstElementChild.textContent =
        'brio does not answer. Is it running, and is this the whole address that it has printed?';
    else if (this.view) this.say(this.trouble ?? '');
    for (const b of this.toolbar.querySelectorAll('button')) b.disabled = lost;
  }

  // A sentence over the picture; '' takes it away.
  say(text, title = '', bad = false) {
    this.message.hidden = !text;
    this.message.classList.toggle('bad', bad);
    this.words.replaceChildren(...(title ? [element('b', { text: title })] : []), text);
  }

  // What the engine refuses is said, and what it notes about records.
  async order(what, fields = {}) {
    const answer = await this.link.ask(what, fields);
    if (!answer.ok && answer.text) this.say(answer.text);
    else if (what === 'record' && answer.ok) this.say(answer.text);
    else if (answer.ok && !this.trouble && !this.message.classList.contains('bad')) this.say('');
    return answer;
  }

  togglePlay() {
    return this.order(this.settings.playing ? 'pause' : 'play');
  }
  toggleRecord() {
    return this.order('record', { on: !this.settings.record });
  }

  // ---- frames -------------------------------------------------------------------------

  setFrame(frame) {
    if (this.frame && !this.frame.shown) this.link.drawn(this.frame.number); // this one is newer
    this.frame = frame;
  }

  draw() {
    requestAnimationFrame(() => this.draw());
    const frame = this.frame;
    if (!frame || frame.shown || !this.view) return;
    frame.shown = true;
    if (this.fresh) {
      this.view.showParts(this.shapes, this.scene.planes, frame.positions);
      this.fresh = false;
      this.resize();
    }
    this.view.showFrame(frame);
    this.link.drawn(frame.number);
    this.count++;
    this.note(frame);
    this.spare();
  }

  // Where pictures take long, they do without shadows.
  spare() {
    const now = performance.now();
    if (this.drawnAt && this.settings?.playing)
      this.each = 0.9 * (this.each ?? 20) + 0.1 * (now - this.drawnAt);
    this.drawnAt = now;
    if (this.each > 60 && this.count > 20) this.view.spare();
  }

  note({ ledger: l, curves }) {
    const now = performance.now();
    if (l.time < (this.lastTime ?? 0)) (this.energy.clear(), this.momentum.clear());
    this.lastTime = l.time;
    if (Number.isFinite(l.target) !== this.target) this.makeEnergy(!this.target);
    for (const [t, kinetic, elastic, gravity, total, target, linear, angular] of curves) {
      this.energy.add(
        t,
        [kinetic, elastic, gravity, total, target].slice(0, this.energy.series.length),
      );
      this.momentum.add(t, [linear, angular]);
    }
    this.times.push(now);
    while (this.times[0] < now - 1000) this.times.shift();
    if (this.noted && now - this.noted < (this.view.spared ? 400 : 90)) return;
    this.noted = now;
    this.energy.draw();
    this.momentum.draw();
    const playing = this.settings?.playing,
      said = [`t = ${l.time.toFixed(2)} s`];
    if (playing)
      said.push(
        `${Number(l.pace.toPrecision(2))} × real time`,
        `${this.times.length} frames/s`,
      );
    if (l.step_seconds > 0)
      said.push(`${Number((1000 * l.step_seconds).toPrecision(2))} ms per step`);
    if (l.contacts > 0) said.push(`${l.contacts} contacts`);
    this.status.textContent = said.join(', ');
  }

  // ---- taking part --------------------------------------------------------------------

  listen() {
    const on = (type, f) => this.canvas.addEventListener(type, f, { capture: true });
    on('pointerdown', (e) => {
      if (e.button !== 0 || !this.view.parts) return;
      const ray = this.view.pick(e.clientX, e.clientY);
      if (!ray) return;
      e.stopImmediatePropagation();
      e.preventDefault();
      this.canvas.focus({ preventScroll: true });
      try {
        this.canvas.setPointerCapture(e.pointerId);
      } catch {
        // the pointer is gone already
      }
      this.grab(e.pointerId, ray);
    });
    on('pointermove', (e) => {
      const held = this.hands.get(e.pointerId);
      if (!held) return;
      e.stopImmediatePropagation();
      this.drag(held, e.clientX, e.clientY);
    });
    const end = (e) => this.letGo(e.pointerId);
    on('pointerup', end);
    on('pointercancel', end);
    this.canvas.addEventListener('keydown', (e) => this.turn(e));
    addEventListener('keydown', (e) => this.key(e));
  }

  // The engine decides what is held; until it has answered, the pointer's way is kept.
  async grab(id, ray) {
    const held = { hand: -1, to: null };
    this.hands.set(id, held);
    this.hint.hidden = true;
    const answer = await this.order('grab', { origin: ray.origin, direction: ray.direction });
    if (!answer.ok || answer.hand < 0) {
      if (this.hands.get(id) === held) this.hands.delete(id);
      return null;
    }
    held.hand = answer.hand;
    held.hit = answer.hit;
    if (held.gone) this.link.tell('release', { hand: held.hand });
    else if (held.to) this.drag(held, ...held.to);
    return held;
  }

  drag(held, px, py) {
    held.to = [px, py];
    if (held.hand >= 0)
      this.link.tell('drag', { hand: held.hand, point: this.view.onPlane(px, py, held.hit) });
  }

  letGo(id) {
    const held = this.hands.get(id);
    if (!held) return;
    this.hands.delete(id);
    held.gone = true;
    if (held.hand >= 0) this.link.tell('release', { hand: held.hand });
  }

  // For keys and screen readers: a pull at what is in the middle of the picture.
  async nudge() {
    if (this.hands.has('nudge')) return; // a second one would take the first one's hand
    const box = this.canvas.getBoundingClientRect(),
      bodies = this.view.parts.filter((part) => part.kind === 'body');
    const near = this.view.nearest(box.left + box.width / 2, box.top + box.height / 2, bodies);
    if (!near) return;
    const held = await this.grab('nudge', this.view.ray(...near.pixel));
    if (!held) return;
    this.drag(held, near.pixel[0] + 0.1 * box.width, near.pixel[1] - 0.16 * box.height);
    setTimeout(() => this.letGo('nudge'), 400);
  }

  turn(e) {
    const by = {
      ArrowLeft: [-0.1, 0],
      ArrowRight: [0.1, 0],
      ArrowUp: [0, -0.1],
      ArrowDown: [0, 0.1],
    }[e.key];
    if (!by) return;
    e.preventDefault();
    const v = this.view,
      offset = v.camera.position.clone().sub(v.controls.target),
      reach = 0.95 * offset.length();
    offset.applyAxisAngle(v.camera.up, by[0]);
    offset.y = Math.max(-reach, Math.min(reach, offset.y - by[1] * offset.length()));
    v.camera.position.copy(v.controls.target).add(offset);
    v.controls.update();
  }

  key(e) {
    if (
      e.ctrlKey ||
      e.metaKey ||
      e.altKey ||
      /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(e.target.tagName)
    )
      return;
    const does = {
      ' ': () => this.togglePlay(),
      s: () => this.order('step'),
      r: () => this.order('restart'),
      n: () => this.nudge(),
      v: () => this.view.look(this.view.home),
    }[e.key.toLowerCase()];
    if (!does) return;
    e.preventDefault();
    does();
  }

  resize() {
    this.view.resize();
    this.energy.resize();
    this.momentum.resize();
  }

  retint() {
    if (!this.view) return;
    this.view.retint();
    this.energy.series.find((s) => s.label === 'total').colour = ink();
    this.energy.make();
    this.momentum.make();
    this.view.draw();
  }
}

const themeButton = document.getElementById('theme'),
  root = document.documentElement;
function theme(choice) {
  root.dataset.theme =
    choice ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const dark = root.dataset.theme === 'dark';
  themeButton.setAttribute('aria-pressed', String(dark));
  themeButton.textContent = dark ? 'Light' : 'Dark';
  window.brioLive?.retint();
}
themeButton.addEventListener('click', () =>
  theme(root.dataset.theme === 'dark' ? 'light' : 'dark'),
);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) =>
  theme(e.matches ? 'dark' : 'light'),
);

theme();
window.brioLive = new Live();
