/* The engine of `brio live`: a simulation with a clock of its own, on a thread of its own. */
#ifndef BRIO_ENGINE_H
#define BRIO_ENGINE_H

#include "hub.h"

enum { ENGINE_CURVE = 64 };

/* What curves show; a browser that is slow gets those of the frames that it missed. */
typedef struct CurveRow {
    double time, kinetic, elastic, gravity, total, target; /* elastic: with contact and hands */
    double momentum, angular;
} CurveRow;

typedef struct Engine {
    Hub *hub;
    const SceneArguments *given;
    BrioScene *scene;
    BrioSim *sim;
    /* what is drawn, and its vertices from those of the world */
    BrioMotionFile *seen;
    double *world, *drawn;
    bool *live;          /* of the fields of materials, body by body: they can be changed */
    uint32_t generation; /* of the scene: which shapes a frame belongs to */
    uint32_t frame;

    bool news;           /* settings that browsers do not know yet */
    bool playing, begun; /* begun: a browser has shown it */
    int64_t steps;       /* still to do although it pauses */
    double h, speed;     /* s; simulated seconds per second, INFINITY: as fast as it goes */
    double *factor;      /* of forces */
    struct Kept *loaded; /* the settings that the scene gave */
    double wall_anchor, time_anchor, frame_due;
    double step_seconds; /* what a step takes, on average */
    double pace;         /* simulated seconds per second, on average */

    BrioLedger ledger;
    CurveRow curve[ENGINE_CURVE];
    int curve_first, curve_count;
    BrioExplosion explosion;
    BrioState *sane;    /* the last state that had no more energy than its causes explain */
    char trouble[1600]; /* why it pauses; "" if it is well */
    double step_start;  /* on the clock; for the watch */

    uint64_t owner[BRIO_MAX_HANDS]; /* the client that each hand is of; 0: none */
    BrioRecord *record;
    char folder[512]; /* of the record, or of the last one */
    char **past; /* what was changed since the start: the last change of each setting, in order */
    int past_count, past_room;
    bool other_integrator; /* than that of the scene */
} Engine;

/* Reads the scene and makes the simulation. */
BrioStatus engine_create(Engine *engine, Hub *hub, const SceneArguments *given, BrioError *error);
void engine_free(Engine *engine);
void *engine_work(void *engine); /* of the thread: until hub_end */

/* ---- parts of it ------------------------------------------------------------------------ */

/* Carries an order out and answers it (apply.c). */
void engine_apply(Engine *engine, const Order *order);
void engine_keep_sane(Engine *engine); /* the settings of now stay if it has to go back */
BrioStatus engine_restart(Engine *engine, bool keep, BrioError *error);
void engine_anchor(Engine *engine); /* the clock starts here */
/* Ends the record that there is. */
BrioStatus engine_end_record(Engine *engine, BrioVerdict verdict, const char *reason,
                             BrioError *error);

/* What browsers are told (describe.c): renews it for those that come, and tells those that are
 * there. */
BrioStatus describe_scene(Engine *engine, BrioError *error);
void describe_settings(Engine *engine);
/* Which fields of materials can be changed, by trying. */
BrioStatus describe_live(BrioSim *sim, bool **live, BrioError *error);
Packet *describe_frame(Engine *engine);

#endif
