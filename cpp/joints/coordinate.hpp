// Coordinates: scalar functions of the relative pose of a marker pair, the one concept behind joints, drives, limits,
// couplings and force laws. One file per kind; each registers itself by name, with its value and derivatives along a
// motion and its formula for formulations that derive their equations. joints/formula.hpp makes both from one formula.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "spatial/algebra.hpp"
#include "spatial/dual.hpp"

namespace bellcrank {

// Motion of marker 2 seen from marker 1, in marker-1 axes.
template <class S>
struct RelativeMotionT {
    Vec3T<S> r;      // position of origin 2 [m]
    QuatT<S> q;      // marker-2 axes to marker-1 axes
    Vec3T<S> rdot;   // time derivative of r [m/s]
    Vec3T<S> omega;  // angular velocity of marker 2 relative to marker 1 [rad/s]; q̇ = ½ ω q
};
using RelativeMotion = RelativeMotionT<double>;

// Value and derivatives of a coordinate φ along a motion:
//   φ̇ = dr·ṙ + domega·ω,   φ̈ = dr·r̈ + domega·ω̇ + quadratic.
template <class S>
struct CoordinateValueT {
    S value;
    Vec3T<S> dr;
    Vec3T<S> domega;
    S quadratic;
};
using CoordinateValue = CoordinateValueT<double>;

// The pose of marker 2 seen from marker 1 as expressions. Only the parts that a formula asks for are derived.
class SymbolicPose {
  public:
    virtual ~SymbolicPose() = default;
    virtual const Vec3T<Expression>& position() = 0;
    virtual const Mat3T<Expression>& rotation() = 0;
    virtual const QuatT<Expression>& quaternion() = 0;

    Expression position(int axis) { return axis == 0 ? position().x : axis == 1 ? position().y : position().z; }
    Expression cosine(int i, int j) { return rotation().m[3 * i + j]; }
    Expression quaternion(int k) {
        const QuatT<Expression>& q = quaternion();
        return k == 0 ? q.w : k == 1 ? q.x : k == 2 ? q.y : q.z;
    }
};

template <class S>
using CoordinateFunction = void (*)(const RelativeMotionT<S>& motion, std::span<const S> params,
                                    CoordinateValueT<S>& out);
using CoordinateFormula = Expression (*)(SymbolicPose& pose, std::span<const Expression> params);

// Throws std::invalid_argument that says what is wrong with the parameters.
using CoordinateCheck = void (*)(std::span<const double> params);

// Angles are defined up to multiples of 2π; the caller follows the branch.
enum class Angle {
    none,
    of_bodies,  // changes by whole turns only with the bodies' relative rotation
    of_points   // a direction: points that move change it though no body turns
};

struct CoordinateKind {
    std::string name;
    CoordinateFunction<double> evaluate;
    CoordinateFunction<Dual4> tangent;  // the same with derivatives along directions of motion and parameters
    CoordinateFormula formula;          // null: formulations that derive their equations refuse the coordinate
    Angle angle = Angle::none;
    CoordinateCheck check = nullptr;  // null: the kind takes no parameters

    bool angular() const { return angle != Angle::none; }
};

// Adds a kind to the registry; meant for static initialisation in the kind's own file. A name taken twice is a
// std::logic_error.
struct CoordinateRegistration {
    explicit CoordinateRegistration(CoordinateKind kind);
};

// The kind of that name; throws std::invalid_argument that lists the known names.
const CoordinateKind& coordinate_kind(const std::string& name);

// Throws std::invalid_argument if the parameters do not suit the kind. To be called once, before any evaluation:
// evaluate trusts its parameters.
void check_coordinate(const CoordinateKind& kind, std::span<const double> params);

// All registered kinds, by name.
std::vector<CoordinateKind> coordinate_kinds();

}  // namespace bellcrank
