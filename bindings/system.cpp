// What every System answers, at one state.
#include "model/system.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bindings.hpp"
#include "model/branches.hpp"
#include "model/frame_writer.hpp"
#include "model/state.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"
#include "state_of.hpp"
#include "tangents/model_tangent.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

std::vector<double> room_for_records(const Model& model) {
    return std::vector<double>(static_cast<size_t>(kPose) * (model.bodies() + 1), 0.0);
}

void SystemAt::make_room() {
    x.resize(core().configuration_size());
    u.resize(core().tangent_size());
    udot.resize(u.size());
}

BodyRecords records_of(const Model& model, double t, const Rows& position, const Rows& rotation, const Rows& velocity,
                       const Rows& angular_velocity) {
    const Eigen::Index n = model.bodies();
    const auto check = [n](const Rows& a, Eigen::Index columns, const char* name) {
        if (a.rows() != n || (n > 0 && a.cols() != columns))
            throw std::invalid_argument(std::string(name) + ": expected shape (" + std::to_string(n) + ", " +
                                        std::to_string(columns) + ")");
    };
    check(position, 3, "position");
    check(rotation, 4, "rotation");
    check(velocity, 3, "velocity");
    check(angular_velocity, 3, "angular_velocity");
    const auto copy = [](const Rows& a) { return std::vector<double>(a.data(), a.data() + a.size()); };
    BodyRecords out{room_for_records(model), room_for_records(model)};
    to_principal(model, {t, copy(position), copy(rotation), copy(velocity), copy(angular_velocity)}, out.poses.data(),
                 out.twists.data());
    return out;
}

BodyRecords records_of(const Model& model, double t, const Rows& position, const Rows& rotation) {
    const Rows rest = Rows::Zero(model.bodies(), 3);
    return records_of(model, t, position, rotation, rest, rest);
}

NeutralArrays arrays_of(const Model& model, double t, const double* poses, const double* twists) {
    const int n = model.bodies();
    Rows position(n, 3), rotation(n, 4), velocity(n, 3), angular(n, 3);
    to_neutral(model, poses, twists, position.data(), rotation.data(), velocity.data(), angular.data());
    return {t, position, rotation, velocity, angular};
}

std::vector<Observation::Reaction> reactions_of(const std::vector<std::pair<std::vector<int>, int>>& which) {
    std::vector<Observation::Reaction> out;
    for (const auto& [blocks, pair] : which) out.push_back({blocks, pair});
    return out;
}

void check_size(Eigen::Index given, int wanted, const char* what) {
    if (given != wanted)
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(wanted) + " numbers expected, " +
                                    std::to_string(given) + " given");
}

namespace {

void set_state(SystemAt& self, double t, const Rows& position, const Rows& rotation, const Rows& velocity,
               const Rows& angular_velocity, bool continued, std::optional<Column> angles) {
    System& s = self.core();
    const Model& model = s.model();
    const auto [poses, twists] = records_of(model, t, position, rotation, velocity, angular_velocity);
    self.time = t;
    s.from_records(t, poses.data(), twists.data(), continued, self.x.data(), self.u.data());
    if (!angles) return;
    check_size(angles->size(), static_cast<int>(model.coordinates.size()), "angles");
    if (angles->hasNaN()) {
        const AngleBranches found = starting_branches(model, t, poses.data(), angles->data());
        for (int i = 0; i < static_cast<int>(angles->size()); ++i) (*angles)[i] = found.reference(i);
    }
    s.set_angles(self.x.data(), angles->data());
    if (!model.formula_joints.empty())  // they find their coordinates in the poses, from the angles on
        s.from_records(t, poses.data(), twists.data(), true, self.x.data(), self.u.data());
}

NeutralArrays state(SystemAt& self) {
    const Scenery at = self.scenery();
    return arrays_of(at.model, self.time, at.x, at.u);
}

void displace(SystemAt& self, const Rows& displacement) {
    const Scenery at = self.scenery();
    const int bodies = at.model.bodies();
    if (displacement.rows() != bodies || displacement.cols() != 6)
        throw std::invalid_argument("displacement: six numbers per body");
    std::vector<double> poses = room_for_records(at.model), twists = poses;
    std::copy_n(at.x, poses.size(), poses.begin());
    std::copy_n(at.u, twists.size(), twists.begin());
    for (int b = 0; b < bodies; ++b) {
        double* p = poses.data() + kPose * b;
        add(p, {displacement(b, 0), displacement(b, 1), displacement(b, 2)});
        const Vec3 turn{displacement(b, 3), displacement(b, 4), displacement(b, 5)};
        store(p + 4, advanced(load_quaternion(p + 4), turn));
    }
    self.core().from_records(self.time, poses.data(), twists.data(), true, self.x.data(), self.u.data());
}

std::tuple<Rows, Rows, Column> accelerate(SystemAt& self, bool settles) {
    System& s = self.core();
    const Model& model = s.model();
    self.accelerate(settles);
    std::vector<double> rates = room_for_records(model);
    s.body_accelerations(self.time, self.x.data(), self.u.data(), self.udot.data(), rates.data());
    const Scenery at = self.scenery();
    Rows linear(model.bodies(), 3), angular(model.bodies(), 3);
    accelerations_to_neutral(model, at.x, at.u, rates.data(), linear.data(), angular.data());
    Column multipliers(model.rows_total());
    s.multipliers(self.time, self.x.data(), self.u.data(), self.udot.data(), multipliers.data());
    return {linear, angular, multipliers};
}

std::pair<Rows, Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor>> reactions(
    SystemAt& self, const std::vector<std::pair<std::vector<int>, int>>& which) {
    std::vector<ReactionWrench> found;
    self.core().reactions(self.x.data(), reactions_of(which), found);
    Rows wrenches(found.size(), 6);
    Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor> unique(found.size(), 2);
    for (size_t i = 0; i < found.size(); ++i) {
        std::copy_n(found[i].wrench, 6, wrenches.row(i).data());
        std::copy_n(found[i].unique, 2, unique.row(i).data());
    }
    return {wrenches, unique};
}

using Flags = Eigen::Matrix<bool, Eigen::Dynamic, 1>;

Flags determined_multipliers(SystemAt& self) {
    Flags out(self.core().model().rows_total());
    for (Eigen::Index row = 0; row < out.size(); ++row) out[row] = self.core().determines(static_cast<int>(row));
    return out;
}

std::pair<Flags, Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor>> left_open(
    SystemAt& self, const std::vector<std::pair<std::vector<int>, int>>& which) {
    const System::LeftOpen open = self.core().left_open(self.time, self.x.data(), self.u.data(), reactions_of(which));
    Flags rows = Flags::Constant(self.core().model().rows_total(), false);
    Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor> wrenches(which.size(), 2);
    wrenches.setConstant(false);
    for (size_t i = 0; i < open.multipliers.size(); ++i) rows[i] = open.multipliers[i] != 0;
    for (size_t i = 0; i < open.reactions.size(); ++i)
        for (int part = 0; part < 2; ++part) wrenches(i, part) = open.reactions[i][part] != 0;
    return {rows, wrenches};
}

std::pair<double, double> friction_use(SystemAt& self) {
    const FrictionUse use = self.core().friction_use(self.time, self.x.data(), self.u.data());
    return {use.of_all, use.of_constant};
}

std::vector<std::pair<int, std::vector<int>>> shared_friction(SystemAt& self) {
    std::vector<std::pair<int, std::vector<int>>> out;
    for (auto& [law, rows] : self.core().shared_friction(self.time, self.x.data(), self.u.data()))
        out.emplace_back(law, std::move(rows));
    return out;
}

constexpr double kHolds = 2.0;  // beside senses

std::vector<std::pair<int, double>> friction_states(SystemAt& self) {
    System& s = self.core();
    std::vector<std::pair<int, double>> out;
    for (int i = 0; s.has_friction() && i < s.stops(); ++i)
        if (s.is_friction(i)) out.emplace_back(s.row_of_stop(i), s.is_holding(i) ? kHolds : s.friction_sense(i));
    return out;
}

std::pair<Column, Column> coordinates(SystemAt& self) {
    const Scenery at = self.scenery();
    Column value(at.model.coordinates.size()), rate(value.size());
    for (Eigen::Index i = 0; i < value.size(); ++i) {
        const CoordinateMotion c = coordinate_motion(at.model, at.branches, static_cast<int>(i), at.x, at.u);
        value[i] = c.value;
        rate[i] = c.rate;
    }
    return {value, rate};
}

Column coordinate_accelerations(SystemAt& self, const Rows& linear, const Rows& angular) {
    const Scenery at = self.scenery();
    const Eigen::Index n = at.model.bodies();
    if (linear.rows() != n || angular.rows() != n || (n > 0 && (linear.cols() != 3 || angular.cols() != 3)))
        throw std::invalid_argument("accelerations: three numbers per body");
    std::vector<double> udot = room_for_records(at.model);
    accelerations_to_principal(at.model, at.x, at.u, linear.data(), angular.data(), udot.data());
    Column out(at.model.coordinates.size());
    for (Eigen::Index i = 0; i < out.size(); ++i)
        out[i] = coordinate_acceleration(at, static_cast<int>(i), udot.data());
    return out;
}

std::tuple<Column, Column, Column, Rows> rows(SystemAt& self) {
    const auto [model, branches, t, x, u] = self.scenery();
    const int m = model.rows_total();
    ConstraintRows r(model, branches);
    r.evaluate_jacobians(t, x);
    r.evaluate_biases(t, x, u);
    Rows J = Rows::Zero(m, 6 * model.bodies());
    for (const BlockLayout& b : r.blocks())
        for (const BlockSide& side : r.sides(b)) {
            if (side.body == model.ground()) continue;
            for (int i = 0; i < b.size; ++i) {
                double row[6];
                side.rows.read(r.J.data(), i, row);
                for (int k = 0; k < 6; ++k) J(b.row + i, 6 * side.body + k) = row[k] * r.sqrt_mass(side.body, k);
            }
        }
    return {column_of(r.C), column_of(r.Ct), column_of(r.Qc), J};
}

std::pair<double, double> violation(SystemAt& self) {
    std::pair<double, double> out;
    self.core().violation(self.time, self.x.data(), self.u.data(), &out.first, &out.second);
    return out;
}

std::pair<double, double> energy_of(SystemAt& self) {
    const Energy e = self.core().energy_at(self.time, self.x.data(), self.u.data());
    return {e.kinetic, e.potential};
}

std::vector<std::tuple<int, int, int, std::string>> contact_kinks(SystemAt& self) {
    constexpr const char* kNames[] = {"", "edge", "touch", "start"};
    const Scenery at = self.scenery();
    std::vector<std::tuple<int, int, int, std::string>> out;
    for (const ContactSlopes& one : self.core().contacts().kinks(at.x, at.u))
        out.emplace_back(one.group, one.a, one.b, kNames[static_cast<int>(one.kink)]);
    return out;
}

Rows contacts_of(SystemAt& self) {
    const Scenery at = self.scenery();
    std::vector<RecordedContact> records;
    self.core().contacts().evaluate(at.x, at.u);
    self.core().contacts().append_records(records);
    return rows_of(records);
}

void set_inputs(SystemAt& self, Model& model, const std::vector<double>& values) {
    if (&model != &self.core().model()) throw std::invalid_argument("set_inputs: the model is that of another system");
    check_size(static_cast<Eigen::Index>(values.size()), model.inputs(), "values");
    model.set_inputs(self.time, values);
    self.core().inputs_changed();
}

// At one frame after another: states of friction as friction_states() has them, whether efforts of what holds are
// determined, and jam margins.
std::tuple<Rows, Rows, Column> friction_again(SystemAt& self, Model& model, const Column& times, const Rows& position,
                                              const Rows& rotation, const Rows& velocity, const Rows& angular_velocity,
                                              const Rows& inputs) {
    const Eigen::Index count = times.size(), n = model.bodies();
    const auto check = [&](const Rows& a, Eigen::Index columns) {
        if (a.rows() != count || a.cols() != columns) throw std::invalid_argument("friction_again: a row per frame");
    };
    check(position, 3 * n), check(rotation, 4 * n), check(velocity, 3 * n), check(angular_velocity, 3 * n);
    check(inputs, model.inputs());
    System& s = self.core();
    std::vector<double> multipliers(model.rows_total());
    const auto frictions = static_cast<Eigen::Index>(friction_states(self).size());
    Rows states(count, frictions), unique = Rows::Ones(count, frictions);
    Column margins(count);
    for (Eigen::Index k = 0; k < count; ++k) {
        const auto part = [&](const Rows& a, Eigen::Index columns) -> Rows {
            return Eigen::Map<const Rows>(a.row(k).data(), n, columns);
        };
        set_state(self, times[k], part(position, 3), part(rotation, 4), part(velocity, 3), part(angular_velocity, 3),
                  false, {});
        if (model.inputs() > 0)
            set_inputs(self, model, std::vector<double>(inputs.row(k).begin(), inputs.row(k).end()));
        const bool settles = s.settle_friction(self.time, self.x.data(), self.u.data(), -1, 0.0);
        margins[k] = settles ? s.jam_margin(self.time, self.x.data(), self.u.data()) : s.friction_jam().part;
        if (settles) self.accelerate(false);
        if (settles) s.multipliers(self.time, self.x.data(), self.u.data(), self.udot.data(), multipliers.data());
        Eigen::Index i = 0;
        for (const auto& [row, state] : friction_states(self)) {
            states(k, i) = state;
            if (state == kHolds) unique(k, i) = settles && s.determines(row);
            ++i;
        }
    }
    return {states, unique, margins};
}

bool go_to_doubtful_moment(SystemAt& self) {
    Moment doubtful;
    if (!self.core().take_doubtful_moment(doubtful)) return false;
    self.left = {self.time, self.x, self.u};
    self.time = doubtful.t, self.x = doubtful.x, self.u = doubtful.u;
    return true;
}

void go_back(SystemAt& self) {
    self.time = self.left.t, self.x = self.left.x, self.u = self.left.u;
    self.scenery();  // angles follow
}

std::tuple<Rows, double> strike(SystemAt& self, const std::vector<Blow>& blows, const std::vector<StruckPoint>& points,
                                double tolerance) {
    System& system = self.core();
    const auto check = [&](int body) {
        if (body < 0 || body > system.model().ground()) throw std::invalid_argument("there is no such body");
    };
    for (const Blow& blow : blows) check(blow.body);
    for (const StruckPoint& point : points) std::ranges::for_each(point.bodies, check);
    std::vector<Vec3> impulses;
    const ImpulseOutcome outcome =
        system.strike(self.time, self.x.data(), blows, points, tolerance, self.u.data(), impulses);
    return {rows_of(impulses), outcome.residual};
}

// Four directions: each of a number of the state, or of the model.
struct FourDirections {
    std::vector<double> x, u;
    std::vector<ModelTangent::Change> numbers;

    FourDirections(size_t n, const std::vector<NumberPlace>& places, size_t first)
        : x(kDirections * n, 0.0), u(kDirections * n, 0.0) {
        for (size_t k = 0; k < kDirections; ++k) {
            const size_t at = first + k;
            if (at < n) x[kDirections * at + k] = 1.0;
            if (at >= n && at < 2 * n) u[kDirections * (at - n) + k] = 1.0;
            if (at < 2 * n || at >= 2 * n + places.size()) continue;
            numbers.push_back({places[at - 2 * n], {}});
            numbers.back().along[k] = 1.0;
        }
    }
};

void repeat(SystemAt& self, const std::string& work, int times, double step,
            const std::vector<std::pair<std::string, int>>& places) {
    System& core = self.core();
    const Model& model = core.model();
    const bool tangent = work == "tangent", jacobian = work == "jacobian", adjoint = work == "adjoint";
    if (!tangent && !jacobian && !adjoint && work != "accelerate")
        throw std::invalid_argument("repeat: unknown work " + work);
    const size_t n = self.u.size();
    std::vector<double> x = self.x, udot(n), seeds(n, 1.0), rows(model.rows_total(), 0.0), rates(kDirections * n);
    std::vector<NumberPlace> along;
    for (const auto& [array, index] : places) along.push_back(number_place(model, array, index));
    std::vector<FourDirections> directions;
    const size_t count = jacobian ? 2 * n + along.size() : tangent ? 1 : 0;
    for (size_t first = 0; first < count; first += kDirections) directions.emplace_back(n, along, first);
    for (size_t i = 0; tangent && i < kDirections * n; ++i)
        directions[0].x[i] = std::sin(i + 1.0), directions[0].u[i] = std::cos(i + 1.0);
    ModelTangent numbers(model);
    Derivatives::Gradient gradient;
    ModelGradient by_numbers(model);
    const auto at = [&](int i) {
        x[0] = self.x[0] + (i & 1 ? step : 2.0 * step);
        core.accelerate(self.time, x.data(), self.u.data(), udot.data());
        for (const FourDirections& four : directions) {
            if (!four.numbers.empty()) numbers.change(four.numbers);
            core.tangent(self.time, x.data(), self.u.data(), udot.data(),
                         {nullptr, four.x.data(), four.u.data(), four.numbers.empty() ? nullptr : &numbers},
                         rates.data(), nullptr);
        }
        if (adjoint)
            core.adjoint(self.time, x.data(), self.u.data(), udot.data(), seeds.data(), rows.data(), {}, gradient,
                         by_numbers);
    };
    nb::gil_scoped_release release;
    for (int i = 0; i < times; ++i) at(i);
}

void bind_state(nb::class_<SystemAt>& c) {
    c.def("set_state", &set_state, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
          "continued"_a = false, "angles"_a = nb::none(),
          "Sets the state of the bodies' frame origins in world axes: position (nb, 3), rotation (nb, 4), velocity\n"
          "(nb, 3), angular velocity (nb, 3). angles: values by coordinate (coordinates,), to which angles take the\n"
          "nearest branch; of those that are NaN, of all without it unless continued, the branches are those with\n"
          "which rows and stops hold with the fewest turns. In joint coordinates what the tree's joints do not allow\n"
          "is left out.")
        .def("state", &state, "time, position, rotation, velocity, angular velocity, as set_state takes them.")
        .def(
            "commit", [](SystemAt& self) { self.core().commit(self.time, self.x.data(), self.u.data()); },
            "A step ends here: angles, and friction of points that touch, go on from this state.")
        .def("displace", &displace, "displacement"_a,
             "Moves the bodies by (nb, 6), translation of the com, world axes, and rotation vector, principal axes, as "
             "far\nas the coordinates of the formulation allow.");
}

void bind_equations(nb::class_<SystemAt>& c) {
    c.def("accelerate", &accelerate, "settles"_a = true,
          "Linear (nb, 3) and angular (nb, 3) accelerations of the frame origins, world axes, and multipliers\n"
          "(rows,), of least norm where rows are redundant. settles: finds first which friction holds.")
        .def("friction_use", &friction_use,
             "Lets friction hold all that rests: how much of its limits that uses at the best share of loads, of all\n"
             "of them, and of the part that does not grow with loads.")
        .def("shared_friction", &shared_friction,
             "Laws of friction whose load depends on how rows share what they bear, if none holds, with these rows.")
        .def("friction_states", &friction_states,
             "Of friction its row, and 2 if it holds, else the sense in which it slips, 0 where equations alone hold.")
        .def("left_open", &left_open, "which"_a,
             "After accelerate(): which multipliers (rows,), and moments and forces (n, 2) of entries as for\n"
             "reactions(), friction leaves open that equations hold for.")
        .def("friction_again", &friction_again, "model"_a, "times"_a, "position"_a, "rotation"_a, "velocity"_a,
             "angular_velocity"_a, "inputs"_a,
             "At frames (T, 3 nb), (T, 4 nb), (T, inputs): states (T, n) as friction_states() has them, whether (T, "
             "n)\nefforts of what holds are determined, and by which factor (T,) coefficients of what slips could "
             "grow\nbefore it jams; NaN where nothing does.")
        .def("reactions", &reactions, "which"_a,
             "After accelerate(): per entry (blocks, pair) the moment and force (6) on the pair's second body about\n"
             "marker 2, world axes, of least norm; and whether moment and force are unique (n, 2).")
        .def("determined_multipliers", &determined_multipliers,
             "After accelerate(): which multipliers (rows,) the equations of motion determine.")
        .def(
            "dropped_rows", [](SystemAt& self) { return self.core().dropped_rows(); },
            "Model rows found redundant or singular at the last factorization.")
        .def(
            "project", [](SystemAt& self) { return self.core().project(self.time, self.x.data(), self.u.data()); },
            "Moves the state onto the constraints: positions, then velocities. False if they cannot be met from here.")
        .def(
            "worst_row", [](SystemAt& self) { return self.core().worst_row(); },
            "Model row with the largest error, -1 without rows.")
        .def("set_inputs", &set_inputs, "model"_a, "values"_a,
             "The inputs of its model, which is no other system's, take other values from its time on.")
        .def("repeat", &repeat, "work"_a, "times"_a, "step"_a = 1e-12,
             "places"_a = std::vector<std::pair<std::string, int>>{},
             "Repeats \"accelerate\" at alternating configurations other than the state's, for timing; with "
             "\"tangent\"\n"
             "four directions of the state beside it, with \"jacobian\" all of the state and, one by one, of numbers\n"
             "at places of the model, with \"adjoint\" a gradient by state and numbers.");
}

void bind_values(nb::class_<SystemAt>& c) {
    c.def("coordinates", &coordinates, "Values and rates of all coordinates of the model.")
        .def("coordinate_accelerations", &coordinate_accelerations, "linear"_a, "angular"_a,
             "Second derivatives of all coordinates for accelerations (nb, 3) of the frame origins, world axes.")
        .def("rows", &rows, "C, Ct, Qc (rows,) and the dense Jacobian (rows, 6 nb) in com and principal axes.")
        .def("violation", &violation, "Largest error of positions and of velocities over the rows that hold.")
        .def("energy", &energy_of, "Kinetic and potential energy [J].")
        .def("contact_kinks", &contact_kinks,
             "Where forces of contact have no derivatives, or to one side only: group, two bodies, and why ('edge', "
             "'touch', 'start').")
        .def("contacts", &contacts_of, "Touching points (n, numbers of a RecordedContact).")
        .def(
            "contact_memory", [](SystemAt& self) { return rows_of(self.core().contacts().memory(self.scenery().x)); },
            "What touching points remember (n, numbers of a ContactMemory).")
        .def(
            "set_contact_memory",
            [](SystemAt& self, const Rows& memory) {
                check_size(memory.cols(), sizeof(ContactMemory) / sizeof(double), "memory");
                const auto* first = reinterpret_cast<const ContactMemory*>(memory.data());
                self.core().contacts().remember({first, static_cast<size_t>(memory.rows())}, self.scenery().x);
            },
            "memory"_a, "Raises ValueError for what is no memory of these contacts.");
}

// By the class that users see.
void refuse_publicly(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Refusal& refusal) {
        const nb::object kind = nb::module_::import_("bellcrank.errors").attr("Unsupported");
        PyErr_SetString(kind.ptr(), refusal.what());
    }
}

}  // namespace

void bind_system(nb::module_& m) {
    nb::register_exception_translator(&refuse_publicly, nullptr);
    nb::class_<SystemAt> c(m, "SystemAt", "A formulation of a model, at a state: what can be simulated.");
    bind_state(c);
    bind_equations(c);
    bind_values(c);
    c.def(
         "statistics", [](SystemAt& self) { return dict_of(self.core().statistics()); },
         nb::sig("def statistics(self) -> dict[str, float]"), "What the solver did so far.")
        .def("go_to_doubtful_moment", &go_to_doubtful_moment,
             "Goes to the moment since the last call at which digits were the fewest; False if none was noted.")
        .def("go_back", &go_back, "To where it was before.");
    auto blow = bind_record<Blow>(m, "Blow", "A given impulse on a body [N s], world axes.");
    make_by_name(blow);
    auto point = bind_record<StruckPoint>(m, "StruckPoint",
                                          "Where the first of two bodies is struck by the second, world axes.");
    make_by_name(point);
    c.def("strike", &strike, "blows"_a, "points"_a, "tolerance"_a,
          "Goes to the velocities after blows and impulses at points. Impulses (m, 3) on the first bodies of the\n"
          "points, world axes, and the residual.");
}

}  // namespace bellcrank
