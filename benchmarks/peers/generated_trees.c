/* Generated code on trees of bodies: a C file (GENERATED) that defines

     static void generated_accelerations(const double* q, const double* v, const double* effort, double* out);

   see trees.h for what is read. */
#include "trees.h"
#include GENERATED

typedef struct {
    const Trees* trees;
    double* rows;
} Engine;

static void evaluate(void* engine, int s) {
    Engine* e = (Engine*)engine;
    const Trees* t = e->trees;
    generated_accelerations(t->q + s * t->nq, t->v + s * t->nv, t->effort + s * t->nv, e->rows + s * t->nv);
}

int main(int argc, char** argv) {
    int samples = 0;
    const Trees trees = trees_of_arguments(argc, argv, &samples);
    Engine engine = {&trees, (double*)malloc(sizeof(double) * (size_t)(trees.states * trees.nv))};
    for (int s = 0; s < trees.states; ++s) evaluate(&engine, s);
    printf("{\n\"" NAME "\": {");
    print_rows("accelerations", engine.rows, trees.states, trees.nv);
    printf(",\n");
    print_times("nanoseconds", evaluate, &engine, trees.states, samples);
    printf("}\n}\n");
    return 0;
}
