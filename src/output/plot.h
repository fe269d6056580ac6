/* The layout of a chart: plot.c computes it, svg.c draws it. */
#ifndef BRIO_PLOT_H
#define BRIO_PLOT_H

#include "svg.h"

enum { COLOURS = 7, MAX_TICKS = 64 };
enum { LEGEND_ROW = 20, LEGEND_SAMPLE = 34, TICK_LETTER = 7, LONGEST_BESIDE = 210 };

typedef struct BrioPlotRange {
    double low, high;
} BrioPlotRange;

typedef struct BrioPlotTick {
    double at; /* in the axis's measure */
    char text[144];
    int width; /* letters */
} BrioPlotTick;

typedef struct BrioPlotTicks {
    int count, minor_count;
    BrioPlotTick tick[MAX_TICKS];
    double minor[10 * MAX_TICKS];
} BrioPlotTicks;

typedef struct BrioPlotLegend {
    int count, columns;
    double cell;  /* width */
    bool at_ends; /* outside the frame, each name where its line ends */
    /* then: of each name, and of its line at the right edge (NAN: it ends before that) */
    double y[BRIO_PLOT_MAX_SERIES], end[BRIO_PLOT_MAX_SERIES];
} BrioPlotLegend;

extern const char *const brio__plot_palette[COLOURS];
const char *brio__plot_series_colour(const BrioPlotSeries *series, int i);
const char *brio__plot_series_dashes(const BrioPlotSeries *series, int i);
/* Of a value in the measure of the axis (its logarithm); of sample i along x. */
double brio__plot_on_axis(const BrioPlotAxis *axis, double value);
double brio__plot_x_of(const BrioPlotSeries *series, int64_t i);
/* Round numbers over a range, `each` pixels apart at least. */
void brio__plot_find_ticks(const BrioPlotAxis *axis, BrioPlotRange range, double pixels,
                           double each, BrioPlotTicks *ticks);
/* A font size at which the text fits; half an em is the mean width of a letter, and somewhat more
 * is on the safe side. */
double brio__plot_fitting(const char *text, double size, double width);
/* From the measures of the axes to pixels. */
double brio__plot_px(const BrioPlotFrame *f, double x);
double brio__plot_py(const BrioPlotFrame *f, double y);
/* The frame with its margins, and where names go. */
BrioPlotLegend brio__plot_place(const BrioPlot *plot, BrioPlotFrame *frame);

#endif
