/* Scenes of polyfem (JSON), three-dimensional elasticity with contact. One document, and those that
 * it names as `common`; lengths, masses and times in its own units. Displacements are given as
 * formulas there: they become keys of scripts, one for each step. */
#include "polyfem.h"

#include <string.h>

/* ---- values ----------------------------------------------------------------------------- */

static bool is_null(const BrioNode *node)
{
    return node->kind == BRIO_NODE_SCALAR && !node->quoted && !strcmp(node->text, "null");
}

Value poly_get(Value map, const char *key)
{
    Value found = {.count = 0};
    for (int i = 0; i < map.count; i++) {
        BrioNode *node =
            map.node[i]->kind == BRIO_NODE_MAP ? brio__node_get(map.node[i], key) : NULL;
        if (!node) continue;
        if (is_null(node)) break; /* takes away what is behind it */
        if (found.count && node->kind != BRIO_NODE_MAP) break;
        found.node[found.count++] = node;
        if (node->kind != BRIO_NODE_MAP) break;
    }
    return found;
}

bool poly_is_true(Value value, bool standard)
{
    const BrioNode *node = poly_first(value);
    if (!node || node->kind != BRIO_NODE_SCALAR) return standard;
    return !strcmp(node->text, "true");
}

const char *poly_text(Value value, const char *standard)
{
    const BrioNode *node = poly_first(value);
    return !node ? standard : node->kind == BRIO_NODE_SCALAR ? node->text : "";
}

BrioStatus poly_real(const Poly *p, Value value, double standard, double *number)
{
    *number = standard;
    return value.count ? brio__node_real(poly_first(value), number, p->error) : BRIO_OK;
}

BrioStatus poly_vector(const Poly *p, const BrioNode *node, double v[3])
{
    if (node->kind != BRIO_NODE_LIST || node->count == 2)
        return brio__node_error(node, p->error, "expected three numbers%s",
                                node->kind == BRIO_NODE_LIST && node->count == 2
                                    ? "; this scene is two-dimensional, and brio imports those in "
                                      "three dimensions"
                                    : "");
    return brio__node_reals(node, v, 3, p->error);
}

/* Units that quantities are given with, and what they are in SI. */
static const struct {
    const char *name;
    double factor;
} units[] = {{"m", 1},         {"dm", 0.1},      {"cm", 1e-2},   {"mm", 1e-3},   {"um", 1e-6},
             {"km", 1e3},      {"in", 0.0254},   {"kg", 1},      {"g", 1e-3},    {"t", 1e3},
             {"s", 1},         {"ms", 1e-3},     {"min", 60},    {"Pa", 1},      {"kPa", 1e3},
             {"MPa", 1e6},     {"GPa", 1e9},     {"N/m^2", 1},   {"kg/m^3", 1},  {"g/cm^3", 1e3},
             {"g/m^3", 1e-3},  {"m/s", 1},       {"cm/s", 1e-2}, {"mm/s", 1e-3}, {"m/s^2", 1},
             {"cm/s^2", 1e-2}, {"mm/s^2", 1e-3}, {"", 1}};

BrioStatus poly_unit(const Poly *p, const BrioNode *node, double *factor)
{
    for (size_t i = 0; i < BRIO_COUNT(units); i++)
        if (node->kind == BRIO_NODE_SCALAR && !strcmp(node->text, units[i].name)) {
            *factor = units[i].factor;
            return BRIO_OK;
        }
    return brio__node_error(node, p->error, "the unit \"%.40s\" is not known",
                            node->kind == BRIO_NODE_SCALAR ? node->text : "");
}

BrioStatus poly_quantity(const Poly *p, const BrioNode *node, Dimension d, Quantity *q)
{
    *q = (Quantity){.node = node,
                    .factor =
                        pow(p->length, d.length) * pow(p->mass, d.mass) * pow(p->time, d.time)};
    if (node->kind == BRIO_NODE_MAP) {
        BrioNode *value = brio__node_get((BrioNode *)node, "value");
        BrioNode *unit = brio__node_get((BrioNode *)node, "unit");
        if (!value || !unit)
            return brio__node_error(node, p->error,
                                    "expected a number, a formula, or a map with "
                                    "value and unit");
        BRIO_CHECK(poly_unit(p, unit, &q->factor));
        node = q->node = value;
    }
    if (node->kind != BRIO_NODE_SCALAR)
        return brio__node_error(node, p->error, "expected a number or a formula");
    if (!node->quoted) return brio__node_real(node, &q->value, p->error);
    q->formula = node->text;
    const char *wrong =
        formula_value(q->formula, (const double[4]){0, 0, 0, 0}, &q->value, &q->uses);
    if (wrong)
        return brio__node_error(node, p->error,
                                "the formula \"%.60s\" is not understood at \"%.20s\"", q->formula,
                                wrong);
    if (!q->uses) q->formula = NULL;
    return BRIO_OK;
}

double poly_evaluate(const Poly *p, const Quantity *q, const double x[3], double t)
{
    double value = q->value;
    const double v[4] = {x[0] / p->length, x[1] / p->length, x[2] / p->length,
                         (t + p->start) / p->time};
    if (q->formula) formula_value(q->formula, v, &value, NULL);
    return value * q->factor;
}

BrioStatus poly_quantities(const Poly *p, const BrioNode *list, Dimension dimension, Quantity q[3],
                           unsigned *uses)
{
    *uses = 0;
    if (list->kind != BRIO_NODE_LIST || list->count != 3)
        return brio__node_error(list, p->error, "expected three values%s",
                                list->kind == BRIO_NODE_LIST && list->count == 2
                                    ? "; this scene is two-dimensional, and brio imports those in "
                                      "three dimensions"
                                    : "");
    for (int k = 0; k < 3; k++) {
        BRIO_CHECK(poly_quantity(p, list->child[k], dimension, &q[k]));
        *uses |= q[k].uses;
    }
    return BRIO_OK;
}

BrioStatus poly_ids(const Poly *p, const BrioNode *node, int64_t *id, int max, int *count)
{
    *count = 0;
    if (node->kind == BRIO_NODE_SCALAR && !strcmp(node->text, "all")) return BRIO_OK;
    if (node->kind != BRIO_NODE_LIST) {
        *count = 1;
        return brio__node_integer(node, id, p->error);
    }
    for (int i = 0; i < node->count; i++) {
        if (*count == max) return brio__node_error(node, p->error, "more than %d ids", max);
        BRIO_CHECK(brio__node_integer(node->child[i], &id[(*count)++], p->error));
    }
    return BRIO_OK;
}

/* ---- the report ------------------------------------------------------------------------- */

/* Lines are those of the document that the node is of. */
static void say(const Poly *p, const BrioNode *node, bool lost, const char *format, va_list list)
{
    char text[512];
    ImportReport *report = p->report;
    const char *file = report->file;
    vsnprintf(text, sizeof text, format, list);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e) *c = '?';
    if (node->file) report->file = node->file;
    int line = node->key ? node->key_line : node->line;
    if (lost)
        import_loss(report, line, "%s", text);
    else
        import_note(report, line, "%s", text);
    report->file = file;
}

void poly_note(const Poly *p, const BrioNode *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(p, node, false, format, arguments);
    va_end(arguments);
}

void poly_loss(const Poly *p, const BrioNode *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(p, node, true, format, arguments);
    va_end(arguments);
}

void poly_unknown(const Poly *p, Value map, const char *what, const char *const *names, int count)
{
    for (int i = 0; i < map.count; i++)
        for (int k = 0; map.node[i]->kind == BRIO_NODE_MAP && k < map.node[i]->count; k++) {
            const BrioNode *child = map.node[i]->child[k];
            bool known = false;
            for (int n = 0; n < count; n++) known |= !strcmp(names[n], child->key);
            if (known) continue;
            const char *nearest = brio__nearest(child->key, names, count);
            poly_note(p, child, "\"%.40s\" is not a known key of %s%s%s%s; left out", child->key,
                      what, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                      nearest ? "\"?" : "");
        }
}

BrioStatus poly_no_memory(const Poly *p)
{
    return brio__error(p->error, BRIO_ERROR_MEMORY, "out of memory");
}

/* ---- the document ----------------------------------------------------------------------- */

static BrioStatus read_document(Poly *p, const char *name, BrioNode **root)
{
    char *text;
    size_t size;
    BRIO_CHECK(brio__read_file(name, &text, &size, p->error));
    BrioStatus status = brio__tree_parse_with(brio__json_parse, text, size, name, root, p->error);
    brio__free(text);
    if (status == BRIO_OK && (*root)->kind != BRIO_NODE_MAP)
        status = brio__node_error(*root, p->error, "expected a map: this is no scene of polyfem");
    return status;
}

/* The document, and behind it those that are named by `common`, each relative to its own folder. */
static BrioStatus read_documents(Poly *p)
{
    char name[4096];
    snprintf(name, sizeof name, "%s", p->name);
    for (int i = 0; i < MAX_DOCUMENTS; i++) {
        BRIO_CHECK(read_document(p, name, &p->document[i]));
        p->root.node[p->root.count++] = p->document[i];
        const BrioNode *common = brio__node_get(p->document[i], "common");
        if (!common || common->kind != BRIO_NODE_SCALAR || !common->text[0]) break;
        if (i + 1 == MAX_DOCUMENTS)
            return brio__node_error(common, p->error, "more than %d documents behind each other",
                                    MAX_DOCUMENTS - 1);
        char *slash = strrchr(name, '/');
        size_t folder = slash && common->text[0] != '/' ? (size_t)(slash - name) + 1 : 0;
        if (snprintf(name + folder, sizeof name - folder, "%s", common->text) >=
            (int)(sizeof name - folder))
            return brio__node_error(common, p->error, "the name is too long");
    }
    return BRIO_OK;
}

static BrioStatus read_units(Poly *p)
{
    static const char *const keys[] = {"length", "mass", "time", "characteristic_length"};
    double *const unit[] = {&p->length, &p->mass, &p->time};
    Value map = poly_get(p->root, "units");
    poly_unknown(p, map, "units", keys, (int)BRIO_COUNT(keys));
    for (int i = 0; i < 3; i++) {
        Value value = poly_get(map, keys[i]);
        if (value.count) BRIO_CHECK(poly_unit(p, poly_first(value), unit[i]));
    }
    return BRIO_OK;
}

static BrioStatus read_time(Poly *p)
{
    static const char *const keys[] = {"t0",         "tend",       "dt",
                                       "time_steps", "integrator", "quasistatic"};
    Value map = poly_get(p->root, "time");
    double steps, end;
    p->is_static = !map.count || poly_is_true(poly_get(map, "quasistatic"), false);
    p->start = 0;
    p->h = p->end = p->time;
    if (!map.count) return BRIO_OK;
    poly_unknown(p, map, "time", keys, (int)BRIO_COUNT(keys));
    BRIO_CHECK(poly_real(p, poly_get(map, "t0"), 0, &p->start));
    BRIO_CHECK(poly_real(p, poly_get(map, "tend"), NAN, &end));
    BRIO_CHECK(poly_real(p, poly_get(map, "dt"), NAN, &p->h));
    BRIO_CHECK(poly_real(p, poly_get(map, "time_steps"), NAN, &steps));
    if (isnan(p->h)) p->h = (end - p->start) / steps;
    if (isnan(end)) end = p->start + steps * p->h;
    if (!(p->h > 0 && end > p->start && isfinite(p->h) && isfinite(end)))
        return brio__node_error(poly_first(map), p->error,
                                "expected two of tend, dt and time_steps, all positive");
    p->start *= p->time;
    p->h *= p->time;
    p->end = end * p->time - p->start;
    return BRIO_OK;
}

/* Parts that are of no use here, or would be needed. */
static void read_rest(Poly *p)
{
    static const char *const keys[] = {"geometry",
                                       "materials",
                                       "units",
                                       "common",
                                       "root_path",
                                       "patch",
                                       "space",
                                       "time",
                                       "contact",
                                       "solver",
                                       "tests",
                                       "boundary_conditions",
                                       "initial_conditions",
                                       "output",
                                       "input",
                                       "preset_problem",
                                       "authors",
                                       "description",
                                       "title"};
    static const char *const space_keys[] = {"discr_order", "pressure_discr_order",
                                             "basis_type",  "poly_basis_type",
                                             "use_p_ref",   "remesh",
                                             "advanced"};
    Value space = poly_get(p->root, "space"), value;
    poly_unknown(p, p->root, "a scene", keys, (int)BRIO_COUNT(keys));
    poly_unknown(p, space, "space", space_keys, (int)BRIO_COUNT(space_keys));
    value = poly_get(space, "discr_order");
    if (strcmp(poly_text(value, "1"), "1"))
        poly_loss(p, poly_first(value),
                  "discr_order: brio's tets are of first order; a stiff or bent body is stiffer "
                  "with them");
    value = poly_get(space, "basis_type");
    if (strcmp(poly_text(value, "Lagrange"), "Lagrange"))
        poly_loss(p, poly_first(value), "basis_type: brio has linear tets");
    value = poly_get(space, "use_p_ref");
    if (poly_is_true(value, false))
        poly_loss(p, poly_first(value), "use_p_ref: brio's tets are of first order");
    value = poly_get(poly_get(space, "remesh"), "enabled");
    if (poly_is_true(value, false))
        poly_loss(p, poly_first(value), "remesh: brio keeps its meshes");
    value = poly_get(poly_get(poly_get(p->root, "input"), "data"), "state");
    if (poly_text(value, "")[0])
        poly_loss(p, poly_first(value),
                  "input: the scene starts there from a state of the other program, and here from "
                  "rest");
    value = poly_get(p->root, "patch");
    if (value.count)
        poly_loss(
            p, poly_first(value),
            "patch: changes of single values of a common document are not made; write them as "
            "keys");
    value = poly_get(p->root, "preset_problem");
    if (value.count)
        poly_loss(p, poly_first(value), "preset_problem: brio has no problems with a name");
}

/* The folder of names of files: that of the document, or root_path from there. The last document
 * behind it that has a root_path is stronger, which is from its own folder. */
static void find_base(Poly *p)
{
    for (int i = 0; i < p->root.count; i++) {
        const BrioNode *root = brio__node_get(p->document[i], "root_path");
        bool given = root && root->kind == BRIO_NODE_SCALAR && root->text[0] && !is_null(root);
        const char *name = given && root->file ? root->file : p->name, *slash = strrchr(name, '/');
        if (!given && i > 0) continue;
        snprintf(p->base, sizeof p->base, "%.*s", slash ? (int)(slash - name) + 1 : 2,
                 slash ? name : "./");
        size_t used = given && root->text[0] == '/' ? 0 : strlen(p->base);
        if (given) snprintf(p->base + used, sizeof p->base - used, "%s/", root->text);
    }
}

static BrioStatus read_all_of_it(Poly *p)
{
    BRIO_CHECK(read_documents(p));
    find_base(p);
    if (!poly_get(p->root, "geometry").count)
        return brio__node_error(p->document[0], p->error,
                                "the scene has no \"geometry\": this is no scene of polyfem, or an "
                                "old one");
    BRIO_CHECK(read_units(p));
    BRIO_CHECK(read_time(p));
    read_rest(p);
    p->contact = poly_is_true(poly_get(poly_get(p->root, "contact"), "enabled"), false);
    BRIO_CHECK(poly_read_materials(p));
    return poly_read_geometry(p);
}

BrioStatus import_polyfem(const char *name, const char *folder, FILE *out, ImportReport *report,
                          BrioError *error)
{
    Poly p = {.name = name,
              .folder = folder,
              .report = report,
              .error = error,
              .out = out,
              .length = 1,
              .mass = 1,
              .time = 1};
    BrioStatus status = read_all_of_it(&p);
    if (status == BRIO_OK) {
        locale_t before = brio__c_locale_enter();
        status = poly_write(&p);
        brio__c_locale_leave(before);
    }
    for (int i = 0; i < p.geometries; i++) {
        if (!p.geometry[i].borrowed) brio_mesh_free(p.geometry[i].mesh);
    }
    brio__free(p.geometry);
    brio__free(p.material);
    for (int i = 0; i < MAX_DOCUMENTS; i++) brio__tree_free(p.document[i]);
    return status;
}
