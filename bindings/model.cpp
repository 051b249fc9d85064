// The flat model from named arrays.
#include "model/model.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "formula_draft.hpp"
#include "marshal.hpp"
#include "model/topology.hpp"
#include "spatial/rotation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// Takes arrays out of the keyword arguments by name; what is left over at the end was not known.
class Arrays {
  public:
    explicit Arrays(const nb::kwargs& arrays) : left_(nb::dict(arrays)) {}

    template <class T>
    std::vector<T> numbers(const char* name) {
        const nb::object value = take(name);
        Array<T> array;
        if (!nb::try_cast(value, array))
            throw std::invalid_argument(std::string(name) + ": wrong type of numbers, or not an array in C order");
        return {array.data(), array.data() + array.size()};
    }
    std::vector<std::string> names(const char* name) { return nb::cast<std::vector<std::string>>(take(name)); }

    template <class V, int N>
    std::vector<V> records(const char* name) {
        const std::vector<double> flat = numbers<double>(name);
        if (flat.size() % N != 0) throw std::invalid_argument(std::string(name) + ": wrong number of entries");
        std::vector<V> out(flat.size() / N);
        static_assert(sizeof(V) == N * sizeof(double));
        if (!flat.empty()) std::memcpy(out.data(), flat.data(), flat.size() * sizeof(double));
        return out;
    }
    bool has(const char* name) const { return left_.contains(name); }
    Formulas formulas(const char* name) {
        return has(name) ? nb::cast<const FormulaDraft&>(take(name)).finished() : Formulas{};
    }
    ContactSet contacts(const char* name) { return has(name) ? nb::cast<const ContactSet&>(take(name)) : ContactSet{}; }
    std::map<int, std::shared_ptr<const ExpressedFunction>> expressions(const char* name) {
        std::map<int, std::shared_ptr<const ExpressedFunction>> out;
        if (!has(name)) return out;
        for (const auto& [function, expression] : nb::cast<nb::dict>(take(name)))
            out.emplace(nb::cast<int>(function), nb::cast<std::shared_ptr<ExpressedFunction>>(expression));
        return out;
    }
    template <class Entry>
    std::vector<Entry> entries(const char* name) {
        return has(name) ? nb::cast<std::vector<Entry>>(take(name)) : std::vector<Entry>();
    }
    void finish() const {
        for (const auto& item : left_)
            throw std::invalid_argument("unknown array " + nb::cast<std::string>(item.first));
    }

  private:
    nb::object take(const char* name) {
        if (!left_.contains(name)) throw std::invalid_argument(std::string("missing array ") + name);
        nb::object value = left_[name];
        nb::del(left_[name]);
        return value;
    }
    nb::dict left_;
};

ModelData model_data(const nb::kwargs& kwargs) {
    Arrays a(kwargs);
    ModelData d;
    const auto gravity = a.records<Vec3, 3>("gravity");
    if (gravity.size() != 1) throw std::invalid_argument("gravity: three numbers");
    d.gravity = gravity[0];
    d.body_mass = a.numbers<double>("body_mass");
    d.body_com = a.records<Vec3, 3>("body_com");
    d.body_inertia = a.records<Mat3, 9>("body_inertia");
    d.pair_bodies = a.numbers<int>("pair_bodies");
    d.pair_positions = a.records<Vec3, 3>("pair_positions");
    d.pair_rotations = a.records<Quat, 4>("pair_rotations");
    d.coordinate_kind = a.names("coordinate_kind");
    d.coordinate_pair = a.numbers<int>("coordinate_pair");
    d.coordinate_param_start = a.numbers<int>("coordinate_param_start");
    d.coordinate_params = a.numbers<double>("coordinate_params");
    d.function_kind = a.names("function_kind");
    d.function_param_start = a.numbers<int>("function_param_start");
    d.function_params = a.numbers<double>("function_params");
    d.function_expressions = a.expressions("function_expressions");
    d.block_row_start = a.numbers<int>("block_row_start");
    d.block_unilateral = a.numbers<std::uint8_t>("block_unilateral");
    d.block_compliance = a.numbers<double>("block_compliance");
    d.block_restitution = a.numbers<double>("block_restitution");
    d.row_term_start = a.numbers<int>("row_term_start");
    d.term_coordinate = a.numbers<int>("term_coordinate");
    d.term_coefficient = a.numbers<double>("term_coefficient");
    d.row_function = a.numbers<int>("row_function");
    d.row_constant = a.numbers<double>("row_constant");
    d.law_kind = a.names("law_kind");
    d.law_coordinate = a.numbers<int>("law_coordinate");
    d.law_function = a.numbers<int>("law_function");
    d.law_param_start = a.numbers<int>("law_param_start");
    d.law_params = a.numbers<double>("law_params");
    d.wrench_body = a.numbers<int>("wrench_body");
    d.wrench_position = a.records<Vec3, 3>("wrench_position");
    d.wrench_rotation = a.records<Quat, 4>("wrench_rotation");
    d.wrench_local = a.numbers<std::uint8_t>("wrench_local");
    d.wrench_function = a.numbers<int>("wrench_function");
    d.wrench_constant = a.numbers<double>("wrench_constant");
    if (a.has("body_normal")) d.body_normal = a.records<Vec3, 3>("body_normal");
    if (a.has("block_formula")) d.block_formula = a.numbers<int>("block_formula");
    d.formulas = a.formulas("formulas");
    d.contacts = a.contacts("contacts");
    for (auto& [params, value] : a.entries<std::tuple<std::vector<int>, int>>("inputs"))
        d.inputs.push_back({std::move(params), value});
    d.input_offsets = a.entries<std::pair<int, int>>("input_offsets");
    a.finish();
    return d;
}

using MovingFrame = std::tuple<Triple, Quadruple, Triple, Triple>;

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
    const Quat q = quaternion_from_matrix(rotation);
    return {
        {out[0], out[1], out[2]}, {q.w, q.x, q.y, q.z}, {twist[0], twist[1], twist[2]}, {twist[3], twist[4], twist[5]}};
}

std::pair<std::vector<double>, std::vector<double>> formula_coordinates(const Model& self, size_t joint,
                                                                        const MovingFrame& motion,
                                                                        const std::vector<double>& near) {
    const ParametricJoint& found = formula_joint(self, joint, near.size()).joint;
    const auto& [r, q, rdot, omega] = motion;
    const RelativeMotion m{to_vec3(r), to_quat(q), to_vec3(rdot), to_vec3(omega)};
    const ParametricJoint::Values& values = found.evaluate(m, near.data());
    if (!values.found) return {};
    std::pair<std::vector<double>, std::vector<double>> out;
    for (int i = 0; i < found.coordinates(); ++i) {
        out.first.push_back(values.free[i].value);
        out.second.push_back(dot(values.free[i].dr, m.rdot) + dot(values.free[i].domega, m.omega));
    }
    return out;
}

}  // namespace

std::vector<int> velocity_rows(const Model& model) {
    std::vector<int> rows;
    for (const Block& block : model.blocks)
        for (int r = block.row_begin; block.of_velocity && r < block.row_end; ++r) rows.push_back(r);
    return rows;
}

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
            "principal_rotation",
            [](const Model& self) {
                std::vector<std::vector<double>> out;
                for (const Quat& q : self.principal_rotation) out.push_back({q.w, q.x, q.y, q.z});
                return out;
            },
            "Per body the quaternion from principal to body axes.");
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
}

}  // namespace bellcrank
