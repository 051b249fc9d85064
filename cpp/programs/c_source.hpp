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

// A program as a portable C function, which compiles as C++ too: with the C library's sine and cosine, and
// multiply-adds that the compiler may fuse or not, so that it agrees with the interpreter to rounding. Its last
// argument is `double *out`, which must not overlap the others.
struct CFunction {
    std::string name, arguments;
    std::vector<std::string> argument_names;  // out included
    std::vector<std::string> inputs;          // what each input of the program is called
};
std::string c_function(const Program& program, const CFunction& as);
// What tables of these programs need, once in a file.
std::string c_table_functions(const std::vector<const Program*>& programs);
// The tables of a program: functions `prefix`0 and so on.
std::string c_tables(const Program& program, const std::string& prefix);

// The functions that the operations of a program need, as C.
std::string c_runtime(const Program& program);
// A number in hexadecimal, exactly.
std::string c_number(double value);
// The shortest decimal number that reads back as the value.
std::string c_decimal(double value);

}  // namespace bellcrank
