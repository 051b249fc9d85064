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

double root_of(double square) { return square <= 0.0 ? 0.0 : std::sqrt(square); }

// += scale Σ_j A_ji² size_j along the diagonal
void add_squares_of(const Matrix6& A, double scale, const double* size, Matrix6& out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out.m[7 * i] += scale * A(j, i) * A(j, i) * size[j];
}

}  // namespace

// Σ_k v_k² size_k
double RootedAssembly::squares(const Six& v, const double* size) {
    double of[6], sum = 0.0;
    put(of, v);
    for (int k = 0; k < 6; ++k) sum += of[k] * of[k] * size[k];
    return sum;
}
double RootedAssembly::squares(const Six& v, const Matrix6& A) {
    double diagonal[6];
    for (int k = 0; k < 6; ++k) diagonal[k] = A(k, k);
    return squares(v, diagonal);
}

void RootedAssembly::lose_totals_in_join(const AssemblyNode& node, const EndForm& left_error,
                                         const EndForm& right_error, const Losses& of) {
    const EndForm left_total = end_form(totals_, node.left), right_total = end_form(totals_, node.right);
    const Link& link = linkage_->links[node.link];
    const JoinState& state = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    StretchForm left, right, &out = error_totals_.joins[node.slot];
    add_scaled(end_form(error_totals_, node.left), of.source * of.left, left_error, false, left);
    add_scaled(end_form(error_totals_, node.right), of.source * of.right, right_error, node.ends, right);
    double totals[6] = {};  // of the parts, at the force between them
    for (int k = 0; k < 6; ++k) {
        right.psi1.m[7 * k] += of.source * of.own * of.terms[k];
        if (right_total.psi1) totals[k] += (*right_total.psi1)(k, k);
        for (int j = 0; j < 6 && left_total.psi2; ++j) totals[k] += X(k, j) * X(k, j) * (*left_total.psi2)(j, j);
    }
    pass_join(EndForm(left), EndForm(right), state, X, XT, node.ends, out);
    const auto add_own = [&](Matrix6& psi, const Matrix6* total, const Matrix6& phi, const double* G,
                             const Matrix6& passed, double share) {
        for (int k = 0; k < 6; ++k) {
            double own = total ? (*total)(k, k) : 0.0;
            for (int s = 0; s < link.motion.freedoms(); ++s) own += G[6 * s + k] * G[6 * s + k];
            psi.m[7 * k] += of.source * of.own * share * phi(k, k) + kTotal * own;
        }
        add_squares_of(passed, kTotal, totals, psi);
    };
    const double *G1 = g1_.data() + 6 * link.freedom, *G2 = g2_.data() + 6 * link.freedom;
    add_own(out.psi1, left_total.psi1, *ends(node.left).phi1, G1, state.x1, of.left_share);
    if (!node.ends) add_own(out.psi2, right_total.psi2, *ends(node.right).phi2, G2, state.x2, of.right_share);
}

// With the form Ψ of errors behind the joint, and A X of what happens there as the carrier accelerates.
void RootedAssembly::lose_totals_in_rake(const AssemblyNode& node, const Matrix6& X, const Matrix6& error,
                                         const Matrix6& passed, const Losses& of) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const auto behind = [&](const Forms& forms) -> const Matrix6& {
        static const Matrix6 none{};
        if (branch.kind == NodeKind::join) return forms.joins[branch.slot].psi1;
        return branch.left < 0 ? none : forms.laws[tree().nodes[branch.left].slot].psi;
    };
    Matrix6 psi = behind(error_totals_), &out = error_totals_.laws[node.slot].psi;
    double totals[6];
    for (int k = 0; k < 6; ++k) {
        psi.set_column(k, psi.column(k) + (of.source * of.left) * error.column(k));
        psi.m[7 * k] += of.source * of.own * of.terms[k];
        totals[k] = behind(totals_)(k, k);
    }
    pass_through(psi, passed, out);
    add_squares_of(passed, kTotal, totals, out);
    if (link.floats) return;
    add_squares_of(X, of.source * of.own, of.impedance, out);
    const double* G = g1_.data() + 6 * link.freedom;
    for (int s = 0; s < link.motion.freedoms(); ++s)
        for (int k = 0; k < 6; ++k) out.m[7 * k] += kTotal * G[6 * s + k] * G[6 * s + k];
}

// The square of what a form of errors says at what a node is given; nothing given: 0. Loads and what is given add up by
// their roots, so that no change of a pose since forms were measured makes the sum too small.
double RootedAssembly::form_at(const Forms& forms, int number, const Six* first, const Six* second) const {
    const AssemblyNode& node = tree().nodes[number];
    const auto sum = [](double square, double loads) {
        const double root = root_of(square) + root_of(loads);
        return root * root;
    };
    if (node.kind == NodeKind::join) {
        const StretchForm& form = forms.joins[node.slot];
        double square = 0.0;
        if (first) square += dot(*first, form.psi1 * *first);
        if (second) square += dot(*second, form.psi2 * *second);
        if (first && second) square += 2.0 * dot(*second, form.psi21 * *first);
        return sum(square, form.eta);
    }
    const Six v = !second ? *first : first ? *first + *second : *second;
    if (node.kind != NodeKind::body || node.left >= 0) {
        const LawForm& form = node.kind == NodeKind::body ? forms.bodies[node.slot] : forms.laws[node.slot];
        return sum(dot(v, form.psi * v), form.eta);
    }
    return &forms == &errors_ ? sum(squares(v, losses_[number].terms), losses_[number].loads) : 0.0;
}

// What loads alone add to the forms.
void RootedAssembly::measure_loads(int number) {
    const AssemblyNode& node = tree().nodes[number];
    switch (node.kind) {
        case NodeKind::body:
            return measure_loads_of_body(node, losses_[number]);
        case NodeKind::join:
            return measure_loads_of_join(node, losses_[number]);
        case NodeKind::rake:
            return measure_loads_of_rake(node, losses_[number]);
        case NodeKind::sum:
            for (Forms* forms : {&errors_, &error_totals_})
                if (!forms->laws.empty())
                    forms->laws[node.slot].eta =
                        forms->laws[tree().nodes[node.left].slot].eta + forms->laws[tree().nodes[node.right].slot].eta;
    }
}

void RootedAssembly::measure_loads_of_body(const AssemblyNode& node, Losses& out) {
    const BodyState& body = bodies_[node.link];
    out.loads = squares(six(body.force), out.terms);
    if (node.left < 0) return;
    out.loads += squares(six(laws_[tree().nodes[node.left].slot].g), out.terms);
    if (tree().nodes[node.parent].kind == NodeKind::rake) return;
    const Six b = six(body.b);
    errors_.bodies[node.slot].eta = form_at(errors_, node.left, &b, nullptr) + squares(b, out.impedance) + out.loads;
    if (with_totals_) error_totals_.bodies[node.slot].eta = form_at(error_totals_, node.left, &b, nullptr);
}

void RootedAssembly::measure_loads_of_join(const AssemblyNode& node, Losses& out) {
    const Ends A = ends(node.left), B = ends(node.right);
    const Place& place = frames_.place(node.link);
    const Six gamma = six(joins_[node.slot].gamma), reaction = -force_out_of(place, gamma);
    const double left = form_at(errors_, node.left, nullptr, &reaction),
                 right = form_at(errors_, node.right, &gamma, nullptr);
    const auto [efforts, rates] = loads_at_joint(linkage_->links[node.link], out.admittance);
    out.loads = squares(motion_into(place, six(A.b2)), out.impedance) + squares(six(B.b1), out.impedance) + efforts;
    double taken = 0.0;  // b1, b2 relative to terms of Φ1, Φ2
    for (int k = 0; k < 6; ++k) taken += A.b1[k] * A.b1[k] / (*A.phi1)(k, k);
    for (int k = 0; k < 6 && !node.ends; ++k) taken += B.b2[k] * B.b2[k] / (*B.phi2)(k, k);
    const double own = squares(gamma, out.terms) + out.loads;
    errors_.joins[node.slot].eta = left + right + own + taken;
    if (!with_totals_) return;
    const EndForm left_total = end_form(totals_, node.left), right_total = end_form(totals_, node.right);
    double totals = left_total.eta + right_total.eta + rates;
    if (left_total.psi2) totals += squares(reaction, *left_total.psi2);
    if (right_total.psi1) totals += squares(gamma, *right_total.psi1);
    error_totals_.joins[node.slot].eta =
        form_at(error_totals_, node.left, nullptr, &reaction) + form_at(error_totals_, node.right, &gamma, nullptr) +
        out.source * (out.left * left + out.right * right + out.own * own) + kTotal * totals;
}

void RootedAssembly::measure_loads_of_rake(const AssemblyNode& node, Losses& out) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const bool alone = branch.kind == NodeKind::body;
    // What loads make of the force on what lies behind the joint, or of its acceleration.
    const Six answer = alone ? joint_motion(node.link, r_.data() + link.freedom)
                             : force_into(frames_.place(node.link), six(laws_[node.slot].g));
    const auto [efforts, rates] = loads_at_joint(link, out.admittance);
    out.loads = efforts + (alone ? losses_[node.left].loads : squares(six(joins_[branch.slot].b1), out.impedance));
    const int below = alone ? branch.left : node.left;
    const double left = below < 0 ? 0.0 : form_at(errors_, below, &answer, nullptr),
                 own = squares(answer, out.terms) + out.loads;
    errors_.laws[node.slot].eta = left + own;
    if (!with_totals_) return;
    double totals = rates;
    if (!alone)
        totals += totals_.joins[branch.slot].eta + squares(answer, totals_.joins[branch.slot].psi1);
    else if (below >= 0) {
        const LawForm& total = totals_.laws[tree().nodes[below].slot];
        totals += total.eta + squares(answer, total.psi);
    }
    error_totals_.laws[node.slot].eta = (below < 0 ? 0.0 : form_at(error_totals_, below, &answer, nullptr)) +
                                        out.source * (out.left * left + out.own * own) + kTotal * totals;
}

// The energy of efforts by its terms, and the square of what loads make of the joint's acceleration.
std::pair<double, double> RootedAssembly::loads_at_joint(const Link& link, double admittance) const {
    double efforts = 0.0, rates = 0.0;
    for (int s = link.freedom; s < link.freedom + link.motion.freedoms(); ++s) {
        efforts += effort_[s] * effort_[s] * admittance;
        if (!link.floats) rates += r_[s] * r_[s];
    }
    return {efforts, rates};
}

double RootedAssembly::force_error(int number, const double* input, const double* behind) const {
    const AssemblyNode& node = tree().nodes[number];
    const Losses& of = losses_[number];
    const Place& place = frames_.place(node.link);
    const Six first = six(input), answer = six(behind);
    double left = 0.0, right = 0.0, own = of.loads + squares(answer, of.terms);
    if (node.kind == NodeKind::join) {
        const Six second = six(input + 6), reaction = -force_out_of(place, answer);
        left = form_at(errors_, node.left, &first, &reaction);
        right = form_at(errors_, node.right, &answer, node.ends ? nullptr : &second);
        own += of.left_share * squares(first, *ends(node.left).phi1);
        if (!node.ends) own += of.right_share * squares(second, *ends(node.right).phi2);
    } else {
        const AssemblyNode& branch = tree().nodes[node.left];
        const int below = branch.kind == NodeKind::join ? node.left : branch.left;
        if (below >= 0) left = form_at(errors_, below, &answer, nullptr);
        // What the carrier of a body that hangs on nothing does cancels.
        if (!linkage_->links[node.link].floats) own += squares(motion_into(place, first), of.impedance);
    }
    return root_of(of.left * left) + root_of(of.right * right) + root_of(of.own * own);
}

double RootedAssembly::joint_error(int node, double given, double own) const {
    const Losses& of = losses_[node];
    const double error = given * root_of(of.through) + own * root_of(of.admittance);
    return error >= 0.0 ? error : std::numeric_limits<double>::infinity();
}

double RootedAssembly::total_error(int number, const double* input, double given) const {
    const AssemblyNode& node = tree().nodes[number];
    const Six first = six(input), second = six(input + 6);
    const bool has_second = node.kind == NodeKind::join && !node.ends;
    return root_of(form_at(error_totals_, number, &first, has_second ? &second : nullptr)) +
           given * root_of(losses_[number].response);
}

}  // namespace bellcrank
