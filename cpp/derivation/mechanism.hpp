// A model as a tree of links, with what leads from body states to coordinates and back.
#pragma once

#include <map>

#include "derivation/couplings.hpp"
#include "derivation/tree.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank::symbolic {

// The coordinates of a joint as expressions; no graph: there is none; no symbol: it follows others.
struct JointMap : bellcrank::JointMap {
    Expression slide_value[3], turn_value[2];
    Quat free{1, 0, 0, 0};  // of a body that hangs on nothing: axes that are followed → body axes
};

class MechanismTree {
  public:
    // `whole`: joints given by formulas are not taken apart.
    MechanismTree(Graph& graph, const Model& model, const Numbers& numbers, JointTree plan, bool whole = false);

    // The marker of a pair: its body's link, and its pose there (chosen frames).
    BodyPlace marker(int pair, int side) const;
    // The same for a marker that formulas speak of, and for a frame given in the frame of a body.
    BodyPlace marker(const MarkerSymbols& marker) const;
    BodyPlace on_body(int body, const Place& at) const;
    // The com of a body in the body's frame.
    Vector com(int body) const;
    // The symbol behind a coordinate of a joint of the tree; no graph if there is none.
    Expression own_coordinate(const Coordinate& coordinate) const;

    Graph& graph;
    const Model& model;
    const Numbers& numbers;
    JointTree plan;
    Couplings couplings;
    TreeDescription description;
    LinkTree tree;
    std::vector<BodyPlace> bodies;  // the bodies' frames, and the ground's
    std::vector<JointMap> joints;

  private:
    struct Builder;
    Expression followed(int coordinate) const;
    Symmetric inertia(int body) const;               // about the com, body axes
    Place marker_on_body(int pair, int side) const;  // in its body's frame
    Vector marker_shift(int pair, int side) const;
    Matrix marker_turn(int pair, int side) const;
    bool follows_turn(int pair, int side) const;  // whether its rotation follows parameters
    Vector formula_marker_shift(const MarkerSymbols& marker) const;
    Matrix formula_marker_turn(const MarkerSymbols& marker) const;

    std::map<const MarkerSymbols*, int> formula_markers_;  // their numbers: of constraints, then of forces
    std::map<int, BodyPlace> turned_markers_, turned_formula_markers_;
};

}  // namespace bellcrank::symbolic
