// Builds a tree of links from a description: coordinates, elementary transforms, mass properties.
#pragma once

#include <string>

#include "derivation/frames.hpp"

namespace bellcrank::symbolic {

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

    DescribedLink& add_link(int parent, Motion motion, const Mat3& rotation, const Vector& offset);

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
