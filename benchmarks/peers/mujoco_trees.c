/* MuJoCo on trees of bodies: smooth forward dynamics, from kinematics to the solve; see trees.h for what is read.

   The model is an XML file, made by mujoco_trees.py, given in place of SAMPLES' predecessor: see main. */
#include <mujoco/mujoco.h>

#include "trees.h"

typedef struct {
    const mjModel* model;
    mjData* data;
    const Trees* trees;
    mjtNum *qpos, *qvel, *force; /* one state after the other */
} Engine;

static void turn(const double* quaternion, const double* local, double* world) {
    mju_rotVecQuat(world, local, quaternion);
}

/* MuJoCo's velocity and force of a free joint are in world axes, its angular velocity and torque in the body's. */
static void states_of(Engine* e) {
    const Trees* t = e->trees;
    const size_t size = sizeof(mjtNum) * (size_t)(t->states * t->nv);
    e->qpos = t->q;
    e->qvel = (mjtNum*)malloc(size);
    e->force = (mjtNum*)malloc(size);
    memcpy(e->qvel, t->v, size);
    memcpy(e->force, t->effort, size);
    for (int s = 0; s < t->states; ++s)
        for (int k = 0; k < t->bodies; ++k) {
            if (!t->body[k].kind) continue;
            const double* quaternion = t->q + s * t->nq + t->body[k].q + 3;
            const int v = s * t->nv + t->body[k].v;
            turn(quaternion, t->v + v, e->qvel + v);
            turn(quaternion, t->effort + v, e->force + v);
        }
}

/* Accelerations of free joints as derivatives of velocities in the body's axes: Rᵀ a - ω × v. */
static void accelerations(const Engine* e, int state, double* out) {
    const Trees* t = e->trees;
    memcpy(out, e->data->qacc_smooth, sizeof(double) * (size_t)t->nv);
    for (int k = 0; k < t->bodies; ++k) {
        if (!t->body[k].kind) continue;
        mjtNum back[4], local[3], carried[3];
        const int v = t->body[k].v;
        const double* velocity = t->v + state * t->nv + v;
        mju_negQuat(back, t->q + state * t->nq + t->body[k].q + 3);
        mju_rotVecQuat(local, e->data->qacc_smooth + v, back);
        mju_cross(carried, velocity + 3, velocity);
        for (int i = 0; i < 3; ++i) out[v + i] = local[i] - carried[i];
    }
}

static void set_state(Engine* e, int state) {
    memcpy(e->data->qpos, e->qpos + state * e->trees->nq, sizeof(mjtNum) * (size_t)e->trees->nq);
    memcpy(e->data->qvel, e->qvel + state * e->trees->nv, sizeof(mjtNum) * (size_t)e->trees->nv);
}

static void kinematics_to_solve(void* engine, int state) {
    Engine* e = (Engine*)engine;
    const mjModel* m = e->model;
    mjData* d = e->data;
    const mjtNum* force = e->force + state * e->trees->nv;
    set_state(e, state);
    mj_kinematics(m, d);
    mj_comPos(m, d);
    mj_crb(m, d);
    mj_factorM(m, d);
    mj_comVel(m, d);
    mj_rne(m, d, 0, d->qfrc_bias);
    for (int i = 0; i < e->trees->nv; ++i) d->qfrc_smooth[i] = force[i] - d->qfrc_bias[i];
    mj_solveM(m, d, d->qacc_smooth, d->qfrc_smooth, 1);
}

static void forward(void* engine, int state) {
    Engine* e = (Engine*)engine;
    set_state(e, state);
    memcpy(e->data->qfrc_applied, e->force + state * e->trees->nv, sizeof(mjtNum) * (size_t)e->trees->nv);
    mj_forward(e->model, e->data);
}

static void report(const char* name, Work work, Engine* e, int samples) {
    const Trees* t = e->trees;
    double* rows = (double*)malloc(sizeof(double) * (size_t)(t->states * t->nv));
    for (int s = 0; s < t->states; ++s) {
        work(e, s);
        accelerations(e, s, rows + s * t->nv);
    }
    printf("\"%s\": {", name);
    print_rows("accelerations", rows, t->states, t->nv);
    printf(",\n");
    print_times("nanoseconds", work, e, t->states, samples);
    printf("}");
    free(rows);
}

/* TREE.xml lies beside TREE. */
int main(int argc, char** argv) {
    int samples = 0;
    const Trees trees = trees_of_arguments(argc, argv, &samples);
    char path[4096], message[1000];
    snprintf(path, sizeof path, "%s.xml", argv[1]);
    Engine engine;
    engine.model = mj_loadXML(path, NULL, message, (int)sizeof message);
    if (!engine.model || engine.model->nq != trees.nq || engine.model->nv != trees.nv) {
        fprintf(stderr, "%s: %s\n", path, engine.model ? "not the tree's sizes" : message);
        return 2;
    }
    engine.data = mj_makeData(engine.model);
    engine.trees = &trees;
    states_of(&engine);
    printf("{\n");
    report("kinematics to solve", kinematics_to_solve, &engine, samples);
    printf(",\n");
    report("mj_forward", forward, &engine, samples);
    printf("\n}\n");
    return 0;
}
