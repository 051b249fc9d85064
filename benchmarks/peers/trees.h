/* What the drivers of `bellcrank bench symbolic` share: reading a tree of bodies and its states, timing, results.

   Everything is text of numbers. A tree: the number of bodies, then of each body
     kind (0: revolute about z, 1: free), parent (-1: ground), position of the joint's frame in the parent's frame
     (3), rotation from it to the parent (9, by rows), mass, com (3), inertia about the com (9, by rows);
   states: how many, then of each q, v and the efforts. A free joint has q = x, y, z and the quaternion w, x, y, z,
   and v = velocity and angular velocity in the body's axes; the efforts are dual to v. Gravity is 9.81 along -z. */
#ifndef BELLCRANK_TREES_H
#define BELLCRANK_TREES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kLeastNanoseconds = 1000000 };

typedef struct {
    int kind, parent, q, v; /* q, v: where the joint's numbers begin */
    double position[3], rotation[9], mass, com[3], inertia[9];
} TreeBody;

typedef struct {
    int bodies, nq, nv, states;
    TreeBody* body;
    double *q, *v, *effort; /* one state after the other */
} Trees;

static FILE* open_numbers(const char* path) {
    FILE* file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    return file;
}

static double read_number(FILE* file) {
    double value = 0.0;
    if (fscanf(file, "%lf", &value) != 1) {
        fprintf(stderr, "a number is missing\n");
        exit(2);
    }
    return value;
}

static void read_numbers(FILE* file, double* values, int count) {
    for (int i = 0; i < count; ++i) values[i] = read_number(file);
}

static Trees read_trees(const char* tree, const char* states) {
    Trees t = {0, 0, 0, 0, NULL, NULL, NULL, NULL};
    FILE* file = open_numbers(tree);
    t.bodies = (int)read_number(file);
    t.body = (TreeBody*)calloc((size_t)t.bodies, sizeof(TreeBody));
    for (int k = 0; k < t.bodies; ++k) {
        TreeBody* b = &t.body[k];
        b->kind = (int)read_number(file);
        b->parent = (int)read_number(file);
        read_numbers(file, b->position, 3);
        read_numbers(file, b->rotation, 9);
        b->mass = read_number(file);
        read_numbers(file, b->com, 3);
        read_numbers(file, b->inertia, 9);
        b->q = t.nq;
        b->v = t.nv;
        t.nq += b->kind ? 7 : 1;
        t.nv += b->kind ? 6 : 1;
    }
    fclose(file);
    file = open_numbers(states);
    t.states = (int)read_number(file);
    t.q = (double*)malloc(sizeof(double) * (size_t)(t.states * t.nq));
    t.v = (double*)malloc(sizeof(double) * (size_t)(t.states * t.nv));
    t.effort = (double*)malloc(sizeof(double) * (size_t)(t.states * t.nv));
    for (int s = 0; s < t.states; ++s) {
        read_numbers(file, t.q + s * t.nq, t.nq);
        read_numbers(file, t.v + s * t.nv, t.nv);
        read_numbers(file, t.effort + s * t.nv, t.nv);
    }
    fclose(file);
    return t;
}

static double thread_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* What is timed: work(engine, state) evaluates state number `state`. */
typedef void (*Work)(void* engine, int state);

static double passes(Work work, void* engine, int states, int count) {
    const double begun = thread_nanoseconds();
    for (int i = 0; i < count; ++i)
        for (int s = 0; s < states; ++s) work(engine, s);
    return (thread_nanoseconds() - begun) / ((double)count * states);
}

/* Prints `"name": [ns of one evaluation, mean over all states, per sample]`; samples last a millisecond at least. */
static void print_times(const char* name, Work work, void* engine, int states, int samples) {
    int count = 1;
    passes(work, engine, states, 1);
    while (passes(work, engine, states, count) * count * states < kLeastNanoseconds) count *= 2;
    printf("\"%s\": [", name);
    for (int i = 0; i < samples; ++i) printf("%s%.4f", i ? ", " : "", passes(work, engine, states, count));
    printf("]");
}

/* Prints `"name": [[...], ...]` of rows of numbers. */
static void print_rows(const char* name, const double* values, int rows, int columns) {
    printf("\"%s\": [", name);
    for (int i = 0; i < rows; ++i) {
        printf("%s[", i ? ",\n" : "");
        for (int k = 0; k < columns; ++k) printf("%s%.17g", k ? ", " : "", values[i * columns + k]);
        printf("]");
    }
    printf("]");
}

/* TREE STATES SAMPLES, the arguments of every driver. */
static Trees trees_of_arguments(int argc, char** argv, int* samples) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s TREE STATES SAMPLES\n", argv[0]);
        exit(2);
    }
    *samples = atoi(argv[3]);
    return read_trees(argv[1], argv[2]);
}

#endif
