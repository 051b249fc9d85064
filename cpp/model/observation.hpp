// What a frame of results holds, and where: declared here, for the core and for all who read frames.
#pragma once

#include <vector>

#include "spatial/fields.hpp"

namespace bellcrank {

// What to record of a state; the lists are in the order of the output.
struct Observation {
    std::vector<int> coordinates;           // value and rate of each: of joints, then of other angles and of forces
    int angles = 0, force_coordinates = 0;  // how many of the coordinates are such
    std::vector<int> rows;                  // multiplier of each model row (effort of a drive or stop)
    struct Reaction {
        std::vector<int> blocks;  // what the blocks' rows exert together
        int pair;                 // on body 2 of this pair, about marker 2's origin, world axes
    };
    std::vector<Reaction> reactions;
    // What a force exerts: the effort of a law; a component of a wrench, moment x, y, z and force x, y, z; an output of
    // a force given by formulas (force_program(), its potential not among them); of a group of contacts, for each of
    // its bodies, force x, y, z and moment x, y, z about the origin of the body's frame, world axes.
    struct Effort {
        enum class Of { law, wrench, formula, contact } of;
        int number, component;
    };
    std::vector<Effort> efforts;
    std::vector<Effort> potentials;  // of laws and of forces given by formulas, that have one, and of contacts
    bool accelerations = false;
    int inputs = 0;         // of the model: all of them, or none
    bool contacts = false;  // how many points touch
    // Whose work a run adds up: all that a law, a wrench, a force given by formulas or a group of contacts exerts, or
    // the rows of a block. column: of the works, to which it is added. The last two columns are what is brought in
    // where the run is set to another state and by impacts.
    struct Account {
        enum class Of { law, wrench, formula, contact, block } of;
        int number, column;
    };
    std::vector<Account> accounts;
    int works = 0;  // columns

    BELLCRANK_FIELDS(Observation, (coordinates), (angles), (force_coordinates), (rows), (reactions), (efforts),
                     (potentials), (accelerations), (inputs), (contacts), (accounts), (works))
};

// How many of each a frame holds; whether it holds accelerations.
struct FrameCounts {
    int bodies = 0, coordinates = 0, angles = 0, force_coordinates = 0, multipliers = 0, reactions = 0, efforts = 0,
        potentials = 0;
    bool accelerations = false;
    int inputs = 0;
    bool contacts = false;
    int works = 0;

    BELLCRANK_FIELDS(FrameCounts, (bodies), (coordinates), (angles), (force_coordinates), (multipliers), (reactions),
                     (efforts), (potentials), (accelerations), (inputs), (contacts), (works))
    static FrameCounts of(const Observation& what, int bodies);
};

// The sections of a frame, in their order. All of bodies, coordinates, multipliers and reactions is in the units, axes
// and points of what users see; flags are 1 where the equations of motion determine a value, of a reaction those of
// moment and force.
enum class Section {
    position,
    rotation,
    velocity,
    angular_velocity,
    coordinates,
    angles,
    force_coordinates,
    rates,
    angle_rates,
    force_rates,
    multipliers,
    reactions,
    unique_multipliers,
    unique_reactions,
    force_efforts,
    force_potentials,
    kinetic,
    potential,
    position_violation,
    velocity_violation,
    acceleration,
    angular_acceleration,
    coordinate_accelerations,
    inputs,
    contact_points,
    works
};
constexpr int kSections = static_cast<int>(Section::works) + 1;

class FrameLayout {
  public:
    explicit FrameLayout(const FrameCounts& counts);

    int size() const { return begin_[kSections]; }
    int begin(Section section) const { return begin_[static_cast<int>(section)]; }
    // Its name, how many there are of it (−1: it is one number) and how many numbers each has.
    struct Shape {
        const char* name;
        bool recorded;
        int count, width;
    };
    static Shape shape(Section section, const FrameCounts& counts);

  private:
    int begin_[kSections + 1];
};

}  // namespace bellcrank
