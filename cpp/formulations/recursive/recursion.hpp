// Lathrop's constraint propagation (P. Schröder, The Virtual Erector Set, chapters 5.5 to 5.8) in its normal form: the
// force that a link with all that hangs on it asks of its joint is an affine map of the link's acceleration a and of
// the multipliers λ of the rows whose loops are still open there,
//
//   f = I a + P λ + p,        and of each open row r          J_r u̇ = −P_rᵀ a + H_r λ + g_r.
//
// Where the arms of a loop meet, its rows are complete and its λ are eliminated, by the largest pivots; rows without a
// pivot depend on others and are dropped. H = WᵀW is kept as W, whose rows are the motions of joints in units of their
// inertia (docs/theory/recursive.md).
#pragma once

#include <vector>

#include "formulations/recursive/tree_state.hpp"
#include "spatial/double_double.hpp"
#include "spatial/dual.hpp"

namespace bellcrank::recursive {

inline constexpr Twist kRest{{0, 0, 0}, {0, 0, 0}};
inline constexpr Load kNothing{{0, 0, 0}, {0, 0, 0}};

// A row against the acceleration of a link, as the load that a unit of its multiplier is there.
struct RowEnd {
    int row, link;
    Load load;
};

// Parts of what an inertia along a joint was, and of a row, squared: where less is left, ten digits are no longer
// certain.
inline constexpr double kLittleInertia = 1e-4, kLittleRow = 1e-3;

class Recursion {
  public:
    // rows: how many; ends: which links each acts on (loads are set later; link −1, the ground, may be left out).
    Recursion(const LinkTree& tree, int rows, std::vector<RowEnd> ends);

    int rows() const { return rows_; }
    std::vector<RowEnd>& ends() { return ends_; }
    const std::vector<RowEnd>& ends() const { return ends_; }

    // compliance: of each row (J u̇ + compliance λ = γ). natural: size of each row against free bodies. A row whose
    // pivot is below `tolerance` of the largest entry that it has had is dropped.
    void factor(const TreeState& k, const double* compliance, const double* natural, double tolerance);
    // Forgets which entries rows have had.
    void forget_sizes();
    const std::vector<std::uint8_t>& dropped() const { return dropped_; }
    double smallest_pivot() const { return smallest_; }
    double largest_dropped() const { return largest_dropped_; }

    template <class S>
    struct InputT {
        const ForceT<S>* loads;  // per link: force on it, those of inertia included
        const S* efforts;        // per speed; null: none
        const MotionT<S>* bias;  // per link; null: none
        const S* given;          // per drive: its second derivative; null: 0
        const S* targets;        // γ per row
    };
    using Input = InputT<double>;
    // u̇ and λ for what factor() made, once or four side by side.
    void solve(const TreeState& k, const Input& in, double* udot, double* lambda) { find(k, in, udot, lambda); }
    void solve(const TreeState& k, const InputT<Four>& in, Four* udot, Four* lambda) { find(k, in, udot, lambda); }
    // Whether factor() found so little left of an inertia along a joint, or of a row beside others, that solutions have
    // lost digits.
    bool is_doubtful() const { return doubtful_ || smallest_ < kLittleRow; }
    // Gives a solution the digits that it has lost (recursion.cpp).
    void refine(const TreeState& k, const Input& in, double* udot, double* lambda);
    // What is left of the efforts along speeds: that of a drive, with the opposite sign, is what it has to exert beside
    // those.
    const std::vector<double>& lacks(const TreeState& k, const Input& in, const double* udot, const double* lambda) {
        find_lacks(k, in, udot, lambda);
        return lack_;
    }
    // Accelerations of the links for those of the joints, the ground's being 0.
    void accelerations(const TreeState& k, const Twist* bias, const double* udot, std::vector<Twist>& out) const;

    // After factor(): L⁻¹ of a link that moves freely along its joint, speeds², and I S of a speed.
    const double* whitening(int link) const { return whitening_.data() + nodes_[link].effort; }
    const Load& asked(int speed) const { return U_[speed]; }

    // How many multipliers are open at each link.
    int open_at(int link) const { return nodes_[link].open; }

  private:
    // Rows that a link, or the ground (the last node), knows of: first those that go on to the parent, then those that
    // are complete here.
    struct Node {
        int slot = 0, open = 0, closed = 0;
        int roots = 0, height = 0;  // first entry of W, by columns of this height, one for each row that it knows
        int used = 0;               // rows of W
        int effort = 0;             // first entry of L⁻¹, speeds²
        int factor = 0;             // first entry of R, closed²
        int half = 0;               // first entry of QᵀW, closed × open
    };
    int parent_node(int link) const;
    void build_slots();
    void build_storage();
    void scale_rows(int node, const double* compliance, const double* natural, double tolerance);
    void close_rows(int node, const double* compliance, const double* natural, double tolerance);
    void reflect(int node, int step, int column);
    void reduce(const TreeState& k, int link);
    void pass_columns(const TreeState& k, int link);
    void pass_roots(int link);
    void compress(int link);
    void substitute_closed(int node);
    void judge(const TreeState& k, int link);
    void find_lacks(const TreeState& k, const Input& in, const double* udot, const double* lambda);
    // What solve() works with.
    template <class S>
    struct Flow {
        std::vector<ForceT<S>> p;   // per link
        std::vector<S> g;           // per slot
        std::vector<S> y;           // per closed slot, in the order of pivots: R⁻ᵀ (γ − g)
        std::vector<S> z;           // per speed
        std::vector<MotionT<S>> a;  // per link
    };
    template <class S>
    Flow<S>& flow();
    template <class S>
    void find(const TreeState& k, const InputT<S>& in, S* udot, S* lambda);
    template <class S>
    void up(const TreeState& k, const InputT<S>& in);
    template <class S>
    void down(const TreeState& k, const InputT<S>& in, S* udot, S* lambda);
    template <class S>
    void along_joint(const TreeState& k, int link, const InputT<S>& in, const ForceT<S>& p, const MotionT<S>& a);
    template <class S>
    void close_up(int node, const S* targets);
    template <class S>
    void close_down(int node, const MotionT<S>& a, S* lambda);

    const LinkTree& tree_;
    int rows_;
    std::vector<RowEnd> ends_;
    std::vector<Node> nodes_;           // per link, the ground last
    std::vector<int> slot_row_;         // row of each slot
    std::vector<int> end_slot_;         // slot that each end adds to
    std::vector<int> slot_above_;       // slot of the same row at the parent; −1: it is closed here
    std::vector<Articulated> inertia_;  // per link, with all that hangs on it and is complete
    std::vector<Load> columns_;         // P per slot
    std::vector<double> roots_;         // W of all nodes
    std::vector<double> whitening_;     // L⁻¹ per link, D = L Lᵀ, by columns
    std::vector<Load> U_;               // I S per speed
    std::vector<double> factor_;        // R of the closed columns, W = Q R: by columns, rows in the order of pivots
    std::vector<double> half_;          // the open columns' parts along Q
    std::vector<Load> half_columns_;    // per closed slot, in the order of pivots: R⁻ᵀ P
    std::vector<int> order_, kept_;     // per slot: pivots; per node: how many
    std::vector<double> scale_;         // per row
    std::vector<double> size_;          // per row: what H would be at its diagonal without eliminations
    std::vector<double> largest_;       // per row: the largest of these, by `natural`
    std::vector<std::uint8_t> dropped_;
    double smallest_ = 1.0, largest_dropped_ = 0.0;

    Flow<double> one_;
    Flow<Four> four_;
    std::vector<double> reflector_;  // workspace of one node

    // Inertias before anything was taken from them: the size of their rounding.
    struct Size {
        double turning = 0, mass = 0;
    };
    std::vector<Size> whole_;  // per link
    bool doubtful_ = false;
    std::vector<double> compliance_;
    std::vector<MotionT<DoubleDouble>> motions_;  // per link
    std::vector<ForceT<DoubleDouble>> forces_;
    std::vector<DoubleDouble> gap_;  // per row
    std::vector<double> lack_, gaps_, more_, more_lambda_;
    std::vector<Load> nothing_;
};

}  // namespace bellcrank::recursive
