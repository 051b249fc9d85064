// Derivatives of the equations of motion.
#include "derivation/equations.hpp"

namespace bellcrank::symbolic {

// r = M u̇ − b − Jᵀ λ and s = J u̇ + γ.
std::vector<Expression> Equations::residuals() {
    std::vector<Expression> out = inverse_efforts();
    for (const Entry& p : row_places) out[p.column] = out[p.column] - J_[p.row][p.column] * multipliers_[p.row];
    std::vector<Expression> closing = gamma_;
    for (const Entry& p : row_places)
        closing[p.row] = closing[p.row] + J_[p.row][p.column] * symbols().accelerations[p.column];
    out.insert(out.end(), closing.begin(), closing.end());
    return out;
}

// A ball is displaced by a rotation vector in its own axes, so that a coordinate moves with a displacement as it does
// with a speed.
std::vector<Expression> Equations::by_motion(const std::vector<Expression>& of) {
    const Symbols& s = symbols();
    std::vector<Expression> on = s.coordinates;
    on.insert(on.end(), s.speeds.begin(), s.speeds.end());
    const std::vector<Ref> d = derivative(graph, refs(of), refs(on));
    const std::vector<Ref> per_speed = rates_by_speeds();
    const int nq = coordinates(), nv = speeds();
    std::vector<Expression> out;
    for (size_t i = 0; i < of.size(); ++i) {
        for (int j = 0; j < nv; ++j) {
            Expression sum = constant(graph, 0.0);
            for (int k = 0; k < nq; ++k)
                sum = sum + Expression{&graph, d[i * on.size() + k]} * Expression{&graph, per_speed[k * nv + j]};
            out.push_back(sum);
        }
        for (int j = 0; j < nv; ++j) out.push_back({&graph, d[i * on.size() + nq + j]});
    }
    return out;
}

// ∂q̇/∂u
std::vector<Ref> Equations::rates_by_speeds() {
    return derivative(graph, refs(symbols().coordinate_rates), refs(symbols().speeds), DerivativeForm::forward);
}

Form Equations::linearization() { return form(by_motion(residuals())); }

Form Equations::linearized_rows() {
    std::vector<Expression> out = by_motion(Cdot_);
    const int nq = coordinates(), nv = speeds();
    std::vector<Expression> A;
    for (const Ref r : rates_by_speeds()) A.push_back({&graph, r});
    out.insert(out.end(), A.begin(), A.end());
    const std::vector<Expression> moved = by_motion(symbols().coordinate_rates);
    const std::vector<Expression> turned = time_derivatives(symbols(), A, false);
    for (int i = 0; i < nq; ++i)
        for (int j = 0; j < nv; ++j) out.push_back(moved[2 * nv * i + j] - turned[nv * i + j]);
    return form(out);
}

// At fixed coordinates and speeds of the joints.
Form Equations::parameters() {
    std::vector<Expression> out;
    for (const Ref r : derivative(graph, refs(residuals()), numbers.parameters())) out.push_back({&graph, r});
    return form(out);
}

}  // namespace bellcrank::symbolic
