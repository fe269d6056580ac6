/* PLY, the Stanford polygon format, ASCII and binary of both byte orders: a header of elements and
 * their properties, then the elements one after the other. Of `vertex` x, y and z are kept, of
 * `face` the list of vertices (fans of triangles), of `edge` its two vertices; other properties and
 * elements are passed over. */
#include "readers.h"
#include "writers.h"

#include <string.h>

enum { MAX_ELEMENTS = 16, MAX_PROPERTIES = 64 };

typedef enum Role { ROLE_NONE, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS, ROLE_FROM, ROLE_TO } Role;

typedef struct Property {
    BrioNumberType type, count_type; /* count_type: of a list's length */
    bool list;
    Role role;
} Property;

typedef enum Kind { KIND_OTHER, KIND_VERTEX, KIND_FACE, KIND_EDGE } Kind;

typedef struct Element {
    char name[24];
    Kind kind;
    int64_t count;
    int properties;
    Property property[MAX_PROPERTIES];
} Element;

static BrioStatus read_type(BrioScan *scan, BrioNumberType *type)
{
    static const struct {
        const char *name, *other;
        BrioNumberType type;
    } types[] = {{"char", "int8", BRIO_INT8},        {"uchar", "uint8", BRIO_UINT8},
                 {"short", "int16", BRIO_INT16},     {"ushort", "uint16", BRIO_UINT16},
                 {"int", "int32", BRIO_INT32},       {"uint", "uint32", BRIO_UINT32},
                 {"float", "float32", BRIO_FLOAT32}, {"double", "float64", BRIO_FLOAT64},
                 {"long", "int64", BRIO_INT64},      {"ulong", "uint64", BRIO_UINT64}};
    char word[16], found[64];
    BRIO_CHECK(brio__scan_word(scan, "a type such as \"float\" or \"int\"", word, sizeof word));
    for (size_t i = 0; i < BRIO_COUNT(types); i++)
        if (!strcmp(word, types[i].name) || !strcmp(word, types[i].other))
            return *type = types[i].type, BRIO_OK;
    brio__scan_found(scan, found, sizeof found);
    return brio__scan_error(
        scan,
        "expected a type, one of char, uchar, short, ushort, int, uint, float and double, found %s",
        found);
}

static Role role_of(const Element *element, const Property *p, const char *name)
{
    static const struct {
        Kind kind;
        bool list;
        const char *name;
        Role role;
    } roles[] = {{KIND_VERTEX, false, "x", ROLE_X},
                 {KIND_VERTEX, false, "y", ROLE_Y},
                 {KIND_VERTEX, false, "z", ROLE_Z},
                 {KIND_FACE, true, "vertex_indices", ROLE_CORNERS},
                 {KIND_FACE, true, "vertex_index", ROLE_CORNERS},
                 {KIND_EDGE, false, "vertex1", ROLE_FROM},
                 {KIND_EDGE, false, "vertex2", ROLE_TO}};
    for (size_t i = 0; i < BRIO_COUNT(roles); i++)
        if (element->kind == roles[i].kind && p->list == roles[i].list &&
            !strcmp(name, roles[i].name))
            return roles[i].role;
    return ROLE_NONE;
}

static BrioStatus read_property(BrioScan *scan, Element *element)
{
    char word[32];
    if (element->properties == MAX_PROPERTIES)
        return brio__scan_error(scan, "more than %d properties of one element", MAX_PROPERTIES);
    Property *p = &element->property[element->properties];
    const char *start = scan->at;
    *p = (Property){0};
    BRIO_CHECK(brio__scan_word(scan, "a type, or \"list\"", word, sizeof word));
    p->list = !strcmp(word, "list");
    if (p->list) {
        BRIO_CHECK(read_type(scan, &p->count_type));
        if (brio__number_real(p->count_type))
            return brio__scan_error(
                scan, "the length of a list is of a type with a fraction; it must be an integer");
    } else {
        scan->at = start;
    }
    BRIO_CHECK(read_type(scan, &p->type));
    const char *type = scan->token;
    BRIO_CHECK(brio__scan_word(scan, "the name of the property", word, sizeof word));
    p->role = role_of(element, p, word);
    if (p->role >= ROLE_CORNERS && brio__number_real(p->type)) {
        scan->token = type;
        return brio__scan_error(
            scan, "numbers of vertices must be of a type of integers, such as \"int\"");
    }
    for (int i = 0; p->role && i < element->properties; i++)
        if (element->property[i].role == p->role)
            return brio__scan_error(scan, "the property \"%s\" occurs twice", word);
    element->properties++;
    return BRIO_OK;
}

static bool has_role(const Element *element, Role role)
{
    for (int i = 0; i < element->properties; i++)
        if (element->property[i].role == role) return true;
    return false;
}

static BrioStatus check_element(const BrioScan *scan, const Element *e)
{
    if (e->kind == KIND_VERTEX &&
        !(has_role(e, ROLE_X) && has_role(e, ROLE_Y) && has_role(e, ROLE_Z)))
        return brio__scan_error(scan, "the element \"vertex\" needs the properties x, y and z");
    if (e->kind == KIND_FACE && e->count && !has_role(e, ROLE_CORNERS))
        return brio__scan_error(scan,
                                "the element \"face\" needs a property list \"vertex_indices\"");
    if (e->kind == KIND_EDGE && e->count && !(has_role(e, ROLE_FROM) && has_role(e, ROLE_TO)))
        return brio__scan_error(scan,
                                "the element \"edge\" needs the properties vertex1 and vertex2");
    return BRIO_OK;
}

static BrioStatus read_format(BrioScan *scan, bool *binary)
{
    char word[32], found[64];
    BRIO_CHECK(brio__scan_word(scan, "the format", word, sizeof word));
    *binary = strcmp(word, "ascii") != 0;
    scan->big_endian = !strcmp(word, "binary_big_endian");
    if (!*binary || scan->big_endian || !strcmp(word, "binary_little_endian")) return BRIO_OK;
    brio__scan_found(scan, found, sizeof found);
    return brio__scan_error(
        scan, "expected ascii, binary_little_endian or binary_big_endian, found %s", found);
}

static BrioStatus read_header(BrioScan *scan, Element *element, int *elements, bool *binary)
{
    char word[32];
    bool has_format = false;
    *elements = 0;
    BRIO_CHECK(brio__scan_word(scan, "\"ply\" at the start of the file", word, sizeof word));
    if (strcmp(word, "ply")) {
        char found[64];
        brio__scan_found(scan, found, sizeof found);
        return brio__scan_error(scan, "expected \"ply\" at the start of the file, found %s", found);
    }
    scan->by_line = true;
    for (;;) {
        brio__scan_skip_line(scan);
        if (!brio__scan_next_line(scan)) return brio__scan_expected(scan, "\"end_header\"", 0);
        const char *start = scan->at;
        BRIO_CHECK(brio__scan_word(scan, "a line of the header", word, sizeof word));
        if (!strcmp(word, "end_header")) break;
        if (!strcmp(word, "comment") || !strcmp(word, "obj_info")) continue;
        if (!strcmp(word, "format")) {
            BRIO_CHECK(read_format(scan, binary));
            has_format = true;
        } else if (!strcmp(word, "element")) {
            if (*elements) BRIO_CHECK(check_element(scan, &element[*elements - 1]));
            if (*elements == MAX_ELEMENTS)
                return brio__scan_error(scan, "more than %d kinds of elements", MAX_ELEMENTS);
            Element *e = &element[(*elements)++];
            *e = (Element){0};
            BRIO_CHECK(brio__scan_word(scan, "the name of the element", e->name, sizeof e->name));
            e->kind = !strcmp(e->name, "vertex") ? KIND_VERTEX
                      : !strcmp(e->name, "face") ? KIND_FACE
                      : !strcmp(e->name, "edge") ? KIND_EDGE
                                                 : KIND_OTHER;
            BRIO_CHECK(brio__scan_count(scan, "the number of elements", 1, &e->count));
        } else if (!strcmp(word, "property")) {
            if (!*elements) return brio__scan_error(scan, "a property before any element");
            BRIO_CHECK(read_property(scan, &element[*elements - 1]));
        } else {
            scan->at = start;
            return brio__scan_expected(scan, "\"element\", \"property\" or \"end_header\"", 0);
        }
    }
    if (!has_format)
        return brio__scan_error(scan,
                                "the header has no line \"format\", such as \"format ascii 1.0\"");
    if (*elements) BRIO_CHECK(check_element(scan, &element[*elements - 1]));
    brio__scan_skip_line(scan);
    return BRIO_OK;
}

static BrioStatus pass_list(BrioScan *scan, const Property *p, int64_t length)
{
    double ignored;
    if (scan->binary) {
        /* as many bytes are there: brio__value_count */
        scan->at += length * brio__number_size(p->type);
        return BRIO_OK;
    }
    for (int64_t i = 0; i < length; i++)
        BRIO_CHECK(brio__scan_real(scan, "a value of a list", 0, &ignored));
    return BRIO_OK;
}

static BrioStatus read_row(BrioScan *scan, BrioDraft *draft, const Element *e, int64_t row)
{
    double point[3] = {0}, ignored;
    int32_t end[2] = {0};
    for (int i = 0; i < e->properties; i++) {
        const Property *p = &e->property[i];
        int64_t length;
        if (p->list) {
            BRIO_CHECK(brio__value_count(scan, p->count_type, "the length of a list",
                                         scan->binary ? brio__number_size(p->type) : 2, &length));
            scan->index = p->type;
            if (p->role == ROLE_CORNERS)
                BRIO_CHECK(brio__draft_read_polygon(draft, scan, length, 0));
            else
                BRIO_CHECK(pass_list(scan, p, length));
        } else if (p->role >= ROLE_FROM) {
            scan->index = p->type;
            BRIO_CHECK(
                brio__draft_index(scan, 0, draft->vertex_count, end + (p->role - ROLE_FROM)));
        } else if (p->role) {
            BRIO_CHECK(brio__value_real(scan, p->type, "a coordinate of vertex", row,
                                        point + (p->role - ROLE_X)));
        } else if (scan->binary) {
            if (scan->end - scan->at < brio__number_size(p->type)) {
                scan->token = scan->at;
                return brio__scan_error(scan, "the file ends within %s no. %lld: it is cut off",
                                        e->kind == KIND_OTHER ? "an element" : e->name,
                                        (long long)row);
            }
            scan->at += brio__number_size(p->type);
        } else {
            BRIO_CHECK(brio__scan_real(scan, "a property of element", row, &ignored));
        }
    }
    if (e->kind == KIND_VERTEX) return brio__draft_vertex(draft, scan, point);
    return e->kind == KIND_EDGE ? brio__draft_element(draft, scan, 2, end) : BRIO_OK;
}

/* The least number of bytes that a row takes. */
static int64_t row_bytes(const Element *e, bool binary)
{
    int64_t bytes = 0;
    for (int i = 0; i < e->properties; i++)
        bytes += !binary ? 2
                         : brio__number_size(e->property[i].list ? e->property[i].count_type
                                                                 : e->property[i].type);
    return bytes;
}

static BrioStatus parse(BrioScan *scan, BrioDraft *draft, Element *element)
{
    int elements;
    bool binary = false, vertices = false;
    BRIO_CHECK(read_header(scan, element, &elements, &binary));
    scan->binary = binary;
    if (!binary) BRIO_CHECK(brio__scan_ascii(scan));
    scan->by_line = false;
    for (int i = 0; i < elements; i++) {
        const Element *e = &element[i];
        int64_t bytes = row_bytes(e, binary), left = scan->end - scan->at;
        scan->token = scan->at;
        if (e->kind == KIND_VERTEX && vertices)
            return brio__scan_error(scan, "a second element \"vertex\"");
        vertices |= e->kind == KIND_VERTEX;
        if (bytes == 0) continue; /* rows without properties are nothing */
        if (e->count > (left + 1) / bytes)
            return brio__scan_error(
                scan,
                "the header announces %lld of \"%.20s\", but only %lld bytes are left, too few for "
                "so many: the file is cut off, or the number is wrong",
                (long long)e->count, e->kind == KIND_OTHER ? "another element" : e->name,
                (long long)left);
        for (int64_t row = 1; row <= e->count; row++) BRIO_CHECK(read_row(scan, draft, e, row));
    }
    return BRIO_OK;
}

static BrioStatus read_ply(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    BrioScan scan;
    BrioDraft draft = {0};
    *mesh = NULL;
    Element *element = brio__alloc(MAX_ELEMENTS, sizeof *element);
    if (!element)
        return brio__error_at(error, BRIO_ERROR_MEMORY, file, 0, 0, NULL,
                              "out of memory while reading the mesh");
    brio__scan_start(&scan, file, text, size, 0, error);
    BrioStatus status = parse(&scan, &draft, element);
    brio__free(element);
    return brio__draft_finish(&draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_ply = {
    .extension = ".ply", .summary = "PLY, ASCII and binary", .read = read_ply};

/* ---- writing ---------------------------------------------------------------------------- */

static void write_ply(const BrioMesh *mesh, bool ascii, FILE *file)
{
    fprintf(file,
            "ply\nformat %s 1.0\ncomment written by brio\nelement vertex %lld\nproperty double "
            "x\nproperty double y\nproperty double z\n",
            ascii ? "ascii" : "binary_little_endian", (long long)mesh->vertex_count);
    fprintf(file, "element face %lld\nproperty list uchar int vertex_indices\n",
            (long long)mesh->triangle_count);
    if (mesh->edge_count)
        fprintf(file, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
                (long long)mesh->edge_count);
    fputs("end_header\n", file);
    if (ascii) {
        brio__put_points(mesh, "", "\n", file);
        brio__put_elements(mesh->triangle, mesh->triangle_count, 3, 0, "3 ", "\n", file);
        brio__put_elements(mesh->edge, mesh->edge_count, 2, 0, "", "\n", file);
        return;
    }
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) brio__put_double(mesh->x[i], false, file);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        fputc(3, file);
        for (int k = 0; k < 3; k++) brio__put_int32(mesh->triangle[3 * t + k], false, file);
    }
    for (int64_t i = 0; i < 2 * mesh->edge_count; i++) brio__put_int32(mesh->edge[i], false, file);
}

const BrioMeshWriter brio__writer_ply = {.extension = ".ply",
                                         .triangles = true,
                                         .edges = true,
                                         .has_ascii = true,
                                         .has_binary = true,
                                         .write = write_ply};
