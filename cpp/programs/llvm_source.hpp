// A program as LLVM IR, as text: functions of a few hundred operations each, whose values pass through the workspace
// where they are needed beyond one of them, so that the time to compile grows linearly.
#pragma once

#include <string>

#include "programs/program.hpp"

namespace bellcrank {

struct LlvmOptions {
    int lanes = 1;         // points side by side: 1, 4 or 8
    int operations = 500;  // of one function
    std::string name = "bellcrank_program";
};

// Defines a NativeEntry (programs/compiled_program.hpp) of that name. The text is a function of the program and the
// options alone and refers to nothing outside: calls go through ProgramTables.
std::string llvm_source(const Program& program, const LlvmOptions& options);

}  // namespace bellcrank
