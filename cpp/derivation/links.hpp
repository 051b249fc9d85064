// A kinematic tree as links: each joint is a product of elementary transforms, and each elementary transform is a link
// of its own (docs/theory/symbolic.md). Links between the elementary transforms of one joint have no mass.
//
// A link's frame comes from its parent's by: the constant offset, the constant setting (turns, outermost first), and
// then its motion. Parents precede their children.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "derivation/algebra.hpp"

namespace bellcrank::symbolic {

// How fast an axis moves for a speed: ∂(rate)/∂u.
struct Share {
    int speed;
    Expression factor;
};

// One direction of motion of a link: turn and slide have one, ball three (x, y, z), general as many as columns. Its
// rate is Σ factor u + drift, drift being what an explicit dependence on time adds.
struct Axis {
    int link;
    int number;  // among those of its link
    std::vector<Share> shares;
    Expression rate, acceleration;
    Expression bias;         // acceleration without that of the speeds
    Vector angular, linear;  // general: ω in the link's axes and velocity of its origin in the joint frame's, per rate
    Vector angular_rate, linear_rate;
};

// Mass properties in a frame: mass, first moments m c, second moments ∫ r rᵀ dm about the origin.
struct Moments {
    Expression mass;
    Vector first;
    Symmetric second;
};

// It turns, slides, is a ball, or is general: screws and free bodies are taken apart, swings given by matrices.
struct Link {
    int parent;  // −1: the base
    Vector offset;
    std::vector<Turn> setting;
    Motion motion;
    Expression position;           // slide: travel; turn: angle, that of the chosen frames
    Turn turn;                     // turn
    QuatT<Expression> quaternion;  // ball, general: no graph where it is to be found from the matrix
    Matrix rotation;               // ball, general: the link's axes → the joint frame's
    Vector shift;                  // general: origin in the joint frame
    int first_axis = 0, axes = 0;
    Moments moments, lumped;
};

// Symbols of a generated form, and how fast each coordinate changes.
struct Symbols {
    Expression time;
    std::vector<Expression> coordinates;       // q, quaternions included
    std::vector<Expression> coordinate_rates;  // q̇ in terms of q and u
    std::vector<Expression> speeds;            // u
    std::vector<Expression> accelerations;     // u̇
    std::vector<int> speed_of;                 // coordinate → its speed, −1 for components of a quaternion
};

struct LinkTree {
    Graph* graph = nullptr;
    Vector gravity;  // base axes
    std::vector<Link> links;
    std::vector<Axis> axes;
    Symbols symbols;

    int speeds() const { return static_cast<int>(symbols.speeds.size()); }
    bool is_shared() const;  // some axis does not simply move at one speed
    bool is_simple() const;  // all links turn or slide and none is shared
    Expression number(double value) const { return constant(*graph, value); }
};

// Frame changes along a link, without its motion and with it.
Vector to_joint(const Link& link, const Vector& v);       // parent's axes → joint frame's
Vector from_joint(const Link& link, const Vector& v);     // joint frame's → parent's
Vector across_motion(const Link& link, const Vector& v);  // joint frame's → the link's
Vector before_motion(const Link& link, const Vector& v);  // the link's → joint frame's
Vector to_link(const Link& link, const Vector& v);
// Origin of the link from that of its joint frame, in the joint frame's axes.
Vector displacement(const LinkTree& tree, const Link& link);

// Mass properties of the body seen from a point at −shift, same axes.
Moments shifted(const Moments& m, const Vector& shift);
Moments& operator+=(Moments& a, const Moments& b);

// Moves to the parent what moves with it alike: of a turn, the thin rod on its axis; of a slide, the second moments; of
// a ball, the mass at its centre. Generalized forces stay the same; reactions and energies of single bodies do not.
void lump(LinkTree& tree);

struct Pose {
    Matrix rotation;
    Vector position;
};

// Poses of links as expressions, each made when it is asked for.
class LinkPoses {
  public:
    explicit LinkPoses(const LinkTree& tree) : tree_(tree) {}

    // Pose of a link in the axes of another that it hangs on, −1 being the ground.
    Pose pose(int ancestor, int link);
    // Pose of a place on a link.
    Pose pose(int ancestor, const BodyPlace& place);
    // The second place seen from the first.
    Pose between(const BodyPlace& first, const BodyPlace& second);
    QuatT<Expression> quaternion_between(const BodyPlace& first, const BodyPlace& second);
    // Angular velocities of all links in their own axes.
    const std::vector<Vector>& angular_velocities();
    // Takes a place's axes to those of a link that it hangs on; its sign may jump where a link is given by a matrix.
    QuatT<Expression> quaternion(int ancestor, const BodyPlace& place);

  private:
    int common_ancestor(int a, int b) const;
    Pose step(const Link& link) const;
    QuatT<Expression> quaternion_step(const Link& link) const;

    const LinkTree& tree_;
    std::map<std::pair<int, int>, Pose> poses_;
    std::vector<Vector> angular_;
};

}  // namespace bellcrank::symbolic
