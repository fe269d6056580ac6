/* The registry of energies: one table per instruction set, filled from list.def and laws.def; and
 * the kinds of elements, from element.def. */
#include "energy.h"

#include "law.h"
#include "registered_law.h"

/* A build has the kernels of all instruction sets, or of one (BRIO_KERNELS in CMakeLists.txt). */
#ifdef BRIO_ONLY_ISA
#define FIRST_ISA BRIO_ONLY_ISA
#else
#define FIRST_ISA baseline
#ifdef BRIO_HAVE_ISA_KERNELS
#define SEVERAL_SETS
#endif
#endif
#define JOINED(name, isa) name##isa
#define NAMED(name, isa) JOINED(name, isa)

#define ENERGY(symbol) extern const BrioEnergy NAMED(brio__energy_##symbol##_, FIRST_ISA);
#include "list.def"
#undef ENERGY
static const BrioEnergy *const first_set[] = {
#define ENERGY(symbol) &NAMED(brio__energy_##symbol##_, FIRST_ISA),
#include "list.def"
#undef ENERGY
};
#define LAW(symbol) extern const BrioLawKernels NAMED(brio__law_kernels_##symbol##_, FIRST_ISA);
#include "laws.def"
#undef LAW
static const BrioLawKernels *const first_laws[] = {
#define LAW(symbol) &NAMED(brio__law_kernels_##symbol##_, FIRST_ISA),
#include "laws.def"
#undef LAW
};

#ifdef SEVERAL_SETS
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
#define LAW(symbol)                                                \
    extern const BrioLawKernels brio__law_kernels_##symbol##_avx2, \
        brio__law_kernels_##symbol##_avx512;
#include "laws.def"
#undef LAW
static const BrioLawKernels *const laws_avx2[] = {
#define LAW(symbol) &brio__law_kernels_##symbol##_avx2,
#include "laws.def"
#undef LAW
};
static const BrioLawKernels *const laws_avx512[] = {
#define LAW(symbol) &brio__law_kernels_##symbol##_avx512,
#include "laws.def"
#undef LAW
};
#endif

static const BrioEnergy *const *table(BrioIsa isa)
{
#ifdef SEVERAL_SETS
    if (isa == BRIO_ISA_AVX512) return avx512;
    if (isa == BRIO_ISA_AVX2) return avx2;
#endif
    (void)isa;
    return first_set;
}

static const BrioLawKernels *const *laws(BrioIsa isa)
{
#ifdef SEVERAL_SETS
    if (isa == BRIO_ISA_AVX512) return laws_avx512;
    if (isa == BRIO_ISA_AVX2) return laws_avx2;
#endif
    (void)isa;
    return first_laws;
}

extern const BrioLawKernels NAMED(brio__law_kernels_registered_, FIRST_ISA);
#ifdef SEVERAL_SETS
extern const BrioLawKernels brio__law_kernels_registered_avx2, brio__law_kernels_registered_avx512;
#endif

const BrioLawKernels *brio__registered_law_kernels(void)
{
#ifdef SEVERAL_SETS
    if (brio__isa() == BRIO_ISA_AVX512) return &brio__law_kernels_registered_avx512;
    if (brio__isa() == BRIO_ISA_AVX2) return &brio__law_kernels_registered_avx2;
#endif
    return &NAMED(brio__law_kernels_registered_, FIRST_ISA);
}

/* Those of list.def, those of the laws, those registered at run time. */
static const BrioEnergy *energy_at(int i, BrioIsa isa)
{
    if (i < 0) return NULL;
    if (i < (int)BRIO_COUNT(first_set)) return table(isa)[i];
    i -= (int)BRIO_COUNT(first_set);
    for (int k = 0; k < (int)BRIO_COUNT(first_laws); k++) {
        const BrioLawKernels *law = laws(isa)[k];
        if (i < law->count) return &law->energy[i];
        i -= law->count;
    }
    return brio__registered_energy_at(i);
}

const BrioEnergy *brio__energy_at(int i) { return energy_at(i, brio__isa()); }

const BrioEnergy *brio__energy_for(const char *name, BrioIsa isa)
{
    const BrioEnergy *energy;
    if (isa > brio__isa()) return NULL;
    for (int i = 0; (energy = energy_at(i, isa)); i++)
        if (!strcmp(energy->name, name)) return energy;
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
                              .table = energy->table,
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
