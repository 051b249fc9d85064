// Error of the joint at s, in marker-1 axes, where ρ = q q(s)* is the rotation left over:
//   e = (r − p(s);  2 vec ρ)                                                                              (1)
//   ė = (ṙ − p'ṡ;  ρ0 (Ω − Ω_s) + (Ω + Ω_s) × vec ρ),   Ω_s = W ṡ                                         (2)
// With P = (p'; W), 6×d, the coordinates are those that leave the least error: Pᵀ e(s) = 0 (metres and radians weigh
// alike; where the joint holds, any weight gives the same s). On the joint e = 0 and (2) gives
//   ṡ = P⁺ (ṙ; Ω),   s̈ = P⁺ ((r̈; Ω̇) − Ṗṡ)                                                                (3)
// and the rows are Nᵀ e with the columns of N an orthonormal basis of what P does not reach, NᵀP = 0:
//   d/dt Nᵀe = Nᵀ(ṙ; Ω),   d²/dt² Nᵀe = Nᵀ((r̈; Ω̇) − Ṗṡ)                                                   (4)
// Off the joint (3) and (4) are right to first order in e, so that Newton's method still converges quadratically.
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
using Gradients = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor, 6, 6>;

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
void turn_to_fixed(Eigen::Ref<Columns> N) {
    static const Columns E = fixed_directions();
    for (Eigen::Index k = 0; k < N.cols(); ++k)
        if (E.col(k).dot(N.col(k)) < 0.0) N.col(k) = -N.col(k);
}

// A scalar whose rate is g·(ṙ; Ω) and whose acceleration has the part `quadratic`.
CoordinateValue value_of(double value, const Vector6& g, double quadratic) {
    return {value, {g[0], g[1], g[2]}, {g[3], g[4], g[5]}, quadratic};
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
        Quat left = m.q * conjugate(q);
        const double sign = left.w < 0.0 ? -2.0 : 2.0;
        return six_numbers(m.r - p, sign * Vec3{left.x, left.y, left.z});
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
    double pseudoinverse[36], basis[36];
    decompose_six(frame.P.data(), d, pseudoinverse, basis);
    const Eigen::Map<const Gradients> inverse(pseudoinverse, d, 6);
    frame.rate = inverse * six_numbers(motion.rdot, motion.omega);
    read(frame);
    const Vector6 error = frame.error(motion);
    for (int i = 0; i < d; ++i) {
        const Vector6 g = inverse.row(i).transpose();
        out.free[i] = value_of(frame.s[i], g, -g.dot(frame.bias));
    }
    Eigen::Map<Columns> N(basis, 6, rows());
    turn_to_fixed(N);
    for (int k = 0; k < rows(); ++k) {
        const Vector6 n = N.col(k);
        out.row[k] = value_of(n.dot(error), n, -n.dot(frame.bias));
    }
}

}  // namespace bellcrank
