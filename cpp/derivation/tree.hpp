// Builds a tree of links from a description: coordinates, elementary transforms, mass properties.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "derivation/links.hpp"

namespace bellcrank::symbolic {

// A link as described, its mass in its own frame.
struct DescribedLink : LinkOf<Vector> {
    Expression position;             // turn, slide
    std::array<Expression, 4> ball;  // its quaternion: the link's axes → the parent's, in chosen frames
    int first_speed = -1;            // ball, swing
    Matrix matrix;                   // general
    Vector shift;
    QuatT<Expression> swing;  // general: the quaternion of `matrix` where first_speed ≥ 0, and its angular velocity
    Vector columns[2];        // for the units of both speeds, the link's axes
    // Bodies fixed to the link: mass, com, inertia about it.
    struct Part {
        Expression mass;
        Vector com;
        Symmetric inertia;
    };
    std::vector<Part> parts;

    void add(Expression mass, const Vector& com, const Symmetric& inertia) { parts.push_back({mass, com, inertia}); }
};

class TreeDescription {
  public:
    explicit TreeDescription(Graph& graph);

    // A coordinate of its own speed; returns its number among the coordinates.
    int add_coordinate(const std::string& name, Interval range = {});
    int speeds() const { return static_cast<int>(symbols.speeds.size()); }
    // Four coordinates (a quaternion) and three speeds (angular velocity); returns the number of the first coordinate.
    int add_quaternion(const std::string& name);
    // Four coordinates (the quaternion of a shaft, spatial/swing.hpp) and two speeds, for a joint that does not turn
    // about `held`; returns the number of the first coordinate.
    int add_shaft(const std::string& name, int held);

    DescribedLink& add_link(int parent, Motion motion, const Place& at);

    // `keep`: frames as described instead of chosen ones.
    LinkTree tree(bool keep = false);
    const std::vector<bellcrank::Place>& placements() const { return placements_; }

    Graph& graph;
    Vector gravity;
    Symbols symbols;
    std::vector<DescribedLink> links;

  private:
    int add_components(const std::string& name, const Vector& half_velocity);

    std::vector<bellcrank::Place> placements_;  // of the tree built last
};

// d/dt of expressions of time, coordinates and speeds.
std::vector<Expression> time_derivatives(const Symbols& symbols, const std::vector<Expression>& values,
                                         bool accelerated);

}  // namespace bellcrank::symbolic
