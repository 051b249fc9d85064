// What a run has gone through, for those who follow it again: where it stood, and how it went on from there.
#pragma once

#include <vector>

#include "integrate/events.hpp"
#include "model/observation.hpp"

namespace bellcrank {

// Stations in the order of time. Between two of them the motion is smooth.
class Tape {
  public:
    struct Station {
        double t;
        double arrived = t;   // time at which the step before ended; t lies behind a discontinuity there
        bool impact = false;  // a stop is met here, and the next station is behind the impact
        bool meets = false;   // from here on stops are met where a step ends, whoever watches them
        int output = -1;      // number of the frame that was recorded here
        bool within = false;  // the step leads past here
        int interval = -1;    // from here on; −1: the last one that has begun
    };

    // room: bytes that states may fill.
    Tape(int configuration, int tangent, double room) : configuration_(configuration), tangent_(tangent), room_(room) {}
    // An empty one for the same run.
    Tape like() const { return {static_cast<int>(configuration_), static_cast<int>(tangent_), room_}; }

    // From the next station on the model's inputs have these values.
    void begin_interval(double t, std::vector<double> inputs) { intervals_.push_back({t, std::move(inputs)}); }
    void add(const Station& station, const double* x, const double* u) {
        if (spoiled_ != nullptr) return;
        if (sizeof(double) * static_cast<double>(states_.size()) > room_) {
            spoil("what it has gone through takes too much memory; take a shorter run, or a larger tolerance",
                  station.t);
            states_ = {};
            return;
        }
        stations_.push_back(station);
        if (station.interval < 0) stations_.back().interval = static_cast<int>(intervals_.size()) - 1;
        states_.insert(states_.end(), x, x + configuration_);
        states_.insert(states_.end(), u, u + tangent_);
    }
    void add_output(double t, bool within, const double* x, const double* u) {
        add({t, t, false, false, outputs_++, within}, x, u);
    }
    void copy(const Tape& from, int i) {
        add(from[i], from.x(i), from.u(i));
        outputs_ = from.outputs_, ending_ = from.ending_;
        if (intervals_.empty()) intervals_ = from.intervals_;
    }
    // An output, wherever it was recorded, as one within a step.
    void copy_within(const Tape& from, int i) {
        copy(from, i);
        stations_.back().within = true;
    }
    Station& last() { return stations_.back(); }
    // It cannot be followed; the first reason, and its time.
    void spoil(const char* why, double t) {
        if (spoiled_ == nullptr) spoiled_ = why, spoiled_at_ = t;
    }
    const char* spoiled() const { return spoiled_; }
    double spoiled_at() const { return spoiled_at_; }
    // A terminal event, and what its function reads.
    struct Ending {
        EventFunction event;
        Observation measured;
    };
    void end_by(const EventFunction& event, const Observation& measured) { ending_ = {event, measured}; }
    const Ending* ending() const { return ending_.event.program != nullptr ? &ending_ : nullptr; }

    // In which inputs are held.
    struct Interval {
        double t;  // its begin
        std::vector<double> inputs;
    };
    const std::vector<Interval>& intervals() const { return intervals_; }

    int count() const { return static_cast<int>(stations_.size()); }
    int outputs() const { return outputs_; }
    const Station& operator[](int i) const { return stations_[i]; }
    const double* x(int i) const { return states_.data() + static_cast<size_t>(i) * (configuration_ + tangent_); }
    const double* u(int i) const { return x(i) + configuration_; }

  private:
    size_t configuration_, tangent_;
    double room_;
    std::vector<Station> stations_;
    std::vector<double> states_;
    std::vector<Interval> intervals_;
    int outputs_ = 0;
    Ending ending_;
    const char* spoiled_ = nullptr;
    double spoiled_at_ = 0.0;
};

}  // namespace bellcrank
