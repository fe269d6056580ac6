/* Runs a fuzz target (tests/fuzz_NAME.c) over the files of a folder, tests/corpus/NAME: inputs that
 * once failed, and seeds. So `make test` has them without libFuzzer, under every compiler and
 * sanitizer.
 *
 *     corpus_NAME FOLDER */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* False: it cannot be read. */
static int run_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    uint8_t *data = NULL;
    size_t size = 0, got;
    if (!file) return 0;
    do {
        uint8_t *grown = realloc(data, size + 4096);
        if (!grown) return 0;
        data = grown;
        got = fread(data + size, 1, 4096, file);
        size += got;
    } while (got);
    fclose(file);
    uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read beyond the end */
    if (!exact) return 0;
    for (size_t i = 0; i < size; i++) exact[i] = data[i];
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0, one = 1;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "corpus: which folder?\n");
        return 2;
    }
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&one, &argv);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", argv[1], entry->d_name);
        if (!run_file(name)) {
            fprintf(stderr, "corpus: cannot read %s\n", name);
            return 1;
        }
        count++;
    }
    closedir(folder);
    printf("%d inputs\n", count);
    return count ? 0 : 1;
}
