/* A document as a neutral tree with positions. Scene code reads this and knows nothing of YAML: a
 * reader (libfyaml here, a small JSON reader where there is none) produces it. */
#ifndef BRIO_TREE_H
#define BRIO_TREE_H

#include "../base.h"

typedef enum BrioNodeKind { BRIO_NODE_SCALAR, BRIO_NODE_LIST, BRIO_NODE_MAP } BrioNodeKind;

typedef struct BrioNode BrioNode;
struct BrioNode {
    BrioNodeKind kind;
    int line, column; /* from 1 */
    const char *file; /* the document's name, or the text of a --set */
    char *key;        /* within a map; NULL otherwise */
    int key_line, key_column;
    char *text; /* of a scalar */
    /* the scalar was written in quotes: it is a string even if it looks like a number */
    bool quoted;
    int count; /* children of a list or map, in the order of the document */
    BrioNode **child;
    BrioNode *parent;
    bool used; /* set by whoever reads it: what stays unread is an unknown key */
};

/* Reads YAML (or JSON). `name` is what messages call the document. Documents are not trusted:
 * depth, number of nodes and size are limited, aliases are rejected, duplicate keys are an error
 * with both lines. */
BrioStatus brio__tree_parse(const char *text, size_t size, const char *name, BrioNode **root,
                            BrioError *error);
BrioStatus brio__tree_read(const char *file, BrioNode **root, BrioError *error);
void brio__tree_free(BrioNode *root);

/* Applies "bodies.0.material.E=1e6" (or bodies[0].material.E): the value is parsed as YAML; missing
 * maps on the way are made; a list index must exist. Below a scalar X, X becomes {type: X} first,
 * so that `integrator: a-search` takes integrator.alpha_max=1.2 (an empty scalar or null becomes an
 * empty map). Messages call the place `--set bodies.0.material.E`. The tree is as before if it
 * fails. Without libfyaml the value is JSON, or a bare scalar. */
BrioStatus brio__tree_set(BrioNode *root, const char *assignment, BrioError *error);

/* The child of a map by key (marked used), or NULL. */
BrioNode *brio__node_get(BrioNode *map, const char *key);
/* "bodies[0].material" */
void brio__node_path(const BrioNode *node, char *path, size_t size);
/* An error at the node's place, with its path. */
BrioStatus brio__node_error(const BrioNode *node, BrioError *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same at the node's key instead of its value ("unknown key"), with the path of the map. */
BrioStatus brio__node_key_error(const BrioNode *node, BrioError *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Refuses children of a map that nobody has read; `names` are the valid keys for the suggestion. */
BrioStatus brio__node_unknown(const BrioNode *map, const char *const *names, int count,
                              BrioError *error);

/* Values. Numbers may be fractions: 1/30, 2.5e-3, -1/3. Not a number, not finite: an error at the
 * node. */
BrioStatus brio__node_real(const BrioNode *node, double *value, BrioError *error);
BrioStatus brio__node_integer(const BrioNode *node, int64_t *value, BrioError *error);
/* true, false, yes, no */
BrioStatus brio__node_boolean(const BrioNode *node, bool *value, BrioError *error);
BrioStatus brio__node_text(const BrioNode *node, const char **value, BrioError *error);
/* a list of just count */
BrioStatus brio__node_reals(const BrioNode *node, double *values, int count, BrioError *error);

/* One value by its row: type and range are checked. */
BrioStatus brio__node_field(const BrioNode *node, const BrioField *field, double *values,
                            BrioError *error);
/* Says that the map has no such key (`map` NULL: that nothing has it), and what it means. */
BrioStatus brio__node_missing(const BrioNode *map, const BrioField *field, BrioError *error);
/* Reads a map by a field table into values (defaults first): types, ranges, required rows and
 * unknown keys are checked with positions. `also` are keys of the map that somebody else reads (may
 * be NULL). `fields` may be NULL (no parameters), and so may `map` (nothing given: defaults, or the
 * first missing key). */
BrioStatus brio__node_fields(BrioNode *map, const BrioField *fields, const char *const *also,
                             int also_count, double *values, BrioError *error);
/* The same over existing values: only keys of the map change, and nothing that they
 * hold is missing. */
BrioStatus brio__node_change_fields(BrioNode *map, const BrioField *fields, const char *const *also,
                                    int also_count, double *values, BrioError *error);

/* Writes the tree as JSON (for run.json): numbers and booleans stay bare unless quoted; fractions
 * become numbers. `indent` is the indentation of the line that it starts in; -1 writes all on one
 * line. */
BrioStatus brio__tree_json(const BrioNode *root, int indent, FILE *file);

#endif
