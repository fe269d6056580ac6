"""A simulation as a page in a notebook: what it holds, and its bodies in 3D, to be turned with the
mouse. The page is one piece of HTML that loads nothing."""
from __future__ import annotations

import base64
import html
import json
from typing import Any, Dict, List

import numpy as np

MOST = 60000  # triangles and edges that are drawn; of more, every Nth

_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")

_PAGE = """<!doctype html><meta charset="utf-8"><style>
html,body{margin:0;height:100%;background:#fff}
canvas{width:100%;height:100%;display:block;cursor:grab;touch-action:none}</style><canvas></canvas>
<script>
const bodies = __BODIES__, canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
for (const b of bodies) {
  b.x = new Float32Array(bytes(b.x)); b.part = new Int32Array(bytes(b.part)); }
let low = [1e30, 1e30, 1e30], high = [-1e30, -1e30, -1e30];
for (const b of bodies) for (let i = 0; i < b.x.length; i++) {
  low[i % 3] = Math.min(low[i % 3], b.x[i]); high[i % 3] = Math.max(high[i % 3], b.x[i]); }
const middle = low.map((a, r) => (a + high[r]) / 2);
const size = Math.hypot(...low.map((a, r) => high[r] - a)) || 1;
let yaw = 0.6, pitch = 0.35, zoom = 1;
function draw() {
  const ratio = devicePixelRatio || 1, w = canvas.width = canvas.clientWidth * ratio;
  const h = canvas.height = canvas.clientHeight * ratio, scale = zoom * Math.min(w, h) / size * 1.25;
  const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, w, h);
  const all = [];
  for (const b of bodies) {
    const n = b.x.length / 3, p = new Float32Array(3 * n);
    for (let i = 0; i < n; i++) {
      const [x, y, z] = [0, 1, 2].map(r => b.x[3 * i + r] - middle[r]);
      const side = cy * x - sy * z, ahead = sy * x + cy * z, away = cp * ahead + sp * y;
      const near = 2 / (2 - away / size);
      p[3 * i] = w / 2 + side * scale * near;
      p[3 * i + 1] = h / 2 - (cp * y - sp * ahead) * scale * near;
      p[3 * i + 2] = away;
    }
    for (let k = 0; k < b.part.length; k += b.corners) {
      let depth = 0;
      for (let c = 0; c < b.corners; c++) depth += p[3 * b.part[k + c] + 2] / b.corners;
      all.push([depth, b, p, k]);
    }
  }
  all.sort((a, c) => a[0] - c[0]);
  for (const [depth, b, p, k] of all) {
    const at = c => 3 * b.part[k + c];
    pen.beginPath(); pen.moveTo(p[at(0)], p[at(0) + 1]);
    for (let c = 1; c < b.corners; c++) pen.lineTo(p[at(c)], p[at(c) + 1]);
    const light = b.corners == 3 ? shade(b, k) : 1;
    pen.fillStyle = pen.strokeStyle = `rgb(${b.rgb.map(v => Math.round(v * light))})`;
    pen.lineWidth = ratio * (b.corners == 3 ? 0.6 : 1.5);
    const dot = 2 * ratio;
    if (b.corners == 1) pen.fillRect(p[at(0)] - dot, p[at(0) + 1] - dot, 2 * dot, 2 * dot);
    else { if (b.corners == 3) { pen.closePath(); pen.fill(); } pen.stroke(); }
  }
}
function shade(b, k) {
  const [i, j, l] = [b.part[k], b.part[k + 1], b.part[k + 2]], x = b.x;
  const side = end => [0, 1, 2].map(r => x[3 * end + r] - x[3 * i + r]), u = side(j), v = side(l);
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const long = Math.hypot(...n) || 1;
  return 0.55 + 0.45 * Math.abs(n[0] * 0.4 + n[1] * 0.8 + n[2] * 0.45) / long;
}
canvas.onpointermove = e => { if (!e.buttons) return; yaw += e.movementX / 150;
  pitch = Math.max(-1.5, Math.min(1.5, pitch + e.movementY / 150)); draw(); };
canvas.onpointerdown = e => canvas.setPointerCapture(e.pointerId);
canvas.onwheel = e => { e.preventDefault(); zoom *= Math.exp(-e.deltaY / 500); draw(); };
new ResizeObserver(draw).observe(canvas);
</script>"""


def _piece(x: np.ndarray, part: np.ndarray, colour: str) -> Dict[str, Any]:
    every = max(1, -(-len(part) // MOST))
    kept = np.ascontiguousarray(part[::every], dtype="<i4")
    points = np.ascontiguousarray(x, dtype="<f4")
    return {
        "x": base64.b64encode(points.tobytes()).decode(),
        "part": base64.b64encode(kept.tobytes()).decode(),
        "corners": kept.shape[1],
        "rgb": [int(colour[i : i + 2], 16) for i in (1, 3, 5)],
    }


def frame(page: str, height: int) -> str:
    """A page of its own within the notebook's."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" '
        'style="border:1px solid #ddd;box-sizing:border-box"></iframe>'
    )


def scene_page(sim: Any) -> str:
    """The bodies and obstacles of a simulation in 3D."""
    pieces: List[Dict[str, Any]] = []
    for i, name in enumerate(sim.bodies):
        x, parts = sim.positions(name), sim.triangles(name)
        if not len(parts):
            parts = sim.edges(name)
        if not len(parts):
            parts = np.arange(len(x))[:, None]
        pieces.append(_piece(x, parts, _COLOURS[i % len(_COLOURS)]))
    for i in range(len(sim.obstacles)):
        x, parts = sim.obstacle_positions(i), sim.obstacle_triangles(i)
        if len(x) and len(parts):
            pieces.append(_piece(x, parts, "#bbbbbb"))
    return _PAGE.replace("__BODIES__", json.dumps(pieces))
