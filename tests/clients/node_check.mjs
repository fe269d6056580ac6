// Validates a glb with Khronos' gltf-validator, plays it with the GLTFLoader of three.js and
// compares vertices with ours; loads the usda with its USDLoader.
//
//     node node_check.mjs FOLDER FPS      (packages in FOLDER/node_modules)
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2]),
  fps = Number(process.argv[3]),
  tolerance = 1e-5;
const require = createRequire(pathToFileURL(join(folder, 'x.js')));
globalThis.self ??= globalThis;
const three = pathToFileURL(join(folder, 'node_modules/three/')).href;
const THREE = await import(three + 'build/three.module.js');
const { GLTFLoader } = await import(three + 'examples/jsm/loaders/GLTFLoader.js');
const truth = JSON.parse(readFileSync(join(folder, 'truth.json')));
let failures = 0;

function expect(condition, text) {
  if (condition) return;
  failures++;
  console.log('FAILED: ' + text);
}

const bytes = readFileSync(join(folder, 'film.glb'));
const report = await require('gltf-validator').validateBytes(new Uint8Array(bytes));
console.log(
  `gltf-validator ${report.validatorVersion}: ${report.issues.numErrors} errors, ` +
    `${report.issues.numWarnings} warnings, ${report.issues.numInfos} notes, ` +
    `${report.info.totalVertexCount} vertices, ${(bytes.length / 1e6).toFixed(2)} MB`,
);
for (const issue of report.issues.messages.filter((message) => message.severity < 2))
  console.log(`  ${issue.code} at ${issue.pointer}: ${issue.message}`);
expect(report.issues.numErrors === 0 && report.issues.numWarnings === 0, 'the glb is not valid');

// Which of our vertices each of theirs is: they are divided at seams.
function match(points, ours) {
  const which = [];
  for (let v = 0; v < points.length / 3; v++) {
    let best = -1,
      least = Infinity;
    for (let k = 0; k < ours.length; k++) {
      const d = Math.max(...[0, 1, 2].map((r) => Math.abs(points[3 * v + r] - ours[k][r])));
      if (d < least) ((least = d), (best = k));
    }
    expect(least < tolerance, `a vertex is ${least} m from the nearest of ours`);
    which.push(best);
  }
  return which;
}

const gltf = await new GLTFLoader().parseAsync(
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  '',
);
const mixer = new THREE.AnimationMixer(gltf.scene);
for (const clip of gltf.animations) {
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
}
const maps = new Map();
for (const frame of truth.frames) {
  mixer.setTime(frame / fps);
  for (const body of truth.bodies) {
    const mesh = gltf.scene.getObjectByName(THREE.PropertyBinding.sanitizeNodeName(body.name)),
      position = mesh.geometry.attributes.position,
      ours = body.points[frame];
    if (!maps.has(body.name)) maps.set(body.name, match(position.array, ours));
    const which = maps.get(body.name),
      point = new THREE.Vector3();
    expect(
      !!mesh.geometry.attributes.uv === body.textured,
      body.name + ' lost its texture coordinates',
    );
    let worst = 0;
    for (let v = 0; v < position.count; v++) {
      mesh.getVertexPosition(v, point);
      point.toArray().forEach((x, r) => {
        worst = Math.max(worst, Math.abs(x - ours[which[v]][r]));
      });
    }
    console.log(
      `three.js ${THREE.REVISION} ${body.name}, frame ${frame}: ` +
        `farthest vertex off by ${worst.toExponential(2)} m`,
    );
    expect(worst <= tolerance, body.name + ' is elsewhere');
  }
}

const { USDLoader } = await import(three + 'examples/jsm/loaders/USDLoader.js');
const usd = new USDLoader().parse(readFileSync(join(folder, 'film.usda'), 'utf8'));
const meshes = [];
usd.traverse((thing) => {
  if (thing.isMesh) meshes.push(thing);
});
expect(meshes.length >= truth.bodies.length, `the usda has ${meshes.length} meshes`);
for (const body of truth.bodies) {
  const mesh = meshes.find(
    (m) => m.name.startsWith(body.file) || m.parent?.name.startsWith(body.file),
  );
  expect(mesh, 'no mesh ' + body.file + ' in the usda, but ' + meshes.map((m) => m.name));
  if (!mesh) continue;
  match(mesh.geometry.attributes.position.array, body.points['0']);
  console.log(
    `three.js USDLoader ${body.name}: ${mesh.geometry.attributes.position.count} corners ` +
      `at the places of the first frame, texture coordinates: ${!!mesh.geometry.attributes.uv}`,
  );
  expect(
    !!mesh.geometry.attributes.uv === body.textured,
    body.name + ' lost its texture coordinates',
  );
}
console.log(failures ? 'FAILED' : 'all right');
process.exit(failures ? 1 : 0);
