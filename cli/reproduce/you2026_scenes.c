/* Reproductions of [You2026] on the scenes that ship with brio: bouncing balls. */
#include "you2026.h"

#include <string.h>

/* A shipped scene with another integrator and step; `more` (may be NULL) is one more setting. */
static BrioSim *shipped(Report *r, const char *name, const char *integrator, double inverse_h,
                        const char *more)
{
    char method[256], step[64];
    const char *sets[3] = {method, step, more};
    snprintf(method, sizeof method, "integrator=%s", integrator);
    snprintf(step, sizeof step, "time.h=1/%g", inverse_h);
    return report_shipped(r, name, sets, more ? 3 : 2, NULL);
}

/* ---- figures 10, 11 and 20: bouncing balls ---------------------------------------------- */

enum { REBOUNDS = 5, CONTACTS = 10, CURVE = 661 };
static const double CURVE_SPAN = 5.5; /* s, of CURVE samples */

/* What a ball did. Energies are above that of the undeformed ball standing on the floor, over the
 * first; heights are the way of the centre of mass above where it stands then, over the height of
 * the drop. */
typedef struct Bounces {
    bool finished;
    int rebounds, contacts; /* counted up to REBOUNDS and CONTACTS */
    double top[REBOUNDS];
    double min, max;      /* energy over its target in the first step after each contact */
    double highest;       /* energy over its target in any step */
    double energy[CURVE]; /* evenly over CURVE_SPAN */
    double seconds;
    int64_t iterations;
} Bounces;

/* `cells`: layers of tets; 0: the scene's own mesh. `start`: of report_perturb. */
static Bounces drop_from(Report *r, const char *scene, const char *integrator, double inverse_h,
                         int cells, int start, const char *what)
{
    Bounces b = {.finished = true, .min = INFINITY, .max = -INFINITY, .highest = -INFINITY};
    for (int i = 0; i < REBOUNDS; i++) b.top[i] = NAN;
    for (int i = 0; i < CURVE; i++) b.energy[i] = NAN;
    char layers[64];
    snprintf(layers, sizeof layers, "bodies.0.shape.cells=%d", cells);
    BrioSim *sim = shipped(r, scene, integrator, inverse_h, cells > 0 ? layers : NULL);
    BrioLedger first, now;
    if (sim) report_perturb(sim, start, 1e-3);
    if (!sim || brio_sim_ledger(sim, &first) != BRIO_OK) return b.finished = false, b;
    double fall = first.min_distance;
    double weight = first.gravity / first.centre[1];
    double ground = first.total - weight * fall;
    double stand = first.centre[1] - fall;
    double top = 0;
    double begin = brio__seconds();
    int64_t steps = (int64_t)round(CURVE_SPAN * inverse_h), before = 0;
    b.energy[0] = 1;
    for (int64_t k = 1; k <= steps && b.finished; k++) {
        b.finished = brio_sim_step(sim, NULL) == BRIO_OK && brio_sim_ledger(sim, &now) == BRIO_OK;
        if (!b.finished) break;
        double energy = (now.total - ground) / (weight * fall);
        double ratio = (now.total - ground) / (now.target - ground);
        double rise = (now.centre[1] - stand) / fall;
        b.iterations += sim->stepper->iterations;
        b.energy[(int64_t)round(now.time / CURVE_SPAN * (CURVE - 1))] = energy;
        if (ratio > b.highest) b.highest = ratio;
        if (now.contacts == 0 && before > 0 && b.contacts < CONTACTS) {
            b.contacts++;
            b.min = fmin(b.min, ratio), b.max = brio__larger(b.max, ratio);
        }
        if (now.contacts == 0 && b.contacts > 0) top = brio__larger(top, rise);
        if (now.contacts > 0) {
            /* not while it only loses touch during one bounce */
            if (top > 0.01 && b.rebounds < REBOUNDS) b.top[b.rebounds++] = top;
            top = 0;
        }
        before = now.contacts;
        report_progress(r, (double)k / (double)steps, "%s, %s", scene, what);
    }
    b.seconds = brio__seconds() - begin;
    brio_sim_free(sim);
    return b;
}

static Bounces drop(Report *r, const char *scene, const char *integrator, double inverse_h,
                    int cells, const char *what)
{
    return drop_from(r, scene, integrator, inverse_h, cells, 0, what);
}

static void report_heights(Report *r, const Bounces *b, const char *name)
{
    char text[128] = "";
    for (int i = 0; i < b->rebounds; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %.3f", b->top[i]);
    if (b->finished)
        report_number(r, NAN, b->top[0], "%-22s%s", name, text);
    else
        report_note(r, "%s stopped", name);
}

/* Mean of as many rebounds as there are, those that did not come being 0. */
static double mean_height(const Bounces *b)
{
    double sum = 0;
    for (int i = 0; i < b->rebounds; i++) sum += b->top[i] / REBOUNDS;
    return sum;
}

static const char *const balls[3] = {"ball-soft", "ball-medium", "ball-stiff"};
enum { COARSE = 4 };

/* Sec. 5.2: with A-search the stiff ball bounces like the affine one; the reference differs. */
static void affine_ball(Report *r, const Bounces *search, const Bounces *printed,
                        const Bounces *reference)
{
    static const Method method[] = {{"A-search, 1/120", "a-search", 120},
                                    {"A-search as printed", YOU2026_PRINTED, 120},
                                    {"BDF2, 1/3000", "bdf2", 3000}};
    const Bounces *full[3] = {search, printed, reference};
    double apart[3];
    report_section(r, "ball-affine: the same heights (at the right: the first)");
    for (int m = 0; m < 3; m++) {
        Bounces b =
            drop(r, "ball-affine", method[m].integrator, method[m].inverse_h, 0, method[m].name);
        report_heights(r, &b, method[m].name);
        apart[m] = fabs(mean_height(&b) - mean_height(full[m]));
        report_number(r, NAN, apart[m], "  mean height apart from that of the full ball");
    }
    for (int m = 0; m < 2; m++)
        report_bound(r, apart[m], 0, 0.05, "%s: \"similar\" to the full ball", method[m].name);
    report_bound(r, apart[2], 0.05, INFINITY, "the reference: \"not similar\"");
}

/* "Immediate instabilities." */
static void trapezoidal_ball(Report *r, const char *scene)
{
    Bounces b = drop(r, scene, "trapezoidal", 120, COARSE, "trapezoidal");
    double most = 0;
    for (int i = 0; i < CURVE; i++) most = fmax(most, b.energy[i]); /* without those that are NAN */
    report_bound(r, most, 2, INFINITY,
                 "trapezoidal, \"immediate instabilities\": largest energy over the first%s",
                 b.finished ? "" : " (then a step fails)");
}

static void figure10(Report *r)
{
    static const Method method[] = {{"BDF2, 1/120", "bdf2", 120},
                                    {"BDF2, 1/600", "bdf2", 600},
                                    {"A-1, 1/120", "a-1", 120},
                                    {"A-search, 1/120", "a-search", 120},
                                    {"A-search as printed", YOU2026_PRINTED, 120},
                                    {"BDF2, 1/3000", "bdf2", 3000}};
    enum { BDF2, BDF2_600, A1, SEARCH, PRINTED, REFERENCE, METHODS };
    for (int k = 0; k < 3; k++) {
        static Bounces b[METHODS];
        bool reference = report_fine(r) || k == 2;
        int methods = reference ? METHODS : METHODS - 1;
        report_section(r,
                       "%s: heights of the first rebounds in %g s, over the height of the drop (at "
                       "the right: the first)",
                       balls[k], CURVE_SPAN);
        for (int m = 0; m < methods; m++) {
            b[m] = drop(r, balls[k], method[m].integrator, method[m].inverse_h, COARSE,
                        method[m].name);
            report_heights(r, &b[m], method[m].name);
        }
        for (int m = SEARCH; m <= PRINTED; m++) {
            report_fact(r, b[m].finished && mean_height(&b[m]) > mean_height(&b[BDF2]),
                        "%s: higher than BDF2 at the same step (mean %.3f, %.3f)", method[m].name,
                        mean_height(&b[m]), mean_height(&b[BDF2]));
            report_fact(r, b[m].finished && mean_height(&b[m]) > mean_height(&b[BDF2_600]),
                        "%s: higher than BDF2 at 1/600 (mean %.3f)", method[m].name,
                        mean_height(&b[BDF2_600]));
        }
        report_fact(r, b[A1].finished && mean_height(&b[A1]) > mean_height(&b[BDF2_600]),
                    "A-1 bounces higher than BDF2 at 1/600 (mean %.3f, %.3f)", mean_height(&b[A1]),
                    mean_height(&b[BDF2_600]));
        trapezoidal_ball(r, balls[k]);
        if (reference)
            report_number(r, NAN, mean_height(&b[REFERENCE]), "mean height of BDF2 at 1/3000");
        if (k == 2) affine_ball(r, &b[SEARCH], &b[PRINTED], &b[REFERENCE]);
    }
    if (!report_fine(r))
        report_note(r, "BDF2 at 1/3000 s, the paper's reference, is run for the stiff ball; for "
                       "the others with --fine.");
}

REPRODUCTION(you2026_fig10){
    .name = "you2026-fig10",
    .paper = "You2026",
    .summary =
        "figure 10: balls of three stiffnesses and an affine one bounce; heights of rebounds",
    .about = "The scenes ball-soft, ball-medium and ball-stiff for 5.5 s with 4 layers of tets "
             "(309 nodes; the scenes have 7 layers, the paper 1.6k nodes), so that short steps do "
             "not take long. "
             "The paper shows pictures and no numbers.",
    .chosen = "the mesh; heights of rebounds as the measure; 0.05 for \"similar\"",
    .minutes = 2,
    .run = figure10,
};

static const Method bounce_method[] = {{"BDF2, 1/120", "bdf2", 120},
                                       {"A-1, 1/120", "a-1", 120},
                                       {"A-search, 1/120", "a-search", 120},
                                       {"A-search as printed", YOU2026_PRINTED, 120},
                                       {"A-search, tau = 5 s", NULL, 120}};
enum { BOUNCE_BDF2, BOUNCE_A1, BOUNCE_SEARCH, BOUNCE_PRINTED, BOUNCE_DECAY, BOUNCE_METHODS };

static void plot_bounces(Report *r, Bounces b[3][BOUNCE_METHODS])
{
    FILE *file = report_file(r, "you2026-fig11.svg");
    if (!file) return;
    static double time[CURVE];
    BrioPlotSeries series[3][BOUNCE_METHODS];
    BrioPlot plot[3];
    for (int i = 0; i < CURVE; i++) time[i] = CURVE_SPAN * i / (CURVE - 1);
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < BOUNCE_METHODS; m++)
            series[k][m] = (BrioPlotSeries){
                .name = bounce_method[m].name, .count = CURVE, .x = time, .y = b[k][m].energy};
        plot[k] = (BrioPlot){
            .title = balls[k],
            .x = {.label = "t, s"},
            .y = {.label = "energy above rest / first", .fixed = true, .low = 0, .high = 1.3},
            .series_count = BOUNCE_METHODS,
            .series = series[k]};
    }
    brio__plot_write(file, plot, 3, 1);
    report_close(r, file);
}

static void figure11(Report *r)
{
    static Bounces b[3][BOUNCE_METHODS];
    for (int k = 0; k < 3; k++) {
        char decay[128];
        BrioLedger first;
        BrioSim *sim = shipped(r, balls[k], "a-search", 120, "bodies.0.shape.cells=4");
        if (!sim || brio_sim_ledger(sim, &first) != BRIO_OK) return;
        snprintf(decay, sizeof decay, "{type: a-search, decay: 5, ground: %.17g}",
                 first.total - first.gravity / first.centre[1] * first.min_distance);
        brio_sim_free(sim);
        report_section(r,
                       "%s: energy over its target in the first step after each of the first %d "
                       "contacts in %g s",
                       balls[k], CONTACTS, CURVE_SPAN);
        for (int m = 0; m < BOUNCE_METHODS; m++) {
            b[k][m] = drop(r, balls[k], m == BOUNCE_DECAY ? decay : bounce_method[m].integrator,
                           120, COARSE, bounce_method[m].name);
            if (m < BOUNCE_SEARCH)
                report_number(r, NAN, b[k][m].energy[CURVE - 1], "%s: last energy over the first",
                              bounce_method[m].name);
            else
                report_bound(r, b[k][m].min, 0.95, INFINITY, "%s: least of %d contacts",
                             bounce_method[m].name, b[k][m].contacts);
            if (m == BOUNCE_DECAY)
                report_number(r, NAN, b[k][m].highest, "%s: largest of any step, before a contact",
                              bounce_method[m].name);
            else if (m >= BOUNCE_SEARCH)
                report_bound(r, b[k][m].highest, -INFINITY, 1.03, "%s: largest of any step",
                             bounce_method[m].name);
        }
        report_value(r, exp(-CURVE_SPAN / 5), b[k][BOUNCE_DECAY].energy[CURVE - 1], 0.05,
                     "tau = 5 s: energy after %g s over the first", CURVE_SPAN);
        report_fact(r, b[k][BOUNCE_BDF2].energy[CURVE - 1] < b[k][BOUNCE_SEARCH].energy[CURVE - 1],
                    "BDF2 ends below A-search");
    }
    plot_bounces(r, b);
}

REPRODUCTION(you2026_fig11){
    .name = "you2026-fig11",
    .paper = "You2026",
    .summary = "figure 11: energy of the bouncing balls over time",
    .about = "As you2026-fig10. Energies are above that of the undeformed ball standing on the "
             "floor. While a ball touches the floor energy is missing for some steps (Appendix E); "
             "the claim is "
             "that it is back when the ball leaves. In free flight no alpha acts on the motion as "
             "a whole: with decay the energy may stand above its target until the next contact.",
    .chosen = "the mesh; the decay of 5 s; the bounds (0.95, 1.03 and 0.05)",
    .minutes = 1.5,
    .run = figure11,
};

/* The median over all starts of the mean height of a method's rebounds; the first is `own`. */
static Quartiles median_height(Report *r, const Method *method, const Bounces *own)
{
    double height[REPORT_STARTS];
    for (int start = 0; start < REPORT_STARTS; start++) {
        Bounces b = start == 0 ? *own
                               : drop_from(r, "ball-medium", method->integrator, method->inverse_h,
                                           COARSE, start, method->name);
        height[start] = b.finished ? mean_height(&b) : NAN;
    }
    return report_quartiles(height, REPORT_STARTS);
}

/* Sec. 5.6: the sparse search "may ... lead to a higher rebound", [0.9, 1.1] "to a lesser extent",
 * and all are "fairly similar". `method` and `b` begin with the full search. */
static void judge_ablation(Report *r, const Method *method, const Bounces *b)
{
    enum { FULL, NARROW, WIDE, SPARSE };
    Quartiles q[SPARSE + 1];
    for (int m = FULL; m <= SPARSE; m++) {
        q[m] = median_height(r, &method[m], &b[m]);
        report_number(r, NAN, q[m].median, "%s: mean height, median of %d starts (%.3f, %.3f)",
                      method[m].name, q[m].count, q[m].low, q[m].high);
        if (m != FULL)
            report_bound(r, q[m].median / q[FULL].median, 0.75, 1.25,
                         "%s: \"fairly similar\": over the full search's", method[m].name);
    }
    report_bound(r, q[SPARSE].median - q[FULL].median, nextafter(0, 1), INFINITY,
                 "%s: \"higher rebound\" than the full search's, by", method[SPARSE].name);
    report_bound(r, q[SPARSE].median - q[NARROW].median, nextafter(0, 1), INFINITY,
                 "%s: \"to a lesser extent\" than the sparse one, by", method[NARROW].name);
}

static void figure20(Report *r)
{
#define PRINTED "flight: false, momentum: false"
    static const Method method[] = {
        {"A-search", "a-search", 120},
        {"[0.9, 1.1]", "{type: a-search, alpha_min: 0.9}", 120},
        {"[0, 2]", "{type: a-search, alpha_max: 2}", 120},
        {"sparse", "{type: a-search, sparse: true}", 120},
        {"as printed", YOU2026_PRINTED, 120},
        {"as printed, [0.9, 1.1]", "{type: a-search, " PRINTED ", alpha_min: 0.9}", 120},
        {"as printed, [0, 2]", "{type: a-search, " PRINTED ", alpha_max: 2}", 120},
        {"as printed, sparse", "{type: a-search, " PRINTED ", sparse: true}", 120},
        {"BDF2", "bdf2", 120}};
#undef PRINTED
    enum { BDF2 = 8, METHODS };
    static Bounces b[METHODS];
    report_section(r, "ball-medium: heights of the first rebounds over the height of the drop (at "
                      "the right: the first)");
    for (int m = 0; m < METHODS; m++) {
        b[m] = drop(r, "ball-medium", method[m].integrator, method[m].inverse_h, COARSE,
                    method[m].name);
        report_heights(r, &b[m], method[m].name);
    }
    for (int m = 0; m < BDF2; m++) {
        report_fact(r, b[m].finished && mean_height(&b[m]) > 2 * mean_height(&b[BDF2]),
                    "%s keeps much more motion than BDF2 (mean %.3f, %.3f)", method[m].name,
                    mean_height(&b[m]), mean_height(&b[BDF2]));
        report_number(r, NAN, b[m].highest, "%s: largest energy over its target", method[m].name);
    }
    for (int m = 0; m < BDF2; m += BDF2 / 2) judge_ablation(r, &method[m], &b[m]);
    FILE *file = report_file(r, "you2026-fig20.svg");
    if (!file) return;
    static double time[CURVE];
    BrioPlotSeries series[METHODS];
    for (int i = 0; i < CURVE; i++) time[i] = CURVE_SPAN * i / (CURVE - 1);
    for (int m = 0; m < METHODS; m++)
        series[m] =
            (BrioPlotSeries){.name = method[m].name, .count = CURVE, .x = time, .y = b[m].energy};
    BrioPlot plot = {.title = "Medium ball, h = 1/120 s",
                     .x = {.label = "t, s"},
                     .y = {.label = "energy above rest / first"},
                     .series_count = METHODS,
                     .series = series};
    brio__plot_write(file, &plot, 1, 1);
    report_close(r, file);
}

REPRODUCTION(you2026_fig20){
    .name = "you2026-fig20",
    .paper = "You2026",
    .summary = "figure 20: search intervals and the sparse search on the medium ball",
    .about = "As you2026-fig10. The paper compares pictures and finds them fairly similar, with "
             "much more motion than BDF2's.",
    .chosen =
        "the mesh; twice the height of BDF2's rebounds for \"much more motion\", a quarter for "
        "\"similar\", sixteen starts that differ by 1 mm/s",
    .minutes = 4,
    .run = figure20,
};
