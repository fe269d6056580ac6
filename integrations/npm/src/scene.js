// Scenes as plain objects: what JSON cannot hold is told at its place, and meshes, springs and
// states that are given as numbers become files that the engine reads.
import { BrioError, isList, refuse, said } from './errors.js';

const DEPTH = 60;

// A vector as an object, of three.js too; a map of things with these names has no numbers.
const isVector = (value) => ['x', 'y', 'z'].every((r) => typeof value[r] === 'number');

// A copy that JSON holds: typed arrays become lists. Throws for NaN, functions, circles and the
// like, with the path.
export function plain(value, path = '', above = []) {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) refuse(`${value} is not a finite number`, path);
      return value;
    case 'object':
      break;
    default:
      refuse(`${said(value)} cannot be part of a scene`, path);
  }
  if (value === null) return null;
  if (above.includes(value)) refuse('the object contains itself', path);
  if (above.length > DEPTH) refuse(`more than ${DEPTH} levels`, path);
  const inside = [...above, value];
  if (isList(value)) return Array.from(value, (v, i) => plain(v, `${path}[${i}]`, inside));
  if (isVector(value))
    return ['x', 'y', 'z'].map((r, i) => plain(value[r], `${path}[${i}]`, inside));
  if (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof Map ||
    value instanceof Set
  )
    refuse('expected a plain object, a list or a typed array', path);
  const copy = {};
  for (const [key, v] of Object.entries(value))
    if (v !== undefined) copy[key] = plain(v, path ? `${path}.${key}` : key, inside);
  return copy;
}

function numbers(list, path, columns) {
  if (!isList(list)) refuse(`expected a list of numbers, found ${said(list)}`, path);
  if (list.length % columns) refuse(`${list.length} numbers are no rows of ${columns}`, path);
  for (let k = 0; k < list.length; k++)
    if (typeof list[k] !== 'number' || !Number.isFinite(list[k]))
      refuse(`expected a finite number, found ${said(list[k])}`, `${path}[${k}]`);
  return list;
}

function indices(list, path, corners, vertices) {
  if (list === undefined) return [];
  numbers(list, path, corners);
  for (let k = 0; k < list.length; k++)
    if (!Number.isInteger(list[k]) || list[k] < 0 || list[k] >= vertices)
      refuse(
        `there is no vertex ${list[k]}: the mesh has vertices 0 to ${vertices - 1}`,
        `${path}[${k}]`,
      );
  return list;
}

// A mesh of typed arrays as a file, to the bit: Gmsh's binary format 2.2.
export function meshFile(mesh, path) {
  for (const key of Object.keys(mesh))
    if (!['positions', 'triangles', 'tets', 'edges'].includes(key))
      refuse(`unknown key "${key}"; a mesh has positions, triangles, tets and edges`, path);
  const x = numbers(mesh.positions, `${path}.positions`, 3),
    n = x.length / 3;
  if (n === 0) refuse('the mesh has no vertices', `${path}.positions`);
  const kinds = [
    [1, 2, 'edges'],
    [2, 3, 'triangles'],
    [4, 4, 'tets'],
  ]
    .map(([type, corners, key]) => ({
      type,
      corners,
      list: indices(mesh[key], `${path}.${key}`, corners, n),
    }))
    .filter((kind) => kind.list.length);
  if (!kinds.length) refuse('the mesh has neither triangles nor tets nor edges', path);
  const elements = kinds.reduce((sum, k) => sum + k.list.length / k.corners, 0),
    text = new TextEncoder();
  const parts = [
    text.encode('$MeshFormat\n2.2 1 8\n'),
    null,
    text.encode(`\n$EndMeshFormat\n$Nodes\n${n}\n`),
    null,
    text.encode(`\n$EndNodes\n$Elements\n${elements}\n`),
    null,
    text.encode('\n$EndElements\n'),
  ];
  parts[1] = new Uint8Array([1, 0, 0, 0]);
  const nodes = new DataView(new ArrayBuffer(28 * n));
  for (let v = 0; v < n; v++) {
    nodes.setInt32(28 * v, v + 1, true);
    for (let k = 0; k < 3; k++) nodes.setFloat64(28 * v + 4 + 8 * k, x[3 * v + k], true);
  }
  parts[3] = new Uint8Array(nodes.buffer);
  const rows = [];
  let number = 0;
  for (const { type, corners, list } of kinds) {
    rows.push(type, list.length / corners, 0);
    for (let e = 0; e < list.length; e += corners) {
      rows.push(++number);
      for (let k = 0; k < corners; k++) rows.push(list[e + k] + 1);
    }
  }
  const ints = new DataView(new ArrayBuffer(4 * rows.length));
  rows.forEach((v, k) => ints.setInt32(4 * k, v, true));
  parts[5] = new Uint8Array(ints.buffer);
  const whole = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const p of parts) (whole.set(p, at), (at += p.length));
  return whole;
}

// Rows of numbers as a table: nested lists, or one list or typed array.
function table(list, path, columns) {
  const nested = isList(list[0]);
  if (nested)
    list.forEach((row, i) => {
      if (!isList(row) || row.length !== columns)
        refuse(
          `expected a row of ${columns} numbers, found ${isList(row) ? row.length : said(row)}`,
          `${path}[${i}]`,
        );
    });
  const flat = nested ? list.flatMap((row) => Array.from(row)) : list;
  numbers(flat, path, columns);
  const lines = [];
  for (let k = 0; k < flat.length; k += columns)
    lines.push(Array.from(flat.slice(k, k + columns)).join(','));
  return new TextEncoder().encode(lines.join('\n') + '\n');
}

const isObject = (value) => value !== null && typeof value === 'object';

// {json, files}: the scene as the engine reads it, and the files that it names.
export function prepare(scene, given = {}, prefix = '') {
  if (!isObject(scene) || isList(scene))
    refuse(`expected a scene, an object with bodies, found ${said(scene)}`);
  const files = { ...checkFiles(given) };
  const add = (name, content) => {
    files[name] = content;
    return name;
  };
  const at = (key, i) => `${prefix}${key}[${i}]`;
  const mesh = (value, path) =>
    isObject(value) && !isList(value) ? add(`${path}.msh`, meshFile(value, path)) : value;
  const entry = (key, item, i) => {
    if (!isObject(item) || isList(item)) return item;
    const copy = { ...item },
      path = at(key, i);
    copy.mesh = mesh(item.mesh, `${path}.mesh`);
    if (key === 'bodies') {
      if (isObject(item.surface))
        copy.surface = item.surface.positions
          ? mesh(item.surface, `${path}.surface`)
          : { ...item.surface, mesh: mesh(item.surface.mesh, `${path}.surface.mesh`) };
      if (isList(item.springs))
        copy.springs = add(`${path}.springs.csv`, table(item.springs, `${path}.springs`, 4));
      if (isList(item.state))
        copy.state = add(`${path}.state.csv`, table(item.state, `${path}.state`, 6));
    }
    return copy;
  };
  const copy = { ...scene };
  for (const key of ['bodies', 'obstacles'])
    if (Array.isArray(scene[key])) copy[key] = scene[key].map((item, i) => entry(key, item, i));
  return { scene: plain(copy, prefix.replace(/\.$/, '')), files };
}

export function checkFiles(files) {
  if (!isObject(files) || isList(files))
    refuse(`expected an object, {"name.obj": content}, found ${said(files)}`, 'files');
  const checked = {};
  for (const [name, content] of Object.entries(files)) {
    const parts = name.split('/');
    if (!name || parts.some((p) => !p || p === '.' || p === '..') || name.includes('\0'))
      refuse(`"${name}" is no file name inside the scene's folder`, 'files');
    if (typeof content === 'string') checked[name] = new TextEncoder().encode(content);
    else if (content instanceof ArrayBuffer) checked[name] = new Uint8Array(content);
    else if (ArrayBuffer.isView(content))
      checked[name] = new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
    else
      throw new BrioError(`files["${name}"]: expected a string or bytes, found ${said(content)}`);
  }
  return checked;
}
