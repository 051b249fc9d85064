// Measures what inversions lose. Rounding is relative to what is inverted and taken away, and stays in what is left of
// it. How far Φ and b may be off is given by a form Ê in what the node is given,
//   |uᵀ (δΦ f + δb)| ≤ ε (Ê(u) Ê(f))^½,  f with the loads, u without,
// likewise Ê of W and g. Forces make twice the energy of a stretch least or largest, so that to first order they may be
// held while the parts change: errors of parts pass nodes as total accelerations do (forms.hpp), and each node adds
// those of its own sums and products. With V = M⁻¹, M̂ the terms that M is added up from, along its diagonal, and
// β = tr V Φ2ᴬ, tr V Φ1ᴮ their shares,
//   a join       Ê = Êᴬ + Êᴮ + (1 + βᴬ) diag Φ1ᴬ + M̂(f) + (1 + βᴮ) diag Φ2ᴮ
//   a rake       Ê + M̂(f) + diag V(a), or + diag V(a) of the body by itself
//   a body       V̂ = ΣŴ + diag V, Ê = V̂(Φ f + b) + diag Φ(f).
// The force on a joint solves M f = r; as the root of the energy fᵀ M f it is off by
//   ε Σ (tr V Êᵖ · Êᵖ(f))^½,
// each part p by itself, so that a light body does not lose what the heavy one before it is uncertain of.
#include <algorithm>
#include <cmath>
#include <limits>

#include "adaptive/assembly.hpp"

namespace bellcrank {

namespace {

constexpr double kLoss = 64.0 * std::numeric_limits<double>::epsilon();
constexpr double kNoDigit = 1e60;     // the square of what is lost where nothing is left
constexpr double kFirstOrder = 1e-2;  // up to which losses of several joins only add up
constexpr double kKinds = 3.0;        // (x + y + z)² ≤ 3 (x² + y² + z²)
constexpr int kUpdates = 20;          // of all nodes, on the average, between one measurement and the next

double trace_of_product(const Matrix6& A, const Matrix6& B) {
    double sum = 0.0;
    for (int j = 0; j < 6; ++j) sum += dot(A.column(j), B.column(j));
    return sum;
}
double product_of(const double* a, const double* b) { return dot(six(a), six(b)); }
// += Σ_j A_ji² size_j
void add_squares(const Matrix6& A, const double* size, double* out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out[i] += A(j, i) * A(j, i) * size[j];
}
void diagonal_of(const Matrix6& A, double* out) {
    for (int k = 0; k < 6; ++k) out[k] = A(k, k);
}
void add_diagonal(Matrix6& A, double scale, const double* size) {
    for (int k = 0; k < 6; ++k) A.m[7 * k] += scale * size[k];
}

constexpr double kTotal = 64.0 * std::numeric_limits<double>::epsilon();  // of squares that a total adds up

double root_of(double square) { return square <= 0.0 ? 0.0 : std::sqrt(square); }

// += scale Σ_j A_ji² size_j along the diagonal
void add_squares_of(const Matrix6& A, double scale, const double* size, Matrix6& out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out.m[7 * i] += scale * A(j, i) * A(j, i) * size[j];
}

}  // namespace

void RootedAssembly::judge_digits() {
    if (tree().shape != TreeShape::balanced) return;
    rounding_ = linkage_->rounding(reach_);
    if (is_even()) return;
    since_measured_ += updated_;
    if (since_measured_ > kUpdates * static_cast<long>(tree().nodes.size())) measure_losses();
}

void RootedAssembly::measure_losses() {
    since_measured_ = 0;
    if (losses_.empty()) {
        losses_.resize(tree().nodes.size());
        errors_.resize(tree().joins, tree().laws, tree().branched);
        if (with_totals_) error_totals_.resize(tree().joins, tree().laws, tree().branched);
    }
    for (size_t i = 0; i < losses_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[i];
        switch (node.kind) {
            case NodeKind::body:
                lose_in_body(node, losses_[i]);
                break;
            case NodeKind::join:
                lose_in_join(node, losses_[i]);
                break;
            case NodeKind::rake:
                lose_in_rake(node, losses_[i]);
                break;
            case NodeKind::sum:
                for (Forms* forms : {&errors_, &error_totals_}) {
                    if (forms->laws.empty()) continue;
                    Matrix6& psi = forms->laws[node.slot].psi;
                    psi = forms->laws[tree().nodes[node.left].slot].psi;
                    add(psi, forms->laws[tree().nodes[node.right].slot].psi);
                }
        }
        measure_loads(static_cast<int>(i));
    }
}

// Takes the losses from traces of V with errors of the parts and with its own terms, and the response from what is
// computed below.
void RootedAssembly::judge_joint(const AssemblyNode& node, double left, double right, double own, double below,
                                 Losses& out) const {
    const double lost = kLoss * (left + right + own), more = 1.0 + lost / kFirstOrder;
    const auto loss = [&](double trace) { return lost < 1.0 ? kLoss * kLoss * more * more * trace : kNoDigit; };
    out.left = loss(left), out.right = loss(right), out.own = loss(own);
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double* D = d_.data() + squares_[node.link];
    const bool alone = node.kind == NodeKind::rake && tree().nodes[node.left].kind == NodeKind::body;
    out.admittance = 0.0;
    for (int s = 0; s < d; ++s)
        if (alone)
            for (int r = s; r < d; ++r) out.admittance += D[d * s + r] * D[d * s + r];
        else
            out.admittance += D[d * s + s];
    out.through = link.floats ? 0.0 : out.admittance;
    out.response = out.through + below;
    out.source = out.response > 0.0 ? kKinds * out.response : 0.0;
}

void RootedAssembly::lose_in_body(const AssemblyNode& node, Losses& out) {
    const BodyState& body = bodies_[node.link];
    const int law = node.left < 0 ? -1 : tree().nodes[node.left].slot;
    diagonal_of(linkage_->links[node.link].inertia, out.impedance);
    if (law >= 0)
        for (int k = 0; k < 6; ++k) out.impedance[k] += laws_[law].w(k, k);
    Matrix6 phi = body.phi;
    if (tree().nodes[node.parent].kind == NodeKind::rake) {
        for (int k = 0; k < 6; ++k) out.terms[k] = 1.0 / out.impedance[k];
        if (law >= 0) invert(phi);
    } else {
        diagonal_of(phi, out.terms);
        if (law >= 0) {
            Matrix6 psi = errors_.laws[law].psi;
            add_diagonal(psi, 1.0, out.impedance);
            out.own = trace_of_product(phi, psi) + product_of(out.impedance, out.terms);
            pass_through(psi, phi, errors_.bodies[node.slot].psi);
            add_diagonal(errors_.bodies[node.slot].psi, 1.0, out.terms);
            if (with_totals_) pass_through(error_totals_.laws[law].psi, phi, error_totals_.bodies[node.slot].psi);
        }
    }
    if (law >= 0) out.response = respond_to(phi, node.left);
}

// The form of errors of a part of a join. Φ of a body alone is a sum of positive terms (Link::mobility).
EndForm RootedAssembly::error_form(int number, LawForm& of_body) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join || node.left >= 0) return end_form(errors_, number);
    of_body = {};
    add_diagonal(of_body.psi, 1.0, losses_[number].terms);
    return EndForm(of_body);
}

void RootedAssembly::lose_in_join(const AssemblyNode& node, Losses& out) {
    const Ends A = ends(node.left), B = ends(node.right);
    const JoinState& state = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    LawForm bodies[2];
    const EndForm left = error_form(node.left, bodies[0]);
    EndForm right = error_form(node.right, bodies[1]);
    Matrix6 T, V, P;
    product(X, *A.phi2, T);
    sum_product(*B.phi1, T, XT, V);
    invert(V);
    diagonal_of(V, out.impedance);
    double before[6] = {}, behind[6], first[6], second[6];
    diagonal_of(*A.phi2, first);
    add_squares(XT, first, before);
    diagonal_of(*B.phi1, behind);
    put(out.terms, six(before) + six(behind));
    out.left_share = product_of(out.impedance, before);
    out.right_share = product_of(out.impedance, behind);
    product(X, *left.psi2, T);
    product(T, XT, P);
    const auto of_body = [&](int part) {
        const AssemblyNode& below = tree().nodes[part];
        return below.kind == NodeKind::body && below.left >= 0 ? losses_[part].own : 0.0;
    };
    judge_joint(node, trace_of_product(V, P) + of_body(node.left),
                trace_of_product(V, *right.psi1) + of_body(node.right), out.left_share + out.right_share,
                std::max(losses_[node.left].response, losses_[node.right].response), out);
    if (with_totals_) lose_totals_in_join(node, left, right, out);
    Matrix6 psi1 = *right.psi1;
    add_diagonal(psi1, 1.0, out.terms);
    right.psi1 = &psi1;
    StretchForm& error = errors_.joins[node.slot];
    pass_join(left, right, state, X, XT, node.ends, error);
    diagonal_of(*A.phi1, first);
    add_diagonal(error.psi1, 1.0 + out.left_share, first);
    if (node.ends) return;
    diagonal_of(*B.phi2, second);
    add_diagonal(error.psi2, 1.0 + out.right_share, second);
}

void RootedAssembly::lose_in_rake(const AssemblyNode& node, Losses& out) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const Matrix6 X = motion_transform(frames_.place(node.link));
    const bool alone = branch.kind == NodeKind::body;
    Matrix6 psi{}, passed;  // of what lies behind the joint, in the force on it or its acceleration
    double lost = 0.0, own = 0.0;
    if (alone) {
        if (branch.left >= 0) psi = errors_.laws[tree().nodes[branch.left].slot].psi;
        std::copy_n(losses_[node.left].impedance, 6, out.impedance);
        std::copy_n(out.impedance, 6, out.terms);
        const int d = link.motion.freedoms();
        const double* N = d_.data() + squares_[node.link];
        for (int r = 0; r < d; ++r) {  // of Sᵀ Ψ S, in units of the joint's inertia
            Six along{};
            for (int s = 0; s <= r; ++s) {
                along = along + N[d * s + r] * joint_column(node.link, s);
                own += N[d * s + r] * N[d * s + r] * squares(joint_column(node.link, s), out.impedance);
            }
            lost += dot(along, psi * along);
        }
        passed = carried_motion(node, X);
    } else {
        psi = errors_.joins[branch.slot].psi1;
        Matrix6 V = joins_[branch.slot].phi1;
        diagonal_of(V, out.terms);
        invert(V);
        diagonal_of(V, out.impedance);
        lost = trace_of_product(V, psi);
        own = product_of(out.impedance, out.terms);
        // W X: forces behind the joint at an acceleration of the carrier.
        for (int j = 0; j < 6; ++j)
            passed.set_column(j, force_into(frames_.place(node.link), laws_[node.slot].w.column(j)));
    }
    judge_joint(node, lost, 0.0, own, losses_[node.left].response, out);
    if (with_totals_) lose_totals_in_rake(node, X, psi, passed, out);
    // This holds where the ground carries the branch; else the body that does gives more.
    out.through = out.response = 0.0;
    add_diagonal(psi, 1.0, out.terms);
    double of_carrier[6] = {};
    if (!link.floats) add_squares(X, out.impedance, of_carrier);
    pass_through(psi, passed, errors_.laws[node.slot].psi);
    add_diagonal(errors_.laws[node.slot].psi, 1.0, of_carrier);
}

// Returns how laws and their joints respond where the body that carries them has the inverse inertia Φ.
double RootedAssembly::respond_to(const Matrix6& phi, int law) {
    const AssemblyNode& node = tree().nodes[law];
    Losses& of = losses_[law];
    if (node.kind == NodeKind::sum)
        of.response = respond_to(phi, node.left) + respond_to(phi, node.right);
    else {
        const Link& link = linkage_->links[node.link];
        of.through = 0.0;
        for (int s = 0; s < link.motion.freedoms(); ++s) {
            const Six g = six(g1_.data() + 6 * (link.freedom + s));
            of.through += dot(g, phi * g);
        }
        of.response = with_totals_ ? trace_of_product(totals_.laws[node.slot].psi, phi) : of.through;
    }
    return of.response;
}

// Errors of joint accelerations, where joins lose digits, are counted in energies of accelerations Σ aᵀ I a, by Gauss's
// principle. The error of the force on a joint is a force by itself, at which all that it reaches
// moves. On its way down the energy of that motion is divided and not increased, whatever arms, masses and units it
// meets, while the components of forces and moments mix: what is little of a force on a long link may be many times the
// moment on a short one. A joint with admittance D (acceleration by effort) that moves with energy E² accelerates by
// D^½ E.
//
// Squares of errors of accelerations are added up in a form as well: what the error of a force makes of the joints that
// it reaches, and the rounding of the squares of the accelerations themselves.
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

// error: the form Ψ of errors behind the joint. passed: the map A X from the carrier's acceleration to what happens
// there.
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

// Finds what loads alone add to the forms.
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
    // `answer` is the part of loads in the force on what lies behind the joint, or in its acceleration.
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
