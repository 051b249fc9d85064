// A model as a tree of links, as the recursion walks it: joints whose coordinates are elementary (a turn, a slide) are
// taken apart into links without mass; bodies that do not move against each other are one link
// (docs/theory/recursive.md).
//
// A link's frame lies at its joint, z along the axis of a turn or slide. Motions are (ω; v) and forces (n; f) at the
// origin, in the axes of the link. Links are numbered in preorder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/forces.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank::recursive {

struct Link : LinkOf<Vec3> {
    int joint = -1;    // of the tree, that it is a step of
    int x = 0, u = 0;  // first coordinate and first speed
    int speeds = 1;
    int given = -1;     // the drive that gives its motion, −1: it is free
    double offset = 0;  // turn, slide: added to the coordinate
    double mass = 0;
    Vec3 moment{0, 0, 0};            // mass times com
    std::array<double, 6> second{};  // inertia about the origin: xx, yy, zz, xy, xz, yz
    std::array<double, 6> rotor{};   // added to the inertia along each speed
    double lead = 0;                 // screw
    int held = 0;                    // swing: the axis that it does not turn about
    int formula = -1;                // of the model's joints given by formulas
    bool reversed = false;
};

// A row that gives the motion of a turn or slide:  factor · coordinate = function(t) + constant.
struct Drive {
    int row, link;
    int function;
    double factor, constant;
};

// A row with compliance along a coordinate whose rate is a speed: a rotor that moves with it.
struct Rotor {
    int row, speed;
    double factor, compliance;
};

// A body's principal frame in its link's.
struct BodyPlace : BodyPlaceOf<Vec3> {
    Quat turn{1, 0, 0, 0};  // the rotation of `at`
};

struct LinkTree {
    std::vector<Link> links;
    std::vector<JointMap> joints;   // one per joint of the tree, parents first
    std::vector<BodyPlace> bodies;  // per body, the ground last
    std::vector<Drive> drives;
    std::vector<Rotor> rotors;
    std::vector<int> closing_rows;  // of the model: equations that remain, other rotors among them, and stops last
    size_t stops = 0;               // how many of these
    int coordinates = 0, speeds = 0;
    std::vector<int> link_of;  // per coordinate of the model: the link that it turns or slides, −1: none
    // The same of links that a joint given by formulas moves as well, and the speed that is its rate.
    std::vector<std::pair<int, int>> speed_of;
};

// Why a model cannot be taken, everything at once; empty if it can.
std::vector<std::string> refusals(const Model& model);
LinkTree make_links(const Model& model, const JointTree& joints);
// Whether a body on a joint of several freedoms is so light beside what hangs on it that digits may be lost.
bool carries_heavier(const LinkTree& tree);

// A law along a coordinate whose rate is a speed of the tree: its effort is there without measuring bodies.
struct JointEffort {
    const Law* law;
    int x, u;  // coordinate and speed of the tree

    double at(const Model& model, double t, double value, double rate,
              const AngleBranches::Friction& friction = {}) const {
        const Function* function = law->function < 0 ? nullptr : &model.functions[law->function];
        return law->kind->effort({value, rate, t, friction.sense, friction.load}, law->params, function);
    }
};

class JointEfforts {
  public:
    JointEfforts(const Model& model, const LinkTree& tree) : model_(model), taken_(model.laws.size(), 0) {
        for (size_t i = 0; i < model.laws.size(); ++i) {
            const auto [link, speed] = tree.speed_of[model.laws[i].coordinate];
            if (link < 0) continue;
            taken_[i] = 1;
            list_.push_back({&model.laws[i], tree.links[link].x + speed - tree.links[link].u, speed});
        }
    }

    const std::vector<JointEffort>& list() const { return list_; }
    bool takes_all() const { return list_.size() == taken_.size(); }
    const std::uint8_t* taken() const { return taken_.data(); }  // per law

    void find(const AngleBranches& branches, double t, const double* x, const double* u,
              std::vector<double>& efforts) const {
        std::fill(efforts.begin(), efforts.end(), 0.0);
        for (const JointEffort& e : list_)
            efforts[e.u] += e.at(model_, t, x[e.x], u[e.u], branches.friction(e.law->friction));
    }

  private:
    const Model& model_;
    std::vector<JointEffort> list_;
    std::vector<std::uint8_t> taken_;
};

}  // namespace bellcrank::recursive
