/* Files in the folder of a run.
 *
 * A BrioWriter is a file that grows: its length and a hash of its bytes are known, so that a
 * checkpoint can hold them, and it can be opened again at that length. A replacement is a file
 * written under a temporary name and renamed when it is whole: at any moment the old or the new one
 * is there, never a part. Names are relative to the folder and links are not followed, so that
 * nothing is written outside. Every failure is told once, with the system's reason. */
#ifndef BRIO_WRITER_H
#define BRIO_WRITER_H

#include "base.h"

typedef struct BrioFolder {
    int fd; /* -1: not open */
    char path[4096];
} BrioFolder;

/* Opens a folder and, if asked, makes it and the folders above. */
BrioStatus brio__folder_open(const char *path, bool make, BrioFolder *folder, BrioError *error);
/* A folder inside; a link of that name is rejected. */
BrioStatus brio__folder_inside(const BrioFolder *parent, const char *name, bool make,
                               BrioFolder *folder, BrioError *error);
BrioStatus brio__folder_sync(const BrioFolder *folder, BrioError *error);
void brio__folder_close(BrioFolder *folder);
/* "there is no folder ...", with the name that is probably meant. */
BrioStatus brio__no_folder(const char *out, BrioError *error);
/* "cannot write OUT/energy.csv: No space left on device; free some space ..." */
BrioStatus brio__write_failed(const BrioFolder *folder, const char *name, int reason,
                              BrioError *error);

/* The first bytes of a file. */
typedef struct BrioExtent {
    int64_t length; /* 0: there is no file yet */
    uint64_t hash;  /* brio__hash of them; 0: not known */
} BrioExtent;

typedef struct BrioWriter {
    const BrioFolder *folder;
    const char *name;
    FILE *file;         /* NULL: not open */
    BrioExtent written; /* all of it */
    int reason;         /* errno of the first failure, 0: none */
} BrioWriter;

/* An empty file (length 0), or an existing one cut to a length; it is an error if it is shorter or
 * begins with other bytes. */
BrioStatus brio__writer_open(const BrioFolder *folder, const char *name, BrioExtent from,
                             BrioWriter *writer, BrioError *error);
BrioStatus brio__writer_put(BrioWriter *writer, const char *text, size_t size, BrioError *error);
/* Everything is on the disk when it returns. */
BrioStatus brio__writer_sync(BrioWriter *writer, BrioError *error);
/* Throws away what was not synced beyond `length`, after a failure. */
void brio__writer_cut(BrioWriter *writer, int64_t length);
void brio__writer_close(BrioWriter *writer);

/* `begin` gives a stream to write to; `end` closes it and puts the file in place, or removes it if
 * something failed. `sync`: the file is on the disk before it is renamed. */
BrioStatus brio__replace_begin(const BrioFolder *folder, const char *name, FILE **file,
                               BrioError *error);
BrioStatus brio__replace_end(const BrioFolder *folder, const char *name, FILE *file, bool sync,
                             BrioError *error);
/* The file that was there stays. */
void brio__replace_cancel(const BrioFolder *folder, const char *name, FILE *file);

/* FNV-1a, 64 bits: start with BRIO_HASH_START. */
#define BRIO_HASH_START 0xcbf29ce484222325u
uint64_t brio__hash(uint64_t hash, const void *data, size_t size);

#endif
