// Writes those parts of a frame that follow from the records of the bodies, whatever formulation they come from.
#pragma once

#include "model/branches.hpp"
#include "model/forces.hpp"
#include "model/observation.hpp"

namespace bellcrank {

class FrameWriter {
  public:
    // x, u: poses and twists (spatial/body_state.hpp). out: room for the frame.
    FrameWriter(const Scenery& at, const Observation& what, double* out);

    // Where a section stands.
    double* operator[](Section section) const { return out_ + layout_.begin(section); }

    void write_motion() const;                    // of bodies and coordinates; inputs
    void write_forces(Contacts& contacts) const;  // efforts and potentials
    void write_energy(const Energy& energy) const;
    void write_accelerations(const double* udot) const;  // of bodies and coordinates

  private:
    double contact_component(const Contacts& contacts, const Observation::Effort& e) const;

    const Scenery at_;
    const Observation& what_;
    const FrameLayout layout_;
    double* const out_;
};

// φ̈ of a coordinate for accelerations in records.
double coordinate_acceleration(const Scenery& at, int coordinate, const double* udot);

}  // namespace bellcrank
