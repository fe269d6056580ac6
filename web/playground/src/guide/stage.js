// Three-dimensional pictures of the guide: views of worlds next to each other, with names.
import { element } from '../controls.js';
import { View3D } from '../view3d.js';

export class Stage {
  // names: [{text, colour}], one for each view
  constructor(parent, names, camera, options = {}) {
    this.options = options;
    this.box = element('div', { class: 'views' });
    parent.append(this.box);
    this.views = names.map(({ text, colour }) => {
      const canvas = element('canvas', {
        role: 'img',
        'aria-label': `${text}: drag to turn the view`,
      });
      const badge = element(
        'div',
        { class: 'badge' },
        element('i', { class: 'dot', style: `background:${colour}` }),
        element('span', { text }),
      );
      this.box.append(element('div', { class: 'view' }, canvas, badge));
      const view = new View3D(canvas);
      view.badge = badge.lastChild;
      view.look(camera);
      return view;
    });
    this.views.forEach((v) => (v.onCamera = () => this.follow(v)));
  }

  // All views are turned together.
  follow(view) {
    if (this.following) return;
    this.following = true;
    for (const other of this.views) {
      if (other === view) continue;
      other.camera.position.copy(view.camera.position);
      other.controls.target.copy(view.controls.target);
      other.controls.update();
      other.draw();
    }
    this.following = false;
  }

  show(worlds) {
    worlds.forEach((w, i) => this.views[i].show(w, this.options));
    this.resize();
  }

  draw(worlds) {
    worlds.forEach((w, i) => {
      this.views[i].update(w);
      this.views[i].draw();
    });
  }

  resize() {
    this.views.forEach((v) => v.resize());
  }

  retint() {
    this.views.forEach((v) => v.retint());
  }

  dispose() {
    this.views.forEach((v) => v.dispose());
    this.box.remove();
  }
}
