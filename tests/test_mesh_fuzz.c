/* A few thousand deterministic mutations of valid files through the fuzzer's own function, so that
 * every run of the tests has some of it; the libFuzzer target is fuzz_mesh.c. */
#include "fuzz_mesh.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static Seed seeds[MAX_SEEDS];
static int seed_count;

static int set_up(void **state)
{
    (void)state;
    seed_count = make_seeds(seeds);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free_seeds(seeds, seed_count);
    return 0;
}

/* The fuzzer's input: the first byte is the reader's place in readers.def. */
static size_t input_of(const Seed *seed, char *text)
{
    int reader = 0;
    while (strcmp(brio__mesh_reader_at(reader)->extension, seed->extension)) reader++;
    text[0] = (char)reader;
    memcpy(text + 1, seed->data, seed->size);
    return seed->size + 1;
}

/* Random integer below n. */
static size_t below(BrioRandom *random, size_t n)
{
    return n ? (size_t)(brio__random(random) * (double)n) : 0;
}

/* One to four changes: a byte replaced, bytes removed, a piece repeated, a word that readers
 * dislike inserted. */
static size_t mutate(BrioRandom *random, const Seed *seed, char *text, size_t room)
{
    static const char *const words[] = {"-1",
                                        "0",
                                        "99999999999999999999",
                                        "1000000000",
                                        "nan",
                                        "1e400",
                                        "\n",
                                        "#",
                                        "\\\n",
                                        "$End",
                                        "%",
                                        "2147483648",
                                        "-9223372036854775808",
                                        "1e-400",
                                        ".",
                                        "/",
                                        "\xff"};
    size_t size = input_of(seed, text);
    for (size_t changes = 1 + below(random, 4); changes > 0; changes--) {
        size_t at = 1 + below(random, size - 1), length = 1 + below(random, 12);
        length = BRIO_MIN(length, size - at);
        const char *word = words[below(random, BRIO_COUNT(words))];
        switch (below(random, 5)) {
        case 0: text[at] = (char)below(random, 256); break;
        case 1:
            if (size - length < 2) break;
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            break;
        case 2:
            if (size + length > room) break;
            memmove(text + at + length, text + at, size - at);
            size += length;
            break;
        case 3:
            if (size + strlen(word) > room) break;
            memmove(text + at + strlen(word), text + at, size - at);
            memcpy(text + at, word, strlen(word));
            size += strlen(word);
            break;
        default: size = at + 1; break;
        }
    }
    return size;
}

static void run(const char *text, size_t size)
{
    uint8_t *exact = malloc(size); /* so that the address sanitizer sees every byte read too far */
    assert_non_null(exact);
    memcpy(exact, text, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

enum { ROOM = 8192 };

static void test_seeds(void **state)
{
    (void)state;
    static char text[ROOM];
    for (int i = 0; i < seed_count; i++) {
        size_t whole = input_of(&seeds[i], text);
        for (size_t size = 1; size <= whole; size++) run(text, size); /* cut off anywhere */
    }
}

static void test_mutations(void **state)
{
    (void)state;
    BrioRandom random = {2026};
    static char text[ROOM];
    for (int i = 0; i < 20000; i++) {
        size_t size = mutate(&random, &seeds[i % seed_count], text, sizeof text);
        run(text, size);
    }
    printf("%d seeds, each cut off everywhere; 20000 mutations\n", seed_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds),
                                       cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
