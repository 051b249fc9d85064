// By how much joint accelerations are off where joins lose digits (digits.cpp): counted in energies of accelerations
// Σ aᵀ I a, by Gauss's principle. The error of the force on a joint is a force by itself, at which all that it reaches
// moves. On its way down the energy of that motion is divided and not increased, whatever arms, masses and units it
// meets, while the components of forces and moments mix: what is little of a force on a long link may be many times the
// moment on a short one. A joint with admittance D (acceleration by effort) that moves with energy E² accelerates by
// D^½ E.
//
// Squares of errors of accelerations are added up in a form as well: what the error of a force makes of the joints that
// it reaches, and the rounding of the squares of the accelerations themselves.
#include <algorithm>
#include <cmath>
#include <limits>

#include "adaptive/ends.hpp"

namespace bellcrank {

namespace {

constexpr double kTotal = 64.0 * std::numeric_limits<double>::epsilon();  // of squares that a total adds up
constexpr double kKinds = 3.0;                                            // (x + y + z)² ≤ 3 (x² + y² + z²)

double root_of(double square) { return square <= 0.0 ? 0.0 : std::sqrt(square); }

// += scale Σ_j A_ji² size_j along the diagonal
void add_squares_of(const Matrix6& A, double scale, const double* size, Matrix6& out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out.m[7 * i] += scale * A(j, i) * A(j, i) * size[j];
}

}  // namespace

void RootedAssembly::lose_totals_in_join(const AssemblyNode& node, bool matrices, const EndForm& left_error,
                                         const EndForm& right_error, const Losses& of) {
    const Ends A = ends(node.left), B = ends(node.right);
    const EndForm left_total = end_form(totals_, node.left), right_total = end_form(totals_, node.right);
    const Link& link = linkage_->links[node.link];
    const JoinState& state = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    const double share = of.below > 0.0 ? kKinds * of.below : 0.0;
    StretchForm left, right, &out = error_totals_.joins[node.slot];
    add_scaled(end_form(error_totals_, node.left), share * of.left, left_error, false, left);
    add_scaled(end_form(error_totals_, node.right), share * of.right, right_error, node.ends, right);
    for (int k = 0; k < 6; ++k) right.psi1.m[7 * k] += share * of.own * of.terms[k];
    double squares_at_joint[6] = {};
    for (int k = 0; k < 6; ++k) {
        for (int j = 0; j < 6 && left_total.psi2; ++j)
            squares_at_joint[k] += XT(j, k) * XT(j, k) * (*left_total.psi2)(j, j);
        if (right_total.psi1) squares_at_joint[k] += (*right_total.psi1)(k, k);
    }
    if (matrices) {
        pass_join(EndForm(left), EndForm(right), state, X, XT, node.ends, out);
        const double *G1 = g1_.data() + 6 * link.freedom, *G2 = g2_.data() + 6 * link.freedom;
        const auto add_own = [&](Matrix6& psi, const Matrix6* total, const Matrix6& phi, const double* G,
                                 const Matrix6& passed, double part) {
            for (int k = 0; k < 6; ++k) {
                double own = total ? (*total)(k, k) : 0.0;
                for (int s = 0; s < link.motion.freedoms(); ++s) own += G[6 * s + k] * G[6 * s + k];
                psi.m[7 * k] += share * of.own * part * phi(k, k) + kTotal * own;
            }
            add_squares_of(passed, kTotal, squares_at_joint, psi);
        };
        add_own(out.psi1, left_total.psi1, *A.phi1, G1, state.x1, of.left_share);
        if (!node.ends) add_own(out.psi2, right_total.psi2, *B.phi2, G2, state.x2, of.right_share);
    }
    pass_join_loads(EndForm(left), EndForm(right), state, frames_.place(node.link), node.ends, out);
    double own = left_total.eta + right_total.eta + squares(six(state.gamma), squares_at_joint);
    for (int s = link.freedom; s < link.freedom + link.motion.freedoms(); ++s) own += r_[s] * r_[s];
    out.eta += share * of.own * of.loads + kTotal * own;
}

void RootedAssembly::lose_totals_in_rake(const AssemblyNode& node, bool matrices, const Losses& of) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const bool alone = branch.kind == NodeKind::body;
    const int law = alone && branch.left >= 0 ? tree().nodes[branch.left].slot : -1;
    const double share = of.below > 0.0 ? kKinds * of.below : 0.0;
    LawForm& out = error_totals_.laws[node.slot];
    // Of what lies behind the joint: at the force on it, or at its acceleration.
    LawForm behind{};
    double squares_there[6] = {}, own = 0.0;
    if (!alone) {
        const StretchForm &rates = error_totals_.joins[branch.slot], &error = errors_.joins[branch.slot],
                          &total = totals_.joins[branch.slot];
        for (int j = 0; j < 6; ++j)
            behind.psi.set_column(j, rates.psi1.column(j) + (share * of.left) * error.psi1.column(j));
        put(behind.p, six(rates.p1) + (share * of.left) * six(error.p1));
        behind.eta = rates.eta + share * of.left * error.eta;
        for (int k = 0; k < 6; ++k) squares_there[k] = total.psi1(k, k);
        own = total.eta + squares(force_into(frames_.place(node.link), six(laws_[node.slot].g)), squares_there);
    } else if (law >= 0) {
        add_scaled(error_totals_.laws[law], share * of.left, errors_.laws[law], behind);
        const LawForm& total = totals_.laws[law];
        for (int k = 0; k < 6; ++k) squares_there[k] = total.psi(k, k);
        own = total.eta + squares(joint_motion(node.link, r_.data() + link.freedom), squares_there);
    }
    for (int k = 0; k < 6; ++k) behind.psi.m[7 * k] += share * of.own * of.terms[k];
    if (matrices) {
        const Matrix6 X = motion_transform(frames_.place(node.link));
        const Matrix6 passed = alone ? carried_motion(node, X) : force_behind(node);
        pass_through(behind.psi, passed, out.psi);
        add_squares_of(passed, kTotal, squares_there, out.psi);
        if (!link.floats) {
            add_squares_of(X, share * of.own, of.impedance, out.psi);
            const double* G = g1_.data() + 6 * link.freedom;
            for (int s = 0; s < link.motion.freedoms(); ++s)
                for (int k = 0; k < 6; ++k) out.psi.m[7 * k] += kTotal * G[6 * s + k] * G[6 * s + k];
        }
    }
    pass_rake_loads(node, behind.psi, behind.p, behind.eta, out);
    for (int s = link.freedom; s < link.freedom + link.motion.freedoms() && !link.floats; ++s) own += r_[s] * r_[s];
    out.eta += share * of.own * of.loads + kTotal * own;
}

double RootedAssembly::force_error(int number, const double* input, const double* behind) const {
    const AssemblyNode& node = tree().nodes[number];
    const Losses& of = losses_[number];
    const Place& place = frames_.place(node.link);
    const Six given = six(input), answer = six(behind);
    if (node.kind == NodeKind::rake) {
        const AssemblyNode& branch = tree().nodes[node.left];
        double below = 0.0, own = of.loads + squares(answer, of.terms);
        // What the carrier of a body that hangs on nothing does cancels.
        if (!linkage_->links[node.link].floats) own += squares(motion_into(place, given), of.impedance);
        if (branch.kind == NodeKind::join)
            below = value_at(errors_.joins[branch.slot], true, behind);
        else if (branch.left >= 0)
            below = value_at(errors_.laws[tree().nodes[branch.left].slot], answer);
        return root_of(of.left * below) + root_of(of.own * own);
    }
    const auto part = [&](int below, const double* in) {
        const AssemblyNode& at = tree().nodes[below];
        if (at.kind == NodeKind::join) return value_at(errors_.joins[at.slot], at.ends, in);
        const Six f = six(in) + six(in + 6);
        if (at.left >= 0) return value_at(errors_.bodies[at.slot], f);
        return losses_[below].loads + squares(f, losses_[below].terms);
    };
    const auto diagonal = [](const Matrix6& phi, const Six& f) {
        double of[6];
        put(of, f);
        double sum = 0.0;
        for (int k = 0; k < 6; ++k) sum += of[k] * of[k] * phi(k, k);
        return sum;
    };
    double in[kInput] = {};
    put(in, given);
    put(in + 6, -force_out_of(place, answer));
    const double left = part(node.left, in);
    put(in, answer);
    put(in + 6, node.ends ? Six{} : six(input + 6));
    const double right = part(node.right, in);
    double own = of.loads + squares(answer, of.terms) + of.left_share * diagonal(*ends(node.left).phi1, given);
    if (!node.ends) own += of.right_share * diagonal(*ends(node.right).phi2, six(input + 6));
    return root_of(of.left * left) + root_of(of.right * right) + root_of(of.own * own);
}

double RootedAssembly::joint_error(int node, double given, double own) const {
    const Losses& of = losses_[node];
    const double error = given * root_of(of.through) + own * root_of(of.admittance);
    return error >= 0.0 ? error : std::numeric_limits<double>::infinity();
}

double RootedAssembly::total_error(int number, const double* input, double given) const {
    const AssemblyNode& node = tree().nodes[number];
    const double square = node.kind == NodeKind::join ? value_at(error_totals_.joins[node.slot], node.ends, input)
                                                      : value_at(error_totals_.laws[node.slot], six(input));
    return root_of(square) + given * root_of(losses_[number].response);
}

}  // namespace bellcrank
