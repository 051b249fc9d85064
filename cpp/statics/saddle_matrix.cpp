#include "statics/saddle_matrix.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

// The compliance of rows of length one, where forms are of size one. A pivot of this size leaves rounding by its
// inverse in the signs of pivots, and rows that give way take the compliance times the square of the stiffness across
// them from that along them: together least, so that directions down to some 1e-8 have the right sign.
constexpr double kCompliance = 1e-8;
constexpr int kRefinements = 2;

}  // namespace

SaddleMatrix::SaddleMatrix(const TangentStiffness& stiffness, const RowMatrix& rows, const Eigen::VectorXd& mass)
    : stiffness_(stiffness), rows_(rows), mass_(mass), n_(static_cast<int>(mass.size())), m_(rows.rows()) {
    using Triplet = Eigen::Triplet<double>;
    std::vector<Triplet> pattern;
    for (const TangentStiffness::Block& b : stiffness.blocks())
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < (b.row == b.column ? i + 1 : 6); ++j)
                pattern.emplace_back(6 * b.row + i, 6 * b.column + j, 1.0);
    for (const RowMatrix::Entry& e : rows.entries())
        for (int k = 0; k < 6; ++k) pattern.emplace_back(n_ + e.row, 6 * e.body + k, 1.0);
    for (int r = 0; r < m_; ++r) pattern.emplace_back(n_ + r, n_ + r, 1.0);
    matrix_.resize(n_ + m_, n_ + m_);
    matrix_.setFromTriplets(pattern.begin(), pattern.end());
    matrix_.makeCompressed();
    place();
    for (int r = 0; r < m_; ++r) {
        const auto [begin, end] = rows.entries_of(r);
        for (int a = begin; a < end; ++a)
            for (int b = begin; b < end; ++b) {
                const int one = rows.entries()[a].body, two = rows.entries()[b].body;
                if (one >= two) squares_.push_back({a, b, stiffness.block_of(one, two)});
            }
    }
    ldlt_.analyzePattern(matrix_);
    right_.resize(n_ + m_);
}

void SaddleMatrix::place() {
    const auto at = [&](int i, int j) { return static_cast<int>(&matrix_.coeffRef(i, j) - matrix_.valuePtr()); };
    for (const TangentStiffness::Block& b : stiffness_.blocks())
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                block_places_.push_back(b.row == b.column && j > i ? -1 : at(6 * b.row + i, 6 * b.column + j));
    for (const RowMatrix::Entry& e : rows_.entries())
        for (int k = 0; k < 6; ++k) row_places_.push_back(at(n_ + e.row, 6 * e.body + k));
    for (int i = 0; i < n_ + m_; ++i) diagonal_places_.push_back(at(i, i));
}

void SaddleMatrix::add_squares() {
    double* values = matrix_.valuePtr();
    for (const Square& s : squares_) {
        const RowMatrix::Entry &a = rows_.entries()[s.one], &b = rows_.entries()[s.two];
        if (!rows_.held()[a.row]) continue;
        const int* places = &block_places_[36 * s.block];
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                if (places[6 * i + j] >= 0) values[places[6 * i + j]] += a.gradient[i] * b.gradient[j];
    }
}

bool SaddleMatrix::factor(const Form& form) {
    double* values = matrix_.valuePtr();
    std::fill_n(values, matrix_.nonZeros(), 0.0);
    if (form.stiffness != 0.0)
        for (size_t k = 0; k < block_places_.size(); ++k)
            if (block_places_[k] >= 0) values[block_places_[k]] += form.stiffness * stiffness_.values()[k];
    for (int i = 0; i < n_; ++i) values[diagonal_places_[i]] += form.shift + form.inertia * mass_[i];
    for (size_t e = 0; e < rows_.entries().size(); ++e) {
        const RowMatrix::Entry& entry = rows_.entries()[e];
        const double factor = rows_.held()[entry.row] ? 1.0 : 0.0;
        for (int k = 0; k < 6; ++k) values[row_places_[6 * e + k]] = factor * entry.gradient[k];
    }
    add_squares();
    for (int r = 0; r < m_; ++r) values[diagonal_places_[n_ + r]] = rows_.held()[r] ? -kCompliance : -1.0;
    ldlt_.factorize(matrix_);
    return ldlt_.info() == Eigen::Success;
}

int SaddleMatrix::negative_directions() const { return static_cast<int>((ldlt_.vectorD().array() < 0.0).count()) - m_; }

// Refined for rows without compliance: what it lets them give way is taken back (R. Rockafellar, Augmented Lagrangians
// and applications of the proximal point algorithm in convex programming, 1976), which dependent rows bear if they
// agree.
void SaddleMatrix::solve(const Eigen::VectorXd& b, const Eigen::VectorXd& c, Eigen::VectorXd& v, Eigen::VectorXd& y) {
    right_.head(n_) = b;
    right_.tail(m_) = c;
    solution_ = ldlt_.solve(right_);
    for (int i = 0; i < kRefinements; ++i) {
        left_ = right_;
        left_ -= matrix_.selfadjointView<Eigen::Lower>() * solution_;
        for (int r = 0; r < m_; ++r)
            if (rows_.held()[r]) left_[n_ + r] -= kCompliance * solution_[n_ + r];
        solution_ += ldlt_.solve(left_);
    }
    v = solution_.head(n_);
    y = solution_.tail(m_);
}

}  // namespace bellcrank
