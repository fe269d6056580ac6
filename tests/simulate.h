/* Simulations in tests: from scene text, step by step, with the ledger of an instant. What fails
 * fails the test, with the reason. Include after cmocka. */
#ifndef BRIO_TEST_SIMULATE_H
#define BRIO_TEST_SIMULATE_H

#include "memory.h"
#include "sim/sim.h"

#include <stdarg.h>
#include <string.h>

static inline BrioSim *parse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline BrioSim *parse(const char *format, ...)
{
    char text[8192], message[2048];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    assert_true(length < (int)sizeof text);
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (brio_sim_parse(text, (size_t)length, "test", &sim, &error) == BRIO_OK) return sim;
    brio_error_text(&error, message, sizeof message);
    fail_msg("%s\n%s", message, text);
    return NULL;
}

static inline void step(BrioSim *sim, int count)
{
    for (int i = 0; i < count; i++) {
        BrioStatus status = brio_sim_step(sim, NULL);
        if (status != BRIO_OK)
            fail_msg("step %d: %s: %s", i, brio_status_name(status), brio_sim_reason(sim));
    }
}

static inline BrioLedger ledger(BrioSim *sim)
{
    BrioLedger l;
    assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
    return l;
}

/* Reads a scene and takes a step, again and again: each time the memory ends one allocation later,
 * until all goes well. Nothing may stay behind. Returns how often it was tried. */
static inline int64_t fail_each_allocation(const char *text)
{
    int64_t failed = 0;
    for (bool done = false; !done; failed++) {
        BrioSim *sim = NULL;
        BrioError error = {0};
        Memory memory;
        memory_start(&memory, failed, true);
        BrioStatus status = brio_sim_parse(text, strlen(text), "test.yaml", &sim, &error);
        if (status == BRIO_OK) status = brio_sim_step(sim, NULL);
        done = status == BRIO_OK;
        if (!done) assert_int_equal(status, BRIO_ERROR_MEMORY);
        brio_sim_free(sim);
        assert_int_equal(memory.live, 0);
    }
    brio_set_allocator(NULL);
    print_message("%lld allocations failed once each\n", (long long)failed - 1);
    return failed;
}

#endif
