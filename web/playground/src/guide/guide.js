// The guide: one chapter at a time. A question, a prediction, an experiment that the engine runs,
// what it showed and why. What a chapter says is data (list.js); here is how it is told.
import { wordColour } from '../colours.js';
import { element, linkedValue, segmented, slider } from '../controls.js';
import { chapters } from './list.js';
import { manualLink, paperLink } from './links.js';

const BUDGET = 20; // ms of steps in a picture
const READ = 120; // ms between two readings of the numbers below the picture
const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

const html = (tag, attributes, text) => {
  const node = element(tag, attributes);
  node.innerHTML = text; // of the chapters, never of a user
  return node;
};
const button = (key, text, onclick, more = {}) =>
  element('button', { type: 'button', 'data-key': key, text, onclick, ...more });

export class Guide {
  constructor(root, engine, params, changed) {
    const number = Math.max(
      0,
      chapters.findIndex((c) => c.id === params.get('chapter')),
    );
    Object.assign(this, { root, engine, changed, number, chapter: chapters[number] });
    this.behind = 0;
    this.guess = null;
    this.judged = null;
    this.build();
    this.tint();
    this.lab = new this.chapter.Experiment(engine, { stage: this.stage, side: this.side });
    for (const { key } of this.chapter.Experiment.controls) this.fromLink(key, params);
    this.buildControls();
    this.play(params.get('play') !== '0' && params.has('play'));
    const guess = params.get('guess');
    if (Object.hasOwn(this.chapter.predict.options, guess)) this.choose(guess);
    else if (params.has('told')) this.tell();
  }

  // Values of controls in the link.
  fromLink(key, params) {
    const control = this.chapter.Experiment.controls.find((c) => c.key === key);
    if (params.has(key)) this.lab.set(key, linkedValue(control, params.get(key)));
  }

  params() {
    const q = new URLSearchParams(),
      first = this.lab.defaults();
    for (const [key, value] of Object.entries(this.lab.values))
      if (value !== first[key]) q.set(key, value);
    if (this.guess) q.set('guess', this.guess);
    else if (!this.after.hidden) q.set('told', 1);
    return q;
  }

  // ---- the page -----------------------------------------------------------------------------

  build() {
    const { chapter, number } = this;
    this.stage = element('div', { class: 'stage' });
    this.side = element('div', { class: 'side-picture' });
    this.numbers = element('dl', { class: 'readout', 'aria-label': 'Measured now' });
    this.controls = element('div', { class: 'controls', role: 'group', 'aria-label': 'Change it' });
    this.playButton = button('play', 'Play', () => this.play(!this.playing), { class: 'primary' });
    this.clock = element('span', { class: 'status' });
    const toolbar = element(
      'div',
      { class: 'toolbar', role: 'toolbar', 'aria-label': 'Experiment' },
      this.playButton,
      button('step', 'Step', () => this.single()),
      button('reset', 'Start again', () => this.restart()),
      this.clock,
    );
    toolbar.hidden = !chapter.Experiment.plays;
    const lab = element(
      'section',
      { class: 'lab', 'aria-label': 'Experiment' },
      this.stage,
      this.side,
      toolbar,
      this.controls,
      this.numbers,
    );
    this.after = element('div', { class: 'read after', hidden: true });
    this.buildAfter();
    this.article = element(
      'article',
      { class: `chapter chapter-${chapter.id}` },
      element(
        'div',
        { class: 'read' },
        element('p', { class: 'kicker', text: `Chapter ${number + 1} of ${chapters.length}` }),
        element('h2', { text: chapter.title }),
        html('div', {}, chapter.intro),
        this.prediction(),
      ),
      lab,
      this.after,
    );
    this.root.replaceChildren(this.article);
  }

  prediction() {
    const { ask, options } = this.chapter.predict;
    this.options = Object.entries(options).map(([value, text]) => {
      const input = element('input', { type: 'radio', name: 'guess', value });
      input.addEventListener('change', () => this.choose(value));
      return element(
        'label',
        { class: 'option', 'data-guess': value },
        input,
        element('span', { text }),
      );
    });
    this.verdict = element('p', { class: 'judgement', role: 'status' });
    this.skip = button('skip', 'Show me without a guess', () => this.tell(), { class: 'quiet' });
    return element(
      'form',
      { class: 'predict' },
      element(
        'fieldset',
        {},
        element('legend', {}, element('span', { class: 'kicker', text: 'Your prediction' }), ask),
        ...this.options,
      ),
      this.verdict,
      this.skip,
    );
  }

  buildAfter() {
    const { chapter, engine, number } = this,
      next = chapters[number + 1];
    const manual = Object.entries(chapter.manual).map(([page, title]) => {
      const href = manualLink(page);
      return element(
        'li',
        {},
        'Manual: ',
        href ? element('a', { href, text: title }) : title,
        ` (docs/${page}.md)`,
      );
    });
    const papers = chapter.papers.map((key) => {
      const citation = engine.citations[key],
        href = paperLink(key, citation);
      return element(
        'li',
        {},
        href ? element('a', { href, text: `[${key}]` }) : `[${key}]`,
        ` ${citation}`,
      );
    });
    this.after.append(
      element('h3', { text: 'Try this' }),
      html('ol', { class: 'tasks' }, chapter.tasks.map((t) => `<li>${t}</li>`).join('')),
      element('h3', { text: 'What happened, and why' }),
      html('div', {}, chapter.why),
      element('h3', { text: 'The equation' }),
      html(
        'div',
        { class: 'equation', tabindex: 0, role: 'group', 'aria-label': 'The equation' },
        chapter.equation,
      ),
      html('p', { class: 'terms' }, chapter.terms),
      element('h3', { text: 'Read on' }),
      element('ul', { class: 'links' }, ...manual, ...papers),
      next
        ? element(
            'a',
            { class: 'next', href: `#chapter=${next.id}`, 'data-key': 'next' },
            element('span', { class: 'kicker', text: `Chapter ${number + 2}` }),
            next.title,
          )
        : element(
            'a',
            { class: 'next', href: '#tab=cloth', 'data-key': 'next' },
            element('span', { class: 'kicker', text: 'Now it is yours' }),
            'To the playground',
          ),
    );
  }

  buildControls() {
    this.shown = {};
    const rows = this.chapter.Experiment.controls.map((c) => {
      const change = (v) => {
        this.lab.asked = false; // from now on it is the reader's
        this.lab.set(c.key, v);
        this.show(true);
        this.changed();
      };
      const value = this.lab.values[c.key];
      if (!c.choices) {
        const made = slider({ ...c, value }, change);
        this.shown[c.key] = made.show;
        return made.row;
      }
      const made = segmented({ key: c.key, label: c.label, options: c.choices, value }, change);
      this.shown[c.key] = made.show;
      return element(
        'div',
        { class: 'row choice' },
        element('span', { class: 'name', text: c.label }),
        made.row,
      );
    });
    this.lab.onChange = (key, v) => this.shown[key](v); // where the experiment itself turns a knob
    this.controls.replaceChildren(...rows);
  }

  // ---- the prediction -----------------------------------------------------------------------

  // The question is asked of the experiment as it is set up; then it runs and answers.
  choose(value) {
    this.guess = value;
    this.judged = null;
    this.verdict.textContent = '';
    this.verdict.className = 'judgement';
    this.options.forEach((o) => {
      o.classList.remove('right', 'wrong');
      o.classList.toggle('chosen', o.dataset.guess === value);
      o.firstChild.checked = o.dataset.guess === value;
    });
    this.skip.hidden = true;
    this.lab.values = this.lab.defaults();
    this.lab.asked = true;
    for (const [key, v] of Object.entries(this.lab.values)) this.shown[key](v);
    this.restart();
    this.changed();
    if (still() || !this.chapter.seconds) this.finish();
    else {
      this.verdict.textContent = 'Watch …';
      this.play(true);
    }
  }

  // Runs to the instant at which the prediction is judged.
  finish() {
    while (this.guess && !this.judged) {
      if (this.lab.time < (this.chapter.seconds ?? 0) - 1e-9) this.lab.step();
      else this.judge();
    }
    this.show(true);
  }

  judge() {
    const { answer, says } = this.chapter.predict.judge(this.lab.measure());
    this.judged = { answer, says, right: answer === this.guess };
    this.options.forEach((o) => {
      o.classList.toggle('right', o.dataset.guess === answer);
      o.classList.toggle('wrong', o.dataset.guess === this.guess && answer !== this.guess);
    });
    this.verdict.className = `judgement ${this.judged.right ? 'right' : 'wrong'}`;
    this.verdict.textContent = `${this.judged.right ? 'Right.' : 'Not this time.'} ${says}`;
    this.tell();
  }

  tell() {
    this.after.hidden = false;
    this.skip.hidden = true;
    this.changed();
  }

  // ---- running ------------------------------------------------------------------------------

  play(on) {
    this.playing = on;
    this.playButton.textContent = on ? 'Pause' : 'Play';
  }

  restart() {
    this.behind = 0;
    this.lab.start();
    this.show(true);
  }

  single() {
    this.play(false);
    this.advance();
    this.show(true);
  }

  advance() {
    this.lab.step();
    const waiting = this.guess && !this.judged;
    if (waiting && this.lab.time >= this.chapter.seconds - 1e-9) this.judge();
  }

  frame(dt) {
    this.lab.frame(dt);
    if (!this.playing) return;
    const begin = performance.now();
    this.behind = Math.min(this.behind + dt, Math.max(0.1, this.lab.pace));
    while (this.behind >= this.lab.pace) {
      this.behind -= this.lab.pace;
      this.advance();
      if (performance.now() - begin > BUDGET) this.behind = 0;
    }
    this.show();
  }

  show(now) {
    this.lab.draw();
    if (!now && performance.now() - (this.readAt ?? 0) < READ) return;
    this.readAt = performance.now();
    this.clock.textContent = this.chapter.seconds ? `t = ${this.lab.time.toFixed(2)} s` : '';
    this.numbers.replaceChildren(
      ...this.lab
        .readout()
        .map(({ colour, name, value }) =>
          element(
            'div',
            {},
            element(
              'dt',
              {},
              ...(colour ? [element('i', { class: 'swatch', style: `background:${colour}` })] : []),
              name,
            ),
            element('dd', { text: value }),
          ),
        ),
    );
  }

  // The colours of the picture, for the words and the formula.
  tint() {
    this.chapter.colours.forEach((name, k) =>
      this.article.style.setProperty(`--t${k + 1}`, wordColour(name)),
    );
  }

  key(e) {
    const does = {
      ' ': () => this.play(!this.playing),
      r: () => this.restart(),
      s: () => this.single(),
    };
    const action = does[e.key.toLowerCase()];
    action?.();
    return !!action;
  }

  resize() {
    this.lab.resize();
    this.show(true);
  }

  retint() {
    this.tint();
    this.lab.retint();
    this.show(true);
  }

  dispose() {
    this.lab.dispose();
  }
}
