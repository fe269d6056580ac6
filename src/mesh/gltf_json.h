/* A small reader of JSON for glTF: values in one array, found by name and by number. */
#ifndef BRIO_GLTF_JSON_H
#define BRIO_GLTF_JSON_H

#include "../base.h"

typedef enum BrioJsonKind {
    BRIO_JSON_NONE,
    BRIO_JSON_WORD,
    BRIO_JSON_TEXT,
    BRIO_JSON_LIST,
    BRIO_JSON_MAP
} BrioJsonKind;

/* A value: text as it stands (without quotes, escapes kept), or children. */
typedef struct BrioJsonValue {
    BrioJsonKind kind;
    const char *text;
    int length;
    const char *name; /* within a map */
    int name_length;
    int32_t first, next, count; /* first child, next sibling: indices; 0: none */
    int32_t items;              /* of a list: where its children begin in BrioJsonFile.item */
} BrioJsonValue;

typedef struct BrioJsonFile {
    BrioJsonValue *value; /* value[0] is none, value[1] the whole */
    int32_t count, room;
    int32_t *item; /* the children of all lists */
} BrioJsonFile;

/* Refuses what is no JSON, is nested too deeply or has too many values. The text stays in use. */
BrioStatus brio__gltf_parse(const char *text, size_t size, BrioJsonFile *json, BrioError *error);
void brio__gltf_free(BrioJsonFile *json);

/* Children: 0 (a value of no kind) where there is none. */
int32_t brio__gltf_get(const BrioJsonFile *json, int32_t map, const char *name);
int32_t brio__gltf_at(const BrioJsonFile *json, int32_t list, int64_t i);
int32_t brio__gltf_count(const BrioJsonFile *json, int32_t list);
/* A number, or `absent` where there is none. */
double brio__gltf_number(const BrioJsonFile *json, int32_t value, double absent);
/* An integer from 0 to 2^31 - 1; -1: there is none. */
int64_t brio__gltf_index(const BrioJsonFile *json, int32_t value);
bool brio__gltf_is(const BrioJsonFile *json, int32_t value, const char *text);

#endif
