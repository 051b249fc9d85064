// Steps by impulses, with rigid contacts (impulses/impulse_step.hpp), and impulses at given points.
#include "formulations/lagrange.hpp"
#include "impulses/body_space.hpp"

namespace bellcrank {

ImpulseStep& Lagrange::impulses() {
    if (impulses_) return *impulses_;
    const auto close = [this](double time, double* at) {
        known_ = Known::nothing;  // the rows have been evaluated elsewhere
        trusted_pivot_ = options_.rank_tolerance;
        stops_.forget();  // which of them push is found by impulses: accelerations, of frames, say nothing
        return rows_.rows() == 0 || close_positions(time, at);
    };
    impulses_ = std::make_unique<ImpulseStep>(
        *model_, free_motion_, contacts_,
        std::make_unique<BodySpace>(*model_, rows_, *this, close, [this](double* u) { flatten(u); }),
        options_.rest_speed, options_.contact_tolerance);
    return *impulses_;
}

ImpulseOutcome Lagrange::step_by_impulses(double t, double h, const double* x, const double* u, double tolerance,
                                          double* x1, double* u1) {
    const ImpulseOutcome outcome = impulses().step(t, h, x, u, tolerance, x1, u1);
    known_ = Known::nothing;
    count(outcome);
    return outcome;
}

ImpulseOutcome Lagrange::strike(double t, const double* x, const std::vector<Blow>& blows,
                                const std::vector<StruckPoint>& points, double tolerance, double* u,
                                std::vector<Vec3>& told) {
    const ImpulseOutcome outcome = impulses().strike(t, x, blows, points, tolerance, u, told);
    known_ = Known::nothing;
    count(outcome);
    return outcome;
}

}  // namespace bellcrank
