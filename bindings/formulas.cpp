// Joints, constraints and forces given by formulas, for Model(formulas=...).
#include "model/formulas.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.hpp"
#include "expression/expression.hpp"
#include "marshal.hpp"
#include "process_graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

template <size_t N>
using Row = std::array<Expression, N>;

template <size_t N>
std::array<Ref, N> refs(const Row<N>& row) {
    std::array<Ref, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = row[i].ref;
    return out;
}

std::vector<Ref> refs(const std::vector<Expression>& list) {
    std::vector<Ref> out;
    for (const Expression& e : list) out.push_back(e.ref);
    return out;
}

std::vector<std::array<Ref, 3>> refs(const std::vector<Row<3>>& list) {
    std::vector<std::array<Ref, 3>> out;
    for (const Row<3>& row : list) out.push_back(refs(row));
    return out;
}

size_t add_joint(Formulas& self, const std::vector<Expression>& coordinates, const Row<3>& position,
                 const Row<9>& rotation, std::vector<double> start) {
    self.joints.push_back({refs(coordinates), refs(position), refs(rotation), std::move(start)});
    return self.joints.size() - 1;
}

size_t add_constraint(Formulas& self, std::vector<MarkerSymbols> markers, std::vector<CoordinateSymbols> coordinates,
                      const std::vector<Expression>& rows, bool of_velocity) {
    self.constraints.push_back({std::move(markers), std::move(coordinates), refs(rows), of_velocity});
    return self.constraints.size() - 1;
}

void add_force(Formulas& self, std::vector<MarkerSymbols> markers, std::vector<CoordinateSymbols> coordinates,
               const std::vector<Row<3>>& force, const std::vector<Row<3>>& moment,
               const std::vector<Expression>& effort, std::optional<Expression> potential) {
    if (force.size() != moment.size() || (!force.empty() && force.size() != markers.size()) ||
        (!effort.empty() && effort.size() != coordinates.size()) ||
        (!potential && (force.size() != markers.size() || effort.size() != coordinates.size())))
        throw std::invalid_argument("add_force: a force and a moment for each marker, an effort for each coordinate");
    self.forces.push_back({std::move(markers), std::move(coordinates), refs(force), refs(moment), refs(effort),
                           potential ? potential->ref : Ref(), potential.has_value()});
}

}  // namespace

void bind_formulas(nb::module_& m) {
    nb::class_<MarkerSymbols>(m, "MarkerSymbols", "A marker and the symbols that stand for its motion, in world axes.")
        .def(
            "__init__",
            [](MarkerSymbols* self, int body, const Triple& offset, const Quadruple& attitude, const Row<3>& position,
               const Row<4>& rotation, const Row<3>& velocity, const Row<3>& angular_velocity) {
                new (self) MarkerSymbols{body,           to_vec3(offset), to_quat(attitude),     refs(position),
                                         refs(rotation), refs(velocity),  refs(angular_velocity)};
            },
            "body"_a, "offset"_a, "attitude"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
            "offset [m] and attitude (quaternion): of the marker in the frame of its body. rotation: quaternion, "
            "marker to world axes.");
    nb::class_<CoordinateSymbols>(m, "CoordinateSymbols",
                                  "A coordinate of the model and the symbols that stand for it.")
        .def(
            "__init__",
            [](CoordinateSymbols* self, int coordinate, Expression value, Expression rate) {
                new (self) CoordinateSymbols{coordinate, value.ref, rate.ref};
            },
            "coordinate"_a, "value"_a, "rate"_a);
    nb::class_<Formulas>(m, "Formulas", "What users wrote as formulas, for a Model.")
        .def(
            "__init__",
            [](Formulas* self, Expression time, const std::vector<Expression>& parameters, std::vector<double> values) {
                new (self) Formulas{process_graph(), time.ref, refs(parameters), std::move(values), {}, {}, {}};
            },
            "time"_a, "parameters"_a = std::vector<Expression>(), "values"_a = std::vector<double>(),
            "parameters: symbols that have one value throughout the model.")
        .def("add_joint", &add_joint, "coordinates"_a, "position"_a, "rotation"_a, "start"_a,
             "Marker 2 seen from marker 1 as a function of 1 to 6 coordinates, and where the search for these starts; "
             "the number of the joint.")
        .def("add_constraint", &add_constraint, "markers"_a, "coordinates"_a, "rows"_a, "of_velocity"_a = false,
             "1 to 6 formulas that vanish; of_velocity: they are linear in velocities and rates. The number of the "
             "constraint, for block_formula of a block without terms.")
        .def(
            "joints_only",
            [](const Formulas& self) {
                Formulas joints = self;
                joints.constraints.clear();
                joints.forces.clear();
                return joints;
            },
            "The same without constraints and forces.")
        .def("add_force", &add_force, "markers"_a, "coordinates"_a, "force"_a, "moment"_a, "effort"_a,
             "potential"_a = nb::none(),
             "Force and moment on each marker, about its origin, world axes, and the effort along each coordinate; "
             "with a potential these may be left empty, and follow from it.");
}

}  // namespace bellcrank
