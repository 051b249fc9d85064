// A program as LLVM IR, as text: functions of a few hundred operations each, whose values pass through the workspace
// where they are needed beyond one of them, so that the time to compile grows linearly; in modules, each of which
// compiles in a fraction of a second, so that one can stop between them.
#pragma once

#include <string>
#include <vector>

#include "programs/program.hpp"

namespace bellcrank {

struct LlvmOptions {
    int lanes = 1;         // points side by side: 1, 4 or 8
    int operations = 500;  // of one function
    int functions = 1;     // of one module
    std::string name = "bellcrank_program";
};

// Modules to be linked, the last of which defines a NativeEntry (programs/compiled_program.hpp) of that name. The texts
// are functions of the program and the options alone and refer to nothing outside: calls go through ProgramTables.
std::vector<std::string> llvm_source(const Program& program, const LlvmOptions& options);

}  // namespace bellcrank
