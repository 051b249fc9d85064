// Where the links of a tree are, and how they move.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "formulations/recursive/links.hpp"
#include "trees/formula_frame.hpp"

namespace bellcrank::recursive {

// A link's frame in that of its joint, and how the speeds move it: its velocity against the parent is S u, its rate at
// constant speeds `bias`, in the link's axes.
struct JointFrame {
    Quat q;
    Vec3 shift;
    Twist S[6];
    Twist bias;
};

class TreeState {
  public:
    TreeState(const Model& model, const LinkTree& tree);

    // Frames, and the columns S; biases are those at speeds u.
    void place(const double* x, const double* u);
    // Velocities in the world (the ground stands still) and what they add to accelerations.
    void move(const double* u);
    // Poses and twists of the bodies (spatial/body_state.hpp), the ground's included.
    void write_poses(double* poses) const;
    void write_twists(double* twists) const { write_motions(velocity.data(), twists); }
    // The same of bodies for any motions of the links.
    void write_motions(const Twist* links, double* records) const;
    // Accelerations of the bodies in the layout of twists, for those of the links.
    void write_accelerations(const Twist* links, double* records) const;
    // Forces on the bodies, in records as applied_forces() has them, added up on the links with a sign.
    void add_loads(const double* records, double sign, Load* links) const;
    // The acceleration of a body's com that its link's velocity alone makes, world axes.
    Vec3 centripetal(int body) const;

    // Of a link that a joint given by formulas moves.
    const CompiledProgram& program(const Link& link) const { return *programs_[link.formula]; }

    const LinkTree& tree;
    std::vector<Mat3> rotation;  // link's axes → parent's axes
    std::vector<Vec3> shift;     // origin in the parent's frame
    std::vector<Mat3> world;     // link's axes → world axes
    std::vector<Vec3> position;  // origin, world axes
    std::vector<Quat> attitude;  // of `world`
    std::vector<Twist> velocity, bias;
    std::vector<Twist> S;  // per speed

  private:
    void frame_of(const Link& link, const double* x, const double* u, JointFrame& out);
    void formula_frame(const Link& link, const double* x, const double* u, JointFrame& out);

    const Model& model_;
    std::vector<Quat> at_;                                          // of each link's joint frame
    std::vector<std::shared_ptr<const CompiledProgram>> programs_;  // of the model's joints given by formulas
    std::vector<double> in_, out_, work_;
};

}  // namespace bellcrank::recursive
