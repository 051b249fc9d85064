// Implicit steps in joint coordinates. Few speeds are solved for densely, with all derivatives. Many are solved for by
// the sparse matrix of the bodies and their rows, forces among them: a change of speeds is one of twists that the
// joints allow, and back.
#include "trees/joint_system.hpp"

namespace bellcrank {

namespace {

constexpr int kMostDense = 36;  // speeds

}  // namespace

bool JointSystem::linearizes_by_rows() const {
    return tangent_size() > kMostDense && !model_->laws.empty() && has_rows_of_forces(*model_);
}

void JointSystem::linearize(double t, const double* x, const double* u, double gamma, bool renew) {
    if (!linearizes_by_rows()) return System::linearize(t, x, u, gamma, renew);
    ++statistics_.linearizations;
    if (implicit_ == nullptr) {
        implicit_ = std::make_unique<ImplicitRows>(*model_, branches_, contacts_);
        row_defect_.assign(tangent_size(), 0.0);
        for (auto* v : {&still_, &along_, &solved_, &other_poses_}) v->assign(kTwist * (model_->bodies() + 1), 0.0);
        read_speeds_.assign(tangent_size(), 0.0);
        read_coordinates_.assign(configuration_size(), 0.0);
    }
    held_stops_.assign(stops_.empty() ? 0 : model_->rows.size(), 0);
    for (size_t i = 0; i < stops_.rows().size(); ++i) held_stops_[stops_.rows()[i]] = stops_.active()[i];
    place_bodies(t, x, u, poses_.data(), twists_.data());
    to_records(t, x, at_rest_.data(), poses_.data(), still_.data());
    implicit_->linearize(t, poses_.data(), twists_.data(), gamma, options_.rank_tolerance, held_stops_);
    ++statistics_.factorizations;
    linearized_at_.assign(x, x + configuration_size());
    linearized_time_ = t;
}

void JointSystem::correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) {
    if (!linearizes_by_rows()) return System::correct(t, x, u, rate, gamma, delta);
    accelerate(t, x, u, row_defect_.data());
    linearize(t, x, u, gamma, false);
    for (size_t k = 0; k < row_defect_.size(); ++k) row_defect_[k] = gamma * (row_defect_[k] - rate[k]);
    to_twists(row_defect_.data());
    implicit_->apply(along_.data(), solved_.data());
    to_speeds(delta);
}

double JointSystem::damping_part(const double* v) {
    if (!linearizes_by_rows()) return System::damping_part(v);
    to_twists(v);
    return implicit_->damping_part(along_.data());
}

void JointSystem::solve_linearized(const double* r, double* out) {
    if (!linearizes_by_rows()) return System::solve_linearized(r, out);
    to_twists(r);
    implicit_->solve(along_.data(), solved_.data());
    to_speeds(out);
}

// along_: how twists change with speeds, at the configuration of linearize().
void JointSystem::to_twists(const double* speeds) {
    place_bodies(linearized_time_, linearized_at_.data(), speeds, other_poses_.data(), along_.data());
    for (size_t k = 0; k < along_.size(); ++k) along_[k] -= still_[k];
}

// The speeds of solved_, which is what the joints allow.
void JointSystem::to_speeds(double* speeds) {
    for (const bool moving : {false, true}) {
        for (size_t k = 0; k < along_.size(); ++k) along_[k] = still_[k] + (moving ? solved_[k] : 0.0);
        joints_.read(branches_, poses_.data(), along_.data(), read_coordinates_.data(),
                     moving ? speeds : read_speeds_.data());
    }
    for (size_t k = 0; k < read_speeds_.size(); ++k) speeds[k] -= read_speeds_[k];
}

}  // namespace bellcrank
