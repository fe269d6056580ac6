#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "scene.h"

#include "../builder.h"
#include "../contact/law.h"
#include "../contact/obstacle.h"
#include "../field.h"
#include "../mesh/mesh.h"
#include "../mesh/tetrahedralise.h"
#include "drum.h"

#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#endif
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the keys of a scene ---------------------------------------------------------------- */

static const BrioKey scene_keys[] = {
    {"brio", "1", "1", "Version of the scene format."},
    {"title", "text", "", "What the scene is called in reports."},
    {"time", "map", "", "Step, duration, frames a second."},
    {"gravity", "three numbers, m/s2", "[0, -9.8, 0]", "Acceleration of free fall."},
    {"integrator", "a name, or a map with `type` and the integrator's parameters", "backward-euler",
     "Who advances time: `brio list integrators`."},
    {"solver", "a name, or a map", "newton", "How the implicit step is solved."},
    {"materials", "map of name: material", "", "Materials that bodies refer to by name."},
    {"bodies", "list of bodies", "required", "What is simulated."},
    {"probes", "list", "", "Vertices whose positions are written to probes.csv."},
    {"output", "map", "", "What is written."},
    {"contact", "a name, or a map", "",
     "Contact of bodies with each other, with themselves and with obstacles; absent: they pass "
     "through each other."},
    {"damping", "list of names, or maps with `type` and the model's parameters", "[]",
     "Damping models that act together: `brio list damping`."},
    {"obstacles", "list", "",
     "What bodies meet and do not move: planes, shapes, meshes; needs contact."},
    {"forces", "list", "", "Forces beside gravity. Not in this version."},
    {"constraints", "list", "", "Rigid rods between vertices; for integrators that take them."},
    {0}};
static const BrioKey time_keys[] = {
    {"h", "number, s", "1/30", "Time step."},
    {"end", "number, s", "10", "When the run ends."},
    {"fps", "number, 1/s", "30",
     "Frames a second of simulated time; a step longer than a frame gives a frame a step."},
    {0}};
static const BrioKey solver_keys[] = {
    {"type", "newton | root | local-global", "newton",
     "Projected Newton with a line search; root solves gradient = 0 instead of minimising, for "
     "comparison; local-global takes a fixed number of iterations with one constant matrix, for "
     "real time."},
    {"linear", "a name, or a map", "auto",
     "Linear solver: `brio list solvers`. On several processes auto is petsc."},
    {"tol", "number, m/s", "1e-8", "Newton stops when max|dq|/h is below it."},
    {"max_iterations", "whole number", "100",
     "Newton iterations before a step counts as failed; each of the first three halvings of a step "
     "doubles them."},
    {"linear_tol", "number", "1e-6", "Relative residual of iterative linear solvers."},
    {"max_halvings", "whole number", "6", "How often a failed step is tried again in halves."},
    {"iterations", "whole number", "10", "Of local-global: iterations of every solve."},
    {"precision", "single | double", "single",
     "Of local-global: of the constant factor; residuals are in double precision anyway."},
    {"memory", "whole number", "0 or 5",
     "Of local-global: iterations that L-BFGS looks back on; 0 is the default where all materials "
     "are projections (springs, arap, corotated)."},
    {0}};
static const BrioKey linear_keys[] = {
    {"type", "a name", "required", "Linear solver: `brio list solvers`."},
    {"options", "text", "",
     "Of petsc: options of PETSc, as for its command lines; they come after those that brio gives "
     "(docs/cluster.md)."},
    {0}};
static const BrioKey body_keys[] = {
    {"name", "text", "body0, body1, ...", "What the body is called in results."},
    {"shape", "map with `type`", "",
     "A procedural shape: `brio list shapes`. Or give mesh; null is as none."},
    {"mesh", "file name", "",
     "A mesh file, relative to the scene file. Or give shape. With kind: solid, a closed surface "
     "is filled with tets by tetgen or gmsh, if one is installed; the result is kept in "
     "~/.cache/brio."},
    {"edge", "number, in units of the file", "as the surface has it",
     "Of a surface that is filled with tets: edges of about this length at most."},
    {"surface", "file name, or a map", "",
     "A detailed surface that rides on the body's tets: what pictures, the report and exported "
     "files show of it."},
    {"kind", "solid | shell | springs | bar1d | points | affine", "from the material",
     "What the elements are; a shell is a sheet of triangles, a bar1d a line of edges that moves "
     "along x only, points have mass and no elements, an affine body (tets or a closed surface) "
     "moves as a whole and takes E and rho of its material."},
    {"material", "a name, or a map with `type`", "required",
     "A material of `materials`, a preset (`brio list presets`), or the map itself; its `type` may "
     "be any of these names."},
    {"transform", "map", "", "Scale, then rotate, then translate the mesh: its rest shape."},
    {"velocity", "map", "", "First velocity."},
    {"state", "file name", "", "First positions and velocities, one row a vertex: x,y,z,vx,vy,vz."},
    {"deform", "map", "",
     "First positions that differ from the rest shape: twisted, bent, pulled, scattered. Or give "
     "state."},
    {"springs", "file name", "", "Springs of kind springs, one row each: a,b,k,rest."},
    {"fix", "list", "", "Vertices that are held, or moved by a script."},
    {"attach", "list", "", "Springs from vertices to points."},
    {"array", "map", "",
     "Copies of the body in rows, columns and layers; they are called NAME.0, NAME.1, ..."},
    {0}};
static const BrioKey surface_keys[] = {
    {"mesh", "file name", "required",
     "The surface, relative to the scene file and in the place of the body's mesh; polygons, "
     "textures and groups of an OBJ are kept."},
    {"weights", "smooth | linear", "smooth",
     "How points follow the tets: without creases, or each as its tet alone."},
    {0}};
static const BrioKey array_keys[] = {
    {"count", "three whole numbers", "required", "Copies along x, y and z."},
    {"spacing", "three numbers, m", "required", "From one copy to the next along each."},
    {0}};
static const BrioKey transform_keys[] = {
    {"scale", "number, or three", "1", "Scale, along the axes if three."},
    {"rotate", "[[x, y, z], degrees]", "", "Turn about an axis through the origin."},
    {"translate", "three numbers, m", "[0, 0, 0]", "Shift."},
    {0}};
static const BrioKey velocity_keys[] = {
    {"linear", "three numbers, m/s", "[0, 0, 0]", "Velocity of every vertex."},
    {"angular", "three numbers, rad/s", "[0, 0, 0]", "Turning."},
    {"gradient", "three rows of three numbers, 1/s", "",
     "Velocity that grows linearly: this matrix times the way from `about`, besides."},
    {"about", "three numbers, m", "[0, 0, 0]",
     "Point about which it turns, and from which the gradient counts."},
    {"mode", "map", "", "A vibration besides."},
    {0}};
static const BrioKey mode_keys[] = {
    {"type", "drum", "required",
     "A vibration of a round drum, J_m(j r/R) cos(m phi) along the normal, phi from the x axis."},
    {"m", "whole number", "0", "Nodal diameters."},
    {"n", "whole number", "1",
     "Nodal circles, the rim counted: j is the n-th zero of the Bessel function J_m."},
    {"amplitude", "number, m/s", "1", "The largest speed."},
    {"radius", "number, m", "to the farthest vertex",
     "Radius R of the drum; beyond, nothing moves."},
    {"centre", "three numbers, m", "the middle of the body's box", "Centre of the drum."},
    {"normal", "three numbers", "the mean normal of the triangles",
     "Where it moves; of any length."},
    {0}};
static const BrioKey deform_keys[] = {
    {"twist", "number, degrees", "0",
     "Turn of the end with the largest x about the body's middle, along x; growing evenly from the "
     "other end."},
    {"bend", "three numbers, m", "[0, 0, 0]",
     "Shift of that end, growing with the square of the distance from the other."},
    {"pull", "map", "", "A part that is pulled out."},
    {"scatter", "number, m", "0",
     "Each vertex is shifted at random, by up to so much along x, y and z."},
    {"seed", "whole number", "1", "Of the random shifts: the same seed gives the same ones."},
    {0}};
static const BrioKey pull_keys[] = {
    {"sphere", "[[x, y, z], radius]", "required",
     "Where: all of the shift at the centre, less around it, none beyond the radius."},
    {"by", "three numbers, m", "required", "Shift."},
    {0}};
static const BrioKey fix_keys[] = {
    {"box", "[[x, y, z], [x, y, z]]", "", "Vertices in the box between two corners, at the start."},
    {"sphere", "[[x, y, z], radius]", "", "Vertices in the ball, at the start."},
    {"vertices", "list of numbers", "", "Vertices by number, from 0."},
    {"boundary", "true", "", "Vertices at the open edges of a surface: the rim of a disk."},
    {"script", "map", "", "How they move."},
    {0}};
static const BrioKey attach_keys[] = {
    {"box", "[[x, y, z], [x, y, z]]", "", "Vertices in the box between two corners, at the start."},
    {"sphere", "[[x, y, z], radius]", "", "Vertices in the ball, at the start."},
    {"vertices", "list of numbers", "", "Vertices by number, from 0."},
    {"boundary", "true", "", "Vertices at the open edges of a surface: the rim of a disk."},
    {"k", "number, N/m", "1000", "Stiffness of each spring."},
    {"point", "three numbers, m", "where each vertex starts", "Point that they are pulled to."},
    {"script", "map", "", "How the points move."},
    {0}};
static const BrioKey script_keys[] = {
    {"velocity", "three numbers, m/s", "[0, 0, 0]", "Shift per second."},
    {"angular", "three numbers, rad/s", "[0, 0, 0]", "Turning."},
    {"about", "three numbers, m", "[0, 0, 0]", "Point about which they turn."},
    {"start", "number, s", "0", "When the motion starts."},
    {"end", "number, s", "never", "When it stops; they are held there."},
    {"keys", "list of [t, dx, dy, dz]", "",
     "Shifts at given times, linear in between, beside the motion above."},
    {0}};
static const BrioKey probe_keys[] = {
    {"name", "text", "required", "Column name in probes.csv."},
    {"body", "text", "the only body", "Name of the body."},
    {"vertex", "whole number", "required", "Vertex of the body, from 0."},
    {0}};
static const BrioKey contact_keys[] = {
    {"type", "ipc, cubic or penalty", "required",
     "The contact law: `brio list laws`. ipc: a barrier that grows without bound, nothing ever "
     "touches; cubic: a barrier with a largest force, nothing ever touches; penalty: a spring that "
     "pushes out what sank in, for every integrator."},
    {"dhat", "number, m", "1e-3; of penalty 0", "Distance below which it acts."},
    {"self", "number, m", "0",
     "Of penalty: vertices of bodies push each other apart below this distance; of one body those "
     "that are farther apart at rest. 0: bodies pass through each other."},
    {"kappa", "number, N/m, or auto", "1e5",
     "Stiffness; auto: kappa dhat is twenty times the weight of the heaviest body."},
    {"thickness", "number, m", "0",
     "Distances count from there: surfaces stay that far apart at least. Of ipc."},
    {"mu", "number", "0", "Coefficient of friction of all pairs that `friction` does not name."},
    {"epsv", "number, m/s", "1e-3",
     "Speed below which friction holds; what rests may creep that fast."},
    {"friction", "list", "[]", "Coefficients of single pairs."},
    {"exclude", "list of [a, b]", "[]",
     "Pairs of bodies, materials or obstacles that pass through each other; [a, a]: a body and "
     "itself."},
    {0}};
static const BrioKey friction_keys[] = {
    {"between", "[a, b]", "required",
     "Names of bodies, of materials or of obstacles. Later entries win."},
    {"mu", "number", "required", "Their coefficient of friction."},
    {0}};
static const BrioKey plane_keys[] = {
    {"type", "plane, mesh, or a shape", "required",
     "What it is; a shape of `brio list shapes` has the shape's keys beside these."},
    {"name", "text", "obstacle0, obstacle1, ...", "What it is called in messages and in contact."},
    {"point", "three numbers, m", "[0, 0, 0]", "A point of a plane."},
    {"normal", "three numbers", "required", "Of a plane: where bodies are; of any length."},
    {0}};
static const BrioKey mesh_obstacle_keys[] = {
    {"type", "mesh, or a shape", "required",
     "What it is. With a formula: sphere, box, cylinder or capsule, whose keys of meshes mean "
     "nothing."},
    {"name", "text", "obstacle0, obstacle1, ...", "What it is called in messages and in contact."},
    {"mesh", "file name", "required",
     "Of a mesh: its file, relative to the scene file; triangles, or tets whose surface counts."},
    {"formula", "true or false", "false; of penalty true",
     "Of a shape of `brio list obstacles`: its exact distance in place of triangles. Vertices of "
     "bodies meet it, edges and faces between them do not."},
    {"transform", "map", "", "Scale (not with a formula), then rotate, then translate."},
    {"script", "map", "", "How it moves. Not with a formula."},
    {0}};
static const BrioKey heightfield_keys[] = {
    {"type", "heightfield", "required", "Ground by its heights."},
    {"name", "text", "obstacle0, obstacle1, ...", "What it is called in messages and in contact."},
    {"heights", "list of rows of numbers, m", "",
     "Rows along z of heights along x, centred at the origin: at least 2 of 2."},
    {"file", "file name", "",
     "In place of heights: a table of them (CSV), relative to the scene file."},
    {"spacing", "number, m", "1", "Distance of neighbouring heights."},
    {"transform", "map", "", "Rotate, then translate."},
    {0}};
static const BrioKey constraint_keys[] = {
    {"type", "rod", "required", "What it is: two vertices that stay as far apart as they are."},
    {"a", "map, or [body, vertex]", "required", "One end. It may be fixed, but not scripted."},
    {"b", "map, or [body, vertex]", "required", "The other end."},
    {"length", "number, m", "from the first state", "The distance; the first state must have it."},
    {0}};
static const BrioKey end_keys[] = {
    {"body", "text", "the only body", "Name of the body."},
    {"vertex", "whole number", "required", "Vertex of the body, from 0."},
    {0}};
static const BrioKey output_keys[] = {
    {"frames", "list of vtu, obj, ply, glb, usda, pc2, mdd", "[]",
     "Formats of frames and films, for other programs: `brio list frames`."},
    {"every", "whole number", "1", "Write every so many-th frame."},
    {"energy_every", "whole number", "1",
     "Write every so many-th row of energy.csv and probes.csv."},
    {"motion", "true or false", "true",
     "Keep the motion of what is seen (motion.bin), for the report, `brio render`, `brio view` and "
     "`brio convert`."},
    {"velocities", "true or false", "true with usda",
     "Keep velocities in motion.bin too: `brio convert` then writes the simulation's own."},
    {0}};

static const BrioSection sections[] = {
    {"", "The scene", scene_keys},
    {"time", "Time", time_keys},
    {"solver", "Solver", solver_keys},
    {"solver.linear", "A linear solver with options", linear_keys},
    {"bodies[]", "A body", body_keys},
    {"bodies[].surface", "A detailed surface", surface_keys},
    {"bodies[].transform", "Where a body starts", transform_keys},
    {"bodies[].velocity", "How a body starts", velocity_keys},
    {"bodies[].velocity.mode", "A vibration to start with", mode_keys},
    {"bodies[].array", "Copies of a body", array_keys},
    {"bodies[].deform", "How a body starts out of shape", deform_keys},
    {"bodies[].deform.pull", "A part that is pulled out", pull_keys},
    {"bodies[].fix[]", "Held vertices", fix_keys},
    {"bodies[].attach[]", "Attachments", attach_keys},
    {"bodies[].fix[].script", "Scripts (also of attachments)", script_keys},
    {"contact", "Contact", contact_keys},
    {"contact.friction[]", "Friction of single pairs", friction_keys},
    {"obstacles[]", "Obstacles: planes", plane_keys},
    {"obstacles[] of meshes and shapes", "Obstacles: meshes and shapes", mesh_obstacle_keys},
    {"obstacles[] of heights", "Obstacles: height fields", heightfield_keys},
    {"constraints[]", "Rods", constraint_keys},
    {"constraints[].a", "An end of a rod", end_keys},
    {"probes[]", "Probes", probe_keys},
    {"output", "Output", output_keys},
};

const BrioSection *brio__scene_section_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(sections) ? &sections[i] : NULL;
}

/* ---- small readers ---------------------------------------------------------------------- */

static BrioStatus expect(const BrioNode *node, BrioNodeKind kind, BrioError *error)
{
    static const char *const names[] = {"a single value", "a list", "a map of keys and values"};
    if (node->kind == kind) return BRIO_OK;
    return brio__node_error(node, error, "expected %s, found %s", names[kind], names[node->kind]);
}

/* Checks that a node is a map that has no keys but those of the table. */
static BrioStatus expect_map(BrioNode *node, const BrioKey *keys, BrioError *error)
{
    const char *names[24];
    int count = 0;
    BRIO_CHECK(expect(node, BRIO_NODE_MAP, error));
    for (; keys[count].name; count++) {
        names[count] = keys[count].name;
        brio__node_get(node, keys[count].name);
    }
    return brio__node_unknown(node, names, count, error);
}

static BrioStatus get_real(BrioNode *map, const char *key, double least, double most, double *value,
                           BrioError *error)
{
    BrioNode *node = brio__node_get(map, key);
    if (!node) return BRIO_OK;
    BRIO_CHECK(brio__node_real(node, value, error));
    if (*value >= least && *value <= most) return BRIO_OK;
    if (least > 0 && least < 1e-100)
        return brio__node_error(node, error, "%s = %g must be positive", key, *value);
    return brio__node_error(node, error, "%s = %g is out of range: must be between %g and %g", key,
                            *value, least, most);
}

static BrioStatus get_integer(BrioNode *map, const char *key, int64_t least, int64_t most,
                              int64_t *value, BrioError *error)
{
    BrioNode *node = brio__node_get(map, key);
    if (!node) return BRIO_OK;
    BRIO_CHECK(brio__node_integer(node, value, error));
    if (*value >= least && *value <= most) return BRIO_OK;
    return brio__node_error(node, error, "%s = %lld is out of range: must be between %lld and %lld",
                            key, (long long)*value, (long long)least, (long long)most);
}

static BrioStatus get_vector(BrioNode *map, const char *key, double value[3], BrioError *error)
{
    BrioNode *node = brio__node_get(map, key);
    return node ? brio__node_reals(node, value, 3, error) : BRIO_OK;
}

static BrioStatus no_memory(BrioError *error)
{
    return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
}

/* `name` is none of the names that next(i) gives: says so at the node, with the nearest. */
static BrioStatus no_such(const BrioNode *node, const char *what, const char *name,
                          const char *const *names, int count, BrioError *error)
{
    const char *nearest = brio__nearest(name, names, count);
    if (nearest)
        return brio__node_error(node, error, "no %s \"%s\"; did you mean \"%s\"?", what, name,
                                nearest);
    char list[512] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    if (count == 0)
        return brio__node_error(node, error, "no %s \"%s\"; there are none", what, name);
    return brio__node_error(node, error, "no %s \"%s\"; there are: %s", what, name, list);
}

/* The name in `x: name` or in `x: {type: name, ...}`. */
static BrioStatus type_of(BrioNode *node, const char **type, BrioError *error)
{
    if (node->kind == BRIO_NODE_MAP) {
        BrioNode *named = brio__node_get(node, "type");
        if (!named) return brio__node_error(node, error, "missing key \"type\"");
        return brio__node_text(named, type, error);
    }
    return brio__node_text(node, type, error);
}

/* What a map of parameters has beside them. */
static const char *const type_key[] = {"type"};

/* Parameters of a plug-in from the same node; a bare name means the defaults. */
static BrioStatus values_of(BrioNode *node, const BrioField *fields, double *values,
                            BrioError *error)
{
    brio_fields_defaults(fields, values);
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    return brio__node_fields(node, fields, type_key, 1, values, error);
}

static BrioNode *type_node(BrioNode *node)
{
    BrioNode *type = node->kind == BRIO_NODE_MAP ? brio__node_get(node, "type") : NULL;
    return type ? type : node;
}

/* A file named in the scene: relative to the scene file. */
static BrioStatus file_path(const BrioScene *scene, const BrioNode *node, char *path, size_t size,
                            BrioError *error)
{
    const char *name;
    BRIO_CHECK(brio__node_text(node, &name, error));
    const char *slash = strrchr(scene->file, '/');
    int folder = slash && name[0] != '/' ? (int)(slash - scene->file) + 1 : 0;
    if (snprintf(path, size, "%.*s%s", folder, scene->file, name) >= (int)size)
        return brio__node_error(node, error, "the file name is too long");
    struct stat info;
    if (stat(path, &info) != 0)
        return brio__node_error(node, error, "there is no file \"%s\" (looked for %s)", name, path);
    return BRIO_OK;
}

/* ---- sections --------------------------------------------------------------------------- */

static BrioStatus read_time(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "time");
    if (node) {
        BRIO_CHECK(expect_map(node, time_keys, error));
        BRIO_CHECK(get_real(node, "h", 1e-300, 1e6, &scene->def.h, error));
        BRIO_CHECK(get_real(node, "end", 0, 1e9, &scene->end, error));
        BRIO_CHECK(get_real(node, "fps", 1e-300, 1e9, &scene->fps, error));
    }
    if (scene->end / scene->def.h > 1e12)
        return brio__node_error(node ? node : root, error,
                                "%g s in steps of %g s are %g steps: more than 1e12", scene->end,
                                scene->def.h, scene->end / scene->def.h);
    return BRIO_OK;
}

static BrioStatus read_integrator(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "integrator");
    if (!node) return BRIO_OK;
    const char *type, *names[128];
    int count = 0;
    BRIO_CHECK(type_of(node, &type, error));
    const BrioIntegrator *integrator = brio_integrator(type);
    for (; count < (int)BRIO_COUNT(names) && brio_integrator_at(count); count++)
        names[count] = brio_integrator_at(count)->name;
    if (!integrator) return no_such(type_node(node), "integrator", type, names, count, error);
    scene->def.integrator = integrator->name;
    BRIO_CHECK(values_of(node, integrator->fields, scene->def.values, error));
    char reason[256];
    unsigned traits = integrator->traits;
    if (!integrator->check ||
        integrator->check(scene->def.values, &traits, reason, sizeof reason) == BRIO_OK)
        return BRIO_OK;
    return brio__node_error(node, error, "%s", reason);
}

static BrioStatus read_solver(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *node = brio__node_get(root, "solver");
    if (!node) return BRIO_OK;
    BrioSolverOptions *o = &scene->def.solver;
    const char *type = "newton", *names[16];
    int count = 0;
    if (node->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(expect_map(node, solver_keys, error));
        if (brio__node_get(node, "type")) BRIO_CHECK(type_of(node, &type, error));
    } else {
        BRIO_CHECK(brio__node_text(node, &type, error));
    }
    const BrioSolverType *solver = brio__solver_type(type);
    for (; brio__solver_type_at(count); count++) names[count] = brio__solver_type_at(count)->name;
    if (!solver) return no_such(type_node(node), "solver", type, names, count, error);
    o->type = solver->name;
    count = 0;
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    BrioNode *linear = brio__node_get(node, "linear");
    if (linear) {
        BrioNode *options = NULL;
        if (linear->kind == BRIO_NODE_MAP) {
            BRIO_CHECK(expect_map(linear, linear_keys, error));
            options = brio__node_get(linear, "options");
        }
        BRIO_CHECK(type_of(linear, &type, error));
        if (options && strcmp(type, "petsc"))
            return brio__node_error(options, error, "%s takes no options: they are those of petsc",
                                    type);
        if (options) BRIO_CHECK(brio__node_text(options, &o->linear_options, error));
#ifndef BRIO_HAVE_MPI
        if (!strcmp(type, "petsc"))
            return brio__node_error(
                type_node(linear), error,
                "petsc is not in this brio: `make MPI=1` builds one that has it (docs/cluster.md)");
#endif
        const BrioLinearType *found = brio__linear_type(type);
        for (; count < (int)BRIO_COUNT(names) && brio__linear_at(count); count++)
            names[count] = brio__linear_at(count)->name;
        if (!found) return no_such(type_node(linear), "linear solver", type, names, count, error);
        o->linear = found->name;
    }
    int64_t iterations = o->max_iterations, halvings = o->max_halvings;
    BRIO_CHECK(get_real(node, "tol", 1e-300, 1e9, &o->tol, error));
    BRIO_CHECK(get_real(node, "linear_tol", 1e-16, 1, &o->linear_tol, error));
    BRIO_CHECK(get_integer(node, "max_iterations", 1, 1000000, &iterations, error));
    BRIO_CHECK(get_integer(node, "max_halvings", 0, 20, &halvings, error));
    o->max_iterations = (int)iterations;
    o->max_halvings = (int)halvings;
    int64_t fixed = o->iterations, memory = o->memory;
    BRIO_CHECK(get_integer(node, "iterations", 1, 1000000, &fixed, error));
    BRIO_CHECK(get_integer(node, "memory", 0, 16, &memory, error));
    o->iterations = (int)fixed;
    o->memory = (int)memory;
    BrioNode *precision = brio__node_get(node, "precision");
    if (precision) {
        static const char *const precisions[] = {"single", "double"};
        BRIO_CHECK(brio__node_text(precision, &type, error));
        if (strcmp(type, "single") && strcmp(type, "double"))
            return no_such(precision, "precision", type, precisions, 2, error);
        o->single_precision = !strcmp(type, "single");
    }
    return BRIO_OK;
}

static BrioStatus read_damping(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "damping");
    if (!list) return BRIO_OK;
    BRIO_CHECK(expect(list, BRIO_NODE_LIST, error));
    if (list->count > BRIO_DAMPING_MOST)
        return brio__node_error(list, error, "%d damping models: at most %d can act together",
                                list->count, BRIO_DAMPING_MOST);
    for (int i = 0; i < list->count; i++) {
        BrioNode *node = list->child[i];
        const char *type, *names[64];
        int count = 0;
        BRIO_CHECK(type_of(node, &type, error));
        for (; count < (int)BRIO_COUNT(names) && brio_damping_at(count); count++)
            names[count] = brio_damping_at(count);
        if (brio_damping(type, &scene->def.damping[i]) != BRIO_OK)
            return no_such(type_node(node), "damping model", type, names, count, error);
        BRIO_CHECK(values_of(node, brio_damping_fields(type), scene->def.damping[i].values, error));
        scene->def.damping_count++;
    }
    return BRIO_OK;
}

/* A material: a name of `materials`, of a preset or of a type, alone or as the type of a map that
 * changes some of its values. */
static BrioStatus read_material(BrioNode *materials, BrioNode *node, BrioMaterial *material,
                                BrioError *error)
{
    const char *name, *names[160];
    int count = 0, most = BRIO_COUNT(names);
    BRIO_CHECK(type_of(node, &name, error));
    BrioNode *defined = materials ? brio__node_get(materials, name) : NULL;
    if (defined && defined->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(read_material(NULL, defined, material, error));
    } else if (brio_material(name, material) != BRIO_OK) {
        for (int i = 0; materials && i < materials->count && count < 100; i++)
            names[count++] = materials->child[i]->key;
        for (int i = 0; brio_preset_at(i) && count < most; i++) names[count++] = brio_preset_at(i);
        for (int i = 0; brio_material_at(i) && count < most; i++)
            names[count++] = brio_material_at(i);
        return no_such(type_node(node), materials ? "material" : "material type", name, names,
                       count, error);
    }
    if (node->kind != BRIO_NODE_MAP) return BRIO_OK;
    return brio__node_change_fields(node, brio_material_fields(material->type), type_key, 1,
                                    material->values, error);
}

/* Every material is checked, used or not. */
static BrioStatus read_materials(BrioNode *materials, BrioError *error)
{
    BrioMaterial material;
    if (!materials) return BRIO_OK;
    BRIO_CHECK(expect(materials, BRIO_NODE_MAP, error));
    for (int i = 0; i < materials->count; i++) {
        BRIO_CHECK(expect(materials->child[i], BRIO_NODE_MAP, error));
        BRIO_CHECK(read_material(NULL, materials->child[i], &material, error));
    }
    return BRIO_OK;
}

static BrioStatus read_transform(BrioNode *node, BrioBodyDef *def, BrioError *error)
{
    double scale[3] = {1, 1, 1}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    BRIO_CHECK(expect_map(node, transform_keys, error));
    BrioNode *given = brio__node_get(node, "scale");
    if (given && given->kind == BRIO_NODE_LIST)
        BRIO_CHECK(brio__node_reals(given, scale, 3, error));
    else if (given) {
        BRIO_CHECK(brio__node_real(given, scale, error));
        scale[1] = scale[2] = scale[0];
    }
    for (int r = 0; r < 3; r++)
        if (!(scale[r] > 0))
            return brio__node_error(given, error, "scale = %g must be positive", scale[r]);
    given = brio__node_get(node, "rotate");
    if (given) {
        double n[3], degrees;
        if (given->kind != BRIO_NODE_LIST || given->count != 2)
            return brio__node_error(given, error, "expected [[x, y, z], degrees]");
        BRIO_CHECK(brio__node_reals(given->child[0], n, 3, error));
        BRIO_CHECK(brio__node_real(given->child[1], &degrees, error));
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        double angle = degrees * 3.14159265358979323846 / 180;
        if (!(length > 0))
            return brio__node_error(given->child[0], error, "the axis has no length");
        /* quarter turns exactly, so that boxes stay boxes */
        double quarter = degrees / 90, c = cos(angle), s = sin(angle);
        if (quarter == floor(quarter)) c = round(c), s = round(s);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double cross = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -1 : 1) * n[3 - i - j] / length;
                R[3 * i + j] = c * (i == j) + s * cross + (1 - c) * n[i] * n[j] / (length * length);
            }
    }
    for (int i = 0; i < 9; i++) def->linear[i] = R[i] * scale[i % 3];
    return get_vector(node, "translate", def->translate, error);
}

static BrioStatus read_velocity(BrioNode *node, BrioBodyDef *def, BrioError *error)
{
    BRIO_CHECK(expect_map(node, velocity_keys, error));
    BRIO_CHECK(get_vector(node, "linear", def->velocity, error));
    BRIO_CHECK(get_vector(node, "angular", def->angular, error));
    return get_vector(node, "about", def->about, error);
}

static BrioStatus read_mode(BrioNode *node, BrioDrum *drum, BrioError *error)
{
    static const char *const types[] = {"drum"};
    const char *type;
    int64_t m = 0, n = 1;
    *drum = (BrioDrum){.amplitude = 1, .radius = NAN, .centre = {NAN}, .normal = {NAN}};
    BRIO_CHECK(expect_map(node, mode_keys, error));
    BRIO_CHECK(type_of(node, &type, error));
    if (strcmp(type, "drum")) return no_such(type_node(node), "mode", type, types, 1, error);
    BRIO_CHECK(get_integer(node, "m", 0, 100, &m, error));
    BRIO_CHECK(get_integer(node, "n", 1, 100, &n, error));
    BRIO_CHECK(get_real(node, "amplitude", -1e9, 1e9, &drum->amplitude, error));
    BRIO_CHECK(get_real(node, "radius", 1e-300, 1e9, &drum->radius, error));
    BRIO_CHECK(get_vector(node, "centre", drum->centre, error));
    BRIO_CHECK(get_vector(node, "normal", drum->normal, error));
    drum->m = (int)m;
    drum->n = (int)n;
    BrioNode *normal = brio__node_get(node, "normal");
    if (normal && !(hypot(hypot(drum->normal[0], drum->normal[1]), drum->normal[2]) > 0))
        return brio__node_error(normal, error, "the normal has no length");
    return BRIO_OK;
}

/* `keys` of the script are allocated: the caller frees them. */
static BrioStatus read_script(BrioNode *node, BrioScript *script, BrioError *error)
{
    BRIO_CHECK(expect_map(node, script_keys, error));
    BRIO_CHECK(get_vector(node, "velocity", script->velocity, error));
    BRIO_CHECK(get_vector(node, "angular", script->angular, error));
    BRIO_CHECK(get_vector(node, "about", script->about, error));
    BRIO_CHECK(get_real(node, "start", 0, 1e9, &script->start, error));
    BRIO_CHECK(get_real(node, "end", script->start, 1e9, &script->end, error));
    BrioNode *keys = brio__node_get(node, "keys");
    if (!keys) return BRIO_OK;
    BRIO_CHECK(expect(keys, BRIO_NODE_LIST, error));
    double *rows = brio__alloc((size_t)keys->count * 4, sizeof *rows);
    if (!rows) return no_memory(error);
    script->keys = rows;
    script->key_count = keys->count;
    for (int k = 0; k < keys->count; k++) {
        BRIO_CHECK(brio__node_reals(keys->child[k], rows + 4 * k, 4, error));
        if (k > 0 && !(rows[4 * k] > rows[4 * k - 4]))
            return brio__node_error(keys->child[k], error,
                                    "the times of keys must rise: %g s comes after %g s",
                                    rows[4 * k], rows[4 * k - 4]);
    }
    return BRIO_OK;
}

static BrioStatus select_boundary(BrioNode *node, const BrioMesh *mesh, int32_t *chosen,
                                  int64_t *count, BrioError *error)
{
    bool wanted = false;
    BRIO_CHECK(brio__node_boolean(node, &wanted, error));
    if (!wanted)
        return brio__node_error(node, error,
                                "boundary: false chooses nothing: leave the entry out");
    uint8_t *on = brio__alloc((size_t)mesh->vertex_count, 1);
    BrioStatus status = on ? brio__mesh_boundary(mesh, on) : BRIO_ERROR_MEMORY;
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        if (on[v]) chosen[(*count)++] = (int32_t)v;
    brio__free(on);
    if (status != BRIO_OK) return no_memory(error);
    if (*count == 0)
        return brio__node_error(node, error, "this mesh has no boundary: %s",
                                mesh->triangle_count && !mesh->tet_count ? "its surface is closed"
                                                                         : "it is no surface");
    return BRIO_OK;
}

/* Vertices by number, box or ball, or those of the boundary; x are the body's first positions. */
static BrioStatus read_selection(BrioNode *node, const BrioMesh *mesh, const double *x,
                                 int32_t *chosen, int64_t *count, BrioError *error)
{
    int64_t vertices = mesh->vertex_count;
    BrioNode *box = brio__node_get(node, "box");
    BrioNode *sphere = brio__node_get(node, "sphere");
    BrioNode *list = brio__node_get(node, "vertices");
    BrioNode *boundary = brio__node_get(node, "boundary");
    *count = 0;
    if (!!box + !!sphere + !!list + !!boundary != 1)
        return brio__node_error(node, error, "give one of box, sphere, vertices and boundary");
    if (boundary) return select_boundary(boundary, mesh, chosen, count, error);
    if (list) {
        BRIO_CHECK(expect(list, BRIO_NODE_LIST, error));
        for (int i = 0; i < list->count; i++) {
            int64_t v;
            BRIO_CHECK(brio__node_integer(list->child[i], &v, error));
            if (v < 0 || v >= vertices)
                return brio__node_error(list->child[i], error,
                                        "there is no vertex %lld: the body has vertices 0 to %lld",
                                        (long long)v, (long long)vertices - 1);
            if (*count < vertices) chosen[(*count)++] = (int32_t)v;
        }
        return BRIO_OK;
    }
    double low[3], high[3], radius = 0;
    BrioNode *given = box ? box : sphere;
    if (given->kind != BRIO_NODE_LIST || given->count != 2)
        return brio__node_error(given, error,
                                box ? "expected two corners, [[x, y, z], [x, y, z]]"
                                    : "expected [[x, y, z], radius]");
    BRIO_CHECK(brio__node_reals(given->child[0], low, 3, error));
    if (box) {
        BRIO_CHECK(brio__node_reals(given->child[1], high, 3, error));
        for (int r = 0; r < 3; r++)
            if (low[r] > high[r])
                return brio__node_error(given, error,
                                        "the first corner must be below the second: %g > %g",
                                        low[r], high[r]);
    } else {
        BRIO_CHECK(brio__node_real(given->child[1], &radius, error));
    }
    for (int64_t v = 0; v < vertices; v++) {
        const double *p = x + 3 * v;
        bool inside = box ? p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] &&
                                p[1] <= high[1] && p[2] >= low[2] && p[2] <= high[2]
                          : hypot(hypot(p[0] - low[0], p[1] - low[1]), p[2] - low[2]) <= radius;
        if (inside) chosen[(*count)++] = (int32_t)v;
    }
    if (*count == 0)
        return brio__node_error(given, error, "no vertex lies in this %s", box ? "box" : "sphere");
    return BRIO_OK;
}

/* What a body's lists of held vertices and attachments need. */
typedef struct BodyWork {
    BrioScene *scene;
    BrioBuilder *builder;
    BrioNode *node;
    BrioMesh *mesh;
    BrioBodyDef def;
    int body;
    double *state, *spring, *x; /* owned */
    int32_t *chosen;
    BrioScript script;
    int64_t first; /* its first vertex among those of all bodies */
} BodyWork;

static BrioStatus at_node(const BrioNode *node, BrioStatus status, BrioError *error,
                          const BrioError *inner)
{
    if (inner->file[0]) { /* an error inside a mesh file keeps its own place */
        if (error && error->status == BRIO_OK) *error = *inner;
        return status;
    }
    brio__node_error(node, error, "%s",
                     inner->message[0] ? inner->message : brio_status_text(status));
    if (error) error->status = status;
    return status;
}

static BrioStatus read_held(BodyWork *w, BrioNode *entry, bool attach, BrioError *error)
{
    int64_t count;
    double k = 1000, point[3];
    BrioError inner = {0};
    BrioStatus status = BRIO_OK;
    BRIO_CHECK(expect_map(entry, attach ? attach_keys : fix_keys, error));
    BRIO_CHECK(read_selection(entry, w->mesh, w->x, w->chosen, &count, error));
    w->script = brio_script();
    BrioNode *script = brio__node_get(entry, "script");
    if (script) BRIO_CHECK(read_script(script, &w->script, error));
    if (attach) {
        BRIO_CHECK(get_real(entry, "k", 1e-300, 1e15, &k, error));
        BrioNode *given = brio__node_get(entry, "point");
        if (given) BRIO_CHECK(brio__node_reals(given, point, 3, error));
        for (int64_t i = 0; i < count && status == BRIO_OK; i++)
            status = brio_builder_attach(w->builder, w->body, w->chosen[i],
                                         given ? point : w->x + 3 * (int64_t)w->chosen[i], k,
                                         script ? &w->script : NULL, &inner);
    } else {
        status = brio_builder_fix(w->builder, w->body, w->chosen, count, script ? &w->script : NULL,
                                  &inner);
    }
    brio__free((void *)w->script.keys);
    w->script.keys = NULL;
    return status == BRIO_OK ? BRIO_OK : at_node(entry, status, error, &inner);
}

/* A surface as a solid: tets fill it. */
static BrioStatus fill_surface(BodyWork *w, const BrioNode *mesh, const char *path,
                               BrioError *error)
{
    BrioTetOptions options = {0};
    BrioError inner = {0};
    BrioMesh *solid = NULL;
    BRIO_CHECK(get_real(w->node, "edge", 1e-300, 1e15, &options.edge, error));
    BrioStatus status = brio__tetrahedralise_cached(path, w->mesh, &options, &solid, &inner);
    if (status != BRIO_OK) return at_node(mesh, status, error, &inner);
    brio_mesh_free(w->mesh);
    w->mesh = solid;
    return BRIO_OK;
}

static BrioStatus read_mesh(BodyWork *w, BrioError *error)
{
    BrioNode *shape = brio__node_get(w->node, "shape");
    BrioNode *mesh = brio__node_get(w->node, "mesh");
    BrioNode *edge = brio__node_get(w->node, "edge");
    /* --set bodies.0.shape=null --set bodies.0.mesh=FILE */
    if (shape && shape->kind == BRIO_NODE_SCALAR && !shape->quoted && !strcmp(shape->text, "null"))
        shape = NULL;
    if (!shape == !mesh)
        return brio__node_error(w->node, error,
                                shape ? "give shape or mesh, not both"
                                      : "missing key: a body needs a shape or a mesh");
    BrioError inner = {0};
    BrioStatus status;
    if (mesh) {
        char path[4096];
        BRIO_CHECK(file_path(w->scene, mesh, path, sizeof path, error));
        status = brio_mesh_read(path, &w->mesh, &inner);
        if (status != BRIO_OK) return at_node(mesh, status, error, &inner);
        bool surface = w->mesh->tet_count == 0 && w->mesh->triangle_count > 0;
        if (surface && w->def.kind == BRIO_KIND_SOLID) return fill_surface(w, mesh, path, error);
        if (edge)
            return brio__node_error(
                edge, error,
                surface ? "edge goes with kind: solid, which has the surface filled with tets"
                        : "edge is for surfaces that tets fill, and this mesh is none");
        return BRIO_OK;
    }
    if (edge)
        return brio__node_error(
            edge, error,
            "edge is for the mesh of a surface; a shape has numbers of its own for that");
    const char *type, *names[64];
    double values[BRIO_MAX_VALUES];
    int count = 0;
    BRIO_CHECK(type_of(shape, &type, error));
    for (; count < (int)BRIO_COUNT(names) && brio__shape_at(count); count++)
        names[count] = brio__shape_at(count)->name;
    if (!brio__shape(type)) return no_such(type_node(shape), "shape", type, names, count, error);
    BRIO_CHECK(values_of(shape, brio__shape(type)->fields, values, error));
    status = brio_mesh_shape(type, values, &w->mesh, &inner);
    return status == BRIO_OK ? BRIO_OK : at_node(shape, status, error, &inner);
}

static BrioStatus read_state(BodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "state");
    if (!node) return BRIO_OK;
    char path[4096];
    int64_t rows;
    BRIO_CHECK(file_path(w->scene, node, path, sizeof path, error));
    BRIO_CHECK(brio__csv_read(path, 6, &w->state, &rows, error));
    if (rows != w->mesh->vertex_count)
        return brio__node_error(node, error, "the file has %lld rows and the body %lld vertices",
                                (long long)rows, (long long)w->mesh->vertex_count);
    w->def.state = w->state;
    return BRIO_OK;
}

static void transformed(const BrioBodyDef *def, const double *X, double *x)
{
    for (int r = 0; r < 3; r++) {
        x[r] = def->translate[r];
        for (int c = 0; c < 3; c++) x[r] += def->linear[3 * r + c] * X[c];
    }
}

/* A state to add velocities to: the rest shape, standing still, unless there is one. */
static BrioStatus need_state(BodyWork *w, BrioError *error)
{
    if (w->state) return BRIO_OK;
    int64_t vertices = w->mesh->vertex_count;
    w->state = brio__calloc(6 * (size_t)vertices, sizeof *w->state);
    if (!w->state) return no_memory(error);
    for (int64_t k = 0; k < vertices; k++)
        transformed(&w->def, w->mesh->x + 3 * k, w->state + 6 * k);
    w->def.state = w->state;
    return BRIO_OK;
}

/* Adds v = G (x - about) to the first velocities. */
static BrioStatus add_gradient(BodyWork *w, BrioError *error)
{
    BrioNode *velocity = brio__node_get(w->node, "velocity");
    BrioNode *node = velocity ? brio__node_get(velocity, "gradient") : NULL;
    double G[9];
    if (!node) return BRIO_OK;
    if (node->kind != BRIO_NODE_LIST || node->count != 3)
        return brio__node_error(
            node, error,
            "expected three rows of three numbers, for example [[0, 0, 0], [0, 1, 0], [0, 0, 0]]");
    for (int r = 0; r < 3; r++) BRIO_CHECK(brio__node_reals(node->child[r], G + 3 * r, 3, error));
    BRIO_CHECK(need_state(w, error));
    for (int64_t k = 0; k < w->mesh->vertex_count; k++) {
        double *x = w->state + 6 * k, *v = x + 3;
        for (int i = 0; i < 9; i++) v[i / 3] += G[i] * (x[i % 3] - w->def.about[i % 3]);
    }
    return BRIO_OK;
}

/* The vibration of `velocity` is added to the first velocities. */
static BrioStatus add_mode(BodyWork *w, BrioError *error)
{
    BrioNode *velocity = brio__node_get(w->node, "velocity");
    BrioNode *mode = velocity ? brio__node_get(velocity, "mode") : NULL;
    int64_t vertices = w->mesh->vertex_count;
    BrioDrum drum;
    if (!mode) return BRIO_OK;
    BRIO_CHECK(read_mode(mode, &drum, error));
    if (w->mesh->triangle_count == 0 && isnan(drum.normal[0]))
        return brio__node_error(mode, error,
                                "this mesh has no triangles to take a normal from: give normal");
    BRIO_CHECK(need_state(w, error));
    double *x = brio__alloc(6 * (size_t)vertices, sizeof *x), *v = x ? x + 3 * vertices : NULL;
    if (!x) return no_memory(error);
    for (int64_t k = 0; k < vertices; k++) {
        memcpy(x + 3 * k, w->state + 6 * k, 3 * sizeof *x);
        memset(v + 3 * k, 0, 3 * sizeof *v);
    }
    brio__drum_add(&drum, w->mesh, x, v);
    for (int64_t k = 0; k < 3 * vertices; k++) w->state[6 * (k / 3) + 3 + k % 3] += v[k];
    brio__free(x);
    return BRIO_OK;
}

/* Shifts what lies in a ball, by (1 - (r/R)^2)^2 of it at the distance r from its centre. */
static BrioStatus pull(BodyWork *w, BrioNode *node, BrioError *error)
{
    double centre[3], radius, by[3];
    BRIO_CHECK(expect_map(node, pull_keys, error));
    BrioNode *sphere = brio__node_get(node, "sphere"), *shift = brio__node_get(node, "by");
    if (!sphere || !shift)
        return brio__node_error(node, error, "missing key \"%s\"", sphere ? "by" : "sphere");
    if (sphere->kind != BRIO_NODE_LIST || sphere->count != 2)
        return brio__node_error(sphere, error, "expected [[x, y, z], radius]");
    BRIO_CHECK(brio__node_reals(sphere->child[0], centre, 3, error));
    BRIO_CHECK(brio__node_real(sphere->child[1], &radius, error));
    if (!(radius > 0))
        return brio__node_error(sphere->child[1], error, "the radius = %g must be positive",
                                radius);
    BRIO_CHECK(brio__node_reals(shift, by, 3, error));
    int64_t pulled = 0;
    for (int64_t v = 0; v < w->mesh->vertex_count; v++) {
        double *x = w->state + 6 * v;
        double r = hypot(hypot(x[0] - centre[0], x[1] - centre[1]), x[2] - centre[2]) / radius;
        double share = r < 1 ? (1 - r * r) * (1 - r * r) : 0;
        for (int k = 0; k < 3; k++) x[k] += share * by[k];
        pulled += r < 1;
    }
    return pulled ? BRIO_OK : brio__node_error(sphere, error, "no vertex lies in this sphere");
}

/* Makes a state of the rest shape, turned about x and bent, pulled and scattered. */
static BrioStatus read_deform(BodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "deform"), *pulled;
    if (!node) return BRIO_OK;
    if (w->state) return brio__node_error(node, error, "give either state or deform");
    double twist = 0;
    double bend[3] = {0};
    double scatter = 0;
    double low[3] = {INFINITY, INFINITY, INFINITY};
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int64_t n = w->mesh->vertex_count, seed = 1;
    BRIO_CHECK(expect_map(node, deform_keys, error));
    BRIO_CHECK(get_real(node, "twist", -36000, 36000, &twist, error));
    BRIO_CHECK(get_vector(node, "bend", bend, error));
    BRIO_CHECK(get_real(node, "scatter", 0, 1e9, &scatter, error));
    BRIO_CHECK(get_integer(node, "seed", 0, INT64_MAX, &seed, error));
    BRIO_CHECK(need_state(w, error)); /* `velocity` is added to its velocities */
    for (int64_t v = 0; v < n; v++)
        for (int r = 0; r < 3; r++)
            low[r] = fmin(low[r], w->state[6 * v + r]),
            high[r] = fmax(high[r], w->state[6 * v + r]);
    bool turned = twist != 0 || bend[0] != 0 || bend[1] != 0 || bend[2] != 0;
    if (turned && !(high[0] > low[0]))
        return brio__node_error(node, error,
                                "the body has no length along x to twist or bend it over");
    for (int64_t v = 0; v < n && turned; v++) {
        double *x = w->state + 6 * v;
        double share = (x[0] - low[0]) / (high[0] - low[0]);
        double angle = share * twist * 3.14159265358979323846 / 180;
        double middle[2] = {(low[1] + high[1]) / 2, (low[2] + high[2]) / 2};
        double y = x[1] - middle[0];
        double z = x[2] - middle[1];
        x[1] = middle[0] + cos(angle) * y - sin(angle) * z;
        x[2] = middle[1] + sin(angle) * y + cos(angle) * z;
        for (int r = 0; r < 3; r++) x[r] += bend[r] * share * share;
    }
    if ((pulled = brio__node_get(node, "pull"))) BRIO_CHECK(pull(w, pulled, error));
    BrioRandom random = {(uint64_t)seed};
    for (int64_t k = 0; k < 3 * n && scatter > 0; k++)
        w->state[6 * (k / 3) + k % 3] += scatter * (2 * brio__random(&random) - 1);
    return BRIO_OK;
}

/* Springs from a file replace the edges of the mesh. */
static BrioStatus read_springs(BodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "springs");
    if (!node) return BRIO_OK;
    char path[4096];
    double *table;
    int64_t rows;
    BRIO_CHECK(file_path(w->scene, node, path, sizeof path, error));
    BRIO_CHECK(brio__csv_read(path, 4, &table, &rows, error));
    brio__free(w->mesh->edge);
    brio__free(w->mesh->edge_kind);
    w->mesh->edge_kind = NULL;
    w->mesh->edge = brio__alloc((size_t)rows * 2, sizeof *w->mesh->edge);
    w->spring = brio__alloc((size_t)rows * 2, sizeof *w->spring);
    w->mesh->edge_count = w->mesh->edge ? rows : 0;
    BrioStatus status = w->mesh->edge && w->spring ? BRIO_OK : no_memory(error);
    for (int64_t i = 0; status == BRIO_OK && i < rows; i++)
        for (int k = 0; status == BRIO_OK && k < 2; k++) {
            double v = table[4 * i + k];
            if (v != floor(v) || v < 0 || v >= (double)w->mesh->vertex_count)
                status =
                    brio__error_at(error, BRIO_ERROR_INPUT, path, 0, 0, NULL,
                                   "spring %lld names vertex %g: the body has vertices 0 to %lld",
                                   (long long)i, v, (long long)w->mesh->vertex_count - 1);
            else
                w->mesh->edge[2 * i + k] = (int32_t)v;
            w->spring[2 * i + k] = table[4 * i + 2 + k];
        }
    brio__free(table);
    w->def.spring = w->spring;
    return status;
}

static BrioStatus read_kind(BrioNode *node, BrioKind *kind, BrioError *error)
{
    static const char *const kinds[] = {"solid", "shell", "springs", "bar1d", "points", "affine"};
    const char *name;
    if (!node) return BRIO_OK;
    BRIO_CHECK(brio__node_text(node, &name, error));
    if (!strcmp(name, "solid"))
        *kind = BRIO_KIND_SOLID;
    else if (!strcmp(name, "shell"))
        *kind = BRIO_KIND_SHELL;
    else if (!strcmp(name, "springs"))
        *kind = BRIO_KIND_SPRINGS;
    else if (!strcmp(name, "bar1d"))
        *kind = BRIO_KIND_BAR1D;
    else if (!strcmp(name, "points"))
        *kind = BRIO_KIND_POINTS;
    else if (!strcmp(name, "affine"))
        *kind = BRIO_KIND_AFFINE;
    else
        return no_such(node, "kind", name, kinds, BRIO_COUNT(kinds), error);
    return BRIO_OK;
}

/* What is to be seen of a body, until there is a system to give it to. */
struct BrioLook {
    BrioFaces *faces; /* of its own mesh */
    BrioSkin *skin;   /* a surface that rides on it */
};

static struct BrioLook *add_look(BrioScene *scene)
{
    if ((scene->look_count & (scene->look_count - 1)) == 0) { /* a power of two: full */
        struct BrioLook *grown = brio__realloc(scene->look, (size_t)scene->look_count,
                                               2 * (size_t)scene->look_count + 1, sizeof *grown);
        if (!grown) return NULL;
        scene->look = grown;
    }
    scene->look[scene->look_count] = (struct BrioLook){0};
    return &scene->look[scene->look_count++];
}

static void free_looks(BrioScene *scene)
{
    for (int i = 0; i < scene->look_count; i++) {
        brio__faces_free(scene->look[i].faces);
        brio__skin_free(scene->look[i].skin);
    }
    brio__free(scene->look);
    scene->look = NULL;
    scene->look_count = 0;
}

static BrioStatus embed(BodyWork *w, const BrioNode *node, const BrioMesh *surface, bool smooth,
                        BrioSkin **skin, BrioError *error)
{
    const BrioMesh *mesh = w->mesh;
    BrioEmbedding how;
    if (mesh->tet_count == 0)
        return brio__node_error(node, error,
                                "a surface rides on tets, and the body's mesh has none; give a "
                                "mesh of tets, or take the surface itself as mesh");
    if (surface->triangle_count == 0)
        return brio__node_error(node, error, "the surface has no triangles");
    double *points = brio__alloc(3 * (size_t)surface->vertex_count, sizeof *points);
    if (!points) return no_memory(error);
    for (int64_t v = 0; v < surface->vertex_count; v++)
        transformed(&w->def, surface->x + 3 * v, points + 3 * v);
    BrioStatus status =
        brio__skin_embed(w->scene->rest + 3 * w->first, mesh->vertex_count, mesh->tet,
                         mesh->tet_count, surface, points, smooth, &how, skin);
    brio__free(points);
    if (status != BRIO_OK) return no_memory(error);
    if (how.far)
        brio__log(BRIO_LOG_WARNING,
                  "%s:%d: %lld of %lld points of the surface are far outside the tets, no. %lld by "
                  "%.3g m: they follow the nearest tet, which may look torn; make the "
                  "tets enclose the surface, and give both in the same place and unit",
                  w->scene->file, node->line, (long long)how.far, (long long)surface->vertex_count,
                  (long long)how.farthest, how.distance);
    return BRIO_OK;
}

/* After the rest shape: the surface, or the faces as the body's own file has them. */
static BrioStatus read_surface(BodyWork *w, BrioError *error)
{
    BrioNode *node = brio__node_get(w->node, "surface"), *file = node;
    BrioMesh *surface = NULL;
    BrioError inner = {0};
    const char *weights = "smooth", *const names[] = {"smooth", "linear"};
    char path[4096];
    struct BrioLook *look = add_look(w->scene);
    if (!look) return no_memory(error);
    if (!node) {
        look->faces = w->mesh->faces;
        w->mesh->faces = NULL;
        return BRIO_OK;
    }
    if (node->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(expect_map(node, surface_keys, error));
        if (!(file = brio__node_get(node, "mesh")))
            return brio__node_error(node, error, "missing key \"mesh\"");
        BrioNode *choice = brio__node_get(node, "weights");
        if (choice) BRIO_CHECK(brio__node_text(choice, &weights, error));
        if (strcmp(weights, "smooth") && strcmp(weights, "linear"))
            return no_such(choice, "weights", weights, names, 2, error);
    }
    BRIO_CHECK(file_path(w->scene, file, path, sizeof path, error));
    BrioStatus status = brio_mesh_read(path, &surface, &inner);
    if (status == BRIO_OK && surface->tet_count) status = brio__mesh_surface(surface, &inner);
    status = status == BRIO_OK
                 ? embed(w, file, surface, !strcmp(weights, "smooth"), &look->skin, error)
                 : at_node(file, status, error, &inner);
    brio_mesh_free(surface);
    return status;
}

/* `copy` of `copies` in an array; -1: there is no array. */
static BrioStatus build_body(BodyWork *w, BrioNode *materials, int number, int copy,
                             const double shift[3], BrioError *error)
{
    char standard[32], copied[256];
    BrioNode *node;
    snprintf(standard, sizeof standard, "body%d", number);
    w->def.name = standard;
    BRIO_CHECK(expect_map(w->node, body_keys, error));
    if ((node = brio__node_get(w->node, "name")))
        BRIO_CHECK(brio__node_text(node, &w->def.name, error));
    if (copy >= 0) {
        snprintf(copied, sizeof copied, "%.240s.%d", w->def.name, copy);
        w->def.name = copied;
    }
    if (!(node = brio__node_get(w->node, "material")))
        return brio__node_error(w->node, error, "missing key \"material\"");
    BRIO_CHECK(read_material(materials, node, &w->def.material, error));
    BRIO_CHECK(read_kind(brio__node_get(w->node, "kind"), &w->def.kind, error));
    if ((node = brio__node_get(w->node, "transform")))
        BRIO_CHECK(read_transform(node, &w->def, error));
    if ((node = brio__node_get(w->node, "velocity")))
        BRIO_CHECK(read_velocity(node, &w->def, error));
    for (int r = 0; r < 3; r++) {
        w->def.translate[r] += shift[r];
        w->def.about[r] += shift[r];
    }
    BRIO_CHECK(read_mesh(w, error));
    BRIO_CHECK(read_state(w, error));
    BRIO_CHECK(read_deform(w, error));
    BRIO_CHECK(add_gradient(w, error));
    BRIO_CHECK(add_mode(w, error));
    BRIO_CHECK(read_springs(w, error));
    w->def.mesh = w->mesh;

    BrioError inner = {0};
    BrioStatus status = brio_builder_body(w->builder, &w->def, &w->body, &inner);
    if (status != BRIO_OK) return at_node(w->node, status, error, &inner);
    size_t vertices = (size_t)w->mesh->vertex_count;
    w->chosen = brio__alloc(vertices, sizeof *w->chosen);
    w->x = brio__alloc(3 * vertices, sizeof *w->x);
    if (!w->chosen || !w->x) return no_memory(error);
    double *rest = brio__realloc(w->scene->rest, 3 * (size_t)w->first,
                                 3 * ((size_t)w->first + vertices), sizeof *rest);
    if (!rest) return no_memory(error);
    w->scene->rest = rest;
    for (size_t v = 0; v < vertices; v++) { /* the rest shape, and first positions */
        transformed(&w->def, w->mesh->x + 3 * v, rest + 3 * ((size_t)w->first + v));
        memcpy(w->x + 3 * v, w->state ? w->state + 6 * v : rest + 3 * ((size_t)w->first + v),
               3 * sizeof *w->x);
    }
    BRIO_CHECK(read_surface(w, error));
    for (int attach = 0; attach < 2; attach++) {
        BrioNode *list = brio__node_get(w->node, attach ? "attach" : "fix");
        if (!list) continue;
        BRIO_CHECK(expect(list, BRIO_NODE_LIST, error));
        for (int i = 0; i < list->count; i++)
            BRIO_CHECK(read_held(w, list->child[i], attach, error));
    }
    return BRIO_OK;
}

static BrioStatus read_array(BrioNode *node, int64_t count[3], double spacing[3], BrioError *error)
{
    BrioNode *counts, *steps;
    BRIO_CHECK(expect_map(node, array_keys, error));
    if (!(counts = brio__node_get(node, "count")))
        return brio__node_error(node, error, "missing key \"count\"");
    if (!(steps = brio__node_get(node, "spacing")))
        return brio__node_error(node, error, "missing key \"spacing\"");
    double numbers[3];
    BRIO_CHECK(brio__node_reals(counts, numbers, 3, error));
    for (int r = 0; r < 3; r++) {
        count[r] = numbers[r] >= 1 && numbers[r] <= 1000 ? (int64_t)numbers[r] : 0;
        if ((double)count[r] != numbers[r])
            return brio__node_error(counts, error,
                                    "count takes three whole numbers from 1 to 1000");
    }
    if (count[0] * count[1] * count[2] > 100000)
        return brio__node_error(counts, error, "%lld copies are more than 100000",
                                (long long)(count[0] * count[1] * count[2]));
    return brio__node_reals(steps, spacing, 3, error);
}

static BrioStatus read_bodies(BrioNode *root, BrioScene *scene, BrioBuilder *builder,
                              BrioError *error)
{
    BrioNode *bodies = brio__node_get(root, "bodies");
    BrioNode *materials = brio__node_get(root, "materials");
    BRIO_CHECK(read_materials(materials, error));
    if (!bodies)
        return brio__node_error(root, error,
                                "missing key \"bodies\": a scene needs at least one body");
    BRIO_CHECK(expect(bodies, BRIO_NODE_LIST, error));
    if (bodies->count == 0)
        return brio__node_error(bodies, error,
                                "the list is empty: a scene needs at least one body");
    int64_t first = 0;
    for (int i = 0; i < bodies->count; i++) {
        int64_t count[3] = {1, 1, 1};
        double spacing[3] = {0, 0, 0};
        BrioNode *array = bodies->child[i]->kind == BRIO_NODE_MAP
                              ? brio__node_get(bodies->child[i], "array")
                              : NULL;
        if (array) BRIO_CHECK(read_array(array, count, spacing, error));
        for (int64_t k = 0; k < count[0] * count[1] * count[2]; k++) {
            double shift[3] = {(double)(k % count[0]) * spacing[0],
                               (double)(k / count[0] % count[1]) * spacing[1],
                               (double)(k / (count[0] * count[1])) * spacing[2]};
            BodyWork w = {.scene = scene,
                          .builder = builder,
                          .node = bodies->child[i],
                          .def = brio_body_def(),
                          .first = first};
            BrioStatus status = build_body(&w, materials, i, array ? (int)k : -1, shift, error);
            if (w.mesh) first += w.mesh->vertex_count;
            brio_mesh_free(w.mesh);
            brio__free(w.state);
            brio__free(w.spring);
            brio__free(w.x);
            brio__free(w.chosen);
            brio__free((void *)w.script.keys);
            if (status != BRIO_OK) return status;
        }
    }
    return BRIO_OK;
}

/* An end of a rod: {body: chain, vertex: 0} or [chain, 0]. */
static BrioStatus read_end(BrioNode *node, const BrioBuilder *builder, int *body, int32_t *vertex,
                           BrioError *error)
{
    BrioNode *named = NULL, *number = NULL;
    int64_t value;
    *body = 0;
    if (node->kind == BRIO_NODE_LIST && node->count == 2) {
        named = node->child[0];
        number = node->child[1];
    } else if (node->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(expect_map(node, end_keys, error));
        named = brio__node_get(node, "body");
        if (!(number = brio__node_get(node, "vertex")))
            return brio__node_error(node, error, "missing key \"vertex\"");
    } else {
        return brio__node_error(node, error,
                                "expected {body: name, vertex: number} or [name, number]");
    }
    if (named) {
        const char *text, *names[256];
        int count = 0;
        BRIO_CHECK(brio__node_text(named, &text, error));
        for (; count < (int)BRIO_COUNT(names) && brio__builder_name(builder, count); count++)
            names[count] = brio__builder_name(builder, count);
        *body = brio__builder_find(builder, text);
        if (*body < 0) return no_such(named, "body", text, names, count, error);
    } else if (brio__builder_name(builder, 1)) {
        return brio__node_error(node, error, "missing key \"body\": there are several bodies");
    }
    BRIO_CHECK(brio__node_integer(number, &value, error));
    BrioError inner = {0};
    BrioStatus status = brio__builder_check_vertex(builder, *body, value, &inner);
    *vertex = (int32_t)value;
    return status == BRIO_OK ? BRIO_OK : at_node(number, status, error, &inner);
}

static BrioStatus read_constraints(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    static const char *const types[] = {"rod"};
    BrioNode *list = brio__node_get(root, "constraints");
    if (!list) return BRIO_OK;
    BRIO_CHECK(expect(list, BRIO_NODE_LIST, error));
    for (int i = 0; i < list->count; i++) {
        BrioNode *node = list->child[i], *end[2];
        const char *type;
        int body[2];
        int32_t vertex[2];
        double length = NAN;
        BRIO_CHECK(expect(node, BRIO_NODE_MAP, error));
        BRIO_CHECK(type_of(node, &type, error));
        if (strcmp(type, "rod"))
            return no_such(type_node(node), "constraint", type, types, 1, error);
        BRIO_CHECK(expect_map(node, constraint_keys, error));
        for (int k = 0; k < 2; k++) {
            const char *key = k ? "b" : "a";
            if (!(end[k] = brio__node_get(node, key)))
                return brio__node_error(node, error, "missing key \"%s\"", key);
            BRIO_CHECK(read_end(end[k], builder, &body[k], &vertex[k], error));
        }
        BRIO_CHECK(get_real(node, "length", 1e-300, 1e15, &length, error));
        BrioError inner = {0};
        BrioStatus status =
            brio_builder_rod(builder, body[0], vertex[0], body[1], vertex[1], length, &inner);
        if (status != BRIO_OK) return at_node(node, status, error, &inner);
    }
    return BRIO_OK;
}

static BrioStatus finish_builder(BrioNode *root, BrioScene *scene, BrioBuilder *builder,
                                 BrioError *error)
{
    BrioError inner = {0};
    BrioStatus status = brio_builder_finish(builder, &scene->system, &scene->state, &inner);
    for (int i = 0; status == BRIO_OK && i < scene->look_count; i++) {
        BrioBody *body = &scene->system->body[i];
        struct BrioLook *look = &scene->look[i];
        body->skin = look->skin;
        look->skin = NULL;
        if (look->faces && brio__skin_faces(look->faces, body->triangle, body->triangle_count,
                                            &body->skin) != BRIO_OK)
            return no_memory(error);
    }
    if (status == BRIO_OK) {
        free_looks(scene);
        return BRIO_OK;
    }
    int obstacle = brio__builder_obstacle_at_fault(builder);
    int rod = brio__builder_rod_at_fault(builder);
    const BrioNode *node = brio__node_get(root, "bodies");
    if (obstacle >= 0) node = brio__node_get(root, "obstacles")->child[obstacle];
    if (rod >= 0) node = brio__node_get(root, "constraints")->child[rod];
    return at_node(node, status, error, &inner);
}

static BrioStatus read_plane(BrioNode *node, const char *name, BrioBuilder *builder,
                             BrioError *error)
{
    double point[3] = {0, 0, 0}, normal[3];
    BRIO_CHECK(expect_map(node, plane_keys, error));
    BRIO_CHECK(get_vector(node, "point", point, error));
    if (!brio__node_get(node, "normal"))
        return brio__node_error(node, error, "missing key \"normal\"");
    BRIO_CHECK(get_vector(node, "normal", normal, error));
    BrioError inner = {0};
    BrioStatus status = brio_builder_plane(builder, name, point, normal, &inner);
    return status == BRIO_OK ? BRIO_OK
                             : at_node(brio__node_get(node, "normal"), status, error, &inner);
}

static BrioStatus no_such_obstacle(BrioNode *node, const char *type, BrioError *error)
{
    const char *names[96] = {"mesh"};
    int count = 1;
    for (int i = 0; count < (int)BRIO_COUNT(names) && brio__obstacle_type_at(i); i++)
        names[count++] = brio__obstacle_type_at(i)->name;
    for (int i = 0; count < (int)BRIO_COUNT(names) && brio__shape_at(i); i++)
        names[count++] = brio__shape_at(i)->name;
    return no_such(type_node(node), "obstacle type", type, names, count, error);
}

/* The mesh of an obstacle: a file, or a shape whose values stand among the obstacle's keys. */
static BrioStatus obstacle_mesh(const BrioScene *scene, BrioNode *node, const char *type,
                                BrioMesh **mesh, BrioError *error)
{
    static const char *const own_keys[] = {"type", "name", "transform", "script", "formula"};
    BrioError inner = {0};
    if (!strcmp(type, "mesh")) {
        char path[4096];
        BrioNode *file;
        BRIO_CHECK(expect_map(node, mesh_obstacle_keys, error));
        if (!(file = brio__node_get(node, "mesh")))
            return brio__node_error(node, error, "missing key \"mesh\"");
        BRIO_CHECK(file_path(scene, file, path, sizeof path, error));
        BrioStatus status = brio_mesh_read(path, mesh, &inner);
        return status == BRIO_OK ? BRIO_OK : at_node(file, status, error, &inner);
    }
    const BrioShape *shape = brio__shape(type);
    if (!shape) return no_such_obstacle(node, type, error);
    double values[BRIO_MAX_VALUES];
    brio_fields_defaults(shape->fields, values);
    BRIO_CHECK(
        brio__node_fields(node, shape->fields, own_keys, BRIO_COUNT(own_keys), values, error));
    BrioStatus status = brio_mesh_shape(type, values, mesh, &inner);
    return status == BRIO_OK ? BRIO_OK : at_node(node, status, error, &inner);
}

static BrioStatus read_solid_obstacle(const BrioScene *scene, BrioNode *node, const char *type,
                                      const char *name, BrioBuilder *builder, BrioError *error)
{
    BrioObstacleDef def = brio_obstacle_def();
    BrioBodyDef placed = brio_body_def(); /* for its transform */
    BrioScript script = brio_script();
    BrioMesh *mesh = NULL;
    BrioNode *given;
    BrioError inner = {0};
    BrioStatus status = BRIO_OK;
    if ((given = brio__node_get(node, "transform")))
        BRIO_CHECK(read_transform(given, &placed, error));
    if ((given = brio__node_get(node, "script"))) status = read_script(given, &script, error);
    if (status == BRIO_OK) status = obstacle_mesh(scene, node, type, &mesh, error);
    if (status == BRIO_OK) {
        memcpy(def.linear, placed.linear, sizeof def.linear);
        memcpy(def.translate, placed.translate, sizeof def.translate);
        def.name = name;
        def.mesh = mesh;
        def.script = given ? &script : NULL;
        status = brio_builder_obstacle(builder, &def, &inner);
        if (status != BRIO_OK) at_node(node, status, error, &inner);
    }
    brio__free((void *)script.keys);
    brio_mesh_free(mesh);
    return status;
}

/* A shape without a mesh: a formula gives the distance from it. */
static BrioStatus read_formula_obstacle(BrioNode *node, const char *type, const char *name,
                                        BrioBuilder *builder, BrioError *error)
{
    static const char *const own_keys[] = {"type", "name", "transform", "formula"};
    BrioBodyDef placed = brio_body_def(); /* for its transform */
    BrioNode *given;
    BrioError inner = {0};
    const BrioShape *shape = brio__shape(type);
    double values[BRIO_MAX_VALUES];
    if ((given = brio__node_get(node, "script")))
        return brio__node_key_error(given, error,
                                    "obstacles with a formula stand still: leave the script out, "
                                    "or take triangles (formula: false, contact of type ipc)");
    if (!shape && strcmp(type, "mesh")) return no_such_obstacle(node, type, error);
    if ((given = brio__node_get(node, "transform")))
        BRIO_CHECK(read_transform(given, &placed, error));
    brio_fields_defaults(shape ? shape->fields : NULL, values);
    if (shape && brio__obstacle_type(type))
        BRIO_CHECK(
            brio__node_fields(node, shape->fields, own_keys, BRIO_COUNT(own_keys), values, error));
    BrioStatus status =
        brio_builder_solid(builder, name, type, values, placed.linear, placed.translate, &inner);
    return status == BRIO_OK
               ? BRIO_OK
               : at_node(brio__obstacle_type(type) ? node : type_node(node), status, error, &inner);
}

/* Rows of numbers of equal length. */
static BrioStatus read_heights(const BrioNode *list, double **height, int *columns, int64_t *rows,
                               BrioError *error)
{
    BRIO_CHECK(expect(list, BRIO_NODE_LIST, error));
    if (list->count == 0) return brio__node_error(list, error, "there are no heights");
    BRIO_CHECK(expect(list->child[0], BRIO_NODE_LIST, error));
    *columns = list->child[0]->count;
    *rows = list->count;
    *height = brio__alloc((size_t)*columns * (size_t)*rows + 1, sizeof **height);
    if (!*height) return no_memory(error);
    for (int j = 0; j < list->count; j++) {
        const BrioNode *row = list->child[j];
        BRIO_CHECK(expect(row, BRIO_NODE_LIST, error));
        if (row->count != *columns)
            return brio__node_error(row, error, "this row has %d heights, the first one %d",
                                    (int)row->count, *columns);
        for (int i = 0; i < row->count; i++)
            BRIO_CHECK(brio__node_real(row->child[i], *height + (int64_t)j * *columns + i, error));
    }
    return BRIO_OK;
}

static BrioStatus read_heightfield(const BrioScene *scene, BrioNode *node, const char *name,
                                   BrioBuilder *builder, BrioError *error)
{
    BrioBodyDef placed = brio_body_def(); /* for its transform */
    BrioNode *given, *file = brio__node_get(node, "file"), *list = brio__node_get(node, "heights");
    double spacing = 1, *height = NULL;
    int columns = 0;
    int64_t rows = 0;
    char path[4096];
    BrioError inner = {0};
    BRIO_CHECK(expect_map(node, heightfield_keys, error));
    BRIO_CHECK(get_real(node, "spacing", 1e-9, 1e9, &spacing, error));
    if ((given = brio__node_get(node, "transform")))
        BRIO_CHECK(read_transform(given, &placed, error));
    if (!file == !list)
        return brio__node_error(node, error, "a height field takes either heights or a file");
    BrioStatus status;
    if (file) {
        BRIO_CHECK(file_path(scene, file, path, sizeof path, error));
        status = brio__csv_grid(path, &height, &columns, &rows, error);
    } else {
        status = read_heights(list, &height, &columns, &rows, error);
    }
    if (status == BRIO_OK) {
        status = brio_builder_heightfield(builder, name, columns, (int)rows, height, spacing,
                                          placed.linear, placed.translate, &inner);
        if (status != BRIO_OK) at_node(node, status, error, &inner);
    }
    brio__free(height);
    return status;
}

/* Laws between vertices meet formulas only; others meet triangles unless a formula is asked for. */
static BrioStatus read_obstacle(const BrioScene *scene, BrioNode *node, const BrioLaw *law,
                                BrioBuilder *builder, BrioError *error)
{
    const char *type, *name = NULL;
    BrioNode *given;
    bool vertices = law->traits & BRIO_LAW_VERTICES, formula = vertices;
    BRIO_CHECK(expect(node, BRIO_NODE_MAP, error));
    BRIO_CHECK(type_of(node, &type, error));
    if ((given = brio__node_get(node, "name"))) BRIO_CHECK(brio__node_text(given, &name, error));
    if (!strcmp(type, "plane")) return read_plane(node, name, builder, error);
    if (!strcmp(type, "heightfield")) return read_heightfield(scene, node, name, builder, error);
    if ((given = brio__node_get(node, "formula")))
        BRIO_CHECK(brio__node_boolean(given, &formula, error));
    if (vertices && !formula)
        return brio__node_error(given, error,
                                "contact of type %s knows no triangles: leave formula out, or take "
                                "type: ipc",
                                law->name);
    if (formula) return read_formula_obstacle(node, type, name, builder, error);
    return read_solid_obstacle(scene, node, type, name, builder, error);
}

static BrioStatus read_contact(BrioNode *root, const BrioScene *scene, BrioBuilder *builder,
                               BrioError *error)
{
    BrioNode *contact = brio__node_get(root, "contact");
    BrioNode *obstacles = brio__node_get(root, "obstacles");
    BrioNode *kappa;
    BrioContactDef def = brio_contact_def();
    const char *type;
    if (obstacles) BRIO_CHECK(expect(obstacles, BRIO_NODE_LIST, error));
    bool any = obstacles && obstacles->count > 0;
    if (any && !contact)
        return brio__node_key_error(
            obstacles, error, "obstacles do nothing without contact: add contact: {type: ipc}");
    if (!contact) return BRIO_OK;
    BRIO_CHECK(type_of(contact, &type, error));
    const BrioLaw *law = brio__law_at(brio__law_find(type));
    const char *types[32];
    int known = 0;
    for (int i = 0; known < (int)BRIO_COUNT(types) && brio__law_at(i); i++)
        types[known++] = brio__law_at(i)->name;
    if (!law) return no_such(type_node(contact), "contact type", type, types, known, error);
    bool vertices = law->traits & BRIO_LAW_VERTICES;
    def.law = law->name;
    def.dhat = brio__law_default(law, "dhat", def.dhat);
    def.kappa = brio__law_default(law, "kappa", def.kappa);
    if (contact->kind == BRIO_NODE_MAP) {
        BRIO_CHECK(expect_map(contact, contact_keys, error));
        BRIO_CHECK(get_real(contact, "dhat", def.dhat == 0 ? 0 : 1e-300, 1e9, &def.dhat, error));
        if (vertices) BRIO_CHECK(get_real(contact, "self", 0, 1e9, &def.self, error));
        if (!vertices && brio__node_get(contact, "self"))
            return brio__node_key_error(brio__node_get(contact, "self"), error,
                                        "contact of type %s keeps bodies apart from each other "
                                        "and themselves anyway: leave self out",
                                        law->name);
        kappa = brio__node_get(contact, "kappa");
        if (kappa && kappa->kind == BRIO_NODE_SCALAR && !strcmp(kappa->text, "auto") &&
            law->traits & BRIO_LAW_FORBIDS)
            def.kappa = NAN;
        else
            BRIO_CHECK(get_real(contact, "kappa", 1e-300, 1e15, &def.kappa, error));
        BRIO_CHECK(get_real(contact, "thickness", 0, 1e9, &def.thickness, error));
        BRIO_CHECK(get_real(contact, "mu", 0, 1e9, &def.mu, error));
        BRIO_CHECK(get_real(contact, "epsv", 1e-300, 1e9, &def.epsv, error));
    }
    if (vertices && !any && def.self == 0)
        return brio__node_key_error(contact, error,
                                    "contact of type %s is between bodies and obstacles: add "
                                    "obstacles, or self: DISTANCE, or take type: ipc",
                                    law->name);
    brio_builder_contact(builder, &def);
    for (int i = 0; any && i < obstacles->count; i++)
        BRIO_CHECK(read_obstacle(scene, obstacles->child[i], law, builder, error));
    return BRIO_OK;
}

/* Whether a body's name is that of the node or of one of its copies. */
static bool is_copy(const char *body, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(body, name, length) &&
           (body[length] == 0 || (body[length] == '.' && strspn(body + length + 1, "0123456789") ==
                                                             strlen(body + length + 1)));
}

/* The bodies and obstacles that a name stands for, into `numbers`: a body or all copies of it, an
 * obstacle, or all bodies of a material. */
static BrioStatus read_owners(BrioNode *root, const BrioNode *node, const BrioBuilder *builder,
                              int *numbers, int *count, BrioError *error)
{
    const char *name, *names[300], *material, *body;
    char standard[32];
    int known = 0;
    BrioNode *bodies = brio__node_get(root, "bodies");
    BRIO_CHECK(brio__node_text(node, &name, error));
    *count = 0;
    for (int i = 0; (body = brio__builder_name(builder, i)); i++)
        if (is_copy(body, name)) numbers[(*count)++] = i;
    if (*count == 0 && brio__builder_find_obstacle(builder, name) >= 0)
        numbers[(*count)++] = BRIO_OBSTACLE(brio__builder_find_obstacle(builder, name));
    bool by_material = *count == 0;
    for (int k = 0, i = 0; by_material && k < bodies->count; k++) {
        BrioNode *of = brio__node_get(bodies->child[k], "material");
        BrioNode *called = brio__node_get(bodies->child[k], "name");
        bool match = of && type_of(of, &material, NULL) == BRIO_OK && !strcmp(material, name);
        snprintf(standard, sizeof standard, "body%d", k);
        if (!called || brio__node_text(called, &material, NULL) != BRIO_OK) material = standard;
        for (; (body = brio__builder_name(builder, i)) && is_copy(body, material); i++)
            if (match) numbers[(*count)++] = i;
    }
    if (*count > 0) return BRIO_OK;
    for (int i = 0; known < 200 && brio__builder_name(builder, i); i++)
        names[known++] = brio__builder_name(builder, i);
    for (int i = 0; known < (int)BRIO_COUNT(names) && brio__builder_obstacle_name(builder, i); i++)
        names[known++] = brio__builder_obstacle_name(builder, i);
    return no_such(node, "body, material or obstacle", name, names, known, error);
}

/* Says something about all pairs of what two names stand for; mu NAN: they pass through each
 * other. */
static BrioStatus read_pair(BrioNode *root, const BrioNode *names, double mu, BrioBuilder *builder,
                            int *numbers, BrioError *error)
{
    int count[2], *second;
    BrioError inner = {0};
    if (names->kind != BRIO_NODE_LIST || names->count != 2)
        return brio__node_error(names, error, "expected two names, [a, b]");
    BRIO_CHECK(read_owners(root, names->child[0], builder, numbers, &count[0], error));
    second = numbers + count[0];
    BRIO_CHECK(read_owners(root, names->child[1], builder, second, &count[1], error));
    for (int i = 0; i < count[0]; i++)
        for (int k = 0; k < count[1]; k++) {
            BrioStatus status =
                isnan(mu) ? brio_builder_exclude(builder, numbers[i], second[k], &inner)
                          : brio_builder_friction(builder, numbers[i], second[k], mu, &inner);
            if (status != BRIO_OK) return at_node(names, status, error, &inner);
        }
    return BRIO_OK;
}

static BrioStatus read_pairs(BrioNode *root, BrioBuilder *builder, BrioError *error)
{
    BrioNode *contact = brio__node_get(root, "contact");
    if (!contact || contact->kind != BRIO_NODE_MAP) return BRIO_OK;
    int bodies = 0;
    while (brio__builder_name(builder, bodies)) bodies++;
    int *numbers = brio__alloc(2 * (size_t)bodies + 2, sizeof *numbers);
    BrioStatus status = numbers ? BRIO_OK : no_memory(error);
    BrioNode *friction = brio__node_get(contact, "friction");
    BrioNode *exclude = brio__node_get(contact, "exclude");
    if (status == BRIO_OK && friction) status = expect(friction, BRIO_NODE_LIST, error);
    for (int i = 0; status == BRIO_OK && friction && i < friction->count; i++) {
        BrioNode *entry = friction->child[i], *between;
        double mu = NAN;
        status = expect_map(entry, friction_keys, error);
        if (status == BRIO_OK) status = get_real(entry, "mu", 0, 1e9, &mu, error);
        if (status != BRIO_OK) break;
        between = brio__node_get(entry, "between");
        if (!between || isnan(mu))
            status =
                brio__node_error(entry, error, "missing key \"%s\"", between ? "mu" : "between");
        else
            status = read_pair(root, between, mu, builder, numbers, error);
    }
    if (status == BRIO_OK && exclude) status = expect(exclude, BRIO_NODE_LIST, error);
    for (int i = 0; status == BRIO_OK && exclude && i < exclude->count; i++)
        status = read_pair(root, exclude->child[i], NAN, builder, numbers, error);
    brio__free(numbers);
    return status;
}

/* Not every integrator goes with obstacles or rods. */
static BrioStatus check_integrator(BrioNode *root, const BrioScene *scene, BrioError *error)
{
    BrioError inner = {0};
    BrioNode *node = brio__node_get(root, "integrator");
    BrioStatus status = brio__sim_fits(scene->system, brio_integrator(scene->def.integrator),
                                       scene->def.values, &inner);
    return status == BRIO_OK ? BRIO_OK
                             : at_node(node ? type_node(node) : root, status, error, &inner);
}

static BrioStatus read_probes(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "probes");
    if (!list) return BRIO_OK;
    BRIO_CHECK(expect(list, BRIO_NODE_LIST, error));
    scene->probe = brio__calloc((size_t)list->count, sizeof *scene->probe);
    if (!scene->probe) return no_memory(error);
    for (int i = 0; i < list->count; i++) {
        BrioNode *node = list->child[i], *name, *body, *vertex;
        BrioProbe *probe = &scene->probe[scene->probe_count];
        const char *text;
        BRIO_CHECK(expect_map(node, probe_keys, error));
        if (!(name = brio__node_get(node, "name")))
            return brio__node_error(node, error, "missing key \"name\"");
        if (!(vertex = brio__node_get(node, "vertex")))
            return brio__node_error(node, error, "missing key \"vertex\"");
        BRIO_CHECK(brio__node_text(name, &text, error));
        if (!text[0] || strpbrk(text, ",\"\n\r"))
            return brio__node_error(name, error,
                                    "a probe's name heads columns: it must not be empty or hold "
                                    "commas, quotes or line ends");
        for (int k = 0; k < scene->probe_count; k++)
            if (!strcmp(scene->probe[k].name, text))
                return brio__node_error(name, error, "two probes are called \"%s\"", text);
        probe->name = brio__strdup(text);
        if (!probe->name) return no_memory(error);
        scene->probe_count++;
        if ((body = brio__node_get(node, "body"))) {
            const char *names[256];
            int count = 0;
            BRIO_CHECK(brio__node_text(body, &text, error));
            for (; count < scene->system->body_count && count < (int)BRIO_COUNT(names); count++)
                names[count] = scene->system->body[count].name;
            probe->body = brio_system_body(scene->system, text);
            if (probe->body < 0) return no_such(body, "body", text, names, count, error);
        } else if (scene->system->body_count > 1) {
            return brio__node_error(node, error, "missing key \"body\": there are %d bodies",
                                    scene->system->body_count);
        }
        int64_t number, most = scene->system->body[probe->body].count - 1;
        BRIO_CHECK(brio__node_integer(vertex, &number, error));
        if (number < 0 || number > most)
            return brio__node_error(
                vertex, error, "there is no vertex %lld: body \"%s\" has vertices 0 to %lld",
                (long long)number, scene->system->body[probe->body].name, (long long)most);
        probe->vertex = (int32_t)number;
    }
    return BRIO_OK;
}

static BrioStatus read_output(BrioNode *root, BrioScene *scene, BrioError *error)
{
    const char *names[BRIO_MOST_FORMATS];
    int count = 0;
    for (; count < BRIO_MOST_FORMATS && brio__frames_at(count); count++)
        names[count] = brio__frames_at(count)->name;
    BrioNode *node = brio__node_get(root, "output");
    if (!node) return BRIO_OK;
    BRIO_CHECK(expect_map(node, output_keys, error));
    BRIO_CHECK(get_integer(node, "every", 1, 1000000000, &scene->every, error));
    BRIO_CHECK(get_integer(node, "energy_every", 1, 1000000000, &scene->energy_every, error));
    BrioNode *motion = brio__node_get(node, "motion");
    if (motion) BRIO_CHECK(brio__node_boolean(motion, &scene->motion, error));
    BrioNode *velocities = brio__node_get(node, "velocities");
    if (velocities) BRIO_CHECK(brio__node_boolean(velocities, &scene->velocities, error));
    BrioNode *frames = brio__node_get(node, "frames");
    if (!frames) return BRIO_OK;
    BRIO_CHECK(expect(frames, BRIO_NODE_LIST, error));
    for (int i = 0; i < frames->count; i++) {
        const char *name;
        int k = 0;
        BRIO_CHECK(brio__node_text(frames->child[i], &name, error));
        const BrioFrameFormat *format = brio__frames(name);
        if (!format) return no_such(frames->child[i], "frame format", name, names, count, error);
        while (k < scene->format_count && scene->format[k] != format) k++;
        if (k < scene->format_count)
            return brio__node_error(frames->child[i], error, "\"%s\" stands in the list twice",
                                    name);
        scene->format[scene->format_count++] = format;
        if (!velocities) scene->velocities |= format->film && format->velocities;
        if (format->film && !scene->motion)
            return brio__node_error(frames->child[i], error,
                                    "%s is made of the motion: leave motion: false out", name);
    }
    return BRIO_OK;
}

bool brio__scene_films(const BrioScene *scene)
{
    for (int i = 0; i < scene->format_count; i++)
        if (scene->format[i]->film) return true;
    return false;
}

/* What the format has and this version does not do: refused with a sentence unless empty. */
static BrioStatus refuse_later(BrioNode *root, BrioError *error)
{
    static const char *const later[] = {"forces"};
    for (size_t i = 0; i < BRIO_COUNT(later); i++) {
        BrioNode *node = brio__node_get(root, later[i]);
        if (!node || (node->kind == BRIO_NODE_LIST && node->count == 0)) continue;
        return brio__node_key_error(
            node, error, "%s is not in this version of brio: take it out to run the scene without",
            later[i]);
    }
    return BRIO_OK;
}

static BrioStatus read_scene(BrioScene *scene, BrioBuilder *builder, BrioError *error)
{
    BrioNode *root = scene->tree, *node;
    double gravity[3] = {0, -9.8, 0};
    const char *title = "";
    int64_t version = 1;
    BRIO_CHECK(expect_map(root, scene_keys, error));
    if ((node = brio__node_get(root, "brio"))) {
        BRIO_CHECK(brio__node_integer(node, &version, error));
        if (version != 1)
            return brio__node_error(node, error, "this brio reads scene version 1, not %lld",
                                    (long long)version);
    }
    if ((node = brio__node_get(root, "title"))) BRIO_CHECK(brio__node_text(node, &title, error));
    scene->title = brio__strdup(title);
    if (!scene->title) return no_memory(error);
    BRIO_CHECK(refuse_later(root, error));
    BRIO_CHECK(get_vector(root, "gravity", gravity, error));
    brio_builder_gravity(builder, gravity);
    BRIO_CHECK(read_time(root, scene, error));
    BRIO_CHECK(read_integrator(root, scene, error));
    BRIO_CHECK(read_solver(root, scene, error));
    BRIO_CHECK(read_damping(root, scene, error));
    BRIO_CHECK(read_output(root, scene, error));
    BRIO_CHECK(read_contact(root, scene, builder, error));
    BRIO_CHECK(read_bodies(root, scene, builder, error));
    BRIO_CHECK(read_pairs(root, builder, error));
    BRIO_CHECK(read_constraints(root, builder, error));
    BRIO_CHECK(finish_builder(root, scene, builder, error));
    BRIO_CHECK(check_integrator(root, scene, error));
    return read_probes(root, scene, error);
}

/* ---- loading ---------------------------------------------------------------------------- */

const char *brio_scenes_folder(void)
{
    static char folder[4096];
    struct stat info;
    char program[3900];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) { /* beside an installed program */
        program[length] = 0;
        char *slash = strrchr(program, '/');
        if (slash) *slash = 0;
        snprintf(folder, sizeof folder, "%s/../share/brio/scenes", program);
        if (stat(folder, &info) == 0) return folder;
    }
#if defined(__linux__) && !defined(__EMSCRIPTEN__)
    /* beside an installed library, whatever program loaded it: lib/ or lib/ARCHITECTURE/ */
    Dl_info library;
    for (int up = 1; dladdr(brio_version(), &library) && library.dli_fname && up <= 2; up++) {
        const char *slash = strrchr(library.dli_fname, '/');
        snprintf(folder, sizeof folder, "%.*s/%sshare/brio/scenes",
                 slash ? (int)(slash - library.dli_fname) : 1, slash ? library.dli_fname : ".",
                 up == 1 ? "../" : "../../");
        if (stat(folder, &info) == 0) return folder;
    }
#endif
#ifdef BRIO_SOURCE_SCENES
    if (stat(BRIO_SOURCE_SCENES, &info) == 0) return BRIO_SOURCE_SCENES;
#endif
#ifdef BRIO_INSTALL_SCENES
    return BRIO_INSTALL_SCENES;
#else
    return ".";
#endif
}

bool brio__scene_path(const char *name, char *path, size_t size)
{
    struct stat info;
    if (strchr(name, '/') || name[0] == '.') return false;
    if (snprintf(path, size, "%s/%s.yaml", brio_scenes_folder(), name) >= (int)size) return false;
    return stat(path, &info) == 0;
}

/* `text` NULL: the file at `path` is read. */
static BrioStatus load(const char *path, const char *text, size_t size, const char *const *sets,
                       int set_count, BrioScene **out, BrioError *error)
{
    BrioScene *scene = brio__calloc(1, sizeof *scene);
    BrioBuilder *builder = NULL;
    if (!scene) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    scene->def = brio_sim_def("backward-euler");
    scene->end = 10;
    scene->fps = 30;
    scene->motion = true;
    scene->every = scene->energy_every = 1;
    scene->file = brio__strdup(path);
    BrioStatus status = scene->file ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        status = text ? brio__tree_parse(text, size, path, &scene->tree, error)
                      : brio__tree_read(path, &scene->tree, error);
    for (int i = 0; status == BRIO_OK && i < set_count; i++)
        status = brio__tree_set(scene->tree, sets[i], error);
    if (status == BRIO_OK) status = brio_builder_create(&builder);
    if (status == BRIO_OK) status = read_scene(scene, builder, error);
    brio_builder_free(builder);
    if (status == BRIO_OK) {
        *out = scene;
        return BRIO_OK;
    }
    brio__scene_free(scene);
    return brio__error(error, status, "%s", brio_status_text(status));
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* The scene file of a folder whose name (without .yaml, if it is `bare`) is nearest to `word`. */
static bool nearest_scene(const char *folder, const char *word, bool bare, char *name, size_t size)
{
    enum { MOST = 256, LETTERS = 64 };
    char names[MOST][LETTERS];
    const char *list[MOST], *nearest = NULL;
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && count < MOST && (entry = readdir(listing));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || (strcmp(dot, ".yaml") && strcmp(dot, ".yml") && strcmp(dot, ".json")) ||
            strlen(entry->d_name) >= LETTERS)
            continue;
        snprintf(names[count++], LETTERS, "%.*s", bare ? (int)(dot - entry->d_name) : LETTERS - 1,
                 entry->d_name);
    }
    if (listing) closedir(listing);
    qsort(names, (size_t)count, LETTERS, by_name);
    for (int i = 0; i < count; i++) list[i] = names[i];
    nearest = brio__nearest(word, list, count);
    snprintf(name, size, "%s", nearest ? nearest : "");
    return nearest;
}

/* Why there is no scene of this name, with the one that was probably meant. */
static BrioStatus refuse_missing(const char *name, BrioError *error)
{
    char folder[4096] = ".", near[64];
    const char *slash = strrchr(name, '/'), *word = slash ? slash + 1 : name;
    if (slash) snprintf(folder, sizeof folder, "%.*s", BRIO_MAX((int)(slash - name), 1), name);
    bool file = strchr(name, '.') || slash;
    if (nearest_scene(file ? folder : brio_scenes_folder(), word, !file, near, sizeof near)) {
        if (!file)
            return brio__error(error, BRIO_ERROR_FILE,
                               "there is no scene \"%s\"; did you mean \"%s\"?", name, near);
        return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL,
                              "there is no such file; did you mean \"%.*s%s\"?", (int)(word - name),
                              name, near);
    }
    if (file)
        return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL,
                              "there is no such file (scenes that ship have names without .yaml: "
                              "`brio list scenes`)");
    return brio__error(error, BRIO_ERROR_FILE,
                       "there is no scene \"%s\": neither a file nor one that ships with brio (see "
                       "`brio list scenes`)",
                       name);
}

BrioStatus brio__scene_load(const char *name, const char *const *sets, int set_count,
                            BrioScene **out, BrioError *error)
{
    char path[4096];
    struct stat info;
    /* a folder of results may be called as the scene is */
    bool file = stat(name, &info) == 0 && !S_ISDIR(info.st_mode);
    if (file || !brio__scene_path(name, path, sizeof path)) snprintf(path, sizeof path, "%s", name);
    if (stat(path, &info) != 0 && errno == ENOENT) return refuse_missing(name, error);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        char run[4200];
        snprintf(run, sizeof run, "%s/run.json", path);
        if (stat(run, &info) == 0)
            return brio__error_at(error, BRIO_ERROR_FILE, name, 0, 0, NULL,
                                  "this is a folder of results, not a scene (`brio view` and `brio "
                                  "render` show it, `brio check --exact` proves it)");
    }
    return load(path, NULL, 0, sets, set_count, out, error);
}

BrioStatus brio__scene_parse(const char *text, size_t size, const char *name, BrioScene **scene,
                             BrioError *error)
{
    return load(name, text, size, NULL, 0, scene, error);
}

BrioStatus brio__scene_open(const BrioSource *source, BrioScene **scene, BrioError *error)
{
    if (!source->name || (source->set_count > 0 && !source->sets))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a scene needs a name, and its changes a list");
    if (source->text)
        return load(source->name, source->text, source->size, source->sets, source->set_count,
                    scene, error);
    return brio__scene_load(source->name, source->sets, source->set_count, scene, error);
}

BrioStatus brio__scene_integrator(const char *name, const char *const *sets, int set_count,
                                  BrioSimDef *def, BrioError *error)
{
    static const char *const keys[] = {"integrator"};
    char first[256];
    BrioNode *root = NULL;
    BrioScene scene = {.def = brio_sim_def("backward-euler")};
    snprintf(first, sizeof first, "integrator=%s", name);
    BrioStatus status = brio__tree_parse("{}", 2, "--integrator", &root, error);
    if (status == BRIO_OK) status = brio__tree_set(root, first, error);
    for (int i = 0; status == BRIO_OK && i < set_count; i++)
        status = brio__tree_set(root, sets[i], error);
    if (status == BRIO_OK) status = read_integrator(root, &scene, error);
    if (status == BRIO_OK) status = brio__node_unknown(root, keys, 1, error);
    if (status == BRIO_OK) *def = scene.def;
    brio__tree_free(root);
    return status;
}

void brio__scene_free(BrioScene *scene)
{
    if (!scene) return;
    brio__free(scene->file);
    brio__free(scene->title);
    brio__tree_free(scene->tree);
    brio_system_free(scene->system);
    brio_state_free(scene->state);
    brio__free(scene->rest);
    free_looks(scene);
    for (int i = 0; i < scene->probe_count; i++) brio__free(scene->probe[i].name);
    brio__free(scene->probe);
    brio__free(scene);
}

BrioStatus brio__scene_sim(BrioScene *scene, BrioSim **sim, BrioError *error)
{
    BrioSystem *system = scene->system;
    BrioState *state = scene->state;
    scene->system = NULL;
    scene->state = NULL;
    BrioError inner = {0};
    BrioStatus status = brio_sim_create(system, state, &scene->def, sim, &inner);
    if (status != BRIO_OK && error && error->status == BRIO_OK) {
        *error = inner;
        snprintf(error->file, sizeof error->file, "%s", scene->file);
    }
    return status;
}

/* The simulation alone is wanted: the rest of the scene goes. */
static BrioStatus sim_of(BrioStatus status, BrioScene *scene, BrioSim **sim, BrioError *error)
{
    if (status == BRIO_OK) {
        status = brio__scene_sim(scene, sim, error);
        brio__scene_free(scene);
    }
    return status;
}

BrioStatus brio_sim_load(const char *file, BrioSim **sim, BrioError *error)
{
    BrioScene *scene = NULL;
    BrioStatus status = brio__scene_load(file, NULL, 0, &scene, error);
    return sim_of(status, scene, sim, error);
}

BrioStatus brio_sim_parse(const char *text, size_t size, const char *name, BrioSim **sim,
                          BrioError *error)
{
    BrioScene *scene = NULL;
    BrioStatus status = brio__scene_parse(text, size, name, &scene, error);
    return sim_of(status, scene, sim, error);
}

BrioStatus brio_sim_open(const BrioSource *source, BrioSim **sim, BrioError *error)
{
    BrioScene *scene = NULL;
    BrioStatus status = brio__scene_open(source, &scene, error);
    return sim_of(status, scene, sim, error);
}
