// The tree pass along four directions at once, and its transpose: with the frames, velocities and factors that TreePass
// has left (docs/theory/derivatives.md, "Trees"). Directions are of time and state; gradients by numbers as well.
#pragma once

#include <span>
#include <vector>

#include "formulations/recursive/efforts_tangent.hpp"
#include "formulations/recursive/tree_pass.hpp"
#include "formulations/recursive/tree_tangent.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank::recursive {

class PassTangent {
  public:
    PassTangent(const Model& model, const LinkTree& tree, const TreePass& pass, EffortsTangent& laws,
                const TreeTangent& markers);

    // Where TreePass has found u̇ last.
    struct Point {
        double t;
        const double *x, *u, *udot;
    };
    // Tangent vectors, kDirections doubles for each of their numbers; null: none. numbers: of laws and drives, as they
    // are.
    struct Directions {
        const double *t, *x, *u;
    };
    void tangent(const Point& at, const Directions& directions, const ModelTangent& numbers, double* out);

    // Whether adjoint() is there: every joint moves.
    bool has_gradients() const;
    // From seeds of u̇ what by_t is increased by, tangent vectors x and u; by_numbers is added to.
    void adjoint(const Point& at, const double* of_rates, double& by_t, double* x, double* u,
                 ModelGradient& by_numbers);

  private:
    // How a link moves: velocity, its joint's part of it, acceleration of the parent seen from the link, gravity's
    // upwards; momentum; the force that its joint exerts.
    struct Here {
        Twist velocity, own, parent;
        Load momentum, force;
    };
    // Of other links than those that turn; `turn` of a free body.
    struct Frame {
        Mat3 R, turn;
        Vec3 r;
    };
    template <class T>
    struct Work {
        MotionT<T> velocity, acceleration, free;  // free: what a joint gains without its parent's acceleration
        ForceT<T> load;
    };
    // A body's centre of mass in its link's frame; the link's axes → those of the body's frame.
    struct Centre {
        int link;
        Vec3 at;
        Mat3 axes;
    };
    // Of a joint, where a link is its first, and where it is its last: which of markers_; −1: none.
    struct Marks {
        int before, after;
    };
    template <class T>
    MotionT<T> into(int link, const MotionT<T>& parent) const;
    template <class T>
    ForceT<T> out_of(int link, const ForceT<T>& load) const;
    template <class T>
    ForceT<T> inertial(int link, const MotionT<T>& a) const;
    template <class T>
    MotionT<T> columns(int link, const T* speeds) const;
    void stand(const Point& at);
    void displace(const Point& at, const Four* dx, const Four* du);
    template <class T>
    void up(const T* efforts, const T* given, const Four* dx, Work<T>* work);
    template <class T>
    void down(Work<T>* work, T* out) const;
    void efforts_along(const Point& at, const Directions& d, const ModelTangent& numbers);
    void add_bodies(ModelGradient& by_numbers) const;
    Load leave_turn(const Point& at, int link, const Load& by_a, Load& by_v, double& x, double& u,
                    ModelGradient& by_numbers) const;
    Load leave_other(const Point& at, int link, const Load& by_a, Load& by_v, double* x, double* u,
                     ModelGradient& by_numbers) const;
    void add_given(const Point& at, const double* of_rates, double& by_t, ModelGradient& by_numbers) const;

    const Model& model_;
    const LinkTree& tree_;
    const TreePass& pass_;
    EffortsTangent& laws_;
    std::int64_t stood_ = 0;  // at which pass here_ is
    std::vector<Here> here_;
    std::vector<Frame> frames_;
    std::vector<Work<Four>, AlignedAllocator<Work<Four>>> four_;
    std::vector<Work<double>> one_;
    std::vector<Four, AlignedAllocator<Four>> dx_, du_, effort_, given_, out_;
    std::vector<double> y_, none_;
    std::vector<Load> by_velocity_, by_acceleration_;  // of other children than the first, per branch
    std::vector<Centre> centres_;                      // per body
    std::vector<Marks> marks_;                         // per link
    // Seen from the parent of a joint's first link, and from its last.
    std::vector<TreeTangent::MarkerColumns, AlignedAllocator<TreeTangent::MarkerColumns>> markers_;
    std::vector<std::uint8_t> has_link_;  // per joint
};

}  // namespace bellcrank::recursive
