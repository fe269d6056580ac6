/* run.json: the verdict, sizes, times and totals of a run, and the scene as it was resolved. */
#include "summary.h"

static const char *const verdict_names[] = {"running", "completed", "stopped", "failed",
                                            "exploded"};
const char *brio__verdict_name(BrioVerdict verdict) { return verdict_names[verdict]; }

static void json_totals(BrioJson *json, const BrioRunSummary *s)
{
    const BrioRunTotals *t = s->totals;
    BrioPartition *partition = s->sim->system->partition;
    BrioLinearStats stats = {0};
    double solving = 0;
    brio__json_open(json, "wall", '{');
    brio__json_real(json, "total", t->wall);
    brio__json_real(json, "setup", t->setup);
#define X(name)                                  \
    brio__json_real(json, #name, t->solve.name); \
    solving += t->solve.name;
    BRIO_PHASE_LIST(X)
#undef X
    brio__json_real(json, "output", t->output);
    brio__json_real(json, "other", fmax(t->wall - t->setup - solving - t->output, 0));
    brio__json_close(json, '}');

    if (s->sim->stepper->solver->linear)
        brio__linear_stats(s->sim->stepper->solver->linear, &stats);
    brio__json_open(json, "totals", '{');
    brio__json_integer(json, "steps", s->steps);
    brio__json_real(json, "time", s->time);
    brio__json_integer(json, "minimisations", t->solve.minimisations);
    brio__json_integer(json, "newton_iterations", t->solve.iterations);
    brio__json_integer(json, "evaluations", t->solve.evaluations);
    brio__json_integer(json, "roundoff_convergences", t->solve.roundoff);
    brio__json_integer(json, "friction_renewals", t->solve.friction_renewals);
    brio__json_integer(json, "friction_unconverged", t->solve.friction_open);
    brio__json_integer(json, "pattern_analyses", t->solve.analyses);
    brio__json_integer(json, "factorisations", t->solve.factorisations);
    brio__json_integer(json, "contact_searches", t->solve.searches);
    brio__json_integer(json, "contact_candidates", t->solve.candidates);
    brio__json_integer(json, "halved_steps", t->halved_steps);
    brio__json_integer(json, "deepest_halving", t->deepest_halving);
    if (s->sim->control) {
        brio__json_integer(json, "rejected_steps", t->rejected_steps);
        brio__json_real(json, "h_min", t->shortest);
        brio__json_real(json, "h_max", t->longest);
        brio__json_real(json, "h_mean", s->steps > 0 ? s->time / (double)s->steps : 0);
    }
    brio__json_integer(json, "linear_iterations", stats.iterations);
    brio__json_real(json, "factor_nonzeros", stats.factor_nonzeros);
    if (s->peak > 0) brio__json_real(json, "peak_memory", s->peak);
    if (partition) { /* of the first process, in this session */
        double sent[3];
        partition->traffic(partition, sent);
        brio__json_real(json, "messages", sent[0]);
        brio__json_real(json, "message_bytes", sent[1]);
        brio__json_real(json, "joint_operations", sent[2]);
    }
    brio__json_integer(json, "frames", s->frames);
    brio__json_integer(json, "sessions", t->sessions);
    brio__json_real(json, "first_energy", t->initial_energy);
    brio__json_real(json, "last_energy", t->last_energy);
    brio__json_close(json, '}');
}

static void json_sizes(BrioJson *json, const BrioSystem *s)
{
    int64_t tets = 0, triangles = 0, springs = 0;
    for (int i = 0; i < s->body_count; i++) {
        const BrioBody *b = &s->body[i];
        BrioGlobalBody whole = s->partition ? s->partition->body[i]
                                            : (BrioGlobalBody){.tets = b->tet_count,
                                                               .triangles = b->triangle_count,
                                                               .edges = b->edge_count};
        tets += whole.tets;
        springs += whole.edges;
        if (s->term[b->term].energy->element == BRIO_ELEMENT_TRIANGLE) triangles += whole.triangles;
    }
    brio__json_open(json, "sizes", '{');
    brio__json_integer(json, "bodies", s->body_count);
    brio__json_integer(json, "vertices", s->partition ? s->partition->vertices : s->body_vertices);
    brio__json_integer(json, "tets", tets);
    brio__json_integer(json, "triangles", triangles); /* of shells */
    brio__json_integer(json, "springs", springs);
    brio__json_integer(json, "coordinates",
                       3 * (s->partition ? s->partition->blocks : s->block_count));
    brio__json_close(json, '}');
    brio__json_open(json, "bodies", '[');
    for (int i = 0; i < s->body_count; i++) brio__json_text(json, NULL, s->body[i].name);
    brio__json_close(json, ']');
}

static void json_exact(BrioJson *json, const BrioRunSummary *s)
{
    const BrioExactWatch *w = s->exact;
    brio__json_open(json, "exact", '{'); /* of this session */
    brio__json_integer(json, "from_step", s->exact_from);
    brio__json_integer(json, "states", w->states);
    brio__json_integer(json, "pairs", w->pairs);
    brio__json_integer(json, "intersections", w->intersections);
    brio__json_integer(json, "inverted", w->inverted);
    brio__json_integer(json, "behind_planes", w->behind);
    brio__json_integer(json, "not_finite", w->not_finite);
    brio__json_real(json, "wall", w->seconds);
    brio__json_close(json, '}');
}

BrioStatus brio__summary_write(const BrioFolder *folder, const BrioRunSummary *s, BrioError *error)
{
    FILE *file;
    const BrioPartition *partition = s->sim->system->partition;
    BRIO_CHECK(brio__replace_begin(folder, "run.json", &file, error));
    BrioJson json = {.file = file};
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "title", s->scene->title);
    brio__json_text(&json, "verdict", brio__verdict_name(s->verdict));
    brio__json_text(&json, "reason", s->reason);
    brio__json_text(&json, "version", brio_version());
    brio__json_text(&json, "isa", brio_isa());
    brio__json_text(&json, "blas", brio__blas_name());
    brio__json_integer(&json, "threads", brio_threads());
    brio__json_integer(&json, "processes", partition ? partition->processes : 1);
    json_sizes(&json, s->sim->system);
    json_totals(&json, s);
    if (s->exact) json_exact(&json, s);
    if (s->explosion && s->explosion->exploded) brio__explosion_json(&json, s->explosion);
    if (s->more) s->more(s->user, &json);
    brio__json_text(&json, "scene_file", s->scene->file);
    brio__json_key(&json, "scene");
    brio__tree_json(s->scene->tree, 2, file);
    brio__json_close(&json, '}');
    return brio__replace_end(folder, "run.json", file, false, error);
}
