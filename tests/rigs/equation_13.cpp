#include "../../bindings/records.hpp"
#include "bindings.hpp"
#include "equation_13/forms.hpp"
#include "expression/lower.hpp"

namespace bellcrank {

void bind_equation_13(nanobind::module_& m) {
    using symbolic::Equation13;
    const auto refs_of = [](Equation13& self, const std::string& form) {
        return refs(form == "efforts" ? self.efforts() : self.accelerations());
    };
    nanobind::class_<Equation13>(m, "Equation13")
        .def(nanobind::init<std::shared_ptr<Model>, std::vector<int>>(), nanobind::arg("model"),
             nanobind::arg("cut") = std::vector<int>{})
        .def("program",
             [=](Equation13& self, const std::string& form) {
                 const std::vector<Ref> outputs = refs_of(self, form);
                 return lower(self.equations.graph, outputs, self.equations.inputs());
             })
        .def(
            "operations",
            [=](Equation13& self, const std::string& form) {
                return dict_of(count_operations(self.equations.graph, refs_of(self, form)));
            },
            nanobind::sig("def operations(self, form: str) -> dict[str, int]"));
}

}  // namespace bellcrank
