// Pinocchio on trees of bodies: forward dynamics by `aba`, and its derivatives by configuration, velocity and efforts
// with it; see trees.h for what is read.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>

#include "pinocchio_engine.h"

namespace {

void accelerate(void* engine, int state) {
    Engine& e = *static_cast<Engine*>(engine);
    const auto s = static_cast<std::size_t>(state);
    pinocchio::aba(e.model, e.data, e.q[s], e.v[s], e.effort[s], pinocchio::Convention::LOCAL);
}

void differentiate(void* engine, int state) {
    Engine& e = *static_cast<Engine*>(engine);
    const auto s = static_cast<std::size_t>(state);
    pinocchio::computeABADerivatives(e.model, e.data, e.q[s], e.v[s], e.effort[s]);
}

}  // namespace

int main(int argc, char** argv) {
    int samples = 0;
    const Trees trees = trees_of_arguments(argc, argv, &samples);
    Engine engine = engine_of(trees);
    printf("{\n");
    report("aba", accelerate, engine, trees, samples);
    printf(",\n");
    report("computeABADerivatives", differentiate, engine, trees, samples);
    printf("\n}\n");
    return 0;
}
