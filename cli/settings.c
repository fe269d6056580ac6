/* `brio check`: the values that a run will have, with the reason of each that the scene leaves to
 * brio. */
#include "settings.h"

#include <string.h>

/* What the scene says at section.key; NULL: nothing, or auto. */
static const BrioNode *given(const BrioScene *scene, const char *section, const char *key)
{
    BrioNode *map = brio__node_get(scene->tree, section);
    const BrioNode *node = map && map->kind == BRIO_NODE_MAP ? brio__node_get(map, key) : NULL;
    return node && !(node->text && !strcmp(node->text, "auto")) ? node : NULL;
}

/* The smallest and the largest kappa of all pairs. */
static void kappa_range(const BrioScene *scene, double range[2])
{
    const BrioSystem *s = scene->system;
    int owners = s->body_count + s->obstacle_count;
    double kappa = scene->state->param[s->contact_params + BRIO_CONTACT_KAPPA];
    range[0] = range[1] = kappa;
    for (int i = 0; i < s->body_count; i++)
        for (int j = 0; j < owners; j++) {
            double pair = kappa * brio__stiffness_factor(s, i, j);
            range[0] = fmin(range[0], pair);
            range[1] = fmax(range[1], pair);
        }
}

static const char *quality_reason(const BrioScene *scene)
{
    const BrioSolverOptions *solver = &scene->def.solver;
    bool chosen = solver->quality == BRIO_QUALITY_AUTO;
    switch (brio__solver_quality(scene->system, solver)) {
    case BRIO_QUALITY_PREVIEW: return "preview";
    case BRIO_QUALITY_FILM: return chosen ? "film, since there is barrier contact" : "film";
    default: return chosen ? "exact, since there is no barrier contact" : "exact";
    }
}

static void contact_settings(const BrioScene *scene)
{
    const BrioSystem *s = scene->system;
    const double *param = scene->state->param + s->contact_params;
    double kappa[2];
    kappa_range(scene, kappa);
    printf("    dhat         %.4g m%s\n", param[BRIO_CONTACT_DHAT],
           given(scene, "contact", "dhat")
               ? ""
               : ": a tenth of the shortest median edge, at most 1/250 of the smallest body");
    if (given(scene, "contact", "kappa"))
        printf("    kappa        %.4g N/m\n", kappa[1]);
    else if (kappa[0] < kappa[1])
        printf("    kappa        %.4g to %.4g N/m: by pair, as stiff as the softer body\n",
               kappa[0], kappa[1]);
    else
        printf("    kappa        %.4g N/m: as stiff as the bodies\n", kappa[1]);
    if (!s->friction) return;
    printf("    epsv         %.4g m/s", s->epsv);
    if (!given(scene, "contact", "epsv"))
        printf(": 3e-4 of a fall by the size of the smallest body (%.4g m/s)", s->fall_speed);
    printf("\n");
}

void show_settings(const BrioScene *scene)
{
    const BrioSystem *s = scene->system;
    double tol = brio__solver_tol(s, &scene->def.solver);
    printf("  settings       quality: %s\n", quality_reason(scene));
    printf("    tol          %.4g m/s", tol);
    if (!given(scene, "solver", "tol") && tol > 1e-8) {
        bool preview = scene->def.solver.quality == BRIO_QUALITY_PREVIEW;
        if (s->friction && !preview)
            printf(": 0.01 epsv, so that contacts that should slide do slide");
        else
            printf(": %s of a fall by the size of the smallest body (%.4g m/s)",
                   preview ? "1e-2" : "3e-4", s->fall_speed);
    }
    printf("\n");
    if (brio__has_barriers(s)) contact_settings(scene);
}

void settings_json(const BrioScene *scene, BrioJson *json)
{
    const BrioSystem *s = scene->system;
    bool contact = s->surface || s->analytic_count;
    double kappa[2];
    kappa_range(scene, kappa);
    brio__json_open(json, "settings", '{');
    brio__json_real(json, "dhat",
                    contact ? scene->state->param[s->contact_params + BRIO_CONTACT_DHAT] : NAN);
    brio__json_real(json, "kappa", contact ? kappa[1] : NAN);
    brio__json_real(json, "kappa_least", contact ? kappa[0] : NAN);
    brio__json_real(json, "epsv", contact ? s->epsv : NAN);
    brio__json_real(json, "tol", brio__solver_tol(s, &scene->def.solver));
    brio__json_text(json, "quality", quality_reason(scene));
    brio__json_close(json, '}');
}
