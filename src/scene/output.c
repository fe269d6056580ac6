/* `output` and `probes` of a scene: what a run writes. */
#include "read.h"

#include <string.h>

static const BrioKey output_keys[] = {
    {KEY_LIST("frames", "Formats of frames for other programs: `brio list frames`."),
     KEY_TAKES("list of names"), KEY_WORDS("[]")},
    {KEY_INTEGER("every", 1, 1, 1000000000, "Write every Nth frame."), KEY_INTO(BrioScene, every)},
    {KEY_INTEGER("energy_every", 1, 1, 1000000000,
                 "Write every Nth row of energy.csv and probes.csv."),
     KEY_INTO(BrioScene, energy_every)},
    {KEY_INTEGER("checkpoints", 0, 0, 1000000000,
                 "Keep a checkpoint of every Nth frame in the folder `checkpoints`, for `brio run "
                 "--from`; 0: none. Not with several processes."),
     KEY_INTO(BrioScene, checkpoints)},
    {KEY_BOOLEAN("motion", 1,
                 "Store the visible motion (motion.bin) for the report, `brio render`, `brio "
                 "view` and `brio convert`."),
     KEY_INTO(BrioScene, motion)},
    {KEY_BOOLEAN("velocities", 0,
                 "Also store velocities in motion.bin; `brio convert` then writes the velocities "
                 "of the simulation."),
     KEY_WORDS("true with usda"), KEY_INTO(BrioScene, velocities)},
    KEY_END};
BRIO_SECTION(output){"output", "Output", output_keys};

typedef struct Probe {
    const char *name, *body;
} Probe;

static const BrioKey probe_keys[] = {
    {KEY_TEXT("name", "Column name in probes.csv."), KEY_REQUIRED, KEY_INTO(Probe, name)},
    {KEY_TEXT("body", "Name of the body."), KEY_WORDS("the only body"), KEY_INTO(Probe, body)},
    {KEY_OTHER("vertex", "integer", "Vertex of the body, from 0."), KEY_REQUIRED},
    KEY_END};
BRIO_SECTION(probe){"probes[]", "Probes", probe_keys};

static BrioStatus probe_name(const BrioNode *node, const char *text, BrioScene *scene,
                             BrioError *error)
{
    if (!text[0] || strpbrk(text, ",\"\n\r"))
        return brio__node_error(node, error,
                                "a probe's name heads columns: it must not be empty or hold "
                                "commas, quotes or line ends");
    for (int k = 0; k < scene->probe_count; k++)
        if (!strcmp(scene->probe[k].name, text))
            return brio__node_error(node, error, "two probes are called \"%s\"", text);
    scene->probe[scene->probe_count].name = brio__strdup(text);
    if (!scene->probe[scene->probe_count].name) return brio__no_memory(error);
    scene->probe_count++;
    return BRIO_OK;
}

static BrioStatus probe_body(BrioNode *node, const char *text, const BrioSystem *system, int *body,
                             BrioError *error)
{
    const char *names[256];
    int count = 0;
    if (!text && system->body_count > 1)
        return brio__node_error(node, error, "missing key \"body\": there are %d bodies",
                                system->body_count);
    *body = text ? brio_system_body(system, text) : 0;
    if (*body >= 0) return BRIO_OK;
    for (; count < system->body_count && count < (int)BRIO_COUNT(names); count++)
        names[count] = system->body[count].name;
    return brio__no_such(brio__node_get(node, "body"), "body", text, names, count, error);
}

static BrioStatus read_probe(BrioNode *node, BrioScene *scene, BrioError *error)
{
    BrioProbe *probe = &scene->probe[scene->probe_count];
    Probe values;
    int64_t number;
    brio__key_defaults(probe_keys, &values);
    BRIO_CHECK(brio__read_keys(node, probe_keys, &values, error));
    BRIO_CHECK(probe_name(brio__node_get(node, "name"), values.name, scene, error));
    BRIO_CHECK(probe_body(node, values.body, scene->system, &probe->body, error));
    BrioNode *vertex = brio__node_get(node, "vertex");
    int64_t last = scene->system->body[probe->body].count - 1;
    BRIO_CHECK(brio__node_integer(vertex, &number, error));
    if (number < 0 || number > last)
        return brio__node_error(
            vertex, error, "there is no vertex %lld: body \"%s\" has vertices 0 to %lld",
            (long long)number, scene->system->body[probe->body].name, (long long)last);
    probe->vertex = (int32_t)number;
    return BRIO_OK;
}

BrioStatus brio__read_probes(BrioNode *root, BrioScene *scene, BrioError *error)
{
    BrioNode *list = brio__node_get(root, "probes");
    if (!list) return BRIO_OK;
    scene->probe = brio__calloc((size_t)list->count, sizeof *scene->probe);
    if (!scene->probe) return brio__no_memory(error);
    for (int i = 0; i < list->count; i++) BRIO_CHECK(read_probe(list->child[i], scene, error));
    return BRIO_OK;
}

BrioStatus brio__read_output(BrioNode *root, BrioScene *scene, BrioError *error)
{
    const char *names[BRIO_MAX_FORMATS];
    int count = 0;
    for (; count < BRIO_MAX_FORMATS && brio__frames_at(count); count++)
        names[count] = brio__frames_at(count)->name;
    BrioNode *node = brio__node_get(root, "output");
    brio__key_defaults(output_keys, scene);
    if (!node) return BRIO_OK;
    BRIO_CHECK(brio__read_keys(node, output_keys, scene, error));
    bool velocities = brio__node_get(node, "velocities");
    BrioNode *frames = brio__node_get(node, "frames");
    if (!frames) return BRIO_OK;
    for (int i = 0; i < frames->count; i++) {
        const char *name;
        int k = 0;
        BRIO_CHECK(brio__node_text(frames->child[i], &name, error));
        const BrioFrameFormat *format = brio__frames(name);
        if (!format)
            return brio__no_such(frames->child[i], "frame format", name, names, count, error);
        while (k < scene->format_count && scene->format[k] != format) k++;
        if (k < scene->format_count)
            return brio__node_error(frames->child[i], error, "\"%s\" stands in the list twice",
                                    name);
        scene->format[scene->format_count++] = format;
        if (!velocities) scene->velocities |= format->film && format->velocities;
        if (format->film && !scene->motion)
            return brio__node_error(frames->child[i], error,
                                    "%s is made from the motion: remove motion: false", name);
    }
    return BRIO_OK;
}

bool brio__scene_films(const BrioScene *scene)
{
    for (int i = 0; i < scene->format_count; i++)
        if (scene->format[i]->film) return true;
    return false;
}
