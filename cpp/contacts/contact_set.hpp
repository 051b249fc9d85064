// Which shapes of which bodies may touch, and by what law.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "contacts/contact_law.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

struct BodyShape {
    SharedShape shape;
    int body;      // the ground is the last one
    Pose on_body;  // of the shape's axes, from the centre of mass in principal axes
};

// Shapes of different bodies of a group touch each other, but for pairs of bodies that are kept apart. In the group of
// a tyre, its first shape, all others touch that one alone: as one ground, so that a slice presses on what it meets
// first.
struct ContactGroup {
    ContactLaw law;
    std::vector<int> bodies;  // as results list them
    std::vector<int> shapes;
    std::vector<std::pair<int, int>> apart;  // bodies i < j
    bool of_tyre = false;
    ContactLaw rim = law.of_rim();
};

struct ContactSet {
    std::vector<BodyShape> shapes;
    std::vector<ContactGroup> groups;

    int ground = 0;        // the number of bodies
    double gravity = 0.0;  // m/s²

    bool empty() const { return groups.empty(); }
    // What gaps and ways of two shapes that touch are small against: how far the smaller one reaches [m]. So a
    // scene in micrometres moves as it does in metres.
    double size(int a, int b) const { return std::min(size(a), size(b)); }
    double size(int a) const { return std::min(2.0 * shapes[a].shape->reach_out, kBoundless); }
    // The same of speeds: that of a fall by the size, or ten sizes a second [m/s]; about 1 for shapes of 0.1 m.
    double speed(int a, int b) const { return speed(size(a, b)); }
    double speed(double size) const { return std::max(std::sqrt(gravity * size), 10.0 * size); }
    // The size of the largest shape that moves; 0 if there is none.
    double largest_size() const {
        double largest = 0.0;
        for (size_t i = 0; i < shapes.size(); ++i)
            if (shapes[i].body != ground && shapes[i].shape->reach_out < Bounds::kInfinity)
                largest = std::max(largest, size(static_cast<int>(i)));
        return largest;
    }
    static constexpr double kBoundless = 1e3;  // planes and height fields, which decide nothing beside another shape
    // The group in which two shapes touch, −1: in none.
    int group_of(int a, int b) const {
        const auto has = [](const ContactGroup& group, int shape) {
            return std::find(group.shapes.begin(), group.shapes.end(), shape) != group.shapes.end();
        };
        const auto found =
            std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return has(g, a) && has(g, b); });
        return found == groups.end() ? -1 : static_cast<int>(found - groups.begin());
    }
};

}  // namespace bellcrank
