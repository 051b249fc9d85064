// The Python class Function: a core function together with the parameters that it views.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "expression/expressed_function.hpp"
#include "functions/function.hpp"

namespace bellcrank {

struct BoundFunction {
    std::string kind;
    std::vector<double> params;
    Function function;

    BoundFunction(std::string name, std::vector<double> values, std::shared_ptr<const ExpressedFunction> expression)
        : kind(std::move(name)), params(std::move(values)), function(kind, params, std::move(expression)) {}
    BoundFunction(const BoundFunction&) = delete;  // the function views the parameters of this very object
    BoundFunction& operator=(const BoundFunction&) = delete;
};

}  // namespace bellcrank
