// Derivatives of what a formulation finds at a state.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>

#include "integrate/run_tangent.hpp"
#include "state_of.hpp"
#include "tangents/equations_tangent.hpp"

namespace bellcrank {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Places = std::vector<std::pair<std::string, int>>;

std::vector<NumberPlace> places_of(const Model& model, const Places& places) {
    std::vector<NumberPlace> out;
    for (const auto& [array, index] : places) out.push_back(number_place(model, array, index));
    return out;
}

// Directions as Python has them: one after another in rows.
struct DirectionsOf {
    const Rows& x;         // (d, n), or no rows: none
    const Rows& u;         // the same
    const Column& t;       // (d,), or none
    const Places& places;  // of numbers that change
    const Rows& along;     // (d, places), or no rows
};

// Calls `use` with four directions at a time: the core's, the first of them and how many there are.
template <class Use>
void in_fours(SystemAt& self, const DirectionsOf& of, int count, Use use) {
    const Model& model = self.core().model();
    const auto n = static_cast<size_t>(self.core().tangent_size());
    const std::vector<NumberPlace> places = places_of(model, of.places);
    if (of.along.rows() > 0) check_size(of.along.cols(), static_cast<int>(places.size()), "along");
    const bool changed = of.along.rows() > 0 && !places.empty();
    std::optional<ModelTangent> numbers;
    if (changed) numbers.emplace(model);
    std::vector<double> x(kDirections * n), u(x.size());
    std::vector<ModelTangent::Change> changes(places.size());
    for (int first = 0; first < count; first += kDirections) {
        double t[kDirections] = {};
        std::fill(x.begin(), x.end(), 0.0);
        std::fill(u.begin(), u.end(), 0.0);
        for (size_t i = 0; i < places.size(); ++i) changes[i] = {places[i], {}};
        const int here = std::min(kDirections, count - first);
        for (int k = 0; k < here; ++k) {
            if (of.t.size() > 0) t[k] = of.t[first + k];
            for (size_t i = 0; i < n; ++i) {
                if (of.x.rows() > 0) x[kDirections * i + k] = of.x(first + k, i);
                if (of.u.rows() > 0) u[kDirections * i + k] = of.u(first + k, i);
            }
            for (size_t i = 0; of.along.rows() > 0 && i < places.size(); ++i)
                changes[i].along[k] = of.along(first + k, i);
        }
        if (changed) numbers->change(changes);
        use(Derivatives::Directions{t, x.data(), u.data(), changed ? &*numbers : nullptr}, x, u, first, here);
    }
}

int count_of(const SystemAt& self, const DirectionsOf& of) {
    const auto n = static_cast<int>(const_cast<SystemAt&>(self).core().tangent_size());
    Eigen::Index count = 0;
    for (const Eigen::Index one : {of.x.rows(), of.u.rows(), of.t.size(), of.along.rows()})
        count = std::max(count, one);
    for (const Eigen::Index one : {of.x.rows(), of.u.rows(), of.t.size(), of.along.rows()})
        if (one != 0) check_size(one, static_cast<int>(count), "directions");
    if (of.x.rows() > 0) check_size(of.x.cols(), n, "x");
    if (of.u.rows() > 0) check_size(of.u.cols(), n, "u");
    return static_cast<int>(count);
}

void take(Rows& out, const std::vector<double>& from, int first, int count) {
    for (int k = 0; k < count; ++k)
        for (Eigen::Index i = 0; i < out.cols(); ++i) out(first + k, i) = from[kDirections * i + k];
}

std::tuple<Rows, Rows, Column> closed_directions(SystemAt& self, const Rows& x, const Rows& u, const Column& t,
                                                 const Places& places, const Rows& along) {
    const DirectionsOf of{x, u, t, places, along};
    const int count = count_of(self, of), n = self.core().tangent_size();
    Rows dx(count, n), du(count, n);
    Column left(count);
    in_fours(self, of, count,
             [&](const Derivatives::Directions& d, std::vector<double>& change, std::vector<double>& rate, int first,
                 int here) {
                 double remaining[kDirections];
                 self.core().close_directions(self.time, self.x.data(), self.u.data(), d, change.data(), rate.data(),
                                              remaining);
                 take(dx, change, first, here);
                 take(du, rate, first, here);
                 for (int k = 0; k < here; ++k) left[first + k] = remaining[k];
             });
    return {dx, du, left};
}

std::tuple<Column, Rows, Rows> tangents(SystemAt& self, const Rows& x, const Rows& u, const Column& t,
                                        const Places& places, const Rows& along, bool with_multipliers) {
    const DirectionsOf of{x, u, t, places, along};
    const int count = count_of(self, of), n = self.core().tangent_size(),
              rows = with_multipliers ? self.core().model().rows_total() : 0;
    self.accelerate();
    Rows udot(count, n), multipliers(count, rows);
    std::vector<double> rates(kDirections * static_cast<size_t>(n)), loads(kDirections * static_cast<size_t>(rows));
    in_fours(self, of, count,
             [&](const Derivatives::Directions& d, const std::vector<double>&, const std::vector<double>&, int first,
                 int here) {
                 self.core().tangent(self.time, self.x.data(), self.u.data(), self.udot.data(), d, rates.data(),
                                     with_multipliers ? loads.data() : nullptr);
                 take(udot, rates, first, here);
                 take(multipliers, loads, first, here);
             });
    return {Eigen::Map<const Column>(self.udot.data(), n), udot, multipliers};
}

// Calls `use` with the core's directions of bodies, records, for four directions at a time.
template <class Use>
void with_bodies(SystemAt& self, const Column& udot, const Rows& rates, const DirectionsOf& of, int count, Use use) {
    const int n = self.core().tangent_size(), records = kTwist * (self.core().model().bodies() + 1);
    check_size(udot.size(), n, "udot");
    check_size(rates.rows(), count, "rates");
    check_size(rates.cols(), n, "rates");
    std::vector<double> changes(kDirections * static_cast<size_t>(n));
    std::vector<double> bodies[3];
    for (std::vector<double>& one : bodies) one.resize(kDirections * static_cast<size_t>(records));
    in_fours(self, of, count,
             [&](const Derivatives::Directions& d, const std::vector<double>&, const std::vector<double>&, int first,
                 int here) {
                 for (int i = 0; i < n; ++i)
                     for (int k = 0; k < kDirections; ++k)
                         changes[kDirections * i + k] = k < here ? rates(first + k, i) : 0.0;
                 self.core().body_directions(self.time, self.x.data(), self.u.data(), udot.data(), d, changes.data(),
                                             bodies[0].data(), bodies[1].data(), bodies[2].data());
                 use(d, bodies, first, here);
             });
}

std::tuple<Rows, Rows, Rows> body_directions(SystemAt& self, const Column& udot, const Rows& x, const Rows& u,
                                             const Rows& rates, const Column& t, const Places& places,
                                             const Rows& along) {
    const DirectionsOf of{x, u, t, places, along};
    const int count = count_of(self, of), records = kTwist * (self.core().model().bodies() + 1);
    Rows out[3] = {Rows(count, records), Rows(count, records), Rows(count, records)};
    with_bodies(self, udot, rates, of, count,
                [&](const Derivatives::Directions&, const std::vector<double>(&bodies)[3], int first, int here) {
                    for (int level = 0; level < 3; ++level) take(out[level], bodies[level], first, here);
                });
    return {out[0], out[1], out[2]};
}

// Calls `take_changes` with what EquationsTangent finds along these, four directions at a time.
template <class Take>
void along_motion(SystemAt& self, const Column& udot, const Rows& rates, const DirectionsOf& of,
                  EquationsTangent::Changes& changes, Take take_changes) {
    const Model& model = self.core().model();
    std::vector<double> accelerations(kTwist * (model.bodies() + 1));
    check_size(udot.size(), self.core().tangent_size(), "udot");
    self.core().body_accelerations(self.time, self.x.data(), self.u.data(), udot.data(), accelerations.data());
    EquationsTangent equations(model, self.core().branches(), self.core().contacts());
    const ModelTangent constant(model);
    const std::vector<double> none(model.rows_total(), 0.0);
    with_bodies(self, udot, rates, of, count_of(self, of),
                [&](const Derivatives::Directions& d, const std::vector<double>(&bodies)[3], int first, int here) {
                    const Scenery at = self.scenery();
                    equations.along({self.time, at.x, at.u, accelerations.data(), none.data()},
                                    {d.t, bodies[0].data(), bodies[1].data(), bodies[2].data()},
                                    d.numbers != nullptr ? *d.numbers : constant, changes);
                    take_changes(first, here);
                });
}

std::tuple<Rows, Rows, Rows> coordinate_tangents(SystemAt& self, const Column& udot, const Rows& x, const Rows& u,
                                                 const Rows& rates, const Column& t, const Places& places,
                                                 const Rows& along) {
    const DirectionsOf of{x, u, t, places, along};
    const int count = count_of(self, of);
    const auto size = static_cast<Eigen::Index>(self.core().model().coordinates.size());
    Rows out[3] = {Rows(count, size), Rows(count, size), Rows(count, size)};
    EquationsTangent::Changes changes;
    changes.of_coordinates = true;
    along_motion(self, udot, rates, of, changes, [&](int first, int here) {
        for (int level = 0; level < 3; ++level) take(out[level], changes.coordinates[level], first, here);
    });
    return {out[0], out[1], out[2]};
}

Rows row_tangents(SystemAt& self, const Column& udot, const Rows& x, const Rows& u, const Rows& rates, const Column& t,
                  const Places& places, const Rows& along) {
    const DirectionsOf of{x, u, t, places, along};
    const int count = count_of(self, of);
    Rows out(count, self.core().model().rows_total());
    EquationsTangent::Changes changes;
    EquationsTangent::ask(changes, 2);
    along_motion(self, udot, rates, of, changes, [&](int first, int here) { take(out, changes.rows[2], first, here); });
    return out;
}

using ByAll = std::tuple<double, Column, Column, Column>;

// Calls `find` with where to put a gradient by time, state and numbers.
template <class Find>
ByAll gradient_of(SystemAt& self, const Places& places, Find find) {
    const Model& model = self.core().model();
    const std::vector<NumberPlace> further = places_of(model, places);
    Derivatives::Gradient found;
    ModelGradient by_numbers(model);
    find(further, found, by_numbers);
    Column numbers(further.size());
    for (size_t i = 0; i < further.size(); ++i) numbers[i] = by_numbers.at(further[i]);
    return {found.t, Eigen::Map<const Column>(found.x.data(), found.x.size()),
            Eigen::Map<const Column>(found.u.data(), found.u.size()), numbers};
}

ByAll gradient(SystemAt& self, const Column& of_rates, const Column& of_multipliers, const Places& places) {
    check_size(of_rates.size(), self.core().tangent_size(), "of_rates");
    check_size(of_multipliers.size(), self.core().model().rows_total(), "of_multipliers");
    self.accelerate();
    return gradient_of(self, places, [&](const auto& further, auto& found, auto& by_numbers) {
        self.core().adjoint(self.time, self.x.data(), self.u.data(), self.udot.data(), of_rates.data(),
                            of_multipliers.data(), further, found, by_numbers);
    });
}

ByAll closed_gradient(SystemAt& self, const Column& of_x, const Column& of_u, const Places& places) {
    check_size(of_x.size(), self.core().tangent_size(), "of_x");
    check_size(of_u.size(), self.core().tangent_size(), "of_u");
    return gradient_of(self, places, [&](const auto& further, auto& found, auto& by_numbers) {
        self.core().close_adjoint(self.time, self.x.data(), self.u.data(), of_x.data(), of_u.data(), further, found,
                                  by_numbers);
    });
}

// A run that is followed along directions, with the system that it was of.
struct RunTangentAt {
    RunTangentAt(SystemAt& system, Model& model, const Tape& tape, const std::string& method, double rtol, double atol,
                 bool is_looser, const std::vector<std::pair<int, int>>& watched)
        : at(system),
          width(watched.size()),
          tangent(system.core().ports(), system.core().model(), tape, method, Tolerances(rtol, atol), is_looser,
                  list(watched), [&system, &model](double t, const std::vector<double>& values) {
                      model.set_inputs(t, values);
                      system.core().inputs_changed();
                  }) {
        if (&model != &system.core().model()) throw std::invalid_argument("RunTangent: the model of another system");
    }

    static std::vector<RunTangent::Watched> list(const std::vector<std::pair<int, int>>& watched) {
        std::vector<RunTangent::Watched> out;
        for (const auto& [what, number] : watched)
            out.push_back({static_cast<RunTangent::Watched::What>(what), number});
        return out;
    }

    SystemAt& at;
    size_t width;
    RunTangent tangent;
};

using Cube = nb::ndarray<nb::numpy, double, nb::ndim<3>>;

std::vector<RunTangent::HeldPlace> held_places(const RunTangentAt& self, const Places& places,
                                               const std::vector<int>& intervals) {
    std::vector<RunTangent::HeldPlace> out;
    for (const NumberPlace& place : places_of(self.at.core().model(), places)) out.push_back({place});
    if (!intervals.empty())
        check_size(static_cast<Eigen::Index>(intervals.size()), static_cast<int>(out.size()), "intervals");
    for (size_t i = 0; i < intervals.size(); ++i) out[i].interval = intervals[i];
    return out;
}

std::tuple<Cube, Column, Rows> follow(RunTangentAt& self, const Rows& x, const Rows& u, const Places& places,
                                      const Rows& along, const std::vector<int>& intervals) {
    const auto count = static_cast<int>(x.rows());
    const int n = self.at.core().tangent_size();
    check_size(x.cols(), n, "x");
    check_size(u.rows(), count, "u");
    check_size(u.cols(), n, "u");
    check_size(along.rows(), count, "along");
    check_size(along.cols(), static_cast<int>(places.size()), "along");
    const std::vector<RunTangent::HeldPlace> numbers = held_places(self, places, intervals);
    const size_t shape[3] = {static_cast<size_t>(self.tangent.outputs()), static_cast<size_t>(count), self.width};
    auto* out = new std::vector<double>(shape[0] * shape[1] * shape[2]);
    const nb::capsule owner(out, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    Column left(count);
    Rows impacts(self.tangent.impacts(), count);
    {
        const nb::gil_scoped_release release;
        self.tangent.forward(count, x.data(), u.data(), numbers, along.data(), out->data(), left.data(),
                             impacts.data());
    }
    return {Cube(out->data(), 3, shape, owner), left, impacts};
}

std::tuple<Column, Column, Column, double> follow_back(RunTangentAt& self, const Rows& seeds, const Column& of_impacts,
                                                       const Places& places, bool errors,
                                                       const std::vector<int>& intervals) {
    check_size(of_impacts.size(), self.tangent.impacts(), "of_impacts");
    check_size(seeds.rows(), self.tangent.outputs(), "seeds");
    check_size(seeds.cols(), static_cast<int>(self.width), "seeds");
    const std::vector<RunTangent::HeldPlace> further = held_places(self, places, intervals);
    Derivatives::Gradient start;
    Column numbers(further.size());
    double error = std::numeric_limits<double>::quiet_NaN();
    {
        const nb::gil_scoped_release release;
        self.tangent.backward(seeds.data(), of_impacts.data(), further, start, numbers.data(),
                              errors ? &error : nullptr);
    }
    return {Eigen::Map<const Column>(start.x.data(), start.x.size()),
            Eigen::Map<const Column>(start.u.data(), start.u.size()), numbers, error};
}

std::tuple<Column, Rows, Rows> beside_impacts(RunTangentAt& self) {
    const int impacts = self.tangent.impacts();
    Column times(impacts);
    Rows before(impacts, self.width), behind(impacts, self.width);
    for (int i = 0; i < impacts; ++i)
        times[i] = self.tangent.beside_impact(i, before.row(i).data(), behind.row(i).data());
    return {times, before, behind};
}

nb::list remarks(const RunTangentAt& self) {
    static constexpr const char* kNames[] = {"grazing", "together", "touching", "idle", "open", "jump"};
    nb::list out;
    for (const RunTangent::Remark& one : self.tangent.remarks())
        out.append(nb::make_tuple(kNames[static_cast<int>(one.what)], one.t,
                                  one.stop < 0 ? -1 : self.at.core().row_of_stop(one.stop), one.size));
    return out;
}

using ByAllMotion = std::tuple<double, Column, Column, Column, Column>;

ByAllMotion coordinate_gradient(SystemAt& self, const Column& udot, const Column& of_values, const Column& of_rates,
                                const Column& of_seconds, const Places& places) {
    const Scenery at = self.scenery();
    const int records = kTwist * (at.model.bodies() + 1), size = static_cast<int>(at.model.coordinates.size());
    check_size(self.core().tangent_size(), records, "a formulation in maximal coordinates");
    check_size(udot.size(), records, "udot");
    check_size(of_values.size(), size, "of_values");
    check_size(of_rates.size(), size, "of_rates");
    check_size(of_seconds.size(), size, "of_seconds");
    EquationsTangent equations(at.model, at.branches, self.core().contacts());
    const std::vector<double> none(at.model.rows_total(), 0.0);
    EquationsTangent::Seeds seeds;
    seeds.coordinates[0] = of_values.data();
    seeds.coordinates[1] = of_rates.data();
    seeds.coordinates[2] = of_seconds.data();
    EquationsTangent::Gradient by_motion;
    const auto [t, x, u, numbers] = gradient_of(self, places, [&](const auto& further, auto& found, auto& by_numbers) {
        equations.transposed({self.time, at.x, at.u, udot.data(), none.data()}, seeds, further, by_motion, by_numbers);
        found = {by_motion.t, by_motion.x, by_motion.u};
    });
    return {t, x, u, Eigen::Map<const Column>(by_motion.udot.data(), by_motion.udot.size()), numbers};
}

}  // namespace

void bind_tangents(nb::module_& m) {
    nb::class_<RunTangentAt>(m, "RunTangent",
                             "A run that is followed again, along directions of its start and of numbers.")
        .def(
            nb::init<SystemAt&, Model&, const Tape&, const std::string&, double, double, bool,
                     const std::vector<std::pair<int, int>>&>(),
            "system"_a, "model"_a, "tape"_a, "method"_a, "rtol"_a, "atol"_a, "is_looser"_a, "watched"_a,
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
            "watched: numbers of each frame, (0, coordinate) its value, (1, coordinate) its rate, (2, coordinate) its\n"
            "second rate, (3, row) a multiplier, (4, 15 body + k) of its frame position, velocity, acceleration, "
            "angular\n"
            "velocity and acceleration, world axes, (5, 0) its time, which changes where an event ends the run. rtol, "
            "atol: of the steps in which it is followed; is_looser: "
            "whether\n"
            "they are larger than those of the run. Refuses a tape that cannot be followed.")
        .def(
            "begin",
            [](RunTangentAt& self) {
                RunTangent::State at = self.tangent.begin();
                self.at.time = self.tangent.begins_at();
                self.at.x = std::move(at.x), self.at.u = std::move(at.u);
            },
            "Puts the system where the run began.")
        .def("follow", &follow, "x"_a, "u"_a, "places"_a, "along"_a, "intervals"_a = std::vector<int>(),
             nb::sig("def follow(self, x: numpy.typing.NDArray[numpy.float64], u: numpy.typing.NDArray[numpy.float64], "
                     "places: collections.abc.Sequence[tuple[str, int]], along: numpy.typing.NDArray[numpy.float64], "
                     "intervals: collections.abc.Sequence[int] = ...) "
                     "-> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                     "numpy.typing.NDArray[numpy.float64]]"),
             "Changes of what is watched, (frames, d, watched), along directions of the start (d, n) and of numbers\n"
             "(d, places); by how much rows stay open at the start, (d,); and changes of the times of impacts,\n"
             "(impacts, d). intervals: of each place the one in "
             "which\n"
             "it changes, -1: always; or none.")
        .def("follow_back", &follow_back, "seeds"_a, "of_impacts"_a, "places"_a, "errors"_a,
             "intervals"_a = std::vector<int>(),
             "The gradient of a sum of what is watched with weights (frames, watched), and of the times of impacts, "
             "with\n"
             "weights (impacts,): by the state at the start (n,),\n"
             "(n,), and by numbers (places,); and, where errors are asked for, what the sum would be without those of\n"
             "the method, less what it is.")
        .def_prop_ro(
            "steps", [](const RunTangentAt& self) { return self.tangent.steps(); }, "In how many it is followed.")
        .def("beside_impacts", &beside_impacts,
             "Times of impacts (impacts,), and what is watched before and behind each, (impacts, watched).")
        .def_prop_ro(
            "intervals",
            [](const RunTangentAt& self) {
                std::vector<double> begins;
                for (const Tape::Interval& one : self.tangent.intervals()) begins.push_back(one.t);
                return begins;
            },
            "Where intervals begin in which inputs are held, s.")
        .def("remarks", &remarks, nb::sig("def remarks(self) -> list[tuple[str, float, int, float]]"),
             "What the last call found on the way that makes derivatives large or one-sided: its kind, its time, the\n"
             "row of a stop or -1, and how large.");
    m.def("closed_directions", &closed_directions, "system"_a, "x"_a, "u"_a, "t"_a, "places"_a, "along"_a,
          "Directions of the state (d, n), as the formulation's tangent vectors, changed by the least to directions\n"
          "along which the rows hold; and the largest change of a row that is left, (d,). t: changes of time, (d,).\n"
          "places: numbers of the model by array and index; along: their changes, (d, places). All may be empty.");
    m.def(
        "tangents", &tangents, "system"_a, "x"_a, "u"_a, "t"_a, "places"_a, "along"_a, "multipliers"_a = true,
        "The accelerations (n,), their changes (d, n) and those of the multipliers (d, rows) along closed directions;\n"
        "of none if they are not asked for, which may take less time.");
    m.def("coordinate_tangents", &coordinate_tangents, "system"_a, "udot"_a, "x"_a, "u"_a, "rates"_a, "t"_a, "places"_a,
          "along"_a,
          "Changes of all coordinates of the model, their rates and second rates, (d, coordinates) each, for\n"
          "accelerations udot (n,) that change by rates (d, n).");
    m.def("row_tangents", &row_tangents, "system"_a, "udot"_a, "x"_a, "u"_a, "rates"_a, "t"_a, "places"_a, "along"_a,
          "Changes of the second rates of all rows, (d, rows), without their compliance: zero where they hold.");
    m.def(
        "coordinate_gradient", &coordinate_gradient, "system"_a, "udot"_a, "of_values"_a, "of_rates"_a, "of_seconds"_a,
        "places"_a,
        "The gradient of a sum of coordinates, their rates and second rates with weights (coordinates,) each: by\n"
        "time, by the state (n,), (n,), by the accelerations (n,), and by numbers of the model (places,). In maximal\n"
        "coordinates.");
    m.def(
        "body_directions", &body_directions, "system"_a, "udot"_a, "x"_a, "u"_a, "rates"_a, "t"_a, "places"_a,
        "along"_a,
        "How all bodies move along directions of the state, with accelerations udot (n,) that change by rates\n"
        "(d, n): displacements, changes of velocities and of accelerations, (d, 8 (bodies + 1)) each, in the records\n"
        "of maximal coordinates, of points that are centres of mass.");
    m.def("gradient", &gradient, "system"_a, "of_rates"_a, "of_multipliers"_a, "places"_a,
          "The gradient of a sum of these with weights (n,) and (rows,): by time, by the state (n,), (n,), and by\n"
          "numbers of the model (places,).");
    m.def("closed_gradient", &closed_gradient, "system"_a, "of_x"_a, "of_u"_a, "places"_a,
          "The gradient of a sum, with weights (n,) and (n,), of the directions that closed_directions makes: by\n"
          "time, by the directions as they were (n,), (n,), and by numbers of the model (places,).");
}

}  // namespace bellcrank
