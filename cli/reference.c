#include "reference.h"

#include "commands.h"

#include "contact/law.h"
#include "contact/obstacle.h"
#include "damping/damping.h"
#include "linear/linear.h"
#include "mesh/mesh.h"
#include "output/json.h"
#include "presets.h"
#include "scene/scene.h"

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
    static const char *const types[] = {"number",        "whole number", "three numbers",
                                        "true or false", "choice",       "list of numbers"};
    FieldText t = {.range = "", .standard = ""};
    BrioWord word = field->type == BRIO_REAL ? brio__field_word(field, 0) : (BrioWord){""};
    snprintf(t.type, sizeof t.type, "%s%s%s", types[field->type], word.text[0] ? " or " : "",
             word.text);
    if (field->type == BRIO_CHOICE) {
        snprintf(t.standard, sizeof t.standard, "%s",
                 brio__field_word(field, (int)field->standard).text);
        snprintf(t.range, sizeof t.range, "%s", field->unit);
        return t;
    }
    if (field->type == BRIO_LIST)
        snprintf(t.standard, sizeof t.standard, "none");
    else if (isnan(field->standard))
        snprintf(t.standard, sizeof t.standard, "%s", field->required ? "required" : "none");
    else if (field->type == BRIO_BOOLEAN)
        snprintf(t.standard, sizeof t.standard, "%s", field->standard != 0 ? "true" : "false");
    else
        number(field->standard, t.standard, sizeof t.standard);
    if (field->type == BRIO_BOOLEAN) return t;
    char low[32], high[32];
    double least = nearby(field->least), most = nearby(field->most);
    bool below = field->least > -DBL_MAX, above = field->most < DBL_MAX;
    number(least, low, sizeof low);
    number(most, high, sizeof high);
    if (below && field->least > 0 && field->least <= 1e-100)
        snprintf(t.range, sizeof t.range, above ? "positive, up to %s" : "positive", high);
    else if (below && above)
        snprintf(t.range, sizeof t.range, "%s %s to %s %s", field->least > least ? "above" : "from",
                 low, field->most < most ? "below" : "", high);
    else if (below)
        snprintf(t.range, sizeof t.range, "%s %s", field->least > least ? "above" : "at least",
                 low);
    else if (above)
        snprintf(t.range, sizeof t.range, "%s %s", field->most < most ? "below" : "at most", high);
    for (char *twice; (twice = strstr(t.range, "  "));) memmove(twice, twice + 1, strlen(twice));
    return t;
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
    *e = (Entry){found->name, found->summary, found->citation, found->fields, note};
    return true;
}

static Entry energy_entry(const BrioEnergy *energy)
{
    static const char *const notes[] = {[BRIO_ELEMENT_VERTEX] = "every vertex",
                                        [BRIO_ELEMENT_SPRING] = "springs",
                                        [BRIO_ELEMENT_ANCHOR] = "springs to points",
                                        [BRIO_ELEMENT_TET] = "solids",
                                        [BRIO_ELEMENT_BAR] = "bars along x",
                                        [BRIO_ELEMENT_CONTACT] = "obstacles",
                                        [BRIO_ELEMENT_POINT] = "points",
                                        [BRIO_ELEMENT_TRIANGLE] = "shells",
                                        [BRIO_ELEMENT_HINGE] = "hinges of shells",
                                        [BRIO_ELEMENT_PAIR] = "pairs that come close",
                                        [BRIO_ELEMENT_FRICTION] = "pairs in contact",
                                        [BRIO_ELEMENT_AFFINE] = "affine bodies"};
    return (Entry){energy->name, energy->summary, energy->citation, energy->fields,
                   notes[energy->element]};
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
    *e = (Entry){law->name, law->summary, law->citation, law->fields,
                 law->traits & BRIO_LAW_VERTICES ? "between vertices" : "between surfaces"};
    return true;
}

static bool obstacle_at(int i, Entry *e)
{
    const BrioObstacleType *type = brio__obstacle_type_at(i);
    if (!type) return false;
    *e = (Entry){type->name, type->summary, NULL, type->fields, NULL};
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
    *e = (Entry){found->name, found->summary, found->citation, found->fields,
                 found->brakes_translation ? "brakes translation and rotation too"
                 : found->brakes_rotation  ? "brakes rotation too"
                                           : "deformation only"};
    return true;
}

static bool solver_at(int i, Entry *e)
{
    if (i == 0) {
        *e = (Entry){"newton", "Projected Newton with a line search; keys in the section `solver`.",
                     "Teran2005", NULL, "solver.type"};
        return true;
    }
    if (i == 1) {
        *e = (Entry){"root",
                     "Newton on gradient = 0 with the merit |gradient|^2: slower than minimising, "
                     "kept for comparison.",
                     "Kharevych2006", NULL, "solver.type"};
        return true;
    }
    if (i == 2) {
        *e = (Entry){"local-global",
                     "A fixed number of iterations with one constant matrix (Projective Dynamics, "
                     "L-BFGS where energies are no projections): real time.",
                     "Bouaziz2014", NULL, "solver.type"};
        return true;
    }
    const BrioLinearType *found = brio__linear_at(i - 3);
    if (!found) return false;
    *e = (Entry){found->name, found->summary, found->citation, NULL, "solver.linear"};
    return true;
}

static bool shape_at(int i, Entry *e)
{
    const BrioShape *found = brio__shape_at(i);
    if (!found) return false;
    *e = (Entry){found->name, found->summary, NULL, found->fields, found->kind};
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
    *e = (Entry){found->name, summary, NULL, NULL, NULL};
    return true;
}

static bool frames_at(int i, Entry *e)
{
    const BrioFrameFormat *found = brio__frames_at(i);
    if (!found) return false;
    *e = (Entry){found->name, found->summary, NULL, NULL, NULL};
    return true;
}

static bool reader_at(int i, Entry *e)
{
    const BrioMeshReader *found = brio__mesh_reader_at(i);
    if (!found) return false;
    *e = (Entry){found->extension, found->summary, NULL, NULL, NULL};
    return true;
}

/* Names of the scenes that ship, sorted, and the title of one. */
static bool scene_at(int i, Entry *e)
{
    enum { MOST = 256 };
    static char names[MOST][64], title[256];
    static int count = -1;
    if (count < 0) {
        DIR *listing = opendir(brio_scenes_folder());
        count = 0;
        for (struct dirent *entry; listing && count < MOST && (entry = readdir(listing));) {
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
    *e = (Entry){names[i], title, NULL, NULL, NULL};
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
    {"solvers", "`solver: {type: NAME, linear: NAME}`", "", solver_at},
    {"shapes", "`shape: {type: NAME, ...}` of a body", "", shape_at},
    {"scenes", "`brio run NAME`", "No scenes were found beside the program.", scene_at},
    {"frames", "`output: {frames: [NAME]}`", "", frames_at},
    {"meshes", "`mesh: FILE` of a body, by the ending of the name", "", reader_at},
};

const Family *family_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(families) ? &families[i] : NULL;
}

/* ---- as JSON ---------------------------------------------------------------------------- */

static void json_fields(BrioJson *json, const BrioField *fields)
{
    brio__json_open(json, "fields", '[');
    for (const BrioField *f = fields; f && f->name; f++) {
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", f->name);
        brio__json_text(json, "type", field_text(f).type);
        brio__json_text(json, "unit", brio__field_unit(f).text);
        if (brio__field_word(f, 0).text[0]) {
            brio__json_open(json, "words", '[');
            for (int k = 0; brio__field_word(f, k).text[0]; k++)
                brio__json_text(json, NULL, brio__field_word(f, k).text);
            brio__json_close(json, ']');
        }
        brio__json_real(json, "default", f->standard);
        brio__json_real(json, "least", f->least);
        brio__json_real(json, "most", f->most);
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

static void print_fields(FILE *file, const BrioField *fields, bool markdown)
{
    if (markdown && fields && fields->name)
        fputs("\n| key | takes | default | |\n|---|---|---|---|\n", file);
    for (const BrioField *f = fields; f && f->name; f++) {
        FieldText t = field_text(f);
        BrioWord unit = brio__field_unit(f);
        char takes[320];
        snprintf(takes, sizeof takes, "%s%s%s%s%s", t.type, unit.text[0] ? ", " : "", unit.text,
                 t.range[0] ? "; " : "", t.range);
        if (markdown) {
            fprintf(file, "| `%s` |", f->name);
            print_cell(file, takes);
            print_cell(file, t.standard);
            print_cell(file, f->summary);
            fputc('\n', file);
        } else {
            fprintf(file, "      %-12s %s [%s]\n", f->name, takes, t.standard);
            print_wrapped(file, f->summary, 19, 110);
        }
    }
}

static void print_section(FILE *file, const BrioSection *s, bool markdown)
{
    if (markdown)
        fprintf(file, "\n## %s%s%s%s\n\n| key | takes | default | |\n|---|---|---|---|\n",
                s->summary, s->path[0] ? ": `" : "", s->path, s->path[0] ? "`" : "");
    else
        fprintf(file, "\n%s%s%s\n", s->summary, s->path[0] ? ": " : "", s->path);
    for (const BrioKey *k = s->keys; k->name; k++) {
        if (markdown) {
            fprintf(file, "| `%s` |", k->name);
            print_cell(file, k->value);
            print_cell(file, k->standard);
            print_cell(file, k->summary);
            fputc('\n', file);
        } else {
            fprintf(file, "  %-15s %s%s%s%s\n", k->name, k->value, k->standard[0] ? " [" : "",
                    k->standard, k->standard[0] ? "]" : "");
            print_wrapped(file, k->summary, 18, 110);
        }
    }
}

void print_reference(FILE *file, bool markdown)
{
    static const char *const shown[] = {"shapes",  "materials", "presets", "integrators",
                                        "solvers", "frames",    "meshes"};
    if (markdown)
        fputs("# The scene file\n\n<!-- Written by `brio help scene --markdown`: change the tables "
              "in src/, not this "
              "file. -->\n\n",
              file);
    print_wrapped(file,
                  "A scene is a YAML file (so JSON as well) in SI units; y is up. Numbers may be "
                  "written as fractions: "
                  "1/30. Files are "
                  "named relative to the scene file. Vertices are counted from 0 and keep the "
                  "order of the mesh file. "
                  "Every error is "
                  "answered with file, line, column and the path of the key; `brio check SCENE` "
                  "looks without running.",
                  0, 110);
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
