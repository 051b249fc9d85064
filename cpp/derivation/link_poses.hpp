// Poses of links as expressions, as far as somebody asks for them.
#pragma once

#include <map>
#include <optional>

#include "derivation/mechanism.hpp"

namespace bellcrank::symbolic {

struct Pose {
    Matrix rotation;
    Vector position;
};

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
    // Of a place's axes to those of a link that it hangs on; its sign may jump where a link is given by a matrix.
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
