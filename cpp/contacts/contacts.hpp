// Forces of compliant contact, and what they remember from step to step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "contacts/contact_search.hpp"
#include "contacts/contact_sweep.hpp"
#include "contacts/surface_way.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

// A touching point with what acts there.
struct Contact {
    int group, a, b;  // shapes of the set
    std::uint64_t feature;
    Vec3 position, normal;  // of the surfaces' middle, from b to a; world axes
    double gap;
    Vec3 force;       // on a, world axes [N]
    Vec3 slip;        // velocity of a relative to b across the normal [m/s]
    double approach;  // δ̇ [m/s]
    bool sticks;
    Vec3 moment{0.0, 0.0, 0.0};  // on a, beside that of the force: resistance to rolling and spinning [N m]
};

// What a touching point remembers, as states hold it: in world axes where bodies have the poses of the state.
struct ContactMemory {
    double shapes[2], features[2];  // a and b of the set, and what of them touches
    Vec3 shear;                     // s, elastic displacement
    Vec3 position, normal;          // from b to a; where the contact was on b
    double slips;                   // 1 or 0

    BELLCRANK_FIELDS(ContactMemory, (shapes), (features), (shear, "m"), (position, "m"), (normal), (slips))
};
static_assert(fields_fill<ContactMemory>());

// What is recorded of a touching point, in world axes.
struct RecordedContact {
    double contact;        // its group
    ContactMemory memory;  // position: of the surfaces' middle; slips: whether its friction is at the limit
    double gap;
    Vec3 force, slip;  // on a; of a relative to b
    double approach;
    Vec3 moment;  // on a

    BELLCRANK_FIELDS(RecordedContact, (contact), (memory), (gap, "m"), (force, "N"), (slip, "m/s"), (approach, "m/s"),
                     (moment, "N m"))
};
static_assert(fields_fill<RecordedContact>());

// How what a point exerts follows the motion of both bodies: of its force on a and of its place, world axes, the
// derivatives by position, small rotation, velocity and angular velocity of a and then of b; rotations and angular
// velocities in principal axes. Of its force those by the numbers of its law, too. What the point remembers stays.
struct ContactSlopes {
    static constexpr int kOfBody = 12, kInputs = 2 * kOfBody;
    // Why there are none: surfaces end or bend beside the point. Or there are to one side only: it is about to touch or
    // to lift off; or it slips, and its friction begins with the next motion.
    enum class Kink { none, edge, touch, start };

    int group, a, b;  // bodies
    Kink kink;
    Vec3 force, position;
    double of_force[3][kInputs]{}, of_position[3][kInputs]{}, by_law[3][kContactNumbers]{};  // of all but edges
};

// Friction of a point that sticks is elastic: −k_t (s + τ ṡ), with the displacement s of a relative to b since it
// touched, as far as Coulomb's limit. What is remembered changes only where a step is accepted (commit()): between, the
// force depends on the state alone, and methods keep their order.
//
// Slices of tyres come and go without events. Those that are about to touch are marked ahead, and s begins where the
// ground is met between then and now.
//
// s grows from the last commit on by the difference of the ways that the contact point has gone on either surface
// (contacts/surface_way.hpp): a ball that rolls does not slip.
class Contacts {
  public:
    explicit Contacts(const ContactSet& set) : set_(set), search_(set), sweep_(set), begins_(set.groups.size()) {}

    bool empty() const { return set_.empty(); }
    // All touching points at a state (records of spatial/body_state.hpp); those of the last evaluation.
    const std::vector<Contact>& evaluate(const double* poses, const double* twists);
    const std::vector<Contact>& listed() const { return contacts_; }
    void append_records(std::vector<RecordedContact>& records) const;
    // Adds what they exert to records: force, world axes, moment about the com, principal axes. Nothing on the ground.
    void add_forces(const double* poses, const double* twists, double* force);
    // Of all points that touch at a state, but for those of tyres. They are others once revision() is.
    int revision() const { return revision_; }
    void find_slopes(const double* poses, const double* twists, std::vector<ContactSlopes>& out);
    // Those with kinks, points that are about to touch as well.
    std::vector<ContactSlopes> kinks(const double* poses, const double* twists);
    // What the points of a group exert on a body, after evaluate(): force, and moment about a point, world axes.
    std::pair<Vec3, Vec3> wrench(int group, int body, const Vec3& about) const;
    // What the points of a group do to the bodies [W], after evaluate().
    double power(int group, const double* poses, const double* twists) const;
    // Elastic energy of a group after evaluate(); of all.
    double stored_energy(int group) const;
    double elastic_energy(const double* poses, const double* twists);

    // What ends a step where it becomes negative, for each group (of a tyre the first alone, until it touches a shape):
    // the least gap, in sizes, of points that did not touch at the last commit (they touch), the part of the elastic
    // displacement that is left before a point begins to slip whose static friction is set (it slips), the least speed
    // of points that slipped (they stick), and minus the largest gap of those that did touch (they lift off). Between
    // such events forces are smooth functions of the state.
    static constexpr int kEvents = 4;
    int events() const { return kEvents * static_cast<int>(set_.groups.size()); }
    void margins(const double* poses, const double* twists, double* out);

    // Looks for shapes that begin to touch within a step: to a state, from one, and then between.
    bool is_short(double h, const double* twists) const { return sweep_.is_short(h, twists); }
    void sweep_to(double t, const double* poses, const double* twists) { sweep_.to(t, poses, twists); }
    void sweep_from(double t, const double* poses, const double* twists) { sweep_.from(t, poses, twists, in_touch_); }
    double apart_until(double t, const double* poses) { return sweep_.apart_until(t, poses); }
    void forget_distances() { sweep_.forget(); }
    // The same as far as those get that touch, from the last commit on; and all, for those who do not look within
    // steps.
    double calm_time() const { return calm_time_; }
    double longest_step(double t, double h, const double* poses, const double* twists);

    // Whether points that did not touch at the last commit are left alone, for those who watch the margins: they end a
    // step where such a point begins to touch, and within it no force sets in.
    void leave_new_points_alone(bool alone) {
        leaves_new_alone_ = alone;
        ++revision_;
    }

    // The next commit ends a step where this event was found: the point that comes nearest changes there. Where a step
    // ends differs from where the event was found by the projection onto the constraints, and no step must end at it
    // again and again.
    void end_by(int event) { ended_by_ = event; }
    // A step ends here.
    void commit(const double* poses, const double* twists);
    void forget();
    // Whether a point of the group began to touch at the last commit.
    bool begins(int group) const { return begins_[group]; }

    // The group of a tyre whose force had no value since the last commit, because it came behind an open mesh; or -1.
    int lost() const { return lost_; }

    // For methods that step by impulses: no force follows from the state. A step lists its contacts with forces;
    // the next commit() takes the list as what acts and as what is remembered.
    void be_rigid(bool rigid);
    void leave_out(bool all) {
        leaves_out_ = all;
        ++revision_;
    }
    // What is near, or may be after this way [m].
    const std::vector<FoundContact>& near(const double* poses, double way);
    // Whether a point slipped at the last commit; nothing if it did not touch.
    std::optional<bool> slipped(const FoundContact& found, const double* poses);
    // The velocity of a relative to b where they touch.
    Vec3 velocity_between(const FoundContact& found, const double* poses, const double* twists) const;
    void begin_list();
    void list(const Contact& contact) { list_.push_back(contact); }
    const std::vector<Contact>& current_list() const { return list_; }
    void restore_list(const std::vector<Contact>& list) { list_ = list; }

    std::vector<ContactMemory> memory(const double* poses) const;
    // That of append_records() serves as well: a point slips in it where its friction is at the limit, which damping
    // brings it to before s is. Such a point still sticks.
    // Throws std::invalid_argument for what is no memory of this set.
    void remember(std::span<const ContactMemory> memory, const double* poses);

  private:
    struct Anchor {
        int a, b;
        std::uint64_t feature;
        Vec3 shear;  // s at the last commit, world axes
        SurfaceMark mark;
        bool slips;
        int group;
        double gap;  // that was open then

        bool touched() const { return gap <= 0.0; }
        std::tuple<int, int, std::uint64_t> key() const { return {a, b, feature}; }
    };
    void lose(int group, double* force);
    void take_list(const double* poses);
    void take(std::vector<Anchor>& anchors);
    bool in_touch(int a, int b) const;
    const ContactLaw& law_of(int group, std::uint64_t feature) const;
    bool of_tyre(int group) const { return set_.groups[group].of_tyre; }
    double stopped(const Contact& c, const double* poses, const double* twists) const;
    bool would_slip(const Anchor* before, const Contact& c, const ContactForce& f) const;
    int changed_by_event() const;
    bool spring_slips(const Anchor& anchor) const;
    void mark_ahead(const double* poses, std::vector<Anchor>& anchors);
    Anchor anchor_at(const double* poses, int group, int a, int b, std::uint64_t feature, const Vec3& position,
                     const Vec3& normal, const Vec3& shear, bool slips, double gap = 0.0) const;
    Anchor* find_anchor(int group, int a, int b, const ContactPoint& point, const double* poses);
    // Whether the last search found one point of two shapes, open ones included.
    bool is_only_point(int a, int b) const;
    Anchor* find_bristle(int group, int a, int b, std::uint64_t feature);
    template <class S>
    struct Meeting;
    template <class S>
    TouchingPointT<S> touching(const Meeting<S>& at, const Anchor* anchor) const;
    class SurfaceSlopes;
    void add_slopes(const double* poses, const double* twists, std::vector<ContactSlopes>& out);
    ContactSlopes slopes_of(size_t point, SurfaceSlopes& surfaces) const;
    void evaluate(const FoundContact& found, Anchor* anchor, const double* poses, const double* twists);
    const std::vector<Contact>& evaluate_within(double part, bool with_new, const double* poses, const double* twists);

    const ContactSet& set_;
    ContactSearch search_;
    ContactSweep sweep_;
    std::vector<Contact> contacts_;
    std::vector<TouchingPoint> touching_;  // beside contacts_
    std::vector<Anchor*> matched_;         // the same; null for points that did not touch
    std::vector<ContactForce> forces_;
    std::vector<Anchor> anchors_, next_;         // sorted by shapes and feature
    std::vector<std::pair<int, int>> in_touch_;  // shapes, sorted
    std::vector<char> begins_;                   // by group
    bool leaves_new_alone_ = false;
    double calm_time_ = Bounds::kInfinity;
    int lost_ = -1, ended_by_ = -1, revision_ = 0;
    bool rigid_ = false, leaves_out_ = false, listed_ = false;
    std::vector<Contact> list_;
    std::shared_ptr<SurfaceSlopes> surfaces_;  // of those who differentiate
};

}  // namespace bellcrank
