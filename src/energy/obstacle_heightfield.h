/* A height field: the ground below y = h(x, z), in its own axes, from heights on a grid with equal
 * spacing s, centred at the origin. h is the bicubic B-spline through the heights [DeBoor1978],
 * with two continuous derivatives,
 *
 *     h = sum_ij c_ij B(x/s - i) B(z/s - j),
 *
 * whose coefficients c follow from the heights by tridiagonal solves. Beyond the grid the nearest
 * coefficient counts, so that the ground goes on level. With L the largest slope of h,
 *
 *     d = (y - h)/sqrt(1 + L^2),    n = (-h_x, 1, -h_z)/sqrt(1 + L^2),    C = -h''/sqrt(1 + L^2).
 *
 * d is not the distance but never larger: y - h changes by at most sqrt(1 + L^2) times a way. On
 * level ground it is short by that factor, and dhat and thickness are stretched by it.
 *
 * Derivatives of a B-spline are averages of differences of its coefficients, which bounds them: L
 * by the first differences over s, and `bend`, the curvature of d, by the second ones over s^2. */
#ifndef BRIO_OBSTACLE_HEIGHTFIELD_H
#define BRIO_OBSTACLE_HEIGHTFIELD_H

#include "obstacle.h"

enum {                                  /* of its table */
       HEIGHT_COLUMNS = BRIO_TABLE_OWN, /* along x */
       HEIGHT_ROWS,                     /* along z */
       HEIGHT_SPACING,
       HEIGHT_SCALE, /* 1/sqrt(1 + L^2) */
       HEIGHT_FIRST  /* c, row by row */
};

/* c at a place that may lie beyond the grid. */
static inline double height_coefficient(const double *table, int column, int row)
{
    int columns = (int)table[HEIGHT_COLUMNS], rows = (int)table[HEIGHT_ROWS];
    column = BRIO_MAX(0, BRIO_MIN(column, columns - 1));
    row = BRIO_MAX(0, BRIO_MIN(row, rows - 1));
    return table[HEIGHT_FIRST + (int64_t)row * columns + column];
}

#ifdef BRIO_KERNEL_ISA

/* Coefficients (0.25, -0.1, ...) on a grid of 5 x 4 with spacing 1: neighbours differ by 0.5 at
 * most, which bounds the slope by sqrt(1/2) and second differences by 1. */
static const double heightfield_table[HEIGHT_FIRST + 20] = {[BRIO_TABLE_COUNT] = HEIGHT_FIRST + 20,
                                                            [BRIO_TABLE_BEND] = 1.6330,
                                                            [HEIGHT_COLUMNS] = 5,
                                                            [HEIGHT_ROWS] = 4,
                                                            [HEIGHT_SPACING] = 1,
                                                            [HEIGHT_SCALE] = 0.81649658092772603,
                                                            [HEIGHT_FIRST] = 0.25,
                                                            -0.1,
                                                            0.3,
                                                            0.1,
                                                            -0.2,
                                                            0.1,
                                                            0.2,
                                                            -0.1,
                                                            0.2,
                                                            0.1,
                                                            -0.3,
                                                            -0.2,
                                                            0.2,
                                                            0.4,
                                                            0.0,
                                                            -0.1,
                                                            0.1,
                                                            0.0,
                                                            0.3,
                                                            0.25};

/* B at the four coefficients around a point a fraction f past the second, with derivatives. */
static inline void height_weights(lane f, lane w[3][4])
{
    lane g = 1 - f, sixth = lane_set(1.0 / 6);
    w[0][0] = sixth * g * g * g;
    w[0][1] = sixth * (4 + 3 * f * f * (f - 2));
    w[0][2] = sixth * (4 + 3 * g * g * (g - 2));
    w[0][3] = sixth * f * f * f;
    w[1][0] = -0.5 * g * g;
    w[1][1] = 0.5 * f * (3 * f - 4);
    w[1][2] = -0.5 * g * (3 * g - 4);
    w[1][3] = 0.5 * f * f;
    w[2][0] = g;
    w[2][1] = 3 * f - 2;
    w[2][2] = 3 * g - 2;
    w[2][3] = f;
}

/* The cell of a coordinate in cells, from -3 to cells + 2 (beyond, nothing changes), and how far
 * into it. */
static inline lane height_cell(lane u, double count, int cell[WIDTH])
{
    lane whole = lane_set(0);
    u = lane_min(lane_max(u, lane_set(-3)), lane_set(count + 2));
    for (int i = 0; i < WIDTH; i++) {
        cell[i] = (int)floor(u[i]);
        whole[i] = cell[i];
    }
    return u - whole;
}

static inline void heightfield_at(Solid *s, const double *table)
{
    double inverse = 1 / table[HEIGHT_SPACING], scale = table[HEIGHT_SCALE];
    double columns = table[HEIGHT_COLUMNS], rows = table[HEIGHT_ROWS];
    int column[WIDTH], row[WIDTH];
    lane wx[3][4], wz[3][4], h[3][3] = {{lane_set(0)}}; /* by x, by z */
    height_weights(height_cell(s->y[0] * inverse + (columns - 1) / 2, columns, column), wx);
    height_weights(height_cell(s->y[2] * inverse + (rows - 1) / 2, rows, row), wz);
    for (int j = 0; j < 4; j++) {
        lane c[4], sum[3];
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < WIDTH; i++)
                c[k][i] = height_coefficient(table, column[i] + k - 1, row[i] + j - 1);
        for (int a = 0; a < 3; a++)
            sum[a] = wx[a][0] * c[0] + wx[a][1] * c[1] + wx[a][2] * c[2] + wx[a][3] * c[3];
        for (int a = 0; a < 3; a++)
            for (int b = 0; a + b < 3; b++) h[a][b] += sum[a] * wz[b][j];
    }
    lane zero = lane_set(0), bent = lane_set(-scale * inverse * inverse);
    s->d = scale * (s->y[1] - h[0][0]);
    s->n[0] = -scale * inverse * h[1][0];
    s->n[1] = lane_set(scale);
    s->n[2] = -scale * inverse * h[0][1];
    for (int k = 0; k < 9; k++) s->C[k / 3][k % 3] = zero;
    s->C[0][0] = bent * h[2][0];
    s->C[0][2] = s->C[2][0] = bent * h[1][1];
    s->C[2][2] = bent * h[0][2];
}

SOLID_SHAPE(heightfield, SHAPE_BENT)

/* Off the lines between cells, where third derivatives jump, and off dhat. */
static inline void heightfield_sample(BrioRandom *random, bool outside, double *X, double *x)
{
    double y[2][3], none[3] = {0, 0, 0}, scale = heightfield_table[HEIGHT_SCALE];
    for (int k = 0; k < 2; k++) {
        Solid s = {.radius = lane_set(0)};
        double d = 0.2 + 0.7 * brio__random(random), chance = brio__random(random);
        if (chance < 0.25) d += 0.9;
        if (chance > 0.75 && !outside) d = -d;
        /* grid lines are at integers along x and at halves along z */
        y[k][0] = floor(6 * brio__random(random)) - 3 + 0.06 + 0.88 * brio__random(random);
        y[k][2] = floor(5 * brio__random(random)) - 2.5 + 0.06 + 0.88 * brio__random(random);
        s.y[0] = lane_set(y[k][0]);
        s.y[1] = lane_set(0);
        s.y[2] = lane_set(y[k][2]);
        heightfield_at(&s, heightfield_table);
        y[k][1] = (d - s.d[0]) / scale;
    }
    solid_place(random, none, 0, y[0], y[1], X, x);
}

#define heightfield_rest_shape solid_rest_shape

#else

static const BrioField heightfield_fields[] = {
    {"spacing", BRIO_REAL, "m", 1, 1e-9, 1e9, 0, "Distance between neighbouring heights."}, {0}};

static BrioStatus heightfield_prepare(const double *values, double *data, BrioError *error)
{
    (void)values, (void)data, (void)error;
    return BRIO_OK;
}

/* Makes coefficients of heights along a line of n numbers, `stride` apart:
 * (c_i-1 + 4 c_i + c_i+1)/6 = h_i, the ends repeated. `work` has room for n numbers. */
static void height_solve(double *c, int n, int64_t stride, double *work)
{
    double pivot = 5;
    c[0] = 6 * c[0] / pivot;
    for (int i = 1; i < n; i++) {
        work[i] = 1 / pivot;
        pivot = (i == n - 1 ? 5 : 4) - work[i];
        c[i * stride] = (6 * c[i * stride] - c[(i - 1) * stride]) / pivot;
    }
    for (int i = n - 2; i >= 0; i--) c[i * stride] -= work[i + 1] * c[(i + 1) * stride];
}

/* Bounds of the slope and the bend, from differences of the coefficients. */
static void height_bounds(double *table)
{
    int columns = (int)table[HEIGHT_COLUMNS], rows = (int)table[HEIGHT_ROWS];
    double s = table[HEIGHT_SPACING], x = 0, z = 0, xx = 0, xz = 0, zz = 0;
    for (int j = -1; j <= rows; j++)
        for (int i = -1; i <= columns; i++) {
            double c = height_coefficient(table, i, j);
            double right = height_coefficient(table, i + 1, j) - c;
            double up = height_coefficient(table, i, j + 1) - c;
            x = fmax(x, fabs(right));
            z = fmax(z, fabs(up));
            xx = fmax(xx, fabs(right - (c - height_coefficient(table, i - 1, j))));
            zz = fmax(zz, fabs(up - (c - height_coefficient(table, i, j - 1))));
            xz = fmax(xz, fabs(height_coefficient(table, i + 1, j + 1) - c - right - up));
        }
    table[HEIGHT_SCALE] = 1 / sqrt(1 + (x * x + z * z) / (s * s));
    table[BRIO_TABLE_BEND] = table[HEIGHT_SCALE] * sqrt(xx * xx + 2 * xz * xz + zz * zz) / (s * s);
}

static BrioStatus heightfield_make(const double *values, int columns, int rows,
                                   const double *height, double **table, BrioError *error)
{
    if (columns < 2 || rows < 2)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a height field of %d rows of %d heights: at least 2 of 2 are needed",
                           rows, columns);
    size_t count = (size_t)columns * (size_t)rows;
    for (size_t k = 0; k < count; k++)
        if (!(fabs(height[k]) < 1e15))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "height %g m in row %d, column %d: it must be finite", height[k],
                               (int)(k / (size_t)columns), (int)(k % (size_t)columns));
    double *created = brio__alloc(HEIGHT_FIRST + count, sizeof *created);
    double *work = brio__alloc((size_t)BRIO_MAX(columns, rows), sizeof *work);
    if (!created || !work) {
        brio__free(created);
        brio__free(work);
        return brio__no_memory(error);
    }
    created[BRIO_TABLE_COUNT] = (double)(HEIGHT_FIRST + count);
    created[HEIGHT_COLUMNS] = columns;
    created[HEIGHT_ROWS] = rows;
    created[HEIGHT_SPACING] = values[0];
    memcpy(created + HEIGHT_FIRST, height, count * sizeof *height);
    for (int j = 0; j < rows; j++)
        height_solve(created + HEIGHT_FIRST + (int64_t)j * columns, columns, 1, work);
    for (int i = 0; i < columns; i++) height_solve(created + HEIGHT_FIRST + i, rows, columns, work);
    height_bounds(created);
    brio__free(work);
    *table = created;
    return BRIO_OK;
}

static bool heightfield_fits(const double *table)
{
    double count = table[BRIO_TABLE_COUNT], columns = table[HEIGHT_COLUMNS];
    double rows = table[HEIGHT_ROWS];
    return columns >= 2 && rows >= 2 && columns == floor(columns) && rows == floor(rows) &&
           columns < 1e9 && rows < 1e9 && columns * rows == count - HEIGHT_FIRST;
}

/* h at coordinates in cells. */
static double height_at(const double *table, double u, double v)
{
    int i = (int)floor(u), j = (int)floor(v);
    double sum = 0;
    for (int b = -1; b < 3; b++)
        for (int a = -1; a < 3; a++) {
            double weight = 1, off[2] = {fabs(u - (i + a)), fabs(v - (j + b))};
            for (int k = 0; k < 2; k++)
                weight *= off[k] < 1 ? (4 + 3 * off[k] * off[k] * (off[k] - 2)) / 6
                                     : pow(fmax(2 - off[k], 0), 3) / 6;
            sum += weight * height_coefficient(table, i + a, j + b);
        }
    return sum;
}

/* The ground over the grid, each cell divided into 4 x 4 on small grids. */
static BrioStatus heightfield_mesh(const double *rest, const double *table, BrioMesh **mesh,
                                   BrioError *error)
{
    const double *centre = rest + 1, *a = rest + 4, *b = rest + 7;
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double columns = table[HEIGHT_COLUMNS], rows = table[HEIGHT_ROWS], s = table[HEIGHT_SPACING];
    int parts = columns * rows <= 4096 ? 4 : 1;
    int nx = (int)(columns - 1) * parts + 1, nz = (int)(rows - 1) * parts + 1;
    BRIO_CHECK(
        brio__mesh_create((int64_t)nx * nz, 0, 2 * (int64_t)(nx - 1) * (nz - 1), 0, mesh, error));
    double *x = (*mesh)->x;
    int32_t *triangle = (*mesh)->triangle;
    for (int j = 0; j < nz; j++)
        for (int i = 0; i < nx; i++, x += 3) {
            double u = (double)i / parts, v = (double)j / parts, h = height_at(table, u, v);
            for (int r = 0; r < 3; r++)
                x[r] = centre[r] + a[r] * s * (u - (columns - 1) / 2) + b[r] * h +
                       c[r] * s * (v - (rows - 1) / 2);
        }
    for (int j = 0; j + 1 < nz; j++)
        for (int i = 0; i + 1 < nx; i++, triangle += 6) {
            int32_t k = j * nx + i;
            memcpy(triangle, (const int32_t[6]){k, k + nx, k + 1, k + 1, k + nx, k + nx + 1},
                   6 * sizeof *triangle);
        }
    return BRIO_OK;
}

static const BrioObstacleType heightfield_type = {
    .name = "heightfield",
    .summary = "ground with the given heights over a grid along x and z",
    .fields = heightfield_fields,
    .prepare = heightfield_prepare,
    .table = heightfield_make,
    .table_fits = heightfield_fits,
    .mesh = heightfield_mesh,
};

#endif
#endif

OBSTACLE(heightfield)
