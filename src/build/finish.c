/* From the plans of a builder to a system and its initial state, in order. Checks that need the
 * whole come first, so that a builder that fails there can still be changed. */
#include "build.h"

#include "../handle.h"

static BrioStatus build(BrioBuilder *b, BrioSystem *s, BrioState **state, BrioError *error)
{
    BrioStatus status = brio__build_bodies(b, s);
    if (status == BRIO_ERROR_TOO_LARGE)
        return brio__error(error, status,
                           "the scene has %lld vertices: more than %d are not supported",
                           (long long)s->vertex_count, INT32_MAX / 3);
    if (status == BRIO_OK) status = brio__build_obstacles(b, s);
    if (status == BRIO_OK) status = brio__build_map(b, s);
    if (status != BRIO_OK) return brio__no_memory(error);
    if (s->block_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "every vertex is fixed: nothing can move");
    BRIO_CHECK(brio__build_pairs(b, s, error));
    if (brio__build_masses(b, s) != BRIO_OK || brio__build_terms(b, s) != BRIO_OK ||
        brio__build_constraints(b, s) != BRIO_OK || brio__build_scripts(b, s) != BRIO_OK)
        return brio__no_memory(error);
    BRIO_CHECK(brio__build_forces(b, s, error));
    BRIO_CHECK(brio__build_surface(b, s, error));
    if (brio__choose_lengths(b, s) != BRIO_OK) return brio__no_memory(error);
    if (brio__state_create(s, 0, state) != BRIO_OK) return brio__no_memory(error);
    brio__build_state(b, s, *state);
    BrioStatus apart = brio__choose_stiffness(b, s, *state) == BRIO_OK
                           ? brio__check_distances(b, s, *state, error)
                           : brio__no_memory(error);
    if (apart != BRIO_OK) {
        brio_state_free(*state);
        *state = NULL;
    }
    return apart;
}

/* The system keeps the plans, and the caller's builder is left empty. */
static void exchange(BrioBuilder *a, BrioBuilder *b)
{
    BrioBuilder other = *a;
    *a = *b;
    *b = other;
    a->finished = b->finished = true;
}

BrioStatus brio_builder_finish(BrioBuilder *builder, BrioSystem **system, BrioState **state,
                               BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && system && state, error);
    BRIO_CHECK(brio__builder_open(builder, error));
    if (builder->body_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "there are no bodies");
    for (int r = 0; r < 3; r++)
        if (!isfinite(builder->gravity[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "gravity is not finite");
    BRIO_CHECK(brio__check_contact(builder, error));
    BRIO_CHECK(brio__check_constraints(builder, error));
    BrioSystem *created = brio__handle_create(sizeof *created, BRIO_HANDLE_SYSTEM);
    if (!created) return brio__no_memory(error);
    BrioStatus status = brio_builder_create(&created->plans, error);
    if (status == BRIO_OK) status = build(builder, created, state, error);
    builder->finished = true;
    if (status == BRIO_OK) {
        exchange(builder, created->plans);
        *system = created;
    } else {
        brio_system_free(created);
    }
    return status;
}

void brio__builder_reopen(BrioBuilder *builder, BrioSystem *system)
{
    exchange(builder, system->plans);
    builder->finished = false;
}
