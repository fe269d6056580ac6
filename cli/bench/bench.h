/* Shared parts of the benchmarks: figures, internals of the library, a body to measure on. A bench
 * is one
 * file and one line of list.def. */
#ifndef BENCH_H
#define BENCH_H

#include "commands.h"
#include "internal.h"

enum { TRIES = 7 }; /* of which the smallest time counts */

/* Each measures and prints; returns the exit code. */
#define BENCH(bar, name, about) int bench_##name(void);
#include "list.def"
#undef BENCH

/* no tables for people: one figure after the other, for JSON or to compare with an earlier run */
extern bool bench_by_figure;
extern int64_t bench_fixed, bench_asked; /* by the library: bytes that it holds, calls */
extern volatile double bench_sink;       /* results that must not be optimised away */

void heading(const char *text); /* of a table; not in JSON */
void figure(const char *bench, const char *name, double value, const char *unit);
void say(const char *text); /* to people who wait */

/* The machine's limits. Flops a second of so many threads: independent chains of fused
 * multiply-adds, which see nothing but registers. */
double bench_flops(int threads);
/* Bytes per second that one core reads and writes in an array as large as what the gradient of a
 * million tets reads, or writes (part of it may be in the last cache, for both alike). */
void bench_bandwidth(double *reading, double *writing);
/* Bytes per second at which so many threads read an array of `bytes`, over and over. */
double bench_reading(int threads, double bytes);
double bench_read(const double *a, int64_t count); /* a sum; count: a multiple of 64 */
/* A step of a bar; JSON has a figure for each. */
typedef struct StepRow {
    double tets, first, step, iteration, newton, cg, memory, factor;
} StepRow;
/* The least of a few steps; returns the exit code. */
int bench_measure_steps(const char *solver, int64_t tets, StepRow *row);
#define BENCH_STEPS_COLUMNS \
    "       tets  solver      step, ms   Newton  iteration, ms       CG   B a tet    factor"
void bench_print_steps(const char *bench, const char *solver, const StepRow *row);

/* A shipped scene; `set` (may be NULL) is one setting. NULL: it could not be made; a sentence was
 * said. */
BrioSim *bench_scene(const char *name, const char *set);

/* A bar of about so many tets, six to a cell, bent a little so that nothing is special about its
 * state. NULL: it could not be made; a sentence was said. */
BrioSim *bench_bar(const char *material, int64_t tets, const char *linear, const char *integrator);
BrioSim *bench_bar_with(const char *material, int64_t tets, const BrioSimDef *def);

#endif
