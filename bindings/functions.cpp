// Scalar functions of one variable.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "bound_function.hpp"
#include "marshal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void bind_functions(nb::module_& m) {
    m.def(
        "function_kinds",
        [] {
            std::vector<std::string> names;
            for (const FunctionKind& kind : function_kinds()) names.push_back(kind.name);
            return names;
        },
        "The names of all kinds of functions.");
    nb::class_<BoundFunction>(m, "Function", "Scalar function of one variable: a kind and its flat parameters.")
        .def(
            "__init__",
            [](BoundFunction* self, std::string kind, std::vector<double> params,
               std::shared_ptr<ExpressedFunction> expression) {
                new (self) BoundFunction(std::move(kind), std::move(params), std::move(expression));
            },
            "kind"_a, "params"_a, "expression"_a.none() = nb::none(),
            "expression: of the kind \"expression\".\n\n"
            "Raises ValueError for an unknown kind or a malformed parameter list.")
        .def_ro("kind", &BoundFunction::kind, "Name of the kind.")
        .def_ro("params", &BoundFunction::params, "Flat parameters.")
        .def(
            "__call__",
            [](const BoundFunction& self, const Eigen::VectorXd& x) {
                Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> out(x.size(), 3);
                for (Eigen::Index i = 0; i < x.size(); ++i) {
                    const FunctionValue v = self.function(x[i]);
                    out.row(i) << v.f, v.d1, v.d2;
                }
                return out;
            },
            "x"_a, "Value, first and second derivative (n, 3) at the points x (n,).")
        .def(
            "integral", [](const BoundFunction& self, double x) { return self.function.integral(x); }, "x"_a,
            "Integral from 0 to x. Raises ValueError if the kind offers none.")
        .def_prop_ro(
            "integrable", [](const BoundFunction& self) { return self.function.integrable(); },
            "Whether `integral` is available.");
}

}  // namespace bellcrank
