// Closest point of a cubic spline curve. With D(u) = ½|p(u) − r|²,
//   g = D' = (p − r)·p',   D'' = p'·p' + (p − r)·p''.
#include "joints/spline_curve.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace bellcrank {

namespace {

double absolute_sum(const Vec3& a) { return std::abs(a.x) + std::abs(a.y) + std::abs(a.z); }

template <class T>
T slope(const CurvePointT<T>& c, const Vec3T<T>& r) {
    return dot(c.p - r, c.d1);
}

template <class T>
T curvature(const CurvePointT<T>& c, const Vec3T<T>& r) {
    return dot(c.d1, c.d1) + dot(c.p - r, c.d2);
}

}  // namespace

// The best point so far: its parameter, piece, and squared distance.
template <class S>
struct SplineCurveT<S>::Candidate {
    double u, square;
    int piece;
};

// A part of a piece, halved depth times from the whole.
template <class S>
struct SplineCurveT<S>::Stretch {
    int piece, depth;
    double low, high;
};

template <class S>
template <class T>
CurvePointT<T> SplineCurveT<S>::on_piece(int piece, const T& u) const {
    const Vec3T<T> a1 = coefficient<T>(piece, 1), a2 = coefficient<T>(piece, 2), a3 = coefficient<T>(piece, 3);
    const T h = u - knot<T>(piece);
    CurvePointT<T> c;
    c.u = u;
    c.p = coefficient<T>(piece, 0) + h * (a1 + h * (a2 + h * a3));
    c.d1 = a1 + h * (2.0 * a2 + (3.0 * h) * a3);
    c.d2 = 2.0 * a2 + (6.0 * h) * a3;
    c.d3 = 6.0 * a3;
    return c;
}

template <class S>
template <class T>
CurvePointT<T> SplineCurveT<S>::at(T u) const {
    if (closed()) {
        const T period = end<T>() - start<T>();
        u = u - std::floor(value_part((u - start<T>()) / period)) * period;
        if (u >= end<T>()) u = start<T>();
    } else if (u < start<T>() || u > end<T>()) {
        const bool before = u < start<T>();
        const CurvePointT<T> edge = before ? on_piece<T>(0, start<T>()) : on_piece<T>(count() - 1, end<T>());
        return {u, edge.p + (u - edge.u) * edge.d1, edge.d1, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    }
    int low = 0, high = count();  // knots below u or at it, and above it
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (u < knot<T>(middle) ? high : low) = middle;
    }
    return on_piece<T>(low, u);
}

// Branch and bound inside one piece. About the middle c of a stretch of half-width w the derivatives are bounded by
//   |p' − p'(c)| ≤ turn = w |p''(c)| + ½ w² |p'''|,   |p''| ≤ |p''(c)| + w |p'''|,   |p − p(c)| ≤ w (|p'(c)| + turn).
// A stretch is dropped if it cannot come closer than the best point so far, and halved until D is surely convex on it;
// then a change of g from − to + encloses its one minimum. The limit of depth ends the halving near centres of
// curvature, where D is flat.
template <class S>
void SplineCurveT<S>::search(const Stretch& stretch, const Vec3& r, Candidate& best) const {
    constexpr int depth_limit = 8;
    const double width = 0.5 * (stretch.high - stretch.low), middle = stretch.low + width;
    const CurvePoint c = on_piece(stretch.piece, middle);
    const double square = dot(c.p - r, c.p - r), distance = std::sqrt(square);
    if (square < best.square) best = {middle, square, stretch.piece};
    const double speed = norm(c.d1), bend = norm(c.d2), jerk = norm(c.d3);
    const double turn = width * (bend + 0.5 * width * jerk), reach = width * (speed + turn);
    if (distance > reach && (distance - reach) * (distance - reach) > best.square) return;
    const double least_speed = std::max(speed - turn, 0.0);
    const bool convex = least_speed * least_speed > (distance + reach) * (bend + width * jerk);
    if (convex || stretch.depth == depth_limit) {
        refine(stretch, r, best);
        return;
    }
    const Stretch before{stretch.piece, stretch.depth + 1, stretch.low, middle};
    const Stretch after{stretch.piece, stretch.depth + 1, middle, stretch.high};
    const bool downhill = slope(c, r) < 0.0;
    search(downhill ? after : before, r, best);
    search(downhill ? before : after, r, best);
}

// Newton's method, kept inside its bracket by bisection.
template <class S>
void SplineCurveT<S>::refine(const Stretch& stretch, const Vec3& r, Candidate& best) const {
    double low = stretch.low, high = stretch.high, u = 0.5 * (low + high);
    if (slope(on_piece(stretch.piece, low), r) > 0.0 || slope(on_piece(stretch.piece, high), r) < 0.0) return;
    const double tolerance = 4e-16 * (std::abs(low) + std::abs(high));
    for (int iteration = 0; iteration < 100 && high - low > tolerance; ++iteration) {
        const CurvePoint c = on_piece(stretch.piece, u);
        const double g = slope(c, r), step = -g / curvature(c, r);
        if (std::abs(step) <= tolerance) break;
        (g > 0.0 ? high : low) = u;
        const bool inside = u + step > low && u + step < high;
        u = inside ? u + step : 0.5 * (low + high);
    }
    const Vec3 away = on_piece(stretch.piece, u).p - r;
    if (dot(away, away) <= best.square) best = {u, dot(away, away), stretch.piece};
}

template <class S>
CurvePoint SplineCurveT<S>::closest_in_numbers(const Vec3& r) const {
    const int n = count();
    const Vec3 last = on_piece(n - 1, end<double>()).p - r;
    Candidate best{end<double>(), dot(last, last), n - 1};
    for (int i = 0; i < n; ++i) {
        const Vec3 away = coefficient<double>(i, 0) - r;
        if (dot(away, away) < best.square) best = {knot<double>(i), dot(away, away), i};
    }
    for (int i = 0; i < n; ++i) {
        // No point of the piece is farther than `reach` from its first knot.
        const double h = knot<double>(i + 1) - knot<double>(i);
        const double reach =
            h * (absolute_sum(coefficient<double>(i, 1)) +
                 h * (absolute_sum(coefficient<double>(i, 2)) + h * absolute_sum(coefficient<double>(i, 3))));
        const double gap = norm(coefficient<double>(i, 0) - r) - reach;
        if (gap <= 0.0 || gap * gap <= best.square) search({i, 0, knot<double>(i), knot<double>(i + 1)}, r, best);
    }
    CurvePoint c = on_piece(best.piece, best.u);
    if (!closed() && (best.u == start<double>() || best.u == end<double>())) {
        const double g = slope(c, r);
        if (best.u == start<double>() ? g > 0.0 : g < 0.0) return at(best.u - g / dot(c.d1, c.d1));
    }
    // A minimum on a knot may have been taken as the knot itself; one step more settles the last digits.
    const double step = slope(c, r) / curvature(c, r);
    const double h = knot<double>(best.piece + 1) - knot<double>(best.piece);
    return std::abs(step) < 1e-3 * h ? at(best.u - step) : at(best.u);
}

// g(u, r) = 0 defines u(r): its derivatives are those of one step of Newton's method from the number found.
template <class S>
CurvePointT<S> SplineCurveT<S>::closest(const Vec3T<S>& r) const {
    const CurvePoint found = closest_in_numbers({value_part(r.x), value_part(r.y), value_part(r.z)});
    if constexpr (std::is_same_v<S, double>) {
        return found;
    } else {
        const CurvePointT<S> c = at<S>(found.u);
        const S step = slope(c, r) / curvature(c, r);
        return at<S>(found.u - (step - step.value));
    }
}

template class SplineCurveT<double>;
template class SplineCurveT<Dual4>;

// What the parameters of a spline curve must be.

namespace {

constexpr int samples = 8;  // a piece
constexpr double least_sine = 1e-3;

[[noreturn]] void fault(const std::string& what) { throw std::invalid_argument("spline curve: " + what); }

template <class Visit>
void sample_tangents(const SplineCurve& curve, Visit visit) {
    for (int i = 0; i < curve.count(); ++i) {
        const double a = curve.knot(i), b = curve.knot(i + 1);
        for (int j = 0; j <= samples; ++j) visit(curve.on_piece(i, a + (b - a) * j / samples));
    }
}

// The least sine of the angle between a tangent and the unit vector b.
double clearance(const SplineCurve& curve, const Vec3& b) {
    double least = 1.0;
    sample_tangents(curve, [&](const CurvePoint& c) {
        const double sine = norm(cross(b, c.d1)) / norm(c.d1);
        if (!(sine >= least)) least = sine;
    });
    return least;
}

void check_shape(std::span<const double> params) {
    if (params.size() < 5) fault("the parameters start with closed, pieces, reference direction (3)");
    if (params[0] != 0.0 && params[0] != 1.0) fault("'closed' is neither 0 nor 1");
    if (!(params[1] >= 1.0 && params[1] <= 1e8 && params[1] == std::floor(params[1])))
        fault("number of pieces " + std::to_string(params[1]) + " is not positive");
    const auto n = static_cast<std::size_t>(params[1]);
    if (params.size() != 6 + 13 * n)
        fault(std::to_string(n) + " pieces need " + std::to_string(6 + 13 * n) + " parameters, " +
              std::to_string(params.size()) + " given");
    for (const double v : params)
        if (!std::isfinite(v)) fault("a parameter is not finite");
    for (std::size_t i = 0; i < n; ++i)
        if (!(params[5 + i] < params[6 + i]))
            fault("break " + std::to_string(i + 1) + " does not exceed the one before it");
}

// Position and tangent of piece `first` at its end must be those of piece `second` at its start.
void check_joint(const SplineCurve& curve, int first, int second) {
    const double u = curve.knot(first + 1);
    const CurvePoint a = curve.on_piece(first, u), b = curve.on_piece(second, curve.knot(second));
    const double h = u - curve.knot(first);
    const double size = h * (norm(a.d1) + norm(b.d1)) + 1e-9 * (norm(a.p) + norm(b.p));
    if (norm(a.p - b.p) > 1e-6 * size) fault("it has a gap at u = " + std::to_string(u));
    if (norm(a.d1 - b.d1) > 1e-6 * (norm(a.d1) + norm(b.d1))) fault("it has a kink at u = " + std::to_string(u));
}

void check_geometry(const SplineCurve& curve) {
    sample_tangents(curve, [](const CurvePoint& c) {
        if (!(norm(c.d1) > 0.0)) fault("its tangent vanishes at u = " + std::to_string(c.u));
    });
    for (int i = 0; i + 1 < curve.count(); ++i) check_joint(curve, i, i + 1);
    if (curve.closed()) check_joint(curve, curve.count() - 1, 0);
}

}  // namespace

void check_curve(std::span<const double> params) {
    check_shape(params);
    const SplineCurve curve(params);
    check_geometry(curve);
    const Vec3 b = curve.reference();
    if (std::abs(norm(b) - 1.0) > 1e-9) fault("the reference direction is not a unit vector");
    if (!(clearance(curve, b) > least_sine)) fault("a tangent is parallel to the reference direction");
}

}  // namespace bellcrank
