// Pinocchio on trees of bodies: forward dynamics by `aba` in both of its conventions; see trees.h for what is read.
//
// With PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION the algorithm is the wheel's library's; without, it is compiled here.
#include <pinocchio/algorithm/aba.hpp>

#include "pinocchio_engine.h"

namespace {

template <pinocchio::Convention kConvention>
void evaluate(void* engine, int state) {
    Engine& e = *static_cast<Engine*>(engine);
    const auto s = static_cast<std::size_t>(state);
    pinocchio::aba(e.model, e.data, e.q[s], e.v[s], e.effort[s], kConvention);
}

}  // namespace

int main(int argc, char** argv) {
    int samples = 0;
    const Trees trees = trees_of_arguments(argc, argv, &samples);
    Engine engine = engine_of(trees);
    printf("{\n");
    report("aba", evaluate<pinocchio::Convention::LOCAL>, engine, trees, samples);
    printf(",\n");
    report("aba, world convention", evaluate<pinocchio::Convention::WORLD>, engine, trees, samples);
    printf("\n}\n");
    return 0;
}
