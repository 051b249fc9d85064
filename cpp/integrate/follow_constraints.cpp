#include "integrate/follow_constraints.hpp"

#include <algorithm>
#include <cmath>

#include "interruption/interruption.hpp"

namespace bellcrank {

namespace {

constexpr int kSubdivisions = 1 << 12;  // most steps between two output times
constexpr double kCorrection = 0.1;     // largest part of a predicted move that the constraints may correct

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0.0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

class Follower {
  public:
    Follower(const Ports& ports, std::vector<double>& x, std::vector<double>& u)
        : ports_(ports), x_(x), u_(u), predicted_(x), x1_(x), u1_(u), xi_(u), udot_(u) {}

    // Predicts along velocity and acceleration, then corrects. False if the correction is out of proportion, or if rows
    // that count here could not be told from dependent ones there (passable takes them for dependent): then (x, u) stay
    // as they are.
    bool step(double t, double h, bool passable) {
        look_afresh(t);
        ports_.dynamics.accelerate(t, x_.data(), u_.data(), udot_.data());
        const int dropped = ports_.dynamics.statistics().dropped_rows;
        for (size_t i = 0; i < u_.size(); ++i) {
            xi_[i] = h * (u_[i] + 0.5 * h * udot_[i]);
            u1_[i] = u_[i] + h * udot_[i];
        }
        ports_.dynamics.retract(x_.data(), xi_.data(), predicted_.data());
        x1_ = predicted_;
        if (!corrected(t + h, dropped)) {
            // A projection leaves out rows of which so large an error tells nothing. What it came to is much closer:
            // the next one, with the rows as they stand at t, can take them in.
            if (!finite() || out_of_proportion()) return false;
            look_afresh(t);
            if (!corrected(t + h, dropped) && !(passable && met_)) return false;
        }
        if (!finite() || out_of_proportion()) return false;
        x_.swap(x1_);
        u_.swap(u1_);
        ports_.steps.commit(t + h, x_.data(), u_.data());
        return true;
    }

  private:
    // The rows at (t, x) without the doubts that a projection from farther off has left behind.
    void look_afresh(double t) {
        scratch_x_ = x_;
        scratch_u_ = u_;
        ports_.projection.project_stage(t, scratch_x_.data(), scratch_u_.data());
    }

    bool corrected(double t, int dropped) {
        met_ = ports_.projection.project(t, x1_.data(), u1_.data());
        return met_ && ports_.dynamics.statistics().dropped_rows <= dropped;
    }

    bool finite() const { return ports_.record.first_non_finite_body(x1_.data(), u1_.data()) < 0; }

    bool out_of_proportion() const { return distance(x1_, predicted_) > kCorrection * distance(predicted_, x_) + 1e-9; }

    const Ports& ports_;
    std::vector<double>&x_, &u_;
    std::vector<double> predicted_, x1_, u1_, xi_, udot_, scratch_x_, scratch_u_;
    bool met_ = false;
};

void follow(const Ports& ports, const std::vector<double>& output_times, const Observation& observation,
            std::vector<double>& x, std::vector<double>& u, Sink& sink, SimulationResult& result) {
    Follower follower(ports, x, u);
    std::vector<double> frame(ports.record.observation_size(observation));
    // Dry friction against the motion that is given.
    const auto settles = [&](double time) {
        if (ports.stops.settle_friction(time, x.data(), u.data(), -1, 0.0)) return true;
        const FrictionJam jam = ports.stops.friction_jam();
        result.status = jam.law < 0 ? SimulationStatus::friction_not_found : SimulationStatus::friction_jams;
        result.friction_law = jam.law;
        result.friction_part = jam.part;
        return false;
    };
    const auto record = [&](double time) {  // only whole frames go to the sink: observing may be interrupted
        ports.record.observe(time, x.data(), u.data(), observation, frame.data());
        std::copy(frame.begin(), frame.end(), sink.frame(time));
        if (observation.contacts) sink.contacts(ports.record.contacts());
    };
    double t = result.time = output_times.front();
    if (!settles(t)) return;
    record(t);
    for (size_t i = 1; i < output_times.size(); ++i) {
        const double interval = output_times[i] - output_times[i - 1];
        int done = 0, size = kSubdivisions;  // both in parts of the interval
        while (done < kSubdivisions) {
            const double whole = interval * std::min(size, kSubdivisions - done) / kSubdivisions;
            const double part = ports.steps.longest_step(x.data(), u.data(), whole) / interval;
            size = part > 0.0 ? std::max(1, static_cast<int>(part * kSubdivisions * (1.0 + 1e-9))) : 1;
            if (!follower.step(t, interval * size / kSubdivisions, size == 1)) {
                ++result.rejected;
                if (size == 1) {
                    result.status = SimulationStatus::constraints_lost;
                    result.row = ports.projection.worst_row();
                    return;
                }
                size = std::max(1, size / 4);
                continue;
            }
            done += size;
            t = done == kSubdivisions ? output_times[i] : output_times[i - 1] + interval * done / kSubdivisions;
            result.time = t;
            result.last_step = interval * size / kSubdivisions;
            ++result.steps;
            size *= 2;
            if (!sink.alive(t)) {
                result.status = SimulationStatus::interrupted;
                return;
            }
        }
        if (!settles(t)) return;
        record(t);
    }
}

}  // namespace

SimulationResult follow_constraints(const Ports& ports, const std::vector<double>& output_times,
                                    const Observation& observation, std::vector<double>& x, std::vector<double>& u,
                                    Sink& sink) {
    SimulationResult result;
    try {
        follow(ports, output_times, observation, x, u, sink, result);
    } catch (const Interrupted&) {
        result.status = SimulationStatus::interrupted;
    }
    return result;
}

}  // namespace bellcrank
