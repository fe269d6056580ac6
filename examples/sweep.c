/* A sweep over a parameter without files, on all cores: how far does a bar sag, by its stiffness
 * and by the number of cells? Every scene is a text in memory and every simulation has one thread;
 * the threads of this program take one after the other.
 *
 *     cc sweep.c -o sweep $(pkg-config --cflags --libs brio) -lpthread && ./sweep */
#include <brio/brio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { STIFFNESSES = 4, MESHES = 2, CASES = STIFFNESSES * MESHES, MAX_THREADS = 64 };
static const double stiffness[STIFFNESSES] = {5e5, 1e6, 2e6, 4e6}; /* Pa */
static const int cells[MESHES] = {8, 16};

typedef struct Case {
    double sag;         /* m */
    char problem[1100]; /* "": none */
} Case;
static Case cases[CASES];
static atomic_int next_case;

static void run_case(int i, Case *result)
{
    char scene[512];
    double first[3 * 2048], x[3 * 2048];
    BrioSim *sim;
    BrioError error = {0};
    int length = snprintf(scene, sizeof scene,
                          "{\"bodies\": [{\"shape\": {\"type\": \"bar\", \"length\": 0.6, "
                          "\"height\": 0.1, \"width\": 0.1, \"cells\": %d, \"across\": 2}, "
                          "\"material\": {\"type\": \"neo-hookean\", \"E\": %g, \"nu\": 0.4, "
                          "\"rho\": 1000}, \"fix\": [{\"box\": [[-1, -1, -1], [0, 1, 1]]}]}]}",
                          cells[i % MESHES], stiffness[i / MESHES]);
    if (brio_sim_parse(scene, (size_t)length, "bar", &sim, &error)) {
        brio_error_text(&error, result->problem, sizeof result->problem);
        return;
    }
    int64_t count = brio_body_vertices(brio_sim_system(sim), 0);
    if (count > 2048)
        snprintf(result->problem, sizeof result->problem, "there is no room for %lld vertices",
                 (long long)count);
    else if (brio_sim_positions(sim, 0, first), brio_sim_settle(sim, &error))
        snprintf(result->problem, sizeof result->problem, "%s", error.message);
    else
        brio_sim_positions(sim, 0, x);
    for (int64_t v = 0; !result->problem[0] && v < count; v++)
        if (first[3 * v + 1] - x[3 * v + 1] > result->sag)
            result->sag = first[3 * v + 1] - x[3 * v + 1];
    brio_sim_free(sim);
}

static void *work(void *unused)
{
    for (int i = atomic_fetch_add(&next_case, 1); i < CASES; i = atomic_fetch_add(&next_case, 1))
        run_case(i, &cases[i]);
    return unused;
}

int main(void)
{
    pthread_t thread[MAX_THREADS];
    /* as many as there are cores */
    int count = brio_threads() < MAX_THREADS ? brio_threads() : MAX_THREADS, failed = 0;
    brio_set_threads(1);
    for (int t = 0; t < count; t++)
        if (pthread_create(&thread[t], NULL, work, NULL)) count = t;
    if (count == 0) work(NULL);
    for (int t = 0; t < count; t++) pthread_join(thread[t], NULL);
    for (int i = 0; i < CASES; i++) {
        printf("E = %.1e Pa, %2d cells: ", stiffness[i / MESHES], cells[i % MESHES]);
        if (cases[i].problem[0])
            printf("%s\n", cases[i].problem);
        else
            printf("sags by %.4f m\n", cases[i].sag);
        failed |= cases[i].problem[0] != 0;
    }
    return failed;
}
