/* Wavefront OBJ: one object a body, its surface as triangles, or its springs as lines where it has none. */
#include "frames.h"

/* A name must stay on its line. */
static void write_name(const char *name, FILE *file)
{
    for (const char *at = name; *at; at++) fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '_' : *at, file);
}

static void write(const BrioFrame *frame, FILE *file)
{
    const BrioSystem *s = frame->system;
    fprintf(file, "# brio, t = %.17g s\n", frame->time);
    for (int i = 0; i < s->body_count; i++) {
        const BrioBody *b = &s->body[i];
        long long first = (long long)b->first + 1; /* numbers run from 1 through all objects */
        fputs("o ", file);
        write_name(b->name, file);
        fputc('\n', file);
        for (int64_t v = b->first; v < b->first + b->count; v++)
            fprintf(file, "v %.9g %.9g %.9g\n", frame->x[3 * v], frame->x[3 * v + 1], frame->x[3 * v + 2]);
        for (int64_t t = 0; t < b->triangle_count; t++) {
            const int32_t *n = b->triangle + 3 * t;
            fprintf(file, "f %lld %lld %lld\n", first + n[0], first + n[1], first + n[2]);
        }
        for (int64_t e = 0; b->triangle_count == 0 && e < b->edge_count; e++)
            fprintf(file, "l %lld %lld\n", first + b->edge[2 * e], first + b->edge[2 * e + 1]);
    }
}

BRIO_FRAMES(obj){
    .name = "obj",
    .extension = "obj",
    .summary = "Wavefront OBJ, surfaces of all bodies: every 3D program reads it.",
    .write = write,
};
