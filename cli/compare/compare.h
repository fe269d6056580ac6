/* The measurements of `brio compare`: compare.c fills them in, compare_report.c prints them. */
#ifndef BRIO_COMPARE_H
#define BRIO_COMPARE_H

#include "commands.h"

#include "internal.h"

/* X(symbol, key in files, head, unit, which table, digits). What a trial does not have is NAN.
 * Shares are of Comparison.scale. */
enum { FILES_ONLY, ENERGY_TABLE, COST_TABLE, NEAR_TABLE };
#define QUANTITY_LIST(X)                                                                         \
    X(STEPS, "steps", "steps", "", ENERGY_TABLE, 9)                                              \
    X(REACHED, "end", "end", "s", ENERGY_TABLE, 5)                                               \
    X(CHANGE, "energy_change", "change", "J", ENERGY_TABLE, 4) /* of the total energy */         \
    X(CHANGE_PERCENT, "energy_change_percent", "change", "%", ENERGY_TABLE, 3)                   \
    X(ABOVE, "highest_above", "above", "J", FILES_ONLY, 4) /* at most above the first */         \
    X(ABOVE_PERCENT, "highest_above_percent", "above", "%", ENERGY_TABLE, 3)                     \
    X(REMAINDER, "remainder", "remainder", "J", ENERGY_TABLE, 4) /* of the ledger */             \
    X(REMAINDER_PERCENT, "remainder_percent", "remainder", "%", FILES_ONLY, 4)                   \
    X(UNFINISHED, "unfinished", "unfinished", "J", ENERGY_TABLE, 3)                              \
    X(ADDED, "added", "added", "J", FILES_ONLY, 4)                                               \
    X(DISSIPATED, "dissipated", "damped", "J", FILES_ONLY, 4)                                    \
    X(LINEAR, "momentum_change", "momentum", "kg m/s", COST_TABLE, 3) /* largest, where kept */  \
    X(ANGULAR, "angular_momentum_change", "angular", "kg m²/s", COST_TABLE, 3)                   \
    X(ORDER, "order", "order", "", COST_TABLE, 3) /* measured at this and larger steps */        \
    X(ERROR, "position_error", "error", "m", COST_TABLE, 3) /* mass-weighted root mean square */ \
    X(NEWTON, "newton_iterations", "Newton", "", COST_TABLE, 9)                                  \
    X(HALVED, "halved_steps", "halved", "", FILES_ONLY, 9)                                       \
    X(WALL, "wall", "wall", "s", COST_TABLE, 3) /* of stepping alone */                          \
    X(CPU, "cpu", "CPU", "s", COST_TABLE, 3)    /* of all threads */                             \
    X(STEP_TIME, "ms_per_step", "a step", "ms", COST_TABLE, 3)                                   \
    X(SPEED, "real_time_factor", "real time", "times", COST_TABLE, 3) /* simulated/wall */       \
    X(NEAR_TOTAL, "off_energy_percent", "energy", "%", NEAR_TABLE, 3) /* of the reference */     \
    X(NEAR_KINETIC, "off_kinetic_percent", "kinetic", "%", NEAR_TABLE, 3)                        \
    X(NEAR_ELASTIC, "off_elastic_percent", "elastic", "%", NEAR_TABLE, 3)                        \
    X(NEAR_GRAVITY, "off_gravity_percent", "gravity", "%", NEAR_TABLE, 3)                        \
    X(NEAR_LINEAR, "off_momentum_percent", "momentum", "%", NEAR_TABLE, 3)                       \
    X(NEAR_ANGULAR, "off_angular_momentum_percent", "angular", "%", NEAR_TABLE, 3)               \
    X(NEAR_SPECTRUM, "off_spectrum_percent", "spectrum", "%", NEAR_TABLE, 3)                     \
    X(NEAR_PATH, "off_path", "path", "m", NEAR_TABLE, 3) /* of the centre of mass */
typedef enum Quantity {
#define X(symbol, key, head, unit, table, digits) symbol,
    QUANTITY_LIST(X)
#undef X
        QUANTITY_COUNT
} Quantity;

/* Over time, for plots: thinned if there are very many steps. */
typedef enum Curve {
    CURVE_TIME,
    CURVE_CHANGE,
    CURVE_KINETIC,
    CURVE_LINEAR,
    CURVE_ANGULAR,
    CURVE_ALPHA,
    CURVE_COUNT
} Curve;

/* What is kept of a trial at the instants at which it is compared with the reference. */
enum {
    TRACK_TOTAL,
    TRACK_KINETIC,
    TRACK_ELASTIC,
    TRACK_GRAVITY,
    TRACK_LINEAR,
    TRACK_ANGULAR = TRACK_LINEAR + 3,
    TRACK_CENTRE = TRACK_ANGULAR + 3,
    TRACK_DISTANCE = TRACK_CENTRE + 3,
    TRACK_VERTICES = 8,
    TRACK_NUMBERS = TRACK_DISTANCE + TRACK_VERTICES
};

typedef enum TrialOutcome {
    TRIAL_WAITING,
    TRIAL_REFUSED,
    TRIAL_COMPLETED,
    TRIAL_EXPLODED,
    TRIAL_FAILED,
    TRIAL_STOPPED
} TrialOutcome;

typedef struct Method {
    char *assignment; /* "integrator=..." */
    char label[160];  /* "a-search decay=10" */
} Method;

typedef struct StepSize {
    char *assignment; /* "time.h=1/30" */
    const char *text; /* "1/30", within the assignment */
    double h;
} StepSize;

/* A trial has exploded when its kinetic and elastic energy is so many times that of the initial
 * state and what gravity (by free fall until the end) and scripts can bring. */
#define TRIAL_EXPLOSION 1e6

/* One method with one step size. */
typedef struct Trial {
    const Method *method;
    const StepSize *size;
    TrialOutcome outcome;
    char reason[1200]; /* why it did not complete */
    double value[QUANTITY_COUNT];
    double largest; /* J: kinetic and elastic energy, the most over time */
    double *x;      /* positions at the end, if it got there */
    int64_t sample_count, sample_room;
    double *curve[CURVE_COUNT];
    double *track; /* TRACK_NUMBERS for each instant; NULL: there is no reference */
    int64_t track_filled;
    double track_time, track_last[TRACK_NUMBERS]; /* of the last step */
    BrioMotionFile *motion; /* as it is read back once the trial has ended; NULL: not kept */
} Trial;

enum { MAX_METHODS = 64, MAX_SIZES = 32 };

typedef struct Comparison {
    SceneArguments given;
    const char *out;
    bool force, json, quiet;
    BrioScene *scene; /* as it is, for its title, text and end */
    int method_count, size_count;
    Method method[MAX_METHODS + 1]; /* the last for the reference */
    StepSize size[MAX_SIZES + 1];   /* from large to small */
    /* method by method, in each from large to small steps; then the reference, if it is none of
     * them */
    int trial_count;
    Trial *trial;
    Trial *reference; /* NULL: none */
    bool is_extra;    /* the reference is a trial of its own */
    /* what is known of the scene once a trial was made */
    bool is_known, keeps_linear, keeps_angular;
    int64_t vertex_count;
    double *vertex_mass, mass;
    double radius;       /* m: of gyration, at the start */
    double first_motion; /* J: kinetic, elastic, attachments, contact of the initial state */
    double gravity;      /* m/s^2 */
    /* what percentages are taken of */
    double scale; /* J; NAN: none */
    /* first_motion; otherwise (gravity or scripts bring energy) the median of the trials'
     * largest */
    bool scale_is_first;
    double track_step; /* s: between instants at which trials are compared with the reference */
    int64_t track_count;
    bool old_reference;        /* --reference NAME@h, as version 0.1 wrote it */
    bool reference_was_kept;   /* it is that of an earlier comparison */
    bool errors_are_estimates; /* against the method's own limit, extrapolated */
    double planned_steps, done_steps, started, shown;
    /* the motion of the current trial; NULL: not kept */
    BrioMotionFile *tape;
    FILE *tape_file;
    int64_t tape_instants;
    int tape_count; /* trials whose motion is kept */
} Comparison;

const char *trial_outcome_name(TrialOutcome outcome);
void trial_verdict(const Comparison *comparison, const Trial *trial, char *text, size_t size);
/* What the percentages are taken of, and other remarks for the reader: sentences. Returns how many.
 */
enum { MAX_NOTES = 8 };
int comparison_notes(const Comparison *comparison, char text[MAX_NOTES][512]);

void comparison_print(const Comparison *comparison);
void comparison_json(const Comparison *comparison, FILE *file);
/* Files in the folder. `refuse_existing` is asked before the work, `write` after it; the latter
 * also removes files of an earlier comparison that this one does not have. */
BrioStatus comparison_refuse_existing(const BrioFolder *folder, BrioError *error);
BrioStatus comparison_write(const Comparison *comparison, const BrioFolder *folder,
                            BrioError *error);

#endif
