// What users wrote as formulas, while it is being collected: nothing but expressions that are held.
#pragma once

#include "model/formulas.hpp"
#include "process_graph.hpp"

namespace bellcrank {

class FormulaDraft {
  public:
    // In the place of references: numbers of what is held.
    Formulas made;

    Ref keep(const HeldExpression& expression) {
        held_.push_back(expression);
        Ref place;
        place.bits = static_cast<std::uint32_t>(held_.size() - 1);
        return place;
    }
    // With references into a graph of its own, which nothing changes.
    Formulas finished() const;

  private:
    HeldExpressions held_;
};

}  // namespace bellcrank
