/* Point caches for the Mesh Cache modifiers of Blender, 3ds Max and others: only positions, one
 * file per body, next to the body's rest shape as OBJ, whose vertices have the same order.
 *
 *     PC2, little endian: "POINTCACHE2", version 1, points, first frame, frames a sample, samples;
 *                         then the positions
 *     MDD, big endian:    samples, points; times; then the positions */
#include "film.h"

static BrioStatus write_samples(BrioFilm *film, int part, bool big_endian, FILE *file,
                                BrioError *error)
{
    for (int64_t k = 0; k < film->count; k++) {
        BRIO_CHECK(brio__film_positions(film, k, part, error));
        brio__put32(file, film->x, 3 * (size_t)film->motion->part[part].vertex_count, big_endian);
    }
    return BRIO_OK;
}

static BrioStatus write_pc2(BrioFilm *film, int part, FILE *file, BrioError *error)
{
    int32_t head[2] = {1, film->motion->part[part].vertex_count}, samples = (int32_t)film->count;
    double first = brio__film_code(film, 0);
    double rate = film->count > 1
                      ? (brio__film_code(film, film->count - 1) - first) / (double)(film->count - 1)
                      : 1;
    float range[2] = {(float)first, (float)rate};
    fwrite("POINTCACHE2", 1, 12, file);
    brio__put32(file, head, 2, false);
    brio__put32(file, range, 2, false);
    brio__put32(file, &samples, 1, false);
    return write_samples(film, part, false, file, error);
}

static BrioStatus write_mdd(BrioFilm *film, int part, FILE *file, BrioError *error)
{
    int32_t head[2] = {(int32_t)film->count, film->motion->part[part].vertex_count};
    brio__put32(file, head, 2, true);
    for (int64_t k = 0; k < film->count; k++) {
        float time = (float)brio__film_time(film, k);
        brio__put32(file, &time, 1, true);
    }
    return write_samples(film, part, true, file, error);
}

BRIO_FRAMES(pc2){
    .name = "pc2",
    .extension = "pc2",
    .summary =
        "Point Cache 2 and the rest shape as OBJ, for each body: Blender's Mesh Cache modifier.",
    .film = write_pc2,
    .by_part = true,
    .rest_shape = true,
};

BRIO_FRAMES(mdd){
    .name = "mdd",
    .extension = "mdd",
    .summary =
        "MDD point cache and the rest shape as OBJ, for each body: Blender, LightWave, Cinema 4D.",
    .film = write_mdd,
    .by_part = true,
    .rest_shape = true,
};
