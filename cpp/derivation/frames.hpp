// From links in the frames of a description to links in frames that cost the least.
#pragma once

#include "derivation/links.hpp"
#include "trees/place.hpp"

namespace bellcrank::symbolic {

// A link as described: its joint frame lies at `placement` in the parent's frame, its mass in its own frame.
struct DescribedLink {
    int parent;
    Mat3 rotation;
    Vector offset;
    Motion motion;
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

struct ChosenFrames {
    std::vector<Link> links;
    std::vector<bellcrank::Place> placements;  // of each chosen frame in the described one
};

// Frames with z on the inboard axis and x on the common normal to the first outboard one, as J. Denavit and
// R. Hartenberg chose them; angle offsets go into sine and cosine. Where lengths are parameters rather than numbers,
// origins stay where they are described. `keep`: frames as described.
ChosenFrames choose_frames(Graph& graph, const std::vector<DescribedLink>& described, bool keep = false);

}  // namespace bellcrank::symbolic
