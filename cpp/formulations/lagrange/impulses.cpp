// Steps by impulses, with rigid contacts (impulses/impulse_step.hpp), and impulses at given points.
#include "formulations/lagrange.hpp"
#include "impulses/strike.hpp"

namespace bellcrank {

ImpulseSpace& Lagrange::impulse_space() {
    const auto close = [this](double time, double* at) {
        known_ = Known::nothing;  // the rows have been evaluated elsewhere
        trusted_pivot_ = options_.rank_tolerance;
        return rows_.rows() == 0 || close_positions(time, at);
    };
    if (!impulse_space_) impulse_space_ = std::make_unique<BodySpace>(*model_, rows_, *this, close);
    return *impulse_space_;
}

ImpulseOutcome Lagrange::step_by_impulses(double t, double h, const double* x, const double* u, double tolerance,
                                          double* x1, double* u1) {
    if (!impulses_)
        impulses_ =
            std::make_unique<ImpulseStep>(*model_, free_motion_, contacts_, impulse_space(), options_.rest_speed);
    const int before = impulses_->factorizations();
    const ImpulseOutcome outcome = impulses_->step(t, h, x, u, tolerance, x1, u1);
    known_ = Known::nothing;
    flatten(u1);
    ++statistics_.evaluations;
    statistics_.factorizations += impulses_->factorizations() - before;
    statistics_.impacts += outcome.impacts;
    return outcome;
}

ImpulseOutcome Lagrange::strike(double t, const double* x, const std::vector<Blow>& blows,
                                const std::vector<StruckPoint>& points, double tolerance, double* u,
                                std::vector<Vec3>& impulses) {
    const ImpulseOutcome outcome = bellcrank::strike(impulse_space(), t, x, blows, points, tolerance, u, impulses);
    known_ = Known::nothing;
    statistics_.impacts += outcome.impacts;
    return outcome;
}

}  // namespace bellcrank
