/* An integrator of one's own, registered at run time: the leapfrog (Störmer–Verlet in its position
 * form),
 *
 *     q_half = q_n + h/2 v_n,    v' = v_n - h M^-1 grad P(q_half),    q' = q_half + h/2 v'.
 *
 * Explicit, second order, symplectic, keeps linear and angular momentum; stable for h below 2 over
 * the highest frequency [Hairer2006, I.1.4]. The program runs a scene with it.
 *
 *     cc leapfrog.c -o leapfrog $(pkg-config --cflags --libs brio) -lm && ./leapfrog scene.yaml */
#include <brio/brio.h>
#include <math.h>
#include <stdio.h>

static BrioStatus step(BrioStepper *s, double h)
{
    double *half = brio_stepper_scratch(s, 0), *velocity = brio_stepper_scratch(s, 1);
    brio_stepper_combine(s, 1, brio_stepper_q(s), h / 2, brio_stepper_v(s), half);
    double potential = brio_stepper_potential(s, half, brio_stepper_time(s) + h / 2, velocity);
    if (!isfinite(potential)) return BRIO_STEP_REJECTED; /* the driver tries again in halves */
    brio_stepper_mass_solve(s, velocity, velocity);
    brio_stepper_combine(s, 1, brio_stepper_v(s), -h, velocity, velocity);
    brio_stepper_combine(s, 1, half, h / 2, velocity, half);
    return brio_stepper_accept(s, h, half, velocity);
}

static const BrioIntegrator leapfrog = {
    .name = "leapfrog",
    .summary =
        "Explicit, second order, symplectic: one gradient a step, stable for short steps only.",
    .citation = "Hairer2006",
    .order = 2,
    .traits = BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM,
    .step = step,
};

int main(int argc, char **argv)
{
    BrioSim *sim;
    BrioError error = {0};
    char text[2048];
    BrioLedger now;
    if (brio_register_integrator(&leapfrog, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    if (argc < 2) return fprintf(stderr, "usage: leapfrog SCENE (with integrator: leapfrog)\n"), 2;
    if (brio_sim_load(argv[1], &sim, &error))
        return brio_error_text(&error, text, sizeof text), fprintf(stderr, "%s\n", text), 2;
    for (int k = 0; k <= 100; k++) {
        if ((k > 0 && brio_sim_step(sim, &error)) || brio_sim_ledger(sim, &now))
            return fprintf(stderr, "%s\n", error.message), 1;
        if (k % 20 == 0) printf("t = %.4f s: total energy %.6f J\n", now.time, now.total);
    }
    brio_sim_free(sim);
}
