// A linkage in motion of which some joints are free and the others locked: they stand still in their joint, but could
// accelerate. Two systems share its state (docs/theory/adaptive.md, adaptive dynamics):
//   H: locked joints hold. It is what moves.
//   F: all joints can accelerate. It judges H: by Gauss' principle the accelerations of H are those of F projected on
//      what H can do, and the square of their distance in the norm of kinetic energy is the difference of two scalars
//      at the root of the tree.
// A node is open if a joint in it is free; else it is closed and moves as one rigid body. Open nodes are a connected
// top of the tree, and the closed ones below them are its front. Evaluations touch these alone: what a closed node
// answers in F are polynomials of its angular velocity, and in H it is a rigid body.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "adaptive/frames.hpp"
#include "adaptive/linkage.hpp"
#include "adaptive/linkage_forces.hpp"
#include "adaptive/node_equations.hpp"
#include "adaptive/velocity_terms.hpp"
#include "spatial/double_double.hpp"

namespace bellcrank {

class HybridAssembly final : public LoadedAssembly {
  public:
    // Every joint is locked, every place that of coordinates that were not set.
    explicit HybridAssembly(std::shared_ptr<const Linkage> linkage);

    const Linkage& linkage() const { return *linkage_; }
    const AssemblyTree& tree() const { return linkage_->tree; }
    Frames& frames() { return frames_; }
    const Frames& frames() const { return frames_; }

    // Where a joint stands; a locked one only before `close_all`.
    void set_place(int link, const Place& place, const double* subspace);
    const double* subspace(int link) const { return subspace_.data() + 6 * linkage_->links[link].freedom; }
    // Loads on a body, in its frame, and efforts along S.
    bool set_force(int link, const double* force) override;
    bool set_effort(int link, const double* effort) override;
    const double* effort(int link) const { return effort_.data() + linkage_->links[link].freedom; }
    const Frames& placed() const override { return frames_; }
    Twist twist_of(int link) const override;  // of the motion taken

    bool is_free(int link) const { return free_[link] != 0; }
    // A joint that was free holds at once; one that is freed has to be arranged first.
    void set_free(int link, bool free);
    // Takes the set as it is now: closes nodes in which no joint is free any longer, at the places where they are.
    void arrange();
    void close_all();  // all nodes anew, as after the first places were set
    // What rests on stops: joints that do not accelerate along some directions, each a vector of their freedoms, none a
    // sum of others; in H, as far as they are free, or in F. `bias`: with these accelerations along S instead; of H,
    // then the motion is to be taken, which is what is returned. Then loads are to be updated.
    enum class System : std::uint8_t { moving, judging };
    void unbar();
    bool bar(System system, int link, int directions, const double* along, const double* bias = nullptr);
    int directions(System system, int link) const { return numbers_of(system).directions(link); }
    bool bars(System system) const { return !numbers_of(system).bars.empty(); }
    // What else than its effort acts along S of a joint in an open node of H, as stops do. After `accelerate`.
    void exerted(int link, double* along) const;
    // The same in F of some links, with how they accelerate along S there: told(link, rate, exerted), in any order.
    // After `loosen`.
    using Told = std::function<void(int link, const double* rate, const double* exerted)>;
    void judge(const Vec3& base, const std::vector<int>& links, const Told& told);
    // Speeds that an impulse along S of a free joint makes in H, of free joints. After `hold`, which it uses up; as
    // `stop`, from where the first such call begins anew.
    void strike(int link, const double* impulse, double* speeds);
    // Open nodes, and closed ones below them.
    int visited() const { return static_cast<int>(order_.size()); }

    // Frames of open nodes, after places of free joints were set; then loads may be; then closed nodes take them up.
    void update_frames();
    void update_loads();
    // Coordinates, and speeds along S; those of locked joints are zero.
    void take_motion(const double* q, const double* u);
    // H: what open nodes answer, by the motion taken; then accelerations of free joints along S, others untouched.
    // base: acceleration of the ground.
    void hold();
    void accelerate(const Vec3& base, double* rates);
    // F: what open nodes answer.
    void loosen();
    // ‖a_H − a_F‖² over masses, and the same of accelerations of H in which no joint accelerates.
    double distance(const Vec3& base) const;
    double distance_at_rest(const Vec3& base);
    double kinetic_energy() const;
    // Locked joints that would gain most of the distance, those of the liveliest nodes first, until what is left is
    // `enough` or there are `most`; what is left ranks, and does not bound: the root decides. After `loosen`.
    double gains(const Vec3& base, double enough, int most, std::vector<int>& links);
    // uᵀ D⁻¹ u of a free joint in H: what it would lose if it alone were stopped, or held.
    double energy_along(int link, const double* u) const;
    // fᵀ Φ f of a load on a body, in its frame: how F would accelerate along it, per load. After `loosen`.
    double mobility_along(int link, const Six& load);
    // An inelastic impact that stops all that is locked: speeds of free joints after it. It uses up what `hold` found.
    void stop(double* u);

    std::size_t bytes() const;
    // For tests: what nodes below the front hold becomes NaN, until they are closed again.
    void spoil_below();

  private:
    template <class T>
    using Array = std::vector<T, AlignedAllocator<T>>;
    static constexpr int kVector = 6 * kColumns, kScalar = kColumns * kColumns;

    // F. Columns of open nodes are numbers, and the first alone.
    struct Join : JoinMatrices {
        Matrix6 w;
        double b1[kVector], b2[kVector], gamma[kVector], c[kScalar];
    };
    struct Law {
        Matrix6 w;
        double g[kVector], k[kScalar];
    };
    struct Body {  // Φ, b, c in a join; V, h, k where it is a branch by itself
        Matrix6 phi;
        double b[kVector], c[kScalar], force[6];
    };
    // H, of an open node or one of the front: a join as such, a body in a join (Φ, b, c), a branch by itself (V, h, k)
    // or a law (W, g, k) in phi1, b1, c.
    struct Held : JoinMatrices {
        Matrix6 w;
        double b1[6], b2[6], gamma[6], c;
        double input[12];  // on the way down: forces on a stretch, the acceleration of a law's carrier or of a body
        Twist twist;       // of the first body, or a law's carrier
        double s[kProducts], zeta[6];
        double carried[6];  // acceleration, where no joint accelerates
        bool is_open;
    };
    struct Numbers {  // of joints, by freedoms
        Array<double> u, g1, g2, d, r;
        struct Bar {
            int link, directions;
            double along[36], whole[36], bias[6];
        };
        std::vector<Bar> bars;
        std::vector<int> bar_of;  // per link, −1: none
        int directions(int link) const { return bar_of[link] < 0 ? 0 : bars[bar_of[link]].directions; }
        JointNumbers of(int number, const Link& link, const double* S, int square, bool free);
        // uᵀ D⁻¹ u.
        double energy(int number, const Link& link, int square, bool factored, const double* u) const;
    };
    const Numbers& numbers_of(System system) const { return system == System::moving ? h_ : f_; }
    // What a part is in columns of the node above.
    struct Parts {
        double b1[kVector], b2[kVector], c[kScalar];
    };

    // What a node is given in F, on the way down.
    struct Given {
        double gain;  // of the distance by what is locked in it; or by its joint alone
        int node;
        bool of_joint;
        double input[12];
        Vec3 w;  // of its first body, or of a law's carrier
        bool operator<(const Given& other) const { return gain < other.gain; }
    };
    StretchLoads own_columns(const AssemblyNode& node) const;
    void ask(const Given& at);
    double gain_in(const Given& at) const;
    void joint_rate(const Given& at, double* rate) const;
    void exerted_in(const Given& at, double* along) const;
    template <class Give>
    void divide(const Given& at, const Give& give) const;
    void enter(const Given& at);
    void pass_on(const Given& at);

    bool is_open(int node) const { return open_[node] > 0; }
    bool is_alone(const AssemblyNode& node) const { return tree().nodes[node.parent].kind == NodeKind::rake; }
    Held& held(int node) { return held_[at_[node]]; }
    const Held& held(int node) const { return held_[at_[node]]; }
    Place offset(const AssemblyNode& node) const;  // of the frame behind a node's joint in its first
    Twist last_twist(int node) const;
    Six last_carried(int node) const;
    bool is_behind(int node) const;  // its joint is that of the node above
    void count();
    void close(int node, bool matrices);
    void begin_front(int node);
    // Impulses: of momenta, which are to be stopped where joints are locked, or of a joint's effort alone.
    enum class Acting : std::uint8_t { forces, momenta, impulse };
    void hold_front(int node, Acting acting);
    void hold_open(int node, Acting acting);
    Mobility mobility(int node) const;
    StretchLoads loads(int node) const;
    template <int N>
    void answer(int node, bool matrices);
    template <int N>
    void answer_body(const AssemblyNode& node, bool matrices);
    template <int N>
    void answer_join(int number, bool matrices);
    template <int N>
    void answer_rake(int number, bool matrices);
    Mobility free_mobility(int node) const;
    template <int N>
    StretchLoads part(int node, const Mat3* turned, Parts& room) const;
    template <int N>
    std::pair<const double*, const double*> law(int node, Parts& room) const;
    void hand_down(int node, double* rates);
    void descend_struck(double* speeds);

    const std::shared_ptr<const Linkage> linkage_;
    Array<Join> joins_;
    Array<Law> laws_;
    Array<Body> bodies_;
    std::vector<Composite> composites_;  // per node
    std::vector<int> squares_;           // per link where its D begins
    Numbers f_, h_;
    Array<double> subspace_, effort_, nothing_;
    int struck_ = -1;  // link
    double impulse_[6];
    Frames frames_;
    LevelMarks marks_;
    std::vector<std::uint8_t> free_, counted_;  // per link: now, and as arranged
    std::vector<int> changed_;
    std::vector<int> open_;   // per node the number of free joints in it
    std::vector<int> at_;     // per node its place in order_, −1: it is below the front
    std::vector<int> order_;  // open nodes and their front, each before its parts
    Array<Held> held_;        // by order_
    std::vector<int> stack_;
    std::vector<Given> given_;            // in open nodes
    std::vector<Given> queue_;            // a heap by gain
    std::vector<std::uint8_t> is_asked_;  // per node, while joints are told of
    std::vector<int> told_;               // nodes of these
    DoubleDouble left_;                   // the sum of gains in it
};

}  // namespace bellcrank
