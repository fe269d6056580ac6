/* How near trials are to the reference, over the whole time and not at its end alone.
 *
 * Every trial is sampled at the same instants k H, linear between steps, with H half of the finest
 * step compared (longer, where that would be too many). Differences from the reference are root
 * mean squares over the instants:
 *
 *     energies    in percent of Comparison.scale, K: total, kinetic, elastic, weight's
 *     momenta     in percent of sqrt(2 m K), the momentum that the mass m has with the energy K;
 *                 angular ones of that times the radius of gyration of the initial state
 *     path        of the centre of mass, in m
 *
 * Vibration is how far vertices are from the centre of mass of their body, r(t): no motion of the
 * whole changes it. With S_b the sum of |2 pi f r^(f)|^2 over some vertices and the frequencies f
 * of a band b, of equal bands up to 1/(2H), the spectrum of a trial is off by
 *
 *     1 - sum_b min(S_b, S*_b) / sum_b max(S_b, S*_b):
 *
 * 0 for the same energies in all bands, 1 for none in common. Phases do not count. */
#include "compare_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_INSTANTS = 2048, BANDS = 24 };

/* ---- tracks ----------------------------------------------------------------------------- */

/* Which instants there are. */
void comparison_plan_tracks(Comparison *c)
{
    c->track_step = fmax(c->size[c->size_count - 1].h / 2, c->scene->end / MAX_INSTANTS);
    c->track_count = (int64_t)floor(c->scene->end / c->track_step + 1e-6) + 1;
}

/* How far some vertices are from the centre of mass of their body. */
static void add_distances(const Comparison *c, const BrioSystem *s, const double *x, double *to)
{
    for (int k = 0; k < TRACK_VERTICES; k++) {
        int64_t v = k * (c->vertex_count - 1) / (TRACK_VERTICES - 1);
        const BrioBody *body = &s->body[brio__system_owner(s, v)];
        double centre[3] = {0, 0, 0}, mass = 0;
        for (int64_t i = body->first; i < body->first + body->count; i++) {
            mass += c->vertex_mass[i];
            for (int r = 0; r < 3; r++) centre[r] += c->vertex_mass[i] * x[3 * i + r];
        }
        for (int r = 0; r < 3; r++) centre[r] /= mass > 0 ? mass : 1;
        to[k] = brio__hypot_distance3(x + 3 * v, centre);
    }
}

static void sample(const Comparison *c, const Trial *t, const BrioSim *sim, const BrioLedger *l,
                   double *to)
{
    to[TRACK_TOTAL] = l->total;
    to[TRACK_KINETIC] = l->kinetic;
    to[TRACK_ELASTIC] = l->elastic;
    to[TRACK_GRAVITY] = l->gravity;
    for (int r = 0; r < 3; r++) {
        to[TRACK_LINEAR + r] = l->momentum[r];
        to[TRACK_ANGULAR + r] = l->angular[r];
        to[TRACK_CENTRE + r] = l->centre[r];
    }
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, t->x);
    add_distances(c, sim->system, t->x, to + TRACK_DISTANCE);
}

BrioStatus comparison_track(const Comparison *c, Trial *t, const BrioSim *sim, const BrioLedger *l)
{
    double before = t->track_time, now[TRACK_NUMBERS];
    if (!c->reference) return BRIO_OK;
    if (!t->track) {
        t->track = brio__calloc((size_t)c->track_count * TRACK_NUMBERS, sizeof *t->track);
        if (!t->track) return BRIO_ERROR_MEMORY;
        before = -1;
    }
    /* only around an instant: the next one may lie before the end of the next step */
    double next = (double)t->track_filled * c->track_step, ahead = 2 * t->size->h;
    t->track_time = l->time;
    if (t->track_filled == c->track_count || next > l->time + ahead) return BRIO_OK;
    sample(c, t, sim, l, now);
    for (; t->track_filled < c->track_count; t->track_filled++) {
        next = (double)t->track_filled * c->track_step;
        if (next > l->time + 1e-6 * t->size->h) break;
        double part = before < 0 || l->time <= before ? 1 : (next - before) / (l->time - before);
        double *to = t->track + t->track_filled * TRACK_NUMBERS;
        for (int k = 0; k < TRACK_NUMBERS; k++)
            to[k] = part > 1 - 1e-6 ? now[k] : now[k] + (1 - part) * (t->track_last[k] - now[k]);
    }
    memcpy(t->track_last, now, sizeof now);
    return BRIO_OK;
}

/* ---- differences ------------------------------------------------------------------------ */

/* Of `count` numbers from `first` on, over all instants. */
static double difference(const Comparison *c, const Trial *t, int first, int count)
{
    double sum = 0;
    for (int64_t i = 0; i < c->track_count; i++)
        for (int k = first; k < first + count; k++) {
            double d = t->track[i * TRACK_NUMBERS + k] - c->reference->track[i * TRACK_NUMBERS + k];
            sum += d * d;
        }
    return sqrt(sum / (double)c->track_count);
}

/* Energy of vibration by band. */
static void spectrum(const Comparison *c, const Trial *t, double band[BANDS])
{
    double wave[MAX_INSTANTS + 2], quarter[MAX_INSTANTS + 2]; /* cos and sin of turns */
    int64_t n = c->track_count;
    for (int64_t i = 0; i < n; i++) {
        wave[i] = cos(2 * M_PI * (double)i / (double)n);
        quarter[i] = sin(2 * M_PI * (double)i / (double)n);
    }
    memset(band, 0, BANDS * sizeof *band);
    for (int v = 0; v < TRACK_VERTICES; v++) {
        const double *r = t->track + TRACK_DISTANCE + v;
        double mean = 0;
        for (int64_t i = 0; i < n; i++) mean += r[i * TRACK_NUMBERS] / (double)n;
        for (int64_t f = 1; f <= n / 2; f++) {
            double re = 0, im = 0;
            for (int64_t i = 0; i < n; i++) {
                double value = (0.5 - 0.5 * wave[i]) * (r[i * TRACK_NUMBERS] - mean);
                re += value * wave[f * i % n];
                im += value * quarter[f * i % n];
            }
            int at = (int)BRIO_MIN((int64_t)BANDS - 1, (2 * f - 1) * BANDS / (n + 1));
            band[at] += (double)(f * f) * (re * re + im * im);
        }
    }
}

static double spectrum_difference(const Comparison *c, const Trial *t)
{
    double own[BANDS], other[BANDS], common = 0, all = 0;
    spectrum(c, t, own);
    spectrum(c, c->reference, other);
    for (int b = 0; b < BANDS; b++) {
        common += fmin(own[b], other[b]);
        all += fmax(own[b], other[b]);
    }
    return all > 0 ? 1 - common / all : NAN;
}

void comparison_measure_nearness(Comparison *c)
{
    static const struct {
        Quantity quantity;
        int first, count;
    } parts[] = {{NEAR_TOTAL, TRACK_TOTAL, 1},     {NEAR_KINETIC, TRACK_KINETIC, 1},
                 {NEAR_ELASTIC, TRACK_ELASTIC, 1}, {NEAR_GRAVITY, TRACK_GRAVITY, 1},
                 {NEAR_LINEAR, TRACK_LINEAR, 3},   {NEAR_ANGULAR, TRACK_ANGULAR, 3},
                 {NEAR_PATH, TRACK_CENTRE, 3}};
    const Trial *r = c->reference;
    if (!r || r->outcome != TRIAL_COMPLETED || r->track_filled < c->track_count) return;
    double momentum = sqrt(2 * c->mass * c->scale);
    for (int i = 0; i < c->trial_count; i++) {
        Trial *t = &c->trial[i];
        if (t == r || t->outcome != TRIAL_COMPLETED || t->track_filled < c->track_count) continue;
        for (size_t k = 0; k < BRIO_COUNT(parts); k++) {
            double d = difference(c, t, parts[k].first, parts[k].count), per = c->scale / 100;
            if (parts[k].quantity == NEAR_LINEAR) per = momentum / 100;
            if (parts[k].quantity == NEAR_ANGULAR) per = momentum * c->radius / 100;
            if (parts[k].quantity == NEAR_PATH) per = 1;
            if (parts[k].quantity == NEAR_GRAVITY && c->gravity == 0) continue;
            t->value[parts[k].quantity] = d / per;
        }
        t->value[NEAR_SPECTRUM] = 100 * spectrum_difference(c, t);
    }
}

/* ---- a reference that is kept ----------------------------------------------------------- */

static const char kept_name[] = "reference.bin";

/* What a kept reference must agree with. */
typedef struct KeptHead {
    char magic[16], version[32], isa[16];
    uint64_t scene; /* with the reference's method and step */
    int64_t instants, vertices, samples;
    double end, step;
} KeptHead;

static KeptHead head_of(const Comparison *c, uint64_t scene, int64_t samples)
{
    KeptHead head;
    memset(&head, 0, sizeof head);
    snprintf(head.magic, sizeof head.magic, "brio reference");
    snprintf(head.version, sizeof head.version, "%s", brio_version());
    snprintf(head.isa, sizeof head.isa, "%s", brio_isa());
    head.scene = scene;
    head.instants = c->track_count;
    head.vertices = c->vertex_count;
    head.samples = samples;
    head.end = c->scene->end;
    head.step = c->track_step;
    return head;
}

/* All arrays of a kept trial, one after the other. */
typedef size_t Transfer(void *data, size_t size, size_t count, FILE *file);

static size_t writes(void *data, size_t size, size_t count, FILE *file)
{
    return fwrite(data, size, count, file);
}

static bool transfer(const Comparison *c, Trial *t, int64_t samples, Transfer *each, FILE *file)
{
    size_t track = (size_t)c->track_count * TRACK_NUMBERS, x = 3 * (size_t)c->vertex_count;
    bool whole = each(t->value, sizeof(double), QUANTITY_COUNT, file) == QUANTITY_COUNT &&
                 each(&t->largest, sizeof(double), 1, file) == 1 &&
                 each(t->track, sizeof(double), track, file) == track &&
                 each(t->x, sizeof(double), x, file) == x;
    for (int k = 0; whole && k < CURVE_COUNT; k++)
        whole = each(t->curve[k], sizeof(double), (size_t)samples, file) == (size_t)samples;
    return whole;
}

void comparison_keep_reference(Comparison *c, const BrioFolder *folder, uint64_t scene)
{
    Trial *t = c->reference;
    BrioError error = {0};
    FILE *file;
    if (!t || t->outcome != TRIAL_COMPLETED || t->track_filled < c->track_count) return;
    if (brio__replace_begin(folder, kept_name, &file, &error) != BRIO_OK) return;
    KeptHead head = head_of(c, scene, t->sample_count);
    bool whole =
        fwrite(&head, sizeof head, 1, file) == 1 && transfer(c, t, t->sample_count, writes, file);
    if (brio__replace_end(folder, kept_name, file, false, &error) != BRIO_OK || !whole)
        unlinkat(folder->fd, kept_name, 0);
}

bool comparison_kept_reference(Comparison *c, Trial *t, const BrioFolder *folder, uint64_t scene)
{
    int fd = openat(folder->fd, kept_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    KeptHead head, wanted;
    bool whole = file && fread(&head, sizeof head, 1, file) == 1;
    if (whole) wanted = head_of(c, scene, head.samples);
    whole = whole && !memcmp(&head, &wanted, sizeof head) && head.samples >= 0 &&
            head.samples <= t->sample_room;
    if (whole && !t->track)
        t->track = brio__calloc((size_t)c->track_count * TRACK_NUMBERS, sizeof *t->track);
    whole = whole && t->track && transfer(c, t, head.samples, fread, file);
    if (whole) {
        t->sample_count = head.samples;
        t->track_filled = c->track_count;
    }
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return whole;
}
