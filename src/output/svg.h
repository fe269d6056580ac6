/* Charts as SVG: lines, points, bars and filled regions in a frame with axes, several charts on a
 * page.
 *
 * A chart is described by plain structs and written in one call; nothing of it is kept. The page
 * has a white ground, so that it reads alike on paper and in a dark browser. Colours are those of
 * Okabe and Ito, which people with any kind of colour vision tell apart; series beyond the seventh
 * repeat them with dashes. The legend is next to or below the frame and covers no data; next to a
 * chart of lines each line goes on to its name. Files stay small: of the points that fall on one
 * column of pixels the first, lowest, highest and last are drawn, points of a scatter that fall on
 * one another are drawn once, and cells of a region are joined to runs. */
#ifndef BRIO_SVG_H
#define BRIO_SVG_H

#include "../base.h"

typedef enum BrioPlotMark {
    BRIO_PLOT_LINE,
    BRIO_PLOT_POINTS,
    BRIO_PLOT_LINE_AND_POINTS,
    BRIO_PLOT_BARS /* with categories: side by side in each; otherwise x holds count + 1 edges of a
                      histogram */
} BrioPlotMark;

typedef struct BrioPlotSeries {
    const char *name; /* NULL: not in the legend */
    BrioPlotMark mark;
    int64_t count;
    const double *x; /* NULL: 0, 1, 2, ... */
    const double *y; /* NAN: a gap */
    int colour;      /* 1, 2, ...: a colour of the palette; 0: by its index among the series */
    bool dashed;
} BrioPlotSeries;

/* Cells of a regular grid (regular in the logarithm on a logarithmic axis), row by row from the
 * lowest y. */
typedef struct BrioPlotRegion {
    const char *name; /* NULL: not in the legend */
    int nx, ny;
    double low[2], high[2]; /* outer edges of the grid: x, y */
    const uint8_t *inside;  /* nx * ny: not 0 is filled */
    int colour;             /* as of a series; 0: a light grey */
} BrioPlotRegion;

typedef struct BrioPlotAxis {
    const char *label; /* NULL: none */
    bool log;          /* values that are not positive are gaps */
    bool fixed;        /* from low to high, otherwise from the data */
    double low, high;
    int category_count; /* of the x axis: not 0, names stand instead of numbers, at 0, 1, 2, ... */
    const char *const *category;
} BrioPlotAxis;

typedef struct BrioPlot {
    const char *title; /* NULL: none */
    BrioPlotAxis x, y;
    int series_count;
    const BrioPlotSeries *series;
    int region_count; /* drawn first, under the grid lines and series */
    const BrioPlotRegion *region;
} BrioPlot;

enum { BRIO_PLOT_WIDTH = 820, BRIO_PLOT_HEIGHT = 460, BRIO_PLOT_MAX_SERIES = 12 };

/* The place of a series' colour in the palette, from 0, and its dashes (0: none, then finer ones);
 * `i` is its own place in the chart. */
int brio__plot_colour(const BrioPlotSeries *series, int i, int *dashes);

/* The place of a chart's frame on its page and what its axes show: for tests and for callers that
 * add marks of their own. */
typedef struct BrioPlotFrame {
    double left, top, width, height; /* pixels */
    double low[2], high[2];          /* x, y; logarithms to base 10 on a logarithmic axis */
    double legend[4];                /* left, top, width, height of the legend; width 0: none */
} BrioPlotFrame;
BrioPlotFrame brio__plot_frame(const BrioPlot *plot);

/* A whole SVG document: the charts in rows of `columns`. ERROR_INPUT: a chart has more than
 * BRIO_PLOT_MAX_SERIES, or a fixed axis that does not ascend (on a logarithmic one: from a
 * positive number). That the stream took it all is for the caller to check. */
BrioStatus brio__plot_write(FILE *file, const BrioPlot *plots, int count, int columns);

#endif
