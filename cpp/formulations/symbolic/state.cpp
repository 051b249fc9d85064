// Where the bodies of the symbolic formulation are.
#include <algorithm>
#include <cmath>

#include "formulations/symbolic/runner.hpp"
#include "spatial/body_state.hpp"
#include "spatial/components.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

// The size of closing rows in terms of free bodies is what their pivots are measured by at first.
void Symbolic::from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u) {
    JointSystem::from_records(t, poses, twists, continued, x, u);
    if (closing_rows().empty()) return;
    const std::vector<double> size = reactions_.row_sizes(t, poses);
    for (size_t i = 0; i < closing_rows().size(); ++i)
        closure_.natural[static_cast<Eigen::Index>(i)] = size[closing_rows()[i]];
}

void Symbolic::follow_derived_angles(double t, const double* x) {
    if (derived_angles().empty()) return;
    const double* out = run("angles", t, x, at_rest_.data());
    for (const int angle : derived_angles()) branches_.set(angle, *out++);
}

void Symbolic::place_bodies(double t, const double* x, const double* u, double* poses, double* twists) {
    joints_.follow_formulas(x, branches_);
    const double* out = run("bodies", t, x, u);
    for (int b = 0; b < model_->bodies(); ++b, out += 18) {
        double *p = poses + kPose * b, *v = twists + kTwist * b;
        Mat3 R;
        std::copy_n(out, 9, R.m);
        store(p, load(out + 9));
        p[3] = v[3] = v[7] = 0.0;
        const Quat& principal = model_->principal_rotation[b];
        store(p + 4, normalized(quaternion_from_matrix(R) * principal));
        store(v, load(out + 15));
        store(v + 4, transpose_times(rotation_matrix(principal), load(out + 12)));
    }
    double *p = poses + kPose * model_->ground(), *v = twists + kTwist * model_->ground();
    for (int k = 0; k < kPose; ++k) p[k] = k == 4 ? 1.0 : 0.0;
    std::fill_n(v, kTwist, 0.0);
}

void Symbolic::body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) {
    const double* out = run("body_rates", t, x, u, udot);
    for (int b = 0; b < model_->bodies(); ++b, out += 6) {
        double* r = records + kTwist * b;
        store(r, load(out + 3));
        store(r + 4, transpose_times(rotation_matrix(model_->principal_rotation[b]), load(out)));
        r[3] = r[7] = 0.0;
    }
    std::fill_n(records + kTwist * model_->ground(), kTwist, 0.0);
}

}  // namespace bellcrank
