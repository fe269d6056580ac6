/* What users can choose from and set: families of plug-ins with their parameters, and the keys of a
 * scene. `brio list`, `brio help scene` and the playground print the same rows. */
#include "reference.h"

#include "commands.h"

#include "internal.h"

#include <dirent.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ----------------------------------------------------------------------------- */

static void number(double value, char *text, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

/* The round number next to a bound that excludes it by a hair. */
static double nearby(double bound)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", bound);
    double round = strtod(text, NULL);
    return fabs(round - bound) <= 1e-11 * fabs(bound) ? round : bound;
}

FieldText field_text(const BrioField *field)
{
    static const char *const types[] = {"number",        "integer", "three numbers",
                                        "true or false", "choice",  "list of numbers"};
    FieldText t = {.range = "", .standard = ""};
    BrioWord word = field->type == BRIO_REAL ? brio__field_word(field, 0) : (BrioWord){""};
    snprintf(t.type, sizeof t.type, "%s%s%s", types[field->type], word.text[0] ? " or " : "",
             word.text);
    if (field->type == BRIO_CHOICE) {
        snprintf(t.standard, sizeof t.standard, "%s",
                 brio__field_word(field, (int)field->default_value).text);
        snprintf(t.range, sizeof t.range, "%s", field->unit);
        return t;
    }
    if (field->type == BRIO_LIST)
        snprintf(t.standard, sizeof t.standard, "none");
    else if (isnan(field->default_value))
        snprintf(t.standard, sizeof t.standard, "%s", field->required ? "required" : "none");
    else if (field->default_value == INFINITY && word.text[0])
        snprintf(t.standard, sizeof t.standard, "%s", word.text);
    else if (field->type == BRIO_BOOLEAN)
        snprintf(t.standard, sizeof t.standard, "%s", field->default_value != 0 ? "true" : "false");
    else
        number(field->default_value, t.standard, sizeof t.standard);
    if (field->type == BRIO_BOOLEAN) return t;
    char low[32], high[32];
    double min = nearby(field->min), max = nearby(field->max);
    bool below = field->min > -DBL_MAX, above = field->max < DBL_MAX;
    number(min, low, sizeof low);
    number(max, high, sizeof high);
    if (below && field->min > 0 && field->min <= 1e-100)
        snprintf(t.range, sizeof t.range, above ? "positive, up to %s" : "positive", high);
    else if (below && above)
        snprintf(t.range, sizeof t.range, "%s %s to %s %s", field->min > min ? "above" : "from",
                 low, field->max < max ? "below" : "", high);
    else if (below)
        snprintf(t.range, sizeof t.range, "%s %s", field->min > min ? "above" : "at least", low);
    else if (above)
        snprintf(t.range, sizeof t.range, "%s %s", field->max < max ? "below" : "at most", high);
    for (char *twice; (twice = strstr(t.range, "  "));) memmove(twice, twice + 1, strlen(twice));
    return t;
}

/* ---- keys of a scene -------------------------------------------------------------------- */

/* "a | b" of "a|b" */
static void choices(const BrioField *field, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; brio__field_word(field, k).text[0] && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k ? " | " : "",
                                 brio__field_word(field, k).text);
}

static void default_text(const BrioKey *key, char *text, size_t size)
{
    int width = brio__key_width(key);
    bool several = width == 3 && (key->components || !isnan(key->field.default_value));
    text[0] = 0;
    if (key->field.required) {
        snprintf(text, size, "required");
    } else if (key->words || key->text) {
        snprintf(text, size, "%s", key->words ? key->words : key->text);
    } else if (key->form == BRIO_KEY_SCALE) {
        number(key->field.default_value, text, size);
    } else if (several) {
        char part[3][24];
        for (int i = 0; i < 3; i++)
            number(key->components ? key->components[i] : key->field.default_value, part[i],
                   sizeof part[i]);
        snprintf(text, size, "[%s, %s, %s]", part[0], part[1], part[2]);
    } else if (key->form == BRIO_KEY_FIELD && !isnan(key->field.default_value)) {
        snprintf(text, size, "%s", field_text(&key->field).standard);
    }
}

KeyText key_text(const BrioKey *key)
{
    static const char *const forms[] = {[BRIO_KEY_SCALE] = "number, or three",
                                        [BRIO_KEY_COUNTS] = "three integers",
                                        [BRIO_KEY_BALL] = "[[x, y, z], number]",
                                        [BRIO_KEY_BOX] = "[[x, y, z], [x, y, z]]",
                                        [BRIO_KEY_MATRIX] = "three rows of three numbers",
                                        [BRIO_KEY_TEXT] = "text",
                                        [BRIO_KEY_FILE] = "file name",
                                        [BRIO_KEY_LIST] = "list",
                                        [BRIO_KEY_MAP] = "map",
                                        [BRIO_KEY_OTHER] = "value"};
    bool ranged =
        key->form == BRIO_KEY_FIELD || key->form == BRIO_KEY_SCALE || key->form == BRIO_KEY_COUNTS;
    FieldText field = field_text(&key->field);
    BrioWord unit = brio__field_unit(&key->field);
    KeyText t;
    default_text(key, t.initial, sizeof t.initial);
    if (key->form == BRIO_KEY_FIELD && key->field.type == BRIO_CHOICE) {
        choices(&key->field, t.takes, sizeof t.takes);
        return t;
    }
    const char *range = ranged ? field.range : "";
    snprintf(t.takes, sizeof t.takes, "%s%s%s%s%s",
             key->takes                    ? key->takes
             : key->form == BRIO_KEY_FIELD ? field.type
                                           : forms[key->form],
             unit.text[0] ? ", " : "", unit.text, range[0] ? "; " : "", range);
    return t;
}

static bool section_at(int i, Entry *e)
{
    const BrioSection *found = brio__scene_section_at(i);
    if (!found) return false;
    *e = (Entry){.name = found->path[0] ? found->path : "scene",
                 .summary = found->summary,
                 .keys = found->keys};
    return true;
}

/* ---- families --------------------------------------------------------------------------- */

static bool integrator_at(int i, Entry *e)
{
    static const struct {
        unsigned trait;
        const char *name;
    } traits[] = {{BRIO_SYMPLECTIC, "symplectic"},
                  {BRIO_KEEPS_LINEAR_MOMENTUM, "keeps linear momentum"},
                  {BRIO_KEEPS_ANGULAR_MOMENTUM, "keeps angular momentum"},
                  {BRIO_ENERGY_CONTROLLED, "controls energy"},
                  {BRIO_DISSIPATIVE, "dissipative"}};
    static char note[160];
    const BrioIntegrator *found = brio_integrator_at(i);
    if (!found) return false;
    int used =
        snprintf(note, sizeof note, "%s", found->traits & BRIO_IMPLICIT ? "implicit" : "explicit");
    if (found->order > 0)
        used += snprintf(note + used, sizeof note - (size_t)used, ", order %d", found->order);
    for (size_t k = 0; k < BRIO_COUNT(traits); k++)
        if (found->traits & traits[k].trait)
            used += snprintf(note + used, sizeof note - (size_t)used, ", %s", traits[k].name);
    *e = (Entry){found->name, found->summary, found->citation, found->fields, note, NULL};
    return true;
}

static Entry energy_entry(const BrioEnergy *energy)
{
    return (Entry){energy->name,
                   energy->summary,
                   energy->citation,
                   energy->fields,
                   brio__element(energy)->note,
                   NULL};
}

static bool energy_at(int i, Entry *e)
{
    if (!brio__energy_at(i)) return false;
    *e = energy_entry(brio__energy_at(i));
    return true;
}

static bool law_at(int i, Entry *e)
{
    const BrioLaw *law = brio__law_at(i);
    if (!law) return false;
    *e = (Entry){.name = law->name,
                 .summary = law->summary,
                 .citation = law->citation,
                 .fields = law->fields,
                 .note = law->traits & BRIO_LAW_VERTICES ? "between vertices" : "between surfaces"};
    return true;
}

static bool obstacle_at(int i, Entry *e)
{
    const BrioObstacleType *type = brio__obstacle_type_at(i);
    if (!type) return false;
    *e = (Entry){.name = type->name, .summary = type->summary, .fields = type->fields};
    return true;
}

static bool material_at(int i, Entry *e)
{
    for (int k = 0; brio__energy_at(k); k++)
        if (brio__energy_is_material(brio__energy_at(k)) && i-- == 0) {
            *e = energy_entry(brio__energy_at(k));
            return true;
        }
    return false;
}

static bool damping_at(int i, Entry *e)
{
    const BrioDampingModel *found = brio__damping_model_at(i);
    if (!found) return false;
    *e = (Entry){found->name,
                 found->summary,
                 found->citation,
                 found->fields,
                 found->brakes_translation ? "also damps translation and rotation"
                 : found->brakes_rotation  ? "brakes rotation too"
                                           : "deformation only",
                 NULL};
    return true;
}

static bool force_at(int i, Entry *e)
{
    const BrioForceType *found = NULL;
    for (int k = 0; i >= 0 && (found = brio__force_type_at(k)); k++)
        if ((!found->called || found->def) && i-- == 0) break; /* functions are not for scenes */
    if (!found) return false;
    bool potential = found->energy || found->volume;
    *e = (Entry){found->name,
                 found->summary,
                 found->citation,
                 found->fields,
                 potential ? "has a potential" : "no potential",
                 NULL};
    return true;
}

static bool constraint_at(int i, Entry *e)
{
    const BrioConstraintType *found = brio__constraint_type_at(i);
    if (!found) return false;
    *e = (Entry){found->name,
                 found->summary,
                 found->citation,
                 found->fields,
                 found->axis ? "needs an axis" : NULL,
                 NULL};
    return true;
}

/* Those of the primitive first, then the linear ones. */
static bool solver_at(int i, Entry *e)
{
    int count = 0;
    while (brio__solver_type_at(count)) count++;
    if (i < count) {
        const BrioSolverType *type = brio__solver_type_at(i);
        *e = (Entry){type->name, type->summary, type->citation, NULL, "solver.type", NULL};
        return true;
    }
    const BrioLinearType *found = brio__linear_at(i - count);
    if (!found) return false;
    *e = (Entry){found->name, found->summary, found->citation, NULL, "solver.linear", NULL};
    return true;
}

static bool shape_at(int i, Entry *e)
{
    const BrioShape *found = brio__shape_at(i);
    if (!found) return false;
    *e = (Entry){found->name, found->summary, NULL, found->fields, found->kind, NULL};
    return true;
}

static bool preset_at(int i, Entry *e)
{
    static char summary[512];
    const BrioPreset *found = brio__preset_at(i);
    if (!found) return false;
    int n = snprintf(summary, sizeof summary, "%s {type: %s", found->summary, found->type);
    for (int k = 0; found->value[k].field; k++)
        n += snprintf(summary + n, sizeof summary - (size_t)n, ", %s: %g", found->value[k].field,
                      found->value[k].value);
    snprintf(summary + n, sizeof summary - (size_t)n, "}");
    *e = (Entry){found->name, summary, NULL, NULL, NULL, NULL};
    return true;
}

static bool frames_at(int i, Entry *e)
{
    const BrioFrameFormat *found = brio__frames_at(i);
    if (!found) return false;
    *e = (Entry){found->name, found->summary, NULL, NULL, NULL, NULL};
    return true;
}

static bool reader_at(int i, Entry *e)
{
    const BrioMeshReader *found = brio__mesh_reader_at(i);
    if (!found) return false;
    *e = (Entry){found->extension, found->summary, NULL, NULL, NULL, NULL};
    return true;
}

/* Names of the scenes that ship, sorted, and the title of one. */
static bool scene_at(int i, Entry *e)
{
    enum { MAX = 256 };
    static char names[MAX][64], title[256];
    static int count = -1;
    if (count < 0) {
        DIR *listing = opendir(brio_scenes_folder());
        count = 0;
        for (struct dirent *entry; listing && count < MAX && (entry = readdir(listing));) {
            char *dot = strrchr(entry->d_name, '.');
            if (!dot || strcmp(dot, ".yaml") || (size_t)(dot - entry->d_name) >= sizeof names[0])
                continue;
            snprintf(names[count++], sizeof names[0], "%.*s", (int)(dot - entry->d_name),
                     entry->d_name);
        }
        if (listing) closedir(listing);
        qsort(names, (size_t)count, sizeof names[0], (int (*)(const void *, const void *))strcmp);
    }
    if (i >= count) return false;
    char path[4096];
    BrioNode *tree = NULL, *node = NULL;
    title[0] = 0;
    if (brio__scene_path(names[i], path, sizeof path) &&
        brio__tree_read(path, &tree, NULL) == BRIO_OK && tree->kind == BRIO_NODE_MAP)
        node = brio__node_get(tree, "title");
    if (node && node->text) snprintf(title, sizeof title, "%s", node->text);
    brio__tree_free(tree);
    *e = (Entry){names[i], title, NULL, NULL, NULL, NULL};
    return true;
}

static const Family families[] = {
    {"integrators", "`integrator: NAME` or `integrator: {type: NAME, ...}`", "", integrator_at},
    {"energies", "materials, gravity, attachments and barriers", "", energy_at},
    {"materials", "`material: {type: NAME, ...}` of a body, or under `materials`", "", material_at},
    {"presets",
     "`material: NAME` or `material: {type: NAME, ...}` of a body, with numbers of a real "
     "substance",
     "", preset_at},
    {"laws", "`contact: {type: NAME, ...}`", "", law_at},
    {"obstacles", "`obstacles: [{type: NAME, ...}]`: those with a formula for the distance", "",
     obstacle_at},
    {"damping", "`damping: [{type: NAME, ...}]`", "There are no damping models in this version.",
     damping_at},
    {"forces", "`forces: [{type: NAME, ...}]`", "", force_at},
    {"constraints", "`constraints: [{type: NAME, ...}]`", "", constraint_at},
    {"solvers", "`solver: {type: NAME, linear: NAME}`", "", solver_at},
    {"shapes", "`shape: {type: NAME, ...}` of a body", "", shape_at},
    {"scenes", "`brio run NAME`", "No scenes were found next to the program.", scene_at},
    {"frames", "`output: {frames: [NAME]}`", "", frames_at},
    {"meshes", "`mesh: FILE` of a body, by the file extension", "", reader_at},
    {"keys", "the maps of a scene file and their keys", "", section_at},
};

const Family *family_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(families) ? &families[i] : NULL;
}

/* ---- as JSON ---------------------------------------------------------------------------- */

static void json_words(BrioJson *json, const BrioField *field)
{
    if (!brio__field_word(field, 0).text[0]) return;
    brio__json_open(json, "words", '[');
    for (int k = 0; brio__field_word(field, k).text[0]; k++)
        brio__json_text(json, NULL, brio__field_word(field, k).text);
    brio__json_close(json, ']');
}

/* "least" and "most" are the names of 0.1, kept for one version. */
static void json_range(BrioJson *json, const BrioField *field)
{
    brio__json_real(json, "min", field->min);
    brio__json_real(json, "max", field->max);
    brio__json_real(json, "least", field->min);
    brio__json_real(json, "most", field->max);
}

static void json_fields(BrioJson *json, const BrioField *fields)
{
    brio__json_open(json, "fields", '[');
    for (const BrioField *f = fields; f && f->name; f++) {
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", f->name);
        brio__json_text(json, "type", field_text(f).type);
        brio__json_text(json, "unit", brio__field_unit(f).text);
        json_words(json, f);
        brio__json_real(json, "default", f->default_value);
        json_range(json, f);
        brio__json_boolean(json, "required", f->required);
        brio__json_text(json, "summary", f->summary);
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
}

/* The default of a key: a number, a list of them, a text, or null where words tell it. */
static void json_default(BrioJson *json, const BrioKey *key)
{
    int width = brio__key_width(key);
    if (key->text) {
        brio__json_text(json, "default", key->text);
    } else if (width <= 1) {
        brio__json_real(json, "default", key->field.default_value);
    } else {
        brio__json_open(json, "default", '[');
        for (int i = 0; i < width; i++)
            brio__json_real(json, NULL,
                            key->components ? key->components[i] : key->field.default_value);
        brio__json_close(json, ']');
    }
}

static void json_keys(BrioJson *json, const BrioKey *keys)
{
    brio__json_open(json, "keys", '[');
    for (const BrioKey *k = keys; k->field.name; k++) {
        const BrioField *f = &k->field;
        KeyText text = key_text(k);
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", f->name);
        brio__json_text(json, "takes", text.takes);
        brio__json_text(json, "unit", brio__field_unit(f).text);
        json_words(json, f);
        json_default(json, k);
        brio__json_text(json, "default_text", text.initial);
        json_range(json, f);
        brio__json_boolean(json, "required", f->required);
        brio__json_text(json, "summary", f->summary);
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
}

void family_json(FILE *file, const Family *family)
{
    BrioJson json = {.file = file};
    Entry e;
    brio__json_open(&json, NULL, '[');
    for (int i = 0; family->at(i, &e); i++) {
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "name", e.name);
        brio__json_text(&json, "summary", e.summary);
        if (e.note) brio__json_text(&json, "note", e.note);
        if (e.citation) brio__json_text(&json, "citation", e.citation);
        if (e.keys)
            json_keys(&json, e.keys);
        else
            json_fields(&json, e.fields);
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
}

/* ---- the scene reference ---------------------------------------------------------------- */

static void print_cell(FILE *file, const char *text)
{
    fputs(" ", file);
    for (; *text; text++) {
        if (*text == '|') fputc('\\', file);
        fputc(*text, file);
    }
    fputs(" |", file);
}

/* A row of the reference: a name, what it takes, its default and what it means. */
typedef struct RowText {
    const char *name, *summary;
    char takes[320], initial[128];
} RowText;

static RowText field_row(const BrioField *f)
{
    FieldText t = field_text(f);
    BrioWord unit = brio__field_unit(f);
    RowText row = {.name = f->name, .summary = f->summary};
    bool said = strstr(f->summary, "efault:"); /* the sentence has the default */
    snprintf(row.takes, sizeof row.takes, "%s%s%s%s%s", t.type, unit.text[0] ? ", " : "", unit.text,
             t.range[0] ? "; " : "", t.range);
    snprintf(row.initial, sizeof row.initial, "%s", said ? "" : t.standard);
    return row;
}

static RowText key_row(const BrioKey *k)
{
    KeyText t = key_text(k);
    RowText row = {.name = k->field.name, .summary = k->field.summary};
    memcpy(row.takes, t.takes, sizeof row.takes);
    memcpy(row.initial, t.initial, sizeof row.initial);
    return row;
}

/* `indent`, `width`: columns before the name, and of the name. */
static void print_row(FILE *file, const RowText *row, int indent, int width)
{
    fprintf(file, "%*s%-*s %s%s%s%s\n", indent, "", width, row->name, row->takes,
            row->initial[0] ? " [" : "", row->initial, row->initial[0] ? "]" : "");
    print_wrapped(file, row->summary, indent + width + 1, 110);
}

static void print_markdown_row(FILE *file, const RowText *row)
{
    fprintf(file, "| `%s` |", row->name);
    print_cell(file, row->takes);
    print_cell(file, row->initial);
    print_cell(file, row->summary);
    fputc('\n', file);
}

static void print_fields(FILE *file, const BrioField *fields, bool markdown)
{
    if (markdown && fields && fields->name)
        fputs("\n| key | value | default | meaning |\n|---|---|---|---|\n", file);
    for (const BrioField *f = fields; f && f->name; f++) {
        RowText row = field_row(f);
        if (markdown)
            print_markdown_row(file, &row);
        else
            print_row(file, &row, 6, 12);
    }
}

static void print_section(FILE *file, const BrioSection *s, bool markdown)
{
    if (markdown)
        fprintf(file, "\n## %s%s%s%s\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
                s->summary, s->path[0] ? ": `" : "", s->path, s->path[0] ? "`" : "");
    else
        fprintf(file, "\n%s%s%s\n", s->summary, s->path[0] ? ": " : "", s->path);
    for (const BrioKey *k = s->keys; k->field.name; k++) {
        RowText row = key_row(k);
        if (markdown)
            print_markdown_row(file, &row);
        else
            print_row(file, &row, 2, 15);
    }
}

static const char example[] =
    "time: {h: 1/60, end: 1, fps: 30}\n"
    "integrator: a-search                    # or {type: a-search, decay: 2}\n"
    "contact: {type: ipc, mu: 0.3}\n"
    "bodies:\n"
    "  - name: jelly\n"
    "    shape: {type: box, size: [0.1, 0.1, 0.1], cells: [5, 5, 5]}      # or mesh: bunny.obj\n"
    "    material: jelly                     # a preset, or {type: neo-hookean, E: 5000, ...}\n"
    "    transform: {translate: [0, 0.2, 0]}\n"
    "obstacles:\n"
    "  - {type: plane, normal: [0, 1, 0]}\n";

void print_reference(FILE *file, bool markdown)
{
    static const char *const shown[] = {"shapes",      "materials", "presets", "laws",
                                        "obstacles",   "damping",   "forces",  "constraints",
                                        "integrators", "solvers",   "frames",  "meshes"};
    if (markdown)
        fputs("# The scene file\n\n<!-- Written by `brio help scene --markdown`: change the tables "
              "in src/, not this "
              "file. -->\n\n",
              file);
    print_wrapped(file,
                  "A scene is a YAML file; JSON works too. Units are SI; y is up. Numbers may "
                  "be fractions: 1/30. File names are relative to the scene file. Vertices are "
                  "counted from 0, in the order of the mesh file. Errors name the file, the line, "
                  "the column and the path of the key. `brio check SCENE` checks a scene without "
                  "running.",
                  0, 110);
    fputs(markdown ? "\nA complete scene:\n\n```yaml\n" : "\nA complete scene:\n\n", file);
    print_lines(file, markdown ? "" : "  ", example);
    if (markdown) fputs("```\n", file);
    for (int i = 0; brio__scene_section_at(i); i++)
        print_section(file, brio__scene_section_at(i), markdown);
    for (size_t i = 0; i < BRIO_COUNT(shown); i++)
        for (int k = 0; family_at(k); k++) {
            const Family *family = family_at(k);
            Entry e;
            if (strcmp(family->name, shown[i])) continue;
            if (markdown)
                fprintf(file, "\n## Available %s\n\n%s\n", family->name, family->where);
            else
                fprintf(file, "\nAvailable %s: %s\n", family->name, family->where);
            for (int n = 0; family->at(n, &e); n++) {
                if (markdown)
                    fprintf(file, "\n### %s\n\n%s%s%s%s\n", e.name, e.summary, e.note ? " (" : "",
                            e.note ? e.note : "", e.note ? ")" : "");
                else
                    fprintf(file, "  %-20s %s\n", e.name, e.summary);
                print_fields(file, e.fields, markdown);
            }
        }
}

/* ---- one topic -------------------------------------------------------------------------- */

/* Whether a section of this path is about `name`: "bodies[].fix[]" about "fix". */
static bool is_about(const char *path, const char *name)
{
    const char *last = strrchr(path, '.');
    if (!strcmp(path, name)) return true;
    last = last ? last + 1 : path;
    return strcspn(last, "[ ") == strlen(name) && !strncmp(last, name, strlen(name));
}

/* Families whose entries are named elsewhere too: keys in their sections, energies as materials. */
static bool is_double(const Family *family)
{
    return !strcmp(family->name, "keys") || !strcmp(family->name, "energies");
}

static bool print_entries(FILE *file, const char *name)
{
    bool found = false;
    for (int k = 0; family_at(k); k++) {
        const Family *family = family_at(k);
        Entry e;
        if (is_double(family)) continue;
        for (int n = 0; family->at(n, &e); n++) {
            if (strcmp(e.name, name)) continue;
            fprintf(file, "%s%s (%s): %s\n", found ? "\n" : "", e.name, family->name,
                    family->where);
            print_wrapped(file, e.summary, 2, 110);
            if (e.note) print_wrapped(file, e.note, 2, 110);
            print_fields(file, e.fields, false);
            if (e.citation) fprintf(file, "  `brio cite %s`\n", e.citation);
            found = true;
        }
    }
    return found;
}

static bool has_row(const Entry *e, const char *name, RowText *row)
{
    for (const BrioField *f = e->fields; f && f->name; f++)
        if (!strcmp(f->name, name)) {
            *row = field_row(f);
            return true;
        }
    return false;
}

static bool same_row(const RowText *a, const RowText *b)
{
    return !strcmp(a->takes, b->takes) && !strcmp(a->initial, b->initial) &&
           !strcmp(a->summary, b->summary);
}

/* The entries of a family from the nth on that describe a parameter as `row` does, by commas. */
static void names_with(const Family *family, int n, const RowText *row, char *names, size_t size)
{
    Entry e;
    RowText other;
    size_t used = 0;
    names[0] = 0;
    for (; family->at(n, &e) && used < size; n++)
        if (has_row(&e, row->name, &other) && same_row(row, &other))
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "", e.name);
}

/* A parameter of entries of a family, once for all that describe it alike. */
static void print_parameter(FILE *file, const Family *family, const char *name, bool *first)
{
    Entry e;
    RowText row, other;
    for (int n = 0; family->at(n, &e); n++) {
        if (!has_row(&e, name, &row)) continue;
        bool seen = false;
        for (int m = 0; m < n && !seen; m++)
            seen = family->at(m, &e) && has_row(&e, name, &other) && same_row(&row, &other);
        if (seen) continue;
        char names[1024];
        names_with(family, n, &row, names, sizeof names);
        fprintf(file, "%sParameter of %s, %s:\n", *first ? "" : "\n", family->name, family->where);
        print_wrapped(file, names, 2, 110);
        print_row(file, &row, 2, 15);
        *first = false;
    }
}

/* Whether the entries of a family stand at the key `name`: "`contact: {type: NAME, ...}`". */
static bool stands_at(const Family *family, const char *name)
{
    const char *where = family->where + (family->where[0] == '`');
    size_t length = strlen(name);
    return !strncmp(where, name, length) && where[length] == ':';
}

/* A key or parameter wherever a scene has it; `parent`: only there, if not NULL. */
static bool print_key(FILE *file, const char *parent, const char *name)
{
    bool first = true;
    for (int i = 0; brio__scene_section_at(i); i++) {
        const BrioSection *s = brio__scene_section_at(i);
        if (parent && !is_about(s->path, parent)) continue;
        for (const BrioKey *k = s->keys; k->field.name; k++) {
            if (strcmp(k->field.name, name)) continue;
            RowText row = key_row(k);
            fprintf(file, "%s%s%s%s\n", first ? "" : "\n", s->summary, s->path[0] ? ": " : "",
                    s->path);
            print_row(file, &row, 2, 15);
            first = false;
        }
    }
    for (int k = 0; family_at(k); k++)
        if (!is_double(family_at(k)) && (!parent || stands_at(family_at(k), parent)))
            print_parameter(file, family_at(k), name, &first);
    return !first;
}

/* `path` may name the map too: solver.tol. */
static bool print_path(FILE *file, const char *path)
{
    const char *last = strrchr(path, '.');
    char parent[64];
    if (!last) return print_key(file, NULL, path);
    snprintf(parent, sizeof parent, "%.*s", (int)(last - path), path);
    const char *inner = strrchr(parent, '.');
    return print_key(file, inner ? inner + 1 : parent, last + 1) || print_key(file, NULL, last + 1);
}

bool print_topic(FILE *file, const char *name)
{
    bool found = print_entries(file, name);
    for (int i = 0; brio__scene_section_at(i); i++) {
        const BrioSection *s = brio__scene_section_at(i);
        if (!is_about(s->path, name)) continue;
        print_section(file, s, false);
        found = true;
    }
    return found || print_path(file, name);
}

const char *nearest_topic(const char *name)
{
    const char *names[1024];
    int count = 0;
    Entry e;
    for (int k = 0; family_at(k); k++)
        for (int n = 0; family_at(k)->at(n, &e); n++) {
            if (count < (int)BRIO_COUNT(names)) names[count++] = e.name;
            for (const BrioField *f = e.fields; f && f->name; f++)
                if (count < (int)BRIO_COUNT(names)) names[count++] = f->name;
        }
    for (int i = 0; brio__scene_section_at(i); i++)
        for (const BrioKey *key = brio__scene_section_at(i)->keys; key->field.name; key++)
            if (count < (int)BRIO_COUNT(names)) names[count++] = key->field.name;
    return brio__nearest(name, names, count);
}
