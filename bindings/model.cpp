// The flat model: named arrays, what users wrote as formulas, and which of its numbers follow parameters.
#include "model/model.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "derivation/numbers.hpp"
#include "expression/part.hpp"
#include "model/topology.hpp"
#include "process_graph.hpp"
#include "records.hpp"
#include "spatial/rotation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// What users wrote as formulas, while it is being collected: nothing but expressions that are held.
class FormulaDraft {
  public:
    // In the place of references: numbers of what is held.
    Formulas made;

    Ref keep(const HeldExpression& expression) {
        held_.push_back(expression);
        Ref place;
        place.bits = static_cast<std::uint32_t>(held_.size() - 1);
        return place;
    }
    // With references into a graph of its own, which nothing changes.
    Formulas finished() const;

  private:
    HeldExpressions held_;
};

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

    BELLCRANK_FIELDS(HeldMarker, (body), (offset, "m"), (attitude), (position), (rotation), (velocity),
                     (angular_velocity))
};

struct HeldCoordinate {
    int coordinate;
    HeldExpression value, rate;

    BELLCRANK_FIELDS(HeldCoordinate, (coordinate), (value), (rate))
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

size_t add_joint(FormulaDraft& self, const HeldExpressions& coordinates, const FormulaRow<3>& position,
                 const FormulaRow<9>& rotation, std::vector<double> start, const Chain& chain) {
    self.made.joints.push_back(
        {kept(self, coordinates), kept(self, position), kept(self, rotation), std::move(start), chain});
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

namespace {

void bind_formulas(nb::module_& m) {
    auto line = bind_record<ChainLine>(m, "ChainLine", "A line that a coordinate turns about or slides along.");
    make_by_name(line);
    auto chain = bind_record<Chain>(m, "Chain", "A pose as a product of exponentials, from the outside in.");
    make_by_name<Missing::initial>(chain);
    auto marker = bind_record<HeldMarker>(
        m, "MarkerSymbols",
        "A marker in the frame of its body, and the symbols that stand for its motion, in world axes; attitude,\n"
        "rotation: quaternions from marker axes.");
    make_by_name(marker);
    auto coordinate = bind_record<HeldCoordinate>(m, "CoordinateSymbols",
                                                  "A coordinate of the model and the symbols that stand for it.");
    make_by_name(coordinate);
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
        .def("add_joint", &add_joint, "coordinates"_a, "position"_a, "rotation"_a, "start"_a, "chain"_a = Chain{},
             "Marker 2 seen from marker 1 as a function of 1 to 6 coordinates, and where the search for these starts; "
             "the number of the joint. chain: of a pose that is a product of exponentials.")
        .def("add_constraint", &add_constraint, "markers"_a, "coordinates"_a, "rows"_a, "of_velocity"_a = false,
             "1 to 6 formulas that vanish; of_velocity: they are linear in velocities and rates. The number of the "
             "constraint, for block_formula of a block without terms.")
        .def(
            "with_values",
            [](const FormulaDraft& self, std::vector<double> values) {
                if (values.size() != self.made.values.size())
                    throw std::invalid_argument("values: one for each parameter expected");
                FormulaDraft other = self;
                other.made.values = std::move(values);
                return other;
            },
            "values"_a, "The same with other values of its parameters.")
        .def(
            "values", [](const FormulaDraft& self) { return self.made.values; }, "The values of its parameters.")
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

void bind_parametric(nb::module_& m) {
    using symbolic::ParametricNumbers;
    auto steered = bind_record<ParametricNumbers::Steered>(
        m, "Steered",
        "A parameter that follows an input: its number, its place among the values of formulas, or else (-1) that in\n"
        "function_params.");
    make_by_name(steered);
    nb::class_<ParametricNumbers>(m, "ParametricNumbers", "Numbers of a model that follow parameters.")
        .def(
            "__init__",
            [](ParametricNumbers* self, const HeldExpressions& parameters, std::vector<double> values,
               const std::vector<std::tuple<std::string, int, HeldExpression>>& entries,
               const std::vector<ParametricNumbers::Steered>& steered) {
                if (parameters.size() != values.size())
                    throw std::invalid_argument("values: one for each parameter expected");
                std::vector<Ref> roots = refs(parameters);
                for (const auto& [array, index, formula] : entries) roots.push_back(formula.ref());
                const GraphPart part(*process_graph(), roots);
                new (self) ParametricNumbers{part.graph(), {}, std::move(values), {}, steered};
                for (const HeldExpression& e : parameters) self->parameters.push_back(part.image(e.ref()));
                for (const auto& [array, index, formula] : entries)
                    self->entries.push_back({array, index, part.image(formula.ref())});
            },
            "parameters"_a, "values"_a, "entries"_a, "steered"_a = std::vector<ParametricNumbers::Steered>(),
            "parameters: symbols. entries: (array of the model, index of the number in it, expression of the "
            "parameters). steered: those that follow inputs of the model.");
}

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// Numbers, or vectors and matrices of numbers.
template <class T>
void take(const nb::handle& value, std::vector<T>& out) {
    using Number = std::conditional_t<std::is_arithmetic_v<T>, T, double>;
    Array<Number> array;
    if (!nb::try_cast(value, array)) throw std::invalid_argument("wrong type of numbers, or not an array in C order");
    if (array.size() % (sizeof(T) / sizeof(Number)) != 0) throw std::invalid_argument("wrong number of entries");
    out.resize(array.size() * sizeof(Number) / sizeof(T));
    if (!out.empty()) std::memcpy(static_cast<void*>(out.data()), array.data(), array.size() * sizeof(Number));
}
void take(const nb::handle& value, Vec3& out) {
    std::vector<Vec3> one;
    take(value, one);
    if (one.size() != 1) throw std::invalid_argument("three numbers");
    out = one[0];
}
void take(const nb::handle& value, std::vector<std::string>& out) { out = nb::cast<std::vector<std::string>>(value); }
void take(const nb::handle& value, std::vector<std::pair<int, int>>& out) {
    out = nb::cast<std::vector<std::pair<int, int>>>(value);
}
void take(const nb::handle& value, std::vector<ModelData::Input>& out) {
    for (auto& [params, place] : nb::cast<std::vector<std::tuple<std::vector<int>, int>>>(value))
        out.push_back({std::move(params), place});
}
void take(const nb::handle& value, std::vector<ModelData::FrictionLoad>& out) {
    using Given = std::tuple<int, int, std::vector<int>, std::vector<int>, std::vector<double>, std::array<double, 2>,
                             std::array<double, 2>, std::vector<int>, std::vector<double>, double>;
    for (auto& [law, pair, blocks, rows, form, slipping, holding, wrap, factor, wrapped] :
         nb::cast<std::vector<Given>>(value))
        out.push_back({law, pair, std::move(blocks), std::move(rows), std::move(form), slipping, holding,
                       std::move(wrap), std::move(factor), wrapped});
}
void take(const nb::handle& value, std::map<int, std::shared_ptr<const ExpressedFunction>>& out) {
    for (const auto& [function, expression] : nb::cast<nb::dict>(value))
        out.emplace(nb::cast<int>(function), nb::cast<std::shared_ptr<ExpressedFunction>>(expression));
}
void take(const nb::handle& value, Formulas& out) { out = nb::cast<const FormulaDraft&>(value).finished(); }
void take(const nb::handle& value, ContactSet& out) { out = nb::cast<const ContactSet&>(value); }

ModelData model_data(const nb::kwargs& arrays) {
    ModelData data;
    size_t taken = 0;
    for_each_field<ModelData>([&](const auto& field) {
        if (!arrays.contains(field.name)) {
            if (std::ranges::find(ModelData::kOptional, field.name) == std::end(ModelData::kOptional))
                throw std::invalid_argument(std::string("missing array ") + field.name);
            return;
        }
        ++taken;
        try {
            take(arrays[field.name], data.*field.member);
        } catch (const std::invalid_argument& fault) {
            throw std::invalid_argument(std::string(field.name) + ": " + fault.what());
        }
    });
    for (const auto& item : arrays) {
        const auto name = nb::cast<std::string>(item.first);
        bool known = taken == arrays.size();
        for_each_field<ModelData>([&](const auto& field) { known = known || name == field.name; });
        if (!known) throw std::invalid_argument("unknown array " + name);
    }
    return data;
}

using MovingFrame = std::tuple<Vec3, Quat, Vec3, Vec3>;

const FormulaJoint& formula_joint(const Model& model, size_t number, size_t given) {
    if (number >= model.formula_joints.size()) throw std::invalid_argument("there is no such joint given by formulas");
    const FormulaJoint& found = model.formula_joints[number];
    if (static_cast<int>(given) != found.joint.coordinates())
        throw std::invalid_argument("a number for each coordinate expected");
    return found;
}

// The programs of joints come first; their outputs are those of ParametricJoint.
MovingFrame formula_motion(const Model& self, size_t joint, const std::vector<double>& coordinates,
                           const std::vector<double>& rates) {
    const int d = formula_joint(self, joint, std::min(coordinates.size(), rates.size())).joint.coordinates();
    const CompiledProgram& program = *self.programs[joint];
    std::vector<double> in = coordinates, out(program.outputs()), work(program.work_size());
    in.insert(in.end(), rates.begin(), rates.end());
    in.insert(in.end(), self.data().formulas.values.begin(), self.data().formulas.values.end());
    program.evaluate(in.data(), out.data(), work.data());
    Mat3 rotation;
    std::copy_n(out.begin() + 3, 9, rotation.m);
    double twist[6] = {};
    for (int i = 0; i < d; ++i)
        for (int k = 0; k < 6; ++k) twist[k] += out[12 + 6 * i + k] * rates[i];
    return {{out[0], out[1], out[2]},
            quaternion_from_matrix(rotation),
            {twist[0], twist[1], twist[2]},
            {twist[3], twist[4], twist[5]}};
}

std::pair<std::vector<double>, std::vector<double>> formula_coordinates(const Model& self, size_t joint,
                                                                        const MovingFrame& motion,
                                                                        const std::vector<double>& near) {
    const ParametricJoint& found = formula_joint(self, joint, near.size()).joint;
    const auto& [r, q, rdot, omega] = motion;
    const RelativeMotion m{r, q, rdot, omega};
    const ParametricJoint::Values& values = found.evaluate(m, near.data());
    if (!values.found) return {};
    std::pair<std::vector<double>, std::vector<double>> out;
    for (int i = 0; i < found.coordinates(); ++i) {
        out.first.push_back(values.free[i].value);
        out.second.push_back(dot(values.free[i].dr, m.rdot) + dot(values.free[i].domega, m.omega));
    }
    return out;
}

std::vector<int> velocity_rows(const Model& model) {
    std::vector<int> rows;
    for (const Block& block : model.blocks)
        for (int r = block.row_begin; block.of_velocity && r < block.row_end; ++r) rows.push_back(r);
    return rows;
}

}  // namespace

void bind_model(nb::module_& m) {
    nb::class_<Model>(m, "Model", "A mechanism as flat arrays; nothing but its inputs changes.")
        .def(
            "__init__", [](Model* self, nb::kwargs arrays) { new (self) Model(model_data(arrays)); },
            nb::sig("def __init__(self, **arrays: object) -> None"),
            "From arrays by name (int32, float64 and uint8, in C order; see cpp/model/model.hpp).\n\n"
            "Raises:\n    ValueError: an array is missing, unknown, of the wrong size, or holds a bad index.")
        .def_prop_ro("bodies", &Model::bodies, "Number of bodies, the ground not counted.")
        .def_prop_ro("velocity_rows", &velocity_rows, "The rows that hold velocities alone.")
        .def("copy", &Model::copy, "The same with inputs of its own, for a system of its own.")
        .def("bodies_of", &Model::bodies_of, "block"_a, "The bodies that a block connects, the ground included.")
        .def_ro("programs", &Model::programs, "The programs of elements given by formulas.")
        .def_prop_ro("rows", &Model::rows_total, "Number of constraint rows.")
        .def("formula_motion", &formula_motion, "joint"_a, "coordinates"_a, "rates"_a,
             "Of joint number `joint` given by formulas, at coordinates and their rates: position (3), quaternion (4), "
             "velocity (3) and angular velocity (3) of marker 2 seen from marker 1, in its axes.")
        .def("formula_coordinates", &formula_coordinates, "joint"_a, "motion"_a, "near"_a,
             "The coordinates that come nearest to such a motion, sought from `near`, and their rates; empty if there "
             "are none.")
        .def_prop_ro(
            "principal_rotation", [](const Model& self) { return rows_of(self.principal_rotation); },
            "Per body the quaternion from principal to body axes (bodies, 4).");
    nb::class_<Topology>(m, "Topology",
                         "Edges between nodes and a forest that spans them, the last node its first root.")
        .def(nb::init<int, std::vector<Ends>, int>(), "nodes"_a, "edges"_a, "firm"_a,
             "The first `firm` edges carry a tree on before any of the others does.\n\n"
             "Raises:\n    ValueError: an edge leads to no node.")
        .def_ro("parent", &Topology::parent, "Per node the one before it, -1 at roots.")
        .def_ro("parent_edge", &Topology::parent_edge, "Per node the edge to the one before it, -1 at roots.")
        .def_ro("order", &Topology::order, "All nodes, breadth first.")
        .def_ro("closures", &Topology::closures, "Edges that are not in the forest; each closes one loop.")
        .def("loop", &Topology::loop, "closure"_a, "The edges round the loop that one of `closures` closes, it first.");
    m.def(
        "components",
        [](int nodes, const std::vector<std::vector<int>>& groups) {
            Components c = components(nodes, groups);
            return std::tuple(std::move(c.of_node), std::move(c.of_group), std::move(c.grounded));
        },
        "nodes"_a, "groups"_a,
        "Per node and per group the component (-1: the ground, which is the last node and ties none together), and per "
        "component whether a group ties it to the ground. Raises ValueError where a group names no node.");
    bind_formulas(m);
    bind_parametric(m);
}

}  // namespace bellcrank
