#include "dense_lagrange.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "../../bindings/state_of.hpp"
#include "bindings.hpp"

namespace bellcrank {

void bind_dense_lagrange(nanobind::module_& m) {
    using DenseLagrangeAt = At<DenseLagrange>;
    nanobind::class_<DenseLagrangeAt, SystemAt>(m, "DenseLagrange").def(nanobind::init<std::shared_ptr<Model>>());
}

}  // namespace bellcrank
