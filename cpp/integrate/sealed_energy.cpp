#include "integrate/sealed_energy.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kSlowSpeed = 1e-3;    // speeds that mean little [m/s, rad/s]
constexpr double kLastDigits = 1e-12;  // of the potential energy

bool has_no_sources(const Model& model) {
    const bool moves = std::ranges::any_of(model.rows, [](const Row& row) { return row.function >= 0; });
    const bool special = std::ranges::any_of(model.blocks, [](const Block& block) {
        return block.unilateral || block.of_velocity || block.compliance > 0.0;
    });
    return !moves && !special && model.laws.empty() && model.wrenches.empty() && model.formula_joints.empty() &&
           model.formula_rows.empty() && model.formula_forces.empty() && model.contacts.empty();
}

}  // namespace

SealedEnergy::SealedEnergy(const Manifold& manifold, Record& record, double share)
    : record_(record),
      share_(share),
      sealed_(has_no_sources(record.model())),
      slow_(manifold.tangent_size(), kSlowSpeed) {}

bool SealedEnergy::is_kept(double t, const double* x, const double* u, double t1, const double* x1, const double* u1) {
    if (!sealed_) return true;
    const Energy before = record_.energy_at(t, x, u), after = record_.energy_at(t1, x1, u1);
    const double fallen = std::abs(after.potential - before.potential);
    const double gained = after.kinetic - before.kinetic + after.potential - before.potential;
    const double least = record_.energy_at(t, x, slow_.data()).kinetic;
    const double in_play = std::max(before.kinetic, after.kinetic) + fallen + least;
    return std::abs(gained) <= share_ * in_play + kLastDigits * std::abs(before.potential);
}

}  // namespace bellcrank
