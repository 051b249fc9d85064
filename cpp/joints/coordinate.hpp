// Coordinates: scalar functions of the relative pose of a marker pair, the one concept behind joints, drives, limits,
// couplings and force laws. One file per kind; each registers itself by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spatial/algebra.hpp"

namespace bellcrank {

// Motion of marker 2 seen from marker 1, in marker-1 axes.
struct RelativeMotion {
    Vec3 r;      // position of origin 2 [m]
    Quat q;      // marker-2 axes to marker-1 axes
    Vec3 rdot;   // time derivative of r [m/s]
    Vec3 omega;  // angular velocity of marker 2 relative to marker 1 [rad/s]; q̇ = ½ ω q
};

// Value and derivatives of a coordinate φ along a motion:
//   φ̇ = dr·ṙ + domega·ω,   φ̈ = dr·r̈ + domega·ω̇ + quadratic.
struct CoordinateValue {
    double value;
    Vec3 dr;
    Vec3 domega;
    double quadratic;
};

using CoordinateFunction = void (*)(const RelativeMotion& motion, std::span<const double> params, CoordinateValue& out);

// Throws std::invalid_argument that says what is wrong with the parameters.
using CoordinateCheck = void (*)(std::span<const double> params);

struct CoordinateKind {
    std::string name;
    CoordinateFunction evaluate;
    bool angular;           // defined up to multiples of 2π; the caller follows the branch
    CoordinateCheck check;  // null: the kind takes no parameters
};

// Adds a kind to the registry; meant for static initialisation in the kind's own file. A name taken twice is a
// std::logic_error.
struct CoordinateRegistration {
    CoordinateRegistration(std::string name, CoordinateFunction evaluate, bool angular = false,
                           CoordinateCheck check = nullptr);
};

// The kind of that name; throws std::invalid_argument that lists the known names.
const CoordinateKind& coordinate_kind(const std::string& name);

// Throws std::invalid_argument if the parameters do not suit the kind. To be called once, before any evaluation:
// evaluate trusts its parameters.
void check_coordinate(const CoordinateKind& kind, std::span<const double> params);

// All registered kinds, by name.
std::vector<CoordinateKind> coordinate_kinds();

}  // namespace bellcrank
