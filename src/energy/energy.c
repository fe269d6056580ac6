/* The registry of energies: one table per instruction set, filled from list.def; and the kinds of
 * elements, from element.def. */
#include "energy.h"

#define ENERGY(symbol) extern const BrioEnergy brio__energy_##symbol##_baseline;
#include "list.def"
#undef ENERGY
static const BrioEnergy *const baseline[] = {
#define ENERGY(symbol) &brio__energy_##symbol##_baseline,
#include "list.def"
#undef ENERGY
};

#ifdef BRIO_HAVE_ISA_KERNELS
#define ENERGY(symbol) \
    extern const BrioEnergy brio__energy_##symbol##_avx2, brio__energy_##symbol##_avx512;
#include "list.def"
#undef ENERGY
static const BrioEnergy *const avx2[] = {
#define ENERGY(symbol) &brio__energy_##symbol##_avx2,
#include "list.def"
#undef ENERGY
};
static const BrioEnergy *const avx512[] = {
#define ENERGY(symbol) &brio__energy_##symbol##_avx512,
#include "list.def"
#undef ENERGY
};
#endif

static const BrioEnergy *const *table(BrioIsa isa)
{
#ifdef BRIO_HAVE_ISA_KERNELS
    if (isa == BRIO_ISA_AVX512) return avx512;
    if (isa == BRIO_ISA_AVX2) return avx2;
#endif
    (void)isa;
    return baseline;
}

const BrioEnergy *brio__energy_at(int i)
{
    if (i < 0) return NULL;
    return i < (int)BRIO_COUNT(baseline)
               ? table(brio__isa())[i]
               : brio__registered_energy_at(i - (int)BRIO_COUNT(baseline));
}

const BrioEnergy *brio__energy_for(const char *name, BrioIsa isa)
{
    if (isa > brio__isa()) return NULL;
    for (int i = 0; i < (int)BRIO_COUNT(baseline); i++)
        if (!strcmp(table(isa)[i]->name, name)) return table(isa)[i];
    for (int i = 0; brio__registered_energy_at(i); i++)
        if (!strcmp(brio__registered_energy_at(i)->name, name))
            return brio__registered_energy_at(i);
    return NULL;
}

const BrioEnergy *brio__energy(const char *name) { return brio__energy_for(name, brio__isa()); }

static const BrioElementInfo elements[] = {
#define ELEMENT(symbol, name, note, part, material) {name, note, BRIO_LEDGER_##part, material},
#include "element.def"
#undef ELEMENT
};

const BrioElementInfo *brio__element(const BrioEnergy *energy)
{
    return &elements[energy->element];
}

bool brio__energy_is_material(const BrioEnergy *energy) { return brio__element(energy)->material; }

bool brio__energy_is_elastic(const BrioEnergy *energy)
{
    return brio__element(energy)->part == BRIO_LEDGER_ELASTIC;
}

double brio__energy_one(const BrioEnergy *energy, const double *params, const double *rest,
                        const double *x, double *gradient, double *hessian, bool project)
{
    enum { NODES = 4, REST = 16, LIVE = 4, SIZE = 3 * NODES };
    _Alignas(BRIO_ALIGN) int32_t node[NODES * LANES];
    _Alignas(BRIO_ALIGN) double live[LIVE * LANES], rest_lanes[REST * LANES], g[SIZE * LANES],
        H[9 * NODES * (NODES + 1) / 2 * LANES];
    double value;
    for (int k = 0; k < energy->nodes; k++)
        for (int i = 0; i < LANES; i++) node[k * LANES + i] = 3 * k;
    for (int k = 0; k < LIVE * LANES; k++) live[k] = 1;
    for (int k = 0; k < energy->rest; k++)
        for (int i = 0; i < LANES; i++) rest_lanes[k * LANES + i] = i == 0 || k > 0 ? rest[k] : 0;
    energy->eval(&(BrioBatch){.def = energy->def,
                              .begin = 0,
                              .end = 1,
                              .node = node,
                              .rest = rest_lanes,
                              .params = params,
                              .live = live,
                              .x = x,
                              .energy = &value,
                              .gradient = gradient ? g : NULL,
                              .hessian = hessian ? H : NULL,
                              .project = project});
    int size = 3 * energy->nodes;
    for (int k = 0; gradient && k < size; k++) gradient[k] = g[k * LANES];
    for (int a = 0; hessian && a < size; a++)
        for (int b = 0; b < size; b++) {
            int i = a / 3, j = b / 3, r = a % 3, s = b % 3;
            int entry =
                i >= j ? brio__pair(i, j) * 9 + r * 3 + s : brio__pair(j, i) * 9 + s * 3 + r;
            hessian[a * size + b] = energy->traits & BRIO_ENERGY_LINEAR ? 0 : H[entry * LANES];
        }
    return value;
}
