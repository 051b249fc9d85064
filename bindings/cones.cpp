// Impulses in cones, for tests and benchmarks: a problem in arrays, solved many times.
#include "cones/solver.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ctime>
#include <stdexcept>

#include "bindings.hpp"
#include "cones/body_operator.hpp"
#include "cones/dense_operator.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using ConeRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

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
    int rows() const { return layout_.rows(); }

    void use_dense(ConeRows S) {
        check_count(S.rows(), layout_.rows(), "rows of S");
        check_count(S.cols(), layout_.rows(), "columns of S");
        S_ = std::move(S);
        dense_.set(S_.data(), layout_.rows());
        chosen_ = &dense_;
    }

    // jacobian: per side, rows of its block, 6 columns, one below another.
    bool use_bodies(int bodies, const std::vector<std::pair<int, int>>& sides, const ConeRows& jacobian,
                    const Eigen::VectorXd& compliance) {
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

    Eigen::VectorXd multiply(const Eigen::VectorXd& x) {
        check_count(x.size(), rows(), "numbers");
        Eigen::VectorXd y(rows());
        chosen().multiply(x.data(), y.data());
        return y;
    }

    // (B S + D)⁻¹ b, for the blocks' matrices one after another.
    Eigen::VectorXd solve_linear(const Eigen::VectorXd& B, const Eigen::VectorXd& D, Eigen::VectorXd b) {
        check_count(B.size(), layout_.values(), "numbers of B");
        check_count(D.size(), layout_.values(), "numbers of D");
        check_count(b.size(), rows(), "numbers of b");
        if (!chosen().factor(layout_, B.data(), D.data())) throw std::domain_error("the matrix is singular");
        chosen().solve(b.data());
        return b;
    }

    nb::tuple solve(const Eigen::VectorXd& q, Eigen::VectorXd start, const ConeOptions& options) {
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
    double time(const Eigen::VectorXd& q, const Eigen::VectorXd& start, int repeats, const ConeOptions& options) {
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
    ConeRows S_;
    DenseConeOperator dense_;
    BodyConeOperator bodies_;
    ConeOperator* chosen_ = nullptr;
    ConeSolver solver_;
    Eigen::VectorXd work_;
};

}  // namespace

void bind_cones(nb::module_& m) {
    nb::class_<ConeOptions>(m, "ConeOptions", "Bounds of a solve; the tolerance is on the residual of the report.")
        .def(nb::init<>())
        .def_rw("tolerance", &ConeOptions::tolerance)
        .def_rw("newton_steps", &ConeOptions::newton_steps)
        .def_rw("warm_steps", &ConeOptions::warm_steps)
        .def_rw("interior_steps", &ConeOptions::interior_steps)
        .def_rw("attempts", &ConeOptions::attempts)
        .def_rw("sweeps", &ConeOptions::sweeps);
    nb::class_<ConeReport>(m, "ConeReport", "How a solve ended; residual: of the natural map over the largest |q|.")
        .def_ro("residual", &ConeReport::residual)
        .def_ro("worst", &ConeReport::worst, "The block with the largest residual.")
        .def_ro("factorizations", &ConeReport::factorizations)
        .def_ro("interior_steps", &ConeReport::interior_steps)
        .def_ro("newton_steps", &ConeReport::newton_steps)
        .def_ro("sweeps", &ConeReport::sweeps)
        .def_prop_ro("converged", &ConeReport::converged)
        .def_prop_ro("end", [](const ConeReport& r) { return name_of(r.end); });
    nb::class_<ConeProblemOfTests>(m, "ConeProblem", "Impulses in cones: u = S λ + q.")
        .def(nb::init<>())
        .def("add_equality", &ConeProblemOfTests::add_equality, "size"_a, "Rows with u = 0, 1 to 6.")
        .def("add_contact", &ConeProblemOfTests::add_contact, "discs"_a, "given"_a = 0.0,
             "A unilateral row, then the rows of at most three discs (rows, coefficient), friction first. given: a "
             "normal impulse that acts beside the unknown one.")
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
}

}  // namespace bellcrank
