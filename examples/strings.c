/* An energy of one's own, registered at run time: springs that pull and never push,
 *
 *     E = k w/2 max(l - l0, 0)^2,    l = |x1 - x0|.
 *
 * With n the direction of the spring, the gradient is E' n and the Hessian
 * E'' n n^T + E'/l (I - n n^T), both zero while it is slack. The program lets a rope of such
 * springs swing.
 *
 *     cc strings.c -o strings $(pkg-config --cflags --libs brio) -lm && ./strings */
#include <brio/brio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static BrioStatus eval(void *user, const BrioElements *e)
{
    (void)user;
    for (int64_t i = 0; i < e->count; i++) {
        const double *x = e->x + 6 * i;
        double d[3] = {x[3] - x[0], x[4] - x[1], x[5] - x[2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double stretch = length - e->size[i], k = e->values[0] * e->weight[i];
        if (stretch <= 0) continue; /* slack: everything is zero already */
        e->energy[i] = k / 2 * stretch * stretch;
        for (int r = 0; r < 3; r++) {
            double force = k * stretch * d[r] / length;
            if (e->gradient) e->gradient[6 * i + r] = -force, e->gradient[6 * i + 3 + r] = force;
            for (int s = 0; e->hessian && s < 3; s++) {
                double across = k * stretch / length;
                double K = (k - across) * d[r] * d[s] / (length * length) + (r == s ? across : 0);
                double *H = e->hessian + 36 * i;
                H[6 * r + s] = H[6 * (r + 3) + s + 3] = K;
                H[6 * r + s + 3] = H[6 * (r + 3) + s] = -K;
            }
        }
    }
    return BRIO_OK;
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0,
     "Stiffness of every spring while it is stretched."},
    {"vertex_mass", BRIO_REAL, "kg", 0.01, 1e-300, 1e15, 0, "Mass of every vertex."},
    {NULL, BRIO_REAL, NULL, 0, 0, 0, 0, NULL}};
static const BrioEnergyDef string = {.name = "string",
                                     .summary = "Springs that pull and never push.",
                                     .kind = BRIO_KIND_SPRINGS,
                                     .fields = fields,
                                     .eval = eval};

int main(void)
{
    static const char scene[] = "time: {h: 1/100}\n"
                                "bodies:\n"
                                "  - {shape: {type: line, length: 1, cells: 20}, material: {type: "
                                "string, k: 500}, fix: [{vertices: [0]}]}\n";
    BrioSim *sim;
    BrioError error = {0};
    double x[21 * 3];
    if (brio_register_energy(&string, &error) ||
        brio_sim_parse(scene, strlen(scene), "rope", &sim, &error))
        return fprintf(stderr, "%s\n", error.message), 2;
    for (int k = 0; k <= 100; k++) {
        if (k > 0 && brio_sim_step(sim, &error)) return fprintf(stderr, "%s\n", error.message), 1;
        brio_sim_positions(sim, 0, x);
        if (k % 20 == 0)
            printf("t = %.1f s: the free end is at x = %.3f m, y = %.3f m\n", brio_sim_time(sim),
                   x[60], x[61]);
    }
    brio_sim_free(sim);
}
