// Programs as functions of one variable.
#include "programs/program_function.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void bind_program_function(nb::module_& m) {
    nb::class_<PublishedProgram>(m, "PublishedProgram", "Lets functions of kind \"program\" refer to a program.")
        .def(
            "__init__",
            [](PublishedProgram* self, std::shared_ptr<CompiledProgram> program) {
                new (self) PublishedProgram(std::move(program));
            },
            "program"_a,
            "Inputs of the program: the variable, then constants; outputs: value, first and second derivative.")
        .def_prop_ro("number", &PublishedProgram::number, "First parameter of the functions; the constants follow.");
}

}  // namespace bellcrank
