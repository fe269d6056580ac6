// A soft bunny falls on the floor.
import * as THREE from 'three';
import { createEngine } from 'brio-engine';
const world = (await createEngine()).world({
  integrator: 'a-search', contact: { type: 'ipc' }, quality: 'preview',
  bodies: [{ name: 'bunny', shape: { type: 'figure', of: 'bunny', size: 0.2, cells: 8 },
    material: 'flesh', transform: { translate: [0, 0.1, 0] } }],
  obstacles: [{ type: 'plane', normal: [0, 1, 0] }],
});
const { positions, normals, triangles } = world.draw('bunny'), Attribute = THREE.BufferAttribute;
const position = new Attribute(positions, 3), normal = new Attribute(normals, 3);
const geometry = new THREE.BufferGeometry().setIndex(new Attribute(triangles.slice(), 1));
geometry.setAttribute('position', position).setAttribute('normal', normal);
const bunny = new THREE.Mesh(geometry, new THREE.MeshNormalMaterial());
const renderer = new THREE.WebGLRenderer(), floor = new THREE.GridHelper(1, 20);
const camera = new THREE.PerspectiveCamera(40, 1.5, 0.01, 10).translateY(0.15).translateZ(0.6);
const scene = new THREE.Scene().add(bunny, floor);
renderer.setSize(720, 480);
document.body.append(renderer.domElement);
renderer.setAnimationLoop(() => {
  world.advance(1 / 60, { budget: 12 });
  ({ positions: position.array, normals: normal.array } = world.draw('bunny'));
  position.needsUpdate = normal.needsUpdate = true;
  renderer.render(scene, camera);
});
