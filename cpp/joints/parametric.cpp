// Error of the joint at s, in marker-1 axes, where ρ = q q(s)* is the rotation left over:
//   e = (r − p(s);  2 vec ρ)                                                                              (1)
//   ė = (ṙ − p'ṡ;  ρ0 (Ω − Ω_s) + (Ω + Ω_s) × vec ρ),   Ω_s = W ṡ                                         (2)
// With P = (p'; W), 6×d, the coordinates are those that leave the least error: Pᵀ e(s) = 0 (metres and radians weigh
// alike; where the joint holds, any weight gives the same s). On the joint e = 0 and (2) gives
//   ṡ = P⁺ (ṙ; Ω),   s̈ = P⁺ ((r̈; Ω̇) − Ṗṡ)                                                                (3)
// and the rows are Nᵀ e with the columns of N an orthonormal basis of what P does not reach, NᵀP = 0:
//   d/dt Nᵀe = Nᵀ(ṙ; Ω),   d²/dt² Nᵀe = Nᵀ((r̈; Ω̇) − Ṗṡ)                                                   (4)
// Off the joint (3) and (4) are right to first order in e, so that Newton's method still converges quadratically.
//
// Along a direction of the motion and of the formulas' parameters, where e = 0,
//   δs = P⁺ δe  at the old s,                                                                             (5)
// and everything else follows from (3) and (4) over numbers with derivatives.
#include "joints/parametric.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "matrices/small_least_squares.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1>;

constexpr int kMaxIterations = 60;
constexpr double kThere = 4e-15;  // of 1 and the distance: an error that no step makes smaller

std::atomic<std::uint64_t> joints_made{0};

Vector6 six_numbers(const Vec3& a, const Vec3& b) { return (Vector6() << a.x, a.y, a.z, b.x, b.y, b.z).finished(); }

Columns fixed_directions() {
    Columns E(6, 6);
    for (Eigen::Index k = 0; k < 6; ++k)
        for (Eigen::Index i = 0; i < 6; ++i) E(i, k) = std::cos(1.0 + static_cast<double>(i + 7 * k * (k + i)));
    return E;
}

// Signs of an orthonormal basis by fixed directions: those of the decomposition turn round where an entry is rounding,
// and multipliers of rows, which steps by impulses take over from step to step, with them.
template <class S>
void turn_to_fixed(S* N, int count) {
    static const Columns E = fixed_directions();
    for (int k = 0; k < count; ++k) {
        double along = 0.0;
        for (int i = 0; i < 6; ++i) along += E(i, k) * value_part(N[6 * k + i]);
        for (int i = 0; i < 6 && along < 0.0; ++i) N[6 * k + i] = -N[6 * k + i];
    }
}

template <class S>
S dot_six(const S* a, const S* b) {
    S sum = a[0] * b[0];
    for (int i = 1; i < 6; ++i) sum += a[i] * b[i];
    return sum;
}

// A scalar whose rate is g·(ṙ; Ω) and whose acceleration has the part − g·Ṗṡ.
template <class S>
CoordinateValueT<S> value_of(const S& value, const S* g, const S* bias) {
    return {value, {g[0], g[1], g[2]}, {g[3], g[4], g[5]}, -dot_six(g, bias)};
}

// (r − p; 2 vec ρ), ρ = q q(s)* by the shorter way.
template <class S>
void error_of(const Vec3T<S>& r, const QuatT<S>& q, const Vec3T<S>& p, const QuatT<S>& at, S* out) {
    const QuatT<S> left = q * conjugate(at);
    const double sign = value_part(left.w) < 0.0 ? -2.0 : 2.0;
    const S error[] = {r.x - p.x, r.y - p.y, r.z - p.z, sign * left.x, sign * left.y, sign * left.z};
    std::copy_n(error, 6, out);
}

// The quaternion of a rotation matrix; it turns along a direction as the matrix does, by the θ of [θ]× = δR Rᵀ.
QuatT<Dual4> quaternion_along(const Dual4* matrix) {
    Mat3 R;
    for (int i = 0; i < 9; ++i) R.m[i] = matrix[i].value;
    const auto turned = [&](int i, int j) {
        Four sum{};
        for (int k = 0; k < 3; ++k) sum += matrix[3 * i + k].d * R.m[3 * j + k];
        return sum;
    };
    const Quat q = quaternion_from_matrix(R);
    const Vec3 v{q.x, q.y, q.z};
    const Vec3T<Four> turn{turned(2, 1), turned(0, 2), turned(1, 0)};
    const Vec3T<Four> part = 0.5 * (q.w * turn + cross(turn, v));
    return {{q.w, -0.5 * (turn.x * v.x + turn.y * v.y + turn.z * v.z)}, {q.x, part.x}, {q.y, part.y}, {q.z, part.z}};
}

}  // namespace

// Their values come from ParametricJoint::evaluate, for all at once.
const CoordinateKind kFormulaRow{"formula_row", nullptr, nullptr, nullptr};
const CoordinateKind kFormulaCoordinate{"formula_coordinate", nullptr, nullptr, nullptr};

struct ParametricJoint::Frame {
    Coordinates s, rate;
    Vec3 p;
    Quat q;
    Columns P;
    Vector6 bias;  // Ṗṡ

    Vector6 error(const RelativeMotion& m) const {
        Vector6 out;
        error_of(m.r, m.q, p, q, out.data());
        return out;
    }
};

ParametricJoint::ParametricJoint(std::shared_ptr<const CompiledProgram> program, int coordinates,
                                 std::span<const double> parameters)
    : program_(std::move(program)), coordinates_(coordinates), parameters_(parameters), id_(++joints_made) {
    if (coordinates < 1 || coordinates > kMaxCoordinates)
        throw std::invalid_argument("a joint given by formulas has 1 to 6 coordinates");
    if (program_->inputs() != inputs(coordinates) + static_cast<int>(parameters_.size()) ||
        program_->outputs() != outputs(coordinates))
        throw std::invalid_argument("a joint's formulas: wrong number of inputs or outputs");
}

void ParametricJoint::renew() { id_ = ++joints_made; }

void ParametricJoint::read(Frame& frame) const {
    thread_local std::vector<double> work, in;
    if (work.size() < program_->work_size()) work.resize(program_->work_size());
    const size_t own = 2 * coordinates_, needed = own + parameters_.size();
    if (in.size() < needed) in.resize(needed);
    double out[12 + 6 * kMaxCoordinates + 6];
    const int d = coordinates_;
    for (int i = 0; i < d; ++i) {
        in[i] = frame.s[i];
        in[d + i] = frame.rate[i];
    }
    std::copy(parameters_.begin(), parameters_.end(), in.begin() + own);
    program_->evaluate(in.data(), out, work.data());
    frame.p = {out[0], out[1], out[2]};
    Mat3 rotation;
    std::copy_n(out + 3, 9, rotation.m);
    frame.q = quaternion_from_matrix(rotation);
    frame.P = Eigen::Map<const Columns>(out + 12, 6, d);
    frame.bias = Eigen::Map<const Vector6>(out + 12 + 6 * d);
}

// Gauss–Newton from `near`; a step that leaves a larger error is halved.
bool ParametricJoint::find_coordinates(const RelativeMotion& motion, const double* near, Frame& frame) const {
    frame.s = Eigen::Map<const Coordinates>(near, coordinates_);
    frame.rate = Coordinates::Zero(coordinates_);
    read(frame);
    Vector6 error = frame.error(motion);
    // Trees know the coordinates, and start from them.
    const double rounding =
        kThere * (1.0 + std::max({std::abs(motion.r.x), std::abs(motion.r.y), std::abs(motion.r.z)}));
    if (error.lpNorm<Eigen::Infinity>() <= rounding) return true;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
        Coordinates step(coordinates_);
        solve_six_independent(frame.P.data(), coordinates_, error.data(), step.data());
        if (!step.allFinite()) return false;
        const Coordinates from = frame.s;
        const double before = error.squaredNorm();
        const bool close = step.norm() <= 1e-13 * (1.0 + from.norm());
        for (int halving = 0;; ++halving) {
            frame.s = from + step;
            read(frame);
            error = frame.error(motion);
            if (error.squaredNorm() <= before || close) break;
            if (halving == 40) {
                frame.s = from;
                read(frame);
                return true;
            }
            step *= 0.5;
        }
        if (close) return true;
    }
    return false;
}

const ParametricJoint::Values& ParametricJoint::evaluate(const RelativeMotion& motion, const double* near) const {
    struct Last {
        std::uint64_t id = 0;
        double key[13 + kMaxCoordinates];
        Values values;
    };
    thread_local Last last;
    const Vec3 &r = motion.r, &v = motion.rdot, &w = motion.omega;
    const Quat& q = motion.q;
    double key[13 + kMaxCoordinates] = {r.x, r.y, r.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z};
    std::copy_n(near, coordinates_, key + 13);
    if (last.id == id_ && std::memcmp(key, last.key, sizeof(key)) == 0) return last.values;
    compute(motion, near, last.values);
    std::memcpy(last.key, key, sizeof(key));
    last.id = id_;
    return last.values;
}

void ParametricJoint::compute(const RelativeMotion& motion, const double* near, Values& out) const {
    const int d = coordinates_;
    Frame frame;
    out.found = find_coordinates(motion, near, frame);
    // The rows of P⁺ are the gradients of s.
    double inverse[36], N[36];
    decompose_six(frame.P.data(), d, inverse, N);
    const Vector6 rates = six_numbers(motion.rdot, motion.omega);
    for (int i = 0; i < d; ++i) frame.rate[i] = dot_six(inverse + 6 * i, rates.data());
    read(frame);
    const Vector6 error = frame.error(motion);
    for (int i = 0; i < d; ++i) out.free[i] = value_of(frame.s[i], inverse + 6 * i, frame.bias.data());
    turn_to_fixed(N, rows());
    for (int k = 0; k < rows(); ++k)
        out.row[k] = value_of(dot_six(N + 6 * k, error.data()), N + 6 * k, frame.bias.data());
}

const ParametricJoint::ValuesT<Dual4>& ParametricJoint::tangent(const RelativeMotionT<Dual4>& motion,
                                                                const double* near,
                                                                std::span<const Dual4> parameters) const {
    struct Last {
        std::uint64_t id = 0;
        std::vector<Dual4> key;
        ValuesT<Dual4> values;
    };
    thread_local Last last;
    thread_local std::vector<Dual4> key;
    const Vec3T<Dual4>&r = motion.r, &v = motion.rdot, &w = motion.omega;
    const QuatT<Dual4>& q = motion.q;
    key.assign({r.x, r.y, r.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z});
    key.insert(key.end(), near, near + coordinates_);
    key.insert(key.end(), parameters.begin(), parameters.end());
    const auto same = [](const Dual4& a, const Dual4& b) {
        return a.value == b.value && std::memcmp(&a.d, &b.d, sizeof(Four)) == 0;
    };
    if (last.id == id_ && std::equal(key.begin(), key.end(), last.key.begin(), last.key.end(), same))
        return last.values;
    follow(motion, near, parameters, last.values);
    std::swap(last.key, key);
    last.id = id_;
    return last.values;
}

void ParametricJoint::follow(const RelativeMotionT<Dual4>& motion, const double* near,
                             std::span<const Dual4> parameters, ValuesT<Dual4>& out) const {
    const auto numbers = [](const Vec3T<Dual4>& v) { return Vec3{v.x.value, v.y.value, v.z.value}; };
    const QuatT<Dual4>& q = motion.q;
    const Values& here = evaluate(
        {numbers(motion.r), {q.w.value, q.x.value, q.y.value, q.z.value}, numbers(motion.rdot), numbers(motion.omega)},
        near);
    const int d = coordinates_;
    out.found = here.found;
    thread_local std::vector<Dual4> in;
    in.assign(2 * d, 0.0);
    in.insert(in.end(), parameters.begin(), parameters.end());
    for (int i = 0; i < d; ++i) in[i] = here.free[i].value;
    Dual4 error[6];
    const auto run = [&] {
        const Dual4* pose = program_->tangent(in).data();
        error_of(motion.r, q, {pose[0], pose[1], pose[2]}, quaternion_along(pose + 3), error);
        return pose + 12;
    };
    run();
    for (int i = 0; i < d; ++i) {
        const CoordinateValue& s = here.free[i];
        const double g[] = {s.dr.x, s.dr.y, s.dr.z, s.domega.x, s.domega.y, s.domega.z};
        for (int k = 0; k < 6; ++k) in[i].d += g[k] * error[k].d;
    }
    Dual4 inverse[36], N[36];
    decompose_six(run(), d, inverse, N);
    const Vec3T<Dual4>&v = motion.rdot, &w = motion.omega;
    const Dual4 rates[] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int i = 0; i < d; ++i) in[d + i] = dot_six(inverse + 6 * i, rates);
    const Dual4* bias = run() + 6 * d;
    for (int i = 0; i < d; ++i) out.free[i] = value_of(in[i], inverse + 6 * i, bias);
    turn_to_fixed(N, rows());
    for (int k = 0; k < rows(); ++k) out.row[k] = value_of(dot_six(N + 6 * k, error), N + 6 * k, bias);
}

}  // namespace bellcrank
