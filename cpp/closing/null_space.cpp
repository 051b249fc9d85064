// Dependent rows: the multipliers that exert nothing on any body.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "closing/delassus.hpp"
#include "matrices/least_squares.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Conjugate gradients for a null vector end after so many iterations, or so many that brought less than this.
constexpr int kMostIterations = 40, kMostIdle = 3;
constexpr double kProgress = 0.9;

// Part of a combination, against its largest, that is rounding.
constexpr double kNegligible = 1e-6;
// Rows up to which its factors are solved for again, and what may be left, relative to the row.
constexpr size_t kMostSolved = 300;
constexpr double kExact = 1e-8;

// Steps of refinement of a null vector, the change in parts of it that ends them, and the last that may be left.
constexpr int kMostRefined = 4;
constexpr double kRefinedVector = 1e-14, kSettledVector = 1e-9;

}  // namespace

// Adds a column of S: what the row's unit multiplier does through the copies of bodies that it acts on.
void Delassus::add_column(int ldlt_row, std::vector<double>& column) const {
    const double* J = rows_->J.data();
    for (const Copy& copy : copies_) {
        double unit[6] = {}, other[6];
        bool found = false;
        for (const auto& [step, rows] : copy.rows) {
            const int at = ldlt_row - ldlt_->row_start(step);
            if (at < 0 || at >= rows.rows) continue;
            rows.read(J, at, unit);
            found = true;
        }
        if (!found) continue;
        for (const auto& [step, rows] : copy.rows)
            for (int r = 0; r < rows.rows; ++r) {
                rows.read(J, r, other);
                for (int k = 0; k < 6; ++k) column[ldlt_->row_start(step) + r] += other[k] * unit[k] / copy.share;
            }
    }
}

// For a dropped row d, S_kk w_k = −S_kd on the rows kept and w_d = 1.
void Delassus::find_null_vector(int d) {
    if (precise_mode_) return find_precise_null_vector(d);
    std::fill(column_.begin(), column_.end(), 0.0);
    std::vector<double>& w = null_vector_;
    if (links_ > 0) {
        add_column(d, column_);
    } else {
        std::fill(w.begin(), w.end(), 0.0);
        std::fill(product_.begin(), product_.end(), 0.0);
        w[storage_of_[d]] = -1.0;
        subtract_product(w.data(), product_.data());
        for (size_t r = 0; r < w.size(); ++r) column_[row_of_[r]] = product_[r];
    }
    ldlt_->solve(column_.data());
    for (size_t r = 0; r < w.size(); ++r) w[r] = -column_[row_of_[r]];
    if (storage_of_[d] >= 0) w[storage_of_[d]] = 1.0;
}

// The same in 32 digits, of rows that the precise factors keep.
void Delassus::find_precise_null_vector(int d) {
    precise_->null_vector(d, column_);
    for (size_t r = 0; r < null_vector_.size(); ++r) null_vector_[r] = column_[row_of_[r]];
}

// Steps of refinement: S w = 0 on the rows kept. False where they do not settle: a body that is light beside others
// gives S numbers that differ by all of a double's digits.
bool Delassus::refine_null_vector() {
    double part = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kMostRefined && part > kRefinedVector; ++i) {
        std::fill(product_.begin(), product_.end(), 0.0);
        subtract_product(null_vector_.data(), product_.data());
        solve(product_.data());
        double change = 0.0, size = 0.0;
        for (size_t r = 0; r < product_.size(); ++r) {
            null_vector_[r] += product_[r];
            change = std::max(change, std::abs(product_[r]));
            size = std::max(size, std::abs(null_vector_[r]));
        }
        const double before = std::exchange(part, change / size);
        if (!(part < 0.5 * before)) break;
    }
    return part <= kSettledVector;
}

// product_ = −S w, and wᵀ S w = ‖Ĵᵀ w‖² with what compliance adds.
double Delassus::squared_force(const std::vector<double>& w) {
    std::fill(product_.begin(), product_.end(), 0.0);
    subtract_product(w.data(), product_.data());
    double sum = 0.0;
    for (double f : body_work_) sum += f * f;
    for (const Compliance& c : compliances_) sum += c.value * w[c.row] * w[c.row];
    return sum;
}

// Among all w with w_d = 1, S w = 0 on the rows kept makes wᵀ S w least, and the least is the part of row d outside
// their span. Formed as a square it cannot fall below that but by rounding, and an error of w counts squared.
// Where the factors are poor, conjugate gradients with them as preconditioner find it; the residual is formed anew each
// time.
double Delassus::part_outside(int d, double enough) {
    find_null_vector(d);
    std::vector<double>&w = null_vector_, &z = search_, &p = direction_;
    const double diagonal = scale(d);
    double part = squared_force(w), last = 0.0;
    for (int i = 0, idle = 0; i < kMostIterations && idle < kMostIdle && part > enough * diagonal; ++i) {
        std::copy(product_.begin(), product_.end(), z.begin());
        solve(z.data());
        const double rz = std::inner_product(z.begin(), z.end(), product_.begin(), 0.0);
        if (!(rz > 0.0)) break;
        for (size_t r = 0; r < p.size(); ++r) p[r] = z[r] + (i == 0 ? 0.0 : rz / last * p[r]);
        last = rz;
        const double step = rz / squared_force(p);
        for (size_t r = 0; r < w.size(); ++r) w[r] += step * p[r];
        const double next = squared_force(w);
        idle = next < kProgress * part ? 0 : idle + 1;
        part = std::min(part, next);
    }
    return part / diagonal;
}

int Delassus::null_dimension() const {
    int count = 0;
    for (int d = 0; d < ldlt_->rows(); ++d) count += drops()[d] && enabled_[d];
    return count;
}

void Delassus::for_each_null_vector(const std::function<void(const std::vector<double>&)>& visit, int most) {
    if (dropped_count() == 0) return;
    bool precise = precise_mode_;
    for (int d = 0; d < ldlt_->rows() && most > 0; ++d) {
        if (!drops()[d] || !enabled_[d]) continue;
        find_null_vector(d);
        if (!precise && !refine_null_vector()) {
            factor_kept_precisely();
            precise = true;
        }
        if (precise && !precise_mode_) find_precise_null_vector(d);
        visit(null_vector_);
        --most;
    }
}

void Delassus::for_each_balanced_row(const std::function<void(const std::vector<double>&)>& visit) {
    if (precise_mode_ || !doubtful().empty()) return for_each_null_vector(visit);
    for (int d = 0; d < ldlt_->rows(); ++d) {
        if (!drops()[d] || !enabled_[d]) continue;
        ldlt_->balance(d, column_.data());
        for (size_t r = 0; r < null_vector_.size(); ++r) null_vector_[r] = column_[row_of_[r]];
        visit(null_vector_);
    }
}

// Null vectors by the row that each is told for. Where a link of a hub was dropped, it is the joint row with the
// largest part that is not named already.
void Delassus::for_each_dependent_row(const std::function<void(int, const std::vector<double>&)>& visit, int most) {
    std::vector<std::uint8_t> named(rows_->rows(), 0);
    for (int r = 0; r < rows_->rows(); ++r) named[r] = dropped(r);
    const auto name = [&](const std::vector<double>& w) {
        int row = -1, largest = -1;
        for (int r = 0; r < static_cast<int>(w.size()); ++r) {
            if (dropped(r) && w[r] == 1.0) row = r;
            if (!named[r] && (largest < 0 || std::abs(w[r]) > std::abs(w[largest]))) largest = r;
        }
        if (row < 0) row = largest;
        if (row < 0) return;
        named[row] = 1;
        visit(row, w);
    };
    for_each_null_vector(name, most);
}

std::vector<int> Delassus::dependent_rows() {
    std::vector<int> rows;
    for (int r = 0; r < rows_->rows(); ++r)
        if (dropped(r) && enabled_[row_of_[r]]) rows.push_back(r);
    if (static_cast<int>(rows.size()) == null_dimension()) return rows;
    rows.clear();
    for_each_dependent_row([&](int row, const std::vector<double>&) { rows.push_back(row); });
    return rows;
}

std::vector<Dependence> Delassus::dependences(int most) {
    std::vector<Dependence> out;
    for_each_dependent_row([&](int row, const std::vector<double>& w) { out.push_back(combination(row, w)); }, most);
    return out;
}

// The factors of a null vector, formed through S, are wrong by what S squares: along rows in a line for thousands of
// bodies, 1e-3. Those that matter are solved for again on the rows themselves, as few as give the row.
Dependence Delassus::combination(int row, const std::vector<double>& w) const {
    std::vector<std::pair<double, int>> sizes;
    for (int r = 0; r < static_cast<int>(w.size()); ++r)
        if (r != row && w[r] != 0.0) sizes.emplace_back(std::abs(w[r]) * std::sqrt(scale(row_of_[r])), r);
    std::sort(sizes.rbegin(), sizes.rend());
    const double most = std::max(sizes.empty() ? 0.0 : sizes[0].first, std::sqrt(scale(row_of_[row])));
    Dependence found{row, {}};
    for (const double least : {1e-2, 1e-4, kNegligible}) {
        found.of.clear();
        for (const auto& [size, r] : sizes)
            if (size > least * most) found.of.emplace_back(r, -w[r] / w[row]);
        if (found.of.size() <= kMostSolved && solve_again(found)) break;
    }
    std::erase_if(found.of, [&](const auto& part) {
        return std::abs(part.second) * std::sqrt(scale(row_of_[part.first])) <= kNegligible * most;
    });
    return found;
}

// Factors by least squares; false, and nothing changed, if something of the row is left.
bool Delassus::solve_again(Dependence& found) const {
    std::map<int, Eigen::Index> place;  // of bodies
    std::vector<std::pair<int, std::array<double, 6>>> parts;
    std::vector<size_t> begin;
    const auto read = [&](int row) {
        begin.push_back(parts.size());
        const auto& blocks = rows_->blocks();
        const auto block = std::partition_point(blocks.begin(), blocks.end(),
                                                [&](const BlockLayout& b) { return b.row + b.size <= row; });
        for (const BlockSide& side : rows_->sides(*block)) {
            parts.push_back({side.body, {}});
            side.rows.read(rows_->J.data(), row - block->row, parts.back().second.data());
            place.emplace(side.body, static_cast<Eigen::Index>(place.size()));
        }
    };
    for (const auto& [row, factor] : found.of) read(row);
    read(found.row);
    begin.push_back(parts.size());
    const auto columns = static_cast<Eigen::Index>(found.of.size());
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(6 * static_cast<Eigen::Index>(place.size()), columns + 1);
    for (Eigen::Index c = 0; c <= columns; ++c)
        for (size_t p = begin[c]; p < begin[c + 1]; ++p)
            for (int k = 0; k < 6; ++k) all(6 * place[parts[p].first] + k, c) += parts[p].second[k];
    const auto A = all.leftCols(columns);
    const auto b = all.col(columns);
    if (columns == 0) return b.isZero(kExact);
    const Eigen::VectorXd factors = least_squares(A, b);
    if ((A * factors - b).norm() > kExact * b.norm()) return false;
    for (Eigen::Index c = 0; c < columns; ++c) found.of[c].second = factors[c];
    return true;
}

}  // namespace bellcrank
