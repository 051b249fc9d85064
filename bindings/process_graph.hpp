// The graph of all expressions that users write, and what Python holds of it.
//
// What nobody holds any more is collected: from time to time the graph is replaced by the part of it that is in use.
// A Ref into it is good for as long as no Python runs, which may write and collect; across calls there are only
// HeldExpressions.
#pragma once

#include <nanobind/nanobind.h>

#include <cfenv>
#include <memory>
#include <vector>

#include "expression/expression.hpp"

namespace bellcrank {

const std::shared_ptr<Graph>& process_graph();

// An expression that Python holds: its nodes stay in the graph. Equal ones are one entry. All of it with the GIL.
class HeldExpression {
  public:
    HeldExpression() : HeldExpression(Ref()) {}
    explicit HeldExpression(Ref ref);
    HeldExpression(Expression e) : HeldExpression(e.ref) {}  // of the process' graph
    HeldExpression(const HeldExpression& other) : entry_(other.entry_) { ++entry_->uses; }
    HeldExpression& operator=(HeldExpression other) {
        std::swap(entry_, other.entry_);
        return *this;
    }
    ~HeldExpression();

    Ref ref() const { return entry_->ref; }
    Expression get() const { return {process_graph().get(), entry_->ref}; }
    // Stays the same, other than the Ref.
    std::size_t number() const { return entry_->number; }
    bool operator==(const HeldExpression& other) const { return entry_ == other.entry_; }

    struct Entry {
        Ref ref;
        long uses = 0;
        std::size_t number = 0;
    };

  private:
    Entry* entry_;
};

using HeldExpressions = std::vector<HeldExpression>;

std::vector<Ref> refs(const HeldExpressions& expressions);
HeldExpressions held(const std::vector<Ref>& refs);

// Replaces the graph by what is held.
void collect_expressions();

// Calls of functions that write into the graph: collects before, where the graph has doubled since the last time.
// Leaves the floating-point flags as they were: bounds are computed with infinities, and numpy reads the flags.
class Writing {
  public:
    Writing();
    ~Writing() { std::fesetexceptflag(&flags_, FE_ALL_EXCEPT); }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

  private:
    std::fexcept_t flags_;
};
using Writes = nanobind::call_guard<Writing>;

// What Python reads of symbols.
void bind_symbol(nanobind::class_<HeldExpression>& c);

}  // namespace bellcrank
