/* The registry of constraints, their points, and the row that most joints are made of:
 * g = (y_a - y_b).(y_c - y_d)/l, whose second derivative is constant. */
#include "constraint.h"

#include "../vec.h"

#include <string.h>

#define CONSTRAINT(symbol) extern const BrioConstraintType brio__constraint_##symbol;
#include "list.def"
#undef CONSTRAINT

static const BrioConstraintType *const table[] = {
#define CONSTRAINT(symbol) &brio__constraint_##symbol,
#include "list.def"
#undef CONSTRAINT
};

const BrioConstraintType *brio__constraint_type_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(table) ? table[i] : NULL;
}

const BrioConstraintType *brio__constraint_type(const char *name)
{
    for (size_t i = 0; name && i < BRIO_COUNT(table); i++)
        if (!strcmp(table[i]->name, name)) return table[i];
    return NULL;
}

const char *brio_constraint_at(int i)
{
    return brio__constraint_type_at(i) ? brio__constraint_type_at(i)->name : NULL;
}

const BrioField *brio_constraint_fields(const char *type)
{
    const BrioConstraintType *found = brio__constraint_type(type);
    return found ? found->fields : NULL;
}

void brio__constraint_free(BrioConstraint *c)
{
    brio__free(c->name);
    brio__free(c->point);
    brio__free(c->triangle);
}

void brio__constraint_points(const BrioConstraint *c, const double *x, double *y)
{
    for (int i = 0; i < c->point_count; i++)
        for (int r = 0; r < 3; r++) {
            const BrioPoint *p = &c->point[i];
            double sum = p->fixed[r];
            for (int k = 0; k < p->count; k++)
                sum += p->weight[k] * x[3 * (int64_t)p->vertex[k] + r];
            y[3 * (int64_t)i + r] = sum;
        }
}

double brio__constraint_violation(const BrioConstraint *c, const double *y)
{
    double g[BRIO_MAX_ROWS], worst = 0;
    c->type->value(c, y, g, NULL);
    for (int k = 0; k < c->rows; k++) {
        double size = (c->one_sided[k] ? fmax(0, -g[k]) : fabs(g[k])) / c->length;
        if (!(size <= worst)) worst = size; /* lets a NaN through */
    }
    return worst;
}

void brio__constraint_frame(const double n[3], double u[3], double w[3])
{
    double e[3] = {0, 0, 0};
    int least = 0;
    for (int r = 1; r < 3; r++)
        if (fabs(n[r]) < fabs(n[least])) least = r;
    e[least] = 1;
    brio__cross3(n, e, u);
    brio__normalise3(u);
    brio__cross3(n, u, w);
}

void brio__constraint_place(const BrioConstraintType *type, int roles, const double at[2][3],
                            const double axis[3], double length, double *y)
{
    double frame[4][3] = {{0, 0, 0}, {axis[0], axis[1], axis[2]}};
    brio__normalise3(frame[BRIO_PLACE_ALONG]);
    brio__constraint_frame(frame[BRIO_PLACE_ALONG], frame[BRIO_PLACE_ACROSS],
                           frame[BRIO_PLACE_BESIDE]);
    for (int i = 0; i < roles; i++)
        for (int r = 0; r < 3; r++)
            y[3 * i + r] = at[type->roles[i].side][r] + length * frame[type->roles[i].place][r];
}

double brio__dot_row(const BrioConstraint *c, const double *y, BrioDotRow row, double *gradient)
{
    double left[3], right[3], scale = 1 / c->length;
    brio__subtract3(y + 3 * row.a, y + 3 * row.b, left);
    brio__subtract3(y + 3 * row.c, y + 3 * row.d, right);
    for (int r = 0; gradient && r < 3; r++) {
        gradient[3 * row.a + r] += scale * right[r];
        gradient[3 * row.b + r] -= scale * right[r];
        gradient[3 * row.c + r] += scale * left[r];
        gradient[3 * row.d + r] -= scale * left[r];
    }
    return scale * brio__dot3(left, right);
}

void brio__dot_row_curvature(const BrioConstraint *c, BrioDotRow row, double multiplier,
                             const BrioBlocks *to)
{
    const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint8_t left[2] = {row.a, row.b}, right[2] = {row.c, row.d};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double sign = i == j ? 1 : -1, twice = left[i] == right[j] ? 2 : 1;
            to->add(to, left[i], right[j], sign * twice * multiplier / c->length, I);
        }
}
