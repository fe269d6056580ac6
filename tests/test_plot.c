/* Charts: well-formed, everything inside the frame, gaps and extremes kept, the legend next to the
 * data. And tables. */
#include "output/svg.h"

#include "../cli/table.c"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

/* The document; freed by the caller. */
static char *written(const BrioPlot *plots, int count, int columns)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(brio__plot_write(file, plots, count, columns), BRIO_OK);
    assert_int_equal(ferror(file), 0);
    size_t size = (size_t)ftell(file);
    char *text = malloc(size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = 0;
    fclose(file);
    return text;
}

static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) count++;
    return count;
}

/* Tags open and close in order, attributes are quoted and not repeated, text holds no bare < or
 * &. */
static void assert_well_formed(const char *text)
{
    char open[32][32];
    int depth = 0, roots = 0;
    for (const char *at = text; *at;) {
        if (*at == '&') {
            static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
            bool known = false;
            for (int i = 0; i < 4; i++) known |= !strncmp(at, entities[i], strlen(entities[i]));
            assert_true(known);
        }
        assert_true((unsigned char)*at >= 0x20 || *at == '\n');
        if (*at != '<') {
            if (depth == 0) assert_true(isspace((unsigned char)*at));
            at++;
            continue;
        }
        bool closing = at[1] == '/';
        at += 1 + closing;
        size_t length = strcspn(at, " />\n");
        assert_in_range(length, 1, 31);
        char name[32] = "", seen[16][32];
        int attributes = 0;
        memcpy(name, at, length);
        at += length;
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
            assert_int_equal(*at++, '>');
            continue;
        }
        while (*at == ' ') {
            at++;
            length = strcspn(at, "=\"<> ");
            assert_in_range(length, 1, 31);
            assert_true(attributes < 16);
            memset(seen[attributes], 0, sizeof seen[0]);
            memcpy(seen[attributes], at, length);
            for (int i = 0; i < attributes; i++) assert_string_not_equal(seen[i], seen[attributes]);
            attributes++;
            at += length;
            assert_memory_equal(at, "=\"", 2);
            at += 2;
            length = strcspn(at, "\"<");
            at += length;
            assert_int_equal(*at++, '"');
        }
        if (*at == '/') {
            at++;
        } else {
            assert_true(depth < 32);
            roots += depth == 0;
            memcpy(open[depth++], name, sizeof name);
        }
        assert_int_equal(*at++, '>');
    }
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

/* The points of the n-th path of a class: x, y; "M" starts are counted in *pieces. */
static int path_points(const char *text, const char *class, int n, double (*points)[2], int max,
                       int *pieces)
{
    char head[64];
    int count = 0;
    snprintf(head, sizeof head, "<path class=\"%s\"", class);
    for (int i = 0; i <= n; i++) {
        text = strstr(text, head);
        assert_non_null(text);
        text++;
    }
    text = strstr(text, " d=\"") + 4;
    *pieces = 0;
    while (*text != '"') {
        assert_true(*text == 'M' || *text == 'L');
        *pieces += *text == 'M';
        char *end;
        assert_true(count < max);
        points[count][0] = strtod(text + 1, &end);
        points[count][1] = strtod(end, &end);
        count++;
        text = end;
    }
    return count;
}

static void assert_inside(const BrioPlotFrame *f, double (*points)[2], int count)
{
    for (int i = 0; i < count; i++) {
        assert_true(points[i][0] >= f->left - 0.006 && points[i][0] <= f->left + f->width + 0.006);
        assert_true(points[i][1] >= f->top - 0.006 && points[i][1] <= f->top + f->height + 0.006);
    }
}

/* ---- lines ------------------------------------------------------------------------------ */

static void well_formed(void **state)
{
    (void)state;
    double y[3] = {1, 4, 2}, edges[4] = {0, 1, 2, 3};
    uint8_t inside[6] = {1, 1, 0, 0, 1, 0};
    const char *categories[3] = {"a<b", "R&D", "\"c\""};
    BrioPlotSeries lines[12], points = {.name = "p", .mark = BRIO_PLOT_POINTS, .count = 3, .y = y},
                              bars[2] = {{.name = "x", .mark = BRIO_PLOT_BARS, .count = 3, .y = y},
                                         {.name = "y", .mark = BRIO_PLOT_BARS, .count = 3, .y = y}},
                              histogram = {.mark = BRIO_PLOT_BARS, .count = 3, .x = edges, .y = y};
    for (int s = 0; s < 12; s++) lines[s] = (BrioPlotSeries){.name = "<&>\"\n", .count = 3, .y = y};
    BrioPlotRegion region = {.name = "r", .nx = 3, .ny = 2, .high = {3, 2}, .inside = inside};
    BrioPlot plots[5] = {
        {.title = "1 < 2 & 3",
         .x = {.label = "<x>"},
         .y = {.label = "&"},
         .series_count = 12,
         .series = lines},
        {.series_count = 1, .series = &points},
        {.x = {.category_count = 3, .category = categories}, .series_count = 2, .series = bars},
        {.series_count = 1, .series = &histogram},
        {.region_count = 1, .region = &region}};
    char *text = written(plots, 5, 2);
    assert_well_formed(text);
    assert_int_equal(occurrences(text, "<path class=\"line\""), 12);
    assert_int_equal(occurrences(text, "class=\"frame\""), 5);
    assert_int_equal(occurrences(text, "class=\"bars\""), 3);
    assert_int_equal(occurrences(text, "class=\"points\""), 1);
    assert_int_equal(occurrences(text, "class=\"legend\""), 4); /* the histogram has no name */
    assert_int_equal(occurrences(text, "<circle"), 4);          /* three points and the legend's */
    assert_non_null(strstr(text, "width=\"1640\" height=\"1380\" viewBox=\"0 0 1640 1380\""));
    assert_non_null(strstr(text, ">1 &lt; 2 &amp; 3</text>"));
    assert_int_equal(occurrences(text, "&lt;&amp;&gt;&quot; </text>"), 12);
    /* the first seven lines are solid in seven colours, the others dashed */
    assert_int_equal(occurrences(text, "stroke-dasharray"), 2 * 5);
    /* the rows of the region: 1 1 0 and 0 1 0 are a run each */
    const char *d = strstr(strstr(text, "class=\"region\""), " d=\"");
    int runs = 0;
    for (d += 4; *d != '"'; d++) runs += *d == 'M';
    assert_int_equal(runs, 2);
    free(text);
    BrioPlot crowded = {.series_count = 13, .series = lines};
    FILE *nowhere = fopen("/dev/null", "w");
    assert_int_equal(brio__plot_write(nowhere, &crowded, 1, 1), BRIO_ERROR_INPUT);
    fclose(nowhere);
}

static void clipping(void **state)
{
    (void)state;
    double x[6] = {-10, 0.5, 0.6, 5, 2, 0.2}, y[6] = {0.5, 0.5, 1e300, 0.5, -3, 0.9}, points[32][2];
    BrioPlotSeries series[2] = {{.count = 6, .x = x, .y = y},
                                {.count = 6, .x = x, .y = y, .mark = BRIO_PLOT_POINTS}};
    BrioPlot plot = {.x = {.fixed = true, .low = 0, .high = 1},
                     .y = {.fixed = true, .low = 0, .high = 1},
                     .series_count = 2,
                     .series = series};
    BrioPlotFrame f = brio__plot_frame(&plot);
    char *text = written(&plot, 1, 1);
    int pieces, count = path_points(text, "line", 0, points, 32, &pieces);
    assert_well_formed(text);
    assert_inside(&f, points, count);
    /* enters at the left edge at y = 0.5, leaves through the top; comes back once from below: (2,
     * -3) to (0.2, 0.9) */
    assert_int_equal(pieces, 2);
    assert_true(fabs(points[0][0] - f.left) < 0.01 &&
                fabs(points[0][1] - (f.top + f.height / 2)) < 0.01);
    assert_true(fabs(points[2][1] - f.top) < 0.01);
    /* the segment from (2,-3) to (0.2,0.9) meets y = 0 at x = 2 - 1.8 * 3/3.9 */
    double cross = f.left + f.width * (2 - 1.8 * 3 / 3.9);
    assert_true(fabs(points[3][0] - cross) < 0.01 &&
                fabs(points[3][1] - (f.top + f.height)) < 0.01);
    assert_int_equal(occurrences(text, "<circle"), 2); /* (0.5, 0.5) and (0.2, 0.9) */
    free(text);
}

static void gaps_and_logarithms(void **state)
{
    (void)state;
    double x[7] = {1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
    double y[7] = {1e-6, 1e-4, NAN, 1, 0, 1e4, 1e6};
    double points[32][2];
    BrioPlotSeries series = {.count = 7, .x = x, .y = y};
    BrioPlot plot = {.x = {.log = true}, .y = {.log = true}, .series_count = 1, .series = &series};
    BrioPlotFrame f = brio__plot_frame(&plot);
    char *text = written(&plot, 1, 1);
    int pieces, count = path_points(text, "line", 0, points, 32, &pieces);
    assert_well_formed(text);
    assert_true(fabs(f.low[0] + 3) < 1e-12 && fabs(f.high[0] - 3) < 1e-12 && f.low[1] < -6 &&
                f.high[1] > 6);
    assert_int_equal(pieces, 2); /* the lone point between NAN and 0 has no line */
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++) { /* y = x^2 is a straight line */
        double u = f.low[0] + (points[i][0] - f.left) / f.width * (f.high[0] - f.low[0]);
        double v = f.high[1] - (points[i][1] - f.top) / f.height * (f.high[1] - f.low[1]);
        assert_true(fabs(v - 2 * u) < 1e-3);
    }
    /* 10^-3..10^3 below; every second power at the side */
    assert_int_equal(occurrences(text, ">10<tspan"), 7 + 7);
    free(text);
}

static void decimation(void **state)
{
    (void)state;
    enum { N = 1000000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    double(*points)[2] = malloc(20000 * sizeof *points);
    for (int i = 0; i < N; i++) {
        x[i] = i * 1e-3;
        y[i] = sin(0.05 * i) + 1e-3 * sin(0.00001 * i);
    }
    y[314159] = 7; /* single extremes */
    y[271828] = -9;
    BrioPlotSeries series[2] = {{.count = N, .x = x, .y = y},
                                {.count = N, .x = x, .y = y, .mark = BRIO_PLOT_POINTS}};
    BrioPlot plot = {.series_count = 1, .series = series};
    BrioPlotFrame f = brio__plot_frame(&plot);
    char *text = written(&plot, 1, 1);
    int pieces, count = path_points(text, "line", 0, points, 20000, &pieces);
    print_message("a million points: %d drawn, %zu bytes\n", count, strlen(text));
    assert_true(strlen(text) < 60000);
    assert_int_equal(pieces, 1);
    double top = INFINITY, bottom = -INFINITY;
    for (int i = 0; i < count; i++)
        top = fmin(top, points[i][1]), bottom = brio__larger(bottom, points[i][1]);
    assert_true(fabs(top - (f.top + f.height * (f.high[1] - 7) / (f.high[1] - f.low[1]))) < 0.01);
    assert_true(fabs(bottom - (f.top + f.height * (f.high[1] + 9) / (f.high[1] - f.low[1]))) <
                0.01);
    for (int column = 1; column + 1 < (int)f.width; column++) { /* of every column the extremes */
        double low = INFINITY, high = -INFINITY, near_low = INFINITY, near_high = INFINITY;
        for (int i = (int)((column - 1) / f.width * N);
             i < BRIO_MIN(N, (int)((column + 2) / f.width * N)); i++) {
            double at = f.left + f.width * (x[i] - f.low[0]) / (f.high[0] - f.low[0]);
            if (floor(at) != floor(f.left) + column) continue;
            double v = f.top + f.height * (f.high[1] - y[i]) / (f.high[1] - f.low[1]);
            low = fmin(low, v), high = brio__larger(high, v);
        }
        for (int i = 0; i < count; i++) {
            double in_column = points[i][0] - floor(f.left) - column;
            if (in_column < -0.006 || in_column > 1.006) continue; /* written to two decimals */
            near_low = fmin(near_low, fabs(points[i][1] - low)),
            near_high = fmin(near_high, fabs(points[i][1] - high));
        }
        assert_true(near_low < 0.01 && near_high < 0.01);
    }
    free(text);
    plot.series = series + 1;
    text = written(&plot, 1, 1);
    print_message("the same as points: %zu bytes\n", strlen(text));
    assert_true(strlen(text) < 1000000);
    assert_well_formed(text);
    free(text);
    free(x);
    free(y);
    free(points);
}

/* ---- bars, regions ---------------------------------------------------------------------- */

static void bars(void **state)
{
    (void)state;
    double y[4] = {3, -1, NAN, 2};
    const char *names[4] = {"a", "b", "c", "d"};
    BrioPlotSeries series = {.mark = BRIO_PLOT_BARS, .count = 4, .y = y};
    BrioPlot plot = {
        .x = {.category_count = 4, .category = names}, .series_count = 1, .series = &series};
    BrioPlotFrame f = brio__plot_frame(&plot);
    assert_true(f.low[1] < -1 && f.high[1] > 3);
    char *text = written(&plot, 1, 1), *at = strstr(text, "class=\"bars\"");
    double base = f.top + f.height * f.high[1] / (f.high[1] - f.low[1]);
    const double expected[3] = {3, -1, 2};
    for (int i = 0; i < 3; i++) {
        double v[4];
        at = strstr(at, "<rect") + 5;
        assert_int_equal(sscanf(at, " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &v[0],
                                &v[1], &v[2], &v[3]),
                         4);
        assert_true(fabs(v[3] - f.height * fabs(expected[i]) / (f.high[1] - f.low[1])) < 0.02);
        assert_true(fabs((expected[i] > 0 ? v[1] + v[3] : v[1]) - base) < 0.02);
    }
    assert_true(strstr(at, "<rect") > strstr(at, "</g>")); /* no bar for what is not a number */
    free(text);
}

static void regions_stay_small(void **state)
{
    (void)state;
    enum { NX = 800, NY = 600 };
    uint8_t *inside = calloc(NX, NY);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            inside[j * NX + i] = hypot((i + 0.5) / NX - 0.5, (j + 0.5) / NY - 0.5) < 0.4;
    BrioPlotRegion region = {
        .nx = NX, .ny = NY, .low = {1e-3, 1e-3}, .high = {1e3, 1}, .inside = inside};
    BrioPlot plot = {.x = {.log = true}, .region_count = 1, .region = &region};
    char *text = written(&plot, 1, 1);
    print_message("a disc on %d x %d cells: %zu bytes\n", NX, NY, strlen(text));
    assert_well_formed(text);
    assert_true(strlen(text) < 30000);
    free(text);
    free(inside);
}

/* ---- legend, labels --------------------------------------------------------------------- */

static void legend_is_apart(void **state)
{
    (void)state;
    double y[2] = {1e-9, 2e9};
    const char *const names[] = {"x", "implicit midpoint", "a name of some thirty-odd letters",
                                 ("a name that is much too long to stand next to the frame of any "
                                  "chart on this page, and goes on and on and on and on")};
    for (size_t k = 0; k < BRIO_COUNT(names); k++)
        for (int count = 1; count <= 12; count++)
            for (int log = 0; log < 2; log++) {
                BrioPlotSeries series[12];
                for (int s = 0; s < count; s++)
                    series[s] = (BrioPlotSeries){.name = names[k], .count = 2, .y = y};
                BrioPlot plot = {.title = "t",
                                 .x = {.label = "x"},
                                 .y = {.label = "y", .log = log},
                                 .series_count = count,
                                 .series = series};
                BrioPlotFrame f = brio__plot_frame(&plot);
                const double *l = f.legend;
                assert_true(l[2] > 0 && l[3] > 0);
                /* next to, or below the labels */
                assert_true(l[0] >= f.left + f.width || l[1] >= f.top + f.height + 40);
                assert_true(l[0] >= 0 && l[1] >= 0 && l[0] + l[2] <= BRIO_PLOT_WIDTH &&
                            l[1] + l[3] <= BRIO_PLOT_HEIGHT);
                assert_true(f.width > 300 && f.height > 100);
            }
}

static void odd_data(void **state)
{
    (void)state;
    double nothing[2] = {NAN, INFINITY}, same[3] = {5, 5, 5}, close[2] = {1, 1 + 1e-15},
           vast[2] = {-1e308, 1e307}, tiny[2] = {0, 5e-324}, decade[2] = {3.1, 3.3},
           decades[2] = {1e-300, 1e300};
    const double *const data[] = {nothing, same, close, vast, tiny, decade, decades};
    for (size_t i = 0; i < BRIO_COUNT(data); i++)
        for (int log = 0; log < 2; log++) {
            BrioPlotSeries series = {
                .name = "s", .count = 2, .y = data[i], .mark = BRIO_PLOT_LINE_AND_POINTS};
            BrioPlot plot = {.y = {.label = "y", .log = log}, .series_count = 1, .series = &series};
            BrioPlotFrame f = brio__plot_frame(&plot);
            assert_true(isfinite(f.low[1]) && isfinite(f.high[1]) && f.high[1] > f.low[1]);
            char *text = written(&plot, 1, 1);
            assert_well_formed(text);
            assert_null(strstr(text, "nan"));
            assert_null(strstr(text, "inf"));
            int grid = occurrences(text, "stroke=\"#dddddd\"");
            assert_in_range(grid, 3, 30);
            free(text);
        }
}

static void decimal_points(void **state)
{
    (void)state;
    double y[2] = {0.25, 0.75};
    BrioPlotSeries series = {.count = 2, .y = y};
    BrioPlot plot = {.series_count = 1, .series = &series};
    char *before = written(&plot, 1, 1);
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        print_message("SKIPPED: no locale de_DE.UTF-8\n");
        free(before);
        return;
    }
    char *after = written(&plot, 1, 1);
    setlocale(LC_ALL, "C");
    assert_string_equal(before, after);
    assert_non_null(strstr(after, ">0.5</text>"));
    free(before);
    free(after);
}

/* ---- tables ----------------------------------------------------------------------------- */

static void tables(void **state)
{
    (void)state;
    static const TableColumn columns[] = {{"figure", NULL, true},
                                          {"paper", "s", false},
                                          {"ours", "s", false},
                                          {"verdict", NULL, true}};
    Table table = {.columns = 4, .column = columns};
    table_cell(&table, "%s", "drift, \u03b1 = 1");
    table_number(&table, 0.5, 3);
    table_number(&table, 12.3456, 3);
    table_cell(&table, "off by %d", 24);
    table_cell(&table, "%s", "x");
    table_number(&table, NAN, 3);
    table_number(&table, 1e-7, 3);
    table_cell(&table, "%s", "");
    FILE *file = tmpfile();
    table_print(&table, file, 2);
    static const char expected[] = "  figure        paper   ours  verdict\n"
                                   "                    s      s\n"
                                   "  drift, \u03b1 = 1    0.5   12.3  off by 24\n"
                                   "  x                 -  1e-07\n";
    char text[sizeof expected + 64] = "";
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(table.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed),
        cmocka_unit_test(clipping),
        cmocka_unit_test(gaps_and_logarithms),
        cmocka_unit_test(decimation),
        cmocka_unit_test(bars),
        cmocka_unit_test(regions_stay_small),
        cmocka_unit_test(legend_is_apart),
        cmocka_unit_test(odd_data),
        cmocka_unit_test(decimal_points),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
