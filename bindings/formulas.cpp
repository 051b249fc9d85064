// Joints, constraints and forces given by formulas, for Model(formulas=...).
#include "formula_draft.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.hpp"
#include "expression/part.hpp"
#include "marshal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

template <size_t N>
using FormulaRow = std::array<HeldExpression, N>;

// A marker and a coordinate as Python holds them.
struct HeldMarker {
    int body;
    Vec3 offset;
    Quat attitude;
    FormulaRow<3> position;
    FormulaRow<4> rotation;
    FormulaRow<3> velocity, angular_velocity;
};

struct HeldCoordinate {
    int coordinate;
    HeldExpression value, rate;
};

template <size_t N>
std::array<Ref, N> kept(FormulaDraft& draft, const FormulaRow<N>& row) {
    std::array<Ref, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = draft.keep(row[i]);
    return out;
}

Ref kept(FormulaDraft& draft, const HeldExpression& expression) { return draft.keep(expression); }

MarkerSymbols kept(FormulaDraft& draft, const HeldMarker& marker) {
    return {marker.body,
            marker.offset,
            marker.attitude,
            kept(draft, marker.position),
            kept(draft, marker.rotation),
            kept(draft, marker.velocity),
            kept(draft, marker.angular_velocity)};
}

CoordinateSymbols kept(FormulaDraft& draft, const HeldCoordinate& coordinate) {
    return {coordinate.coordinate, draft.keep(coordinate.value), draft.keep(coordinate.rate)};
}

template <class T>
auto kept(FormulaDraft& draft, const std::vector<T>& list) {
    std::vector<decltype(kept(draft, list[0]))> out;
    for (const T& item : list) out.push_back(kept(draft, item));
    return out;
}

using Markers = std::vector<HeldMarker>;
using Coordinates = std::vector<HeldCoordinate>;

using HeldLine = std::tuple<int, bool, Triple, Triple>;

size_t add_joint(FormulaDraft& self, const HeldExpressions& coordinates, const FormulaRow<3>& position,
                 const FormulaRow<9>& rotation, std::vector<double> start, const std::vector<HeldLine>& chain,
                 const std::array<double, 9>& last_rotation, const Triple& last_position) {
    Chain made;
    for (const auto& [coordinate, turns, axis, point] : chain)
        made.lines.push_back({coordinate, turns, to_vec3(axis), to_vec3(point)});
    std::copy(last_rotation.begin(), last_rotation.end(), made.rotation.m);
    made.position = to_vec3(last_position);
    self.made.joints.push_back(
        {kept(self, coordinates), kept(self, position), kept(self, rotation), std::move(start), std::move(made)});
    return self.made.joints.size() - 1;
}

size_t add_constraint(FormulaDraft& self, const Markers& markers, const Coordinates& coordinates,
                      const HeldExpressions& rows, bool of_velocity) {
    self.made.constraints.push_back({kept(self, markers), kept(self, coordinates), kept(self, rows), of_velocity});
    return self.made.constraints.size() - 1;
}

void add_force(FormulaDraft& self, const Markers& markers, const Coordinates& coordinates,
               const std::vector<FormulaRow<3>>& force, const std::vector<FormulaRow<3>>& moment,
               const HeldExpressions& effort, const std::optional<HeldExpression>& potential) {
    if (force.size() != moment.size() || (!force.empty() && force.size() != markers.size()) ||
        (!effort.empty() && effort.size() != coordinates.size()) ||
        (!potential && (force.size() != markers.size() || effort.size() != coordinates.size())))
        throw std::invalid_argument("add_force: a force and a moment for each marker, an effort for each coordinate");
    self.made.forces.push_back({kept(self, markers), kept(self, coordinates), kept(self, force), kept(self, moment),
                                kept(self, effort), self.keep(potential.value_or(HeldExpression())),
                                potential.has_value()});
}

// Every reference of formulas goes through `change`.
template <class F>
struct ForEachRef {
    F change;

    void operator()(Ref& r) { r = change(r); }
    template <class T, size_t N>
    void operator()(std::array<T, N>& list) {
        for (T& item : list) (*this)(item);
    }
    template <class T>
    void operator()(std::vector<T>& list) {
        for (T& item : list) (*this)(item);
    }
    void operator()(MarkerSymbols& m) { all(m.position, m.rotation, m.velocity, m.angular_velocity); }
    void operator()(CoordinateSymbols& c) { all(c.value, c.rate); }
    void operator()(JointFormula& f) { all(f.coordinates, f.position, f.rotation); }
    void operator()(ConstraintFormula& f) { all(f.markers, f.coordinates, f.rows); }
    void operator()(ForceFormula& f) { all(f.markers, f.coordinates, f.force, f.moment, f.effort, f.potential); }
    void operator()(Formulas& f) { all(f.time, f.parameters, f.joints, f.constraints, f.forces); }

  private:
    template <class... T>
    void all(T&... items) {
        ((*this)(items), ...);
    }
};

}  // namespace

Formulas FormulaDraft::finished() const {
    const std::vector<Ref> roots = refs(held_);
    const GraphPart part(*process_graph(), roots);
    Formulas out = made;
    const auto change = [&](Ref place) { return part.image(roots[place.bits]); };
    ForEachRef<decltype(change)>{change}(out);
    out.graph = part.graph();
    return out;
}

void bind_formulas(nb::module_& m) {
    nb::class_<HeldMarker>(m, "MarkerSymbols", "A marker and the symbols that stand for its motion, in world axes.")
        .def(
            "__init__",
            [](HeldMarker* self, int body, const Triple& offset, const Quadruple& attitude,
               const FormulaRow<3>& position, const FormulaRow<4>& rotation, const FormulaRow<3>& velocity,
               const FormulaRow<3>& angular_velocity) {
                new (self) HeldMarker{body,     to_vec3(offset), to_quat(attitude), position,
                                      rotation, velocity,        angular_velocity};
            },
            "body"_a, "offset"_a, "attitude"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
            "offset [m] and attitude (quaternion): of the marker in the frame of its body. rotation: quaternion, "
            "marker to world axes.");
    nb::class_<HeldCoordinate>(m, "CoordinateSymbols", "A coordinate of the model and the symbols that stand for it.")
        .def(
            "__init__",
            [](HeldCoordinate* self, int coordinate, const HeldExpression& value, const HeldExpression& rate) {
                new (self) HeldCoordinate{coordinate, value, rate};
            },
            "coordinate"_a, "value"_a, "rate"_a);
    nb::class_<FormulaDraft>(m, "Formulas", "What users wrote as formulas, for a Model.")
        .def(
            "__init__",
            [](FormulaDraft* self, const HeldExpression& time, const HeldExpressions& parameters,
               std::vector<double> values) {
                new (self) FormulaDraft;
                self->made.time = self->keep(time);
                self->made.parameters = kept(*self, parameters);
                self->made.values = std::move(values);
            },
            "time"_a, "parameters"_a = HeldExpressions(), "values"_a = std::vector<double>(),
            "parameters: symbols that have one value throughout the model.")
        .def("add_joint", &add_joint, "coordinates"_a, "position"_a, "rotation"_a, "start"_a,
             "chain"_a = std::vector<HeldLine>(), "last_rotation"_a = std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1},
             "last_position"_a = Triple{0, 0, 0},
             "Marker 2 seen from marker 1 as a function of 1 to 6 coordinates, and where the search for these starts; "
             "the number of the joint. chain: coordinate, whether it turns, axis (3) and point (3) [m] of each line if "
             "the pose is a product of exponentials, of which last_rotation and last_position are the last factor.")
        .def("add_constraint", &add_constraint, "markers"_a, "coordinates"_a, "rows"_a, "of_velocity"_a = false,
             "1 to 6 formulas that vanish; of_velocity: they are linear in velocities and rates. The number of the "
             "constraint, for block_formula of a block without terms.")
        .def(
            "joints_only",
            [](const FormulaDraft& self) {
                FormulaDraft joints = self;
                joints.made.constraints.clear();
                joints.made.forces.clear();
                return joints;
            },
            "The same without constraints and forces.")
        .def("add_force", &add_force, "markers"_a, "coordinates"_a, "force"_a, "moment"_a, "effort"_a,
             "potential"_a = nb::none(),
             "Force and moment on each marker, about its origin, world axes, and the effort along each coordinate; "
             "with a potential these may be left empty, and follow from it.");
}

}  // namespace bellcrank
