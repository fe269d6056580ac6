/* Elements are evaluated in packs of eight, whose energies come as one sum. Where a pack has
 * elements of several accounts, it is evaluated once for each of them, with the weights (rest[0])
 * of the others set to zero. */
#include "split.h"

#include <string.h>

enum { MAX_REST = 16 };

static void accounts_of(const BrioSplit *split, const BrioTerm *term, int64_t element, int last,
                        int32_t who[2])
{
    /* what fills up a pack is as its last element, and weightless */
    element = BRIO_MIN(element, term->elements - 1);
    who[0] = split->account[brio__term_vertex(term, element, 0)];
    who[1] = last ? split->account[brio__term_vertex(term, element, last)] : who[0];
    if (who[0] < 0) who[0] = who[1];
    if (who[1] < 0) who[1] = who[0];
}

static void add(const BrioSplit *split, const int32_t who[2], double energy)
{
    for (int k = 0; k < 2; k++) split->energy[who[k] >= 0 ? who[k] : split->count] += energy / 2;
}

/* One pack, with the weights of those lanes alone that have the same accounts as lane `of`. */
static double masked(const BrioTerm *term, const BrioBatch *batch, int64_t pack,
                     int32_t who[LANES][2], int of)
{
    _Alignas(sizeof(double) * LANES) double rest[MAX_REST * LANES];
    const BrioEnergy *energy = term->energy;
    size_t numbers = (size_t)energy->rest * LANES;
    double sum = 0;
    memcpy(rest, batch->rest + pack * energy->rest * LANES, numbers * sizeof *rest);
    for (int i = 0; i < LANES; i++)
        if (memcmp(who[i], who[of], sizeof who[i])) rest[i] = 0;
    BrioBatch one = *batch;
    one.begin = 0;
    one.end = 1;
    one.node += pack * energy->nodes * LANES;
    one.rest = rest;
    if (one.live) one.live += pack * energy->live * LANES;
    one.energy = &sum;
    one.gradient = NULL;
    energy->eval(&one);
    return sum;
}

void brio__split_term(const BrioSplit *split, const BrioTerm *term, const BrioBatch *batch,
                      int last)
{
    for (int64_t pack = 0; pack < term->packs; pack++) {
        int32_t who[LANES][2];
        for (int i = 0; i < LANES; i++) accounts_of(split, term, pack * LANES + i, last, who[i]);
        for (int i = 0; i < LANES; i++) {
            int k = 0;
            while (memcmp(who[k], who[i], sizeof who[i])) k++;
            if (k == i) add(split, who[i], masked(term, batch, pack, who, i));
        }
    }
}
