// What the parameters of a spline curve must be.
#include <cmath>
#include <stdexcept>
#include <string>

#include "joints/spline_curve.hpp"

namespace bellcrank {

namespace {

constexpr int samples = 8;  // a piece
constexpr double least_sine = 1e-3;

[[noreturn]] void fault(const std::string& what) { throw std::invalid_argument("spline curve: " + what); }

template <class Visit>
void sample_tangents(const SplineCurve& curve, Visit visit) {
    for (int i = 0; i < curve.count(); ++i) {
        const double a = curve.breaks()[i], b = curve.breaks()[i + 1];
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
    const double u = curve.breaks()[first + 1];
    const CurvePoint a = curve.on_piece(first, u), b = curve.on_piece(second, curve.breaks()[second]);
    const double h = u - curve.breaks()[first];
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
