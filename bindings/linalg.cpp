// Dense elimination, which benchmarks compare the sparse solver with.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "bindings.hpp"
#include "linalg/dense_elimination.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::VectorXd solve(Rows a, Eigen::VectorXd b) {
    if (a.rows() != a.cols() || a.rows() != b.size()) throw std::invalid_argument("a is (n, n) and b is (n)");
    const nb::gil_scoped_release release;
    if (!eliminate_dense({a.data(), static_cast<std::size_t>(a.size())},
                         {b.data(), static_cast<std::size_t>(b.size())}))
        throw std::domain_error("the matrix is singular: a pivot is zero");
    return b;
}

}  // namespace

void bind_linalg(nb::module_& m) {
    m.def("eliminate_dense", &solve, "a"_a, "b"_a,
          "Solves a x = b, a (n, n) and b (n), by Gaussian elimination with row pivoting. Raises ValueError where a "
          "pivot is zero.");
}

}  // namespace bellcrank
