/* Physical groups of Gmsh files (Gmsh reference manual, "File formats"). $PhysicalNames, which is
 * text in binary files too, names pairs of dimension and tag. An element of version 2 has the tag
 * as its first; in version 4 the entity of its block has any number of them ($Entities). The
 * vertices of a group are those of its elements; groups of one name are one group. */
#include "msh_groups.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 127 }; /* as Gmsh has it */

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_groups(const void *a, const void *b)
{
    const BrioPhysical *p = a, *q = b;
    int order = compare(p->dimension, q->dimension);
    return order ? order : compare(p->tag, q->tag);
}

static int compare_entities(const void *a, const void *b)
{
    const BrioEntity *p = a, *q = b;
    int order = compare(p->dimension, q->dimension);
    if (!order) order = compare(p->tag, q->tag);
    return order ? order : compare(p->physical, q->physical);
}

static int compare_vertices(const void *a, const void *b)
{
    return compare(*(const int32_t *)a, *(const int32_t *)b);
}

static void forget_names(BrioMshGroups *g)
{
    for (int64_t i = 0; i < g->group_count; i++) {
        brio__free(g->group[i].name);
        brio__free(g->group[i].vertex);
    }
    brio__free(g->group);
    g->group = NULL;
    g->group_count = 0;
}

void brio__msh_free_groups(BrioMshGroups *g)
{
    forget_names(g);
    brio__free(g->entity);
}

/* ---- sections --------------------------------------------------------------------------- */

/* A name in quotation marks, which may hold blanks, on the rest of the line. */
static BrioStatus read_name(BrioScan *scan, char name[MAX_NAME + 1])
{
    if (!brio__scan_more(scan) || *scan->at != '"')
        return brio__scan_expected(scan, "a name in quotation marks", 0);
    const char *first = scan->at + 1, *last = first;
    while (last < scan->end && *last != '"' && *last != '\n') last++;
    if (last >= scan->end || *last != '"' || last == first || last - first > MAX_NAME)
        return brio__scan_expected(scan, "a name in quotation marks", 0);
    memcpy(name, first, (size_t)(last - first));
    name[last - first] = 0;
    scan->at = last + 1;
    return BRIO_OK;
}

static BrioStatus read_names(BrioMshGroups *g, BrioScan *scan)
{
    int64_t count, tag, dimension;
    BRIO_CHECK(brio__scan_count(scan, "the number of names", 6, &count));
    if (!(g->group = brio__calloc((size_t)count + 1, sizeof *g->group))) return BRIO_ERROR_MEMORY;
    for (int64_t i = 1; i <= count; i++) {
        char name[MAX_NAME + 1];
        BRIO_CHECK(brio__scan_integer(scan, "the dimension of group", i, &dimension));
        BRIO_CHECK(brio__scan_integer(scan, "the tag of group", i, &tag));
        BRIO_CHECK(read_name(scan, name));
        BrioPhysical *group = &g->group[g->group_count++];
        *group = (BrioPhysical){.dimension = dimension, .tag = tag, .name = brio__strdup(name)};
        if (!group->name) return BRIO_ERROR_MEMORY;
    }
    qsort(g->group, (size_t)g->group_count, sizeof *g->group, compare_groups);
    return BRIO_OK;
}

BrioStatus brio__msh_read_names(BrioMshGroups *g, BrioScan scan)
{
    BrioError ignored = {0};
    scan.error = &ignored;
    scan.binary = false;
    forget_names(g);
    BrioStatus status = read_names(g, &scan);
    if (status == BRIO_OK || status == BRIO_ERROR_MEMORY) return status;
    forget_names(g);
    return BRIO_OK;
}

static BrioStatus add_entity(BrioMshGroups *g, BrioEntity entity)
{
    if (g->entity_count == g->entity_room) {
        int64_t room = BRIO_MAX((int64_t)64, 2 * g->entity_room);
        BrioEntity *grown =
            brio__realloc(g->entity, (size_t)g->entity_count, (size_t)room, sizeof *grown);
        if (!grown) return BRIO_ERROR_MEMORY;
        g->entity = grown;
        g->entity_room = room;
    }
    g->entity[g->entity_count++] = entity;
    return BRIO_OK;
}

/* Tag, box (a point in version 4.1), groups, and what bounds it. */
static BrioStatus read_entity(BrioMshGroups *g, BrioScan *scan, int dimension, bool old4)
{
    int64_t tag, count, value;
    double bound;
    BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the tag of an entity", 0, &tag));
    for (int k = 0; k < (dimension == 0 && !old4 ? 3 : 6); k++)
        BRIO_CHECK(brio__value_real(scan, BRIO_FLOAT64, "a bound of an entity", 0, &bound));
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of groups", 2, &count));
    for (int64_t k = 0; k < count; k++) {
        BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the tag of a group", 0, &value));
        BRIO_CHECK(add_entity(g, (BrioEntity){dimension, tag, value < 0 ? -value : value}));
    }
    if (dimension == 0) return BRIO_OK;
    BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of bounds", 2, &count));
    for (int64_t k = 0; k < count; k++)
        BRIO_CHECK(brio__value_integer(scan, BRIO_INT32, "the tag of a bound", 0, &value));
    return BRIO_OK;
}

static BrioStatus read_entities(BrioMshGroups *g, BrioScan *scan, bool old4)
{
    int64_t count[4];
    for (int d = 0; d < 4; d++)
        BRIO_CHECK(brio__value_count(scan, BRIO_UINT64, "the number of entities", 8, &count[d]));
    for (int d = 0; d < 4; d++)
        for (int64_t i = 0; i < count[d]; i++) BRIO_CHECK(read_entity(g, scan, d, old4));
    if (g->entity_count)
        qsort(g->entity, (size_t)g->entity_count, sizeof *g->entity, compare_entities);
    return BRIO_OK;
}

BrioStatus brio__msh_read_entities(BrioMshGroups *g, BrioScan scan, bool binary, bool old4)
{
    BrioError ignored = {0};
    scan.error = &ignored;
    g->entity_count = 0;
    if (binary) {
        brio__scan_skip_line(&scan);
        scan.binary = true;
    }
    BrioStatus status = read_entities(g, &scan, old4);
    if (status == BRIO_OK || status == BRIO_ERROR_MEMORY) return status;
    g->entity_count = 0;
    return BRIO_OK;
}

/* ---- vertices --------------------------------------------------------------------------- */

BrioStatus brio__msh_add_physical(BrioMshGroups *g, int64_t dimension, int64_t physical,
                                  int corners, const int32_t *vertex)
{
    BrioPhysical key = {.dimension = dimension, .tag = physical < 0 ? -physical : physical};
    if (g->group_count == 0) return BRIO_OK;
    BrioPhysical *group =
        bsearch(&key, g->group, (size_t)g->group_count, sizeof *g->group, compare_groups);
    if (!group) return BRIO_OK;
    if (group->count + corners > group->room) {
        int64_t room = BRIO_MAX((int64_t)64, 2 * group->room);
        int32_t *grown =
            brio__realloc(group->vertex, (size_t)group->count, (size_t)room, sizeof *grown);
        if (!grown) return BRIO_ERROR_MEMORY;
        group->vertex = grown;
        group->room = room;
    }
    memcpy(group->vertex + group->count, vertex, (size_t)corners * sizeof *vertex);
    group->count += corners;
    return BRIO_OK;
}

BrioStatus brio__msh_add_entity(BrioMshGroups *g, int64_t dimension, int64_t entity, int corners,
                                const int32_t *vertex)
{
    int64_t low = 0, high = g->entity_count; /* the first row of the entity is in [low, high] */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const BrioEntity *e = &g->entity[middle];
        bool before = e->dimension < dimension || (e->dimension == dimension && e->tag < entity);
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t i = low; i < g->entity_count; i++) {
        const BrioEntity *e = &g->entity[i];
        if (e->dimension != dimension || e->tag != entity) break;
        BRIO_CHECK(brio__msh_add_physical(g, dimension, e->physical, corners, vertex));
    }
    return BRIO_OK;
}

static int compare_names(const void *a, const void *b)
{
    const BrioPhysical *const *p = a, *const *q = b;
    int order = strcmp((*p)->name, (*q)->name);
    return order ? order : compare_groups(*p, *q);
}

/* Groups by name, each vertex once. `group` has room for them all. */
static BrioStatus collect(const BrioMshGroups *g, const BrioPhysical **group, BrioVertexGroups *r)
{
    int64_t count = 0, used = 0;
    for (int64_t i = 0; i < g->group_count; i++)
        if (g->group[i].count) group[count++] = &g->group[i];
    qsort(group, (size_t)count, sizeof *group, compare_names);
    for (int64_t i = 0; i < count;) {
        int64_t first = used, kept = used;
        const char *name = group[i]->name;
        if (!(r->name[r->count++] = brio__strdup(name))) return BRIO_ERROR_MEMORY;
        for (; i < count && !strcmp(group[i]->name, name); i++) {
            memcpy(r->vertex + used, group[i]->vertex, (size_t)group[i]->count * sizeof(int32_t));
            used += group[i]->count;
        }
        qsort(r->vertex + first, (size_t)(used - first), sizeof *r->vertex, compare_vertices);
        for (int64_t k = first; k < used; k++)
            if (k == first || r->vertex[k] != r->vertex[kept - 1]) r->vertex[kept++] = r->vertex[k];
        r->start[r->count] = used = kept;
    }
    return BRIO_OK;
}

BrioStatus brio__msh_finish_groups(const BrioMshGroups *g, BrioVertexGroups **result)
{
    int64_t names = 0, vertices = 0;
    for (int64_t i = 0; i < g->group_count; i++) {
        names += g->group[i].count > 0;
        vertices += g->group[i].count;
    }
    if (names == 0 || names > INT32_MAX) return BRIO_OK;
    BrioVertexGroups *r = brio__calloc(1, sizeof *r);
    if (!r) return BRIO_ERROR_MEMORY;
    r->name = brio__calloc((size_t)names, sizeof *r->name);
    r->start = brio__calloc((size_t)names + 1, sizeof *r->start);
    r->vertex = brio__alloc((size_t)vertices, sizeof *r->vertex);
    const BrioPhysical **group = brio__alloc((size_t)names, sizeof *group);
    BrioStatus status =
        r->name && r->start && r->vertex && group ? collect(g, group, r) : BRIO_ERROR_MEMORY;
    brio__free(group);
    if (status == BRIO_OK)
        *result = r;
    else
        brio__vertex_groups_free(r);
    return status;
}
