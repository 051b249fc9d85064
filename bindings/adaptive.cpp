// RootedAssembly trees, the adaptive formulation at one state, and its steps.
#include "formulations/adaptive.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "adaptive/dynamics.hpp"
#include "adaptive/quasistatics.hpp"
#include "bindings.hpp"
#include "model/state.hpp"
#include "spatial/rotation.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using AdaptiveAt = At<Adaptive>;
using NodeTable = Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Integers = Eigen::VectorXi;

// kind, left, right, parent, link and level of each node.
std::pair<NodeTable, std::vector<int>> assembly_tree(const std::vector<int>& parents) {
    const AssemblyTree tree(parents);
    NodeTable out(tree.nodes.size(), 6);
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
        const AssemblyNode& n = tree.nodes[i];
        out.row(i) << static_cast<int>(n.kind), n.left, n.right, n.parent, n.link, n.level;
    }
    return {out, tree.given};
}

ErrorMeasure measure_of(const std::string& name) {
    constexpr const char* names[] = {"absolute_linkage", "relative_linkage", "absolute_joint", "relative_joint"};
    for (int i = 0; i < 4; ++i)
        if (name == names[i]) return static_cast<ErrorMeasure>(i);
    throw std::invalid_argument("there is no measure '" + name + "'");
}

// Values by coordinate, or null.
const double* angles_in(const Model& model, const std::optional<Column>& angles) {
    if (!angles) return nullptr;
    check_size(angles->size(), static_cast<int>(model.coordinates.size()), "angles");
    return angles->data();
}

void start(Quasistatics& self, const Model& model, double t, const Rows& position, const Rows& rotation,
           const std::optional<Column>& angles) {
    const std::vector<double> poses = records_of(model, t, position, rotation).poses;
    const double* known = angles_in(model, angles);
    nb::gil_scoped_release release;
    self.start(t, poses.data(), known);
}

// Coordinates of some links' joints, one after another.
Column values(const Quasistatics& self, const std::vector<int>& links) {
    std::vector<double> out;
    for (const int link : links) {
        const Link& of = self.linkage().links[link];
        const double* q = self.coordinates().data() + of.coordinate;
        out.insert(out.end(), q, q + of.motion.coordinates());
    }
    return column_of(out);
}

// Position of a body's frame and its rotation, in the world.
std::pair<Vec3, Quat> pose(const Model& model, int body, const Place& principal) {
    const Mat3 R = principal.rotation * transpose(rotation_matrix(model.principal_rotation[body]));
    return {principal.shift - R * model.com[body], quaternion_from_matrix(R)};
}

std::vector<std::tuple<std::string, std::string, int>> named(const std::vector<Obstacle>& obstacles) {
    constexpr const char* of[] = {"model", "row", "block", "law", "formula_force"};
    std::vector<std::tuple<std::string, std::string, int>> out;
    for (const Obstacle& o : obstacles) out.emplace_back(o.why, of[static_cast<int>(o.of)], o.number);
    return out;
}

void bind_moves(nb::module_& m) {
    bind_record<MoveRecord>(m, "MoveRecord", "The sections of a record of what moved.");
    nb::class_<MoveReplay>(m, "MoveReplay", "Poses from records of what moved.")
        .def(nb::init<const Model&>(), "model"_a, nb::keep_alive<1, 2>(),
             "Raises:\n    ValueError: its joints are no tree.")
        .def(
            "apply",
            [](MoveReplay& self, const Integers& bodies, const Column& numbers) {
                self.apply(bodies.data(), bodies.size(), numbers.data(), numbers.size());
            },
            "bodies"_a, "values"_a, "Puts joints where coordinates tell.\n\nRaises:\n    ValueError: they do not fit.")
        .def(
            "pose", [](MoveReplay& self, const Model& model, int body) { return pose(model, body, self.pose(body)); },
            "model"_a, "body"_a, "Position of a body's frame and its rotation (4,), world axes.")
        .def("widths", &MoveReplay::widths, "Numbers of coordinates of the joint that carries each body.")
        .def("blocks", &MoveReplay::blocks,
             "Per body the block of rows of the joint that carries it; -1: it has none.");
}

// Of both drivers.
template <class Driver>
Integers blocks_of(const Driver& self) {
    std::vector<int> out;
    for (const Link& link : self.linkage().links) out.push_back(link.motion.joint().block);
    return column_of(out);
}
template <class Driver>
Integers first_freedoms_of(const Driver& self) {
    std::vector<int> out;
    for (const Link& link : self.linkage().links) out.push_back(link.freedom);
    out.push_back(self.linkage().freedoms);
    return column_of(out);
}

void bind_steps(nb::module_& m) {
    nb::class_<Quasistatics>(m, "Quasistatics", "Quasi-static steps of a linkage, which cost what moves.")
        .def(
            "__init__",
            [](Quasistatics* self, std::shared_ptr<Model> model, double step, const std::string& measure, bool totals) {
                new (self) Quasistatics(std::move(model), step, measure_of(measure), totals);
            },
            "model"_a, "step"_a, "measure"_a, "with_totals"_a = true,
            "step: s. measure: absolute_linkage, relative_linkage, absolute_joint or relative_joint. with_totals: "
            "False "
            "for exact steps alone.\n\nRaises:\n    ValueError: the model cannot be taken; all reasons.")
        .def_static(
            "refusals", [](const Model& model) { return named(Quasistatics::obstacles(model)); }, "model"_a,
            "Why a model cannot be taken, and of what (row, block, law, formula_force, model) which is the reason; "
            "empty "
            "if it can.")
        .def("start", &start, "model"_a, "time"_a, "position"_a, "rotation"_a, "angles"_a = nb::none(),
             "Where the bodies are, at rest. angles: values by coordinate, NaN where none is known, whose whole turns "
             "joints have.")
        .def("refine", &Quasistatics::refine, "bound"_a,
             "Computes joints until the error is at most a bound; the error.")
        .def("begin", &Quasistatics::begin, "Forgets what was computed.")
        .def("move", &Quasistatics::move, "Takes a step with the accelerations that were computed.")
        .def(
            "advance",
            [](Quasistatics& self, double bound, int steps) {
                nb::gil_scoped_release release;
                int taken = 0;
                while (taken < steps && self.advance(bound)) ++taken;
                return taken;
            },
            "bound"_a, "steps"_a = 1,
            "Refines and moves; the steps taken, fewer where 32 digits do not suffice for accelerations.")
        .def("solve", &Quasistatics::solve, "Exact accelerations of all joints, in the place of those computed.")
        .def("record_every", &Quasistatics::record_every, "steps"_a,
             "Records a frame now, with all joints, and after every so many steps what moved.")
        .def(
            "take_record", [](Quasistatics& self) { return dict_of(self.take_record()); },
            nb::sig("def take_record(self) -> dict[str, object]"),
            "What was recorded since the last call, per section.")
        .def_prop_ro("time", &Quasistatics::time)
        .def_prop_ro(
            "is_even", [](const Quasistatics& self) { return self.assembly().is_even(); },
            "Whether bodies are so much alike that joins lose little by rounding.")
        .def_prop_ro("largest_error", &Quasistatics::largest_error, "Of the steps in which something moved.")
        .def_prop_ro("is_exact", &Quasistatics::is_exact, "Whether accelerations were refined in twice the digits.")
        .def_prop_ro("error", [](const Quasistatics& self) { return self.choice().error(); })
        .def_prop_ro(
            "moved", [](const Quasistatics& self) { return column_of(self.moved()); },
            "Links that the last step moved.")
        .def_prop_ro(
            "computed", [](const Quasistatics& self) { return column_of(self.choice().computed()); },
            "Links whose accelerations are computed.")
        .def_prop_ro(
            "updated", [](const Quasistatics& self) { return self.assembly().updated(); },
            "Nodes that the last step updated.")
        .def_prop_ro("bytes", [](const Quasistatics& self) { return self.assembly().bytes(); })
        .def_prop_ro("blocks", &blocks_of<Quasistatics>, "Per link the block of rows of its joint; -1: it has none.")
        .def_prop_ro("first_freedoms", &first_freedoms_of<Quasistatics>,
                     "Per link the number of its first freedom, and the number of all.")
        .def(
            "accelerations", [](const Quasistatics& self) { return column_of(self.choice().accelerations()); },
            "Per freedom, along the joints' motions; of no meaning for joints not computed.")
        .def("values", &values, "links"_a, "Coordinates of the joints of links, one after another.")
        .def(
            "pose",
            [](const Quasistatics& self, const Model& model, int body) { return pose(model, body, self.pose(body)); },
            "model"_a, "body"_a, "Position of a body's frame and its rotation (4,), world axes.");
}

// Accelerations of the bodies' frames, world axes.
std::pair<Rows, Rows> motions(const AdaptiveDynamics& self, const Model& model) {
    std::vector<double> x = room_for_records(model), u = x, udot = x;
    self.motions(x.data(), u.data(), udot.data());
    Rows linear(model.bodies(), 3), angular(model.bodies(), 3);
    accelerations_to_neutral(model, x.data(), u.data(), udot.data(), linear.data(), angular.data());
    return {linear, angular};
}

// A body's frame in that of its link.
Place own_frame(const Model& model, const Link& link) {
    const Mat3 R = link.principal.rotation * transpose(rotation_matrix(model.principal_rotation[link.body]));
    return {R, link.principal.shift - R * model.com[link.body]};
}

// A point of a body's frame in the frame of its link.
Vec3 in_link(const AdaptiveDynamics& self, const Model& model, int body, const Vec3& point) {
    const Place own = own_frame(model, self.linkage().links[self.linkage().link_of[body]]);
    return own.shift + own.rotation * point;
}

// Places of bodies' frames in those of the bodies that carry them, or in the world.
std::pair<Rows, Rows> places(const AdaptiveDynamics& self, const Model& model, const std::vector<int>& links) {
    Rows position(links.size(), 3);
    Rows rotation(links.size(), 4);
    for (size_t i = 0; i < links.size(); ++i) {
        const Link& link = self.linkage().links[links[i]];
        const Place own = own_frame(model, link), here = self.assembly().frames().place(links[i]) * own;
        const Place in = link.parent < 0 ? here : inverse(own_frame(model, self.linkage().links[link.parent])) * here;
        const Quat q = quaternion_from_matrix(in.rotation);
        position.row(i) << in.shift.x, in.shift.y, in.shift.z;
        rotation.row(i) << q.w, q.x, q.y, q.z;
    }
    return {position, rotation};
}

// Per link its body, and that of the link that carries it, −1: the ground.
std::pair<Integers, Integers> bodies_of(const AdaptiveDynamics& self) {
    std::vector<int> own, carrier;
    for (const Link& link : self.linkage().links) {
        own.push_back(link.body);
        carrier.push_back(link.parent < 0 ? -1 : self.linkage().links[link.parent].body);
    }
    return {column_of(own), column_of(carrier)};
}

AdaptiveDynamics::Method method_of(const std::string& name) {
    using Method = AdaptiveDynamics::Method;
    if (name == "symplectic") return Method::symplectic_euler;
    if (name == "rk4") return Method::runge_kutta;
    if (name == "at_rest") return Method::at_rest;
    throw std::invalid_argument("there is no method '" + name + "'");
}

void bind_dynamics(nb::module_& m) {
    nb::class_<AdaptiveDynamics>(m, "AdaptiveDynamics", "Motion of a linkage of which few joints are free.")
        .def(nb::init<std::shared_ptr<Model>>(), "model"_a,
             "Raises:\n    ValueError: the model cannot be taken; all reasons.")
        .def_static(
            "refusals", [](const Model& model) { return named(AdaptiveDynamics::obstacles(model)); }, "model"_a,
            "Why a model cannot be taken, and of what, as of `Quasistatics`; empty if it can.")
        .def(
            "start",
            [](AdaptiveDynamics& self, const Model& model, double t, const Rows& position, const Rows& rotation,
               const Rows& velocity, const Rows& angular_velocity, const std::optional<Column>& angles) {
                const BodyRecords at = records_of(model, t, position, rotation, velocity, angular_velocity);
                self.start(t, at.poses.data(), at.twists.data(), angles_in(model, angles));
            },
            "model"_a, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
            "angles"_a = nb::none(),
            "Where the bodies are and how they move. angles: values by coordinate, NaN where none is known, whose "
            "whole\n"
            "turns joints have. Joints that move are free, and those that matter.")
        .def(
            "remember",
            [](AdaptiveDynamics& self, const Rows& memory) {
                check_size(memory.cols(), sizeof(ContactMemory) / sizeof(double), "memory");
                const auto* first = reinterpret_cast<const ContactMemory*>(memory.data());
                self.remember({first, first + memory.rows()});
            },
            "memory"_a, "What contacts remember (n, numbers of a ContactMemory) where it starts next.")
        .def(
            "contact_memory", [](const AdaptiveDynamics& self) { return rows_of(self.contact_memory()); },
            "The same, now.")
        .def(
            "set_free",
            [](AdaptiveDynamics& self, const Eigen::Matrix<bool, Eigen::Dynamic, 1>& free) {
                check_size(free.size(), self.linkage().tree.links(), "free");
                return self.set_free({free.data(), free.data() + free.size()});
            },
            "free"_a,
            "Which joints are free, per link. Those that lock are stopped by an inelastic impact; the kinetic energy\n"
            "that it loses, J.")
        .def("evaluate", &AdaptiveDynamics::evaluate,
             "Accelerations at the present state, and how far they are from those of all joints.")
        .def(
            "limit",
            [](AdaptiveDynamics& self, double error, bool relative, double loss, bool loss_relative, int joints) {
                self.limit({error, relative, loss, loss_relative, joints});
            },
            "max_error"_a, "relative"_a = false, "max_loss"_a = 0.01, "loss_relative"_a = true, "max_joints"_a = -1,
            "max_error: m/s^2, or a part of the error where no joint accelerates. max_loss: kinetic energy that "
            "locking\n"
            "may lose per second, W, or a part of it. max_joints: that may be free; -1 for as many as needed.")
        .def(
            "limit_outputs",
            [](AdaptiveDynamics& self, const Model& model, const std::vector<std::tuple<int, Vec3, double>>& outputs) {
                std::vector<OutputLimit> limits;
                for (const auto& [body, point, error] : outputs)
                    limits.push_back({body, in_link(self, model, body, point), error});
                self.limit_outputs(std::move(limits));
            },
            "model"_a, "outputs"_a, "Body, point of it (3,) in its frame and largest error of its acceleration, m/s^2.")
        .def_prop_ro(
            "output_errors", [](const AdaptiveDynamics& self) { return column_of(self.output_errors()); },
            "After evaluate(): how far accelerations of these points are from those with all joints free, m/s^2.")
        .def_prop_ro(
            "largest_output_errors",
            [](const AdaptiveDynamics& self) { return column_of(self.largest_output_errors()); },
            "The same, of the steps taken.")
        .def("gains", &AdaptiveDynamics::gains, "enough"_a, "most"_a,
             "After evaluate(): links, locked, that would gain most of the distance, until what is left is `enough`, "
             "or\nthere are `most`; and what is left, which ranks and does not bound.")
        .def("spoil_below", &AdaptiveDynamics::spoil_below,
             "For tests: what nodes hold that evaluations do not touch becomes NaN.")
        .def("decide", &AdaptiveDynamics::decide,
             "After evaluate(): locks joints that matter little and frees those that matter.")
        .def(
            "advance",
            [](AdaptiveDynamics& self, int steps, double step, const std::string& method) {
                const auto known = method_of(method);
                nb::gil_scoped_release release;
                return self.advance(steps, step, known);
            },
            "steps"_a, "step"_a, "method"_a = "rk4",
            "Steps by the classical Runge-Kutta method, rk4, by symplectic Euler, symplectic, or at_rest, all from "
            "rest; how\n"
            "many were taken, fewer where accelerations are no numbers or loops cannot be closed.")
        .def(
            "coast",
            [](AdaptiveDynamics& self, int steps, double step, const std::string& method) {
                const auto known = method_of(method);
                nb::gil_scoped_release release;
                return self.coast(steps, step, known);
            },
            "steps"_a, "step"_a, "method"_a = "rk4",
            "The same with the joints that are free now, and no judgement of the error.")
        .def(
            "state",
            [](const AdaptiveDynamics& self, const Model& model) {
                std::vector<double> x = room_for_records(model), u = x, udot = x;
                self.motions(x.data(), u.data(), udot.data());
                return arrays_of(model, self.time(), x.data(), u.data());
            },
            "model"_a,
            "Time, positions and rotations of the bodies' frames, their velocities and angular velocities, world axes.")
        .def(
            "set_inputs",
            [](AdaptiveDynamics& self, Model& model, const std::vector<double>& values) {
                if (&model != &self.model())
                    throw std::invalid_argument("set_inputs: the model is that of another run");
                check_size(static_cast<Eigen::Index>(values.size()), model.inputs(), "values");
                self.set_inputs(model, values);
            },
            "model"_a, "values"_a, "Values of all inputs. Speeds that drives prescribe by them jump.")
        .def(
            "preset_inputs",
            [](const AdaptiveDynamics& self, Model& model, double t, const std::vector<double>& values) {
                if (&model != &self.model()) throw std::invalid_argument("preset_inputs: the model is that of another");
                check_size(static_cast<Eigen::Index>(values.size()), model.inputs(), "values");
                model.set_inputs(t, values);
            },
            "model"_a, "time"_a, "values"_a, "The same before the start.")
        .def("coordinate", &AdaptiveDynamics::coordinate, "number"_a,
             "Value and rate of a coordinate of the model that is one of a joint of the tree.\n\nRaises:\n    "
             "ValueError: "
             "it is none.")
        .def(
            "body_motion",
            [](AdaptiveDynamics& self, const Model& model, int body) {
                const auto [position, rotation] = pose(model, body, self.pose(body));
                const Twist twist = self.twist(body);
                const Place principal = self.pose(body);
                const Vec3 w = principal.rotation * twist.w;
                return std::make_tuple(position, rotation, twist.v + cross(w, position - principal.shift), w);
            },
            "model"_a, "body"_a, "Position, rotation, velocity and angular velocity of a body's frame, world axes.")
        .def(
            "pull",
            [](AdaptiveDynamics& self, const Model& model, int body, const Vec3& point, const Vec3& target,
               double stiffness, double damping, double most) {
                const Hand hand{in_link(self, model, body, point), target, stiffness, damping, most};
                self.pull(body, &hand);
            },
            "model"_a, "body"_a, "point"_a, "target"_a, "stiffness"_a, "damping"_a, "most"_a,
            "A hand pulls a point (3,) of a body's frame towards a place in the world, from the next step on.")
        .def(
            "let_go", [](AdaptiveDynamics& self, int body) { self.pull(body, nullptr); }, "body"_a,
            "It no longer does.")
        .def(
            "mobility",
            [](AdaptiveDynamics& self, const Model& model, int body, const Vec3& point, bool turns) {
                return self.mobility(body, in_link(self, model, body, point), turns);
            },
            "model"_a, "body"_a, "point"_a, "turns"_a,
            "After evaluate(): the largest acceleration of a point (3,) of a body's frame by a unit force there, 1/kg; "
            "turns:\nof the body by a unit moment, 1/(kg m^2). All joints are free.")
        .def("take_moved", &AdaptiveDynamics::take_moved, "Links whose joints have moved since the last call.")
        .def("places", &places, "model"_a, "links"_a,
             "Positions (n, 3) and rotations (n, 4) of bodies' frames in those of their carriers, or in the world.")
        .def_prop_ro("bodies", &bodies_of, "Per link its body, and the one that carries it; -1: the ground.")
        .def("record_every", &AdaptiveDynamics::record_every, "steps"_a,
             "Records a frame now, with all joints, and after every so many steps what moved.")
        .def(
            "take_record", [](AdaptiveDynamics& self) { return dict_of(self.take_record()); },
            nb::sig("def take_record(self) -> dict[str, object]"),
            "What was recorded since the last call, per section.")
        .def(
            "pose",
            [](const AdaptiveDynamics& self, const Model& model, int body) {
                return pose(model, body, self.pose(body));
            },
            "model"_a, "body"_a, "Position of a body's frame and its rotation (4,), world axes.")
        .def_prop_ro(
            "free", [](const AdaptiveDynamics& self) { return column_of(self.free()); }, "Links.")
        .def_prop_ro("lost_energy", &AdaptiveDynamics::lost_energy, "By locking, J.")
        .def_prop_ro("impact_energy", &AdaptiveDynamics::impact_energy, "Taken by impacts on stops, J.")
        .def_prop_ro("impacts", &AdaptiveDynamics::impacts)
        .def_prop_ro("largest_error", &AdaptiveDynamics::largest_error, "Of the steps taken.")
        .def_prop_ro("loops_are_closed", &AdaptiveDynamics::loops_are_closed, "As far as a run asks for, to go on.")
        .def_prop_ro("loop_error", &AdaptiveDynamics::loop_error,
                     "Of the rows of loops after the last step, m or rad; 0 without loops.")
        .def_prop_ro(
            "is_even", [](const AdaptiveDynamics& self) { return self.linkage().tree.shape == TreeShape::balanced; },
            "Whether bodies are so much alike that joins keep the digits.")
        .def_prop_ro("steps", &AdaptiveDynamics::steps)
        .def_prop_ro("mean_free", &AdaptiveDynamics::mean_free, "Joints that were free, over the steps taken.")
        .def_prop_ro("decisions", &AdaptiveDynamics::decisions)
        .def_prop_ro("time", &AdaptiveDynamics::time)
        .def_prop_ro("distance", &AdaptiveDynamics::distance,
                     "Of accelerations from those of all joints: the sum of masses times squares, kg m^2/s^4.")
        .def_prop_ro("relative_unit", &AdaptiveDynamics::relative_unit,
                     "What `distance` is where no joint accelerates: the unit of relative errors.")
        .def_prop_ro("error", &AdaptiveDynamics::error, "By the measure of the limits.")
        .def(
            "point_error",
            [](AdaptiveDynamics& self, const Model& model, int body, const Vec3& point) {
                return self.point_error(body, in_link(self, model, body, point));
            },
            "model"_a, "body"_a, "point"_a,
            "After evaluate(): what the acceleration of a point (3,) of a body's frame is off at most, m/s^2.")
        .def_prop_ro("kinetic_energy", &AdaptiveDynamics::kinetic_energy)
        .def_prop_ro("potential_energy", &AdaptiveDynamics::potential_energy, "Of the weight and of springs, J.")
        .def_prop_ro("work", &AdaptiveDynamics::work, "Of forces without a potential and of drives since the start, J.")
        .def(
            "drive_efforts",
            [](AdaptiveDynamics& self) {
                const std::vector<double> efforts = self.drive_efforts();
                std::vector<std::pair<int, double>> out;
                for (size_t i = 0; i < efforts.size(); ++i) out.emplace_back(self.linkage().given[i].row, efforts[i]);
                return out;
            },
            "Rows that give motions, and what is exerted along their coordinates at the present state, N or N m.")
        .def_prop_ro(
            "visited", [](const AdaptiveDynamics& self) { return self.assembly().visited(); },
            "Nodes that an evaluation touches.")
        .def_prop_ro("bytes", [](const AdaptiveDynamics& self) { return self.assembly().bytes(); })
        .def_prop_ro("blocks", &blocks_of<AdaptiveDynamics>,
                     "Per link the block of rows of its joint; -1: it has none.")
        .def_prop_ro("first_freedoms", &first_freedoms_of<AdaptiveDynamics>,
                     "Per link the number of its first freedom, and the number of all.")
        .def(
            "accelerations", [](const AdaptiveDynamics& self) { return column_of(self.accelerations()); },
            "Per freedom, along the joints' motions.")
        .def(
            "speeds", [](const AdaptiveDynamics& self) { return column_of(self.speeds()); }, "Likewise.")
        .def("motions", &motions, "model"_a, "Accelerations of the bodies' frames, linear and angular, world axes.");
}

}  // namespace

void bind_adaptive(nb::module_& m) {
    m.def("assembly_tree", &assembly_tree, "parents"_a,
          "The nodes (n, 6) of the tree along which links are assembled, parts before what is made of them: kind (0 "
          "body, 1 join, 2 rake, 3 sum), parts, parent, link, level; -1 for none. Then per link its number in "
          "`parents`, which holds that of its parent, lower than its own, or -1.");
    nb::class_<AdaptiveAt, SystemAt>(m, "Adaptive", "The adaptive formulation of a model, at a state.")
        .def(nb::init<std::shared_ptr<Model>>(), "model"_a,
             "Raises:\n    ValueError: the model cannot be taken; all reasons.")
        .def_static(
            "refusals", [](const Model& model) { return named(Linkage::obstacles(model, false)); }, "model"_a,
            "Why a model cannot be taken; empty if it can.");
    bind_moves(m);
    bind_steps(m);
    bind_dynamics(m);
}

}  // namespace bellcrank
