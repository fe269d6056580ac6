// What the experiments of the guide share: the values of their controls, worlds of the engine and a
// clock. An experiment says how to start and to step, what it measures, and draws itself.
import { BrioError } from 'brio-engine';
import { element } from '../controls.js';

// The name of the first case that is true: {name: whether}.
export const firstTrue = (cases, otherwise) =>
  Object.keys(cases).find((name) => cases[name]) ?? otherwise;

export class Experiment {
  // {key, label, value, ...} as `slider` takes them, or with `choices: [{value, text}]`
  static controls = [];
  // whether it goes on in time: then it can be played, stepped and started again
  static plays = true;

  // host: {stage, side}: where the picture goes, and what stands next to it
  constructor(engine, host) {
    Object.assign(this, { engine, ...host });
    this.worlds = [];
    this.values = this.defaults();
    this.asked = false; // whether it runs to judge a prediction
  }

  defaults() {
    return Object.fromEntries(this.constructor.controls.map((c) => [c.key, c.value]));
  }

  set(key, value) {
    this.values[key] = value;
    this.start();
  }

  // Worlds are freed when the experiment starts again.
  world(scene) {
    const world = this.engine.world(scene);
    this.worlds.push(world);
    return world;
  }

  // A step of a world that may fail, which is an outcome and no fault here: false then.
  attempt(step) {
    try {
      step();
      return true;
    } catch (e) {
      if (!(e instanceof BrioError)) throw e;
      this.said = e.message;
      return false;
    }
  }

  begin() {
    this.worlds.forEach((w) => w.dispose());
    this.worlds = [];
    this.said = '';
    this.steps = 0;
  }

  // Seconds of the page from one step to the next.
  get pace() {
    return this.h;
  }
  get time() {
    return this.steps * this.h;
  }

  // A canvas with a name for screen readers.
  canvas(label, parent = this.stage) {
    const node = element('canvas', { class: 'plane', role: 'img', 'aria-label': label });
    parent.append(node);
    return node;
  }

  readout() {
    return [];
  }
  frame() {}
  draw() {}
  resize() {
    this.draw();
  }
  retint() {
    this.draw();
  }
  dispose() {
    this.begin();
  }
}
