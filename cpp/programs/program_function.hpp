// Programs as functions of one variable (kind "program" of cpp/functions): drives and forces that users write.
#pragma once

#include <memory>
#include <span>

#include "programs/compiled_program.hpp"

namespace bellcrank {

// Lets flat parameters refer to a program by a number, as long as this object lives; functions made meanwhile keep the
// program. Its inputs are the variable, then constants; its outputs value, first and second derivative.
class PublishedProgram {
  public:
    // Throws std::invalid_argument unless the program has inputs and three outputs.
    explicit PublishedProgram(std::shared_ptr<const CompiledProgram> program);
    ~PublishedProgram();
    PublishedProgram(const PublishedProgram&) = delete;
    PublishedProgram& operator=(const PublishedProgram&) = delete;

    int number() const { return number_; }

  private:
    int number_;
};

// The program behind the parameters of a function of kind "program"; throws std::invalid_argument if there is none.
std::shared_ptr<const CompiledProgram> published_program(std::span<const double> params);

}  // namespace bellcrank
