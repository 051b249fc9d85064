// Where bodies get to that move with velocities given as polynomials of time.
#include <algorithm>
#include <cmath>

#include "bodies/bodies.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

constexpr int kMostTerms = 40;  // of a quaternion's series
constexpr double kLastTerm = 1e-16;
constexpr double kAcross = 1e-16;  // rad, of a turn across an axis that is none

// Terms of the series of a rotation by `angle` at most, for velocities of this degree: a rotation at constant speed is
// exact to rounding, and the degree counts where the angle is small.
int series_terms(double angle, int degree) {
    double term = 1.0;
    int m = 0;
    while (m < degree + 2 || (term > kLastTerm && m < kMostTerms)) term *= 0.5 * angle / ++m;
    return std::min(m, kMostTerms);
}

Lane cross_square(const Lane a[3], const Lane b[3]) {
    const Lane x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    return x * x + y * y + z * z;
}

// Whether all rates are along one axis, up to what rounding makes of that: then rotations add up, as in a plane.
bool about_one_axis(const Lane (*w)[3], int degree) {
    Lane axis[3] = {w[0][0], w[0][1], w[0][2]}, square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];
    for (int j = 1; j <= degree; ++j) {
        const Lane other = w[j][0] * w[j][0] + w[j][1] * w[j][1] + w[j][2] * w[j][2];
        const auto longer = other > square;
        for (int k = 0; k < 3; ++k) axis[k] = longer ? w[j][k] : axis[k];
        square = longer ? other : square;
    }
    Lane off = broadcast(0.0);
    for (int j = 0; j <= degree; ++j) off += cross_square(axis, w[j]);
    return largest(off - kAcross * kAcross * square) <= 0.0;
}

// q exp(Σ_j 2 w_j/(j+1))
QuatT<Lane> turned_about_one_axis(const QuatT<Lane>& q, const Lane (*w)[3], int degree) {
    Vec3T<Lane> half{w[0][0], w[0][1], w[0][2]};
    for (int j = 1; j <= degree; ++j) half = half + (1.0 / (j + 1)) * Vec3T<Lane>{w[j][0], w[j][1], w[j][2]};
    return q * exp_of_half(half);
}

// The rates have the factor h/2 already: q_{m+1} = (Σ_i q_i w_{m−i}) / (m+1).
QuatT<Lane> turned(const QuatT<Lane>& start, const Lane (*w)[3], int degree, int terms) {
    QuatT<Lane> q[kMostTerms + 1];
    q[0] = start;
    QuatT<Lane> sum = start;
    for (int m = 0; m < terms; ++m) {
        Lane a = broadcast(0.0), b = a, c = a, d = a;
        for (int j = 0; j <= std::min(m, degree); ++j) {
            const QuatT<Lane>& p = q[m - j];
            const Lane *v = w[j], x = v[0], y = v[1], z = v[2];
            a -= p.x * x + p.y * y + p.z * z;
            b += p.w * x + p.y * z - p.z * y;
            c += p.w * y + p.z * x - p.x * z;
            d += p.w * z + p.x * y - p.y * x;
        }
        const double f = 1.0 / (m + 1);
        q[m + 1] = {f * a, f * b, f * c, f * d};
        sum.w += q[m + 1].w, sum.x += q[m + 1].x, sum.y += q[m + 1].y, sum.z += q[m + 1].z;
    }
    return sum;
}

}  // namespace

// Positions are integrals of polynomials. Rotations solve q̇ = ½ q ω, which is linear: with ω = Σ θʲ ω_j the
// coefficients of q = Σ θᵐ q_m follow one from another,
//   q_{m+1} = h/(2(m+1)) Σ_j q_{m−j} ω_j.
// About one axis it is the exponential of the integral.
void Bodies::retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                           double* out) const {
    const int bodies = model_->bodies();
    for (int first = 0; first < bodies; first += kLanes) {
        int body[kLanes];
        for (int l = 0; l < kLanes; ++l) body[l] = std::min(first + l, bodies - 1);  // spare lanes repeat the last
        Lane w[kMostTerms][3], q[4], p[4], rate[4];
        const double* from[kLanes];
        for (int l = 0; l < kLanes; ++l) from[l] = x0 + kPose * body[l];
        gather4(from, p);
        for (int l = 0; l < kLanes; ++l) from[l] += 4;
        gather4(from, q);
        Lane fastest = broadcast(0.0);
        for (int j = 0; j <= degree; ++j) {
            const double part = h / (j + 1);
            for (int l = 0; l < kLanes; ++l) from[l] = velocity + static_cast<size_t>(j) * stride + kTwist * body[l];
            gather4(from, rate);
            for (int k = 0; k < 3; ++k) p[k] += part * rate[k];
            for (int l = 0; l < kLanes; ++l) from[l] += 4;
            gather4(from, rate);
            for (int k = 0; k < 3; ++k) w[j][k] = (0.5 * h) * rate[k];
            if (j < 2) fastest += rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2];
        }
        const QuatT<Lane> start{q[0], q[1], q[2], q[3]};
        const int terms = series_terms(std::abs(h) * std::sqrt(2.0 * largest(fastest)), degree);
        const QuatT<Lane> r =
            about_one_axis(w, degree) ? turned_about_one_axis(start, w, degree) : turned(start, w, degree, terms);
        Lane n2 = r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z;
        for (int l = 0; l < kLanes; ++l) lane_set(n2, l, 1.0 / std::sqrt(lane_get(n2, l)));
        const Lane turn[4] = {n2 * r.w, n2 * r.x, n2 * r.y, n2 * r.z};
        p[3] = broadcast(0.0);
        double* to[kLanes];
        for (int l = 0; l < kLanes; ++l) to[l] = out + kPose * body[l];
        scatter4(p, to);
        for (int l = 0; l < kLanes; ++l) to[l] += 4;
        scatter4(turn, to);
    }
    std::copy_n(x0 + kPose * model_->ground(), kPose, out + kPose * model_->ground());
}

}  // namespace bellcrank
