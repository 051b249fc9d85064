#include "model/powers.hpp"

#include <algorithm>

#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

using AccountOf = Observation::Account::Of;

double law_power(const Scenery& at, const Law& law) {
    return coordinate_motion(at.model, at.branches, law.coordinate, at.x, at.u).rate * law_effort(at, law);
}

double wrench_power(const Scenery& at, const Wrench& w) {
    double value[6];
    for (int k = 0; k < 6; ++k) value[k] = wrench_component(at.model, w, k, at.t);
    const Vec3 moment{value[0], value[1], value[2]}, force{value[3], value[4], value[5]};
    const Mat3 R = rotation_matrix(pose_rotation(at.x, w.body));
    const Vec3 spin = twist_angular(at.u, w.body);
    const Vec3 velocity = twist_linear(at.u, w.body) + R * cross(spin, w.offset);
    if (!w.local) return dot(moment, R * spin) + dot(force, velocity);
    const Mat3 A = rotation_matrix(w.rotation);
    return dot(A * moment, spin) + dot(R * (A * force), velocity);
}

}  // namespace

Powers::Powers(const Model& model, const Observation& what)
    : model_(model), accounts_(what.accounts), columns_(what.works) {
    for (const Account& account : accounts_) has_rows_ = has_rows_ || account.of == AccountOf::block;
}

// C = 0 at all times: J u + C_t = 0.
void Powers::find_rates(const Scenery& at, int block) {
    const Block& b = model_.blocks[block];
    const int formula = model_.formula_of_block[block];
    if (formula >= 0) {
        model_.formula_rows[formula].evaluate(at, values_);
        for (int r = 0; r < b.row_end - b.row_begin; ++r) rates_[r] = -values_.drift[r];
        return;
    }
    for (int r = b.row_begin; r < b.row_end; ++r) {
        const int function = model_.rows[r].function;
        rates_[r - b.row_begin] = function < 0 ? 0.0 : model_.functions[function](at.t).d1;
    }
}

bool Powers::any_row_moves(const Scenery& at) {
    return has_rows_ && std::ranges::any_of(accounts_, [&](const Account& account) {
               if (account.of != AccountOf::block) return false;
               find_rates(at, account.number);
               const Block& b = model_.blocks[account.number];
               return std::any_of(rates_, rates_ + b.row_end - b.row_begin, [](double rate) { return rate != 0.0; });
           });
}

double Powers::of_force(const Scenery& at, const Contacts& contacts, const Account& account) const {
    if (account.of == AccountOf::law) return law_power(at, model_.laws[account.number]);
    if (account.of == AccountOf::wrench) return wrench_power(at, model_.wrenches[account.number]);
    if (account.of == AccountOf::formula) return model_.formula_forces[account.number].power(at);
    return contacts.power(account.number, at.x, at.u);
}

void Powers::evaluate(const Scenery& at, Contacts& contacts, const double* multipliers, double* powers) {
    std::fill_n(powers, columns_, 0.0);
    if (!contacts.empty()) contacts.evaluate(at.x, at.u);
    for (const Account& account : accounts_) {
        double& power = powers[account.column];
        if (account.of != AccountOf::block) {
            power += of_force(at, contacts, account);
            continue;
        }
        if (multipliers == nullptr) continue;
        find_rates(at, account.number);
        const Block& b = model_.blocks[account.number];
        for (int r = b.row_begin; r < b.row_end; ++r) power += multipliers[r] * rates_[r - b.row_begin];
    }
}

}  // namespace bellcrank
