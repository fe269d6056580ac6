// Draws a world: surfaces, springs, pins, hands, the room with shadows; turns pixels into rays.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { bodies as bodyColours } from './colours.js';

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const geometryOf = (position) => new THREE.BufferGeometry().setAttribute('position', position);

export class View3D {
  // `options` of the drawing buffer, for example { antialias: false }.
  constructor(canvas, options = {}) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({
      canvas, antialias: true, preserveDrawingBuffer: true, ...options,
    });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 50);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => {
      this.keepAbove();
      this.draw();
      this.onCamera?.();
    });
    this.hemisphere = new THREE.HemisphereLight(0xffffff, 0x9aa8b8, 1.6);
    this.sun = new THREE.DirectionalLight(0xfff4e2, 2.1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0015;
    this.sun.shadow.normalBias = 0.004;
    this.scene.add(this.hemisphere, this.sun, this.sun.target);
    this.content = new THREE.Group();
    this.scene.add(this.content);
    this.pinGeometry = new THREE.SphereGeometry(1, 16, 12);
    canvas.addEventListener('webglcontextlost', (e) => e.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.retint();
      this.draw();
    });
    this.retint();
  }

  // Colours of the page's theme.
  retint() {
    this.scene.background = new THREE.Color(css('--stage'));
    this.materials?.get('ground')?.color.set(css('--ground'));
    this.materials?.get('wall')?.color.set(css('--wall'));
    if (this.grid) this.grid.material.color.set(css('--tiles'));
    if (this.lines) this.lines.material.color.set(css('--lines'));
  }

  clear() {
    this.content.traverse((o) => {
      if (o.geometry && o.geometry !== this.pinGeometry) o.geometry.dispose();
      o.dispose?.();
    });
    this.content.clear();
    this.surfaces = [];
    this.lines = this.pins = this.grid = null;
  }

  // Materials stay: compiling their shaders takes longer than anything else here.
  material(name, make) {
    this.materials ??= new Map();
    if (!this.materials.has(name)) this.materials.set(name, make());
    return this.materials.get(name);
  }

  // A new world: what is drawn follows from its lists. `gone` tells whether a triangle was cut.
  // `smooth`: bodies are round; the edges of their triangles are not shown.
  show(world, options = {}) {
    const { room = null, springs = true, gone = null, size = 1 } = options;
    const { planes = null, smooth = false } = options;
    this.clear();
    this.size = size;
    const triangles = world.triangles();
    const starts = [...world.bodies.map((_, b) => world.firstVertex(b)), world.vertices()];
    const indices = world.bodies.map(() => []);
    for (let t = 0; t < world.bodyTriangles; t++) {
      const a = triangles[3 * t], b = triangles[3 * t + 1], c = triangles[3 * t + 2];
      if (gone && gone(a, b, c)) continue;
      let body = 0;
      while (a >= starts[body + 1]) body++;
      indices[body].push(a, b, c);
    }
    this.position = new THREE.BufferAttribute(new Float32Array(3 * world.allVertices), 3);
    this.position.setUsage(THREE.DynamicDrawUsage);
    this.cloth = world.edges().length > 0;
    const flat = !this.cloth && !smooth;
    indices.forEach((index, body) => {
      if (!index.length) return;
      const geometry = geometryOf(this.position).setIndex(index), of = body % bodyColours.length;
      const skin = this.material(`body${of}${flat}`, () => new THREE.MeshStandardMaterial({
        color: bodyColours[of], roughness: 0.62, metalness: 0.02, side: THREE.DoubleSide,
        flatShading: flat, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
      }));
      const mesh = new THREE.Mesh(geometry, skin);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      this.content.add(mesh);
      this.surfaces.push(mesh);
    });
    const lines = this.cloth
      ? springs && this.shownSprings(world)
      : !smooth && surfaceEdges(indices);
    if (lines) {
      const thin = { transparent: true, opacity: this.cloth ? 0.3 : 0.22 };
      this.lines = new THREE.LineSegments(geometryOf(this.position).setIndex(lines),
        this.material(`lines${this.cloth}`, () => new THREE.LineBasicMaterial(thin)));
      this.lines.material.color.set(css('--lines'));
      this.lines.frustumCulled = false;
      this.content.add(this.lines);
    }
    this.floor = room ? room.floor : floorOf(planes);
    if (room) this.showRoom(room);
    if (planes) this.showOwn(world, planes, indices);
    this.showPins(world);
    const orange = { color: '#e67e22', roughness: 0.4 };
    this.handMesh = new THREE.Mesh(this.pinGeometry,
      this.material('hand', () => new THREE.MeshStandardMaterial(orange)));
    this.handMesh.visible = false;
    this.handLine = new THREE.Line(
      geometryOf(new THREE.BufferAttribute(new Float32Array(6), 3)),
      this.material('handLine', () => new THREE.LineBasicMaterial({ color: '#e67e22' })));
    this.handLine.frustumCulled = false;
    this.handLine.visible = false;
    this.content.add(this.handMesh, this.handLine);
    this.update(world);
  }

  // The floor, and walls up to `top` that are seen from inside only: between the camera and the
  // scene there is nothing. A little behind the planes of the engine, on which vertices come to
  // rest.
  showRoom({ x, z, floor, top }) {
    const ground = this.material('ground', () => new THREE.MeshStandardMaterial({ roughness: 1 }));
    const wall = this.material('wall', () => new THREE.MeshBasicMaterial());
    const gap = 0.004 * this.size, height = top - floor;
    const add = (material, width, length, turn, ...at) => {
      const mesh = new THREE.Mesh(new THREE.PlaneGeometry(width, length), material);
      mesh.rotation.set(...turn);
      mesh.position.set(...at);
      mesh.receiveShadow = material === ground;
      this.content.add(mesh);
    };
    add(ground, 2 * x, 2 * z, [-Math.PI / 2, 0, 0], 0, floor - gap, 0);
    for (const side of [-1, 1]) {
      const middle = floor + height / 2;
      add(wall, 2 * x, height, [0, side < 0 ? 0 : Math.PI, 0], 0, middle, side * (z + gap));
      add(wall, 2 * z, height, [0, -side * Math.PI / 2, 0], side * (x + gap), middle, 0);
    }
    const tile = 0.1 * this.size, lines = [];
    for (let k = Math.ceil(-x / tile); k * tile <= x; k++)
      lines.push(k * tile, 0, -z, k * tile, 0, z);
    for (let k = Math.ceil(-z / tile); k * tile <= z; k++)
      lines.push(-x, 0, k * tile, x, 0, k * tile);
    for (const s of [-1, 1]) { // the upper edges of the walls, and their corners
      lines.push(s * x, height, -z, s * x, height, z, -x, height, s * z, x, height, s * z);
      lines.push(s * x, 0, -z, s * x, height, -z, s * x, 0, z, s * x, height, z);
    }
    this.grid = new THREE.LineSegments(geometryOf(new THREE.Float32BufferAttribute(lines, 3)),
      this.material('tiles', () => new THREE.LineBasicMaterial()));
    this.grid.position.y = floor - 0.8 * gap;
    this.content.add(this.grid);
    this.retint();
  }

  // What scenes of users also have: planes, obstacles, bodies without triangles.
  showOwn(world, planes, indices) {
    const ground = this.material('ground', () => new THREE.MeshStandardMaterial({ roughness: 1 }));
    ground.color.set(css('--ground'));
    for (const { point, normal } of planes) {
      const up = new THREE.Vector3(...normal).normalize(), side = 12 * this.size;
      const mesh = new THREE.Mesh(new THREE.PlaneGeometry(side, side), ground);
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
      mesh.position.set(...point).addScaledVector(up, -0.002 * this.size);
      mesh.receiveShadow = true;
      this.content.add(mesh);
    }
    const add = (object) => {
      object.frustumCulled = false;
      object.geometry.setAttribute('position', this.position);
      this.content.add(object);
    };
    const still = world.triangles().slice(3 * world.bodyTriangles);
    if (still.length) {
      const index = new THREE.BufferAttribute(still, 1);
      const mesh = new THREE.Mesh(new THREE.BufferGeometry().setIndex(index),
        this.material('obstacle', () => new THREE.MeshStandardMaterial({
          color: '#a9b0b9', roughness: 0.9, side: THREE.DoubleSide, flatShading: true,
        })));
      mesh.castShadow = mesh.receiveShadow = true;
      add(mesh);
    }
    const all = (b) =>
      Array.from({ length: world.vertices(b) }, (_, v) => world.firstVertex(b) + v);
    const bare = indices.flatMap((list, b) => (list.length || world.edges(b).length ? [] : all(b)));
    const dots = { color: bodyColours[0], size: 8, sizeAttenuation: false };
    if (bare.length)
      add(new THREE.Points(new THREE.BufferGeometry().setIndex(bare),
        this.material('points', () => new THREE.PointsMaterial(dots))));
  }

  // Springs along the weave: of the others there are too many to see anything.
  shownSprings(world) {
    const edges = world.edges(), x = world.positions(), shown = [];
    let shortest = Infinity;
    const length = (e) => {
      const a = 3 * edges[2 * e], b = 3 * edges[2 * e + 1];
      return Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
    };
    for (let e = 0; e < edges.length / 2; e++) shortest = Math.min(shortest, length(e));
    for (let e = 0; e < edges.length / 2; e++)
      if (length(e) < 1.3 * shortest) shown.push(edges[2 * e], edges[2 * e + 1]);
    return shown;
  }

  showPins(world) {
    const list = [];
    world.bodies.forEach((name, b) => {
      const fixed = name ? world.fixed(b) : [], first = name ? world.firstVertex(b) : 0;
      if (fixed.every((is) => is)) return; // what is fixed as a whole has no pins
      fixed.forEach((is, i) => is && list.push(first + i));
    });
    this.pinned = list;
    const red = { color: '#d1495b', roughness: 0.4 };
    this.pins = new THREE.InstancedMesh(this.pinGeometry,
      this.material('pin', () => new THREE.MeshStandardMaterial(red)), Math.max(1, list.length));
    this.pins.count = list.length;
    this.pins.castShadow = true;
    this.pins.frustumCulled = false;
    this.content.add(this.pins);
  }

  update(world, hand = null) {
    const x = world.positions(), array = this.position.array;
    for (let i = 0; i < array.length; i++) array[i] = x[i];
    this.position.needsUpdate = true;
    for (const { material, geometry } of this.surfaces)
      if (!material.flatShading) geometry.computeVertexNormals();
    const m = new THREE.Matrix4(), r = (this.cloth ? 0.012 : 0.009) * this.size;
    this.pinned.forEach((v, i) => this.pins.setMatrixAt(i,
      m.makeScale(r, r, r).setPosition(x[3 * v], x[3 * v + 1], x[3 * v + 2])));
    this.pins.instanceMatrix.needsUpdate = true;
    this.handMesh.visible = this.handLine.visible = !!hand;
    if (hand) {
      this.handMesh.position.set(...hand.point);
      this.handMesh.scale.setScalar(0.012 * this.size);
      this.handLine.geometry.attributes.position.array.set([...hand.point, ...hand.grip]);
      this.handLine.geometry.attributes.position.needsUpdate = true;
    }
  }

  // The camera stays above the floor: from below there is nothing to see.
  keepAbove() {
    if (!(this.floor > -Infinity)) return;
    const { position } = this.camera;
    const low = this.floor + 0.02 * position.distanceTo(this.controls.target);
    if (position.y >= low) return;
    position.y = low;
    this.camera.lookAt(this.controls.target);
  }

  look({ at, to }) {
    this.camera.position.set(...at);
    this.controls.target.set(...to);
    const reach = Math.hypot(at[0] - to[0], at[1] - to[1], at[2] - to[2]);
    this.camera.near = reach / 100;
    this.camera.far = reach * 30;
    this.sun.target.position.set(...to);
    this.sun.position.set(to[0] + 0.35 * reach, to[1] + 1.5 * reach, to[2] + 0.55 * reach);
    const c = this.sun.shadow.camera, w = 0.75 * reach;
    Object.assign(c, { left: -w, right: w, top: w, bottom: -w, near: 0.1 * reach, far: 4 * reach });
    c.updateProjectionMatrix();
    this.home = { at, to };
    this.controls.update();
    this.draw();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    if (!w || !h) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    // What is wide stays in view on a phone.
    this.camera.fov = w / h > 1 ? 40 : Math.min(75, 40 / Math.max(0.45, w / h));
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  draw() { this.renderer.render(this.scene, this.camera); }

  // Origin and direction of the ray through a pixel.
  ray(px, py) {
    const box = this.canvas.getBoundingClientRect();
    const across = 2 * (px - box.left) / box.width - 1, up = 1 - 2 * (py - box.top) / box.height;
    const p = new THREE.Vector3(across, up, 0.5).unproject(this.camera);
    const o = this.camera.position;
    return { origin: o.toArray(), direction: p.sub(o).normalize().toArray() };
  }

  // Where that ray meets the plane through `point` that faces the camera.
  onPlane(px, py, point) {
    const { origin: o, direction: d } = this.ray(px, py);
    const n = this.camera.getWorldDirection(new THREE.Vector3()).toArray();
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const t = dot(n, point.map((v, i) => v - o[i])) / dot(n, d);
    return o.map((v, i) => v + t * d[i]);
  }

  // Pixels of world points.
  project(x, vertex) {
    const box = this.canvas.getBoundingClientRect();
    const place = [x[3 * vertex], x[3 * vertex + 1], x[3 * vertex + 2]];
    const p = new THREE.Vector3(...place).project(this.camera);
    return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
  }

  dispose() {
    this.clear();
    this.materials?.forEach((m) => m.dispose());
    this.controls.dispose();
    this.renderer.dispose();
  }
}

// The height of the highest level plane that carries things.
const floorOf = (planes) => {
  const level = ({ normal: [x, y, z] }) => y > 0.99 * Math.hypot(x, y, z);
  return Math.max(-Infinity, ...(planes ?? []).filter(level).map(({ point }) => point[1]));
};

// Every edge of the triangles once.
function surfaceEdges(indices) {
  const lines = [];
  for (const index of indices)
    for (let t = 0; t < index.length; t += 3)
      for (let k = 0; k < 3; k++) {
        const a = index[t + k], b = index[t + (k + 1) % 3];
        if (a < b) lines.push(a, b); // the neighbour has it the other way round
      }
  return lines;
}
