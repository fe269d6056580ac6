/* A few thousand deterministic mutations of valid files through the fuzzer's own function, so that every run of
 * the tests has some of it; the libFuzzer target is fuzz_mesh.c. */
#include "fuzz_mesh.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The first byte is the reader's place in readers.def. */
static const char *const seeds[] = {
    "\0$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n30 0 1 0\n4 0 0 1\n5 1 1 1.5\n$EndNodes\n"
    "$Elements\n5\n1 15 2 0 1 1\n2 1 2 0 1 1 2\n3 2 2 0 1 1 2 30\n4 4 2 0 1 1 2 30 4\n5 4 3 0 1 7 2 30 4 5\n"
    "$EndElements\n",
    "\0$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 1 1 1\n1 0 0 0 0\n$EndEntities\n$Nodes\n3 5 1 9\n0 1 0 1\n1\n"
    "0 0 0\n2 1 1 2\n2\n9\n1 0 0 0.5 0.25\n0 1 0 0.5 0.25\n3 1 0 2\n4\n5\n0 0 1\n1 1 1.5\n$EndNodes\n$Elements\n"
    "4 5 1 5\n0 1 15 1\n1 1\n1 1 1 1\n2 1 2\n2 1 2 1\n3 1 2 9\n3 1 4 2\n4 1 2 9 4\n5 2 9 4 5\n$EndElements\n",
    "\1MeshVersionFormatted 2\nDimension\n3\nVertices\n5\n0 0 0 1\n1 0 0 1 # x\n0 1 0 1\n0 0 1 1\n1 1 15e-1 1\n"
    "Corners 2 1 2\nTriangles\n1\n1 2 3 0\nTetrahedra\n2\n1 2 3 4 0\n2 3 4 5 0\nEdges\n1\n1 2 0\nEnd\n",
    "\2# comment\n5 3 1 1\n1 0 0 0 0.1 1\n2 1 0 0 0 1\n3 0 1 0 0 1\n4 0 0 1 0 1\n5 1 1 1.5 0 1\n%2 4 1\n1 1 2 3 4 9\n"
    "2 2 3 4 5 9\n",
    "\3"
    "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n%1 4 0\n0 0 1 2 3\n",
    "\4# corner\nv 0 0 0\nv 1 0 0 1.0\nvn 0 0 1\nf 1/1/1 2/1 4//1 3\nv 1 1 0 0.5 0.5 0.5\nv 0 1 0\nf -4 -3 \\\n -2\n"
    "l 1 2 3 4\n",
    "\5OFF # square\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n2 1 3\n",
};

static size_t seed_size(const char *seed) { return 1 + strlen(seed + 1); }

/* Random whole number below n. */
static size_t below(BrioRandom *random, size_t n) { return n ? (size_t)(brio__random(random) * (double)n) : 0; }

/* One to four changes: a byte replaced, bytes removed, a piece repeated, a word that readers dislike inserted. */
static size_t mutate(BrioRandom *random, const char *seed, char *text, size_t room)
{
    static const char *const words[] = {
        "-1",   "0", "99999999999999999999", "1000000000",           "nan",    "1e400", "\n", "#",   "\\\n",
        "$End", "%", "2147483648",           "-9223372036854775808", "1e-400", ".",     "/",  "\xff"};
    size_t size = seed_size(seed);
    memcpy(text, seed, size);
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

static void test_seeds(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(seeds); i++) {
        run(seeds[i], seed_size(seeds[i]));
        for (size_t size = 1; size < seed_size(seeds[i]); size++) run(seeds[i], size); /* cut off anywhere */
    }
}

static void test_mutations(void **state)
{
    (void)state;
    BrioRandom random = {2026};
    char text[4096];
    for (int i = 0; i < 6000; i++) {
        size_t size = mutate(&random, seeds[(size_t)i % BRIO_COUNT(seeds)], text, sizeof text);
        run(text, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds), cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
