// Lengths by which errors of rows are compared (docs/theory/assembly.md, section 1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/constraint_rows.hpp"

namespace bellcrank {

// Radius of gyration or farthest marker from the com, whichever is larger; per body, 0 for the ground [m].
std::vector<double> body_lengths(const Model& model);

// Per storage row, m per unit of C, squared, from the rows' current Jacobian; 0 for rows that take no part.
void weigh_rows(const Model& model, const ConstraintRows& rows, std::span<const double> length,
                std::span<const std::uint8_t> takes_part, std::span<double> unit);

}  // namespace bellcrank
