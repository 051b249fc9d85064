// How near a motion comes to where the angles in its rows are not defined, and over it.
#pragma once

#include <vector>

#include "joints/pole.hpp"
#include "model/ports.hpp"

namespace bellcrank {

// Near a pole, at the distance ρ, the gradient of a row is of size 1/ρ and turns as bodies move by ρ: accelerations off
// the constraints are only as good as errors are small against ρ. And motions do get there: the configurations that a
// row of directions allows form a screw surface about the pole, which the ways on it cross. So a step goes no farther
// than half of the way to a pole; from close by, what is left is stepped over at once, for on the surface the motion is
// smooth.
class PoleWatch {
  public:
    PoleWatch(Record& record, Steps& steps);

    // The model row that is not defined at (t, x, u), but for rounding, −1: none.
    int undefined(double t, const double* x, const double* u);
    // The part of a step of length h from (t, x, u), where the motion is, that leads to no pole.
    double longest_step(double t, double h, const double* x, const double* u);
    // How long the motion takes from there to the other side of a pole that it is close to; 0: there is none.
    double way_over() const { return way_over_; }
    // The model row at whose pole it stands; that is near to one; −1: none.
    int reached() const { return reached_; }
    int near() const { return near_; }
    // Lets directions count on that have turned by more than a right angle between there and (t, x, u), on the way over
    // a pole. The model row of one that cannot, −1: none.
    int turn_over(double t, const double* x, const double* u);
    // Undoes the last turn_over(), or does it again.
    void switch_sides();
    // The motion has come over the pole, or is left on the way there: then it stands where it was.
    void settle() { is_over_ = false; }
    void leave() {
        if (is_over_) switch_sides();
    }
    // The model row of a direction that has turned so on a way that was to lead over no pole, −1: none.
    int turned_over(double t, const double* x, const double* u);

  private:
    struct Angle {
        int row, coordinate;
        const DirectionKind* kind;
        AtPole at_pole;
        double farthest;  // from the pole, so far
        Direction at;     // where the motion was last
        bool over;        // in the last turn_over()
    };
    template <class Visit>
    void for_each_turned(double t, const double* x, const double* u, Visit visit);

    Record& record_;
    Steps& steps_;
    std::vector<Angle> angles_;
    double way_over_ = 0.0;
    int reached_ = -1, near_ = -1;
    bool is_over_ = false;  // by the last turn_over()
};

}  // namespace bellcrank
