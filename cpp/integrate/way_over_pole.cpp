// How a run comes over a pole: on a way so short that the motion there is one of uniform acceleration.
#include <algorithm>
#include <cmath>

#include "integrate/simulate.hpp"

namespace bellcrank {

namespace {

// Change of a velocity, of those that are corrected by it [m/s, rad/s], up to which a way is one of uniform
// acceleration.
constexpr double kRough = 1e-5;
// Of a way over a pole: closer to its middle nothing is recorded.
constexpr double kOnPole = 1e-5;

}  // namespace

double Run::before_a_pole(double h) {
    const double part = poles_.longest_step(t_, h, x_.data(), u_.data());
    result_.row = poles_.reached();
    if (result_.row >= 0) stop(SimulationStatus::pole_reached);
    return part;
}

// u1 = u + h/2 (u̇ + u̇1) and ξ = h u + h²/6 (2 u̇ + u̇1), first with the acceleration of the start for that of the end.
bool Run::finds_way_over_pole(double most, double& h) {
    h = poles_.way_over();
    if (!(h > 0.0) || 0.5 * h >= most) return false;
    h = std::min(h, most);
    way_rate_.resize(u_.size()), way_end_rate_.resize(u_.size());
    way_step_.assign(u_.size(), 0.0);
    system_.accelerate(t_, x_.data(), u_.data(), way_rate_.data());
    system_.add_frame_rates(way_step_.data(), u_.data(), way_rate_.data());
    way_end_rate_ = way_rate_;
    double change = 0.0, fastest = 1.0;
    for (const bool first : {true, false}) {
        for (size_t i = 0; i < u_.size(); ++i) {
            way_step_[i] = h * (u_[i] + h / 6.0 * (2.0 * way_rate_[i] + way_end_rate_[i]));
            u1_[i] = u_[i] + 0.5 * h * (way_rate_[i] + way_end_rate_[i]);
            change = std::max(change, 0.5 * h * std::abs(way_end_rate_[i] - way_rate_[i]));
            fastest = std::max(fastest, std::abs(u1_[i]));
        }
        system_.retract(x_.data(), way_step_.data(), x1_.data());
        if (first) result_.row = poles_.turn_over(t_ + h, x1_.data(), u1_.data());
        const bool met = result_.row < 0 && system_.project(t_ + h, x1_.data(), u1_.data());
        if (result_.row >= 0 || !met || !(change <= kRough * fastest)) {
            poles_.switch_sides();
            if (result_.row >= 0) stop(SimulationStatus::pole_reached);
            return false;
        }
        if (!first) break;
        system_.accelerate(t_ + h, x1_.data(), u1_.data(), way_end_rate_.data());
        system_.add_frame_rates(way_step_.data(), u1_.data(), way_end_rate_.data());
    }
    way_.lay(t_, h, x_.data(), u_.data(), x1_.data(), u1_.data());
    return true;
}

// Up to the middle of the way directions count as before. A time that falls on the pole itself gives way to one beside.
void Run::output_on_way(double begin, double h) {
    const double middle = begin + 0.5 * h;
    way_x_.resize(x_.size()), way_u_.resize(u_.size());
    bool over = true;
    const auto be_on = [&](bool side) {
        if (side != over) poles_.switch_sides();
        over = side;
    };
    for (; next_ < outputs_.size() && outputs_[next_] < begin + h; ++next_) {
        const double time = outputs_[next_];
        be_on(time >= middle);
        way_.at(over ? std::max(time, middle + kOnPole * h) : std::min(time, middle - kOnPole * h), way_x_.data(),
                way_u_.data());
        system_.project(time, way_x_.data(), way_u_.data());
        record(time, way_x_, way_u_);
    }
    be_on(true);
}

}  // namespace bellcrank
