/* Broken scenes and meshes: each is answered with its sentence, by `brio check` and by `brio run`,
 * with exit code 2, and nothing is written. The sentences are quoted in full. */
#include "emulated.h"
#include "program.h"

typedef struct Case {
    const char *name, *scene;
    const char *file, *content; /* next to the scene, or NULL */
    const char *set;            /* --set, or NULL */
    const char *message;
} Case;

static const Case cases[] = {
    {"unknown key",
     "graviti: [0, 0, 0]\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:1: unknown key \"graviti\"; did you mean \"gravity\"?"},
    {"unknown key of a body", "bodies:\n  - shape: {type: box}\n    materials: rubber\n", NULL,
     NULL, NULL,
     "scene.yaml:3:5: bodies[0]: unknown key \"materials\"; did you mean \"material\"?"},
    {"unknown parameter",
     "bodies:\n  - shape: {type: box}\n    material: {type: neo-hookean, young: 1e5}\n", NULL, NULL,
     NULL,
     "scene.yaml:3:35: bodies[0].material: unknown key \"young\"; valid keys: type, E, nu, rho"},
    {"a number where a list belongs",
     "gravity: -9.8\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:10: gravity: expected a list of 3 numbers, found \"-9.8\""},
    {"a word where a number belongs",
     "time: {h: fast}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:11: time.h: expected a number, found \"fast\""},
    {"a list too short",
     "gravity: [0, -9.8]\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:10: gravity: expected a list of 3 numbers, found 2"},
    {"no such material",
     "materials:\n  rubber: {type: neo-hookean}\nbodies:\n  - shape: {type: box}\n    material: "
     "ruber\n",
     NULL, NULL, NULL,
     "scene.yaml:5:15: bodies[0].material: no material \"ruber\"; did you mean \"rubber\"?"},
    {"no such material type", "bodies:\n  - shape: {type: box}\n    material: {type: neohookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:3:22: bodies[0].material.type: no material type \"neohookean\"; did you mean "
     "\"neo-hookean\"?"},
    {"no such integrator",
     "integrator: backward-oiler\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: no integrator \"backward-oiler\"; did you mean "
     "\"backward-euler\"?"},
    {"a theta that loses all digits",
     "integrator: {type: theta, theta: 1e-5}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n  "
     "  material: neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: theta = 1e-05 is so small that dividing by it loses all digits; "
     "0 is forward Euler, and 0.001 is the smallest other value"},
    {"no such form",
     "integrator: {type: theta, form: middle}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n "
     "   material: neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:1:33: integrator.form: form must be one of inner|outer, found \"middle\""},
    {"a beta that loses all digits",
     "integrator: {type: newmark, beta: 1e-5}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n "
     "   material: neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: beta = 1e-05 is so small that dividing by it loses all digits; "
     "0 is the explicit method, and 0.001 is the smallest other value"},
    {"a spectral radius above 1",
     "integrator: {type: generalized-alpha, rho_inf: 1.2}\nbodies:\n  - shape: {type: box, cells: "
     "[1, 1, 1]}\n    material: neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:1:48: integrator.rho_inf: rho_inf = 1.2 is out of range: must be between 0 and 1"},
    {"no such shape", "bodies:\n  - shape: {type: bocks}\n    material: neo-hookean\n", NULL, NULL,
     NULL,
     "scene.yaml:2:19: bodies[0].shape.type: no shape \"bocks\"; there are: box, bar, ball, "
     "cylinder, rod, die, capsule, torus, figure, grid, disk, "
     "sphere, die-surface, capsule-surface, torus-surface, chain-link, stairs, line"},
    {"no such linear solver",
     "solver: {linear: choleski}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:18: solver.linear: no linear solver \"choleski\"; did you mean \"cholesky\"?"},
    {"no such frame format",
     "output: {frames: [vtk]}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:19: output.frames[0]: no frame format \"vtk\"; did you mean \"vtu\"?"},
    {"a motion that is no yes or no",
     "output: {motion: some}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:18: output.motion: expected true or false, found \"some\""},
    {"a film without motion",
     "output: {motion: false, frames: [obj, glb]}\nbodies:\n  - shape: {type: box, cells: [1, 1, "
     "1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:39: output.frames[1]: glb is made from the motion: remove motion: false"},
    {"a surface without tets",
     "bodies:\n  - shape: {type: grid}\n    surface: gem.obj\n    material: {type: hooke, rho: "
     "1}\n",
     "gem.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", NULL,
     "scene.yaml:3:14: bodies[0].surface: a surface needs tets that carry it, and the body's mesh "
     "has none; give a mesh of tets, or use the surface itself as mesh"},
    {"a surface of lines",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    surface: gem.obj\n    material: "
     "{type: neo-hookean}\n",
     "gem.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", NULL,
     "scene.yaml:3:14: bodies[0].surface: the surface has no triangles"},
    {"no such weights",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    surface: {mesh: gem.obj, weights: "
     "smoth}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:3:39: bodies[0].surface.weights: weights cannot be \"smoth\"; did you mean "
     "\"smooth\"?"},
    {"a surface without a file",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    surface: {weights: linear}\n    "
     "material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:3:14: bodies[0].surface: missing key \"mesh\": File of the surface, relative to "
     "the scene file. Its coordinates are those of the body's mesh. Polygons, textures and groups "
     "of an OBJ file are kept."},
    {"a texture that is no number",
     "bodies:\n  - mesh: gem.obj\n    material: {type: hooke, rho: 1}\n", "gem.obj",
     "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 here\nf 1/1 2/1 3/1\n", NULL,
     "gem.obj:4:6: expected a texture coordinate of vt no. 1, found \"here\""},
    {"no bodies", "title: empty\n", NULL, NULL, NULL,
     "scene.yaml:1:1: missing key \"bodies\": The bodies to simulate; at least one."},
    {"no material", "bodies:\n  - shape: {type: box}\n", NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: missing key \"material\": A name from `materials`, a preset "
     "(`brio list presets`), or the map itself, whose `type` may be any of these names."},
    {"neither shape nor mesh", "bodies:\n  - material: neo-hookean\n", NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: missing key: a body needs a shape or a mesh"},
    {"no such mesh file", "bodies:\n  - mesh: bunny.msh\n    material: neo-hookean\n", NULL, NULL,
     NULL,
     "scene.yaml:2:11: bodies[0].mesh: there is no file \"bunny.msh\": names are "
     "relative to the scene file"},
    {"unknown ending", "bodies:\n  - mesh: bunny.doc\n    material: neo-hookean\n", "bunny.doc",
     "x", NULL,
     "bunny.doc: brio does not read meshes of type \".doc\"; it reads .msh, .mesh, .node, .ele, "
     ".obj, .off, .pt, .seg, .ply, .stl, .vtk, .vtu, .js, .json"},
    {"time step zero",
     "time: {h: 0}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:11: time.h: h = 0 s is out of range: must be positive and at most 1e+06"},
    {"time step negative",
     "time: {h: -1/30}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:11: time.h: h = -0.03333333333333333 s is out of range: must be positive and at "
     "most 1e+06"},
    {"Poisson ratio",
     "bodies:\n  - shape: {type: box}\n    material: {type: neo-hookean, nu: 0.5}\n", NULL, NULL,
     NULL,
     "scene.yaml:3:39: bodies[0].material.nu: nu = 0.5 is out of range: must be between -0.99 and "
     "0.4999"},
    {"zero density", "bodies:\n  - shape: {type: box}\n    material: {type: neo-hookean, rho: 0}\n",
     NULL, NULL, NULL,
     "scene.yaml:3:40: bodies[0].material.rho: rho = 0 kg/m3 is out of range: must be positive and "
     "at most 1e+15"},
    {"negative mass",
     "bodies:\n  - shape: {type: grid}\n    material: {type: hooke, vertex_mass: -1}\n", NULL, NULL,
     NULL,
     "scene.yaml:3:42: bodies[0].material.vertex_mass: vertex_mass = -1 kg is out of range: must "
     "be positive and at "
     "most 1e+15"},
    {"no mass", "bodies:\n  - shape: {type: grid}\n    material: {type: hooke}\n", NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: the material has no mass: give vertex_mass or rho"},
    {"two bodies of one name",
     "bodies:\n  - name: cube\n    shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "neo-hookean\n  - name: cube\n   "
     " shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:5:5: bodies[1]: two bodies are called \"cube\": give each a name of its own"},
    {"duplicate key",
     "title: one\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\ntitle: two\n",
     NULL, NULL, NULL, "scene.yaml:5:1: key \"title\" is given twice, in line 1 and in line 5"},
    {"does not fit",
     "bodies:\n  - shape: {type: box, cells: [100000, 100000, 100000]}\n    material: "
     "neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:2:12: bodies[0].shape: a mesh of 1000030000300001 vertices is too large: at most "
     "2147483647 can be "
     "numbered; use a coarser mesh"},
    {"YAML syntax", "bodies: [\n", NULL, NULL, NULL,
     "scene.yaml:1:9: this list has no closing \"]\""},
    {"alias",
     "time: &t {h: 1}\noutput: *t\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    "
     "material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:7: anchors (&) are not supported; write the value where it is used"},
    {"binary scene", "\001\002\003\377\376", NULL, NULL, NULL,
     "scene.yaml:1:1: control character 0x01: this is not a text document"},
    {"empty scene", "", NULL, NULL, NULL, "scene.yaml: the document is empty"},
    {"not a map", "- 1\n- 2\n", NULL, NULL, NULL,
     "scene.yaml:1:1: expected a map of keys and values, found a list"},
    {"wrong version",
     "brio: 2\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:7: brio: this brio reads scene version 1, not 2"},
    {"no such force",
     "forces: [{type: wnd}]\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:17: forces[0].type: no force \"wnd\"; did you mean \"wind\"?"},
    {"position-based method on a solid",
     "integrator: pbd-verlet\nbodies:\n  - name: jelly\n    shape: {type: box, cells: [1, 1, 1]}\n "
     "   material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: pbd-verlet moves bodies of springs only, and body \"jelly\" is "
     "of neo-hookean; make it kind: springs with material hooke, or use another integrator"},
    {"position-based method and an obstacle",
     "integrator: pbd-verlet\ncontact: {type: penalty}\nobstacles: [{type: sphere, radius: 0.1, "
     "transform: {translate: [0, -1, 0]}}]\nbodies:\n  - shape: {type: grid}\n"
     "    material: {type: hooke, vertex_mass: 1}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: pbd-verlet supports only springs and planes, so bodies would "
     "pass through other obstacles and each other; use another integrator"},
    {"inner form unknown",
     "integrator: {type: linearized-explicit, form: backward}\nbodies:\n  - shape: {type: grid}\n  "
     "  material: {type: hooke, vertex_mass: 1}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:47: integrator.form: form must be one of forward|symplectic, found "
     "\"backward\""},
    {"no such damping model",
     "damping: [{type: raleigh}]\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:18: damping[0].type: no damping model \"raleigh\"; did you mean \"rayleigh\"?"},
    {"damping out of range",
     "damping: [{type: momentum-preserving, k: 2}]\nbodies:\n  - shape: {type: box, cells: [1, 1, "
     "1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:42: damping[0].k: k = 2 is out of range: must be between 0 and 1"},
    {"tableau without rows enough",
     "integrator: {type: runge-kutta, A: [[0, 0]], b: [1/2, 1/2]}\nbodies:\n  - shape: {type: box, "
     "cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: b has 2 numbers, so A must have 2 rows of 2; it has 2 numbers "
     "in all"},
    {"tableau that is not consistent",
     "integrator: {type: runge-kutta, A: [[0, 0], [1, 0]], b: [1/2, 1]}\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: the numbers of b add up to 1.5 instead of 1: the method would "
     "not be consistent"},
    {"tableau with coupled stages",
     "integrator: {type: runge-kutta, A: [[1/4, 1], [1, 1/4]], b: [1/2, 1/2]}\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: A has numbers right of its diagonal: coupled stages cannot be "
     "solved one after the other"},
    {"partitioned over a method with a weight of 0",
     "integrator: {type: partitioned, tableau: rk2}\nbodies:\n  - shape: {type: box, cells: [1, "
     "1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: rk2 has a weight of 0, so it has no symplectic adjoint"},
    {"no such choice",
     "integrator: {type: decoupled, tableau: sdrk2}\nbodies:\n  - shape: {type: box, cells: [1, 1, "
     "1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:40: integrator.tableau: tableau cannot be \"sdrk2\"; did you mean \"sdirk2\"?"},
    {"decay with times that do not grow",
     "integrator: {type: a-search, decay: [[1, 2], [1, 3]]}\nbodies:\n  - shape: {type: box, "
     "cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: the times of decay must grow: 1 s comes after 1 s"},
    {"a body without length along x that is to be twisted",
     "bodies:\n  - shape: {type: line, cells: 3}\n    material: {type: hooke, k: 1, vertex_mass: "
     "1}\n    transform: {rotate: [[0, 0, 1], 90]}\n    deform: {twist: 10}\n",
     NULL, NULL, NULL,
     "scene.yaml:5:13: bodies[0].deform: the body has no length along x to twist or bend it over"},
    {"a pull at nothing",
     "bodies:\n  - shape: {type: box}\n    material: corotated\n    deform: {pull: {sphere: [[5, "
     "0, 0], 1], by: [1, 0, 0]}}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:29: bodies[0].deform.pull.sphere: no vertex lies in this sphere"},
    {"a pull to nowhere",
     "bodies:\n  - shape: {type: box}\n    material: corotated\n    deform: {pull: {sphere: [[0, "
     "0, 0], 1]}}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:20: bodies[0].deform.pull: missing key \"by\" (m): "
     "Displacement at the centre."},
    {"a pull of no size",
     "bodies:\n  - shape: {type: box}\n    material: corotated\n    deform: {pull: {sphere: [[0, "
     "0, 0], 0], by: [1, 0, 0]}}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:41: bodies[0].deform.pull.sphere[1]: the radius = 0 must be positive"},
    {"scattered backwards",
     "bodies:\n  - shape: {type: box}\n    material: corotated\n    deform: {scatter: -1}\n", NULL,
     NULL, NULL,
     "scene.yaml:4:23: bodies[0].deform.scatter: scatter = -1 m is out of range: must be between 0 "
     "and 1e+09"},
    {"too coarse a figure",
     "bodies:\n  - shape: {type: figure, of: bunny, cells: 10}\n    material: corotated\n", NULL,
     NULL, NULL,
     "scene.yaml:2:12: bodies[0].shape: cells = 10 is too coarse for the bunny: limbs would fall "
     "off or grow together; use more"},
    {"ground that is neither number nor rest",
     "integrator: {type: a-search, ground: floor}\nbodies:\n  - shape: {type: box, cells: [1, 1, "
     "1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:38: integrator.ground: expected a number, found \"floor\""},
#define POINTS                                                                               \
    "bodies:\n  - name: chain\n    shape: {type: line, cells: 3, length: 3}\n    material: " \
    "{type: mass, vertex_mass: 1}\n    fix: [{vertices: [0, 1]}]\n"
#define ROD(rod) "integrator: variational\n" POINTS "constraints:\n  - " rod "\n"
    {"rods and an integrator that does not take them",
     "integrator: rk4\n" POINTS "constraints:\n  - {type: rod, a: [chain, 1], b: [chain, 2]}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: rk4 does not take rods and other constraints; use one of "
     "backward-euler, implicit-midpoint, trapezoidal, theta, newmark, variational, bdf2, bdf3, "
     "bdf4, a-1, a-search"},
    {"rods and values that do not take them",
     "integrator: {type: variational, points: 3}\n" POINTS
     "constraints:\n  - {type: rod, a: [chain, 1], b: [chain, 2]}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:20: integrator.type: variational does not take rods and other constraints with "
     "these values; use one of backward-euler, implicit-midpoint, trapezoidal, theta, newmark, "
     "variational, bdf2, bdf3, bdf4, a-1, a-search"},
    {"alpha and points", "integrator: {type: variational, alpha: 0, points: 2}\n" POINTS, NULL,
     NULL, NULL,
     "scene.yaml:1:13: integrator: alpha = 0 has no meaning with points = 2: remove it, or use "
     "points: 1"},
    {"no such constraint", ROD("{type: road, a: [chain, 1], b: [chain, 2]}"), NULL, NULL, NULL,
     "scene.yaml:8:12: constraints[0].type: no constraint \"road\"; did you mean \"rod\"?"},
    {"rod of one end", ROD("{type: rod, a: [chain, 1]}"), NULL, NULL, NULL,
     "scene.yaml:8:5: constraints[0]: missing key \"b\": The other end. Or give at: [x, y, z], the "
     "position in the world where body a is held"},
    {"rod to itself", ROD("{type: rod, a: [chain, 2], b: {vertex: 2}}"), NULL, NULL, NULL,
     "scene.yaml:8:5: constraints[0]: both ends of the rod are vertex 2 of body \"chain\": a rod "
     "needs two vertices"},
    {"rod to no body", ROD("{type: rod, a: [chain, 2], b: [chian, 3]}"), NULL, NULL, NULL,
     "scene.yaml:8:36: constraints[0].b[0]: no body \"chian\"; did you mean \"chain\"?"},
    {"rod to no vertex", ROD("{type: rod, a: {body: chain, vertex: 4}, b: [chain, 3]}"), NULL, NULL,
     NULL,
     "scene.yaml:8:42: constraints[0].a.vertex: body \"chain\" has no vertex 4: it has vertices 0 "
     "to 3"},
    {"rod between fixed vertices", ROD("{type: rod, a: [chain, 0], b: [chain, 1]}"), NULL, NULL,
     NULL, "scene.yaml:8:5: constraints[0]: both ends of rod 0 are fixed: remove it"},
    {"rod of another length", ROD("{type: rod, a: [chain, 1], b: [chain, 2], length: 1.25}"), NULL,
     NULL, NULL,
     "scene.yaml:8:5: constraints[0]: the ends of the rod are 1 m apart in the initial state, and "
     "its length is 1.25 m: move them, or remove length"},
    {"rod twice",
     ROD("{type: rod, a: [chain, 1], b: [chain, 2]}\n  - {type: rod, b: [chain, 1], a: [chain, "
         "2]}"),
     NULL, NULL, NULL,
     "scene.yaml:9:5: constraints[1]: rod 0 joins the same two vertices: remove one"},
    {"rod with a word", ROD("{type: rod, a: chain, b: [chain, 2]}"), NULL, NULL, NULL,
     "scene.yaml:8:20: constraints[0].a: expected {body: name, vertex: number} or [name, number]"},
    {"rod to a scripted vertex", ROD("{type: rod, a: [chain, 0], b: [chain, 2]}"), NULL, NULL,
     "bodies.0.fix.0.script={velocity: [1, 0, 0]}",
     "scene.yaml:8:5: constraints[0]: vertex 0 of body \"chain\" is moved by a script: the ends of "
     "a rod are free or stand still in this version of brio"},
    {"springs of mass",
     "bodies:\n  - shape: {type: line}\n    kind: springs\n    material: {type: mass, vertex_mass: "
     "1}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: material mass is for bodies of kind points, not springs"},
#undef ROD
#undef POINTS
    {"friction with one linear solve",
     "integrator: linearly-implicit-euler\ncontact: {type: ipc, mu: 0.2}\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: linearly-implicit-euler linearises forces at the start of the "
     "step, where friction sticks, so nothing would ever slide; remove mu, or use backward-euler"},
    {"penalties without obstacles",
     "contact: {type: penalty}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "{type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:1: contact of type penalty is between bodies and obstacles: add obstacles, or "
     "self: DISTANCE, or use type: ipc"},
    {"friction between unknown names",
     "contact: {type: ipc, friction: [{between: [body0, flor], mu: 0.2}]}\nobstacles:\n  - {type: "
     "plane, name: floor, point: [-1, 0, 0], normal: [1, 0, 0]}\nbodies:\n  - shape: {type: box, "
     "cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:51: contact.friction[0].between[1]: no body, material or obstacle \"flor\"; did "
     "you mean \"floor\"?"},
    {"friction without a coefficient",
     "contact: {type: ipc, friction: [{between: [body0, body0]}]}\nbodies:\n  - shape: {type: box, "
     "cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:33: contact.friction[0]: missing key \"mu\": Friction coefficient of the pair."},
    {"exclusion of one",
     "contact: {type: ipc, exclude: [[body0]]}\nbodies:\n  - shape: {type: box, cells: [1, 1, "
     "1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:32: contact.exclude[0]: expected two names, [a, b]"},
    {"a solid that penalty contact does not know",
     "contact: {type: penalty}\nobstacles: [{type: bar, formula: true}]\nbodies:\n  - shape: "
     "{type: box, cells: "
     "[1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:20: obstacles[0].type: there is no formula for the distance from a bar (`brio "
     "list obstacles` names those that have one): use one of them, or triangles with contact of "
     "type ipc"},
    {"a scaled solid of penalty contact",
     "contact: {type: penalty}\nobstacles: [{type: sphere, transform: {scale: 2}}]\nbodies:\n  - "
     "shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: an obstacle with a formula cannot be scaled: give its size by "
     "the keys of the sphere"},
    {"a scripted solid with a formula",
     "contact: {type: penalty}\nobstacles: [{type: sphere, script: {velocity: [1, 0, 0]}, formula: "
     "true}]\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:28: obstacles[0]: obstacles with a formula cannot move: remove the script, or "
     "use triangles (formula: false)"},
    {"an obstacle that nobody knows",
     "contact: {type: ipc}\nobstacles: [{type: capsul, formula: true}]\nbodies:\n  - shape: {type: "
     "box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:20: obstacles[0].type: no obstacle type \"capsul\"; did you mean \"capsule\"?"},
    {"open triangles under penalty contact",
     "contact: {type: penalty}\nobstacles: [{type: grid, name: rug}]\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: obstacle \"rug\" is not a closed surface with consistent "
     "orientation: contact between vertices and triangles needs an inside; close it (brio mesh "
     "repair), or use contact of type ipc"},
    {"a sequence without triangles",
     "contact: {type: ipc}\nobstacles: [{type: mesh}]\nbodies:\n  - shape: {type: box, cells: [1, "
     "1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: an obstacle of type mesh needs mesh, or a sequence that has "
     "triangles (OBJ, GLB)"},
    {"a sequence that is not there",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{vertices: [0], sequence: none_####.obj}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:37: bodies[0].fix[0].sequence: there is no file \"none_####.obj\" with digits "
     "instead of #: names are relative to the scene file"},
    {"axes that move",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{vertices: [0], axes: [x], script: {velocity: [1, 0, 0]}}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:27: bodies[0].fix[0]: coordinates that are fixed alone do not move: remove "
     "axes, or script and sequence"},
    {"an axis that nobody knows",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{vertices: [0], axes: [w]}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:34: bodies[0].fix[0].axes[0]: no axis \"w\"; did you mean \"x\"?"},
    {"a formula of a script",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{vertices: [0], script: {formula: [sin(t, 0, 0]}}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:51: bodies[0].fix[0].script.formula[0]: expected ')' at the end of the "
     "arguments, and the formula ends"},
    {"a group of a shape",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{group: hem}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:19: bodies[0].fix[0].group: the mesh file names no groups: OBJ files do (g or "
     "o), Gmsh files do (physical groups with a name), or choose vertices by box, sphere or "
     "number"},
    {"a patch that looks nowhere",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{normal: [[1, 1, 1], 5]}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:20: bodies[0].fix[0].normal: no triangle of the surface faces this direction: "
     "change it, or widen the angle"},
    {"an angle of a patch beyond 180 degrees",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "fix: [{normal: [[1, 0, 0], 190]}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:32: bodies[0].fix[0].normal[1]: the angle = 190 degrees is out of range: must "
     "be between 0 and 180"},
    {"a body in a formula",
     "contact: {type: cubic}\nobstacles: [{type: sphere, formula: true, radius: 3}]\nbodies:\n  - "
     "shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: vertex 0 of body \"body0\" is behind obstacle \"obstacle0\" "
     "(distance -2.13397 m): start in front of it "
     "(bodies.N.transform.translate moves a body)"},
    {"a capsule that is too short",
     "contact: {type: cubic}\nobstacles: [{type: capsule, formula: true, height: 0.3}]\nbodies:\n  "
     "- "
     "shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: height = 0.3 m is less than twice the radius = 0.25 m"},
    {"rows of heights that differ",
     "contact: {type: ipc}\nobstacles: [{type: heightfield, heights: [[0, 0], [0, 0, "
     "0]]}]\nbodies:\n "
     " - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:51: obstacles[0].heights[1]: this row has 3 heights, the first row 2"},
    {"one row of heights",
     "contact: {type: ipc}\nobstacles: [{type: heightfield, heights: [[0, 0]]}]\nbodies:\n  - "
     "shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: a height field of 1 rows of 2 heights: at least 2 of 2 are "
     "needed"},
    {"a height field of nothing",
     "contact: {type: ipc}\nobstacles: [{type: heightfield, spacing: 2}]\nbodies:\n  - shape: "
     "{type: "
     "box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: a height field takes either heights or a file"},
    {"obstacles without contact",
     "obstacles:\n  - {type: plane, point: [-1, 0, 0], normal: [1, 0, 0]}\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:1: obstacles do nothing without contact: add contact: {type: ipc}"},
    {"contact type",
     "contact: {type: ipx}\nobstacles:\n  - {type: plane, point: [-1, 0, 0], normal: [1, 0, "
     "0]}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:17: contact.type: no contact type \"ipx\"; did you mean \"ipc\"?"},
    {"penalty contact without stiffness",
     "contact: {type: penalty, kappa: 0}\nobstacles:\n  - {type: plane, point: [-1, 0, 0], normal: "
     "[1, 0, 0]}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:33: contact.kappa: kappa = 0 N/m is out of range: must be positive and at most "
     "1e+15"},
    {"negative friction",
     "contact: {type: ipc, mu: -0.2}\nobstacles:\n  - {type: plane, point: [-1, 0, 0], normal: [1, "
     "0, 0]}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:26: contact.mu: mu = -0.2 is out of range: must be between 0 and 1e+09"},
    {"barrier of no reach",
     "contact: {type: ipc, dhat: 0}\nobstacles:\n  - {type: plane, point: [-1, 0, 0], normal: [1, "
     "0, 0]}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:1:28: contact.dhat: dhat = 0 m is out of range: must be positive and at most "
     "1e+09"},
    {"unknown key of contact",
     "contact: {type: ipc, kapa: 1}\nobstacles:\n  - {type: plane, point: [-1, 0, 0], normal: [1, "
     "0, 0]}\nbodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\n",
     NULL, NULL, NULL, "scene.yaml:1:22: contact: unknown key \"kapa\"; did you mean \"kappa\"?"},
    {"round obstacle",
     "contact: {type: ipc}\nobstacles: [{type: sphere, radius: -1}]\nbodies:\n  - shape: {type: "
     "box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:36: obstacles[0].radius: radius = -1 m is out of range: must be between 1e-09 "
     "and 1e+09"},
    {"no such obstacle",
     "contact: {type: ipc}\nobstacles: [{type: plain, normal: [0, 1, 0]}]\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:20: obstacles[0].type: no obstacle type \"plain\"; did you mean \"plane\"?"},
    {"plane without normal",
     "contact: {type: ipc}\nobstacles: [{type: plane}]\nbodies:\n  - shape: {type: box, cells: [1, "
     "1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: missing key \"normal\": Points to the side where bodies are; "
     "any length."},
    {"normal of no length",
     "contact: {type: ipc}\nobstacles: [{type: plane, normal: [0, 0, 0]}]\nbodies:\n  - shape: "
     "{type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:35: obstacles[0].normal: the normal [0, 0, 0] of a plane must have a finite "
     "length other than zero"},
    {"behind an obstacle",
     "contact: {type: ipc}\nobstacles:\n  - {type: plane, point: [-9, 0, 0], normal: [1, 0, 0]}\n  "
     "- {type: plane, point: [0.76, 0, 0], normal: [-2, 0, 0]}\nbodies:\n  - name: bar\n    shape: "
     "{type: line, cells: 4}\n    material: neo-hookean-1d\n",
     NULL, NULL, NULL,
     "scene.yaml:4:5: obstacles[1]: vertex 4 of body \"bar\" is behind obstacle \"obstacle1\" "
     "(distance -0.24 m): start in front of it "
     "(bodies.N.transform.translate moves a body)"},
    {"touching an obstacle",
     "contact: {type: ipc}\nobstacles: [{type: plane, normal: [1, 0, 0]}]\nbodies:\n  - name: "
     "bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: vertex 0 of body \"bar\" touches obstacle \"obstacle0\" "
     "(distance 0 m): start in front of it "
     "(bodies.N.transform.translate moves a body)"},
    {"a floor under a bar",
     "contact: {type: ipc}\nobstacles: [{type: plane, point: [0, -1, 0], normal: [0, 1, "
     "0]}]\nbodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: "
     "neo-hookean-1d\n",
     NULL, NULL, NULL,
     "scene.yaml:2:13: obstacles[0]: obstacle 0 with normal [0, 1, 0] would push body \"bar\" in y "
     "or z: a bar1d moves along x only, so its obstacles need a normal along x"},
    {"a turned bar",
     "bodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n    "
     "transform: {rotate: [[0, 0, 1], 90]}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: edge 0 (vertices 0 1) goes along [0, 0.25, 0]: a bar1d moves "
     "along x only, so its edges must point along +x; remove rotations"},
    {"a bar thrown across",
     "bodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n    "
     "velocity: {linear: [0, 1, 0]}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: vertex 0 would start at y = 0, z = 0 m with 1 and 0 m/s along "
     "these: a bar1d moves along x only, so it starts at rest in y and z, where its shape is (y = "
     "0, z = 0 m)"},
    {"a bar of tets",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    kind: bar1d\n    material: "
     "neo-hookean-1d\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: a bar1d needs edges and nothing else, and this mesh has 0 edges, "
     "0 triangles and 5 tets; use shape: {type: line}"},
    {"a bar of springs",
     "bodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n    "
     "kind: springs\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: material neo-hookean-1d is for bodies of kind bar1d, not springs"},
    {"a bar pulled across",
     "bodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n    "
     "attach:\n      - {vertices: [0], point: [0, 1, 0]}\n",
     NULL, NULL, NULL,
     "scene.yaml:6:9: bodies[0].attach[0]: the point [0, 1, 0] pulls vertex 0 of body \"bar\" in y "
     "or z: a bar1d moves along x only"},
    {"a bar moved across",
     "bodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n    "
     "fix:\n      - {vertices: [0], script: {velocity: [0, 1, 0]}}\n",
     NULL, NULL, NULL,
     "scene.yaml:6:9: bodies[0].fix[0]: the script moves points of body \"bar\" in y or z: a bar1d "
     "moves along x only"},
    {"an open affine body",
     "bodies:\n  - name: sail\n    shape: {type: grid, cells_x: 1, cells_z: 1}\n    kind: affine\n "
     "   material: affine\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: the surface is not closed: the edge of vertices 0 1 belongs to 1 "
     "triangle (1; all counted from 0); close the hole"},
    {"an affine line",
     "bodies:\n  - shape: {type: line, cells: 4}\n    kind: affine\n    material: affine\n", NULL,
     NULL, NULL,
     "scene.yaml:2:5: bodies[0]: the mesh has no triangles: a closed surface or tets are needed"},
    {"an affine body of springs",
     "bodies:\n  - shape: {type: sphere}\n    kind: affine\n    material: {type: hooke, rho: 1}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: a body of kind affine needs E and rho, and material hooke does "
     "not give both; use material affine"},
    {"a solid of affine",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    kind: solid\n    material: affine\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: material affine is for bodies of kind affine, not solid"},
    {"an affine body fixed at a corner",
     "bodies:\n  - name: die\n    shape: {type: box, cells: [1, 1, 1]}\n    material: affine\n    "
     "fix:\n      - {vertices: [0, 3, 3]}\n",
     NULL, NULL, NULL,
     "scene.yaml:6:9: bodies[0].fix[0]: 2 of the 8 vertices of the affine body \"die\" cannot be "
     "fixed alone: fix all of them, or attach these"},
    {"an affine body for springs only",
     "integrator: pbd-verlet\nbodies:\n  - name: die\n    shape: {type: box, cells: [1, 1, 1]}\n   "
     " material: affine\n",
     NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: pbd-verlet moves bodies of springs only, and body \"die\" is "
     "of affine; make it kind: springs with material hooke, or use another integrator"},
    {"no such kind",
     "bodies:\n  - name: bar\n    shape: {type: line, cells: 4}\n    material: neo-hookean-1d\n    "
     "kind: bar\n",
     NULL, NULL, NULL,
     "scene.yaml:5:11: bodies[0].kind: kind cannot be \"bar\"; did you mean \"bar1d\"?"},
    {"everything fixed",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    fix:\n     "
     " - {box: [[-1, -1, "
     "-1], [1, 1, 1]]}\n",
     NULL, NULL, NULL, "scene.yaml:2:3: bodies: every vertex is fixed: nothing can move"},
    {"fixed vertex out of range",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    fix:\n     "
     " - {vertices: [0, "
     "8]}\n",
     NULL, NULL, NULL,
     "scene.yaml:5:24: bodies[0].fix[0].vertices[1]: there is no vertex 8: the body has vertices 0 "
     "to 7"},
    {"empty selection",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    fix:\n     "
     " - {box: [[2, 2, "
     "2], [3, 3, 3]]}\n",
     NULL, NULL, NULL, "scene.yaml:5:15: bodies[0].fix[0].box: no vertex lies in this box"},
    {"probe of no body",
     "bodies:\n  - name: cube\n    shape: {type: box, cells: [1, 1, 1]}\n    material: "
     "neo-hookean\nprobes:\n  - "
     "{name: tip, body: cub, vertex: 0}\n",
     NULL, NULL, NULL, "scene.yaml:6:23: probes[0].body: no body \"cub\"; did you mean \"cube\"?"},
    {"probe vertex out of range",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: "
     "neo-hookean}\nprobes:\n  - {name: tip, "
     "vertex: 8}\n",
     NULL, NULL, NULL,
     "scene.yaml:5:25: probes[0].vertex: there is no vertex 8: body \"body0\" has vertices 0 to 7"},
    {"a solid without tets", "bodies:\n  - mesh: m.obj\n    material: neo-hookean\n", "m.obj",
     "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", NULL,
     "scene.yaml:2:5: bodies[0]: a solid needs tets, and this mesh has none (3 vertices, 1 "
     "triangle; it is two-dimensional); give a mesh of "
     "tets, or kind: solid to have its closed surface filled with them, or kind: springs with "
     "material hooke"},
    {"edge without kind: solid",
     "bodies:\n  - mesh: m.obj\n    edge: 0.1\n    material: neo-hookean\n", "m.obj",
     "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", NULL,
     "scene.yaml:3:11: bodies[0].edge: edge needs kind: solid, which fills the surface with tets"},
    {"edge of a shape",
     "bodies:\n  - shape: {type: box}\n    edge: 0.1\n    material: neo-hookean\n", NULL, NULL,
     NULL,
     "scene.yaml:3:11: bodies[0].edge: edge is for the mesh of a surface; a shape has numbers of "
     "its own for that"},
    {"springs with a solid material",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    kind: springs\n    material: "
     "neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: material neo-hookean is for bodies of kind solid, not springs"},
    {"degenerate tet", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n", "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 "
     "0\nTetrahedra\n1\n1 2 3 4 "
     "0\nEnd\n",
     NULL,
     "scene.yaml:2:5: bodies[0]: tet 0 (vertices 0 1 2 3, all counted from 0) is flat: volume 0 "
     "with a longest edge of "
     "1.41421; remove it or repair the mesh"},
    {"inverted tet", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n", "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 "
     "0\nTetrahedra\n2\n1 "
     "2 3 4 0\n2 3 5 4 0\nEnd\n",
     NULL,
     "scene.yaml:2:5: bodies[0]: tet 1 (vertices 1 2 4 3, all counted from 0) is inverted: volume "
     "-0.333333; swap two "
     "of its vertices or repair the mesh"},
    {"unused vertex", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n", "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n5 5 5 "
     "0\nTetrahedra\n1\n1 "
     "2 3 4 0\nEnd\n",
     NULL,
     "scene.yaml:2:5: bodies[0]: vertex 4 (counted from 0) belongs to no tet and so has no mass; "
     "remove such vertices "
     "from the mesh"},
    {"not a number in a mesh", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n",
     "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 nan 1 "
     "0\nTetrahedra\n1\n1 2 3 4 "
     "0\nEnd\n",
     NULL, "m.mesh:8:3: a coordinate of vertex no. 4 is \"nan\": it must be finite"},
    {"index out of range", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n",
     "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 "
     "0\nTetrahedra\n1\n1 2 3 5 "
     "0\nEnd\n",
     NULL, "m.mesh:11:7: there is no vertex 5: the vertices are numbered 1 to 4"},
    {"a vertex twice", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n", "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 "
     "0\nTetrahedra\n1\n1 2 3 3 "
     "0\nEnd\n",
     NULL, "m.mesh:11:7: this tet names the same vertex twice; remove the tet"},
    {"truncated mesh", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n", "m.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 ", NULL,
     "m.mesh:4:1: the number of vertices is 4, but only 15 bytes of the file are left, too few for "
     "so many: the file "
     "is cut off, or the number is wrong"},
    {"garbage mesh", "bodies:\n  - mesh: m.msh\n    material: {type: neo-hookean}\n", "m.msh",
     "\001\002\177ELF garbage", NULL, "m.msh:1:1: expected \"$MeshFormat\", found the byte 0x01"},
    {"mesh that claims too much", "bodies:\n  - mesh: m.mesh\n    material: {type: neo-hookean}\n",
     "m.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n2000000000\n0 0 0 0\n", NULL,
     "m.mesh:4:1: the number of vertices is 2000000000, but only 9 bytes of the file are left, too "
     "few for so many: "
     "the file is cut off, or the number is wrong"},
    {"too few rows of state",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "state: s.csv\n",
     "s.csv", "x,y,z,vx,vy,vz\n0,0,0,0,0,0\n", NULL,
     "scene.yaml:4:12: bodies[0].state: the file has 1 rows and the body 8 vertices"},
    {"not a number in a state",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n    "
     "state: s.csv\n",
     "s.csv", "x,y,z,vx,vy,vz\n0,0,nan,0,0,0\n", NULL, "s.csv:2:5: expected a finite number"},
    {"spring to no vertex",
     "bodies:\n  - shape: {type: line, cells: 2}\n    material: {type: hooke, rho: 1}\n    "
     "springs: s.csv\n",
     "s.csv", "a,b,k,rest\n0,1,100,0.5\n1,7,100,0.5\n", NULL,
     "s.csv: spring 1 names vertex 7: the body has vertices 0 to 2"},
    {"spring without stiffness",
     "bodies:\n  - shape: {type: line, cells: 2}\n    material: {type: hooke, rho: 1}\n    "
     "springs: s.csv\n",
     "s.csv", "0,1,100,0.5\n1,2,-1,0.5\n", NULL,
     "scene.yaml:2:5: bodies[0]: spring 1 has k = -1 N/m and rest length 0.5 m: k must be "
     "positive, the length not "
     "negative"},
    {"--set of no value",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n", NULL,
     NULL, "time.h", "--set: expected PATH=VALUE, found no value for \"time.h\""},
    {"--set of an unknown key",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n", NULL,
     NULL, "time.hh=1/60", "--set time.hh: time: unknown key \"hh\"; did you mean \"h\"?"},
    {"--set beyond a list",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n", NULL,
     NULL, "bodies.1.material.E=1e6",
     "--set bodies.1.material.E: bodies has no element 1: it has 1, counted from 0"},
    {"--set out of range",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: neo-hookean}\n", NULL,
     NULL, "bodies.0.material.E=-1",
     "--set bodies.0.material.E: E = -1 Pa is out of range: must be positive "
     "and at most "
     "1e+15"},
    {"times of keys",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    fix:\n     "
     " - {vertices: [0], "
     "script: {keys: [[1, 0, 0, 0], [1, 0, 1, 0]]}}\n",
     NULL, NULL, NULL,
     "scene.yaml:5:55: bodies[0].fix[0].script.keys[1]: the times of keys must rise: 1 s comes "
     "after 1 s"},
    {"a shell of tets",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: {type: membrane-stvk, "
     "thickness: 0.001, areal: 1}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: a shell needs triangles and no tets, and this mesh has 0 "
     "triangles and 5 tets; use shape: {type: grid}, disk or sphere, a mesh of a surface, or a "
     "material of solids"},
    {"a shell without thickness",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: {type: "
     "membrane-stvk, areal: 1}\n",
     NULL, NULL, NULL,
     "scene.yaml:3:15: bodies[0].material: missing key \"thickness\" (m): Thickness of the sheet."},
    {"a shell without mass",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: {type: "
     "membrane-stvk, thickness: 0.001}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: the material has no mass: give rho (kg/m3) or areal (kg/m2)"},
    {"a shell with two masses",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: {type: "
     "membrane-stvk, thickness: 0.001, rho: 1000, areal: 1}\n",
     NULL, NULL, NULL, "scene.yaml:2:5: bodies[0]: both rho and areal are given: remove one"},
    {"a shell of a solid's material",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    kind: shell\n    material: "
     "neo-hookean\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: material neo-hookean is for bodies of kind solid, not shell"},
    {"too much pretension",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: {type: "
     "membrane-neo-hookean, thickness: 0.001, areal: 1, pretension: 100}\n",
     NULL, NULL, NULL,
     "scene.yaml:2:5: bodies[0]: pretension = 100 N/m is more than this sheet can bear: stretched "
     "to 2.98 times its size it pulls with 42.2 N/m; raise E or thickness"},
    {"no boundary wanted",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: baraff-witkin\n    "
     "fix: [{boundary: false}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:22: bodies[0].fix[0].boundary: boundary: false selects nothing: remove the "
     "entry"},
    {"boundary of a sphere",
     "bodies:\n  - shape: {type: sphere}\n    material: baraff-witkin\n    fix: [{boundary: "
     "true}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:22: bodies[0].fix[0].boundary: this mesh has no boundary: its surface is "
     "closed"},
    {"boundary of a box",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    attach: "
     "[{boundary: true}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:25: bodies[0].attach[0].boundary: this mesh has no boundary: it is no surface"},
    {"two selections",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: baraff-witkin\n    "
     "fix: [{boundary: true, vertices: [0]}]\n",
     NULL, NULL, NULL,
     "scene.yaml:4:11: bodies[0].fix[0]: give one of box, sphere, vertices, boundary and group; "
     "normal may be combined with box, sphere or group, or stand alone"},
    {"a gradient of one row",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    velocity: "
     "{gradient: [0, 1, 0]}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:27: bodies[0].velocity.gradient[0]: expected a list of 3 numbers, found \"0\""},
    {"a gradient of two rows",
     "bodies:\n  - shape: {type: box, cells: [1, 1, 1]}\n    material: neo-hookean\n    velocity: "
     "{gradient: [[0, 1, 0], [0, 0, 0]]}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:26: bodies[0].velocity.gradient: expected three rows of three numbers, for "
     "example [[0, 0, 0], [0, 1, 0], [0, 0, 0]]"},
    {"no such mode",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: baraff-witkin\n    "
     "velocity: {mode: {type: string}}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:29: bodies[0].velocity.mode.type: type must be one of drum, found \"string\""},
    {"a mode without a circle",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: baraff-witkin\n    "
     "velocity: {mode: {type: drum, n: 0}}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:38: bodies[0].velocity.mode.n: n = 0 is out of range: must be between 1 and "
     "100"},
    {"a mode along nothing",
     "bodies:\n  - shape: {type: grid, cells_x: 2, cells_z: 2}\n    material: baraff-witkin\n    "
     "velocity: {mode: {type: drum, normal: [0, 0, 0]}}\n",
     NULL, NULL, NULL, "scene.yaml:4:43: bodies[0].velocity.mode.normal: the normal has no length"},
    {"a mode of a line",
     "bodies:\n  - shape: {type: line}\n    material: {type: hooke, vertex_mass: 1}\n    velocity: "
     "{mode: {type: drum}}\n",
     NULL, NULL, NULL,
     "scene.yaml:4:22: bodies[0].velocity.mode: this mesh has no triangles to take a normal from: "
     "give normal"},
    {"three triangles at an edge", "bodies:\n  - mesh: fan.obj\n    material: baraff-witkin\n",
     "fan.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\nf 1 2 3\nf 1 2 4\nf 1 2 5\n", NULL,
     "scene.yaml:2:5: bodies[0]: the edge of vertices 0 1 belongs to more than two triangles, "
     "among them 0, 1 and 2 (all counted from 0): a shell has no such seams; remove the triangles "
     "that occur twice or branch off"},
    {"a part of a name", "integrator: euler\nbodies: []\n", NULL, NULL, NULL,
     "scene.yaml:1:13: integrator: no integrator \"euler\"; did you mean \"backward-euler\"?"},
    {"another ending", "body: []\n", NULL, NULL, NULL,
     "scene.yaml:1:1: unknown key \"body\"; did you mean \"bodies\"?"},
    {"a triangle without area", "bodies:\n  - mesh: flat.obj\n    material: baraff-witkin\n",
     "flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", NULL,
     "scene.yaml:2:5: bodies[0]: triangle 0 (vertices 0 1 2) has no area: remove it, or move a "
     "vertex"},
    {"a vertex without triangle", "bodies:\n  - mesh: lone.obj\n    material: baraff-witkin\n",
     "lone.obj", "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 5 5 5\nf 1 2 3\n", NULL,
     "scene.yaml:2:5: bodies[0]: vertex 3 belongs to no triangle: remove it"},
};

static void broken_scenes(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Case *c = &cases[i];
        write_text("scene.yaml", c->scene);
        if (c->file) write_text(c->file, c->content);
        for (int run = 0; run < 2; run++) {
            const char *command = run ? "run" : "check", *set = c->set ? "--set" : NULL;
            const Outcome *o =
                run_limited(0, (const char *const[]){command, "scene.yaml", set, c->set, NULL});
            char expected[2048];
            snprintf(expected, sizeof expected, "%s\n", c->message);
            if (o->code == 2 && !strcmp(o->err, expected) && !o->out[0] &&
                count_files(".") == (c->file ? 2 : 1))
                continue;
            print_error("%s, brio %s: exit %d, %d files\nexpected %sfound    %s", c->name, command,
                        o->code, count_files("."), expected, o->err);
            wrong++;
        }
        if (c->file) unlink(c->file);
    }
    unlink("scene.yaml");
    assert_int_equal(wrong, 0);
}

/* The same meshes given to `brio check` directly: what can be read but not be simulated is a failed
 * check. */
static void broken_meshes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Case *c = &cases[i];
        if (!c->file || !strstr(c->file, "m.m")) continue;
        bool read = strstr(c->message, "scene.yaml") != NULL;
        const char *sentence =
            read ? strstr(c->message, "bodies[0]: ") + strlen("bodies[0]: ") : c->message;
        write_text(c->file, c->content);
        const Outcome *o = BRIO("check", c->file);
        assert_int_equal(o->code, read ? 1 : 2);
        assert_non_null(strstr(read ? o->out : o->err, sentence));
        unlink(c->file);
    }
}

#define CUBE                                                                                    \
    "bodies:\n  - shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}\n    material: {type: " \
    "%s}\n%s"

static void write_cube(const char *material, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, CUBE, material, more);
    write_text("scene.yaml", text);
}

static void does_not_fit_into_memory(void **state)
{
    (void)state;
    write_cube("neo-hookean", "");
    setenv("BRIO_MEMORY_LIMIT", "1e9", 1);
    const Outcome *o = BRIO("run", "scene.yaml", "--set", "bodies.0.shape.cells=[100, 100, 100]");
    unsetenv("BRIO_MEMORY_LIMIT");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "scene.yaml:2:12: bodies[0].shape: a mesh of 1030301 vertices, 5000000 tets, 0 "
                "triangles and 0 edges needs about "
                "6.21 GB to simulate, and 1 GB are available; use a coarser mesh\n");
    assert_int_equal(count_files("."), 1);
}

/* Turned inside out by its initial state: not a wrong file, but nothing that neo-Hookean solids can
 * start from. */
static void inverted_initial_state(void **state)
{
    (void)state;
    FILE *file = fopen("flat.csv", "w");
    assert_non_null(file);
    for (int v = 0; v < 8; v++)
        fprintf(file, "%g,%g,%g,0,0,0\n", v & 1 ? -0.5 : 0.5, v & 2 ? 0.5 : -0.5,
                v & 4 ? 0.5 : -0.5);
    fclose(file);
    write_cube("neo-hookean", "    state: flat.csv\n");
    const Outcome *o = BRIO("check", "scene.yaml");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(
        o->out, "! body \"body0\": 5 tets are inverted in the initial state, the first is tet 0"));
    assert_non_null(strstr(o->out, "not runnable"));
    o = BRIO("run", "scene.yaml");
    assert_int_equal(o->code, 2);
    assert_non_null(
        strstr(o->err, "is inverted in the initial state, and its material forbids that"));
    assert_int_equal(count_files("."), 2);
    o = BRIO("check", "scene.yaml", "--set", "bodies.0.material.type=stable-neo-hookean");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "inverted in the initial state"));
    unlink("flat.csv");
}

/* Tables as other programs write them: the mark of UTF-8, comments, names of the columns. */
static void tables_of_other_programs(void **state)
{
    (void)state;
    static const char *const head[] = {"\xef\xbb\xbf", "\xef\xbb\xbfx,y,z,vx,vy,vz\r\n",
                                       "# a cube\n\nx y z vx vy vz\n"};
    for (int i = 0; i < 3; i++) {
        FILE *file = fopen("cube.csv", "w");
        assert_non_null(file);
        fputs(head[i], file);
        for (int v = 0; v < 8; v++)
            fprintf(file, "%g,%g,%g,0,0,0\r\n", v & 1 ? 0.5 : -0.5, v & 2 ? 0.5 : -0.5,
                    v & 4 ? 0.5 : -0.5);
        fclose(file);
        write_cube("neo-hookean", "    state: cube.csv\n");
        const Outcome *o = BRIO("check", "scene.yaml");
        if (o->code) fail_msg("table %d: %s", i, o->err);
    }
    unlink("cube.csv");
}

static void files_that_are_not_scenes(void **state)
{
    (void)state;
    const Outcome *o = BRIO("run", "nowhere.yaml");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "nowhere.yaml: "));
    o = BRIO("run", "nowhere");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "there is no scene \"nowhere\": neither a file nor one that ships "
                                "with brio (see `brio list scenes`)\n");
    o = BRIO("run", "cloths");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "there is no scene \"cloths\"; did you mean \"cloth\"?\n");
    o = BRIO("run", BRIO_SOURCE_DIR "/scenes/clot.yaml");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, BRIO_SOURCE_DIR
                        "/scenes/clot.yaml: there is no such file; did you mean \"" BRIO_SOURCE_DIR
                        "/scenes/cloth.yaml\"?\n");
    o = BRIO("run", "nowhere/at-all.yaml");
    assert_string_equal(o->err, "nowhere/at-all.yaml: there is no such file (scenes that ship have "
                                "names without .yaml: `brio list scenes`)\n");
    o = BRIO("run", ".");
    assert_int_equal(o->code, 2);
    assert_int_equal(mkdir("results", 0777), 0);
    write_text("results/run.json", "{}");
    o = BRIO("check", "results");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "results: this is a folder of results, not a scene (`brio view` "
                                "and `brio render` show it, `brio check --exact` proves it)\n");
    assert_int_equal(mkdir("shown-out", 0777), 0);
    o = BRIO("render", "shown", "-o", "a.png");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "there is no folder \"shown\"; did you mean \"shown-out\"?\n");
    o = BRIO("check", "nowhere.msh");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "nowhere.msh"));
}

/* A table whose first row has no number once wrote beyond its memory. */
static void heights_without_numbers(void **state)
{
    (void)state;
    write_text("ground.yaml", "contact: ipc\nobstacles: [{type: heightfield, file: heights.csv}]\n"
                              "bodies: [{shape: {type: box, cells: [1, 1, 1]}, material: "
                              "{type: neo-hookean}, transform: {translate: [0, 5, 0]}}]\n");
    write_text("heights.csv", "0 1\n1 0\n");
    assert_int_equal(BRIO("check", "ground.yaml")->code, 0);
    write_text("heights.csv", ",\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n");
    const Outcome *o = BRIO("check", "ground.yaml");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "heights.csv:1:1: expected a number in column 1 of 1"));
}

/* JSON is YAML, and a format of meshes too: what is in the file decides. */
static void checks_json(void **state)
{
    (void)state;
    write_text("scene.json", "{\"bodies\": [{\"shape\": {\"type\": \"box\", \"cells\": [1, 1, 1]}, "
                             "\"material\": {\"type\": \"neo-hookean\"}}]}");
    const Outcome *o = BRIO("check", "scene.json");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "runnable"));
    write_text("mesh.json", "{\"positions\": [[0,0,0],[1,0,0],[0,1,0]], \"cells\": [[0,1,2]]}");
    o = BRIO("check", "mesh.json");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "usable as springs"));
    write_text("typo.json", "{\"bodys\": []}");
    o = BRIO("check", "typo.json");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "typo.json:1:2: unknown key \"bodys\""));
}

/* A mesh takes the place of a scene's shape from the command line. */
static void mesh_instead_of_shape(void **state)
{
    (void)state;
    write_text("one.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 "
                           "0 0\n0 0 1 0\nTetrahedra 1\n1 2 3 4 0\nEnd\n");
    write_text("box.yaml",
               "bodies:\n  - shape: {type: box, cells: [2, 2, 2]}\n    material: neo-hookean\n");
    const Outcome *o = BRIO("check", "box.yaml", "--set", "bodies.0.shape=null", "--set",
                            "bodies.0.mesh=one.mesh");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "4 vertices, 1 tet"));
    o = BRIO("check", "box.yaml", "--set", "bodies.0.shape=null");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "a body needs a shape or a mesh"));
}

/* The step of a scene, from its line `time: {h: 1/120, ...}`. */
static double step_of(const char *scene)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", BRIO_SOURCE_DIR, scene);
    char *text = read_all(path, NULL), *at = text ? strstr(text, "time: {h: ") : NULL;
    double over = 0, under = 1;
    if (!at || sscanf(at, "time: {h: %lf/%lf", &over, &under) < 1)
        fail_msg("%s has no line time: {h: ...}", path);
    free(text);
    return over / under;
}

/* Every scene that ships can be run: looked at, and three steps of it done. */
static void shipped_scenes(void **state)
{
    (void)state;
    const Outcome *o = BRIO("list", "scenes");
    assert_int_equal(o->code, 0);
    static char names[sizeof o->out];
    char *rest = names;
    memcpy(names, o->out, sizeof names);
    int count = 0, steps = EMULATED ? 1 : 3;
    for (char *line; (line = strtok_r(rest, "\n", &rest)); count++) {
        char name[64];
        assert_int_equal(sscanf(line, "%63s", name), 1);
        assert_true(strlen(line) > 21); /* has a title */
        o = BRIO("check", name);
        if (o->code) print_error("%s: %s%s", name, o->out, o->err);
        assert_int_equal(o->code, 0);
        char end[64], done[32];
        snprintf(end, sizeof end, "time.end=%.17g", steps * step_of(name));
        o = BRIO("run", name, "-o", "first-steps", "--force", "--set", end, "--set",
                 "output.frames=[]", "--json");
        if (o->code) print_error("%s: %s%s", name, o->out, o->err);
        assert_int_equal(o->code, 0);
        snprintf(done, sizeof done, "\"steps\": %d", steps);
        if (!strstr(o->out, done)) fail_msg("%s: not %d steps: %s", name, steps, o->out);
    }
    assert_true(count >= 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_scenes),
        cmocka_unit_test(broken_meshes),
        cmocka_unit_test(does_not_fit_into_memory),
        cmocka_unit_test(inverted_initial_state),
        cmocka_unit_test(tables_of_other_programs),
        cmocka_unit_test(files_that_are_not_scenes),
        cmocka_unit_test(checks_json),
        cmocka_unit_test(heights_without_numbers),
        cmocka_unit_test(mesh_instead_of_shape),
        cmocka_unit_test(shipped_scenes),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
