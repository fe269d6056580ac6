/* The layout of a chart: axis limits come first, then ticks, then the frame, whose margins depend
 * on the tick labels and the legend. */
#include "plot.h"

#include <stdlib.h>
#include <string.h>

/* [Okabe2008] without its yellow, which is too faint for lines on white. */
const char *const brio__plot_palette[COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                                 "#CC79A7", "#56B4E9", "#000000"};

int brio__plot_colour(const BrioPlotSeries *series, int i, int *dashes)
{
    int place = series->colour > 0 ? series->colour - 1 : i;
    *dashes = place / COLOURS + series->dashed;
    return place % COLOURS;
}

const char *brio__plot_series_colour(const BrioPlotSeries *series, int i)
{
    int dashes;
    return brio__plot_palette[brio__plot_colour(series, i, &dashes)];
}

const char *brio__plot_series_dashes(const BrioPlotSeries *series, int i)
{
    int round;
    brio__plot_colour(series, i, &round);
    return round == 0 ? "" : round == 1 ? " stroke-dasharray=\"7 4\"" : " stroke-dasharray=\"2 3\"";
}

/* ---- axes ------------------------------------------------------------------------------- */

double brio__plot_on_axis(const BrioPlotAxis *axis, double value)
{
    if (!axis->log) return isfinite(value) ? value : NAN;
    return value > 0 && isfinite(value) ? log10(value) : NAN;
}

double brio__plot_x_of(const BrioPlotSeries *series, int64_t i)
{
    return series->x ? series->x[i] : (double)i;
}

static void include(BrioPlotRange *range, double value)
{
    if (isnan(value)) return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* Limits of one axis in its own measure (logarithms on a logarithmic one). */
static BrioPlotRange axis_range(const BrioPlot *plot, int which)
{
    const BrioPlotAxis *axis = which ? &plot->y : &plot->x;
    BrioPlotRange range = {INFINITY, -INFINITY};
    if (axis->fixed)
        return (BrioPlotRange){brio__plot_on_axis(axis, axis->low),
                               brio__plot_on_axis(axis, axis->high)};
    if (axis->category_count) return (BrioPlotRange){-0.6, axis->category_count - 0.4};
    bool bars = false, only_bars = true, points = false;
    for (int s = 0; s < plot->series_count; s++) {
        const BrioPlotSeries *series = &plot->series[s];
        bool edges = series->mark == BRIO_PLOT_BARS && !plot->x.category_count;
        bars |= series->mark == BRIO_PLOT_BARS;
        only_bars &= series->mark == BRIO_PLOT_BARS;
        points |= series->mark == BRIO_PLOT_POINTS || series->mark == BRIO_PLOT_LINE_AND_POINTS;
        for (int64_t i = 0; i < series->count + (edges && !which); i++)
            include(&range,
                    brio__plot_on_axis(axis, which ? series->y[i] : brio__plot_x_of(series, i)));
    }
    for (int r = 0; r < plot->region_count; r++) {
        include(&range, brio__plot_on_axis(axis, plot->region[r].low[which]));
        include(&range, brio__plot_on_axis(axis, plot->region[r].high[which]));
    }
    /* no data: an empty frame */
    if (range.low > range.high) return axis->log ? (BrioPlotRange){-1, 1} : (BrioPlotRange){0, 1};
    bool from_zero = which && bars && !axis->log;
    if (from_zero) include(&range, 0);
    double span = range.high - range.low;
    double min = axis->log ? 0.2 : fmax(1e-9 * fmax(fabs(range.low), fabs(range.high)), 1e-290);
    if (!(span > min)) { /* one value: room around it */
        double room = axis->log ? 0.5 : fmax(range.low == 0 ? 1 : 0.05 * fabs(range.low), min);
        return (BrioPlotRange){range.low - room, range.high + room};
    }
    double pad = plot->region_count ? 0
                 : which            ? 0.05 * span
                 : points           ? 0.025 * span
                 : only_bars        ? 0.02 * span
                                    : 0;
    if (axis->log && which && bars) pad = 0.08 * span;
    if (!(from_zero && range.low == 0)) range.low -= pad;
    if (!(from_zero && range.high == 0)) range.high += pad;
    return range;
}

/* 1, 2 or 5 times a power of ten, at least `min`; the power through `power`. */
static double nice_step(double min, int *power)
{
    *power = (int)floor(log10(min));
    double unit = pow(10, *power), ratio = min / unit;
    if (ratio <= 1.0000001) return unit;
    if (ratio <= 2.0000001) return 2 * unit;
    if (ratio <= 5.0000001) return 5 * unit;
    (*power)++;
    return 10 * unit;
}

static void power_text(BrioPlotTick *tick, const char *factor, int exponent)
{
    snprintf(tick->text, sizeof tick->text, "%s10<tspan dy=\"-5\" font-size=\"9\">%s%d</tspan>",
             factor, exponent < 0 ? "\u2212" : "", abs(exponent));
    tick->width = (int)strlen(factor) + 2 + (abs(exponent) >= 10 ? 2 : 1) + (exponent < 0) -
                  (factor[0] ? 1 : 0);
}

/* A number that is a multiple of 10^power; those of an axis that reaches `max` are written
 * alike. */
static void number_text(BrioPlotTick *tick, double value, int power, double max)
{
    int top = max > 0 ? (int)floor(log10(max)) : 0;
    char digits[64];
    if (value == 0) {
        snprintf(digits, sizeof digits, "0");
    } else if (top > 5 || top < -3) { /* mantissa and a power of ten, the same one along the axis */
        snprintf(digits, sizeof digits, "%s%.*f\u00d7", value < 0 ? "\u2212" : "",
                 BRIO_MAX(0, BRIO_MIN(top - power, 12)), fabs(value) / pow(10, top));
        power_text(tick, digits, top);
        return;
    } else {
        snprintf(digits, sizeof digits, "%s%.*f", value < 0 ? "\u2212" : "",
                 BRIO_MAX(0, BRIO_MIN(-power, 15)), fabs(value));
    }
    snprintf(tick->text, sizeof tick->text, "%s", digits);
    tick->width = 0;
    for (const char *c = digits; *c; c++) tick->width += ((unsigned char)*c & 0xc0) != 0x80;
}

static void linear_ticks(BrioPlotRange range, int max, BrioPlotTicks *ticks)
{
    int power;
    double step = nice_step((range.high - range.low) / max, &power), slack = 1e-9 * step;
    double largest = fmax(fabs(range.low), fabs(range.high));
    for (double i = ceil((range.low - slack) / step);
         i * step <= range.high + slack && ticks->count < MAX_TICKS; i++) {
        BrioPlotTick *tick = &ticks->tick[ticks->count++];
        tick->at = i * step;
        number_text(tick, i == 0 ? 0 : tick->at, power, largest);
    }
}

/* Powers of ten, every k-th if there are many; within few decades also 2 and 5 times them. */
static void log_ticks(BrioPlotRange range, int max, BrioPlotTicks *ticks)
{
    double span = range.high - range.low, slack = 1e-9 * fmax(span, 1);
    int first = (int)floor(range.low), last = (int)ceil(range.high), every = 1;
    static const int steps[] = {1, 2, 3, 5, 10, 20, 50, 100, 200};
    for (size_t i = 0; i < BRIO_COUNT(steps) && span / every > max; i++) every = steps[i];
    bool between = span < 1.7 && 3 * span <= max;
    for (int e = first; e <= last; e++) {
        for (int m = 1; m < 10; m++) {
            double at = e + log10(m);
            if (at < range.low - slack || at > range.high + slack) continue;
            bool labelled =
                (m == 1 && (e % every + every) % every == 0) || (between && (m == 2 || m == 5));
            if (labelled && ticks->count < MAX_TICKS) {
                BrioPlotTick *tick = &ticks->tick[ticks->count++];
                tick->at = at;
                if (e >= -2 && e <= 3 && between) {
                    number_text(tick, m * pow(10, e), e, m * pow(10, e));
                } else {
                    char factor[8] = "";
                    if (m > 1) snprintf(factor, sizeof factor, "%d\u00d7", m);
                    power_text(tick, factor, e);
                }
            } else if ((m == 1 || span < 6) && ticks->minor_count < (int)BRIO_COUNT(ticks->minor)) {
                ticks->minor[ticks->minor_count++] = at;
            }
        }
    }
    if (ticks->count >= 2 || span > 1.7) return;
    ticks->count = 0; /* less than an octave: round numbers */
    int power;
    double low = pow(10, range.low);
    double high = pow(10, range.high);
    double step = nice_step((high - low) / max, &power);
    for (double i = ceil(low / step - 1e-9);
         i * step <= high * (1 + 1e-9) && ticks->count < MAX_TICKS; i++) {
        BrioPlotTick *tick = &ticks->tick[ticks->count++];
        tick->at = log10(i * step);
        number_text(tick, i * step, power, high);
    }
}

void brio__plot_find_ticks(const BrioPlotAxis *axis, BrioPlotRange range, double pixels,
                           double each, BrioPlotTicks *ticks)
{
    int max = BRIO_MAX(2, BRIO_MIN((int)(pixels / each), MAX_TICKS - 2));
    ticks->count = ticks->minor_count = 0;
    if (axis->log)
        log_ticks(range, max, ticks);
    else
        linear_ticks(range, max, ticks);
}

/* ---- text ------------------------------------------------------------------------------- */

static int letters(const char *text)
{
    int count = 0;
    for (; text && *text; text++) count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* A font size at which the text fits; half an em is the mean width of a letter, and somewhat more
 * is on the safe side. */
double brio__plot_fitting(const char *text, double size, double width)
{
    double needed = 0.58 * size * letters(text);
    return needed > width ? fmax(6, size * width / needed) : size;
}

static double text_width(const char *text, double size) { return 0.58 * size * letters(text); }

/* ---- frame and legend ------------------------------------------------------------------- */

static int legend_entries(const BrioPlot *plot, const char *names[])
{
    int count = 0;
    for (int s = 0; s < plot->series_count && s < BRIO_PLOT_MAX_SERIES; s++)
        if (plot->series[s].name) names[count++] = plot->series[s].name;
    for (int r = 0; r < plot->region_count && count < 2 * BRIO_PLOT_MAX_SERIES; r++)
        if (plot->region[r].name) names[count++] = plot->region[r].name;
    return count;
}

double brio__plot_px(const BrioPlotFrame *f, double x)
{
    return f->left + f->width * ((x - f->low[0]) / (f->high[0] - f->low[0]));
}

double brio__plot_py(const BrioPlotFrame *f, double y)
{
    return f->top + f->height * ((f->high[1] - y) / (f->high[1] - f->low[1]));
}

static bool has_only_lines(const BrioPlot *plot)
{
    for (int s = 0; s < plot->series_count; s++)
        if (plot->series[s].mark != BRIO_PLOT_LINE) return false;
    return plot->region_count == 0;
}

/* Names as near to the ends of their lines as rows allow: of `wanted`, which ascends, the nearest
 * heights in the sense of least squares that are a row apart (neighbours that are too close share
 * the mean of what they want, less their rows), moved into the frame. */
static void spread(const BrioPlotFrame *f, int count, const double *wanted, double *y)
{
    double mean[BRIO_PLOT_MAX_SERIES];
    int size[BRIO_PLOT_MAX_SERIES], blocks = 0, i = 0;
    for (int k = 0; k < count; k++) {
        mean[blocks] = wanted[k] - LEGEND_ROW * k;
        size[blocks++] = 1;
        for (; blocks > 1 && mean[blocks - 2] > mean[blocks - 1]; blocks--) {
            int both = size[blocks - 2] + size[blocks - 1];
            mean[blocks - 2] =
                (size[blocks - 2] * mean[blocks - 2] + size[blocks - 1] * mean[blocks - 1]) / both;
            size[blocks - 2] = both;
        }
    }
    double first = f->top + 0.5 * LEGEND_ROW;
    double last = f->top + f->height - LEGEND_ROW * (count - 0.5);
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < size[b]; k++, i++)
            y[i] = fmax(first, fmin(mean[b], last)) + LEGEND_ROW * i;
}

static void place_at_ends(const BrioPlot *plot, const BrioPlotFrame *f, BrioPlotLegend *legend)
{
    int order[BRIO_PLOT_MAX_SERIES], count = 0;
    double wanted[BRIO_PLOT_MAX_SERIES], y[BRIO_PLOT_MAX_SERIES];
    for (int s = 0; s < plot->series_count && s < BRIO_PLOT_MAX_SERIES; s++) {
        const BrioPlotSeries *series = &plot->series[s];
        if (!series->name) continue;
        int64_t last = series->count - 1;
        while (last >= 0 && (isnan(brio__plot_on_axis(&plot->x, brio__plot_x_of(series, last))) ||
                             isnan(brio__plot_on_axis(&plot->y, series->y[last]))))
            last--;
        double x =
            last < 0
                ? f->left
                : brio__plot_px(f, brio__plot_on_axis(&plot->x, brio__plot_x_of(series, last)));
        double end =
            last < 0 ? INFINITY : brio__plot_py(f, brio__plot_on_axis(&plot->y, series->y[last]));
        double in = fmax(f->top, fmin(end, f->top + f->height));
        int at = count;
        for (; at > 0 && wanted[at - 1] > in; at--)
            wanted[at] = wanted[at - 1], order[at] = order[at - 1];
        wanted[at] = in;
        order[at] = count;
        legend->end[count++] = in == end && fabs(x - f->left - f->width) < 2 ? end : NAN;
    }
    spread(f, count, wanted, y);
    for (int k = 0; k < count; k++) legend->y[order[k]] = y[k];
}

BrioPlotLegend brio__plot_place(const BrioPlot *plot, BrioPlotFrame *frame)
{
    const char *names[2 * BRIO_PLOT_MAX_SERIES];
    BrioPlotLegend legend = {.count = legend_entries(plot, names), .columns = 1};
    double longest = 0;
    for (int i = 0; i < legend.count; i++) longest = fmax(longest, text_width(names[i], 12));
    legend.cell = LEGEND_SAMPLE + longest + 10;
    bool beside = legend.count > 0 && longest <= LONGEST_BESIDE;
    BrioPlotRange y = axis_range(plot, 1), x = axis_range(plot, 0);
    frame->low[0] = x.low, frame->high[0] = x.high, frame->low[1] = y.low, frame->high[1] = y.high;
    frame->top = plot->title ? 42 : 16;
    double bottom = plot->x.label ? 56 : 34, right = beside ? legend.cell + 22 : 24;
    if (legend.count && !beside) {
        legend.columns =
            BRIO_MAX(1, BRIO_MIN(legend.count, (int)((BRIO_PLOT_WIDTH - 40) / legend.cell)));
        bottom += LEGEND_ROW * ((legend.count + legend.columns - 1) / legend.columns) + 8;
    }
    frame->height = BRIO_PLOT_HEIGHT - frame->top - bottom;
    BrioPlotTicks ticks;
    int widest = 1;
    brio__plot_find_ticks(&plot->y, y, frame->height, 46, &ticks);
    for (int i = 0; i < ticks.count; i++) widest = BRIO_MAX(widest, ticks.tick[i].width);
    frame->left = 16 + TICK_LETTER * widest + (plot->y.label ? 24 : 4);
    frame->width = BRIO_PLOT_WIDTH - frame->left - right;
    if (beside) {
        legend.at_ends = has_only_lines(plot);
        double box[4] = {frame->left + frame->width + 14, frame->top, legend.cell,
                         legend.at_ends ? frame->height : LEGEND_ROW * legend.count};
        memcpy(frame->legend, box, sizeof box);
        if (legend.at_ends) place_at_ends(plot, frame, &legend);
    } else if (legend.count) {
        double rows = (legend.count + legend.columns - 1) / legend.columns;
        legend.cell = fmin(legend.cell, BRIO_PLOT_WIDTH - 40);
        double box[4] = {20, BRIO_PLOT_HEIGHT - 6 - LEGEND_ROW * rows, legend.cell * legend.columns,
                         LEGEND_ROW * rows};
        memcpy(frame->legend, box, sizeof box);
    }
    return legend;
}

BrioPlotFrame brio__plot_frame(const BrioPlot *plot)
{
    BrioPlotFrame frame = {0};
    brio__plot_place(plot, &frame);
    return frame;
}
