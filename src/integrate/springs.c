/* Springs, tets, hands and planes one at a time, of integrators with BRIO_SPRINGS_ONLY. */
#include "springs.h"

#include "brio/tets.h"

#include <string.h>

/* The first coordinate of a world vertex, -1: it has none. */
static int64_t coordinate_of(const BrioSystem *system, int32_t vertex)
{
    int32_t k = system->map_start[vertex];
    return system->map_start[vertex + 1] > k ? 3 * (int64_t)system->map_block[k] : -1;
}

/* Whose constraints brio_stepper_tet describes. */
static bool takes_tets(const BrioEnergy *energy)
{
    return energy->element == BRIO_ELEMENT_TET && !strcmp(energy->name, "stable-neo-hookean");
}

BrioStatus brio__springs_fit(const BrioSystem *system, const BrioIntegrator *integrator,
                             unsigned traits, BrioError *error)
{
    if (!(traits & BRIO_SPRINGS_ONLY)) return BRIO_OK;
    bool other = system->surface;
    for (int t = 0; t < system->term_count; t++)
        other |= system->term[t].energy->element == BRIO_ELEMENT_CONTACT &&
                 system->term[t].energy->rest != BRIO_PLANE_REST;
    if (other)
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "%s supports only springs and planes, so bodies would pass through other obstacles "
            "and each other; use another integrator",
            integrator->name);
    if (system->stitch_term >= 0)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s supports only springs, not stitches; use another integrator",
                           integrator->name);
    if (system->axes)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s moves vertices whole, and `fix` with `axes` fixes some of their "
                           "coordinates; use another integrator",
                           integrator->name);
    bool tets = traits & BRIO_TAKES_TETS;
    for (int b = 0; b < system->body_count; b++) {
        const BrioEnergy *energy = system->term[system->body[b].term].energy;
        if (energy->element == BRIO_ELEMENT_SPRING || (tets && takes_tets(energy))) continue;
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "%s moves bodies of springs only%s, and body \"%s\" is of %s; make it "
                           "kind: springs with material hooke, or use another integrator",
                           integrator->name, tets ? " and solids of stable-neo-hookean" : "",
                           system->body[b].name, energy->name);
    }
    for (int64_t v = 0; tets && v < system->vertex_count; v++)
        if (system->map_start[v + 1] - system->map_start[v] > 1)
            return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                               "%s moves vertices one by one, and a cage moves those of its "
                               "surface; use another integrator",
                               integrator->name);
    return BRIO_OK;
}

int brio_stepper_spring(const BrioStepper *s, int64_t i, BrioSpring *spring)
{
    BRIO_NEEDS_OR(s && spring, 0);
    const BrioSystem *system = s->system;
    for (int t = 0; i >= 0 && t < system->term_count; t++) {
        const BrioTerm *term = &system->term[t];
        bool anchors = term->energy->element == BRIO_ELEMENT_ANCHOR;
        if (!anchors && term->energy->element != BRIO_ELEMENT_SPRING) continue;
        if (i >= term->elements) {
            i -= term->elements;
            continue;
        }
        int64_t pack = i / LANES, place = i % LANES;
        spring->length = anchors ? 0 : term->rest[(pack * term->energy->rest + 1) * LANES + place];
        double live = anchors ? s->state->param[term->live + pack * LANES + place]
                              : s->state->param[term->params];
        spring->active = !anchors || live != 0;
        spring->stiffness = live * term->rest[pack * term->energy->rest * LANES + place];
        for (int k = 0; k < 2; k++) {
            int32_t vertex = brio__term_vertex(term, i, k);
            spring->vertex[k] = vertex;
            spring->coordinate[k] = coordinate_of(system, vertex);
            spring->mass[k] = system->vertex_mass[vertex];
        }
        return 1;
    }
    return 0;
}

int brio_stepper_tet(const BrioStepper *s, int64_t i, BrioTet *tet)
{
    BRIO_NEEDS_OR(s && tet, 0);
    const BrioSystem *system = s->system;
    for (int t = 0; i >= 0 && t < system->term_count; t++) {
        const BrioTerm *term = &system->term[t];
        if (!takes_tets(term->energy)) continue;
        if (i >= term->elements) {
            i -= term->elements;
            continue;
        }
        const double *rest = term->rest + i / LANES * term->energy->rest * LANES + i % LANES;
        tet->volume = rest[0];
        tet->mu = s->state->param[term->params];
        tet->lambda = s->state->param[term->params + 1];
        for (int k = 0; k < 4; k++) {
            int32_t vertex = brio__term_vertex(term, i, k);
            tet->vertex[k] = vertex;
            tet->coordinate[k] = coordinate_of(system, vertex);
            tet->mass[k] = system->vertex_mass[vertex];
        }
        for (int r = 0; r < 3; r++) {
            tet->slope[0][r] = 0;
            for (int k = 1; k < 4; k++) {
                tet->slope[k][r] = rest[(1 + 3 * (k - 1) + r) * LANES];
                tet->slope[0][r] -= tet->slope[k][r];
            }
        }
        return 1;
    }
    return 0;
}

int brio_stepper_pull(const BrioStepper *s, int i, BrioPull *pull)
{
    BRIO_NEEDS_OR(s && pull, 0);
    for (int h = 0; i >= 0 && h < BRIO_MAX_HANDS; h++) {
        const BrioGrip *grip = &s->state->hand[h];
        if (grip->k == 0 || i-- > 0) continue;
        *pull = (BrioPull){0};
        memcpy(pull->point, grip->point, sizeof pull->point);
        while (pull->count < 3 && grip->vertex[pull->count] >= 0) {
            pull->coordinate[pull->count] = coordinate_of(s->system, grip->vertex[pull->count]);
            pull->weight[pull->count] = grip->weight[pull->count];
            pull->mass[pull->count] = s->system->vertex_mass[grip->vertex[pull->count]];
            pull->count++;
        }
        pull->stiffness = grip->k;
        return 1;
    }
    return 0;
}

/* The i-th term of contacts with a plane; NULL past the last. */
static const BrioTerm *analytic_term(const BrioSystem *system, int i)
{
    for (int t = 0; i >= 0 && t < system->term_count; t++)
        if (system->term[t].energy->element == BRIO_ELEMENT_CONTACT && i-- == 0)
            return &system->term[t];
    return NULL;
}

int brio_stepper_plane(const BrioStepper *s, int i, BrioPlane *plane)
{
    BRIO_NEEDS_OR(s && plane, 0);
    const BrioTerm *term = analytic_term(s->system, i);
    if (!term) return 0;
    *plane = (BrioPlane){.gap = s->state->param[term->params + 1], .count = term->elements};
    if (term->elements) plane->stiffness = s->state->param[term->params] * term->rest[0];
    for (int r = 0; r < 3 && term->elements; r++) {
        plane->normal[r] = term->rest[(1 + r) * LANES];
        plane->point[r] = term->rest[(4 + r) * LANES];
    }
    return 1;
}

int64_t brio_stepper_plane_mass(const BrioStepper *s, int i, int64_t k, double *mass)
{
    BRIO_NEEDS_OR(s && mass, -1);
    const BrioTerm *term = analytic_term(s->system, i);
    *mass = 0;
    if (!term || k < 0 || k >= term->elements) return -1;
    int32_t vertex = brio__term_vertex(term, k, 0);
    *mass = s->system->vertex_mass[vertex];
    return coordinate_of(s->system, vertex);
}

int64_t brio_stepper_plane_vertex(const BrioStepper *s, int i, int64_t k)
{
    double mass;
    return brio_stepper_plane_mass(s, i, k, &mass);
}

void brio_stepper_gravity(const BrioStepper *s, double g[3])
{
    BRIO_NEEDS_OR_NOTHING(s && g);
    const BrioSystem *system = s->system;
    memcpy(g, s->state->param + system->term[system->gravity_term].params, 3 * sizeof *g);
}

const double *brio_stepper_positions(BrioStepper *s, const double *q, double time)
{
    BRIO_NEEDS_OR(s && q, NULL);
    brio__system_positions(s->system, s->state, q, time, s->x);
    return s->x;
}
