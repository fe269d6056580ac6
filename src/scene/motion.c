/* `script` and `sequence`: how fixed vertices, attachment points and obstacles move. */
#include "read.h"

#include "../force/formula.h"

#include <string.h>

static const BrioKey script_keys[] = {
    {KEY_VECTOR("velocity", "m/s", 0, "Velocity of the translation."),
     KEY_INTO(BrioScript, velocity)},
    {KEY_VECTOR("angular", "rad/s", 0, "Angular velocity."), KEY_INTO(BrioScript, angular)},
    {KEY_VECTOR("about", "m", 0, "Centre of the rotation."), KEY_INTO(BrioScript, about)},
    {KEY_REAL("start", "s", 0, 0, 1e9, "When the motion starts."), KEY_INTO(BrioScript, start)},
    {KEY_REAL("end", "s|never", INFINITY, 0, 1e9,
              "When the motion stops; the vertices stay there."),
     KEY_INTO(BrioScript, end)},
    {KEY_LIST("keys", "Displacements at given times, in addition to the motion above. "
                      "`interpolation` of the entry says what lies between them."),
     KEY_TAKES("list of [t, dx, dy, dz]")},
    {KEY_LIST("poses", "Transforms at given times, applied before the motion above. Translation "
                       "and scale are linear in between unless `interpolation` of the entry says "
                       "otherwise; rotation follows the shorter arc."),
     KEY_TAKES("list of maps")},
    {KEY_LIST("formula", "Displacements along x, y, z (m) as formulas of t and of the initial x, "
                         "y, z."),
     KEY_TAKES("list of three formulas")},
    KEY_END};
BRIO_SECTION(script){"bodies[].fix[].script", "Scripts (also for attachments and obstacles)",
                     script_keys};

typedef struct Pose {
    double t, translate[3], rotate[4], scale[3];
} Pose;

static const BrioKey pose_keys[] = {
    {KEY_REAL("t", "s", NAN, -1e9, 1e9, "Time of the pose."), KEY_REQUIRED, KEY_INTO(Pose, t)},
    {KEY_VECTOR("translate", "m", 0, "Translation."), KEY_INTO(Pose, translate)},
    {KEY_BALL("rotate", "[[x, y, z], degrees]", "Rotation about an axis through `about`."),
     KEY_INTO(Pose, rotate)},
    {KEY_SCALE("scale", 1, KEY_POSITIVE, DBL_MAX,
               "Scale about `about`; three numbers: one per "
               "axis."),
     KEY_INTO(Pose, scale)},
    KEY_END};
BRIO_SECTION(pose){"bodies[].fix[].script.poses[]", "Poses of scripts", pose_keys};

void brio__free_script(BrioScript *script)
{
    brio__free((void *)script->keys);
    brio__free((void *)script->poses);
    brio_sequence_free((BrioSequence *)script->sequence);
    script->keys = script->poses = NULL;
    script->sequence = NULL;
}

static BrioStatus read_shifts(const BrioNode *keys, BrioScript *script, BrioError *error)
{
    if (keys->count == 0)
        return brio__node_error(keys, error, "there are no keys: expected rows [t, dx, dy, dz]");
    double *rows = brio__alloc((size_t)keys->count * 4, sizeof *rows);
    if (!rows) return brio__no_memory(error);
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

/* A row of BrioScript.poses. */
static BrioStatus read_pose(BrioNode *node, double *row, BrioError *error)
{
    Pose pose;
    brio__key_defaults(pose_keys, &pose);
    BRIO_CHECK(brio__expect(node, BRIO_NODE_MAP, error));
    BRIO_CHECK(brio__read_keys(node, pose_keys, &pose, error));
    double *n = pose.rotate;
    bool turned = !isnan(n[0]);
    double length = turned ? brio__axis_length(n) : 1;
    double half = turned ? n[3] * 3.14159265358979323846 / 360 : 0;
    if (!(length > 0))
        return brio__node_error(brio__node_get(node, "rotate")->child[0], error,
                                "the axis has no length");
    row[0] = pose.t;
    row[4] = cos(half);
    for (int r = 0; r < 3; r++) {
        row[1 + r] = pose.translate[r];
        row[5 + r] = turned ? sin(half) * n[r] / length : 0;
        row[8 + r] = pose.scale[r];
    }
    return BRIO_OK;
}

static BrioStatus read_poses(const BrioNode *list, BrioScript *script, BrioError *error)
{
    if (list->count == 0)
        return brio__node_error(list, error,
                                "there are no poses: expected maps such as {t: 1, translate: [0, "
                                "1, 0]}");
    double *rows = brio__calloc((size_t)list->count * BRIO_POSE_NUMBERS + 1, sizeof *rows);
    if (!rows) return brio__no_memory(error);
    script->poses = rows;
    script->pose_count = list->count;
    for (int k = 0; k < list->count; k++) {
        double *row = rows + BRIO_POSE_NUMBERS * k;
        BRIO_CHECK(read_pose(list->child[k], row, error));
        if (k > 0 && !(row[0] > row[-BRIO_POSE_NUMBERS]))
            return brio__node_error(list->child[k], error,
                                    "the times of poses must rise: %g s comes after %g s", row[0],
                                    row[-BRIO_POSE_NUMBERS]);
    }
    return BRIO_OK;
}

/* Compiled here for the place of an error, and again by the builder. */
static BrioStatus read_formulas(const BrioNode *list, BrioScript *script, BrioError *error)
{
    if (list->count != 3)
        return brio__node_error(list, error, "expected three formulas: shifts along x, y and z");
    for (int r = 0; r < 3; r++) {
        BrioFormula formula;
        BrioError inner = {0};
        BrioNode *node = list->child[r];
        int column;
        BRIO_CHECK(brio__node_text(node, &script->formula[r], error));
        if (brio__formula_compile(script->formula[r], &formula, &column, &inner) == BRIO_OK)
            continue;
        node->column += column - 1 + (node->quoted ? 1 : 0); /* nobody reads on */
        return brio__node_error(node, error, "%s", inner.message);
    }
    return BRIO_OK;
}

static BrioStatus read_script(BrioNode *node, BrioScript *script, BrioError *error)
{
    BRIO_CHECK(brio__read_keys(node, script_keys, script, error));
    if (script->end < script->start)
        return brio__node_error(brio__node_get(node, "end"), error,
                                "end = %g s is out of range: the motion starts at %g s",
                                script->end, script->start);
    BrioNode *keys = brio__node_get(node, "keys"), *poses = brio__node_get(node, "poses");
    BrioNode *formula = brio__node_get(node, "formula");
    if (keys) BRIO_CHECK(read_shifts(keys, script, error));
    if (poses) BRIO_CHECK(read_poses(poses, script, error));
    return formula ? read_formulas(formula, script, error) : BRIO_OK;
}

enum { PATH = 4096, MAX_FILES = 100000 };

static BrioStatus read_sequence(const BrioScene *scene, BrioNode *node,
                                const BrioSequenceKeys *keys, BrioScript *script, BrioError *error)
{
    bool list = node->kind == BRIO_NODE_LIST;
    int count = list ? node->count : 1;
    BrioError inner = {0};
    BrioSequence *sequence = NULL;
    if (count < 1 || count > MAX_FILES)
        return brio__node_error(node, error, "expected a file, or a list of 1 to %d files",
                                MAX_FILES);
    char(*path)[PATH] = brio__alloc((size_t)count, sizeof *path);
    const char **name = brio__alloc((size_t)count, sizeof *name);
    BrioStatus status = path && name ? BRIO_OK : brio__no_memory(error);
    for (int k = 0; status == BRIO_OK && k < count; k++) {
        const BrioNode *file = list ? node->child[k] : node;
        bool pattern = !list && file->kind == BRIO_NODE_SCALAR && strpbrk(file->text, "#*");
        status = pattern ? brio__file_place(scene, file, path[k], sizeof *path, error)
                         : brio__file_path(scene, file, path[k], sizeof *path, error);
        name[k] = path[k];
    }
    if (status == BRIO_OK) {
        status = brio_sequence_read(name, count, keys->fps, keys->start, &sequence, &inner);
        if (status != BRIO_OK) brio__at_node(node, status, error, &inner);
    }
    brio__free(path);
    brio__free(name);
    script->sequence = sequence;
    return status;
}

BrioStatus brio__check_motion_keys(BrioNode *entry, BrioError *error)
{
    const BrioNode *files = brio__node_get(entry, "sequence");
    static const char *const of_sequences[] = {"fps", "start"};
    for (size_t i = 0; !files && i < BRIO_COUNT(of_sequences); i++) {
        const BrioNode *lone = brio__node_get(entry, of_sequences[i]);
        if (lone)
            return brio__node_key_error(lone, error,
                                        "%s is for a sequence, and there is none: add sequence, or "
                                        "leave %s out",
                                        of_sequences[i], of_sequences[i]);
    }
    const BrioNode *curve = brio__node_get(entry, "interpolation");
    BrioNode *script = brio__node_get(entry, "script");
    bool keyed = script && script->kind == BRIO_NODE_MAP &&
                 (brio__node_get(script, "keys") || brio__node_get(script, "poses"));
    if (curve && !files && !keyed)
        return brio__node_key_error(curve, error,
                                    "interpolation is for a sequence and for the keys and poses of "
                                    "a script, and there are none: add them, or remove it");
    return BRIO_OK;
}

BrioStatus brio__read_motion(const BrioScene *scene, BrioNode *entry, const BrioSequenceKeys *keys,
                             BrioScript *script, bool *moves, BrioError *error)
{
    BrioNode *moved = brio__node_get(entry, "script"), *files = brio__node_get(entry, "sequence");
    *script = brio_default_script();
    *moves = moved || files;
    script->interpolation = keys->interpolation;
    BRIO_CHECK(brio__check_motion_keys(entry, error));
    if (moved) BRIO_CHECK(read_script(moved, script, error));
    return files ? read_sequence(scene, files, keys, script, error) : BRIO_OK;
}
