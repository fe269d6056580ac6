// The stability diagram of a method [Shinya2004]: the radius of its matrix over X = h d/m and
// Y = h²k/m, measured cell by cell, a coarse picture first.
export const CELLS = 96;
export const SLACK = 1e-7; // a radius that is 1 to round-off

export class Diagram {
  constructor() {
    this.picture = Object.assign(document.createElement('canvas'), { width: CELLS, height: CELLS });
    this.order = Array.from({ length: CELLS * CELLS }, (_, i) => i).sort(
      (a, b) => coarse(a) - coarse(b),
    );
    this.start(null, { X: 1, Y: 1 });
  }

  // oscillator: of the engine, or null where a method has none
  start(oscillator, range) {
    Object.assign(this, { oscillator, range, next: 0 });
    this.radius = new Float32Array(CELLS * CELLS).fill(NaN);
    this.repaint();
  }

  get done() {
    return !this.oscillator || this.next >= this.order.length;
  }

  // Measures for some milliseconds; false: nothing was left to do.
  work(milliseconds) {
    if (this.done) return false;
    const { X, Y } = this.range,
      begin = performance.now();
    while (!this.done && performance.now() - begin < milliseconds) {
      const c = this.order[this.next++],
        i = c % CELLS,
        j = Math.floor(c / CELLS);
      this.radius[c] = this.oscillator.radius((X * (i + 0.5)) / CELLS, (Y * (j + 0.5)) / CELLS);
      this.paint(c);
    }
    return true;
  }

  // One pixel a cell; a cell of the coarse picture stands for its neighbours until they are
  // measured.
  paint(c) {
    const i = c % CELLS,
      j = Math.floor(c / CELLS),
      size = (i | j) & 3 ? 1 : 4;
    const g = this.picture.getContext('2d');
    g.fillStyle = shade(this.radius[c], document.documentElement.dataset.theme === 'dark');
    g.fillRect(i, CELLS - j - size, size, size);
  }

  // After another theme: in the order of measuring, so that the fine picture lies on the coarse
  // one.
  repaint() {
    this.picture.getContext('2d').clearRect(0, 0, CELLS, CELLS);
    for (let k = 0; k < this.next; k++) this.paint(this.order[k]);
  }

  draw(g, box) {
    g.imageSmoothingEnabled = false;
    g.drawImage(this.picture, box.left, box.top, box.width, box.height);
  }
}

// Every fourth cell of every fourth row first.
function coarse(c) {
  const i = c % CELLS,
    j = Math.floor(c / CELLS);
  return ((i | j) & 3 ? 1e6 : 0) + c;
}

// Blue: decays, the more the darker; grey: keeps its size; orange: grows.
function shade(radius, dark) {
  if (!Number.isFinite(radius)) return dark ? '#6e3312' : '#d9803f';
  if (Math.abs(radius - 1) <= SLACK) return dark ? '#3f5360' : '#dfe7d6';
  const t = radius < 1 ? Math.min(1, -Math.log(radius) / 2) : Math.min(1, Math.log(radius) / 3);
  if (radius < 1) return dark ? `hsl(207 55% ${38 - 20 * t}%)` : `hsl(207 65% ${86 - 38 * t}%)`;
  return dark ? `hsl(24 55% ${42 - 16 * t}%)` : `hsl(28 88% ${88 - 26 * t}%)`;
}
