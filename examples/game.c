/* brio in an engine: a scene made without files, a paddle that the program moves, a crate that
 * falls in later, contact events for sounds, and single-precision buffers to draw from.
 *
 *     cc game.c -o game $(pkg-config --cflags --libs brio) -lm && ./game */
#include <brio/brio.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Vertex {
    float position[3], normal[3];
} Vertex;

static void stop_on(BrioStatus status, const BrioError *error)
{
    if (status == BRIO_OK) return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* A box: tets of a soft body, or what an obstacle shows of them. */
static BrioMesh *box(double x, double y, double z, double cells)
{
    double values[BRIO_MAX_VALUES];
    const BrioField *fields = brio_shape_fields("box");
    BrioMesh *mesh;
    BrioError error = {0};
    brio_fields_defaults(fields, values);
    brio_fields_set(fields, values, "size", (double[]){x, y, z}, &error);
    brio_fields_set(fields, values, "cells", (double[]){cells, cells, cells}, &error);
    stop_on(brio_mesh_shape("box", values, &mesh, &error), &error);
    return mesh;
}

static int add_body(BrioBuilder *builder, const char *name, double E, double height)
{
    BrioBodyDef def = brio_default_body();
    BrioMesh *mesh = box(0.2, 0.2, 0.2, 2);
    BrioError error = {0};
    int body;
    def.name = name;
    def.mesh = mesh;
    def.translate[1] = height;
    stop_on(brio_default_material("stable-neo-hookean", &def.material, &error), &error);
    stop_on(brio_material_set(&def.material, "E", E, &error), &error);
    stop_on(brio_material_set(&def.material, "rho", 500, &error), &error);
    stop_on(brio_builder_body(builder, &def, &body, &error), &error);
    brio_mesh_free(mesh);
    return body;
}

static BrioSim *make_world(void)
{
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioError error = {0};
    BrioContactDef contact = brio_default_contact();
    BrioObstacleDef paddle = brio_default_obstacle();
    BrioSimDef def = brio_default_sim("backward-euler");
    BrioMesh *mesh = box(0.6, 0.05, 0.6, 1);
    stop_on(brio_builder_create(&builder, &error), &error);
    brio_builder_gravity(builder, (double[]){0, -9.8, 0});
    brio_builder_contact(builder, &contact);
    add_body(builder, "jelly", 2e4, 0.2);
    paddle.name = "paddle";
    paddle.mesh = mesh;
    stop_on(brio_builder_obstacle(builder, &paddle, &error), &error);
    stop_on(brio_builder_finish(builder, &system, &state, &error), &error);
    brio_builder_free(builder);
    brio_mesh_free(mesh);
    def.h = 1.0 / 60;
    stop_on(brio_sim_create(system, state, &def, &sim, &error), &error);
    return sim;
}

int main(void)
{
    static const double unturned[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static Vertex vertex[1000];
    BrioSim *sim = make_world();
    BrioError error = {0};
    BrioBuilder *edit;
    int paddle = brio_system_obstacle(brio_sim_system(sim), "paddle");
    stop_on(brio_sim_note_contacts(sim, 32, &error), &error);
    for (int frame = 1; frame <= 90; frame++) {
        double height = frame <= 30 ? 0.02 * frame : 0.6; /* up at 1.2 m/s, then it rests */
        stop_on(brio_sim_move_obstacle(sim, paddle, unturned, (double[]){0, height, 0}, &error),
                &error);
        if (frame == 45) {
            stop_on(brio_sim_edit(sim, &edit, &error), &error);
            add_body(edit, "crate", 1e5, 1.4);
            stop_on(brio_sim_commit(sim, edit, &error), &error);
        }
        stop_on(brio_sim_step(sim, &error), &error);
        BrioContactEvent event[32];
        int count = brio_sim_contacts(sim, event, 32);
        const BrioSystem *system = brio_sim_system(sim); /* another one after an edit */
        for (int i = 0; i < count && i < 32; i++)
            if (event[i].change == BRIO_CONTACT_BEGINS)
                printf("frame %d: %s meets %s, %.2f N s\n", frame,
                       brio_body_name(system, event[i].a),
                       event[i].b < 0 ? brio_obstacle_name(system, BRIO_OBSTACLE(event[i].b))
                                      : brio_body_name(system, event[i].b),
                       event[i].pressing);
        for (int body = 0; body < brio_system_bodies(system); body++) { /* what a renderer takes */
            BrioVertexBuffers to = {.position_float = vertex->position,
                                    .normal_float = vertex->normal,
                                    .stride = sizeof *vertex};
            if (brio_body_drawn_vertices(system, body) > 1000) continue;
            stop_on(brio_sim_draw(sim, body, &to, &error), &error);
        }
    }
    BrioLedger now;
    brio_sim_ledger(sim, &now);
    printf("%d bodies; paddle and crate put in %.1f J\n", brio_system_bodies(brio_sim_system(sim)),
           now.added);
    brio_sim_free(sim);
}
