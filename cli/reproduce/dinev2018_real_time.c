/* Reproductions of [Dinev2018]: what a frame costs with local/global solves (Table 1). */
#include "reproduce.h"

typedef struct Model {
    const char *name;
    double paper[2]; /* ms a frame: backward Euler, blend */
    double h;
    const char *shape;
    double goal; /* ms a frame of backward Euler that brio sets itself on two cores; INFINITY: none */
} Model;

#define SOLID ", material: {type: arap, E: 1e5, rho: 1000}, velocity: {angular: [0, 1, 2]}"

static const Model models[] = {
    {"bar", {3.62, 5.73}, 0.033, "shape: {type: box, size: [1.4, 0.3, 0.4], cells: [14, 3, 4]}" SOLID ", fix: [{box: [[-2, -1, -1], [-0.69, 1, 1]]}]", INFINITY},
    {"cube", {5.84, 8.41}, 0.033, "shape: {type: box, size: [0.35, 0.3, 0.3], cells: [7, 6, 6]}" SOLID, 1},
    {"hippo's size", {66.4, 73.3}, 0.01, "shape: {type: box, size: [1.9, 0.9, 1.1], cells: [19, 9, 11]}" SOLID, INFINITY},
    {"bunny's size, figure 14", {194, 212}, 0.033, "shape: {type: box, size: [2.4, 1.2, 1.3], cells: [24, 12, 13]}" SOLID, INFINITY},
    {"cactus's size", {115, 174}, 0.033, "shape: {type: box, size: [2, 1.5, 1.5], cells: [20, 15, 15]}" SOLID, INFINITY},
    {"bar of 5.6k vertices", {NAN, NAN}, 0.033, "shape: {type: box, size: [3.8, 1.1, 1.1], cells: [38, 11, 11]}" SOLID ", fix: [{box: [[-4, -1, -1], [-1.89, 1, 1]]}]", 10},
    {"cloth", {110, 127}, 0.033, "shape: {type: grid, width: 1, depth: 1, cells_x: 100, cells_z: 100}, material: {type: hooke, k: 100, vertex_mass: 1e-4}, fix: [{vertices: [0, 100]}]", 10},
    {"dog's size", {916, 1205}, 0.033, "shape: {type: box, size: [4.5, 2.4, 2.4], cells: [45, 24, 24]}" SOLID, INFINITY},
    {"bunny's size, figure 9", {1181, 1510}, 0.033, "shape: {type: box, size: [4.9, 2.5, 2.6], cells: [49, 25, 26]}" SOLID, 120},
};

static void table1(Report *r)
{
    enum { BACKWARD, BLEND, SEARCH, METHODS, WARM = 3, FRAMES = 30 };
    static const char *const method[METHODS] = {"backward-euler", "blend", "a-search"};
    for (size_t m = 0; m < BRIO_COUNT(models); m++) {
        const Model *model = &models[m];
        BrioSim *sim[METHODS] = {NULL};
        double mean[METHODS] = {0}, least[METHODS] = {INFINITY, INFINITY, INFINITY};
        bool fine = true;
        for (int k = 0; k < METHODS && fine; k++) {
            sim[k] = report_scene(r, "time: {h: %g}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: {type: local-global, iterations: 10}\nbodies:\n  - {%s}\n", model->h, method[k], model->shape);
            fine = sim[k] != NULL;
        }
        /* in turn, so that all see the same machine */
        for (int f = 0; f < WARM + FRAMES && fine; f++)
            for (int k = 0; k < METHODS && fine; k++) {
                double before = brio__seconds();
                fine = brio_sim_step(sim[k]) == BRIO_OK;
                double ms = 1e3 * (brio__seconds() - before);
                if (f >= WARM) mean[k] += ms / FRAMES, least[k] = fmin(least[k], ms);
                report_progress(r, (double)f / (WARM + FRAMES), "%s", model->name);
            }
        const BrioSystem *system = sim[0] ? sim[0]->system : NULL;
        report_section(r, "%s: %lld vertices, %lld elements, h = %g s; ms a frame, mean of %d", model->name, system ? (long long)system->body[0].count : 0,
                       system ? (long long)system->term[system->body[0].term].elements : 0, model->h, FRAMES);
        if (!fine) report_fact(r, false, "%s: a step failed", model->name);
        if (fine && isfinite(model->goal))
            report_bound(r, mean[BACKWARD], 0, model->goal, "backward Euler, ten iterations");
        else if (fine)
            report_number(r, model->paper[0], mean[BACKWARD], "backward Euler, ten iterations");
        if (fine && isfinite(model->goal) && !isnan(model->paper[0])) report_number(r, model->paper[0], mean[BACKWARD], "  the paper's");
        if (fine) {
            report_number(r, model->paper[1], mean[BLEND], "blend");
            report_number(r, NAN, mean[SEARCH], "A-search");
            report_bound(r, least[SEARCH] / least[BACKWARD] - 1, -INFINITY, 0.08, "A-search: overhead over backward Euler, of the fastest frames");
            report_bound(r, least[BLEND] / least[BACKWARD] - 1, -INFINITY, 0.3, "blend: overhead");
        }
        for (int k = 0; k < METHODS; k++) brio_sim_free(sim[k]);
    }
}

REPRODUCTION(dinev2018_table1){
    .name = "dinev2018-table1",
    .paper = "Dinev2018",
    .summary = "table 1: milliseconds a frame with local/global solves",
    .about = "Boxes with about the paper's numbers of vertices (its meshes are not public) and a cloth of its size, all materials arap as in the paper's projections, springs for the cloth. The "
             "paper's times are of its own machine.",
    .minutes = 1,
    .run = table1,
};
