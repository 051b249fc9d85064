// Writing LLVM IR over one point or over several side by side: the spelling of types and numbers, and the functions
// that programs call.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "programs/program.hpp"

namespace bellcrank {

// A text that grows line by line, from pieces of text and whole numbers.

class LlvmLines {
  protected:
    void put(std::string_view s) { out_ += s; }
    void put(std::uint64_t number) {
        char digits[24];
        out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    }
    // An instruction.
    template <class... Parts>
    void line(const Parts&... parts) {
        put("  ");
        (put(parts), ...);
        put("\n");
    }
    // One that gives a value of the program.
    template <class... Parts>
    void define(std::uint32_t value, const Parts&... parts) {
        line("%v", std::uint64_t(value), " = ", parts...);
    }

    std::string out_;
};

class LlvmText {
  public:
    explicit LlvmText(int lanes);

    int lanes() const { return lanes_; }
    const std::string& type() const { return type_; }  // double or <4 x double>
    const std::string& condition_type() const { return condition_; }
    const std::string& suffix() const { return suffix_; }  // of intrinsics: f64 or v4f64
    // A number in every lane, with its type if asked for.
    std::string constant(double value) const;
    std::string typed(double value) const { return type_ + " " + constant(value); }

    // The functions that a program has called; angles: sines and cosines of four at once, in code for one point.
    struct Needs {
        bool sine_cosine = false, angles = false, unary = false, binary = false, table = false;
    };
    // Declarations of the intrinsics over these lanes, and definitions of sine_cosine_LANES, call_unary, call_binary
    // and call_table as needed.
    std::string helpers(const Needs& needs) const;

    // Place of a call in ProgramTables, in bytes.
    static std::size_t unary_at(ProgramOp op);
    static std::size_t binary_at(ProgramOp op);
    static std::size_t table_at();

  private:
    std::string sine_cosine() const;
    std::string sine_cosine_near() const;
    std::string sine_cosine_beyond() const;
    // A function that calls another one for each lane: its name and arguments, the call up to the operands.
    std::string by_lanes(const std::string& name, int operands, const std::string& passed,
                         const std::string& call) const;

    int lanes_;
    std::string type_, integer_, condition_, suffix_;
};

std::string llvm_number(double value);

}  // namespace bellcrank
