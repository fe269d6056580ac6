/* Whether a test is built with the address or the thread sanitizer: gcc's way and clang's. */
#ifndef BRIO_TEST_SANITIZED_H
#define BRIO_TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif

#endif
