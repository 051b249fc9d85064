// Forces on a linkage as its assembly takes them.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "adaptive/frames.hpp"
#include "adaptive/linkage.hpp"
#include "contacts/contacts.hpp"
#include "model/branches.hpp"

namespace bellcrank {

// What takes loads on bodies, in their frames, and efforts along S. False: they are the same as before.
class LoadedAssembly {
  public:
    virtual ~LoadedAssembly() = default;
    virtual bool set_force(int link, const double* force) = 0;
    virtual bool set_effort(int link, const double* effort) = 0;
    virtual const Frames& placed() const = 0;
    // The twist of a body, in its frame.
    virtual Twist twist_of(int link) const = 0;
};

// A hand pulls a point of a body, in its frame, towards a place in the world: a spring of no length whose force has a
// limit, and a damper.
struct Hand {
    Vec3 point, target;
    double stiffness = 0.0, damping = 0.0, most = std::numeric_limits<double>::infinity();
};

// Forces of a model that act on bodies, and along coordinates of joints; they are brought into moving frames where
// these have moved.
class LinkageForces {
  public:
    LinkageForces(const Model& model, const Linkage& linkage);
    // Why forces of a model cannot be taken, where bodies stand still and where they move; empty if they can.
    static std::vector<Obstacle> obstacles(const Model& model, bool moves);

    // q, u: coordinates, and speeds along S; no speeds, u null, where all stand still. Apply all forces to the
    // assembly; or those that may have changed with time, and where joints have moved. Its frames keep the rotations of
    // links on which forces fixed in the world act, in the order of `turned()`.
    void apply_all(double t, const double* q, const double* u, LoadedAssembly& assembly);
    void apply(double t, const double* q, const double* u, const std::vector<int>& moved, LoadedAssembly& assembly);

    // Efforts of laws along coordinates of a link's joint, added up by coordinate. given: rates of those that are
    // given, null: none are.
    void efforts_along(int link, double t, const double* q, const double* u, const double* given, double* along) const;

    // The energy of laws along a link's joint that have a potential, J, and the power of these laws alone, W.
    double potential_along(int link, const double* q) const;
    double stored_power(int link, double t, const double* q, const double* u, const double* given) const;
    // The energy of forces between bodies that have a potential, where they were applied last, J.
    double potential_between(double t) const;

    // Whether forces depend on the motion of bodies that need not be next to joints that move.
    bool follow_bodies() const { return has_between() || !hands_.empty(); }
    // The hand of a link's body, which acts from the next `apply` on.
    void hold(int link, const Hand& hand);
    void release(int link);
    bool has_between() const { return !between_.empty() || has_contacts(); }
    // At poses of all bodies angles of forces between them begin on these branches, and contacts with what they
    // remember, which fits the model or is nothing. Throws std::invalid_argument where it does not.
    void begin(const AngleBranches& branches, const double* poses, std::span<const ContactMemory> memory);
    // Contacts are compliant here, and their forces depend on poses and twists alone within a step (contacts/
    // contacts.hpp). All this is where forces were applied last: how far a step may go, that one ends there, and what
    // they remember.
    bool has_contacts() const { return contacts_ != nullptr; }
    double longest_step(double t, double h) { return contacts_->longest_step(t, h, x_.data(), u_.data()); }
    void commit() { contacts_->commit(x_.data(), u_.data()); }
    std::vector<ContactMemory> memory() const;
    // Links on which forces fixed in the world act.
    const std::vector<int>& turned() const { return turned_; }

  private:
    struct Loaded {  // a body with applied forces
        int link;
        std::vector<int> wrenches;
        bool by_time, is_attached;  // attached: forces between bodies act on it
        int turned;                 // its place among turned(), −1: all its forces turn with it
    };
    // Forces that are not along a joint's coordinates act between bodies wherever these are.
    struct Between {
        int law, laws, formula;     // the first of laws side by side, and their number, or a force by a formula; −1
        std::vector<int> followed;  // coordinates
    };
    struct Along {  // a law, and the coordinate of a link's joint that it acts along
        int law, link, coordinate;
    };
    void apply_to(const Loaded& body, double t, LoadedAssembly& assembly) const;
    Six pull_on(int link, const LoadedAssembly& assembly) const;
    void find_between(const std::vector<std::uint8_t>& is_along);
    void exert_between(double t, const LoadedAssembly& assembly);
    void apply_along(int link, double t, const double* q, const double* u, LoadedAssembly& assembly) const;

    const Model& model_;
    const Linkage& linkage_;
    std::vector<Loaded> loaded_, by_pose_, by_time_;
    std::vector<int> turned_;
    std::vector<Along> laws_;     // those of one link side by side
    std::vector<int> first_law_;  // per link, −1: none
    std::vector<int> driven_;     // links with laws that depend on time
    std::vector<Between> between_;
    std::vector<std::pair<int, Hand>> hands_;  // by link
    std::vector<int> attached_;                // links
    std::unique_ptr<Contacts> contacts_;       // null: there are none
    std::unique_ptr<AngleBranches> branches_;  // of their coordinates
    std::vector<double> x_, u_, exerted_;      // records, of attached bodies alone
};

}  // namespace bellcrank
