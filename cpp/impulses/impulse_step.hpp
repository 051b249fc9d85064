// A step in which contacts are rigid: impulses of joints, drives, limits and contacts from one problem.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "impulses/impulse_problem.hpp"
#include "impulses/rubbing_rows.hpp"
#include "model/free_motion.hpp"
#include "model/ports.hpp"

namespace bellcrank {

// Time stepping of J. J. Moreau (Unilateral contact and dry friction in finite freedom dynamics, 1988) in the
// velocities of a formulation (docs/theory/impulses.md). With half of last step's kick, h a_f/2 + M⁻¹ Jᵀ P/2, in u′,
// the bodies go from x to x₁ = x ⊕ h u′, there back onto the rows and out of contacts, and then get the velocity
//   u₁ = u′ + h a_f/2 + M⁻¹ J₁ᵀ P₁    with  J₁ u₁ + C_t = 0 in equations,  0 ≤ P₁ₙ ⟂ u₁ₙ + s ≥ 0  in limits and
//   contacts
// and Coulomb friction. Bodies fly with their twists; joints that are no rows, as those of a tree, take from these what
// they let pass, which never adds to the energy. So the smooth motion is that of the method of Störmer and Verlet, of
// second order. s = e uₙ where something is hit that bounces; where a gap is open it is what closes the gap in the next
// step, so that nothing gets in that does not bounce. After a hit the kick is found anew, without it.
class ImpulseStep {
  public:
    ImpulseStep(const Model& model, const FreeMotion& free_motion, Contacts& contacts, RubbingRows& friction,
                std::unique_ptr<ImpulseSpace> space, double rest_speed, double closed);

    // Steps from (t, x, u) to (t + h, x1, u1). tolerance: on the residual of the impulses, a part of the largest speed.
    ImpulseOutcome step(double t, double h, const double* x, const double* u, double tolerance, double* x1, double* u1);
    // The same of impulses at points alone (Impulses::strike).
    ImpulseOutcome strike(double t, const double* x, const std::vector<Blow>& blows,
                          const std::vector<StruckPoint>& points, double tolerance, double* u,
                          std::vector<Vec3>& impulses);

  private:
    static constexpr double kSlips = 1e-6;    // speed beyond which a point slips, in speeds (ContactSet)
    static constexpr double kTouches = 1e-8;  // gap of a point that is closed, in sizes

    // A point from step to step: shapes and feature.
    using Key = std::tuple<int, int, std::uint64_t>;
    struct LastPoint {
        Key key;
        Vec3 impulse, moment, position;  // on the first shape; world axes
        bool taken;                      // for a point of this step
    };
    // What contacts do to a body: their impulse, and its moment about the com; world axes.
    struct Push {
        Vec3 linear{0.0, 0.0, 0.0}, angular{0.0, 0.0, 0.0};
    };
    // What two bodies that touch do to each other in the next step's kick.
    struct PairKick {
        std::pair<int, int> bodies;
        Push on[2];
        bool touches = false;
    };
    // Impulses of two bodies on each other, on the first: in the kick, and at the end of the step.
    struct PairPush {
        std::pair<int, int> bodies;
        Vec3 kick{0.0, 0.0, 0.0}, end{0.0, 0.0, 0.0};
    };
    static Key key_of(const FoundContact& found) { return {found.a, found.b, found.point.feature}; }

    ImpulseOutcome step_from(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                             double* u1);
    bool begin_rubbing(double t, double h, const double* x, const double* u);
    bool is_held(const ImpulsePiece& piece) const {
        return piece.holds_positions() || (piece.friction >= 0 && rubbing_[piece.friction].holds);
    }
    void bound_friction(double time);
    double scale_of_speeds() const;
    bool find_senses(double tolerance);
    double work_of_rubbing_kick() const;
    void prepare(double t, double h, const double* x, const double* u, double tolerance);
    void kick_next(double h, const double* u);
    double gather_kick(double h);
    void give_kick(double h, double forced, const double* u);
    void add_pushes();
    void kick_pairs();
    bool is_listed(int i) const;
    double energy_of(const double* twists) const;  // twice the kinetic one
    bool goes_on(double t, const double* x, const double* u) const;
    void remember_end(double t, const double* x, const double* u);

    void move_freely(double t, double h);
    void turn_freely(double h, const double* expected);
    double energy_of_forces(double h) const;
    Vec3 gyroscopic(int body, const Vec3& w) const;  // acceleration, principal axes
    ImpulseOutcome find_velocities(double h, const double* u, double tolerance, double* u1);
    void look_for_points(double h, const double* twists);
    void lay_out(double h, const double* u);
    ImpulsePoint point_at(const FoundContact& found) const;
    double friction_of(const FoundContact& found, const double* twists);
    void start_from_last();
    LastPoint* last_point(const FoundContact& found, bool by_feature);
    ImpulseOutcome solve(double h, double tolerance, double* u1);
    ConeReport find_impulses(double h, double bounce, double far, double tolerance);
    bool pushes_on(double h, double bounce);
    void set_speeds(double h, double bounce, double far);
    bool meets_what_is_far() const;
    double led_by(int row, double compliance) const;
    // An approach along the row of an inequality; closed: a gap up to there is none.
    struct Approach {
        int row;
        double gap, closed, speed, rest_speed, restitution;
        bool meets(double h) const { return gap < -speed * h; }
    };
    Approach to_limit(int row, const ImpulsePiece& piece) const;
    Approach to_point(int i) const;
    bool is_hit(const Approach& at, double h) const;
    bool meets_a_bounce(double h) const;
    double shift(const Approach& at, double h, double bounce, bool beside);
    struct Work {  // size: of its terms, for their rounding
        double normal = 0.0, across = 0.0, size = 0.0;
    };
    Work work_of_contacts(const std::vector<double>& began) const;
    double work_of_kick() const;
    ImpulseOutcome describe(const ConeReport& report) const;
    void remember_impulses();
    void list_contacts(double h, const double* u1);
    void add_up_pairs();
    PairPush& push_of(int a, int b);
    double whole_of(const FoundContact& found);

    bool correct_positions(double t, double h, const double* u, double* x);
    bool penetrates(const double* twists, double h);
    double row_error() const;

    double bouncing_speed(double h, double rest_speed, double pushed = 0.0) const;
    double rest_speed_of(const FoundContact& found) const;
    double fastest(const double* twists) const;

    const Model& model_;
    const FreeMotion& free_motion_;
    Contacts& contacts_;
    RubbingRows& friction_;
    const std::unique_ptr<ImpulseSpace> owned_;
    ImpulseSpace& space_;
    const double rest_speed_;  // of approach, below which nothing bounces [m/s or rad/s]
    const double closed_;      // gap of a limit that is struck: up to there it is none [m or rad]
    ImpulseProblem positions_, velocities_;
    std::vector<FoundContact> points_, close_;  // near, within way_; those that positions are corrected for
    double way_ = 0.0;
    std::vector<double> before_, free_, after_;      // speeds along rows: of the last step, without impulses, with them
    std::vector<double> start_, total_, diagonal_;   // impulses to start from; some of them; that of S
    std::vector<RubbingRows::Rubbing> rubbing_;      // by law
    std::vector<ImpulseRange> bounds_;               // by piece
    std::vector<double> senses_;                     // by law
    std::vector<double> cuts_;                       // of gaps, as speeds; infinite where none is
    std::vector<double> more_;                       // that Poisson's restitution asks for, by point
    std::vector<double> xi_, moved_, freed_;         // a displacement; u′; velocities without impulses
    std::vector<double> flying_, rate_, twists_;     // twists with u′; their accelerations; other twists
    std::vector<double> kick_, twist_kick_;          // for the next step
    std::vector<double> end_twists_, end_rates_;     // where the last step ended: of bodies, and along rows
    std::vector<double> trial_x_, trial_u_;          // of prepare()
    std::vector<double> on_bodies_, contact_part_;   // impulses of the next kick; those of contacts
    std::vector<PairKick> pair_kicks_;               // sorted by bodies
    std::vector<Push> contact_kick_;                 // their sums on bodies
    std::vector<double> last_rows_, end_x_, end_u_;  // impulses of the last step, and where it ended
    std::vector<LastPoint> last_points_;             // sorted
    std::vector<LastPoint> kicking_points_;          // those before, that this step's kick is from
    std::vector<PairPush> pair_pushes_;              // sorted by bodies
    double end_t_ = 0.0, last_h_ = 1.0;
    double part_ = 1.0, reused_ = 0.0;   // of a step's forces that are left to do; of the last kick that is done
    bool kicks_ = false;                 // whether there is a kick
    int factorizations_ = 0, hits_ = 0;  // hits_: what was hit in this step
    double coarseness_ = 0.0;            // of the step at hand (ImpulseOutcome)
};

}  // namespace bellcrank
