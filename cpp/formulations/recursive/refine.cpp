// Where a light body carries a heavy one, what its joint's freedoms accelerate is the small rest of large inertias, and
// the factors know it to few digits. The equations themselves are exact: what they lack is found in twice the digits
// and solved for by the same factors until nothing is lacking.
#include <algorithm>
#include <cmath>

#include "formulations/recursive/recursion.hpp"
#include "spatial/double_double.hpp"

namespace bellcrank::recursive {

namespace {

constexpr int kMostPasses = 8;
constexpr double kExact = 1e-15;  // of the largest change

using Exact = DoubleDouble;
using ExactVec = Vec3T<Exact>;

ExactVec exact(const Vec3& v) { return {v.x, v.y, v.z}; }
MotionT<Exact> exact(const Twist& m) { return {exact(m.w), exact(m.v)}; }
ForceT<Exact> exact(const Load& f) { return {exact(f.n), exact(f.f)}; }
Mat3T<Exact> exact(const Mat3& a) {
    Mat3T<Exact> out;
    for (int i = 0; i < 9; ++i) out.m[i] = a.m[i];
    return out;
}

// The inertia of the link alone times an acceleration:  n = J ω̇ + h × a,  f = m a − h × ω̇.
ForceT<Exact> inertial(const Link& link, const MotionT<Exact>& a) {
    const SymmetricT<Exact> J{
        {link.second[0], link.second[1], link.second[2], link.second[3], link.second[4], link.second[5]}};
    const ExactVec h = exact(link.moment);
    return {J * a.w + cross(h, a.v), Exact(link.mass) * a.v - cross(h, a.w)};
}

double largest(const std::vector<double>& values) {
    double most = 0.0;
    for (const double v : values) most = std::max(most, std::abs(v));
    return most;
}

}  // namespace

// Of each joint  τ − Sᵀ f − rotor u̇, f being what the link and all that hangs on it ask for; of each row
// γ − J u̇ − compliance λ.
void Recursion::find_lacks(const TreeState& k, const Input& in, const double* udot, const double* lambda) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) {
        const Link& link = tree_.links[i];
        MotionT<Exact> a = in.bias == nullptr ? MotionT<Exact>{} : exact(in.bias[i]);
        if (link.parent >= 0) a += inward(exact(k.rotation[i]), exact(k.shift[i]), motions_[link.parent]);
        for (int c = 0; c < link.speeds; ++c) a += Exact(udot[link.u + c]) * exact(k.S[link.u + c]);
        motions_[i] = a;
        forces_[i] = inertial(link, a);
        forces_[i] += Exact(-1.0) * exact(in.loads[i]);
    }
    for (int r = 0; r < rows_; ++r) gap_[r] = Exact(in.targets[r]) - Exact(compliance_[r]) * Exact(lambda[r]);
    for (const RowEnd& end : ends_) {
        if (end.link < 0) continue;
        const ForceT<Exact> load = exact(end.load);
        forces_[end.link] += Exact(-lambda[end.row]) * load;
        gap_[end.row] = gap_[end.row] - dot(motions_[end.link], load);
    }
    for (int i = n - 1; i >= 0; --i) {
        const Link& link = tree_.links[i];
        for (int c = 0; c < link.speeds; ++c) {
            Exact lack = -dot(exact(k.S[link.u + c]), forces_[i]);
            if (in.efforts != nullptr) lack += in.efforts[link.u + c];
            lack += Exact(-link.rotor[c]) * Exact(udot[link.u + c]);
            lack_[link.u + c] = lack.hi;
        }
        if (link.parent >= 0) forces_[link.parent] += outward(exact(k.rotation[i]), exact(k.shift[i]), forces_[i]);
    }
    for (int r = 0; r < rows_; ++r) gaps_[r] = gap_[r].hi;
}

void Recursion::refine(const TreeState& k, const Input& in, double* udot, double* lambda) {
    double last = 0.0;
    for (int pass = 0; pass < kMostPasses; ++pass) {
        find_lacks(k, in, udot, lambda);
        std::copy_n(lambda, rows_, more_lambda_.data());
        solve(k, {nothing_.data(), lack_.data(), nullptr, nullptr, gaps_.data()}, more_.data(), more_lambda_.data());
        const double change = largest(more_);
        if (!std::isfinite(change) || (pass > 0 && !(change < 0.5 * last))) return;
        double size = 0.0;
        for (size_t i = 0; i < more_.size(); ++i) {
            udot[i] += more_[i];
            size = std::max(size, std::abs(udot[i]));
        }
        for (int r = 0; r < rows_; ++r)
            if (dropped_[r] == 0) lambda[r] += more_lambda_[r];
        if (change <= kExact * size) return;
        last = change;
    }
}

}  // namespace bellcrank::recursive
