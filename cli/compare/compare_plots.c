/* The charts of `brio compare`: files of their own (energy.svg, ...), and figures of its report. */
#include "compare_parts.h"
#include "report.h"

#include "internal.h"

#include <string.h>

/* The charts of one picture while they are put together. */
typedef struct Picture {
    const Comparison *c;
    int count;
    BrioPlot *plot;
    char (*title)[320];
    int series_count;
    BrioPlotSeries *series;
    char (*name)[256];
    double *points; /* of errors: x and y, then two lines of two points */
} Picture;

/* Few trials share a chart, where the colour is the method and the dashes are the step size; many
 * get one for each step size. */
static bool chart_by_size(const Comparison *c)
{
    return c->size_count > 1 &&
           (c->method_count > 7 || c->size_count > 3 || c->method_count * c->size_count > 9);
}

static bool plotted(const Trial *t, Curve curve)
{
    for (int64_t k = 0; k < t->sample_count; k++)
        if (isfinite(t->curve[curve][k])) return true;
    return false;
}

static BrioPlot *new_chart(Picture *p)
{
    p->plot[p->count] =
        (BrioPlot){.title = p->title[p->count], .series = p->series + p->series_count};
    return &p->plot[p->count++];
}

static void add_series(Picture *p, const Trial *t, Curve curve, bool sized)
{
    const Comparison *c = p->c;
    BrioPlot *plot = &p->plot[p->count - 1];
    char *name = p->name[p->series_count];
    int method = (int)(t->method - c->method);
    int size = sized || c->size_count == 1 ? 0 : (int)(t->size - c->size);
    if (sized || (c->size_count == 1 && !c->is_extra))
        snprintf(name, sizeof p->name[0], "%s", t->method->label);
    else
        snprintf(name, sizeof p->name[0], "%s, h = %s", t->method->label, t->size->text);
    p->series[p->series_count++] = (BrioPlotSeries){
        .name = name,
        .count = t->sample_count,
        .x = t->curve[CURVE_TIME],
        .y = t->curve[curve],
        .colour = c->is_extra && t == c->reference ? 7 : 1 + method + 7 * BRIO_MIN(size, 2)};
    plot->series_count++;
}

/* A trial that runs away would press all others flat: the axis is that of the trials that stay
 * between so many times the scale. */
static void cut(const Comparison *c, BrioPlot *plot, char *title, double min, double max)
{
    double low = INFINITY, high = -INFINITY, lowest = INFINITY, highest = -INFINITY;
    for (int s = 0; s < plot->series_count; s++) {
        double bottom = INFINITY, top = -INFINITY;
        for (int64_t k = 0; k < plot->series[s].count; k++) {
            bottom = fmin(bottom, plot->series[s].y[k]);
            top = fmax(top, plot->series[s].y[k]);
        }
        lowest = fmin(lowest, bottom);
        highest = fmax(highest, top);
        if (bottom < min * c->scale || top > max * c->scale) continue;
        low = fmin(low, bottom);
        high = fmax(high, top);
    }
    if (isnan(c->scale) || (lowest >= min * c->scale && highest <= max * c->scale)) return;
    if (!(high > low)) low = fmax(lowest, min * c->scale), high = fmin(highest, max * c->scale);
    double room = 0.15 * (high - low);
    size_t used = strlen(title);
    plot->y.fixed = true;
    plot->y.low = low - room;
    plot->y.high = high + room;
    snprintf(title + used, sizeof(char[320]) - used, " (cut off: it goes %s %.2g J)",
             highest > high + room ? "up to" : "down to", highest > high + room ? highest : lowest);
}

/* On a logarithmic axis: decades of the trials that reached the end, and at least two. */
static void cut_log(const Comparison *c, Curve curve, BrioPlot *plot, char *title)
{
    double low = INFINITY, high = 0, highest = 0;
    for (int s = 0; s < plot->series_count; s++) {
        const BrioPlotSeries *series = &plot->series[s];
        bool ended = false;
        for (int i = 0; i < c->trial_count; i++)
            ended |=
                series->y == c->trial[i].curve[curve] && c->trial[i].outcome == TRIAL_COMPLETED;
        for (int64_t k = 0; k < series->count; k++) {
            if (!(series->y[k] > 0)) continue;
            highest = fmax(highest, series->y[k]);
            if (!ended) continue;
            low = fmin(low, series->y[k]);
            high = fmax(high, series->y[k]);
        }
    }
    if (high == 0 || highest <= 10 * high) return;
    size_t used = strlen(title);
    plot->y.fixed = true;
    plot->y.low = pow(10, floor(log10(fmin(low, high / 100))));
    plot->y.high = pow(10, ceil(log10(high)) + 1);
    snprintf(title + used, sizeof(char[320]) - used, " (cut off: it goes up to %.2g)", highest);
}

static void curve_charts(Picture *p, Curve curve, const char *title, const char *label, bool log)
{
    const Comparison *c = p->c;
    bool sized = chart_by_size(c);
    for (int size = 0; size < (sized ? c->size_count : 1); size++) {
        BrioPlot *plot = NULL;
        for (int i = 0; i < c->trial_count; i++) {
            const Trial *t = &c->trial[i];
            if ((sized && t->size != &c->size[size]) || !plotted(t, curve)) continue;
            if (!plot || plot->series_count == BRIO_PLOT_MAX_SERIES) {
                plot = new_chart(p);
                plot->x.label = "time [s]";
                plot->y = (BrioPlotAxis){.label = label, .log = log};
                snprintf(p->title[p->count - 1], sizeof p->title[0], sized ? "%s, h = %s s" : "%s",
                         title, c->size[size].text);
            }
            add_series(p, t, curve, sized);
        }
    }
    for (int i = 0; i < p->count; i++) {
        if (curve == CURVE_CHANGE) cut(c, &p->plot[i], p->title[i], -5, 1);
        if (curve == CURVE_KINETIC) cut(c, &p->plot[i], p->title[i], -1, 2);
        if (log) cut_log(c, curve, &p->plot[i], p->title[i]);
    }
}

static void energy_charts(Picture *p)
{
    curve_charts(p, CURVE_CHANGE, "Total energy less that of the initial state",
                 "E \u2212 E(0) [J]", false);
}
static void kinetic_charts(Picture *p)
{
    curve_charts(p, CURVE_KINETIC, "Kinetic energy", "kinetic energy [J]", false);
}
static void alpha_charts(Picture *p) { curve_charts(p, CURVE_ALPHA, "alpha", "alpha", false); }

static void momentum_charts(Picture *p)
{
    if (p->c->keeps_linear)
        curve_charts(p, CURVE_LINEAR, "Change of linear momentum", "|p \u2212 p(0)| [kg m/s]",
                     true);
}

static void angular_charts(Picture *p)
{
    if (p->c->keeps_angular)
        curve_charts(p, CURVE_ANGULAR, "Change of angular momentum", "|L \u2212 L(0)| [kg m²/s]",
                     true);
}

/* ---- errors ----------------------------------------------------------------------------- */

/* Least squares of ln e = p ln h + const over points with an error; NAN: fewer than two. */
static double slope_of(const double *h, const double *e, int count)
{
    double mean_x = 0, mean_y = 0, above = 0, below = 0;
    for (int k = 0; k < count; k++) {
        mean_x += log(h[k]) / count;
        mean_y += log(e[k]) / count;
    }
    for (int k = 0; k < count; k++) {
        above += (log(h[k]) - mean_x) * (log(e[k]) - mean_y);
        below += (log(h[k]) - mean_x) * (log(h[k]) - mean_x);
    }
    return count > 1 && below > 0 ? above / below : NAN;
}

/* A dashed line of slope 1 or 2 through the middle of all points. */
static void add_guide(Picture *p, int slope, const double *x, const double *y, int count)
{
    double low = INFINITY, high = 0, mean_x = 0, mean_y = 0;
    double *line = p->points + 2 * p->c->trial_count + 4 * (slope - 1);
    for (int k = 0; k < count; k++) {
        low = fmin(low, x[k]);
        high = fmax(high, x[k]);
        mean_x += log(x[k]) / count;
        mean_y += log(y[k]) / count;
    }
    line[0] = low;
    line[1] = high;
    for (int k = 0; k < 2; k++) line[2 + k] = exp(mean_y + slope * (log(line[k]) - mean_x));
    char *name = p->name[p->series_count];
    snprintf(name, sizeof p->name[0], "slope %d", slope);
    p->series[p->series_count++] = (BrioPlotSeries){
        .name = name, .count = 2, .x = line, .y = line + 2, .colour = 7 + 7 * slope};
    p->plot[p->count - 1].series_count++;
}

/* Errors against step sizes: the slope of a method's line is its order. Methods beyond what one
 * chart can hold are in the table. */
static void convergence_charts(Picture *p)
{
    const Comparison *c = p->c;
    double *x = p->points, *y = p->points + c->trial_count;
    int all = 0;
    BrioPlot *plot = NULL;
    for (int m = 0; m < c->method_count; m++) {
        int count = 0;
        for (int k = 0; k < c->size_count; k++) {
            const Trial *t = &c->trial[m * c->size_count + k];
            if (!(t->value[ERROR] > 0)) continue;
            x[all + count] = t->size->h;
            y[all + count++] = t->value[ERROR];
        }
        double slope = slope_of(x + all, y + all, count);
        if (isnan(slope) || (plot && plot->series_count == BRIO_PLOT_MAX_SERIES - 2)) continue;
        if (!plot) {
            plot = new_chart(p);
            plot->x = (BrioPlotAxis){.label = "step h [s]", .log = true};
            plot->y = (BrioPlotAxis){.label = "error of positions [m]", .log = true};
            snprintf(p->title[p->count - 1], sizeof p->title[0],
                     "Error at the end against the step");
        }
        char *name = p->name[p->series_count];
        snprintf(name, sizeof p->name[0], "%s: slope %.2f", c->method[m].label, slope);
        p->series[p->series_count++] = (BrioPlotSeries){.name = name,
                                                        .mark = BRIO_PLOT_LINE_AND_POINTS,
                                                        .count = count,
                                                        .x = x + all,
                                                        .y = y + all,
                                                        .colour = 1 + m};
        plot->series_count++;
        all += count;
    }
    for (int slope = 1; plot && slope <= 2; slope++) add_guide(p, slope, x, y, all);
}

static void precision_charts(Picture *p)
{
    const Comparison *c = p->c;
    BrioPlot *plot = NULL;
    double *x = p->points, *y = p->points + c->trial_count;
    for (int m = 0; m < c->method_count; m++) {
        int count = 0;
        for (int k = 0; k < c->size_count; k++) {
            const Trial *t = &c->trial[m * c->size_count + k];
            if (!(t->value[ERROR] > 0) || !(t->value[WALL] > 0)) continue;
            x[count] = t->value[WALL];
            y[count++] = t->value[ERROR];
        }
        if (count == 0) continue;
        if (!plot || plot->series_count == BRIO_PLOT_MAX_SERIES) {
            plot = new_chart(p);
            plot->x = (BrioPlotAxis){.label = "wall time [s]", .log = true};
            plot->y = (BrioPlotAxis){.label = "error of positions [m]", .log = true};
            snprintf(p->title[p->count - 1], sizeof p->title[0],
                     "Error at the end against wall time");
        }
        p->series[p->series_count++] = (BrioPlotSeries){.name = c->method[m].label,
                                                        .mark = BRIO_PLOT_LINE_AND_POINTS,
                                                        .count = count,
                                                        .x = x,
                                                        .y = y,
                                                        .colour = 1 + m};
        plot->series_count++;
        x += count;
        y += count;
    }
}

static const struct {
    const char *file, *about;
    void (*charts)(Picture *picture);
} pictures[] = {
    {"energy.svg",
     "Lines that fall lose energy, lines that rise gain it; a perfect method stays at zero unless "
     "damping or moved points act.",
     energy_charts},
    {"convergence.svg",
     "The slope of a line is the order of its method: a step of half the size makes the error 2 "
     "(slope 1) or 4 times (slope 2) smaller. Slopes are fitted to all points of a line.",
     convergence_charts},
    {"work-precision.svg", "Below and to the left is better: less error for less time.",
     precision_charts},
    {"kinetic.svg", "What is left of the motion.", kinetic_charts},
    {"momentum.svg", "Round-off, or the tolerance of the solver, for methods that keep it.",
     momentum_charts},
    {"angular-momentum.svg", "Likewise; not every method keeps it.", angular_charts},
    {"alpha.svg", "How energy-controlled methods mix their momenta.", alpha_charts},
};

const char *comparison_picture(size_t which)
{
    return which < BRIO_COUNT(pictures) ? pictures[which].file : NULL;
}

BrioStatus comparison_draw(const Comparison *c, size_t which, FILE *file, Report *report,
                           bool *drawn)
{
    size_t series = (size_t)c->trial_count + 2, charts = series + (size_t)c->size_count;
    Picture p = {.c = c,
                 .plot = brio__calloc(charts, sizeof *p.plot),
                 .title = brio__calloc(charts, sizeof *p.title),
                 .series = brio__calloc(series, sizeof *p.series),
                 .name = brio__calloc(series, sizeof *p.name),
                 .points = brio__calloc(2 * series + 8, sizeof *p.points)};
    bool whole = p.plot && p.title && p.series && p.name && p.points;
    BrioStatus status = whole ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (whole) pictures[which].charts(&p);
    *drawn = p.count > 0;
    if (*drawn && file) status = brio__plot_write(file, p.plot, p.count, 2);
    for (int k = 0; whole && report && k < p.count; k++)
        report_chart(report, &p.plot[k], k == p.count - 1 ? pictures[which].about : NULL);
    brio__free(p.plot);
    brio__free(p.title);
    brio__free(p.series);
    brio__free(p.name);
    brio__free(p.points);
    return status;
}
