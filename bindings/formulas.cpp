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

}  // namespace

void bind_formulas(nb::module_& m) {
    nb::class_<MarkerSymbols>(m, "MarkerSymbols", "A marker and the symbols that stand for its motion, in world axes.")
        .def(
            "__init__",
            [](MarkerSymbols* self, int body, const Triple& offset, const Quadruple& attitude, const Row<3>& position,
               const Row<9>& rotation, const Row<3>& velocity, const Row<3>& angular_velocity) {
                new (self) MarkerSymbols{body,           to_vec3(offset), to_quat(attitude),     refs(position),
                                         refs(rotation), refs(velocity),  refs(angular_velocity)};
            },
            "body"_a, "offset"_a, "attitude"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
            "offset [m] and attitude (quaternion): of the marker in the frame of its body. rotation: marker to world "
            "axes, by rows.");
    nb::class_<Formulas>(m, "Formulas", "What users wrote as formulas, for a Model.")
        .def(
            "__init__",
            [](Formulas* self, Expression time) { new (self) Formulas{process_graph(), time.ref, {}, {}, {}}; },
            "time"_a)
        .def(
            "add_joint",
            [](Formulas& self, int pair, const std::vector<Expression>& coordinates, const Row<3>& position,
               const Row<9>& rotation, std::vector<double> start) {
                self.joints.push_back({pair, refs(coordinates), refs(position), refs(rotation), std::move(start)});
                return self.joints.size() - 1;
            },
            "pair"_a, "coordinates"_a, "position"_a, "rotation"_a, "start"_a,
            "Marker 2 seen from marker 1 as a function of 1 to 6 coordinates, and where the search for these starts; "
            "the number of the joint.")
        .def(
            "add_constraint",
            [](Formulas& self, int block, std::vector<MarkerSymbols> markers, const std::vector<Expression>& rows,
               bool of_velocity) { self.constraints.push_back({block, std::move(markers), refs(rows), of_velocity}); },
            "block"_a, "markers"_a, "rows"_a, "of_velocity"_a = false,
            "1 to 6 formulas that vanish; they are the rows of a block without terms.")
        .def(
            "add_force",
            [](Formulas& self, std::vector<MarkerSymbols> markers, const std::vector<Row<3>>& force,
               const std::vector<Row<3>>& moment, std::optional<Expression> potential) {
                self.forces.push_back({std::move(markers), refs(force), refs(moment),
                                       potential ? potential->ref : Ref(), potential.has_value()});
            },
            "markers"_a, "force"_a, "moment"_a, "potential"_a = nb::none(),
            "Force and moment on each marker, about its origin, world axes, and their potential if they have one.");
}

}  // namespace bellcrank
