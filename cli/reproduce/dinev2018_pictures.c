/* What the pictures of [Dinev2018] show, as numbers: swinging, wrinkles, jiggling, bouncing,
 * sliding, and the noise of figure 16. The scenes are those that ship as rt-*.yaml with coarser
 * meshes, and local/global solves with ten iterations. */
#include "reproduce.h"

#include <string.h>

enum { MAX_FRAMES = 600, MAX_SETS = 6 };

/* What is remembered of a run; index 0 is the initial state. */
typedef struct Film {
    int frames; /* that were done */
    double height[MAX_FRAMES + 1], kinetic[MAX_FRAMES + 1], total[MAX_FRAMES + 1];
    double speed[MAX_FRAMES + 1]; /* m/s, of the centre of mass */
    double seen[MAX_FRAMES + 1];  /* what `see` found */
} Film;

/* A number of a state; `rest` are the places at the start of the scene without deformation. */
typedef double See(BrioSim *sim, const double *rest);

static void film_frame(BrioSim *sim, const BrioScene *scene, See *see, Film *f, int at)
{
    BrioLedger now;
    double mass = 0;
    const BrioSystem *system = sim->system;
    brio_sim_ledger(sim, &now);
    for (int64_t v = 0; v < brio_system_vertices(system); v++) mass += system->vertex_mass[v];
    f->height[at] = now.centre[1];
    f->kinetic[at] = now.kinetic;
    f->total[at] = now.total;
    f->speed[at] = hypot(hypot(now.momentum[0], now.momentum[1]), now.momentum[2]) / mass;
    f->seen[at] = see ? see(sim, scene->rest) : NAN;
}

/* Settles a scene and sets it off along x. */
static bool settle_and_push(BrioSim *sim, double speed)
{
    if (brio_sim_settle(sim, NULL) != BRIO_OK) return false;
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    double *v = brio__calloc(3 * (size_t)n, sizeof *v);
    if (!v) abort();
    for (int64_t i = 0; i < n; i++) v[3 * i] = speed;
    bool fine = brio_sim_set_velocities(sim, 0, v, NULL) == BRIO_OK;
    brio__free(v);
    return fine;
}

/* Runs a scene, settled and then pushed unless `push` is 0 m/s; false, reported, if it cannot be
 * made or a step fails. */
static bool film(Report *r, const char *name, const char *const *more, const char *integrator,
                 double push, int frames, See *see, Film *f)
{
    const char *sets[MAX_SETS + 2];
    char method[160];
    int count = 0;
    BrioScene *scene;
    snprintf(method, sizeof method, "integrator=%s", integrator);
    for (int i = 0; more && more[i]; i++) sets[count++] = more[i];
    sets[count++] = method;
    *f = (Film){0};
    BrioSim *sim = report_shipped(r, name, sets, count, &scene);
    if (!sim) return false;
    bool fine = push == 0 || settle_and_push(sim, push);
    film_frame(sim, scene, see, f, 0);
    for (int n = 1; n <= frames && fine; n++) {
        fine = brio_sim_step(sim, NULL) == BRIO_OK;
        if (!fine) break;
        film_frame(sim, scene, see, f, n);
        f->frames = n;
        report_progress(r, (double)n / frames, "%s, %s", name, integrator);
    }
    if (!fine)
        report_note(r, "%s ends in frame %d: %s", integrator, f->frames, brio_sim_reason(sim));
    brio_sim_free(sim);
    brio__scene_free(scene);
    return fine;
}

static double mean_of(const double *value, int from, int to)
{
    double sum = 0;
    for (int n = from; n <= to; n++) sum += value[n];
    return sum / (to - from + 1);
}

static double max_of(const double *value, int from, int to)
{
    double max = -INFINITY;
    for (int n = from; n <= to; n++) max = brio__larger(max, value[n]);
    return max;
}

static double min_of(const double *value, int from, int to)
{
    double min = INFINITY;
    for (int n = from; n <= to; n++) min = fmin(min, value[n]);
    return min;
}

enum { BLEND, EULER, SECOND, COUNT };
static const char *const method[COUNT] = {"blend", "backward-euler", "bdf2"};

/* ---- figure 9: a bunny swings ----------------------------------------------------------- */

/* The picture's frames 27, 56 and 142 are the first, the second and the fifth apex. */
enum { APEXES = 5 };

/* The height of the centre where a scene settles; NAN, reported, if it does not. */
static double rest_height(Report *r, const char *name, const char *const *more)
{
    const char *sets[MAX_SETS + 2];
    int count = 0;
    BrioLedger now;
    double height = NAN;
    for (int i = 0; more[i]; i++) sets[count++] = more[i];
    sets[count++] = "integrator=static";
    sets[count++] = "solver={type: newton, tol: 1e-6, max_iterations: 5000}";
    BrioSim *sim = report_shipped(r, name, sets, count, NULL);
    if (!sim) return NAN;
    if (brio_sim_settle(sim, NULL) == BRIO_OK && brio_sim_ledger(sim, &now) == BRIO_OK)
        height = now.centre[1];
    else
        report_fact(r, false, "%s does not settle: %s", name, brio_sim_reason(sim));
    brio_sim_free(sim);
    return height;
}

/* Height of each apex after the first low above that at rest, over that of the start. Returns how
 * many there are. */
static int apexes(const Film *f, double rest, double back[APEXES])
{
    const double *y = f->height;
    int count = 0, low = 0;
    while (low < f->frames && y[low + 1] <= y[low]) low++;
    for (int n = low + 1; n < f->frames && count < APEXES; n++)
        if (y[n] >= y[n - 1] && y[n] > y[n + 1]) back[count++] = (y[n] - rest) / (y[0] - rest);
    return count;
}

static void swing(Report *r)
{
    enum { FRAMES = 200, LAST = APEXES - 1 };
    static const char *const sets[] = {"bodies.0.shape.cells=15", NULL};
    static const char *const more[] = {"bodies.0.shape.cells=15", "solver.iterations=30", NULL};
    static const struct {
        const char *name, *integrator;
        const char *const *sets;
    } runs[] = {{"blend", "blend", sets},
                {"backward Euler", "backward-euler", sets},
                {"blend, 30 iterations", "blend", more},
                {"A-search (not in the paper)", "a-search", sets}};
    enum { TEN, CALM, THIRTY, RUNS = 4 };
    static Film f;
    double back[RUNS][APEXES] = {{0}};
    if (!report_part(r, "figure 9: a bunny pinned at its ears swings, %d frames", FRAMES)) return;
    report_note(r,
                "The picture: the apexes 1, 2 and 5 of the swing. It goes on \"vividly\" with the "
                "paper's method; backward Euler \"damps out the pendulum motion\". Heights are "
                "those of the centre above its place at rest, over that of the start.");
    double rest = rest_height(r, "rt-bunny", sets);
    if (isnan(rest)) return;
    for (int m = 0; m < RUNS; m++) {
        if (!film(r, "rt-bunny", runs[m].sets, runs[m].integrator, 0, FRAMES, NULL, &f)) return;
        int count = apexes(&f, rest, back[m]);
        report_number(r, NAN, back[m][0],
                      "%s: first apex (then %.3f %.3f %.3f %.3f; %d of %d in these frames)",
                      runs[m].name, back[m][1], back[m][2], back[m][3], back[m][LAST], count,
                      APEXES);
    }
    for (int m = TEN; m <= THIRTY; m += THIRTY - TEN) {
        report_bound(r, back[m][0], 0.85, 1.02, "%s: first apex", runs[m].name);
        report_bound(r, back[m][1], 0.85, 1.02, "%s: second apex", runs[m].name);
        report_bound(r, back[m][LAST], 0.5, 1.02, "%s: fifth apex, \"vividly\"", runs[m].name);
    }
    report_bound(r, back[CALM][0], 0, 0.7, "backward Euler: first apex");
    report_bound(r, back[CALM][LAST], 0, 0.25, "backward Euler: fifth apex, \"damps out\"");
    report_note(r,
                "Under blend the energy stays. Ten iterations leave the midpoint step unfinished, "
                "and the swing turns into vibration; thirty are enough here.");
}

/* ---- figure 10: wrinkles ---------------------------------------------------------------- */

enum { CLOTH = 31 }; /* vertices along an edge */

/* Root mean square of second differences along both threads, over the length of a cell. */
static double wrinkles(BrioSim *sim, const double *rest)
{
    static double x[3 * CLOTH * CLOTH];
    double sum = 0;
    (void)rest;
    brio_sim_positions(sim, 0, x);
    for (int i = 0; i < CLOTH; i++)
        for (int j = 1; j < CLOTH - 1; j++)
            for (int along = 0; along < 2; along++) {
                int at = along ? j * CLOTH + i : i * CLOTH + j, step = along ? CLOTH : 1;
                for (int k = 0; k < 3; k++) {
                    double bend =
                        x[3 * (at - step) + k] - 2 * x[3 * at + k] + x[3 * (at + step) + k];
                    sum += bend * bend;
                }
            }
    return sqrt(sum / (2 * CLOTH * (CLOTH - 2))) * (CLOTH - 1);
}

static void shaken_cloth(Report *r)
{
    enum { SHAKEN = 90, CALM = 120, FRAMES = 180 };
    static const char *const sets[] = {"bodies.0.shape.cells_x=30", "bodies.0.shape.cells_z=30",
                                       "bodies.0.attach.1.vertices=[30]", NULL};
    static Film f[COUNT];
    double folds[COUNT], waves[COUNT];
    if (!report_part(r, "figure 10: a cloth of %d vertices is shaken by a corner up to frame %d",
                     CLOTH * CLOTH, SHAKEN))
        return;
    report_note(r, "The picture: deep and many wrinkles with the paper's method, fewer with BDF2, "
                   "a nearly smooth cloth with backward Euler. Wrinkles are measured by the second "
                   "differences of neighbours along warp and weft, over the length of a cell.");
    for (int m = 0; m < COUNT; m++) {
        if (!film(r, "rt-cloth", sets, method[m], 0, FRAMES, wrinkles, &f[m])) return;
        folds[m] = mean_of(f[m].seen, SHAKEN / 2, FRAMES);
        waves[m] = mean_of(f[m].kinetic, CALM, FRAMES);
        report_number(r, NAN, folds[m], "%s: wrinkles, mean of frames %d to %d", method[m],
                      SHAKEN / 2, FRAMES);
        report_number(r, NAN, waves[m], "  kinetic energy, mean from frame %d on, J", CALM);
    }
    report_bound(r, folds[BLEND] / folds[EULER], 1.25, INFINITY,
                 "\"more vivid wrinkles\": blend over backward Euler");
    report_bound(r, folds[BLEND] / folds[SECOND], 1.25, INFINITY, "  blend over BDF2");
    report_bound(r, waves[EULER] / waves[BLEND], 0, 0.1,
                 "waves \"quickly damped out\": kinetic energy, backward Euler over blend");
    report_bound(r, waves[SECOND] / waves[BLEND], 0, 0.1, "  BDF2 over blend");
}

/* ---- figure 11: a nose jiggles ---------------------------------------------------------- */

/* Root mean square of the way of the nose's vertices from their places at rest. */
static double off_rest(BrioSim *sim, const double *rest)
{
    static const double nose[3] = {0.57, 0.6, 0};
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    double *x = brio__alloc(3 * (size_t)n, sizeof *x), sum = 0, count = 0;
    if (!x) return NAN;
    brio_sim_positions(sim, 0, x);
    for (int64_t i = 0; i < n; i++) {
        double far = 0, moved = 0;
        for (int k = 0; k < 3; k++) {
            far += pow(rest[3 * i + k] - nose[k], 2);
            moved += pow(x[3 * i + k] - rest[3 * i + k], 2);
        }
        if (far < 0.2 * 0.2) sum += moved, count++;
    }
    brio__free(x);
    return sqrt(sum / count);
}

static void pulled_nose(Report *r)
{
    enum { FRAMES = 160, LATE = 60 };
    static const char *const sets[] = {"bodies.0.shape.cells=9", NULL};
    static Film f[COUNT];
    double late[COUNT];
    if (!report_part(r, "figure 11: a head whose nose is let go, %d frames", FRAMES)) return;
    report_note(r, "The picture, frames 60, 113 and 159: the face goes on jiggling with the "
                   "paper's method and is back at rest with BDF2.");
    for (int m = 0; m < COUNT; m++) {
        if (!film(r, "rt-nose", sets, method[m], 0, FRAMES, off_rest, &f[m])) return;
        late[m] = mean_of(f[m].seen, LATE, FRAMES) / f[m].seen[0];
        report_number(r, NAN, f[m].seen[0],
                      "%s: the nose is off its place by (frames 60, 113, 159: %.4f %.4f %.4f), m",
                      method[m], f[m].seen[60], f[m].seen[113], f[m].seen[159]);
    }
    report_bound(r, late[BLEND], 0.25, 1, "blend: mean of frames %d to %d over the first", LATE,
                 FRAMES);
    report_bound(r, late[SECOND], 0, 0.1, "BDF2: \"returned to the rest pose\": the same");
    report_bound(r, late[EULER], 0, 0.1, "backward Euler: the same");
}

/* ---- figure 13: a hippo on spheres ------------------------------------------------------ */

/* How deep a vertex is in a sphere or in the floor at most, m. */
static double deepest(BrioSim *sim, const double *rest)
{
    static const double centre[4][3] = {
        {-0.6, 0.2, -0.4}, {0.5, 0.2, -0.35}, {-0.5, 0.2, 0.45}, {0.65, 0.2, 0.4}};
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    double *x = brio__alloc(3 * (size_t)n, sizeof *x), worst = 0;
    (void)rest;
    if (!x) return NAN;
    brio_sim_positions(sim, 0, x);
    for (int64_t i = 0; i < n; i++) {
        worst = brio__larger(worst, -0.2 - x[3 * i + 1]);
        for (int s = 0; s < 4; s++)
            worst = brio__larger(
                worst, 0.4 - hypot(hypot(x[3 * i] - centre[s][0], x[3 * i + 1] - centre[s][1]),
                                   x[3 * i + 2] - centre[s][2]));
    }
    brio__free(x);
    return worst;
}

static void hippo(Report *r)
{
    enum { FRAMES = 600, IMPACT = 150, FINER = 4 };
    static const char *const sets[] = {"bodies.0.shape.cells=6", NULL};
    static const char *const fine_sets[] = {"bodies.0.shape.cells=6", "time.h=0.0025", NULL};
    static Film f[2], finer;
    static const char *const methods[] = {"blend", "implicit-midpoint"};
    double gain[2];
    if (!report_part(r, "figure 13: a hippo falls on four spheres, %d frames of 0.01 s", FRAMES))
        return;
    report_note(r,
                "The picture: it lands on the spheres. The text: steps of 0.01 s \"resolve all of "
                "the collisions accurately\"; implicit midpoint has no plausible result.");
    for (int m = 0; m < 2; m++) {
        bool fine = film(r, "rt-hippo", sets, methods[m], 0, FRAMES, deepest, &f[m]);
        if (m == 0) report_fact(r, fine, "blend: all frames");
        double fall = f[m].height[0] - min_of(f[m].height, 0, f[m].frames);
        gain[m] = max_of(f[m].total, 0, f[m].frames) - f[m].total[0];
        report_number(r, NAN, fall, "%s: the centre falls by, m", methods[m]);
    }
    if (!film(r, "rt-hippo", fine_sets, "blend", 0, FINER * IMPACT, deepest, &finer)) return;
    double motion = max_of(f[0].kinetic, 0, f[0].frames);
    double depth = max_of(f[0].seen, 0, IMPACT);
    report_number(r, NAN, max_of(f[0].seen, 0, f[0].frames),
                  "blend: deepest vertex in a sphere of 0.4 m or the floor, m");
    report_bound(r, depth / max_of(finer.seen, 0, FINER * IMPACT), 0.8, 1.25,
                 "blend: depth of the first %d frames (%.3f m) over that at 0.0025 s", IMPACT,
                 depth);
    report_bound(r, gain[0] / motion, -INFINITY, 0.05,
                 "blend: energy that it gains over its largest kinetic energy");
    report_bound(r, gain[1] / motion, 0.5, INFINITY, "implicit midpoint: the same");
}

/* ---- figure 14: sliding with and without friction ---------------------------------------- */

/* How far the ears are ahead of the body along x, less what they are at rest, m. */
static double ears(BrioSim *sim, const double *rest)
{
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    double *x = brio__alloc(3 * (size_t)n, sizeof *x), body = 0, ear = 0, count = 0;
    double top = -INFINITY, bottom = INFINITY;
    if (!x) return NAN;
    brio_sim_positions(sim, 0, x);
    for (int64_t i = 0; i < n; i++) {
        top = brio__larger(top, rest[3 * i + 1]), bottom = fmin(bottom, rest[3 * i + 1]);
        body += (x[3 * i] - rest[3 * i]) / (double)n;
    }
    for (int64_t i = 0; i < n; i++)
        if (rest[3 * i + 1] > top - 0.2 * (top - bottom)) ear += x[3 * i] - rest[3 * i], count++;
    brio__free(x);
    return ear / count - body;
}

static void slide(Report *r)
{
    enum { FRAMES = 230 };
    static const char *const smooth[] = {"bodies.0.shape.cells=15", "contact.mu=0", NULL};
    static const char *const rough[] = {"bodies.0.shape.cells=15", "contact.mu=0.15", NULL};
    static Film f[2];
    if (!report_part(r, "figure 14: a bunny slides with and without friction, %d frames", FRAMES))
        return;
    report_note(r, "The picture, frames 0, 80, 160 and 230: without friction it slides without "
                   "end; with friction it slows down and its ears start moving, and elastic forces "
                   "pull them back. It starts from rest on the floor, so that friction alone moves "
                   "the ears. The paper's also turns, since its base has no symmetry; ours has.");
    if (!film(r, "rt-slide", smooth, "blend", 4, FRAMES, ears, &f[0]) ||
        !film(r, "rt-slide", rough, "blend", 4, FRAMES, ears, &f[1]))
        return;
    report_bound(r, f[0].speed[FRAMES] / f[0].speed[0], 0.99, 1.01,
                 "no friction: speed of the centre in frame %d over the first", FRAMES);
    report_bound(r, f[1].speed[FRAMES] / f[1].speed[0], 0, 0.5, "friction 0.15: the same");
    int peak = 0;
    for (int n = 0; n <= FRAMES; n++)
        if (f[1].seen[n] > f[1].seen[peak]) peak = n;
    double forward = f[1].seen[peak] - f[1].seen[0];
    double back = f[1].seen[peak] - min_of(f[1].seen, peak, FRAMES);
    double calm = max_of(f[0].seen, 0, FRAMES) - min_of(f[0].seen, 0, FRAMES);
    report_bound(r, 1e3 * calm, 0, 1, "no friction: the ears move against the body by, mm");
    report_bound(r, 1e3 * forward, 20, INFINITY,
                 "friction: they swing forward by, mm (2 %% of the body; frame %d)", peak);
    report_bound(r, back / forward, 0.5, INFINITY,
                 "friction: \"pulled back\": fraction of it that they swing back after that");
}

/* ---- figure 15: a cube falls on spheres -------------------------------------------------- */

static void fall(Report *r)
{
    enum { FRAMES = 200 };
    static Film f[SECOND];
    double back[SECOND];
    if (!report_part(r, "figure 15: a cube falls on spheres, %d frames of 0.01 s", FRAMES)) return;
    report_note(r, "The picture: after one bounce the cube is back at its height with the paper's "
                   "method, and stays low with backward Euler.");
    for (int m = 0; m < SECOND; m++) {
        if (!film(r, "rt-fall", NULL, method[m], 0, FRAMES, NULL, &f[m])) return;
        int low = 0, high;
        while (low < FRAMES && f[m].height[low + 1] <= f[m].height[low]) low++;
        for (high = low; high < FRAMES && f[m].height[high + 1] >= f[m].height[high];) high++;
        back[m] = (f[m].height[high] - f[m].height[low]) / (f[m].height[0] - f[m].height[low]);
        report_number(r, NAN, back[m],
                      "%s: lowest in frame %d, highest in frame %d; height won back over lost",
                      method[m], low, high);
    }
    report_bound(r, back[BLEND], 0.95, 1.02, "blend: \"bounces back to the original height\"");
    report_bound(r, back[EULER], 0, 0.7, "backward Euler does not");
}

/* ---- figure 16: noise -------------------------------------------------------------------- */

enum { TIP = 64, SAMPLES = 256 }; /* vertices whose spectrum is taken; frames of it */
static double tip_speed[SAMPLES][3 * TIP];
static int tip_frame;

/* Records the velocities of the highest vertices. */
static double record_tip(BrioSim *sim, const double *rest)
{
    int64_t n = brio_body_vertices(brio_sim_system(sim), 0);
    double *v = brio__alloc(3 * (size_t)n, sizeof *v), top = -INFINITY;
    if (!v || tip_frame >= SAMPLES) abort();
    brio_sim_velocities(sim, 0, v);
    for (int64_t i = 0; i < n; i++) top = brio__larger(top, rest[3 * i + 1]);
    int count = 0;
    for (int64_t i = 0; i < n && count < TIP; i++)
        if (rest[3 * i + 1] > top - 0.25) {
            for (int k = 0; k < 3; k++) tip_speed[tip_frame][3 * count + k] = v[3 * i + k];
            count++;
        }
    for (; count < TIP; count++)
        for (int k = 0; k < 3; k++) tip_speed[tip_frame][3 * count + k] = 0;
    tip_frame++;
    brio__free(v);
    return 0;
}

/* Fraction of the power above half of the highest frequency that frames can show. */
static double noise(int frames)
{
    const double pi = 3.14159265358979323846;
    double high = 0, all = 0;
    for (int c = 0; c < 3 * TIP; c++) {
        double mean = 0;
        for (int t = 0; t < frames; t++) mean += tip_speed[t][c] / frames;
        for (int k = 1; k <= frames / 2; k++) {
            double re = 0, im = 0;
            for (int t = 0; t < frames; t++) {
                /* the window of Hann, so that slow motion does not leak */
                double w = 0.5 - 0.5 * cos(2 * pi * t / frames), angle = 2 * pi * k * t / frames;
                re += w * (tip_speed[t][c] - mean) * cos(angle);
                im += w * (tip_speed[t][c] - mean) * sin(angle);
            }
            all += re * re + im * im;
            if (k > frames / 4) high += re * re + im * im;
        }
    }
    return high / all;
}

static void horn(Report *r)
{
    static const struct {
        const char *name, *integrator, *damping;
    } runs[] = {{"blend as printed", "{type: blend, be_iterations: 1}", NULL},
                {"the same with damping 0.05", "{type: blend, be_iterations: 1}",
                 "damping=[{type: momentum-preserving, k: 0.05}]"},
                {"backward Euler", "backward-euler", NULL},
                {"implicit midpoint", "implicit-midpoint", NULL},
                {"blend, backward Euler finished", "blend", NULL},
                {"A-search (not in the paper)", "a-search", NULL}};
    enum { PRINTED, DAMPED, CALM, MIDPOINT, RUNS = 6 };
    static Film f;
    double share[RUNS];
    if (!report_part(r, "figure 16: noise at the tip of a struck horn, %d frames", SAMPLES)) return;
    report_note(r, "The picture: ripples in the horn. Noise is the fraction of the power of the "
                   "tip's velocities above 7.5 Hz, half of what 30 frames per second can show.");
    for (int k = 0; k < RUNS; k++) {
        const char *sets[] = {"bodies.0.shape.cells=10", runs[k].damping, NULL};
        tip_frame = 0;
        film(r, "rt-horn", sets, runs[k].integrator, 0, SAMPLES - 1, record_tip, &f);
        share[k] = noise(f.frames + 1);
        report_number(r, NAN, share[k], "%s: noise, %d frames", runs[k].name, f.frames + 1);
    }
    report_bound(
        r, share[PRINTED], 0.01, 1,
        "\"can occur in undamped simulations\": blend as printed, a hundredth of the power");
    report_bound(r, share[CALM], 0, 1e-4, "backward Euler does not have it");
    report_bound(r, share[MIDPOINT] / share[PRINTED], 1, INFINITY,
                 "blending \"mitigates\" it: implicit midpoint over blend");
    report_bound(r, share[DAMPED] / share[PRINTED], 0, 0.5,
                 "\"the obvious solution is some damping\": with over without");
}

static void pictures(Report *r)
{
    swing(r);
    shaken_cloth(r);
    pulled_nose(r);
    hippo(r);
    slide(r);
    fall(r);
    horn(r);
}

REPRODUCTION(dinev2018_pictures){
    .name = "dinev2018-pictures",
    .paper = "Dinev2018",
    .summary = "figures 9, 10, 11, 13, 14, 15 and 16: what their pictures show, as numbers",
    .about = "The scenes rt-bunny, rt-cloth, rt-nose, rt-hippo, rt-slide, rt-fall and rt-horn with "
             "coarser meshes. Each begins with what the picture or its caption says.",
    .chosen = "all scenes and meshes, all measures, all bounds",
    .minutes = 0.5,
    .parts = true,
    .run = pictures,
};
