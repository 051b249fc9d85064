// Kind "table": a nonlinear spring. Parameter damping c; the function of φ is the effort itself.
//   τ = function(φ) − c φ̇,   V = −∫₀^φ function.
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Table {
    S damping;
    BELLCRANK_FIELDS(Table, (damping))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        return function(in.value) - damping * in.rate;
    }

    double potential(double value, const Function* function) const { return -function->integral(value); }

    void check(const Function* function) const {
        if (function == nullptr) throw std::invalid_argument("needs a function of the coordinate, the effort");
        if (!function->integrable())
            throw std::invalid_argument("its function has no integral and hence no potential; use a piecewise one");
    }
};

const LawRegistration registration(law_kind_of<Table>("table"));

}  // namespace

}  // namespace bellcrank
