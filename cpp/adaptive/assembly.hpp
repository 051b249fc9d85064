// A linkage that is assembled along its tree (R. Featherstone 1999; S. Redon and M. Lin, An Efficient, Error-Bounded
// Approximation Algorithm for Simulating Quasi-Statics of Complex Linkages, 2005, sections 3 and 4): what every node
// answers at its boundary, kept up to date where something changes (docs/theory/adaptive.md).
#pragma once

#include <memory>
#include <vector>

#include "adaptive/forms.hpp"
#include "adaptive/frames.hpp"
#include "adaptive/linkage.hpp"
#include "adaptive/linkage_forces.hpp"
#include "adaptive/node_equations.hpp"

namespace bellcrank {

struct JoinState : JoinMatrices {
    double b1[6], b2[6], gamma[6];
};
// Side branches seen by the body that carries them, at acceleration a:  the force on them is W a + g.
struct LawState {
    Matrix6 w;
    double g[6];
};
// A body in a join, under the force f of its handles: a = Φ f + b. A body that is a branch by itself is not inverted:
// f = V a − h.
struct BodyState {
    Matrix6 phi;  // Φ or V
    double b[6];  // b or h
    double force[6];
};

class RootedAssembly final : public LoadedAssembly {
  public:
    // with_totals: whether total accelerations are kept; without them only everything can be solved.
    RootedAssembly(std::shared_ptr<const Linkage> linkage, bool with_totals);

    const Linkage& linkage() const { return *linkage_; }
    const AssemblyTree& tree() const { return linkage_->tree; }
    bool with_totals() const { return with_totals_; }

    // Changes, which update() takes up. Where the frame of a link is in its parent's; columns of S of a joint that is
    // not axial. Applied force on a body in its frame. Efforts along S.
    void set_place(int link, const Place& place, const double* subspace);
    bool set_force(int link, const double* force) override;
    bool set_effort(int link, const double* effort) override;
    const Frames& placed() const override { return frames_; }
    Twist twist_of(int) const override { return {{0, 0, 0}, {0, 0, 0}}; }  // they are at rest
    // ζ, by which a joint accelerates in the frame behind it because bodies move; none until one is set.
    void set_bias(int link, const double* acceleration);
    const Frames& frames() const { return frames_; }
    Frames& frames() { return frames_; }
    const double* subspace(int link) const { return subspace_.data() + 6 * linkage_->links[link].freedom; }
    const double* force(int link) const { return bodies_[link].force; }
    const double* bias(int link) const { return bias_.empty() ? nullptr : bias_.data() + 6 * link; }
    const double* effort(int link) const { return effort_.data() + linkage_->links[link].freedom; }

    // Frames where joints have moved, in which forces are to be given.
    void update_frames();
    void update_all_frames();
    // Nodes whose joint has moved, and all above, in full; where only forces are other, what follows from them. Level
    // by level, from the deepest up, each node once. Frames come first.
    void update();
    // anew: as at a start, where nothing of what was measured before holds.
    void update_all(bool anew = false);
    // Nodes that the last update worked on.
    int updated() const { return updated_; }

    // The parts of a descent. Inputs: (f1; f2) for a join, a for a law.
    static constexpr int kInput = 12;
    // Acceleration of the joint of a join or rake along S; and in the frame behind it what is handed on: the force on
    // what is there, or the acceleration of a body that is a branch by itself. How large the acceleration would be if
    // nothing in it cancelled: what comes with the input, and what is the node's own.
    struct Terms {
        double of_input, own;
    };
    Terms joint_acceleration(int node, const double* input, double* rate, double* behind) const;
    // Whether bodies are so much alike that joins lose little of any: what rounding may have made of an acceleration is
    // a small part of the size of its terms.
    bool is_even() const { return rounding_ <= kEvenRounding; }
    double loss() const { return rounding_; }
    // Else errors are counted in energies of accelerations (digits.cpp). The root of that of the error of the
    // force on a joint; by how much its acceleration is off where what its node was given is by `given`, and its force
    // by `own`; and the root of a node's total.
    double force_error(int node, const double* input, const double* behind) const;
    double joint_error(int node, double given, double own) const;
    double total_error(int node, const double* input, double given) const;
    // S times a joint's acceleration.
    Six joint_motion(int link, const double* rate) const {
        return bellcrank::joint_motion(linkage_->links[link].motion, subspace(link), rate);
    }
    // Hands what a node was given on to its parts that have joints: calls open(node, input) for each.
    template <class Open>
    void hand_on(int node, const double* input, const double* behind, const Open& open) const;
    // Total acceleration at an input, and how large it would be if nothing in it cancelled.
    void total(int node, const double* input, double* value, double* size) const;

    std::size_t bytes() const;

  private:
    // What rounding makes of the force on the joint of a node, or of the acceleration of a body.
    struct Losses {
        double terms[6], impedance[6];   // what is added up to M, and V, along their diagonals
        double left_share, right_share;  // tr V Φ2ᴬ, tr V Φ1ᴮ
        double loads;                    // the square of energies of loads
        // Squares of losses: by errors of the parts, by sums and products of the node's own.
        double left, right, own;
        // Squares of accelerations at energy 1: of the joint by what its node is given and by its own force, of all
        // joints in the node by what it is given; and what its own errors add to those of all joints.
        double through, admittance, response, source;
    };
    struct Ends : Mobility {
        const double *b1, *b2;
    };
    JointNumbers joint(int link) {
        const Link& of = linkage_->links[link];
        double *U = u_.data() + 6 * of.freedom, *G1 = g1_.data() + 6 * of.freedom, *G2 = g2_.data() + 6 * of.freedom;
        return {of.motion, subspace(link), of.motion.freedoms(), U, d_.data() + squares_[link], G1, G2};
    }
    Ends ends(int node) const;
    EndForm end_form(const Forms& forms, int node) const;  // zero of a body alone
    void update_node(int node, bool matrices);
    void join_matrices(const AssemblyNode& node);
    void add_rates(const AssemblyNode& node, StretchForm& totals) const;
    void join_vectors(const AssemblyNode& node);
    void rake_matrices(const AssemblyNode& node);
    void rake_vectors(const AssemblyNode& node);
    void rake_totals(const AssemblyNode& node, const Matrix6& X, const Matrix6& WX);
    Matrix6 carried_motion(const AssemblyNode& node, const Matrix6& X) const;
    void pass_rake_loads(const AssemblyNode& node, const Matrix6& psi, const double* p, double eta, LawForm& out) const;
    void add_laws(const AssemblyNode& node, bool matrices);
    void body(const AssemblyNode& node, bool matrices);
    // What rounding may make of accelerations, after an update.
    void judge_digits();
    void measure_losses();
    void lose_in_body(const AssemblyNode& node, Losses& out);
    void lose_in_join(const AssemblyNode& node, Losses& out);
    void lose_in_rake(const AssemblyNode& node, Losses& out);
    void judge_joint(const AssemblyNode& node, double left, double right, double own, double below, Losses& out) const;
    double respond_to(const Matrix6& phi, int law);
    EndForm error_form(int node, LawForm& of_body) const;
    void lose_totals_in_join(const AssemblyNode& node, const EndForm& left, const EndForm& right, const Losses& of);
    void lose_totals_in_rake(const AssemblyNode& node, const Matrix6& X, const Matrix6& error, const Matrix6& passed,
                             const Losses& of);
    void measure_loads(int node);
    void measure_loads_of_body(const AssemblyNode& node, Losses& out);
    void measure_loads_of_join(const AssemblyNode& node, Losses& out);
    void measure_loads_of_rake(const AssemblyNode& node, Losses& out);
    std::pair<double, double> loads_at_joint(const Link& link, double admittance) const;
    double form_at(const Forms& forms, int node, const Six* first, const Six* second) const;
    static double squares(const Six& v, const double* size);
    static double squares(const Six& v, const Matrix6& A);
    Six joint_column(int link, int freedom) const;  // of S

    const std::shared_ptr<const Linkage> linkage_;
    const bool with_totals_;
    template <class T>
    using Array = std::vector<T, AlignedAllocator<T>>;
    Array<JoinState> joins_;
    Array<Matrix6> w_;  // W of joins, with totals; else of the last one
    Array<LawState> laws_;
    Forms totals_;  // of total accelerations
    Array<BodyState> bodies_;
    Frames frames_;
    LevelMarks marks_;
    std::vector<int> squares_;  // per link where its D begins
    // Per freedom: columns of S where the joint is not axial, rows of U; of U Φ21 and U Φ12, or of U in the carrier's
    // frame; efforts, R, and the size of its terms.
    Array<double> subspace_, u_, g1_, g2_, effort_, r_, terms_, d_;
    Array<double> bias_;           // per link, once one was set
    double reach_ = 0.0;           // the longest slide so far
    double rounding_ = 0.0;        // at worst
    long since_measured_ = 0;      // nodes that were updated
    std::vector<Losses> losses_;   // per node
    Forms errors_, error_totals_;  // of errors of what nodes answer, and of accelerations in them
    int updated_ = 0;
};

template <class Open>
void RootedAssembly::hand_on(int number, const double* input, const double* behind, const Open& open) const {
    const AssemblyNode& node = tree().nodes[number];
    const auto cluster = [&](int part, const double* in) {
        const AssemblyNode& below = tree().nodes[part];
        if (below.kind == NodeKind::join) return open(part, in);
        if (below.left < 0) return;  // a body alone has no joints
        double f[6], a[kInput] = {};
        put(f, six(in) + six(in + 6));
        put(a, bodies_[below.link].phi * six(f) + six(bodies_[below.link].b));
        open(below.left, a);
    };
    double in[kInput] = {};
    if (node.kind == NodeKind::sum) {
        open(node.left, input);
        open(node.right, input);
    } else if (node.kind == NodeKind::rake) {
        const AssemblyNode& branch = tree().nodes[node.left];
        std::memcpy(in, behind, 6 * sizeof(double));
        if (branch.kind == NodeKind::join)
            open(node.left, in);
        else if (branch.left >= 0)
            open(branch.left, in);
    } else {
        std::memcpy(in, input, 6 * sizeof(double));
        put(in + 6, -force_out_of(frames_.place(node.link), six(behind)));
        cluster(node.left, in);
        std::memcpy(in, behind, 6 * sizeof(double));
        std::memcpy(in + 6, input + 6, 6 * sizeof(double));
        cluster(node.right, in);
    }
}

}  // namespace bellcrank
