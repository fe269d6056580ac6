/* The registry of frame formats. */
#include "frames.h"

#include <string.h>

#define FRAMES(symbol) extern const BrioFrameFormat brio__frames_##symbol;
#include "list.def"
#undef FRAMES

static const BrioFrameFormat *const formats[] = {
#define FRAMES(symbol) &brio__frames_##symbol,
#include "list.def"
#undef FRAMES
};

_Static_assert(BRIO_COUNT(formats) <= BRIO_MAX_FORMATS, "raise BRIO_MOST_FORMATS");

const BrioFrameFormat *brio__frames_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(formats) ? formats[i] : NULL;
}

const BrioFrameFormat *brio__frames(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(formats); i++)
        if (!strcmp(formats[i]->name, name)) return formats[i];
    return NULL;
}

void brio__frame_name(const BrioFrameFormat *format, const char *stem, int64_t number, char *text,
                      size_t size)
{
    snprintf(text, size, "%s_%06lld.%s", stem, (long long)number, format->extension);
}

void brio__frame_piece_name(const BrioFrameFormat *format, const char *stem, int64_t number,
                            int piece, char *text, size_t size)
{
    snprintf(text, size, "%s_%06lld_p%d.%s", stem, (long long)number, piece, format->extension);
}

bool brio__frame_shows(const BrioFrame *frame, int part)
{
    return frame->only >= 0 ? part == frame->only
                            : frame->all || frame->motion->part[part].kind == BRIO_MOTION_BODY;
}
