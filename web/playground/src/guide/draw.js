// Shapes that the pictures of the guide are made of, on a canvas.
import { css } from '../point.js';

export function polyline(g, points, { stroke, width = 2, dash = [], alpha = 1 }) {
  g.save();
  g.globalAlpha = alpha;
  g.strokeStyle = stroke;
  g.lineWidth = width;
  g.lineJoin = 'round';
  g.setLineDash(dash);
  g.beginPath();
  points.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y)));
  g.stroke();
  g.restore();
}

export function dot(g, [x, y], radius, fill, stroke = css('--card')) {
  g.fillStyle = fill;
  g.strokeStyle = stroke;
  g.lineWidth = 2;
  g.beginPath();
  g.arc(x, y, radius, 0, 7);
  g.fill();
  g.stroke();
}

export function words(
  g,
  text,
  [x, y],
  { fill = css('--ink'), size = 13, align = 'left', base = 'middle', bold } = {},
) {
  g.fillStyle = fill;
  g.font = `${bold ? '600 ' : ''}${size}px system-ui, sans-serif`;
  g.textAlign = align;
  g.textBaseline = base;
  g.fillText(text, x, y);
}

// A coil spring from (x0, y) to (x1, y).
export function coil(g, x0, x1, y, stroke, turns = 9, height = 9) {
  const lead = 8,
    points = [
      [x0, y],
      [x0 + lead, y],
    ],
    from = x0 + lead,
    length = x1 - x0 - 2 * lead;
  for (let k = 0; k < 2 * turns; k++)
    points.push([from + (length * (k + 0.5)) / (2 * turns), y + (k % 2 ? height : -height)]);
  points.push([x1 - lead, y], [x1, y]);
  polyline(g, points, { stroke, width: 2 });
}

// Maps values to pixels of a box; y goes up.
export const mapper =
  (box, [x0, x1], [y0, y1]) =>
  ([x, y]) => [
    box.left + (box.width * (x - x0)) / (x1 - x0),
    box.top + box.height * (1 - (y - y0) / (y1 - y0)),
  ];

export function clipped(g, box, paint) {
  g.save();
  g.beginPath();
  g.rect(box.left, box.top, box.width, box.height);
  g.clip();
  paint();
  g.restore();
}
