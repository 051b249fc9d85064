// A text that grows line by line, from pieces of text and whole numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace bellcrank {

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

}  // namespace bellcrank
