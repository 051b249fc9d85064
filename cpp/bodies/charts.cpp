// The configuration manifold: charts about a configuration, and the branches of angles.
#include <algorithm>
#include <cmath>

#include "bodies/bodies.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kLongestTurn = 3.0;      // of a body in a step [rad]; a chart reaches to half a turn
constexpr double kFollowed = 1.0;         // rad
constexpr double kLongSeriesReach = 4.0;  // rad², where the series of a rotation still lose no digit

// A body's pose moved along a displacement; out may be the pose.
void advance_one(const double* pose, const double* displacement, double* out) {
    const Vec3 phi = twist_angular(displacement, 0);
    const Quat q = advanced(pose_rotation(pose, 0), phi);
    for (int k = 0; k < 3; ++k) out[k] = pose[k] + displacement[k];
    out[3] = 0.0;
    out[4] = q.w, out[5] = q.x, out[6] = q.y, out[7] = q.z;
}

// The same for bodies side by side, as many as lanes and no more than there are: spare lanes repeat the last one. False
// if one turns too far for it.
bool advance_several(const double* poses, const double* displacements, int bodies, double* out) {
    const double *rotation[kLanes], *turn[kLanes];
    double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        const int body = std::min(l, bodies - 1);
        rotation[l] = poses + kPose * body + 4;
        turn[l] = displacements + kTwist * body + 4;
        place[l] = out + kPose * body + 4;
    }
    Lane q[4], phi[4];
    gather4(rotation, q);
    gather4(turn, phi);
    const Vec3T<Lane> vector{phi[0], phi[1], phi[2]};
    const QuatT<Lane> from{q[0], q[1], q[2], q[3]};
    const double square = largest(dot(vector, vector));
    if (!(square < kLongSeriesReach)) return false;
    const QuatT<Lane> to = square < kSeriesReach ? advanced_by_series(from, vector)
                                                 : renormalized(from * exp_of_half(broadcast(0.5) * vector));
    for (int l = 0; l < std::min(kLanes, bodies); ++l) {
        Quad moved = Quad::load(poses + kPose * l);
        moved.add_scaled(1.0, Quad::load(displacements + kTwist * l));
        moved.store(out + kPose * l);
    }
    const Lane components[4] = {to.w, to.x, to.y, to.z};
    scatter4(components, place);
    return true;
}

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

void Bodies::retract(const double* x0, const double* xi, double* out) const {
    const int bodies = model_->bodies();
    for (int first = 0; first < bodies; first += kLanes) {
        const double *poses = x0 + kPose * first, *displacements = xi + kTwist * first;
        double* to = out + kPose * first;
        if (advance_several(poses, displacements, bodies - first, to)) continue;
        for (int l = 0; l < std::min(kLanes, bodies - first); ++l)
            advance_one(poses + kPose * l, displacements + kTwist * l, to + kPose * l);
    }
    if (out != x0) std::copy_n(x0 + kPose * model_->ground(), kPose, out + kPose * model_->ground());
}

void Bodies::displacement(const double* x0, const double* x1, double* xi) const {
    std::fill_n(xi, tangent_size(), 0.0);
    for (int b = 0; b < model_->bodies(); ++b)
        store_twist(xi, b, pose_position(x1, b) - pose_position(x0, b),
                    quaternion_log(conjugate(pose_rotation(x0, b)) * pose_rotation(x1, b)));
}

void Bodies::chart_rate(const double* xi, const double* u, double* rate) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_twist(rate, b, twist_linear(u, b), rotation_vector_rate(twist_angular(xi, b), twist_angular(u, b)));
}

void Bodies::chart_velocity(const double* xi, const double* rate, double* u) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_twist(u, b, twist_linear(rate, b), angular_velocity(twist_angular(xi, b), twist_angular(rate, b)));
}

void Bodies::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_twist(out, b, twist_linear(udot, b),
                    rotation_vector_acceleration(twist_angular(xi, b), twist_angular(rate, b), twist_angular(udot, b)));
}

void Bodies::set_angles(double* x, const double* values) {
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) branches_.set(i, values[i]);
    branches_.recognize(*model_, x);
    follow_angles(x);
}

void Bodies::follow_angles(const double* x) { branches_.follow(*model_, x); }

// Angles between bodies need following only once a joint may have turned by about a radian, which a step may double;
// relative rotations are at most twice the fastest body's. Directions to a point that moves are followed always.
void Bodies::commit(double t, const double* x, const double* u) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    traveled_ += 2.0 * std::sqrt(fastest) * std::abs(t - followed_at_);
    followed_at_ = t;
    for (int i : drifting_) branches_.follow(*model_, i, x);
    if (traveled_ >= kFollowed) {
        follow_angles(x);
        traveled_ = 0.0;
    }
    if (!contacts_.empty()) contacts_.commit(x, u);
}

// One radian by the speeds at the start leaves room for what they grow by within the step. A direction to a point that
// passes close by may turn at any rate; there the step is not cut without end.
double Bodies::longest_step(const double* x, const double* u, double h) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    h = std::min(h, kLongestTurn / std::max(std::sqrt(fastest), 1e-300));
    if (2.0 * std::sqrt(fastest) * h <= 1.0 && drifting_.empty()) return h;
    double rate = 0.0;
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) {
        if (!model_->coordinates[i].kind->angular()) continue;
        rate = std::max(rate, std::abs(coordinate_motion(*model_, branches_, i, x, u).rate));
    }
    return rate * h > 1.0 ? std::max(1.0 / rate, 1e-3 * h) : h;
}

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

// Records of the two axes that span the plane, then of every body's axis of rotation.
void Bodies::span_plane() {
    const Vec3 n = model_->normal.back();
    const Vec3 aside = std::abs(n.x) < 0.5 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 across = cross(n, aside), second = (1.0 / std::sqrt(dot(across, across))) * across;
    const auto append = [&](const Vec3& axis) { plane_.insert(plane_.end(), {axis.x, axis.y, axis.z, 0.0}); };
    append(cross(second, n));
    append(second);
    for (int b = 0; b < model_->bodies(); ++b) append(model_->normal[b]);
}

int Bodies::free_components() const { return is_planar() ? 3 * model_->bodies() : tangent_size(); }

// Per body the velocity along both axes of the plane and the spin about its normal.
void Bodies::compress(const double* u, double* components) const {
    if (!is_planar()) return System::compress(u, components);
    const Quad first = Quad::load(plane_.data()), second = Quad::load(plane_.data() + 4);
    const double* axis = plane_.data() + 8;
    const auto product = [](const Quad& a, const Quad& b) {
        Quad terms{};
        terms.add_product(a, b);
        return terms.sum();
    };
    for (int b = 0; b < model_->bodies(); ++b, components += 3, u += kTwist, axis += 4) {
        const Quad linear = Quad::load(u);
        components[0] = product(first, linear);
        components[1] = product(second, linear);
        components[2] = product(Quad::load(axis), Quad::load(u + 4));
    }
}

void Bodies::expand(const double* components, double* u) const {
    if (!is_planar()) return System::expand(components, u);
    const Quad first = Quad::load(plane_.data()), second = Quad::load(plane_.data() + 4);
    const double* axis = plane_.data() + 8;
    for (int b = 0; b < model_->bodies(); ++b, components += 3, u += kTwist, axis += 4) {
        Quad linear{}, angular{};
        linear.add_scaled(components[0], first);
        linear.add_scaled(components[1], second);
        angular.add_scaled(components[2], Quad::load(axis));
        linear.store(u);
        angular.store(u + 4);
    }
    std::fill_n(u, kTwist, 0.0);
}

// Without rows that hold a planar motion in its plane nothing but rounding leads out of it. That may grow, as what
// stands upright falls, unless it is taken away.
void Bodies::flatten(double* u) const {
    if (!is_planar()) return;
    const Vec3& n = model_->normal.back();
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 v = twist_linear(u, b), &axis = model_->normal[b];
        store_twist(u, b, v - dot(n, v) * n, dot(axis, twist_angular(u, b)) * axis);
    }
}

}  // namespace bellcrank
