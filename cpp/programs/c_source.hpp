// A program as a C file with a header, which need nothing but the C library.
#pragma once

#include <string>
#include <vector>

#include "programs/program.hpp"

namespace bellcrank {

struct CSource {
    std::string header, source;
};

// Both for `name.h` and `name.c`, C99. input_names and output_names (or none) are told in the header. Compiled with
// contraction off (-ffp-contract=off) and run with the same C library, it agrees with the interpreter bit for bit.
// Throws std::invalid_argument for a name that is no identifier and for a table of a kind that cannot be written.
CSource c_source(const Program& program, const std::string& name, const std::vector<std::string>& input_names,
                 const std::vector<std::string>& output_names);

// The functions that the operations of a program need, as C.
std::string c_runtime(const Program& program);
// A number in hexadecimal, exactly.
std::string c_number(double value);

}  // namespace bellcrank
