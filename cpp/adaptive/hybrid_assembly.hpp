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

#include <memory>
#include <vector>

#include "adaptive/frames.hpp"
#include "adaptive/linkage.hpp"
#include "adaptive/linkage_forces.hpp"
#include "adaptive/loops.hpp"
#include "adaptive/node_equations.hpp"
#include "adaptive/ports.hpp"
#include "adaptive/velocity_terms.hpp"
#include "spatial/double_double.hpp"

namespace bellcrank {

class HybridAssembly final : public LoadedAssembly {
  public:
    // Every joint is locked, every place that of coordinates that were not set.
    HybridAssembly(std::shared_ptr<const Model> model, std::shared_ptr<const Linkage> linkage);

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

    // How a joint moves by itself where coordinates are given (`Linkage::given`): their rates, and S along these and
    // along their accelerations. Its node is always open.
    void set_given(int link, const double* rates, const Six& twist, const Six& acceleration);
    Six given_twist(int link) const { return given_of_[link] < 0 ? Six{} : six(givens_[given_of_[link]].twist); }
    const double* given_rates(int link) const { return given_of_[link] < 0 ? nullptr : givens_[given_of_[link]].rates; }
    // What acts on the child of such a joint by it, in its frame; after `accelerate`.
    Six given_force(int link) const { return six(held(tree().joint_of[link]).force); }
    // ζ of a joint with speeds u along S and the relative twist that belongs to them.
    Six bias(int link, const double* q, const double* u, const Six& relative, const Vec3& w) const;

    bool is_free(int link) const { return free_[link] != 0; }
    // A joint that was free holds at once; one that is freed has to be arranged first.
    void set_free(int link, bool free);
    // Takes the set as it is now: closes nodes in which no joint is free any longer, at the places where they are.
    void arrange();
    void close_all();  // all nodes anew, as after the first places were set
    // Where loops close. Angles in them begin on these branches.
    const Loops& loops() const { return loops_; }
    void begin_loops(const AngleBranches& branches) { loops_.begin(branches); }
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
    // The same in F of some links, with how they accelerate along S there, in any order. After `loosen`.
    struct JointInF {
        int link;
        double rate[6], exerted[6];
    };
    void judge(const Vec3& base, const std::vector<int>& links, std::vector<JointInF>& told);
    // Speeds that an impulse along S of a free joint makes in H, of free joints. After `hold`, which it uses up; as
    // `stop`, from where the first such call begins anew.
    void strike(int link, const double* impulse, double* speeds);
    // Open nodes, and closed ones below them.
    int visited() const { return static_cast<int>(order_.size()); }

    // Frames of open nodes, after places of free joints were set; then loads may be; then closed nodes take them up.
    void update_frames();
    void update_loads();
    // Coordinates, and speeds along S; those of locked joints are zero.
    void take_motion(double t, const double* q, const double* u);
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
    // What loads on bodies, efforts along joints and what gives motions or leads rows do to the bodies, W, after
    // `accelerate`.
    double power(const double* u) const;
    // ∫ r dm in the world.
    Vec3 first_moment();
    // Locked joints that would gain most of the distance, those of the liveliest nodes first, until what is left is
    // `enough` or there are `most`; what is left ranks, and does not bound: the root decides. After `loosen`.
    double gains(const Vec3& base, double enough, int most, std::vector<int>& links);
    // uᵀ D⁻¹ u of a free joint in H: what it would lose if it alone were stopped, or held.
    double energy_along(int link, const double* u) const;
    // fᵀ Φ f of a load on a body, in its frame: how F would accelerate along it, per load. After `loosen`.
    double mobility_along(int link, const Six& load);
    // The acceleration of a body in H, in its frame, after `accelerate` to these rates; and by how much that in F is
    // more, after `loosen`.
    Six acceleration(int link, const double* rates) const;
    Six lack(const Vec3& base, int link, const double* rates);
    // An inelastic impact that stops all that is locked: speeds of free joints after it. It uses up what `hold` found.
    void stop(double* u);
    // The largest error of rows of loops that can move, or of all; joints on the ways that errors leave open. The
    // displacement along S, least in the norm of kinetic energy, that takes it away. It uses up what `hold` found.
    double loop_error(bool of_all = false) const;
    void find_open_ways(double error, std::vector<int>& links) const;
    void correct(double* displacement);
    // Half the square of what it changed, after its speeds were taken as the motion.
    double energy_of_stop() const;

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
        Twist before;      // of an impact
        double s[kProducts], zeta[6];
        double carried[6];  // acceleration, where no joint accelerates
        double force[6];    // on what its joint carries, in the frame behind it, where that is asked for
        double mass;        // of the bodies in it, and their first moment in its first frame
        Vec3 moment;
        bool is_open;
    };
    // What a pass through H asks for: accelerations; speeds after momenta were stopped where joints are locked; those
    // that an impulse of one joint makes; displacements that close loops.
    enum class Pass : std::uint8_t { motion, momenta, impulse, displacement };
    struct Ports {                  // of a node
        std::vector<Place> places;  // in its first frame
        MeetingRows rows;
    };
    struct GivenOf {  // of a joint
        double rates[7], twist[6], acceleration[6];
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
        Vec3 w;     // of its first body, or of a law's carrier
        int loads;  // where those at its ports are in loads_
        bool operator<(const Given& other) const { return gain < other.gain; }
    };
    StretchLoads own_columns(int node) const;
    void ask(const Given& at);
    double gain_in(const Given& at) const;
    void joint_rate(const Given& at, const double* loads, double* rate) const;
    Given begin_down(const Vec3& base);
    void exerted_in(const Given& at, const double* loads, double* along) const;
    template <class Give>
    void divide(const Given& at, const double* loads, const Give& give);
    void enter(const Given& at);
    const double* loads_of(const Given& at);
    void pass_on(const Given& at, const double* loads);
    Six behind_rake(const Given& at, const double* loads) const;

    bool is_open(int node) const { return open_[node] > 0; }
    bool is_alone(const AssemblyNode& node) const { return tree().nodes[node.parent].kind == NodeKind::rake; }
    Held& held(int node) { return held_[at_[node]]; }
    const Held& held(int node) const { return held_[at_[node]]; }
    Place offset(const AssemblyNode& node) const;  // of the frame behind a node's joint in its first
    Twist last_twist(int node) const;
    Six last_carried(int node) const;
    Six carried_of(int link) const;
    double least_of_free(const Six& base) const;
    bool is_behind(int node) const;  // its joint is that of the node above
    void count();
    void close(int node, bool matrices);
    void begin_front(int node);
    void hold_front(int node, Pass pass);
    void hold_open(int node, Pass pass);
    void hold_all(Pass pass);
    const double* zeta_of(int node, Pass pass) const;
    bool is_law(const AssemblyNode& node) const { return node.kind == NodeKind::rake || node.kind == NodeKind::sum; }
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
    // Nodes with ports (adaptive/ported_answers.cpp).
    void place_ports(int node);
    void find_rows();
    template <bool kFree>
    PartColumns part_columns(int node, int own, const Mat3* turned, double* turn) const;
    template <bool kFree>
    void answer_ported(int node, int own, Pass pass);
    template <bool kFree>
    const double* bias_of(int node, int own, Pass pass, double* room) const;
    void hold_ported_front(int node, Pass pass);
    const double* loads_in(int node, bool free, const double* kept, const double* xi, int own, const Six& first,
                           const Six& second);
    void book_multipliers(int ported);
    double work_of_rows(const Vec3& base);
    void answer_along(int node, int from, double* first, double* second, double* scalar);
    Six load_of_ports(int node, const double* loads, const Vec3& w, double* scalar) const;
    void descend(Pass pass, double* speeds);

    const std::shared_ptr<const Linkage> linkage_;
    Array<Join> joins_;
    Array<Law> laws_;
    Array<Body> bodies_;
    std::vector<Composite> composites_;  // per node
    std::vector<int> squares_;           // per link where its D begins
    Numbers f_, h_;
    Array<double> subspace_, effort_, nothing_;
    Loops loops_;
    std::vector<Ports> ports_;  // per node that has some
    std::vector<PortedColumns> f_ports_, h_ports_;
    std::vector<Twist> port_twists_;
    std::vector<double> at_ports_, multipliers_;  // of one node
    std::vector<double> loads_, across_;          // at ports: of all nodes that were given some; along a path
    double led_power_ = 0.0;                      // of multipliers of rows that change with time
    bool ranks_ = true;                           // whether closed nodes are asked for their gains
    Vec3 base_{0, 0, 0};
    double time_ = 0.0;
    int struck_ = -1;  // link
    double impulse_[6];
    Frames frames_;
    LevelMarks marks_;
    std::vector<std::uint8_t> free_, counted_;  // per link: now, and as arranged
    bool is_loose(int link) const { return is_free(link) || given_of_[link] >= 0; }
    std::vector<int> given_of_;  // per link, −1: nothing is given
    std::vector<GivenOf> givens_;
    std::vector<int> changed_;
    std::vector<int> open_;   // per node the number of joints in it that are free or driven
    std::vector<int> at_;     // per node its place in order_, −1: it is below the front
    std::vector<int> order_;  // open nodes and their front, each before its parts
    Array<Held> held_;        // by order_
    std::vector<int> stack_, path_;
    std::vector<Given> given_;            // in open nodes
    std::vector<Given> queue_;            // a heap by gain
    std::vector<std::uint8_t> is_asked_;  // per node, while joints are told of
    std::vector<int> told_;               // nodes of these
    DoubleDouble left_;                   // the sum of gains in it
};

}  // namespace bellcrank
