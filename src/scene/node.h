/* What the files of the tree share: making nodes, numbers in texts, excerpts for messages. */
#ifndef BRIO_NODE_H
#define BRIO_NODE_H

#include "parse.h"

/* The front end of documents and of the values of --set. */
#ifdef BRIO_HAVE_LIBFYAML
#define BRIO_FRONT_END brio__yaml_parse
#else
#define BRIO_FRONT_END brio__json_parse
#endif

typedef struct BrioExcerpt {
    char text[64];
} BrioExcerpt;

typedef enum BrioNumberKind {
    BRIO_NO_NUMBER,
    BRIO_NUMBER,
    BRIO_NUMBER_INFINITE,
    BRIO_NUMBER_BY_ZERO
} BrioNumberKind;

/* `name` is copied into the node if `own_name`. Key and text may be NULL. */
BrioNode *brio__node_create(BrioNodeKind kind, const char *name, bool own_name, const char *key,
                            size_t key_length, const char *text, size_t length);
/* Room for four children, then for 8, 16, ...: it is full when the count is zero or such a
 * number. */
BrioStatus brio__node_add(BrioNode *parent, BrioNode *child);
/* Among the children of its parent. */
int brio__node_index(const BrioNode *node);
/* The beginning of a text on one line, for messages. */
BrioExcerpt brio__excerpt(const char *text);
/* An empty scalar, or null. */
bool brio__node_is_nothing(const BrioNode *node);
/* What a node is, as a message says it. */
BrioExcerpt brio__node_what(const BrioNode *node);
/* "unknown key ...", with the nearest of `names`. */
BrioStatus brio__node_unknown_key(const BrioNode *child, const char *const *names, int count,
                                  BrioError *error);
/* Copies a text with line feeds for all line ends and without byte order mark, zeros behind it;
 * refuses what is not text. */
BrioStatus brio__build_normalise(const char *text, size_t size, const char *name, char **copy,
                                 size_t *length, BrioError *error);
/* Runs a front end over a text that is normalised; the root is build->root. */
BrioStatus brio__build_run(BrioBuild *build, BrioFrontEnd *front_end, const char *text,
                           size_t size);
/* The first letter that is not a digit. */
const char *brio__skip_digits(const char *p);
/* The end of an unsigned decimal number at `p`, or NULL. */
const char *brio__decimal_end(const char *p);
/* Of a decimal, or a fraction of two. */
BrioNumberKind brio__node_number(const char *text, double *value);
/* Whether it is one, and which. */
bool brio__node_is_boolean(const BrioNode *node, bool *value);

#endif
