// Two-ended subassemblies, and others with more ends: what they are made of, how two of them are joined, and how what
// was joined is split again.
//
// Every part moves by what is exerted at its handles: at the rows of joints by multipliers λ, at the body v that many
// joints are on by its motion. A subassembly is described by the accelerations of its ends against loads there,
//
//   a = Y λ + y,            Y symmetric, positive on rows.                                             (1)
//
// LEAF. A body with mass matrix M has Y = J M⁻¹ Jᵀ = Ĵ Ĵᵀ over the rows of its joints: both ends of a link are rows of
// one matrix. If one of its joints is on a hub v, whose motion v̂ is an unknown of its own, the row gets the entries
// Ĵ_v; the hub itself adds −1, so that its row says Ĵ_vᵀ λ − v̂ = 0.
//
// JOIN. Where A and B meet at a joint c that nothing else acts on, the augmented rule for its multipliers reads
// λ_c/α + a_c = r_c, with a_c the sum of what A and B make of it:
//
//   (Y_A + Y_B + 1/α)_cc λ_c = r_c − Y_c,ends λ_ends .                                                 (2)
//
// Elimination of λ_c leaves the ends of A ∪ B with Y ← Y − Y_ends,c D⁻¹ Y_c,ends, D the matrix of (2): a Schur
// complement. With α finite D is positive whether rows are independent or not, and never less than 1/α. A branch
// (RAKE) has one end, the row of a hub or of the joint that it hangs on; branches on one hub add (SUM); a loop is a
// chain whose two ends meet on one body. All of them are a join.
//
// SPLIT. From the root downwards (2) gives the multipliers of a joint from those at the ends of its subassembly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assemblies/plan.hpp"
#include "assemblies/thread_pool.hpp"
#include "model/constraint_rows.hpp"
#include "spatial/aligned.hpp"

namespace bellcrank {

struct AssemblyParts;

class Assembly {
  public:
    static constexpr int kMostJoints = 8;

    // A body with more joints than `most_joints` becomes a hub. Where there are none pivots tell dependent rows.
    Assembly(const Model& model, const ConstraintRows& rows, int most_joints = kMostJoints);

    const AssemblyPlan& plan() const { return plan_; }
    int hubs() const { return hubs_; }

    // Per storage row: 1/α, or what it may be; rows that take no part; the part of |Ĵ_r|² below which a pivot counts as
    // none, its row being left out (0: rows are kept).
    struct Rule {
        std::span<const double> softness;
        std::span<const std::uint8_t> enabled;  // empty: all are
        std::span<const double> least;          // empty: rows are kept
        std::span<const double> metric;         // factors of the components of Ĵ, in records; empty: none
    };
    // Subtrees that do not depend on each other go to the pool's threads; null: to the caller. Results are the same.
    void use(ThreadPool* pool) { pool_ = pool; }
    int tasks() const { return static_cast<int>(tasks_.size()); }
    // Takes up the rows' current Jacobian. squares: |Ĵ_r|² per storage row.
    void factor(const double* J, const Rule& rule, std::span<const double> squares);
    // r ← λ of (S + 1/α) λ = r.
    void solve(double* r);
    // The same by one thread, with the times [s] that each node took: to be factored, on the way up and on the way
    // down.
    struct Times {
        std::vector<double> factor, up, down;
    };
    Times measure(const double* J, const Rule& rule, std::span<const double> squares, double* r);
    // Pivots less softness, by |Ĵ_r|²; 0 of rows that take no part.
    std::span<const double> pivots() const { return {pivot_.data(), static_cast<size_t>(rows_)}; }
    bool left_out(int row) const { return inverse_[row] == 0.0; }

  private:
    struct Piece {  // rows that lie together in a child's ends and in the node's front
        int size, from, to;
    };
    struct Gram {  // rows of a body
        BodyRows rows;
        int body, to, row;  // place in the front; storage row of the first
    };
    struct Coupling {  // of rows with the hub that they act on
        BodyRows rows;
        int to, hub, row;
    };
    struct Child {
        int node, piece_begin, piece_end;
    };
    struct Node {
        int joined, size, stride;  // unknowns eliminated here; all; of a row
        int unknown_begin;         // of unknowns_: where its joined rows are among all, then its ends
        int factor;                // first of its rows in factors_
        int matrix, vector;        // its ends' Y and y in stacks
        int child_begin, child_end, gram_begin, gram_end, coupling_begin, coupling_end, hub_begin, hub_end;
    };

    struct Task {  // nodes of subtrees; room for one node's matrix and a row of it
        int begin = 0, end = 0;
        AlignedVector front = {}, row = {};
    };
    void add_node(const Subassembly& made, const AssemblyParts& parts, const ConstraintRows& rows,
                  std::vector<int>& place);
    void divide();
    void make_room(std::span<const int> nodes, std::span<const int> owner, Task& task);
    template <class Visit>
    void each_task(const Visit& visit);
    void factor_node(const Node& n, const double* J, const Rule& rule, std::span<const double> squares, Task& task);
    void leaf(const Node& n, const double* J, const Rule& rule, double* front, double* components);
    void join(const Node& n, const Rule& rule, std::span<const double> squares, double* front);
    void keep(const Node& n, double* front);
    void go_up(const Node& n, const double* r, double* y);
    void go_down(const Node& n, double* y);

    int ends(const Node& n) const { return n.size - n.joined; }

    int rows_ = 0, hubs_ = 0;
    AssemblyPlan plan_;
    std::vector<Node> nodes_;
    std::vector<Child> children_;
    std::vector<Piece> pieces_;
    std::vector<Gram> grams_;
    std::vector<Coupling> couplings_;
    std::vector<int> hub_places_;  // −1 is added on the diagonal from there
    std::vector<int> unknowns_;
    AlignedVector factors_, matrices_, vectors_;
    std::vector<Task> tasks_;
    Task top_;  // its nodes are those of no task, in above_
    std::vector<int> above_;
    ThreadPool* pool_ = nullptr;
    std::vector<double> pivot_, inverse_, value_;  // per unknown
};

}  // namespace bellcrank
