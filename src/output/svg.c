/* A chart drawn in pixels as SVG. Segments are clipped to the frame by Liang and Barsky's method,
 * so that no coordinate outside is ever written. */
#include "plot.h"

#include "../number.h"

#include <string.h>

static const char region_grey[] = "#d9e3ea";

/* ---- text ------------------------------------------------------------------------------- */

/* Control characters have no place in XML. */
static void escaped(FILE *file, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, file);
        }
    }
}

/* ---- frame and legend ------------------------------------------------------------------- */

/* Pixels with as many decimals as can be seen. */
static void pixel(FILE *file, double value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.2f", value);
    while (text[length - 1] == '0') text[--length] = 0;
    if (text[length - 1] == '.') text[--length] = 0;
    fputs(strcmp(text, "-0") ? text : "0", file);
}

static void attribute(FILE *file, const char *name, double value)
{
    fprintf(file, " %s=\"", name);
    pixel(file, value);
    fputc('"', file);
}

static void rectangle(FILE *file, double x, double y, double width, double height, const char *rest)
{
    fputs("<rect", file);
    attribute(file, "x", x);
    attribute(file, "y", y);
    attribute(file, "width", width);
    attribute(file, "height", height);
    fprintf(file, " %s/>\n", rest);
}

static void line(FILE *file, double x0, double y0, double x1, double y1, const char *rest)
{
    fputs("<line", file);
    attribute(file, "x1", x0);
    attribute(file, "y1", y0);
    attribute(file, "x2", x1);
    attribute(file, "y2", y1);
    fprintf(file, " %s/>\n", rest);
}

static void text_begin(FILE *file, double x, double y, const char *anchor, double size,
                       const char *rest)
{
    fputs("<text", file);
    attribute(file, "x", x);
    attribute(file, "y", y);
    attribute(file, "font-size", size);
    fprintf(file, " text-anchor=\"%s\"%s>", anchor, rest);
}

static void label(FILE *file, double x, double y, const char *anchor, double size, const char *rest,
                  const char *text)
{
    text_begin(file, x, y, anchor, size, rest);
    escaped(file, text);
    fputs("</text>\n", file);
}

/* ---- axes, drawn ------------------------------------------------------------------------ */

static const char grid[] = "stroke=\"#dddddd\"", faint[] = "stroke=\"#f0f0f0\"";

static void draw_categories(FILE *file, const BrioPlotAxis *axis, const BrioPlotFrame *f)
{
    double room = f->width / (axis->category_count + 0.2) - 6, size = 12;
    for (int i = 0; i < axis->category_count; i++)
        size = fmin(size, brio__plot_fitting(axis->category[i], 12, room));
    for (int i = 0; i < axis->category_count; i++)
        label(file, brio__plot_px(f, i), f->top + f->height + 18, "middle", size, "",
              axis->category[i]);
}

static void draw_x_axis(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f)
{
    double bottom = f->top + f->height;
    BrioPlotTicks ticks;
    if (plot->x.category_count) {
        draw_categories(file, &plot->x, f);
    } else {
        double each = 78;
        int widest = 1; /* labels that would meet are made fewer */
        do {
            brio__plot_find_ticks(&plot->x, (BrioPlotRange){f->low[0], f->high[0]}, f->width, each,
                                  &ticks);
            for (int i = 0; i < ticks.count; i++) widest = BRIO_MAX(widest, ticks.tick[i].width);
            each *= 1.25;
        } while (ticks.count > 2 && f->width / ticks.count < TICK_LETTER * widest + 10 &&
                 each < f->width);
        for (int i = 0; i < ticks.minor_count; i++)
            line(file, brio__plot_px(f, ticks.minor[i]), f->top, brio__plot_px(f, ticks.minor[i]),
                 bottom, faint);
        for (int i = 0; i < ticks.count; i++) {
            double x = brio__plot_px(f, ticks.tick[i].at);
            line(file, x, f->top, x, bottom, grid);
            text_begin(file, x, bottom + 18, "middle", 12, "");
            fprintf(file, "%s</text>\n", ticks.tick[i].text);
        }
    }
    if (plot->x.label)
        label(file, f->left + f->width / 2, bottom + 42, "middle",
              brio__plot_fitting(plot->x.label, 13, f->width), "", plot->x.label);
}

static void draw_y_axis(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f)
{
    BrioPlotTicks ticks;
    brio__plot_find_ticks(&plot->y, (BrioPlotRange){f->low[1], f->high[1]}, f->height, 46, &ticks);
    for (int i = 0; i < ticks.minor_count; i++)
        line(file, f->left, brio__plot_py(f, ticks.minor[i]), f->left + f->width,
             brio__plot_py(f, ticks.minor[i]), faint);
    for (int i = 0; i < ticks.count; i++) {
        double y = brio__plot_py(f, ticks.tick[i].at);
        line(file, f->left, y, f->left + f->width, y, grid);
        text_begin(file, f->left - 7, y + 4, "end", 12, "");
        fprintf(file, "%s</text>\n", ticks.tick[i].text);
    }
    if (!plot->y.label) return;
    double middle = f->top + f->height / 2;
    char turn[64];
    snprintf(turn, sizeof turn, " transform=\"rotate(-90 18 %.2f)\"", middle);
    label(file, 18, middle, "middle", brio__plot_fitting(plot->y.label, 13, f->height), turn,
          plot->y.label);
}

/* ---- lines ------------------------------------------------------------------------------ */

typedef struct Pen {
    FILE *file;
    const BrioPlotFrame *f;
    bool down;         /* a path has been begun */
    double at[2];      /* the last point given, clipped or not */
    bool has_at, here; /* there is one; the path ends just there */
} Pen;

/* The part t0..t1 of a segment that lies in the frame; false: none. */
static bool clip(const BrioPlotFrame *f, const double a[2], const double b[2], double *t0,
                 double *t1)
{
    const double low[2] = {f->left, f->top}, high[2] = {f->left + f->width, f->top + f->height};
    *t0 = 0, *t1 = 1;
    for (int k = 0; k < 2; k++) {
        double d = b[k] - a[k];
        if (d == 0) {
            if (a[k] < low[k] || a[k] > high[k]) return false;
            continue;
        }
        double enter = (d > 0 ? low[k] - a[k] : high[k] - a[k]) / d;
        double leave = (d > 0 ? high[k] - a[k] : low[k] - a[k]) / d;
        *t0 = fmax(*t0, enter);
        *t1 = fmin(*t1, leave);
    }
    return *t0 <= *t1;
}

static void put(Pen *pen, char command, double x, double y)
{
    const BrioPlotFrame *f = pen->f;
    fputc(command, pen->file);
    pixel(pen->file, fmin(fmax(x, f->left), f->left + f->width)); /* against round-off */
    fputc(' ', pen->file);
    pixel(pen->file, fmin(fmax(y, f->top), f->top + f->height));
}

static void pen_to(Pen *pen, double x, double y)
{
    double to[2] = {x, y}, t0, t1;
    if (pen->has_at && clip(pen->f, pen->at, to, &t0, &t1)) {
        const double *a = pen->at, d[2] = {x - a[0], y - a[1]};
        if (!pen->here || t0 > 0) put(pen, 'M', a[0] + t0 * d[0], a[1] + t0 * d[1]);
        put(pen, 'L', t1 < 1 ? a[0] + t1 * d[0] : x, t1 < 1 ? a[1] + t1 * d[1] : y);
        pen->here = t1 == 1;
    } else {
        pen->here = false;
    }
    pen->at[0] = x, pen->at[1] = y;
    pen->has_at = true;
}

/* Points in a row that fall on one column of pixels. */
typedef struct Column {
    double at;
    int64_t count;
    double first[2], last[2], low[2], high[2];
    bool low_first; /* the lowest came before the highest */
} Column;

static void column_flush(Pen *pen, Column *c)
{
    if (c->count == 0) return;
    const double *inner[2] = {c->low_first ? c->low : c->high, c->low_first ? c->high : c->low};
    pen_to(pen, c->first[0], c->first[1]);
    for (int i = 0; i < 2 && c->count > 2; i++)
        if (inner[i][1] != pen->at[1]) pen_to(pen, inner[i][0], inner[i][1]);
    if (c->count > 1) pen_to(pen, c->last[0], c->last[1]);
    c->count = 0;
}

static void column_add(Pen *pen, Column *c, const double p[2])
{
    double at = floor(p[0]);
    if (c->count && c->at != at) column_flush(pen, c);
    if (c->count++ == 0) {
        *c = (Column){.at = at, .count = 1};
        memcpy(c->first, p, sizeof c->first);
        memcpy(c->low, p, sizeof c->low);
        memcpy(c->high, p, sizeof c->high);
    } else if (p[1] < c->low[1]) {
        memcpy(c->low, p, sizeof c->low);
        c->low_first = false;
    } else if (p[1] > c->high[1]) {
        memcpy(c->high, p, sizeof c->high);
        c->low_first = true;
    }
    memcpy(c->last, p, sizeof c->last);
}

static void draw_line(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f, int s)
{
    const BrioPlotSeries *series = &plot->series[s];
    Pen pen = {.file = file, .f = f};
    Column column = {.count = 0};
    fprintf(file,
            "<path class=\"line\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
            "stroke-linejoin=\"round\"%s d=\"",
            brio__plot_series_colour(series, s), brio__plot_series_dashes(series, s));
    for (int64_t i = 0; i < series->count; i++) {
        double p[2] = {brio__plot_px(f, brio__plot_on_axis(&plot->x, brio__plot_x_of(series, i))),
                       brio__plot_py(f, brio__plot_on_axis(&plot->y, series->y[i]))};
        if (isnan(p[0]) || isnan(p[1])) {
            column_flush(&pen, &column);
            pen.has_at = pen.here = false;
            continue;
        }
        column_add(&pen, &column, p);
    }
    column_flush(&pen, &column);
    fputs("\"/>\n", file);
}

/* ---- points, bars, regions -------------------------------------------------------------- */

static bool in_frame(const BrioPlotFrame *f, double x, double y)
{
    return x >= f->left - 1e-9 && x <= f->left + f->width + 1e-9 && y >= f->top - 1e-9 &&
           y <= f->top + f->height + 1e-9;
}

/* One mark for all points on the same half pixel, or on two pixels if there are very many. Few are
 * circles; many are the round caps of lines without length, which take a quarter of the bytes. */
static BrioStatus draw_points(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f, int s)
{
    const BrioPlotSeries *series = &plot->series[s];
    bool many = series->count > 300;
    double cells = series->count > 20000 ? 0.5 : 2; /* to a pixel */
    size_t columns = (size_t)(cells * f->width) + 2, rows = (size_t)(cells * f->height) + 2;
    uint8_t *taken = brio__calloc(columns * rows, 1);
    if (!taken) return BRIO_ERROR_MEMORY;
    fprintf(file,
            many ? "<path class=\"points\" stroke=\"%s\" stroke-width=\"3.6\" "
                   "stroke-linecap=\"round\" d=\""
                 : "<g class=\"points\" fill=\"%s\">\n",
            brio__plot_series_colour(series, s));
    for (int64_t i = 0; i < series->count; i++) {
        double x = brio__plot_px(f, brio__plot_on_axis(&plot->x, brio__plot_x_of(series, i)));
        double y = brio__plot_py(f, brio__plot_on_axis(&plot->y, series->y[i]));
        if (isnan(x) || isnan(y) || !in_frame(f, x, y)) continue;
        size_t cell = (size_t)(cells * fmax(y - f->top, 0)) * columns +
                      (size_t)(cells * fmax(x - f->left, 0));
        if (taken[cell]) continue;
        taken[cell] = 1;
        if (many) {
            fputc('M', file);
            pixel(file, round(10 * x) / 10);
            fputc(' ', file);
            pixel(file, round(10 * y) / 10);
            fputs("h0", file);
        } else {
            fputs("<circle", file);
            attribute(file, "cx", x);
            attribute(file, "cy", y);
            fputs(" r=\"3\"/>\n", file);
        }
    }
    fputs(many ? "\"/>\n" : "</g>\n", file);
    brio__free(taken);
    return BRIO_OK;
}

static double within(double value, double low, double high) { return fmin(fmax(value, low), high); }

static void draw_bars(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f, int s, int group,
                      int groups)
{
    const BrioPlotSeries *series = &plot->series[s];
    double base = plot->y.log ? f->low[1] : within(0, f->low[1], f->high[1]);
    char fill[64];
    snprintf(fill, sizeof fill, "fill=\"%s\" stroke=\"white\" stroke-width=\"0.5\"",
             brio__plot_series_colour(series, s));
    fputs("<g class=\"bars\">\n", file);
    for (int64_t i = 0; i < series->count; i++) {
        double y = brio__plot_on_axis(&plot->y, series->y[i]), left, right;
        if (plot->x.category_count) {
            left = (double)i - 0.4 + 0.8 * group / groups;
            right = left + 0.8 / groups;
        } else {
            left = brio__plot_on_axis(&plot->x, brio__plot_x_of(series, i));
            right = brio__plot_on_axis(&plot->x, brio__plot_x_of(series, i + 1));
        }
        if (isnan(y) || isnan(left) || isnan(right)) continue;
        left = within(left, f->low[0], f->high[0]), right = within(right, f->low[0], f->high[0]);
        double top = brio__plot_py(f, within(fmax(y, base), f->low[1], f->high[1]));
        double bottom = brio__plot_py(f, within(fmin(y, base), f->low[1], f->high[1]));
        if (right > left && bottom > top)
            rectangle(file, brio__plot_px(f, left), top,
                      brio__plot_px(f, right) - brio__plot_px(f, left), bottom - top, fill);
    }
    fputs("</g>\n", file);
}

static const char *region_colour(const BrioPlotRegion *region)
{
    return region->colour > 0 ? brio__plot_palette[(region->colour - 1) % COLOURS] : region_grey;
}

static double region_opacity(const BrioPlotRegion *region) { return region->colour > 0 ? 0.28 : 1; }

static void draw_region(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f,
                        const BrioPlotRegion *region)
{
    double low[2] = {brio__plot_on_axis(&plot->x, region->low[0]),
                     brio__plot_on_axis(&plot->y, region->low[1])};
    double high[2] = {brio__plot_on_axis(&plot->x, region->high[0]),
                      brio__plot_on_axis(&plot->y, region->high[1])};
    fprintf(file,
            "<path class=\"region\" fill=\"%s\" fill-opacity=\"%.2f\" "
            "shape-rendering=\"crispEdges\" d=\"",
            region_colour(region), region_opacity(region));
    double dx = (high[0] - low[0]) / region->nx, dy = (high[1] - low[1]) / region->ny;
    for (int j = 0; j < region->ny; j++) {
        const uint8_t *row = region->inside + (size_t)j * (size_t)region->nx;
        double y0 = within(low[1] + j * dy, f->low[1], f->high[1]);
        double y1 = within(low[1] + (j + 1) * dy, f->low[1], f->high[1]);
        for (int i = 0, end; i < region->nx; i = end) {
            for (end = i + 1; end < region->nx && !row[end] == !row[i]; end++) {}
            double x0 = within(low[0] + i * dx, f->low[0], f->high[0]);
            double x1 = within(low[0] + end * dx, f->low[0], f->high[0]);
            if (!row[i] || !(x1 > x0) || !(y1 > y0)) continue;
            fputc('M', file);
            pixel(file, brio__plot_px(f, x0));
            fputc(' ', file);
            pixel(file, brio__plot_py(f, y0));
            fputc('H', file);
            pixel(file, brio__plot_px(f, x1));
            fputc('V', file);
            pixel(file, brio__plot_py(f, y1));
            fputc('H', file);
            pixel(file, brio__plot_px(f, x0));
            fputc('Z', file);
        }
    }
    fputs("\"/>\n", file);
}

/* ---- the chart -------------------------------------------------------------------------- */

static void draw_legend(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f,
                        const BrioPlotLegend *legend)
{
    int i = 0;
    fputs("<g class=\"legend\">\n", file);
    for (int k = 0; k < plot->series_count + plot->region_count; k++) {
        const BrioPlotSeries *series = k < plot->series_count ? &plot->series[k] : NULL;
        const BrioPlotRegion *region = series ? NULL : &plot->region[k - plot->series_count];
        const char *name = series ? series->name : region->name;
        if (!name || i >= legend->count) continue;
        double x = f->legend[0] + legend->cell * (i % legend->columns);
        double y = f->legend[1] + LEGEND_ROW * (i / legend->columns) + 0.5 * LEGEND_ROW;
        char style[160];
        double from[2] = {x, y};
        if (legend->at_ends) {
            bool goes_on = !isnan(legend->end[i]);
            y = legend->y[i];
            from[0] = goes_on ? f->left + f->width : x;
            from[1] = goes_on ? legend->end[i] : y;
        }
        i++;
        if (region) {
            snprintf(style, sizeof style, "fill=\"%s\" fill-opacity=\"%.2f\" stroke=\"#999999\"",
                     region_colour(region), region_opacity(region));
            rectangle(file, x + 5, y - 6, 18, 12, style);
        } else if (series->mark == BRIO_PLOT_BARS) {
            snprintf(style, sizeof style, "fill=\"%s\"", brio__plot_series_colour(series, k));
            rectangle(file, x + 8, y - 6, 12, 12, style);
        } else {
            snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"2.2\"%s",
                     brio__plot_series_colour(series, k), brio__plot_series_dashes(series, k));
            if (series->mark != BRIO_PLOT_POINTS) line(file, from[0], from[1], x + 28, y, style);
            if (series->mark != BRIO_PLOT_LINE)
                fprintf(file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"%s\"/>\n", x + 14, y,
                        brio__plot_series_colour(series, k));
        }
        label(file, x + LEGEND_SAMPLE, y + 4, "start",
              brio__plot_fitting(name, 12, legend->cell - LEGEND_SAMPLE - 4), "", name);
    }
    fputs("</g>\n", file);
}

static BrioStatus draw_series(FILE *file, const BrioPlot *plot, const BrioPlotFrame *f)
{
    int groups = 0, group = 0;
    for (int s = 0; s < plot->series_count; s++) groups += plot->series[s].mark == BRIO_PLOT_BARS;
    for (int s = 0; s < plot->series_count; s++) {
        BrioPlotMark mark = plot->series[s].mark;
        if (mark == BRIO_PLOT_BARS) draw_bars(file, plot, f, s, group++, groups);
        if (mark == BRIO_PLOT_LINE || mark == BRIO_PLOT_LINE_AND_POINTS)
            draw_line(file, plot, f, s);
        if (mark == BRIO_PLOT_POINTS || mark == BRIO_PLOT_LINE_AND_POINTS)
            BRIO_CHECK(draw_points(file, plot, f, s));
    }
    return BRIO_OK;
}

static BrioStatus draw(FILE *file, const BrioPlot *plot)
{
    BrioPlotFrame frame = {0};
    BrioPlotLegend legend = brio__plot_place(plot, &frame);
    if (!(frame.high[0] > frame.low[0]) || !(frame.high[1] > frame.low[1])) return BRIO_ERROR_INPUT;
    if (plot->title)
        label(file, BRIO_PLOT_WIDTH / 2.0, 26, "middle",
              brio__plot_fitting(plot->title, 16, BRIO_PLOT_WIDTH - 24), " font-weight=\"bold\"",
              plot->title);
    for (int r = 0; r < plot->region_count; r++) draw_region(file, plot, &frame, &plot->region[r]);
    draw_x_axis(file, plot, &frame);
    draw_y_axis(file, plot, &frame);
    BRIO_CHECK(draw_series(file, plot, &frame));
    rectangle(file, frame.left, frame.top, frame.width, frame.height,
              "class=\"frame\" fill=\"none\" stroke=\"#444444\"");
    if (legend.count) draw_legend(file, plot, &frame, &legend);
    return BRIO_OK;
}

BrioStatus brio__plot_write(FILE *file, const BrioPlot *plots, int count, int columns)
{
    columns = BRIO_MAX(1, BRIO_MIN(columns, count));
    int width = BRIO_PLOT_WIDTH * columns;
    int height = BRIO_PLOT_HEIGHT * ((count + columns - 1) / columns);
    for (int i = 0; i < count; i++)
        if (plots[i].series_count > BRIO_PLOT_MAX_SERIES) return BRIO_ERROR_INPUT;
    locale_t before = brio__c_locale_enter();
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" font-family=\"sans-serif\" fill=\"#222222\">\n",
            width, height, width, height);
    fprintf(file, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", width, height);
    BrioStatus status = BRIO_OK;
    for (int i = 0; status == BRIO_OK && i < count; i++) {
        fprintf(file, "<g transform=\"translate(%d %d)\">\n", i % columns * BRIO_PLOT_WIDTH,
                i / columns * BRIO_PLOT_HEIGHT);
        status = draw(file, &plots[i]);
        fputs("</g>\n", file);
    }
    fputs("</svg>\n", file);
    brio__c_locale_leave(before);
    return status;
}
