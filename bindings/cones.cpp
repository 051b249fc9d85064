// Impulses in cones, for tests and benchmarks: a problem in arrays, solved many times; and the dense elimination that
// benchmarks compare the sparse solver with.
#include "cones/solver.hpp"

#include <nanobind/stl/pair.h>

#include <ctime>
#include <stdexcept>

#include "bindings.hpp"
#include "cones/body_operator.hpp"
#include "cones/dense_operator.hpp"
#include "linalg/dense_elimination.hpp"
#include "records.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

void check_count(Eigen::Index got, int wanted, const char* what) {
    if (got != wanted)
        throw std::invalid_argument(std::string(what) + " must be " + std::to_string(wanted) + ", got " +
                                    std::to_string(got));
}

// A problem with an operator of either kind and the solver that serves it.
class ConeProblemOfTests {
  public:
    void add_equality(int size) { layout_.add_equality(size); }
    void add_contact(const std::vector<std::pair<int, double>>& discs, double given) {
        if (discs.size() > 3) throw std::invalid_argument("a contact has at most three discs");
        std::array<ConeDisc, 3> array{};
        for (size_t i = 0; i < discs.size(); ++i) array[i] = {discs[i].first, discs[i].second};
        layout_.add_contact(array);
        layout_.set_given(static_cast<int>(layout_.blocks().size()) - 1, given);
    }
    void add_interval(double lower, double upper) { layout_.add_interval({lower, upper}); }
    int rows() const { return layout_.rows(); }

    void use_dense(Rows S) {
        check_count(S.rows(), layout_.rows(), "rows of S");
        check_count(S.cols(), layout_.rows(), "columns of S");
        S_ = std::move(S);
        dense_.set(S_.data(), layout_.rows());
        chosen_ = &dense_;
    }

    // jacobian: per side, rows of its block, 6 columns, one below another.
    bool use_bodies(int bodies, const std::vector<std::pair<int, int>>& sides, const Rows& jacobian,
                    const Column& compliance) {
        std::vector<BodyConeOperator::Side> pattern;
        for (const auto& [block, body] : sides) pattern.push_back({block, body});
        const bool analysed = bodies_.set_pattern(layout_, bodies, pattern);
        int rows = 0;
        for (const auto& side : pattern) rows += layout_.blocks()[side.block].size;
        check_count(jacobian.rows(), rows, "rows of the Jacobian");
        check_count(jacobian.cols(), 6, "columns of the Jacobian");
        check_count(compliance.size(), layout_.rows(), "compliances");
        Eigen::Index next = 0;
        for (size_t s = 0; s < pattern.size(); ++s)
            for (int r = 0; r < layout_.blocks()[pattern[s].block].size; ++r, ++next)
                for (int j = 0; j < 6; ++j)
                    bodies_.jacobian(static_cast<int>(s))[r * BodyConeOperator::kRow + j] = jacobian(next, j);
        std::copy_n(compliance.data(), layout_.rows(), bodies_.compliance());
        chosen_ = &bodies_;
        return analysed;
    }

    Column multiply(const Column& x) {
        check_count(x.size(), rows(), "numbers");
        Column y(rows());
        chosen().multiply(x.data(), y.data());
        return y;
    }

    // (B S + D)⁻¹ b, for the blocks' matrices one after another.
    Column solve_linear(const Column& B, const Column& D, Column b) {
        check_count(B.size(), layout_.values(), "numbers of B");
        check_count(D.size(), layout_.values(), "numbers of D");
        check_count(b.size(), rows(), "numbers of b");
        if (!chosen().factor(layout_, B.data(), D.data())) throw std::domain_error("the matrix is singular");
        chosen().solve(b.data());
        return b;
    }

    nb::tuple solve(const Column& q, Column start, const ConeOptions& options) {
        check_count(q.size(), rows(), "velocities");
        check_count(start.size(), rows(), "impulses to start from");
        ConeReport report;
        {
            const nb::gil_scoped_release release;
            report = solver_.solve(layout_, chosen(), q.data(), start.data(), options);
        }
        return nb::make_tuple(start, report);
    }

    // Seconds of processor time a solve, from the same start each time.
    double time(const Column& q, const Column& start, int repeats, const ConeOptions& options) {
        check_count(q.size(), rows(), "velocities");
        check_count(start.size(), rows(), "impulses to start from");
        const nb::gil_scoped_release release;
        work_ = start;
        const std::clock_t begin = std::clock();
        for (int i = 0; i < repeats; ++i) {
            work_ = start;
            solver_.solve(layout_, chosen(), q.data(), work_.data(), options);
        }
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / repeats;
    }

  private:
    ConeOperator& chosen() {
        if (chosen_ == nullptr) throw std::invalid_argument("give S first, by use_dense or use_bodies");
        if (chosen_->rows() != layout_.rows()) throw std::invalid_argument("give S again: blocks were added");
        return *chosen_;
    }
    ConeLayout layout_;
    Rows S_;
    DenseConeOperator dense_;
    BodyConeOperator bodies_;
    ConeOperator* chosen_ = nullptr;
    ConeSolver solver_;
    Column work_;
};

Column eliminated(Rows a, Column b) {
    if (a.rows() != a.cols() || a.rows() != b.size()) throw std::invalid_argument("a is (n, n) and b is (n)");
    const nb::gil_scoped_release release;
    if (0.0 ==
        eliminate_dense({a.data(), static_cast<std::size_t>(a.size())}, {b.data(), static_cast<std::size_t>(b.size())}))
        throw std::domain_error("the matrix is singular: a pivot is zero");
    return b;
}

}  // namespace

void bind_cones(nb::module_& m) {
    auto options = bind_record<ConeOptions>(m, "ConeOptions",
                                            "Bounds of a solve; the tolerance is on the residual of the report.");
    read_by_name(make_by_name<Missing::initial>(options));
    auto report = bind_record<ConeReport>(m, "ConeReport",
                                          "How a solve ended; residual: of the natural map over the largest |q|.");
    read_by_name(report).def_prop_ro("converged", &ConeReport::converged).def_prop_ro("end", [](const ConeReport& r) {
        return name_of(r.end);
    });
    nb::class_<ConeProblemOfTests>(m, "ConeProblem", "Impulses in cones: u = S λ + q.")
        .def(nb::init<>())
        .def("add_equality", &ConeProblemOfTests::add_equality, "size"_a, "Rows with u = 0, 1 to 6.")
        .def("add_contact", &ConeProblemOfTests::add_contact, "discs"_a, "given"_a = 0.0,
             "A unilateral row, then the rows of at most three discs (rows, coefficient), friction first. given: a "
             "normal impulse that acts beside the unknown one.")
        .def("add_interval", &ConeProblemOfTests::add_interval, "lower"_a, "upper"_a,
             "A row whose impulse has bounds: at the lower one where u > 0, at the upper one where u < 0.")
        .def_prop_ro("rows", &ConeProblemOfTests::rows)
        .def("use_dense", &ConeProblemOfTests::use_dense, "S"_a)
        .def("use_bodies", &ConeProblemOfTests::use_bodies, "bodies"_a, "sides"_a, "jacobian"_a, "compliance"_a,
             "S from rows scaled by the mass. sides: (block, body) by ascending block; jacobian: (rows of all sides, "
             "6); "
             "compliance: (rows). Returns whether the pattern was analysed.")
        .def("multiply", &ConeProblemOfTests::multiply, "x"_a, "S x.")
        .def("solve_linear", &ConeProblemOfTests::solve_linear, "B"_a, "D"_a, "b"_a, "(B S + D)⁻¹ b.")
        .def("solve", &ConeProblemOfTests::solve, "q"_a, "start"_a, "options"_a = ConeOptions{},
             nb::sig("def solve(self, q: numpy.typing.ArrayLike, start: numpy.typing.ArrayLike, options: ConeOptions = "
                     "...) -> "
                     "tuple[numpy.ndarray, ConeReport]"),
             "Impulses and the report.")
        .def("time", &ConeProblemOfTests::time, "q"_a, "start"_a, "repeats"_a, "options"_a = ConeOptions{},
             "Seconds of processor time a solve.");
    m.def("eliminate_dense", &eliminated, "a"_a, "b"_a,
          "Solves a x = b, a (n, n) and b (n), by Gaussian elimination with row pivoting. Raises ValueError where a "
          "pivot is zero.");
}

}  // namespace bellcrank
