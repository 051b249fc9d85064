// What programs call: the C library's functions and the program's own tables. Interpreter and native code go through
// the same addresses, so that every tier gets the same numbers; native code receives them as an argument and holds
// none, so that it can be kept on disk.
#pragma once

#include <cstdint>
#include <vector>

#include "functions/function.hpp"
#include "programs/program.hpp"

namespace bellcrank {

// Native code relies on this layout (llvm_source.cpp).
struct ProgramTables {
    double (*unary[kProgramOps])(double);           // by operation; null where none is called. Sine and cosine: of
    double (*binary[kProgramOps])(double, double);  // arguments beyond the bound of programs/sine_cosine.hpp
    double (*table)(const ProgramTables* self, std::uint32_t number, std::uint32_t derivative, double x);
    const Function* functions;

    double (*unary_of(ProgramOp op) const)(double) { return unary[static_cast<int>(op)]; }
    double (*binary_of(ProgramOp op) const)(double, double) { return binary[static_cast<int>(op)]; }
};

// A function, or its derivative number 1, 2 or 3.
double table_value(const Function& function, std::uint32_t derivative, double x);

// The calls without any tables.
const ProgramTables& library_calls();

// The tables of one program, which must outlive it.
class BoundTables {
  public:
    explicit BoundTables(const Program& program);
    BoundTables(const BoundTables&) = delete;
    BoundTables& operator=(const BoundTables&) = delete;
    const ProgramTables& calls() const { return calls_; }

  private:
    std::vector<Function> functions_;
    ProgramTables calls_;
};

}  // namespace bellcrank
