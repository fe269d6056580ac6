/* The curve of the energy over time that `brio render --energy` draws into its pictures. */
#include "render_energy.h"

#include "energy_table.h"

#include "internal.h"

enum { PANEL = 0xf2f4f7, CURVE = 0x1f5fa8, INITIAL = 0x8a929c, WORDS = 0x30343a };

BrioStatus energy_curve_read(const char *folder, EnergyCurve *curve, BrioError *error)
{
    EnergyTable *table = brio__calloc(1, sizeof *table);
    if (!table) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = energy_table_read(folder, table, error);
    int time = energy_table_column(table, "time"), total = energy_table_column(table, "total");
    if (status == BRIO_OK && (time < 0 || total < 0))
        status = brio__error(error, BRIO_ERROR_INPUT,
                             "%s/energy.csv lacks the columns time and total", folder);
    if (status == BRIO_OK) {
        curve->count = table->rows;
        curve->time = table->column[time];
        curve->total = table->column[total];
        table->column[time] = table->column[total] = NULL;
    }
    energy_table_free(table);
    brio__free(table);
    return status;
}

void energy_curve_free(EnergyCurve *curve)
{
    brio__free(curve->time);
    brio__free(curve->total);
}

void energy_curve_range(const EnergyCurve *curve, double range[2])
{
    for (int64_t k = 0; k < curve->count; k++) {
        if (!isfinite(curve->total[k])) continue;
        range[0] = fmin(range[0], curve->total[k]);
        range[1] = fmax(range[1], curve->total[k]);
    }
}

/* Linear between rows, constant beyond them. */
static double energy_at(const EnergyCurve *curve, double time)
{
    int64_t low = 0, high = curve->count - 1;
    if (time <= curve->time[low]) return curve->total[low];
    if (time >= curve->time[high]) return curve->total[high];
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (curve->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    double t = (time - curve->time[low]) / (curve->time[high] - curve->time[low]);
    return curve->total[low] + t * (curve->total[high] - curve->total[low]);
}

/* A column of the line from `a` to `b` (pixels from the top), with soft ends, and its shade below.
 */
static void draw_column(uint8_t *rgb, size_t pitch, int width, int height, int x, float a, float b,
                        float thick, int bottom)
{
    float top = fminf(a, b) - thick / 2, end = fmaxf(a, b) + thick / 2;
    int first = (int)floorf(top), last = (int)floorf(end);
    for (int y = first; y <= last; y++) {
        float covered = fminf(end, (float)(y + 1)) - fmaxf(top, (float)y);
        brio__box_draw(rgb, pitch, width, height, x, y, 1, 1, CURVE, covered);
    }
    if (bottom > last + 1)
        brio__box_draw(rgb, pitch, width, height, x, last + 1, 1, bottom - last - 1, CURVE, 0.18f);
}

void energy_curve_draw(const EnergyCurve *curve, const double time[2], const double range[2],
                       double now, uint8_t *rgb, size_t pitch, int width, int height)
{
    float size = fmaxf(0.024f * (float)height, 8.5f);
    int margin = (int)(0.6f * size), tall = (int)(0.17f * (float)height + size);
    int left = margin, wide = width - 2 * margin, top = height - margin - tall;
    float thick = fmaxf(0.005f * (float)height, 1.5f);
    float ceiling = (float)top + 2.6f * size, room = (float)tall - 3.2f * size;
    double span = range[1] > range[0] ? range[1] - range[0] : 1;
    double length = time[1] > time[0] ? time[1] - time[0] : 1;
    char text[64];
    brio__box_draw(rgb, pitch, width, height, left, top, wide, tall, PANEL, 0.72f);
    float initial = ceiling + room * (float)((range[1] - energy_at(curve, time[0])) / span);
    if (isfinite(initial))
        brio__box_draw(rgb, pitch, width, height, left, (int)initial, wide, 1, INITIAL, 0.8f);
    float before = initial;
    for (int x = 0; x < wide; x++) {
        double at = time[0] + length * (x + 0.5) / wide;
        if (at > now) break;
        double energy = energy_at(curve, at);
        if (!isfinite(energy)) break;
        float y = ceiling + room * (float)((range[1] - energy) / span);
        draw_column(rgb, pitch, width, height, left + x, before, y, thick, top + tall);
        before = y;
    }
    snprintf(text, sizeof text, "energy %#.4g J", energy_at(curve, fmin(now, time[1])));
    brio__text_draw(rgb, pitch, width, height, (float)left + 0.5f * size, (float)top + 1.5f * size,
                    size, WORDS, text);
}
