// Types of brio-engine. docs/javascript.md is made of this file by docs.mjs: comments are its text.

/**
 * ## Starting
 *
 * Starts an engine. All worlds of an engine share its memory and its threads; a page needs one.
 *
 *     import { createEngine } from 'brio-engine';
 *     const brio = await createEngine();
 */
export function createEngine(options?: EngineOptions): Promise<Engine>;

/** Options of `createEngine`. */
export interface EngineOptions {
  /**
   * How many threads steps use. `'auto'` (the default): one for each core, at most eight, where
   * memory can be shared, and otherwise one. A number above 1 throws if memory cannot be
   * shared. Results are the same to the last bit.
   */
  threads?: number | 'auto';
  /** The bytes of `engine.wasm`, for pages that carry them inside; for one thread. */
  wasm?: ArrayBuffer | Uint8Array;
  /**
   * Where a file of the package is: `'engine.wasm'`, `'threads/engine-threads.js'`,
   * `'threads/engine-threads.worker.js'` or `'threads/engine-threads.wasm'`. The default is next
   * to the module.
   */
  locate?: (name: string) => string;
}

/**
 * ## The engine
 *
 * Creates worlds, and lists methods, materials, shapes and more.
 */
export interface Engine {
  /** The version of brio, as in `package.json`. */
  readonly version: string;
  /** Number of threads. */
  readonly threads: number;
  /** Bytes of the engine's memory. */
  readonly memory: number;
  /** Number of tasks that the additional threads have done so far. */
  readonly workerChunks: number;
  /**
   * Creates a world from a scene: an object, or a text in JSON. `files` are the files that the
   * scene names, by name.
   *
   *     const world = brio.world({
   *       bodies: [{ name: 'jelly', shape: { type: 'ball', radius: 0.1 }, material: 'flesh' }],
   *     });
   */
  world(scene: Scene | string, options?: WorldOptions): World;
  /** Time integration methods, for `integrator` of a scene and for `setMethod`. */
  readonly methods: ListEntry[];
  /** One method by name; undefined if there is none. */
  method(name: string): ListEntry | undefined;
  /**
   * A list, as `brio list` prints it: `'integrators'`, `'materials'`, `'presets'`,
   * `'shapes'`, `'damping'`, `'forces'`, `'constraints'`, `'laws'`, `'obstacles'`, `'solvers'`,
   * `'keys'` and others.
   */
  list(family: string): ListEntry[];
  /** Papers by their keys, such as `You2026`. */
  readonly citations: Record<string, string>;
  /** The oscillator m x″ = −k x − d x′ under a method, to measure its stability. */
  oscillator(method: Method, mass?: number): Oscillator;
  /**
   * The largest h·√λ at which a method is stable without damping, where λ is the scene's
   * largest eigenvalue; Infinity for methods that have no such limit up to 1000.
   */
  stableLimit(method: string): number;
  /** Frees all worlds and ends the threads. */
  dispose(): void;
}

/** Options of `Engine.world`. */
export interface WorldOptions {
  /** Contents of the files that the scene names, such as meshes. */
  files?: Files;
}

/** Contents of files by name; a name may have folders. */
export type Files = Record<string, string | ArrayBuffer | ArrayBufferView>;

/**
 * ## Scenes
 *
 * A scene as an object: every key of a [scene file](scene.md) is allowed. Numbers may be strings
 * with a fraction, `'1/60'`. Typed arrays may replace lists. Where a scene file names a mesh, an
 * object may contain the mesh itself.
 */
export interface Scene {
  /** Version of the scene format: 1. */
  brio?: number;
  /** Name of the scene. */
  title?: string;
  /** The step `h` in seconds, and settings of runs. */
  time?: { h?: number | string; [key: string]: unknown };
  /** Acceleration of free fall, m/s². */
  gravity?: Vector;
  /** Time integration method. */
  integrator?: Method;
  /** How implicit steps are solved. */
  solver?: string | { type?: string; [key: string]: unknown };
  /** `'preview'`, `'film'` or `'exact'`. */
  quality?: string;
  /** Contact of bodies with each other and with obstacles. */
  contact?: string | { type: string; [key: string]: unknown };
  /** Damping models. */
  damping?: (string | { type: string; [key: string]: unknown })[];
  /** Materials that bodies refer to by name. */
  materials?: Record<string, Exclude<Material, string>>;
  /** The bodies to simulate; at least one. */
  bodies: Body[];
  /** Things that bodies collide with and cannot push. */
  obstacles?: Obstacle[];
  /** Rods and joints. */
  constraints?: { type: string; [key: string]: unknown }[];
  /** Springs between the surfaces of two bodies. */
  stitches?: { a: string; b: string; [key: string]: unknown }[];
  /** Forces in addition to gravity. */
  forces?: { type: string; [key: string]: unknown }[];
  [key: string]: unknown;
}

/** Three numbers: a list, a typed array, or an object with x, y and z. */
export type Vector = ArrayLike<number> | { x: number; y: number; z: number };

/** A method by name, or with values of its parameters. */
export type Method = string | { type: string; [parameter: string]: unknown };

/**
 * A material: the name of one of the scene or of a preset, or its type with values, as the scene's
 * own have.
 */
export type Material = string | { type: string; [value: string]: unknown };

/** A body of a scene. */
export interface Body {
  /** Its name; the default is `body0`, `body1`, ... */
  name?: string;
  /** A shape of `engine.list('shapes')`. */
  shape?: { type: string; [parameter: string]: unknown };
  /** Instead of a shape: a mesh, or the name of a mesh file of `files`. */
  mesh?: Mesh | string;
  /** Kind of elements; the default comes from the material. */
  kind?: 'auto' | 'solid' | 'springs' | 'bar1d' | 'points' | 'affine' | 'shell';
  /** Its material. */
  material: Material;
  /** A detailed surface that its tets carry. */
  surface?: Mesh | string | { mesh: Mesh | string; weights?: 'smooth' | 'linear' };
  /** Rows a, b, k, rest for kind springs: a file name, or the numbers. */
  springs?: string | ArrayLike<number> | number[][];
  /** Rows x, y, z, vx, vy, vz of the initial state: a file name, or the numbers. */
  state?: string | ArrayLike<number> | number[][];
  /** Scales, then rotates (axis, degrees), then translates. */
  transform?: { scale?: number | Vector; rotate?: unknown; translate?: Vector };
  /** Vertices that are fixed or follow a script. */
  fix?: { vertices?: ArrayLike<number>; [key: string]: unknown }[];
  [key: string]: unknown;
}

/** An obstacle of a scene. */
export interface Obstacle {
  /** `'plane'`, `'mesh'`, `'heightfield'`, or a shape. */
  type: string;
  /** Its name; the default is `obstacle0`, `obstacle1`, ... */
  name?: string;
  /** For type mesh: the mesh, or the name of a file of `files`. */
  mesh?: Mesh | string;
  [key: string]: unknown;
}

/** A mesh as arrays. Vertices keep their numbers. */
export interface Mesh {
  /** x, y, z of each vertex. */
  positions: ArrayLike<number>;
  /** Three vertices each; of a closed surface counter-clockwise as seen from outside. */
  triangles?: ArrayLike<number>;
  /** Four vertices each. */
  tets?: ArrayLike<number>;
  /** Two vertices each: lines and springs. */
  edges?: ArrayLike<number>;
}

/** The name or the number of a body or of an obstacle. */
export type Ref = string | number;

/**
 * ## Worlds
 *
 * A running scene. All calls are synchronous. A call that fails throws a `BrioError` and
 * changes nothing.
 *
 * **Views.** `positions`, `velocities`, `triangles`, `edges`, `tets`, `fixed` and `draw` return
 * views into the engine's memory: nothing is copied, and the engine writes into them. A step, an
 * edit or a new world may need more memory, and JavaScript detaches views of memory that grew
 * (their length becomes 0); edits and `dispose` also free what views show. So ask for a view again
 * in every frame, after the step; that costs nothing, and you get the same object as long as it is
 * valid. Copy views that you want to keep with `.slice()`, as triangles for a buffer of a GPU. Do
 * not write into views: `setPositions` and `setVelocities` change the state.
 */
export interface World {
  /** Simulated time, s. */
  readonly time: number;
  /** The scene's step, s. */
  readonly h: number;
  /**
   * Makes `count` steps of `h` seconds and returns how many. If a step fails, it throws,
   * and the state is that before the step; `steps` of the error says how many were made. A step
   * that takes longer than `limit` milliseconds is ended in the same way, with status `STOPPED`.
   */
  step(h?: number, count?: number, options?: { limit?: number }): number;
  /**
   * Makes as many steps as fit into `seconds` of simulated time and returns how many; the rest is
   * kept for the next call. It starts no step that would exceed `budget` milliseconds, but makes at
   * least one that is due. Time that cannot be caught up is dropped: the world then runs slower
   * than real time. If a step fails, it throws as `step` does, and drops the time that is due.
   */
  advance(seconds: number, options?: { h?: number; budget?: number; limit?: number }): number;
  /** Moves to static equilibrium. */
  settle(): void;

  /**
   * Names of the bodies by number. One that was removed leaves its number free, with the name ''.
   */
  readonly bodies: string[];
  /** Names of the obstacles by number. */
  readonly obstacles: string[];
  /** Number of vertices of a body, or of all bodies together. */
  vertices(body?: Ref): number;
  /** Number of all vertices, those of obstacles included. */
  readonly allVertices: number;
  /** The number of a body's first vertex among all. */
  firstVertex(body: Ref): number;
  /**
   * Positions, m: x, y, z of each vertex of a body; without a body of all vertices, then those of
   * obstacles.
   */
  positions(body?: Ref): Float64Array;
  /** Velocities, m/s, in the same order. */
  velocities(body?: Ref): Float64Array;
  /** Moves the vertices of a body; fixed ones stay. */
  setPositions(body: Ref, positions: ArrayLike<number>): void;
  /** Sets the velocities of a body's vertices. */
  setVelocities(body: Ref, velocities: ArrayLike<number>): void;
  /**
   * Triangles of a body's surface, in its own vertices; without a body those of all bodies and
   * then of obstacles.
   */
  triangles(body?: Ref): Uint32Array;
  /** Number of triangles of bodies. */
  readonly bodyTriangles: number;
  /** Springs of a body, in its own vertices; without a body of all. */
  edges(body?: Ref): Uint32Array;
  /** Tets of a body, in its own vertices. */
  tets(body: Ref): Uint32Array;
  /** 1 for each vertex that is fixed. */
  fixed(body?: Ref): Uint8Array;
  /**
   * The drawn surface of a body in single precision, for buffers of a GPU: its surface, or the
   * detailed surface that it carries, with smooth normals. Triangles are the same until an edit.
   */
  draw(body: Ref): Drawing;
  /** Positions and triangles of an obstacle that has a mesh. */
  drawObstacle(obstacle: Ref): { positions: Float64Array; triangles: Uint32Array };

  /** Energies, momenta and the ledger, now. */
  ledger(): Ledger;
  /** Elastic energy of a body, J. */
  bodyEnergy(body: Ref): number;
  /**
   * From now on steps record contacts, up to `most` pairs of bodies and obstacles; 0: off.
   */
  noteContacts(most?: number): void;
  /** The contacts of the last step. */
  contacts(): Contact[];

  /**
   * Grabs the first body that a ray hits; null if it hits nothing. `k` (N/m) is the stiffness of
   * the hand; by default the body hangs about 1 cm below it.
   *
   *     const hand = world.grab(camera.position, direction);
   *     hand?.drag([0, 1, 0]);
   *     hand?.release();
   */
  grab(origin: Vector, direction: Vector, k?: number): Hand | null;
  /** Grabs the nearest point of a body's surface, or of any body. */
  grabPoint(point: Vector, options?: { body?: Ref; k?: number }): Hand;
  /** Grabs a vertex. */
  grabVertex(body: Ref, vertex: number, k?: number): Hand;

  /** Acceleration of free fall from now on, m/s². */
  setGravity(gravity: Vector): void;
  /** The type of a body's material. */
  material(body: Ref): string;
  /** One value of a body's material. */
  materialValue(body: Ref, name: string): number;
  /**
   * Sets values of a body's material, `{E: 2e4}`; body undefined: of all bodies. Masses cannot
   * change.
   */
  setMaterial(body: Ref | undefined, values: Record<string, number>): void;
  /** Sets values of a damping model of the scene, by its index in the list. */
  setDamping(model: number, values: Record<string, number>): void;
  /** Sets the factor of a force of the scene, by its name. */
  setForce(name: string, factor: number): void;
  /** The time integration method. */
  readonly method: string;
  /** Uses another method from now on. */
  setMethod(method: Method): void;
  /** All methods with the reason why they cannot be used in this world; '' if they can. */
  methods(): Record<string, string>;
  /** Sets the target of a method that controls energy, from now on, J. */
  setTarget(energy: number): void;
  /**
   * Largest eigenvalue λ of M⁻¹K now, 1/s²: an explicit method is stable for h below
   * `stableLimit`/√λ.
   */
  largestEigenvalue(): number;

  /**
   * Makes all changes at once, or none: removals, cuts, freed and fixed vertices, additions.
   * Bodies continue from where they are. Materials of the scene can be named.
   *
   *     const fresh = { name: 'new', shape: { type: 'box' }, material: 'rubber' };
   *     world.edit({ remove: { bodies: ['old'] }, add: { bodies: [fresh] } });
   */
  edit(changes: Edit, options?: WorldOptions): void;
  /** Adds a body, as in a scene; returns its name. */
  addBody(body: Body, options?: WorldOptions): string;
  /** Removes a body; the last one stays. */
  removeBody(body: Ref): void;
  /** Adds an obstacle, as in a scene; returns its name. */
  addObstacle(obstacle: Obstacle, options?: WorldOptions): string;
  /** Removes an obstacle. */
  removeObstacle(obstacle: Ref): void;
  /** Fixes vertices where they are. */
  fix(body: Ref, vertices: ArrayLike<number>): void;
  /** Frees vertices. */
  unfix(body: Ref, vertices: ArrayLike<number>): void;
  /** Cuts a body along a plane. No element is divided. */
  cut(body: Ref, point: Vector, normal: Vector): void;
  /**
   * During the next step the vertices of a mesh obstacle move to new positions: positions, or a
   * matrix (row by row) and a translation of the original ones. It pushes bodies in its way.
   */
  moveObstacle(
    obstacle: Ref,
    to: ArrayLike<number> | { matrix?: ArrayLike<number>; translate?: Vector },
  ): void;
  /**
   * Continues from the state of another world with the same vertices: time, positions,
   * velocities and ledger.
   */
  continueFrom(world: World): void;

  /** The whole state as bytes. */
  save(): Uint8Array;
  /** Restores a state of `save`, of a world of the same scene; it continues to the same bits. */
  restore(checkpoint: ArrayBuffer | ArrayBufferView): void;

  /** Frees the world's memory. Every later call throws. */
  dispose(): void;
  /** Whether the world was disposed of. */
  readonly disposed: boolean;
}

/** The drawn surface of a body. */
export interface Drawing {
  /** x, y, z of each vertex, m. */
  positions: Float32Array;
  /** A unit vector for each vertex. */
  normals: Float32Array;
  /** Three vertices each. */
  triangles: Uint32Array;
}

/** Energies and momenta of a world at one time. Energies in J; NaN where a value does not apply. */
export interface Ledger {
  time: number;
  step: number;
  kinetic: number;
  elastic: number;
  gravity: number;
  /** Of hands and attachments. */
  attachment: number;
  contact: number;
  /** All conservative parts. */
  potential: number;
  total: number;
  /** Of methods that control energy. */
  target: number;
  alpha: number;
  /** Energy added by changes from outside. */
  added: number;
  /** Energy removed by damping and friction; the part of friction. */
  dissipated: number;
  friction: number;
  /** Effect of the method: total − initial total − added + dissipated. */
  remainder: number;
  /** kg m/s, and kg m²/s about the origin. */
  momentum: [number, number, number];
  angular: [number, number, number];
  /** Centre of mass, m. */
  centre: [number, number, number];
  /** Smallest distance of a contact, m. */
  minDistance: number;
  /** Largest drift of a constraint over its length. */
  rods: number;
  /** Iterations of the last step, and pairs in contact. */
  iterations: number;
  contacts: number;
}

/** Two bodies, or a body and an obstacle, that touched in the last step. */
export interface Contact {
  a: string;
  b: string;
  /** Whether b is an obstacle. */
  obstacle: boolean;
  change: 'begins' | 'stays' | 'ends';
  /** Number of pairs of vertices, edges and triangles. */
  contacts: number;
  /** Impulse of b on a in the step, N s; and the same with the magnitudes of all forces. */
  impulse: number[];
  pressing: number;
  /** Mean position of the contacts, m. */
  place: number[];
  /** The smallest distance, m. */
  distance: number;
}

/** A hand that pulls a body with a spring. */
export interface Hand {
  /** Where it grabbed the body, m. */
  readonly hit: number[];
  /** Its point and its grip; null after a release. */
  readonly state: { point: number[]; grip: number[]; k: number; body: string } | null;
  /** Moves the hand to a point. */
  drag(point: Vector): void;
  /** Releases the body. */
  release(): void;
}

/** Changes of `World.edit`. */
export interface Edit {
  /** A part of a scene. */
  add?: {
    materials?: Record<string, Exclude<Material, string>>;
    bodies?: Body[];
    obstacles?: Obstacle[];
    constraints?: Scene['constraints'];
    stitches?: Scene['stitches'];
    forces?: Scene['forces'];
  };
  /** Names of what to remove. */
  remove?: { bodies?: string[]; obstacles?: string[]; constraints?: string[]; forces?: string[] };
  /** Cuts along planes. */
  cut?: { body: string; point: Vector; normal: Vector }[];
  /** Vertices to fix where they are. */
  fix?: { body: string; vertices: ArrayLike<number> }[];
  /** Vertices to free. */
  unfix?: { body: string; vertices: ArrayLike<number> }[];
}

/** An entry of `Engine.list`. */
export interface ListEntry {
  name: string;
  summary: string;
  citation?: string | null;
  note?: string | null;
  /** Its parameters. */
  fields?: Field[];
  [key: string]: unknown;
}

/** A parameter. */
export interface Field {
  name: string;
  type: string;
  unit: string;
  default: number | null;
  /** Allowed range; null: no end. */
  min: number | null;
  max: number | null;
  /** The same by the names of version 0.1, kept for one version. */
  least: number | null;
  most: number | null;
  summary: string;
  /** Of a choice. */
  words?: string[];
  [key: string]: unknown;
}

/** An oscillator under a method. */
export interface Oscillator {
  /** Spectral radius at X = h d/m and Y = h²k/m; Infinity where a step cannot be made. */
  radius(X: number, Y: number): number;
  /** The largest stable h·√(k/m) without damping. */
  limit(): number;
  /** The matrix of one step, with its eigenvalues. */
  matrix(k: number, d: number, h: number): Amplification;
  /** Frees it. */
  dispose(): void;
}

/** The matrix of one step of an oscillator, row by row. */
export interface Amplification {
  size: number;
  matrix: number[];
  det: number;
  trace: number;
  radius: number;
  /** Eigenvalues. */
  re: number[];
  im: number[];
}

/**
 * ## Errors
 *
 * If the engine rejects something, it throws a `BrioError` with its message. The
 * engine continues to work: no misuse ends the module. If there is no memory left, the status is
 * `ERROR_MEMORY` or `ERROR_TOO_LARGE`.
 *
 *     try {
 *       brio.world(scene);
 *     } catch (e) {
 *       console.log(e.message); // bodies[0].material: no material "ruber"; did you mean "rubber"?
 *     }
 */
export class BrioError extends Error {
  /** The status of the C interface: `'ERROR_INPUT'`, `'NOT_CONVERGED'`, ... */
  readonly status: string;
  /** Where in the scene: `'bodies[0].material'`; '' if the error is not about a scene. */
  readonly path: string;
  /** The file that is at fault; '' for the scene itself. */
  readonly file: string;
  /** In the text of the scene or of the file; 0 if unknown. */
  readonly line: number;
  readonly column: number;
  /** Of `World.step` and `World.advance`: how many steps were made. */
  readonly steps?: number;
}
