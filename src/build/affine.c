/* Volume and moments of a closed surface, the mass points of an affine body, and the nearest affine
 * motion of vertices: the formulas are in affine.h. */
#include "affine.h"

#include "../vec.h"

static const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

/* Volume, int X dV and int X X^T dV, relative to `origin`. Of a tet (0, a, b, c) of volume V: V/4
 * (a + b + c), and V/20 (a a^T + b b^T + c c^T + s s^T) with s = a + b + c. */
static double integrals(const BrioMesh *mesh, const double origin[3], double first[3],
                        double second[9])
{
    double volume = 0;
    for (int k = 0; k < 9; k++) second[k] = first[k / 3] = 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        double p[4][3] = {{0}};
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) {
                p[i][r] = mesh->x[3 * (int64_t)mesh->triangle[3 * t + i] + r] - origin[r];
                p[3][r] += p[i][r];
            }
        double tet_volume = brio__triple3(p[0], p[1], p[2]) / 6;
        volume += tet_volume;
        for (int r = 0; r < 3; r++) {
            first[r] += tet_volume / 4 * p[3][r];
            for (int c = 0; c < 3; c++)
                for (int i = 0; i < 4; i++)
                    second[3 * r + c] += tet_volume / 20 * p[i][r] * p[i][c];
        }
    }
    return volume;
}

BrioStatus brio__affine_body(const BrioMesh *mesh, BrioAffine *body, BrioError *error)
{
    double origin[3] = {0, 0, 0}, first[3];
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int r = 0; r < 3; r++) origin[r] += mesh->x[3 * v + r] / (double)mesh->vertex_count;
    body->volume = integrals(mesh, origin, first, body->moment);
    for (int r = 0; r < 3; r++) body->centre[r] = origin[r] + first[r] / body->volume;
    body->volume = integrals(mesh, body->centre, first, body->moment);
    double *S = body->root, scale = body->moment[0] + body->moment[4] + body->moment[8];
    bool flat = !(body->volume > 0) || isinf(body->volume);
    for (int i = 0; i < 3; i++) /* Cholesky */
        for (int j = 0; j < 3; j++) {
            double sum = body->moment[3 * i + j];
            for (int k = 0; k < j; k++) sum -= body->volume * S[3 * i + k] * S[3 * j + k];
            if (i == j) flat |= !(sum > 1e-14 * scale);
            S[3 * i + j] = j > i    ? 0
                           : i == j ? sqrt(sum / body->volume)
                                    : sum / body->volume / S[3 * j + j];
        }
    if (flat)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the body is flat (volume %g m3): an affine body needs a surface that "
                           "encloses a volume",
                           body->volume);
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 3; r++) {
            body->point[3 * k + r] = body->centre[r];
            for (int c = 0; c <= r; c++) body->point[3 * k + r] += S[3 * r + c] * corner[k][c];
        }
    return BRIO_OK;
}

void brio__affine_weights(const BrioAffine *body, const double X[3], double w[4])
{
    const double *S = body->root;
    double y[3]; /* S^-1 (X - c) */
    for (int r = 0; r < 3; r++) {
        y[r] = X[r] - body->centre[r];
        for (int c = 0; c < r; c++) y[r] -= S[3 * r + c] * y[c];
        y[r] /= S[4 * r];
    }
    for (int k = 0; k < 4; k++)
        w[k] = (1 + corner[k][0] * y[0] + corner[k][1] * y[1] + corner[k][2] * y[2]) / 4;
}

/* (sum w w^T) y = sum w x^T by Gauss's elimination; the matrix is positive definite, since the
 * vertices span a volume. */
void brio__affine_fit(int64_t vertices, const double *weights, const double *values, double y[12])
{
    double a[4][7] = {{0}};
    for (int64_t v = 0; v < vertices; v++)
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) a[i][j] += weights[4 * v + i] * weights[4 * v + j];
            for (int r = 0; r < 3; r++) a[i][4 + r] += weights[4 * v + i] * values[3 * v + r];
        }
    for (int k = 0; k < 4; k++)
        for (int i = k + 1; i < 4; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < 7; j++) a[i][j] -= factor * a[k][j];
        }
    for (int k = 3; k >= 0; k--)
        for (int r = 0; r < 3; r++) {
            double sum = a[k][4 + r];
            for (int j = k + 1; j < 4; j++) sum -= a[k][j] * y[3 * j + r];
            y[3 * k + r] = sum / a[k][k];
        }
}
