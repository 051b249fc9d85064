// A simulation from Python: enters C++ once, hands frames back in blocks.
#include "integrate/simulate.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "integrate/kinematics.hpp"
#include "interruption/interruption.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void records_of(const Model& model, double t, const Rows& position, const Rows& rotation, const Rows& velocity,
                const Rows& angular_velocity, double* poses, double* twists) {
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
    to_principal(model, {t, copy(position), copy(rotation), copy(velocity), copy(angular_velocity)}, poses, twists);
}

NeutralArrays arrays_of(const Model& model, double t, const double* poses, const double* twists) {
    const int n = model.bodies();
    Rows position(n, 3), rotation(n, 4), velocity(n, 3), angular(n, 3);
    to_neutral(model, poses, twists, position.data(), rotation.data(), velocity.data(), angular.data());
    return {t, position, rotation, velocity, angular};
}

void LagrangeAt::set(double t, const Rows& position, const Rows& rotation, const Rows& velocity,
                     const Rows& angular_velocity, bool continued) {
    time = t;
    records_of(system.model(), t, position, rotation, velocity, angular_velocity, x.data(), u.data());
    if (!continued) system.reset_angles(t);
    system.follow_angles(x.data());
}

NeutralArrays LagrangeAt::get() const { return arrays_of(system.model(), time, x.data(), u.data()); }

namespace {

// Collects frames (time first) and gives full blocks to a Python callable; asks for signals twenty times a second,
// between steps and in work within them that lasts.
class PythonSink final : public Sink, public Interrupter {
  public:
    PythonSink(int width, const std::vector<double>& times, nb::callable on_block, nb::callable on_progress)
        : width_(width + 1),
          capacity_(static_cast<int>(std::min<size_t>(times.size(), std::clamp(4'000'000 / (8 * width_), 1, 4096)))),
          reached_(times.front()),
          on_block_(std::move(on_block)),
          on_progress_(std::move(on_progress)) {
        buffer_.resize(static_cast<size_t>(width_) * capacity_);
        event_numbers_.reserve(kEvents);
        event_frames_.reserve(static_cast<size_t>(width_) * kEvents);
    }

    double* event(int index, double t) override {
        event_numbers_.push_back(index);
        event_frames_.resize(event_frames_.size() + width_);
        double* at = event_frames_.data() + event_frames_.size() - width_;
        at[0] = t;
        return at + 1;
    }

    // Their numbers, and their frames (n, 1 + width).
    const std::vector<int>& event_numbers() const { return event_numbers_; }
    Rows event_frames() const {
        const auto count = static_cast<Eigen::Index>(event_numbers_.size());
        return Eigen::Map<const Rows>(event_frames_.data(), count, width_);
    }

    double* frame(double t) override {
        if (count_ == capacity_) flush();
        double* at = buffer_.data() + static_cast<size_t>(count_++) * width_;
        at[0] = t;
        return at + 1;
    }

    bool alive(double t) override {
        reached_ = t;
        return !pace_.due() || goes_on();
    }

    void look() override {
        if (!goes_on()) throw Interrupted();
    }

    bool goes_on() {
        flush();
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);  // what is called may work in the core as well
        if (PyErr_CheckSignals() != 0) {
            if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nb::python_error();
            PyErr_Clear();
            return false;
        }
        return !on_progress_(reached_).is(nb::bool_(false));
    }

    void flush() {
        if (count_ == 0) return;
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);
        const size_t shape[2] = {static_cast<size_t>(count_), static_cast<size_t>(width_)};
        // A view: the callable copies what it keeps.
        on_block_(nb::ndarray<nb::numpy, double, nb::ndim<2>>(buffer_.data(), 2, shape, nb::handle()));
        count_ = 0;
    }

  private:
    static constexpr size_t kEvents = 64;  // room for so many at first

    int width_, capacity_, count_ = 0;
    double reached_;
    Pace pace_;
    nb::callable on_block_, on_progress_;
    std::vector<double> buffer_, event_frames_;
    std::vector<int> event_numbers_;
};

const char* status_name(SimulationStatus status) {
    switch (status) {
        case SimulationStatus::finished:
            return "finished";
        case SimulationStatus::interrupted:
            return "interrupted";
        case SimulationStatus::not_finite:
            return "not_finite";
        case SimulationStatus::constraints_lost:
            return "constraints_lost";
        case SimulationStatus::step_vanished:
            return "step_vanished";
        case SimulationStatus::energy_made:
            return "energy_made";
    }
    return "unknown";
}

Observation observation_of(std::vector<int> coordinates, std::vector<int> rows,
                           std::vector<std::pair<std::vector<int>, int>> reactions, bool accelerations) {
    Observation what{std::move(coordinates), std::move(rows), {}, accelerations};
    for (auto& [blocks, pair] : reactions) what.reactions.push_back({std::move(blocks), pair});
    return what;
}

nb::dict result_dict(const SimulationResult& result) {
    nb::dict d;
    d["status"] = status_name(result.status);
    d["time"] = result.time;
    d["steps"] = result.steps;
    d["rejected"] = result.rejected, d["rounding"] = result.rounding;
    d["last_step"] = result.last_step, d["next_step"] = result.next_step;
    d["steps_since_restart"] = result.steps_since_restart;
    d["difference_evaluations"] = result.difference_evaluations;
    d["evaluations_since_restart"] = result.evaluations_since_restart;
    d["last_order"] = result.last_order, d["highest_order"] = result.highest_order;
    d["body"] = result.body, d["row"] = result.row;
    d["energy_before"] = result.energy_before, d["energy_after"] = result.energy_after;
    return d;
}

nb::dict kinematics(SystemAt& self, const std::vector<double>& output_times, std::vector<int> coordinates,
                    std::vector<int> rows, std::vector<std::pair<std::vector<int>, int>> reactions, bool accelerations,
                    nb::callable on_block, nb::callable on_progress) {
    if (output_times.empty()) throw std::invalid_argument("output_times: at least the start");
    const Observation what =
        observation_of(std::move(coordinates), std::move(rows), std::move(reactions), accelerations);
    PythonSink sink(self.core().observation_size(what), output_times, std::move(on_block), std::move(on_progress));
    SimulationResult result;
    {
        const nb::gil_scoped_release release;
        const Interrupting here(&sink);
        result = follow_constraints(self.core(), output_times, what, self.x, self.u, sink);
        sink.flush();
    }
    self.time = result.time;
    return result_dict(result);
}

using Event = std::tuple<std::shared_ptr<CompiledProgram>, std::vector<int>, int, bool>;

std::vector<EventFunction> event_functions(const std::vector<Event>& events, int measured) {
    std::vector<EventFunction> functions;
    for (const auto& [program, inputs, direction, terminal] : events) {
        if (program->outputs() != 1 || program->inputs() != static_cast<int>(inputs.size()))
            throw std::invalid_argument("events: a program of one output, and a place for each of its inputs");
        for (const int place : inputs)
            if (place < -1 || place >= measured)
                throw std::invalid_argument("events: an input stands at no place that is measured");
        functions.push_back({program, inputs, direction, terminal});
    }
    return functions;
}

nb::dict run(SystemAt& self, const std::string& method, std::vector<double> output_times, double step, double max_step,
             double rtol, double atol, std::vector<int> coordinates, std::vector<int> rows,
             std::vector<std::pair<std::vector<int>, int>> reactions, bool accelerations, nb::callable on_block,
             nb::callable on_progress, int max_order, const std::vector<Event>& events,
             std::vector<int> event_coordinates, const std::vector<std::pair<double, double>>& tolerances,
             Continuation* continuation) {
    if (output_times.empty()) throw std::invalid_argument("output_times: at least the start");
    SimulationOptions options;
    options.method = method;
    options.step = step;
    options.max_step = max_step;
    Tolerances& t = options.settings.tolerances = {rtol, atol};
    if (tolerances.size() == 4) {
        Tolerance* const kinds[] = {&t.translation, &t.rotation, &t.velocity, &t.angular_velocity};
        for (int i = 0; i < 4; ++i) *kinds[i] = {tolerances[i].first, tolerances[i].second};
    }
    options.settings.max_order = max_order;
    options.output_times = std::move(output_times);
    options.measured.coordinates = std::move(event_coordinates);
    options.events = event_functions(events, self.core().observation_size(options.measured));
    const Observation what =
        observation_of(std::move(coordinates), std::move(rows), std::move(reactions), accelerations);
    PythonSink sink(self.core().observation_size(what), options.output_times, std::move(on_block),
                    std::move(on_progress));
    SimulationResult result;
    {
        const nb::gil_scoped_release release;
        const Interrupting here(&sink);
        result = simulate(self.core(), options, what, self.x, self.u, sink, continuation);
        sink.flush();
    }
    self.time = result.time;
    nb::dict d = result_dict(result);
    std::vector<std::pair<int, int>> happened;  // the event's number, or −1 and the row of a stop
    for (const int number : sink.event_numbers()) {
        const int stop = number - static_cast<int>(options.events.size());
        happened.emplace_back(stop < 0 ? number : -1, stop < 0 ? -1 : self.core().row_of_stop(stop));
    }
    d["events"] = happened;
    d["event_frames"] = sink.event_frames();
    return d;
}

}  // namespace

void bind_integrate(nb::module_& m) {
    m.def("kinematics", &kinematics, "system"_a, "output_times"_a, "coordinates"_a, "rows"_a, "reactions"_a,
          "accelerations"_a, "on_block"_a, "on_progress"_a,
          nb::sig("def kinematics(system: SystemAt, output_times: collections.abc.Sequence[float], "
                  "coordinates: collections.abc.Sequence[int], rows: collections.abc.Sequence[int], "
                  "reactions: collections.abc.Sequence[tuple[collections.abc.Sequence[int], int]], "
                  "accelerations: bool, "
                  "on_block: collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], None], "
                  "on_progress: collections.abc.Callable[[float], bool | None]) -> dict[str, str | float]"),
          "Follows the constraints of a system whose drives leave nothing free through the output times.\n\n"
          "The system's state must be projected. Callables and result are those of simulate().");
    nb::class_<Continuation>(m, "Continuation",
                             "What a method that chooses its steps knows at the end of a run, for the next one.")
        .def(nb::init<>());
    m.def(
        "simulate", &run, "system"_a, "method"_a, "output_times"_a, "step"_a, "max_step"_a, "rtol"_a, "atol"_a,
        "coordinates"_a, "rows"_a, "reactions"_a, "accelerations"_a, "on_block"_a, "on_progress"_a, "max_order"_a = 12,
        "events"_a = std::vector<Event>(), "event_coordinates"_a = std::vector<int>(),
        "tolerances"_a = std::vector<std::pair<double, double>>(), "continuation"_a = nb::none(),
        nb::sig(
            "def simulate(system: SystemAt, method: str, output_times: collections.abc.Sequence[float], step: float, "
            "max_step: float, rtol: float, atol: float, coordinates: collections.abc.Sequence[int], "
            "rows: collections.abc.Sequence[int], "
            "reactions: collections.abc.Sequence[tuple[collections.abc.Sequence[int], int]], accelerations: bool, "
            "on_block: collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], None], "
            "on_progress: collections.abc.Callable[[float], bool | None], max_order: int = 12, "
            "events: collections.abc.Sequence[tuple[CompiledProgram, collections.abc.Sequence[int], int, bool]] = (), "
            "event_coordinates: collections.abc.Sequence[int] = (), "
            "tolerances: collections.abc.Sequence[tuple[float, float]] = (), "
            "continuation: Continuation | None = None) -> dict[str, typing.Any]"),
        "Advances the system's state, which must be projected, through the output times.\n\n"
        "on_block takes frames (n, 1 + width): time, then what cpp/model/system.hpp lists for observe(); the array is\n"
        "reused afterwards. on_progress takes the time reached, about twenty times a second; False ends the run. "
        "Returns status, time,\nsteps, rejected, rounding, last_step, next_step, steps_since_restart, "
        "evaluations_since_restart, "
        "difference_evaluations, last_order,\nhighest_order, body, row. Ctrl-C ends it too, with status "
        "\"interrupted\".\nevents: (program of one output, places of its inputs, direction, terminal), of adaptive "
        "methods; an input's place is -1 for\nthe time, else in what observe() writes of event_coordinates. Returned "
        "are also events, (number, -1) or (-1, row of a stop),\nand event_frames (n, 1 + width). tolerances: (rtol, "
        "atol) of translations, rotations, their rates, in place of rtol and atol,\nwhich are then the strictest of "
        "them. continuation: what a run before has left there is gone on with if it ended at\nthis state; it must "
        "have been one of this system, by the same method and with the same tolerances.");
}

}  // namespace bellcrank
