// Zeros of functions of the motion, and stops, which are met where their gaps vanish.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "integrate/cubic_curve.hpp"
#include "programs/compiled_program.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

// An event: the function crosses zero.
struct EventFunction {
    std::shared_ptr<const CompiledProgram> program;  // one output
    std::vector<int> inputs;  // of each input: −1 the time, else its place in what measure() writes
    int direction = 0;        // 1: from below, −1: from above, 0: both
    bool terminal = false;    // the run ends there
    // Of the condition of a change, terminal, from below: by how much it may lack where a motion begins, for it counts
    // there too. Negative: it is none. Unless it is armed it has to fail before it counts.
    double level = -1.0;
    bool armed = true;
    // The equations are others beyond it, as where a rope leaves a wheel: a step ends there, and the next one begins
    // beyond.
    bool bends = false;

    bool is_change() const { return level >= 0.0; }
    BELLCRANK_FIELDS(EventFunction, (program), (inputs), (direction), (terminal), (level), (armed), (bends))
};

// The functions of events, and which conditions of changes are armed.
class EventFunctions {
  public:
    // measured: what they need, as measure() or, if there are loads and inputs among it, observe() writes it.
    EventFunctions(Record& record, const std::vector<EventFunction>& events, const Observation& measured);

    int count() const { return static_cast<int>(events_.size()); }
    const EventFunction& operator[](int event) const { return events_[event]; }
    bool reads_loads() const { return reads_loads_; }
    void evaluate(double t, const double* x, const double* u, double* values);
    // The changes that are due where a motion begins.
    const std::vector<int>& due(double t, const double* x, const double* u);
    void arm(int event) { armed_[event] = true; }
    const std::vector<bool>& armed() const { return armed_; }

  private:
    Record& record_;
    const std::vector<EventFunction>& events_;
    const Observation& measured_;
    const bool reads_loads_;
    bool has_changes_ = false;
    std::vector<bool> armed_;
    std::vector<double> motion_, inputs_, work_, values_;
    std::vector<int> due_;
};

// What friction begins to do where it is settled.
enum class FrictionChange { sticks, slips, turns };
inline constexpr int kFrictionChanges = 3;

// Looks for zeros on the curve that a step leaves between its ends: signs are compared at a few times within the step,
// and where the cubic through two of them comes to zero between; where one has changed the zero is found by regula
// falsi and bisection. Contacts are compared as often as it takes for none to begin and end unnoticed.
class EventWatch {
  public:
    struct Root {
        double time;
        int event;  // from the number of functions on: a stop; then an event of contacts
    };

    EventWatch(const Manifold& manifold, StopWatch& stop_watch, Record& record, EventFunctions& events);

    bool empty() const { return signs_.empty(); }
    bool is_function(int event) const { return event < functions(); }
    int count() const { return static_cast<int>(signs_.size()); }
    bool is_stop(int event) const { return event >= functions() && event < functions() + stops_; }
    bool is_contact(int event) const { return event >= first_contact(); }
    int first_contact() const { return functions() + stops_; }
    // Of a stop of friction: numbers beyond all events.
    int friction_event(int stop, FrictionChange change) const {
        return count() + kFrictionChanges * stop + static_cast<int>(change);
    }
    bool ends(int event) const { return event >= functions() || events_[event].terminal || events_[event].bends; }
    bool bends(int event) const { return event < functions() && events_[event].bends; }
    // The first time in a step, of which the end is given, at which equations change; infinite if there is none.
    double first_bend(double t, double h, const double* x1, const double* u1, const Curve& curve);
    // Whether a function has the sign that it has behind the zero that was found last.
    bool is_beyond(int event, double t, const double* x, const double* u);

    // A motion starts at (t, x, u): signs are those found there; a zero has none until the function has left it.
    void begin(double t, const double* x, const double* u);
    // A contact that ended a step before any time had passed: until the next time that one passes, nothing is looked
    // for there. So is the beginning of one only if it does so again and again.
    void pass_over(int event);
    void time_passes();
    // The zeros between t and t + h in the order of time, none after the first stop or terminal event.
    const std::vector<Root>& find(double t, double h, const Curve& curve);

  private:
    int functions() const { return events_.count(); }
    void evaluate(double t, const double* x, const double* u, double* values, bool accelerates = false);
    bool is_friction(int event) const { return is_stop(event) && stop_watch_.is_friction(event - functions()); }
    bool crosses(int event, double value) const;
    bool is_beginning(int event) const;
    double locate(int event, double a, double b, const Curve& curve);
    void look(double time, double beside, const Curve& curve, std::vector<double>& values, std::vector<double>& rates);
    double first_dip(double from, double to, double beside, const Curve& curve);
    double dip(int event, double from, double to, double beside, const Curve& curve);
    double sweep(double begin, double end, const Curve& curve);
    double apart_until(double time, const Curve& curve);
    void cut_after_the_first_end();
    // Of what friction holds, per stop.
    struct Margins {
        double time;
        std::vector<double> values;

        void swap(Margins& other) { std::swap(time, other.time), values.swap(other.values); }
    };
    void find_release(double begin, double end, const Curve& curve);
    void find_margins(double time, Margins& out, const Curve& curve);
    double bend() const;
    void add_release(double from, const Margins& end, const Curve& curve);

    StopWatch& stop_watch_;
    Record& record_;
    Contacts& contacts_;
    EventFunctions& events_;
    const int stops_;
    const bool has_contacts_;
    const int parts_;
    bool has_bends_ = false;
    std::vector<int> signs_;
    std::vector<int> passed_over_;               // how often
    std::vector<double> values_, rates_;         // at the end of the part at hand
    std::vector<double> first_, first_rates_;    // at its start
    std::vector<double> within_, within_rates_;  // and somewhere in it
    std::vector<double> trial_, stop_rates_, x_, u_;
    std::vector<Root> roots_;
    Margins margins_before_, margins_, margins_after_;  // at the last looks; at the end of the stride at hand
    double bent_ = 0.0, stride_ = 0.0;
    double begun_ = 0.0;  // time of begin()
};

}  // namespace bellcrank
