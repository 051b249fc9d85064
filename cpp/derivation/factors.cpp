// A coordinate c moves along a screw if its twist is the same wherever the coordinates are: with ∂A/∂c A⁻¹ = s
// constant, A(c) = exp(c s) A(0); with A⁻¹ ∂A/∂c = b constant, A(c) = A(0) exp(c b). A surface of revolution so becomes
// two turns, where its frame written out is a matrix of two coordinates. Twists are compared at several configurations:
// that analytic functions agree there but not everywhere would be chance, and formulas with cases are left alone.
#include "derivation/factors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "expression/derivative.hpp"
#include "expression/lower.hpp"
#include "programs/compiled_program.hpp"

namespace bellcrank::symbolic {

namespace {

constexpr double kNoise = 1e-14;
constexpr double kSame = 1e-13;    // relative: what a twist may vary by is an error of the motion
constexpr double kFarAxis = 10.0;  // of an axis, in units of how far the transform goes: its lever arms cost digits
constexpr double kAway = 0.4;      // of configurations from the start
constexpr int kConfigurations = 6;

std::vector<Ref> entries_of(const JointTransform& a) {
    std::vector<Ref> out;
    for (const Expression& e : a.rotation.m) out.push_back(e.ref);
    for (const Expression& e : {a.position.x, a.position.y, a.position.z}) out.push_back(e.ref);
    return out;
}

JointTransform from_entries(Graph& graph, const Ref* e) {
    JointTransform out;
    for (int i = 0; i < 9; ++i) out.rotation.m[i] = {&graph, e[i]};
    out.position = {{&graph, e[9]}, {&graph, e[10]}, {&graph, e[11]}};
    return out;
}

// A number without the rounding of its last digits, where it is a whole one.
double settled(double value, double size) {
    if (std::abs(value) <= kNoise * size) return 0.0;
    const double whole = std::round(value);
    return std::abs(value - whole) <= kNoise * std::abs(whole) ? whole : value;
}

struct Transform {
    Mat3 R;
    Vec3 p;
};

Transform operator*(const Transform& a, const Transform& b) { return {a.R * b.R, a.p + a.R * b.p}; }

double distance(const Transform& a, const Transform& b) {
    double largest = 0.0;
    for (int i = 0; i < 9; ++i) largest = std::max(largest, std::abs(a.R.m[i] - b.R.m[i]));
    return std::max(largest, norm(a.p - b.p) / (1.0 + norm(b.p)));
}

// exp(angle of the twist): Rodrigues' formula about the axis through c, and the advance along it.
Transform exponential(const Screw& s, double by) {
    const double w = norm(s.angular);
    if (w == 0.0) return {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, by * s.linear};
    const Vec3 d = (1.0 / w) * s.angular, c = (1.0 / w) * cross(d, s.linear);
    const double angle = w * by, cosine = std::cos(angle), sine = std::sin(angle), v = 1.0 - cosine;
    const Mat3 R{{cosine + v * d.x * d.x, v * d.x * d.y - sine * d.z, v * d.x * d.z + sine * d.y,
                  v * d.x * d.y + sine * d.z, cosine + v * d.y * d.y, v * d.y * d.z - sine * d.x,
                  v * d.x * d.z - sine * d.y, v * d.y * d.z + sine * d.x, cosine + v * d.z * d.z}};
    return {R, c - R * c + by * dot(d, s.linear) * d};
}

// Whether everything is analytic wherever it is finite.
bool without_cases(const Graph& graph, std::span<const Ref> roots) {
    for (const std::uint32_t node : graph.reachable(roots)) switch (graph.node(node).op) {
            case Op::select:
            case Op::minimum:
            case Op::maximum:
            case Op::absolute:
            case Op::sign:
            case Op::floor:
            case Op::less:
            case Op::less_equal:
            case Op::table:
                return false;
            default:
                break;
        }
    return true;
}

class Factoring {
  public:
    Factoring(Graph& graph, const JointTransform& transform, const std::vector<Expression>& symbols,
              const std::vector<double>& start, std::size_t coordinates)
        : graph_(graph), left_(transform), start_(start), open_(coordinates, true) {
        for (const Expression& s : symbols) symbols_.push_back(s.ref);
    }

    TransformFactors run() {
        while (split()) {
        }
        std::reverse(out_.inner.begin(), out_.inner.end());
        out_.middle.push_back(left_);
        return std::move(out_);
    }

  private:
    // Near the start, within the ranges of the symbols.
    std::vector<double> configuration(int number) const {
        std::minstd_rand random(number + 1);
        std::vector<double> at = start_;
        for (size_t i = 0; i < at.size() && number > 0; ++i) {
            const Interval range = graph_.range(symbols_[i]);
            const double size = i < open_.size() || at[i] == 0.0 ? 1.0 : std::abs(at[i]);  // inputs start from zero
            const double away = kAway * size * std::uniform_real_distribution(-1.0, 1.0)(random);
            at[i] += range.low <= at[i] + away && at[i] + away <= range.high ? away : 0.0;
        }
        return at;
    }

    // Takes one screw off, if there is one.
    bool split() {
        std::vector<Ref> roots = entries_of(left_);
        if (!without_cases(graph_, roots)) return false;
        const size_t n = symbols_.size();
        const std::vector<Ref> d = derivative(graph_, roots, symbols_, DerivativeForm::forward);
        roots.insert(roots.end(), d.begin(), d.end());
        const CompiledProgram program(lower(graph_, roots, symbols_));
        std::vector<double> work(program.work_size());
        std::array<std::vector<double>, kConfigurations> values;
        for (int k = 0; k < kConfigurations; ++k) {
            values[k].resize(program.outputs());
            program.evaluate(configuration(k).data(), values[k].data(), work.data());
        }
        for (size_t j = 0; j < open_.size(); ++j)
            for (const bool outer : {true, false})
                if (const auto screw = open_[j] ? common_twist(j, n, values, outer) : std::nullopt)
                    if (take(*screw, outer)) return true;
        return false;
    }

    // The twist of a coordinate, seen from the outside or the inside, if it is the same everywhere.
    std::optional<Screw> common_twist(size_t j, size_t n,
                                      const std::array<std::vector<double>, kConfigurations>& values,
                                      bool outer) const {
        Screw first{};
        double reach = 0.0;
        for (int k = 0; k < kConfigurations; ++k) {
            Transform A, dA;
            const double *a = values[k].data(), *d = a + 12 + j;
            for (int i = 0; i < 9; ++i) {
                A.R.m[i] = a[i];
                dA.R.m[i] = d[i * n];
            }
            A.p = {a[9], a[10], a[11]};
            dA.p = {d[9 * n], d[10 * n], d[11 * n]};
            const Mat3 spin = outer ? dA.R * transpose(A.R) : transpose_times(A.R, dA.R);
            const Vec3 w{spin.m[7], spin.m[2], spin.m[3]};
            const Vec3 v = outer ? dA.p - cross(w, A.p) : transpose_times(A.R, dA.p);
            const double size = norm(w) + norm(v);
            if (!(size > 0.0) || !std::isfinite(size)) return std::nullopt;
            if (k == 0) first = {static_cast<int>(j), w, v};
            if (!(norm(w - first.angular) + norm(v - first.linear) <= kSame * size)) return std::nullopt;
            reach = std::max(reach, norm(A.p));
        }
        for (Vec3* v : {&first.angular, &first.linear}) {
            const double size = norm(first.angular) + norm(first.linear);
            *v = {settled(v->x, size), settled(v->y, size), settled(v->z, size)};
        }
        const double turning = dot(first.angular, first.angular);
        if (norm(cross(first.angular, first.linear)) > kFarAxis * reach * turning) return std::nullopt;
        return first;
    }

    // What is left at coordinate = 0, unless it is not regular there.
    bool take(const Screw& screw, bool outer) {
        const Ref symbol = symbols_[screw.coordinate], zero = graph_.constant(0.0);
        const std::vector<Ref> rest = substitute(graph_, entries_of(left_), std::span(&symbol, 1), std::span(&zero, 1));
        const JointTransform still = from_entries(graph_, rest.data());
        for (int k = 0; k < kConfigurations; ++k) {
            const std::vector<double> at = configuration(k);
            const Transform moved = exponential(screw, at[screw.coordinate]), part = pose_at(still, at);
            if (!(distance(outer ? moved * part : part * moved, pose_at(left_, at)) < kSame)) return false;
        }
        (outer ? out_.outer : out_.inner).push_back(screw);
        open_[screw.coordinate] = false;
        left_ = still;
        return true;
    }

    Transform pose_at(const JointTransform& a, const std::vector<double>& at) const {
        const CompiledProgram program(lower(graph_, entries_of(a), symbols_));
        std::vector<double> work(program.work_size()), out(program.outputs());
        program.evaluate(at.data(), out.data(), work.data());
        Transform pose;
        std::copy_n(out.data(), 9, pose.R.m);
        pose.p = {out[9], out[10], out[11]};
        return pose;
    }

    Graph& graph_;
    JointTransform left_;
    std::vector<Ref> symbols_;   // the coordinates, and what else the transform depends on
    std::vector<double> start_;  // of all symbols
    std::vector<bool> open_;     // coordinates whose motion is not taken off yet
    TransformFactors out_;
};

}  // namespace

bool is_number(const JointTransform& transform) {
    for (const Ref r : entries_of(transform))
        if (!transform.position.x.graph->is_constant(r)) return false;
    return true;
}

Mat3 rotation_number(const JointTransform& transform) {
    Mat3 R;
    for (int i = 0; i < 9; ++i) {
        const Expression& e = transform.rotation.m[i];
        R.m[i] = e.graph->constant_value(e.ref);
        if (std::abs(R.m[i]) < 4e-15) R.m[i] = 0.0;
    }
    return R;
}

Vec3 position_number(const JointTransform& transform) {
    const auto value = [](Expression e) { return e.graph->constant_value(e.ref); };
    return {value(transform.position.x), value(transform.position.y), value(transform.position.z)};
}

TransformFactors factors_of(Graph& graph, const JointTransform& transform, const std::vector<Expression>& symbols,
                            const std::vector<double>& start, std::size_t coordinates) {
    return Factoring(graph, transform, symbols, start, coordinates).run();
}

}  // namespace bellcrank::symbolic
