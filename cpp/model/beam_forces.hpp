// Forces of the segments of elastic beams, several side by side in vector registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bellcrank {

class Model;

inline constexpr int kLawsOfSegment = 6;

class BeamForces {
  public:
    // Of all segments of a model: six laws side by side, springs of stiffness 1 along the six coordinates of a beam.
    explicit BeamForces(const Model& model);

    // Whether the law is the first of a segment, of which none is left out (as in forces.hpp).
    bool begins(std::size_t law, const std::uint8_t* left_out) const;
    // Adds what these exert, as forces.hpp has it.
    void add(const double* x, const double* u, const std::uint8_t* left_out, double* force) const;

  private:
    struct Packs;                       // of lanes, which only beam_forces.cpp sees
    std::vector<std::uint8_t> begins_;  // by law
    std::shared_ptr<const Packs> packs_;
};

}  // namespace bellcrank
