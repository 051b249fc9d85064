// Simulations from Python: they enter C++ and hand frames back in blocks; and Ctrl-C in all long work.
#include "integrate/simulate.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>

#include "bindings.hpp"
#include "integrate/follow_constraints.hpp"
#include "interruption/interruption.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// Whether Ctrl-C raises KeyboardInterrupt, as it does unless a program has said otherwise.
bool interrupt_is_raised() {
    const nb::module_ signals = nb::module_::import_("_signal");  // its functions run no Python code
    return signals.attr("getsignal")(signals.attr("SIGINT")).is(signals.attr("default_int_handler"));
}

// Signals of the process. Handlers may do anything, so that work which keeps the GIL, and through it what all threads
// write into, runs none: it ends where Ctrl-C would raise, and leaves other handlers to who called it.
class Signals final : public Interrupter {
  public:
    void look() override {
        if (PyGILState_Check()) {
            if (!PyOS_InterruptOccurred()) return;
            if (!interrupt_is_raised()) return PyErr_SetInterrupt();
            PyErr_SetNone(PyExc_KeyboardInterrupt);
            throw nb::python_error();
        }
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
};

// Collects frames (time first) and gives them in blocks to a Python callable; asks for signals twenty times a second,
// between steps and in work within them that lasts.
class PythonSink : public Sink, public Interrupter {
  public:
    explicit PythonSink(int width)
        : width_(width + 1), capacity_(std::clamp(4'000'000 / (8 * width_), 1, 4096)), room_(std::min(64, capacity_)) {
        buffer_.resize(static_cast<size_t>(width_) * room_);
        event_numbers_.reserve(kEvents);
        event_frames_.reserve(static_cast<size_t>(width_) * kEvents);
    }

    // Whom to call from now on; whoever sets them keeps them alive.
    void call(nb::handle on_block, nb::handle on_progress, nb::handle on_sample = {}, nb::handle on_slow = {}) {
        on_block_ = on_block, on_progress_ = on_progress, on_sample_ = on_sample, on_slow_ = on_slow;
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
        if (count_ == room_) make_room();
        double* at = buffer_.data() + static_cast<size_t>(count_++) * width_;
        at[0] = t;
        return at + 1;
    }

    void contacts(const Contacts& found) override {
        has_contacts_ = true;
        found.append_records(contacts_);
    }

    void sample(int index, double t) override {
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);
        on_sample_(index, t);
    }

    void crawls(const SlowRun&) override {
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);
        if (on_slow_.is_valid() && !on_slow_.is_none()) on_slow_();
    }

    bool alive(double t) override {
        reached_ = t;
        return !pace_.due() || continues();
    }

    void look() override {
        if (!continues()) throw Interrupted();
    }

    bool continues() {
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
        const nb::ndarray<nb::numpy, double, nb::ndim<2>> frames(buffer_.data(), 2, shape, nb::handle());
        count_ = 0;
        if (!has_contacts_) {
            on_block_(frames);
            return;
        }
        on_block_(frames, rows_of(contacts_));
        contacts_.clear();
    }

  private:
    static constexpr size_t kEvents = 64;  // room for so many at first

    void make_room() {
        if (room_ == capacity_) return flush();
        room_ = std::min(4 * room_, capacity_);
        buffer_.resize(static_cast<size_t>(width_) * room_);
    }

    int width_, capacity_, room_, count_ = 0;
    double reached_ = 0.0;
    Pace pace_;
    nb::handle on_block_, on_progress_, on_sample_, on_slow_;
    std::vector<double> buffer_, event_frames_;
    std::vector<RecordedContact> contacts_;
    bool has_contacts_ = false;
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
        case SimulationStatus::impulses_not_found:
            return "impulses_not_found";
        case SimulationStatus::friction_jams:
            return "friction_jams";
        case SimulationStatus::friction_not_found:
            return "friction_not_found";
        case SimulationStatus::pole_reached:
            return "pole_reached";
        case SimulationStatus::endless:
            return "endless";
    }
    return "unknown";
}

nb::dict result_dict(const SimulationResult& result) {
    nb::dict out = dict_of(result);
    out["status"] = status_name(result.status);
    if (result.status == SimulationStatus::impulses_not_found) out["row"] = result.impulses.row;
    return out;
}

nb::dict kinematics(SystemAt& self, const std::vector<double>& output_times, const Observation& what,
                    nb::callable on_block, nb::callable on_progress) {
    if (output_times.empty()) throw std::invalid_argument("output_times: at least the start");
    PythonSink sink(self.core().observation_size(what));
    sink.call(on_block, on_progress);
    SimulationResult result;
    {
        const nb::gil_scoped_release release;
        const Interrupting here(&sink);
        result = follow_constraints(self.core().ports(), output_times, what, self.x, self.u, sink);
        sink.flush();
    }
    self.time = result.time;
    return result_dict(result);
}

void check_events(const std::vector<EventFunction>& events, int measured) {
    for (const EventFunction& event : events) {
        if (event.program->outputs() != 1 || event.program->inputs() != static_cast<int>(event.inputs.size()))
            throw std::invalid_argument("events: a program of one output, and a place for each of its inputs");
        for (const int place : event.inputs)
            if (place < -1 || place >= measured)
                throw std::invalid_argument("events: an input stands at no place that is measured");
    }
}

// Frames go to Python, and samples are taken there, of the system where the run is.
class RunSink final : public PythonSink {
  public:
    RunSink(int width, SystemAt& at) : PythonSink(width), at_(at) {}
    void sample(int index, double t) override {
        at_.time = t;
        PythonSink::sample(index, t);
    }

  private:
    SystemAt& at_;
};

// A run of a system that Python holds, with what it records.
struct RunAt {
    RunAt(SystemAt& at, SimulationOptions options, Observation what, double tape_room)
        : at(at),
          tape(tape_room > 0.0
                   ? std::make_shared<Tape>(at.core().configuration_size(), at.core().tangent_size(), tape_room)
                   : nullptr),
          sink(at.core().observation_size(what), at),
          run(make_run(
              {at.core().ports(), std::move(options), std::move(what), at.time, at.x, at.u, sink, tape.get()})) {}

    SystemAt& at;
    const std::shared_ptr<Tape> tape;
    RunSink sink;
    std::unique_ptr<Run> run;
};

bool advance(RunAt& self, const std::vector<double>& outputs, double end, bool last, bool flush, nb::callable on_block,
             nb::callable on_progress, nb::object on_sample, nb::object on_slow) {
    self.sink.call(on_block, on_progress, on_sample, on_slow);
    bool finished = false;
    {
        const nb::gil_scoped_release release;
        const Interrupting here(&self.sink);
        const SimulationResult& result = self.run->advance(outputs, end, last);
        finished = result.status == SimulationStatus::finished && !result.ended;
        if (flush || !finished) self.sink.flush();
    }
    self.at.time = self.run->time();
    return finished;
}

void flush(RunAt& self, nb::callable on_block) {
    self.sink.call(on_block, nb::none());
    self.sink.flush();
}

void measure(RunAt& self, nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
    SystemAt& at = self.at;
    Observation what;
    what.coordinates = self.run->observation().coordinates;
    if (out.size() < static_cast<size_t>(at.core().observation_size(what)))
        throw std::invalid_argument("measure: no room");
    at.core().measure(at.time, at.x.data(), at.u.data(), what, out.data());
}

nb::dict outcome(RunAt& self) {
    nb::dict d = result_dict(self.run->result());
    const int functions = static_cast<int>(self.run->options().events.size());
    const int stops = self.at.core().stops();
    const int contacts = self.at.core().contacts().events();
    // The event's number, or −1 and the row of a stop, −2 and the number of an event of contacts, −4 and that of a row
    // and change of friction.
    const auto named = [&](int number) -> std::pair<int, int> {
        const int stop = number - functions;
        if (stop < 0) return {number, -1};
        if (stop < stops) return {-1, self.at.core().row_of_stop(stop)};
        const int contact = stop - stops, friction = contact - contacts;
        if (friction < 0) return {-2, contact};
        const int row = self.at.core().row_of_stop(friction / kFrictionChanges);
        return {-4, kFrictionChanges * row + friction % kFrictionChanges};
    };
    std::vector<std::pair<int, int>> happened;
    for (const int number : self.sink.event_numbers()) happened.push_back(named(number));
    d["events"] = happened;
    const int slow = self.run->result().slow.slow_event;
    d["slow_event"] = slow >= 0 ? named(slow) : std::pair(-3, -1);
    d["event_frames"] = self.sink.event_frames();
    return d;
}

void make_run_at(RunAt* self, SystemAt& system, const std::string& method, double step, double max_step, double rtol,
                 double atol, const Observation& what, int max_order, std::vector<EventFunction> events,
                 const Observation* measured, const std::vector<std::pair<double, double>>& tolerances,
                 std::vector<double> periods, std::pair<double, std::vector<long long>> sampling, double tape_room) {
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
    if (measured != nullptr) options.measured = *measured;
    check_events(events, system.core().observation_size(options.measured));
    options.events = std::move(events);
    options.periods = std::move(periods);
    std::tie(options.first_sample, options.samples) = std::move(sampling);
    if (std::ranges::any_of(options.periods, [](double period) { return !(period > 0.0); }))
        throw std::invalid_argument("periods: they must be greater than zero");
    new (self) RunAt(system, std::move(options), what, tape_room);
}

}  // namespace

void bind_integrate(nb::module_& m) {
    static Signals signals;
    set_interrupter(&signals);
    m.def(
        "undefined_row",
        [](SystemAt& self) {
            return PoleWatch(self.core(), self.core()).undefined(self.time, self.x.data(), self.u.data());
        },
        "system"_a, "The model row with an angle that has no direction at the system's state, -1: none.");
    m.def(
        "break_times",
        [](SystemAt& self, double from, double to) {
            std::vector<double> found;
            self.core().break_times(from, to, found);
            return found;
        },
        "system"_a, "begin"_a, "end"_a,
        "Times between two, neither included, at which functions of time or their first two derivatives jump.");
    m.def("kinematics", &kinematics, "system"_a, "output_times"_a, "what"_a, "on_block"_a, "on_progress"_a,
          nb::sig("def kinematics(system: SystemAt, output_times: collections.abc.Sequence[float], what: Observation, "
                  "on_block: collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], None], "
                  "on_progress: collections.abc.Callable[[float], bool | None]) -> dict[str, str | float]"),
          "Follows the constraints of a system whose drives leave nothing free through the output times.\n\n"
          "The system's state must be projected. Callables and result are those of a Run.");
    auto event = bind_record<EventFunction>(
        m, "EventFunction", "A program of one output that crosses zero: 1: from below, -1: from above, 0: both.");
    make_by_name(event);
    nb::class_<Tape>(m, "Tape", "What a run has gone through: where it stood, and how it went on from there.");
    nb::class_<RunAt>(m, "Run", "A run of a system: it goes on with the method's history as often as it is told to.")
        .def("__init__", &make_run_at, "system"_a, nb::kw_only(), "method"_a, "step"_a, "max_step"_a, "rtol"_a,
             "atol"_a, "what"_a, "max_order"_a = 12, "events"_a = std::vector<EventFunction>(),
             "measured"_a = nb::none(), "tolerances"_a = std::vector<std::pair<double, double>>(),
             "periods"_a = std::vector<double>(),
             "sampling"_a = std::pair(std::numeric_limits<double>::quiet_NaN(), std::vector<long long>()),
             "tape_room"_a = 0.0, nb::keep_alive<1, 2>(),
             "The system's state must be projected; it is that of the run. events: of adaptive methods; an\n"
             "input's place is -1 for the time, else in what observe() writes of `measured`. tolerances: (rtol, "
             "atol) of translations, rotations, their rates, "
             "in place of rtol and atol, which\nare then the strictest of them. max_step: 0 for none. periods: of "
             "samples, from the start on. sampling: that of a run that this one goes on with. tape_room: bytes that "
             "may be taken for following the run again, 0: none.")
        .def_ro("tape", &RunAt::tape, nb::sig("def tape(self) -> Tape | None"), "What was kept to follow it again.")
        .def("advance", &advance, "outputs"_a, "end"_a, "last"_a, "flush"_a, "on_block"_a, "on_progress"_a,
             "on_sample"_a = nb::none(), "on_slow"_a = nb::none(),
             nb::sig("def advance(self, outputs: collections.abc.Sequence[float], end: float, last: bool, flush: bool, "
                     "on_block: collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], None], "
                     "on_progress: collections.abc.Callable[[float], bool | None], "
                     "on_sample: collections.abc.Callable[[int, float], None] | None = None, "
                     "on_slow: collections.abc.Callable[[], None] | None = None) -> bool"),
             "Goes on to `end`, and records at `outputs`, ascending, up to there; whether it got there and may go "
             "on.\n\n"
             "last: the run is over then. on_block takes frames (n, 1 + width): time, then the sections of "
             "frame_sections();\nthe array is reused afterwards. Without flush, frames may wait. on_progress takes "
             "the time reached, about\ntwenty times a second; False ends the run, as Ctrl-C does. on_sample takes the "
             "number of a period and the time\nof a multiple of it, where the run stands; it may change inputs or "
             "move. on_slow "
             "is called\nonce where the run does not get on; outcome() says why.")
        .def("flush", &flush, "on_block"_a,
             nb::sig("def flush(self, on_block: collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], None]) "
                     "-> None"),
             "Passes on the frames that wait.")
        .def(
            "change_input", [](RunAt& self) { self.run->change_input(); },
            "Other inputs act from here on: the method starts anew.")
        .def(
            "move", [](RunAt& self) { self.run->move(self.at.time); },
            "The system was set to another state, which must be projected.")
        .def("measure", &measure, "out"_a,
             "Poses and velocities of the bodies, then values and rates of the coordinates that are recorded, as "
             "observe() writes\nthem, at the state of the run.")
        .def(
            "observe",
            [](RunAt& self) {
                Rows frame(1, 1 + self.at.core().observation_size(self.run->observation()));
                frame(0, 0) = self.run->time();
                self.run->observe(frame.data() + 1);
                return frame;
            },
            "The frame (1, 1 + width) that would be recorded at the state of the run.")
        .def_prop_ro(
            "sampling", [](RunAt& self) { return std::pair(self.run->first_sample(), self.run->samples()); },
            "When samples began, and the next multiple of each period.")
        .def_prop_ro(
            "armed", [](RunAt& self) { return self.run->functions().armed(); },
            "Of each event, whether it counts as the condition of a change where a motion begins.")
        .def(
            "works", [](RunAt& self) { return self.run->works(); }, "The works of the accounts since the start, J.")
        .def(
            "go_on_from",
            [](RunAt& self, const std::vector<double>& works) {
                if (works.size() != self.run->works().size()) throw std::invalid_argument("works: of other accounts");
                self.run->works() = works;
            },
            "works"_a, "The works that a run has come to with which this one goes on.")
        .def("outcome", &outcome, nb::sig("def outcome(self) -> dict[str, typing.Any]"),
             "What it has done so far: status, time, steps, rejected, rounding, last_step, next_step, "
             "steps_since_restart,\nevaluations_since_restart, last_order, highest_order, "
             "samples, "
             "body, row, ended (by an event); events,\n(number, -1), (-1, row of a stop) or (-2, number of an event of "
             "contacts), and event_frames (n, 1 + "
             "width).");
}

}  // namespace bellcrank
