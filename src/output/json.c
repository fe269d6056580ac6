/* JSON as it is written: commas and indentation by the depth, strings escaped as RFC 8259 wants.
 * Names of files may be in any encoding, and messages end where their room ends: bytes that are no
 * UTF-8 become U+FFFD, because readers, browsers among them, reject the whole text for one. */
#include "json.h"

#include "../number.h"
#include "../utf8.h"

#include <string.h>

static void string(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', file);
    for (int bytes; *at; at += BRIO_MAX(bytes, 1)) {
        bytes = brio__utf8_bytes(at, strnlen((const char *)at, 4));
        if (bytes != 1)
            fwrite(bytes ? (const char *)at : "\xef\xbf\xbd", 1, bytes ? (size_t)bytes : 3, file);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", file);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    }
    fputc('"', file);
}

void brio__json_key(BrioJson *json, const char *key)
{
    if (json->depth && !json->first) fputc(',', json->file);
    if (json->depth && !json->flat) {
        fputc('\n', json->file);
        for (int i = 0; i < json->depth; i++) fputs("  ", json->file);
    } else if (json->depth && !json->first) {
        fputc(' ', json->file);
    }
    json->first = false;
    if (!key) return;
    string(json->file, key);
    fputs(": ", json->file);
}

void brio__json_open(BrioJson *json, const char *key, char bracket)
{
    brio__json_key(json, key);
    fputc(bracket, json->file);
    json->depth++;
    json->first = true;
}

void brio__json_close(BrioJson *json, char bracket)
{
    json->depth--;
    if (!json->first && !json->flat) {
        fputc('\n', json->file);
        for (int i = 0; i < json->depth; i++) fputs("  ", json->file);
    }
    fputc(bracket, json->file);
    json->first = false;
    if (json->depth == 0) fputc('\n', json->file);
}

void brio__json_text(BrioJson *json, const char *key, const char *value)
{
    brio__json_key(json, key);
    if (value)
        string(json->file, value);
    else
        fputs("null", json->file);
}

void brio__json_real(BrioJson *json, const char *key, double value)
{
    brio__json_key(json, key);
    fputs(isfinite(value) ? brio__real_text(value, 6).text : "null", json->file);
}

void brio__json_integer(BrioJson *json, const char *key, int64_t value)
{
    brio__json_key(json, key);
    fprintf(json->file, "%lld", (long long)value);
}

void brio__json_boolean(BrioJson *json, const char *key, bool value)
{
    brio__json_key(json, key);
    fputs(value ? "true" : "false", json->file);
}
