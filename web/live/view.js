// Draws the parts of a scene as their frames come: surfaces, springs, points, planes, hands.
import * as THREE from 'three';
import { bodies as bodyColours } from '../playground/src/colours.js';
import { View3D } from '../playground/src/view3d.js';

const OBSTACLE = '#a9b0b9',
  ROD = '#6b7078',
  HAND = '#e67e22';
const BALLS = 3000; // vertices of a net that are drawn as balls

// Whether pictures are made by the processor, which the engine needs too.
function isSoftware() {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return true;
  const info = gl.getExtension('WEBGL_debug_renderer_info'),
    name = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class LiveView extends View3D {
  // Without a graphics processor, smooth edges and shadows cost more than all the rest: of a cloth
  // of 30,000 vertices 240 ms per picture with them, 67 ms without.
  constructor(canvas) {
    const software = isSoftware();
    super(canvas, { antialias: !software, preserveDrawingBuffer: false });
    if (software) this.spare();
  }

  // A new scene; `x` are the positions of its parts.
  showParts(parts, planes, x) {
    this.clear();
    this.parts = parts;
    const box = boxOf(parts, x);
    this.size = Math.max(1e-6, box.size);
    this.hands = [];
    let body = 0;
    parts.forEach((part, i) => {
      part.colour =
        part.kind === 'body'
          ? bodyColours[body++ % bodyColours.length]
          : part.kind === 'rods'
            ? ROD
            : OBSTACLE;
      if (part.triangles) this.addSurface(part);
      else this.addLines(part);
      this.updatePart(part, x[i]);
    });
    for (const plane of planes) this.addPlane(plane, box);
    if (!this.home) this.lookAt(box);
    this.retint();
  }

  lookAt({ middle, size }) {
    const way = [0.5, 0.38, 1],
      reach = (1.5 * size) / Math.hypot(...way);
    this.look({ at: middle.map((v, r) => v + way[r] * reach), to: middle });
  }

  // Without shadows, and with the pixels of the page.
  spare() {
    this.spared = true;
    this.sun.castShadow = false;
    this.renderer.setPixelRatio(1);
  }

  // The floor fades into the background.
  retint() {
    super.retint();
    if (this.size)
      this.scene.fog = new THREE.Fog(this.scene.background, 4 * this.size, 12 * this.size);
  }

  addSurface(part) {
    const geometry = new THREE.BufferGeometry();
    for (const name of ['position', 'normal']) {
      const array = new THREE.BufferAttribute(new Float32Array(3 * part.slots), 3);
      geometry.setAttribute(name, array.setUsage(THREE.DynamicDrawUsage));
    }
    geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(part.triangle), 1));
    const side = part.closed ? THREE.FrontSide : THREE.DoubleSide,
      look = { color: part.colour, side, shadowSide: THREE.DoubleSide };
    const material = this.material(`${part.colour}${side}`, () =>
      new THREE.MeshStandardMaterial({ ...look, roughness: 0.58, metalness: 0.02 }));
    part.mesh = new THREE.Mesh(geometry, material);
    part.mesh.castShadow = part.mesh.receiveShadow = true;
    part.mesh.frustumCulled = false;
    this.content.add(part.mesh);
  }

  addLines(part) {
    const geometry = new THREE.BufferGeometry();
    const array = new THREE.BufferAttribute(new Float32Array(3 * part.vertices), 3);
    geometry.setAttribute('position', array.setUsage(THREE.DynamicDrawUsage));
    if (part.edges) {
      geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(part.edge), 1));
      part.lines = new THREE.LineSegments(
        geometry,
        this.material(
          `line${part.colour}`,
          () => new THREE.LineBasicMaterial({ color: part.colour }),
        ),
      );
      part.lines.frustumCulled = false;
      this.content.add(part.lines);
    }
    if (part.kind !== 'body' || part.vertices > BALLS) return;
    part.balls = new THREE.InstancedMesh(
      this.pinGeometry,
      this.material(
        `ball${part.colour}`,
        () => new THREE.MeshStandardMaterial({ color: part.colour, roughness: 0.5 }),
      ),
      part.vertices,
    );
    part.balls.castShadow = true;
    part.balls.frustumCulled = false;
    this.content.add(part.balls);
  }

  // The floor with tiles; other planes are seen from the side where bodies are.
  addPlane([x, y, z, nx, ny, nz], { middle, size }) {
    const normal = new THREE.Vector3(nx, ny, nz),
      point = new THREE.Vector3(x, y, z);
    const centre = new THREE.Vector3(...middle);
    centre.addScaledVector(normal, normal.dot(point.clone().sub(centre)) - 0.002 * size);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const floor = ny > 0.7,
      reach = (floor ? 30 : 2) * size;
    const name = floor ? 'ground' : 'wall';
    const mesh = new THREE.Mesh(
      new THREE.PlaneGeometry(reach, reach),
      this.material(name, () =>
        floor ? new THREE.MeshStandardMaterial({ roughness: 1 }) : new THREE.MeshBasicMaterial(),
      ),
    );
    mesh.quaternion.copy(turn);
    mesh.position.copy(centre);
    mesh.receiveShadow = floor;
    this.content.add(mesh);
    if (!floor || this.grid) return;
    const tile = 10 ** Math.round(Math.log10(size / 6)),
      n = Math.ceil((6 * size) / tile),
      lines = [];
    for (let k = -n; k <= n; k++)
      lines.push(
        k * tile,
        -n * tile,
        0,
        k * tile,
        n * tile,
        0,
        -n * tile,
        k * tile,
        0,
        n * tile,
        k * tile,
        0,
      );
    this.grid = new THREE.LineSegments(
      new THREE.BufferGeometry().setAttribute(
        'position',
        new THREE.Float32BufferAttribute(lines, 3),
      ),
      this.material('tiles', () => new THREE.LineBasicMaterial()),
    );
    this.grid.quaternion.copy(turn);
    this.grid.position.copy(centre).addScaledVector(normal, 0.0008 * size);
    this.content.add(this.grid);
  }

  updatePart(part, x) {
    part.x = x;
    if (part.mesh) updateSurface(part, x);
    if (part.lines) {
      part.lines.geometry.attributes.position.array.set(x);
      part.lines.geometry.attributes.position.needsUpdate = true;
    }
    if (!part.balls) return;
    const m = new THREE.Matrix4(),
      r = 0.012 * this.size * Math.max(0.15, Math.min(1, 10 / Math.sqrt(part.vertices)));
    for (let v = 0; v < part.vertices; v++)
      part.balls.setMatrixAt(
        v,
        m.makeScale(r, r, r).setPosition(x[3 * v], x[3 * v + 1], x[3 * v + 2]),
      );
    part.balls.instanceMatrix.needsUpdate = true;
  }

  // Positions that are no numbers are not drawn: what was there before stays.
  showFrame({ positions, hands }) {
    this.parts.forEach((part, i) => {
      if (!part.still && Number.isFinite(positions[i][0])) this.updatePart(part, positions[i]);
    });
    this.showHands(hands);
    this.draw();
  }

  // From the grip to the hand.
  showHands(hands) {
    while (this.hands.length < hands.length) {
      const ball = new THREE.Mesh(
        this.pinGeometry,
        this.material(
          'hand',
          () => new THREE.MeshStandardMaterial({ color: HAND, roughness: 0.4 }),
        ),
      );
      const line = new THREE.Line(
        new THREE.BufferGeometry().setAttribute(
          'position',
          new THREE.BufferAttribute(new Float32Array(6), 3),
        ),
        this.material('handLine', () => new THREE.LineBasicMaterial({ color: HAND })),
      );
      line.frustumCulled = false;
      this.content.add(ball, line);
      this.hands.push({ ball, line });
    }
    this.hands.forEach(({ ball, line }, k) => {
      const hand = hands[k];
      ball.visible = line.visible = !!hand;
      if (!hand) return;
      ball.position.set(hand[0], hand[1], hand[2]);
      ball.scale.setScalar(0.012 * this.size);
      line.geometry.attributes.position.array.set(hand.subarray(0, 6));
      line.geometry.attributes.position.needsUpdate = true;
    });
  }

  // Whether a pixel shows a body: the ray through it, or none.
  pick(px, py) {
    const ray = this.ray(px, py),
      caster = new THREE.Raycaster();
    caster.set(new THREE.Vector3(...ray.origin), new THREE.Vector3(...ray.direction));
    const bodies = this.parts.filter((part) => part.kind === 'body');
    for (const part of bodies) {
      if (!part.mesh) continue;
      part.mesh.geometry.computeBoundingSphere();
      if (caster.intersectObject(part.mesh, false).length) return ray;
    }
    const near = this.nearest(
      px,
      py,
      bodies.filter((part) => !part.mesh),
    );
    return near && near.distance < 16 ? this.ray(...near.pixel) : null;
  }

  // The vertex that is next to a pixel, of some parts.
  nearest(px, py, parts) {
    let best = null;
    for (const part of parts)
      for (let v = 0; v < part.vertices; v++) {
        const pixel = this.project(part.x, v),
          distance = Math.hypot(pixel[0] - px, pixel[1] - py);
        if (!best || distance < best.distance) best = { distance, pixel, part, vertex: v };
      }
    return best;
  }
}

// Positions and normals of a surface: a place of corners for each set that is shaded alike.
function updateSurface(part, x) {
  const { position, normal } = part.mesh.geometry.attributes,
    p = position.array,
    n = normal.array;
  const vertex = part.slotVertex,
    t = part.triangle;
  for (let i = 0; i < part.slots; i++) {
    const v = 3 * vertex[i];
    p[3 * i] = x[v];
    p[3 * i + 1] = x[v + 1];
    p[3 * i + 2] = x[v + 2];
  }
  n.fill(0);
  for (let k = 0; k < t.length; k += 3) {
    const a = 3 * t[k],
      b = 3 * t[k + 1],
      c = 3 * t[k + 2];
    const ux = p[b] - p[a],
      uy = p[b + 1] - p[a + 1],
      uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a],
      vy = p[c + 1] - p[a + 1],
      vz = p[c + 2] - p[a + 2];
    const nx = uy * vz - uz * vy,
      ny = uz * vx - ux * vz,
      nz = ux * vy - uy * vx;
    n[a] += nx;
    n[a + 1] += ny;
    n[a + 2] += nz;
    n[b] += nx;
    n[b + 1] += ny;
    n[b + 2] += nz;
    n[c] += nx;
    n[c + 1] += ny;
    n[c + 2] += nz;
  }
  position.needsUpdate = normal.needsUpdate = true; // the shader makes them unit vectors
}

// The middle and the diagonal of bodies, and of obstacles as far as they are near.
function boxOf(parts, x) {
  const low = [Infinity, Infinity, Infinity],
    high = [-Infinity, -Infinity, -Infinity];
  const grow = (wanted, [least, most]) =>
    parts.forEach((part, i) => {
      if (!wanted(part)) return;
      for (let k = 0; k < x[i].length; k++) {
        const r = k % 3,
          v = Math.min(most[r], Math.max(least[r], x[i][k]));
        low[r] = Math.min(low[r], v);
        high[r] = Math.max(high[r], v);
      }
    });
  const anywhere = [
    [-Infinity, -Infinity, -Infinity],
    [Infinity, Infinity, Infinity],
  ];
  const bodies = parts.some((part) => part.kind === 'body');
  grow((part) => !bodies || part.kind === 'body', anywhere);
  const size = Math.hypot(...low.map((v, r) => high[r] - v));
  if (bodies)
    grow(
      (part) => part.kind === 'obstacle',
      [low.map((v) => v - 0.6 * size), high.map((v) => v + 0.6 * size)],
    );
  return {
    middle: low.map((v, r) => (v + high[r]) / 2),
    size: Math.hypot(...low.map((v, r) => high[r] - v)),
  };
}
