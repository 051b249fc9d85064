// Multipliers after accelerations by the generated system.
#include "formulations/symbolic/runner.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

using symbolic::Equations;

void Symbolic::solve_multipliers(double t, const double* x, const double* u, const double* udot) {
    load_reactions(t, x, u, udot);
    const symbolic::MechanismTree& mechanism = equations_->mechanism;
    // A compliant row exerts −C̈/compliance.
    if (!mechanism.plan.inertances.empty()) {
        const std::vector<double>& second = reactions_.second_derivatives();
        for (const int block : mechanism.plan.inertances)
            for (int r = model_->blocks[block].row_begin; r < model_->blocks[block].row_end; ++r)
                reactions_.lambda[r] = -second[r] / model_->blocks[block].compliance;
    }
    const symbolic::Couplings& couplings = mechanism.couplings;
    if (statistics_.dropped_rows == 0 && couplings.found.empty()) {
        for (size_t i = 0; i < closing_rows().size(); ++i) reactions_.lambda[closing_rows()[i]] = lambda_[i];
        turn_components(t, x, u);
        reactions_.spread_over_tree();
        return;
    }
    std::vector<int> rigid;
    for (const JointMap& map : joints_.joints()) rigid.insert(rigid.end(), map.rows.begin(), map.rows.end());
    for (const symbolic::Coupling& c : couplings.found) rigid.push_back(c.row);
    rigid.insert(rigid.end(), couplings.redundant.begin(), couplings.redundant.end());
    for (size_t i = 0; i < closing_rows().size(); ++i)
        if (!is_left_out(i)) rigid.push_back(closing_rows()[i]);
    reactions_.spread_least_norm(rigid);
}

// Quaternions along the tree and those between the records of bodies may be each other's opposite.
void Symbolic::turn_components(double t, const double* x, const double* u) {
    if (equations_->components.empty()) return;
    const double* q = run("quaternions", t, x, u);
    for (const Equations::Component& c : equations_->components) {
        const MarkerPair& pair = model_->pairs[c.pair];
        const Quat one = pose_rotation(poses_.data(), pair.body[0]) * pair.rotation[0];
        const Quat between = conjugate(one) * (pose_rotation(poses_.data(), pair.body[1]) * pair.rotation[1]);
        const double along = q[0] * between.w + q[1] * between.x + q[2] * between.y + q[3] * between.z;
        if (along < 0.0) reactions_.lambda[closing_rows()[c.row]] *= -1.0;
        q += 4;
    }
}

}  // namespace bellcrank
