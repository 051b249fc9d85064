// Forces of compliant contact, and what they remember from step to step.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "contacts/contact_search.hpp"

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
};

// Friction of a point that sticks is elastic: −k_t (s + τ ṡ), with the displacement s of a relative to b since it
// touched, as far as Coulomb's limit. What is remembered changes only where a step is accepted (commit()): between, the
// force depends on the state alone, and methods keep their order.
//
// From the last commit on, s grows by the difference of the ways that the contact point has gone on either surface. Such
// a way is the chord from where the point was, its part in the direction in which the normal turned lengthened to an
// arc: so a ball that rolls does not slip, however long a step.
class Contacts {
  public:
    explicit Contacts(const ContactSet& set) : set_(set), search_(set) {}

    bool empty() const { return set_.empty(); }
    // All touching points at a state (records of spatial/body_state.hpp).
    const std::vector<Contact>& evaluate(const double* poses, const double* twists);
    // Adds what they exert to records: force, world axes, moment about the com, principal axes. Nothing on the ground.
    void add_forces(const double* poses, const double* twists, double* force);
    // What the points of a group exert on a body: moment about the origin of its record and force, world axes. After
    // evaluate().
    void add_wrench(int group, int body, const double* poses, double wrench[6]) const;
    double elastic_energy(const double* poses, const double* twists);

    // A step ends here.
    void commit(const double* poses, const double* twists);
    void forget() { anchors_.clear(); }

    // What is remembered, kMemory numbers for each point: shapes a and b, their features, s, where the contact was on b
    // and its normal there, in world axes where bodies have these poses; whether it slips.
    static constexpr int kMemory = 14;
    std::vector<double> memory(const double* poses) const;
    // Throws std::invalid_argument for what is no memory of this set.
    void remember(std::span<const double> numbers, const double* poses);

  private:
    struct Anchor {
        int a, b;
        std::uint64_t feature;
        Vec3 shear;     // s at the last commit, in axes of b's body
        Vec3 point[2];  // where the contact was, on the bodies of a and b, principal axes
        Vec3 normal[2];
        bool slips;

        std::tuple<int, int, std::uint64_t> key() const { return {a, b, feature}; }
    };
    static void sort(std::vector<Anchor>& anchors);
    Anchor anchor_at(const double* poses, int a, int b, std::uint64_t feature, const Vec3& position,
                     const Vec3& normal, const Vec3& shear, bool slips) const;
    const Anchor* find_anchor(const FoundContact& found) const;
    Vec3 way(const Anchor& anchor, int side, int body, const double* poses, const ContactPoint& now) const;
    void evaluate(const FoundContact& found, const double* poses, const double* twists);

    const ContactSet& set_;
    ContactSearch search_;
    std::vector<Contact> contacts_;
    std::vector<TouchingPoint> touching_;  // beside contacts_
    std::vector<ContactForce> forces_;
    std::vector<Anchor> anchors_, next_;  // sorted by shapes and feature
};

}  // namespace bellcrank
