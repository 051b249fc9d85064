// Joints of a linkage as transforms: how a coordinate moves the frame behind a joint, and the subspace of its motions.
#pragma once

#include <span>
#include <string>

#include "adaptive/matrix6.hpp"
#include "trees/joint_tree.hpp"

namespace bellcrank {

// The frame behind a joint, that of its child, seen from the frame before it: first the free translations, then the
// rotation, or the inverse of this where the parent carries marker 2. Coordinates are the translations in the order of
// their axes, then one angle, two angles of a universal, or a unit quaternion of a ball.
class JointMotion {
  public:
    explicit JointMotion(const TreeJoint& joint);
    // Why a joint cannot be taken; empty if it can.
    static std::string refusal(const TreeJoint& joint);

    int coordinates() const { return slides_ + turns_ + (ball_ ? 1 : 0); }
    int freedoms() const { return slides_ + turns_; }
    // Where the columns of the subspace S are axes of the child's frame for all coordinates: those axes, as bits.
    bool is_axial() const { return axial_; }
    unsigned axes() const { return axes_; }
    int slides() const { return slides_; }
    bool is_ball() const { return ball_; }

    void start(double* q) const;  // at zero
    Place place(const double* q) const;
    // S, freedoms() columns, rotations first; of a joint that is not axial it depends on the coordinates.
    void subspace(const double* q, double* columns) const;
    // The rates of coordinates that belong to speeds u along S, a ball's as angular velocity; efforts Q along S of
    // efforts along coordinates, a ball's as a moment.
    void rates(const double* q, const double* u, double* rates) const;
    void efforts(const double* q, const double* along, double* Q) const;
    // Moves coordinates for a time with constant rates.
    void move(double* q, const double* rates, double time) const;
    // From the place of the frame behind the joint.
    void read(const Place& place, double* q) const;

  private:
    Place forward(const double* q) const;

    bool reversed_, slide_[3], ball_ = false, axial_ = true;
    Turning turning_;
    int slides_ = 0, turns_ = 0, axis_ = -1, screw_ = -1;
    double advance_ = 0.0, start_ = 0.0;
    unsigned axes_ = 0;
};

}  // namespace bellcrank
