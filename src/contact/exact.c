/* Exact predicates and the search for intersections.
 *
 * A predicate is first computed in doubles with a bound of its error, as Shewchuk does
 * [Shewchuk1997, Section 4]; what the bound cannot decide is computed again in whole numbers. All
 * coordinates of a predicate are whole multiples of one power of two, so differences, products and
 * sums of these numbers are exact whatever the exponents are: expansions would lose bits where
 * products underflow. */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

/* ---- whole numbers ---------------------------------------------------------------------- */

/* Doubles reach from 2^-1074 to 2^1024: 2098 bits, one more for a difference. A product of three
 * differences and the sum of six such take three times that and three bits. */
enum { LIMBS = 204 };

typedef struct Whole {
    int sign, size; /* size limbs, the highest not zero; sign 0: zero, size 0 */
    uint32_t limb[LIMBS];
} Whole;

static void trim(Whole *w, int sign)
{
    while (w->size > 0 && w->limb[w->size - 1] == 0) w->size--;
    w->sign = w->size ? sign : 0;
}

/* value = mantissa * 2^exponent with an odd mantissa */
static uint64_t odd_part(double value, int *exponent)
{
    uint64_t bits, mantissa;
    memcpy(&bits, &value, sizeof bits);
    mantissa = bits & 0xfffffffffffffu;
    int power = (int)(bits >> 52 & 0x7ff);
    if (power) mantissa |= 1ull << 52; /* 0: subnormal, without the leading bit */
    int zeros = __builtin_ctzll(mantissa);
    *exponent = BRIO_MAX(power, 1) - 1075 + zeros;
    return mantissa >> zeros;
}

/* The largest power of two of which all values that are not zero are multiples. */
static int common_exponent(const double *const *point, int points, int numbers)
{
    int least = 2000, exponent;
    for (int i = 0; i < points; i++)
        for (int r = 0; r < numbers; r++)
            if (point[i][r] != 0) {
                odd_part(point[i][r], &exponent);
                least = BRIO_MIN(least, exponent);
            }
    return least;
}

/* value / 2^unit */
static void whole_of(double value, int unit, Whole *w)
{
    w->sign = w->size = 0;
    if (value == 0) return;
    int exponent;
    uint64_t mantissa = odd_part(value, &exponent);
    int shift = exponent - unit, skip = shift / 32, bits = shift % 32;
    memset(w->limb, 0, (size_t)skip * sizeof *w->limb);
    w->limb[skip] = (uint32_t)(mantissa << bits);
    w->limb[skip + 1] = (uint32_t)(mantissa >> (32 - bits));
    w->limb[skip + 2] = bits ? (uint32_t)(mantissa >> 32 >> (32 - bits)) : 0;
    w->size = skip + 3;
    trim(w, value > 0 ? 1 : -1);
}

static int compare_sizes(const Whole *a, const Whole *b)
{
    if (a->size != b->size) return a->size > b->size ? 1 : -1;
    for (int i = a->size - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

/* out = a + sign b; out may be a */
static void add(const Whole *a, int sign, const Whole *b, Whole *out)
{
    sign *= b->sign;
    if (a->sign * sign >= 0) {
        const Whole *longer = a->size >= b->size ? a : b, *other = longer == a ? b : a;
        uint64_t carry = 0;
        for (int i = 0; i < longer->size; i++) {
            carry += (uint64_t)longer->limb[i] + (i < other->size ? other->limb[i] : 0);
            out->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        out->size = longer->size;
        if (carry) out->limb[out->size++] = (uint32_t)carry;
        trim(out, a->sign ? a->sign : sign);
        return;
    }
    bool a_larger = compare_sizes(a, b) >= 0;
    const Whole *large = a_larger ? a : b, *small = a_larger ? b : a;
    int64_t borrow = 0;
    for (int i = 0; i < large->size; i++) {
        borrow += (int64_t)large->limb[i] - (i < small->size ? small->limb[i] : 0);
        out->limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    out->size = large->size;
    trim(out, a_larger ? a->sign : sign);
}

static void multiply(const Whole *a, const Whole *b, Whole *out)
{
    out->sign = out->size = 0;
    if (!a->sign || !b->sign) return;
    memset(out->limb, 0, (size_t)(a->size + b->size) * sizeof *out->limb);
    for (int i = 0; i < a->size; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->size; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + out->limb[i + j];
            out->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        out->limb[i + b->size] = (uint32_t)carry;
    }
    out->size = a->size + b->size;
    trim(out, a->sign * b->sign);
}

static void difference_of(double a, const Whole *b, int unit, Whole *out)
{
    whole_of(a, unit, out);
    add(out, -1, b, out);
}

/* a d - b c */
static void determinant2(const Whole *a, const Whole *b, const Whole *c, const Whole *d, Whole *out)
{
    Whole ad, bc;
    multiply(a, d, &ad);
    multiply(b, c, &bc);
    add(&ad, -1, &bc, out);
}

static int whole_orient3d(const double *a, const double *b, const double *c, const double *d)
{
    const double *const point[4] = {a, b, c, d};
    int unit = common_exponent(point, 4, 3);
    Whole u[3], v[3], w[3], minor, part, sum;
    for (int r = 0; r < 3; r++) {
        Whole from;
        whole_of(a[r], unit, &from);
        difference_of(b[r], &from, unit, &u[r]);
        difference_of(c[r], &from, unit, &v[r]);
        difference_of(d[r], &from, unit, &w[r]);
    }
    sum.sign = sum.size = 0;
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        determinant2(&u[s], &u[t], &v[s], &v[t], &minor);
        multiply(&w[r], &minor, &part);
        add(&sum, 1, &part, &sum);
    }
    return sum.sign;
}

/* In the plane of the coordinates s and t. */
static int whole_orient2d(const double *a, const double *b, const double *c, int s, int t)
{
    const double point[6] = {a[s], a[t], b[s], b[t], c[s], c[t]};
    int unit = common_exponent((const double *const[]){point}, 1, 6);
    Whole u[2], v[2], from, out;
    for (int r = 0; r < 2; r++) {
        whole_of(point[r], unit, &from);
        difference_of(point[2 + r], &from, unit, &u[r]);
        difference_of(point[4 + r], &from, unit, &v[r]);
    }
    determinant2(&u[0], &u[1], &v[0], &v[1], &out);
    return out.sign;
}

static int whole_side(const double *n, const double *p, const double *x)
{
    int unit = common_exponent((const double *const[]){p, x}, 2, 3);
    int slope = common_exponent(&n, 1, 3);
    Whole from, along, normal, part, sum;
    sum.sign = sum.size = 0;
    for (int r = 0; r < 3; r++) {
        whole_of(p[r], unit, &from);
        difference_of(x[r], &from, unit, &along);
        whole_of(n[r], slope, &normal);
        multiply(&along, &normal, &part);
        add(&sum, 1, &part, &sum);
    }
    return sum.sign;
}

/* ---- signs ------------------------------------------------------------------------------ */

/* Every term of orient3d is a product of three differences and takes part in at most eight
 * roundings (three differences, two products, three sums), so its error is below ((1+u)^8 - 1)
 * times the sum of the terms' sizes, u = 2^-53; that sum is itself rounded as often. 18 u covers
 * both. Products that underflow lose at most 2^-1074 each, times a factor below LARGE: far below
 * SMALL. */
static const double ROUNDING = 18 * 0x1p-53, LARGE = 1e100, SMALL = 1e-200;

static int sign_of(double value) { return (value > 0) - (value < 0); }

static bool decided(double value, double size) { return fabs(value) > ROUNDING * size + SMALL; }

int brio__exact_orient3d(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], value = 0, size = 0, largest = 0;
    for (int r = 0; r < 3; r++) {
        u[r] = b[r] - a[r];
        v[r] = c[r] - a[r];
        w[r] = d[r] - a[r];
        /* a difference of doubles is zero only if they are equal */
        if (u[r] == 0 && v[r] == 0 && w[r] == 0) return 0;
        if (fabs(u[r]) > largest) largest = fabs(u[r]);
        if (fabs(v[r]) > largest) largest = fabs(v[r]);
        if (fabs(w[r]) > largest) largest = fabs(w[r]);
    }
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        double plus = u[s] * v[t], minus = u[t] * v[s];
        value += w[r] * (plus - minus);
        size += fabs(w[r]) * (fabs(plus) + fabs(minus));
    }
    if (largest < LARGE && decided(value, size)) return sign_of(value);
    return whole_orient3d(a, b, c, d);
}

static int orient2d(const double *a, const double *b, const double *c, int s, int t)
{
    double u[2] = {b[s] - a[s], b[t] - a[t]}, v[2] = {c[s] - a[s], c[t] - a[t]};
    if ((u[0] == 0 && v[0] == 0) || (u[1] == 0 && v[1] == 0) || (u[0] == 0 && u[1] == 0) ||
        (v[0] == 0 && v[1] == 0))
        return 0;
    double plus = u[0] * v[1];
    double minus = u[1] * v[0];
    double largest = fmax(fmax(fabs(u[0]), fabs(u[1])), fmax(fabs(v[0]), fabs(v[1])));
    if (largest < LARGE && decided(plus - minus, fabs(plus) + fabs(minus)))
        return sign_of(plus - minus);
    return whole_orient2d(a, b, c, s, t);
}

int brio__exact_side(const double *n, const double *p, const double *x)
{
    double value = 0, size = 0, largest = 0;
    for (int r = 0; r < 3; r++) {
        double along = x[r] - p[r];
        value += n[r] * along;
        size += fabs(n[r] * along);
        largest = fmax(largest, fmax(fabs(n[r]), fabs(along)));
    }
    return largest < LARGE && decided(value, size) ? sign_of(value) : whole_side(n, p, x);
}

/* ---- segments and triangles ------------------------------------------------------------- */

static bool overlap(double a, double b, double c, double d)
{
    return fmax(fmin(a, b), fmin(c, d)) <= fmin(fmax(a, b), fmax(c, d));
}

/* In the plane of the coordinates s and t; the ends of a segment may coincide. */
static bool segments_in_plane(const double *p, const double *q, const double *a, const double *b,
                              int s, int t)
{
    if (!overlap(p[s], q[s], a[s], b[s]) || !overlap(p[t], q[t], a[t], b[t])) return false;
    /* boxes overlap: for collinear segments that is all (their coordinates run along one line),
     * otherwise each must reach across the other */
    return orient2d(p, q, a, s, t) * orient2d(p, q, b, s, t) <= 0 &&
           orient2d(a, b, p, s, t) * orient2d(a, b, q, s, t) <= 0;
}

bool brio__exact_segments(const double *p, const double *q, const double *a, const double *b)
{
    if (brio__exact_orient3d(p, q, a, b) != 0) return false;
    /* A plane through all four: leaving out a coordinate keeps it one to one if some three of them
     * stay apart from a line. */
    for (int k = 0; k < 3; k++) {
        int s = (k + 1) % 3, t = (k + 2) % 3;
        if (orient2d(p, q, a, s, t) || orient2d(p, q, b, s, t) || orient2d(a, b, p, s, t) ||
            orient2d(a, b, q, s, t))
            return segments_in_plane(p, q, a, b, s, t);
    }
    for (int r = 0; r < 3; r++) /* on one line */
        if (!overlap(p[r], q[r], a[r], b[r])) return false;
    return true;
}

/* The segment lies in the triangle's plane. */
static bool meet_in_plane(const double *p, const double *q, const double *a, const double *b,
                          const double *c)
{
    for (int k = 0; k < 3; k++) {
        int s = (k + 1) % 3, t = (k + 2) % 3, turn = orient2d(a, b, c, s, t);
        if (turn == 0) continue;
        bool inside = turn * orient2d(a, b, p, s, t) >= 0 && turn * orient2d(b, c, p, s, t) >= 0 &&
                      turn * orient2d(c, a, p, s, t) >= 0;
        return inside || segments_in_plane(p, q, a, b, s, t) ||
               segments_in_plane(p, q, b, c, s, t) || segments_in_plane(p, q, c, a, s, t);
    }
    /* no area */
    return brio__exact_segments(p, q, a, b) || brio__exact_segments(p, q, b, c) ||
           brio__exact_segments(p, q, c, a);
}

bool brio__exact_segment_triangle(const double *p, const double *q, const double *a,
                                  const double *b, const double *c)
{
    int from = brio__exact_orient3d(a, b, c, p), to = brio__exact_orient3d(a, b, c, q);
    if (from * to > 0) return false;
    if (from == 0 && to == 0) return meet_in_plane(p, q, a, b, c);
    /* the line through p and q crosses the plane in one point, on the segment: in the triangle if
     * it passes all edges on the same side */
    int side[3] = {brio__exact_orient3d(p, q, a, b), 0, 0};
    side[1] = brio__exact_orient3d(p, q, b, c);
    if (side[0] * side[1] < 0) return false;
    side[2] = brio__exact_orient3d(p, q, c, a);
    return side[0] * side[2] >= 0 && side[1] * side[2] >= 0;
}

/* ---- surfaces --------------------------------------------------------------------------- */

/* A node of a tree of boxes: its left child follows it. */
typedef struct Node {
    double low[3], high[3];
    int64_t begin, end; /* primitives */
    int64_t right;      /* 0: a leaf */
} Node;

enum { LEAF = 4 };

typedef struct Tree {
    int corners; /* 3: triangles, 2: edges */
    int64_t count;
    const int32_t *vertex; /* [count][corners] */
    int32_t *order;
    double *middle; /* [count][3], doubled */
    Node *node;
    int64_t nodes;
} Tree;

struct BrioExact {
    const BrioSystem *system; /* NULL: a mesh by itself */
    BrioExactSurface surface;
    Tree triangles, lines;
    double *x;
};

/* The surface of a body or obstacle, in its own vertex numbers. */
typedef struct Part {
    const char *kind, *name;
    int64_t first;                      /* world vertex */
    int64_t triangle_count, edge_count; /* edges only where there are no triangles */
    const int32_t *triangle, *edge;
} Part;

static int owner_count(const BrioSystem *s) { return s->body_count + s->obstacle_count; }

static Part part_of(const BrioSystem *s, int owner)
{
    if (owner >= s->body_count) {
        const BrioObstacle *o = &s->obstacle[owner - s->body_count];
        return (Part){.kind = "obstacle",
                      .name = o->name,
                      .first = o->first,
                      .triangle_count = o->triangle_count,
                      .triangle = o->triangle};
    }
    const BrioBody *b = &s->body[owner];
    Part part = {.kind = "body", .name = b->name, .first = b->first};
    if (s->term[b->term].energy->traits & BRIO_ENERGY_ALONG_X) return part; /* has no sides */
    part.triangle_count = b->triangle_count;
    part.triangle = b->triangle;
    part.edge_count = b->triangle_count ? 0 : b->edge_count;
    part.edge = b->edge;
    return part;
}

/* Unique edges among `count` pairs that stand in `pair`, to the end of the surface's. */
static void add_edges(BrioExactSurface *f, uint64_t *pair, int64_t count, int owner)
{
    qsort(pair, (size_t)count, sizeof *pair, brio__ascending_keys);
    for (int64_t k = 0; k < count; k++) {
        if (k > 0 && pair[k] == pair[k - 1]) continue;
        f->edge[2 * f->edge_count] = (int32_t)(pair[k] >> 32);
        f->edge[2 * f->edge_count + 1] = (int32_t)pair[k];
        f->edge_owner[f->edge_count++] = owner;
    }
}

static uint64_t edge_key(int64_t a, int64_t b)
{
    return (uint64_t)BRIO_MIN(a, b) << 32 | (uint64_t)BRIO_MAX(a, b);
}

static void add_triangles(BrioExactSurface *f, const Part *part, int owner, uint64_t *pair)
{
    const int32_t *triangle = part->triangle;
    int64_t count = part->triangle_count, first = part->first;
    for (int64_t k = 0; k < 3 * count; k++) {
        f->triangle[3 * f->triangle_count + k] = (int32_t)(first + triangle[k]);
        pair[k] = edge_key(first + triangle[k], first + triangle[k % 3 == 2 ? k - 2 : k + 1]);
    }
    for (int64_t t = 0; t < count; t++) f->triangle_owner[f->triangle_count + t] = owner;
    f->triangle_first[owner] = f->triangle_count;
    f->triangle_count += count;
    add_edges(f, pair, 3 * count, owner);
}

/* Of a system, or if that is NULL of one part. */
static BrioStatus make_surface(const BrioSystem *s, const Part *only, BrioExactSurface *f)
{
    int64_t triangles = 0, edges = 0;
    int owners = s ? owner_count(s) : 1;
    for (int i = 0; i < owners; i++) {
        Part part = s ? part_of(s, i) : *only;
        triangles += part.triangle_count;
        edges += 3 * part.triangle_count + part.edge_count;
    }
    f->triangle = brio__alloc(3 * (size_t)triangles + 1, sizeof *f->triangle);
    f->triangle_owner = brio__alloc((size_t)triangles + 1, sizeof *f->triangle_owner);
    f->triangle_first = brio__calloc((size_t)owners + 1, sizeof *f->triangle_first);
    f->edge = brio__alloc(2 * (size_t)edges + 1, sizeof *f->edge);
    f->edge_owner = brio__alloc((size_t)edges + 1, sizeof *f->edge_owner);
    uint64_t *pair = brio__alloc((size_t)edges + 1, sizeof *pair);
    bool made =
        f->triangle && f->triangle_owner && f->triangle_first && f->edge && f->edge_owner && pair;
    for (int i = 0; made && i < owners; i++) {
        Part part = s ? part_of(s, i) : *only;
        add_triangles(f, &part, i, pair);
    }
    f->line_first = f->edge_count;
    for (int i = 0; made && i < owners; i++) {
        Part part = s ? part_of(s, i) : *only;
        for (int64_t e = 0; e < part.edge_count; e++)
            pair[e] = edge_key(part.first + part.edge[2 * e], part.first + part.edge[2 * e + 1]);
        add_edges(f, pair, part.edge_count, i);
    }
    brio__free(pair);
    return made ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- trees of boxes --------------------------------------------------------------------- */

static BrioStatus make_tree(Tree *tree, int corners, const int32_t *vertex, int64_t count)
{
    *tree = (Tree){.corners = corners, .count = count, .vertex = vertex};
    tree->order = brio__alloc((size_t)count + 1, sizeof *tree->order);
    tree->middle = brio__alloc(3 * (size_t)count + 1, sizeof *tree->middle);
    tree->node = brio__alloc((size_t)count + 1, sizeof *tree->node); /* leaves hold two at least */
    return tree->order && tree->middle && tree->node ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static void box_of(const double *x, const int32_t *vertex, int corners, double low[3],
                   double high[3])
{
    for (int r = 0; r < 3; r++) low[r] = INFINITY, high[r] = -INFINITY;
    for (int i = 0; i < corners; i++)
        for (int r = 0; r < 3; r++) {
            double value = x[3 * (int64_t)vertex[i] + r];
            if (value < low[r]) low[r] = value;
            if (value > high[r]) high[r] = value;
        }
}

/* Hoare's selection: the places before `k` hold the smaller middles. */
static void select_middle(Tree *tree, int64_t begin, int64_t end, int64_t k, int axis)
{
    const double *middle = tree->middle + axis;
    int32_t *order = tree->order;
    for (int64_t low = begin, high = end - 1; low < high;) {
        double pivot = middle[3 * (int64_t)order[low + (high - low) / 2]];
        int64_t i = low, j = high;
        while (i <= j) {
            while (middle[3 * (int64_t)order[i]] < pivot) i++;
            while (middle[3 * (int64_t)order[j]] > pivot) j--;
            if (i > j) break;
            int32_t swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

/* Splits at the middle primitive along the longest side of the box of their middles. */
static int64_t build_node(Tree *tree, const double *x, int64_t begin, int64_t end)
{
    int64_t self = tree->nodes++;
    Node *node = &tree->node[self];
    *node = (Node){.begin = begin, .end = end};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (end - begin <= LEAF) {
        memcpy(node->low, low, sizeof low);
        memcpy(node->high, high, sizeof high);
        for (int64_t k = begin; k < end; k++) {
            box_of(x, tree->vertex + tree->corners * (int64_t)tree->order[k], tree->corners, low,
                   high);
            for (int r = 0; r < 3; r++) {
                if (low[r] < node->low[r]) node->low[r] = low[r];
                if (high[r] > node->high[r]) node->high[r] = high[r];
            }
        }
        return self;
    }
    int axis = 0;
    for (int64_t k = begin; k < end; k++)
        for (int r = 0; r < 3; r++) {
            double m = tree->middle[3 * (int64_t)tree->order[k] + r];
            if (m < low[r]) low[r] = m;
            if (m > high[r]) high[r] = m;
        }
    for (int r = 1; r < 3; r++)
        if (high[r] - low[r] > high[axis] - low[axis]) axis = r;
    int64_t split = begin + (end - begin) / 2;
    select_middle(tree, begin, end, split, axis);
    const Node *left = &tree->node[build_node(tree, x, begin, split)];
    node->right = build_node(tree, x, split, end);
    const Node *right = &tree->node[node->right];
    for (int r = 0; r < 3; r++) {
        node->low[r] = fmin(left->low[r], right->low[r]);
        node->high[r] = fmax(left->high[r], right->high[r]);
    }
    return self;
}

static void build_tree(Tree *tree, const double *x)
{
    tree->nodes = 0;
    for (int64_t k = 0; k < tree->count; k++) {
        double low[3], high[3];
        tree->order[k] = (int32_t)k;
        box_of(x, tree->vertex + tree->corners * k, tree->corners, low, high);
        for (int r = 0; r < 3; r++) tree->middle[3 * k + r] = low[r] / 2 + high[r] / 2;
    }
    if (tree->count) build_node(tree, x, 0, tree->count);
}

static bool boxes_overlap(const double *low, const double *high, const double *other_low,
                          const double *other_high)
{
    return low[0] <= other_high[0] && other_low[0] <= high[0] && low[1] <= other_high[1] &&
           other_low[1] <= high[1] && low[2] <= other_high[2] && other_low[2] <= high[2];
}

/* ---- the search ------------------------------------------------------------------------- */

typedef struct Search {
    const BrioExact *exact;
    const double *x;
    int64_t pairs, count, room;
    BrioIntersection *found;
} Search;

static bool held(const BrioSystem *s, const int32_t *vertex, int count)
{
    if (!s) return false;
    for (int i = 0; i < count; i++)
        if (s->map_start[vertex[i] + 1] > s->map_start[vertex[i]]) return false;
    return true;
}

static bool shares_vertex(const int32_t *edge, const int32_t *other, int corners)
{
    for (int i = 0; i < corners; i++)
        if (other[i] == edge[0] || other[i] == edge[1]) return true;
    return false;
}

static int owner_of(const BrioExactSurface *f, const Tree *tree, int64_t primitive)
{
    return tree->corners == 3 ? f->triangle_owner[primitive]
                              : f->edge_owner[f->line_first + primitive];
}

/* Two owners that the scene has taken out of contact. */
static bool excluded(const BrioSystem *s, int a, int b)
{
    return s && s->excluded && s->excluded[a * owner_count(s) + b];
}

static void record(Search *search, int64_t e, const Tree *tree, int64_t primitive)
{
    const BrioExactSurface *f = &search->exact->surface;
    if (search->count++ >= search->room) return;
    BrioIntersection *at = &search->found[search->count - 1];
    bool triangle = tree->corners == 3;
    const int32_t *other = tree->vertex + tree->corners * primitive;
    int owner = owner_of(f, tree, primitive);
    *at = (BrioIntersection){.owner = {f->edge_owner[e], owner},
                             .edge = {f->edge[2 * e], f->edge[2 * e + 1]},
                             .other = {other[0], other[1], triangle ? other[2] : -1},
                             .triangle = triangle ? primitive - f->triangle_first[owner] : -1};
}

/* One edge against a tree, of whose primitives only those from `from` on count. */
static void search_edge(Search *search, int64_t e, bool edge_held, const Tree *tree, int64_t from)
{
    const BrioSystem *system = search->exact->system;
    const double *x = search->x;
    const int32_t *edge = search->exact->surface.edge + 2 * e;
    const double *p = x + 3 * (int64_t)edge[0], *q = x + 3 * (int64_t)edge[1];
    double low[3], high[3], other_low[3], other_high[3];
    int64_t stack[64]; /* the tree is balanced: as deep as the logarithm of its size */
    int depth = 0;
    box_of(x, edge, 2, low, high);
    if (tree->count) stack[depth++] = 0;
    while (depth) {
        int64_t at = stack[--depth];
        const Node *node = &tree->node[at];
        if (!boxes_overlap(low, high, node->low, node->high)) continue;
        if (node->right) {
            stack[depth++] = node->right;
            stack[depth++] = at + 1;
            continue;
        }
        for (int64_t k = node->begin; k < node->end; k++) {
            int64_t primitive = tree->order[k];
            const int32_t *other = tree->vertex + tree->corners * primitive;
            if (primitive < from || shares_vertex(edge, other, tree->corners)) continue;
            box_of(x, other, tree->corners, other_low, other_high);
            if (!boxes_overlap(low, high, other_low, other_high)) continue;
            /* neither can do anything about it */
            if (edge_held && held(system, other, tree->corners)) continue;
            if (excluded(system, search->exact->surface.edge_owner[e],
                         owner_of(&search->exact->surface, tree, primitive)))
                continue;
            search->pairs++;
            const double *a = x + 3 * (int64_t)other[0], *b = x + 3 * (int64_t)other[1];
            bool meets = tree->corners == 3
                             ? brio__exact_segment_triangle(p, q, a, b, x + 3 * (int64_t)other[2])
                             : brio__exact_segments(p, q, a, b);
            if (meets) record(search, e, tree, primitive);
        }
    }
}

static void search_all(BrioExact *exact, Search *search)
{
    const BrioExactSurface *f = &exact->surface;
    build_tree(&exact->triangles, search->x);
    build_tree(&exact->lines, search->x);
    for (int64_t e = 0; e < f->edge_count; e++) {
        bool edge_held = held(exact->system, f->edge + 2 * e, 2);
        search_edge(search, e, edge_held, &exact->triangles, 0);
        if (e >= f->line_first)
            search_edge(search, e, edge_held, &exact->lines, e - f->line_first + 1);
    }
}

int64_t brio__exact_find(BrioExact *exact, const double *x, BrioIntersection *found, int64_t room)
{
    Search search = {.exact = exact, .x = x, .room = room, .found = found};
    search_all(exact, &search);
    return search.count;
}

static BrioStatus create(const BrioSystem *system, const Part *only, int64_t vertices,
                         BrioExact **exact);

int64_t brio__exact_intersections(const BrioSystem *system, const double *x,
                                  BrioIntersection *found, int64_t room)
{
    BrioExact *exact;
    if (brio__exact_create(system, &exact) != BRIO_OK) return -1;
    int64_t count = brio__exact_find(exact, x, found, room);
    brio__exact_free(exact);
    return count;
}

int64_t brio__exact_mesh(const BrioMesh *mesh, BrioIntersection *found, int64_t room)
{
    BrioExact *exact;
    Part part = {.triangle_count = mesh->triangle_count, .triangle = mesh->triangle};
    if (create(NULL, &part, mesh->vertex_count, &exact) != BRIO_OK) return -1;
    int64_t count = brio__exact_find(exact, mesh->x, found, room);
    brio__exact_free(exact);
    return count;
}

/* ---- a whole state ---------------------------------------------------------------------- */

BrioStatus brio__exact_create(const BrioSystem *system, BrioExact **exact)
{
    return create(system, NULL, system->vertex_count, exact);
}

static BrioStatus create(const BrioSystem *system, const Part *only, int64_t vertices,
                         BrioExact **exact)
{
    BrioExact *made = brio__calloc(1, sizeof *made);
    *exact = NULL;
    if (!made) return BRIO_ERROR_MEMORY;
    made->system = system;
    made->x = brio__alloc(3 * (size_t)vertices, sizeof *made->x);
    BrioStatus status = made->x ? make_surface(system, only, &made->surface) : BRIO_ERROR_MEMORY;
    const BrioExactSurface *f = &made->surface;
    if (status == BRIO_OK) status = make_tree(&made->triangles, 3, f->triangle, f->triangle_count);
    if (status == BRIO_OK)
        status =
            make_tree(&made->lines, 2, f->edge + 2 * f->line_first, f->edge_count - f->line_first);
    if (status == BRIO_OK)
        *exact = made;
    else
        brio__exact_free(made);
    return status;
}

void brio__exact_free(BrioExact *exact)
{
    if (!exact) return;
    BrioExactSurface *f = &exact->surface;
    Tree *trees[] = {&exact->triangles, &exact->lines};
    for (int i = 0; i < 2; i++) {
        brio__free(trees[i]->order);
        brio__free(trees[i]->middle);
        brio__free(trees[i]->node);
    }
    brio__free(f->triangle);
    brio__free(f->triangle_owner);
    brio__free(f->triangle_first);
    brio__free(f->edge);
    brio__free(f->edge_owner);
    brio__free(exact->x);
    brio__free(exact);
}

const BrioExactSurface *brio__exact_surface(const BrioExact *exact) { return &exact->surface; }

static void check_tets(const BrioSystem *s, const double *x, BrioExactReport *report)
{
    for (int i = 0; i < s->body_count; i++) {
        const BrioBody *b = &s->body[i];
        if (!(s->term[b->term].energy->traits & BRIO_ENERGY_INFINITE)) continue;
        for (int64_t t = 0; t < b->tet_count; t++) {
            const double *p[4];
            for (int k = 0; k < 4; k++) p[k] = x + 3 * (b->first + b->tet[4 * t + k]);
            if (brio__exact_orient3d(p[0], p[1], p[2], p[3]) > 0 || report->inverted++) continue;
            report->inverted_body = i;
            report->first_inverted = t;
        }
    }
}

/* The plane is the one that is stored: its unit normal was rounded when the scene was read, which
 * turned it by some 1e-16; from there on the sign of n.(x - p) is exact. Of other obstacles with a
 * formula, the distance in doubles must be positive. */
static void check_planes(const BrioSystem *s, const double *x, BrioExactReport *report)
{
    for (int i = 0; i < s->term_count; i++) {
        const BrioTerm *term = &s->term[i];
        if (term->energy->element != BRIO_ELEMENT_CONTACT ||
            !(term->energy->traits & BRIO_ENERGY_INFINITE))
            continue;
        _Alignas(sizeof(double) * LANES) double distance[LANES];
        bool plane = term->energy->rest == BRIO_PLANE_REST;
        for (int64_t e = 0; e < term->elements; e++) {
            const double *rest = term->rest + e / LANES * term->energy->rest * LANES + e % LANES;
            double n[3] = {0}, p[3] = {0};
            if (!plane && e % LANES == 0)
                brio__obstacle_distances(term, NULL, e / LANES, x, distance);
            for (int r = 0; plane && r < 3; r++) {
                n[r] = rest[(1 + r) * LANES];
                p[r] = rest[(4 + r) * LANES];
            }
            bool front =
                plane ? brio__exact_side(n, p, x + term->node[e]) > 0 : distance[e % LANES] > 0;
            if (front || report->behind++) continue;
            report->behind_obstacle = term->obstacle;
            report->first_behind = term->node[e] / 3;
        }
    }
}

void brio__exact_check_positions(BrioExact *exact, const double *x, BrioExactReport *report)
{
    const BrioSystem *s = exact->system;
    *report = (BrioExactReport){0};
    for (int64_t v = 0; v < s->vertex_count; v++)
        if (!(isfinite(x[3 * v]) && isfinite(x[3 * v + 1]) && isfinite(x[3 * v + 2])) &&
            report->not_finite++ == 0)
            report->first_vertex = v;
    if (report->not_finite) return;
    Search search = {.exact = exact, .x = x, .room = 1, .found = &report->first};
    search_all(exact, &search);
    report->pairs = search.pairs;
    report->intersections = search.count;
    check_tets(s, x, report);
    check_planes(s, x, report);
}

void brio__exact_check(BrioExact *exact, const BrioState *state, BrioExactReport *report)
{
    brio__system_positions(exact->system, state, state->q, state->time, exact->x);
    brio__exact_check_positions(exact, exact->x, report);
}

void brio__exact_watch(void *watch, const BrioState *state)
{
    BrioExactWatch *w = watch;
    BrioExactReport report;
    double before = brio__seconds();
    brio__exact_check(w->exact, state, &report);
    w->states++;
    w->pairs += report.pairs;
    w->intersections += report.intersections;
    w->inverted += report.inverted;
    w->behind += report.behind;
    w->not_finite += report.not_finite;
    w->seconds += brio__seconds() - before;
    if (w->failed || brio__exact_fine(&report)) return;
    w->failed = true;
    w->step = state->step;
    w->time = state->time;
    brio__exact_text(w->exact->system, &report, w->reason, sizeof w->reason);
}

bool brio__exact_forbidden(const BrioSystem *system)
{
    return system->barrier && (system->surface || system->plane_count);
}

/* ---- in words --------------------------------------------------------------------------- */

/* The body of a world vertex, -1: of none (an anchor). */
static int body_of(const BrioSystem *s, int64_t vertex)
{
    for (int i = 0; i < s->body_count; i++)
        if (vertex >= s->body[i].first && vertex < s->body[i].first + s->body[i].count) return i;
    return -1;
}

void brio__intersection_text(const BrioSystem *s, const BrioIntersection *at, char *text,
                             size_t size)
{
    Part a = part_of(s, at->owner[0]), b = part_of(s, at->owner[1]);
    int used = snprintf(text, size, "edge (%lld %lld) of %s \"%.64s\" meets ",
                        (long long)(at->edge[0] - a.first), (long long)(at->edge[1] - a.first),
                        a.kind, a.name);
    if (used < 0 || (size_t)used >= size) return;
    if (at->triangle >= 0)
        snprintf(text + used, size - (size_t)used, "triangle %lld of %s \"%.64s\"",
                 (long long)at->triangle, b.kind, b.name);
    else
        snprintf(text + used, size - (size_t)used, "edge (%lld %lld) of %s \"%.64s\"",
                 (long long)(at->other[0] - b.first), (long long)(at->other[1] - b.first), b.kind,
                 b.name);
}

void brio__exact_text(const BrioSystem *s, const BrioExactReport *r, char *text, size_t size)
{
    int64_t vertex = r->not_finite ? r->first_vertex : r->first_behind;
    int body = body_of(s, vertex);
    long long own = body >= 0 ? (long long)(vertex - s->body[body].first) : (long long)vertex;
    const char *name = body >= 0 ? s->body[body].name : "(none)";
    text[0] = 0;
    if (r->not_finite)
        snprintf(text, size, "vertex %lld of body \"%.64s\" has coordinates that are not finite",
                 own, name);
    else if (r->intersections)
        brio__intersection_text(s, &r->first, text, size);
    else if (r->inverted)
        snprintf(text, size, "tet %lld of body \"%.64s\" has no positive volume",
                 (long long)r->first_inverted, s->body[r->inverted_body].name);
    else if (r->behind)
        snprintf(text, size, "vertex %lld of body \"%.64s\" is on or behind obstacle \"%.64s\"",
                 own, name, s->obstacle[r->behind_obstacle].name);
}
