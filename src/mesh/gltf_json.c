/* JSON for glTF (gltf_json.h): one pass over the text. */
#include "gltf_json.h"

#include "../number.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH = 32, MAX_VALUES = 20000000 };

typedef struct Reader {
    const char *at, *end;
    BrioJsonFile *json;
    int depth;
} Reader;

static void skip(Reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

/* A new value; 0: no memory, or too many. */
static int32_t add(BrioJsonFile *json, BrioJsonKind kind)
{
    if (json->count == json->room) {
        int32_t room = json->room ? 2 * json->room : 256;
        BrioJsonValue *grown =
            json->room < MAX_VALUES
                ? brio__realloc(json->value, (size_t)json->room, (size_t)room, sizeof *grown)
                : NULL;
        if (!grown) return 0;
        json->value = grown;
        json->room = room;
    }
    json->value[json->count] = (BrioJsonValue){.kind = kind};
    return json->count++;
}

/* A string without its quotes. */
static bool read_text(Reader *r, const char **text, int *length)
{
    if (r->at >= r->end || *r->at != '"') return false;
    *text = ++r->at;
    while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' ? 2 : 1;
    if (r->at >= r->end || r->at - *text > 1 << 20) return false;
    *length = (int)(r->at++ - *text);
    return true;
}

static int32_t read_value(Reader *r);

/* The children of a list or map that is open; false: no JSON. */
static bool read_children(Reader *r, int32_t parent, bool map)
{
    char close = map ? '}' : ']';
    int32_t last = 0;
    skip(r);
    if (r->at < r->end && *r->at == close) return r->at++, true;
    for (;;) {
        const char *name = NULL;
        int length = 0;
        skip(r);
        if (map) {
            if (!read_text(r, &name, &length)) return false;
            skip(r);
            if (r->at >= r->end || *r->at++ != ':') return false;
        }
        int32_t child = read_value(r);
        if (!child) return false;
        BrioJsonValue *value = r->json->value;
        value[child].name = name;
        value[child].name_length = length;
        *(last ? &value[last].next : &value[parent].first) = child;
        value[parent].count++;
        last = child;
        skip(r);
        if (r->at >= r->end) return false;
        if (*r->at == close) return r->at++, true;
        if (*r->at++ != ',') return false;
    }
}

static int32_t read_value(Reader *r)
{
    skip(r);
    if (r->at >= r->end || r->depth >= DEPTH) return 0;
    char c = *r->at;
    if (c == '{' || c == '[') {
        int32_t added = add(r->json, c == '{' ? BRIO_JSON_MAP : BRIO_JSON_LIST);
        r->at++;
        r->depth++;
        bool read = added && read_children(r, added, c == '{');
        r->depth--;
        return read ? added : 0;
    }
    const char *text = r->at;
    int length = 0;
    if (c == '"') {
        if (!read_text(r, &text, &length)) return 0;
    } else {
        while (r->at < r->end && (isalnum((unsigned char)*r->at) || strchr("+-.", *r->at))) r->at++;
        if (r->at == text || r->at - text > 64) return 0;
        length = (int)(r->at - text);
    }
    int32_t added = add(r->json, c == '"' ? BRIO_JSON_TEXT : BRIO_JSON_WORD);
    if (!added) return 0;
    r->json->value[added].text = text;
    r->json->value[added].length = length;
    return added;
}

/* Lists have hundreds of thousands of items, which are asked for by number. */
static BrioStatus number_items(BrioJsonFile *json, BrioError *error)
{
    int32_t used = 0;
    json->item = brio__alloc((size_t)json->count, sizeof *json->item);
    if (!json->item) return brio__no_memory(error);
    for (int32_t v = 1; v < json->count; v++) {
        BrioJsonValue *list = &json->value[v];
        if (list->kind != BRIO_JSON_LIST) continue;
        list->items = used;
        for (int32_t i = list->first; i; i = json->value[i].next) json->item[used++] = i;
    }
    return BRIO_OK;
}

BrioStatus brio__gltf_parse(const char *text, size_t size, BrioJsonFile *json, BrioError *error)
{
    Reader r = {.at = text, .end = text + size, .json = json};
    *json = (BrioJsonFile){0};
    add(json, BRIO_JSON_NONE);
    if (!json->value) return brio__no_memory(error);
    if (read_value(&r) == 1) return number_items(json, error);
    return brio__error(error, BRIO_ERROR_INPUT, "its JSON cannot be read beyond byte %lld",
                       (long long)(r.at - text));
}

void brio__gltf_free(BrioJsonFile *json)
{
    brio__free(json->value);
    brio__free(json->item);
}

int32_t brio__gltf_get(const BrioJsonFile *json, int32_t map, const char *name)
{
    size_t length = strlen(name);
    if (json->value[map].kind != BRIO_JSON_MAP) return 0;
    for (int32_t i = json->value[map].first; i; i = json->value[i].next)
        if ((size_t)json->value[i].name_length == length &&
            !memcmp(json->value[i].name, name, length))
            return i;
    return 0;
}

int32_t brio__gltf_at(const BrioJsonFile *json, int32_t list, int64_t i)
{
    if (json->value[list].kind != BRIO_JSON_LIST || i < 0 || i >= json->value[list].count) return 0;
    return json->item[json->value[list].items + i];
}

int32_t brio__gltf_count(const BrioJsonFile *json, int32_t list)
{
    return json->value[list].kind == BRIO_JSON_LIST ? json->value[list].count : 0;
}

double brio__gltf_number(const BrioJsonFile *json, int32_t value, double absent)
{
    char text[65] = {0}, *end;
    const BrioJsonValue *v = &json->value[value];
    if (v->kind != BRIO_JSON_WORD) return absent;
    memcpy(text, v->text, (size_t)v->length);
    double number = brio__text_real(text, &end);
    return end != text && isfinite(number) ? number : absent;
}

int64_t brio__gltf_index(const BrioJsonFile *json, int32_t value)
{
    double number = brio__gltf_number(json, value, -1);
    return number >= 0 && number <= INT32_MAX && number == floor(number) ? (int64_t)number : -1;
}

bool brio__gltf_is(const BrioJsonFile *json, int32_t value, const char *text)
{
    const BrioJsonValue *v = &json->value[value];
    return (v->kind == BRIO_JSON_TEXT || v->kind == BRIO_JSON_WORD) &&
           (size_t)v->length == strlen(text) && !memcmp(v->text, text, (size_t)v->length);
}
