// Implicit steps in maximal coordinates.
#include "bodies/constrained_bodies.hpp"
#include "closing/implicit_rows.hpp"

namespace bellcrank {

// Elsewhere the matrix is dense.
bool ConstrainedBodies::linearizes_by_rows() const { return has_rows_of_forces(*model_); }

void ConstrainedBodies::linearize(double t, const double* x, const double* u, double gamma, bool renew) {
    if (!linearizes_by_rows()) return System::linearize(t, x, u, gamma, renew);
    ++statistics_.linearizations;
    if (implicit_ == nullptr) {
        implicit_ = std::make_unique<ImplicitRows>(*model_, branches_, contacts_);
        held_stops_.assign(stops_.empty() ? 0 : rows_.rows(), 0);
        defect_.assign(tangent_size(), 0.0);
    }
    for (int r = 0; r < static_cast<int>(held_stops_.size()); ++r) held_stops_[r] = enabled_[rows_.storage_row(r)];
    implicit_->linearize(t, x, u, gamma, dependent_, held_stops_);
    ++statistics_.factorizations;
}

// The equations are about accelerations as the formulation finds them.
void ConstrainedBodies::correct(double t, const double* x, const double* u, const double* rate, double gamma,
                                double* delta) {
    if (!linearizes_by_rows()) return System::correct(t, x, u, rate, gamma, delta);
    accelerate(t, x, u, defect_.data());
    linearize(t, x, u, gamma, false);
    for (size_t k = 0; k < defect_.size(); ++k) defect_[k] = gamma * (defect_[k] - rate[k]);
    implicit_->apply(defect_.data(), delta);
    flatten(delta);
}

double ConstrainedBodies::damping_part(const double* v) {
    return linearizes_by_rows() ? implicit_->damping_part(v) : System::damping_part(v);
}

void ConstrainedBodies::solve_linearized(const double* r, double* out) {
    if (!linearizes_by_rows()) return System::solve_linearized(r, out);
    implicit_->solve(r, out);
    flatten(out);
}

}  // namespace bellcrank
