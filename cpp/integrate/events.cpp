#include "integrate/events.hpp"

#include <algorithm>
#include <cmath>

#include "model/gap_course.hpp"

namespace bellcrank {

namespace {

constexpr int kParts = 4;  // of a step, at whose ends signs are compared
constexpr int kMostIterations = 100;
constexpr int kPatience = 8;                                   // with contacts that begin and do not
constexpr double kResolution = 4e-16;                          // of a time
constexpr double kBesideIt = 1e-4;                             // of a step: so near is a second look that shows a rate
constexpr int kMostLooks = 4;                                  // for a zero between two times with the same sign
constexpr double kNearZero = 0.25;                             // of the value at both: what comes nearer may be zero
constexpr double kMostBent = 0.02, kTooBent = 0.2;             // of a margin, in a stride: wanted; too much
constexpr double kShorter = 0.25, kLonger = 2.0;               // strides, by what margins bend
constexpr double kLastStride = 1.3;                            // strides: what is left of a step is one
constexpr double kFirstStrides = 64.0, kMostStrides = 1024.0;  // in a step: at the start, and at all
constexpr double kLeastPart = 0.05;                            // of what a margin changes: less is next to none
constexpr double kLeastMargin = 1e-12;                         // [N, N m]
constexpr double kBent = 1e-11;   // of a function beyond which equations are others: that is zero where they begin
constexpr double kStart = 1e-11;  // [s]: a zero as near to the start of a motion is that of the start

int sign_of(double value) { return value > 0.0 ? 1 : value < 0.0 ? -1 : 0; }

}  // namespace

EventFunctions::EventFunctions(Record& record, const std::vector<EventFunction>& events, const Observation& measured)
    : record_(record),
      events_(events),
      measured_(measured),
      reads_loads_(!measured.rows.empty() || !measured.reactions.empty() || !measured.efforts.empty() ||
                   measured.inputs > 0),
      motion_(record.observation_size(measured)),
      values_(events.size()) {
    size_t inputs = 0, work = 0;
    for (const EventFunction& e : events) {
        inputs = std::max(inputs, e.inputs.size());
        work = std::max(work, e.program->work_size());
        has_changes_ |= e.is_change();
        armed_.push_back(e.armed);
    }
    inputs_.assign(inputs, 0.0);
    work_.assign(work, 0.0);
}

void EventFunctions::evaluate(double t, const double* x, const double* u, double* values) {
    if (events_.empty()) return;
    if (reads_loads_)
        record_.observe(t, x, u, measured_, motion_.data());
    else
        record_.measure(t, x, u, measured_, motion_.data());
    for (const EventFunction& e : events_) {
        for (size_t i = 0; i < e.inputs.size(); ++i) inputs_[i] = e.inputs[i] < 0 ? t : motion_[e.inputs[i]];
        e.program->evaluate(inputs_.data(), values++, work_.data());
    }
}

const std::vector<int>& EventFunctions::due(double t, const double* x, const double* u) {
    due_.clear();
    if (!has_changes_) return due_;
    evaluate(t, x, u, values_.data());
    for (int i = 0; i < count(); ++i) {
        const EventFunction& e = events_[i];
        if (!e.is_change()) continue;
        if (values_[i] < -e.level)
            arm(i);
        else if (armed_[i])
            due_.push_back(i);
    }
    return due_;
}

EventWatch::EventWatch(const Manifold& manifold, StopWatch& stop_watch, Record& record, EventFunctions& events)
    : stop_watch_(stop_watch),
      record_(record),
      contacts_(record.contacts()),
      events_(events),
      stops_(stop_watch.stops()),
      has_contacts_(contacts_.events() > 0),
      parts_(events.count() == 0 && stops_ == 0 ? 1 : kParts) {
    const auto count = static_cast<size_t>(events.count() + stops_ + contacts_.events());
    signs_.assign(count, 0);
    passed_over_.assign(count, 0);
    for (auto* v : {&values_, &rates_, &first_, &first_rates_, &within_, &within_rates_, &trial_})
        v->assign(count, 0.0);
    for (int i = 0; i < functions(); ++i) has_bends_ |= bends(i);
    stop_rates_.assign(static_cast<size_t>(stops_), 0.0);
    roots_.reserve(kParts * count + 1);
    for (Margins* each : {&margins_before_, &margins_, &margins_after_})
        each->values.resize(static_cast<size_t>(stops_));
    x_.assign(manifold.configuration_size(), 0.0);
    u_.assign(manifold.tangent_size(), 0.0);
}

void EventWatch::evaluate(double t, const double* x, const double* u, double* values, bool accelerates) {
    events_.evaluate(t, x, u, values);
    values += functions();
    if (stops_ > 0) stop_watch_.gaps(t, x, u, values, stop_rates_.data());
    if (stop_watch_.has_friction()) stop_watch_.friction_margins(t, x, u, accelerates, values);
    if (!has_contacts_) return;
    const Scenery at = record_.scenery(t, x, u);
    contacts_.margins(at.x, at.u, values + stops_);
}

// The gap of a stop that is watched is open, if only just; so is the margin of a contact.
void EventWatch::begin(double t, const double* x, const double* u) {
    begun_ = t;
    margins_before_.time = margins_.time = std::numeric_limits<double>::quiet_NaN();
    bent_ = 0.0;
    if (has_contacts_) contacts_.forget_distances();
    evaluate(t, x, u, values_.data());
    for (int i = 0; i < count(); ++i)
        signs_[i] = i >= functions() ? 1 : bends(i) && std::abs(values_[i]) < kBent ? 0 : sign_of(values_[i]);
}

double EventWatch::first_bend(double t, double h, const double* x1, const double* u1, const Curve& curve) {
    double first = std::numeric_limits<double>::infinity();
    if (!has_bends_) return first;
    events_.evaluate(t + h, x1, u1, values_.data());
    for (int i = 0; i < functions(); ++i)
        if (bends(i) && crosses(i, values_[i]) && events_[i].direction * signs_[i] <= 0)
            first = std::min(first, locate(i, t, t + h, curve));
    return first;
}

bool EventWatch::is_beyond(int event, double t, const double* x, const double* u) {
    events_.evaluate(t, x, u, trial_.data());
    return sign_of(trial_[event]) == signs_[event];
}

bool EventWatch::crosses(int event, double value) const {
    if (is_contact(event) && passed_over_[event] > (is_beginning(event) ? kPatience : 0)) return false;
    if (event >= functions()) return value < 0.0;
    const int sign = signs_[event];
    return sign != 0 && sign_of(value) != sign;
}

bool EventWatch::is_beginning(int event) const { return (event - first_contact()) % Contacts::kEvents == 0; }

void EventWatch::pass_over(int event) { ++passed_over_[event]; }

void EventWatch::time_passes() { std::fill(passed_over_.begin(), passed_over_.end(), 0); }

const std::vector<EventWatch::Root>& EventWatch::find(double t, double h, const Curve& curve) {
    roots_.clear();
    if (empty()) return roots_;
    double from = t, apart = has_contacts_ ? sweep(t, t + h, curve) : t + h;
    const double beside = kBesideIt * h;
    const bool dips = functions() + stops_ > 0;
    if (dips) look(t, beside, curve, first_, first_rates_);
    for (int part = 1; part <= parts_;) {
        const double next = part == parts_ ? t + h : t + h * part / parts_;
        double to = std::min(next, apart);
        look(to, -beside, curve, values_, rates_);
        if (dips) {
            const double lowest = first_dip(from, to, beside, curve);
            if (lowest < to) to = lowest, look(to, -beside, curve, values_, rates_);
        }
        if (to == next) ++part;
        const size_t before = roots_.size();
        for (int i = 0; i < static_cast<int>(signs_.size()); ++i) {
            const bool crossed = crosses(i, values_[i]);
            const bool is_function = i < functions();
            if (crossed && (!is_function || events_[i].direction * signs_[i] <= 0)) {
                const double time = locate(i, from, to, curve);
                if (!is_function || time - begun_ > kStart * std::max(1.0, std::abs(begun_)))
                    roots_.push_back({time, i});
            }
            if (!is_function) continue;
            // A zero hit exactly counts as crossed.
            if (crossed) {
                signs_[i] = -signs_[i];
                if (signs_[i] < 0) events_.arm(i);
            } else if (signs_[i] == 0)
                signs_[i] = sign_of(values_[i]);
        }
        std::stable_sort(roots_.begin() + static_cast<std::ptrdiff_t>(before), roots_.end(),
                         [](const Root& a, const Root& b) { return a.time < b.time; });
        if (std::any_of(roots_.begin(), roots_.end(), [this](const Root& r) { return ends(r.event); })) break;
        from = to;
        first_ = values_, first_rates_ = rates_;
        if (to == apart && to < t + h) apart = apart_until(to, curve);
    }
    if (stop_watch_.has_friction()) find_release(t, t + h, curve);
    cut_after_the_first_end();
    return roots_;
}

// What friction holds is looked at in strides of its own, in which its margins hardly bend: the method's steps say
// nothing of the loads on what does not move. The first are short; they may double, so that none leaps over a load that
// swings.
void EventWatch::find_release(double begin, double end, const Curve& curve) {
    bool holds = false;
    for (int i = 0; i < stops_; ++i) holds |= stop_watch_.is_holding(i);
    if (!holds) return;
    const double shortest = (end - begin) / kMostStrides;
    if (begin != margins_.time) {
        stride_ = (end - begin) / kFirstStrides;
        find_margins(begin, margins_, curve);
    }
    for (double time = begin; time < end;) {
        stride_ = std::max(stride_, shortest);
        const double left = end - time, stride = left < kLastStride * stride_ ? left : stride_;
        find_margins(stride == left ? end : time + stride, margins_after_, curve);
        const double bent = bend();
        if (bent > kTooBent && stride > shortest) {
            stride_ = kShorter * stride;
            continue;
        }
        bool ends = false;
        for (int i = 0; i < stops_; ++i) ends |= stop_watch_.is_holding(i) && margins_after_.values[i] < 0.0;
        if (ends) return add_release(time, margins_after_, curve);
        // A bend that passes through zero says little: half of the last one counts as well.
        bent_ = std::isnan(bent) ? 0.0 : std::max(bent, 0.5 * bent_);
        stride_ = std::min(kLonger * stride_, stride * std::max(std::sqrt(kMostBent / bent_), kShorter));
        time = margins_after_.time;
        margins_before_.swap(margins_);
        margins_.swap(margins_after_);
    }
}

void EventWatch::find_margins(double time, Margins& out, const Curve& curve) {
    out.time = time;
    curve(time, x_.data(), u_.data());
    stop_watch_.friction_margins(time, x_.data(), u_.data(), true, out.values.data());
}

// By how much parabolas through the margins at the last three looks bend within the last stride, as a part of what is
// left, or, where next to nothing is, of what has changed; not a number if there are no three.
double EventWatch::bend() const {
    const Margins &a = margins_before_, &b = margins_, &c = margins_after_;
    const double before = b.time - a.time, stride = c.time - b.time;
    double most = std::isnan(a.time) ? a.time : 0.0;
    for (int i = 0; i < stops_; ++i) {
        if (!stop_watch_.is_holding(i) || !std::isfinite(c.values[i])) continue;
        const double rate = (c.values[i] - b.values[i]) / stride, rate_before = (b.values[i] - a.values[i]) / before;
        const double bent = 0.25 * stride * stride * std::abs(rate - rate_before) / (stride + before);
        const double changed = stride * std::max(std::abs(rate), std::abs(rate_before));
        const double left =
            std::max({std::min(b.values[i], std::abs(c.values[i])), kLeastPart * changed, kLeastMargin});
        if (bent / left > most) most = bent / left;
    }
    return most;
}

// Adds the first moment within a stride at which something is let go.
void EventWatch::add_release(double from, const Margins& end, const Curve& curve) {
    Root first{end.time, -1};
    for (int i = 0; i < stops_; ++i) {
        if (!stop_watch_.is_holding(i) || !(end.values[i] < 0.0)) continue;
        const int event = functions() + i;
        values_[event] = end.values[i];
        const double time = locate(event, from, end.time, curve);
        if (first.event < 0 || time < first.time) first = {time, event};
    }
    roots_.push_back(first);
    std::ranges::stable_sort(roots_, {}, &Root::time);
}

// Values, and rates of all but contacts: those of functions by a second look beside.
void EventWatch::look(double time, double beside, const Curve& curve, std::vector<double>& values,
                      std::vector<double>& rates) {
    if (functions() > 0) {
        curve(time + beside, x_.data(), u_.data());
        evaluate(time + beside, x_.data(), u_.data(), rates.data());
    }
    curve(time, x_.data(), u_.data());
    evaluate(time, x_.data(), u_.data(), values.data());
    for (int i = 0; i < functions(); ++i) rates[i] = (rates[i] - values[i]) / beside;
    std::ranges::copy(stop_rates_, rates.begin() + functions());
}

// The first time in a part at which a function that has its sign at both ends has another one; its end if there is
// none.
double EventWatch::first_dip(double from, double to, double beside, const Curve& curve) {
    double first = to;
    for (int i = 0; i < functions() + stops_; ++i)
        if (signs_[i] != 0 && !crosses(i, values_[i])) first = std::min(first, dip(i, from, to, beside, curve));
    return first;
}

double EventWatch::dip(int event, double from, double to, double beside, const Curve& curve) {
    const double sign = signs_[event], end = to;
    double a = sign * first_[event], ra = sign * first_rates_[event];
    double b = sign * values_[event], rb = sign * rates_[event];
    for (int i = 0; i < kMostLooks && ra < 0.0 && rb > 0.0 && a >= 0.0; ++i) {
        const double h = to - from;
        const GapCourse course(a, h * ra, b, h * rb);
        const double lowest = course.lowest();
        if (!(lowest > 0.0 && lowest < 1.0) || course.at(lowest) > kNearZero * std::min(a, b)) break;
        const double time = from + lowest * h;
        look(time, beside, curve, within_, within_rates_);
        if (crosses(event, within_[event])) return time;
        const double value = sign * within_[event], rate = sign * within_rates_[event];
        if (rate > 0.0)
            to = time, b = value, rb = rate;
        else
            from = time, a = value, ra = rate;
    }
    return end;
}

// The time until which no contact can begin, from the start of a step on.
double EventWatch::sweep(double begin, double end, const Curve& curve) {
    curve(begin, x_.data(), u_.data());
    const bool begins_slowly = contacts_.is_short(end - begin, record_.scenery(begin, x_.data(), u_.data()).u);
    curve(end, x_.data(), u_.data());
    const Scenery there = record_.scenery(end, x_.data(), u_.data());
    if (begins_slowly && contacts_.is_short(end - begin, there.u)) {
        contacts_.forget_distances();
        return end;
    }
    contacts_.sweep_to(end, there.x, there.u);
    curve(begin, x_.data(), u_.data());
    const Scenery here = record_.scenery(begin, x_.data(), u_.data());
    contacts_.sweep_from(begin, here.x, here.u);
    return contacts_.apart_until(begin, here.x);
}

double EventWatch::apart_until(double time, const Curve& curve) {
    curve(time, x_.data(), u_.data());
    return contacts_.apart_until(time, record_.scenery(time, x_.data(), u_.data()).x);
}

void EventWatch::cut_after_the_first_end() {
    const auto last = std::find_if(roots_.begin(), roots_.end(), [this](const Root& r) { return ends(r.event); });
    if (last == roots_.end()) return;
    const double time = last->time;
    std::erase_if(roots_, [time](const Root& r) { return r.time > time; });
}

// The last time found before the crossing, or the crossing itself to rounding. At a the function has its old sign, or
// is zero and about to have it.
double EventWatch::locate(int event, double a, double b, const Curve& curve) {
    const auto value = [&](double time) {
        curve(time, x_.data(), u_.data());
        evaluate(time, x_.data(), u_.data(), trial_.data(), is_friction(event));
        return trial_[event];
    };
    double fa = value(a), fb = values_[event];
    int side = 0;
    bool left = false;  // the start, where a function that is about to have its sign says nothing
    for (int i = 0; i < kMostIterations && b - a > kResolution * std::max(std::abs(a), std::abs(b)); ++i) {
        const double part = fa / (fa - fb);
        const bool halve = i % 4 == 3 || !left || !(part > 0.0 && part < 1.0);
        double c = halve ? 0.5 * (a + b) : a + part * (b - a);
        if (!(c > a && c < b)) break;
        const double fc = value(c);
        if (fc == 0.0) return c;
        if (crosses(event, fc)) {
            b = c, fb = fc;
            if (side == -1 && !halve) fa *= 0.5;  // Illinois
            side = -1;
        } else {
            a = c, fa = fc, left = true;
            if (side == 1 && !halve) fb *= 0.5;
            side = 1;
        }
    }
    return std::abs(fa) < std::abs(fb) ? a : b;
}

}  // namespace bellcrank
