/* Energy by body. An account is a body, or several that elements and constraints hold together; a
 * body whose vertices are all fixed has none. P is split between accounts:
 *
 *     P = sum_c P_c + (energy of what has no account),
 *
 * where P_c has all that acts inside of c or between c and what has no coordinates, and half of the
 * energy of every contact with another account. */
#ifndef BRIO_ACCOUNTS_H
#define BRIO_ACCOUNTS_H

#include "components.h"
#include "potential.h"

typedef struct BrioAccounts {
    const BrioSystem *system;
    int32_t count;
    int32_t *of_block, *of_vertex, *of_body; /* account of each; -1: none */
    int32_t *first;                          /* of each account: its first block, */
    int32_t *body;                           /* and its first body */
    int32_t *group; /* trees of accounts that touch in this step; the root is the smallest */
    double *world;  /* a vector of world vertices */
    double *dot;    /* sums over blocks */
    double *row;    /* BRIO_ACCOUNT_ROWS rows of count + 1 numbers: room */
} BrioAccounts;

enum { BRIO_ACCOUNT_ROWS = 24 };

BrioStatus brio__accounts_create(const BrioSystem *system, const BrioComponents *components,
                                 BrioAccounts **accounts);
void brio__accounts_free(BrioAccounts *accounts);

/* Of each account x.y over its coordinates; v -= factor x there. */
void brio__accounts_dot(const BrioAccounts *accounts, const double *x, const double *y,
                        double *dot);
void brio__accounts_subtract(const BrioAccounts *accounts, const double *factor, const double *x,
                             double *v);
/* P_c at a pose, and after them the energy of what has no account. */
void brio__accounts_potential(const BrioAccounts *accounts, BrioPotential *potential,
                              const BrioPose *pose, double *energy);
/* No account touches another; accounts a and b do; the root of a's group. */
void brio__accounts_separate(BrioAccounts *accounts);
void brio__accounts_join(int32_t *group, int32_t a, int32_t b);
int32_t brio__accounts_group(const BrioAccounts *accounts, int32_t account);

#endif
