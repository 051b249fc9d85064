// Coordinates and speeds of a tree's joints: how they follow from body records, and charts about a configuration.
#pragma once

#include <vector>

#include "model/branches.hpp"
#include "trees/joint_tree.hpp"

namespace bellcrank {

// A joint of the tree with the numbers of its coordinates and speeds; −1: it has none there.
struct JointMap {
    TreeJoint joint;
    int slide[3] = {-1, -1, -1}, slide_speed[3] = {-1, -1, -1};
    int turn[2] = {-1, -1}, turn_speed[2] = {-1, -1};  // angle, two angles of a universal
    std::vector<int> own, own_speed;                   // of a joint given by formulas
    int ball = -1, ball_speed = -1;
    int swing = -1, swing_speed = -1;  // a shaft that halves the bend (spatial/swing.hpp)
    Quat followed{1, 0, 0, 0};         // of a body that hangs on nothing: axes that are followed → principal axes
    Quat before{1, 0, 0, 0};           // ball: its parent link's axes → the marker's before the joint
    Quat after{1, 0, 0, 0};            // ball: its link's axes → the marker's behind the joint
    std::vector<int> rows;             // of the model: those that hold by the joint's transform and coordinates
};

// Enters the first coordinate and speed of a step; of a general one each by itself.
void enter(const JointStep& step, int coordinate, int speed, JointMap& map);

// Which motion of a joint of the tree a coordinate of the model is.
struct JointPart {
    enum class Kind { none, slide, turn, own } kind = Kind::none;
    int number = 0;
};
JointPart part_of(const TreeJoint& joint, const Coordinate& coordinate);

// Per coordinate of the tree the model's, −1: none.
std::vector<int> model_coordinates(const Model& model, const std::vector<JointMap>& joints, int coordinates);

// A ball's coordinates are a unit quaternion, its speeds the angular velocity in its link's axes; the chart about a
// configuration turns it by a rotation vector. Where no turn about one axis is allowed, the quaternion is that of a
// shaft that halves the bend, with two speeds (spatial/swing.hpp). All other coordinates have one speed each.
class JointCoordinates {
  public:
    JointCoordinates(const Model& model, std::vector<JointMap> joints, int coordinates, int speeds);

    int coordinates() const { return static_cast<int>(speed_of_.size()); }
    int speeds() const { return speeds_; }
    const std::vector<JointMap>& joints() const { return joints_; }
    bool is_flat() const { return balls_.empty() && swings_.empty(); }
    // Whether the model follows coordinates that are none of the tree's; those of them that are angles.
    bool has_other_angles() const { return has_other_angles_; }
    const std::vector<int>& other_angles() const { return other_angles_; }
    // Whether a speed is that of an angle.
    bool turns(int speed) const;

    // Reads coordinates and speeds off body records (spatial/body_state.hpp); what the joints do not allow is left out.
    // Angles are the principal ones.
    void read(const AngleBranches& branches, const double* poses, const double* twists, double* x, double* u) const;
    // Coordinates of joints given by formulas from where the branches are.
    void take_formula_angles(const AngleBranches& branches, double* x) const;
    // Every angle to its branch.
    void continue_angles(const AngleBranches& branches, double* x) const;
    // Branches of angles, and of joints given by formulas, to where the coordinates are.
    void follow_angles(const double* x, AngleBranches& branches) const;
    void follow_formulas(const double* x, AngleBranches& branches) const;

    // The maps of Manifold (model/ports.hpp).
    void retract(const double* x0, const double* xi, double* out) const;
    void displacement(const double* x0, const double* x1, double* xi) const;
    void chart_rate(const double* xi, const double* u, double* rate) const;
    void chart_velocity(const double* xi, const double* rate, double* u) const;
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const;
    void add_frame_rates(const double* xi, const double* u, double* udot) const;
    bool has_frames_of_ways() const { return !swings_.empty(); }
    void change_frames(const double* x0, const double* x1, int lanes, double* v) const;
    void retract_along(double h, const double* x0, const double* velocity, int degree, int stride, double* out) const;

    // The maps of Derivatives.
    void add_turning(const double* xi, const double* u, double sign, const double* dx, const double* du, int lanes,
                     double* of_dx, double* of_du) const;
    void add_bending(const double* u, const double* dx, int lanes, double* of_du) const;

    // The body behind the first joint whose state is not finite, −1: all are.
    int first_non_finite_body(const double* x, const double* u) const;

  private:
    void read_formula(const AngleBranches& branches, const JointMap& map, const RelativeMotion& m, double* x,
                      double* u) const;

    const Model& model_;
    std::vector<JointMap> joints_;
    int speeds_;
    std::vector<int> speed_of_;             // per coordinate, −1 for components of a quaternion
    std::vector<int> balls_, ball_speeds_;  // first coordinates and speeds of quaternions
    struct Swing {
        int coordinate, speed, held;
    };
    std::vector<Swing> swings_;
    struct Same {
        int own, coordinate;  // of the tree, of the model
    };
    std::vector<Same> angles_, formulas_;
    std::vector<int> other_angles_;
    bool has_other_angles_ = false;
};

}  // namespace bellcrank
