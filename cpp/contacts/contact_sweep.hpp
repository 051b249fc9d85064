// The time until which shapes of a contact set cannot begin to touch, while they move from one state to another.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "contacts/contact_search.hpp"
#include "geometry/collide.hpp"

namespace bellcrank {

// Conservative advancement (B. Mirtich, Impulse-based dynamic simulation of rigid body systems, 1996): a gap g lasts at
// least g/v, where no points of the two shapes approach each other faster than v. Seen from shape b, those of shape a,
// of radius R, have at most the speed |v| + |ω| R, with the velocity v of its centre and the angular velocity ω.
//
// So no step is so long that a body gets through another one, or through a corner of it, unnoticed. Speeds are those at
// the ends of the step, widened by half of what they change.
class ContactSweep {
  public:
    using Touching = std::span<const std::pair<int, int>>;  // shapes, sorted

    explicit ContactSweep(const ContactSet& set);

    // The motion goes on from another state: distances found before mean nothing.
    void forget();
    // Whether bodies with these twists move so little in the time h that nothing begins and ends meanwhile.
    bool is_short(double h, const double* twists) const;
    // A step to this state of the bodies (spatial/body_state.hpp), and then: from that one. Pairs of shapes that touch
    // there are not looked at.
    void to(double t, const double* poses, const double* twists);
    void from(double t, const double* poses, const double* twists, Touching touching);
    // The time until which no other pair begins to touch, where bodies have these poses at t; the step's end where none
    // does. Very small gaps last for as long as it takes to get on by a little.
    double apart_until(double t, const double* poses);
    // For those who do not look within a step: the part of a step of length h from this state on within which no shape
    // gets far into another one that it may hit, and none through.
    double longest_step(double t, double h, const double* poses, const double* twists, Touching touching);

  private:
    struct Motion {
        Vec3 position, velocity, angular_velocity;  // of a shape's origin, world axes
    };
    struct Gap {
        double speed, least;  // a bound on how fast it closes; what is left of the least that it can be
        bool looked_at;       // in this step
    };
    void place(const double* poses, const double* twists, std::vector<Motion>& motions);
    double closing_speed(const ShapePair& pair, const std::vector<Motion>& motions) const;
    double size(const ShapePair& pair) const;
    double finest(const ShapePair& pair) const;
    void sweep();
    void pair_up(Touching touching);
    double fastest(const double* twists) const;
    void pass(double time);
    double measure(const ShapePair& pair, double reach);

    const ContactSet& set_;
    std::vector<double> reach_;  // of each shape from its body's centre of mass; 0 where it is infinite
    double least_stride_ = Bounds::kInfinity, least_size_ = Bounds::kInfinity;
    PlacedShapes shapes_;
    NearPairs near_;
    std::vector<Motion> begin_, end_;
    std::vector<Bounds> swept_;
    std::vector<Gap> gaps_;  // beside the near pairs
    ContactManifold manifold_;
    double finish_ = 0.0, at_ = 0.0;  // of the step; the time that gaps are left at
};

}  // namespace bellcrank
