/* How a front end (yaml.c, json.c) hands a document to tree.c: it reports keys, scalars and
 * containers in the order of the document, and the build makes the nodes and keeps the limits. A
 * front end stops at the first status that is not BRIO_OK; its own complaints go through
 * brio__build_error. */
#ifndef BRIO_PARSE_H
#define BRIO_PARSE_H

#include "tree.h"

#define BRIO_TREE_DEPTH 64                  /* lists and maps inside each other */
#define BRIO_TREE_NODES 2000000             /* of one document */
#define BRIO_TREE_BYTES ((size_t)256 << 20) /* of one document */

typedef struct BrioBuild {
    const char *name;     /* what messages call the document */
    const char *root_key; /* the key that the root will have in another tree, or NULL */
    int around;           /* containers around the root in that tree */
    int64_t nodes;
    int depth;
    BrioNode *open[BRIO_TREE_DEPTH];
    BrioNode *root;
    char *key; /* waits for its value */
    size_t key_space;
    int key_line, key_column;
    bool has_key;
    BrioError *error;
} BrioBuild;

bool brio__build_wants_key(const BrioBuild *build);
/* `text` need not end with a zero. line 0: the place of the key, or of the container. */
BrioStatus brio__build_key(BrioBuild *build, const char *text, size_t length, int line, int column);
BrioStatus brio__build_scalar(BrioBuild *build, const char *text, size_t length, bool quoted,
                              int line, int column);
BrioStatus brio__build_open(BrioBuild *build, BrioNodeKind kind, int line, int column);
BrioStatus brio__build_close(BrioBuild *build); /* the innermost container */
BrioStatus brio__build_error(BrioBuild *build, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A front end. The text is valid UTF-8 without control characters but tab and line feed (which ends
 * every line), and zeros stand behind its end. */
typedef BrioStatus BrioFrontEnd(BrioBuild *build, const char *text, size_t size);
BrioFrontEnd brio__json_parse;
#ifdef BRIO_HAVE_LIBFYAML
BrioFrontEnd brio__yaml_parse;
#endif

/* brio__tree_parse with a chosen front end. */
BrioStatus brio__tree_parse_with(BrioFrontEnd *front_end, const char *text, size_t size,
                                 const char *name, BrioNode **root, BrioError *error);

#endif
