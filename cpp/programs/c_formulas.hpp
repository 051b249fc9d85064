// Operations of programs as C.
#pragma once

#include <span>
#include <string>

#include "programs/program.hpp"

namespace bellcrank {

// The right side of an assignment; sine and cosine are not among the operations. fused: multiply-adds are fma().
// tables: what the names of the functions of tables begin with.
std::string c_formula(const Instruction& step, std::span<const std::string, 3> operands, bool fused,
                      const std::string& tables);
// Throws std::invalid_argument for what is no identifier.
void check_c_name(const std::string& name);

}  // namespace bellcrank
