// Trees of subassemblies.
#include <nanobind/stl/vector.h>

#include "assemblies/plan.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void bind_assemblies(nb::module_& m) {
    nb::class_<Subassembly>(m, "Subassembly", "Two subassemblies or parts put together.")
        .def_ro("children", &Subassembly::children)
        .def_ro("parts", &Subassembly::parts)
        .def_ro("joined", &Subassembly::joined)
        .def_ro("ends", &Subassembly::ends)
        .def_ro("weight", &Subassembly::weight)
        .def_ro("depth", &Subassembly::depth);
    nb::class_<AssemblyPlan>(m, "AssemblyPlan", "A binary tree of subassemblies, children before parents.")
        .def_ro("nodes", &AssemblyPlan::nodes)
        .def_ro("depth", &AssemblyPlan::depth)
        .def_ro("widest", &AssemblyPlan::widest)
        .def_ro("most_ends", &AssemblyPlan::most_ends)
        .def_ro("components", &AssemblyPlan::components);
    m.def(
        "plan_assembly",
        [](std::vector<int> size, std::vector<std::vector<int>> parts) {
            return plan_assembly({std::move(size), std::move(parts)});
        },
        "size"_a, "parts"_a, "The tree for parts that meet at handles: unknowns per handle, handles per part.");
}

}  // namespace bellcrank
