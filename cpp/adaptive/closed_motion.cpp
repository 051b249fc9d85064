// Steps of adaptive dynamics that keep loops closed (docs/theory/adaptive_dynamics.md, Loops).
#include <algorithm>
#include <cmath>
#include <utility>

#include "adaptive/dynamics.hpp"

namespace bellcrank {

namespace {

constexpr double kClosed = 1e-11;  // to this error of their rows, m or rad, in so many rounds at most
constexpr int kClosings = 6;
constexpr double kStops = 1e-4;  // of the kinetic energy: more than an error of a step
constexpr int kFreeFor = 64;     // steps for which loops stay free that few joints left open

}  // namespace

// Where few joints cannot keep loops closed, as near to where rows begin to depend on each other, or where closing them
// would stop what moves, these are freed as a whole for a while, and the step is taken again; then it is halved.
void AdaptiveDynamics::take_closed_step(double h, Method method, int halvings) {
    for (;;) {
        take_step(h, method);
        if (assembly_->loops().empty()) return;
        close_loops();
        const bool is_closed = loops_are_closed();
        if (is_closed && !is_stopped_by_loops_) return;
        if (free_ways(is_closed ? -1.0 : kOpen)) continue;
        if (is_closed || halvings == 0 || !stops_->empty()) return;
        restore_step();
        evaluate_held();
        take_closed_step(0.5 * h, method, halvings - 1);
        if (!loops_are_closed()) return;
        evaluate_held();
        save_step();
        return take_closed_step(0.5 * h, method, halvings - 1);
    }
}

// Back to the start of the step with joints on the ways of rows that are off by more than this; false, and nothing
// done, where all are free.
bool AdaptiveDynamics::free_ways(double error) {
    changing_.clear();
    assembly_->find_open_ways(error, changing_);
    for (const int number : changing_) free_until_[number] = steps_ + kFreeFor;
    std::erase_if(changing_, [this](int link) { return assembly_->is_free(link); });
    if (changing_.empty()) return false;
    restore_step();
    for (const int number : changing_) {
        const Link& link = linkage_->links[number];
        assembly_->set_free(number, true);
        free_.push_back(number);
        saved_.insert(saved_.end(), q_.begin() + link.coordinate,
                      q_.begin() + link.coordinate + link.motion.coordinates());
        saved_.insert(saved_.end(), 2 * static_cast<size_t>(link.motion.freedoms()), 0.0);  // it stands still
    }
    assembly_->arrange();
    evaluate_held();
    return true;
}

// Back onto the rows of loops: coordinates along M⁻¹ Jᵀ, the least motion in the norm of kinetic energy, by Newton's
// method, as long as that brings them nearer: close to where rows begin to depend on each other it may not. Then speeds
// likewise. Rows were met before the step, and are off by its error.
void AdaptiveDynamics::close_loops() {
    follow();
    assembly_->hold();
    double error = assembly_->loop_error();
    for (int round = 0; round < kClosings && error > kClosed; ++round) {
        assembly_->correct(stopped_.data());
        q0_.clear();
        for (const int number : free_) {
            const Link& link = linkage_->links[number];
            double *q = q_.data() + link.coordinate, rates[7];
            q0_.insert(q0_.end(), q, q + link.motion.coordinates());
            link.motion.rates(q, stopped_.data() + link.freedom, rates);
            link.motion.move(q, rates, 1.0);
        }
        move_places();
        follow();
        assembly_->hold();
        const double before = std::exchange(error, assembly_->loop_error());
        if (error < before) continue;
        const double* from = q0_.data();
        for (const int number : free_) {
            const Link& link = linkage_->links[number];
            std::copy_n(from, link.motion.coordinates(), q_.data() + link.coordinate);
            from += link.motion.coordinates();
        }
        move_places();
        follow();
        assembly_->hold();
        break;
    }
    loop_error_ = assembly_->loop_error(true);
    const double before = assembly_->kinetic_energy();
    assembly_->stop(stopped_.data());
    for (const int number : free_) {
        const Link& link = linkage_->links[number];
        std::copy_n(stopped_.data() + link.freedom, link.motion.freedoms(), u_.data() + link.freedom);
    }
    assembly_->take_motion(time_, q_.data(), u_.data());
    is_stopped_by_loops_ = assembly_->kinetic_energy() < (1.0 - kStops) * before;
    load();  // dampers by these speeds
}

}  // namespace bellcrank
