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
#include <type_traits>

#include "spatial/algebra.hpp"
#include "spatial/dual.hpp"

namespace bellcrank {

// Position and derivatives by the parameter.
template <class T>
struct CurvePointT {
    T u;
    Vec3T<T> p, d1, d2, d3;
};
using CurvePoint = CurvePointT<double>;

// S: the scalar of its parameters. What takes a T is evaluated in numbers alone, or with derivatives.
template <class S>
class SplineCurveT {
  public:
    explicit SplineCurveT(std::span<const S> params) : p_(params.data()) {}

    bool closed() const { return value_part(p_[0]) != 0.0; }
    int count() const { return static_cast<int>(value_part(p_[1])); }
    template <class T = S>
    Vec3T<T> reference() const {
        return vector<T>(p_ + 2);
    }
    template <class T = S>
    T knot(int i) const {
        return number<T>(p_[5 + i]);
    }
    template <class T = S>
    T start() const {
        return knot<T>(0);
    }
    template <class T = S>
    T end() const {
        return knot<T>(count());
    }
    template <class T = S>
    Vec3T<T> coefficient(int piece, int power) const {
        return vector<T>(p_ + 6 + count() + 12 * piece + 3 * power);
    }

    // The point of that piece's cubic, also beyond the piece.
    template <class T>
    CurvePointT<T> on_piece(int piece, const T& u) const;

    // The point at any parameter; that of a closed curve is first moved into [start, end).
    template <class T>
    CurvePointT<T> at(T u) const;

    // The point closest to r, over the whole curve. Where several are equally close (centres of curvature, crossings of
    // the curve with itself) it is one of them.
    CurvePointT<S> closest(const Vec3T<S>& r) const;

  private:
    struct Candidate;
    struct Stretch;
    template <class T>
    static T number(const S& a) {
        if constexpr (std::is_same_v<T, S>)
            return a;
        else
            return value_part(a);
    }
    template <class T>
    static Vec3T<T> vector(const S* a) {
        return {number<T>(a[0]), number<T>(a[1]), number<T>(a[2])};
    }
    CurvePoint closest_in_numbers(const Vec3& r) const;
    void search(const Stretch& stretch, const Vec3& r, Candidate& best) const;
    void refine(const Stretch& stretch, const Vec3& r, Candidate& best) const;

    const S* p_;
};
using SplineCurve = SplineCurveT<double>;

// Throws std::invalid_argument that says what is wrong: sizes, breaks, a kink, a tangent that vanishes or is parallel
// to the reference direction.
void check_curve(std::span<const double> params);

}  // namespace bellcrank
