// Which shapes of which bodies may touch, and by what law.
#pragma once

#include <utility>
#include <vector>

#include "contacts/contact_law.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

struct BodyShape {
    SharedShape shape;
    int body;        // the ground is the last one
    Pose on_body;    // of the shape's axes, from the centre of mass in principal axes
    double size = 0.0;  // the farthest point of the shape from its own origin
};

// Shapes of different bodies of a group touch each other, but for pairs of bodies that are kept apart.
struct ContactGroup {
    ContactLaw law;
    std::vector<int> shapes;
    std::vector<std::pair<int, int>> apart;  // bodies i < j
};

struct ContactSet {
    std::vector<BodyShape> shapes;
    std::vector<ContactGroup> groups;

    int ground = 0;  // the number of bodies

    bool empty() const { return groups.empty(); }
};

}  // namespace bellcrank
