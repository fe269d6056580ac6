/* A plug-in: an integrator, a material, a force and a contact law of your own, for every command.
 *
 *     cc -O2 -shared -fPIC plugin.c -o plugin.so $(pkg-config --cflags brio) -lm
 *     brio list integrators --plugin plugin.so
 *     brio compare cloth --plugin plugin.so --integrators backward-euler,plug-euler */
#include <brio/plugin.h>
#include <math.h>

/* ---- an integrator: backward Euler, (q' - q)/h = v', M (v' - v)/h = -grad P(q') ---------- */

static BrioStatus euler_step(BrioStepper *s, double h)
{
    double *target = brio_stepper_scratch(s, 0), *q = brio_stepper_scratch(s, 1),
           *v = brio_stepper_scratch(s, 2);
    brio_stepper_combine(s, 1, brio_stepper_q(s), h, brio_stepper_v(s), target);
    BrioObjective objective = {
        .target = target, .s = h * h, .a = 1, .time = brio_stepper_time(s) + h, .h = h};
    BrioStatus status = brio_stepper_minimise(s, &objective, q);
    if (status != BRIO_OK) return status;
    brio_stepper_combine(s, 1 / h, q, -1 / h, brio_stepper_q(s), v);
    return brio_stepper_accept(s, h, q, v);
}

static const BrioIntegrator euler = {
    .name = "plug-euler",
    .summary = "Backward Euler, from a plug-in.",
    .order = 1,
    .traits = BRIO_IMPLICIT | BRIO_DISSIPATIVE | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED,
    .step = euler_step,
};

/* ---- a material of springs: E = k/2 (|d| - l)^2 ------------------------------------------ */

static BrioStatus spring_eval(void *user, const BrioElements *e)
{
    (void)user;
    for (int64_t i = 0; i < e->count; i++) {
        const double *x = e->x + 6 * i;
        double d[3] = {x[3] - x[0], x[4] - x[1], x[5] - x[2]}, k = e->values[0] * e->weight[i];
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), gap = length - e->size[i];
        e->energy[i] = k / 2 * gap * gap;
        for (int r = 0; e->gradient && r < 3; r++) {
            e->gradient[6 * i + 3 + r] = k * gap * d[r] / length;
            e->gradient[6 * i + r] = -e->gradient[6 * i + 3 + r];
        }
        for (int r = 0; e->hessian && r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double along = d[r] * d[c] / (length * length);
                double K = k * along + k * gap / length * ((r == c) - along);
                double *H = e->hessian + 36 * i;
                H[6 * r + c] = H[6 * (r + 3) + c + 3] = K;
                H[6 * r + c + 3] = H[6 * (r + 3) + c] = -K;
            }
    }
    return BRIO_OK;
}

static const BrioField spring_fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 0, 1e15, 0, "Stiffness."},
    {"vertex_mass", BRIO_REAL, "kg", NAN, 1e-300, 1e15, 0, "Mass of every vertex; or give rho."},
    {"rho", BRIO_REAL, "kg/m2", NAN, 1e-300, 1e15, 0, "Mass by area, or by length of a line."},
    {0}};

static const BrioEnergyDef spring = {.name = "plug-spring",
                                     .summary = "Springs of Hooke's law, from a plug-in.",
                                     .kind = BRIO_KIND_SPRINGS,
                                     .fields = spring_fields,
                                     .eval = spring_eval};

/* ---- a force without a potential: every vertex is lifted, and slowed down ---------------- */

static double lift_function(void *user, const double *values, const BrioForceCall *call)
{
    (void)user;
    for (int64_t i = 0; i < call->count; i++) {
        for (int r = 0; r < 3; r++) call->force[3 * i + r] = -values[1] * call->v[3 * i + r];
        call->force[3 * i + 1] += values[0];
    }
    return 0;
}

static const BrioField lift_fields[] = {
    {"lift", BRIO_REAL, "N", 0.001, -1e15, 1e15, 0, "Upward force on every vertex."},
    {"drag", BRIO_REAL, "N s/m", 0, 0, 1e15, 0, "Force against its velocity."},
    {0}};

static const BrioForceTypeDef lift = {.name = "plug-lift",
                                      .summary = "Lift and drag of every vertex, from a plug-in.",
                                      .fields = lift_fields,
                                      .function = lift_function};

/* ---- a contact law: b = 2 kappa/(3 dhat) (dhat - g)^3 ------------------------------------ */

static void cubic_eval(void *user, double kappa, double dhat, int count, const double *gap,
                       double *value, double *slope, double *curvature)
{
    (void)user;
    double c = 2 * kappa / dhat;
    for (int i = 0; i < count; i++) {
        double left = dhat - gap[i];
        value[i] = c / 3 * left * left * left;
        slope[i] = -c * left * left;
        curvature[i] = 2 * c * left;
    }
}

static const BrioLawDef cubic = {
    .name = "plug-cubic", .summary = "The cubic barrier, from a plug-in.", .eval = cubic_eval};

/* ---- the entry point --------------------------------------------------------------------- */

BRIO_PLUGIN(error)
{
    BrioStatus status = brio_register_integrator(&euler, error);
    if (status == BRIO_OK) status = brio_register_energy(&spring, error);
    if (status == BRIO_OK) status = brio_register_force(&lift, error);
    if (status == BRIO_OK) status = brio_register_law(&cubic, error);
    return status;
}
