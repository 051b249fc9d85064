// Where loops of a linkage close. Rows that its tree of joints leaves act on bodies. Each such body is a port, a load
// and an acceleration of six, of all nodes of the assembly from its own up to the lowest in which all partners of its
// rows are. There the rows are met (docs/theory/adaptive_dynamics.md, loops).
#pragma once

#include <memory>
#include <vector>

#include "adaptive/linkage.hpp"
#include "model/branches.hpp"
#include "model/formula_rows.hpp"

namespace bellcrank {

struct PortedNode {
    int node;
    std::vector<int> links;  // its ports: those of the left part, of the right one, its own body
    int left = 0, right = 0;
    bool own = false;
    std::vector<int> kept;  // those of them that are ports of the node above
    int meeting = -1;
};

// Rows that are met at a node, where they were found last.
struct MeetingRows {
    int count;
    // Σ J v + drift = Ċ and Σ J a + bias = C̈, v and a: of ports in their frames.
    std::vector<double> C, drift, bias;
    std::vector<double> J;        // per row six for each port
    std::vector<double> sizes;    // J M⁻¹ Jᵀ of bodies that hang on nothing
    double dependent;             // a row whose pivot is a smaller part of its own at first depends on others
    std::vector<Vec3> on_ground;  // Jacobian for the acceleration of the ground, its axes
};

class Loops {
  public:
    Loops(std::shared_ptr<const Model> model, const Linkage& linkage);

    bool empty() const { return nodes_.empty(); }
    int number_of(int node) const { return nodes_.empty() ? -1 : number_[node]; }  // −1: it has no ports
    const std::vector<PortedNode>& nodes() const { return nodes_; }
    const PortedNode& at(int ported) const { return nodes_[ported]; }
    // Links of the joints between the bodies of a meeting's rows.
    const std::vector<int>& way(int meeting) const { return meetings_[meeting].way; }
    // Links of joints between which rows change with time, so that they have to give way.
    const std::vector<int>& giving_way() const { return giving_way_; }

    // Angles begin on these branches.
    void begin(const AngleBranches& branches);
    // Finds rows of a meeting at places of its ports in the node's frame, and twists of these in their own frames;
    // null: they move as one, and biases are none.
    void find(const PortedNode& node, double t, const Place* places, const Twist* twists, MeetingRows& rows);
    MeetingRows room_for(const PortedNode& node) const;

  private:
    struct Meeting {
        std::vector<int> rows, formulas, way;
        std::vector<std::uint8_t> holds_positions;  // per formula; others are of velocities alone
        int count = 0;
    };
    int meeting_node(const std::vector<int>& bodies) const;
    void add_ports(const std::vector<std::vector<int>>& bodies_of, const std::vector<int>& node_of);

    const std::shared_ptr<const Model> model_;
    const Linkage& linkage_;
    std::vector<int> number_;
    std::vector<PortedNode> nodes_;  // parts before what is made of them
    std::vector<Meeting> meetings_;
    std::vector<int> giving_way_;
    double unevenness_ = 1.0;  // of masses: the largest by the smallest
    std::unique_ptr<AngleBranches> branches_;
    std::vector<double> x_, u_;  // records, of ports alone
    FormulaRows::Values formula_;
};

}  // namespace bellcrank
