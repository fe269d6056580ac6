/* EMULATED: whether the tests run under an emulator (BRIO_EMULATED, set by cmake/tests.cmake),
 * which takes twenty to fifty times as long. What is drawn at random is drawn less often there. For
 * tests only. */
#ifndef BRIO_TEST_EMULATED_H
#define BRIO_TEST_EMULATED_H

#ifdef BRIO_EMULATED
enum { EMULATED = 1 };
#else
enum { EMULATED = 0 };
#endif

#endif
