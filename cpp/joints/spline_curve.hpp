// A space curve made of cubics, given in marker-1 axes by flat parameters, and its closest point.
//
// Parameters: closed (0 or 1), pieces n, reference direction b (3), breaks[n+1] (increasing), then per piece the
// vectors a0, a1, a2, a3 (12 numbers):  p(u) = a0 + a1 h + a2 h² + a3 h³,  h = u − break. Tangents must be continuous;
// second derivatives should be (a C2 spline), since forces jump where they do not. An open curve goes on beyond its
// ends along its end tangents; a closed one repeats with the period break[n] − break[0].
//
// The normals at a point with unit tangent t are n1 = b×t/|b×t| and n2 = t×n1, smooth as long as no tangent is parallel
// to b. A curve's tangents fill a line on the sphere of directions, so that such a b exists; who makes the parameters
// chooses one far from all tangents. For a plane curve the plane's normal is best: n1 is then the normal in the plane,
// n2 = b.
#pragma once

#include <span>

#include "spatial/algebra.hpp"

namespace bellcrank {

// Position and derivatives by the parameter.
struct CurvePoint {
    double u;
    Vec3 p, d1, d2, d3;
};

class SplineCurve {
  public:
    explicit SplineCurve(std::span<const double> params) : p_(params.data()) {}

    bool closed() const { return p_[0] != 0.0; }
    int count() const { return static_cast<int>(p_[1]); }
    Vec3 reference() const { return {p_[2], p_[3], p_[4]}; }
    const double* breaks() const { return p_ + 5; }
    double start() const { return breaks()[0]; }
    double end() const { return breaks()[count()]; }
    Vec3 coefficient(int piece, int power) const {
        const double* a = p_ + 6 + count() + 12 * piece + 3 * power;
        return {a[0], a[1], a[2]};
    }

    // The point of that piece's cubic, also beyond the piece.
    CurvePoint on_piece(int piece, double u) const;

    // The point at any parameter; that of a closed curve is first moved into [start, end).
    CurvePoint at(double u) const;

    // The point closest to r, over the whole curve. Where several are equally close (centres of curvature, crossings of
    // the curve with itself) it is one of them.
    CurvePoint closest(const Vec3& r) const;

  private:
    struct Candidate;
    struct Stretch;
    void search(const Stretch& stretch, const Vec3& r, Candidate& best) const;
    void refine(const Stretch& stretch, const Vec3& r, Candidate& best) const;

    const double* p_;
};

// Throws std::invalid_argument that says what is wrong: sizes, breaks, a kink, a tangent that vanishes or is parallel
// to the reference direction.
void check_curve(std::span<const double> params);

}  // namespace bellcrank
