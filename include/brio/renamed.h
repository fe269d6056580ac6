/* The names of version 0.1, for one version: programs that use them compile, and the compiler names
 * the new ones. `brio.h` includes this file; define BRIO_NO_OLD_NAMES before to exclude it. Three
 * things of 0.1 have no old form: the members `standard`, `least` and `most` of BrioField (now
 * `default_value`, `min` and `max`), and a BrioObjective's `guess` as a plain vector.
 *
 * Licence: MIT. */
#ifndef BRIO_RENAMED_H
#define BRIO_RENAMED_H

#if defined __GNUC__
#define BRIO__RENAMED(now) __attribute__((deprecated("brio 0.2 calls this " now)))
#define BRIO__UNUSED __attribute__((unused))
#else
#define BRIO__RENAMED(now)
#define BRIO__UNUSED
#endif

BRIO__RENAMED("brio_default_body") BRIO__UNUSED static inline BrioBodyDef brio_body_def(void)
{
    return brio_default_body();
}

BRIO__RENAMED("brio_default_script") BRIO__UNUSED static inline BrioScript brio_script(void)
{
    return brio_default_script();
}

BRIO__RENAMED("brio_default_contact")
BRIO__UNUSED static inline BrioContactDef brio_contact_def(void) { return brio_default_contact(); }

BRIO__RENAMED("brio_default_obstacle")
BRIO__UNUSED static inline BrioObstacleDef brio_obstacle_def(void)
{
    return brio_default_obstacle();
}

BRIO__RENAMED("brio_default_solver")
BRIO__UNUSED static inline BrioSolverOptions brio_solver_options(void)
{
    return brio_default_solver();
}

BRIO__RENAMED("brio_default_sim")
BRIO__UNUSED static inline BrioSimDef brio_sim_def(const char *integrator)
{
    return brio_default_sim(integrator);
}

BRIO__RENAMED("brio_default_material")
BRIO__UNUSED static inline BrioStatus brio_material(const char *type, BrioMaterial *material)
{
    return brio_default_material(type, material, NULL);
}

BRIO__RENAMED("brio_default_damping")
BRIO__UNUSED static inline BrioStatus brio_damping(const char *type, BrioDamping *damping)
{
    return brio_default_damping(type, damping, NULL);
}

enum {
    BRIO_LIST_MOST BRIO__RENAMED("BRIO_MAX_LIST") = BRIO_MAX_LIST,
    BRIO_DAMPING_MOST BRIO__RENAMED("BRIO_MAX_DAMPING") = BRIO_MAX_DAMPING,
    BRIO_HANDS_MOST BRIO__RENAMED("BRIO_MAX_HANDS") = BRIO_MAX_HANDS
};

#undef BRIO__RENAMED
#undef BRIO__UNUSED
#endif
