// The page draws, the worker simulates: a step that takes long never holds up the page.
const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById('canvas'));
const said = /** @type {HTMLElement} */ (document.getElementById('said'));
const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });

/** @param {number} x @param {number} y */
const pixel = (x, y) => /** @type {[number, number]} */ ([240 + 300 * x, 200 - 300 * y]);

worker.onmessage = (/** @type {MessageEvent} */ { data }) => {
  const { positions, edges, steps, time, busy } = data;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.beginPath();
  for (let e = 0; e < edges.length; e += 2) {
    pen.moveTo(...pixel(positions[3 * edges[e]], positions[3 * edges[e] + 1]));
    pen.lineTo(...pixel(positions[3 * edges[e + 1]], positions[3 * edges[e + 1] + 1]));
  }
  pen.stroke();
  const cost = `${steps} steps in ${busy.toFixed(1)} ms of this frame`;
  said.textContent = `t = ${time.toFixed(2)} s, ${cost}`;
  requestAnimationFrame(() => worker.postMessage(null));
};
worker.onerror = (/** @type {ErrorEvent} */ e) => (said.textContent = e.message);
