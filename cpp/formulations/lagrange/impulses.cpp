// Steps by impulses, with rigid contacts (impulses/impulse_step.hpp).
#include "formulations/lagrange.hpp"

namespace bellcrank {

ImpulseOutcome Lagrange::step_by_impulses(double t, double h, const double* x, const double* u, double tolerance,
                                          double* x1, double* u1) {
    const auto close = [this](double time, double* at) {
        known_ = Known::nothing;  // the rows have been evaluated elsewhere
        trusted_pivot_ = options_.rank_tolerance;
        return rows_.rows() == 0 || close_positions(time, at);
    };
    if (!impulses_) {
        impulse_space_ = std::make_unique<BodySpace>(*model_, rows_, *this, close);
        impulses_ = std::make_unique<ImpulseStep>(*model_, free_motion_, contacts_, *impulse_space_, options_.rest_speed);
    }
    const int before = impulses_->factorizations();
    const ImpulseOutcome outcome = impulses_->step(t, h, x, u, tolerance, x1, u1);
    known_ = Known::nothing;
    flatten(u1);
    ++statistics_.evaluations;
    statistics_.factorizations += impulses_->factorizations() - before;
    statistics_.impacts += outcome.impacts;
    return outcome;
}

}  // namespace bellcrank
