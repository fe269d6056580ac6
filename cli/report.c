/* The parts of report.html that all reports share: page, charts, pictures, the moving scene. */
#include "report.h"
#include "report_script.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>

static size_t script_size(void) { return (size_t)(report_script_end - report_script); }
static bool has_script(void) { return script_size() > 0; }

static void note(Report *r, BrioStatus status)
{
    if (r->status == BRIO_OK) r->status = status;
}

void report_head(FILE *file, const char *head, const char *unit, bool words)
{
    fprintf(file, "<th scope=\"col\"%s>", words ? " class=\"words\"" : "");
    brio__html_text(file, head);
    if (unit[0]) {
        fputs("<small>", file);
        brio__html_text(file, unit);
        fputs("</small>", file);
    }
    fputs("</th>", file);
}

void report_cell(FILE *file, const char *class, const char *text)
{
    fprintf(file, class[0] ? "<td class=\"%s\">" : "<td%s>", class);
    brio__html_text(file, text);
    fputs("</td>", file);
}

const char *report_ordinal(int64_t number)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    bool teens = number / 10 % 10 == 1;
    return teens || number % 10 > 3 ? ends[0] : ends[number % 10];
}

/* ---- blocks of bytes -------------------------------------------------------------------- */

static void put_block(FILE *file, const char *id, const uint8_t *stream, size_t length)
{
    fprintf(file, "<script type=\"application/octet-stream\" id=\"%s\">", id);
    brio__base64_write(file, stream, length);
    fputs("</script>\n", file);
}

/* JSON between tags: a text may not close them. */
static void put_json(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("\\u003c", file);
        else
            fputc(*text, file);
    }
}

/* ---- charts ----------------------------------------------------------------------------- */

/* Where values stand among all numbers: they are added if they are not there yet. */
static size_t place_of(Report *r, const double *values, size_t count)
{
    for (int k = 0; k < r->known_count; k++)
        if (r->known[k].values == values && r->known[k].count == count) return r->known[k].at;
    size_t at = r->number_count;
    if (at + count > r->number_room) {
        size_t room = 2 * (at + count) + 1024;
        double *grown = brio__realloc(r->number, at, room, sizeof *grown);
        if (!grown) {
            note(r, BRIO_ERROR_MEMORY);
            return 0;
        }
        r->number = grown;
        r->number_room = room;
    }
    for (size_t k = 0; k < count; k++) r->number[at + k] = values ? values[k] : (double)k;
    r->number_count += count;
    if (values && r->known_count < (int)BRIO_COUNT(r->known)) {
        r->known[r->known_count].values = values;
        r->known[r->known_count].at = at;
        r->known[r->known_count++].count = count;
    }
    return at;
}

static void json_axis(BrioJson *json, const char *key, const BrioPlotAxis *axis)
{
    brio__json_open(json, key, '{');
    brio__json_text(json, "label", axis->label);
    brio__json_boolean(json, "log", axis->log);
    if (axis->fixed) {
        brio__json_open(json, "fixed", '[');
        brio__json_real(json, NULL, axis->low);
        brio__json_real(json, NULL, axis->high);
        brio__json_close(json, ']');
    }
    brio__json_close(json, '}');
}

static void json_place(BrioJson *json, const char *key, size_t at, int64_t count)
{
    brio__json_open(json, key, '[');
    brio__json_integer(json, NULL, (int64_t)at);
    brio__json_integer(json, NULL, count);
    brio__json_close(json, ']');
}

void report_chart(Report *r, const BrioPlot *plot, const char *about)
{
    BrioJson json = {.file = r->chart_text, .flat = true};
    fprintf(r->file, "<figure class=\"chart\" data-chart=\"%d\">\n", r->chart_count);
    note(r, brio__plot_write(r->file, plot, 1, 1));
    if (about) brio__html_element(r->file, "figcaption class=\"note\"", "%s", about);
    fputs("</figure>\n", r->file);
    if (!r->chart_text) return;
    if (r->chart_count++) fputc(',', r->chart_text);
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "title", plot->title);
    json_axis(&json, "x", &plot->x);
    json_axis(&json, "y", &plot->y);
    brio__json_open(&json, "series", '[');
    for (int i = 0; i < plot->series_count; i++) {
        const BrioPlotSeries *s = &plot->series[i];
        int dashes, colour = brio__plot_colour(s, i, &dashes);
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "name", s->name);
        brio__json_integer(&json, "colour", colour);
        brio__json_integer(&json, "dashes", dashes);
        brio__json_boolean(&json, "points",
                           s->mark == BRIO_PLOT_POINTS || s->mark == BRIO_PLOT_LINE_AND_POINTS);
        json_place(&json, "x", place_of(r, s->x, (size_t)s->count), s->count);
        json_place(&json, "y", place_of(r, s->y, (size_t)s->count), s->count);
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
}

/* ---- the motion ------------------------------------------------------------------------- */

static const char *const kinds[] = {"body", "obstacle", "rods"};

/* A motion as the script reads it: shapes, then steps and corners of the boxes, then for every
 * frame the differences from where the last two frames lead to, first all low bytes and then all
 * high ones. */
typedef struct Coded {
    uint8_t *bytes;
    size_t size, room;
    int64_t *slots; /* of each part */
    int64_t frames, stride;
    uint8_t *stream;
    size_t length;
} Coded;

static bool append(Coded *c, const void *data, size_t size)
{
    if (c->size + size > c->room) {
        size_t room = 2 * (c->size + size) + 4096;
        uint8_t *grown = brio__realloc(c->bytes, c->size, room, 1);
        if (!grown) return false;
        c->bytes = grown;
        c->room = room;
    }
    if (size) memcpy(c->bytes + c->size, data, size);
    c->size += size;
    return true;
}

static BrioStatus code_shapes(const BrioMotionFile *m, Coded *c)
{
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        size_t corners = 3 * (size_t)p->triangle_count;
        int32_t *slot = brio__alloc(corners + 1, sizeof *slot);
        int32_t *vertex = brio__alloc(corners + 1, sizeof *vertex);
        bool done = slot && vertex;
        if (done)
            c->slots[i] = brio__smooth_slots(p->rest, p->vertex_count, p->triangle,
                                             p->triangle_count, slot, vertex);
        done = done && c->slots[i] >= 0 &&
               append(c, vertex, (size_t)c->slots[i] * sizeof *vertex) &&
               append(c, slot, corners * sizeof *slot) &&
               append(c, p->edge, 2 * (size_t)p->edge_count * sizeof *p->edge) &&
               append(c, p->rest, 3 * (size_t)p->vertex_count * sizeof *p->rest);
        brio__free(slot);
        brio__free(vertex);
        if (!done) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

/* The step of each part that moves: that of its largest box over all frames, in `levels`. And the
 * lowest corners at all frames. */
static BrioStatus code_boxes(BrioMotionFile *m, int64_t stride, float levels, float *x, float *step,
                             float *corner)
{
    int moving = 0;
    for (int64_t k = 0, f = 0; k < m->frame_count; k += stride, f++) {
        BRIO_CHECK(brio__motion_positions(m, k, x, NULL));
        moving = 0;
        for (int i = 0; i < m->part_count; i++) moving += !m->part[i].still;
        for (int i = 0, at = 0; i < m->part_count; i++) {
            float low[3], high[3];
            if (m->part[i].still) continue;
            brio__motion_box(m, i, x, low, high);
            if (m->part[i].vertex_count == 0)
                memset(low, 0, sizeof low), memset(high, 0, sizeof high);
            for (int r = 0; r < 3; r++) {
                step[at] = fmaxf(step[at], 1.000001f * (high[r] - low[r]) / levels);
                corner[3 * (f * moving + at) + r] = low[r];
            }
            at++;
        }
    }
    for (int at = 0; at < moving; at++) step[at] = fmaxf(step[at], 1e-30f);
    return BRIO_OK;
}

static BrioStatus code_frames(BrioMotionFile *m, Coded *c, float *x, const float *step,
                              const float *corner, size_t width, int moving)
{
    uint16_t *last = brio__calloc(2 * width + 1, sizeof *last);
    uint16_t *before = last ? last + width : NULL;
    uint8_t *byte_plane = brio__alloc(2 * width + 1, 1);
    BrioStatus status = last && byte_plane ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int64_t k = 0, f = 0; status == BRIO_OK && k < m->frame_count; k += c->stride, f++) {
        size_t at = 0;
        const float *y = x;
        status = brio__motion_positions(m, k, x, NULL);
        for (int i = 0, part = 0; status == BRIO_OK && i < m->part_count;
             y += 3 * (size_t)m->part[i++].vertex_count) {
            if (m->part[i].still) continue;
            for (int v = 0; v < 3 * m->part[i].vertex_count; v++, at++) {
                float level = (y[v] - corner[3 * (f * moving + part) + v % 3]) / step[part] + 0.5f;
                uint16_t number = (uint16_t)fminf(fmaxf(level, 0), 65535);
                uint16_t guess = f > 1 ? (uint16_t)(2 * last[at] - before[at]) : last[at];
                int16_t rest = (int16_t)(uint16_t)(number - guess);
                uint16_t code = (uint16_t)(rest < 0 ? -2 * rest - 1 : 2 * rest);
                byte_plane[at] = code & 255;
                byte_plane[width + at] = (uint8_t)(code >> 8);
                before[at] = last[at];
                last[at] = number;
            }
            part++;
        }
        if (status == BRIO_OK && !append(c, byte_plane, 2 * width)) status = BRIO_ERROR_MEMORY;
        c->frames = f + 1;
    }
    brio__free(last);
    brio__free(byte_plane);
    return status;
}

static BrioStatus code_once(BrioMotionFile *m, Coded *c, float levels)
{
    int64_t frames = (m->frame_count + c->stride - 1) / c->stride;
    int moving = 0;
    size_t width = 0;
    for (int i = 0; i < m->part_count; i++)
        if (!m->part[i].still) {
            moving++;
            width += 3 * (size_t)m->part[i].vertex_count;
        }
    float *x = brio__alloc(3 * (size_t)m->vertex_count + 1, sizeof *x),
          *step = brio__calloc((size_t)moving + 1, sizeof *step),
          *corner = brio__alloc(3 * (size_t)moving * (size_t)frames + 1, sizeof *corner);
    BrioStatus status = x && step && corner ? BRIO_OK : BRIO_ERROR_MEMORY;
    c->size = 0;
    if (status == BRIO_OK) status = code_shapes(m, c);
    if (status == BRIO_OK) status = code_boxes(m, c->stride, levels, x, step, corner);
    if (status == BRIO_OK &&
        !(append(c, step, (size_t)moving * sizeof *step) &&
          append(c, corner, 3 * (size_t)moving * (size_t)frames * sizeof *corner)))
        status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = code_frames(m, c, x, step, corner, width, moving);
    if (status == BRIO_OK) status = brio__deflate(c->bytes, c->size, &c->stream, &c->length);
    brio__free(x);
    brio__free(step);
    brio__free(corner);
    return status;
}

/* Coarser first (a part in four thousand of the box is far below a pixel), then fewer frames, until
 * it fits. */
static BrioStatus code_motion(BrioMotionFile *m, double max, Coded *c)
{
    float levels = 65535;
    /* bounds the work: motion shrinks to a third, seldom below an eighth */
    *c = (Coded){.stride = (int64_t)ceil(6.0 * (double)m->vertex_count * (double)m->frame_count /
                                         (8 * max))};
    c->stride = BRIO_MAX(c->stride, 1);
    c->slots = brio__calloc((size_t)m->part_count + 1, sizeof *c->slots);
    if (!c->slots) return BRIO_ERROR_MEMORY;
    for (;;) {
        BRIO_CHECK(code_once(m, c, levels));
        if ((double)c->length <= max || c->stride >= m->frame_count) return BRIO_OK;
        double ratio = (double)c->length / max;
        if (levels > 4095)
            levels = 4095;
        else
            c->stride = BRIO_MAX(c->stride + 1, (int64_t)ceil((double)c->stride * ratio));
        brio__free(c->stream);
        c->stream = NULL;
    }
}

static void json_motion(Report *r, const BrioMotionFile *m, const Coded *c, const char *label,
                        const char *stream_name)
{
    BrioJson json = {.file = r->run_text, .flat = true};
    if (r->run_count++) fputc(',', r->run_text);
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "label", label);
    brio__json_text(&json, "block", stream_name);
    brio__json_real(&json, "fps", m->fps);
    brio__json_integer(&json, "stride", c->stride * m->stride);
    brio__json_open(&json, "parts", '[');
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        brio__json_open(&json, NULL, '{');
        brio__json_text(&json, "name", p->name);
        brio__json_text(&json, "kind", kinds[p->kind]);
        brio__json_boolean(&json, "closed", p->closed);
        brio__json_boolean(&json, "still", p->still);
        brio__json_integer(&json, "vertices", p->vertex_count);
        brio__json_integer(&json, "triangles", p->triangle_count);
        brio__json_integer(&json, "edges", p->edge_count);
        brio__json_integer(&json, "slots", c->slots[i]);
        brio__json_close(&json, '}');
    }
    brio__json_close(&json, ']');
    brio__json_open(&json, "times", '[');
    for (int64_t k = 0; k < m->frame_count; k += c->stride)
        brio__json_real(&json, NULL, m->time[k]);
    brio__json_close(&json, ']');
    brio__json_close(&json, '}');
}

static void json_camera(Report *r, const BrioStage *stage)
{
    BrioJson json = {.file = r->run_text, .flat = true};
    const BrioView *v = &stage->view;
    fputs("],\"camera\":", r->run_text);
    brio__json_open(&json, NULL, '{');
    brio__json_real(&json, "angle", BRIO_STAGE_ANGLE);
    brio__json_real(&json, "size", 2 * v->size);
    brio__json_real(&json, "floor", v->ground ? v->floor : NAN);
    brio__json_real(&json, "grid", v->grid ? v->grid_step : 0);
    for (int which = 0; which < 2; which++) {
        brio__json_open(&json, which ? "target" : "eye", '[');
        for (int k = 0; k < 3; k++)
            brio__json_real(&json, NULL, which ? stage->target[k] : v->eye[k]);
        brio__json_close(&json, ']');
    }
    brio__json_close(&json, '}');
}

/* Without the script: six instants of each run. */
static BrioStatus put_sheet(Report *r, BrioMotionFile **motion, const char *const *label, int count)
{
    enum { WIDE = 300, HIGH = 225, INSTANTS = 6 };
    BrioStageDef def = brio__stage_defaults();
    BrioStage *stage = NULL;
    def.width = WIDE;
    def.height = HIGH;
    size_t pitch = 3 * (size_t)(WIDE * INSTANTS), size = 0;
    uint8_t *rgb = brio__calloc(pitch * HIGH, (size_t)count);
    char *png = NULL, text[64];
    double start = INFINITY, end = 0;
    BrioStatus status =
        rgb ? brio__stage_create(&def, motion, count, &stage, NULL) : BRIO_ERROR_MEMORY;
    for (int k = 0; k < count; k++) {
        start = fmin(start, motion[k]->time[0]);
        end = fmax(end, motion[k]->time[motion[k]->frame_count - 1]);
    }
    for (int k = 0; status == BRIO_OK && k < count * INSTANTS; k++) {
        uint8_t *at =
            rgb + (size_t)(k / INSTANTS) * HIGH * pitch + 3 * (size_t)(k % INSTANTS * WIDE);
        double time = start + (end - start) * (k % INSTANTS) / (INSTANTS - 1);
        status = brio__stage_draw(stage, k / INSTANTS, time, at, pitch, NULL);
        snprintf(text, sizeof text, "t = %.3g s", time);
        brio__text_draw(at, pitch, WIDE, HIGH, 8, 18, 8, 0x30343a, text);
        if (count > 1 && k % INSTANTS == 0)
            brio__text_draw(at, pitch, WIDE, HIGH, 8, 34, 8, 0x30343a, label[k / INSTANTS]);
    }
    FILE *memory = status == BRIO_OK ? open_memstream(&png, &size) : NULL;
    if (memory) {
        status = brio__png_write(memory, rgb, WIDE * INSTANTS, HIGH * count);
        if (brio__text_close(memory, &png)) status = BRIO_ERROR_MEMORY;
        if (status != BRIO_OK) size = 0;
        fputs("<img style=\"max-width:100%\" alt=\"Six instants of the motion\" "
              "src=\"data:image/png;base64,",
              r->file);
        brio__base64_write(r->file, (const uint8_t *)png, size);
        fputs("\">\n", r->file);
        brio__html_element(
            r->file, "p class=\"note\"",
            "This brio was built without npm, so this report shows the motion at six instants. A "
            "build with npm writes a report that plays it in 3D.");
    }
    free(png);
    brio__free(rgb);
    brio__stage_free(stage);
    return status;
}

/* Runs whose parts are shown by one camera; the script finds their bytes in blocks of their own. */
static BrioStatus put_motions(Report *r, BrioMotionFile **motion, const char *const *label,
                              int count)
{
    BrioStageDef def = brio__stage_defaults();
    BrioStage *stage = NULL;
    char stream_name[32];
    int64_t max_stride = 1;
    fputs("<div id=\"motion\"><p class=\"note\">The motion appears here when the page's script has "
          "run.</p></div>\n",
          r->file);
    BRIO_CHECK(brio__stage_create(&def, motion, count, &stage, NULL));
    BrioStatus status = BRIO_OK;
    for (int k = 0; status == BRIO_OK && k < count; k++) {
        Coded coded;
        double rest = REPORT_MAX_BYTES - 2e6; /* for the page, its script and charts */
        status = code_motion(motion[k], 0.75 * rest / count, &coded);
        snprintf(stream_name, sizeof stream_name, "motion-%d", k);
        if (status == BRIO_OK) {
            put_block(r->file, stream_name, coded.stream, coded.length);
            json_motion(r, motion[k], &coded, label[k], stream_name);
            max_stride = BRIO_MAX(max_stride, coded.stride * motion[k]->stride);
        }
        brio__free(coded.bytes);
        brio__free(coded.stream);
        brio__free(coded.slots);
    }
    if (status == BRIO_OK) json_camera(r, stage);
    if (max_stride > 1)
        brio__html_element(r->file, "p class=\"note\"",
                           "Only every %lld%s frame is shown, so that this page stays below %.0f "
                           "MB; `brio render` draws all that %s holds.",
                           (long long)max_stride, report_ordinal(max_stride),
                           REPORT_MAX_BYTES / 1e6, BRIO_MOTION_NAME);
    brio__stage_free(stage);
    return status;
}

void report_motions(Report *r, BrioMotionFile **motion, const char *const *label, int count)
{
    if (count == 0 || r->status != BRIO_OK) return;
    brio__html_element(r->file, "h2", "The motion");
    note(r,
         has_script() ? put_motions(r, motion, label, count) : put_sheet(r, motion, label, count));
}

/* ---- the page --------------------------------------------------------------------------- */

void report_begin(Report *r, FILE *file, const char *title)
{
    *r = (Report){.file = file};
    r->chart_text = open_memstream(&r->charts, &r->charts_size);
    r->run_text = open_memstream(&r->runs, &r->runs_size);
    if (!r->chart_text || !r->run_text) note(r, BRIO_ERROR_MEMORY);
    brio__html_begin(file, title);
}

static void put_colours(FILE *file, const char *key, const unsigned *colours, int count)
{
    fprintf(file, ",\"%s\":[", key);
    for (int k = 0; k < count; k++) fprintf(file, "%s\"#%06x\"", k ? "," : "", colours[k]);
    fputc(']', file);
}

static BrioStatus put_data(Report *r)
{
    uint8_t *stream;
    size_t length;
    BRIO_CHECK(brio__deflate((const uint8_t *)r->number, r->number_count * sizeof *r->number,
                             &stream, &length));
    put_block(r->file, "numbers", stream, length);
    brio__free(stream);
    fputs("<script type=\"application/json\" id=\"brio-data\">{\"charts\":[", r->file);
    put_json(r->file, r->charts);
    fputs("],\"runs\":[", r->file);
    put_json(r->file, r->run_count ? r->runs : "]"); /* ends the list itself */
    put_colours(r->file, "palette", brio__body_colours, BRIO_BODY_COLOURS);
    put_colours(r->file, "scale", brio__scale_colours, BRIO_SCALE_COLOURS);
    fprintf(r->file, ",\"obstacle\":\"#%06x\"}</script>\n", BRIO_OBSTACLE_COLOUR);
    put_block(r->file, "script", report_script, script_size());
    fputs("<script>\n"
          "(async () => {\n"
          "  if (!window.DecompressionStream) { const p = document.querySelector('#motion .note'); "
          "if (p) p.textContent = 'This browser is too old to show the motion.'; return; }\n"
          "  const bytes = Uint8Array.from(atob(document.getElementById('script').textContent), "
          "(c) => c.charCodeAt(0));\n"
          "  const made = document.createElement('script');\n"
          "  made.textContent = await new Response(new Blob([bytes]).stream().pipeThrough(new "
          "DecompressionStream('deflate'))).text();\n"
          "  document.head.append(made);\n"
          "})();\n"
          "</script>\n",
          r->file);
    return BRIO_OK;
}

BrioStatus report_end(Report *r)
{
    if (r->chart_text) note(r, brio__text_close(r->chart_text, &r->charts));
    if (r->run_text) note(r, brio__text_close(r->run_text, &r->runs));
    if (r->status == BRIO_OK && has_script()) note(r, put_data(r));
    brio__html_end(r->file);
    brio__free(r->number);
    free(r->charts);
    free(r->runs);
    return r->status;
}
